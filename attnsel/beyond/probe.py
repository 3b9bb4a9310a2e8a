"""What a classifier of texts looks like from outside: two numbers a token, if it fits.

One layer of attention is f(X) = sum_i w_i b_i / sum_i w_i over the tokens of X, with
a value b_s and a weight w_s = exp(a_s) for each token. Whoever may only ask for f finds
both: f of the single token is b_s, and of the pair s, t

    a_s - a_t = log (b_t - f) / (f - b_s) .

`outside` does so with any classifier, and measures whether the numbers mean anything.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnsel.checks import check_number

Asked = Callable[[list[Any]], Any]
DILUTIONS = (1, 4, 16, 64)  # copies of a neutral token beside a strong one
STRONG = 5  # tokens from each end that are diluted, and neutral ones
GROUP = 2_000  # texts that are sent together
SMALL = 0.05  # a mismatch of log-weights over their spread that counts as none
ROUNDING = 1e-3  # of log-weights, with a classifier in float32


@dataclass(frozen=True, eq=False)
class Outside:
    """What `outside` found of a classifier f.

    Attributes:
        tokens: the V tokens that were asked about.
        values: b, f of each token alone, float64 (V,).
        scores: a, the log-weights from pairs, less their mean; nan where the f of a
            pair is not between its two values, so that there is no weight, (V,).
        beyond: share of pairs from the same end of the values whose f is not between
            the two: 0 for any kind of average, 1 for a sum.
        cycle: how far the log-ratios of three pairs s t, t u, u s are from adding up
            to 0, over the size of a ratio, root mean squares; 0 for attention.
        dilution: share of a strong token's value that is left beside 1, 4, 16 and 64
            copies of a neutral one, median, (4,).
        strength: the log-weight of the strong token over the neutral one that follows
            from each share, median, (4,): constant for attention, falling where the
            output saturates, 0 for a plain mean, infinite where nothing is lost.
        explained: 1 - mean squared error over variance of sum w b / sum w on random
            sequences of 2 to 8 tokens that nothing was fitted to.
        queries: how many texts were sent.
    """

    tokens: tuple[str, ...]
    values: np.ndarray
    scores: np.ndarray
    beyond: float
    cycle: float
    dilution: np.ndarray
    strength: np.ndarray
    explained: float
    queries: int

    @property
    def drift(self) -> float:
        """How much of the strength of a strong token is lost from 1 to 64 copies."""
        first, last = self.strength[[0, -1]].tolist()
        return first - last

    @property
    def fits(self) -> bool:
        """Whether f is an average with weights: no pair beyond, no drift, no error."""
        spread = float(np.nanstd(self.scores))
        small = max(SMALL * spread, ROUNDING)
        return (
            self.beyond == 0
            and not self.cycle > SMALL
            and abs(self.drift) <= small
            and self.explained > 1 - SMALL**2
        )


def outside(
    classify: Asked,
    tokens: Sequence[str],
    *,
    join: str | None = " ",
    samples: int = 1_000,
    seed: int = 0,
) -> Outside:
    """Ask a classifier of texts for the two numbers of each token, and if they fit.

    About 2 V + 6 `samples` texts are sent. The numbers are those of one layer of
    attention, E v and E p less its mean, if the classifier is one: see `Outside.fits`.

    Args:
        classify: returns the logits (n,) of a list of n texts, any array-like.
        tokens: those to ask about, at least 15, each one that the classifier knows.
        join: what stands between the tokens of a text; None sends lists of tokens.
        samples: how many pairs, triples and held-out sequences to try.
        seed: of their choice.

    Raises:
        ValueError: if there are too few tokens, or `classify` does not return one
            finite number a text, or says the same of all tokens, or two things only.
    """
    check_number("samples", samples, 10, integer=True)
    if len(tokens) < 3 * STRONG:
        raise ValueError(f"tokens: expected {3 * STRONG} or more, got {len(tokens)}")
    asked = _Asked(classify, tokens, join)
    random = np.random.default_rng(seed)
    values = asked([[s] for s in range(len(tokens))])
    if np.ptp(values) == 0:
        raise ValueError("classify: it says the same of all tokens")
    if len(np.unique(values)) == 2:
        raise ValueError(
            "classify: it has two numbers for all tokens, as classes are; return logits"
        )
    order = values.argsort(kind="stable")
    scores = _scores(asked, values)
    shares, strength = _diluted(asked, values, order)
    return Outside(
        tokens=tuple(tokens),
        values=values,
        scores=scores - np.nanmean(scores),
        beyond=_beyond(asked, values, order, samples, random),
        cycle=_cycle(asked, values, order, samples, random),
        dilution=shares,
        strength=strength,
        explained=_explained(asked, values, scores, samples, random),
        queries=asked.queries,
    )


class _Asked:
    """The classifier on sequences of ids, with a count of what was sent."""

    def __init__(
        self, classify: Asked, tokens: Sequence[str], join: str | None
    ) -> None:
        self.classify = classify
        self.tokens = tokens
        self.join = join
        self.queries = 0

    def __call__(self, sequences: Sequence[Sequence[int]]) -> np.ndarray:
        texts: list[Any] = [[self.tokens[s] for s in ids] for ids in sequences]
        if self.join is not None:
            texts = [self.join.join(words) for words in texts]
        self.queries += len(texts)
        found = np.empty(0)
        for start in range(0, len(texts), GROUP):
            part = texts[start : start + GROUP]
            logits = np.asarray(self.classify(part), dtype=np.float64)
            if logits.shape != (len(part),) or not np.isfinite(logits).all():
                wanted = f"one finite number for each of {len(part)} texts"
                raise ValueError(f"classify: expected {wanted}, got {logits.shape}")
            found = np.append(found, logits)
        return found


def log_ratio(of_pair: Any, of_one: Any, of_other: Any) -> np.ndarray:
    """Return a_s - a_t from f of a pair and b_s, b_t; nan where f is not between.

    With attention f = (w_s b_s + w_t b_t) / (w_s + w_t), and so
    a_s - a_t = log (b_t - f) / (f - b_s).
    """
    f, b_s, b_t = (np.asarray(x, dtype=np.float64) for x in (of_pair, of_one, of_other))
    above, below = b_t - f, f - b_s
    is_between = above * below > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = above / below
        return np.where(is_between, np.log(np.where(is_between, ratio, 1)), np.nan)


def _pairs(asked: _Asked, values: np.ndarray, s: Any, t: Any) -> np.ndarray:
    """Return the log-ratios of the weights of the tokens s and t, one by one."""
    f = asked(np.stack([s, t], axis=1).tolist())
    return log_ratio(f, values[s], values[t])


def _scores(asked: _Asked, values: np.ndarray) -> np.ndarray:
    """Return the log-weights from one pair a token, with the farther end of values."""
    low, high = int(values.argmin()), int(values.argmax())
    each = np.arange(len(values))
    near_low = values - values[low] < values[high] - values
    partner = np.where(near_low, high, low)
    ratio = _pairs(asked, values, each, partner)
    of_high = -ratio[low]  # its own pair: the ends with each other
    scores = np.where(near_low, ratio + of_high, ratio)
    scores[low] = 0.0
    return scores


def _thirds(order: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the tokens of low, middle and high values."""
    third = len(order) // 3
    return order[:third], order[third:-third], order[-third:]


def _beyond(
    asked: _Asked,
    values: np.ndarray,
    order: np.ndarray,
    samples: int,
    random: np.random.Generator,
) -> float:
    """Return the share of pairs from one end whose f is not between the values."""
    low, _, high = _thirds(order)
    half = samples // 2
    pairs = [random.choice(end, (half, 2)) for end in (low, high)]
    s, t = np.concatenate(pairs).T
    differ = values[s] != values[t]
    s, t = s[differ], t[differ]
    f = asked(np.stack([s, t], axis=1).tolist())
    least, most = np.minimum(values[s], values[t]), np.maximum(values[s], values[t])
    rounding = 1e-5 * np.ptp(values)  # of a classifier in float32
    return float(((f < least - rounding) | (f > most + rounding)).mean())


def _cycle(
    asked: _Asked,
    values: np.ndarray,
    order: np.ndarray,
    samples: int,
    random: np.random.Generator,
) -> float:
    """Return how far log-ratios round triples are from 0, over their size."""
    s, t, u = (random.choice(part, samples) for part in _thirds(order))
    ratios = [_pairs(asked, values, *pair) for pair in ((s, t), (t, u), (u, s))]
    around = np.stack(ratios)
    around = around[:, np.isfinite(around).all(axis=0)]
    if not around.size:
        return math.nan
    size = float(np.sqrt(np.square(around).mean()))
    left = float(np.sqrt(np.square(around.sum(axis=0)).mean()))
    return left / max(size, ROUNDING)


def _diluted(
    asked: _Asked, values: np.ndarray, order: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return shares and log-weights of strong tokens beside copies of neutral ones."""
    distance = np.abs(values - np.median(values))
    neutral = distance.argsort(kind="stable")[:STRONG]
    strong = np.concatenate([order[:STRONG], order[-STRONG:]])
    s, t = (grid.ravel() for grid in np.meshgrid(strong, neutral))
    shares, weights = [], []
    for copies in DILUTIONS:
        pairs = zip(s.tolist(), t.tolist(), strict=True)
        f = asked([[one] + copies * [other] for one, other in pairs])
        share = (f - values[t]) / (values[s] - values[t])
        weight = log_ratio(f, values[s], values[t]) + math.log(copies)
        weight[share >= 1] = math.inf  # nothing is lost: as of an endless weight
        weight[share <= 0] = -math.inf
        shares.append(np.median(share))
        # A median, of infinities, too.
        weights.append(np.sort(weight)[len(weight) // 2])
    return np.array(shares), np.array(weights)


def _explained(
    asked: _Asked,
    values: np.ndarray,
    scores: np.ndarray,
    samples: int,
    random: np.random.Generator,
) -> float:
    """Return what share of the variance of f on new sequences is explained."""
    known = np.flatnonzero(np.isfinite(scores))
    sizes = random.integers(2, 9, samples)
    sequences = [random.choice(known, size).tolist() for size in sizes]
    f = asked(sequences)
    expected = [average(values[ids], scores[ids]) for ids in sequences]
    return float(1 - np.square(f - expected).mean() / f.var())


def average(values: np.ndarray, scores: np.ndarray) -> float:
    """Return sum w b / sum w of values b and log-weights a of some tokens, (k,)."""
    w = np.exp(scores - scores.max())
    return float(w @ values / w.sum())
