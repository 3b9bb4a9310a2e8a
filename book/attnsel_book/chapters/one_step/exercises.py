"""Exercises of the chapter on one gradient step."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import torch

import attnsel
from attnsel import posterior_difference, signed_frequency
from attnsel.corpus import Corpus
from attnsel.statistics import label_z
from attnsel_book.exercises.cases import arrays, corpora, models
from attnsel_book.exercises.checking import exercise
from attnsel_book.exercises.messages import as_numbers


def small_corpora() -> Iterator[tuple[Corpus]]:
    """Yield one corpus a case."""
    return ((corpus,) for corpus in corpora())


@exercise(
    "one-step-alpha",
    expected=signed_frequency,
    cases=small_corpora,
    mistakes={
        "the sign is turned round": lambda corpus: -signed_frequency(corpus),
        "the labels are 0 and 1; y is in corpus.signs": lambda corpus: (
            corpus.counts.T @ corpus.labels / len(corpus)
        ),
        "divide by the number of sequences, not of tokens": lambda corpus: (
            signed_frequency(corpus) * len(corpus) / corpus.lengths.sum()
        ),
        "that is the sum over the sequences; alpha is their mean": lambda corpus: (
            signed_frequency(corpus) * len(corpus)
        ),
        "alpha counts occurrences; divided by the lengths it is beta": lambda corpus: (
            corpus.counts.T @ (corpus.signs / corpus.lengths) / len(corpus)
        ),
        "that is the lean (posterior difference): alpha divided by the frequency": (
            posterior_difference
        ),
        "count every occurrence, not only whether the token is there": lambda corpus: (
            torch.from_numpy((corpus.counts.T > 0) @ corpus.signs) / len(corpus)
        ),
    },
    hints=(
        "Each sequence contributes its counts, with the sign of its label.",
        "The sum of counts times signs over all sequences is the product of the "
        "transposed count matrix with a vector. Since alpha is a mean, divide this sum "
        "by the number of sequences.",
    ),
    terms=("counts", "signs"),
    dots=1,
    minutes=5,
)
def my_alpha(corpus: attnsel.Corpus) -> np.ndarray:
    """Return alpha, (V,), from corpus.counts (n, V) and corpus.signs (n,)."""
    return corpus.counts.T @ corpus.signs / len(corpus)


def starts() -> Iterator[tuple[Any, ...]]:
    """Yield E, p, v and a corpus."""
    for model, corpus in models():
        yield *arrays(model), corpus


def by_autograd(
    E: np.ndarray, p: np.ndarray, v: np.ndarray, corpus: Corpus
) -> np.ndarray:
    """Return the gradient of the loss in E, position by position."""
    rows = torch.from_numpy(E).requires_grad_()
    query, out = torch.from_numpy(p), torch.from_numpy(v)
    logits = []
    for i in range(len(corpus)):
        x = [s for _, s in corpus.words(i) if s >= 0]
        q = torch.softmax(rows[x] @ query, 0)
        logits.append(q @ (rows[x] @ out))
    torch.log(1 + torch.exp(-corpus.signs * torch.stack(logits))).mean().backward()
    assert rows.grad is not None
    return rows.grad.numpy()


def gradient(
    weigh: bool = True,
    center: float = 1.0,
    along_p: float = 1.0,
    right: float = 1.0,
    repeat: bool = True,
    exchange: bool = False,
) -> Callable[..., np.ndarray]:
    """Return the gradient in E with parts turned or left out; all ones are right."""

    def of(E: Any, p: Any, v: Any, corpus: Corpus) -> np.ndarray:
        y, b = corpus.signs.numpy(), E @ v
        counts = corpus.counts.toarray()
        Q = (counts if repeat else counts > 0) * np.exp(E @ p * weigh)
        Q /= Q.sum(axis=1, keepdims=True)
        f = Q @ b
        u = -y / (1 + np.exp(right * y * f)) / len(y)
        along = b * (Q.T @ u) - center * (Q.T @ (u * f))
        if exchange:
            p, v = v, p
        return np.outer(Q.T @ u, v) + along_p * np.outer(along, p)

    return of


@exercise(
    "one-step-gradient",
    expected=by_autograd,
    cases=starts,
    mistakes={
        "that is minus the gradient, the step itself: turn the sign round": (
            lambda *given: -by_autograd(*given)
        ),
        "the loss is the mean over the sequences: divide by their number": (
            lambda *given: by_autograd(*given) * len(given[3])
        ),
        "the score of a token matters, too: the part along p is missing": (
            gradient(along_p=0.0)
        ),
        "what counts along p is b_s - f, not the value itself": gradient(center=0.0),
        "g is large where the model is wrong: 1 / (1 + exp(y f))": gradient(right=-1.0),
        "the attention is a softmax of the scores, not uniform": gradient(weigh=False),
        "a token that occurs twice has twice the weight: multiply by the counts": (
            gradient(repeat=False)
        ),
        "the factor g, the probability of the wrong label, is missing": (
            lambda *given: 2 * gradient(right=0.0)(*given)
        ),
        "g is one half at the start only, where all logits are zero": (
            gradient(right=0.0)
        ),
        "the two parts are exchanged: that of the values goes along v": (
            gradient(exchange=True)
        ),
        "p and v are exchanged": lambda E, p, v, corpus: gradient()(E, v, p, corpus),
    },
    hints=(
        "The mean of y g Q_s is the component along v, and the mean of "
        "y g Q_s (b_s - f) is the component along p. These are two numbers per token; "
        "np.outer turns them into rows.",
        "Let w be the exponential of the scores. For each sequence, Q_s is the count "
        "of s times w_s, divided by the sequence's entry of corpus.counts @ w. The "
        "product counts.T @ x sums over the sequences.",
    ),
    terms=("np.outer", "T @ "),
    dots=2,
    minutes=15,
)
def my_gradient_of_E(
    E: np.ndarray,
    p: np.ndarray,
    v: np.ndarray,
    corpus: attnsel.Corpus,
) -> np.ndarray:
    """Return the gradient of the loss in E, (V, d)."""
    C, y, a, b = corpus.counts, corpus.signs.numpy(), E @ p, E @ v
    w = np.exp(a - a.max())
    total = C @ w
    f = C @ (w * b) / total
    u = -y / (1 + np.exp(y * f)) / len(y) / total
    grad_b = w * (C.T @ u)
    grad_a = b * grad_b - w * (C.T @ (u * f))
    return np.outer(grad_a, p) + np.outer(grad_b, v)


def z_with(
    center: Callable[[np.ndarray, np.ndarray], Any],
    spread: Callable[[np.ndarray, np.ndarray], Any],
) -> Callable[[Corpus], np.ndarray]:
    """Return z from counts c (n, V) and labels y (n, 1), less a centre, by a spread."""

    def z(corpus: Corpus) -> np.ndarray:
        c, y = corpus.counts.toarray(), corpus.signs.numpy()[:, None]
        return ((y * c).mean(0) - center(c, y)) / spread(c, y) ** 0.5

    return z


def centered(c: np.ndarray, y: np.ndarray) -> Any:
    """Return the mean of alpha under shuffled labels."""
    return y.mean() * c.mean(0)


def shuffled(c: np.ndarray, y: np.ndarray) -> Any:
    """Return the variance of alpha under shuffled labels."""
    return (1 - y.mean() ** 2) * c.var(0) / (len(y) - 1)


@exercise(
    "one-step-z",
    expected=label_z,
    cases=small_corpora,
    mistakes={
        "alpha alone is not centred: take off the mean label times the mean count": (
            z_with(lambda c, y: 0, shuffled)
        ),
        "divide by n - 1, not by n: labels are shuffled, not drawn": (
            z_with(centered, lambda c, y: (1 - y.mean() ** 2) * c.var(0) / len(y))
        ),
        "the variance of the labels, 1 - the square of their mean, is missing": (
            z_with(centered, lambda c, y: c.var(0) / (len(y) - 1))
        ),
        "Var(c_s) is over all n sequences, without ddof=1": (
            z_with(
                centered,
                lambda c, y: (1 - y.mean() ** 2) * c.var(0, ddof=1) / (len(y) - 1),
            )
        ),
        "both means are missing: counts and labels have to be centred": (
            z_with(lambda c, y: 0, lambda c, y: (c**2).mean(0) / (len(y) - 1))
        ),
        "both means of the labels are missing, above and under the line": (
            z_with(lambda c, y: 0, lambda c, y: c.var(0) / (len(y) - 1))
        ),
        "divide by the standard deviation, the root of the variance": (
            z_with(centered, lambda c, y: shuffled(c, y) ** 2)
        ),
    },
    hints=(
        "Apply the formula to the columns of corpus.counts.toarray(), one per token.",
        "Var(c_s) is the mean square minus the squared mean, which is .var(0) of the "
        "columns.",
    ),
    terms=("toarray", "var(0)"),
    dots=2,
    minutes=10,
)
def my_z(corpus: attnsel.Corpus) -> np.ndarray:
    """Return z of each token, (V,); nan if its count is the same in all."""
    c, y = corpus.counts.toarray(), corpus.signs.numpy()
    alpha, mean, n = y @ c / len(y), y.mean(), len(y)
    return (alpha - mean * c.mean(0)) / ((1 - mean**2) * c.var(0) / (n - 1)) ** 0.5


SIGNS = {0.0: -1, -1.0: -1, 1.0: 1}  # of labels: 0 and 1, or -1 and 1


def lengths_fault(result: Any) -> str | None:
    """Return why sequences and labels are no example of alpha_0 > 0 > beta_0."""
    kinds = "return a list of lists of token ids and a list of labels, 0 or 1"
    try:
        sequences, labels = result
        given = [as_numbers(list(sequence)) for sequence in sequences]
        signs = [SIGNS[float(label)] for label in labels]
    except (TypeError, ValueError, KeyError, RuntimeError):
        return kinds
    rows = [row.tolist() for row in given if row is not None and row.ndim == 1]
    if len(rows) != len(given) or not all(s.is_integer() for row in rows for s in row):
        return kinds
    if len(rows) != len(signs) or not all(rows):
        return "each sequence needs a label, and at least one token"
    alpha = sum(y * row.count(0) for y, row in zip(signs, rows, strict=True))
    parts = zip(signs, rows, strict=True)
    beta = sum(Fraction(y * row.count(0), len(row)) for y, row in parts)
    if len(set(map(len, rows))) == 1:
        return "all lengths are equal, and then beta is alpha over the length"
    n = len(rows)
    found = f"n alpha_0 is {alpha} and n beta_0 is {beta}, where n = {n}"
    if alpha <= 0:
        return f"{found}: token 0 has to occur more often in positive sequences"
    if beta >= 0:
        return f"{found}: the positive sequences have to be the long ones"
    return None


@exercise(
    "one-step-lengths",
    fault=lengths_fault,
    mistakes={
        "all lengths are equal, and then beta is alpha over the length": lambda: (
            [[0, 0, 1], [0, 1, 1]],
            [1, 0],
        ),
        "n beta_0 is 3/4, where n = 2: the positive sequences have to be the long": (
            lambda: ([[0, 0], [0, 1, 1, 1]], [1, 0])
        ),
        "n alpha_0 is 0 and n beta_0 is -3/4, where n = 2: token 0 has to occur": (
            lambda: ([[0, 1, 1, 1], [0]], [1, 0])
        ),
        "return a list of lists of token ids and a list of labels, 0 or 1": lambda: (
            [[0, 0, 1, 1, 1, 1], [0]],
            ["positive", "negative"],
        ),
    },
    hints=(
        "An occurrence counts as 1 in alpha, and as 1 divided by the length in beta.",
        "Which class should have the long sequences, so that its occurrences count "
        "little in beta? Which class should have more occurrences, so that they "
        "determine the sign of alpha?",
    ),
    terms=("alpha", "beta"),
    dots=3,
    minutes=10,
)
def my_sequences() -> tuple[list[list[int]], list[int]]:
    """Return sequences of token ids, and labels, with alpha_0 > 0 > beta_0."""
    return [[0, 0, 1, 1, 1, 1, 1, 1], [0]], [1, 0]
