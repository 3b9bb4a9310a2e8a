"""Folders as people have them: a file for each split, parts of one, a file a text."""

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from attnsel.texts.tables import (
    ENDINGS,
    SPLITS,
    Columns,
    decoded,
    one_table,
)

UNLABELLED = ("unsup", "unlabelled", "unlabeled")  # folders of texts without a class
_PART = r"([-_.]?(part|chunk)?[-_.]?\d+([-_.]of[-_.]\d+)?)?"


def readable_ending(path: Path) -> str:
    """Return the ending that says how to read a file, if it is one of those known."""
    name = re.sub(r"\.(gz|zip|bz2|xz|zst)$", "", path.name.lower())
    ending = Path(name).suffix
    return ending if ending in ENDINGS else ""


def stem(path: Path) -> str:
    """Return the name of a file without its endings."""
    return path.name.split(".")[0]


def files_of_split(folder: Path, split: str) -> list[Path]:
    """Return the files of one split in a folder: tables, or texts in folders a class.

    A split is a file or a folder with its name, or several numbered ones; a folder
    without the name of any split is one table. A ValueError says what is there.
    """
    named = {name: _named(folder, name) for name in (*SPLITS, split)}
    if named[split]:
        return named[split]
    others = [name for name, files in named.items() if files]
    if others:
        raise ValueError(
            f"split: {folder} holds {' and '.join(others)}, but nothing called {split}"
        )
    whole = (
        _texts_in_classes(folder)
        or _parts(folder, ".*?")
        or _parts(folder, ".*?", "*=*/*")  # Parquet by the values of a column
    )
    if whole and split != "train":
        raise one_table(str(folder), split)
    if not whole:
        there = sorted(path.name for path in folder.iterdir())[:10]
        wanted = f"{split}.csv or the like, or folders of texts, one a class"
        raise ValueError(f"{folder}: expected {wanted}, got {there}")
    return whole


def _named(folder: Path, split: str) -> list[Path]:
    """Return the files called like a split, in a folder or one below it."""
    inner = folder / split
    if inner.is_dir():
        return _texts_in_classes(inner) or _parts(inner, ".*?")
    return _parts(folder, re.escape(split)) or _parts(folder, re.escape(split), "*/*")


def _parts(folder: Path, name: str, pattern: str = "*") -> list[Path]:
    """Return the one file of a name, or its numbered parts in their order."""
    numbered = re.compile(f"({name}){_PART}")
    files = [path for path in folder.glob(pattern) if path.is_file()]
    matches = {p: numbered.fullmatch(stem(p)) for p in files if readable_ending(p)}
    if not all(_is_prose(path) for path in matches):  # a README beside a table
        matches = {p: match for p, match in matches.items() if not _is_prose(p)}
    found = {path: match[1] for path, match in matches.items() if match}
    names, endings = set(found.values()), {readable_ending(path) for path in found}
    if len(found) > 1 and (len(names) > 1 or len(endings) > 1):
        there = sorted(path.name for path in found)[:10]
        raise ValueError(f"{folder}: expected one train.csv or the like, got {there}")
    return sorted(found, key=lambda path: _by_number(path.name))


def _is_prose(path: Path) -> bool:
    return readable_ending(path) == ".txt"


def _by_number(name: str) -> list[str | int]:
    """Sort part 10 after part 9."""
    return [int(x) if x.isdigit() else x for x in re.split(r"(\d+)", name)]


def _texts_in_classes(folder: Path) -> list[Path]:
    """Return the files of texts in two folders or more, each called like a class."""
    texts = [p for p in folder.glob("*/*") if p.is_file() and is_one_text(p)]
    classes = {path.parent for path in texts}
    return sorted(texts) if len(classes) > 1 else []


def is_one_text(path: Path) -> bool:
    """Say whether a file in the folder of a class is a text rather than a table."""
    return path.suffix in (".txt", "") and not path.name.startswith(".")


def read_texts(paths: Sequence[Path], wanted: Columns) -> pd.DataFrame:
    """Read a text from each file; its class is the name of the folder."""
    texts = [decoded(path.read_bytes()) for path in paths]
    labels = [path.parent.name for path in paths]
    classes = [None if label in UNLABELLED else label for label in labels]
    return pd.DataFrame({wanted.text: texts, wanted.label: classes})
