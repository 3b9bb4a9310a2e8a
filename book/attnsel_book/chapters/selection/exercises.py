"""Exercises of the chapter on which step selects."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

import attnsel
from attnsel.corpus import Corpus
from attnsel.flow import gradient_flow
from attnsel.model import AttentionClassifier
from attnsel.synthetic import separable_corpus
from attnsel.theory import relevant_tokens
from attnsel.tokens import Vocab
from attnsel.train import one_step
from attnsel_book.checks.checking import exercise


def votes() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield votes of the relevant tokens and the strongest ones against them."""
    yield np.array([1.0]), np.array([0.0])
    yield np.array([1.0, 3.0]), np.array([0.5, -1.0])
    yield np.array([-700.0]), np.array([-800.0])
    random = np.random.default_rng(0)
    for n in (3, 5, 8):
        held = random.uniform(0.5, 4, n)
        yield held, held - random.uniform(0.1, 3, n)


def _plain_loss(z: np.ndarray) -> np.ndarray:
    return np.log(1 + np.exp(-z))


def _dearer(votes: np.ndarray, others: np.ndarray) -> np.ndarray:
    return np.logaddexp(0, -others) - np.logaddexp(0, -votes)


def level(votes: np.ndarray, others: np.ndarray) -> float:
    """Return the least excess loss of an attention that misses a sequence."""
    return _dearer(votes, others).min() / len(votes)


@exercise(
    "selection-level",
    expected=level,
    cases=votes,
    mistakes={
        "the loss is a mean: one sequence missed costs 1/n of its own loss": (
            lambda votes, others: _dearer(votes, others).min()
        ),
        "take the sequence that is cheapest to miss, not the dearest": (
            lambda votes, others: _dearer(votes, others).max() / len(votes)
        ),
        "that is what it costs to miss all sequences; one is enough": (
            lambda votes, others: _dearer(votes, others).mean()
        ),
        "the sign is turned round: missing a sequence raises the loss": (
            lambda votes, others: -_dearer(votes, others).min() / len(votes)
        ),
        "exp overflows for a vote of -800: np.logaddexp(0, -z) is log(1 + e^-z)": (
            lambda votes, others: (
                (_plain_loss(others) - _plain_loss(votes)).min() / len(votes)
            )
        ),
    },
    hints=(
        "All attention on the best competitor instead of the relevant token: how much "
        "does the loss of this one sequence grow? Which sequence is the cheapest?",
        "np.logaddexp(0, -z) is the loss of a vote z without overflow. The loss of the"
        " corpus is a mean over n sequences: what does one of them add to it?",
    ),
    dots=1,
    minutes=5,
)
def my_level(votes: np.ndarray, others: np.ndarray) -> float:
    """Return E_sel from votes (n,) and the strongest against them, (n,)."""
    costs = np.logaddexp(0, -others) - np.logaddexp(0, -votes)
    return costs.min() / len(votes)


def limits() -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Yield scores, values, token ids and signs of small limit flows."""
    signs = torch.tensor([1.0, -1.0], dtype=torch.float64)
    values = torch.tensor([2.0, -1.0, 0.0], dtype=torch.float64)
    yield torch.zeros(3).double(), values, torch.tensor([[0, 2], [1, 2]]), signs
    random = torch.Generator().manual_seed(0)
    for n, V, T in ((3, 5, 2), (4, 6, 3), (6, 6, 4)):
        a, gamma = torch.randn(2, V, generator=random, dtype=torch.float64)
        ids = torch.randint(V, (n, T), generator=random)
        yield a, 2 * gamma, ids, torch.tensor([1.0, -1.0] * n, dtype=torch.float64)[:n]


def _slope(a: Tensor, gamma: Tensor, ids: Tensor, signs: Tensor) -> Tensor:
    """dL/da by automatic differentiation."""
    a = a.clone().requires_grad_()
    f = (torch.softmax(a[ids], dim=1) * gamma[ids]).sum(dim=1)
    loss = torch.nn.functional.softplus(-signs * f).mean()
    return torch.autograd.grad(loss, a)[0]


def motion(a: Tensor, gamma: Tensor, ids: Tensor, signs: Tensor) -> Tensor:
    """Return the speed of the scores in the limit flow."""
    slope = _slope(a, gamma, ids, signs)
    return -(slope + gamma * (gamma @ slope))


@exercise(
    "selection-limit",
    expected=motion,
    cases=limits,
    mistakes={
        "K is missing: that is the flow of orthonormal embeddings": (
            lambda *case: -_slope(*case)
        ),
        "the 1 of K = I + gamma gamma^T is missing: a token also moves itself": (
            lambda a, gamma, *case: -gamma * (gamma @ _slope(a, gamma, *case))
        ),
        "the flow goes downhill: a minus sign is missing": (
            lambda *case: -motion(*case)
        ),
        "L is a mean over the sequences, not their sum": (
            lambda *case: motion(*case) * len(case[2])
        ),
        "gamma gamma^T is a matrix; gamma @ gamma is the number ‖gamma‖²": (
            lambda a, gamma, *case: -(1 + gamma @ gamma) * _slope(a, gamma, *case)
        ),
        "gamma gamma^T is a matrix; you took the squares of its diagonal only": (
            lambda a, gamma, *case: -(1 + gamma**2) * _slope(a, gamma, *case)
        ),
    },
    hints=(
        "Let torch find dL/da: write the loss of the scores a as in the chapter on the"
        " model, with q = softmax of the scores of a sequence.",
        "K x = x + gamma (gamma·x), so K itself is never needed.",
    ),
    dots=2,
    minutes=15,
)
def my_motion(
    a: torch.Tensor,
    gamma: torch.Tensor,
    ids: torch.Tensor,
    signs: torch.Tensor,
) -> torch.Tensor:
    """Return da/dt = -K dL/da of the limit flow, (V,).

    Scores a and values gamma are (V,), token ids (n, T), labels -1 or +1 (n,).
    """
    a = a.clone().requires_grad_()
    q = torch.softmax(a[ids], dim=1)
    f = (q * gamma[ids]).sum(dim=1)
    loss = torch.log1p(torch.exp(-signs * f)).mean()
    (slope,) = torch.autograd.grad(loss, a)
    return -(slope + gamma * (gamma @ slope))


LONGEST, MOST = 8, 24


def lost_fault(corpus: Any) -> str | None:
    """Return why a corpus is no counterexample, or None if it is one."""
    if not isinstance(corpus, Corpus):
        return "an attnsel.Corpus is asked, for instance from Corpus.from_tokens"
    if len(corpus) > MOST or int(corpus.lengths.max()) > LONGEST:
        size = f"{len(corpus)} sequences of up to {int(corpus.lengths.max())} tokens"
        return f"{size}; at most {MOST} of at most {LONGEST} are allowed"
    try:
        relevant = relevant_tokens(corpus)
    except ValueError as error:
        return f"it does not satisfy Assumption 1: {error}"
    lost = 0
    for seed in range(3):
        start = AttentionClassifier(len(corpus.vocab), 512, seed=seed)
        model = one_step(start, corpus, lr=300.0)
        flow = gradient_flow(model, corpus, max_norm=300.0, tol=1e-4)
        right = (flow.selected == relevant) & (flow.attention[-1] > 0.5)
        shares = [float(right[corpus.signs == y].double().mean()) for y in (1, -1)]
        lost += sorted(shares) == [0, 1]
    if lost < 2:
        return f"of the seeds 0, 1, 2 only {lost} lose a class, and two should"
    return None


def _drawn(positive: list[int], negative: list[int], length: int) -> Corpus:
    """A corpus in which all sequences share their irrelevant tokens."""
    kinds = len(positive) + len(negative)
    shared = range(kinds, kinds + length - 1)
    names = [f"token {s}" for s in range(kinds + length - 1)]
    rows = [[r, *shared] for r, k in enumerate(positive + negative) for _ in range(k)]
    labels = [1] * sum(positive) + [0] * sum(negative)
    return Corpus.from_tokens(rows, labels, Vocab(names))


def _leaning() -> Corpus:
    return Corpus.from_tokens([[0, 2], [0, 2], [1, 2]], [1, 1, 0], Vocab(list("abc")))


@exercise(
    "selection-lost",
    fault=lost_fault,
    mistakes={
        "80 sequences of up to 31 tokens; at most 24 of at most 8 are allowed": (
            lambda: separable_corpus(80, 60, 31, n_relevant=4)
        ),
        "it does not satisfy Assumption 1": _leaning,
        "of the seeds 0, 1, 2 only 0 lose a class, and two should": lambda: _drawn(
            [12], [12], 8
        ),
        "an attnsel.Corpus is asked": lambda: [[0, 2], [1, 2]],
    },
    hints=(
        "Let all sequences hold the same seven irrelevant tokens, and one relevant one."
        " What is left to choose is how many relevant tokens a class has, and how often"
        " each occurs.",
        "Many rare relevant tokens push together, and each has little to hold with: try"
        " several numbers of relevant tokens per class, each in few sequences.",
    ),
    dots=3,
    minutes=20,
)
def my_corpus() -> attnsel.Corpus:
    """Return a Corpus with Assumption 1 that loses a class at step 300."""
    shared = list(range(8, 15))  # seven irrelevant tokens, the same everywhere
    rows = [[r, *shared] for r in range(8) for _ in range(3)]
    labels = [1] * 12 + [0] * 12  # relevant tokens 0 to 3 are positive
    return Corpus.from_tokens(rows, labels, Vocab([f"token {s}" for s in range(15)]))
