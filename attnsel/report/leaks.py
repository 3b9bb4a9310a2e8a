"""Looking a leak in the eye: texts with a token in its place, and texts without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from scipy.sparse import csr_array

from attnsel.corpus import Corpus

LONGEST = 20_000  # characters of a text in which an example is looked for


class Example(NamedTuple):
    """A piece of a text: what stands before a token, the token, and what follows."""

    before: str
    token: str
    after: str


def opening(corpus: Corpus, row: int) -> list[tuple[str, int]]:
    """Return the pieces of a text, of one without end those of its beginning."""
    one = corpus[[row]]
    if one.texts is not None:
        one = replace(one, texts=(one.texts[0][:LONGEST],))
    return one.words(0)


def find_example(
    corpus: Corpus, row: int, ids: Sequence[int], around: int = 9
) -> Example | None:
    """Return the first place where tokens stand side by side in a text, or None."""
    words = opening(corpus, row)
    at = [i for i, (piece, _) in enumerate(words) if piece.strip()]
    tokens = [words[i][1] for i in at]
    wanted = list(ids)
    for start in range(len(tokens) - len(wanted) + 1):
        stop = start + len(wanted)
        if tokens[start:stop] == wanted:
            first = at[max(0, start - around)]
            last = at[min(len(at), stop + around) - 1]
            parts = (first, at[start]), (at[start], at[stop - 1] + 1)
            before, token = (_joined(words[i:j]) for i, j in parts)
            return Example(before, token, _joined(words[at[stop - 1] + 1 : last + 1]))
    return None


def _joined(words: Sequence[tuple[str, int]]) -> str:
    return "".join(piece for piece, _ in words)


def examples(
    corpus: Corpus, holds: csr_array, ids: Sequence[int], label: int, most: int = 3
) -> list[Example]:
    """Return places in some texts of a class where tokens stand side by side.

    `holds` (n, 1) says which texts to look at. Equal places are shown once, and texts
    of usual length come before very long ones.
    """
    rows = np.flatnonzero(holds.toarray()[:, 0])
    rows = rows[corpus.targets.numpy()[rows] == label]
    lengths = corpus.lengths.numpy()[rows]
    rows = rows[np.argsort(lengths > 1000, kind="stable")]
    places: list[Example] = []
    for row in rows[: 10 * most].tolist():
        place = find_example(corpus, row, ids)
        if place is not None and place not in places:
            places.append(place)
        if len(places) == most:
            break
    return places


def without(corpus: Corpus, token: int) -> tuple[Corpus, np.ndarray]:
    """Return a corpus with a token masked, and the rows that still hold a token.

    The vocabulary stays as it is; texts are not carried along.
    """
    kept = np.ones(len(corpus.vocab), dtype=np.float32)
    kept[token] = 0
    counts = csr_array(corpus.counts.multiply(kept[None]))
    counts.eliminate_zeros()
    rows = np.flatnonzero(np.diff(counts.indptr))
    labels = corpus.targets[torch.from_numpy(rows)]
    return Corpus(counts[rows], labels, corpus.vocab), rows
