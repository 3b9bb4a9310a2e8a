"""Features of texts other than words, such as beginnings, endings and lengths.

Each text counts as one observation, so pass only one text of each group.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd
import scipy
from scipy.sparse import csr_array, hstack

from attnsel.corpus import Corpus
from attnsel.significance.exact_test import least_p, luck_p, tested
from attnsel_report.examples import LONGEST
from attnsel_report.sequences import InOrder
from attnsel_report.splits import Sample
from attnsel_report.tables import FEWEST, LEAST_TEXTS, trait_table

EDGES = (1, 2, 5)  # tokens at either end of a text that are looked at together
LAST_LETTER = 0x3100  # of alphabets with capitals, and the punctuation of the others
CHUNK = 5_000  # texts that are searched, or whose letters are counted, together
CUT = "\0"  # before and after each of the texts that are searched together
# What a text may contain. A pattern begins with the signs one of which it needs, for
# which a text is searched ten times as fast, and looks back from there. clean_text
# makes a blank of an HTML line break, and no text contains CUT.
KINDS = {
    "a number": r"\d+",
    "a year": r"(?:19|20)(?<!\w..)\d\d\b",
    "a date": r"\d(?<!\w.)\d{0,3}[-./]\d{1,2}[-./]\d{2,4}\b",
    "a time": r"\d(?<!\w.)\d?:\d\d\b",
    "a sum of money": r"[$€£¥\d](?:(?<=\d)\s?[$€£¥]|(?<!\d)\s?\d)",
    "a share of something": r"\d(?<!\w.)\d*(?:\.\d+)?\s?/\s?\d+\b",
    "a link": r"[hHwW](?i:(?<=h)ttps?://|(?<=w)(?<!\ww)ww\.)",
    "an e-mail address": r"@(?<=[^\s\0]@)\w+\.\w",
    "a name with @ or #": r"[@#](?<![^\s\0].)\w",
    "markup": r"[<&](?:(?<=<)/?[a-zA-Z][^<>\0]*>|(?<=&)[a-z]+;)",
    "a contraction": r"['’](?<=\w.)\w",
    "a typographic quote": r"[‘’“”]",
    "a word in capitals": r"[A-Z](?<!\w.)[A-Z]{2,}\b",
    "repeated signs": r"[!?.*](?:(?<=[!?])[!?]|(?<=\.)\.\.|(?<=\*)\*)",
    "a line break": r"\n",
    "a tab": r"\t",
    "a blank at the beginning": r"\0(?=\s)",
    "a blank at the end": r"\0(?<=\s\0)",
    "two blanks in a row, or HTML line breaks": r"  ",
    "a no-break or other special blank": r"[\xa0\u2000-\u200a\u202f\u205f\u3000]",
}
COMPARED = ("mean", "elsewhere", "above", "low", "high", "p", "least")
MEASURES = {
    "length": "tokens",
    "length in characters": "characters",
    "capitals": "% of the letters",
    "digits": "% of the characters",
    "punctuation": "% of the characters",
}


def form_table(
    train: Sample, test: Sample, order: InOrder, again: InOrder
) -> tuple[pd.DataFrame, csr_array]:
    """Return a table of features of texts, and a matrix that marks the texts with each.

    The features are kinds of content, beginnings and endings. The columns of the table
    are as in `trait_table`. The matrix has a row for each training text. Features in
    fewer than LEAST_TEXTS training texts are left out. `order` and `again` contain the
    tokens of `train` and of `test`.
    """
    corpora = train.corpus, test.corpus
    names = list(KINDS)
    kinds = [kinds_of(corpus.texts or ()) for corpus in corpora]
    blocks = [kinds]
    for size in EDGES:
        for side in ("begins", "ends"):
            phrases, *holds = _edges(corpora, (order, again), size, side)
            names += [f"{side} with “{phrase}”" for phrase in phrases]
            blocks.append(holds)
    holds, held = (
        csr_array(hstack(part, format="csr")) for part in zip(*blocks, strict=True)
    )
    texts = holds.sum(axis=0)
    often = np.flatnonzero(texts >= LEAST_TEXTS)
    kept = [names[i] for i in often]
    holds = holds[:, often]
    return trait_table(train, test, kept, holds, held[:, often]), holds


def kinds_of(texts: Sequence[str]) -> csr_array:
    """Mark the KINDS found in the first LONGEST characters of each text, (n, kinds)."""
    table = np.zeros((len(texts), len(KINDS)))
    patterns = [re.compile(pattern) for pattern in KINDS.values()]
    for start in range(0, len(texts), CHUNK):
        chunk = texts[start : start + CHUNK]
        beginnings = [f"{CUT}{text[:LONGEST]}{CUT}" for text in chunk]
        joined = "".join(beginnings)
        ends = np.cumsum([len(text) for text in beginnings])
        for column, pattern in enumerate(patterns):
            places = [found.start() for found in pattern.finditer(joined)]
            rows = np.searchsorted(ends, places, side="right")
            table[start + rows, column] = 1
    return csr_array(table)


def _edges(
    corpora: Sequence[Corpus], orders: Sequence[InOrder], size: int, side: str
) -> tuple[list[str], csr_array, csr_array]:
    """Return beginnings or endings, and the texts of each corpus that have them.

    A beginning or ending is a phrase of `size` tokens in texts with more tokens, and it
    occurs in at least LEAST_TEXTS texts of the first corpus.
    """
    vocab = corpora[0].vocab
    V = np.int64(len(vocab))
    edges = [_edge(order, size, side) for order in orders]
    rows, ids = zip(*edges, strict=True)
    words = np.concatenate(ids)
    code = words[:, 0]
    for column in words.T[1:]:
        code, _ = pd.factorize(code * V + column)
    codes, first, place = np.unique(code, return_index=True, return_inverse=True)
    n_learned = len(rows[0])
    learned = place[:n_learned]
    held_out = place[n_learned:]
    times = np.bincount(learned, minlength=len(codes))
    often = times >= LEAST_TEXTS
    known = words[first[often]]
    phrases = []
    for phrase in known.tolist():
        tokens = [vocab[i] for i in phrase]
        phrases.append(" ".join(tokens))
    holds = []
    for corpus, texts, columns in zip(corpora, rows, (learned, held_out), strict=True):
        shape = len(corpus), len(codes)
        ones = np.ones(len(texts))
        has_edge = csr_array((ones, (texts, columns)), shape)
        holds.append(has_edge[:, often])
    return phrases, *holds


def _edge(order: InOrder, size: int, side: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the texts with more than `size` tokens, and the first or last `size`."""
    stops = np.cumsum(order.sizes)
    rows = np.flatnonzero(order.sizes > size + 1)
    if side == "begins":
        first = stops[rows] - order.sizes[rows]
    else:
        first = stops[rows] - 1 - size
    places = first[:, None] + np.arange(size)
    return rows, order.ids[places]


def measure_table(train: Sample, test: Sample) -> pd.DataFrame:
    """Return a table that compares each class with all others by each of MEASURES.

    The null hypothesis is that the labels are random. The test is the
    Wilcoxon-Mann-Whitney test in its normal approximation. If the class, or all other
    classes together, have fewer than FEWEST texts, the test is Fisher's exact test of
    the number of texts of the class above the median of all texts. A class is left out
    if it contains none or all of the training texts or of the held-out texts. The
    columns are:

    class, class number: the class that is compared with all others. If there are two
        classes, only the second one is compared.
    measure, unit: name and unit of the measure.
    mean, elsewhere: mean over the texts of the class, and over all other texts.
    above: probability that the value of a text of the class exceeds the value of a
        text of another class, where a tie counts half.
    low, high: 95% interval of this probability (Hanley and McNeil, 1982).
    held-out: the same probability for held-out texts.
    p: p-value; least: smallest possible p-value, which is 0 for the normal
        approximation.
    id: number of the measure.
    """
    values, again = measured(train.corpus), measured(test.corpus)
    labels, labels_again = (s.corpus.targets.numpy() for s in (train, test))
    rows = []
    for number in tested(np.arange(train.corpus.n_classes)).tolist():
        is_own, is_own_again = labels == number, labels_again == number
        if len(set(is_own)) < 2 or len(set(is_own_again)) < 2:
            continue
        for i, measure in enumerate(MEASURES):
            column = again[:, i]
            held_out = _compared(column[is_own_again], column[~is_own_again])
            row = {
                "class": str(train.corpus.classes[number]),
                "class number": number,
                "measure": measure,
                "unit": MEASURES[measure],
                **_compared(values[is_own, i], values[~is_own, i]),
                "held-out": held_out["above"],
                "id": i,
            }
            rows.append(row)
    names = ["class", "class number", "measure", "unit", *COMPARED]
    return pd.DataFrame(rows, columns=[*names, "held-out", "id"])


def _compared(own: np.ndarray, others: np.ndarray) -> dict[str, float]:
    """Return a comparison of the values of a class with the values of all others."""
    test = scipy.stats.mannwhitneyu(own, others, method="asymptotic")
    n, m = len(own), len(others)
    above = float(test.statistic) / (n * m)
    both = above / (2 - above)
    all_below = 2 * above**2 / (1 + above)
    within = above * (1 - above)
    of_others = both - above**2
    of_own = all_below - above**2
    spread = within + (n - 1) * of_others + (m - 1) * of_own
    variance = max(spread / (n * m), 0.0)
    half = 1.96 * variance**0.5
    p, least = float(np.nan_to_num(test.pvalue, nan=1.0)), 0.0
    if min(n, m) < FEWEST:
        is_high = np.concatenate([own, others]) > np.median(np.append(own, others))
        found = np.array([[is_high[n:].sum(), is_high[:n].sum()]])
        of_class = np.array([m, n])
        p, least = luck_p(found, of_class).item(), least_p(found, of_class).item()
    return {
        "mean": float(own.mean()),
        "elsewhere": float(others.mean()),
        "above": above,
        "low": max(above - half, 0.0),
        "high": min(above + half, 1.0),
        "p": p,
        "least": least,
    }


def measured(corpus: Corpus) -> np.ndarray:
    """Return the values of MEASURES for each text, float64 (n, measures)."""
    texts = corpus.texts or ()
    if not texts:
        return np.zeros((0, len(MEASURES)))
    parts = [_letters(texts[i : i + CHUNK]) for i in range(0, len(texts), CHUNK)]
    characters, letters, capitals, digits, signs = np.concatenate(parts, axis=1)
    some_letters = np.maximum(letters, 1)
    some_characters = np.maximum(characters, 1)
    columns = [
        corpus.lengths.numpy(),
        characters,
        100 * capitals / some_letters,
        100 * digits / some_characters,
        100 * signs / some_characters,
    ]
    return np.column_stack(columns)


def _letters(texts: Sequence[str]) -> np.ndarray:
    """Return numbers of characters, letters, capitals, digits and signs in texts."""
    lengths = np.array([len(text) for text in texts])
    starts = np.cumsum(lengths) - lengths
    joined = "".join(texts)
    written = joined.encode("utf-32-le", "surrogatepass")
    code = np.frombuffer(written, np.uint32)
    code = np.minimum(code, LAST_LETTER)
    counts = [lengths]
    for is_of_kind in _categories():
        of_texts = np.add.reduceat(is_of_kind[code], starts, dtype=np.int64)
        counts.append(of_texts)
    return np.stack(counts)


@cache
def _categories() -> list[np.ndarray]:
    """Mark the characters that are letters, capitals, digits and punctuation."""
    categories = [unicodedata.category(chr(code)) for code in range(LAST_LETTER)]
    categories.append("Lo")  # all that follow, most of them Chinese
    starts: tuple[tuple[str, ...], ...] = (("L",), ("Lu",), ("Nd",), ("P", "S"))
    return [
        np.array([name.startswith(of_kind) for name in categories])
        for of_kind in starts
    ]
