"""Exercises of the chapter on attention as an explanation."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from attnsel_book.exercises.checking import exercise
from attnsel_book.exercises.messages import as_numbers

Text = tuple[np.ndarray, np.ndarray]  # attention Q (T,) and values b (T,) of a text


def drawn(sizes: tuple[int, ...]) -> Iterator[Text]:
    """Yield texts of these lengths; the values of their tokens have both signs."""
    random = np.random.default_rng(0)
    for T in sizes:
        Q = random.dirichlet(np.ones(T))
        b = random.normal(size=T)
        b[0] = -b[1]
        yield Q, b


def by_deletion(Q: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return f minus the output without each token, by deleting the token."""
    f = Q @ b
    kept = [np.arange(len(Q)) != s for s in range(len(Q))]
    return np.array([f - Q[left] @ b[left] / Q[left].sum() for left in kept])


@exercise(
    "explanation-influence",
    expected=by_deletion,
    cases=lambda: drawn((2, 3, 5, 8)),
    mistakes={
        "this is the gradient Q (b - f), in which f still contains the token": (
            "b - without -> b - f"
        ),
        (
            "this is attention times value; it ignores the logit of the remaining text"
        ): "(b - without) -> b",
        "this is f without the token; subtract it from f": (
            "Q * (b - without) -> without"
        ),
    },
    hints=(
        (
            "Without s, the attention on each other token grows by the factor 1"
            " / (1 - Q_s)."
        ),
        (
            "Without s, the logit is (f - Q_s b_s) / (1 - Q_s). So f is the weighted "
            "mean of b_s and this logit, with weights Q_s and 1 - Q_s."
        ),
    ),
)
def my_influence(Q: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return, for each token, f minus the f without this token, (T,)."""
    f = Q @ b
    without = (f - Q * b) / (1 - Q)
    return Q * (b - without)


def fewest(Q: np.ndarray, b: np.ndarray) -> int:
    """Return the size of the smallest set of tokens that flips the sign of f.

    For at most 12 tokens all sets are tried. Otherwise the largest terms are used.
    """
    terms = np.sort(Q * b * np.sign(Q @ b))[::-1]
    if len(Q) > 12:
        return int((terms.cumsum() <= terms.sum()).argmin()) + 1
    for size in range(1, len(Q)):
        sets = combinations(range(len(Q)), size)
        if any(terms[list(S)].sum() > terms.sum() for S in sets):
            return size
    raise ValueError("no deletion flips this text")


def flip_fault(result: Any, Q: np.ndarray, b: np.ndarray) -> str | None:
    """Return why a set is not a smallest set that flips the sign, or None."""
    numbers = as_numbers(sorted(result) if isinstance(result, set) else result)
    wanted = "return different positions, as whole numbers from 0 to T - 1"
    if numbers is None or numbers.ndim != 1 or not np.isfinite(numbers).all():
        return wanted
    S = numbers.astype(int)
    if len(set(S)) < len(S) or (numbers != S).any() or not set(S) <= set(range(len(Q))):
        return wanted
    left = np.setdiff1d(np.arange(len(Q)), S)
    if not len(left):
        return (
            "at least one token must remain, and the remaining ones must"
            " support the other class"
        )
    if np.sign(Q[left] @ b[left]) * np.sign(Q @ b) >= 0:
        return "without these tokens f keeps its sign"
    least = fewest(Q, b)
    if len(S) > least:
        sizes = f"the smallest such set has size {least}, and yours has size {len(S)}"
        return f"f changes its sign, but {sizes}"
    return None


@exercise(
    "explanation-flip",
    fault=flip_fault,
    cases=lambda: drawn((3, 5, 8, 10, 12, 150)),
    large=1,  # reviews of the chapter have about 150 different words
    mistakes={
        (
            "you chose the tokens by their attention; choose them by their terms Q b "
            "in the sum f"
        ): "argsort(-pull) -> argsort(-Q)",
        "deleting the most attended token is not always enough": (
            "order[:size] -> np.argsort(-Q)[:1]"
        ),
        (
            "at least one token must remain, and the remaining ones must "
            "support the other class"
        ): "order[:size] -> order",
        "return different positions, as whole numbers from 0 to T - 1": (
            "order[:size] -> pull"
        ),
    },
    hints=(
        (
            "f is the sum of Q b. Which part of this sum remains without a set "
            "S of tokens? For which S does the remaining part have the other sign?"
        ),
        "Without S, the output has the same sign as the difference between f and the "
        "sum of Q b over S. Which terms Q b should you subtract from f, so that as "
        "few of them as possible change its sign?",
    ),
)
def my_flip(Q: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a smallest set of positions whose deletion changes the sign of Q @ b."""
    f = Q @ b
    pull = Q * b * np.sign(f)
    order = np.argsort(-pull)
    gone = np.cumsum(pull[order])
    size = np.argmax(gone > abs(f)) + 1  # the first that is enough
    return order[:size]


def reversed_fault(result: Any) -> str | None:
    """Return why more attention does not mean less influence, or None."""
    numbers = as_numbers(result)
    if numbers is None or numbers.shape != (2, 5) or not np.isfinite(numbers).all():
        return "two lists of five finite numbers, Q and b, are expected"
    Q, b = numbers
    if not (Q > 0).all() or abs(Q.sum() - 1) > 1e-6:
        if not (Q > 0).all():
            return f"attention is positive, but the smallest Q is {Q.min():.4g}"
        return f"attention is positive and sums to one; yours sums to {Q.sum():.7g}"
    order = np.argsort(-Q)
    if np.diff(Q[order]).max() > -1e-9:
        return "two tokens have the same attention"
    size = np.abs(by_deletion(Q, b))[order]
    for i in range(4):
        if size[i + 1] <= size[i] + 1e-9:
            more, less = order[i : i + 2].tolist()
            return (
                f"token {more} has more attention than token {less}, but its influence "
                f"is not smaller: {size[i]:.4g} against {size[i + 1]:.4g}"
            )
    return None


@exercise(
    "explanation-reversed",
    fault=reversed_fault,
    mistakes={
        "attention is positive and sums to one": lambda: (
            [5, 4, 3, 2, 1],
            [1, 2, 3, 4, 5],
        ),
        "two tokens have the same attention": lambda: ([0.2] * 5, [1, 2, 3, 4, -10]),
        "has more attention than token 1, but its influence is not smaller": (
            lambda: ([0.3, 0.25, 0.2, 0.15, 0.1], [1, -1, 1, -1, 1])
        ),
        "two lists of five finite numbers, Q and b, are expected": lambda: (
            [0.3, 0.25, 0.2, 0.15, 0.1]
        ),
    },
    hints=(
        "Choose five nearly equal numbers as attention. Then the influence of a token "
        "is about Q_s (b_s - f) / (1 - 1/5), so the term Q_s (b_s - f) determines the "
        "order.",
        "The terms Q_s (b_s - f) sum to 0, and nothing else restricts them. Choose "
        "five numbers that sum to 0 and whose sizes have the order you want, and "
        "divide them by Q to get b.",
    ),
    used=False,
)
def my_reversed() -> tuple[np.ndarray, np.ndarray]:
    """Return Q and b of five tokens for which more attention means less influence."""
    Q = np.array([0.204, 0.202, 0.2, 0.198, 0.196])
    terms = np.array([1, 2, 3, 4, -10])
    return Q, terms / Q
