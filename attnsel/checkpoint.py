"""A training kept in a file, to go on from."""

import os
import pickle
import time
from pathlib import Path
from typing import Any

import torch

from attnsel.checks import check_same
from attnsel.together import is_first

SAVE_EVERY = 60.0  # seconds between two checkpoints


class Checkpoint:
    """The file of one training, which is known by its settings.

    Args:
        path: the file; of several processes the first one writes it.
        settings: by name, what a training that goes on from the file must agree in.
    """

    def __init__(self, path: str | os.PathLike[str], settings: dict[str, Any]) -> None:
        self.path, self.settings = Path(path), settings
        self.saved = time.monotonic()

    def is_due(self) -> bool:
        """Return whether the last one was saved long enough ago."""
        return time.monotonic() - self.saved >= SAVE_EVERY

    def read(self) -> dict[str, Any] | None:
        """Return what was saved, None if nothing was; ValueError if not of this one."""
        if not self.path.exists():
            return None
        try:
            state = torch.load(self.path, map_location="cpu", weights_only=True)
            settings, _ = state["settings"], state["measured"]
        except (RuntimeError, pickle.UnpicklingError, KeyError, EOFError) as error:
            raise ValueError(f"checkpoint: {self.path} holds no training") from error
        check_same(self.settings, settings, f"the checkpoint {self.path}")
        return state

    def write(self, state: dict[str, Any]) -> None:
        """Save a state, whole or not at all."""
        if is_first():
            part = self.path.with_name(f"{self.path.name}.part")
            try:
                with open(part, "wb") as file:
                    torch.save({"settings": self.settings, **state}, file)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(part, self.path)
            finally:
                part.unlink(missing_ok=True)
        self.saved = time.monotonic()
