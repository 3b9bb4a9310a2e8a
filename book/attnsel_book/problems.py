"""Artificial corpora for the chapters, and models after one gradient step on them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel.synthetic import separable_corpus
from attnsel.theory import MaxMargin, max_margin, relevant_tokens
from attnsel.tokens import Vocab
from attnsel.train import one_step


@dataclass(frozen=True, eq=False)
class OneStepProblem:
    """A corpus, and a model that has usually taken one gradient step on E.

    Attributes:
        corpus: n sequences of two classes.
        model: model with the embeddings E; its p is the start of the gradient flow.
    """

    corpus: Corpus
    model: AttentionClassifier

    @cached_property
    def relevant(self) -> Tensor:
        """The relevant token of each sequence, int64 (n,); see `relevant_tokens`."""
        return relevant_tokens(self.corpus)

    @cached_property
    def best(self) -> MaxMargin:
        """The max-margin direction for the relevant tokens, with its support pairs."""
        return max_margin(self.model.embeddings, self.corpus, self.relevant)


def one_step_problem(
    dim: int,
    lr: float = 100.0,
    *,
    seed: int = 0,
    dtype: torch.dtype = torch.float32,
    **sizes: Any,
) -> OneStepProblem:
    """Draw a corpus and a model, and take one gradient step of size `lr` on E.

    The corpus is `separable_corpus(**sizes)`, and each row of E has `dim` entries. Both
    the corpus and the model are drawn with `seed`. If `lr` is 0, E does not change.
    """
    corpus = separable_corpus(**sizes, seed=seed)
    model = AttentionClassifier(len(corpus.vocab), dim, seed=seed, dtype=dtype)
    if lr:
        model = one_step(model, corpus, lr=lr)
    return OneStepProblem(corpus, model)


def two_reviews() -> OneStepProblem:
    """Return *good film* (positive), *bad film* (negative) and an untrained model.

    The embeddings of *good*, *bad* and *film*, in 5 dimensions, are the unit vectors
    along axes 1 to 3, and v is the unit vector along axis 4. All scores are 0 because p
    is zero, and all values are 0 because v is orthogonal to the embeddings.
    """
    words = ["good", "bad", "film"]
    corpus = Corpus.from_tokens([[0, 2], [1, 2]], [1, 0], Vocab(words))
    model = AttentionClassifier(3, 5, dtype=torch.float64)
    axes = torch.eye(5, dtype=torch.float64)
    with torch.no_grad():
        model.embeddings.copy_(axes[:3])
        model.cls.zero_()
        model.output.copy_(axes[3])
    return OneStepProblem(corpus, model)


def crowd_corpus(positive: list[int], negative: list[int], *, length: int) -> Corpus:
    """Return sequences that each contain one relevant token and the same other tokens.

    The list `positive` contains the number of sequences of each completely positive
    token, and `negative` the number for each completely negative token. For example,
    [1, 1] and [2] mean two positive tokens in one sequence each, and one negative token
    in two sequences. If both lists have the same sum, then Assumption 1 holds, because
    the `length` - 1 tokens that all sequences contain are irrelevant.
    """
    owners = [*positive, *negative]
    shared = range(len(owners), len(owners) + length - 1)
    names = [f"positive_{i}" for i in range(len(positive))]
    names += [f"negative_{i}" for i in range(len(negative))]
    names += [f"shared_{i}" for i in range(length - 1)]
    bags = [[r, *shared] for r, count in enumerate(owners) for _ in range(count)]
    labels = [1] * sum(positive) + [0] * sum(negative)
    return Corpus.from_tokens(bags, labels, Vocab(names))


def leaning_corpus(seed: int, *, rare: int = 0) -> Corpus:
    """Draw 4,000 sequences of 40 tokens from a vocabulary with evenly spaced leans.

    The vocabulary has 400 tokens, with leans x_s from -1 to 1. In a sequence with the
    sign y, the probability of token s is proportional to 1 + y x_s, so all tokens are
    equally frequent on average. If `rare` = 1, the probability also has the factor
    1 - 0.95 `|x_s|`, so a token with lean 1 is 20 times rarer than one with lean 0.
    """
    random = torch.Generator()
    random.manual_seed(seed)
    leans = torch.linspace(-1, 1, 400)
    labels = torch.randperm(4000, generator=random) % 2
    signs = 2 * labels[:, None] - 1
    weights = (1 + signs * leans) * (1 - 0.95 * leans.abs()) ** rare
    tokens = torch.multinomial(weights, 40, True, generator=random)
    vocab = Vocab([f"token_{i}" for i in range(400)])
    return Corpus.from_tokens(tokens.numpy(), labels, vocab)


def equal_frequencies(n_tokens: int, length: int, delta: float) -> int:
    """Return the number of signal tokens that makes all tokens about equally frequent.

    A sequence of `synthetic_corpus` contains on average m = 1 + (length - 1) (1 - k)
    signal tokens, where k = delta + 1 / |S|. For even |S| = `n_tokens` >= 4, the result
    is the even number from 2 to |S| - 2 that is nearest to |S| m / `length`.
    """
    k = delta + 1 / n_tokens
    signal_draws = 1 + (length - 1) * (1 - k)
    n_relevant = n_tokens * signal_draws / length
    nearest_even = 2 * round(n_relevant / 2)
    return min(max(nearest_even, 2), n_tokens - 2)
