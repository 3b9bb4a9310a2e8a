"""The named corpora, such as "imdb", and data sets of the Hugging Face Hub."""

import functools
import json
import os
import threading
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Any

import pandas as pd

from attnsel.texts.reviews import generate_reviews
from attnsel.validation import check_choice, described, require

BUNDLED_REVIEWS = 4000
HUB_PATIENCE = 8.0  # seconds to wait for the Hub's first answer


class BundledCorpusWarning(UserWarning):
    """Generated reviews replace real ones that could not be loaded."""


# By name: the classes; the folder below ATTNSEL_DATA; the repository on the Hub, its
# revision and folder, how many megabytes `datasets` downloads from there, all splits,
# and how many rows of each class are published.
SOURCES = json.loads((resources.files(__package__) / "sources.json").read_text("utf-8"))


def named_file(name: str, split: str, level: int = 4) -> Path | None:
    """Return the file of a named corpus, from ATTNSEL_DATA or from the Hub.

    The function returns None if generated reviews are used instead. If they replace a
    real corpus, a BundledCorpusWarning explains why it could not be loaded.
    """
    source = SOURCES[name]
    check_choice("split", split, ("train", "test"))
    root = os.environ.get("ATTNSEL_DATA")
    if root and not Path(root).is_dir():
        raise ValueError(f"ATTNSEL_DATA: there is no folder {root!r}")
    if "hub" not in source:
        return None
    path = Path(root or "", source["folder"], f"{split}.parquet")
    if root and path.is_file():
        return path
    fetched = from_hub(source, split)
    if isinstance(fetched, Path):
        return fetched
    warnings.warn(
        f"{name!r} is replaced by generated reviews: {fetched}. To load real ones, "
        "connect to the network, or set the environment variable ATTNSEL_DATA to "
        f"a folder that contains {source['folder']}/{split}.parquet, and load again.",
        BundledCorpusWarning,
        stacklevel=level,
    )
    return None


def generated_table(name: str, split: str) -> pd.DataFrame:
    """Return generated reviews with the classes of a named corpus."""
    classes = SOURCES[name]["classes"]
    stream = {"train": 0, "test": 1}[split]
    size = BUNDLED_REVIEWS
    texts, labels = generate_reviews(size, classes=len(classes), stream=stream)
    label = categories(pd.Series(labels), classes)
    return pd.DataFrame({"text": texts, "label": label})


def named_table(frame: pd.DataFrame, name: str, split: str, path: Path) -> pd.DataFrame:
    """Name the classes of a named corpus, and check the size of a file from the Hub."""
    source, root = SOURCES[name], os.environ.get("ATTNSEL_DATA")
    rows = frame["label"].value_counts().tolist()
    published = [source["per_class"][split]] * len(source["classes"])
    if not (root and path.is_relative_to(root)) and rows != published:
        raise ValueError(
            f"{path} is not {source['hub']} as published: its classes have {rows} rows "
            f"instead of {published}; delete it and load again"
        )
    if name == "yelp" and frame["label"].max() > 1:  # stars: leave out the middle
        frame = frame[frame["label"] != 2]
        frame = frame.assign(label=(frame["label"] > 2).astype(int))
    if source["folder"] == "yelp":  # a backslash stands before line breaks and quotes
        plain = {r"\\n": "\n", r'\\"': '"'}
        frame = frame.assign(text=frame["text"].replace(plain, regex=True))
    return frame.assign(label=categories(frame["label"], source["classes"]))


def categories(codes: pd.Series, names: Sequence[str]) -> pd.Categorical:
    """Return the names of numbered classes; -1 and empty cells are missing labels."""
    return pd.Categorical.from_codes(codes.fillna(-1).astype(int), names)


def from_hub(source: dict[str, Any], split: str) -> Path | str:
    """Return a file of the Hub, or the reason why it could not be downloaded.

    A file that was downloaded before is returned without a request to the Hub.
    """
    try:
        require("hub", "huggingface_hub")
    except ModuleNotFoundError as error:
        return str(error)
    from huggingface_hub import hf_hub_download

    fetch = functools.partial(
        hf_hub_download,
        source["hub"],
        f"{source['files']}/{split}-00000-of-00001.parquet",
        repo_type="dataset",
        revision=source["revision"],
    )
    with suppress(Exception):  # which one is raised differs between versions
        return Path(fetch(local_files_only=True))
    reason = unreachable(source["hub"])
    if reason is None:
        try:
            return Path(fetch())
        except Exception as error:  # the warning contains it
            reason = described(error)
    return f"the Hugging Face Hub did not give {source['hub']} ({reason})"


def unreachable(repository: str) -> str | None:
    """Query the Hub once; return why it is unreachable, or None if it is reachable."""
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
