"""Exercises of the chapter on convergence with a rate."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

import attnsel
from attnsel.beyond.theorem_a import certificate
from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel.theory import max_margin
from attnsel_book.exercises.checking import exercise
from attnsel_book.exercises.messages import as_numbers
from attnsel_book.problems import one_step_problem


def attended() -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield votes, the mask of tokens in each sequence, and the relevant tokens."""
    yield np.array([[1.0, 0.0]]), np.full((1, 2), True), np.array([0])
    votes = np.array([[1.0, -1.0, 0.8], [3.0, 2.2, 9.0], [0.2, -0.1, -0.6]])
    there = np.array([[True, True, True], [True, True, False], [True, True, True]])
    yield votes, there, np.zeros(3, dtype=int)
    random = np.random.default_rng(0)
    for n, V in ((4, 5), (8, 12), (400, 500)):
        votes, relevant = random.normal(size=(n, V)), random.integers(V, size=n)
        there = random.random((n, V)) < 4 / V
        for i, r in enumerate(relevant):
            there[i, [r, r - 1]] = True
            votes[i, r] = votes[i, there[i]].max() + random.uniform(0.1, 2)
        yield votes, there, relevant


def least_loss(votes: np.ndarray, there: np.ndarray, relevant: np.ndarray) -> float:
    """Return the smallest loss of an attention that misses one relevant token."""
    n = np.arange(len(votes))
    loss = np.logaddexp(0, -votes)
    kept = loss[n, relevant]
    is_rival = there.copy()
    is_rival[n, relevant] = False
    return kept.mean() + (loss - kept[:, None])[is_rival].min() / len(votes)


def miss_fault(
    result: Any, votes: np.ndarray, there: np.ndarray, relevant: np.ndarray
) -> str | None:
    """Return why an attention is not the cheapest one with a miss, or None."""
    Q = as_numbers(result)
    if Q is None or Q.shape != votes.shape or not np.isfinite(Q).all():
        return f"return an array of shape {votes.shape} of finite numbers"
    if (Q < 0).any() or not np.allclose(Q.sum(axis=1), 1):
        return "each row of Q has to be nonnegative and to sum to 1"
    if (Q[~there] > 0).any():
        return "a token that its sequence does not contain gets attention"
    if Q[np.arange(len(Q)), relevant].min() > 0:
        return "every relevant token gets attention here, but one of them must get none"
    least = least_loss(votes, there, relevant)
    loss = np.logaddexp(0, -(Q * votes).sum(axis=1)).mean()
    if loss > least + 1e-9 * max(1, least):
        return f"the loss is {loss:.6g}; {least:.6g} is possible"
    return None


@exercise(
    "convergence-cheapest",
    fault=miss_fault,
    cases=attended,
    large=1,
    mistakes={
        "only one sequence has to miss its relevant token; attend to all others": (
            "cost.argmin() -> n"
        ),
        "a relevant token with a low vote is not always cheap to miss; its rivals "
        "matter, too": ("cost.argmin() -> votes[n, relevant].argmin()"),
        (
            "the cost is a difference of losses log(1 + e^-z), not a difference"
            " of votes z"
        ): "cost.argmin() -> (votes[n, relevant] - rivals[n, best]).argmin()",
        (
            "missing this sequence costs the most; miss the one that costs the least"
        ): "argmin -> argmax",
        "every relevant token gets attention here, but one of them must get none": (
            "= 0, 1 -> = 1, 0"
        ),
    },
    hints=(
        "Which attention gives the smallest loss in a sequence whose relevant token "
        "gets attention? Which one gives the smallest loss if this token gets none?",
        "The loss of a vote z is np.logaddexp(0, -z). If the relevant token of a "
        "sequence gets no attention, the smallest loss rises from the loss of the "
        "highest vote to the loss of the second-highest one. In which sequence does it "
        "rise least?",
    ),
)
def my_cheapest(
    votes: np.ndarray,
    there: np.ndarray,
    relevant: np.ndarray,
) -> np.ndarray:
    """Return the attention with the smallest loss among all that miss a sequence.

    The result and `votes` are (n, V), `there` (n, V) marks the tokens of each
    sequence, and `relevant` is (n,).
    """
    n = np.arange(len(votes))
    Q = np.zeros(votes.shape)
    Q[n, relevant] = 1
    rivals = np.where(there, votes, -np.inf)
    rivals[n, relevant] = -np.inf
    best = rivals.argmax(axis=1)
    cost = np.logaddexp(0, -rivals[n, best]) - np.logaddexp(0, -votes[n, relevant])
    i = cost.argmin()
    Q[i, relevant[i]], Q[i, best[i]] = 0, 1
    return Q


def known() -> Iterator[tuple[float, float, float]]:
    """Yield a smallest lead, a norm and a margin.

    In the first case the lead is as large as possible. The last case has the largest
    norm of the chapter.
    """
    yield 2.0, 1.0, 2.0
    yield 1.0, 1.0, 2.0
    yield 3.0, 10.0, 0.5
    yield -1.5, 5.0, 0.7
    yield 4000.0, 20_000.0, 0.2173


@exercise(
    "convergence-cosine",
    expected=lambda lead, norm, m: lead / m / norm,
    cases=known,
    mistakes={
        (
            "divide by the norm of p, because scaling p changes its leads but not the "
            "cosine"
        ): "(m * norm) -> m",
        "divide by the margin m, which is the smallest lead at the unit vector u": (
            "m * norm -> norm"
        ),
        (
            "this bounds the inner product of p with the solution, whose norm is 1/m; "
            "the cosine needs unit vectors"
        ): "m * norm -> m**2",
        "u is the solution divided by its norm 1/m, so multiply by m once more": (
            "m * norm -> m**2 * norm"
        ),
        "this is the bound on 1 - cos; return the bound on the cosine": (
            "lead / -> 1 - lead /"
        ),
        "a negative lead gives a negative bound; do not replace it by 0": (
            "lead / (m * norm) -> max(0, lead / (m * norm))"
        ),
    },
    hints=(
        "By the KKT conditions, the solution is a combination of the differences with "
        "nonnegative multipliers. Take its inner product with p, and replace "
        "each lead by the smallest one.",
        "The multipliers sum to 1/m^2, because each support pair has lead 1 at the "
        "solution, whose norm is 1/m. So the inner product with p is at least "
        "lead / m^2.",
    ),
)
def my_cosine(lead: float, norm: float, m: float) -> float:
    """Return the largest c with cos(p, u) >= c for all p of this lead and norm.

    The smallest lead at p is `lead`, ‖p‖ is `norm`, and u has the margin m.
    """
    return lead / (m * norm)


GREATEST = 25.0
ROUNDING = 1e-6


def starts() -> Iterator[tuple[Tensor, Tensor, Corpus, Tensor]]:
    """Yield embeddings, v, corpus and relevant tokens after one step."""
    for seed in range(3):
        problem = one_step_problem(
            256, seed=seed, n=80, n_tokens=40, length=6, n_relevant=8
        )
        model = problem.model
        embeddings, _, output = model.weights()
        fresh = problem.corpus[:]  # without the sparse tensors of the step
        yield embeddings, output, fresh, problem.relevant


def start_fault(
    p: Any, E: Tensor, v: Tensor, corpus: Corpus, relevant: Tensor
) -> str | None:
    """Return why p has no certificate of the direction, or None."""
    found = as_numbers(p)
    if found is None or found.shape != v.shape or not np.isfinite(found).all():
        return f"return {len(v)} finite numbers, the entries of p"
    p = torch.from_numpy(found)
    size = float(p.norm())
    if not size <= GREATEST + ROUNDING:
        return f"the norm is {size:.4g} and has to be at most {GREATEST:g}"
    model = AttentionClassifier(len(E), E.shape[1], dtype=torch.float64)
    with torch.no_grad():
        for name, value in (("embeddings", E), ("cls", p), ("output", v)):
            getattr(model, name).copy_(value)
    proof = certificate(model, corpus, relevant)
    if proof.level == "direction":
        return None
    excess = math.exp(proof.log_excess) / proof.direction_level
    return (
        f"the excess loss at your p is {excess:.3g} E_dir; it must be less than E_dir"
    )


@exercise(
    "convergence-start",
    fault=start_fault,
    cases=starts,
    mistakes={
        "the direction is right, but p is too short to be certified": "25 * ->",
        "the norm is 1000 and has to be at most 25": "25 -> 1000",
        "p has d entries, one per dimension; you returned one number per token": (
            "25 * max_margin(E, corpus, relevant).direction -> E @ v"
        ),
        (
            "v does not affect the attention; find a p at which all relevant "
            "tokens have large leads"
        ): "25 * max_margin(E, corpus, relevant).direction -> -25 * v / v.norm()",
    },
    hints=(
        "If all relevant tokens have large leads at p, the loss is small. In which "
        "direction is the smallest lead as large as possible?",
        "attnsel.max_margin finds the direction, a unit vector. How long does p have "
        "to be? attnsel.certificate shows whether a length is enough.",
    ),
)
def my_start(
    E: torch.Tensor,
    v: torch.Tensor,
    corpus: attnsel.Corpus,
    relevant: torch.Tensor,
) -> torch.Tensor:
    """Return a p (d,) of norm at most 25 with a certificate of the direction."""
    return 25 * max_margin(E, corpus, relevant).direction
