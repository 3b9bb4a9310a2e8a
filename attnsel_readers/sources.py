"""Functions that read a table from a file, a folder, a web address or the Hub."""

import glob
import io
import re
import urllib.request
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from attnsel.texts.shipped import CORPORA
from attnsel_readers import hub
from attnsel_readers.columns import Columns
from attnsel_readers.files import ENDINGS, JSON, read_file, read_open
from attnsel_readers.folders import (
    files_of_split,
    is_one_text,
    read_texts,
    readable_ending,
    stem,
)
from attnsel_readers.frames import one_table, table_of
from attnsel_readers.refusals import into_csv, refuse_unreadable

URL_PATIENCE = 60.0  # seconds


def read_path(source: str, split: str, wanted: Columns) -> tuple[str, Any]:
    """Read one split from a path, a pattern, a web address or a data set of the Hub.

    Returns:
        The name of the corpus, and a data frame or a data set of `datasets`.
    """
    if re.match(r"[a-z][a-z0-9+]+://", source):
        file = _fetched(source)
        table = table_of(read_open(file, wanted), wanted, split)
        return file.name.split(".")[0], table
    path = Path(source).expanduser()
    if path.is_dir():
        if (path / "dataset_dict.json").is_file() or (path / "state.json").is_file():
            return path.name, table_of(hub.saved_table(path), wanted, split)
        return _read_files(files_of_split(path, split), path.name, "train", wanted)
    if path.is_file():
        refuse_unreadable(path)
        return _read_files([path], stem(path), _split_of_file(path, split), wanted)
    if re.search(r"[*?\[]", source):
        matching = [Path(match) for match in sorted(glob.glob(str(path)))]
        if matching:
            return _read_files(matching, "texts", split, wanted)
    return "texts", table_of(_from_hub(source), wanted, split)


def _fetched(url: str) -> Any:
    """Return a file on the web; if this fails, an error states other ways to get it."""
    name = PurePosixPath(re.sub(r"[?#].*", "", url)).name
    try:
        with urllib.request.urlopen(url, timeout=URL_PATIENCE) as answer:
            file = io.BytesIO(answer.read())
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{url} was not fetched ({error}); connect to the network, or download the "
            f"file and read {name!r}. If pandas can open the address (such as s3:// "
            f"with the library s3fs), {into_csv(name, f'read_csv({url!r})')}"
        ) from error
    file.name = name
    return file


def _split_of_file(path: Path, split: str) -> str:
    """Return "train" for a file with the name of the split, else `split` itself."""
    if re.search(rf"(?<![a-z]){re.escape(split)}(?![a-z])", path.name.lower()):
        return "train"
    return split


def _read_files(
    paths: Sequence[Path], name: str, split: str, wanted: Columns
) -> tuple[str, Any]:
    """Read one file, parts of a table that follow one another, or a text per file.

    `name` is the common name of several files.
    """
    if len(paths) == 1:
        (path,) = paths
        # Only JSON can hold several splits.
        if split != "train" and readable_ending(path) not in JSON:
            raise one_table(str(path), split)
        return stem(path), table_of(read_file(path, wanted), wanted, split)
    if split != "train":
        raise one_table(name, split)
    if all(is_one_text(path) for path in paths):
        return name, read_texts(paths, wanted)
    parts = [_read_part(path, wanted) for path in paths]
    return name, pd.concat(parts, ignore_index=True)


def _read_part(path: Path, wanted: Columns) -> pd.DataFrame:
    """Read a part of a table; in a folder such as label=good, rows get this label."""
    table = table_of(read_file(path, wanted), wanted, "train")
    column, is_value, value = path.parent.name.partition("=")
    return table.assign(**{column: value}) if is_value else table


def _from_hub(source: str) -> Any:
    """Read a source that is not a path as a data set of the Hub, if it can be one."""
    why = ""
    if re.fullmatch(r"[\w-]+/[\w-][\w.-]*", source) and not readable_ending(
        Path(source)
    ):
        try:
            return hub.hub_table(source)
        except LookupError as error:
            why = f", nor a data set of the Hub ({error})"
    refuse_unreadable(source)
    if readable_ending(Path(source)):
        path = Path(source).expanduser().absolute()
        raise ValueError(f"there is no file {path.name!r} in {path.parent}")
    raise ValueError(
        f"there is no corpus or readable file {source!r}{why}; the corpora are "
        f"{', '.join(CORPORA)}; files end in {', '.join(ENDINGS)}"
    )
