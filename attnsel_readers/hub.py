"""Data sets of the Hugging Face Hub, and those that `datasets` saved to disk."""

from pathlib import Path
from typing import Any

from attnsel.validation import described, require


def hub_table(repository: str) -> Any:
    """Return a data set of the Hub as a dictionary of its splits.

    Raises:
        LookupError: if the data set cannot be loaded; the message gives the reason.
    """
    require("hub", "datasets")
    import datasets

    try:
        return datasets.load_dataset(repository)
    except Exception as error:
        raise LookupError(described(error)) from error


def saved_table(folder: Path) -> Any:
    """Return the data set that `save_to_disk` of `datasets` wrote to a folder."""
    require("hub", "datasets")
    import datasets

    return datasets.load_from_disk(str(folder))
