"""Exercises of the chapter *Why the V, and why frequency decides*."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import attnsel
from attnsel.corpus import Corpus
from attnsel.theory import mean_count, relevant_tokens
from attnsel_book.chapters.why_v.laws import loss, rates
from attnsel_book.exercises.cases import corpora
from attnsel_book.exercises.checking import exercise
from attnsel_book.exercises.messages import as_numbers, labelled_sequences, same
from attnsel_book.problems import crowd_corpus


def scored() -> Iterator[tuple[Any, ...]]:
    """Yield a corpus and the scores and values of its tokens."""
    for i, corpus in enumerate(corpora()):
        drawn = np.random.default_rng(i).normal(size=(2, len(corpus.vocab)))
        yield corpus, *(1.5 * drawn).round(2)


@exercise(
    "why-v-exposure",
    expected=lambda corpus, a, b: rates(corpus, a, b)[2],
    cases=scored,
    mistakes={
        (
            "multiply by the label, because sequences that are classified "
            "wrongly lower the exposure"
        ): "y * f / -> f /",
        "multiply by g, the probability of the wrong label": (
            "/ (1 + np.exp(y * f)) ->"
        ),
        (
            "the sign of the exponent in g is reversed; g = 1 / (1 + exp(y f)) is "
            "large where the model is wrong"
        ): "np.exp(y -> np.exp(-y",
        "use the softmax of the scores; your attention is uniform": (
            "np.exp(a - a.max()) -> np.ones(len(a))"
        ),
        "this is the sum over the sequences; the rate is the mean": "/ len(y) ->",
        "this is the rate of the value; for the exposure, multiply by the output f": (
            "y * f / -> y /"
        ),
        "multiply by the output f; you used the token's own value b_s": (
            "y * f / (1 + np.exp(y * f)) / (C @ w)\n    return w * -> "
            "y / (1 + np.exp(y * f)) / (C @ w)\n    return w * b *"
        ),
        "count a token as often as it occurs; you counted it once per sequence": (
            "corpus.counts -> (corpus.counts > 0).astype(float)"
        ),
    },
    hints=(
        "Every sequence contributes y g f times its attention Q_s on the token.",
        "Let C be the counts and w the exponential of the scores. For each sequence, "
        "Q_s is then the count of s times w_s, divided by the sequence's entry of C @ "
        "w. Divide y g f by this entry to get x; then w * (C.T @ x) sums y g Q_s f "
        "over the sequences.",
    ),
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


def by_rates(corpus: Corpus, a: np.ndarray, b: np.ndarray, rate: float) -> np.ndarray:
    """Return scores and values after the step, computed by `rates`."""
    _, toward_v, exposure = rates(corpus, a, b)
    return np.stack([a + rate * (b * toward_v - exposure), b + rate * toward_v])


@exercise(
    "why-v-step",
    expected=by_rates,
    cases=stepping,
    mistakes={
        "reverse the sign, because descent goes against the gradient": (
            "return -> rate = -rate\n    return"
        ),
        "subtract the exposure, because the tokens compete for attention": (
            "- w * (C.T @ (u * f)) ->"
        ),
        "subtract the exposure, because it lowers the score; you added it": (
            "toward_v - w -> toward_v + w"
        ),
        "change the scores, too; this is a step on the values alone": (
            "a + rate * toward_p -> a"
        ),
        "multiply both changes by the rate": "return -> rate = 1\n    return",
        "these are only the changes; add them to a and b": (
            "a + rate * toward_p, b + rate * toward_v -> "
            "rate * toward_p, rate * toward_v"
        ),
        "the loss is the mean over the sequences; you used the sum": "/ len(y) ->",
    },
    hints=(
        "Scores and values each change by the rate times a mean. For the value it is "
        "the mean of y g Q_s, and for the score the mean of y g Q_s (b_s - f).",
        "Your lines for the exposure compute the mean of y g Q_s f. Without the factor "
        "f they compute the mean of y g Q_s; call it toward_v. The score changes by "
        "rate * (b * toward_v - exposure).",
    ),
)
def my_step(
    corpus: attnsel.Corpus,
    a: np.ndarray,
    b: np.ndarray,
    rate: float,
) -> np.ndarray:
    """Return scores and values, (2, V), after a gradient step on E alone."""
    C, y = corpus.counts, corpus.signs.numpy()
    w = np.exp(a - a.max())
    f = C @ (w * b) / (C @ w)
    u = y / (1 + np.exp(y * f)) / (C @ w) / len(y)
    toward_v = w * (C.T @ u)
    toward_p = b * toward_v - w * (C.T @ (u * f))
    return np.stack([a + rate * toward_p, b + rate * toward_v])


STEPS, RATE = 2000, 0.1  # of descent on the reader's sequences


def upside_down_fault(result: Any) -> str | None:
    """Return why token 0 has no falling score or no large value, or None."""
    try:
        rows, signs = labelled_sequences(result)
    except ValueError as error:
        return str(error)
    if len(rows) > 20 or max(map(max, rows)) > 20:
        return "use at most twenty sequences, and only the tokens 0 to 20"
    if {-1, 1} != set(signs):
        return "use both labels"
    holding = {label for row, label in zip(rows, signs, strict=True) if 0 in row}
    if len(holding) != 1:
        return "token 0 must occur, and only in sequences of one label"
    size = 1 + max(map(max, rows))
    vocab = attnsel.Vocab([str(s) for s in range(size)])
    corpus = Corpus.from_tokens(rows, signs, vocab)
    a, b = np.zeros(size), np.zeros(size)
    for _ in range(STEPS):
        toward_p, toward_v, _ = rates(corpus, a, b)
        a, b = a + RATE * toward_p, b + RATE * toward_v
    found = f"after training its score is {a[0]:.2f} and its value {b[0]:.2f}"
    if abs(b[0]) < 0.5:
        return f"{found}: the value of token 0 has to be at least 0.5 in absolute value"
    if a[0] >= -0.1:
        return f"{found}: the score has to be below -0.1"
    return None


@exercise(
    "why-v-upside-down",
    fault=upside_down_fault,
    mistakes={
        "the score has to be below -0.1": lambda: ([[0, 1], [2, 1]], [1, 0]),
        "token 0 must occur, and only in sequences of one label": lambda: (
            [[0, 1], [0, 2]],
            [1, 0],
        ),
        "use both labels": lambda: ([[0, 1, 1, 1]], [1]),
    },
    hints=(
        "In a positive sequence, the score of a token falls if its value is below the "
        "output f, however large the value is.",
        "In the first step only the labels and the shares of the tokens matter. Which "
        "other token of the sequences that contain token 0 could get a larger value "
        "than token 0?",
    ),
)
def my_sequences() -> tuple[list[list[int]], list[int]]:
    """Return sequences and labels that lower the score of the informative token 0."""
    return [[0, 1, 1, 1], [2]], [1, 0]


LEVEL, MOVES = 0.05, 4000  # training ends at this loss, or after these steps


def crowds() -> Iterator[tuple[Corpus]]:
    """Yield corpora with a crowd of rare relevant tokens in one class."""
    for positive, negative, length in ((1, 12, 2), (12, 1, 8), (1, 4, 31), (1, 40, 31)):
        size = positive * negative
        counts = [[size // tokens] * tokens for tokens in (positive, negative)]
        yield (crowd_corpus(*counts, length=length),)
    yield (rare_corpus(100, length=4),)
    yield (crowd_corpus([800], [1] * 800, length=31),)


def rare_corpus(n: int, *, length: int) -> Corpus:
    """Return n pairs of sequences, each with irrelevant tokens that only it contains.

    The positive sequences share one relevant token. Each negative sequence has its own.
    """
    others = np.arange(n * (length - 1)).reshape(n, length - 1) + n + 1
    rows = [[0, *own] for own in others]
    rows += [[1 + i, *own] for i, own in enumerate(others)]
    vocab = attnsel.Vocab([str(s) for s in range(n * length + 1)])
    return Corpus.from_tokens(rows, [1] * n + [0] * n, vocab)


EQUAL = "give rare tokens a higher rate; with equal rates a class is lost"
FREQUENT = "these rates make frequent tokens even faster; divide by the share instead"
ROOT = (
    "divide by the share itself; dividing by its square root removes only part of the "
    "advantage of frequent tokens"
)
SQUARE = "divide by the share itself; dividing by its square makes rare tokens too fast"
POWERS = {EQUAL: 0, FREQUENT: 1, ROOT: -0.5, SQUARE: -2}  # of the share


def safe_fault(given: Any, corpus: Corpus) -> str | None:
    """Return a sentence about a class that is lost at these rates, or None."""
    rate = as_numbers(given)
    if rate is None or rate.shape != (len(corpus.vocab),):
        return f"give a rate for each token, numbers of shape {(len(corpus.vocab),)}"
    if not (np.isfinite(rate).all() and (rate > 0).all()):
        return "each rate has to be a positive number"
    share = mean_count(corpus, 1 / corpus.lengths.double()).numpy()
    rate = rate / (rate * share).max()
    a, b = np.zeros((2, len(corpus.vocab)))
    for _ in range(MOVES):
        toward_p, toward_v, _ = rates(corpus, a, b)
        a, b = a + rate * toward_p, b + rate * toward_v
        if loss(corpus, a, b) < LEVEL:
            break
    scores = np.where(corpus.counts.toarray() > 0, a, -np.inf)
    right = scores.argmax(axis=1) == relevant_tokens(corpus).numpy()
    for sign, name in ((1, "positive"), (-1, "negative")):
        if not right[corpus.signs.numpy() == sign].all():
            length = int(corpus.lengths[0])
            lost = f"here, with T = {length}, the {name} class is lost"
            for why, power in POWERS.items():
                if same(rate, share**power / (share ** (power + 1)).max()):
                    return f"{lost}; {why}"
            return lost
    return None


@exercise(
    "why-v-safe",
    cases=crowds,
    fault=safe_fault,
    mistakes={
        EQUAL: "1 / share -> 0 * share + 1",
        FREQUENT: "1 / share -> share",
        ROOT: "1 / share -> share**-0.5",
        SQUARE: "1 / share -> share**-2",
    },
    hints=(
        "If a token occurs in twice as many sequences as another token, its gradient "
        "is about twice as large. With which rates do both tokens move equally fast?",
        "With equal lengths, corpus.counts.sum(axis=0) is proportional to the average "
        "share of each token.",
    ),
)
def my_rates(corpus: attnsel.Corpus) -> np.ndarray:
    """Return a rate for each token, (V,), at which no class is lost."""
    share = corpus.counts.sum(axis=0) / corpus.counts.sum()
    return 1 / share
