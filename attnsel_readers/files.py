"""Files are read into data frames by `pandas`, depending on the name."""

import bz2
import gzip
import io
import json
import lzma
import re
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any, BinaryIO, cast

import pandas as pd
import pyarrow as pa

from attnsel.validation import described, require, shortened
from attnsel_readers.cells import as_list
from attnsel_readers.columns import Columns, find_columns
from attnsel_readers.delimited import read_table
from attnsel_readers.encodings import Letters, letters_of

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
Opened = Callable[[], BinaryIO]


def read_file(path: Path, wanted: Columns) -> Any:
    """Read a file as a table or as JSON, depending on its ending.

    Texts such as 007 and NA stay as they are.

    Raises:
        ValueError: if it cannot be read; the message names the file.
    """
    return _read(lambda: path, str(path), wanted)


def read_open(source: Any, wanted: Columns) -> Any:
    """Read bytes, or an open file of bytes or text, as `read_file` does."""
    content = source.read() if hasattr(source, "read") else source
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    name = str(getattr(source, "name", "the open file"))
    return _read(lambda: io.BytesIO(content), name, wanted)


def _read(given: Callable[[], Any], name: str, wanted: Columns) -> Any:
    """Read a file, of which `given` returns the path or a new stream of bytes."""
    try:
        opened, inner = _unpacked(given, name)
        ending = PurePath(inner.lower()).suffix
        if ending in BINARY:
            return _read_binary(_bytes_of(opened), ending, wanted)
        if ending in EXCEL:
            return _read_excel(_bytes_of(opened), wanted)
        letters = letters_of(opened)
        first = _text_of(opened, letters, 1000).lstrip()[:1]
        if ending in JSON or (ending not in DELIMITED and first in ("[", "{")):
            return _read_json(_text_of(opened, letters))
        return read_table(opened, ending, letters, wanted)
    except KeyError:
        raise
    except Exception as error:  # each reader has its own
        raise ValueError(
            f"{name} cannot be read as a table ({described(error)}). Save texts and "
            "labels as CSV in UTF-8, or give a data frame that you read yourself, such "
            "as pandas.read_csv(..., quoting=3)"
        ) from error


# Compressed files


def _unpacked(given: Callable[[], Any], name: str) -> tuple[Opened, str]:
    """Return how to open the uncompressed content of a file, and its name.

    Raises:
        ValueError: if it is a zip of several files, or of none.
    """
    ending = PurePath(name.lower()).suffix
    inner = name[: len(name) - len(ending)]
    if ending == ".zip":
        with zipfile.ZipFile(given()) as archive:
            # A Mac adds hidden files; ./ and ../ are no part of a name.
            hidden = re.compile(r"/$|(^|/)(?!\.\.?/)[._]")
            members = [name for name in archive.namelist() if not hidden.search(name)]
        if len(members) != 1:
            raise ValueError(
                f"it contains {len(members)} files, {shortened(members, 5)}; unpack "
                "it and name one of them, or the folder"
            )
        (member,) = members
        return lambda: cast(BinaryIO, zipfile.ZipFile(given()).open(member)), member
    if ending == ".zst":
        return lambda: pa.input_stream(given(), compression="zstd"), inner
    library: Any = {".gz": gzip, ".bz2": bz2, ".xz": lzma}.get(ending)
    if library is not None:
        return lambda: library.open(given()), inner

    def opened() -> BinaryIO:
        source = given()
        return source.open("rb") if isinstance(source, Path) else source

    return opened, name


def _bytes_of(opened: Opened) -> bytes:
    """Return all bytes of a file."""
    with opened() as file:
        return file.read()


def _text_of(opened: Opened, letters: Letters, size: int = -1) -> str:
    """Return the text of a file, or its beginning of `size` characters."""
    with io.TextIOWrapper(opened(), letters.encoding, letters.errors) as file:
        return file.read(size)


# What a file contains


def _read_binary(content: bytes, ending: str, wanted: Columns) -> pd.DataFrame:
    """Read a table by the reader of pandas for its ending."""
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
    """Read the sheet with the wanted names, or else the first; cells are text."""
    require("excel", "python_calamine")
    sheets = pd.read_excel(
        io.BytesIO(content),
        sheet_name=None,
        dtype=str,
        keep_default_na=False,
        engine="calamine",
    )
    tables = [s.replace(r"_x000D_|\r(?=\n)", "", regex=True) for s in sheets.values()]
    for table in tables:
        with suppress(KeyError):
            find_columns(list(table), wanted)
            return table
    return tables[0]


def _read_json(text: str) -> Any:
    """Return what JSON contains: one value, or a record in each line.

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
                "comma behind the last item"
            ) from error
        return [_record(line, number) for number, line in enumerate(lines, 1)]


def _record(line: str, number: int) -> Any:
    """Return what a line of JSON contains."""
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"line {number} is no JSON ({error.msg}): {line[:60]}"
        ) from error
