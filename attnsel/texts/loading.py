"""`load_corpus`: labelled texts from a file, a table, the Hub or by a name of ours.

Corpora from files are kept, encoded, in the user's cache folder (`ATTNSEL_CACHE` names
another) under a key made of the file's content and of every setting that counts.
"""

import functools
import glob
import hashlib
import json
import os
import re
import tempfile
import threading
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import fsspec
import joblib
import numpy as np
import pandas as pd
import platformdirs
import pyarrow as pa

from attnsel.checks import check_choice, check_number
from attnsel.corpus import Corpus
from attnsel.encoding import check_settings, report_left_out
from attnsel.texts.reviews import generate_reviews
from attnsel.tokens import TOKEN_PATTERN, Vocab

BUNDLED_REVIEWS = 4000
HUB_PATIENCE = 8.0  # seconds to wait for the Hub's first answer
_FORMAT = 4  # of the cache files; raise it when the encoding of a corpus changes
_warn_once = functools.cache(warnings.warn)
_ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".arrow")


class BundledCorpusWarning(UserWarning):
    """Generated reviews stand in for real ones that could not be had."""


# By name: the classes; the folder below ATTNSEL_DATA; the repository on the Hub, its
# revision and folder, and how many rows of each class are published there.
SOURCES = json.loads((resources.files(__package__) / "sources.json").read_text("utf-8"))


def load_corpus(
    source: Any,
    split: str = "train",
    *,
    text: str = "text",
    label: str | None = "label",
    vocab: Vocab | None = None,
    min_count: int = 20,
    max_tokens: int | None = None,
    limit: int | None = None,
    seed: int = 0,
    on_bad_rows: str = "warn",
    num_proc: int | None = None,
) -> Corpus:
    """Load labelled texts as a `Corpus`.

    A named corpus is looked for in the folder `ATTNSEL_DATA` (as `imdb/train.parquet`),
    then on the Hugging Face Hub, and if that cannot be reached, replaced by generated
    reviews with a `BundledCorpusWarning`.

    Args:
        source: "imdb", "yelp" (negative, positive), "yelp-full" (1 to 5 stars),
            "bundled" or "bundled-full" (generated, 2 and 5 classes); a CSV, TSV, JSON,
            JSON lines, Parquet or Arrow file, compressed or not, which is one split
            whatever `split` says; a folder with such files as train.csv and test.csv;
            a `pandas.DataFrame`, `datasets.Dataset` or `DatasetDict`; the Hub's name of
            a data set, "owner/name".
        split: "train", "test" or another that is there.
        text: name of the column of texts.
        label: name of the column of labels; None for texts without labels.
        vocab: as in `Corpus.from_texts`: that of the training corpus for a test split.
        min_count: as in `Corpus.from_texts`.
        max_tokens: as in `Corpus.from_texts`.
        limit: size of a random sample, evenly from the classes while they last.
        seed: of that sample, at least 0.
        on_bad_rows: "warn", "ignore" or "error", as in `Corpus.from_texts`.
        num_proc: processes that count the tokens of a data set of `datasets`, and leave
            its texts on the disk.

    Raises:
        ValueError: if there is no such corpus, file or split, if it cannot be read, if
            one class is all there is, or as `Corpus.from_texts` does.
        KeyError: if a column is missing; the message names the columns present.
    """
    check_settings(vocab, min_count, max_tokens, on_bad_rows)
    check_number("seed", seed, 0, integer=True)
    named = isinstance(source, str) and source in SOURCES
    found = (_named if named else _find)(source, split)
    processes = num_proc if limit is None and hasattr(found, "column_names") else None
    fit: Any = {"vocab": vocab, "min_count": min_count, "max_tokens": max_tokens}
    name = "bundled" if named else "texts"
    if isinstance(found, Path):
        name = source if named else found.name.split(".")[0]

    def make() -> Corpus:
        table = found
        if isinstance(found, Path):
            frame = _read(found, text, label)
            table = _tidied(frame, source, split, found) if named else frame
        columns = _columns(table, text, label, limit, seed, processes is not None)
        return Corpus.from_texts(
            *columns, **fit, name=name, on_bad_rows="ignore", num_proc=processes
        )

    if isinstance(found, Path):
        settings = named and source, text, label, fit, limit, seed
        corpus = replace(_cached(found, settings, make), name=name)
    else:
        corpus = make()
    n = len(corpus) + sum(map(len, corpus.left_out.values()))
    report_left_out(corpus.left_out, n, on_bad_rows, level=3)
    return corpus


def _named(name: str, split: str) -> Path | pd.DataFrame:
    """Return the file of one of our corpora, here or from the Hub, or its stand-in."""
    source = SOURCES[name]
    check_choice("split", split, ("train", "test"))
    root = os.environ.get("ATTNSEL_DATA")
    if root and not Path(root).is_dir():
        raise ValueError(f"ATTNSEL_DATA: there is no folder {root!r}")
    if "hub" in source:
        path = Path(root or "", source["folder"], f"{split}.parquet")
        found = path if root and path.is_file() else _from_hub(source, split)
        if isinstance(found, Path):
            return found
        warnings.warn(
            f"{name!r} is replaced by generated reviews: {found}. To load real ones, "
            "connect to the network, or set the environment variable ATTNSEL_DATA to "
            f"a folder that holds {source['folder']}/{split}.parquet, and load again.",
            BundledCorpusWarning,
            stacklevel=3,
        )
    texts, labels = generate_reviews(
        BUNDLED_REVIEWS, classes=len(source["classes"]), stream=int(split == "test")
    )
    labelled = _names(pd.Series(labels), source["classes"])
    return pd.DataFrame({"text": texts, "label": labelled})


def _tidied(frame: pd.DataFrame, name: str, split: str, path: Path) -> pd.DataFrame:
    """Name the classes of one of our corpora, and check what the Hub gave."""
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
    return frame.assign(label=_names(frame["label"], source["classes"]))


def _names(codes: pd.Series, names: Sequence[str]) -> pd.Categorical:
    """Return the names of numbered classes; -1 and nothing are missing labels."""
    return pd.Categorical.from_codes(codes.fillna(-1).astype(int), names)


def _from_hub(source: dict[str, Any], split: str) -> Path | str:
    """Return a file of the Hub, at once if it was fetched before, or what is wrong."""
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
    if not (reason := _unreachable(source["hub"])):
        try:
            return Path(fetch())
        except Exception as error:  # the warning tells it
            reason = _described(error)
    return f"the Hugging Face Hub did not give {source['hub']} ({reason})"


def _unreachable(repository: str) -> str | None:
    """Ask the Hub once for a repository; return what is wrong, if anything."""
    from huggingface_hub import HfApi

    wrong: list[str | None] = [f"no answer in {HUB_PATIENCE:.0f} seconds"]

    def ask() -> None:
        try:
            HfApi().dataset_info(repository, timeout=HUB_PATIENCE)
            wrong[0] = None
        except Exception as error:  # the caller tells it
            wrong[0] = _described(error)

    # No timeout of a request bounds the resolution of a name, so ask in a thread.
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(HUB_PATIENCE)
    return wrong[0]


def _find(source: Any, split: str) -> Any:
    """Return the file that a path means, or the table that the Hub or the user has."""
    if isinstance(source, (str, os.PathLike)):
        path, why = Path(source), ""
        if path.is_dir():
            files = list(path.glob(f"{glob.escape(split)}[.-]*"))
            if len(files) != 1:
                found = sorted(file.name for file in files or path.iterdir())[:10]
                wanted = f"one {split}.csv or the like"
                raise ValueError(f"{path}: expected {wanted}, got {found}")
            (path,) = files
        if _ending(path) and path.is_file():
            return path
        on_hub = re.fullmatch(r"[\w-]+/[\w-][\w.-]*", str(source))
        if on_hub and not (_ending(path) or path.exists()):
            source, why = _hub_table(str(source))
        if isinstance(source, (str, os.PathLike)):
            raise ValueError(
                f"there is no corpus or readable file {str(source)!r}{why}; the "
                f"corpora are {', '.join(SOURCES)}; files end in {', '.join(_ENDINGS)}"
            )
    if isinstance(source, dict):
        check_choice("split", split, list(source))
        source = source[split]
    if not (hasattr(source, "columns") or hasattr(source, "column_names")):
        raise TypeError(f"source: expected a name, path or table, got {type(source)}")
    return source


def _hub_table(name: str) -> tuple[Any, str]:
    """Return a data set of the Hub, or its name and why it could not be had."""
    import datasets

    reason, offline = _unreachable(name), datasets.config.HF_HUB_OFFLINE
    try:
        datasets.config.HF_HUB_OFFLINE = offline or reason is not None
        return datasets.load_dataset(name), ""
    except Exception as error:
        return name, f", on the Hub neither ({reason or _described(error)})"
    finally:
        datasets.config.HF_HUB_OFFLINE = offline


def _columns(
    table: Any, text: str, label: str | None, limit: int | None, seed: int, large: bool
) -> tuple[Any, pd.Series | None]:
    """Return the texts and labels of a table, or those of a sample of its rows."""
    columns = [text] if label is None else [text, label]
    there = list(getattr(table, "column_names", table))
    for column in columns:
        if there.count(column) != 1 or f"{column}.1" in there:
            got = ", ".join(map(str, there))
            wanted = f"expected one column {column!r}, got {got}"
            raise KeyError(f"{wanted}; name yours by text= and label=")
    if isinstance(table, pd.DataFrame):
        frame = table[columns]
    else:
        frame = table.select_columns(columns[large:]).to_pandas()
        if names := getattr(table.features.get(label), "names", None):
            frame[label] = _names(frame[label], names)
    if limit is not None:
        whole = frame.dropna()
        check_number("limit", limit, 1, len(whole), integer=True)
        mixed = whole.sample(frac=1, random_state=seed)
        # The first of each class come first, then the second ones, and so on.
        turn = mixed.groupby(label or [0] * len(mixed), observed=True).cumcount()
        sample = mixed.iloc[np.argsort(turn, kind="stable")[:limit]]
        frame = pd.concat([sample, frame[frame.isna().any(axis=1)]])
    texts = table.select_columns(text) if large else frame[text]
    return texts, None if label is None else frame[label]


def _ending(path: Path) -> str:
    """Return the ending that says how to read a file, if it is one of those known."""
    ending = Path(re.sub(r"\.(gz|zip|bz2|xz|zst)$", "", path.name.lower())).suffix
    return ending if ending in _ENDINGS else ""


def _read(path: Path, text: str, label: str | None) -> pd.DataFrame:
    """Read a file as a table; texts such as 007 and NA stay as they are."""
    ending = _ending(path)
    try:
        if ending == ".parquet":
            frame = pd.read_parquet(path)
        elif ending == ".arrow":
            try:
                frame = pd.read_feather(path)
            except pa.ArrowInvalid:  # a stream, such as `datasets` writes
                frame = pa.ipc.open_stream(path.read_bytes()).read_pandas()
        else:
            # Some versions of pandas end a text at a NUL and say nothing.
            with fsspec.open(path, compression="infer") as file:
                if b"\0" in file.read():
                    raise ValueError("a NUL byte: it is binary, or text in UTF-16")
            frame = _json(path) if "json" in ending else _csv(path, text, label, ending)
        list(frame.get(text, ()))  # text that is not UTF-8 may show here only
        return frame
    except Exception as error:  # each reader has its own
        raise ValueError(
            f"{path} cannot be read as a table ({_described(error)}); expected a whole "
            f"{ending} file, text in UTF-8"
        ) from error


def _csv(path: Path, text: str, label: str | None, ending: str) -> pd.DataFrame:
    no_label = ["", "NA", "NaN", "nan", "None", "NULL", "null"]
    # A row longer than the line of names is an error, not an index and a text.
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Length of header or names")
        return pd.read_csv(
            path,
            sep="\t" if ending == ".tsv" else ",",
            dtype={text: str, label: str},
            keep_default_na=False,
            na_values={label: no_label, text: [""]},
            index_col=False,
        )


def _json(path: Path) -> pd.DataFrame:
    """Read JSON records, in one list or one a line; no type is guessed."""
    with suppress(ValueError):
        return pd.read_json(path, orient="records", dtype=False)
    return pd.read_json(path, orient="records", dtype=False, lines=True)


def _described(error: BaseException) -> str:
    """Return the kind of an error and the first line of its message."""
    first = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {first[:200]}"


def _cached(
    path: Path, settings: tuple[Any, ...], make: Callable[[], Corpus]
) -> Corpus:
    """Return the corpus of a file from the cache, or make it and keep it there."""
    content = hashlib.sha256(path.read_bytes()).digest()
    key = joblib.hash((_FORMAT, TOKEN_PATTERN, content, settings))
    cache = os.environ.get("ATTNSEL_CACHE") or platformdirs.user_cache_path("attnsel")
    entry = Path(cache, f"{key}.joblib")
    with suppress(Exception):  # there is none, or it is damaged and raises anything
        return joblib.load(entry)
    corpus = make()
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=entry.parent) as folder:
            part = Path(folder, entry.name)
            joblib.dump(corpus, part, compress=1)  # with a checksum
            part.replace(entry)  # an entry is there whole or not at all
    except OSError as error:
        _warn_once(
            f"the corpus is not cached in {cache}: {_described(error)}; "
            "ATTNSEL_CACHE names another folder"
        )
    return corpus
