"""Files that are written completely or not at all, and tensors in them, verified."""

import os
import pickle
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

UNFINISHED: list[Path] = []  # files that are not in their place yet


def write_files(files: Mapping[Path, bytes | dict[str, Any]]) -> None:
    """Write files, all of them or none.

    The content of a file is bytes, or by name tensors, numbers, strings and lists of
    them, for `read_verified`.

    Raises:
        OSError: if one cannot be written; the message names it, and all files are as
            they were.
    """
    parts: dict[Path, Path] = {}
    try:
        for path, content in files.items():
            parts[path] = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
            UNFINISHED.append(parts[path])
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
    """Remove the files that are not written to their end."""
    for part in UNFINISHED:
        part.unlink(missing_ok=True)


def read_verified(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the content of a file of tensors that `write_files` wrote.

    Each part of the file has a checksum, so that a changed byte is noticed. A file that
    contains code is refused, and the code is not run.

    Raises:
        ValueError: if the file is damaged, contains code, or is of another kind.
    """
    import torch

    with open(path, "rb") as file:
        try:
            damaged = ZipFile(file).testzip()
            if damaged is not None:
                raise BadZipFile(f"{damaged} has another checksum")
            file.seek(0)
            content = torch.load(file, map_location="cpu", weights_only=True)
        except pickle.UnpicklingError as error:
            raise ValueError(f"{path} contains code, which is not run") from error
        except Exception as error:  # there is no end to what a changed byte may cause
            message = f"{path} is damaged, or of another kind: {error}"
            raise ValueError(message) from error
    if not isinstance(content, dict):
        raise ValueError(
            f"{path} was not written by attnsel: it contains no dictionary"
        )
    return content
