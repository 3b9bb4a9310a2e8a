"""Find files, folders, addresses and data sets of the Hub by name."""

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
from attnsel_readers.frames import DataSplit, one_table, table_of
from attnsel_readers.refusals import into_csv, refuse_unreadable

URL_PATIENCE = 60.0  # seconds


def find_path(source: str, split: str) -> DataSplit:
    """Find the rows of a split at a path, an address, or in a data set of the Hub."""
    if re.match(r"[a-z][a-z0-9+]+://", source):
        return _at_url(source, split)
    return _at_path(source, split)


def _at_url(url: str, split: str) -> DataSplit:
    """Find a file on the web; a ValueError contains another way to get it."""
    name = PurePosixPath(re.sub(r"[?#].*", "", url)).name

    def read(wanted: Columns) -> Any:
        try:
            with urllib.request.urlopen(url, timeout=URL_PATIENCE) as answer:
                content = answer.read()
        except (OSError, ValueError) as error:
            raise ValueError(
                f"{url} was not fetched ({error}); connect to the network, or download "
                f"it and name {name!r}; with a library for such addresses, "
                f"{into_csv(name, f'read_csv({url!r})')}"
            ) from error
        file = io.BytesIO(content)
        file.name = name
        return table_of(read_open(file, wanted), wanted, split)

    return DataSplit(name.split(".")[0], read)


def _at_path(source: str, split: str) -> DataSplit:
    """Find a file, the files of a folder or of a pattern, or a data set of the Hub."""
    path = Path(source).expanduser()
    if path.is_dir():
        if (path / "dataset_dict.json").is_file() or (path / "state.json").is_file():
            saved = hub.saved_table(path)
            return DataSplit(path.name, lambda wanted: table_of(saved, wanted, split))
        return _of_files(files_of_split(path, split), path.name, "train")
    if path.is_file():
        refuse_unreadable(path)
        return _of_files([path], stem(path), _split_of_file(path, split))
    if re.search(r"[*?\[]", source):
        matching = [Path(match) for match in sorted(glob.glob(str(path)))]
        if matching:
            return _of_files(matching, "texts", split)
    return _on_hub(source, split)


def _split_of_file(path: Path, split: str) -> str:
    """Return the split of a file; for example, test.csv is the test split."""
    if re.search(rf"(?<![a-z]){re.escape(split)}(?![a-z])", path.name.lower()):
        return "train"
    return split


def _of_files(paths: Sequence[Path], name: str, split: str) -> DataSplit:
    """Take a table from one file, from parts that follow one another, or from texts.

    `name` is the common name of several files.
    """
    if len(paths) == 1:
        (path,) = paths

        def read(wanted: Columns) -> Any:
            return table_of(read_file(path, wanted), wanted, split)

        # Only JSON can hold several splits.
        if split != "train" and readable_ending(path) not in JSON:
            raise one_table(str(path), split)
        return DataSplit(stem(path), read)
    if split != "train":
        raise one_table(name, split)
    if all(is_one_text(path) for path in paths):
        return DataSplit(name, lambda wanted: read_texts(paths, wanted))
    return DataSplit(name, lambda wanted: _read_parts(paths, wanted))


def _read_parts(paths: Sequence[Path], wanted: Columns) -> pd.DataFrame:
    return pd.concat([_read_part(path, wanted) for path in paths], ignore_index=True)


def _read_part(path: Path, wanted: Columns) -> pd.DataFrame:
    """Read a part; in a folder such as label=good, all rows have this label."""
    table = table_of(read_file(path, wanted), wanted, "train")
    column, is_value, value = path.parent.name.partition("=")
    return table.assign(**{column: value}) if is_value else table


def _on_hub(source: str, split: str) -> DataSplit:
    """Find a data set of the Hub if the source, which is not a path, can be one."""
    why = ""
    if re.fullmatch(r"[\w-]+/[\w-][\w.-]*", source) and not readable_ending(
        Path(source)
    ):
        try:
            table = hub.hub_table(source)
            return DataSplit("texts", lambda wanted: table_of(table, wanted, split))
        except LookupError as error:
            why = f", nor a data set of the Hub ({error})"
    refuse_unreadable(source)
    if readable_ending(Path(source)):
        there = Path(source).expanduser().absolute().parent
        raise ValueError(f"there is no file {source!r} in {there}")
    raise ValueError(
        f"there is no corpus or readable file {source!r}{why}; the corpora are "
        f"{', '.join(CORPORA)}; files end in {', '.join(ENDINGS)}"
    )
