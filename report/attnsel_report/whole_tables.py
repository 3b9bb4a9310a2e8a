"""Rows of a source with all of their columns, some of which may define groups."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from attnsel.texts.loading import balanced_sample, read_split, texts_and_labels
from attnsel.validation import check_number
from attnsel_readers.cells import as_list
from attnsel_readers.columns import Columns, find_columns
from attnsel_readers.frames import is_dataset


class Table(NamedTuple):
    """Rows of a split; the index of each column contains their positions in the split.

    Attributes:
        name: name of the source.
        texts: texts of the rows, a Series of strings and missing values.
        labels: labels of the rows, a Series.
        rest: the other columns, a data frame.
        n: number of all rows in the split.
    """

    name: str
    texts: pd.Series
    labels: pd.Series
    rest: pd.DataFrame
    n: int


def load_table(
    source: Any,
    split: str,
    *,
    text: Hashable | Sequence[Hashable],
    label: Hashable,
    limit: int | None,
    seed: int,
) -> Table:
    """Read the texts, the labels and all other columns of a split.

    Arguments and errors are as in `load_corpus`, except that `limit` may exceed the
    number of rows, and that a source without texts, such as "imdb", is an error.
    """
    check_number("limit", limit, 1, integer=True, optional=True)
    wanted = Columns(text, label, limit)
    name, table = read_split(source, split, wanted)
    texts, labels = texts_and_labels(table, wanted)
    rest = table.to_pandas() if is_dataset(table) else table
    used = find_columns(list(rest), wanted)
    rest = rest.drop(columns=[*as_list(used.text), used.label])
    n = len(texts)
    rows = np.arange(n)
    # Of a large file there are some rows only, whose index are their places.
    places = pd.RangeIndex(n)
    if "rows" in rest.attrs:
        places, n = rest.index, rest.attrs["rows"]
    texts, rest = texts.set_axis(places), rest.set_axis(places)
    labels = pd.Series(labels).set_axis(places)
    if limit is not None:
        usable = int((texts.notna() & labels.notna()).sum())
        rows = balanced_sample(texts, labels, min(limit, max(usable, 1)), seed)
    return Table(name, texts.iloc[rows], labels.iloc[rows], rest.iloc[rows], n)
