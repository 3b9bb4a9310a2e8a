"""Exercises of the chapter on IMDB and Yelp."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from scipy.stats import binned_statistic

import attnsel
from attnsel.corpus import Corpus
from attnsel.statistics import label_z
from attnsel.synthetic import synthetic_corpus
from attnsel_book.exercises.cases import models, one_corpus
from attnsel_book.exercises.checking import exercise
from attnsel_book.exercises.messages import as_numbers


@exercise(
    "reviews-lean",
    expected=lambda corpus: corpus.counts.T @ corpus.signs / corpus.counts.sum(axis=0),
    cases=one_corpus,
    mistakes={
        "the sign is reversed": "2 * positive - total -> total - 2 * positive",
        (
            "this is the signed frequency; divide by the number of occurrences of the "
            "token, not by the number of texts"
        ): (lambda corpus: corpus.counts.T @ corpus.signs / len(corpus)),
        "count a token twice if it occurs twice in a text": (
            "corpus.counts.T @ (corpus.signs > 0)\n    "
            "total = corpus.counts.sum(axis=0) -> "
            "(1 * (corpus.counts > 0)).T @ (corpus.signs > 0)\n    "
            "total = (corpus.counts > 0).sum(axis=0)"
        ),
        (
            "divide by the number of occurrences; you divided by the number of "
            "texts with the token"
        ): "/ total -> / (corpus.counts > 0).sum(axis=0)",
        (
            "this is the share of the occurrences in positive texts, from 0 to 1; "
            "subtract the share in negative texts"
        ): "2 * positive - total -> positive",
        "return nan for a token that does not occur, because it has no lean": (
            "(2 * positive - total) / total -> np.nan_to_num((2 * positive - total) / "
            "total)"
        ),
    },
    hints=(
        "The lean of a token is the mean of the labels, -1 or +1, of its occurrences.",
        "Let x contain one number per text. For each token, corpus.counts.T @ x is a "
        "sum over its occurrences, to which each occurrence contributes the x of its "
        "text. Which x counts the occurrences in positive texts?",
    ),
)
def my_lean(corpus: attnsel.Corpus) -> np.ndarray:
    """Return P(1|s) - P(0|s), (V,), from counts (n, V) and signs (n,)."""
    positive = corpus.counts.T @ (corpus.signs > 0)
    total = corpus.counts.sum(axis=0).astype(float)
    total[total == 0] = np.nan
    return (2 * positive - total) / total


def points() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield x in [-1, 1] and y; some x are nan or at an edge, some bins are empty."""
    random = np.random.default_rng(0)
    yield np.array([-1, -0.98, 0.0, 0.04, 1]), np.array([1.0, 3, 4, 4, 5])
    for n in (7, 40, 200):
        x = random.uniform(-0.95, 0.95, n)
        x[0] = np.nan
        if n == 40:
            x[1:3] = 1, -1
        yield x, random.normal(size=n)


def by_scipy(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Return the mean and deviation of y in each bin of x, computed by scipy."""
    given = x[~np.isnan(x)], y[~np.isnan(x)]
    kinds = "mean", "std"
    return [binned_statistic(*given, kind, 20, (-1, 1)).statistic for kind in kinds]


@exercise(
    "reviews-bins",
    expected=by_scipy,
    cases=points,
    mistakes={
        "a bin contains its left end; your bins contain their right ends": (
            "-1, 1, 21)) -> -1, 1, 21), right=True)"
        ),
        "put x = 1 into the last bin, because some tokens have lean 1": (
            "= 19 -> = 20"
        ),
        "return nan for an empty bin, because it has no mean": (
            "np.array(mean), np.array(deviation) -> np.nan_to_num([mean, deviation])"
        ),
        "the bins always cover -1 to 1, even if the points do not": (
            "np.linspace(-1, 1, 21)) - 1\n    place[x == 1] -> np.linspace(x.min(), "
            "x.max(), 21)) - 1\n    place[x == x.max()]"
        ),
        (
            "divide the sum of squared deviations by the count; you divided by the "
            "count minus one"
        ): "part.std() if len(part) -> part.std(ddof=1) if len(part) > 1",
        "leave out points whose x is nan, because they belong to no bin": (
            "y, x = y[~np.isnan(x)], x[~np.isnan(x)] -> x = np.nan_to_num(x)"
        ),
        "leave out points whose x is nan; np.digitize treats them like x = 1": (
            "y, x = y[~np.isnan(x)], x[~np.isnan(x)] -> x = np.nan_to_num(x, nan=1)"
        ),
        "this is the variance; take its square root": "part.std() -> part.var()",
    },
    hints=(
        "np.linspace(-1, 1, 21) gives the edges of the bins. In which bin is each x?",
        "np.digitize(x, edges) - 1 is the bin of x, except for x = 1. Then compute the "
        "mean and the standard deviation of y in each bin that contains points.",
    ),
)
def my_bins(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means and standard deviations (20,) of y in 20 bins of x in [-1, 1].

    Points whose x is nan are in no bin. A bin contains its left end, and the last
    bin also its right end. An empty bin gives nan.
    """
    y, x = y[~np.isnan(x)], x[~np.isnan(x)]
    place = np.digitize(x, np.linspace(-1, 1, 21)) - 1
    place[x == 1] = 19
    held = [y[place == i] for i in range(20)]
    mean = [part.mean() if len(part) else np.nan for part in held]
    deviation = [part.std() if len(part) else np.nan for part in held]
    return np.array(mean), np.array(deviation)


def compared_lengths(corpus: Corpus) -> float:
    """Return a wrong x_0, computed from mean lengths instead of numbers of tokens."""
    T, y = corpus.lengths.double(), corpus.signs
    one, other = T[y > 0].mean(), T[y < 0].mean()
    return float((one - other) / (one + other))


@exercise(
    "reviews-neutral",
    expected=lambda corpus: float(
        (corpus.signs * corpus.lengths).sum() / corpus.lengths.sum()
    ),
    cases=one_corpus,
    mistakes={
        "this is the mean label of the texts; a long text has to count more": (
            "signed_tokens.sum() / corpus.lengths.sum() -> corpus.signs.mean()"
        ),
        "the sign is reversed": "float(signed -> float(-signed",
        "divide by the mean length as well": "corpus.lengths.sum() -> len(corpus)",
        "compare the numbers of tokens of both classes; you compared mean lengths": (
            compared_lengths
        ),
        (
            "this is the share of the tokens in positive texts, from 0 to 1; "
            "subtract the share in negative texts"
        ): "signed_tokens.sum() -> corpus.lengths[corpus.targets == 1].sum()",
    },
    hints=(
        "Use the lengths T_X. How many tokens do the positive texts contain, and how "
        "many do the negative texts contain?",
        "A text of length T has T tokens, each with the sign of the text. Add up these "
        "signs, and divide by the number of tokens.",
    ),
)
def my_neutral(corpus: attnsel.Corpus) -> float:
    """Return x_0 of a corpus, from its signs y (n,) and lengths T_X (n,)."""
    signed_tokens = corpus.signs * corpus.lengths
    return float(signed_tokens.sum() / corpus.lengths.sum())


def drawn() -> Iterator[tuple[Corpus, int]]:
    """Yield corpora with leaning tokens and classes of unequal sizes, and a seed."""
    for seed in (0, 1):
        corpus = synthetic_corpus(1200, 40, 10, delta=0.3, seed=seed)
        yield corpus[torch.arange(1200) % 4 != corpus.labels], seed


LEANS = "tokens still lean more strongly than chance explains"
SIZES = "a control must have as many texts of each class as the given corpus"
TEXTS = (
    "a control must have as many texts as the given corpus, and as many occurrences "
    "of each token"
)


def no_null(result: Any, corpus: Corpus, seed: int) -> str | None:
    """Return why a corpus is not a control for another one, or None."""
    if not isinstance(result, Corpus) or result.labels is None:
        return "return an attnsel.Corpus with labels"
    if result.counts.shape != corpus.counts.shape:
        return TEXTS
    total, kept = (part.counts.sum(axis=0) for part in (corpus, result))
    if abs(kept - total).max() > 6 * np.sqrt(total.max()):
        return TEXTS
    if not torch.equal(result.targets.bincount(), corpus.targets.bincount()):
        return SIZES
    beyond = np.average(label_z(result).abs() > 3)
    if beyond > 0.1:
        return f"{LEANS}: {beyond:.0%} of them have |z| > 3"
    return None


@exercise(
    "reviews-null",
    fault=no_null,
    cases=drawn,
    mistakes={
        LEANS: lambda corpus, seed: corpus,
        SIZES: lambda corpus, seed: corpus.with_labels(torch.arange(len(corpus)) % 2),
        TEXTS: lambda corpus, seed: corpus[: len(corpus) // 2],
    },
    hints=(
        "What connects a token with a label? Keep the texts, and break the connection.",
        "torch.randperm(n, generator=...) gives a random order, and "
        "corpus.with_labels(labels) gives the same texts with other labels.",
    ),
)
def my_null(corpus: attnsel.Corpus, seed: int) -> attnsel.Corpus:
    """Return a corpus like the given one, but with tokens that lean only by chance."""
    random = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(corpus), generator=random)
    return corpus.with_labels(torch.as_tensor(corpus.labels)[order])


def parameters() -> Iterator[tuple[Any, ...]]:
    """Yield E, p, v and a constant of either sign."""
    for i, (model, _) in enumerate(models()):
        yield *model.arrays(), (-1) ** i * (1.0 + i)


def shift_fault(
    result: Any, E: np.ndarray, p: np.ndarray, v: np.ndarray, c: float
) -> str | None:
    """Return why not all logits grow by c, or None."""
    moved = as_numbers(result)
    if moved is None or moved.shape != E.shape:
        return f"return the new E, of shape {E.shape}"
    grown, turned = (moved - E) @ v, (moved - E) @ p
    if not np.allclose(grown, c, rtol=1e-4):
        by = dict.fromkeys(f"{x:.4g}" for x in (grown.min(), grown.max()))
        return f"the values grow by {' to '.join(by)}, not by {c:g}"
    if not np.allclose(turned, turned[0], rtol=1e-4, atol=1e-5):
        return "the scores change by different amounts, so the attention changes"
    return None


@exercise(
    "reviews-constant",
    fault=shift_fault,
    cases=parameters,
    mistakes={
        "each value grows by c ‖v‖²; divide by ‖v‖²": "/ (v @ v) ->",
        "each value grows by c ‖v‖; divide by ‖v‖ once more": (
            "(v @ v) -> (v @ v) ** 0.5"
        ),
        (
            "adding c to every entry of E raises each value by c times the sum "
            "of the entries of v; add a multiple of v instead"
        ): "* v / (v @ v) ->",
        (
            "you multiplied the embeddings; this moves large values further "
            "than small ones"
        ): "c * v / (v @ v) -> c * E",
        "this moves the rows along p, which changes the scores; use the direction v": (
            "v / (v @ v) -> p / (p @ p)"
        ),
    },
    hints=(
        "Add the same vector to every row of E. Which vector has the inner product c "
        "with v?",
        "A multiple of v itself will do. What is the inner product of v with v?",
    ),
)
def my_shift(
    E: np.ndarray,
    p: np.ndarray,
    v: np.ndarray,
    c: float,
) -> np.ndarray:
    """Return a new E (V, d) for which every logit is larger by exactly c."""
    return E + c * v / (v @ v)
