"""Tables whose fields a comma, semicolon, tab or bar separates."""

import csv
import io
import re
import warnings
from collections.abc import Hashable, Iterator
from contextlib import suppress
from typing import Any

import pandas as pd

from attnsel.texts.cells import as_list
from attnsel.texts.columns import Columns, find_columns, plain_name

SEPARATORS = ",;\t|"
BEGINNING = 1_000_000  # characters in which the first row ends
# What pandas raises where rows and columns do not fit together.
ROW_ERRORS = (pd.errors.ParserError, pd.errors.ParserWarning)


class JoinedRows(pd.errors.ParserError):
    """A quote that is not closed joins rows to one."""


def read_delimited(text: str, wanted: Columns, ending: str) -> pd.DataFrame:
    """Read a table of rows; lines that are comments or a rule are left out.

    The table is read in the usual way first. If rows and columns do not fit together,
    or a quote that is not closed joins rows, spaces before quotes, numbers of rows
    without a name and stray quotes are mended; a warning counts the latter.
    """
    text, separator = _rows_and_separator(text, wanted, ending)
    names = None
    header = first_row(text, separator)
    try:
        columns = find_columns(header, wanted)
    except KeyError:
        columns, names = _columns_of_nameless(text, separator, wanted)
        header = names or header
    label_at = None
    if columns.label in header and len(header) > 1:
        label_at = header.index(columns.label)
    known = _given(columns)

    def read(text: str, **options: Any) -> pd.DataFrame:
        # A row longer than the line of names is an error, not an index and a text.
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "Length of header or names")
            table = pd.read_csv(
                io.StringIO(text),
                sep=separator,
                dtype=dict.fromkeys(known, str),
                keep_default_na=False,
                na_values={name: [""] for name in known},
                index_col=False,
                **({"names": names} | options),
            )
        if label_at is not None and '"' in text:
            _refuse_joined_rows(table, separator, label_at)
        return table

    try:
        return read(text)
    except ROW_ERRORS as error:
        first_error = error
    for mended, options, message in _mended(text, separator, header, label_at):
        with suppress(*ROW_ERRORS):
            table = read(mended, **options)
            if message:
                warnings.warn(message, stacklevel=2)
            return table
    raise first_error


def first_row(text: str, separator: str) -> list[Any]:
    """Return the fields of the first row, of which a quoted one may be many lines."""
    try:
        row = pd.read_csv(
            io.StringIO(text[:BEGINNING]),
            sep=separator,
            header=None,
            nrows=1,
            dtype=str,
            keep_default_na=False,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError):
        line = next((line for line in text.split("\n") if line.strip()), "")
        return line[:BEGINNING].split(separator)
    return row.loc[0].tolist()


def _rows_and_separator(text: str, wanted: Columns, ending: str) -> tuple[str, str]:
    """Return the rows of a table without lines that are none, and their separator."""
    separator = None
    # Excel may write the separator in a line of its own; other programs, comments.
    if line := re.match(r"sep=(.)\r?\n", text):
        separator = line[1]
        text = text[line.end() :]
    text = _with_one_line_end(text)
    text = _without_comments(text, wanted, ending)
    # A table in Markdown has a rule below its names.
    text = re.sub(r"\A([^\n]*\n)[|: -]*---[|: -]*\n", r"\1", text)
    if not text.strip():
        raise ValueError("it is empty")
    return text, separator or find_separator(text, wanted, ending)


def _with_one_line_end(text: str) -> str:
    """Let a carriage return within a text be a space, if it ends no lines."""
    first = re.search(r"\r(?!\n)", text)
    if first is None or "\n" not in text:
        return text
    line = text[: first.start()]
    if "\n" not in line and any(separator in line for separator in SEPARATORS):
        return text  # it ends the first line, so it ends all lines
    return re.sub(r"\r(?!\n)", " ", text)


def _without_comments(text: str, wanted: Columns, ending: str) -> str:
    """Leave out the lines at the top that begin with # and are neither row nor names.

    Lines above the names of the columns are no rows. Where there are no names, a line
    is a row if it has as many fields as the first line without #.
    """
    top = re.match(r"(?:#[^\n]*\n)+", text)
    if top is None:
        return text
    rest = text[top.end() :]
    if not rest.strip():
        return text
    *_, last = comments = top[0].splitlines()
    behind_sign = last.lstrip("# ")
    for below in (rest, f"{behind_sign}\n{rest}"):
        separator = find_separator(below, wanted, ending)
        with suppress(KeyError):
            find_columns(first_row(below, separator), wanted)
            return below
    separator = find_separator(rest, wanted, ending)
    width = len(first_row(rest, separator))
    rows = [line for line in comments if len(first_row(line, separator)) == width > 1]
    return "\n".join([*rows, rest])


def find_separator(text: str, wanted: Columns, ending: str) -> str:
    """Return what divides the first row into the wanted names, or else most often."""
    candidates = SEPARATORS
    if ending in (".tsv", ".tab"):
        candidates = "\t" + SEPARATORS
    rows = {separator: first_row(text, separator) for separator in candidates}
    for separator, row in rows.items():
        with suppress(KeyError):
            find_columns(row, wanted)
            return separator
    return max(rows, key=lambda separator: len(rows[separator]))


def _mended(
    text: str, separator: str, header: list[Any], label_at: int | None
) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield other ways to read rows: a text, options of pandas, and a warning."""
    if re.search(rf'{re.escape(separator)} +"', text[:BEGINNING]):
        yield text, {"skipinitialspace": True}, ""
    second = text[text.find("\n") + 1 :]
    if first_row(second, separator)[0].isdecimal():  # as R numbers its rows
        yield text, {"names": ["", *header], "header": 0}, ""
    yield re.sub(rf"{re.escape(separator)}(\r?)$", r"\1", text, flags=re.M), {}, ""
    if label_at is not None:
        mended, n = _with_quotes_closed(text, separator, len(header), label_at)
        yield (
            mended,
            {},
            f"{n:,} {'line has' if n == 1 else 'lines have'} a double quote that is "
            "not closed; it is taken as a letter",
        )


def _refuse_joined_rows(table: pd.DataFrame, separator: str, label_at: int) -> None:
    """Raise an error if a cell holds lines most of which end or begin a row."""
    cells = [
        cell
        for name in table
        if not pd.api.types.is_numeric_dtype(table[name])
        for cell in table.loc[table[name].astype(str).str.contains("\n"), name]
    ]
    if not cells:
        return
    width = table.shape[1]
    labels = {label.strip() for label in table.iloc[:, label_at].dropna()}
    for cell in cells:
        rows = [line.split(separator) for line in cell.split("\n")]
        ends = [_has_label(row, label_at - width, labels) for row in rows[:-1]]
        begins = [_has_label(row, label_at, labels) for row in rows[1:]]
        breaks = [end or begin for end, begin in zip(ends, begins, strict=True)]
        if 2 * sum(breaks) > len(breaks):
            raise JoinedRows(f"a quote joins {len(rows):,} lines: {cell[:60]!r}")


def _has_label(row: list[str], place: int, labels: set[str]) -> bool:
    """Say whether a part of a row has a known label at a place, from 0 or from -1."""
    reaches = len(row) > place if place >= 0 else len(row) >= -place
    return len(row) > 1 and reaches and row[place].strip() in labels


def _with_quotes_closed(
    text: str, separator: str, width: int, label_at: int
) -> tuple[str, int]:
    """Double the stray quotes of lines that are a row by themselves, and count them.

    Such a line has as many fields as others, and the label of a line without quotes.
    """
    lines = text.split("\n")
    rows = {
        i: row
        for i, line in enumerate(lines)
        if len(row := line.split(separator)) == width
    }
    labels = {row[label_at].strip() for i, row in rows.items() if '"' not in lines[i]}
    n = 0
    for i, row in rows.items():
        if lines[i].count('"') % 2 and row[label_at].strip() in labels:
            n += 1
            for place, field in enumerate(row):
                if field.count('"') % 2:
                    row[place] = '"{}"'.format(field.replace('"', '""'))
            lines[i] = separator.join(row)
    return "\n".join(lines), n


def _columns_of_nameless(
    text: str, separator: str, wanted: Columns
) -> tuple[Columns, list[Hashable] | None]:
    """Return columns and their names where the first line names none that is wanted.

    It is a row like the others if columns are wanted by their places, from 0, or if
    there are two of which one holds the label of the first line again. Names are None
    of a table whose columns have other names.

    Raises:
        ValueError: if it is plain text.
    """
    read: dict[str, Any] = {"sep": separator, "header": None, "dtype": str}
    rows = pd.DataFrame()
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):
        with suppress(pd.errors.ParserError):
            rows = pd.read_csv(io.StringIO(text), quoting=quoting, **read)
            break
    width = rows.shape[1]
    # After a comma in a sentence there is a space, and words follow.
    names_at_top = all(
        name == name.strip() and len(name.split()) < 4
        for name in first_row(text, separator)
    )
    if width == 0 and separator in text and names_at_top:
        return wanted, None  # a row is too long
    first = text.strip().split("\n")[0][:60]
    names_one = plain_name(first) in map(plain_name, _given(wanted))
    if width < 2 and wanted.label is not None and not names_one:
        raise ValueError(
            f"it is plain text: its first line is {first!r}, which names no columns, "
            "and lines without columns have no labels. Give a table with a line of "
            "names, or a folder that holds a folder of text files for each class"
        )
    places = list(range(width))
    if all(re.fullmatch(r"\d+", str(name)) for name in _given(wanted)):
        with suppress(KeyError):  # which is raised for the whole table
            wanted = find_columns(places, wanted)
        return wanted, [*places]
    if wanted.label is not None and width == 2:
        label_at = int(rows.nunique().idxmin())
        labels = rows[label_at]
        if (labels == labels[0]).sum() > 1:
            names = [wanted.text, wanted.text]
            names[label_at] = wanted.label
            return wanted, names
    return wanted, None


def _given(wanted: Columns) -> list[Hashable]:
    """Return all names that are wanted."""
    labels = [] if wanted.label is None else [wanted.label]
    return [*as_list(wanted.text), *labels]
