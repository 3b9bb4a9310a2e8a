"""Tables whose fields a comma, semicolon, tab or bar separates."""

import io
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO, TextIO

import pandas as pd

from attnsel_readers.cells import as_list
from attnsel_readers.columns import Columns, find_columns
from attnsel_readers.encodings import Letters

SEPARATORS = ",;\t|"
BEGINNING = 1_000_000  # characters in which the first rows end
ROWS = 20  # by which the separator of a table without names is found


def read_table(
    opened: Callable[[], BinaryIO], ending: str, letters: Letters, wanted: Columns
) -> pd.DataFrame:
    """Read a table with the wanted names in its first line, or with wanted positions.

    Raises:
        ValueError: if rows do not fit, or if a quote that is not closed joins rows.
        KeyError: if a column is missing.
    """
    with _text(opened, letters) as file:
        separator = re.match(r"sep=(.)(?=[\r\n])", file.readline())  # of Excel
    with _text(opened, letters, has_separator=separator is not None) as file:
        beginning = file.read(BEGINNING)
    if not beginning.strip():
        raise ValueError("it is empty")
    options, columns = _layout(beginning, wanted, ending, separator and separator[1])
    with (
        warnings.catch_warnings(),
        _text(opened, letters, has_separator=separator is not None) as file,
    ):
        # A row longer than the line of names is an error, not an index and a text.
        warnings.filterwarnings("error", "Length of header or names")
        try:
            table = pd.read_csv(file, **options)
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            raise _does_not_fit(str(error).strip()) from error
    _check_quotes(table, options["sep"], columns)
    return table


def _does_not_fit(what: str) -> ValueError:
    """Return the error about rows that do not fit the columns."""
    return ValueError(
        f"{what}. Name each column in the first line, put double quotes around texts "
        "that contain the separator or quotes, and double those inside"
    )


def _text(
    opened: Callable[[], BinaryIO], letters: Letters, has_separator: bool = False
) -> TextIO:
    """Return the text of a file without a first line that names the separator."""
    file: TextIO = io.TextIOWrapper(
        opened(), letters.encoding, letters.errors, newline=""
    )
    if letters.has_returns:  # a carriage return within a text is a space
        with file as whole:
            file = io.StringIO(re.sub(r"\r(?!\n)", " ", whole.read()), newline="")
    if has_separator:
        file.readline()
    return file


# The separator and the columns


def _layout(
    beginning: str, wanted: Columns, ending: str, named: str | None
) -> tuple[dict[str, Any], Columns]:
    """Return options of pandas by which the first rows have the wanted columns.

    Raises:
        ValueError: if two separators give wanted positions.
        KeyError: if no separator gives the wanted columns.
    """
    given = [*as_list(wanted.text), *as_list(wanted.label or 0)]
    has_names = not all(str(name).isdecimal() for name in given)
    fitting, errors = {}, []
    order = SEPARATORS
    if ending in (".tsv", ".tab"):
        order = "\t" + SEPARATORS if has_names else "\t"
    for separator in named or order:
        rows = first_rows(beginning, separator, 1 if has_names else ROWS)
        if rows is None or (rows.isna().any(axis=None) and not has_names):
            continue
        there = rows.loc[0].tolist() if has_names else [*rows]
        try:
            fitting[separator] = find_columns(there, wanted), len(there)
        except KeyError as error:
            errors.append((len(there), error))
    several = [s for s in fitting if fitting[s][1] > 1] if not has_names else []
    if len(several) > 1:
        raise ValueError(
            f"each of its first rows is divided by {several[0]!r} and by "
            f"{several[1]!r}; write a line above them that consists of sep= and the "
            "one that counts"
        )
    if not fitting:
        if not errors:
            raise ValueError("its first rows have different numbers of fields")
        raise max(errors, key=lambda found: found[0])[1]
    # A single column needs a separator that its texts do not contain.
    alone = [s for s in fitting if fitting[s][1] == 1 and s not in beginning]
    separator = (several or alone or [*fitting])[0]
    columns, _ = fitting[separator]
    known = [*as_list(columns.text), *as_list(columns.label)]
    return {
        "sep": separator,
        "header": 0 if has_names else None,
        "dtype": dict.fromkeys(known, str),
        "keep_default_na": False,
        "na_values": {name: [""] for name in known},
        "index_col": False,
        "skipinitialspace": True,
        "low_memory": False,
    }, columns


def first_rows(text: str, separator: str, n: int) -> Any:
    """Return the first rows of a table as text, or None if they differ in length."""
    with suppress(pd.errors.ParserError, pd.errors.EmptyDataError):
        return pd.read_csv(
            io.StringIO(text),
            sep=separator,
            header=None,
            nrows=n,
            dtype=str,
            keep_default_na=False,
            skipinitialspace=True,
        )
    return None


def _check_quotes(table: pd.DataFrame, separator: str, columns: Columns) -> None:
    """Raise a ValueError if a quote that is not closed joins rows.

    In a table whose labels occur again and again, most lines of such a cell end or
    begin with a label.
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
