"""Exercises of the chapter on synthetic data."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from scipy.stats import binom, chisquare
from torch import Tensor

import attnsel
from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel.synthetic import synthetic_corpus
from attnsel.theory import posterior_difference
from attnsel.train import fit
from attnsel_book.exercises.checking import exercise
from attnsel_book.exercises.messages import as_numbers
from attnsel_book.v_shape import shape

RARE = 1e-8  # below this p-value, token ids do not follow a distribution


def laws() -> Iterator[tuple[Tensor, Tensor, int]]:
    """Yield two unrelated pairs of distributions (2, V), and a length."""
    random = torch.Generator().manual_seed(0)
    for n_tokens, length in ((2, 3), (3, 2), (4, 5), (6, 10)):
        shape = 2, 2, n_tokens
        weights = torch.rand(shape, generator=random, dtype=torch.float64) + 0.1
        yield *(weights / weights.sum(dim=2, keepdim=True)), length


def by_bayes(first: Tensor, later: Tensor, length: int) -> Tensor:
    """Return the lean from the share of each label in a token's occurrences."""
    counts = first + (length - 1) * later
    return 2 * counts[1] / counts.sum(dim=0) - 1


@exercise(
    "synthetic-lean",
    expected=by_bayes,
    cases=laws,
    mistakes={
        "the sign is reversed; row 1 belongs to the positive label": (
            "positive - negative -> negative - positive"
        ),
        "these leans count only the first place of each sequence; later places count "
        "as well": ("+ (length - 1) * later ->"),
        (
            "weight the two distributions; one token is drawn from the first, and "
            "length - 1 tokens are drawn from the later one"
        ): "(length - 1) * ->",
        "a sequence has length - 1 later tokens; you used length": (
            "(length - 1) -> length"
        ),
        "divide by the sum of the average counts under both labels": (
            "/ (positive + negative) ->"
        ),
        "this is P(1 | s); subtract P(0 | s)": "positive - negative -> positive",
        "this is P(s | 1) - P(s | 0); use Bayes' rule to compute P(1 | s) and "
        "P(0 | s)": "/ (positive + negative) -> / length",
    },
    hints=(
        "How often does a token occur on average in a sequence with label y? The "
        "probability of a label given the token is this average, divided by its sum "
        "over both labels.",
        "One token is drawn from `first` and length - 1 tokens are drawn from "
        "`later`. How often does a token occur on average under each label?",
    ),
)
def my_leans(
    first: torch.Tensor,
    later: torch.Tensor,
    length: int,
) -> torch.Tensor:
    """Return the leans (V,); row 0 of `first` and `later`, (2, V), is for y = -1."""
    negative, positive = first + (length - 1) * later
    return (positive - negative) / (positive + negative)


def laws_to_draw_from() -> Iterator[tuple[Tensor, Tensor, Tensor, int, int]]:
    """Yield two pairs of distributions (2, V), labels 0 and 1, a length and a seed."""
    random = torch.Generator().manual_seed(1)
    for seed, (n_tokens, length) in enumerate(((3, 2), (3, 3), (5, 5), (7, 6))):
        weights = torch.rand(2, 2, n_tokens, generator=random, dtype=torch.float64)
        weights = 0.05 + weights**2
        labels = (torch.arange(900 + seed) % 3 > 0).long()
        yield *(weights / weights.sum(dim=2, keepdim=True)), labels, length, seed


EXCHANGED = "the labels are exchanged; row 0 is for label 0, and row 1 is for label 1"
ALL_LATER = "the first token of a sequence has its own distribution"
ALL_FIRST = "draw only the first token from `first`, and all others from `later`"
NO_LABEL = "draw each sequence from the distributions of its own label"
NO_LAW = "the tokens are not equally likely; use their probabilities"
ONCE = (
    "draw the later tokens with replacement, because a token may occur "
    "twice in a sequence"
)
AGREE = "draw the later tokens independently; yours agree too often"
DEPENDENT = "draw the later tokens independently of the first one; yours depend on it"
COPIED = "draw each sequence separately; yours are copies of one another"


def chance(tokens: np.ndarray, law: Tensor) -> float:
    """Return the p-value of a chi-squared test of tokens for a distribution (V,)."""
    counts = np.bincount(tokens.ravel(), minlength=len(law))
    expected = law.numpy() / float(law.sum()) * counts.sum()
    return float(chisquare(counts, expected).pvalue)


def are_independent(ids: np.ndarray, first: Tensor, later: Tensor) -> bool:
    """Return whether pairs of the first and a later token are as frequent as expected.

    The rows of `ids` (n, T) are sequences of one label, with its distributions (V,).
    """
    joint = np.outer(first / first.sum(), later / later.sum())
    for place in ids.T[1:]:
        pairs = np.zeros_like(joint)
        np.add.at(pairs, (ids[:, 0], place), 1)
        below = binom.cdf(pairs, len(ids), joint)
        above = binom.sf(pairs - 1, len(ids), joint)
        if min(below.min(), above.min()) < RARE:
            return False
    return True


def law_fault(
    result: Any, first: Tensor, later: Tensor, y: Tensor, length: int, seed: int
) -> str | None:
    """Return how token ids differ from the given distributions, or None."""
    found = as_numbers(result)
    n, n_tokens = len(y), first.shape[1]
    if found is None or found.shape != (n, length):
        return f"return token ids of shape ({n}, {length}), one row for each label"
    ids = found.astype(int)
    if (ids != found).any() or ids.min() < 0 or ids.max() >= n_tokens:
        return f"token ids are integers from 0 to {n_tokens - 1}"
    if len(np.unique(ids, axis=0)) <= 2:
        return COPIED
    labels = y.numpy()
    equal = later.square().sum(dim=1).numpy()[labels]  # two later tokens, by chance
    for i in range(2, length):
        seen = (ids[:, i] == ids[:, i - 1]).sum()
        z = (seen - equal.sum()) / np.sqrt((equal * (1 - equal)).sum())
        if abs(z) > 6:
            return ONCE if z < 0 else AGREE
    sides = {"first": (ids[:, :1], first, later), "later": (ids[:, 1:], later, first)}
    for where, (places, law, other) in sides.items():
        for label in (0, 1):
            drawn = places[labels == label]
            if chance(drawn, law[label]) > RARE:
                continue
            others = {
                EXCHANGED: law[1 - label],
                ALL_LATER if where == "first" else ALL_FIRST: other[label],
                NO_LABEL: law.mean(dim=0),
                NO_LAW: torch.ones_like(law[label]),
            }
            *_, second, why = sorted(others, key=lambda x: chance(drawn, others[x]))
            likely = [chance(drawn, others[x]) for x in (why, second)]
            message = f": {why}" if likely[0] > max(0.001, 1000 * likely[1]) else ""
            what = f"for label {label}, the {where} tokens"
            return f"{what} do not follow their distribution{message}"
    for label in (0, 1):
        if not are_independent(ids[labels == label], first[label], later[label]):
            return DEPENDENT
    return None


@exercise(
    "synthetic-sampler",
    fault=law_fault,
    cases=laws_to_draw_from,
    mistakes={
        EXCHANGED: "random = -> y = 1 - y\n    random =",
        ALL_LATER: "first[y] -> later[y]",
        ALL_FIRST: "later[y] -> first[y]",
        NO_LABEL: (
            "random = -> first = first.mean(0).expand(2, -1)\n    "
            "later = later.mean(0).expand(2, -1)\n    random ="
        ),
        NO_LAW: "random = -> first, later = first**0, later**0\n    random =",
        ONCE: ", True ->",
        DEPENDENT: "others = -> random.manual_seed(seed)\n    others =",
        COPIED: (
            "[start, others], dim=1) -> [start, others], dim=1)[:1].expand(len(y), -1)"
        ),
    },
    hints=(
        "Each row of first[y] contains the token probabilities for the label of one "
        "sequence.",
        "torch.multinomial(rows, k, replacement=True) draws k ids from each row. How "
        "many ids are drawn from `first`, and how many from `later`?",
    ),
)
def my_sampler(
    first: torch.Tensor,
    later: torch.Tensor,
    y: torch.Tensor,
    length: int,
    seed: int,
) -> torch.Tensor:
    """Return token ids (n, length), the first one of each row drawn from `first`.

    The others are drawn from `later`. Both are (2, V), one row per label, and the
    labels y (n,) are 0 and 1.
    """
    random = torch.Generator().manual_seed(seed)
    start = torch.multinomial(first[y], 1, generator=random)
    others = torch.multinomial(later[y], length - 1, True, generator=random)
    return torch.cat([start, others], dim=1)


@exercise(
    "synthetic-limit",
    expected=lambda n, length: 1 - 0.5 ** (1 / (n * (length - 1))),
    cases=lambda: [(1, 2), (2, 3), (3, 2), (10, 5), (4000, 20)],
    mistakes={
        "the condition must hold in all n sequences, not just in one": (
            "n * (length - 1) -> length - 1"
        ),
        (
            "only the length - 1 later tokens can be irrelevant; the first "
            "token never is"
        ): "(length - 1) -> length",
        "this is k; return 1 - k": "1 - 0.5 -> 0.5",
        "this is the union bound; the tokens are independent, so multiply their "
        "probabilities of being irrelevant": (
            "1 - 0.5 ** (1 / (n * (length - 1))) -> 0.5 / (n * (length - 1))"
        ),
        "log 2 divided by the number of later tokens is only an approximation; solve "
        "the equation for k exactly": (
            "1 - 0.5 ** (1 / (n * (length - 1))) -> np.log(2) / (n * (length - 1))"
        ),
        "k is a root of 1/2; you used a power of 1/2": (
            "(1 / (n * (length - 1))) -> (n * (length - 1))"
        ),
    },
    hints=(
        "Each of the n sequences has length - 1 later tokens. How many are there in "
        "all, and of which kind must each of them be?",
        "The later tokens are independent, and each is irrelevant with probability k. "
        "What is the probability that all of them are irrelevant?",
    ),
)
def my_distance(n: int, length: int) -> float:
    """Return the largest 1 - k with P(all later tokens are irrelevant) >= 1/2."""
    return 1 - 0.5 ** (1 / (n * (length - 1)))


def no_break(corpus: Corpus) -> str | None:
    """Return why gradient descent does not break the V of a corpus, or None."""
    if not isinstance(corpus, Corpus) or corpus.labels is None:
        return "return an attnsel.Corpus with labels"
    n, n_tokens = corpus.counts.shape
    if n > 1000 or n_tokens > 100:
        limits = "use at most 1,000 sequences and 100 tokens"
        return f"{limits}; yours has {n} and {n_tokens}"
    if corpus.n_classes != 2:
        return f"use two classes; yours has {corpus.n_classes}"
    model = AttentionClassifier(n_tokens, 64, seed=0)
    run = fit(model, corpus, steps=300, lr=2.0, optimizer="gd", until_loss=0.1)
    if run.loss[-1] >= 0.1:
        message = "your tokens do not predict the labels, so nothing can be learned"
        return f"the loss is still {run.loss[-1]:.2f} after 300 steps: {message}"
    few = "use more tokens of both classes; an arm has too few to be measured"
    try:
        of = shape(posterior_difference(corpus), run.at())
    except ValueError:
        return few
    if math.isnan(of.arms):
        return few
    if not of.values > 0.9:
        message = "the irrelevant tokens are so rare that they lean by chance"
        return f"the values have a rank correlation of {of.values:.2f} only: {message}"
    if not of.arms < 0.5:
        message = (
            "the V is complete; make the irrelevant tokens rarer than those that lean"
        )
        return f"{message} (weaker arm {of.arms:.2f})"
    return None


@exercise(
    "synthetic-break",
    fault=no_break,
    mistakes={
        "the V is complete; make the irrelevant tokens rarer than those that lean": (
            "70 -> 90"
        ),
        "use at most 1,000 sequences and 100 tokens": (
            "1000, 100, 20, delta=0.1, n_relevant=70 -> 4000, 400, 20, delta=0.1, "
            "n_relevant=200"
        ),
        "the irrelevant tokens are so rare that they lean by chance": "70 -> 50",
        "your tokens do not predict the labels, so nothing can be learned": (
            ", n_relevant=70) -> ).with_labels(torch.arange(1000) % 2)"
        ),
    },
    hints=(
        "Which tokens does gradient descent hardly move? Let the irrelevant tokens be "
        "of this kind.",
        "In synthetic_corpus, n_relevant is the number of signal tokens. All other "
        "tokens are irrelevant, and the more of them there are, the rarer each of "
        "them is. If they are too rare, they lean by chance.",
    ),
)
def my_corpus() -> attnsel.Corpus:
    """Return a corpus of at most 1,000 sequences and 100 tokens that breaks the V."""
    return synthetic_corpus(1000, 100, 20, delta=0.1, n_relevant=70)
