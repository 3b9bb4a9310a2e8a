"""Read files, folders, addresses and data sets of the Hub by name."""

import glob
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from attnsel.texts.shipped import CORPORA
from attnsel_readers import hub
from attnsel_readers.columns import Columns
from attnsel_readers.files import ENDINGS, URL, ending_of, read_file
from attnsel_readers.folders import (
    files_of_split,
    is_one_text,
    read_texts,
    stem,
)
from attnsel_readers.frames import table_of


def read_path(source: str, split: str, wanted: Columns) -> tuple[str, Any, str]:
    """Read a path, an address, or a data set of the Hub.

    Returns:
        Its name, its content, and the split that is still to be taken of the content.
    """
    path = Path(source).expanduser()
    if URL.match(source):
        name = PurePosixPath(re.sub(r"[?#].*", "", source)).name
        return name.split(".")[0], read_file(source, wanted), split
    if path.is_dir():
        if (path / "dataset_dict.json").is_file() or (path / "state.json").is_file():
            return path.name, hub.saved_table(path), split
        files = files_of_split(path, split)
        name = stem(files[0]) if len(files) == 1 else path.name
        return name, _read_files(files, wanted), "train"
    if path.is_file():
        return stem(path), read_file(path, wanted), _split_of_file(path, split)
    if re.search(r"[*?\[]", source):
        matching = [Path(match) for match in sorted(glob.glob(str(path)))]
        if matching:
            return "texts", _read_files(matching, wanted), split
    return "texts", _from_hub(source), split


def _split_of_file(path: Path, split: str) -> str:
    """Return the split of a file; for example, test.csv is the test split."""
    if re.search(rf"(?<![a-z]){re.escape(split)}(?![a-z])", path.name.lower()):
        return "train"
    return split


def _read_files(paths: Sequence[Path], wanted: Columns) -> Any:
    """Read one file, parts of a table that follow one another, or a text per file."""
    if len(paths) == 1:
        return read_file(paths[0], wanted)
    if all(is_one_text(path) for path in paths):
        return read_texts(paths, wanted)
    parts = [table_of(read_file(path, wanted), wanted, "train") for path in paths]
    return pd.concat(parts, ignore_index=True)


def _from_hub(source: str) -> Any:
    """Read a data set of the Hub if the source, which is not a path, can be one."""
    why = ""
    if re.fullmatch(r"[\w-]+/[\w-][\w.-]*", source) and not ending_of(source):
        try:
            return hub.hub_table(source)
        except LookupError as error:
            why = f", nor a data set of the Hub ({error})"
    if ending_of(source):
        there = Path(source).expanduser().absolute().parent
        raise ValueError(f"there is no file {source!r} in {there}")
    raise ValueError(
        f"there is no corpus or readable file {source!r}{why}; the corpora are "
        f"{', '.join(CORPORA)}; files end in {', '.join(ENDINGS)}"
    )
