"""Where to write a file, so that none is written over unasked."""

from __future__ import annotations

import os
import tempfile
from itertools import count
from pathlib import Path


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
