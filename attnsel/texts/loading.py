"""`load_corpus`: labelled texts from a file, a table, the Hub or by a name of ours."""

import glob
import os
import re
import urllib.request
import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from attnsel.checks import check_number
from attnsel.corpus import Corpus
from attnsel.encoding import check_settings
from attnsel.inputs.rows import report_left_out
from attnsel.texts import hub
from attnsel.texts.cache import cached
from attnsel.texts.cells import labels_of, several, texts_of
from attnsel.texts.columns import Columns, find_columns
from attnsel.texts.folders import (
    files_of_split,
    is_one_text,
    read_texts,
    readable_ending,
    stem,
)
from attnsel.texts.refusals import into_csv, refuse_unreadable
from attnsel.texts.tables import (
    ENDINGS,
    JSON,
    is_dataset,
    one_table,
    read_bytes,
    read_file,
    table_of,
)
from attnsel.tokens import Tokenizer, Vocab

URL_PATIENCE = 60.0  # seconds


class DataSplit(NamedTuple):
    """Where the rows of a split are.

    `files` are what it is read from, each with a name that tells how; a source without
    files is not cached. `read` gives the table, whatever columns of it are wanted.
    """

    name: str
    files: Sequence[tuple[str, Path]]
    read: Callable[[Columns], Any]


def load_corpus(
    source: Any,
    split: str = "train",
    *,
    text: str = "text",
    label: str | None = "label",
    vocab: Vocab | None = None,
    min_count: int | None = None,
    max_tokens: int | None = None,
    tokenize: Tokenizer | None = None,
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
            "bundled" or "bundled-full" (generated, 2 and 5 classes); a file that pandas
            reads, CSV, JSON, Parquet, Excel and others, compressed or not; a folder
            with such files as train.csv and test.csv, in parts or not, with a folder
            of text files for each class, or written by `save_to_disk`; a pattern such
            as "parts/*.csv"; a table of pandas, polars, Arrow or `datasets`; records,
            pairs, (texts, labels) or columns by name; an open file; a URL; the Hub's
            name of a data set, "owner/name".
        split: "train", "test" or another that is there. One table is one split: that
            none of it was held out is a ValueError.
        text: name of the column of texts; spaces around it and case do not matter.
        label: name of the column of labels; None for texts without labels.
        vocab: as in `Corpus.from_texts`: that of the training corpus for a test split.
        min_count: least number of occurrences of a token, as in `Corpus.from_texts`.
        max_tokens: greatest size of the vocabulary, as in `Corpus.from_texts`.
        tokenize: as in `Corpus.from_texts`; what it makes is not cached.
        limit: size of a random sample, evenly from the classes while they last.
        seed: of that sample, at least 0.
        on_bad_rows: "warn", "ignore" or "error", as in `Corpus.from_texts`.
        num_proc: processes that count the tokens of a data set of `datasets`, and leave
            its texts on the disk.

    Raises:
        ValueError: if there is no such corpus, file or split, if it cannot be read, if
            one class is all there is, or as `Corpus.from_texts` does.
        KeyError: if a column is missing; the message names the columns present.
        TypeError: if the source is nothing of the kind.
    """
    check_settings(vocab, min_count, max_tokens, on_bad_rows)
    check_number("seed", seed, 0, integer=True)
    found = _find(source, split)
    wanted = Columns(text, label)
    fit: Any = {"vocab": vocab, "min_count": min_count, "max_tokens": max_tokens}

    def make() -> Corpus:
        table = found.read(wanted)
        on_disk = num_proc is not None and limit is None and is_dataset(table)
        texts, labels = _columns(table, wanted, on_disk)
        if limit is not None:
            rows = _sample(texts, labels, limit, seed)
            texts = texts.iloc[rows]
            labels = None if labels is None else labels.iloc[rows]
        return Corpus.from_texts(
            texts,
            labels,
            **fit,
            tokenize=tokenize,
            name=found.name,
            on_bad_rows="ignore",
            num_proc=num_proc if on_disk else None,
        )

    own_tokens = tokenize is not None or (vocab is not None and vocab.tokenize)
    if found.files and not own_tokens:
        named = source if _is_named(source) else None
        settings = named, split, text, label, fit, limit, seed
        corpus, notes = cached(found.files, settings, lambda: _with_notes(make))
    else:
        corpus, notes = _with_notes(make)
    for note in notes:
        warnings.warn(note, stacklevel=2)
    n = len(corpus) + sum(map(len, corpus.left_out.values()))
    report_left_out(corpus.left_out, n, on_bad_rows)
    return replace(corpus, name=found.name)


def _with_notes(make: Callable[[], Corpus]) -> tuple[Corpus, list[str]]:
    """Make a corpus; return it with the warnings of it, each of them once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", category=UserWarning)
        corpus = make()
    return corpus, list(dict.fromkeys(str(warning.message) for warning in caught))


# Where the rows are


def _is_named(source: Any) -> bool:
    return isinstance(source, str) and source in hub.SOURCES


def _find(source: Any, split: str) -> DataSplit:
    """Find the rows of a split, in one of our corpora, at a path, or in memory."""
    if _is_named(source):
        return _named(source, split)
    if isinstance(source, str) and re.match(r"[a-z][a-z0-9+]+://", source):
        return _at_url(source, split)
    if isinstance(source, (str, os.PathLike)):
        return _at_path(str(source), split)
    return DataSplit("texts", (), lambda wanted: table_of(source, wanted, split))


def _named(name: str, split: str) -> DataSplit:
    """Find one of our corpora, or its stand-in."""
    path = hub.named_file(name, split, level=5)
    if path is None:
        return DataSplit("bundled", (), lambda _: hub.generated_table(name, split))

    def read(wanted: Columns) -> pd.DataFrame:
        return hub.named_table(read_file(path, wanted), name, split, path)

    return DataSplit(name, [(path.suffix, path)], read)


def _at_url(url: str, split: str) -> DataSplit:
    """Find a file of the web; a ValueError tells how else to get it."""
    name = PurePosixPath(re.sub(r"[?#].*", "", url)).name

    def read(wanted: Columns) -> Any:
        try:
            with urllib.request.urlopen(url, timeout=URL_PATIENCE) as answer:
                content = answer.read()
        except (OSError, ValueError) as error:
            raise ValueError(
                f"{url} was not fetched ({error}); connect to the network, or download "
                f"it and name {name!r}; with a library for such addresses, "
                f"{into_csv(name, f'read_csv({url!r})')}"
            ) from error
        return table_of(read_bytes(content, name, wanted), wanted, split)

    return DataSplit(name.split(".")[0], (), read)


def _at_path(source: str, split: str) -> DataSplit:
    """Find a file, the files of a folder or of a pattern, or a data set of the Hub."""
    path = Path(source).expanduser()
    if path.is_dir():
        if (path / "dataset_dict.json").is_file() or (path / "state.json").is_file():
            saved = hub.saved_table(path)
            return DataSplit(
                path.name, (), lambda wanted: table_of(saved, wanted, split)
            )
        return _of_files(files_of_split(path, split), path.name, "train")
    if path.is_file():
        refuse_unreadable(path)
        return _of_files([path], stem(path), _split_of_file(path, split))
    if re.search(r"[*?\[]", source):
        matching = [Path(match) for match in sorted(glob.glob(str(path)))]
        if matching:
            return _of_files(matching, "texts", split)
    return _on_hub(source, split)


def _split_of_file(path: Path, split: str) -> str:
    """Return the split to take of a file: what is called test.csv is the test split."""
    if re.search(rf"(?<![a-z]){re.escape(split)}(?![a-z])", path.name.lower()):
        return "train"
    return split


def _of_files(paths: Sequence[Path], name: str, split: str) -> DataSplit:
    """Take a table from one file, from parts that follow one another, or from texts.

    `name` is what several files are called.
    """
    if len(paths) == 1:
        (path,) = paths

        def read(wanted: Columns) -> Any:
            return table_of(read_file(path, wanted), wanted, split)

        # Only JSON can hold several splits.
        if split != "train" and readable_ending(path) not in JSON:
            raise one_table(str(path), split)
        return DataSplit(stem(path), [("".join(path.suffixes), path)], read)
    if split != "train":
        raise one_table(name, split)
    named = [(f"{path.parent.name}/{path.name}", path) for path in paths]
    if all(is_one_text(path) for path in paths):
        return DataSplit(name, named, lambda wanted: read_texts(paths, wanted))
    return DataSplit(name, named, lambda wanted: _read_parts(paths, wanted))


def _read_parts(paths: Sequence[Path], wanted: Columns) -> pd.DataFrame:
    return pd.concat([_read_part(path, wanted) for path in paths], ignore_index=True)


def _read_part(path: Path, wanted: Columns) -> pd.DataFrame:
    """Read a part; a folder such as label=good holds the rows with this value."""
    table = table_of(read_file(path, wanted), wanted, "train")
    column, is_value, value = path.parent.name.partition("=")
    return table.assign(**{column: value}) if is_value else table


def _on_hub(source: str, split: str) -> DataSplit:
    """Find a data set of the Hub, if a source that is no path can be one."""
    why = ""
    if re.fullmatch(r"[\w-]+/[\w-][\w.-]*", source) and not readable_ending(
        Path(source)
    ):
        try:
            table = hub.hub_table(source)
            return DataSplit("texts", (), lambda wanted: table_of(table, wanted, split))
        except LookupError as error:
            why = f", on the Hub neither ({error})"
    refuse_unreadable(source)
    if readable_ending(Path(source)):
        there = Path(source).expanduser().absolute().parent
        raise ValueError(f"there is no file {source!r}; it is looked for in {there}")
    raise ValueError(
        f"there is no corpus or readable file {source!r}{why}; the corpora are "
        f"{', '.join(hub.SOURCES)}; files end in {', '.join(ENDINGS)}"
    )


# What the rows hold


class Table(NamedTuple):
    """Rows of a split, with their places in it as the index.

    Attributes:
        name: what to call it.
        texts: a Series of strings.
        labels: a Series of labels.
        rest: the other columns, a data frame.
        n: number of rows that were there.
    """

    name: str
    texts: pd.Series
    labels: pd.Series
    rest: pd.DataFrame
    n: int


def load_table(
    source: Any,
    split: str,
    *,
    text: Hashable | Sequence[Hashable],
    label: Hashable,
    limit: int | None,
    seed: int,
) -> Table:
    """Read texts, labels and all other columns; arguments are those of `load_corpus`.

    The errors are those of `load_corpus`; a limit above the number of rows is none.
    """
    check_number("limit", limit, 1, integer=True, optional=True)
    wanted = Columns(text, label)
    found = _find(source, split)
    table = found.read(wanted)
    texts, labels = _columns(table, wanted, on_disk=False)
    rest = table.to_pandas() if is_dataset(table) else table
    used = find_columns(list(rest), wanted)
    rest = rest.drop(columns=[*several(used.text), used.label])
    n = len(texts)
    rows = np.arange(n)
    texts, rest = texts.reset_index(drop=True), rest.reset_index(drop=True)
    labels = pd.Series(labels).reset_index(drop=True)
    if limit is not None:
        whole = int((texts.notna() & labels.notna()).sum())
        rows = _sample(texts, labels, min(limit, max(whole, 1)), seed)
    return Table(found.name, texts.iloc[rows], labels.iloc[rows], rest.iloc[rows], n)


def _columns(
    table: Any, wanted: Columns, on_disk: bool
) -> tuple[Any, pd.Series | None]:
    """Return the texts and labels of a table; texts stay on the disk if asked."""
    if not is_dataset(table):
        text, label = find_columns(list(table), wanted)
        labels = None if label is None else labels_of(table[label])
        return texts_of(table, text), labels
    text, label = find_columns(table.column_names, wanted)
    labels = None
    if label is not None:
        labels = labels_of(table.select_columns([label]).to_pandas()[label])
        if names := getattr(table.features.get(label), "names", None):
            labels = pd.Series(hub.named(labels, names))
    texts = table.select_columns(several(text))
    return texts if on_disk else texts_of(texts.to_pandas(), text), labels


def _sample(
    texts: pd.Series, labels: pd.Series | None, limit: int, seed: int
) -> np.ndarray:
    """Return positions of rows drawn evenly from the classes, and of all blank ones."""
    frame = pd.DataFrame({"text": texts.to_numpy(), "label": 0})
    if labels is not None:
        frame["label"] = labels.array
    whole = frame.dropna()
    check_number("limit", limit, 1, len(whole), integer=True)
    mixed = whole.sample(frac=1, random_state=seed)
    # The first of each class come first, then the second ones, and so on.
    turn = mixed.groupby("label", observed=True).cumcount()
    drawn = mixed.index[np.argsort(turn, kind="stable")[:limit]]
    blank = frame.index[frame.isna().any(axis=1)]
    return np.concatenate([drawn, blank])
