"""`load_corpus`: labelled texts from a folder, the Hub, a file or the bundled grammar.

Encoded corpora are kept in the user's cache folder (`ATTNSEL_CACHE` names another)
under a key made of the data's content and of every setting that changes the result.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import platformdirs
from scipy.sparse import csr_array

from attnsel.corpus import (
    TOKEN_PATTERN,
    Corpus,
    Vocab,
    check_integer,
    check_settings,
)
from attnsel.progress import progress_off
from attnsel.texts.reviews import generate_reviews

BUNDLED_REVIEWS = 4000
HUB_PATIENCE = 8.0  # seconds to wait for the Hub's first answer
_FORMAT = 3  # of the cache files; raise it when the encoding of a corpus changes
_READERS = {".parquet": "parquet", ".csv": "csv"}


class BundledCorpusWarning(UserWarning):
    """Generated reviews stand in for real ones that could not be had."""


@dataclass(frozen=True)
class _Source:
    """Where a named corpus is found, and what its labels and texts need."""

    classes: tuple[str, ...]
    folder: str | None = None  # in ATTNSEL_DATA
    hub: str | None = None
    polarity: bool = False  # of stars: 1 and 2 negative, 4 and 5 positive, no 3
    escaped: bool = False  # a backslash stands before line breaks and quotes


_POLARITY = ("negative", "positive")
_STARS = ("1 star", "2 stars", "3 stars", "4 stars", "5 stars")
_SOURCES = {
    "imdb": _Source(_POLARITY, "imdb", "stanfordnlp/imdb"),
    "yelp": _Source(
        _POLARITY, "yelp", "fancyzhx/yelp_polarity", polarity=True, escaped=True
    ),
    "yelp-full": _Source(_STARS, "yelp", "Yelp/yelp_review_full", escaped=True),
    "bundled": _Source(_POLARITY),
    "bundled-full": _Source(_STARS),
}


@dataclass(frozen=True)
class _Settings:
    """All that decides, besides the data, how a corpus is encoded."""

    classes: tuple[str, ...] | None
    polarity: bool
    escaped: bool
    vocab: Vocab | None
    min_count: int
    max_tokens: int | None
    limit: int | None
    seed: int
    text: str
    label: str

    def key(self, content: str) -> str:
        classes = self.vocab and self.vocab.classes
        settings = {**vars(self), "vocab": self.vocab, "vocab_classes": classes}
        parts = [_FORMAT, TOKEN_PATTERN, content, settings]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def load_corpus(
    name_or_path: str | os.PathLike[str],
    split: str = "train",
    *,
    vocab: Vocab | None = None,
    min_count: int = 20,
    max_tokens: int | None = None,
    limit: int | None = None,
    seed: int = 0,
    text: str = "text",
    label: str = "label",
) -> Corpus:
    """Load labelled texts as a `Corpus`.

    A named corpus is looked for in the folder named by the environment variable
    `ATTNSEL_DATA` (as `imdb/train.parquet`), then on the Hugging Face Hub, and if
    that cannot be reached, replaced by generated reviews with a
    `BundledCorpusWarning`. The result is cached.

    Args:
        name_or_path: "imdb" (0 negative, 1 positive), "yelp" (the same), "yelp-full"
            (5 classes, stars minus one), "bundled" or "bundled-full" (generated, 2
            and 5 classes), a .csv or .parquet file, which is one split whatever
            `split` says, or a folder with such files as `train.csv` and `test.csv`.
        split: "train" or "test".
        vocab: the training split's vocabulary, to encode a test split with.
        min_count: least number of occurrences of a token of a fitted vocabulary.
        max_tokens: greatest size of a fitted vocabulary.
        limit: take a random sample of so many texts, as many of each class, give or
            take one, in random order.
        seed: of that sample, at least 0.
        text: name of the column of texts in a file of your own.
        label: name of the column of labels in a file of your own.

    Raises:
        ValueError: if there is no such corpus, file or split, if `limit` exceeds what
            is there, or as `Corpus.from_texts` does.
        KeyError: if a column is missing; the message names the columns present.
    """
    if split not in ("train", "test"):
        raise ValueError(f"split: expected 'train' or 'test', got {split!r}")
    check_settings(vocab, min_count, max_tokens, "warn")
    check_integer("seed", seed, 0)
    if limit is not None:
        check_integer("limit", limit, 1)
    encoding = (vocab, min_count, max_tokens, limit, seed)
    source = _SOURCES.get(str(name_or_path))
    if source is None:
        path = _own_file(Path(name_or_path), split)
        settings = _Settings(None, False, False, *encoding, text, label)
        return _from_file(path, path.stem, settings)
    name = str(name_or_path)
    settings = _Settings(
        source.classes, source.polarity, source.escaped, *encoding, "text", "label"
    )
    if source.hub is not None:
        local = _local_file(source, split)
        if local is not None:
            return _from_file(local, name, settings)
        dataset, reason = _from_hub(source.hub, split)
        if dataset is not None:
            content = f"{source.hub}/{dataset._fingerprint}"
            return _cached(content, name, settings, lambda: dataset)
        warnings.warn(
            f"{name!r} is replaced by generated reviews: {reason}. To load real ones, "
            "connect to the network, or set the environment variable ATTNSEL_DATA to "
            f"a folder that holds {source.folder}/{split}.parquet, and load again.",
            BundledCorpusWarning,
            stacklevel=2,
        )
    texts, labels = generate_reviews(
        BUNDLED_REVIEWS, classes=len(source.classes), stream=int(split == "test")
    )
    return _encode(texts, np.array(labels), "bundled", settings)


def _own_file(path: Path, split: str) -> Path:
    """Return the file a user's path means."""
    if path.is_dir():
        files = [path / (split + suffix) for suffix in _READERS]
        found = [file for file in files if file.is_file()]
        if not found:
            raise ValueError(
                f"{path} holds neither {files[0].name} nor {files[1].name}"
            )
        return found[0]
    if not path.is_file():
        raise ValueError(
            f"no corpus or file is called {str(path)!r}; the corpora are "
            f"{', '.join(_SOURCES)}, and files end in {' or '.join(_READERS)}"
        )
    if path.suffix not in _READERS:
        raise ValueError(f"{path}: expected a {' or '.join(_READERS)} file")
    return path


def _local_file(source: _Source, split: str) -> Path | None:
    """Return the file of a named corpus below ATTNSEL_DATA, if there is one."""
    root = os.environ.get("ATTNSEL_DATA")
    if not root:
        return None
    if not Path(root).is_dir():
        raise ValueError(f"ATTNSEL_DATA: there is no folder {root!r}")
    path = Path(root, str(source.folder), f"{split}.parquet")
    return path if path.is_file() else None


def _from_file(path: Path, name: str, settings: _Settings) -> Corpus:
    """Encode a local file, unless the cache holds it."""

    def read() -> Any:
        import datasets

        # Texts such as 007 and NA stay as they are, and a row longer than the line of
        # names is an error: pandas would take its first field for an index.
        no_label = ["", "NA", "NaN", "nan", "None", "NULL", "null"]
        csv = {
            "converters": {settings.text: _text_or_none},
            "keep_default_na": False,
            "na_values": {settings.label: no_label},
            "index_col": False,
        }
        # A folder of its own: nothing is left behind, and HOME may be read-only.
        with (
            tempfile.TemporaryDirectory() as scratch,
            _quiet(),
            warnings.catch_warnings(),
        ):
            warnings.filterwarnings("error", "Length of header or names")
            try:
                return datasets.load_dataset(
                    _READERS[path.suffix],
                    data_files=str(path),
                    split="train",
                    cache_dir=scratch,
                    keep_in_memory=True,
                    **(csv if path.suffix == ".csv" else {}),
                )
            except Exception as error:
                cause = error.__cause__ if error.__cause__ is not None else error
                if isinstance(cause, OSError) and cause.errno is not None:
                    raise OSError(
                        cause.errno,
                        f"{cause.strerror}, while {path} was read; it is unpacked in "
                        f"the temporary folder {tempfile.gettempdir()}, and TMPDIR "
                        "names another",
                    ) from error
                raise ValueError(
                    f"{path} cannot be read as a table ({_described(cause)}); expected "
                    f"a whole {path.suffix} file with at least one row, text in UTF-8"
                ) from error

    with path.open("rb") as file:
        digest = hashlib.sha256()
        while block := file.read(1 << 20):
            digest.update(block)
            # Some versions of pandas end a text at a NUL and say nothing.
            if path.suffix == ".csv" and b"\0" in block:
                raise ValueError(
                    f"{path} holds a NUL byte; expected text in UTF-8 (UTF-16 is full "
                    "of NULs: save the file again; or remove the byte)"
                )
    return _cached(digest.hexdigest(), name, settings, read)


def _text_or_none(text: str) -> str | None:
    """Return a field of a CSV file as it stands, or None if it is empty."""
    return text or None


def _from_hub(repository: str, split: str) -> tuple[Any, str]:
    """Return a split from the Hub's own cache or the Hub, or None and the reason."""
    import datasets

    # What was downloaded once is used as it is, without asking the network. What is
    # raised where nothing was differs between versions of the library.
    with suppress(Exception), _offline(), _quiet():
        return datasets.load_dataset(repository, split=split), ""
    reason = _unreachable(repository)
    if reason is None:
        try:
            with _quiet() if progress_off() else nullcontext():
                return datasets.load_dataset(repository, split=split), ""
        except Exception as error:  # the warning tells it
            reason = _described(error)
    return None, f"the Hugging Face Hub did not give {repository} ({reason})"


def _unreachable(repository: str) -> str | None:
    """Ask the Hub once for a repository; return what is wrong, if anything."""
    from huggingface_hub import HfApi

    outcome: list[str | None] = []

    def ask() -> None:
        try:
            HfApi().dataset_info(repository, timeout=HUB_PATIENCE)
            outcome.append(None)
        except Exception as error:  # the warning tells it
            outcome.append(_described(error))

    # No timeout of a request bounds the resolution of a name, so ask in a thread.
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(HUB_PATIENCE)
    return outcome[0] if outcome else f"no answer in {HUB_PATIENCE:.0f} seconds"


def _described(error: BaseException) -> str:
    """Return the kind of an error and the first line of its message."""
    first = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {first[:200]}"


@contextmanager
def _offline() -> Iterator[None]:
    """Keep `datasets` from asking the network, for a while."""
    import datasets

    before = datasets.config.HF_HUB_OFFLINE
    datasets.config.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        datasets.config.HF_HUB_OFFLINE = before


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the bars and the log of `datasets` and of the Hub, for a while."""
    import datasets
    from huggingface_hub import utils as hub

    log = logging.getLogger("datasets")
    level = log.level
    shown = [
        library
        for library in (datasets, hub)
        if not library.are_progress_bars_disabled()
    ]
    log.setLevel(logging.CRITICAL)  # what is logged as an error is raised, too
    for library in shown:
        library.disable_progress_bars()
    try:
        yield
    finally:
        log.setLevel(level)
        for library in shown:
            library.enable_progress_bars()


def _encode(
    texts: list[str], labels: np.ndarray, name: str, settings: _Settings
) -> Corpus:
    """Take the sample asked for and count its tokens."""
    rows = _sample(labels, settings.limit, settings.seed)
    named: Any = labels[rows]
    if settings.classes is not None:
        named = np.array(settings.classes)[named]
    return Corpus.from_texts(
        pd.Series(texts).iloc[rows],
        named,
        vocab=settings.vocab,
        min_count=settings.min_count,
        max_tokens=settings.max_tokens,
        name=name,
    )


def _sample(labels: np.ndarray, limit: int | None, seed: int) -> np.ndarray:
    """Return the positions of all labels, or of a class-balanced random sample."""
    if limit is None:
        return np.arange(len(labels))
    if limit > len(labels):
        raise ValueError(f"limit: {limit} texts asked for, {len(labels)} are there")
    classes, per_class = np.unique(labels, return_counts=True)
    shares = np.full(len(classes), limit // len(classes))
    shares[: limit % len(classes)] += 1
    if (shares > per_class).any():
        there = ", ".join(map("{}: {}".format, classes, per_class))
        raise ValueError(
            f"limit: {limit} texts balanced over {len(classes)} classes asked for, "
            f"but per class there are {there}; at most "
            f"{per_class.min() * len(classes)} can be balanced"
        )
    rng = np.random.default_rng(seed)
    order = np.argsort(rng.random(len(labels)), kind="stable")
    taken = [
        order[labels[order] == c][:k] for c, k in zip(classes, shares, strict=True)
    ]
    shuffled = np.argsort(rng.random(limit), kind="stable")
    return np.concatenate(taken)[shuffled]


def _columns(dataset: Any, settings: _Settings) -> tuple[list[str], np.ndarray]:
    """Return the texts and labels of a dataset, made ready for counting."""
    for column in (settings.text, settings.label):
        if column not in dataset.column_names:
            raise KeyError(
                f"there is no column {column!r}; the columns are "
                f"{', '.join(dataset.column_names)}; name yours by text= and label="
            )
        if f"{column}.1" in dataset.column_names:
            raise ValueError(
                f"the columns {column!r} and '{column}.1' look like one name given "
                "twice in a CSV file; rename or drop one"
            )
    values = dataset[settings.label][:]
    labels = np.asarray(values)
    try:
        texts = dataset[settings.text][:]
    except UnicodeDecodeError as error:
        raise ValueError(
            f"column {settings.text!r}: expected text in UTF-8 ({error})"
        ) from error
    if settings.polarity and labels.max(initial=0) > 1:
        kept = np.flatnonzero(labels != 2)
        texts = [texts[row] for row in kept]
        labels = (labels[kept] > 2).astype(np.int64)
    if settings.escaped:
        texts = [t and t.replace("\\n", "\n").replace('\\"', '"') for t in texts]
    return texts, labels


def _cached(
    content: str, name: str, settings: _Settings, read: Callable[[], Any]
) -> Corpus:
    """Return the cached corpus of this content and settings, or make and keep it."""
    folder = os.environ.get("ATTNSEL_CACHE") or platformdirs.user_cache_path("attnsel")
    path = Path(folder, f"{settings.key(content)[:32]}.npz")
    corpus = _load(path, name)
    if corpus is None:
        corpus = _encode(*_columns(read(), settings), name, settings)
        _save(corpus, path)
    return corpus


def _save(corpus: Corpus, path: Path) -> None:
    """Write a corpus so that the file is there whole or not at all."""
    arrays = {
        "data": corpus.counts.data,
        "indices": corpus.counts.indices,
        "indptr": corpus.counts.indptr,
        "labels": corpus.targets.numpy(),
        "about": np.array(json.dumps([corpus.classes, corpus.left_out])),
        **_packed("texts", corpus.texts or ()),
        **_packed("tokens", corpus.vocab),
    }
    part = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=path.stem, suffix=".part", delete=False
        ) as file:
            part = file.name
            np.savez(file, **arrays)
        os.replace(part, path)
        part = None
    except OSError as error:
        _warn_once(
            f"the corpus is not cached in {path.parent}: {_described(error)}; "
            "ATTNSEL_CACHE names another folder"
        )
    finally:
        if part is not None:
            Path(part).unlink(missing_ok=True)


def _load(path: Path, name: str) -> Corpus | None:
    """Read a corpus back; None if there is none or the file is damaged."""
    try:
        raw = path.open("rb")
    except OSError:
        return None
    try:
        with raw, np.load(raw) as file:  # checks the CRC of each array
            classes, left_out = json.loads(str(file["about"]))
            vocab = Vocab(_unpacked("tokens", file), classes)
            texts = _unpacked("texts", file)
            shape = (len(texts), len(vocab))
            parts = (file["data"], file["indices"], file["indptr"])
            counts = csr_array(parts, shape=shape)
            return Corpus(counts, file["labels"], vocab, texts, name, left_out)
    except Exception:  # a damaged file can raise nearly anything
        with suppress(OSError):
            path.unlink()
        return None


def _packed(name: str, strings: tuple[str, ...]) -> dict[str, np.ndarray]:
    blob = np.frombuffer("".join(strings).encode(), dtype=np.uint8)
    return {name: blob, f"{name}_ends": np.cumsum([len(s) for s in strings])}


def _unpacked(name: str, file: Any) -> tuple[str, ...]:
    joined = file[name].tobytes().decode()
    ends = file[f"{name}_ends"].tolist()
    return tuple(joined[a:b] for a, b in pairwise([0, *ends]))


_warned: set[str] = set()


def _warn_once(message: str) -> None:
    if message not in _warned:
        _warned.add(message)
        warnings.warn(message, stacklevel=2)
