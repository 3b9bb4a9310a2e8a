"""`load_corpus`: labelled texts from a named corpus, a table in memory or a file.

::

    source                     "imdb", a data frame, records, a path ...
      | find_split             where the rows are: ATTNSEL_DATA, the Hub, a file, memory
      v
    DataSplit                  name, files, and `read`, which gives the table
      | texts_and_labels       the two columns; `balanced_sample` with limit=
      v
    Corpus.from_texts          tokens, vocabulary, counts (`attnsel.encoding`)
      | cached                 by the content of the files and the settings
      v
    Corpus

Formats of files are known to `attnsel_report.readers` alone.
"""

import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attnsel.corpus import Corpus
from attnsel.encoding import check_settings
from attnsel.labels import report_left_out
from attnsel.texts import hub
from attnsel.texts.cache import cached
from attnsel.texts.cells import as_list, labels_of, texts_of
from attnsel.texts.columns import Columns, find_columns
from attnsel.texts.frames import DataSplit, is_dataset, table_of
from attnsel.tokens import Tokenizer, Vocab
from attnsel.validation import check_number, described


class TooFewRows(ValueError):
    """A sample was requested with more rows than the source has."""


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

    The function searches for a named corpus first in the folder `ATTNSEL_DATA` (for
    example, as `imdb/train.parquet`), then on the Hugging Face Hub. If the Hub cannot
    be reached, generated reviews replace the corpus, with a `BundledCorpusWarning`.

    Args:
        source: "imdb", "yelp" (negative, positive), "yelp-full" (1 to 5 stars),
            "bundled" or "bundled-full" (generated, with 2 and 5 classes); a file that
            pandas can read, such as CSV, JSON, Parquet or Excel, possibly compressed; a
            folder that contains files such as train.csv and test.csv, a folder of text
            files for each class, or the output of `save_to_disk`; a pattern such as
            "parts/*.csv"; a table of pandas, polars, Arrow or `datasets`; a list of
            records or pairs; a tuple (texts, labels); a dictionary of columns; an open
            file; a URL; or the name "owner/name" of a data set on the Hub.
        split: "train", "test" or another split of the source. A single table has only
            the split "train".
        text: name of the column of texts, regardless of case and surrounding spaces.
        label: name of the column of labels; None for texts without labels.
        vocab: vocabulary, as in `Corpus.from_texts`. For a test split, pass the
            vocabulary of the training corpus.
        min_count: smallest number of occurrences of a token, as in `Corpus.from_texts`.
        max_tokens: largest size of the vocabulary, as in `Corpus.from_texts`.
        tokenize: function that splits a text into tokens, as in `Corpus.from_texts`. A
            corpus that is made with such a function is not cached.
        limit: maximum number of rows, sampled at random and balanced across classes as
            far as possible.
        seed: seed of that sample, at least 0.
        on_bad_rows: "warn", "ignore" or "error", as in `Corpus.from_texts`.
        num_proc: number of processes that count the tokens of a data set of `datasets`.
            Its texts then remain on disk.

    Raises:
        ValueError: if the corpus, file or split does not exist or cannot be read, if
            all rows are in one class, or in the cases that `Corpus.from_texts` lists.
        KeyError: if a column is missing; the message lists the columns of the table.
        TypeError: if the source has none of the listed types.
    """
    check_settings(vocab, min_count, max_tokens, on_bad_rows)
    check_number("seed", seed, 0, integer=True)
    found = find_split(source, split)
    check_number("limit", limit, 1, integer=True, optional=True)
    wanted = Columns(text, label, limit)

    def make() -> Corpus:
        table = found.read(wanted)
        on_disk = num_proc is not None and limit is None and is_dataset(table)
        texts, labels = texts_and_labels(table, wanted, on_disk)
        if limit is not None:
            rows = balanced_sample(texts, labels, limit, seed)
            texts = texts.iloc[rows]
            labels = None if labels is None else labels.iloc[rows]
        return Corpus.from_texts(
            texts,
            labels,
            vocab=vocab,
            min_count=min_count,
            max_tokens=max_tokens,
            tokenize=tokenize,
            name=found.name,
            on_bad_rows="ignore",
            num_proc=num_proc if on_disk else None,
        )

    own_tokens = tokenize is not None or (vocab is not None and vocab.tokenize)
    if found.files and not own_tokens:
        name = source if _is_named(source) else None
        tokens = None if vocab is None else (tuple(vocab), vocab.classes)
        settings = name, split, text, label, tokens, min_count, max_tokens, limit, seed
        corpus, notes = cached(found.files, settings, lambda: _with_notes(make))
    else:
        corpus, notes = _with_notes(make)
    for note in notes:
        warnings.warn(note, stacklevel=2)
    n = len(corpus) + sum(map(len, corpus.left_out.values()))
    report_left_out(corpus.left_out, n, on_bad_rows)
    return replace(corpus, name=found.name)


def _with_notes(make: Callable[[], Corpus]) -> tuple[Corpus, list[str]]:
    """Make a corpus and return it with the distinct warnings that were raised."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", category=UserWarning)
        corpus = make()
    return corpus, list(dict.fromkeys(str(warning.message) for warning in caught))


# Where the rows are


def _is_named(source: Any) -> bool:
    return isinstance(source, str) and source in hub.SOURCES


def find_split(source: Any, split: str) -> DataSplit:
    """Find the rows of a split of a named corpus, a file or a table in memory."""
    if _is_named(source):
        return _find_named(source, split)
    if isinstance(source, (str, os.PathLike)):
        # Files come in many formats, which a package of its own knows.
        from attnsel_report.readers.sources import find_path

        return find_path(str(source), split)
    return DataSplit("texts", (), lambda wanted: table_of(source, wanted, split))


def _find_named(name: str, split: str) -> DataSplit:
    """Find a named corpus, or the generated reviews that replace it."""
    path = hub.named_file(name, split, level=5)
    if path is None:
        return DataSplit("bundled", (), lambda _: hub.generated_table(name, split))

    def read(wanted: Columns) -> pd.DataFrame:
        return hub.named_table(_read_parquet(path), name, split, path)

    return DataSplit(name, [(path.suffix, path)], read)


def _read_parquet(path: Path) -> pd.DataFrame:
    """Read the file of a named corpus.

    Raises:
        ValueError: if the file is damaged; the message contains its path.
    """
    try:
        return pd.read_parquet(path)
    except Exception as error:  # which one is raised differs between versions
        raise ValueError(
            f"{path} cannot be read as a table ({described(error)})"
        ) from error


# What the rows hold


def texts_and_labels(
    table: Any, wanted: Columns, on_disk: bool
) -> tuple[Any, pd.Series | None]:
    """Return the texts and labels of a table; with `on_disk`, texts remain on disk."""
    if not is_dataset(table):
        text, label, _ = find_columns(list(table), wanted)
        labels = None if label is None else labels_of(table[label])
        return texts_of(table, text), labels
    text, label, _ = find_columns(table.column_names, wanted)
    labels = None
    if label is not None:
        labels = labels_of(table.select_columns([label]).to_pandas()[label])
        if names := getattr(table.features.get(label), "names", None):
            labels = pd.Series(hub.categories(labels, names))
    texts = table.select_columns(as_list(text))
    return texts if on_disk else texts_of(texts.to_pandas(), text), labels


def balanced_sample(
    texts: pd.Series, labels: pd.Series | None, limit: int, seed: int
) -> np.ndarray:
    """Return the positions of a balanced sample of rows, and of all incomplete rows.

    The sample has `limit` rows, as balanced across the classes as possible.

    Raises:
        TooFewRows: if fewer than `limit` rows have both a text and a label.
    """
    frame = pd.DataFrame({"text": texts.to_numpy(), "label": 0})
    if labels is not None:
        frame["label"] = labels.array
    usable = frame.dropna()
    try:
        check_number("limit", limit, 1, len(usable), integer=True)
    except ValueError as error:
        raise TooFewRows(*error.args) from error
    mixed = usable.sample(frac=1, random_state=seed)
    # The first of each class come first, then the second ones, and so on.
    turn = mixed.groupby("label", observed=True).cumcount()
    drawn = mixed.index[np.argsort(turn, kind="stable")[:limit]]
    blank = frame.index[frame.isna().any(axis=1)]
    return np.concatenate([drawn, blank])
