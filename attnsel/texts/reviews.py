"""Film reviews from a grammar of ours, with statistics known in advance.

A review is an opening, some sentences of opinion among neutral talk, and a closing.
Only the word of opinion in a sentence depends on the label. Class k of K sits at t_k,
evenly spaced from -1 to 1. Half of the occurrences of a word of strength s are shared
by the two classes on either side of s, the nearer taking more; the other half is
spread in proportion to 1 + s t_k. With K = 2 both come to the same, and the difference
P(1|s) - P(0|s) of a word that is never negated is exactly its strength. Now and then
a word of the opposite class stands behind "not": what it says then is lost on a model
that does not see order, as in real reviews. The words and sentences are `reviews.json`.
"""

import json
import re
from bisect import bisect_right
from functools import cache
from importlib import resources
from itertools import accumulate

import numpy as np

NEGATION = 0.04  # share of the opinions that are said as "not" and the opposite
OPINIONS = range(2, 9)  # numbers of opinions in a review, equally likely
TALK = range(5)  # numbers of neutral sentences, equally likely
ABSOLUTE = 0.35  # share of the opinions that use a word of one side only
NEGATED_UP_TO = 0.65  # stronger words are never negated

# The words of opinion by strength and side, the sentences by kind, and what may fill
# their slots; the words of a list from frequent to rare.
GRAMMAR = json.loads((resources.files(__package__) / "reviews.json").read_text("utf-8"))
ZIPF = list(accumulate(1 / (rank + 3) for rank in range(99)))  # weights, cumulated


@cache
def _lexicon() -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the words of opinion, their strengths and their base weights, (W,) each.

    Positive and negative words come in pairs of equal weight and opposite strength,
    so the classes weigh the same. Within a list the strength falls a little.
    """
    words, strength, weight = [], [], []
    bands = GRAMMAR["opinions"]
    for band in bands:
        absolute = band["strength"] == 1
        share = ABSOLUTE if absolute else (1 - ABSOLUTE) / (len(bands) - 1)
        for sign, side in ((1, "positive"), (-1, "negative")):
            rank = np.arange(len(band[side]))
            drop = (not absolute) * ((rank + 0.5) / len(rank) - 0.5)
            zipf = 1 / (rank + 3)
            words += band[side]
            strength.append(sign * (band["strength"] - 0.1 * drop))
            weight.append(share * zipf / zipf.sum())
    return words, np.concatenate(strength), np.concatenate(weight)


@cache
def _rates(classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability (K, W) of each word in a plain and a negated opinion."""
    _, strength, weight = _lexicon()
    position = np.linspace(-1, 1, classes)[:, None]
    near = 1 - np.abs(position - strength) * (classes - 1) / 2
    plain = weight * (np.maximum(near, 0) + (1 + position * strength) / classes) / 2
    negated = plain[::-1] * (np.abs(strength) < NEGATED_UP_TO)
    return plain / plain.sum(1)[:, None], negated / negated.sum(1)[:, None]


def expected_counts(classes: int = 2) -> dict[str, np.ndarray]:
    """Return how often each word of opinion is expected in one review of each class.

    With c = expected_counts()[word], its average signed frequency over balanced
    reviews is (c[1] - c[0]) / 2 and its posterior difference
    P(1|s) - P(0|s) = (c[1] - c[0]) / (c[1] + c[0]). Other tokens tell nothing of
    the label.

    For K = `classes`, at least 2, each word has a float64 array (K,).
    """
    plain, negated = _rates(classes)
    rate = (1 - NEGATION) * plain + NEGATION * negated
    counts = rate * (sum(OPINIONS) / len(OPINIONS))
    return dict(zip(_lexicon()[0], counts.T, strict=True))


def generate_reviews(
    n: int,
    *,
    classes: int = 2,
    seed: int = 0,
    stream: int = 0,
    negation: float = NEGATION,
) -> tuple[list[str], list[int]]:
    """Write n film reviews of 25 to 170 tokens, balanced by class, with their labels.

    The label of review i is i mod K, from 0 for the worst to K-1 for the best; K =
    `classes` is at least 2. The reviews of a seed, at least 0, are the same on every
    machine; another stream gives an independent draw of the same seed.
    A share `negation` of the opinions is said as "not" and the opposite.
    """
    # Nothing else is asked of numpy, so a seed gives the same under any version.
    uniform = np.random.Generator(np.random.PCG64([seed, stream, classes])).random
    words = _lexicon()[0]
    plain, negated = ([list(accumulate(row)) for row in p] for p in _rates(classes))
    sentences, slots = GRAMMAR["sentences"], GRAMMAR["slots"]

    def choose(options: list[str], weights: list[float] = ZIPF) -> str:
        return options[bisect_right(weights, uniform() * weights[len(options) - 1])]

    def number(options: range) -> int:
        return options[int(uniform() * len(options))]

    def write(kind: str, label: int) -> str:
        def fill(slot: re.Match[str]) -> str:
            if slot[1] != "opinion":
                return choose(slots[slot[1]])
            if uniform() < negation:
                return "not " + choose(words, negated[label])
            return choose(words, plain[label])

        sentence = re.sub(r"\{(\w+)\}", fill, choose(sentences[kind]))
        return sentence[0].upper() + sentence[1:]

    texts = []
    labels = [i % classes for i in range(n)]
    for label in labels:
        body = ["opinion"] * number(OPINIONS) + ["talk"] * number(TALK)
        body.sort(key=lambda _: uniform())
        kinds = ["opening", *body, "closing"]
        texts.append(" ".join(write(kind, label) for kind in kinds))
    return texts, labels
