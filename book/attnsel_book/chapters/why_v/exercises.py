"""Exercises of the chapter on the laws of scores and values."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.special import expit

import attnsel
from attnsel.corpus import Corpus
from attnsel_book.chapters.why_v.laws import rates
from attnsel_book.exercises.cases import arrays, corpora, models
from attnsel_book.exercises.checking import exercise
from attnsel_book.exercises.messages import as_numbers


def scored() -> Iterator[tuple[Any, ...]]:
    """Yield a corpus and the scores and values of its tokens."""
    for i, corpus in enumerate(corpora()):
        drawn = np.random.default_rng(i).normal(size=(2, len(corpus.vocab)))
        yield corpus, *(1.5 * drawn).round(2)


def exposed(
    of_sequence: Callable[[float, float, np.ndarray], Any],
    weigh: float = 1.0,
    mean: bool = True,
) -> Callable[..., np.ndarray]:
    """Return a sum over sequences of what is made of y, f and the attention Q."""

    def total(corpus: Corpus, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        w = corpus.counts.toarray() * np.exp(weigh * a)
        attention = w / w.sum(axis=1, keepdims=True)
        parts = [
            of_sequence(y, Q @ b, Q)
            for y, Q in zip(corpus.signs.tolist(), attention, strict=True)
        ]
        return np.sum(parts, axis=0) / (len(parts) if mean else 1)

    return total


@exercise(
    "why-v-exposure",
    expected=lambda corpus, a, b: rates(corpus, a, b)[2],
    cases=scored,
    mistakes={
        "the label is missing: what is classified wrongly lowers the exposure": exposed(
            lambda y, f, Q: Q * f * expit(-y * f)
        ),
        "the factor g, the probability of the wrong label, is missing": exposed(
            lambda y, f, Q: y * Q * f
        ),
        "g is large where the model is wrong: 1 / (1 + exp(y f))": exposed(
            lambda y, f, Q: y * Q * f * expit(y * f)
        ),
        "the attention is a softmax of the scores, not uniform": exposed(
            lambda y, f, Q: y * Q * f * expit(-y * f), weigh=0.0
        ),
        "that is the sum over the sequences; the rate is their mean": exposed(
            lambda y, f, Q: y * Q * f * expit(-y * f), mean=False
        ),
        "that is the rate of the value: the output f is missing": exposed(
            lambda y, f, Q: y * Q * expit(-y * f)
        ),
    },
    hints=(
        "Every sequence contributes the number y g f times its attention Q_s.",
        "Let C be the counts and w the exponential of the scores. Then Q_s is the "
        "count of s times w_s, divided by the sequence's entry of C @ w. Divide x by "
        "this entry; then w * (C.T @ x) is the sum of x times Q over the sequences.",
    ),
    terms=("Q_s", "w * (C.T @ x)"),
    dots=2,
    minutes=10,
)
def my_exposure(
    corpus: attnsel.Corpus,
    a: np.ndarray,
    b: np.ndarray,
) -> np.ndarray:
    """Return the mean of y g Q_s f, (V,), from scores a and values b."""
    C, y = corpus.counts, corpus.signs.numpy()
    w = np.exp(a - a.max())
    f = C @ (w * b) / (C @ w)
    x = y * f / (1 + np.exp(y * f)) / (C @ w)
    return w * (C.T @ x) / len(y)


def stepping() -> Iterator[tuple[Any, ...]]:
    """Yield a corpus, scores, values and a rate."""
    for i, given in enumerate(scored()):
        yield *given, [1.0, 0.5, 3.0][i % 3]


def stepped(
    of_score: Callable[..., Any], of_value: Callable[..., Any]
) -> Callable[..., np.ndarray]:
    """Return the step made of b, the rate of the value and that of the exposure."""

    def of(corpus: Corpus, a: np.ndarray, b: np.ndarray, rate: float) -> np.ndarray:
        _, toward_v, exposure = rates(corpus, a, b)
        given = b, toward_v, exposure, rate
        return np.stack([a + of_score(*given), b + of_value(*given)])

    return of


@exercise(
    "why-v-step",
    expected=stepped(
        lambda b, B, x, rate: rate * (b * B - x), lambda b, B, x, r: r * B
    ),
    cases=stepping,
    mistakes={
        "descent goes against the gradient: turn the sign round": stepped(
            lambda b, B, x, rate: -rate * (b * B - x), lambda b, B, x, r: -r * B
        ),
        "attention is a competition: the exposure has to be subtracted": stepped(
            lambda b, B, x, rate: rate * b * B, lambda b, B, x, r: r * B
        ),
        "the exposure lowers the score: subtract it": stepped(
            lambda b, B, x, rate: rate * (b * B + x), lambda b, B, x, r: r * B
        ),
        "the scores stay as they are: that is a step on the values alone": stepped(
            lambda b, B, x, rate: 0 * b, lambda b, B, x, r: r * B
        ),
        "the rate is missing": stepped(
            lambda b, B, x, rate: b * B - x, lambda b, B, x, r: B
        ),
    },
    hints=(
        "Scores and values each change by the rate times a mean. For the value it is "
        "the mean of y g Q_s, and for the score the mean of y g Q_s (b_s - f).",
        "The exposure is the mean of y g Q_s f. Without the factor f, the same lines "
        "give toward_v, the mean of y g Q_s. The score changes by the rate times "
        "b * toward_v minus the exposure.",
    ),
    terms=("Scores and values", "b * toward_v"),
    dots=2,
    minutes=10,
)
def my_step(
    corpus: attnsel.Corpus,
    a: np.ndarray,
    b: np.ndarray,
    rate: float,
) -> np.ndarray:
    """Return scores and values after a step of descent on E alone, (2, V)."""
    C, y = corpus.counts, corpus.signs.numpy()
    w = np.exp(a - a.max())
    f = C @ (w * b) / (C @ w)
    u = y / (1 + np.exp(y * f)) / (C @ w) / len(y)
    toward_v = w * (C.T @ u)
    toward_p = b * toward_v - w * (C.T @ (u * f))
    return np.stack([a + rate * toward_p, b + rate * toward_v])


def trained_parts() -> Iterator[tuple[np.ndarray, ...]]:
    """Yield E, p and v."""
    for model, _ in models():
        yield tuple(arrays(model))


@exercise(
    "why-v-balance",
    expected=lambda E, p, v: np.array(
        [
            [sum(x[i] * x[j] for x in E) - p[i] * p[j] - v[i] * v[j] for j in range(4)]
            for i in range(4)
        ]
    ),
    cases=trained_parts,
    mistakes={
        "p and v are subtracted": lambda E, p, v: (
            E.T @ E + np.outer(p, p) + np.outer(v, v)
        ),
        "that is its trace alone, one number": lambda E, p, v: (
            (E**2).sum() - p @ p - v @ v
        ),
        "E^T E is (d, d): E E^T compares tokens": lambda E, p, v: E @ E.T,
        "p p^T is a matrix, np.outer(p, p)": lambda E, p, v: E.T @ E - p @ p - v @ v,
        "v counts, too": lambda E, p, v: E.T @ E - np.outer(p, p),
    },
    hints=(
        "Subtract two matrices of rank one, for p and for v, from a (d, d) matrix.",
        "E.T @ E is the sum of the outer products of the rows of E with themselves; "
        "np.outer gives the outer product of p with itself.",
    ),
    terms=("(d, d)", "E.T @ E"),
    dots=1,
    minutes=5,
)
def my_balance(E: np.ndarray, p: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return what training E, p and v together conserves, (d, d)."""
    return E.T @ E - np.outer(p, p) - np.outer(v, v)


STEPS, RATE = 2000, 0.1  # of descent on the reader's sequences


def upside_down_fault(result: Any) -> str | None:
    """Return why the score of token 0 does not fall while its value grows."""
    kinds = "return a list of lists of token ids and a list of labels, 0 or 1"
    try:
        sequences, labels = result
        given = [as_numbers(list(sequence)) for sequence in sequences]
        signs = [{0.0: 0, 1.0: 1}[float(label)] for label in labels]
    except (TypeError, ValueError, KeyError, RuntimeError):
        return kinds
    rows = [row.tolist() for row in given if row is not None and row.ndim == 1]
    if len(rows) != len(given) or not all(s.is_integer() for row in rows for s in row):
        return kinds
    if len(rows) != len(signs) or not all(rows):
        return "each sequence needs a label, and at least one token"
    if len(rows) > 20 or max(map(max, rows)) > 20 or min(map(min, rows)) < 0:
        return "twenty sequences and the tokens 0 to 20 are enough"
    if {0, 1} != set(signs):
        return "both labels have to occur"
    holding = {label for row, label in zip(rows, signs, strict=True) if 0 in row}
    if len(holding) != 1:
        return "token 0 has to occur in sequences of one label, and only of one"
    size = 1 + int(max(map(max, rows)))
    vocab = attnsel.Vocab([str(s) for s in range(size)])
    ids = [[int(s) for s in row] for row in rows]
    corpus = Corpus.from_tokens(ids, signs, vocab)
    a, b = np.zeros(size), np.zeros(size)
    for _ in range(STEPS):
        toward_p, toward_v, _ = rates(corpus, a, b)
        a, b = a + RATE * toward_p, b + RATE * toward_v
    found = f"after training its score is {a[0]:.2f} and its value {b[0]:.2f}"
    if abs(b[0]) < 0.5:
        return f"{found}: the value of token 0 has to be at least 0.5 in size"
    if a[0] >= -0.1:
        return f"{found}: the score has to be below -0.1"
    return None


@exercise(
    "why-v-upside-down",
    fault=upside_down_fault,
    mistakes={
        "the score has to be below -0.1": lambda: ([[0, 1], [2, 1]], [1, 0]),
        "token 0 has to occur in sequences of one label, and only of one": lambda: (
            [[0, 1], [0, 2]],
            [1, 0],
        ),
        "both labels have to occur": lambda: ([[0, 1, 1, 1]], [1]),
    },
    hints=(
        "A parabola is upside down if the value is behind the output f. Then the score "
        "falls, however good the token is.",
        "In the first step only counts matter. Which token of the same sequences could "
        "be ahead of token 0 in value from then on?",
    ),
    terms=("upside down", "token 0"),
    dots=3,
    minutes=15,
)
def my_sequences() -> tuple[list[list[int]], list[int]]:
    """Return sequences of token ids and labels: token 0 is good, and sinks."""
    return [[0, 1, 1, 1], [2]], [1, 0]
