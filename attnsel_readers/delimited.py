"""A reader of tables whose fields are separated by a comma, semicolon, tab or bar."""

import csv
import io
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, BinaryIO, TextIO

import numpy as np
import pandas as pd

from attnsel.validation import described
from attnsel_readers.cells import as_list
from attnsel_readers.columns import Columns, find_columns
from attnsel_readers.encodings import Letters
from attnsel_readers.refusals import into_csv

SEPARATORS = ",;\t|"
FASTTEXT = "__label__"  # before the label of each line
BEGINNING = 1_000_000  # characters that contain the first rows
ROWS = 20  # rows that show the separator of a table without names
LARGE = 1 << 23  # characters of a table that is sampled in pieces
PIECE = 20_000  # rows of each such piece
LONG = 20  # line breaks in one text from which on a warning is issued
TURN = "\0turn"  # column of the random numbers by which rows are drawn
# The errors of pandas if rows and columns do not fit together.
ROW_ERRORS = (pd.errors.ParserError, pd.errors.ParserWarning)

Opened = Callable[[], TextIO]


class Refused(ValueError):
    """An error for a file that cannot be read; the message contains a remedy."""


def read_table(
    opened: Callable[[], BinaryIO],
    name: str,
    ending: str,
    letters: Letters,
    wanted: Columns,
) -> pd.DataFrame:
    """Read a table with the names of its columns in the first line, or without names.

    If the rows do not fit the columns, the function allows for spaces before quotes,
    for row numbers, or for a separator at the end of each row.

    Raises:
        Refused: if the rows do not fit, if a quote that is not closed joins rows, or if
            the file has the format of fastText.
        ValueError: if the file is empty or a table in Markdown, if its separator or its
            number of columns is unclear, or if the names are below the first line.
        KeyError: if a column is missing.
    """
    with _text(opened, letters) as file:
        separator = re.match(r"sep=.(?=[\r\n])", file.readline())  # as Excel writes it
    text = partial(_text, opened, letters, has_separator=separator is not None)
    with text() as file:
        beginning = file.read(BEGINNING)
        is_large = wanted.limit is not None and len(file.read(LARGE)) == LARGE
    if not beginning.strip():
        raise ValueError("it is empty")
    if re.match(r"[^\n]*\n[|: -]*---[|: -]*\r?\n", beginning):
        raise ValueError("it is a table in Markdown; delete its second line, the rule")
    if beginning.startswith(FASTTEXT):
        raise Refused(f"{name} has the labels of fastText; {_of_fasttext(name)}")
    options, columns = _layout(
        beginning, wanted, ending, separator and separator[0][-1]
    )
    read = partial(_read, text, columns, wanted.limit if is_large else None)
    first_error = None
    for more in _ways(beginning, options):
        try:
            return read(options | more)
        except ROW_ERRORS as error:
            first_error = first_error or error
    assert first_error is not None
    raise _refused(name, first_error, options, letters, beginning) from first_error


def _of_fasttext(name: str) -> str:
    """Return the line of Python that converts a fastText file to a table."""
    lines = f"Series(pathlib.Path({name!r}).read_text('utf-8').split(chr(10)))"
    pattern = rf"r'^{FASTTEXT}(?P<label>\S+)\s(?P<text>(?!.*{FASTTEXT}).*)'"
    call = f"{lines}.str.extract({pattern}).dropna()"
    line = into_csv(name, call, imports="pandas, pathlib")
    return f"{line} (texts with several labels are left out)"


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
    """Return options with which pandas finds the wanted columns, and these columns.

    Raises:
        ValueError: if the columns are positions, and two separators fit.
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
            f"both {several[0]!r} and {several[1]!r} may separate its columns; write a "
            "line above the rows that consists of sep= and the right separator"
        )
    if not fitting:
        lines = beginning.split("\n")[: ROWS + 1]
        for separator in SEPARATORS:
            names_below([line.split(separator) for line in lines], wanted)
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
    }, columns


def first_rows(text: str, separator: str, n: int, skipped: int = 0) -> Any:
    """Return `n` rows of strings after `skipped` lines; None if they do not parse."""
    with suppress(pd.errors.ParserError, pd.errors.EmptyDataError):
        return pd.read_csv(
            io.StringIO(text),
            sep=separator,
            header=None,
            skiprows=skipped,
            nrows=n,
            dtype=str,
            keep_default_na=False,
        )
    return None


def names_below(rows: list[list[Any]], wanted: Columns, where: str = "") -> None:
    """Raise a ValueError if one of the rows contains the wanted names."""
    for number, row in enumerate(rows, 1):
        with suppress(KeyError):
            find_columns([str(name).strip('#" \r') for name in row], wanted)
            raise ValueError(
                f"the names of the columns are {where}in line {number}; delete the "
                "lines above it, and a # at its beginning"
            )


def _ways(beginning: str, options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield no options, then options with which the rows may fit the columns."""
    yield {}
    separator = options["sep"]
    names = first_rows(beginning, separator, 1)
    if re.search(rf'{re.escape(separator)} +"', beginning):
        same = {} if options["header"] is None else {"names": names.loc[0].tolist()}
        yield {"skipinitialspace": True, **same}
    rows = first_rows(beginning, separator, ROWS, skipped=1)
    if options["header"] is None or names is None or rows is None:
        return
    names = names.loc[0].tolist()
    if rows.shape[1] == len(names) + 1 and not rows.isna().any(axis=None):
        if rows[0].map(str.isdecimal).all():  # as R numbers its rows
            yield {"names": ["", *names]}
        if (rows[len(names)] == "").all():
            yield {"names": [*names, ""]}


# The rows


def _read(
    text: Opened, columns: Columns, limit: int | None, options: dict[str, Any]
) -> pd.DataFrame:
    """Read a table piece by piece, or `limit` random rows of each class.

    The index of the random rows contains their positions, and `attrs["rows"]` is the
    number of all rows.
    """
    random, pieces, n = np.random.default_rng(0), [pd.DataFrame()], 0
    with warnings.catch_warnings(), text() as file:
        # A row longer than the line of names is an error, not an index and a text.
        warnings.filterwarnings("error", "Length of header or names")
        for piece in pd.read_csv(file, **options, chunksize=PIECE):
            _check_rows(piece, text if n == 0 else None, options["sep"], columns)
            n += len(piece)
            if limit is None:
                pieces.append(piece)
                continue
            piece[TURN] = random.random(len(piece))
            rows = pd.concat([*pieces, piece]).sort_values(TURN)
            if columns.label is not None:
                rows = rows.groupby(columns.label, dropna=False)
            pieces = [rows.head(limit)]
    if limit is None:
        return pd.concat(pieces[1:], ignore_index=True)
    table = pieces[0].sort_index().drop(columns=TURN)
    table.attrs["rows"] = n
    return table


def _check_rows(
    table: pd.DataFrame, text: Opened | None, separator: str, columns: Columns
) -> None:
    """Raise an error if a quote that is not closed joins rows.

    A cell with joined rows is recognized by its lines. If labels are repeated, most of
    the lines end or begin with a label. Otherwise the lines have as many fields as a
    row or, in the file that `text` opens, a letter follows a quote. A warning reports a
    text of very many lines.
    """
    width = table.shape[1]
    cells = [
        cell
        for name in table
        if not pd.api.types.is_numeric_dtype(table[name])
        for cell in table.loc[table[name].astype(str).str.contains("\n"), name]
    ]
    known = pd.Series(dtype=str)
    if columns.label is not None:
        known = table[columns.label].dropna().str.strip()
    labels = set(known)
    if columns.label is not None and 2 * len(labels) <= len(known):
        at = list(table).index(columns.label)
        if any(_joins(cell, separator, labels, at, width) for cell in cells):
            raise pd.errors.ParserError("a quote that is not closed joins rows")
        return
    for cell in cells:
        rows = cell.split("\n")[1:-1]
        if rows and width > 1 and all(r.count(separator) == width - 1 for r in rows):
            raise pd.errors.ParserError("a quote that is not closed joins rows")
    if text is not None and cells:
        with text() as file:
            _check_quotes(file, separator)
    most = max((cell.count("\n") for cell in cells), default=0)
    if most >= LONG:
        warnings.warn(
            f"a text has {most + 1:,} lines; if they are rows, a quote before them is "
            "not closed",
            stacklevel=2,
        )


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


def _check_quotes(file: TextIO, separator: str) -> None:
    """Raise an error if text follows the closing quote of a field."""
    most = csv.field_size_limit(sys.maxsize)
    try:
        for _ in csv.reader(file, delimiter=separator, strict=True):
            pass
    except csv.Error as error:
        raise pd.errors.ParserError(f"text follows a closing quote: {error}") from error
    finally:
        csv.field_size_limit(most)


def _refused(
    name: str,
    error: Exception,
    options: dict[str, Any],
    letters: Letters,
    beginning: str,
) -> Refused:
    """Return the error about rows that do not fit the columns, with a remedy."""
    given = "" if options["sep"] == "," else f", sep={options['sep']!r}"
    if letters.encoding != "utf-8-sig":
        given += f", encoding={letters.encoding!r}"
    if letters.errors != "strict":
        given += f", encoding_errors={letters.errors!r}"
    if options["header"] is None:
        given += ", header=None"
    given += ", dtype=str, keep_default_na=False"
    cause = f"{name} cannot be read as a table ({described(error)})"
    if '\\"' in beginning:
        why = "If the backslashes before quotes mark quotes inside its texts"
        given += ", escapechar=chr(92)"
    elif "quote" in str(error) or "EOF inside string" in str(error):
        why = "To treat quotes as ordinary characters"
        given += ", quoting=3"
    elif isinstance(error, pd.errors.ParserWarning):
        return Refused(
            f"{name} cannot be read as a table: it has rows of more fields than its "
            "first line. If the first line lacks the name of a column, add it; if "
            "texts contain the separator, put double quotes around them and double "
            "those inside"
        )
    else:
        why = "A text that contains the separator needs quotes; to leave such rows out"
        given += ", on_bad_lines='skip'"
    has_names = options["header"] is not None
    line = into_csv(name, f"read_csv({name!r}{given})", has_names=has_names)
    return Refused(f"{cause}. {why}, {line}")
