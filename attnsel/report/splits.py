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
        return Path(source).expanduser().is_file()
    return not isinstance(source, dict)


def hold_out(corpus: Corpus, seed: int = 0) -> tuple[Corpus, Corpus]:
    """Return a corpus to learn from and a fifth of each class, held out.

    Copies of a text stay on the side of the first of them, and a class of fewer than
    three texts on that of learning. The vocabulary is that of both, and the rows left
    out are told of the first.
    """
    order = np.random.default_rng(seed).permutation(len(corpus))
    kinds = _same_texts(corpus)[order]
    firsts = pd.Series(~pd.Series(kinds).duplicated().to_numpy())
    labels = pd.Series(corpus.targets.numpy()[order])
    turn = firsts.groupby(labels).cumsum()
    wanted = (HELD_OUT * firsts.groupby(labels).transform("sum")).round()
    held = kinds[(firsts & (turn <= wanted)).to_numpy()]
    apart = np.isin(kinds, held)
    if not apart.any():  # no class is large enough
        apart = np.arange(len(corpus)) < max(1, round(HELD_OUT * len(corpus)))
    train, test = corpus[np.sort(order[~apart])], corpus[np.sort(order[apart])]
    return replace(train, left_out=corpus.left_out), test


def _same_texts(corpus: Corpus) -> np.ndarray:
    """Return a number for each sequence that its copies share."""
    if corpus.texts is None:
        return np.arange(len(corpus))
    return pd.factorize(np.array([plain(text) for text in corpus.texts], object))[0]


def plain(text: str) -> str:
    """Return a text without differences of case and space."""
    return " ".join(text.casefold().split())
