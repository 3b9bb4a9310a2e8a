"""Writing texts whole or not at all, and never over another one unasked."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from itertools import count
from pathlib import Path

UNFINISHED: list[Path] = []  # files that are not in their place yet


def free_place(path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Return the file to write: the path, or name-2, name-3, ... if there is such one.

    With `force` it is the path.

    Raises:
        OSError: if its folder does not exist or cannot be written to.
    """
    file = Path(path).expanduser()
    if file.is_dir():
        raise IsADirectoryError(f"{file} is a folder; name a file in it")
    if not file.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {file.parent}; make it first")
    try:
        with tempfile.TemporaryFile(dir=file.parent):
            pass
    except OSError as error:
        raise type(error)(
            f"nothing can be written in {file.parent} ({error.strerror})"
        ) from error
    if force or not file.exists():
        return file
    numbered = (file.with_stem(f"{file.stem}-{number}") for number in count(2))
    return next(place for place in numbered if not place.exists())


def write_texts(texts: Mapping[Path, str]) -> None:
    """Write texts in UTF-8, all of them or none.

    Raises:
        OSError: if one cannot be written; the message names it, and all files are as
            they were.
    """
    parts = {}
    try:
        for file, text in texts.items():
            try:
                parts[file] = _written(file, text)
            except OSError as error:
                raise type(error)(
                    f"{file} cannot be written ({error.strerror}); no file has changed"
                ) from error
        for file, part in parts.items():
            os.replace(part, file)
    finally:
        remove_unfinished()


def _written(file: Path, text: str) -> Path:
    """Write a text beside the file that it is for."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    UNFINISHED.append(Path(name))
    with open(handle, "w", encoding="utf-8", newline="") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(name, 0o666 & ~mask)  # a temporary file is for its owner alone
    return Path(name)


def remove_unfinished() -> None:
    """Remove the files that are not written to their end."""
    while UNFINISHED:
        UNFINISHED.pop().unlink(missing_ok=True)
