"""Exercises of the chapter on classifiers that are queried as black boxes."""

from collections.abc import Iterator

import numpy as np

from attnsel_book.exercises.checking import exercise


def two_tokens() -> Iterator[tuple[float, float, float]]:
    """Yield f of a pair, which is a weighted mean of two values, and these values."""
    yield 1.5, 2.0, 0.0
    random = np.random.default_rng(0)
    for _ in range(8):
        b_s, b_t = random.normal(0, 2, 2).tolist()
        q = float(random.uniform(0.05, 0.95))
        yield q * b_s + (1 - q) * b_t, b_s, b_t


def by_search(f: float, b_s: float, b_t: float) -> float:
    """Return the difference of scores for which a softmax gives f, by bisection."""
    low, high = -20.0, 20.0
    for _ in range(100):
        middle = (low + high) / 2
        q = 1 / (1 + np.exp(-middle))
        mean = q * b_s + (1 - q) * b_t
        if (mean < f) == (b_s > b_t):
            low = middle
        else:
            high = middle
    return low


@exercise(
    "outside-pair",
    expected=by_search,
    cases=two_tokens,
    mistakes={
        "the sign is reversed; you computed a_t - a_s": (
            "(b_t - f) / (f - b_s) -> (f - b_s) / (b_t - f)"
        ),
        "this is the ratio of the weights; take its logarithm": "np.log ->",
        (
            "this is the logarithm of one weight; a_s - a_t is the logarithm of"
            " the ratio of the two weights"
        ): "(b_t - f) / (f - b_s) -> (f - b_t) / (b_s - b_t)",
    },
    hints=(
        "Write q for the attention on s. Then f = q b_s + (1 - q) b_t; solve for q.",
        "The ratio of the two weights, q / (1 - q), is e^(a_s - a_t). Write this ratio "
        "in terms of f.",
    ),
)
def my_log_ratio(f: float, b_s: float, b_t: float) -> float:
    """Return a_s - a_t from f of the pair s, t and the values b_s and b_t."""
    return np.log((b_t - f) / (f - b_s))


def sums() -> Iterator[tuple[np.ndarray, float]]:
    """Yield the numbers that a model adds up, and its output for an empty text."""
    yield np.array([1.0, 2.0, -1.0]), 0.5
    random = np.random.default_rng(0)
    for V in (3, 4, 5, 6):
        yield random.normal(0, 1, V), float(random.normal())


def asked_in_pairs(zeta: np.ndarray, start: float) -> np.ndarray:
    """Mark the pairs with an output outside the range of their tokens' outputs."""
    V = len(zeta)
    beyond = np.zeros((V, V), bool)
    for s in range(V):
        for t in range(V):
            one, other = start + zeta[s], start + zeta[t]
            both = start + zeta[s] + zeta[t]
            low, high = sorted((one, other))
            beyond[s, t] = s != t and not low <= both <= high
    return beyond


@exercise(
    "outside-betrayed",
    expected=asked_in_pairs,
    cases=sums,
    mistakes={
        "attention could have the outputs of these pairs; return the other pairs": (
            "(np.outer(zeta, zeta) > 0) & different -> ~(np.outer(zeta, zeta) > 0)"
        ),
        (
            "set the diagonal to False, because a pair consists of two different tokens"
        ): "& different ->",
        "use the sign of zeta; you used the sign of the output start + zeta": (
            "np.outer(zeta, zeta) -> np.outer(zeta + start, zeta + start)"
        ),
        (
            "add the pairs whose f is below both values; you found only the pairs "
            "with f above both"
        ): "np.outer -> np.minimum.outer",
    },
    hints=(
        (
            "The values are start + zeta_s and start + zeta_t, and f is start +"
            " zeta_s + zeta_t. When is f larger than both values, and when is "
            "it smaller than both?"
        ),
        "First let zeta_s > 0. For which zeta_t does f lie between the two values?",
    ),
)
def my_betrayers(zeta: np.ndarray, start: float) -> np.ndarray:
    """Mark the pairs of tokens whose output rules out attention, bool (V, V).

    The output is start + zeta_s for one token and start + zeta_s + zeta_t for two.
    Mark two different tokens if the output for both is not between those for each.
    """
    different = ~np.eye(len(zeta), dtype=bool)
    return (np.outer(zeta, zeta) > 0) & different


def diluted() -> Iterator[tuple[float, int]]:
    """Yield the number c of a word and the count k of neutral words next to it."""
    yield 1.0, 1
    for c in (0.3, 2.0, 3.0):
        for k in (1, 2, 5, 20):
            yield c, k


def seeming(c: float, k: int) -> float:
    """Return the weight at which attention has the same output, from the share."""
    numbers = np.array([c] + [0.0] * k)
    f, b = np.tanh(numbers.mean()), np.tanh(c)
    share = f / b  # of the attention, on the strong word: its value is b, theirs 0
    return share / ((1 - share) / k)


@exercise(
    "outside-tanh",
    expected=seeming,
    cases=diluted,
    mistakes={
        (
            "cosh c is right for one neutral word, but the weight depends on "
            "the number of neutral words"
        ): "k * f / (b - f) -> np.cosh(c)",
        (
            "this is the weight relative to all k neutral words together; multiply by k"
        ): "k * f -> f",
        "take the mean over all k + 1 words; you divided by k": "(k + 1) -> k",
        "return the weight; you returned its logarithm": (
            "k * f / (b - f) -> np.log(k * f / (b - f))"
        ),
        (
            "this is f / b, which equals w / (w + k); solve this equation for w"
        ): "k * f / (b - f) -> f / b",
        "this is the limit for many neutral words; solve the equation for w with the "
        "given k": ("k * f / (b - f) -> c / b"),
    },
    hints=(
        "Attention with weight w has the output w b / (w + k), with b = tanh c. "
        "The model has f = tanh(c / (k + 1)). Set the two outputs equal.",
        "The equation is linear in w, so bring the terms with w to one side.",
    ),
)
def my_seeming_weight(c: float, k: int) -> float:
    """Return the apparent weight w of a word with zeta = c next to k neutral words.

    The model is f = tanh(mean of zeta), and a neutral word has zeta = 0.
    Attention with weight w on the word and 1 on each neutral word gives the same f.
    """
    b, f = np.tanh(c), np.tanh(c / (k + 1))
    return k * f / (b - f)
