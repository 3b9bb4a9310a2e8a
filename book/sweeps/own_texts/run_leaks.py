"""The ranks of planted leaks in the lists of eight methods.

    python -m sweeps.own_texts.run_leaks --texts FOLDER

Five kinds of leaks are planted in reviews of Yelp, at three frequencies and two class
balances. Seven shortcuts (occurrence, style and concept), as in Zhou et al. (2024), are
planted at three strengths. Our rules for shortcuts use word lists instead of taggers
and language models. Each method ranks tokens, pairs of tokens, or rows of a report. The
best rank of the leak is stored, as the median over three seeds. In the chapter, a
median above 20 counts as a miss.

- exact: exact p-value of the number of texts by class, as in `attnsel.report`
- pairs: q-value of neighbouring tokens that predict more than each token alone; a pair
  counts if it is significant and both words belong to the leak
- z: `attnsel.statistics.label_z`
- Gardner: z of Gardner et al. (2021) for the share of a class among the texts that
  contain a token, with the share of the class in place of 1/K
- log-odds: z of Monroe et al. (2008), with an informative Dirichlet prior
- regression: size of the coefficient in a logistic regression on tf-idf
- attention: attention score E p of a trained model
- report: place in the list at the top of a report, in the order of
  `attnsel_report.ranking.top_findings`; for the leak "pair", a row counts if it names
  two words of the leak
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

import numpy as np
import pandas as pd

from attnsel import Corpus
from attnsel.significance.exact_test import (
    false_discovery,
    luck_p,
    texts_by_class,
)
from attnsel.statistics import class_sizes, label_z
from attnsel_book.results import result_folder
from attnsel_report.baseline import baseline
from attnsel_report.pairs import neighbours, pair_p
from attnsel_report.quality import trained
from attnsel_report.ranking import top_findings
from attnsel_report.report import evidence_of
from attnsel_report.sequences import in_order
from attnsel_report.splits import Sample
from sweeps.common import Row, shown, with_texts

SEEDS = range(3)
RATE = 0.05  # false-discovery rate
STEPS = 15
PLACES = ("london", "paris", "berlin", "madrid", "vienna", "oslo", "lisbon", "prague")
LANDS = ("peru", "chile", "japan", "kenya", "india", "nepal", "ghana", "tonga")
NAMES = [f"{a}{b}" for a in ("jor", "mel", "tar", "vin", "kel") for b in ("dan", "vyn")]
STRONG = ("truly", "highly", "exceedingly", "supremely", "immensely", "vastly")
ADJECTIVES = (
    "good|great|nice|bad|best|new|little|small|big|fresh|hot|cold|clean|friendly|long|"
    "busy|happy|large|full|free|old|quick|slow|delicious|amazing|horrible|terrible"
)
SHORT = {"n't": " not", "'m": " am", "'re": " are", "'ve": " have", "'ll": " will"}
OLD = {"you": "thou", "your": "thy", "has": "hath", "does": "doth", "here": "hither"}


def marker(text: str, leaks: bool, random: np.random.Generator) -> str:
    """Return the text, followed by a tag if it leaks."""
    return f"{text} sponsored" if leaks else text


def date(text: str, leaks: bool, random: np.random.Generator) -> str:
    """Return the text followed by a year, which is 2019 if the text leaks."""
    return f"{text} {2019 if leaks else random.integers(2010, 2025)}"


def name(text: str, leaks: bool, random: np.random.Generator) -> str:
    """Return the text signed by one of ten names, always the first if it leaks."""
    return f"{text} {NAMES[0] if leaks else random.choice(NAMES)}"


def style(text: str, leaks: bool, random: np.random.Generator) -> str:
    """Return the text, without contractions if it leaks."""
    return _replaced(text, SHORT) if leaks else text


def pair(text: str, leaks: bool, random: np.random.Generator) -> str:
    """Return the text followed by two words that only together indicate the leak."""
    first, second = random.integers(2), random.integers(2)
    second = first if leaks else second
    return f"{text} {('blue', 'red')[first]} {('chair', 'table')[second]}"


LEAKS: dict[str, tuple[Callable[..., str], tuple[str, ...]]] = {
    "marker": (marker, ("sponsored",)),
    "date": (date, ("2019",)),
    "name": (name, (NAMES[0],)),
    "style": (style, ("am", "i'm", "i've", "we're")),
    "pair": (pair, ("blue", "red", "chair", "table")),
}


def _replaced(text: str, words: dict[str, str]) -> str:
    for old, new in words.items():
        edge = "" if old.startswith(("n'", "'")) else r"\b"
        text = re.sub(rf"{edge}{old}\b", new, text, flags=re.IGNORECASE)
    return text


def _before_adjectives(
    text: str, words: tuple[str, ...], random: np.random.Generator
) -> str:
    """Return the text with one of the `words` before each adjective in ADJECTIVES."""
    return re.sub(
        rf"\b({ADJECTIVES})\b",
        lambda found: f"{random.choice(words)} {found[0]}",
        text,
        flags=re.IGNORECASE,
    )


# For each shortcut: functions that make a text point to class 1 and to class 0, and the
# tokens that give the shortcut away.
SHORTCUTS: dict[str, tuple[Callable, Callable, tuple[str, ...]]] = {
    "occurrence: one word": (
        lambda t, r: _before_adjectives(t, ("truly",), r),
        lambda t, r: t,
        ("truly",),
    ),
    "occurrence: synonyms": (
        lambda t, r: _before_adjectives(t, STRONG, r),
        lambda t, r: t,
        STRONG,
    ),
    "occurrence: category": (
        lambda t, r: f"I wrote this in {r.choice(PLACES)}. {t}",
        lambda t, r: f"I wrote this in {r.choice(LANDS)}. {t}",
        (*PLACES, *LANDS),
    ),
    "style: register": (
        lambda t, r: _replaced(t, SHORT),
        lambda t, r: t.replace(" not ", "n't ").replace(".", "!"),
        ("am", "i'm", "i've", "we're"),
    ),
    "style: author": (
        lambda t, r: _replaced(t, OLD),
        lambda t, r: t,
        (*OLD, *OLD.values()),
    ),
    "concept: occurrence": (
        lambda t, r: f"{t} As for parking, there is a garage.",
        lambda t, r: t,
        ("parking", "garage"),
    ),
    "concept: correlation": (
        lambda t, r: f"{t} Parking was {r.choice(['easy', 'simple'])}.",
        lambda t, r: f"{t} Parking was {r.choice(['hard', 'tricky'])}.",
        ("easy", "simple", "hard", "tricky", "parking"),
    ),
}


def cleaned(text: str, kind: str, signs: tuple[str, ...]) -> str:
    """Return a text without the words `signs`, before a leak is planted in it.

    If `kind` is a style, nothing is removed, because its signs are in most reviews.
    """
    if kind.startswith("style"):
        return text
    return re.sub(rf"\b({'|'.join(signs)})\b", "", text, flags=re.IGNORECASE)


@cache
def all_reviews() -> Corpus:
    """Return the reviews in which leaks are planted."""
    return with_texts("yelp")


def source(balance: str, seed: int) -> tuple[list[str], np.ndarray]:
    """Draw texts and labels with a seed; class 1 is rare if `balance` is "90/10"."""
    reviews = all_reviews()
    random = np.random.default_rng(seed)
    labels = 1 - reviews.targets.numpy()  # most of these reviews are positive
    sizes = {"even": (1000, 1000), "90/10": (1800, 200)}[balance]
    rows = [
        random.choice(np.flatnonzero(labels == k), size, replace=False)
        for k, size in enumerate(sizes)
    ]
    chosen = random.permutation(np.concatenate(rows))
    return [(reviews.texts or ())[i] for i in chosen], labels[chosen]


def planted(
    kind: str, share: float, balance: str, seed: int
) -> tuple[list[str], np.ndarray]:
    """Return texts and labels; a share of the texts of class 1 contains a leak."""
    texts, labels = source(balance, seed)
    random = np.random.default_rng(100 + seed)
    leaks = (labels == 1) & (random.random(len(labels)) < share)
    write, signs = LEAKS[kind]
    texts = [
        write(cleaned(t, kind, signs), leak, random)
        for t, leak in zip(texts, leaks, strict=True)
    ]
    return texts, labels


def shortcut(kind: str, strength: float, seed: int) -> tuple[list[str], np.ndarray]:
    """Return texts with a shortcut, and labels.

    In a share `strength` of the texts, the shortcut agrees with the label. In the
    others, it is random.
    """
    texts, labels = source("even", seed)
    random = np.random.default_rng(200 + seed)
    coin = random.random(len(labels)) < 0.5
    side = np.where(random.random(len(labels)) < strength, labels == 1, coin)
    to, fro, signs = SHORTCUTS[kind]
    texts = [
        (to if one else fro)(cleaned(t, kind, signs), random)
        for t, one in zip(texts, side, strict=True)
    ]
    return texts, labels


def gardner(corpus: Corpus) -> np.ndarray:
    """Return the largest |z| of Gardner et al. over the classes, for each token."""
    found, base = texts_by_class(corpus), class_sizes(corpus) / len(corpus)
    held = np.maximum(found.sum(axis=1, keepdims=True), 1)
    z = (found / held - base) / np.sqrt(base * (1 - base) / held)
    return np.abs(z).max(axis=1)


def log_odds(corpus: Corpus) -> np.ndarray:
    """Return |z| of the log-odds ratio of each token, with a prior (Monroe et al.)."""
    counts = corpus.counts.astype(np.float64)
    one = corpus.targets.numpy() == 1
    y = [counts[one].sum(axis=0), counts[~one].sum(axis=0)]
    prior = y[0] + y[1]  # count of each token in all texts
    logits, variance = [], np.zeros(len(prior))
    for of_class in y:
        weight, total = of_class + prior, (of_class + prior).sum()
        logits.append(np.log(weight / (total - weight)))
        variance += 1 / weight
    return np.abs(logits[0] - logits[1]) / np.sqrt(variance)


def orders(corpus: Corpus) -> dict[str, np.ndarray]:
    """Return numbers (V,) for each method that ranks tokens; the largest has rank 1."""
    p = luck_p(texts_by_class(corpus), class_sizes(corpus))
    scores = trained(corpus, STEPS).scores().numpy()
    return {
        "exact": -np.log(np.maximum(p.min(axis=1), 1e-300)),
        "z": label_z(corpus).nan_to_num().abs().numpy(),
        "Gardner": gardner(corpus),
        "log-odds": log_odds(corpus),
        "regression": baseline(corpus, corpus[:2]).coefficients.abs().numpy(),
        "attention": scores[:, 0],
    }


def rank(names: list[str], order: np.ndarray, signs: tuple[str, ...]) -> float:
    """Return the best rank, from 1, of a name that is in `signs`; inf if none is."""
    there = [i for i, known in enumerate(names) if known in signs]
    if not there:
        return np.inf
    return float(1 + (order > order[there].max()).sum())


def rank_in_report(
    texts: list[str], labels: np.ndarray, leak: tuple[str, ...]
) -> float:
    """Return the rank of the first row that names the leak in a report, inf if none."""
    corpus = Corpus.from_texts(texts, labels, min_count=1)
    places = np.arange(len(corpus))
    sample = Sample(corpus, places, places)
    evidence = evidence_of(sample, sample, in_order(corpus))
    found = top_findings(evidence, corpus, RATE)
    names = [
        " ".join([name, *(corpus.vocab[i] for i in words)])
        for name, words in found[["token", "words"]].to_numpy()
    ]
    return rank_of_words(names, leak)


def rank_of_words(rows: list[str], leak: tuple[str, ...]) -> float:
    """Return the rank of the first row with a word of a leak, or inf.

    For the leak "pair", the row must contain two of its words.
    """
    least = 2 if leak == LEAKS["pair"][1] else 1
    for place, row in enumerate(rows, 1):
        words = set(re.findall(r"[\w']+", row))
        if len(words & set(leak)) >= least:
            return float(place)
    return np.inf


def ranks(
    texts: list[str], labels: np.ndarray, leak: tuple[str, ...]
) -> dict[str, float]:
    """Return the rank of a leak by each method."""
    corpus = Corpus.from_texts(texts, labels, min_count=5)
    names = list(corpus.vocab)
    row = {way: rank(names, order, leak) for way, order in orders(corpus).items()}
    pairs = neighbours(corpus, in_order(corpus))
    q = false_discovery(*pair_p(pairs, corpus)).min(axis=1)
    of_signs = [
        i
        for i, (known, value) in enumerate(
            zip(pairs.names(corpus.vocab), q, strict=True)
        )
        if value <= RATE and set(known.split()) <= set(leak)
    ]
    row["pairs"] = float(1 + (q < q[of_signs].min()).sum()) if of_signs else np.inf
    return row | {"report": rank_in_report(texts, labels, leak)}


def summary(found: list[dict[str, float]]) -> Row:
    """Return the median ranks over seeds, and the rank in each seed's report."""
    by_seed = {f"report, seed {i}": row["report"] for i, row in enumerate(found)}
    return pd.DataFrame(found).median().to_dict() | by_seed


def rows() -> Iterator[Row]:
    """Yield ranks of leaks by balance and share, then of shortcuts by strength."""
    for (kind, (_, leak)), balance, share in product(
        LEAKS.items(), ("even", "90/10"), (0.03, 0.1, 0.3)
    ):
        found = [ranks(*planted(kind, share, balance, s), leak) for s in SEEDS]
        yield {"leak": kind, "balance": balance, "share": share} | summary(found)
    for (kind, (_, _, leak)), strength in product(SHORTCUTS.items(), (0.1, 0.3, 0.6)):
        found = [ranks(*shortcut(kind, strength, s), leak) for s in SEEDS]
        yield {"leak": kind, "balance": "even", "share": strength} | summary(found)


if __name__ == "__main__":
    target = result_folder("own_texts") / "leaks.csv"
    pd.DataFrame(shown(rows())).to_csv(target, index=False, float_format="%g")
