"""Names, rows and examples of the findings that a report shows first."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from attnsel.corpus import Corpus
from attnsel_report.examples import (
    LONGEST_PHRASE,
    Example,
    examples,
    find_edge,
    find_pattern,
    find_words,
    phrase,
)
from attnsel_report.page import FIRST
from attnsel_report.ranking import Evidence
from attnsel_report.splits import Sample
from attnsel_report.surface import KINDS, MEASURES, measured
from attnsel_report.suspects import SHOWN


def described(
    findings: pd.DataFrame, evidence: Evidence, train: Sample, names: pd.Series
) -> tuple[pd.DataFrame, dict[str, list[Example]], pd.DataFrame]:
    """Return all findings with names, and examples and rows of the first findings.

    Args:
        findings: data frame that `top_findings` returned.
        evidence: tables and texts of the findings.
        train: training texts.
        names: names of the rows of the source, by row number.

    Returns:
        All findings, where the name of a merged finding among the first ones is a
        phrase; examples of each of the first findings in texts of its class; and a data
        frame of the training texts, one per group, that contain one of the first
        findings, except for measures.
    """
    one = train.firsts()
    corpus = one.corpus
    labels = corpus.targets.numpy()
    classes = np.array([str(name) for name in corpus.classes], object)
    called = findings["token"].copy()  # of strings, also if it is empty
    places: dict[str, list[Example]] = {}
    tables = []
    for number, finding in enumerate(findings.head(FIRST).to_dict("records")):
        rows = rows_of(finding, evidence.contains, corpus)
        of_class = rows[labels[rows] == finding["class number"]]
        found = examples(corpus, of_class, partial(_place, corpus, finding))
        if found and finding["members"] > 1:
            called[number] = f"“{phrase(corpus, found)}”"
        name = called[number]
        places[name] = [
            place._replace(row=names[one.rows[place.row]]) for place in found
        ]
        if finding["kind"] != "measures":
            columns = {
                "finding": name,
                "class": finding["class"],
                "row": names[one.rows[rows]].array,
                "label": classes[labels[rows]],
                "text": [_text(corpus, row)[:SHOWN] for row in rows.tolist()],
            }
            tables.append(pd.DataFrame(columns))
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
    return findings.assign(token=called), places, table


def rows_of(
    finding: dict[str, Any], contains: dict[str, csr_array], corpus: Corpus
) -> np.ndarray:
    """Return the positions of the texts that contain a finding, int64 (m,).

    The texts of a merged finding contain all its words. For a measure, the result
    contains all texts. Texts with the largest values come first if the class has larger
    values than other texts, and otherwise texts with the smallest values.
    """
    if finding["kind"] == "measures":
        values = measured(corpus)[:, list(MEASURES).index(finding["measure"])]
        sign = 1 if finding["above"] > 0.5 else -1
        return np.argsort(-sign * values, kind="stable")
    if finding["members"] > 1 and finding["words"]:
        n_words = (corpus.counts[:, finding["words"]] > 0).sum(axis=1)
        return np.flatnonzero(n_words == len(finding["words"]))
    column = contains[finding["kind"]][:, [int(finding["id"])]]
    return np.flatnonzero(column.toarray()[:, 0])


def _place(corpus: Corpus, finding: dict[str, Any], row: int) -> Example | None:
    """Return the piece of a text that counts as the finding, if it is found."""
    name, kind = finding["token"], finding["kind"]
    if kind == "measures":
        return Example(row, "", _text(corpus, row)[:LONGEST_PHRASE], "")
    if name in KINDS:
        return find_pattern(_text(corpus, row), KINDS[name])
    if kind == "form" and finding["members"] == 1:
        side, _, words = name.partition(" with ")
        return find_edge(corpus, row, len(words.split(" ")), side)
    is_pair = kind == "pairs" and finding["members"] == 1
    return find_words(corpus, row, finding["words"], is_pair=is_pair)


def _text(corpus: Corpus, row: int) -> str:
    return "" if corpus.texts is None else corpus.texts[row]
