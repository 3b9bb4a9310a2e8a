"""Corpora drawn from known models, on which the theory can be checked exactly."""

from __future__ import annotations

import torch
from torch import Tensor

from attnsel.corpus import Corpus, Vocab


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

    Half of the sequences are positive. Each holds one relevant token, completely
    positive ("pos_0", ...) or completely negative ("neg_0", ...), and otherwise
    irrelevant tokens ("irr_0", ...): those of the positive sequences are drawn at
    random, and the same ones, shuffled, fill the negative sequences, so that
    alpha_s = 0 exactly. Every token occurs.

    Two arguments break the assumption: `per_sequence` = 2 or more puts several distinct
    relevant tokens into each sequence, and `n_partly` > 0 makes irrelevant tokens
    partly positive ("partly_pos_0", ...) or partly negative ("partly_neg_0", ...) by
    exchanging a share `tilt` of their occurrences on the wrong side in pairs.

    Args:
        n: number of sequences, even.
        n_tokens: V, number of tokens of all kinds.
        length: T, tokens in a sequence.
        n_relevant: number of relevant tokens, even.
        per_sequence: relevant tokens in each sequence; 1 for Assumption 1.
        n_partly: number of partly relevant tokens, even; 0 for Assumption 1.
        tilt: in (0, 1], about the posterior difference |P(1|s) - P(0|s)| they get.
        seed: of the random generator.

    Returns:
        Corpus of n sequences in random order.

    Raises:
        ValueError: if an argument is out of range or not every token can occur.
    """
    half, kinds, free = n // 2, n_relevant // 2, length - per_sequence
    n_plain = n_tokens - n_relevant
    for name, value, least in (
        ("n", n, 2),
        ("n_relevant", n_relevant, 2),
        ("n_partly", n_partly, 0),
    ):
        if value < least or value % 2:
            raise ValueError(f"{name}: expected an even number from {least}: {value}")
    if not 1 <= per_sequence <= min(kinds, length):
        raise ValueError(
            "per_sequence: expected 1 to the lesser of n_relevant / 2 and length, "
            f"{min(kinds, length)}, got {per_sequence}"
        )
    if n_plain < n_partly:
        raise ValueError(
            f"n_tokens: {n_tokens} do not hold {n_relevant} relevant and {n_partly} "
            "partly relevant tokens"
        )
    if half * per_sequence < kinds or half * free < n_plain or (free and not n_plain):
        raise ValueError(
            f"n_tokens: {n_tokens}, of them {n_relevant} relevant, cannot fill {n} "
            f"sequences of {length} tokens so that each token occurs"
        )
    if not 0 < tilt <= 1:
        raise ValueError(f"tilt: expected a number in (0, 1], got {tilt}")
    random = torch.Generator().manual_seed(seed)

    def draw_relevant() -> Tensor:
        keys = torch.rand(half, kinds, generator=random)
        each = torch.arange(kinds)  # has one sequence that is sure to hold it
        keys[torch.randperm(half, generator=random)[each // per_sequence], each] = 2.0
        return keys.topk(per_sequence, dim=1).indices

    relevant = torch.cat([draw_relevant(), draw_relevant() + kinds])
    more = torch.randint(max(n_plain, 1), (half * free - n_plain,), generator=random)
    drawn = torch.cat([torch.arange(n_plain), more])
    sides = []
    for wrong in (1, 0):  # in positive sequences, then in negative ones
        swapped = (drawn < n_partly) & (drawn % 2 == wrong)
        swapped &= torch.rand(len(drawn), generator=random) < tilt
        side = torch.where(swapped, drawn + 1 - 2 * wrong, drawn)
        sides.append(side[torch.randperm(len(side), generator=random)])
    plain = torch.cat(sides).view(n, free) + n_relevant
    tokens = torch.cat([relevant, plain], dim=1)

    names = [f"{sign}_{i}" for sign in ("pos", "neg") for i in range(kinds)]
    names += [f"partly_{('pos', 'neg')[i % 2]}_{i // 2}" for i in range(n_partly)]
    names += [f"irr_{i}" for i in range(n_plain - n_partly)]
    labels = (torch.arange(n) < half).long()
    order = torch.randperm(n, generator=random)
    return Corpus.from_tokens(
        tokens[order].numpy(), labels[order], Vocab(names), name="separable"
    )


def synthetic_probabilities(
    n_tokens: int, delta: float, n_relevant: int | None = None
) -> Tensor:
    """Return the distributions that `synthetic_corpus` draws its tokens from.

    The paper draws the tokens of a sequence independently given the label, with a
    parameter delta in [0, (|S| - 1) / |S|] (its equation (15), which we do not have).
    Our family: k = delta + 1 / |S| in [1 / |S|, 1] is the strength of the signal.
    R = n_relevant tokens carry it, half of them with sign sigma_s = +1 and half with
    -1; the others are irrelevant. Token j of the R / 2 of a sign has

        theta_s = sigma_s (k + (1 - k) u_j),    u_j = 0, ..., 1 evenly spaced,

    and a signal token is s with probability (1 + y theta_s) / R. The first token of a
    sequence is a signal token; each later one is irrelevant (any with the same
    probability) with probability k and otherwise a signal token. So P(1|s) - P(0|s) is
    theta_s for balanced labels: it covers [-1, 1] for small delta. At the upper end
    of delta each sequence has exactly one relevant token, which is completely positive
    or negative, and the others are irrelevant: Assumption 1 in the distribution.

    Args:
        n_tokens: |S|, at least 3.
        delta: in [0, (n_tokens - 1) / n_tokens].
        n_relevant: R, even, 2 to n_tokens - 1; about half of the tokens if None.

    Returns:
        float64 tensor (2, 2, V): probability by place (0 for the first token, 1 for
        each later one), label and token. The tokens are ordered: positive ones by
        rising |theta_s|, then negative ones likewise, then irrelevant ones.

    Raises:
        ValueError: if an argument is out of range.
    """
    relevant = max(n_tokens // 4, 1) * 2 if n_relevant is None else n_relevant
    if n_tokens < 3:
        raise ValueError(f"n_tokens: expected at least 3, got {n_tokens}")
    if relevant % 2 or not 2 <= relevant < n_tokens:
        raise ValueError(
            f"n_relevant: expected an even number from 2 to {n_tokens - 1}, got "
            f"{relevant}"
        )
    most = (n_tokens - 1) / n_tokens
    if not 0 <= delta <= most:
        raise ValueError(f"delta: expected 0 to {most:.6g}, got {delta}")
    k = min(delta + 1 / n_tokens, 1.0)
    strength = k + (1 - k) * torch.linspace(0, 1, relevant // 2, dtype=torch.float64)
    theta = torch.cat([strength, -strength])
    signal = torch.zeros(2, n_tokens, dtype=torch.float64)
    signal[0, :relevant] = (1 - theta) / relevant
    signal[1, :relevant] = (1 + theta) / relevant
    plain = torch.zeros(n_tokens, dtype=torch.float64)
    plain[relevant:] = 1 / (n_tokens - relevant)
    return torch.stack([signal, k * plain + (1 - k) * signal])


def equal_frequencies(n_tokens: int, length: int, delta: float) -> int:
    """Return R, even, for which all tokens of the family are about equally frequent.

    A sequence holds m = 1 + (length - 1) (1 - k) signal tokens in the mean, with
    k = delta + 1 / |S|, so R = |S| m / length of the |S| tokens have to carry them.

    Args:
        n_tokens: |S|, at least 4.
        length: T, tokens in a sequence.
        delta: in [0, (n_tokens - 1) / n_tokens].
    """
    drawn = 1 + (length - 1) * (1 - delta - 1 / n_tokens)
    return min(max(2 * round(n_tokens * drawn / length / 2), 2), n_tokens - 2)


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

    Tokens are independent given the label; see `synthetic_probabilities` for the
    family. Half of the sequences are positive (one more if n is odd), in random order.
    At delta = (|S| - 1) / |S| every sequence holds exactly one token that is completely
    relevant in the sample too, with probability at least
    1 - 2 (|S| - R) exp(-(T - 1) floor(n / 2) / (|S| - R)): only an irrelevant token
    that misses one of the classes altogether can pass for another. The
    alpha_s of an irrelevant token is 0 in the mean, and of order n^-1/2 in the sample.

    Args:
        n: number of sequences, at least 2.
        n_tokens: |S|, at least 3.
        length: T, tokens in a sequence.
        delta: in [0, (n_tokens - 1) / n_tokens], from mixed tokens to Assumption 1.
        n_relevant: R, even; about half of the tokens if None.
        seed: of the random generator.

    Returns:
        Corpus of tokens "pos_0", ..., "neg_0", ..., "irr_0", ...; not all need occur.

    Raises:
        ValueError: if an argument is out of range.
    """
    for name, value, least in (("n", n, 2), ("length", length, 1)):
        if value < least:
            raise ValueError(f"{name}: expected at least {least}, got {value}")
    first, later = synthetic_probabilities(n_tokens, delta, n_relevant)
    random = torch.Generator().manual_seed(seed)
    labels = (torch.randperm(n, generator=random) + 1) % 2
    tokens = torch.multinomial(first[labels], 1, generator=random)
    if length > 1:
        rest = torch.multinomial(
            later[labels], length - 1, replacement=True, generator=random
        )
        tokens = torch.cat([tokens, rest], dim=1)
    kinds = int((first.sum(0) > 0).sum()) // 2
    names = [f"{sign}_{i}" for sign in ("pos", "neg") for i in range(kinds)]
    names += [f"irr_{i}" for i in range(n_tokens - 2 * kinds)]
    return Corpus.from_tokens(tokens.numpy(), labels, Vocab(names), name="synthetic")
