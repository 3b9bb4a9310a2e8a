"""Functions that read a file, compressed or not, as a table or as JSON."""

import bz2
import gzip
import io
import json
import lzma
import re
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NamedTuple, cast

import pandas as pd
import pyarrow as pa

from attnsel.validation import described, require, shortened
from attnsel_readers.cells import as_list
from attnsel_readers.columns import Columns, find_columns
from attnsel_readers.delimited import Refused, names_below, read_table
from attnsel_readers.encodings import BLOCK, Letters, letters_of, likely_encodings
from attnsel_readers.refusals import into_csv, refuse_unreadable, unpack

# The readers of pandas, by the ending of a file.
BINARY = {
    ".parquet": "read_parquet",
    ".pq": "read_parquet",
    ".feather": "read_feather",
    ".arrow": "read_feather",
    ".ipc": "read_feather",
    ".orc": "read_orc",
    ".dta": "read_stata",
    ".xml": "read_xml",
}
EXCEL = (".xlsx", ".xlsm", ".xls", ".ods")
JSON = (".json", ".jsonl", ".ndjson")
DELIMITED = (".csv", ".tsv", ".tab", ".txt")
ENDINGS = (*DELIMITED, *JSON, *BINARY, *EXCEL)
# Half of a letter of two escapes in JSON: a first one without its second, or a second.
FIRST, SECOND = r"\\u[dD][89abAB]..", r"\\u[dD][c-fC-F].."
HALF = re.compile(rf"(?<!\\)(?:{FIRST}(?!{SECOND})|(?<!{FIRST}){SECOND})")
MOST = 1 << 30  # bytes that a compressed file may unpack to


class Content(NamedTuple):
    """The uncompressed content of a file.

    Attributes:
        opened: function that returns a new stream of the content on each call.
        name: name of the uncompressed file.
        is_packed: whether the original file is compressed.
    """

    opened: Callable[[], BinaryIO]
    name: str
    is_packed: bool


def read_file(path: Path, wanted: Columns) -> Any:
    """Read a file as a table or as JSON, depending on its ending or first character.

    Texts such as 007 and NA do not change. If `wanted` has a limit, a large CSV table
    is reduced to this number of random rows per class.

    Raises:
        ValueError: if the file cannot be read; the message names the file.
        KeyError: if a column of a table is missing.
    """
    return _read(lambda: path, str(path), wanted)


def read_open(source: Any, wanted: Columns) -> Any:
    """Read bytes, or an open file of bytes or text, in the same way as `read_file`."""
    content = source.read() if hasattr(source, "read") else source
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    name = str(getattr(source, "name", "the open file"))
    return _read(lambda: io.BytesIO(content), name, wanted)


def _read(given: Callable[[], Any], name: str, wanted: Columns) -> Any:
    """Read a file; `given` returns its path or a new stream of its bytes."""
    refuse_unreadable(name)
    ending = ""
    try:
        content = _unpacked(given, name)
        ending = PurePath(content.name.lower()).suffix
        if ending in BINARY:
            return _read_binary(_bytes_of(content), ending, wanted)
        if ending in EXCEL:
            return _read_excel(_bytes_of(content), wanted)
        if content.is_packed and (wanted.limit is None or ending in JSON):
            _check_size(content)
        letters = letters_of(content.opened)
        first = _text_of(content, letters, 1000).lstrip()[:1]
        if ending in JSON or (ending not in DELIMITED and first in ("[", "{")):
            return _read_json(_text_of(content, letters))
        return read_table(content.opened, name, ending, letters, wanted)
    except (Refused, KeyError):
        raise
    except ImportError as error:
        raise ValueError(
            f"{name} needs a library that is missing ({error}); install it, or save "
            "the table as CSV"
        ) from error
    except UnicodeDecodeError as error:
        if ending not in (*JSON, *DELIMITED, ""):
            raise ValueError(
                f"{name} cannot be read as a table ({described(error)})"
            ) from error
        first, *_ = fitting = likely_encodings(error.object)
        reader = "read_json" if ending in JSON else "read_csv"
        call = f"{reader}({name!r}, encoding={first!r})"
        raise ValueError(
            f"{name} cannot be read as a table: it is not UTF-8 ({error.reason} at "
            f"byte {error.start}). Its letters may be those of {' or '.join(fitting)}. "
            f"For {first}, {into_csv(name, call)}; if its letters look wrong, use "
            "another encoding"
        ) from error
    except Exception as error:  # each reader has its own
        way = "; save it as CSV in a spreadsheet" if ending in EXCEL else ""
        raise ValueError(
            f"{name} cannot be read as a table ({described(error)}){way}"
        ) from error


# Compressed files


def _unpacked(given: Callable[[], Any], name: str) -> Content:
    """Return the content of a file, unpacked if its ending names a compression.

    Raises:
        Refused: if the file is a zip of several files.
    """
    ending = PurePath(name.lower()).suffix
    inner = name[: len(name) - len(ending)]
    if ending == ".zip":
        with zipfile.ZipFile(given()) as archive:
            # A Mac adds hidden files; ./ and ../ are no part of a name.
            hidden = re.compile(r"/$|(^|/)(?!\.\.?/)[._]")
            members = [name for name in archive.namelist() if not hidden.search(name)]
        if not members:
            raise ValueError("it is empty")
        if len(members) > 1:
            shown = f"{len(members)} files, {shortened(members, 5)}"
            raise Refused(f"{name} contains {shown}; {unpack(name)}")
        (member,) = members
        return Content(
            lambda: cast(BinaryIO, zipfile.ZipFile(given()).open(member)), member, True
        )
    if ending == ".zst":
        return Content(
            lambda: pa.input_stream(given(), compression="zstd"), inner, True
        )
    library: Any = {".gz": gzip, ".bz2": bz2, ".xz": lzma}.get(ending)
    if library is not None:
        return Content(lambda: library.open(given()), inner, True)

    def opened() -> BinaryIO:
        source = given()
        return source.open("rb") if isinstance(source, Path) else source

    return Content(opened, name, False)


def _bytes_of(content: Content) -> bytes:
    """Return all bytes of a file."""
    if content.is_packed:
        _check_size(content)
    with content.opened() as file:
        return file.read()


def _check_size(content: Content) -> None:
    """Raise a ValueError if a file unpacks to more than MOST bytes."""
    size = 0
    with content.opened() as file:
        while size <= MOST and (block := file.read(BLOCK)):
            size += len(block)
    if size > MOST:
        can_draw = not content.name.lower().endswith((*JSON, *BINARY, *EXCEL))
        way = ", or set limit= to the number of rows to draw at random"
        raise ValueError(
            f"it unpacks to more than {MOST >> 30} GB; unpack it first"
            f"{way if can_draw else ''}"
        )


def _text_of(content: Content, letters: Letters, size: int = -1) -> str:
    """Return the text of a file, or its beginning of `size` characters."""
    with io.TextIOWrapper(content.opened(), letters.encoding, letters.errors) as file:
        return file.read(size)


# What a file contains


def _read_binary(content: bytes, ending: str, wanted: Columns) -> pd.DataFrame:
    """Read a table with the pandas reader for its ending."""
    try:
        table = getattr(pd, BINARY[ending])(io.BytesIO(content))
    except pa.ArrowInvalid:
        if ending != ".arrow":
            raise
        # A stream, such as `datasets` writes.
        table = pa.ipc.open_stream(content).read_pandas()
    for name in as_list(wanted.text):
        if name in table:
            list(table[name])  # text that is not UTF-8 may show here only
    return table


def _read_excel(content: bytes, wanted: Columns) -> pd.DataFrame:
    """Read all cells of the sheet that has the wanted names, as text.

    Raises:
        ValueError: if the names are below the first line; the message states where.
    """
    require("excel", "python_calamine")
    sheets = pd.read_excel(
        io.BytesIO(content),
        sheet_name=None,
        dtype=str,
        keep_default_na=False,
        engine="calamine",
    )
    for name, sheet in sheets.items():
        table = sheet.replace(r"_x000D_|\r(?=\n)", "", regex=True)
        try:
            known = find_columns(list(table), wanted)
        except KeyError:
            rows = [table.columns.tolist(), *table.to_numpy().tolist()]
            names_below(rows, wanted, f"in the sheet {name!r} ")
            continue
        is_blank = table[known.label] == "" if known.label else pd.Series([False])
        if is_blank.mean() > 0.5 and not is_blank[0]:
            warnings.warn(
                f"the column {known.label!r} is empty in {is_blank.sum():,} of "
                f"{len(table):,} rows, as merged cells are; unmerge them, and fill "
                "each row",
                stacklevel=2,
            )
        return table
    return next(iter(sheets.values()))


def _read_json(text: str) -> Any:
    """Return the content of JSON: one value, or a record in each line.

    Half letters, such as half of an emoji that was cut, are replaced by \ufffd.
    """
    text = HALF.sub(r"\\ufffd", text)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) < 2 or not lines[0].strip().endswith("}"):
            raise ValueError(
                f"{error}. JSON is one value, or a record on each line, and has no "
                "comma after the last item"
            ) from error
        return [_record(line, number) for number, line in enumerate(lines, 1)]


def _record(line: str, number: int) -> Any:
    """Return the content of a line of JSON."""
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"line {number} is not JSON ({error.msg}): {line[:60]}"
        ) from error
