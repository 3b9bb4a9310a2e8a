"""One list of the significant findings in all tables of a report."""

from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from scipy.sparse import csr_array, hstack

from attnsel.corpus import Corpus
from attnsel.statistics import class_sizes
from attnsel.tokens import Vocab
from attnsel_report.surface import KINDS

RANKED = 1000  # findings with the strongest evidence, which are compared
GIVEN_AWAY = 0.1  # doubt up to which a single finding precedes others
PHRASE = 3  # smallest number of merged findings that are a phrase
TOGETHER = 0.8  # smallest Jaccard index of the texts of merged findings


class Evidence(NamedTuple):
    """The tables of a report, and the texts that contain the feature of each row.

    Attributes:
        tables: the tables "tokens", "pairs", "form" and "measures", with q-values.
        contains: for each table, a csr_array (n, ids) that marks which training texts
            contain each feature, by its `id`; for "measures", all entries are 0. Only
            the first text of each group is included.
    """

    tables: dict[str, pd.DataFrame]
    contains: dict[str, csr_array]


def top_findings(evidence: Evidence, train: Corpus, rate: float) -> pd.DataFrame:
    """Return the distinct significant findings, phrases first.

    Findings of one class in nearly the same texts, such as the words of a phrase, are
    merged into one finding. Findings that held-out texts contradict are left out. At
    most RANKED findings are compared, those with the smallest q.

    Phrases are findings of several words that were merged from PHRASE or more findings.
    After the phrases come single words and kinds of content that nearly give the class
    away, with a `doubt` of at most GIVEN_AWAY. All other findings follow. Each part is
    ordered by q. For example, a phrase in 60 texts and a typographic quote in 150, all
    of one class, precede a word in 600 texts, a quarter of them of another class.

    Returns:
        A data frame with the columns of the tables, taken from the merged finding with
        the smallest q, and with the columns `kind` (name of the table), `words` (ids of
        all tokens), `members` (number of merged findings) and `doubt` (upper 95% limit
        of the share of other classes among the texts with the finding, divided by the
        share of other classes among all training texts; 1 for measures).
    """
    rows = _significant(evidence.tables, train, rate)
    if not len(rows):
        return rows.assign(words=None, members=0)
    unit = _together(_contained(rows, evidence.contains), rows["class"].to_numpy())
    words = pd.Series(_words_of(rows, train.vocab))
    centres, members = np.unique(unit, return_counts=True)
    all_words = [list(dict.fromkeys(chain(*part))) for _, part in words.groupby(unit)]
    listed = rows.iloc[centres].assign(words=all_words, members=members)
    is_phrase = (listed["members"] >= PHRASE) & (listed["words"].map(len) > 1)
    is_single = (listed["kind"] == "tokens") | listed["token"].isin(list(KINDS))
    gives_away = is_single & (listed["doubt"] <= GIVEN_AWAY)
    part = np.where(is_phrase, 0, np.where(gives_away, 1, 2))
    order = np.lexsort([listed["q"], part])
    return listed.iloc[order].reset_index(drop=True)


def _significant(
    tables: dict[str, pd.DataFrame], train: Corpus, rate: float
) -> pd.DataFrame:
    """Return the findings with q up to a rate that held-out texts do not contradict."""
    sizes = class_sizes(train)
    parts = []
    for kind, table in tables.items():
        part = table[table["q"] <= rate].assign(kind=kind)
        if kind == "measures":
            side, again = part["above"] - 0.5, part["held-out"] - 0.5
            mean, others = (
                part[name].map("{:.3g}".format) for name in ("mean", "elsewhere")
            )
            differs = mean != others
            part = part[~(side * again <= 0) & differs].drop(columns=["held-out"])
            part = part.assign(token=_in_words(part), doubt=1.0)
            # The lengths in tokens and in characters are one thing.
            thing = part["measure"].str.split().str[0]
            part = part[~part[["class"]].assign(thing=thing).duplicated()]
        else:
            base = (sizes / sizes.sum())[part["class number"]]
            others = (part["texts"] * (1 - part["share"])).round()
            most = scipy.stats.beta.ppf(0.95, others + 1, part["texts"] - others)
            part = part.assign(doubt=np.nan_to_num(most, nan=1.0) / (1 - base))
            part = part[~(part["held-out share"] <= base)]
        parts.append(part)
    rows = pd.concat([part for part in parts if len(part)] or parts[:1])
    return rows.sort_values("q", kind="stable", ignore_index=True).head(RANKED)


def _in_words(measures: pd.DataFrame) -> list[str]:
    """Return a description of each row of the table of measures."""
    return [
        f"{row['measure']}: {row['mean']:.3g} {row['unit']} on average, in other texts "
        f"{row['elsewhere']:.3g}".replace(" %", "%")
        for row in measures.to_dict("records")
    ]


def _contained(rows: pd.DataFrame, contains: dict[str, csr_array]) -> csr_array:
    """Return the texts that contain each finding, (n, rows) of ones."""
    kinds = [(str(kind), part) for kind, part in rows.groupby("kind", sort=False)]
    blocks = [contains[kind][:, part["id"].to_numpy(int)] for kind, part in kinds]
    places = [place for _, part in kinds for place in part.index]
    order = np.argsort(places)
    return csr_array(hstack(blocks, format="csr", dtype=float)[:, order])


def _together(contains: csr_array, classes: np.ndarray) -> np.ndarray:
    """Return for each finding the first of its class in nearly the same texts."""
    both = (contains.T @ contains).toarray()
    sizes = both.diagonal()
    likeness = both / np.maximum(sizes[:, None] + sizes - both, 1)
    alike = (likeness >= TOGETHER) & (classes[:, None] == classes)
    places = np.arange(len(classes))
    unit = places.copy()
    for row in places:
        if unit[row] == row:
            unit[alike[row] & (unit == places) & (places > row)] = row
    return unit


def _words_of(rows: pd.DataFrame, vocab: Vocab) -> list[list[int]]:
    """Return the ids of the tokens that each finding names."""
    words = []
    for row in rows.to_dict("records"):
        if row["kind"] == "tokens":
            words.append([int(row["id"])])
        elif row["kind"] == "pairs":
            words.append([int(row["left"]), int(row["right"])])
        else:
            _, _, phrase = row["token"].partition("“")
            ids = [vocab.get(token) for token in phrase.removesuffix("”").split(" ")]
            words.append([i for i in ids if i >= 0])
    return words
