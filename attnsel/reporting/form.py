"""Leaks outside words: how texts begin and end, what kinds of things stand in them.

Of texts one by one, so give one of each group.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd
import scipy
from scipy.sparse import csr_array, hstack

from attnsel.corpus import Corpus
from attnsel.evidence.luck import tested
from attnsel.reporting.evidence import LEAST_TEXTS, trait_table
from attnsel.reporting.leaks import LONGEST
from attnsel.reporting.pairs import InOrder
from attnsel.reporting.splits import Sample
from attnsel.statistics import class_sizes

EDGES = (1, 2, 5)  # tokens at either end of a text that are looked at together
LAST_LETTER = 0x3100  # of alphabets with capitals, and the punctuation of the others
CHUNK = 20_000  # texts whose letters are counted at a time
# What may stand in a text: a letter or sign without which it cannot, and a pattern.
KINDS: dict[str, tuple[str, str]] = {
    "a number": ("", r"\d"),
    "a year": ("", r"\b(?:19|20)\d\d\b"),
    "a date": ("", r"\b\d{1,4}[-./]\d{1,2}[-./]\d{2,4}\b"),
    "a time": (":", r"\b\d{1,2}:\d\d\b"),
    "a sum of money": ("", r"[$€£¥]\s?\d|\d\s?[$€£¥]"),
    "a share of something": ("/", r"\b\d+(?:\.\d+)?\s?/\s?\d+\b"),
    "a link": (".", r"(?i)https?://|\bwww\."),
    "an e-mail address": ("@", r"\S@\w+\.\w"),
    "a name with @ or #": ("", r"(?:^|\s)[@#]\w"),
    "markup": ("<", r"</?[a-zA-Z][^<>]*>|&[a-z]+;"),
    "a contraction": ("'", r"\w'\w"),
    "a word in capitals": ("", r"\b[A-Z]{3,}\b"),
    "repeated signs": ("", r"[!?]{2,}|\.{3,}|\*{2,}"),
    "a line break": ("\n", r"\n"),
}
MEASURES = {
    "length": "tokens",
    "length in letters": "characters",
    "capitals": "% of the letters",
    "digits": "% of the characters",
    "punctuation": "% of the characters",
}


def form_table(
    train: Sample, test: Sample, order: InOrder, again: InOrder
) -> pd.DataFrame:
    """Return a row for each kind of thing in texts, and for each beginning and end.

    `order` and `again` are the tokens of both in their order. Columns are those of the
    table of tokens.
    """
    names, holds = _traits(train.corpus, order)
    known, held = _traits(test.corpus, again)
    often = np.flatnonzero(holds.sum(axis=0) >= LEAST_TEXTS)
    kept = [names[i] for i in often]
    return trait_table(train, test, kept, holds[:, often], _chosen(held, known, kept))


def _chosen(holds: csr_array, names: list[str], wanted: list[str]) -> csr_array:
    """Return the columns of some names, in their order; zero where there is none."""
    empty = csr_array((holds.shape[0], 1))
    place = {name: i for i, name in enumerate(names)}
    columns = [place.get(name, len(names)) for name in wanted]
    return csr_array(hstack([holds, empty], format="csr")[:, columns])


def _traits(corpus: Corpus, order: InOrder) -> tuple[list[str], csr_array]:
    """Return names of what texts have, and which text has which, (n, P) of ones."""
    names = list(KINDS)
    blocks = [_kinds(corpus.texts or ())]
    for size in EDGES:
        for side in ("begins", "ends"):
            phrases, holds = _edges(corpus, order, size, side)
            names += [f"{side} with “{phrase}”" for phrase in phrases]
            blocks.append(holds)
    return names, csr_array(hstack(blocks, format="csr"))


def _kinds(texts: Sequence[str]) -> csr_array:
    """Return which texts hold which of KINDS, (n, kinds) of ones."""
    table = np.zeros((len(texts), len(KINDS)))
    for column, (sign, pattern) in enumerate(KINDS.values()):
        search = re.compile(pattern).search
        for row, text in enumerate(texts):
            table[row, column] = sign in text and search(text[:LONGEST]) is not None
    return csr_array(table)


def _edges(
    corpus: Corpus, order: InOrder, size: int, side: str
) -> tuple[list[str], csr_array]:
    """Return how texts begin or end, and which does so; of texts of more tokens."""
    ends = np.cumsum(order.sizes) - 1
    rows = np.flatnonzero(order.sizes > size + 1)
    first = ends[rows] - size
    if side == "begins":
        first = ends[rows] - order.sizes[rows] + 1
    ids = order.ids[first[:, None] + np.arange(size)]
    known, places = np.unique(ids, axis=0, return_inverse=True)
    phrases = [" ".join(corpus.vocab[i] for i in phrase) for phrase in known.tolist()]
    ones = np.ones(len(rows))
    shape = len(corpus), len(phrases)
    return phrases, csr_array((ones, (rows, places.ravel())), shape)


def measure_table(sample: Sample) -> pd.DataFrame:
    """Return a row for each class and each of MEASURES, those least like luck first.

    The null deals labels to texts; the test is that of Wilcoxon, Mann and Whitney in
    its normal approximation, the correction Benjamini and Hochberg's over all rows.

    class: against all others; of two classes the second.
    measure, unit: what is measured.
    median, elsewhere: of the texts of the class, and of all others.
    above: the probability that a text of the class has more of it than another one, a
        tie counted half, with the 95% interval low to high (Hanley and McNeil, 1982).
    q: the least rate of false finds at which it is beyond luck.
    """
    values = _measured(sample.corpus)
    labels = sample.corpus.targets.numpy()
    sizes = class_sizes(sample.corpus)
    rows = []
    for number in tested(np.arange(len(sizes))).tolist():
        own = labels == number
        if not 0 < sizes[number] < len(labels):
            continue
        for measure, column in zip(MEASURES, values.T, strict=True):
            row = {"class": str(sample.corpus.classes[number]), "measure": measure}
            rows.append(row | _compared(column[own], column[~own]))
    table = pd.DataFrame(rows)
    table.insert(2, "unit", table["measure"].map(MEASURES))
    table["q"] = scipy.stats.false_discovery_control(table.pop("p"))
    return table.sort_values("q", kind="stable", ignore_index=True)


def _compared(own: np.ndarray, others: np.ndarray) -> dict[str, float]:
    """Return how the values of a class compare with those of all others."""
    test = scipy.stats.mannwhitneyu(own, others, method="asymptotic")
    n, m = len(own), len(others)
    above = float(test.statistic) / (n * m)
    both = above / (2 - above)
    all_below = 2 * above**2 / (1 + above)
    within = above * (1 - above)
    spread = within + (n - 1) * (both - above**2) + (m - 1) * (all_below - above**2)
    half = 1.96 * max(spread / (n * m), 0.0) ** 0.5
    return {
        "median": float(np.median(own)),
        "elsewhere": float(np.median(others)),
        "above": above,
        "low": max(above - half, 0.0),
        "high": min(above + half, 1.0),
        "p": float(np.nan_to_num(test.pvalue, nan=1.0)),
    }


def _measured(corpus: Corpus) -> np.ndarray:
    """Return MEASURES of each text, float64 (n, measures)."""
    texts = corpus.texts or ()
    parts = [_letters(texts[i : i + CHUNK]) for i in range(0, len(texts), CHUNK)]
    characters, letters, capitals, digits, signs = np.concatenate(parts, axis=1)
    columns = [
        corpus.lengths.numpy(),
        characters,
        100 * capitals / np.maximum(letters, 1),
        100 * digits / np.maximum(characters, 1),
        100 * signs / np.maximum(characters, 1),
    ]
    return np.column_stack(columns)


def _letters(texts: Sequence[str]) -> np.ndarray:
    """Return how many characters, letters, capitals, digits and signs texts have."""
    lengths = np.array([len(text) for text in texts])
    written = "".join(texts).encode("utf-32-le", "surrogatepass")
    code = np.minimum(np.frombuffer(written, np.uint32), LAST_LETTER)
    starts = np.cumsum(lengths) - lengths
    counts = [np.add.reduceat(kind[code], starts) for kind in _categories()]
    return np.stack([lengths, *counts])


@cache
def _categories() -> list[np.ndarray]:
    """Return which characters are letters, capitals, digits and punctuation."""
    named = [unicodedata.category(chr(code)) for code in range(LAST_LETTER)]
    named.append("Lo")  # all that follow, most of them Chinese
    starts: tuple[tuple[str, ...], ...] = (("L",), ("Lu",), ("Nd",), ("P", "S"))
    return [
        np.array([name.startswith(of_kind) for name in named], np.int64)
        for of_kind in starts
    ]
