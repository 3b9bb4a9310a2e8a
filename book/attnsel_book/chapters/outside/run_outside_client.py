"""The package slalom-explanations as a client of the models that the chapter asks.

    pip install slalom-explanations==0.1.2
    python -m attnsel_book.chapters.outside.run_outside_client

It explains ten test reviews of IMDB, the first of each class with enough words, and
writes `outside_client.json`: by model and review, rank correlations over
the distinct words of its values with the answers to single words, of its importances
with log-weights from pairs, and of its importances with the size of its values. About
a minute of one core. The package is no requirement of the book.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import torch
from slalom_explanations import SLALOMLocalExplanantions
from slalom_explanations.slalom_helpers import SLALOMModelWrapper
from torch import Tensor

from attnsel.beyond.probe import outside
from attnsel.statistics import spearman
from attnsel_book.chapters.outside.run_outside import HERE, chunked, whole
from attnsel_book.chapters.outside.stored_models import stored_models
from attnsel_book.chapters.outside.surrogates import two_numbers


class Wrapped(SLALOMModelWrapper):
    """A model as the package asks it: ids from 1 on, 0 for padding, two logits."""

    def __init__(self, model: Any) -> None:
        super().__init__(torch.nn.Identity(), False, False, False)
        self.asked = chunked(model)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> dict[str, Tensor]:
        """Return the logits (n, 2) of sequences with a mask."""
        ids = (input_ids - 1).masked_fill(attention_mask == 0, -1)
        f = self.asked(ids)
        return {"logits": torch.stack([torch.zeros_like(f), f], dim=1)}


def explained(model: Any, ids: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the package's values and importances of distinct words."""
    torch.manual_seed(0)
    client = SLALOMLocalExplanantions(
        Wrapped(model),
        device="cpu",
        modes=["value", "imp"],
        use_cls=False,
        n_samples=1_000,
        sgd_lr=0.02,
    )
    found = client.get_signed_importance_for_tokens([s + 1 for s in ids])
    return found[0], found[1]


def main() -> None:
    torch.set_num_threads(1)
    _, models = stored_models()
    a, b = models["one layer"].T
    chosen = {
        "one layer": lambda ids: two_numbers(a, b, ids),
        "transformer": models["transformer"],
        "uniform attention": models["uniform attention"],
    }
    reviews = whole("imdb").test_ids
    reviews = reviews[(reviews >= 0).all(1)][:10]
    rows = []
    for name, model in chosen.items():
        for k, review in enumerate(reviews):
            ids = review.unique().tolist()
            value, weight = explained(model, ids)
            tokens = [str(s) for s in ids]

            def classify(texts: list[list[str]], model: Any = model) -> Tensor:
                parts = [torch.tensor([int(s) for s in text]) for text in texts]
                padded = torch.nn.utils.rnn.pad_sequence(parts, True, -1)
                return chunked(model)(padded)

            ours = outside(classify, tokens, join=None, samples=10)
            known = np.isfinite(ours.scores)
            row: dict[str, Any] = {"model": name, "review": k}
            found = {
                "values": spearman(value, ours.values),
                "weights": spearman(weight[known], ours.scores[known]),
                "vee": spearman(weight, np.abs(value)),
            }
            row |= {key: round(x, 4) for key, x in found.items()}
            rows.append(row)
            print(rows[-1], flush=True)
    (HERE / "outside_client.json").write_text(json.dumps(rows, indent=0) + "\n")


if __name__ == "__main__":
    main()
