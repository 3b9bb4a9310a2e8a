"""One of several processes that train together, which `test_distributed` starts."""

import os
import signal
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist

from attnsel import train
from attnsel.model import AttentionClassifier
from attnsel.scale import checkpoint
from support.reference import ragged

SETTINGS = {"steps": 12, "lr": 0.05, "snapshots": (0, 12)}


def together(n_classes: int = 2) -> tuple:
    """Return the two corpora and the model with which each run starts."""
    _, _, corpus = ragged(3, n=101, n_tokens=30, n_classes=n_classes)
    _, _, test = ragged(4, n=41, n_tokens=30, n_classes=n_classes)
    return corpus, test, AttentionClassifier(30, 16, n_classes=n_classes)


def die(path: str) -> None:
    """Kill this process as soon as there is a checkpoint."""
    while not Path(path).exists():
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)


def meet(folder: str, rank: int, world: int, name: str, seconds: int) -> None:
    """Join the other processes."""
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder}/meeting-{name}",
        rank=rank,
        world_size=world,
        timeout=timedelta(seconds=seconds),
    )


def main(folder: str, rank: int, world: int, mode: str) -> None:
    torch.set_num_threads(1)
    if rank < 0:  # started by torchrun
        dist.init_process_group()
        rank, world = dist.get_rank(), dist.get_world_size()
    else:
        # On a busy machine, one process may start long after the other.
        meet(folder, rank, world, mode, 30 if mode == "die" else 200)
    if mode == "hang":  # now that both have started
        dist.destroy_process_group()
        meet(folder, rank, world, "again", 5)
        if rank:
            time.sleep(10)
            return
    corpus, test, model = together(3 if mode == "classes" else 2)
    if rank:  # the first process has the parameters that count
        model = AttentionClassifier(30, 16, n_classes=len(model.classes), seed=rank)
    settings: dict = SETTINGS | {"test": test[rank::world]}
    if mode == "differ":
        settings["lr"] += rank
    if mode in ("die", "again"):
        settings |= {"steps": 1500, "lr": 1e-3, "checkpoint": f"{folder}/checkpoint"}
    if mode == "die":
        checkpoint.SAVE_EVERY = 0.0
        if rank == 1:
            threading.Thread(target=die, args=(settings["checkpoint"],)).start()
    own = corpus[rank::world]
    if mode == "class by class":  # unequal parts, each without a class
        own = corpus[corpus.targets == rank]
        settings["test"] = test[1:] if rank else test[0]
    try:
        history = train.fit(model, own, **settings)
        torch.save(vars(history), f"{folder}/{mode}-{rank}.pt")
    finally:  # its threads, still running at the exit, make torch abort
        dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
