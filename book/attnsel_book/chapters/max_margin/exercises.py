"""Exercises of the chapter on the max-margin direction."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

import attnsel
from attnsel.corpus import Corpus
from attnsel.synthetic import separable_corpus
from attnsel.theory import relevant_tokens
from attnsel_book.exercises.cases import gradients, parts_and_corpora
from attnsel_book.exercises.checking import exercise
from attnsel_book.exercises.messages import as_numbers

TRANSPOSED = "transpose your result; each pair has a row, so the shape is (k, d)"
UNIT = "do not divide the rows by their norms"
FARTHEST = 4.0  # norm of the start in the open exercise


def selections() -> Iterator[tuple[Any, ...]]:
    """Yield embeddings, a corpus, and the token to select in each sequence."""
    X = [[0, 2], [0, 3], [1, 2, 3]]
    small = Corpus.from_tokens(X, [1, 1, 0], attnsel.Vocab(list("abcd")))
    yield np.diag([1.0, 2, 3, 4]), small, np.array([0, 0, 1])
    for seed in range(6):
        corpus = separable_corpus(4 + 2 * seed, 8, 3, n_relevant=4, seed=seed)
        E = np.random.default_rng(seed).normal(size=(8, 3))
        yield E, corpus, relevant_tokens(corpus).numpy()


def pairs_of(corpus: Corpus, selected: np.ndarray) -> list[tuple[int, int]]:
    """Return the selected token and each of its rivals, for all sequences."""
    bags = (corpus.counts[[i]].indices.tolist() for i in range(len(corpus)))
    return [
        (int(r), s)
        for r, bag in zip(selected, bags, strict=True)
        for s in bag
        if s != r
    ]


def holds_all(rows: np.ndarray, wanted: np.ndarray) -> bool:
    """Return whether an array contains each of the wanted rows."""
    distances = abs(rows[None] - wanted[:, None]).max(axis=2)
    return bool((distances.min(axis=1) < 1e-5 * abs(wanted).max()).all())


def rows_fault(
    result: Any, E: np.ndarray, corpus: Corpus, selected: np.ndarray
) -> str | None:
    """Return a sentence about missing or wrong rows, or None."""
    rows, d = as_numbers(result), E.shape[1]
    if rows is None or rows.ndim != 2 or rows.shape[1] != d or not len(rows):
        return f"rows of {d} numbers are expected, one for each pair"
    if not np.isfinite(rows).all():
        return "all numbers in the rows have to be finite"
    wanted = np.stack([E[r] - E[s] for r, s in pairs_of(corpus, selected)])
    if not holds_all(rows, wanted):
        unit = wanted / np.linalg.norm(wanted, axis=1, keepdims=True)
        if len(rows) == d and holds_all(rows.T, wanted):
            return TRANSPOSED
        if holds_all(rows, unit) and holds_all(unit, rows):
            return UNIT
        return "a selected token and another token of its sequence have no row"
    if not holds_all(wanted, rows):
        return "a row is not a selected token minus another token of its sequence"
    return None


@exercise(
    "max-margin-rows",
    fault=rows_fault,
    cases=selections,
    mistakes={
        "reverse the sign, because the lead of the selected token is positive": (
            "E[r] - E[s] -> E[s] - E[r]"
        ),
        (
            "leave out the rows of zeros, because the selected token is not its"
            " own rival"
        ): "[r != s] ->",
        (
            "only tokens of the same sequence are rivals; you used the whole vocabulary"
        ): "corpus.counts.nonzero() -> np.ones(corpus.counts.shape).nonzero()",
        TRANSPOSED: ("return (E[r] - E[s])[r != s] -> return (E[r] - E[s])[r != s].T"),
        UNIT: (
            "return (E[r] - E[s])[r != s] -> rows = (E[r] - E[s])[r != s]\n    "
            "return rows / np.linalg.norm(rows, axis=1, keepdims=True)"
        ),
        "write one row for each rival; you took the mean of these rows": (
            "return (E[r] - E[s])[r != s] -> rows = [(E[r] - E[s])[(r != s) & (n == "
            "i)] for i in range(len(corpus))]\n    return np.stack([pairs.mean(0) for "
            "pairs in rows])"
        ),
    },
    hints=(
        "corpus.counts.nonzero() gives the sequence and the token of each count.",
        (
            "With n, s = corpus.counts.nonzero(), selected[n] is the token that "
            "should be ahead of s. Leave out the pairs in which the two are the "
            "same token."
        ),
    ),
)
def my_rows(E: np.ndarray, corpus: attnsel.Corpus, selected: np.ndarray) -> np.ndarray:
    """Return the rows E_r - E_s, (k, d), of selected tokens r and their rivals s."""
    n, s = corpus.counts.nonzero()
    r = selected[n]
    return (E[r] - E[s])[r != s]


@exercise(
    "max-margin-pull",
    expected=lambda *given: -gradients(*given)[1],
    cases=parts_and_corpora,
    mistakes={
        "reverse the sign, because p moves down the gradient": "u = y -> u = -y",
        "multiply by the label y, because negative sequences pull the other way": (
            "u = y / -> u = 1 /"
        ),
        "scores and values are exchanged; E p are the scores, and E v the values": (
            "a, b, y = E @ p, E @ v -> a, b, y = E @ v, E @ p"
        ),
        "divide by the number of sequences, because the loss is a mean": (
            "/ len(y) ->"
        ),
        (
            "subtract f from the value, because a token whose value is f does not "
            "pull p"
        ): "- Q.T @ (u * f) ->",
        (
            "the sign of the exponent in g is reversed; g = 1 / (1 + exp(y f)) is "
            "large where the model is wrong"
        ): "np.exp(y -> np.exp(-y",
        "use the softmax of the scores; your attention is uniform": (
            "np.exp(a - a.max()) -> 1.0"
        ),
        "multiply by g, the probability of the wrong label": (
            "/ (1 + np.exp(y * f)) ->"
        ),
        (
            "multiply by the counts, because a token that occurs twice has "
            "twice the weight"
        ): "corpus.counts.toarray() -> (corpus.counts.toarray() > 0)",
    },
    hints=(
        "Token s contributes E_s times the mean of y g Q_s (b_s - f), where Q_s is its "
        "attention in a sequence. Compute this mean for each token, and multiply E.T "
        "by the vector of these means.",
        "To get Q, of shape (n, V), multiply corpus.counts by the exponentials of the "
        "scores and divide each row by its sum. Then f is Q @ b, and multiplying by "
        "Q.T sums over the sequences.",
    ),
)
def my_pull(
    E: np.ndarray,
    p: np.ndarray,
    v: np.ndarray,
    corpus: attnsel.Corpus,
) -> np.ndarray:
    """Return minus the gradient of the loss with respect to p, (d,)."""
    a, b, y = E @ p, E @ v, corpus.signs.numpy()
    Q = corpus.counts.toarray() * np.exp(a - a.max())
    Q /= Q.sum(axis=1, keepdims=True)
    f = Q @ b
    u = y / (1 + np.exp(y * f)) / len(y)
    return E.T @ (b * (Q.T @ u) - Q.T @ (u * f))


def plane(start: np.ndarray) -> tuple[attnsel.AttentionClassifier, Corpus]:
    """Return the model and corpus of the figure in the plane, for a start of p."""
    words = ["good", "great", "bad", "awful", "the", "film", "plot"]
    places = [[0.9, 1], [1.1, 0.6], [-0.8, 0.8], [-1, 1.2]]
    places += [[0, 0.1], [0.1, -0.3], [-0.1, 0.3]]
    X = [[0, 4, 5], [1, 4, 6], [0, 6, 5], [2, 4, 5], [3, 4, 6], [2, 6, 5]]
    corpus = Corpus.from_tokens(X, [1, 1, 1, 0, 0, 0], attnsel.Vocab(words))
    model = attnsel.AttentionClassifier(7, 2, dtype=torch.float64)
    with torch.no_grad():
        model.embeddings.copy_(torch.tensor(places))
        model.output.copy_(torch.tensor([1.0, 0.0]))
        model.cls.copy_(torch.from_numpy(start))
    return model, corpus


def start_fault(result: Any) -> str | None:
    """Return why the flow from this p loses no class, or None."""
    start = as_numbers(result)
    if start is None or start.shape != (2,) or not np.isfinite(start).all():
        return "return p(0) as two finite numbers"
    norm = float(np.linalg.norm(start))
    if norm > FARTHEST:
        return f"p(0) has norm {norm:.3g}, but its norm must be at most {FARTHEST:g}"
    model, corpus = plane(start)
    flow = attnsel.gradient_flow(model, corpus, max_norm=400.0, tol=1e-4)
    right = flow.selected == relevant_tokens(corpus)
    if right.all():
        return "from this p(0) the flow selects every relevant word"
    if all(right[corpus.signs == y].any() for y in (-1, 1)):
        return "from this p(0) the flow selects a relevant word of each class"
    return None


@exercise(
    "max-margin-lost",
    fault=start_fault,
    mistakes={
        "p(0) has norm 10, but its norm must be at most 4": lambda: [-10.0, 0.0],
        "from this p(0) the flow selects every relevant word": lambda: [2.0, -3.0],
        "return p(0) as two finite numbers": lambda: [0.0, 0.0, -4.0],
    },
    hints=(
        "Drag the start of p in the figure. From which places do the words of one "
        "class have the lowest scores?",
        (
            "A word that is far ahead at the start stays ahead during the flow. "
            "Choose a p at which all words of one class have low scores, so that "
            "irrelevant words lead in the sequences of this class."
        ),
    ),
)
def my_start() -> list[float]:
    """Return a p(0) of norm at most 4 from which the flow loses a class."""
    return [-3.4, -2.0]
