"""Looking a leak in the eye: texts with a token in its place, and texts without it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from scipy.sparse import csr_array

from attnsel.corpus import Corpus
from attnsel.tokens import Vocab, pieces

LONGEST = 20_000  # characters of a text in which an example is looked for
AROUND = 9  # words of an example on either side of the token
EXAMPLES = 3  # of a token


class Example(NamedTuple):
    """A piece of a text: what stands before a token, the token, and what follows."""

    before: str
    token: str
    after: str


def opening(corpus: Corpus, row: int) -> list[tuple[str, int]]:
    """Return the pieces of a text, of one without end those of its beginning."""
    if corpus.texts is None:
        return corpus.words(row)
    return pieces(corpus.texts[row][:LONGEST], corpus.vocab)


def find_example(
    corpus: Corpus,
    row: int,
    ids: Sequence[int],
) -> Example | None:
    """Return the first place where tokens stand side by side in a text, or None."""
    words = opening(corpus, row)
    pieces = [piece for piece, _ in words]
    filled = [i for i, piece in enumerate(pieces) if piece.strip()]
    tokens = [words[i][1] for i in filled]
    start = _first_place(tokens, list(ids))
    if start is None:
        return None
    stop = start + len(ids)
    near = filled[max(0, start - AROUND) : stop + AROUND]
    first = filled[start]
    behind = filled[stop - 1] + 1
    return Example(
        before="".join(pieces[near[0] : first]),
        token="".join(pieces[first:behind]),
        after="".join(pieces[behind : near[-1] + 1]),
    )


def _first_place(tokens: list[int], wanted: list[int]) -> int | None:
    """Return where some tokens begin to stand side by side among others, or None."""
    size = len(wanted)
    for start in range(len(tokens) - size + 1):
        if tokens[start : start + size] == wanted:
            return start
    return None


def examples(
    corpus: Corpus,
    holds: csr_array,
    ids: Sequence[int],
    label: int,
) -> list[Example]:
    """Return places in some texts of a class where tokens stand side by side.

    `holds` (n, 1) says which texts to look at. Equal places are shown once, and texts
    of usual length come before very long ones.
    """
    held = holds.toarray()[:, 0] > 0
    of_class = corpus.targets.numpy() == label
    rows = np.flatnonzero(held & of_class)
    very_long = corpus.lengths.numpy()[rows] > 1000
    rows = rows[np.argsort(very_long, kind="stable")]
    places: list[Example] = []
    for row in rows[: 10 * EXAMPLES].tolist():
        place = find_example(corpus, row, ids)
        if place is not None and place not in places:
            places.append(place)
        if len(places) == EXAMPLES:
            break
    return places


def without(corpus: Corpus, token: int) -> tuple[Corpus, np.ndarray]:
    """Return a corpus with a token masked, and the rows that still hold a token.

    The vocabulary stays as it is; texts are not carried along.
    """
    counts = corpus.counts.copy()
    counts.data[counts.indices == token] = 0
    counts.eliminate_zeros()
    return _filled(counts, corpus, corpus.vocab)


def first_tokens(corpus: Corpus, size: int) -> tuple[Corpus, np.ndarray]:
    """Return a corpus in its first tokens, and the rows that hold one of them.

    Texts are carried along.
    """
    head = Vocab(corpus.vocab[:size], corpus.vocab.classes, corpus.vocab.tokenize)
    return _filled(corpus.counts[:, :size], corpus, head, texts=corpus.texts)


def _filled(
    counts: csr_array,
    corpus: Corpus,
    vocab: Vocab,
    texts: Sequence[str] | None = None,
) -> tuple[Corpus, np.ndarray]:
    """Return a corpus of those of its rows that have a count left, and these rows."""
    rows = np.flatnonzero(np.diff(counts.indptr))
    labels = corpus.targets[torch.from_numpy(rows)]
    kept = None if texts is None else tuple(texts[row] for row in rows.tolist())
    return Corpus(counts[rows], labels, vocab, kept, corpus.name), rows
