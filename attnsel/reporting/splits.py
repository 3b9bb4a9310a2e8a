"""Texts to learn from and texts held out."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attnsel.corpus import Corpus
from attnsel.texts.loading import load_corpus

HELD_OUT = 0.2  # share of the texts of each class, where there is no test split


def train_and_test(
    source: Any, *, text: str, label: str, limit: int | None
) -> tuple[Corpus, Corpus]:
    """Return the training and the held-out corpus of a source of texts.

    The held-out one is the split "test" of the source, or else a part of its texts.
    """
    columns: Any = {"text": text, "label": label}
    whole = _sampled(source, limit, **columns)
    if _is_one_table(source):
        return hold_out(whole)
    try:
        test = _sampled(source, limit, split="test", vocab=whole.vocab, **columns)
    except ValueError:  # there is no such split
        return hold_out(whole)
    return whole, test


def _sampled(source: Any, limit: int | None, **settings: Any) -> Corpus:
    """Return a corpus of at most so many texts."""
    try:
        return load_corpus(source, limit=limit, **settings)
    except ValueError as error:
        if limit is None or not str(error).startswith("limit:"):
            raise
        return load_corpus(source, **settings)  # there are fewer


def _is_one_table(source: Any) -> bool:
    """Say whether a source cannot have splits: a file, a table or records."""
    if isinstance(source, (str, os.PathLike)):
        path = Path(source).expanduser()
        return path.is_file()
    return not isinstance(source, dict)


def hold_out(corpus: Corpus, seed: int = 0) -> tuple[Corpus, Corpus]:
    """Return a corpus to learn from and a fifth of each class, held out.

    Copies of a text stay on the side of the first of them, and a class of fewer than
    three texts on that of learning. The vocabulary is that of both, and the rows left
    out are told of the first.
    """
    n = len(corpus)
    order = np.random.default_rng(seed).permutation(n)
    kinds = pd.Series(_same_texts(corpus)[order])
    labels = corpus.targets.numpy()[order]
    firsts = ~kinds.duplicated()
    by_class = firsts.groupby(labels)
    turn = by_class.cumsum()
    wanted = HELD_OUT * by_class.transform("sum")
    chosen = firsts & (turn <= wanted.round())
    apart = kinds.isin(kinds[chosen]).to_numpy()
    if not apart.any():  # no class is large enough
        size = max(1, round(HELD_OUT * n))
        apart = np.arange(n) < size
    train = corpus[np.sort(order[~apart])]
    test = corpus[np.sort(order[apart])]
    return replace(train, left_out=corpus.left_out), test


def _same_texts(corpus: Corpus) -> np.ndarray:
    """Return a number for each sequence that its copies share."""
    if corpus.texts is None:
        return np.arange(len(corpus))
    texts = [plain(text) for text in corpus.texts]
    numbers, _ = pd.factorize(np.array(texts, object))
    return numbers


def plain(text: str) -> str:
    """Return a text without differences of case and space."""
    words = text.casefold().split()
    return " ".join(words)
