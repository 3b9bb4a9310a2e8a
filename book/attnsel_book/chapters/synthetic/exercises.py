"""Exercises of the chapter on synthetic data."""

from collections.abc import Iterator

import torch
from torch import Tensor

import attnsel
from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel.statistics import shape
from attnsel.synthetic import synthetic_corpus
from attnsel.theory import posterior_difference
from attnsel.train import fit
from attnsel_book.checks.checking import exercise


def laws() -> Iterator[tuple[Tensor, Tensor, int]]:
    """Yield two laws (2, V) that have nothing to do with each other, and a length."""
    random = torch.Generator().manual_seed(0)
    for n_tokens, length in ((2, 3), (3, 2), (4, 5), (6, 10)):
        shape = 2, 2, n_tokens
        weights = torch.rand(shape, generator=random, dtype=torch.float64) + 0.1
        yield *(weights / weights.sum(dim=2, keepdim=True)), length


def difference_of(counts: Tensor) -> Tensor:
    """Return the lean from the mean counts by label, (2, V)."""
    negative, positive = counts
    return (positive - negative) / (positive + negative)


@exercise(
    "synthetic-lean",
    expected=lambda first, later, length: difference_of(first + (length - 1) * later),
    cases=laws,
    mistakes={
        "the sign is turned round: row 1 is the positive label": lambda *law: (
            -difference_of(law[0] + (law[2] - 1) * law[1])
        ),
        "that is the law of the first token alone: later tokens count as well": (
            lambda *law: difference_of(law[0])
        ),
        "the first token is drawn once, the later ones length - 1 times": (
            lambda *law: difference_of(law[0] + law[1])
        ),
        "a sequence has length - 1 later tokens, not length": (
            lambda *law: difference_of(law[0] + law[2] * law[1])
        ),
        "divide by how often the token occurs under both labels": (
            lambda *law: (
                (law[0][1] - law[0][0]) + (law[2] - 1) * (law[1][1] - law[1][0])
            )
        ),
    },
    hints=(
        "How often does a token occur in a sequence of label y, in the mean? "
        "The label's probability given the token is its share of that.",
        "One token is drawn from the first law and length - 1 from the later one: how "
        "often does a token occur under each label, in the mean?",
    ),
    dots=1,
    minutes=5,
)
def my_leans(
    first: torch.Tensor,
    later: torch.Tensor,
    length: int,
) -> torch.Tensor:
    """Leans (V,) from two laws (2, V): row 0 for y = -1, row 1 for +1."""
    negative, positive = first + (length - 1) * later
    return (positive - negative) / (positive + negative)


@exercise(
    "synthetic-limit",
    expected=lambda n, length: 1 - 0.5 ** (1 / (n * (length - 1))),
    cases=lambda: [(1, 2), (2, 3), (3, 2), (10, 5), (4000, 20)],
    mistakes={
        "all n sequences must comply, not one": (
            lambda n, length: 1 - 0.5 ** (1 / (length - 1))
        ),
        "the first token is a signal draw always; length - 1 are left": (
            lambda n, length: 1 - 0.5 ** (1 / (n * length))
        ),
        "that is k itself; its distance from 1 was asked for": (
            lambda n, length: 0.5 ** (1 / (n * (length - 1)))
        ),
        "that bounds the sum of the probabilities; independent tokens have more room": (
            lambda n, length: 0.5 / (n * (length - 1))
        ),
    },
    hints=(
        "How many later tokens are there in all, and what must each of them be?",
        "They are independent, and each is as it should be with probability k. What is "
        "the probability that all are?",
    ),
    dots=2,
    minutes=10,
)
def my_distance(n: int, length: int) -> float:
    """The greatest 1 - k with probability of at least 1/2."""
    return 1 - 0.5 ** (1 / (n * (length - 1)))


def no_break(corpus: Corpus) -> str | None:
    """Return why gradient descent does not break the V of a corpus, or None."""
    if not isinstance(corpus, Corpus) or corpus.labels is None:
        return "an attnsel.Corpus with labels is asked"
    n, n_tokens = corpus.counts.shape
    if n > 1000 or n_tokens > 100:
        return f"at most 1,000 sequences and 100 tokens; yours has {n} and {n_tokens}"
    model = AttentionClassifier(n_tokens, 64, seed=0)
    run = fit(model, corpus, steps=300, lr=2.0, optimizer="gd", until_loss=0.1)
    if run.loss[-1] >= 0.1:
        told = "labels that the tokens do not tell cannot be learned"
        return f"the loss is still {run.loss[-1]:.2f} after 300 steps: {told}"
    of = shape(posterior_difference(corpus), run.at())
    if not of.values > 0.9:
        told = "tokens that occur too seldom lean by chance"
        return f"the values have a rank correlation of {of.values:.2f} only: {told}"
    if not of.arms < 0.5:
        told = "the V is whole: irrelevant tokens must be rarer than those that lean"
        return f"{told} (weaker arm {of.arms:.2f})"
    return None


@exercise(
    "synthetic-break",
    fault=no_break,
    mistakes={
        "the V is whole: irrelevant tokens must be rarer than those that lean": (
            lambda: synthetic_corpus(1000, 100, 20, delta=0.1, n_relevant=90)
        ),
        "at most 1,000 sequences and 100 tokens": (
            lambda: synthetic_corpus(4000, 400, 20, delta=0.1, n_relevant=200)
        ),
        "tokens that occur too seldom lean by chance": (
            lambda: synthetic_corpus(1000, 100, 20, delta=0.1, n_relevant=50)
        ),
        "labels that the tokens do not tell cannot be learned": (
            lambda: synthetic_corpus(1000, 100, 20, delta=0.1).with_labels(
                torch.arange(1000) % 2
            )
        ),
    },
    hints=(
        "Which tokens does gradient descent hardly move? Make irrelevant ones such.",
        "In synthetic_corpus, n_relevant=R with R of 100 tokens sets how many are "
        "irrelevant, and with it how rare each is. Too rare, and they lean by chance.",
    ),
    dots=3,
    minutes=15,
)
def my_corpus() -> attnsel.Corpus:
    """A corpus of at most 1,000 sequences and 100 tokens."""
    return synthetic_corpus(1000, 100, 20, delta=0.1, n_relevant=70)
