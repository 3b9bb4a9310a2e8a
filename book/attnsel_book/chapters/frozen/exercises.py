"""Exercises of the chapter on one step and frozen embeddings."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

import attnsel
from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier, score_gradient
from attnsel.train import one_step
from attnsel_book.exercises.cases import models
from attnsel_book.exercises.checking import exercise
from attnsel_book.exercises.messages import as_numbers, code, same

Case = tuple[AttentionClassifier, Corpus, float, Tensor]


def steps() -> Iterator[Case]:
    """Yield an initial model, its corpus, a step size and another output vector."""
    for i, (start, corpus) in enumerate(models()):
        random = torch.Generator().manual_seed(i)
        yield start, corpus, 1.0 + i, torch.randn(4, generator=random).double()


def stepped(
    start: AttentionClassifier, corpus: Corpus, eta_0: float, v: Tensor
) -> Tensor:
    """Return the values, computed from the embeddings after the step."""
    return one_step(start, corpus, lr=eta_0).weights()[0] @ v


@exercise(
    "frozen-value",
    expected=stepped,
    cases=steps,
    mistakes={
        "reverse the sign of the step, because gradient descent goes down": (
            "random - eta_0 -> random + eta_0"
        ),
        "the part along start.cls is missing": "g[:, 0] * (start.cls @ v) + ->",
        "the part along start.output is missing": ("+ g[:, 1] * (start.output @ v) ->"),
        "add E0 v, the values at the random initialization": "random - eta_0 -> -eta_0",
        "the factors are exchanged; g_a belongs to start.cls, g_b to start.output": (
            "g[:, 0] * (start.cls @ v) + g[:, 1] -> g[:, 1] * (start.cls @ v) + g[:, 0]"
        ),
        "the step went along start.output and not along v": (
            "start.output @ v -> v @ v"
        ),
        "multiply the step by its size eta_0": "eta_0 * ->",
        "the initial values are E0 v; you used v0 = start.output in place of v": (
            "start.embeddings @ v -> start.embeddings @ start.output"
        ),
    },
    hints=(
        (
            "The step adds -eta_0 (g_a p0 + g_b v0) to each embedding. Take the inner "
            "product of the new embedding with v."
        ),
        (
            "score_gradient(start.scores(), corpus) returns the logits and g, whose "
            "columns are g_a and g_b. E1 has three parts, so E1 v is a sum of three "
            "inner products."
        ),
    ),
)
def value_after(
    start: attnsel.AttentionClassifier,
    corpus: attnsel.Corpus,
    eta_0: float,
    v: torch.Tensor,
) -> torch.Tensor:
    """Return E1 v, (V,), after a step of size eta_0 on E, without computing E1.

    start is an AttentionClassifier of two classes, and v is a tensor (d,).
    """
    _, g = score_gradient(start.scores(), corpus)
    random = start.embeddings @ v
    return random - eta_0 * (g[:, 0] * (start.cls @ v) + g[:, 1] * (start.output @ v))


def vectors() -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield scores (V, 2), and p and v that are neither orthogonal nor unit vectors."""
    random = torch.Generator().manual_seed(2)
    for n_tokens, dim in ((2, 2), (3, 2), (4, 5), (6, 9)):
        ab = torch.randn(n_tokens, 2, generator=random, dtype=torch.float64)
        p, v = torch.randn(2, dim, generator=random, dtype=torch.float64)
        yield ab, p, p + v


def not_those(result: Any, ab: Tensor, p: Tensor, v: Tensor) -> str | None:
    """Return why embeddings do not give the scores and values ab, or None."""
    E = as_numbers(result)
    if E is None or E.shape != (len(ab), len(p)):
        return f"return numbers of shape ({len(ab)}, {len(p)}), a row for each token"
    for name, vector, wanted in (("E p", p, ab[:, 0]), ("E v", v, ab[:, 1])):
        found = E @ vector.numpy()
        if not same(found, wanted):
            return f"{name} is {code(found)} and should be {code(wanted.numpy())}"
    return None


@exercise(
    "frozen-embeddings",
    fault=not_those,
    cases=vectors,
    mistakes={
        "p and v are not orthogonal, so a part along v changes E p, too": (
            "torch.linalg.pinv(P).T -> (P / P.square().sum(dim=1, keepdim=True))"
        ),
        "the scores E p are wrong; your E only satisfies the condition on E v": (
            "ab @ torch.linalg.pinv(P).T -> torch.outer(ab[:, 1], v) / (v @ v)"
        ),
        "the values E v are wrong; your E only satisfies the condition on E p": (
            "ab @ torch.linalg.pinv(P).T -> torch.outer(ab[:, 0], p) / (p @ p)"
        ),
        "divide by the squared lengths of p and v": "torch.linalg.pinv(P).T -> P",
    },
    hints=(
        "Each row of E has to satisfy two linear equations in d >= 2 unknowns.",
        (
            "Look for rows in the plane of p and v, E_s = x p + y v. The two "
            "conditions are two equations for x and y. Or solve for all rows at "
            "once: E P^T = ab with P = torch.stack([p, v])."
        ),
    ),
)
def my_embeddings(
    ab: torch.Tensor,
    p: torch.Tensor,
    v: torch.Tensor,
) -> torch.Tensor:
    """Return E (V, d) with E p = ab[:, 0] and E v = ab[:, 1]."""
    P = torch.stack([p, v])
    return ab @ torch.linalg.pinv(P).T
