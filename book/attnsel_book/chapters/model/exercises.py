"""Exercises of the chapter on the model."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from scipy.special import softmax
from torch import Tensor

import attnsel
from attnsel.corpus import Corpus
from attnsel.model import logistic_loss
from attnsel.synthetic import separable_corpus
from attnsel_book.exercises.cases import models
from attnsel_book.exercises.checking import exercise
from attnsel_book.exercises.messages import as_numbers, code, difference
from attnsel_book.exercises.running import derivatives

NO_GRADIENT = (
    "the logits have no gradient; use only torch operations, without detach or numpy"
)
NO_TENSOR = "return one tensor; torch.stack(logits) keeps the gradients of a list"
WRONG_GRADIENT = (
    "the logits are right, but their derivatives are not; do "
    "not detach the scores or the values"
)
MOST_VALUE, ENOUGH = 3.0, 0.1  # of the values, and of the loss, in the open exercise


def sequences() -> Iterator[tuple[Any, ...]]:
    """Yield token ids, scores and values; in the last case exp(score) overflows."""
    for model, corpus in models():
        a, b = model.scores().numpy().T
        yield np.array([s for _, s in corpus.words(0) if s >= 0]), a, b
    yield np.array([0, 1]), np.array([1000.0, 0.0]), np.array([1.0, -1.0])


@exercise(
    "model-logit",
    expected=lambda ids, a, b: softmax(a[ids]) @ b[ids],
    cases=sequences,
    mistakes={
        (
            "the softmax sums over the tokens of the sequence; you summed over "
            "the whole vocabulary"
        ): "w.sum() -> np.exp(a - a[ids].max()).sum()",
        (
            "this is the value of the token with the largest score, but the "
            "softmax gives every value a weight"
        ): "w @ b[ids] / w.sum() -> b[ids][w.argmax()]",
        "this is the plain mean of the values; weight them by the attention": (
            "w @ b[ids] / w.sum() -> b[ids].mean()"
        ),
        "divide the weights by their sum, so that they sum to one": "/ w.sum() ->",
        "count a token twice if it occurs twice in the sequence": (
            "w = -> ids = np.unique(ids)\n    w ="
        ),
        "scores and values are exchanged": "w = -> a, b = b, a\n    w =",
        (
            "this is the probability of label 1; return the logit, which is the "
            "number before the sigmoid"
        ): "w @ b[ids] / w.sum() -> 1 / (1 + np.exp(-w @ b[ids] / w.sum()))",
        "take the sum instead of the mean, because the weights already sum to one": (
            "/ w.sum() -> / w.sum() / len(ids)"
        ),
        (
            "this is the sum of scores times values; apply the softmax to the "
            "scores first"
        ): "w @ b[ids] / w.sum() -> a[ids] @ b[ids]",
        "subtract the largest score first, because exp(1000) overflows": (
            "- a[ids].max() ->"
        ),
        (
            "the weights are proportional to the exponentials of the scores; you used "
            "the scores themselves"
        ): "np.exp(a[ids] - a[ids].max()) -> a[ids]",
        (
            "the sign of the scores is reversed; a token with a larger score has a "
            "larger weight"
        ): "np.exp(a[ids] - a[ids].max()) -> np.exp(a[ids].min() - a[ids])",
    },
    hints=(
        "a[ids] contains the scores at the positions of the sequence, and b[ids] the "
        "values.",
        "The weights are the exponentials of the scores, divided by their sum. If you "
        "subtract the same number from all scores, the weights do not change, and the "
        "exponentials can be kept finite.",
    ),
)
def my_logit(ids: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """Return f(X) of the tokens `ids`; a and b, (V,), are the scores and values."""
    w = np.exp(a[ids] - a[ids].max())
    return w @ b[ids] / w.sum()


def bags() -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield sparse counts, scores and values; in the last case exp(score) overflows.

    The first case is the two reviews of the chapter, *good good film* and *bad film*.
    """
    small = torch.tensor([[2.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    yield with_gradient(small, torch.tensor([[1.0, 2.0], [1.0, -2.0], [0.0, 0.5]]))
    for model, corpus in models():
        counts = torch.from_numpy(corpus.counts.toarray())
        yield with_gradient(counts, model.scores())
    # The chapter trains in single precision.
    yield with_gradient(counts, model.scores(), torch.float32)
    huge = torch.tensor([[1000.0, 1.0], [999.0, -1.0]])
    yield with_gradient(torch.tensor([[1.0, 1.0], [2.0, 0.0]]), huge)


def with_gradient(
    counts: Tensor, scores: Tensor, dtype: torch.dtype = torch.float64
) -> tuple[Tensor, Tensor, Tensor]:
    """Return sparse counts, and scores and values that require gradients."""
    a, b = scores.to(dtype).T.contiguous()
    return counts.to(dtype).to_sparse(), a.requires_grad_(), b.requires_grad_()


def by_sequence(counts: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """Return the logits, computed by a softmax over the positions of each sequence."""
    logits = []
    for row in counts.to_dense().long():
        ids = torch.repeat_interleave(row)
        logits.append(torch.softmax(a[ids], 0) @ b[ids])
    return torch.stack(logits)


def forward_fault(result: Any, counts: Tensor, a: Tensor, b: Tensor) -> str | None:
    """Return why logits are wrong or have no right derivatives, or None."""
    wanted = by_sequence(counts, a, b)
    fault = difference([(result, wanted)])
    if fault is not None:
        return f"{fault}; the expected logits are {code(wanted)}"
    if isinstance(result, list | tuple) and any(
        isinstance(x, Tensor) and x.requires_grad for x in result
    ):
        return NO_TENSOR
    if not (isinstance(result, Tensor) and result.requires_grad):
        return NO_GRADIENT
    found = getattr(result, "derivatives", None)
    if difference([(found, derivatives(wanted, (a, b)))]):
        return WRONG_GRADIENT
    return None


@exercise(
    "model-forward",
    fault=forward_fault,
    cases=bags,
    mistakes={
        (
            "multiply by the counts, because a token that occurs twice has "
            "twice the weight"
        ): "w = -> counts = (counts.to_dense() > 0).to(a)\n    w =",
        "this is the plain mean of the values; weight them by the attention": (
            "a - a.max() -> 0 * a"
        ),
        "divide the weights of each sequence by their sum, so that they sum to one": (
            "/ (counts @ w) ->"
        ),
        (
            "the softmax sums over the tokens of each sequence; you summed over"
            " the whole vocabulary"
        ): "counts @ w -> w.sum()",
        "scores and values are exchanged": "w = -> a, b = b, a\n    w =",
        "subtract the largest score first, because exp(1000) overflows": (
            "- a.max() ->"
        ),
        NO_GRADIENT: "w = -> a, b = a.detach(), b.detach()\n    w =",
        NO_TENSOR: (
            "counts @ (w * b) / (counts @ w) -> list(counts @ (w * b) / (counts @ w))"
        ),
        WRONG_GRADIENT: "a - a.max() -> (a - a.max()).detach()",
    },
    hints=(
        "The numerator and the denominator are both counts @ x, with different vectors "
        "x of shape (V,).",
        "Let w contain the exponentials of the scores. Then the two vectors are w * b "
        "and w. If you subtract the same number from all scores, the logits do not "
        "change.",
    ),
)
def my_forward(counts: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return logits (n,) for sparse counts (n, V), scores a and values b, (V,)."""
    w = torch.exp(a - a.max())
    return counts @ (w * b) / (counts @ w)


def labelled() -> Iterator[tuple[Corpus]]:
    """Yield corpora in which each sequence contains one informative token."""
    for n, n_tokens, length, seed in ((20, 24, 4, 0), (60, 60, 8, 1), (100, 90, 8, 2)):
        yield (separable_corpus(n, n_tokens, length, n_relevant=8, seed=seed),)


def numbers_fault(result: Any, corpus: Corpus) -> str | None:
    """Return why two numbers per token do not classify a corpus well, or None."""
    pair, V = as_numbers(result), len(corpus.vocab)
    if pair is None or pair.shape != (2, V) or not np.isfinite(pair).all():
        return f"return two arrays of {V} finite numbers, the scores and the values"
    a, b = pair
    if np.abs(b).max() > MOST_VALUE:
        return f"the largest value has size {np.abs(b).max():.4g}; at most 3 is allowed"
    logits = np.zeros(len(corpus))
    for i in range(len(corpus)):
        ids = np.array([s for _, s in corpus.words(i) if s >= 0])
        logits[i] = softmax(a[ids]) @ b[ids]
    loss = float(logistic_loss(torch.as_tensor(logits), corpus.signs))
    if loss > ENOUGH:
        return f"the loss is {loss:.3f}, but it has to be at most {ENOUGH}"
    return None


@exercise(
    "model-two-numbers",
    fault=numbers_fault,
    cases=labelled,
    mistakes={
        (
            "with equal scores the attention is uniform, so the other words dilute "
            "the value of the informative one"
        ): "20 * abs(lean) -> 0 * lean",
        "a token of negative sequences needs a large score, too": "abs(lean) -> lean",
        "the values have the wrong sign": "3 * -> -3 *",
        "the attention is on the frequent tokens, which occur in both classes": (
            "20 * abs(lean) -> corpus.counts.sum(axis=0).astype(float)"
        ),
    },
    hints=(
        "The values b determine which label a token supports, and the scores a "
        "determine how much it counts.",
        "attnsel.posterior_difference(corpus) is 1 or -1 for a token of one class only "
        "and near 0 for a token of both classes. Which function of it gives the "
        "score, and which gives the value?",
    ),
)
def my_two_numbers(corpus: attnsel.Corpus) -> tuple[np.ndarray, np.ndarray]:
    """Return scores a and values b, (V,) each, that classify a corpus."""
    lean = attnsel.posterior_difference(corpus).numpy()
    return 20 * abs(lean), 3 * lean
