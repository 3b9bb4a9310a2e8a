"""Texts to learn from and texts held out."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnsel.corpus import Corpus
from attnsel.texts.loading import load_corpus

HELD_OUT = 0.2


def train_and_test(
    source: Any, *, text: str, label: str, limit: int | None
) -> tuple[Corpus, Corpus]:
    """Return the training and the held-out corpus of a source of texts."""
    columns: Any = {"text": text, "label": label}
    whole = load_corpus(source, limit=limit, min_count=5, **columns)
    try:
        test = load_corpus(source, split="test", vocab=whole.vocab, **columns)
        if test.counts.shape != whole.counts.shape:
            return whole, test
    except (ValueError, KeyError):
        pass
    n = len(whole)
    order = np.random.default_rng(0).permutation(n)
    cut = int(n * (1 - HELD_OUT))
    names = np.array(whole.classes, dtype=object)[whole.targets.numpy()]
    texts = whole.texts or ()
    train = Corpus.from_texts(
        [texts[i] for i in order[:cut]], names[order[:cut]], min_count=5
    )
    return train, Corpus.from_texts(
        [texts[i] for i in order[cut:]],
        names[order[cut:]],
        vocab=train.vocab,
        on_bad_rows="ignore",
    )
