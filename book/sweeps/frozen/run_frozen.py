"""The sweep behind the chapter on training the embeddings.

    python -m sweeps.frozen.run_frozen

The script takes about five minutes on one core and writes `frozen.json`, which the
chapter reads. Each row compares two models. The embeddings of the first model took a
single step, before p and v were trained. All parameters of the second model are
trained until its training loss is as low as the loss of the first model or, in columns
with the word "converged", until its training accuracy is 99%.
"""

import copy
from collections.abc import Iterator
from itertools import chain
from typing import Any

import torch

from attnsel import AttentionClassifier, Corpus, load_corpus
from attnsel.statistics import binned
from attnsel.theory import posterior_difference
from attnsel.train import fit, one_step
from attnsel_book.results import result_folder, store
from sweeps.common import Row, rounded, shown

SETTINGS = [(100, 0.003), (1_000, 0.003), (1_000, 0.03), (10_000, 0.003)]
TIMES = (3, 6, 12, 25, 50, 100, 200, 400)


def scatter(x: torch.Tensor, y: torch.Tensor) -> tuple[float, float]:
    """Return the spread of `y` in bins of `x`, and its ratio to the range of means."""
    bins = binned(x, y.double())
    full = bins.count > 0
    spread, means = bins.deviation[full].mean(), bins.mean[full]
    return float(spread), float(spread / (means.max() - means.min()))


def rows(
    name: str, corpus: Corpus, dim: int, seed: int, settings: list[Any], steps: int
) -> Iterator[Row]:
    """Yield the scatter of full training divided by the scatter after one step on E."""
    x = posterior_difference(corpus)
    start = AttentionClassifier(len(corpus.vocab), dim, seed=seed)
    model, rate = copy.deepcopy(start), 0.045 / dim**0.5
    known: Row = {"until_loss": 0.05, "snapshots": range(201)}
    everything = fit(model, corpus, steps=200, lr=rate, **known)
    end = int((everything.accuracy >= 0.99).nonzero()[0])
    times = [k for k in TIMES if k <= steps]
    for eta, rate in settings:
        model = one_step(start, corpus, lr=eta)
        known = {"train": ("cls", "output"), "snapshots": times}
        frozen = fit(model, corpus, steps=steps, lr=rate, **known)
        for k in times:
            lower = (everything.loss <= frozen.loss[k]).nonzero()
            if not len(lower):
                break
            same = int(lower[0])
            row = {"corpus": name, "dim": dim, "seed": seed, "eta_0": eta, "rate": rate}
            row |= {"step": k, "loss": float(frozen.loss[k])}
            row |= {"right": float(frozen.accuracy[k])}
            for column, what in ((1, "value"), (0, "attention")):
                now = scatter(x, frozen.at(k)[:, column])
                then = scatter(x, everything.at(same)[:, column])
                last = scatter(x, everything.at(end)[:, column])
                row |= {what: then[0] / now[0], f"{what}, relative": then[1] / now[1]}
                row |= {f"{what}, converged": last[0] / now[0]}
            yield rounded(row)


if __name__ == "__main__":
    torch.set_num_threads(1)
    yelp = load_corpus("yelp", min_count=1, max_tokens=5_424).balanced()
    imdb = load_corpus("imdb").balanced(3_000).most_frequent(7_766)
    table = chain(
        rows("Yelp", yelp, 2048, 0, SETTINGS, 400),
        *(rows("Yelp", yelp, 512, seed, SETTINGS[:1], 50) for seed in range(10)),
        rows("IMDB", imdb, 2048, 0, SETTINGS, 300),
    )
    store(result_folder("frozen") / "frozen.json", shown(table))
