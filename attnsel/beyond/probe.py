r"""A black-box test that fits two numbers per token to any classifier of texts.

One layer of attention computes, for the tokens of X,

.. math:: f(X) = \frac{\sum_i w_i b_i}{\sum_i w_i} ,

with a value b_s and a weight w_s = exp(a_s) for each token s. Outputs of f determine
the numbers b_s, and the numbers a_s up to a constant. For the text that consists of the
single token s, the output is b_s. For the pair s, t, the output f determines

.. math:: a_s - a_t = \log \frac{b_t - f}{f - b_s} .

The function `outside` computes these numbers for any classifier, and tests whether they
describe the classifier on other texts.
"""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from attnsel.validation import check_number

Classify = Callable[[list[Any]], Any]
DILUTIONS = (1, 4, 16, 64)  # numbers of neutral tokens next to a strong one
STRONG = 5  # strong tokens at each end, and sets of neutral tokens
GROUP = 2_000  # texts that are sent together
SMALL = 0.05  # a mismatch of log-weights over their spread that counts as none
ROUNDING = 1e-3  # of log-weights, with a classifier in float32
ULPS = 1e-5  # of logits, over their range, with a classifier in float32


@dataclass(frozen=True, eq=False)
class Outside:
    """The results of `outside` for a classifier f.

    Attributes:
        tokens: the V tokens that were tested.
        values: b, the output f for each token alone, float64 (V,).
        scores: a, the log-weights minus the mean of the finite ones, (V,). Each token
            is paired with the token of the lowest or highest value, whichever differs
            more from its own. The log-weight is infinite if f for the pair equals one
            of the two values, and nan if f is outside their range.
        hard: share of these pairs for which f is one of the two values up to rounding.
        beyond: share of the pairs with two low or two high values for which f is not
            between the two values. It is 0 for any average, and 1 for a sum if low
            values are negative and high values are positive.
        cycle: root mean square of the sum of the log-ratios of three pairs (s, t),
            (t, u) and (u, s), divided by the root mean square of one log-ratio. It is 0
            for attention, and nan if no triple s, t, u has three finite log-ratios.
        ghost: weight of a token, such as <cls>, that the classifier adds to each text,
            divided by the weight of a strong token. The strong tokens are the ten with
            extreme values, and each is sent in texts of 1, 2 and 4 copies. `ghost`,
            the median over these tokens, is 0 if repetition changes nothing, infinite
            for a sum, and nan if f changes in another way.
        dilution: median of (f - f_rest) / (b_s - f_rest) for a strong token s next to
            1, 4, 16 and 64 neutral tokens, whose values are near the median, (4,). Here
            f_rest is the output for the neutral tokens alone.
        strength: median log-weight of a strong token relative to a neutral token, from
            the same outputs, (4,). It is constant for attention, decreases if the
            output saturates, is 0 for a plain mean, and infinite if `dilution` is at
            least 1. Both `dilution` and `strength` are nan if no neutral token has a
            finite log-weight.
        explained: 1 minus the ratio of mean squared error to variance when
            sum w b / sum w predicts f on random sequences of 2 to 8 tokens that were
            not used to fit any number. It is nan if fewer than 15 tokens have a weight.
        queries: number of texts that were sent to the classifier.
    """

    tokens: tuple[str, ...]
    values: np.ndarray
    scores: np.ndarray
    hard: float
    beyond: float
    cycle: float
    ghost: float
    dilution: np.ndarray
    strength: np.ndarray
    explained: float
    queries: int

    @property
    def drift(self) -> float:
        """Decrease of `strength` from 1 neutral token to 64 neutral tokens."""
        first, last = self.strength[[0, -1]].tolist()
        if first == last:  # also if both are infinite
            return 0.0
        return first - last

    @property
    def fits(self) -> bool:
        """Whether f is a weighted average on all texts that were tried.

        For pairs, f must lie between the two values; it may equal one of them for at
        most half of the pairs that determine `scores`. The log-weights must be
        consistent, must not drift, and must explain new sequences.
        """
        known = self.scores[np.isfinite(self.scores)]
        spread = float(np.std(known))
        small = max(SMALL * spread, ROUNDING)
        return (
            self.hard <= 0.5
            and self.beyond == 0
            and not self.cycle > SMALL
            and abs(self.drift) <= small
            and self.explained > 1 - SMALL**2
        )

    @property
    def verdict(self) -> str:
        """A description of the outputs, and of classifiers that may compute them."""
        if self.hard > 0.5:
            return (
                f"for {self.hard:.0%} of the pairs, the logit is that of one of the "
                "two tokens, as for hard attention or a maximum; pairs then show only "
                "which token wins, and weights cannot be determined"
            )
        if self.fits:
            return (
                "on all texts that were tried, the logit is an average with one weight "
                "per token; pairs cannot distinguish one layer of attention from any "
                "other such average"
            )
        if self.beyond > 0:
            pairs = "of the pairs with two low or two high values"
            return f"for {self.beyond:.0%} {pairs}, {self._beyond_reason()}"
        return (
            "the logits of pairs are averages, but those of other texts are not, for "
            "example because of a saturating curve, a normalization by length, or "
            "noise; the log-weights are not those of an attention layer"
        )

    def _beyond_reason(self) -> str:
        """Return possible reasons for outputs of pairs outside the range of values."""
        if self.ghost == 0:
            return (
                "the logit is beyond both, and repeating a token changes nothing, as "
                "with a saturating curve or a normalization by length, not an average"
            )
        if math.isnan(self.ghost):
            return (
                "the logit is beyond both, and repeating a token changes it neither as "
                "in a sum nor as with an extra token in every text"
            )
        stronger = (
            "the logit is beyond both, and repeating a token strengthens its effect"
        )
        if math.isinf(self.ghost):
            return f"{stronger} at least as much as in a sum"
        return (
            f"{stronger}; possible causes are a sum divided by a root of the length, "
            "or a <cls> token that gets attention in every text, with "
            f"{self.ghost:.2g} times the weight of a strong token"
        )


def outside(
    classify: Classify,
    tokens: Sequence[str],
    *,
    join: str | None = " ",
    samples: int = 1_000,
    seed: int = 0,
) -> Outside:
    """Determine two numbers per token from the logits of any classifier of texts.

    For V tokens and N = `samples`, about 2 V + 5 N texts are sent to the classifier. If
    it is one layer of attention, the numbers are E v, and E p minus the mean of E p.
    `Outside.fits` tests whether the numbers describe the classifier. If fewer than half
    of the tokens have a finite log-weight, a warning explains why.

    Args:
        classify: function that takes a list of n texts and returns their logits,
            array-like (n,).
        tokens: tokens to query, at least 15, all of which the classifier knows.
        join: string between the tokens of a text; None sends lists of tokens instead.
        samples: number of pairs, of triples and of new sequences to try, at least 10.
        seed: random seed for drawing the pairs, triples and sequences.

    Raises:
        ValueError: if there are too few tokens or samples, if `classify` does not
            return one finite number per text, or if it returns only one or two distinct
            numbers for all tokens.
    """
    check_number("samples", samples, 10, integer=True)
    if len(tokens) < 3 * STRONG:
        raise ValueError(f"tokens: expected {3 * STRONG} or more, got {len(tokens)}")
    oracle = _Oracle(classify, tokens, join)
    random = np.random.default_rng(seed)
    values = oracle.values
    if np.ptp(values) == 0:
        raise ValueError("classify: it returns the same number for all tokens")
    if len(np.unique(values)) == 2:
        raise ValueError(
            "classify: it returns only two distinct numbers, which seem to be classes; "
            "return logits"
        )
    scores, hard = _scores(oracle)
    has_weight = np.isfinite(scores)
    shares, strength = _diluted(oracle, scores)
    found = Outside(
        tokens=tuple(tokens),
        values=values,
        scores=scores - scores[has_weight].mean() if has_weight.any() else scores,
        hard=hard,
        beyond=_beyond(oracle, samples, random),
        cycle=_cycle(oracle, samples, random),
        ghost=_ghost(oracle),
        dilution=shares,
        strength=strength,
        explained=_explained(oracle, scores, samples, random),
        queries=oracle.queries,
    )
    if has_weight.mean() < 0.5:
        number = has_weight.sum()
        message = f"classify: found a weight for {number} of {len(tokens)} tokens"
        warnings.warn(f"{message}; {found.verdict}", stacklevel=2)
    return found


class _Oracle:
    """The classifier as a function of sequences of token ids, which counts its queries.

    The attribute `values` contains the output for each token alone, (V,), and `order`
    sorts the tokens by these values.
    """

    def __init__(
        self, classify: Classify, tokens: Sequence[str], join: str | None
    ) -> None:
        self.classify = classify
        self.tokens = tokens
        self.join = join
        self.queries = 0
        self.values = self([[s] for s in range(len(tokens))])
        self.order = self.values.argsort(kind="stable")

    def __call__(self, sequences: Sequence[Sequence[int]]) -> np.ndarray:
        texts: list[Any] = [[self.tokens[s] for s in ids] for ids in sequences]
        if self.join is not None:
            texts = [self.join.join(words) for words in texts]
        self.queries += len(texts)
        found = np.empty(0)
        for start in range(0, len(texts), GROUP):
            part = texts[start : start + GROUP]
            logits = np.asarray(self.classify(part), dtype=np.float64)
            is_of_texts = logits.shape == (len(part),)
            if not (is_of_texts and np.isfinite(logits).all()):
                got = "nan or inf" if is_of_texts else f"shape {logits.shape}"
                wanted = f"finite numbers of shape ({len(part)},), one per text"
                raise ValueError(f"classify: expected {wanted}, got {got}")
            found = np.append(found, logits)
        return found


def log_ratio(of_pair: Any, of_one: Any, of_other: Any) -> np.ndarray:
    """Return a_s - a_t from the output f for the pair s, t and the values b_s and b_t.

    The arguments are f, b_s and b_t. With attention, f = (w_s b_s + w_t b_t) / (w_s +
    w_t), and therefore a_s - a_t = log((b_t - f) / (f - b_s)). The result is infinite
    if f equals only one of the values, and nan if f equals both or is not between them.
    """
    f = np.asarray(of_pair, dtype=np.float64)
    above = np.asarray(of_other, dtype=np.float64) - f
    below = f - np.asarray(of_one, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(above) / np.abs(below)
        is_between = above * below >= 0
        return np.where(is_between, np.log(ratio), np.nan)


def _scores(oracle: _Oracle) -> tuple[np.ndarray, float]:
    """Return log-weights and the share of hard pairs, from one pair per token.

    Each token is paired with the token that has the smallest or the largest value,
    whichever is farther from its own value. A pair is hard if f equals one of its two
    values.
    """
    values = oracle.values
    low = int(values.argmin())
    high = int(values.argmax())
    each = np.arange(len(values))
    from_low = values - values[low]
    from_high = values[high] - values
    near_low = from_low < from_high
    partner = np.where(near_low, high, low)
    sent = np.stack([each, partner], axis=1)
    f = oracle(sent.tolist())
    ratio = log_ratio(f, values, values[partner])
    of_high = -ratio[low]  # its own pair: the ends with each other
    if not np.isfinite(of_high):
        of_high = 0.0  # the two halves have no common scale
    scores = np.where(near_low, ratio + of_high, ratio)
    scores[low] = 0.0
    from_own = np.abs(f - values)
    from_partner = np.abs(f - values[partner])
    nearest = np.minimum(from_own, from_partner)
    is_one_of_two = nearest <= ULPS * np.ptp(values)
    return scores, float(is_one_of_two.mean())


def _thirds(order: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the thirds of the tokens with low, middle and high values."""
    third = len(order) // 3
    low = order[:third]
    middle = order[third:-third]
    high = order[-third:]
    return low, middle, high


def _beyond(oracle: _Oracle, samples: int, random: np.random.Generator) -> float:
    """Return the share of pairs from one end with f outside the range of values."""
    values = oracle.values
    low, _, high = _thirds(oracle.order)
    half = samples // 2
    pairs = [random.choice(end, (half, 2)) for end in (low, high)]
    s, t = np.concatenate(pairs).T
    differ = s != t
    sent = np.stack([s[differ], t[differ]], axis=1)
    f = oracle(sent.tolist())
    of_pair = values[sent]
    least = of_pair.min(axis=1)
    most = of_pair.max(axis=1)
    rounding = ULPS * np.ptp(values)
    is_beyond = (f < least - rounding) | (f > most + rounding)
    return float(is_beyond.mean())


def _cycle(oracle: _Oracle, samples: int, random: np.random.Generator) -> float:
    """Return the sum of log-ratios around triples of tokens, relative to one ratio.

    The sum and one log-ratio are measured by their root mean squares.
    """
    values = oracle.values
    low, middle, high = _thirds(oracle.order)
    s = random.choice(low, samples)
    t = random.choice(middle, samples)
    u = random.choice(high, samples)
    pairs = (s, t), (t, u), (u, s)
    ratios = []
    for one, other in pairs:
        sent = np.stack([one, other], axis=1)
        f = oracle(sent.tolist())
        ratios.append(log_ratio(f, values[one], values[other]))
    around = np.stack(ratios)
    is_known = np.isfinite(around).all(axis=0)
    if not is_known.any():
        return math.nan
    around = around[:, is_known]
    size = _root_mean_square(around)
    left = _root_mean_square(around.sum(axis=0))
    return left / max(size, ROUNDING)


def _root_mean_square(numbers: np.ndarray) -> float:
    squares = np.square(numbers)
    return float(np.sqrt(squares.mean()))


def _ghost(oracle: _Oracle) -> float:
    """Return the weight of an extra token in every text, relative to a strong token.

    We determine it from repetitions of strong tokens.

    Let r be the weight of the strong token divided by the weight of the extra token.
    The output f_k for k repetitions differs from its limit by an amount proportional to
    1 / (1 + k r). Therefore (f_4 - f_2) / (f_2 - f_1) = 2 (1 + r) / (1 + 4 r).
    """
    values = oracle.values
    ends = np.concatenate([oracle.order[:STRONG], oracle.order[-STRONG:]])
    strong = ends.tolist()
    once = values[strong]
    twice = oracle([2 * [s] for s in strong])
    four = oracle([4 * [s] for s in strong])
    change = twice - once
    if np.median(np.abs(change)) <= 10 * ULPS * np.ptp(values):
        return 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (four - twice) / change
        weight = (4 * ratio - 2) / (2 - ratio)
    weight[ratio >= 2 - ROUNDING] = math.inf
    weight[ratio <= 0.5] = math.nan
    if np.isnan(weight).mean() > 0.5:
        return math.nan
    return float(np.nanmedian(weight))


def _diluted(oracle: _Oracle, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return shares and log-weights of strong tokens next to several neutral tokens.

    We also query the neutral tokens without the strong token, which gives f_rest. With
    attention, the odds (f - f_rest) / (b_s - f) equal w_s divided by the sum of the
    neutral tokens' weights.
    """
    values = oracle.values
    low = oracle.order[:STRONG]
    high = oracle.order[::-1][:STRONG]
    strong = np.concatenate([low, high])
    from_middle = np.abs(values - np.median(values))
    neutral = from_middle.argsort(kind="stable")
    has_weight = np.isfinite(scores[neutral])
    is_strong = np.isin(neutral, strong)
    neutral = neutral[has_weight & ~is_strong]
    if not neutral.size:
        unknown = np.full(len(DILUTIONS), math.nan)
        return unknown, unknown
    n_neutral = STRONG + max(DILUTIONS)
    neutral = np.resize(neutral, n_neutral).tolist()  # again, if few
    common = float(np.mean(scores[neutral]))
    shares, weights = [], []
    for count in DILUTIONS:
        rests = [neutral[start : start + count] for start in range(STRONG)]
        texts = [[s, *rest] for s in strong.tolist() for rest in rests]
        f = oracle(texts)
        of_each_rest = oracle(rests)
        f_rest = np.tile(of_each_rest, len(strong))
        b = np.repeat(values[strong], STRONG)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (f - f_rest) / (b - f_rest)
        total = [np.logaddexp.reduce(scores[rest]) - common for rest in rests]
        of_rests = np.tile(total, len(strong))
        weight = log_ratio(f, b, f_rest) + of_rests
        weight[share >= 1] = math.inf  # nothing is lost: as of an endless weight
        weight[share <= 0] = -math.inf
        shares.append(np.median(share))
        middle = len(weight) // 2
        weights.append(np.sort(weight)[middle])  # a median, of infinities, too
    return np.array(shares), np.array(weights)


def _explained(
    oracle: _Oracle, scores: np.ndarray, samples: int, random: np.random.Generator
) -> float:
    """Return the share of f's variance on new sequences that `average` explains."""
    known = np.flatnonzero(np.isfinite(scores))
    if len(known) < 3 * STRONG:
        return math.nan
    sizes = random.integers(2, 9, samples)
    sequences = [random.choice(known, size).tolist() for size in sizes]
    f = oracle(sequences)
    expected = [average(oracle.values[ids], scores[ids]) for ids in sequences]
    missed = np.square(f - expected)
    return float(1 - missed.mean() / f.var())


def average(values: np.ndarray, scores: np.ndarray) -> float:
    """Return sum w b / sum w with w = exp(a), for values b (k,) and scores a (k,)."""
    return float(softmax(scores) @ values)
