"""A training kept in a file, to go on from."""

import hashlib
import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from attnsel.checks import check_same
from attnsel.scale.distributed import is_first
from attnsel.scale.files import read_whole, write_whole

SAVE_EVERY = 60.0  # seconds between two checkpoints
PARTS = ("settings", "measured", "scores", "model", "memories", "random")


class Checkpoint:
    """The file of one training, which is known by its settings.

    Args:
        path: the file; of several processes the first one writes it.
        settings: by name, what a training that goes on from the file must agree in.
        size: bytes that the file will take, to see before the first step if there is
            room for it.

    A FileNotFoundError tells of a folder that does not exist, an OSError of a folder
    that cannot be written to or has no room.
    """

    def __init__(
        self, path: str | os.PathLike[str], settings: dict[str, Any], size: int
    ) -> None:
        self.path, self.settings = Path(path), settings
        self.saved = time.monotonic()
        folder = self.path.absolute().parent
        if not folder.is_dir():
            raise FileNotFoundError(f"checkpoint: no folder {folder} for {self.path}")
        if self.path.is_dir() or not os.access(folder, os.W_OK):
            raise OSError(f"checkpoint: {self.path} cannot be written")
        free = shutil.disk_usage(folder).free
        if free < size:
            room = f"{size / 1e6:,.0f} MB are needed, {free / 1e6:,.0f} MB are free"
            raise OSError(f"checkpoint: no room for {self.path}: {room}")

    def is_due(self) -> bool:
        """Return whether the last one was saved long enough ago."""
        return time.monotonic() - self.saved >= SAVE_EVERY

    def read(self) -> dict[str, Any] | None:
        """Return what was saved, None if nothing was; ValueError if not of this one.

        A model may start where the training started, or where it was saved.
        """
        if not self.path.exists():
            return None
        try:
            state = read_whole(self.path)
        except ValueError as error:
            raise ValueError(f"checkpoint: {error}") from error
        if not set(state) >= set(PARTS):
            raise ValueError(f"checkpoint: {self.path} holds no training")
        here = dict(self.settings)
        if here["start"] == tensor_digest(state["model"].values()):
            here["start"] = state["settings"].get("start")
        check_same(here, state["settings"], f"the checkpoint {self.path}")
        self.settings = here
        return state

    def write(self, state: dict[str, Any]) -> None:
        """Save a state, whole or not at all."""
        if is_first():
            write_whole(self.path, {"settings": self.settings, **state})
        self.saved = time.monotonic()


def tensor_digest(tensors: Iterable[Tensor]) -> str:
    """Return a short text that other numbers, shapes or dtypes do not have."""
    digest = hashlib.blake2b(digest_size=8)
    for tensor in tensors:
        array = np.ascontiguousarray(tensor.detach().cpu().numpy())
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()
