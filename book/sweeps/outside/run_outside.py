"""The runs behind the chapter *Does a transformer select tokens?*.

    python -m sweeps.outside.run_outside
    python -m sweeps.outside.run_outside models

The first line makes all runs that are not in the table yet, the second the models that
the chapter asks, again. Small transformers and what they are compared with are trained
on the first 64 known tokens of reviews, and asked through their outputs only. Each
finished run is a row of `runs.csv`; a run that is there is not made again. All runs
take about half an hour of one core. The second line writes `models.npz`, parameters in
float16, and `models.json`, their settings, vocabulary and checksum.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from torch import Tensor
from torch.nn.functional import softplus

from attnsel import AttentionClassifier, Corpus, fit, load_corpus
from attnsel.beyond.probe import outside
from attnsel.beyond.transformer import Transformer
from attnsel.statistics import binned
from attnsel.theory import posterior_difference
from attnsel.tokens import Vocab, split
from attnsel_book.chapters.outside import surrogates
from attnsel_book.chapters.outside.stored_models import packed
from attnsel_book.data import result_folder

HERE = result_folder("outside")
LENGTH, DIM, HEADS = 64, 32, 2
TRAINED, TESTED = 6_000, 2_000  # reviews
PASSES, BATCH, RATE = 2, 64, 2e-3
ASKED = 25_000  # random sequences of 2 to 8 tokens; the last 5,000 are held out
HELD = 5_000
Row = dict[str, Any]
Model = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Data:
    """Reviews as the models read them, and the axis from texts they have not seen."""

    vocab: Vocab
    ids: Tensor  # (n, LENGTH), padded with -1
    signs: Tensor
    test_ids: Tensor
    test_signs: Tensor
    held: Tensor  # P(1|s) - P(0|s) in whole test reviews, (V,)


def known_tokens(corpus: Corpus, rows: range) -> Tensor:
    """Return the first tokens of some texts as they follow, (len(rows), LENGTH)."""
    ids = torch.full((len(rows), LENGTH), -1)
    assert corpus.texts is not None
    for k, i in enumerate(rows):
        found = [corpus.vocab.get(token) for token in split(str(corpus.texts[i]))]
        known = [s for s in found if s >= 0][:LENGTH]
        ids[k, : len(known)] = torch.tensor(known)
    return ids


@cache
def whole(name: str) -> Data:
    """Return all training reviews of a source, and a few thousand to test on."""
    settings: Row = {"min_count": 20} if name == "imdb" else {"min_count": 1}
    train = load_corpus(name, **settings)
    train = train.most_frequent(5_000 if name == "imdb" else 2_000)
    test = load_corpus(name, "test", vocab=train.vocab)
    if name == "yelp":
        train, test = train.balanced(), test.balanced()
    held = posterior_difference(test)
    random = torch.Generator().manual_seed(0)
    test = test[torch.randperm(len(test), generator=random)[:TESTED]]
    learned = torch.randperm(len(train), generator=random)[: 2 * TRAINED]
    train = train[learned]
    return Data(
        train.vocab,
        known_tokens(train, range(len(train))),
        train.signs,
        known_tokens(test, range(len(test))),
        test.signs,
        held,
    )


def data(name: str, seed: int = 0) -> Data:
    """Draw the reviews to train on with a seed."""
    d = whole(name)
    random = torch.Generator().manual_seed(seed)
    rows = torch.randperm(len(d.ids), generator=random)[:TRAINED]
    return replace(d, ids=d.ids[rows], signs=d.signs[rows])


def train_transformer(
    model: Transformer, ids: Tensor, signs: Tensor, seed: int, passes: int = PASSES
) -> Transformer:
    """Train by AdamW on mini-batches in an order of the seed's."""
    adam = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    random = torch.Generator().manual_seed(seed)
    for _ in range(passes):
        for rows in torch.randperm(len(ids), generator=random).split(BATCH):
            adam.zero_grad()
            softplus(-signs[rows] * model(ids[rows])).mean().backward()
            adam.step()
    return model


def bags(ids: Tensor, signs: Tensor, vocab: Vocab) -> Corpus:
    rows = [row[row >= 0].tolist() for row in ids]
    return Corpus.from_tokens(rows, (signs > 0).long(), list(vocab))


def train_layer(data: Data, seed: int, attention: bool) -> Tensor:
    """Return E p and E v of one layer, (V, 2), or of a mean of values, with p = 0."""
    corpus = bags(data.ids, data.signs, data.vocab)
    model = AttentionClassifier(len(data.vocab), DIM, seed=seed)
    names: tuple[str, ...] = ("embeddings", "cls", "output")
    if not attention:
        with torch.no_grad():
            model.cls.zero_()
        names = ("embeddings", "output")
    rate = 0.045 / DIM**0.5
    fit(model, corpus, steps=200, lr=rate, train=names, until_accuracy=0.88)
    return model.scores()


def train_sum(data: Data) -> Tensor:
    """Return a number for each token and one for all, logistic regression on counts."""
    C = surrogates.counts(data.ids, len(data.vocab))[:, :-1]
    signs = data.signs.numpy()
    found = LogisticRegression(C=0.1, max_iter=300).fit(C, signs)
    numbers = np.append(found.coef_[0], found.intercept_)
    return torch.from_numpy(numbers).float()


def chunked(model: Model) -> Model:
    """Return a model that reads some sequences at a time, without a gradient."""

    @torch.no_grad()
    def ask(ids: Tensor) -> Tensor:
        return torch.cat([model(part) for part in ids.split(2_000)])

    return ask


@dataclass(frozen=True)
class Run:
    """One row of the table: what is trained on what."""

    variant: str
    seed: int
    source: str = "imdb"
    passes: int = PASSES
    reviews: int = TRAINED
    settings: Row = field(default_factory=dict)


TRANSFORMERS: dict[str, Row] = {
    "transformer": {},
    "uniform attention": {"uniform": True},
    "no LayerNorm": {"norm": "none"},
}
OTHERS = ("one layer", "sum", "mean of values", "untrained", "shuffled labels")
MORE: dict[str, Row] = {
    "2 layers": {"layers": 2},
    "4 layers": {"layers": 4},
    "positions": {"positions": LENGTH + 1},  # one more for dilution
    "LayerNorm before": {"norm": "pre"},
}
SEARCH: dict[str, Row] = {
    "cls": {"pool": "cls"},
    "cls, no LayerNorm": {"pool": "cls", "norm": "none"},
    "cls, no LayerNorm, uniform": {"pool": "cls", "norm": "none", "uniform": True},
    "cls, no LayerNorm, sharp": {"pool": "cls", "norm": "none", "sharpness": 8.0},
    "cls, no LayerNorm, sharper": {"pool": "cls", "norm": "none", "sharpness": 32.0},
    "query": {"pool": "query"},
    "query, no LayerNorm": {"pool": "query", "norm": "none"},
    "no LayerNorm, sharp": {"norm": "none", "sharpness": 8.0},
    "sharp": {"sharpness": 8.0},
}


def plan() -> list[Run]:
    """Return all runs, the most wanted first."""
    runs = []
    for seed in range(5):
        runs += [Run(v, seed, settings=s) for v, s in TRANSFORMERS.items()]
        runs += [Run(v, seed) for v in OTHERS]
        if seed == 0:
            runs += [Run(v, seed, settings=s) for v, s in (SEARCH | MORE).items()]
        if seed < 3:
            runs += [Run(v, seed, "yelp", settings=s) for v, s in TRANSFORMERS.items()]
    for seed in range(1, 3):
        runs += [Run(v, seed, settings=s) for v, s in (SEARCH | MORE).items()]
    for name in ("transformer", "cls, no LayerNorm, sharp"):
        settings = (TRANSFORMERS | SEARCH)[name]
        runs.append(Run(name, 0, passes=6, settings=settings))
    return runs


def trained(run: Run, data: Data) -> tuple[Model, Transformer | None, Tensor]:
    """Return a model of sequences, the transformer if it is one, and its labels."""
    signs, n_tokens = data.signs, len(data.vocab)
    if run.variant in ("one layer", "mean of values"):
        a, b = train_layer(data, run.seed, run.variant == "one layer").T
        return lambda ids: surrogates.two_numbers(a, b, ids), None, signs
    if run.variant == "sum":
        numbers = train_sum(data)
        return lambda ids: surrogates.of_sum(numbers, ids), None, signs
    settings: Row = {"heads": HEADS, "seed": run.seed} | run.settings
    model = Transformer(n_tokens, DIM, **settings)
    if run.variant == "shuffled labels":
        random = torch.Generator().manual_seed(run.seed)
        signs = signs[torch.randperm(len(signs), generator=random)]
    if run.variant != "untrained":
        train_transformer(model, data.ids, signs, run.seed, run.passes)
    return model, model, signs


def random_sequences(n_tokens: int) -> Tensor:
    """Return sequences of 2 to 8 tokens, each token equally likely, (ASKED, 8)."""
    random = torch.Generator().manual_seed(1)
    ids = torch.randint(n_tokens, (ASKED, 8), generator=random)
    sizes = torch.randint(2, 9, (ASKED, 1), generator=random)
    return ids.masked_fill(torch.arange(8) >= sizes, -1)


def curve(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return middles and means of the bins of x that hold five tokens or more."""
    bins = binned(x, y.double())
    full = bins.count >= 5
    return bins.centers[full], bins.mean[full]


def shapes(x: Tensor, a: Tensor, b: Tensor) -> Row:
    """Return rise, V and height of the V along an axis."""
    middles, values = curve(x, b)
    _, weights = curve(x, a)
    strong, weak = x.abs() > 0.4, x.abs() < 0.1
    return {
        "rise": spearmanr(middles, values).statistic,
        "vee": spearmanr(middles.abs(), weights).statistic,
        "height": float(a[strong].mean() - a[weak].mean()),
    }


@torch.no_grad()
def inner(model: Transformer, ids: Tensor, x: Tensor) -> Row:
    """Return how the last attention of a transformer lies along the axis.

    What it gives to a place is averaged over queries and heads (or is that of <cls>, or
    of the pooling query), times the length; the mean of the logarithm over the places
    of a token is its inner score.
    """
    total, times = torch.zeros(len(x)), torch.zeros(len(x))
    spread = []
    for part in ids.split(250):
        given, is_token = given_attention(model, part)
        logs = (given * is_token.sum(1, keepdim=True)).clamp(min=1e-9).log()
        pairs = zip(logs, is_token, strict=True)
        spread += [float(each[keep].std()) for each, keep in pairs]
        total.index_add_(0, part[is_token], logs[is_token])
        times.index_add_(0, part[is_token], torch.ones(int(is_token.sum())))
    seen = (times >= 3) & ~x.isnan()
    a = total[seen] / times[seen]
    found = shapes(x[seen], a, a)
    return {"inner vee": found["vee"], "inner height": found["height"]} | {
        "inner spread": float(np.nanmean(spread))
    }


def given_attention(model: Transformer, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Return what attention each place is given, (n, T), and where there is a token."""
    is_token = ids >= 0
    if model.pool == "query":
        return model.pooling(ids), is_token
    maps = model.look(ids)[1][-1].mean(1)
    if model.pool == "cls":
        return maps[:, 0, 1:], is_token
    asks = is_token[:, :, None] / is_token.sum(1)[:, None, None]
    return (asks * maps).sum(1), is_token


def row(run: Run) -> Row:
    """Train, ask and fit."""
    d = data(run.source, run.seed)
    model, transformer, signs = trained(run, d)
    ask = chunked(model)
    found: Row = {"data": run.source, "variant": run.variant, "passes": run.passes}
    found["seed"] = run.seed
    f = ask(d.test_ids)
    found["accuracy"] = float((f * d.test_signs > 0).double().mean())
    found["train accuracy"] = float((ask(d.ids) * signs > 0).double().mean())
    n_tokens = len(d.vocab)
    b = ask(torch.arange(n_tokens)[:, None])
    ids = random_sequences(n_tokens)
    answers = ask(ids)
    known, new = ids[:-HELD], ids[-HELD:]
    a = surrogates.fit_two_numbers(b, known, answers[:-HELD])
    numbers = surrogates.fit_sum(b, known, answers[:-HELD])
    G = surrogates.Curve(b).fit(b, known, answers[:-HELD])
    tests = {"short": (new, answers[-HELD:]), "reviews": (d.test_ids, f)}
    for name, (sequences, truth) in tests.items():
        fits = {
            "two numbers": surrogates.two_numbers(a, b, sequences),
            "sum": surrogates.of_sum(numbers, sequences),
            "curve": G(sequences),
        }
        for way, predicted in fits.items():
            found[f"{way}, {name}"] = surrogates.explained(predicted, truth)
    own = posterior_difference(bags(d.ids, signs, d.vocab))
    for name, x in (("", own), ("held ", d.held)):
        ok = ~x.isnan()
        found |= {name + k: v for k, v in shapes(x[ok], a[ok], b[ok]).items()}
    place = {token: i for i, token in enumerate(d.vocab)}

    def classify(texts: list[list[str]]) -> Tensor:
        return ask(as_ids(texts, place))

    probed = outside(classify, d.vocab, join=None, samples=500)
    found["beyond"] = probed.beyond
    found["cycle"] = probed.cycle
    found["pairs explain"] = probed.explained
    scores = torch.from_numpy(probed.scores).float()
    agreed = torch.corrcoef(torch.stack([a, scores])[:, ~scores.isnan()])[0, 1]
    found["fit and pairs"] = float(agreed) if len(scores) else np.nan
    inside: Row = {"inner vee": np.nan, "inner height": np.nan, "inner spread": np.nan}
    if transformer is not None:
        inside = inner(transformer, d.test_ids[:500], d.held)
    found |= inside
    return found


def as_ids(texts: list[list[str]], place: dict[str, int]) -> Tensor:
    """Return the ids of lists of tokens, padded with -1, (n, T)."""
    rows = [torch.tensor([place[token] for token in text]) for text in texts]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-1)


def stored_runs(path: Path, names: tuple[str, ...]) -> set[tuple[str, ...]]:
    """Return which runs are in a table."""
    if not path.exists():
        return set()
    with path.open(encoding="utf-8") as file:
        return {tuple(row[name] for name in names) for row in csv.DictReader(file)}


def append(path: Path, row: Row) -> None:
    """Append a row to a table, with its head if it is new."""
    row = {k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}
    is_new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(row), lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(row)
    print(row, flush=True)


def sweep(path: Path) -> None:
    """Append the rows of all runs that are not there."""
    known = stored_runs(path, ("data", "variant", "passes", "seed"))
    for run in plan():
        if (run.source, run.variant, str(run.passes), str(run.seed)) not in known:
            append(path, row(run))


def smallest() -> tuple[Vocab, Transformer]:
    """Train the smallest stored model: ten batches of Yelp."""
    d = data("yelp")
    model = Transformer(len(d.vocab), 16, heads=HEADS)
    few = slice(0, 640)
    return d.vocab, train_transformer(model, d.ids[few], d.signs[few], 0, passes=1)


def store() -> None:
    """Write the models that the chapter asks."""
    d = data("imdb")
    models: dict[str, Any] = {}
    for name, settings in TRANSFORMERS.items():
        _, models[name], _ = trained(Run(name, 0, settings=settings), d)
    models["one layer"] = train_layer(d, 0, attention=True)
    models["mean of values"] = train_layer(d, 0, attention=False)
    models["sum"] = train_sum(d)
    yelp, small = smallest()
    vocabs = {"imdb": d.vocab, "yelp": yelp}
    index, content = packed(vocabs, {"imdb": models, "yelp": {"transformer": small}})
    (HERE / "models.npz").write_bytes(content)
    (HERE / "models.json").write_text(json.dumps(index, indent=0) + "\n")
    print(f"{len(content):,} bytes, {index['sha256']}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    if "models" in sys.argv[1:]:
        store()
    else:
        sweep(HERE / "runs.csv")
