"""Corpora drawn from known distributions, on which the theory can be checked."""

import torch
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.tokens import Vocab
from attnsel.validation import check_number


def separable_corpus(
    n: int = 400,
    n_tokens: int = 500,
    length: int = 8,
    *,
    n_relevant: int = 20,
    per_sequence: int = 1,
    n_partly: int = 0,
    tilt: float = 0.5,
    seed: int = 0,
) -> Corpus:
    """Draw a corpus that, by default, satisfies Assumption 1 exactly.

    The corpus has, in random order, `n` sequences of T = `length` tokens, where `n` is
    even and half of the sequences are positive. Half of the `n_relevant` relevant
    tokens are completely positive ("pos_0", ...), the other half completely negative
    ("neg_0", ...). Each sequence contains one relevant token of its class, and all its
    other tokens are irrelevant ("irr_0", ...). The irrelevant tokens of the positive
    sequences are drawn at random. The negative sequences contain the same irrelevant
    tokens, shuffled, so that alpha_s = 0. Each of the V = `n_tokens` tokens occurs.

    Two settings violate the assumption. With `per_sequence` > 1, each sequence contains
    this number of distinct relevant tokens. If the even number `n_partly` is positive,
    that many irrelevant tokens become partly positive ("partly_pos_0", ...) or partly
    negative ("partly_neg_0", ...). For this, a share `tilt`, in (0, 1], of the partly
    positive tokens in negative sequences is replaced by partly negative tokens, and
    vice versa. Their lean P(1|s) - P(0|s) has an absolute value of about this share.

    Raises:
        ValueError: if an argument is out of range, or if not every token can occur.

    Example:
        >>> separable_corpus(80, 40, 5)
        Corpus('separable', n = 80, V = 40, mean length 5.0, 0: 40, 1: 40)
    """
    check_number("n", n, 2, even=True)
    check_number("n_relevant", n_relevant, 2, even=True)
    half, kinds = n // 2, n_relevant // 2  # sequences and relevant tokens of a class
    n_plain = n_tokens - n_relevant
    check_number("per_sequence", per_sequence, 1, min(kinds, length), integer=True)
    check_number("tilt", tilt, above=0, most=1)
    free = length - per_sequence  # places for other tokens
    all_relevant_fit = half * per_sequence >= kinds
    all_plain_fit = min(free, 1) <= n_plain <= half * free
    if not (all_relevant_fit and all_plain_fit):
        raise ValueError(
            f"n_tokens: {n_tokens} tokens, {n_relevant} of them relevant, cannot fill "
            f"{n} sequences of length {length} so that each token occurs"
        )
    check_number("n_partly", n_partly, 0, n_plain, even=True)

    random = torch.Generator()
    random.manual_seed(seed)
    positive = _draw_relevant(half, kinds, per_sequence, random)
    negative = _draw_relevant(half, kinds, per_sequence, random)
    relevant = torch.cat([positive, negative + kinds])
    n_more = half * free - n_plain
    each_once = torch.arange(n_plain)
    more = torch.randint(max(n_plain, 1), (n_more,), generator=random)
    drawn = torch.cat([each_once, more])
    # Partly relevant tokens come in twins: even ones are positive, odd ones negative.
    plain_positive = _tilted(drawn, n_partly, 1, tilt, random)
    plain_negative = _tilted(drawn, n_partly, 0, tilt, random)
    plain = torch.cat([plain_positive, plain_negative])
    others = plain.view(n, free) + n_relevant
    tokens = torch.cat([relevant, others], dim=1)
    order = torch.randperm(n, generator=random)
    return Corpus.from_tokens(
        tokens[order].numpy(),
        labels=(order < half).long(),
        vocab=_vocab(kinds, n_partly, n_plain - n_partly),
        name="separable",
    )


def _draw_relevant(
    n: int, kinds: int, per_sequence: int, random: torch.Generator
) -> Tensor:
    """Draw distinct tokens for each of n sequences so that every token occurs."""
    keys = torch.rand(n, kinds, generator=random)
    order = torch.randperm(n, generator=random)
    token = torch.arange(kinds)
    sequence = order[token // per_sequence]
    keys[sequence, token] = 2.0  # above all random keys, so it is chosen
    return keys.topk(per_sequence, dim=1).indices


def _tilted(
    drawn: Tensor,
    n_partly: int,
    wrong: int,
    tilt: float,
    random: torch.Generator,
) -> Tensor:
    """Return the tokens of one class, shuffled, after exchanging some of them.

    Each occurrence of one of the first `n_partly` tokens that has the parity `wrong` is
    replaced, with probability `tilt`, by its twin. The twins are the tokens 0 and 1, 2
    and 3, and so on.
    """
    n = len(drawn)
    partly = drawn < n_partly
    wrong_side = drawn % 2 == wrong
    chosen = torch.rand(n, generator=random) < tilt
    twin = drawn + 1 - 2 * wrong
    tokens = torch.where(partly & wrong_side & chosen, twin, drawn)
    order = torch.randperm(n, generator=random)
    return tokens[order]


def _vocab(kinds: int, n_partly: int, n_irrelevant: int) -> Vocab:
    """Return the names of the tokens, in the order of their ids, as a vocabulary."""
    names = [f"pos_{i}" for i in range(kinds)]
    names += [f"neg_{i}" for i in range(kinds)]
    for i in range(n_partly // 2):
        names += [f"partly_pos_{i}", f"partly_neg_{i}"]
    names += [f"irr_{i}" for i in range(n_irrelevant)]
    return Vocab(names)


def synthetic_probabilities(
    n_tokens: int, delta: float, n_relevant: int | None = None
) -> Tensor:
    """Return the distributions from which `synthetic_corpus` draws its tokens.

    These distributions are our reading of the paper's equation (15), with its
    parameter delta. Of the `|S|` = `n_tokens` >= 3 tokens, R are signal tokens, half of
    them with sign sigma_s = +1 and half with sigma_s = -1. All others are irrelevant.
    The strength of the signal is `k = delta + 1 / |S|`. Token j of the R / 2 tokens
    with one sign has the lean theta_s = sigma_s (k + (1 - k) u_j), where the u_j are
    evenly spaced from 0 to 1. A signal draw gives token s with probability
    (1 + y theta_s) / R. The first token of a sequence is a signal draw. Each later
    token is, with probability k, a random irrelevant token, and otherwise a signal
    draw. Therefore P(1|s) - P(0|s) = theta_s if the labels are balanced.

    Args:
        n_tokens: number `|S|` of tokens, at least 3.
        delta: parameter of equation (15), in `[0, (|S| - 1) / |S|]`.
        n_relevant: even number R of signal tokens, from 2 to `|S| - 1`; None means
            about half of `|S|`.

    Returns:
        The probabilities, float64 (2, 2, `|S|`), by position (first or later token),
        label and token. The positive tokens come first, by increasing `|theta_s|`, then
        the negative tokens in the same order, and then the irrelevant tokens.
    """
    check_number("n_tokens", n_tokens, 3, integer=True)
    check_number("delta", delta, 0, (n_tokens - 1) / n_tokens)
    if n_relevant is None:
        n_relevant = max(n_tokens // 4, 1) * 2
    check_number("n_relevant", n_relevant, 2, n_tokens - 1, even=True)
    k = min(delta + 1 / n_tokens, 1.0)
    u = torch.linspace(0, 1, n_relevant // 2, dtype=torch.float64)
    strength = k + (1 - k) * u
    theta = torch.cat([strength, -strength])
    by_label = torch.stack([1 - theta, 1 + theta])
    signal, plain = torch.zeros(2, 2, n_tokens, dtype=torch.float64)
    signal[:, :n_relevant] = by_label / n_relevant
    plain[:, n_relevant:] = 1 / (n_tokens - n_relevant)
    later = k * plain + (1 - k) * signal
    return torch.stack([signal, later])


def synthetic_corpus(
    n: int = 2000,
    n_tokens: int = 200,
    length: int = 20,
    *,
    delta: float = 0.5,
    n_relevant: int | None = None,
    seed: int = 0,
) -> Corpus:
    """Draw the synthetic data of the paper's Figure 2, in our reading of equation (15).

    The corpus has, in random order, `n` >= 2 sequences of T = `length` tokens. Half of
    the sequences are positive; if `n` is odd, there is one more positive sequence. The
    tokens "pos_0", ..., "neg_0", ..., "irr_0", ... are drawn independently given the
    label, from the distributions of `synthetic_probabilities`, so some tokens may not
    occur. That function defines `|S|` and R. Suppose that delta has its largest value,
    `(|S| - 1) / |S|`. Then, with probability at least
    `1 - 2 (|S| - R) exp(-(T - 1) floor(n / 2) / (|S| - R))`, every sequence contains
    exactly one token that occurs with only one label in the sample. If `n` is even,
    alpha_s of an irrelevant token is 0 on average and of order n^-1/2 in the sample.
    """
    check_number("n", n, 2, integer=True)
    check_number("length", length, 1, integer=True)
    first, later = synthetic_probabilities(n_tokens, delta, n_relevant)
    random = torch.Generator()
    random.manual_seed(seed)
    order = torch.randperm(n, generator=random)
    labels = (order + 1) % 2
    tokens = torch.multinomial(first[labels], 1, generator=random)
    if length > 1:
        rest = torch.multinomial(
            later[labels], length - 1, replacement=True, generator=random
        )
        tokens = torch.cat([tokens, rest], dim=1)
    carries_signal = first.sum(dim=0) > 0
    kinds = int(carries_signal.sum()) // 2
    vocab = _vocab(kinds, 0, n_tokens - 2 * kinds)
    return Corpus.from_tokens(tokens.numpy(), labels, vocab, name="synthetic")
