"""Exercises of the chapter on the max-margin direction."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from scipy.special import expit, softmax

import attnsel
from attnsel.corpus import Corpus
from attnsel.synthetic import separable_corpus
from attnsel.theory import relevant_tokens
from attnsel_book.checks.cases import models
from attnsel_book.checks.checking import exercise
from attnsel_book.checks.telling import as_numbers

FARTHEST = 4.0  # norm of the start in the open exercise


def selections() -> Iterator[tuple[Any, ...]]:
    """Yield E, p, sequences of token ids, and a token to be selected in each.

    In the first case p selects, by the square root of one half.
    """
    p = np.array([2.0, 2, 0, 0])
    X = [[0, 2], [0, 3], [1, 2, 3]]
    yield np.eye(4), p, X, [0, 0, 1]
    for seed in range(6):
        corpus = separable_corpus(4 + 2 * seed, 8, 3, n_relevant=4, seed=seed)
        random = np.random.default_rng(seed)
        E = random.normal(size=(8, 3))
        p = random.normal(size=3)
        X = [corpus.counts[[i]].indices.tolist() for i in range(len(corpus))]
        yield E, 2 * p, X, relevant_tokens(corpus).tolist()


def least(
    leads: Callable[[np.ndarray, int, list[int]], list[float]],
    norm: Callable[..., Any] = np.linalg.norm,
    over: Callable[[list[float]], float] = min,
) -> Callable[..., float]:
    """Return a margin by some leads of a sequence, some norm, and least or other."""

    def margin(E: np.ndarray, p: np.ndarray, X: list[list[int]], top: list[int]) -> Any:
        a = E @ p / norm(p)
        found: list[float] = []
        for x, r in zip(X, top, strict=True):
            found += leads(a, r, x)
        return over(found)

    return margin


def each(a: np.ndarray, r: int, x: list[int]) -> list[float]:
    """Return all leads of one sequence."""
    return [float(a[r] - a[s]) for s in x if s != r]


@exercise(
    "max-margin-least-lead",
    expected=least(each),
    cases=selections,
    mistakes={
        "doubling p must not change it: divide by the norm of p": least(
            each, norm=lambda p: 1.0
        ),
        "the margin is the least lead, not the mean": least(
            each, over=lambda x: float(np.mean(x))
        ),
        "the margin is the least lead, not the greatest": least(each, over=max),
        "the selected token is no rival of itself": least(
            lambda a, r, x: [float(a[r] - a[s]) for s in x]
        ),
        "a lead that is negative is a token that is not selected: keep its sign": least(
            lambda a, r, x: [abs(lead) for lead in each(a, r, x)]
        ),
        "the rivals are the tokens of the sequence, not the whole vocabulary": least(
            lambda a, r, x: each(a, r, list(range(len(a))))
        ),
    },
    hints=(
        "With a = E @ p the lead of r over s is a[r] - a[s]; go through all sequences.",
        "Gather the leads over all other tokens of all sequences in one list. In the "
        "direction of p means: for p / ‖p‖.",
    ),
    dots=1,
    minutes=5,
)
def my_least_lead(
    E: np.ndarray,
    p: np.ndarray,
    X: list[list[int]],
    selected: list[int],
) -> float:
    """Return the least lead of a selected token in the direction of p."""
    a = E @ p / np.linalg.norm(p)
    return min(
        a[r] - a[s] for x, r in zip(X, selected, strict=True) for s in x if s != r
    )


def labelled() -> Iterator[tuple[Any, ...]]:
    """Yield E, p, v, sequences of token ids and signs."""
    for model, corpus in models():
        E, p, v = (part.detach().numpy() for part in model.parameters())
        words = (corpus.words(i) for i in range(len(corpus)))
        X = [[s for _, s in pieces if s >= 0] for pieces in words]
        yield E, p, v, X, corpus.signs.tolist()


def by_autograd(
    E: np.ndarray, p: np.ndarray, v: np.ndarray, X: list[list[int]], y: list[float]
) -> np.ndarray:
    """Return minus the gradient of the loss in p."""
    rows = torch.from_numpy(E)
    out = torch.from_numpy(v)
    at = torch.from_numpy(p).requires_grad_()
    logits = []
    for x in X:
        q = torch.softmax(rows[x] @ at, 0)
        logits.append(q @ (rows[x] @ out))
    signs = torch.tensor(y, dtype=torch.float64)
    margins = signs * torch.stack(logits)
    losses = torch.log(1 + torch.exp(-margins))
    losses.mean().backward()
    assert at.grad is not None
    return -at.grad.numpy()


def pull(
    sign: float = 1.0, factor: float = 1.0, center: float = 1.0, right: float = 1.0
) -> Callable[..., np.ndarray]:
    """Return the pull on p with parts turned or left out; all ones are right."""

    def total(E: Any, p: Any, v: Any, X: list[list[int]], y: list[float]) -> np.ndarray:
        result = np.zeros(len(p))
        for x, side in zip(X, y, strict=True):
            q = softmax(E[x] @ p)
            gamma = E[x] @ v
            f = q @ gamma
            g = expit(-right * side * f)
            lead = q * (gamma - center * f)
            result += side * g * E[x].T @ lead
        return sign * result / len(X) ** factor

    return total


@exercise(
    "max-margin-pull",
    expected=by_autograd,
    cases=labelled,
    mistakes={
        "p goes down the gradient: turn the sign round": pull(sign=-1.0),
        "the loss is the mean over the sequences: divide by their number": pull(
            factor=0.0
        ),
        "what pulls is a value above the average f, not the value itself": pull(
            center=0.0
        ),
        "g is large where the model is wrong: 1 / (1 + exp(y f))": pull(right=-1.0),
    },
    hints=(
        "One sequence adds y g sum_i q_i (gamma_i - f) E_i, with g = 1/(1 + exp(y f)).",
        "For a sequence x take q, gamma and f first, three short lines. The sum over i "
        "is E[x].T times a vector of as many numbers as x has tokens.",
    ),
    dots=2,
    minutes=15,
)
def my_pull(
    E: np.ndarray,
    p: np.ndarray,
    v: np.ndarray,
    X: list[list[int]],
    y: list[float],
) -> np.ndarray:
    """Return minus the gradient of the loss in p, (d,); y holds the signs."""
    total = np.zeros(len(p))
    for x, sign in zip(X, y, strict=True):
        w = np.exp(E[x] @ p - max(E[x] @ p))
        q, gamma = w / w.sum(), E[x] @ v
        f = q @ gamma
        total += sign / (1 + np.exp(sign * f)) * E[x].T @ (q * (gamma - f))
    return total / len(X)


def plane(start: np.ndarray) -> tuple[attnsel.AttentionClassifier, Corpus]:
    """Return the words of the figure in the plane, with p at a start."""
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
    """Return why a start of p is not one from which a class is lost."""
    start = as_numbers(result)
    if start is None or start.shape != (2,) or not np.isfinite(start).all():
        return "two finite numbers are asked"
    norm = float(np.linalg.norm(start))
    if norm > FARTHEST:
        return f"a norm of {norm:.3g}: at most {FARTHEST:g} is allowed"
    model, corpus = plane(start)
    flow = attnsel.gradient_flow(model, corpus, max_norm=400.0, tol=1e-4)
    if torch.equal(flow.selected, relevant_tokens(corpus)):
        return "from there the flow selects every relevant word"
    return None


@exercise(
    "max-margin-lost",
    fault=start_fault,
    mistakes={
        "a norm of 10: at most 4 is allowed": lambda: [-10.0, 0.0],
        "from there the flow selects every relevant word": lambda: [2.0, -3.0],
        "two finite numbers are asked": lambda: [0.0, 0.0, -4.0],
    },
    hints=(
        "Drag the start in the figure: where do the words of one class score lowest?",
        "The flow keeps what starts far ahead. Put p where all words of one class have "
        "low scores, so that the words that all share lead in its sequences.",
    ),
    dots=3,
    minutes=10,
)
def my_start() -> list[float]:
    """Return p(0) of norm at most 4, from which a class is lost."""
    return [-3.4, -2.0]
