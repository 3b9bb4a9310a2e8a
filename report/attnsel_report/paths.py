"""Writing a text whole or not at all, and never over another one unasked."""

from __future__ import annotations

import os
import tempfile
from itertools import count
from pathlib import Path


def free_place(path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Return the file to write: the path, or name-2, name-3, ... if there is such one.

    With `force` it is the path. An OSError tells of a folder that is not there or
    cannot be written to.
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
        told = f"nothing can be written in {file.parent} ({error.strerror})"
        raise type(error)(told) from error
    if force or not file.exists():
        return file
    numbered = (file.with_stem(f"{file.stem}-{number}") for number in count(2))
    return next(place for place in numbered if not place.exists())


def write_text(file: Path, text: str) -> None:
    """Write a text in UTF-8; an OSError leaves the file as it was."""
    handle, part = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with open(handle, "w", encoding="utf-8", newline="") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(part, 0o666 & ~mask)  # a temporary file is for its owner alone
        os.replace(part, file)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
