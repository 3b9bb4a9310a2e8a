"""The function `load_corpus`, which loads labelled texts from sources of many kinds.

::

    source                     a data frame, records, a path, a data set of the Hub ...
      | read_split             files, folders, the Hub (`attnsel_readers`)
      v
    table                      a data frame, or a data set of `datasets`
      | texts_and_labels       two columns; `balanced_sample` if there is a `limit`
      v
    Corpus.from_texts          tokens, vocabulary, counts (`attnsel.encoding`)

The named corpora, such as "imdb", are stored as counts (`attnsel.texts.shipped`).
Only `attnsel_readers` depends on the formats of files.
"""

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from attnsel.corpus import Corpus
from attnsel.encoding import check_settings, count_matrix, frequent_tokens
from attnsel.labels import number_labels, report_left_out
from attnsel.texts.reviews import generate_reviews
from attnsel.texts.shipped import CORPORA, SOURCES, as_block, counted_reviews
from attnsel.tokens import Tokenizer, Vocab
from attnsel.validation import check_choice, check_number
from attnsel_readers.cells import as_list, categories, labels_of, marked_rows, texts_of
from attnsel_readers.columns import Columns, find_columns
from attnsel_readers.frames import is_dataset, table_of

# Reviews of a grammar, with the classes of the named corpora.
GENERATED = {"generated": "imdb", "generated-full": "yelp-full"}
GENERATED_REVIEWS = 4000


class TooFewRows(ValueError):
    """An error for a sample size below 1 or above the number of usable rows."""


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
) -> Corpus:
    """Load labelled texts as a `Corpus`.

    The corpora of IMDB and Yelp come with the package as counts of words, so they need
    no network and have no texts (`Corpus.texts` is None).

    Args:
        source: "imdb" or "yelp" (negative and positive reviews), "imdb-rating" (ratings
            from 1 to 10 without 5 and 6), "yelp-full" (1 to 5 stars), "generated" or
            "generated-full" (reviews generated from a grammar, with 2 or 5 classes); a
            file that pandas can read, such as CSV, JSON, Parquet or Excel, possibly
            compressed; a folder that contains files such as train.csv and test.csv, one
            folder of text files per class, or the output of `save_to_disk`; a pattern
            such as `"parts/*.csv"`; a table of pandas, polars, Arrow or `datasets`; a
            list of records or pairs; a tuple (texts, labels); a dictionary of columns;
            an open file; a URL; or the name "owner/name" of a data set on the Hub.
        split: "train", "test" or another split of the source. A table in memory has
            only the split "train".
        text: name of the column of texts, regardless of case and surrounding spaces.
        label: name of the column of labels; None for texts without labels.
        vocab: vocabulary, as in `Corpus.from_texts`. For a test split, pass the
            vocabulary of the training corpus.
        min_count: smallest number of occurrences of a token, as in `Corpus.from_texts`.
        max_tokens: largest size of the vocabulary, as in `Corpus.from_texts`.
        tokenize: function that splits a text into tokens, as in `Corpus.from_texts`;
            not for IMDB and Yelp, because their words are already counted.
        limit: number of rows to sample at random, balanced across classes as far as
            possible; None for all rows.
        seed: seed of the random sample, at least 0.
        on_bad_rows: "warn", "ignore" or "error", as in `Corpus.from_texts`.

    Raises:
        ValueError: if the corpus, file or split does not exist or cannot be read, if
            `limit` exceeds the number of usable rows, if `tokenize` is given for IMDB
            or Yelp, or in the cases that `Corpus.from_texts` lists.
        KeyError: if a column is missing; the message lists the columns of the table.
        TypeError: if the source has none of the listed types.
    """
    check_settings(vocab, min_count, max_tokens, on_bad_rows)
    check_number("seed", seed, 0, integer=True)
    check_number("limit", limit, 1, integer=True, optional=True)
    wanted = Columns(text, label, limit)
    own_tokens = tokenize is not None or (vocab is not None and vocab.tokenize)
    notes: list[warnings.WarningMessage]
    with warnings.catch_warnings(record=True) as notes:
        warnings.filterwarnings("always", category=UserWarning)
        if isinstance(source, str) and source in CORPORA:
            if own_tokens:
                raise ValueError(
                    f"tokenize: {source!r} comes as counts of words, which cannot be "
                    "split in another way; load the texts with "
                    f"load_corpus({_published(source)!r}, tokenize=...)"
                )
            find_columns(["text", "label"], wanted)
            corpus = _of_counts(
                source, split, label, vocab, min_count, max_tokens, limit, seed
            )
        else:
            name, table = read_split(source, split, wanted)
            texts, labels = texts_and_labels(table, wanted)
            if limit is not None:
                rows = balanced_sample(texts, labels, limit, seed)
                texts = texts.iloc[rows]
                labels = None if labels is None else labels.iloc[rows]
            corpus = Corpus.from_texts(
                texts,
                labels,
                vocab=vocab,
                min_count=min_count,
                max_tokens=max_tokens,
                tokenize=tokenize,
                name=name,
                on_bad_rows="ignore",
            )
    for note in dict.fromkeys(str(note.message) for note in notes):
        warnings.warn(note, stacklevel=2)
    n = len(corpus) + sum(map(len, corpus.left_out.values()))
    report_left_out(corpus.left_out, n, on_bad_rows)
    return corpus


def _of_counts(
    name: str,
    split: str,
    label: str | None,
    vocab: Vocab | None,
    min_count: int | None,
    max_tokens: int | None,
    limit: int | None,
    seed: int,
) -> Corpus:
    """Return a named corpus from the counts that come with the package."""
    counts, labels, tokens = counted_reviews(name, split)
    if limit is not None:
        rows = balanced_sample(pd.Series(0, labels.index), labels, limit, seed)
        counts, labels = counts[rows], labels.iloc[rows]
    blocks = [as_block(counts, tokens)]
    numbers, classes = number_labels(
        None if label is None else labels, len(labels), vocab and vocab.classes
    )
    fitted: Sequence[str] | None = vocab
    if fitted is None:
        fitted = frequent_tokens(blocks, numbers, min_count, max_tokens)
    return Corpus.of_usable_rows(
        count_matrix(blocks, fitted),
        numbers,
        None,
        tokens=fitted,
        classes=classes,
        name=name,
        on_bad_rows="ignore",
        row_names=labels.index.tolist(),
    )


def _published(name: str) -> str:
    """Return the name of the data set of the Hub with the texts of a named corpus."""
    return str(SOURCES[CORPORA[name][0]]["texts"])


# Where the rows are


def read_split(source: Any, split: str, wanted: Columns) -> tuple[str, Any]:
    """Return the name of a source, and the table of one of its splits."""
    if isinstance(source, str) and source in CORPORA:
        raise ValueError(
            f"source: {source!r} comes as counts of words, and a report needs texts; "
            f"pass {_published(source)!r} to load them from the Hub"
        )
    if isinstance(source, str) and source in GENERATED:
        return "generated", _generated_table(source, split)
    if isinstance(source, (str, os.PathLike)):
        # Files come in many formats, which a package of its own knows.
        from attnsel_readers.sources import read_path

        return read_path(str(source), split, wanted)
    return "texts", table_of(source, wanted, split)


def _generated_table(source: str, split: str) -> pd.DataFrame:
    """Return generated reviews with the classes of a named corpus."""
    check_choice("split", split, ("train", "test"))
    classes = list(CORPORA[GENERATED[source]][1])
    stream = {"train": 0, "test": 1}[split]
    texts, labels = generate_reviews(
        GENERATED_REVIEWS, classes=len(classes), stream=stream
    )
    return pd.DataFrame(
        {"text": texts, "label": categories(pd.Series(labels), classes)}
    )


# What the rows hold


def texts_and_labels(table: Any, wanted: Columns) -> tuple[pd.Series, pd.Series | None]:
    """Return the texts of a table, and its labels if `wanted` names their column."""
    if not is_dataset(table):
        text, label, _ = find_columns(list(table), wanted)
        if label is None:
            return texts_of(table, text), None
        labels = table[label].mask(marked_rows(table, text, label))
        return texts_of(table, text), labels_of(labels)
    text, label, _ = find_columns(table.column_names, wanted)
    labels = None
    if label is not None:
        labels = labels_of(table.select_columns([label]).to_pandas()[label])
        if names := getattr(table.features.get(label), "names", None):
            labels = pd.Series(categories(labels, names))
    texts = table.select_columns(as_list(text)).to_pandas()
    return texts_of(texts, text), labels


def balanced_sample(
    texts: pd.Series, labels: pd.Series | None, limit: int, seed: int
) -> np.ndarray:
    """Return the positions of a balanced sample of rows, and of all incomplete rows.

    The sample has `limit` complete rows and is as balanced across the classes as
    possible. A complete row has a text and, unless `labels` is None, a label.

    Raises:
        TooFewRows: if `limit` is below 1 or exceeds the number of complete rows.
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
