"""The runs behind the chapter *Does a transformer select tokens?*.

    python -m sweeps.outside.run_outside --texts FOLDER
    python -m sweeps.outside.run_outside models --texts FOLDER

The first command makes all runs that are not rows of `runs.csv` yet; the second trains
the models that the chapter queries. Small transformers and other models for comparison
are trained on the first 64 known tokens of reviews, and queried as black boxes. The
columns `rise`, `vee` and `height` use the leans in training reviews, and
`held height` uses the leans in test reviews. For a surrogate W, "W, short" is the share
of variance that W explains on short random sequences, and "W, reviews" is the share on
reviews. `inner height` describes the model's own attention. All runs take about half an
hour on one core. The second command writes `models.npz`, with parameters in float16,
and `models.json`, with settings, vocabularies and a checksum.
"""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import torch
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn
from torch.nn.functional import softplus

from attnsel import AttentionClassifier, Corpus, fit
from attnsel.beyond.transformer import Transformer
from attnsel.statistics import binned
from attnsel.theory import posterior_difference
from attnsel.tokens import Vocab, split
from attnsel_book.chapters.outside.stored_models import packed
from attnsel_book.results import result_folder
from sweeps.common import Row, add_missing, rounded, with_texts
from sweeps.outside import surrogates

HERE = result_folder("outside")
LENGTH, DIM, HEADS = 64, 32, 2
TRAINED, TESTED = 6_000, 2_000  # reviews
PASSES, BATCH, RATE = 2, 64, 2e-3
ASKED = 25_000  # random sequences of 2 to 8 tokens; the last 5,000 are held out
HELD = 5_000
Model = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Data:
    """Reviews as inputs of the models, and leans of tokens in whole test reviews."""

    vocab: Vocab
    ids: Tensor  # (n, LENGTH), padded with -1
    signs: Tensor
    test_ids: Tensor
    test_signs: Tensor
    held: Tensor  # P(1|s) - P(0|s) in whole test reviews, (V,)


def known_tokens(corpus: Corpus, rows: range) -> Tensor:
    """Return the first known tokens of the n texts with numbers `rows`, (n, LENGTH)."""
    ids = torch.full((len(rows), LENGTH), -1)
    assert corpus.texts is not None
    for k, i in enumerate(rows):
        found = [corpus.vocab.get(token) for token in split(str(corpus.texts[i]))]
        known = [s for s in found if s >= 0][:LENGTH]
        ids[k, : len(known)] = torch.tensor(known)
    return ids


@cache
def all_reviews(name: str) -> Data:
    """Return up to 12,000 training reviews and 2,000 test reviews of a source."""
    settings: Row = {"min_count": 20} if name == "imdb" else {"min_count": 1}
    train = with_texts(name, **settings)
    train = train.most_frequent(5_000 if name == "imdb" else 2_000)
    test = with_texts(name, "test", vocab=train.vocab)
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


def drawn(name: str, seed: int = 0) -> Data:
    """Return the data with a random part of the training reviews, drawn with `seed`."""
    d = all_reviews(name)
    random = torch.Generator().manual_seed(seed)
    rows = torch.randperm(len(d.ids), generator=random)[:TRAINED]
    return replace(d, ids=d.ids[rows], signs=d.signs[rows])


def train(
    model: nn.Module,
    ids: Tensor,
    signs: Tensor,
    seed: int,
    passes: int = PASSES,
    rate: float = RATE,
) -> None:
    """Train by AdamW on mini-batches, in an order that the seed determines."""
    adam = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    random = torch.Generator().manual_seed(seed)
    for _ in range(passes):
        for rows in torch.randperm(len(ids), generator=random).split(BATCH):
            adam.zero_grad()
            softplus(-signs[rows] * model(ids[rows])).mean().backward()
            adam.step()


def bags(ids: Tensor, signs: Tensor, vocab: Vocab) -> Corpus:
    rows = [row[row >= 0].tolist() for row in ids]
    return Corpus.from_tokens(rows, (signs > 0).long(), list(vocab))


def train_layer(data: Data, seed: int, attention: bool) -> Tensor:
    """Train one layer with or without attention (p = 0); return E p and E v (V, 2)."""
    corpus = bags(data.ids, data.signs, data.vocab)
    model = AttentionClassifier(len(data.vocab), DIM, seed=seed)
    names: tuple[str, ...] = ("embeddings", "cls", "output")
    if not attention:
        with torch.no_grad():
            model.cls.zero_()
        names = ("embeddings", "output")
    rate = 0.045 / DIM**0.5
    fit(model, corpus, steps=200, lr=rate, train=names, until_accuracy=0.88)
    return model.scores().float()


def train_sum(data: Data) -> Tensor:
    """Return one number per token and a constant, by logistic regression on counts."""
    C = surrogates.counts(data.ids, len(data.vocab))[:, :-1]
    signs = data.signs.numpy()
    found = LogisticRegression(C=0.1, max_iter=300).fit(C, signs)
    numbers = np.append(found.coef_[0], found.intercept_)
    return torch.from_numpy(numbers).float()


def chunked(model: Model) -> Model:
    """Return a model that processes 2,000 sequences at a time, without gradients."""

    @torch.no_grad()
    def ask(ids: Tensor) -> Tensor:
        return torch.cat([model(part) for part in ids.split(2_000)])

    return ask


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
    "cls, no LayerNorm, sharper": {"pool": "cls", "norm": "none", "sharpness": 32.0},
}


def plan() -> Iterator[Row]:
    """Yield all runs, the most important first."""
    for seed in range(5):
        variants = [*TRANSFORMERS, *OTHERS, *(MORE if seed == 0 else ())]
        yield from ({"data": "imdb", "variant": v, "seed": seed} for v in variants)
        if seed < 3:
            yield from (
                {"data": "yelp", "variant": v, "seed": seed} for v in TRANSFORMERS
            )
    for seed in range(1, 3):
        yield from ({"data": "imdb", "variant": v, "seed": seed} for v in MORE)


def trained(
    variant: str, seed: int, data: Data
) -> tuple[Model, Transformer | None, Tensor]:
    """Return a variant's model, its transformer or None, and its training labels."""
    signs, n_tokens = data.signs, len(data.vocab)
    if variant in ("one layer", "mean of values"):
        a, b = train_layer(data, seed, variant == "one layer").T
        return lambda ids: surrogates.two_numbers(a, b, ids), None, signs
    if variant == "sum":
        numbers = train_sum(data)
        return lambda ids: surrogates.of_sum(numbers, ids), None, signs
    settings = (TRANSFORMERS | MORE).get(variant, {})
    model = Transformer(n_tokens, DIM, heads=HEADS, seed=seed, **settings)
    if variant == "shuffled labels":
        random = torch.Generator().manual_seed(seed)
        signs = signs[torch.randperm(len(signs), generator=random)]
    if variant != "untrained":
        train(model, data.ids, signs, seed)
    return model, model, signs


def random_sequences(n_tokens: int) -> Tensor:
    """Return sequences of 2 to 8 tokens, each token equally likely, (ASKED, 8)."""
    random = torch.Generator().manual_seed(1)
    ids = torch.randint(n_tokens, (ASKED, 8), generator=random)
    sizes = torch.randint(2, 9, (ASKED, 1), generator=random)
    return ids.masked_fill(torch.arange(8) >= sizes, -1)


def rank_by_bin(x: Tensor, y: Tensor, is_vee: bool = False) -> float:
    """Return the rank correlation of bin means of y with x, or with |x| if `is_vee`."""
    bins = binned(x, y.double())
    full = bins.count >= 5
    middles = bins.centers[full]
    found = spearmanr(middles.abs() if is_vee else middles, bins.mean[full])
    return float(found.statistic)


def height(x: Tensor, a: Tensor) -> float:
    """Return the mean of `a` where |x| > 0.4 minus its mean where |x| < 0.1."""
    return float(a[x.abs() > 0.4].mean() - a[x.abs() < 0.1].mean())


@torch.no_grad()
def inner_height(model: Transformer, ids: Tensor, x: Tensor) -> float:
    """Return the height of the V of a transformer's own attention along x (V,).

    The attention on a place is averaged over heads and queries; the pools "cls" and
    "query" have only one query. This average is multiplied by the length. The mean of
    its logarithm over the places of a token is the token's inner score.
    """
    total, times = torch.zeros(len(x)), torch.zeros(len(x))
    for part in ids.split(250):
        given, is_token = given_attention(model, part)
        logs = (given * is_token.sum(1, keepdim=True)).clamp(min=1e-9).log()
        total.index_add_(0, part[is_token], logs[is_token])
        times.index_add_(0, part[is_token], torch.ones(int(is_token.sum())))
    seen = (times >= 3) & ~x.isnan()
    return height(x[seen], total[seen] / times[seen])


def given_attention(model: Transformer, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Return the attention on each place, (n, T), and a mask of places with tokens."""
    is_token = ids >= 0
    if model.pool == "query":
        return model.pooling(ids), is_token
    maps = model.look(ids)[1][-1].mean(1)
    if model.pool == "cls":
        return maps[:, 0, 1:], is_token
    asks = is_token[:, :, None] / is_token.sum(1)[:, None, None]
    return (asks * maps).sum(1), is_token


def rows_of(data: str, variant: str, seed: int) -> Iterator[Row]:
    """Train and query a model, fit surrogates, and yield one row of measures."""
    d = drawn(data, seed)
    model, transformer, signs = trained(variant, seed, d)
    ask, n_tokens = chunked(model), len(d.vocab)
    f, b = ask(d.test_ids), ask(torch.arange(n_tokens)[:, None])
    ids = random_sequences(n_tokens)
    known, new = ids[:-HELD], ids[-HELD:]
    heard, truth = ask(ids).split([len(known), HELD])
    a = surrogates.fit_two_numbers(b, known, heard)
    numbers = surrogates.fit_sum(b, known, heard)
    G = surrogates.Curve(b).fit(b, known, heard)
    explained = surrogates.explained
    own = posterior_difference(bags(d.ids, signs, d.vocab))
    x, there = own[~own.isnan()], ~own.isnan()
    inner = np.nan
    if transformer is not None:
        inner = inner_height(transformer, d.test_ids[:500], d.held)
    yield rounded(
        {
            "accuracy": float((f * d.test_signs > 0).double().mean()),
            "two numbers, short": explained(surrogates.two_numbers(a, b, new), truth),
            "sum, short": explained(surrogates.of_sum(numbers, new), truth),
            "curve, short": explained(G(new), truth),
            "two numbers, reviews": explained(
                surrogates.two_numbers(a, b, d.test_ids), f
            ),
            "curve, reviews": explained(G(d.test_ids), f),
            "rise": rank_by_bin(x, b[there]),
            "vee": rank_by_bin(x, a[there], is_vee=True),
            "height": height(x, a[there]),
            "held height": held_height(d, a),
            "inner height": inner,
        }
    )


def held_height(d: Data, a: Tensor) -> float:
    """Return the `height` of log-weights `a` along the leans in test reviews."""
    there = ~d.held.isnan()
    return height(d.held[there], a[there])


def smallest() -> tuple[Vocab, Transformer]:
    """Return Yelp's tokens and the smallest stored model, trained on 640 reviews."""
    d = drawn("yelp")
    model = Transformer(len(d.vocab), 16, heads=HEADS)
    few = slice(0, 640)
    train(model, d.ids[few], d.signs[few], 0, passes=1)
    return d.vocab, model


def store() -> None:
    """Write the models that the chapter queries."""
    d = drawn("imdb")
    models: dict[str, Any] = {name: trained(name, 0, d)[1] for name in TRANSFORMERS}
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
    if "models" in sys.argv[1:]:
        torch.set_num_threads(1)
        store()
    else:
        add_missing(HERE / "runs.csv", plan(), rows_of)
