"""The training texts and the held-out texts of a source, their groups and copies."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from scipy.sparse import vstack

from attnsel.corpus import Corpus
from attnsel.significance.groups import group_numbers, linked, same_texts
from attnsel.texts.loading import TooFewRows, load_corpus
from attnsel.tokens import Tokenizer
from attnsel.validation import shortened
from attnsel_readers.columns import SHOWN, Columns, find_columns
from attnsel_readers.frames import NoSuchSplit
from attnsel_report.copies import find_near_copies
from attnsel_report.sequences import InOrder, read_texts
from attnsel_report.whole_tables import Table, load_table

FEWEST = 10  # smallest number of texts of a report
HELD_OUT = 0.2  # share of the texts of each class, if there is no test split
FEW_VALUES = 20  # largest number of groups in a column of fractions
MORE = 0.02  # share of the labels that a column predicts beyond the most frequent class
MOST_COLUMNS = 5  # columns that are named


@dataclass(frozen=True, eq=False)
class Sample:
    """Texts and their groups, each of which counts as one observation.

    Attributes:
        corpus: the texts, with all of their tokens.
        groups: group number of each text, from 0, int64 (n,). A text that belongs to no
            group has a number of its own.
        rows: positions of the texts among the rows that were read, int64 (n,).
    """

    corpus: Corpus
    groups: np.ndarray
    rows: np.ndarray

    def at(self, places: np.ndarray) -> Sample:
        """Return the texts that `places` selects, by positions or by a mask (n,)."""
        groups, _ = pd.factorize(self.groups[places])
        return Sample(self.corpus[places], groups, self.rows[places])

    def firsts(self) -> Sample:
        """Return the first text of each group."""
        _, places = np.unique(self.groups, return_index=True)
        if len(places) == len(self.groups):
            return self
        return self.at(np.sort(places))


@dataclass(frozen=True)
class Repeats:
    """Numbers of copies and near copies in a source.

    Attributes:
        copies: number of rows whose text is a copy of an earlier text.
        torn: number of copies labelled differently from the first row with this text.
        most: the text that occurs most often.
        times: number of occurrences of the text `most`.
        labelled: number of occurrences of the text `most` with each label.
        near: number of near copies, without the texts that they nearly copy.
        rows: number of rows that have a text, a label and a token.
        seen: number of rows of the test split that are copies or near copies of a
            training text.
    """

    copies: int
    torn: int
    most: str
    times: int
    labelled: dict[str, int]
    near: int
    rows: int
    seen: int


class Alone(NamedTuple):
    """A column of the source, and how well it alone predicts the label.

    Attributes:
        name: name of the column.
        values: number of distinct values in the column.
        accuracy: share of labels that `predicted_alone` predicts correctly.
        base: share of the most frequent class.
    """

    name: str
    values: int
    accuracy: float
    base: float

    def __str__(self) -> str:
        return (
            f"alone predicts {self.accuracy:.1%} of the labels (the most frequent "
            f"class: {self.base:.1%})"
        )


@dataclass(frozen=True, eq=False)
class Parts:
    """The texts of a source, divided into training and held-out texts.

    Attributes:
        train: training texts.
        test: held-out texts.
        order: the tokens of all rows that were read, in their order.
        names: names of the rows in the source, by their positions in `order`.
        left_out: unusable rows, grouped by their missing part.
        repeats: numbers of copies and near copies.
        copies: data frame of the rows that are copies or near copies of another row.
        grouped: name of the groups, such as the name of their column, or None.
        telling: how well the given groups (or else columns) predict the label.
    """

    train: Sample
    test: Sample
    order: InOrder
    names: pd.Series
    left_out: Mapping[str, Sequence[Hashable]]
    repeats: Repeats
    copies: pd.DataFrame
    grouped: str | None
    telling: list[Alone]


def read_parts(
    source: Any,
    *,
    text: Any,
    label: Hashable,
    groups: Any,
    limit: int | None,
    seed: int,
    tokenize: Tokenizer | None,
) -> Parts:
    """Return the training texts and the held-out texts of a source.

    The held-out texts are the split "test" of the source, without copies and near
    copies of training texts. If the source has no such split, a part of its texts is
    held out. The arguments are as in `report`.
    """
    if isinstance(source, Corpus):
        tokenize = tokenize or source.vocab.tokenize
        source, text, label = _texts_of(source), "text", "label"
    columns: Any = {"text": text, "label": label, "limit": limit, "seed": seed}
    tables = [load_table(source, "train", **columns)]
    if not _is_one_table(source):
        with suppress(NoSuchSplit):
            tables.append(load_table(source, "test", **columns))
    rows_read = _rows_of(tables, groups)
    texts, name = rows_read["text"].tolist(), tables[0].name
    corpus, order = read_texts(texts, rows_read["label"], tokenize=tokenize, name=name)
    lacking = [row for part in corpus.left_out.values() for row in part]
    kept = rows_read.drop(index=lacking)
    copies = same_texts(corpus)
    places = np.flatnonzero(copies == np.arange(len(corpus)))
    distinct = corpus[places]
    rows = kept.index.to_numpy()[places]
    near = find_near_copies(order.at(rows), distinct.vocab)
    is_test = kept["held out"].to_numpy()[places]
    seen = is_test & np.isin(near, near[~is_test])
    _check_sides(is_test, seen, distinct, n_tables=len(tables))
    held = kept["held out"].to_numpy()
    copied = int((held & ~held[copies]).sum())
    names = kept["group"].to_numpy()[places]
    linked_by = linked(near, group_numbers(distinct, names))
    sample = Sample(distinct, pd.factorize(linked_by)[0], rows)
    if len(tables) == 1:
        is_test = held_out(sample, seed)
    return Parts(
        train=sample.at(~is_test),
        test=sample.at(is_test & ~seen),
        order=order,
        names=rows_read["name"],
        left_out=corpus.left_out,
        repeats=_repeats(corpus, copies, near, copied + int(seen.sum())),
        copies=_copies(kept, copies, places, near),
        grouped=None if groups is None else _name_of(groups),
        telling=_telling(tables[0], kept, groups),
    )


def _telling(table: Table, rows: pd.DataFrame, groups: Any) -> list[Alone]:
    """Return how well the groups, or else other columns, predict the label alone."""
    if groups is None:
        return telling_columns(table.rest, table.labels)
    grouped_rows = rows[rows["group"].notna()]
    if not len(grouped_rows):
        return []
    values, _ = pd.factorize(grouped_rows["group"].astype(str))
    return [
        predicted_alone(values, grouped_rows["label"])._replace(name=_name_of(groups))
    ]


def too_few(n: int) -> ValueError:
    """Return the error for a source with fewer than FEWEST distinct texts."""
    noun = "text" if n == 1 else "texts"
    return ValueError(f"source: {n} distinct {noun}; expected {FEWEST} or more")


def _check_sides(
    is_test: np.ndarray, seen: np.ndarray, corpus: Corpus, n_tables: int
) -> None:
    """Raise a ValueError if there are no usable training texts or held-out texts."""
    if len(is_test) < 2:
        raise too_few(len(is_test))
    if n_tables > 1 and (is_test == seen).all():
        raise ValueError(
            "source: each text of the test split is a copy or near copy of a training "
            "text; give the training split alone, of which a fifth is held out"
        )
    learned, held = (set(corpus.targets[mask].tolist()) for mask in (~is_test, is_test))
    if held and learned.isdisjoint(held):
        names = [str(corpus.classes[k]) for k in sorted(held)]
        raise ValueError(
            f"labels: the test split contains only {shortened(names, SHOWN)}, and the "
            "training split has no text of these classes; give the training split "
            "alone, of which a fifth is held out"
        )


def train_and_test(
    source: Any, *, text: str, label: str, limit: int | None
) -> tuple[Corpus, Corpus]:
    """Return a training corpus and a held-out corpus with the same vocabulary.

    The held-out corpus is the split "test" of the source. If the source has no such
    split, a fifth of its texts is held out, and copies of a text are on the same side.
    Copies are not removed. The arguments are as in `load_corpus`, but `limit` may
    exceed the number of rows.
    """
    columns: Any = {"text": text, "label": label}
    corpus = _sampled(source, limit, **columns)
    if not _is_one_table(source):
        with suppress(NoSuchSplit):
            test = _sampled(source, limit, split="test", vocab=corpus.vocab, **columns)
            return corpus, test
    sample = Sample(corpus, group_numbers(corpus), np.arange(len(corpus)))
    is_test = held_out(sample, seed=0)
    return replace(corpus[~is_test], left_out=corpus.left_out), corpus[is_test]


def _sampled(source: Any, limit: int | None, **settings: Any) -> Corpus:
    """Return a corpus of at most `limit` texts."""
    try:
        return load_corpus(source, limit=limit, **settings)
    except TooFewRows:
        return load_corpus(source, **settings)


def joined(parts: Parts) -> Sample:
    """Return the texts of both parts, the training texts first."""
    train, test = parts.train, parts.test
    corpus = Corpus(
        vstack([train.corpus.counts, test.corpus.counts], format="csr"),
        torch.cat([train.corpus.targets, test.corpus.targets]),
        train.corpus.vocab,
        (train.corpus.texts or ()) + (test.corpus.texts or ()),
        train.corpus.name,
    )
    behind = test.groups + int(train.groups.max()) + 1
    groups = np.concatenate([train.groups, behind])
    return Sample(corpus, groups, np.concatenate([train.rows, test.rows]))


def _texts_of(corpus: Corpus) -> pd.DataFrame:
    """Return a corpus as a table.

    Raises:
        ValueError: if the corpus has no texts.
    """
    if corpus.texts is None:
        raise ValueError(
            f"source: {corpus!r} contains counts without texts; give the texts, or a "
            "corpus of Corpus.from_texts"
        )
    names = np.array(corpus.classes, object)
    return pd.DataFrame({"text": corpus.texts, "label": names[corpus.targets]})


def _rows_of(tables: Sequence[Table], groups: Any) -> pd.DataFrame:
    """Return text, label, group and name of all rows, and whether they are held out.

    A blank group name is treated like a missing name.
    """
    parts = []
    for number, table in enumerate(tables):
        names = None
        if isinstance(groups, str):
            names = table.rest[_column_of_groups(groups, list(table.rest))].array
        elif groups is not None and number == 0:
            names = _chosen(groups, table)
        columns = {"text": table.texts.array, "label": table.labels.array}
        part = pd.DataFrame(columns | {"group": names, "held out": number == 1})
        places = table.texts.index
        part["name"] = (
            [f"{row} of the test split" for row in places] if number else places
        )
        parts.append(part)
    rows = pd.concat(parts, ignore_index=True)
    if groups is None:
        return rows
    is_blank = rows["group"].astype(str).str.strip() == ""
    return rows.assign(group=rows["group"].mask(is_blank, None))


def _column_of_groups(groups: str, there: Sequence[Hashable]) -> Hashable:
    """Return the name of the column of groups in the table.

    Raises:
        KeyError: if there is no such column; the message lists the columns.
    """
    try:
        return find_columns(there, Columns(groups, None)).text
    except KeyError as error:
        raise KeyError(
            f"groups: expected a column {groups!r} besides the columns of texts and "
            f"labels, got {shortened(there, SHOWN) or 'no other'}; pass the name of "
            "your column as groups="
        ) from error


def _chosen(groups: Any, table: Table) -> Any:
    """Return the group names of those rows of a table that were read."""
    names = pd.Series(list(groups))
    if len(names) != table.n:
        mismatch = f"expected a column or {table.n} names, one per row"
        raise ValueError(f"groups: {mismatch}, got {len(names)}")
    return names.iloc[table.texts.index].array


def _name_of(groups: Any) -> str:
    if isinstance(groups, str):
        return groups
    name = getattr(groups, "name", None)
    return "given" if name is None else str(name)


def _repeats(
    corpus: Corpus, copies: np.ndarray, near: np.ndarray, seen: int
) -> Repeats:
    """Return the numbers of copies and near copies in a corpus with copies.

    `copies` contains the position of the first copy of each text, int64 (n,), and
    `near` contains the centre of the near copies of each distinct text. `seen` is the
    number of rows of the test split that copy a training text.
    """
    times = np.bincount(copies)
    most = int(times.argmax())
    labels = corpus.targets.numpy()
    return Repeats(
        copies=len(copies) - int((times > 0).sum()),
        torn=int((labels != labels[copies]).sum()),
        most="" if corpus.texts is None else corpus.texts[most],
        times=int(times[most]),
        labelled={
            str(corpus.classes[k]): n
            for k, n in Counter(labels[copies == most].tolist()).most_common()
        },
        near=int((near != np.arange(len(near))).sum()),
        rows=len(copies),
        seen=seen,
    )


def _copies(
    rows: pd.DataFrame, copies: np.ndarray, places: np.ndarray, near: np.ndarray
) -> pd.DataFrame:
    """Return the rows that copy another row, with both names, both labels and the text.

    `copies` contains, for each row, the position of the row that it copies, or its own.
    `near` contains the same for the distinct rows, whose positions are `places`.
    """
    of = copies.copy()
    of[places] = places[near]
    is_copy = of != np.arange(len(of))
    row, original = rows[is_copy], rows.iloc[of[is_copy]]
    is_same = copies[is_copy] != np.flatnonzero(is_copy)
    columns = {
        "row": row["name"].array,
        "of row": original["name"].array,
        "alike": np.where(is_same, "same text", "near copy"),
        "label": row["label"].array,
        "label of that row": original["label"].array,
        "text": row["text"].array,
    }
    return pd.DataFrame(columns)


def _is_one_table(source: Any) -> bool:
    """Return whether a source has no splits, such as a file, a table or records."""
    if isinstance(source, (str, os.PathLike)):
        return Path(source).expanduser().is_file()
    return not isinstance(source, dict)


def held_out(sample: Sample, seed: int) -> np.ndarray:
    """Return a mask (n,) that holds out a fifth of each class, in whole groups.

    A group belongs to the class of its first text. A group that is larger than a fifth
    of its class is not held out, and neither are classes of fewer than three texts. If
    these rules leave nothing to hold out, some groups are held out nevertheless. These
    come from classes with several groups, if there are such classes.
    """
    groups = sample.groups
    labels = sample.corpus.targets.numpy()
    _, firsts, sizes = np.unique(groups, return_index=True, return_counts=True)
    order = np.random.default_rng(seed).permutation(len(firsts))
    of_group = labels[firsts]
    columns = {"group": order, "size": sizes[order], "class": of_group[order]}
    table = pd.DataFrame(columns)
    of_class = table.groupby("class")["size"].transform("sum")
    wanted = (HELD_OUT * of_class).round()
    fits = table["size"] <= np.maximum(wanted, 1)
    small = table[fits]
    taken = small.groupby("class")["size"].cumsum()
    chosen = small["group"][taken <= wanted[fits]]
    if not len(chosen):  # no class is large enough
        most = round(HELD_OUT * len(table))
        groups_of_class = table.groupby("class")["group"].transform("size")
        others_left = table[groups_of_class > 1]
        first = others_left if len(others_left) else table
        chosen = first["group"].head(max(1, most))
    is_test = np.isin(groups, chosen)
    if is_test.all():
        is_test[0] = False
    return is_test


def telling_columns(rest: pd.DataFrame, labels: pd.Series) -> list[Alone]:
    """Return the columns that predict the label on their own and may define groups.

    The share of labels that such a column predicts correctly exceeds the share of the
    most frequent class by more than MORE and by more than three standard errors. The
    columns with the largest shares come first, and there are at most MOST_COLUMNS.
    """
    found = []
    for name, column in rest.items():
        known = column.notna().to_numpy() & labels.notna().to_numpy()
        values, _ = pd.factorize(column[known].astype(str))
        distinct = column.nunique()
        is_measure = column.dtype.kind == "f" and distinct > FEW_VALUES
        if is_measure or not 1 < distinct < column.count():
            continue
        alone = predicted_alone(values, labels[known])
        error = (alone.base * (1 - alone.base) / len(values)) ** 0.5
        if alone.accuracy - alone.base > max(MORE, 3 * error):
            found.append(alone._replace(name=str(name)))
    return sorted(found, key=lambda alone: -alone.accuracy)[:MOST_COLUMNS]


def predicted_alone(values: np.ndarray, labels: pd.Series) -> Alone:
    """Return how well the values of a column alone predict the labels.

    The prediction for a text is the most frequent label among the other texts with the
    same value, and a tie counts as wrong. If the value of a text is unique, the
    prediction is the most frequent class.
    """
    table = pd.DataFrame({"value": values, "label": labels.astype(str).to_numpy()})
    times = table.groupby(["value", "label"]).size().reset_index(name="times")
    in_order = times.sort_values("times", ascending=False)
    of_value = in_order.groupby("value")["times"]
    # What competes with the label of most texts of a value is the second one.
    next_most = of_value.shift(-1).fillna(0)
    is_top = of_value.cumcount() == 0
    other = next_most.where(is_top, of_value.transform("max"))
    sizes = table["label"].value_counts()
    is_single = of_value.transform("sum") == 1
    is_right = in_order["times"] - 1 > other
    is_right |= is_single & (in_order["label"] == sizes.index[0])
    right = int(in_order["times"][is_right].sum())
    n = len(table)
    return Alone("", len(np.unique(values)), right / n, int(sizes.iloc[0]) / n)
