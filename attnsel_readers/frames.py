"""Functions that convert tables in memory to data frames."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from attnsel_readers.cells import as_list
from attnsel_readers.columns import Columns, plain_name

SPLITS = ("train", "test", "validation", "valid", "val", "dev")


class NoSuchSplit(ValueError):
    """An error for a source that has no split of the given name."""


def table_of(source: Any, wanted: Columns, split: str) -> Any:
    """Return a source as a data frame; a `datasets.Dataset` is returned unchanged.

    Args:
        source: a data frame of pandas, polars or Arrow; a data set of `datasets`; a
            list of records or of pairs of text and label; a tuple (texts, labels); a
            dictionary of columns or records; a Bunch of scikit-learn; bytes or an open
            file; or a dictionary that maps names of splits to any of these.
        wanted: names of the wanted columns. They show whether the keys of a dictionary
            are names of columns or of splits.
        split: name of the split to return.

    Raises:
        TypeError: if the source has none of these types.
        ValueError: if the source has no split of this name, if the numbers of texts and
            labels differ, if a Bunch has no texts, or if a file cannot be read.
    """
    if isinstance(source, Mapping):
        return _table_of_mapping(source, wanted, split)
    if isinstance(source, bytes) or hasattr(source, "read"):
        from attnsel_readers.files import read_open

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
    """Return a table in which each field of the records in a column is a column.

    For example, the records {"b": 1} in a column a become a column a.b. A list of one
    record is treated like the record.
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
    """Return the record if a cell is a list of one record; else return the cell."""
    alone = isinstance(cell, (list, np.ndarray)) and len(cell) == 1
    return cell[0] if alone and isinstance(cell[0], Mapping) else cell


def is_dataset(source: Any) -> bool:
    """Return whether `source` has the methods of a `datasets.Dataset`."""
    return hasattr(source, "select_columns") and hasattr(source, "to_pandas")


def one_table(what: str, split: str) -> NoSuchSplit:
    """Return the error for a source that is a single table and has no split `split`."""
    return NoSuchSplit(
        f"split: {what} is one table without a split {split!r}, and training rows "
        "cannot serve as test rows. Hold rows out; for example, with a pandas data "
        "frame called table: `test = table.sample(frac=0.2, random_state=0); "
        "train = table.drop(test.index)`; then load both"
    )


def _table_of_mapping(source: Mapping[Any, Any], wanted: Columns, split: str) -> Any:
    """Return the table in a dictionary of columns, splits or records, or in a Bunch."""
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
    """Return the texts of a Bunch of scikit-learn with the names of their classes."""
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
