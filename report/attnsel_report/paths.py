"""Paths for new files that do not overwrite existing files by accident."""

import os
import tempfile
from itertools import count
from pathlib import Path


def free_place(path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Return a path that does not exist: `path` itself, or name-2, name-3 and so on.

    With `force`, the function returns `path` even if the file exists.

    Raises:
        OSError: if the path is a folder, or if its folder is missing or not writable.
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
            f"no file can be written to {file.parent} ({error.strerror})"
        ) from error
    if force or not file.exists():
        return file
    numbered = (file.with_stem(f"{file.stem}-{number}") for number in count(2))
    return next(place for place in numbered if not place.exists())
