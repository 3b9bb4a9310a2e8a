"""Functions that write files completely or not at all, and detect damaged files."""

import os
import pickle
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

UNFINISHED: list[Path] = []  # files that are not in their place yet


def write_files(files: Mapping[Path, bytes | dict[str, Any]]) -> None:
    """Write all of the given files or, if one cannot be written, none of them.

    `files` maps paths to contents: bytes, or a dictionary of tensors, numbers, strings
    and lists, which `read_verified` can read.

    Raises:
        OSError: if a file cannot be written, in which case no file has changed, or if a
            written file cannot be moved to its place. The message names the file.
    """
    parts: dict[Path, Path] = {}
    try:
        for path, content in files.items():
            part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
            UNFINISHED.append(part)  # first, so that `remove` below finds it
            parts[path] = part
            try:
                _write(parts[path], content)
            except (OSError, RuntimeError) as error:  # torch raises either
                reason = getattr(error, "strerror", None) or error
                raise OSError(
                    f"{path} cannot be written ({reason}); no file has changed"
                ) from error
        for path, part in parts.items():
            os.replace(part, path)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
            UNFINISHED.remove(part)


def _write(path: Path, content: bytes | dict[str, Any]) -> None:
    with open(path, "wb") as file:
        if isinstance(content, bytes):
            file.write(content)
        else:
            import torch  # the help of a shell does not wait for it

            torch.save(content, file)
        file.flush()
        os.fsync(file.fileno())


def remove_unfinished() -> None:
    """Remove the temporary files of writes that are not complete."""
    for part in UNFINISHED:
        part.unlink(missing_ok=True)


def read_verified(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the dictionary in a file that `write_files` wrote.

    Each part of the file has a checksum, so that a changed byte is detected. If the
    file contains code, the function raises an error and does not run the code.

    Raises:
        OSError: if the file cannot be opened.
        ValueError: if the file is damaged, contains code, or is not a dictionary.
    """
    import torch

    with open(path, "rb") as file:
        try:
            damaged = ZipFile(file).testzip()
            if damaged is not None:
                raise BadZipFile(f"{damaged} has a wrong checksum")
            file.seek(0)
            content = torch.load(file, map_location="cpu", weights_only=True)
        except pickle.UnpicklingError as error:
            raise ValueError(f"{path} contains code, which is not run") from error
        except Exception as error:  # there is no end to what a changed byte may cause
            message = f"{path} is damaged, or was not written by attnsel: {error}"
            raise ValueError(message) from error
    if not isinstance(content, dict):
        raise ValueError(
            f"{path} was not written by attnsel: it contains no dictionary"
        )
    return content
