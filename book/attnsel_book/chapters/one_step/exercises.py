"""Exercises of the chapter on one gradient step."""

from fractions import Fraction
from typing import Any

import numpy as np

import attnsel
from attnsel import signed_frequency
from attnsel.statistics import label_z
from attnsel_book.exercises.cases import gradients, one_corpus, parts_and_corpora
from attnsel_book.exercises.checking import exercise
from attnsel_book.exercises.messages import labelled_sequences


@exercise(
    "one-step-alpha",
    expected=signed_frequency,
    cases=one_corpus,
    mistakes={
        "the sign is reversed": "corpus.counts -> -corpus.counts",
        (
            "negative sequences contribute nothing here; subtract their counts, "
            "because their sign is -1"
        ): "signs -> labels",
        "divide by the number of sequences; you divided by the total number of "
        "occurrences": ("len(corpus) -> corpus.counts.sum()"),
        "this is the sum over the sequences; alpha is the mean": "/ len(corpus) ->",
        (
            "do not divide by the lengths, because alpha counts occurrences; "
            "you computed beta"
        ): "corpus.signs / -> (corpus.signs / corpus.lengths) /",
        (
            "this is the lean (the posterior difference); alpha is not divided "
            "by the frequency"
        ): "len(corpus) -> corpus.counts.sum(axis=0)",
        "count every occurrence of a token, also repeated ones in one sequence": (
            "corpus.counts.T -> (corpus.counts.T > 0)"
        ),
    },
    hints=(
        "Each sequence contributes its counts, with the sign of its label.",
        "The sum of counts times signs over all sequences is the product of the "
        "transposed count matrix with a vector. Since alpha is a mean, divide this sum "
        "by the number of sequences.",
    ),
)
def my_alpha(corpus: attnsel.Corpus) -> np.ndarray:
    """Return alpha, (V,), from corpus.counts (n, V) and corpus.signs (n,)."""
    return corpus.counts.T @ corpus.signs / len(corpus)


@exercise(
    "one-step-gradient",
    expected=lambda *given: gradients(*given)[0],
    cases=parts_and_corpora,
    mistakes={
        "reverse the sign; this is minus the gradient, the direction of the step": (
            "u = -y -> u = y"
        ),
        "divide by the number of sequences, because the loss is a mean": (
            "/ len(y) ->"
        ),
        "add the part along p, because the score of a token matters, too": (
            "np.outer(grad_a, p) + ->"
        ),
        "along p the factor is b_s - f; you used the value b_s": (
            "- w * (C.T @ (u * f)) ->"
        ),
        (
            "the sign of the exponent in g is reversed; g = 1 / (1 + exp(y f)) is "
            "large where the model is wrong"
        ): "np.exp(y -> np.exp(-y",
        "use the softmax of the scores; your attention is uniform": (
            "np.exp(a - a.max()) -> np.ones(len(a))"
        ),
        (
            "multiply by the counts, because a token that occurs twice has "
            "twice the weight"
        ): "corpus.counts, -> corpus.counts > 0,",
        "multiply by g, the probability of the wrong label": (
            "/ (1 + np.exp(y * f)) ->"
        ),
        "compute g from the logits; it is one half only where they are zero": (
            "np.exp(y * f) -> 1"
        ),
        "the two parts are exchanged; the part from the values is along v": (
            "np.outer(grad_a, p) + np.outer(grad_b, v) -> np.outer(grad_a, v) + "
            "np.outer(grad_b, p)"
        ),
        "p and v are exchanged": "C, y, a, b = -> p, v = v, p\n    C, y, a, b =",
    },
    hints=(
        "Row s of the gradient is a combination of v and p. The coefficient of v is "
        "the mean of -y g Q_s, and that of p is the mean of -y g Q_s (b_s - f). "
        "np.outer multiplies a vector of coefficients, one per token, by v or p.",
        "Let w be the exponential of the scores. For each sequence, Q_s is the count "
        "of s times w_s, divided by the sequence's entry of corpus.counts @ w. If x "
        "has one entry per sequence, corpus.counts.T @ x sums the counts times x over "
        "the sequences.",
    ),
)
def my_gradient_of_E(
    E: np.ndarray,
    p: np.ndarray,
    v: np.ndarray,
    corpus: attnsel.Corpus,
) -> np.ndarray:
    """Return the gradient of the loss with respect to E, (V, d)."""
    C, y, a, b = corpus.counts, corpus.signs.numpy(), E @ p, E @ v
    w = np.exp(a - a.max())
    total = C @ w
    f = C @ (w * b) / total
    u = -y / (1 + np.exp(y * f)) / len(y) / total
    grad_b = w * (C.T @ u)
    grad_a = b * grad_b - w * (C.T @ (u * f))
    return np.outer(grad_a, p) + np.outer(grad_b, v)


@exercise(
    "one-step-z",
    expected=label_z,
    cases=one_corpus,
    mistakes={
        (
            "subtract the mean label times the mean count, because alpha alone "
            "is not centred"
        ): "- mean * c.mean(0) ->",
        (
            "divide by n - 1 instead of n, because the labels are shuffled, not drawn "
            "independently"
        ): "(n - 1) -> n",
        (
            "multiply Var(c_s) by the variance of the labels, which is 1 minus the "
            "square of their mean"
        ): "(1 - mean**2) * ->",
        "Var(c_s) divides by n, not by n - 1, so do not set ddof=1": (
            "c.var(0) -> c.var(0, ddof=1)"
        ),
        "subtract the means of counts and labels, because both have to be centred": (
            "(alpha - mean * c.mean(0)) / ((1 - mean**2) * c.var(0) -> alpha / "
            "((c**2).mean(0)"
        ),
        "the mean label is missing twice, in the numerator and in the denominator": (
            "y.mean() -> 0"
        ),
        "divide by the standard deviation; you divided by the variance": "** 0.5 ->",
    },
    hints=(
        "Apply the formula to the columns of corpus.counts.toarray(), one per token.",
        "Var(c_s) is the mean square minus the squared mean, and .var(0) computes it "
        "for each column.",
    ),
    used=False,
)
def my_z(corpus: attnsel.Corpus) -> np.ndarray:
    """Return z_s of all tokens, (V,); nan if all sequences have equal counts of s."""
    c, y = corpus.counts.toarray(), corpus.signs.numpy()
    alpha, mean, n = y @ c / len(y), y.mean(), len(y)
    return (alpha - mean * c.mean(0)) / ((1 - mean**2) * c.var(0) / (n - 1)) ** 0.5


def lengths_fault(result: Any) -> str | None:
    """Return why sequences and labels are not an example of alpha_0 > 0 > beta_0."""
    try:
        rows, signs = labelled_sequences(result)
    except ValueError as error:
        return str(error)
    alpha = sum(y * row.count(0) for y, row in zip(signs, rows, strict=True))
    parts = zip(signs, rows, strict=True)
    beta = sum(Fraction(y * row.count(0), len(row)) for y, row in parts)
    if len(set(map(len, rows))) == 1:
        return (
            "all lengths are equal, so beta is alpha divided by the "
            "length; use different lengths"
        )
    n = len(rows)
    found = f"n alpha_0 is {alpha} and n beta_0 is {beta}, where n = {n}"
    if alpha <= 0:
        return f"{found}; use token 0 more often in positive sequences"
    if beta >= 0:
        return f"{found}; make the positive sequences longer"
    return None


@exercise(
    "one-step-lengths",
    fault=lengths_fault,
    mistakes={
        (
            "all lengths are equal, so beta is alpha divided by the length; use"
            " different lengths"
        ): lambda: (
            [[0, 0, 1], [0, 1, 1]],
            [1, 0],
        ),
        "n beta_0 is 3/4, where n = 2; make the positive sequences longer": (
            lambda: ([[0, 0], [0, 1, 1, 1]], [1, 0])
        ),
        "n beta_0 is -3/4, where n = 2; use token 0 more often in positive sequences": (
            lambda: ([[0, 1, 1, 1], [0]], [1, 0])
        ),
        "return a list of lists of token ids and a list of labels, 0 or 1": lambda: (
            [[0, 0, 1, 1, 1, 1], [0]],
            ["positive", "negative"],
        ),
    },
    hints=(
        "In alpha an occurrence counts as 1, and in beta as 1 divided by the length.",
        "In which class should the sequences be long, so that an occurrence of token "
        "0 counts little in beta? In which class should token 0 occur more often, so "
        "that this class determines the sign of alpha?",
    ),
)
def my_sequences() -> tuple[list[list[int]], list[int]]:
    """Return sequences of token ids, and labels, with alpha_0 > 0 > beta_0."""
    return [[0, 0, 1, 1, 1, 1, 1, 1], [0]], [1, 0]
