"""Functions that find the files of a split in a folder, and read one text per file."""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from attnsel_readers.columns import Columns
from attnsel_readers.encodings import letters_of
from attnsel_readers.files import ENDINGS
from attnsel_readers.frames import SPLITS, NoSuchSplit, one_table

UNLABELLED = ("unsup", "unlabelled", "unlabeled")  # folders of texts without a class
_PART = r"([-_.]?(part|chunk)?[-_.]?\d+([-_.]of[-_.]\d+)?)?"


def readable_ending(path: Path) -> str:
    """Return the ending that determines how to read a file; "" if it is not known."""
    name = re.sub(r"\.(gz|zip|bz2|xz|zst)$", "", path.name.lower())
    ending = Path(name).suffix
    return ending if ending in ENDINGS else ""


def stem(path: Path) -> str:
    """Return the name of a file without its endings."""
    return path.name.split(".")[0]


def files_of_split(folder: Path, split: str) -> list[Path]:
    """Return the files of a split: tables, or texts in one folder per class.

    A split consists of a file or folder with its name, or of several numbered files. A
    folder in which nothing has the name of a split has only the split "train".

    Raises:
        ValueError: if the folder has no such split or no file that can be read, or if
            several tables could be the same split.
    """
    found = {name: _files_called(folder, name) for name in (*SPLITS, split)}
    if found[split]:
        return found[split]
    others = [name for name, files in found.items() if files]
    if others:
        raise NoSuchSplit(
            f"split: {folder} contains {' and '.join(others)}, but no {split}"
        )
    # Parquet by the values of a column lies in folders such as label=good.
    table = (
        _texts_in_classes(folder)
        or _parts(folder, ".*?")
        or _parts(folder, ".*?", "*=*/*")
    )
    if not table:
        wanted = f"{split}.csv or the like, or one folder of texts per class"
        there = sorted(path.name for path in folder.iterdir())[:10]
        got = f"got {there}" if there else "it is empty"
        raise ValueError(f"{folder}: expected {wanted}; {got}")
    if split != "train":
        raise one_table(str(folder), split)
    return table


def _files_called(folder: Path, split: str) -> list[Path]:
    """Return the files with the name of a split, in a folder or one level below it."""
    inner = folder / split
    if inner.is_dir():
        return _texts_in_classes(inner) or _parts(inner, ".*?")
    name = re.escape(split)
    return _parts(folder, name) or _parts(folder, name, "*/*")


def _parts(folder: Path, name: str, pattern: str = "*") -> list[Path]:
    """Return the file with a name, or the numbered parts of the file in their order."""
    numbered = re.compile(f"({name}){_PART}")
    found: list[Path] = []
    kinds: set[tuple[str, str]] = set()
    for path in _tables(folder, pattern):
        match = numbered.fullmatch(stem(path))
        if match:
            found.append(path)
            kinds.add((match[1], readable_ending(path)))
    if len(kinds) > 1:
        there = sorted(path.name for path in found)[:10]
        every = str(folder / f"*{found[0].suffix}")
        raise ValueError(
            f"{folder}: expected one train.csv or the like, got {there}; pass one of "
            f"them or, if all are parts of one table, the pattern {every!r}"
        )
    return sorted(found, key=_by_number)


def _tables(folder: Path, pattern: str) -> list[Path]:
    """Return the files that can be read, without prose next to tables (a README)."""
    files = [path for path in folder.glob(pattern) if path.is_file()]
    readable = [path for path in files if readable_ending(path)]
    tables = [path for path in readable if readable_ending(path) != ".txt"]
    return tables or readable


def _by_number(path: Path) -> list[str | int]:
    """Return a sort key for which part 10 comes after part 9."""
    pieces = re.split(r"(\d+)", str(path))
    return [int(piece) if piece.isdigit() else piece for piece in pieces]


def _texts_in_classes(folder: Path) -> list[Path]:
    """Return the files of texts in two or more folders with the names of classes."""
    texts = [p for p in folder.glob("*/*") if p.is_file() and is_one_text(p)]
    classes = {path.parent for path in texts}
    return sorted(texts) if len(classes) > 1 else []


def is_one_text(path: Path) -> bool:
    """Return whether a file in the folder of a class is a text, not a table."""
    return path.suffix in (".txt", "") and not path.name.startswith(".")


def read_texts(paths: Sequence[Path], wanted: Columns) -> pd.DataFrame:
    """Read one text per file, and return the texts with their classes.

    The class is the name of the folder, or None for the names in `UNLABELLED`.
    """
    texts = []
    for path in paths:
        letters = letters_of(partial(path.open, "rb"))
        texts.append(path.read_text(letters.encoding, letters.errors))
    labels = [path.parent.name for path in paths]
    classes = [None if label in UNLABELLED else label for label in labels]
    return pd.DataFrame({wanted.text: texts, wanted.label: classes})
