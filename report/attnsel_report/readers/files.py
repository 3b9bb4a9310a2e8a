"""Files become data frames; `pandas` does the reading."""

import bz2
import gzip
import io
import json
import lzma
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa

from attnsel.texts.cells import as_list
from attnsel.texts.columns import Columns, find_columns, plain_name
from attnsel.validation import described, shortened
from attnsel_report.readers.delimited import (
    find_separator,
    first_row,
    read_delimited,
)
from attnsel_report.readers.encodings import decoded, likely_encodings
from attnsel_report.readers.lines import read_lines
from attnsel_report.readers.refusals import into_csv, refuse_unreadable, unpack

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
# Half of a letter of two escapes in JSON: a first one without its second, or a second.
FIRST, SECOND = r"\\u[dD][89abAB]..", r"\\u[dD][c-fC-F].."
HALF = re.compile(rf"(?<!\\)(?:{FIRST}(?!{SECOND})|(?<!{FIRST}){SECOND})")
MOST = 1 << 30  # bytes that a compressed file may unpack to
TURN = "\0turn"  # column of the random numbers by which rows are drawn
BLOCK = 1 << 23  # bytes of a larger file that are read at once for a sample


class SeveralFiles(ValueError):
    """A zip has several files, which its message names with the line to type."""


# Files


def read_file(path: Path, wanted: Columns) -> Any:
    """Read a file as a table, or as what JSON holds; its content tells how.

    Texts such as 007 and NA stay as they are. Of a large table with a limit of rows
    there are as many rows of each class, drawn at random, and all others are dropped.

    Raises:
        ValueError: if it cannot be read; the message names the file.
    """
    refuse_unreadable(str(path))
    with path.open("rb") as file:
        if wanted.limit is not None and _is_large_table(file, path):
            return _sampled(file, path, wanted)
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
    ending = PurePath(name).suffix.lower()
    try:
        return _table_or_json(*_uncompressed(content, name), wanted)
    except SeveralFiles:
        raise
    except ImportError as error:
        raise ValueError(
            f"{name} needs a library to be read ({error}); install it, or save the "
            "table as CSV"
        ) from error
    except UnicodeDecodeError as error:
        if 0 in content:
            cause = described(error) if ending in BINARY else "a NUL byte: it is binary"
            raise ValueError(f"{name} cannot be read as a table ({cause})") from error
        first, *_ = fitting = likely_encodings(content)
        reader = "read_json" if ending in JSON else "read_csv"
        call = f"{reader}({name!r}, encoding={first!r})"
        raise ValueError(
            f"{name} cannot be read as a table: it is not UTF-8 ({error.reason} at "
            f"byte {error.start}). Its letters may be those of {' or '.join(fitting)}. "
            f"For {first}, {into_csv(name, call)}; if the letters there look wrong, "
            "use another encoding"
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
    """Return the error about rows that do not fit the columns, and how to read on."""
    content, inner = _uncompressed(content, name)
    text = decoded(content)
    cause = f"{name} cannot be read as a table ({described(error)})"
    options = "on_bad_lines='skip'"
    separator = find_separator(text, wanted, PurePath(inner).suffix.lower())
    if separator != ",":
        options += f", sep={separator!r}"
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        options += ", encoding='utf-16'"
    elif text.encode() not in content:
        options += ", encoding='cp1252'"
    if '\\"' in text:
        why = "its texts have a backslash before a quote; where that is meant"
        options += ", escapechar=chr(92)"
    elif isinstance(error, pd.errors.ParserWarning):
        return ValueError(
            f"{name} cannot be read as a table: it has rows of more fields than its "
            "first line. If the first line lacks the name of a column, add it; if "
            "texts contain the separator, put double quotes around them and double "
            "those inside"
        )
    elif "quote" in str(error) or "EOF inside string" in str(error):
        why = (
            "a quote that opens there is not closed; to take quotes as letters and "
            "leave out rows of more fields"
        )
        options += ", quoting=3"
    else:
        why = "a text that holds the separator needs quotes; to leave such rows out"
    line = into_csv(name, f"read_csv({name!r}, {options})")
    return ValueError(f"{cause}; {why}, {line}")


# Compressed files


def _uncompressed(content: bytes, name: str) -> tuple[bytes, str]:
    """Undo compression; take its ending off the name.

    Raises:
        ValueError: if there are more bytes than MOST.
    """
    stream, inner, stated = _opened(io.BytesIO(content), name)
    if inner is None:
        return content, name
    parts, size = [], 0
    while max(size, stated) <= MOST and (part := stream.read(BLOCK)):
        parts.append(part)
        size += len(part)
    if max(size, stated) > MOST:
        raise ValueError(
            f"it unpacks to more than {MOST >> 30} GB; unpack it first, or name a "
            "limit= of rows to draw at random"
        )
    return b"".join(parts), inner


def _opened(file: BinaryIO, name: str) -> tuple[Any, str | None, int]:
    """Return the uncompressed content of a file as a stream, its name, and its size.

    The first bytes tell how the file is compressed. The name is the one without the
    ending of the compression, or None if the file is not compressed. The size is 0
    except for a zip, because only a zip states it.

    Raises:
        ValueError: if it is a zip of no file, or of several.
    """
    beginning = file.read(6)
    file.seek(0)
    inner = re.sub(r"\.(gz|bz2|xz|zst)$", "", name, flags=re.IGNORECASE)
    if beginning.startswith(b"\x1f\x8b"):
        return gzip.open(file), inner, 0
    if beginning.startswith(b"BZh"):
        return bz2.open(file), inner, 0
    if beginning.startswith(b"\xfd7zXZ"):
        return lzma.open(file), inner, 0
    if beginning.startswith(b"\x28\xb5\x2f\xfd"):
        return pa.CompressedInputStream(file, "zstd"), inner, 0
    if name.lower().endswith(".zip"):
        archive = zipfile.ZipFile(file)
        names = archive.namelist()
        # A Mac adds hidden files; ./ and ../ are no part of a name.
        hidden = re.compile(r"/$|(^|/)(?!\.\.?/)[._]")
        members = [name for name in names if not hidden.search(name)]
        if not members:
            raise ValueError("it is empty")
        if len(members) > 1:
            shown = shortened(members, 5)
            raise SeveralFiles(
                f"{name} holds {len(members)} files, {shown}; {unpack(name)}"
            )
        size = archive.getinfo(members[0]).file_size
        return archive.open(members[0]), members[0], size
    return file, None, 0


# Samples of large tables


def _is_large_table(file: BinaryIO, path: Path) -> bool:
    """Say whether a file is a table of rows with more bytes than a BLOCK."""
    try:
        stream, inner, _ = _opened(file, path.name)
        beginning = stream.read(BLOCK + 1)
    except Exception:  # which reading the file raises again, with its name
        return False
    finally:
        file.seek(0)
    ending = PurePath(inner or path.name).suffix.lower()
    has_one_byte_a_letter = 0 not in beginning[:1000]
    return len(beginning) > BLOCK and ending in DELIMITED and has_one_byte_a_letter


def _sampled(file: BinaryIO, path: Path, wanted: Columns) -> pd.DataFrame:
    """Return a table of `wanted.limit` random rows of each class, block by block.

    Its index are the places of the rows, and `attrs["rows"]` their number in the file.
    """
    stream, inner, _ = _opened(file, str(path))
    random = np.random.default_rng(0)
    kept, head, n = pd.DataFrame(), b"", 0
    for block in _blocks_of_rows(stream):
        table = read_bytes(head + block, inner or str(path), wanted)
        if n == 0:
            head = _line_of_names(block, wanted, table)
        found = find_columns(list(table), wanted)
        table.index += n
        n += len(table)
        table[TURN] = random.random(len(table))
        kept = pd.concat([kept, table]).sort_values(TURN)
        if found.label is None:
            kept = kept.head(wanted.limit)
        else:
            kept = kept.groupby(found.label, dropna=False).head(wanted.limit)
    kept = kept.sort_index().drop(columns=TURN)
    kept.attrs["rows"] = n
    return kept


def _blocks_of_rows(stream: BinaryIO) -> Iterator[bytes]:
    """Yield a stream in blocks that end at a line end with all quotes closed."""
    rest = b""
    while part := stream.read(BLOCK):
        rest += part
        stop = len(rest)
        for _ in range(100):
            stop = rest.rfind(b"\n", 0, stop)
            if stop < 0 or rest.count(b'"', 0, stop) % 2 == 0:
                break
        if stop < 0:
            continue  # no row has ended yet
        yield rest[: stop + 1]
        rest = rest[stop + 1 :]
    if rest.strip():
        yield rest


def _line_of_names(block: bytes, wanted: Columns, table: pd.DataFrame) -> bytes:
    """Return the first line of a block if it names the columns, or else such a line.

    The names are those of `table`, as which the block was read, because a block of a
    few rows may not show which column holds the labels. Places need no names.
    """
    line = block[: block.find(b"\n") + 1]
    text = decoded(block)
    separator = find_separator(text, wanted, "")
    try:
        find_columns(first_row(text, separator), wanted)
    except KeyError:
        names = [name for name in table if isinstance(name, str)]
        return f"{separator.join(names)}\n".encode() if names else b""
    return line


# What a file holds


def _table_or_json(content: bytes, name: str, wanted: Columns) -> Any:
    """Read uncompressed content by the ending of its name, or by how it begins."""
    ending = PurePath(name.lower()).suffix
    for beginning, known in BEGINNINGS.items():
        if ending not in ENDINGS and content.startswith(beginning):
            ending = known
    if ending in BINARY:
        frame = _read_binary(content, ending)
        for name in frame:
            if plain_name(name) in map(plain_name, as_list(wanted.text)):
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
    return read_delimited(text, wanted, ending) if table is None else table


def _read_binary(content: bytes, ending: str) -> pd.DataFrame:
    reader = getattr(pd, BINARY[ending])
    try:
        return reader(io.BytesIO(content))
    except pa.ArrowInvalid:
        if ending != ".arrow":
            raise
        # A stream, such as `datasets` writes.
        return pa.ipc.open_stream(content).read_pandas()


def _read_json(text: str) -> Any:
    """Return what JSON holds: one value, or a record in each line.

    Half letters, such as half of an emoji that was cut, are replaced by \ufffd.
    """
    text = HALF.sub(r"\\ufffd", text)
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) < 2:
            raise
        return [_record(line, number) for number, line in enumerate(lines, 1)]


def _record(line: str, number: int) -> Any:
    """Return what a line of JSON holds."""
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"line {number} is no JSON ({error.msg}): {line[:60]}"
        ) from error
