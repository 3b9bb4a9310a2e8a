"""Film reviews that are generated from a grammar, with statistics known in advance.

A review consists of an opening, of sentences of opinion mixed with neutral sentences,
and of a closing. Only the opinion word of a sentence depends on the label. It is drawn
with weights that depend on the class. Class k of K has the position t_k; the positions
are evenly spaced from -1 to 1. Half of the weight of a word of strength s is divided
between the two classes whose positions are next to s, and the nearer class receives
more of it. The other half is divided among all classes in proportion to 1 + s t_k.
For K = 2 both rules agree, and the lean of a word that is never negated equals its
strength, apart from chance. A small share of the opinions is "not" followed by a word
of the opposite class. As in real reviews, a model that ignores word order
misunderstands such an opinion. The words and sentences are in `reviews.json`.
"""

import json
import re
from bisect import bisect_right
from functools import cache
from importlib import resources
from itertools import accumulate

import numpy as np

NEGATION = 0.04  # share of the opinions that are written as "not" and the opposite
OPINIONS = range(2, 9)  # numbers of opinions in a review, equally likely
TALK = range(5)  # numbers of neutral sentences, equally likely
ABSOLUTE = 0.35  # share of the opinions that use a word of one side only
NEGATED_UP_TO = 0.65  # stronger words are never negated

# The words of opinion by strength and side, the sentences by kind, and what may fill
# their slots; the words of a list from frequent to rare.
GRAMMAR = json.loads((resources.files(__package__) / "reviews.json").read_text("utf-8"))
ZIPF = list(accumulate(1 / (rank + 3) for rank in range(99)))  # weights, cumulated
SLOT = re.compile(r"\{(\w+)\}")


@cache
def _lexicon() -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the opinion words, their strengths and their base weights, (W,) each.

    Each positive word has a negative counterpart of equal weight and opposite strength,
    so the classes have the same total weight. Within a list of words the strength
    decreases slightly.
    """
    words, strengths, weights = [], [], []
    bands = GRAMMAR["opinions"]
    for band in bands:
        strength = band["strength"]
        share = (1 - ABSOLUTE) / (len(bands) - 1)
        fall = 0.1  # of the strength within a list
        if strength == 1:
            share = ABSOLUTE
            fall = 0.0
        for sign, side in ((1, "positive"), (-1, "negative")):
            listed = band[side]
            rank = np.arange(len(listed))
            place = (rank + 0.5) / len(rank) - 0.5
            zipf = 1 / (rank + 3)
            words += listed
            strengths.append(sign * (strength - fall * place))
            weights.append(share * zipf / zipf.sum())
    return words, np.concatenate(strengths), np.concatenate(weights)


@cache
def _rates(classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities (K, W) of words in plain and in negated opinions."""
    _, strength, weight = _lexicon()
    position = np.linspace(-1, 1, classes)[:, None]
    distance = np.abs(position - strength)
    near = 1 - distance * (classes - 1) / 2
    shared = np.maximum(near, 0)
    spread = (1 + position * strength) / classes
    plain = weight * (shared + spread) / 2
    is_weak = np.abs(strength) < NEGATED_UP_TO
    negated = np.where(is_weak, plain[::-1], 0.0)
    return _shares(plain), _shares(negated)


def _shares(weight: np.ndarray) -> np.ndarray:
    """Return weights (K, W), normalized to a sum of one for each class."""
    total = weight.sum(axis=1, keepdims=True)
    return weight / total


def _cumulated(rates: np.ndarray) -> list[list[float]]:
    """Return the cumulative sums of rates (K, W), one list per class, for `bisect`."""
    return [list(accumulate(row)) for row in rates]


def generate_reviews(
    n: int,
    *,
    classes: int = 2,
    seed: int = 0,
    stream: int = 0,
    negation: float = NEGATION,
) -> tuple[list[str], list[int]]:
    """Generate n film reviews of 25 to 170 tokens with balanced classes.

    For a given `seed`, at least 0, the reviews are the same on every machine. Another
    `stream` gives independent reviews for the same seed. A share `negation` of the
    opinions is written as "not" followed by a word of the opposite class.

    Returns:
        The n reviews and their n labels. The label of review i is i mod K, from 0 for
        the worst class to K-1 for the best class, with K = `classes`, at least 2.
    """
    # No other function of numpy is used, so a seed gives the same under any version.
    uniform = np.random.Generator(np.random.PCG64([seed, stream, classes])).random
    words, _, _ = _lexicon()
    plain_rates, negated_rates = _rates(classes)
    plain = _cumulated(plain_rates)
    negated = _cumulated(negated_rates)

    def choose(options: list[str], weights: list[float] = ZIPF) -> str:
        total = weights[len(options) - 1]
        place = bisect_right(weights, uniform() * total)
        return options[place]

    def number(options: range) -> int:
        place = int(uniform() * len(options))
        return options[place]

    def opinion(label: int) -> str:
        if uniform() < negation:
            opposite = choose(words, negated[label])
            return f"not {opposite}"
        return choose(words, plain[label])

    def write(kind: str, label: int) -> str:
        def fill(slot: re.Match[str]) -> str:
            name = slot[1]
            if name == "opinion":
                return opinion(label)
            return choose(GRAMMAR["slots"][name])

        pattern = choose(GRAMMAR["sentences"][kind])
        sentence = SLOT.sub(fill, pattern)
        return sentence[0].upper() + sentence[1:]

    texts = []
    labels = [i % classes for i in range(n)]
    for label in labels:
        opinions = ["opinion"] * number(OPINIONS)
        talk = ["talk"] * number(TALK)
        body = opinions + talk
        body.sort(key=lambda _: uniform())
        kinds = ["opening", *body, "closing"]
        sentences = [write(kind, label) for kind in kinds]
        texts.append(" ".join(sentences))
    return texts, labels
