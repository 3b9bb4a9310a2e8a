"""Exercises of the chapter on convergence with a rate."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

import attnsel
from attnsel.beyond.theorem_a import certificate
from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel.synthetic import separable_corpus
from attnsel.theory import max_margin, relevant_tokens
from attnsel.tokens import Vocab
from attnsel_book.exercises.checking import exercise
from attnsel_book.exercises.messages import as_numbers
from attnsel_book.problems import one_step_problem


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
    "convergence-level",
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
        "subtract the loss of the relevant token: a cost is a difference of losses": (
            lambda votes, others: np.logaddexp(0, -others).min() / len(votes)
        ),
        "the cost is a difference of losses log(1 + e^-z), not of votes z": (
            lambda votes, others: (votes - others).min() / len(votes)
        ),
        "the loss is log(1 + e^-z), not e^-z": (
            lambda votes, others: (np.exp(-others) - np.exp(-votes)).min() / len(votes)
        ),
        "the loss falls with the vote: log(1 + e^-z), with a minus": (
            lambda votes, others: (
                (np.logaddexp(0, others) - np.logaddexp(0, votes)).min() / len(votes)
            )
        ),
        "take the least difference, not the difference of the least losses": (
            lambda votes, others: (
                (np.logaddexp(0, -others).min() - np.logaddexp(0, -votes).min())
                / len(votes)
            )
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
    terms=("relevant", "np.logaddexp"),
    dots=1,
    minutes=5,
)
def my_level(votes: np.ndarray, others: np.ndarray) -> float:
    """Return E_sel, a number, from numpy arrays of n votes and n others.

    votes are those of the relevant tokens, others the strongest against them.
    """
    costs = np.logaddexp(0, -others) - np.logaddexp(0, -votes)
    return costs.min() / len(votes)


def points() -> Iterator[tuple[np.ndarray, np.ndarray, Corpus, np.ndarray]]:
    """Yield embeddings, p, a corpus and a token of each sequence."""
    vocab = Vocab(["a", "b", "c", "d"])
    tiny = Corpus.from_tokens([[0, 2], [1, 2, 3]], [1, 0], vocab)
    yield np.eye(4), np.array([3.0, 2, 1, 0]), tiny, np.array([0, 1])
    yield np.eye(4), np.array([0.0, 2, 1, 3]), tiny, np.array([0, 1])
    for seed in range(3):
        corpus = separable_corpus(8, 10, 4, n_relevant=4, seed=seed)
        random = np.random.default_rng(seed)
        E, p = random.normal(size=(10, 5)), random.normal(size=5)
        yield E, p, corpus, relevant_tokens(corpus).numpy()


def leads_of(
    E: np.ndarray, p: np.ndarray, corpus: Corpus, selected: np.ndarray
) -> list[list[float]]:
    """Return the leads over the other tokens of each sequence, by loops."""
    found = []
    for (ids, _), r in zip(corpus.bags(), selected, strict=True):
        others = set(ids.tolist()) - {int(r)}
        found.append([float(p @ (E[r] - E[s])) for s in others])
    return found


def over_all(how: Callable[[np.ndarray], float]) -> Callable[..., float]:
    """Return a function that takes some number of all leads."""
    return lambda *case: float(how(np.concatenate(leads_of(*case))))


def over_vocabulary(
    E: np.ndarray, p: np.ndarray, corpus: Corpus, selected: np.ndarray
) -> float:
    """Return the least lead over any token of the vocabulary."""
    a = E @ p
    return float(min(a[r] - np.delete(a, r).max() for r in selected))


@exercise(
    "convergence-least-lead",
    expected=over_all(np.min),
    cases=points,
    mistakes={
        "the least of all leads, not their mean": over_all(np.mean),
        "the least of all leads, not the greatest": over_all(np.max),
        "a lead that is negative keeps its sign": over_all(lambda x: np.abs(x).min()),
        "the selected token is no competitor of itself": (
            over_all(lambda x: min(x.min(), 0.0))
        ),
        "only tokens of the same sequence are competitors": over_vocabulary,
        "the lead itself is asked for, not that of p / |p|": lambda E, p, *case: (
            over_all(np.min)(E, p / np.linalg.norm(p), *case)
        ),
    },
    hints=(
        "With a = E @ p a lead is a[r] - a[s]. corpus.counts.nonzero() gives the"
        " sequence and the token of each entry.",
        "For an entry of row and token s the selected token is selected[row]. Which"
        " entries are no competitors?",
    ),
    terms=("a[r] - a[s]", "selected[row]"),
    dots=1,
    minutes=5,
)
def my_least_lead(
    E: np.ndarray,
    p: np.ndarray,
    corpus: attnsel.Corpus,
    selected: np.ndarray,
) -> float:
    """Return the least lead of a selected token over another of its sequence.

    Numpy arrays E (V, d), p (d,) and token ids selected (n,); a Corpus, whose
    counts (n, V) say which tokens a sequence holds.
    """
    a = E @ p
    row, s = corpus.counts.nonzero()
    r = selected[row]
    return (a[r] - a[s])[s != r].min()


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
    """Return why from p not all is certain, or None."""
    found = as_numbers(p)
    if found is None or found.shape != v.shape or not np.isfinite(found).all():
        return f"{len(v)} finite numbers are asked, the entries of p"
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
    return f"the excess loss there is {excess:.3g} times E_dir and has to be below it"


@exercise(
    "convergence-start",
    fault=start_fault,
    cases=starts,
    mistakes={
        "the direction is right, and p is too short for it to be certain": (
            lambda E, v, corpus, relevant: max_margin(E, corpus, relevant).direction
        ),
        "the norm is 1000 and has to be at most 25": lambda E, v, corpus, relevant: (
            1000 * max_margin(E, corpus, relevant).direction
        ),
        "finite numbers are asked, the entries of p": lambda E, v, corpus, relevant: (
            E @ v
        ),
        "v says nothing of attention: look for a p that is ahead on all relevant": (
            lambda E, v, corpus, relevant: -25 * v / v.norm()
        ),
    },
    hints=(
        "A p that is ahead on all relevant tokens has a small loss; which direction is"
        " ahead of all competitors by the most?",
        "attnsel.max_margin finds that direction, a unit vector. How long does p have"
        " to be? attnsel.certificate says whether a length is enough.",
    ),
    terms=("direction", "max_margin"),
    dots=3,
    minutes=10,
)
def my_start(
    E: torch.Tensor,
    v: torch.Tensor,
    corpus: attnsel.Corpus,
    relevant: torch.Tensor,
) -> torch.Tensor:
    """Return a p (d,) of norm at most 25 from which all is certain."""
    return 25 * max_margin(E, corpus, relevant).direction
