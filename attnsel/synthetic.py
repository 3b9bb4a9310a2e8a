"""Corpora drawn from known models, on which the theory can be checked exactly."""

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
    """Draw a corpus that satisfies Assumption 1 exactly.

    Half of the n sequences of T = length tokens, n even, are positive, in random order.
    Each contains one of the n_relevant tokens, half of them completely positive
    ("pos_0", ...), half completely negative ("neg_0", ...), and otherwise irrelevant
    tokens ("irr_0", ...): those of the positive sequences are drawn at random, and the
    same ones, shuffled, fill the negative sequences, so that alpha_s = 0 exactly. Each
    of the V = n_tokens tokens occurs.

    The assumption breaks with `per_sequence` > 1 distinct relevant tokens in each, and
    with n_partly irrelevant tokens, an even number, made partly positive
    ("partly_pos_0", ...) or negative ("partly_neg_0", ...): a share `tilt`, in (0, 1],
    of their occurrences on the wrong side is exchanged, which is about the size
    |P(1|s) - P(0|s)| of their lean.

    Raises:
        ValueError: if a size is out of range, or if not every token can occur.

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
        message = (
            f"cannot fill {n} sequences of {length} tokens so that each token occurs"
        )
        raise ValueError(
            f"n_tokens: {n_tokens}, of them {n_relevant} relevant, {message}"
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
    """Draw distinct tokens for each of n sequences, each token at least once."""
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
    """Return the tokens of one class, shuffled, some of the wrong parity exchanged.

    Each of the n_partly first tokens with this parity becomes its twin, the token
    beside it of the other parity, with probability `tilt`.
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
    """Name the tokens in the order of their ids."""
    names = [f"pos_{i}" for i in range(kinds)]
    names += [f"neg_{i}" for i in range(kinds)]
    for i in range(n_partly // 2):
        names += [f"partly_pos_{i}", f"partly_neg_{i}"]
    names += [f"irr_{i}" for i in range(n_irrelevant)]
    return Vocab(names)


def synthetic_probabilities(
    n_tokens: int, delta: float, n_relevant: int | None = None
) -> Tensor:
    """Return the distributions that `synthetic_corpus` draws its tokens from.

    Our family for the paper's equation (15), with its parameter delta: R of the
    |S| = n_tokens >= 3 tokens carry a signal of strength k = delta + 1 / |S|, half of
    them with sign sigma_s = +1 and half with -1. Token j of the R / 2 of a sign leans
    by theta_s = sigma_s (k + (1 - k) u_j), with u_j = 0, ..., 1 evenly spaced; a signal
    draw is token s with probability (1 + y theta_s) / R. The first token of a sequence
    is a signal draw; each later one is any of the irrelevant tokens with probability k,
    otherwise a signal draw. So P(1|s) - P(0|s) = theta_s for balanced labels.

    delta is in [0, (|S| - 1) / |S|]; R = n_relevant is even, 2 to |S| - 1, about half
    of |S| if None. The result is float64 (2, 2, V): probability by place (the first
    token, each later one), label and token; positive tokens come first, by rising
    |theta_s|, then negative ones likewise, then irrelevant ones.
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

    Tokens "pos_0", ..., "neg_0", ..., "irr_0", ... are independent given the label, by
    the distributions of `synthetic_probabilities`; not all need occur. Half of the
    n >= 2 sequences of T = length tokens are positive (one more if n is odd), in random
    order. At the upper end of delta, (|S| - 1) / |S|, every sequence has exactly one
    token that is completely relevant in the sample, too, with probability at least
    1 - 2 (|S| - R) exp(-(T - 1) floor(n / 2) / (|S| - R)). The alpha_s of an irrelevant
    token is 0 on average, and of order n^-1/2 in the sample.
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
