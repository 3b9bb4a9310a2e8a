"""Tensors and plain values in a file: written completely or not at all, verified."""

import os
import pickle
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import torch

Pathlike = str | os.PathLike[str]


def write_atomically(path: Pathlike, content: dict[str, Any]) -> None:
    """Write tensors, numbers, strings and lists of them to a file.

    The file has all of its new content, or is as it was before.

    Raises:
        OSError: if the file cannot be written; the message names it.
    """
    path = Path(path)
    part = path.with_name(f"{path.name}.part")
    try:
        with open(part, "wb") as file:
            torch.save(content, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except (OSError, RuntimeError) as error:
        raise OSError(f"{path} could not be written: {error}") from error
    finally:
        part.unlink(missing_ok=True)


def read_verified(path: Pathlike) -> dict[str, Any]:
    """Return the content of a file that `write_atomically` wrote.

    Each part of the file has a checksum, so that a changed byte is noticed. A file that
    contains code is refused, and the code is not run.

    Raises:
        ValueError: if the file is damaged, contains code, or is of another kind.
    """
    with open(path, "rb") as file:
        try:
            damaged = ZipFile(file).testzip()
            if damaged is not None:
                raise BadZipFile(f"{damaged} has another checksum")
            file.seek(0)
            content = torch.load(file, map_location="cpu", weights_only=True)
        except pickle.UnpicklingError as error:
            raise ValueError(f"{path} holds code, which is not run") from error
        except Exception as error:  # there is no end to what a changed byte may cause
            message = f"{path} is damaged, or of another kind: {error}"
            raise ValueError(message) from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} is of another kind: it holds no names")
    return content
