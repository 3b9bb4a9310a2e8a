"""Tables whose fields a comma, semicolon, tab or bar separates."""

import csv
import io
import re
import warnings

import pandas as pd

from attnsel_readers.cells import as_list
from attnsel_readers.columns import Columns, find_columns

SEPARATORS = ",;\t|"


def read_table(text: str, wanted: Columns) -> pd.DataFrame:
    """Read a table whose first line contains the wanted names.

    Raises:
        ValueError: if rows do not fit, or if a quote that is not closed joins rows.
        KeyError: if a column is missing.
    """
    if not text.strip():
        raise ValueError("it is empty")
    text = re.sub(r"\Asep=.\r?\n", "", text)  # of Excel
    separator, columns = _separator(text, wanted)
    known = [*as_list(columns.text), *as_list(columns.label)]
    with warnings.catch_warnings():
        # A row longer than the line of names is an error, not an index and a text.
        warnings.filterwarnings("error", "Length of header or names")
        try:
            table = pd.read_csv(
                io.StringIO(text),
                sep=separator,
                dtype=dict.fromkeys(known, str),
                keep_default_na=False,
                na_values={name: [""] for name in known},
                index_col=False,
                skipinitialspace=True,
                low_memory=False,
            )
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            raise _does_not_fit(str(error).strip()) from error
    _check_quotes(table, separator, columns)
    return table


def _does_not_fit(what: str) -> ValueError:
    """Return the error about rows that do not fit the columns."""
    return ValueError(
        f"{what}. Name each column in the first line, put double quotes around texts "
        "that contain the separator or quotes, and double those inside"
    )


def _separator(text: str, wanted: Columns) -> tuple[str, Columns]:
    """Return the separator with which the first line contains the wanted columns.

    A single column needs a separator that its texts do not contain.

    Raises:
        KeyError: if there is none; the message lists the columns of the likeliest one.
    """
    line = re.split(r"[\r\n]", text.lstrip("\r\n"), maxsplit=1)[:1]
    fitting, errors = {}, []
    for separator in SEPARATORS:
        (names,) = csv.reader(line, delimiter=separator, skipinitialspace=True)
        try:
            fitting[separator] = find_columns(names, wanted), len(names)
        except KeyError as error:
            errors.append((len(names), error))
    if not fitting:
        raise max(errors, key=lambda found: found[0])[1]
    alone = [s for s in fitting if fitting[s][1] == 1 and s not in text]
    separator = (alone or [*fitting])[0]
    return separator, fitting[separator][0]


def _check_quotes(table: pd.DataFrame, separator: str, columns: Columns) -> None:
    """Raise a ValueError if a quote that is not closed joins rows.

    If labels are repeated, most lines of a cell with joined rows end or begin with a
    label.
    """
    if columns.label is None:
        return
    known = table[columns.label].dropna().str.strip()
    labels, at = set(known), list(table).index(columns.label)
    if 2 * len(labels) > len(known):
        return
    for name in table:
        if pd.api.types.is_numeric_dtype(table[name]):
            continue
        cells = table[name].astype(str)
        for cell in cells[cells.str.contains("\n")]:
            if _joins(cell, separator, labels, at, table.shape[1]):
                raise _does_not_fit("a quote that is not closed joins rows")


def _joins(cell: str, separator: str, labels: set[str], at: int, width: int) -> bool:
    """Return whether most lines of a cell end or begin a row with a known label."""
    rows = [line.split(separator) for line in cell.split("\n")]

    def has_label(row: list[str], place: int) -> bool:
        reaches = -len(row) <= place < len(row) and len(row) > 1
        return reaches and row[place].strip() in labels

    ends = [has_label(row, at - width) for row in rows[:-1]]
    begins = [has_label(row, at) for row in rows[1:]]
    n = sum(end or begin for end, begin in zip(ends, begins, strict=True))
    return 2 * n > len(ends)
