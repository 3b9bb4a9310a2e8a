"""Read files into data frames with `pandas`, depending on their names."""

import bz2
import gzip
import io
import json
import lzma
import re
import urllib.request
import zipfile
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any

import pandas as pd

from attnsel.validation import described, require, shortened
from attnsel_readers.cells import as_list
from attnsel_readers.columns import Columns, find_columns
from attnsel_readers.delimited import read_table
from attnsel_readers.encodings import decoded

# The readers of pandas, by the ending of a file.
BINARY = {
    ".parquet": "read_parquet",
    ".pq": "read_parquet",
    ".feather": "read_feather",
    ".orc": "read_orc",
    ".dta": "read_stata",
    ".xml": "read_xml",
}
EXCEL = (".xlsx", ".xlsm", ".xls", ".ods")
JSON = (".json", ".jsonl", ".ndjson")
DELIMITED = (".csv", ".tsv", ".tab", ".txt")
ENDINGS = (*DELIMITED, *JSON, *BINARY, *EXCEL)
PACKED = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
URL = re.compile(r"[a-z][a-z0-9+]+://")
URL_PATIENCE = 60.0  # seconds
# Half of a letter of two escapes in JSON: a first one without its second, or a second.
FIRST, SECOND = r"\\u[dD][89abAB]..", r"\\u[dD][c-fC-F].."
HALF = re.compile(rf"(?<!\\)(?:{FIRST}(?!{SECOND})|(?<!{FIRST}){SECOND})")


def ending_of(path: str | PurePath) -> str:
    """Return the ending that determines how to read a file; "" if it is not known."""
    name = re.sub(r"\.(gz|zip|bz2|xz)$", "", PurePath(path).name.lower())
    ending = PurePath(name).suffix
    return ending if ending in ENDINGS else ""


def read_file(source: Any, wanted: Columns) -> Any:
    """Read a path, a URL, bytes or an open file as a table or as JSON.

    The ending of its name decides how. Texts such as 007 and NA do not change.

    Raises:
        ValueError: if the file cannot be read; the message names it.
        KeyError: if a column is missing.
    """
    name = source
    if not isinstance(source, (str, Path)):
        name = str(getattr(source, "name", "the open file"))
    ending = ending_of(name)
    try:
        content = _unpacked(_content(source), PurePath(name).suffix.lower())
        if ending in BINARY:
            return _read_binary(content, ending, wanted)
        if ending in EXCEL:
            return _read_excel(content, wanted)
        text = decoded(content)
        if ending in JSON or (not ending and text.lstrip()[:1] in ("[", "{")):
            return _read_json(text)
        return read_table(text, wanted)
    except KeyError:
        raise
    except Exception as error:  # each reader has its own
        raise ValueError(
            f"{name} cannot be read as a table ({described(error)}). Save texts and "
            "labels as CSV in UTF-8, or give a data frame that you read yourself, such "
            "as pandas.read_csv(..., quoting=3)"
        ) from error


def _content(source: Any) -> bytes:
    """Return the bytes of a path, a URL or an open file."""
    if isinstance(source, str) and URL.match(source):
        with urllib.request.urlopen(source, timeout=URL_PATIENCE) as answer:
            return bytes(answer.read())
    if isinstance(source, (str, Path)):
        return Path(source).read_bytes()
    content = source.read() if hasattr(source, "read") else source
    if isinstance(content, str):
        return content.encode("utf-8", "surrogatepass")
    return bytes(content)


def _unpacked(content: bytes, ending: str) -> bytes:
    """Return the uncompressed content of a file, or of the only file in a zip."""
    if ending == ".zip":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            # A Mac adds hidden files; ./ and ../ are no part of a name.
            hidden = re.compile(r"/$|(^|/)(?!\.\.?/)[._]")
            members = [name for name in archive.namelist() if not hidden.search(name)]
            if len(members) != 1:
                raise ValueError(
                    f"it contains {len(members)} files, {shortened(members, 5)}; "
                    "unpack it and name one of them, or the folder"
                )
            return archive.read(members[0])
    return PACKED[ending](content) if ending in PACKED else content


def _read_binary(content: bytes, ending: str, wanted: Columns) -> pd.DataFrame:
    """Read a table by the reader of pandas for its ending."""
    table: pd.DataFrame = getattr(pd, BINARY[ending])(io.BytesIO(content))
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
                "comma behind the last item"
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
