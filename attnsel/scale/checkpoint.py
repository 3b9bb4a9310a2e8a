"""Files with the state of a training run, from which the run can be resumed."""

import hashlib
import os
import shutil
import time
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attnsel.corpus import Corpus
from attnsel.files import read_verified, write_files
from attnsel.scale.distributed import check_same, gathered, is_first

SAVE_EVERY = 60.0  # seconds between two checkpoints
PARTS = ("settings", "measured", "scores", "model", "memories", "random")


class Checkpoint:
    """The checkpoint file of one training run, identified by the settings of the run.

    Args:
        path: path of the file, which only the first of several processes writes.
        settings: names and values of the settings that must be the same when a run
            resumes from the file.
        size: expected size of the file in bytes, used to check for free disk space
            before the first step.

    Raises:
        FileNotFoundError: if the folder of `path` does not exist.
        OSError: if the file cannot be written, or if there is too little free space.
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
            room = f"but the disk has only {free / 1e6:,.0f} MB of free space"
            raise OSError(f"checkpoint: {self.path} needs {size / 1e6:,.0f} MB, {room}")

    def is_due(self) -> bool:
        """Return whether `SAVE_EVERY` seconds have passed without a save."""
        return time.monotonic() - self.saved >= SAVE_EVERY

    def read(self) -> dict[str, Any] | None:
        """Return the saved state, or None if the file does not exist.

        The model of the resumed run may have the initial parameters of the saved run or
        the parameters of the checkpoint.

        Raises:
            ValueError: if the file is damaged, not a checkpoint, or from another run.
        """
        if not self.path.exists():
            return None
        try:
            state = read_verified(self.path)
        except ValueError as error:
            raise ValueError(f"checkpoint: {error}") from error
        if not set(state) >= set(PARTS):
            raise ValueError(f"checkpoint: {self.path} contains no training state")
        here = dict(self.settings)
        if here["start"] == tensor_digest(state["model"].values()):
            here["start"] = state["settings"].get("start")
        check_same(here, state["settings"], f"the checkpoint {self.path}")
        self.settings = here
        return state

    def write(self, state: dict[str, Any]) -> None:
        """Let the first process save a state; if this fails, the old file remains."""
        if is_first():
            write_files({self.path: {"settings": self.settings, **state}})
        self.saved = time.monotonic()


def tensor_digest(tensors: Iterable[Tensor]) -> str:
    """Return a short hash of the values, shapes and dtypes of tensors."""
    digest = hashlib.blake2b(digest_size=8)
    for tensor in tensors:
        array = np.ascontiguousarray(tensor.detach().cpu().numpy())
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()


def belongings(model: nn.Module, corpus: Corpus, test: Corpus | None) -> dict[str, Any]:
    """Return a dictionary of all data, except settings, that identify a checkpoint.

    They include the number of processes, digests of the texts and the labels, and a
    digest of the initial model.
    """
    parts: dict[str, Any] = {
        "number of texts": len(corpus),
        "texts": _text_digest(corpus),
        "labels": tensor_digest([corpus.targets]),
    }
    if test is not None:
        parts["test texts"] = _text_digest(test)
        parts["test labels"] = tensor_digest([test.targets])
    everywhere = gathered(parts)
    found: dict[str, Any] = {"processes": len(everywhere), "test": test is not None}
    for name in parts:
        found[name] = ", ".join(str(part[name]) for part in everywhere)
    found["start"] = tensor_digest(model.state_dict().values())
    return found


def _text_digest(corpus: Corpus) -> str:
    """Return a short hash of the token counts of a corpus."""
    counts = corpus.counts
    arrays = counts.indptr, counts.indices, counts.data
    return tensor_digest(map(torch.as_tensor, arrays))


def vocab_digest(vocab: Iterable[str]) -> int:
    """Return a checksum of a vocabulary."""
    return zlib.crc32("\0".join(vocab).encode("utf-8", "surrogatepass"))


def state_size(model: nn.Module, trained: Iterable[str]) -> int:
    """Return the size in bytes of a model's parameters and of Adam's state.

    Adam stores two moments for each trained parameter.
    """
    held = sum(value.nbytes for value in model.parameters())
    return held + 2 * sum(model.get_parameter(name).nbytes for name in trained)
