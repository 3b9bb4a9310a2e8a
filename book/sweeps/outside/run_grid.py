"""What makes a V: LayerNorm, attention and pooling, each by itself, and other clients.

    python -m sweeps.outside.run_grid

The line makes the runs that are not in the tables yet. Two layers, {LayerNorm, none} x
{uniform, usual, sharp} x {mean, cls, query}, five seeds each, on the reviews of
`run_outside`: `grid.csv`. Then what else people ask, three seeds each: `clients.csv`.
Both are asked through their outputs only; the heights are along leans of test reviews.
About half an hour of one core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import torch
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn
from torch.nn.functional import softplus

from attnsel.beyond.probe import outside
from attnsel.beyond.transformer import Transformer
from attnsel.theory import posterior_difference
from attnsel_book.chapters.outside import surrogates
from sweeps.outside.run_outside import (
    BATCH,
    DIM,
    HEADS,
    HELD,
    HERE,
    Data,
    Model,
    append,
    as_ids,
    bags,
    chunked,
    data,
    inner,
    random_sequences,
    shapes,
    stored_runs,
    train_layer,
    train_transformer,
)

Row = dict[str, Any]
SEEDS, CLIENT_SEEDS = range(5), range(3)
ATTENTION: dict[str, Row] = {
    "uniform": {"uniform": True},
    "usual": {},
    "sharp": {"sharpness": 8.0},
}
CLIENT_RATE, CLIENT_PASSES = 5e-3, 4
NORMS, POOLS = ("post", "none"), ("mean", "cls", "query")


def from_outside(model: Model, d: Data, own: Tensor) -> Row:
    """Return what is seen of a model through its outputs; `own` are its own leans."""
    ask = chunked(model)
    found: Row = {}
    f = ask(d.test_ids)
    found["accuracy"] = float((f * d.test_signs > 0).double().mean())
    n_tokens = len(d.vocab)
    b = ask(torch.arange(n_tokens)[:, None])
    ids = random_sequences(n_tokens)
    answers = ask(ids)
    known, new = ids[:-HELD], ids[-HELD:]
    heard, truth = answers[:-HELD], answers[-HELD:]
    a = surrogates.fit_two_numbers(b, known, heard)
    haunted, ghost = surrogates.fit_with_ghost(b, known, heard)
    G = surrogates.Curve(b).fit(b, known, heard)
    fits = {
        "two numbers": surrogates.two_numbers(a, b, new),
        "with ghost": surrogates.with_ghost(haunted, ghost, b, new),
        "curve": G(new),
    }
    for name, predicted in fits.items():
        found[f"{name}, R2"] = surrogates.explained(predicted, truth)
    found["ghost, fitted"] = float((ghost[0] - haunted.median()).exp())
    for name, x, scores in (
        ("own ", own, a),
        ("held ", d.held, a),
        ("held, with ghost ", d.held, haunted),
    ):
        ok = ~x.isnan()
        seen = shapes(x[ok], scores[ok], b[ok])
        found |= {name + k: seen[k] for k in ("vee", "height")}
    return found | probed(ask, d)


def probed(ask: Model, d: Data) -> Row:
    """Return what `outside` finds."""
    place = {token: i for i, token in enumerate(d.vocab)}

    def classify(texts: list[list[str]]) -> Tensor:
        return ask(as_ids(texts, place))

    probed = outside(classify, d.vocab, join=None, samples=500)
    found: Row = {"hard": probed.hard, "beyond": probed.beyond, "cycle": probed.cycle}
    found |= {"ghost, repeated": probed.ghost, "pairs, R2": probed.explained}
    found |= {
        "strength at 1": probed.strength[0],
        "strength at 64": probed.strength[-1],
    }
    return found | {"fits": probed.fits}


@torch.no_grad()
def attention_on_cls(model: Transformer, ids: Tensor) -> float:
    """Return what <cls> gives itself in the last block, over what it gives a token."""
    maps = model.look(ids)[1][-1].mean(1)[:, 0]
    given = maps[:, 1:].sum(1) / (ids >= 0).sum(1)
    return float((maps[:, 0] / given).log().mean().exp())


def grid_row(norm: str, attention: str, pool: str, seed: int) -> Row:
    """Train one transformer of two layers and ask it, from outside and from inside."""
    d = data("imdb", seed)
    settings = ATTENTION[attention] | {"norm": norm, "pool": pool, "layers": 2}
    model = Transformer(len(d.vocab), DIM, heads=HEADS, seed=seed, **settings)
    train_transformer(model, d.ids, d.signs, seed)
    own = posterior_difference(bags(d.ids, d.signs, d.vocab))
    found: Row = {"norm": norm, "attention": attention, "pool": pool, "seed": seed}
    found |= from_outside(model, d, own)
    found |= inner(model, d.test_ids[:500], d.held)
    ghost = attention_on_cls(model, d.test_ids[:200]) if pool == "cls" else 0.0
    return found | {"ghost, inside": ghost}


def learned(model: nn.Module, d: Data, seed: int) -> nn.Module:
    """Train any model of sequences, for as long as its test accuracy still rises."""
    adam = torch.optim.AdamW(model.parameters(), lr=CLIENT_RATE, weight_decay=0.01)
    random = torch.Generator().manual_seed(seed)
    for _ in range(CLIENT_PASSES):
        for rows in torch.randperm(len(d.ids), generator=random).split(BATCH):
            adam.zero_grad()
            softplus(-d.signs[rows] * model(d.ids[rows])).mean().backward()
            adam.step()
    return model.eval()


def embeddings(n_tokens: int) -> nn.Embedding:
    """Return embeddings with entries of variance 1/d, as the transformers have them."""
    found = nn.Embedding(n_tokens, DIM)
    nn.init.normal_(found.weight, std=DIM**-0.5)
    return found


class MaxPool(nn.Module):
    """The greatest entry over the tokens in each dimension, and a linear output."""

    def __init__(self, n_tokens: int) -> None:
        super().__init__()
        self.embeddings = embeddings(n_tokens)
        self.output = nn.Linear(DIM, 1)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the logits (n,) of sequences (n, T), padded with -1."""
        x = self.embeddings(ids.clamp(min=0))
        x = x.masked_fill((ids < 0)[:, :, None], -torch.inf)
        return self.output(x.amax(1)).squeeze(1)


class Recurrent(nn.Module):
    """An LSTM read out by a linear map of its last state."""

    def __init__(self, n_tokens: int) -> None:
        super().__init__()
        self.embeddings = embeddings(n_tokens)
        self.lstm = nn.LSTM(DIM, DIM, batch_first=True)
        self.output = nn.Linear(DIM, 1)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the logits (n,) of sequences (n, T), padded with -1."""
        states, _ = self.lstm(self.embeddings(ids.clamp(min=0)))
        last = (ids >= 0).sum(1) - 1
        return self.output(states[torch.arange(len(ids)), last]).squeeze(1)


def haunted_mean(b: Tensor, weight: float) -> Model:
    """Return a mean of values with a <cls> of value 0 that is attended to."""

    def model(ids: Tensor) -> Tensor:
        size = (ids >= 0).sum(1)
        return surrogates.padded(b, ids).sum(1) / (size + weight)

    return model


def hardest(b: Tensor) -> Model:
    """Return hard attention: the value of the token with the largest |b|."""

    def model(ids: Tensor) -> Tensor:
        values = surrogates.padded(b, ids)
        top = values.abs().argmax(1, keepdim=True)
        return values.gather(1, top).squeeze(1)

    return model


def regression(d: Data, is_tfidf: bool) -> Model:
    """Return logistic regression, on counts or on tf-idf of length one."""
    n_tokens = len(d.vocab)

    def counted(ids: Tensor) -> csr_array:
        return csr_array(surrogates.counts(ids, n_tokens)[:, :-1])

    plain: Row = {} if is_tfidf else {"norm": None, "use_idf": False}
    scale = TfidfTransformer(**plain)
    C = scale.fit_transform(counted(d.ids))
    fitted = LogisticRegression(C=1.0 if is_tfidf else 0.1, max_iter=300)
    fitted.fit(C, d.signs.numpy())

    def model(ids: Tensor) -> Tensor:
        logits = fitted.decision_function(scale.transform(counted(ids)))
        return torch.from_numpy(logits).float()

    return model


def clients(d: Data, seed: int) -> Iterable[tuple[str, Callable[[], Model]]]:
    """Yield names of models and what makes them."""
    b = train_layer(d, seed, attention=False)[:, 1]
    torch.manual_seed(seed)
    n_tokens = len(d.vocab)
    yield "mean of values", lambda: haunted_mean(b, 0.0)
    yield "mean, ghost of weight 1", lambda: haunted_mean(b, 1.0)
    yield "mean, ghost of weight 8", lambda: haunted_mean(b, 8.0)
    yield "hard attention", lambda: hardest(b)
    yield "max pooling", lambda: learned(MaxPool(n_tokens), d, seed)
    yield "LSTM", lambda: learned(Recurrent(n_tokens), d, seed)
    yield "regression on counts", lambda: regression(d, is_tfidf=False)
    yield "regression on tf-idf", lambda: regression(d, is_tfidf=True)


def main() -> None:
    torch.set_num_threads(1)
    by_client = HERE / "clients.csv"
    known = stored_runs(by_client, ("client", "seed"))
    for seed in CLIENT_SEEDS:
        d = data("imdb", seed)
        own = posterior_difference(bags(d.ids, d.signs, d.vocab))
        for name, made in clients(d, seed):
            if (name, str(seed)) not in known:
                row = {"client": name, "seed": seed}
                append(by_client, row | from_outside(made(), d, own))
    grid = HERE / "grid.csv"
    known = stored_runs(grid, ("norm", "attention", "pool", "seed"))
    for seed, norm, attention, pool in product(SEEDS, NORMS, ATTENTION, POOLS):
        if (norm, attention, pool, str(seed)) not in known:
            append(grid, grid_row(norm, attention, pool, seed))


if __name__ == "__main__":
    main()
