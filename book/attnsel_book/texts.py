"""Functions that read and split texts, and describe a reader's own texts."""

import os
import warnings
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from attnsel.corpus import Corpus
from attnsel.tokens import split
from attnsel_book.chapter import note, stop_unless
from attnsel_report import splits


def train_and_test(
    source: Any,
    *,
    text: str,
    label: str,
    limit: int | None,
    classes: Sequence[Hashable] | None = None,
) -> tuple[Corpus, Corpus]:
    """Return training and held-out texts of two classes.

    The held-out texts are the split "test" of the source, or a fifth of its texts if it
    has no such split. If the source has more than two classes, two of them are used. If
    the texts are the reader's own, sentences that describe them are displayed.

    Args:
        source: name of a corpus, path of a file or folder, or table.
        text: name of the column with the texts.
        label: name of the column with the labels.
        limit: largest number of texts to read from a split, or None for all.
        classes: the two classes to distinguish, or None for the two largest.

    Raises:
        Stop: if the source cannot be read, if `classes` are not two of its (three or
            more) classes, or if the training or held-out texts are not of two classes.
    """
    name = "the table" if hasattr(source, "__len__") else repr(source)
    if isinstance(source, str | os.PathLike):
        name = os.path.basename(source)
    try:
        train, test = splits.train_and_test(source, text=text, label=label, limit=limit)
        if len(train.classes) > 2:
            train, test = _of_two_classes(train, test, classes, name)
    except (ImportError, KeyError, OSError, TypeError, ValueError) as error:
        why = error.args[0] if isinstance(error, KeyError) else error
        stop_unless(False, f"{name} cannot be used. {why}")
    few = [len(np.unique(part.targets)) < 2 for part in (train, test)]
    stop_unless(
        not any(few),
        f"{name} has {len(train)} texts to learn from and {len(test)} held out, but "
        "not both classes in each; give more texts of both",
    )
    if not isinstance(source, str) or os.path.exists(source):
        note(_description(train, test, name))
    return train, test


def majority_share(corpus: Corpus) -> float:
    """Return the accuracy of always predicting the most frequent class."""
    return float(np.bincount(corpus.targets).max() / len(corpus))


def _of_two_classes(
    train: Corpus, test: Corpus, classes: Sequence[Hashable] | None, name: str
) -> tuple[Corpus, Corpus]:
    """Return the texts of two classes, with a vocabulary of their own."""
    there = [str(c) for c in train.classes]
    if train.texts is None:
        raise ValueError(
            f"It has {len(there)} classes and comes as counts of words, without texts, "
            "so this chapter cannot select two of them; choose imdb, yelp or a file"
        )
    if classes is None:
        sizes = np.bincount(train.targets, minlength=len(there))
        chosen = [there[k] for k in sorted(np.argsort(-sizes, kind="stable")[:2])]
        note(
            [
                f"{name} has {len(there)} classes, and this chapter distinguishes two. "
                f"It goes on with the two largest, {chosen[0]} and {chosen[1]}. Choose "
                "others with CLASSES = (..., ...)."
            ]
        )
    else:
        chosen = [str(c) for c in classes]
        if len(set(chosen)) != 2 or not set(chosen) <= set(there):
            raise ValueError(
                f"classes: expected two of {', '.join(there)}, got {tuple(chosen)}"
            )
    texts, labels = _rows(train, chosen)
    held_texts, held_labels = _rows(test, chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the first reading has warned of all rows
        tokenize = train.vocab.tokenize
        known = Corpus.from_texts(texts, labels, tokenize=tokenize, name=train.name)
        held = Corpus.from_texts(
            held_texts, held_labels, vocab=known.vocab, name=test.name
        )
    return known, held


def _rows(corpus: Corpus, classes: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the texts and labels of some classes."""
    names = [str(corpus.classes[k]) for k in corpus.targets.tolist()]
    pairs = zip(corpus.texts or (), names, strict=True)
    chosen = [(text, name) for text, name in pairs if name in classes]
    return [text for text, _ in chosen], [name for _, name in chosen]


def _description(train: Corpus, test: Corpus, name: str) -> list[str]:
    """Return sentences about texts, for example about their number and classes."""
    largest = train.classes[int(np.bincount(test.targets).argmax())]
    lines = [
        f"{name}: {len(train):,} texts to learn from, {len(test):,} held out, "
        f"{len(train.vocab):,} tokens.",
        f"Always predicting {largest} is correct for {majority_share(test):.0%} of the "
        "held-out texts; compare each accuracy with this share.",
    ]
    tokenize = test.vocab.tokenize or split
    n_words = sum(len(list(tokenize(text))) for text in test.texts or ())
    unknown = 1 - test.counts.sum() / n_words if n_words else 0.0
    if unknown >= 0.01:
        lines.append(f"{unknown:.0%} of the held-out words are not in the vocabulary.")
    single = int((np.diff(train.counts.indptr) == 1).sum())
    if single:
        lines.append(
            f"{single:,} {'text has' if single == 1 else 'texts have'} only one known "
            "token, which gets all attention."
        )
    return lines
