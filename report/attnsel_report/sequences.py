"""Texts as bags and as sequences of tokens, which `read_texts` makes in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np

from attnsel.corpus import Corpus
from attnsel.encoding import (
    count_matrix,
    counted,
    frequent_tokens,
    text_blocks,
    tokens_in_order,
)
from attnsel.labels import number_labels
from attnsel.progress import progress
from attnsel.tokens import Tokenizer, Vocab

# Codes of the tokens of some texts, the distinct tokens, and the length of each text.
SplitTexts = tuple[np.ndarray, list[str], np.ndarray]


class InOrder(NamedTuple):
    """The tokens of texts in their order.

    Attributes:
        ids: token ids of all texts, int32; -1 marks unknown tokens and ends of texts.
        sizes: number of ids of each text, including its end, int64 (n,).
    """

    ids: np.ndarray
    sizes: np.ndarray

    def at(self, rows: np.ndarray) -> InOrder:
        """Return the tokens of the m texts with the row numbers `rows`, (m,)."""
        sizes = self.sizes[rows]
        ends = np.cumsum(self.sizes)[rows]
        ends_here = np.cumsum(sizes)
        moved = np.repeat(ends - ends_here, sizes)
        return InOrder(self.ids[np.arange(len(moved)) + moved], sizes)


def read_texts(
    texts: Sequence[Any], labels: Any, *, tokenize: Tokenizer | None, name: str
) -> tuple[Corpus, InOrder]:
    """Return a corpus of texts with all of their tokens, and the tokens in their order.

    Rows without a text, a label or a token are left out of the corpus. The second
    result contains the tokens of all rows.
    """
    blocks = _split(texts, tokenize, f"tokenizing {name}")
    bags = [counted(*block) for block in blocks]
    numbers, classes = number_labels(labels, len(texts), None)
    tokens = frequent_tokens(bags, numbers, 1, None)
    corpus = Corpus.of_usable_rows(
        count_matrix(bags, tokens),
        numbers,
        texts,
        tokens=tokens,
        classes=classes,
        tokenize=tokenize,
        name=name,
        on_bad_rows="ignore",
    )
    return corpus, _joined(blocks, corpus.vocab)


def in_order(corpus: Corpus) -> InOrder:
    """Return the tokens of a corpus in the order in which its texts contain them.

    Raises:
        ValueError: if the corpus has no texts.
    """
    if corpus.texts is None:
        raise ValueError(
            f"corpus: {corpus.name} contains counts without texts, so the order of its "
            "tokens is unknown; make a corpus with Corpus.from_texts"
        )
    vocab = corpus.vocab
    blocks = _split(corpus.texts, vocab.tokenize, "reading in order")
    return _joined(blocks, vocab)


def _split(
    texts: Sequence[Any], tokenize: Tokenizer | None, what: str
) -> list[SplitTexts]:
    """Split texts in blocks."""
    with closing(progress(text_blocks(texts), what)) as bar:
        return [tokens_in_order(texts[rows], tokenize) for rows in bar]


def _joined(blocks: Sequence[SplitTexts], vocab: Vocab) -> InOrder:
    """Return the token ids of texts that were split in blocks."""
    ids, sizes = [], []
    for codes, tokens, lengths in blocks:
        known = np.array([vocab.get(token) for token in tokens], np.int32)
        ends = np.cumsum(lengths)
        ids.append(np.insert(known[codes], ends, -1))
        sizes.append(lengths + 1)
    return InOrder(np.concatenate(ids), np.concatenate(sizes))
