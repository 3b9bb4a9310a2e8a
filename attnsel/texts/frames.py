"""Tables of texts in memory, of any kind, as a data frame."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from attnsel.texts.cells import as_list
from attnsel.texts.columns import Columns, plain_name

SPLITS = ("train", "test", "validation", "valid", "val", "dev")


class NoSuchSplit(ValueError):
    """A source has no split of this name."""


class DataSplit(NamedTuple):
    """Where the rows of a split are.

    `files` are what it is read from, each with a name that tells how; a source without
    files is not cached. `read` gives the table, whatever columns of it are wanted.
    """

    name: str
    files: Sequence[tuple[str, Path]]
    read: Callable[[Columns], Any]


def table_of(source: Any, wanted: Columns, split: str) -> Any:
    """Return a data frame, or a `datasets.Dataset`, of what holds a table.

    Args:
        source: a data frame of pandas, polars or Arrow, a data set of `datasets`,
            records or pairs of text and label, (texts, labels), columns by name, an
            open file; or several of these by the name of the split.
        wanted: the columns, which tell columns by name from splits by name.
        split: the split to take.

    Raises:
        TypeError: if it is nothing of the kind.
        ValueError: if there is no such split.
    """
    if isinstance(source, Mapping):
        return _table_of_mapping(source, wanted, split)
    if isinstance(source, bytes) or hasattr(source, "read"):
        from attnsel_report.readers.files import read_open

        return table_of(read_open(source, wanted), wanted, split)
    if split != "train":
        raise one_table("the source", split)
    if hasattr(source, "collect"):  # a lazy frame of polars
        source = source.collect()
    if is_dataset(source):
        return source
    if isinstance(source, pd.DataFrame):
        return _flat(source)
    if hasattr(source, "to_pandas"):
        return _flat(source.to_pandas())
    if isinstance(source, tuple) and len(source) == 2:
        texts, labels = source
        labels = pd.Series(labels).array
        first, *_ = as_list(wanted.text)
        texts = list(texts)
        if len(texts) != len(labels):
            unequal = f"{len(texts)} texts and {len(labels)} labels"
            raise ValueError(f"source: {unequal}; expected one per text")
        return pd.DataFrame({first: texts, wanted.label: labels})
    if isinstance(source, str) or not isinstance(source, Iterable):
        raise TypeError(f"source: expected a name, path or table, got {type(source)}")
    return _flat(pd.DataFrame(list(source)))


def _flat(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with a column for each field of the records in its cells.

    Records {"b": 1} in a column a become a column a.b, and so do lists of one record.
    """
    parts = []
    for place, name in enumerate(table.columns):
        column = table.iloc[:, place]
        part = column.to_frame()
        if any(isinstance(_record(cell), Mapping) for cell in column.dropna().head(1)):
            known = column.dropna().map(_record)
            if all(isinstance(record, Mapping) for record in known):
                fields = pd.DataFrame(known.tolist(), known.index)
                part = _flat(fields.reindex(table.index)).add_prefix(f"{name}.")
        parts.append(part)
    is_flat = all(part.shape[1] == 1 for part in parts)
    names = [part.columns[0] for part in parts if part.shape[1] == 1]
    if is_flat and names == list(table.columns):
        return table
    return pd.concat([part for part in parts if part.shape[1]], axis=1)


def _record(cell: Any) -> Any:
    """Return the record that a list holds alone, or else the cell."""
    alone = isinstance(cell, (list, np.ndarray)) and len(cell) == 1
    return cell[0] if alone and isinstance(cell[0], Mapping) else cell


def is_dataset(source: Any) -> bool:
    """Say whether a table is a `datasets.Dataset`, which may lie on the disk."""
    return hasattr(source, "select_columns") and hasattr(source, "to_pandas")


def one_table(what: str, split: str) -> NoSuchSplit:
    """Return the error that says that nothing was held out for a split."""
    return NoSuchSplit(
        f"split: {what} is one table without a split {split!r}; rows it was trained on "
        "are no test. Hold some out, with a pandas data frame called table: "
        "`test = table.sample(frac=0.2, random_state=0); "
        "train = table.drop(test.index)`; then load both"
    )


def _table_of_mapping(source: Mapping[Any, Any], wanted: Columns, split: str) -> Any:
    """Return the table of columns by name, of a split by name, or of a key in JSON."""
    keys = list(source)
    first, *_ = as_list(wanted.text)
    if split in keys and first not in keys:
        return table_of(source[split], wanted, "train")
    if {"data", "target"} <= set(keys):
        if split != "train":
            raise one_table("a Bunch", split)
        return _of_bunch(source, wanted)
    if any(plain_name(key) == plain_name(first) for key in keys):
        table = pd.DataFrame(dict(source))
    elif {"columns", "data"} <= set(keys):
        table = pd.DataFrame(source["data"], columns=source["columns"])
    elif all(isinstance(row, Mapping) and first in row for row in source.values()):
        table = pd.DataFrame.from_dict(dict(source), orient="index")
    else:
        lists = [key for key in keys if _holds_records(source[key])]
        if (len(lists) != 1 or lists[0] in SPLITS) and split not in keys:
            raise NoSuchSplit(f"split: expected one of {keys}, got {split!r}")
        table = pd.DataFrame(source[lists[0]])
    return table_of(table, wanted, split)


def _of_bunch(source: Mapping[Any, Any], wanted: Columns) -> pd.DataFrame:
    """Return the texts of a Bunch of scikit-learn, labelled by the names of classes."""
    texts, targets = list(source["data"]), pd.Series(source["target"])
    if not all(isinstance(text, (str, bytes)) for text in texts):
        raise ValueError("source: a Bunch of numbers; expected texts as its data")
    names = source.get("target_names")
    if names is not None and pd.api.types.is_numeric_dtype(targets):
        targets = targets.map(dict(enumerate(names)))
    first, *_ = as_list(wanted.text)
    return pd.DataFrame({first: texts, wanted.label: targets})


def _holds_records(value: Any) -> bool:
    return isinstance(value, list) and value != [] and isinstance(value[0], Mapping)
