"""Files become data frames; `pandas` does the reading."""

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import warnings
import zipfile
from collections.abc import Hashable
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any

import pandas as pd
import pyarrow as pa

from attnsel.texts.cells import several
from attnsel.texts.columns import Columns, find_columns, plain_name
from attnsel.validation import described, shortened
from attnsel_report.readers.lines import read_lines
from attnsel_report.readers.refusals import into_csv, refuse_unreadable, unpack

SEPARATORS = ",;\t|"
# The readers of pandas, by the ending of a file.
BINARY = {
    ".parquet": "read_parquet",
    ".pq": "read_parquet",
    ".feather": "read_feather",
    ".arrow": "read_feather",
    ".ipc": "read_feather",
    ".orc": "read_orc",
    ".xlsx": "read_excel",
    ".xlsm": "read_excel",
    ".xls": "read_excel",
    ".ods": "read_excel",
    ".dta": "read_stata",
    ".xml": "read_xml",
}
JSON = (".json", ".jsonl", ".ndjson")
DELIMITED = (".csv", ".tsv", ".tab", ".txt")
ENDINGS = (*DELIMITED, *JSON, *BINARY)
# How the content of a file begins that has no such ending.
BEGINNINGS = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"ORC": ".orc"}
NO_LABEL = ("", "NA", "NaN", "nan", "None", "NULL", "null")


# Files


def read_file(path: Path, wanted: Columns) -> Any:
    """Read a file as a table, or as what JSON holds; its content tells how.

    Texts such as 007 and NA stay as they are. A ValueError names the file.
    """
    return read_bytes(path.read_bytes(), str(path), wanted)


def read_open(source: Any, wanted: Columns) -> Any:
    """Read bytes, or an open file of bytes or text, as `read_file` does."""
    content = source
    if hasattr(source, "read"):
        content = source.read()
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    return read_bytes(content, str(getattr(source, "name", "the open file")), wanted)


def read_bytes(content: bytes, name: str, wanted: Columns) -> Any:
    """Read the content of a file that is called `name` as `read_file` does."""
    refuse_unreadable(name)
    _refuse_several(content, name)
    ending = PurePath(name).suffix.lower()
    try:
        return _read(*_uncompressed(content, name), wanted)
    except ImportError as error:
        raise ValueError(
            f"{name} needs a library to be read ({error}); install it, or save the "
            "table as CSV"
        ) from error
    except UnicodeDecodeError as error:
        if 0 in content:
            cause = described(error) if ending in BINARY else "a NUL byte: it is binary"
            raise ValueError(f"{name} cannot be read as a table ({cause})") from error
        call = f"read_csv({name!r}, encoding='cp1251')"
        raise ValueError(
            f"{name} cannot be read as a table: it is not UTF-8 ({error.reason} at "
            f"byte {error.start}). With its own letters, such as those of Windows for "
            f"Cyrillic, {into_csv(name, call)}"
        ) from error
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        raise _bad_rows(content, name, wanted, error) from error
    except Exception as error:  # each reader has its own
        raise ValueError(
            f"{name} cannot be read as a table ({described(error)})"
        ) from error


def _bad_rows(
    content: bytes, name: str, wanted: Columns, error: Exception
) -> ValueError:
    """Return the error that tells of rows with too many fields, and how to read on."""
    content, inner = _uncompressed(content, name)
    text = decoded(content)
    cause = f"{name} cannot be read as a table ({described(error)})"
    options = "on_bad_lines='skip'" + _ways(content, text, inner, wanted)
    if '\\"' in text:
        why = "its texts have a backslash before a quote; where that is meant"
        options += ", escapechar=chr(92)"
    elif isinstance(error, pd.errors.ParserWarning):
        return ValueError(
            f"{name} cannot be read as a table: it has rows of more fields than its "
            "first line; a text that holds the separator needs double quotes around "
            "it, and those inside are doubled"
        )
    elif "EOF inside string" in str(error):
        why = (
            "a quote that opens there is not closed; to take quotes as letters and "
            "leave out rows of more fields"
        )
        options += ", quoting=3"
    else:
        why = "a text that holds the separator needs quotes; to leave such rows out"
    line = into_csv(name, f"read_csv({name!r}, {options})")
    return ValueError(f"{cause}; {why}, {line}")


def _ways(content: bytes, text: str, name: str, wanted: Columns) -> str:
    """Return options of pandas for separator and letters, where they are not usual."""
    options = ""
    separator = _separator(text, wanted, PurePath(name).suffix.lower())
    if separator != ",":
        options += f", sep={separator!r}"
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        options += ", encoding='utf-16'"
    elif text.encode() not in content:
        options += ", encoding='cp1252'"
    return options


def _uncompressed(content: bytes, name: str) -> tuple[bytes, str]:
    """Undo compression, which the first bytes tell; take its ending off the name."""
    inner = re.sub(r"\.(gz|bz2|xz|zst)$", "", name, flags=re.IGNORECASE)
    if content.startswith(b"\x1f\x8b"):
        return gzip.decompress(content), inner
    if content.startswith(b"BZh"):
        return bz2.decompress(content), inner
    if content.startswith(b"\xfd7zXZ"):
        return lzma.decompress(content), inner
    if content.startswith(b"\x28\xb5\x2f\xfd"):
        return pa.CompressedInputStream(io.BytesIO(content), "zstd").read(), inner
    if name.lower().endswith(".zip"):
        return _only_member(content)
    return content, inner


def _members(archive: zipfile.ZipFile) -> list[str]:
    """Return the names of the files of a zip, less the hidden ones that a Mac adds."""
    names = archive.namelist()
    return [name for name in names if not re.search(r"/$|(^|/)[._]", name)]


def _refuse_several(content: bytes, name: str) -> None:
    """Raise a ValueError with the line to type, if a file is a zip of several."""
    if not name.lower().endswith(".zip") or not content.startswith(b"PK"):
        return
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = _members(archive)
    if len(members) > 1:
        shown = shortened(members, 5)
        raise ValueError(f"{name} holds {len(members)} files, {shown}; {unpack(name)}")


def _only_member(content: bytes) -> tuple[bytes, str]:
    """Return the one file of a zip, and its name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = _members(archive)
        if not members:
            raise ValueError("it is empty")
        return archive.read(members[0]), members[0]


def _read(content: bytes, name: str, wanted: Columns) -> Any:
    """Read uncompressed content by the ending of its name, or by how it begins."""
    ending = PurePath(name.lower()).suffix
    for beginning, known in BEGINNINGS.items():
        if ending not in ENDINGS and content.startswith(beginning):
            ending = known
    if ending in BINARY:
        frame = _read_binary(content, ending)
        for name in frame:
            if plain_name(name) in map(plain_name, several(wanted.text)):
                list(frame[name])  # text that is not UTF-8 may show here only
        return frame
    if content.startswith(b"SQLite format 3"):
        raise ValueError("it is a database; let its name end in .sqlite")
    text = decoded(content)
    # Some versions of pandas end a text at a NUL and say nothing.
    if "\0" in text:
        raise ValueError("a NUL byte: it is binary")
    if ending in JSON or (ending not in DELIMITED and text.lstrip()[:1] in ("[", "{")):
        return _read_json(text)
    table = read_lines(text, wanted)
    return _read_delimited(text, wanted, ending) if table is None else table


def _read_binary(content: bytes, ending: str) -> pd.DataFrame:
    reader = getattr(pd, BINARY[ending])
    try:
        return reader(io.BytesIO(content))
    except pa.ArrowInvalid:
        if ending != ".arrow":
            raise
        # A stream, such as `datasets` writes.
        return pa.ipc.open_stream(content).read_pandas()


def decoded(content: bytes) -> str:
    """Return what bytes say: UTF-8, UTF-16, or else the letters of Windows.

    The latter are guessed, which a warning says. A UnicodeDecodeError tells of bytes
    that are neither, such as UTF-8 with a damaged letter.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16")
    beginning = content[:200]
    if beginning.count(0) > len(beginning) // 3:  # ASCII with a zero in each pair
        first_is_zero = beginning[0::2].count(0) > beginning[1::2].count(0)
        return content.decode("utf-16-be" if first_is_zero else "utf-16-le")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = _in_windows_letters(content)
        if text is None:
            raise
    return text


def _in_windows_letters(content: bytes) -> str | None:
    """Read bytes as Windows-1252, if that is what they can be."""
    # Pairs that are UTF-8 hardly occur by chance, nor a text that is mostly accents.
    as_utf8 = content.decode("utf-8", "ignore")
    accents = len(content) - len(as_utf8)
    if not as_utf8.isascii() or accents > len(content) / 5:
        return None
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        return None
    warnings.warn(
        "the file is not UTF-8 and read as Windows-1252, the letters of Western "
        "Europe; if they look wrong, save it in UTF-8",
        stacklevel=2,
    )
    return text


# Text with separators


def _read_delimited(text: str, wanted: Columns, ending: str) -> pd.DataFrame:
    """Read a table of rows whose fields a comma, semicolon, tab or bar divides."""
    separator = None
    # Excel may say the separator in a line of its own; other programs, what they are.
    if said := re.match(r"sep=(.)\r?\n", text):
        separator = said[1]
        text = text[said.end() :]
    text = re.sub(r"\A(?:#[^\n]*\n)+", "", text)
    # A table in Markdown has a rule below its names.
    text = re.sub(r"\A([^\n]*\n)[|: -]*---[|: -]*\n", r"\1", text)
    if not text.strip():
        raise ValueError("it is empty")
    if separator is None:
        separator = _separator(text, wanted, ending)
    names = None
    try:
        columns = find_columns(_header(text, separator), wanted)
    except KeyError:
        columns, names = _columns_of_nameless(text, separator, wanted)
    known = _given(columns)
    # A row longer than the line of names is an error, not an index and a text.
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Length of header or names")
        return pd.read_csv(
            io.StringIO(text),
            sep=separator,
            names=names,
            dtype=dict.fromkeys(known, str),
            keep_default_na=False,
            na_values={name: [""] for name in known} | {columns.label: NO_LABEL},
            index_col=False,
        )


def _header(text: str, separator: str) -> list[str]:
    """Return the fields of the first line that is not blank."""
    lines = io.StringIO(text, newline=None)
    first = next((line for line in lines if line.strip()), "")
    return next(csv.reader([first], delimiter=separator), [])


def _separator(text: str, wanted: Columns, ending: str) -> str:
    """Return what divides the first line into the wanted names, or else most often."""
    candidates = SEPARATORS
    if ending in (".tsv", ".tab"):
        candidates = "\t" + SEPARATORS
    for separator in candidates:
        try:
            find_columns(_header(text, separator), wanted)
        except KeyError:
            continue
        return separator
    return max(candidates, key=lambda separator: len(_header(text, separator)))


def _columns_of_nameless(
    text: str, separator: str, wanted: Columns
) -> tuple[Columns, list[Hashable] | None]:
    """Return columns and their names where the first line names none that is wanted.

    It is a row like the others if columns are wanted by their places, from 0, or if
    there are two of which one holds the label of the first line again. Names are None
    of a table whose columns have other names; a ValueError tells of plain text.
    """
    try:
        rows = pd.read_csv(io.StringIO(text), sep=separator, header=None, dtype=str)
    except pd.errors.ParserError:
        rows = pd.DataFrame()
    width = rows.shape[1]
    # After a comma in a sentence there is a space, and words follow.
    names_at_top = all(
        name == name.strip() and len(name.split()) < 4
        for name in _header(text, separator)
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
        with suppress(KeyError):  # which is told of the whole table
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
    return [*several(wanted.text), *labels]


# JSON


def _read_json(text: str) -> Any:
    """Return what JSON holds: one value, or a record in each line.

    A record in a record has columns of its own: {"a": {"b": 1}} has a column a.b.
    """
    try:
        held = json.loads(text)
    except json.JSONDecodeError:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) < 2:
            raise
        held = [_record(line, number) for number, line in enumerate(lines, 1)]
    if isinstance(held, list):
        held = [_flat(row) if isinstance(row, dict) else row for row in held]
    return held


def _record(line: str, number: int) -> Any:
    """Return what a line of JSON holds."""
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"line {number} is no JSON ({error.msg}): {line[:60]}"
        ) from error


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record with the columns of the records that it holds."""
    flat: dict[str, Any] = {}
    for name, value in record.items():
        inner = {}
        if isinstance(value, dict):
            inner = _flat(value)
        if inner:
            flat |= {f"{name}.{column}": held for column, held in inner.items()}
        else:
            flat[name] = value
    return flat
