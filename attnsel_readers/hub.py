"""Functions that load data sets from the Hugging Face Hub or from disk."""

import threading
from pathlib import Path
from typing import Any

from attnsel.validation import described, require

HUB_PATIENCE = 8.0  # seconds to wait for the Hub's first answer


def unreachable(repository: str) -> str | None:
    """Query the Hub for a data set; return None if it exists, else an error message."""
    from huggingface_hub import HfApi

    wrong: list[str | None] = [f"no answer in {HUB_PATIENCE:.0f} seconds"]

    def ask() -> None:
        try:
            HfApi().dataset_info(repository, timeout=HUB_PATIENCE)
            wrong[0] = None
        except Exception as error:  # the caller reports it
            wrong[0] = described(error)

    # No timeout of a request bounds the resolution of a name, so ask in a thread.
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(HUB_PATIENCE)
    return wrong[0]


def hub_table(repository: str) -> Any:
    """Return a data set of the Hub as a dictionary of its splits.

    Raises:
        LookupError: if the data set cannot be loaded; the message gives the reason.
    """
    require("hub", "datasets")
    import datasets

    reason, offline = unreachable(repository), datasets.config.HF_HUB_OFFLINE
    try:
        datasets.config.HF_HUB_OFFLINE = offline or reason is not None
        return datasets.load_dataset(repository)
    except Exception as error:
        raise LookupError(reason or described(error)) from error
    finally:
        datasets.config.HF_HUB_OFFLINE = offline


def saved_table(folder: Path) -> Any:
    """Return the data set that `save_to_disk` of `datasets` wrote to a folder."""
    require("hub", "datasets")
    import datasets

    return datasets.load_from_disk(str(folder))
