"""Exercises of the chapter on IMDB and Yelp."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

import attnsel
from attnsel.corpus import Corpus
from attnsel_book.checks.cases import corpora
from attnsel_book.checks.checking import exercise
from attnsel_book.checks.telling import as_numbers, code, same


def one_corpus() -> Iterator[tuple[Corpus]]:
    """Yield one corpus a case."""
    return ((corpus,) for corpus in corpora())


def scored() -> Iterator[tuple[Tensor, Corpus]]:
    """Yield scores (V, 2) in float64 and a corpus."""
    random = torch.Generator().manual_seed(1)
    for corpus in corpora():
        shape = len(corpus.vocab), 2
        yield torch.randn(shape, generator=random, dtype=torch.float64), corpus


def vectors() -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield scores (V, 2), and p and v that are neither orthogonal nor of length 1."""
    random = torch.Generator().manual_seed(2)
    for n_tokens, dim in ((2, 2), (3, 2), (4, 5), (6, 9)):
        ab = torch.randn(n_tokens, 2, generator=random, dtype=torch.float64)
        p, v = torch.randn(2, dim, generator=random, dtype=torch.float64)
        yield ab, p, p + v


@exercise(
    "reviews-neutral",
    expected=lambda corpus: float(
        corpus.signs.double() @ corpus.lengths.double() / corpus.lengths.sum()
    ),
    cases=one_corpus,
    mistakes={
        "a long text weighs more: that is the mean label of the texts": lambda corpus: (
            float(corpus.signs.double().mean())
        ),
        "the sign is turned round": lambda corpus: (
            -float(corpus.signs.double() @ corpus.lengths.double())
            / float(corpus.lengths.sum())
        ),
        "divide by the mean length as well": lambda corpus: (
            float(corpus.signs.double() @ corpus.lengths.double()) / len(corpus)
        ),
        "that is the share of the tokens in positive texts, from 0 to 1": (
            lambda corpus: float(
                corpus.lengths[corpus.targets == 1].sum() / corpus.lengths.sum()
            )
        ),
    },
    hints=(
        "By their lengths T_X, how many tokens do the positive texts hold, and how "
        "many the negative ones?",
        "A text of length T holds T tokens, each with the sign of the text: add up the "
        "signed tokens, and divide by how many there are.",
    ),
    dots=1,
    minutes=5,
)
def my_neutral(corpus: attnsel.Corpus) -> float:
    """x_0 of a corpus, from its signs y (n,) and lengths T_X (n,)."""
    lengths = corpus.lengths.float()
    return float(corpus.signs @ lengths / lengths.sum())


@exercise(
    "reviews-flat",
    expected=lambda ab, corpus: (
        torch.from_numpy(corpus.counts @ ab[:, 1].numpy()) / corpus.lengths
    ),
    cases=scored,
    mistakes={
        "column 0 holds the attention scores; the values are column 1": (
            lambda ab, corpus: (
                torch.from_numpy(corpus.counts @ ab[:, 0].numpy()) / corpus.lengths
            )
        ),
        "that is the sum over the tokens; the weights of a text sum to one": (
            lambda ab, corpus: torch.from_numpy(corpus.counts @ ab[:, 1].numpy())
        ),
        "divide by the number of tokens, not of different ones": lambda ab, corpus: (
            torch.from_numpy(
                corpus.counts @ ab[:, 1].numpy() / (corpus.counts > 0).sum(1)
            )
        ),
        "a token that occurs twice counts twice": lambda ab, corpus: (
            torch.from_numpy((corpus.counts > 0) @ ab[:, 1].numpy()) / corpus.lengths
        ),
    },
    hints=(
        "If all scores are equal, which share of the attention has a token that occurs "
        "k times in a text of length T?",
        "Then f is a plain mean of values over the positions of a text. Which product "
        "of corpus.counts sums them, a token that occurs twice counted twice?",
    ),
    dots=2,
    minutes=10,
)
def my_flat_logits(ab: torch.Tensor, corpus: attnsel.Corpus) -> torch.Tensor:
    """Logits (n,) with p = 0, from scores ab = [E p, E v], (V, 2)."""
    b = ab[:, 1].numpy()
    return torch.from_numpy(corpus.counts @ b) / corpus.lengths


def not_those(result: Any, ab: Tensor, p: Tensor, v: Tensor) -> str | None:
    """Return why the embeddings do not give the scores ab with p and v, or None."""
    E = as_numbers(result)
    if E is None or E.shape != (len(ab), len(p)):
        return (
            f"numbers of shape ({len(ab)}, {len(p)}), a row for each token, are asked"
        )
    for name, vector, wanted in (("E p", p, ab[:, 0]), ("E v", v, ab[:, 1])):
        found = E @ vector.numpy()
        if not same(found, wanted):
            return f"{name} is {code(found)} and should be {code(wanted.numpy())}"
    return None


@exercise(
    "reviews-frozen",
    fault=not_those,
    cases=vectors,
    mistakes={
        "p and v overlap: what is added along v changes E p, too": lambda ab, p, v: (
            torch.outer(ab[:, 0], p) / (p @ p) + torch.outer(ab[:, 1], v) / (v @ v)
        ),
        "along p as well: only E v has been looked at": lambda ab, p, v: (
            torch.outer(ab[:, 1], v) / (v @ v)
        ),
        "along v as well: only E p has been looked at": lambda ab, p, v: (
            torch.outer(ab[:, 0], p) / (p @ p)
        ),
        "divide by the squared lengths of p and v": lambda ab, p, v: (
            torch.outer(ab[:, 0], p) + torch.outer(ab[:, 1], v)
        ),
    },
    hints=(
        "Each row of E has to satisfy two linear equations in d >= 2 unknowns.",
        "Look for rows in the plane of p and v, E_s = x p + y v: two equations for x "
        "and y. Or all rows at once: with P = torch.stack([p, v]) it is E P^T = ab.",
    ),
    dots=3,
    minutes=15,
)
def my_embeddings(
    ab: torch.Tensor,
    p: torch.Tensor,
    v: torch.Tensor,
) -> torch.Tensor:
    """Embeddings E (V, d) with E p = ab[:, 0] and E v = ab[:, 1]."""
    P = torch.stack([p, v])
    return ab @ torch.linalg.pinv(P).T
