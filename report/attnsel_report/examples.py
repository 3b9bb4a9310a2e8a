"""Pieces of texts that show a token in context, and corpora without a token."""

from collections.abc import Collection, Sequence
from textwrap import shorten
from typing import NamedTuple

import numpy as np
import torch
from scipy.sparse import csr_array

from attnsel.corpus import Corpus
from attnsel.tokens import Vocab, pieces

LONGEST = 20_000  # characters of a text in which an example is looked for
AROUND = 9  # words of an example on either side of the token
EXAMPLES = 3  # of a finding
LONGEST_PHRASE = 120  # characters


class Example(NamedTuple):
    """A piece of a text: some tokens with the characters before and after them."""

    before: str
    token: str
    after: str


def opening(corpus: Corpus, row: int) -> list[tuple[str, int]]:
    """Return the pieces of a text, or of its beginning if the text is very long."""
    if corpus.texts is None:
        return corpus.words(row)
    return pieces(corpus.texts[row][:LONGEST], corpus.vocab)


def find_example(corpus: Corpus, row: int, ids: Collection[int]) -> Example | None:
    """Return the shortest piece of a text that contains all given tokens, or None."""
    words = opening(corpus, row)
    pieces = [piece for piece, _ in words]
    filled = [i for i, piece in enumerate(pieces) if piece.strip()]
    span = _shortest_span([words[i][1] for i in filled], set(ids))
    if span is None:
        return None
    start, stop = span
    near = filled[max(0, start - AROUND) : stop + AROUND]
    first, behind = filled[start], filled[stop - 1] + 1
    return Example(
        before="".join(pieces[near[0] : first]),
        token="".join(pieces[first:behind]),
        after="".join(pieces[behind : near[-1] + 1]),
    )


def _shortest_span(tokens: list[int], wanted: set[int]) -> tuple[int, int] | None:
    """Return the start and stop of the first shortest run with all wanted tokens."""
    last: dict[int, int] = {}
    best = None
    for place, token in enumerate(tokens):
        if token in wanted:
            last[token] = place
            start = min(last.values())
            if len(last) == len(wanted) and (
                best is None or place + 1 - start < best[1] - best[0]
            ):
                best = start, place + 1
    return best


def examples(corpus: Corpus, rows: np.ndarray, ids: Collection[int]) -> list[Example]:
    """Return distinct pieces of texts that contain all given tokens.

    Pieces of texts of usual length come before pieces of very long texts.
    """
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


def phrase(corpus: Corpus, places: Sequence[Example]) -> str:
    """Return the phrase that examples have in common, with … for words that differ.

    A phrase longer than LONGEST_PHRASE is cut after its beginning.
    """
    split = [
        [piece for piece, _ in pieces(place.token, corpus.vocab)] for place in places
    ]
    shortest = min(split, key=len)
    alike = [words for words in split if len(words) == len(shortest)]
    same = [
        one if len({words[i].casefold() for words in alike}) == 1 else "…"
        for i, one in enumerate(shortest)
    ]
    return shorten("".join(same).strip(".,;: "), LONGEST_PHRASE, placeholder=" …")


def without(corpus: Corpus, token: int) -> tuple[Corpus, np.ndarray]:
    """Return a corpus without the counts of a token, and the rows that it keeps.

    Rows without any other token are left out. The vocabulary does not change, and the
    result has no texts.
    """
    counts = corpus.counts.copy()
    counts.data[counts.indices == token] = 0
    counts.eliminate_zeros()
    return _filled(counts, corpus, corpus.vocab)


def first_tokens(corpus: Corpus, size: int) -> tuple[Corpus, np.ndarray]:
    """Return a corpus with only its first tokens, and the rows that it keeps.

    Rows without any of these tokens are left out. The result keeps the texts.
    """
    head = Vocab(corpus.vocab[:size], corpus.vocab.classes, corpus.vocab.tokenize)
    return _filled(corpus.counts[:, :size], corpus, head, texts=corpus.texts)


def _filled(
    counts: csr_array,
    corpus: Corpus,
    vocab: Vocab,
    texts: Sequence[str] | None = None,
) -> tuple[Corpus, np.ndarray]:
    """Return a corpus of the rows with a nonzero count, and their numbers."""
    rows = np.flatnonzero(np.diff(counts.indptr))
    labels = corpus.targets[torch.from_numpy(rows)]
    kept = None if texts is None else tuple(texts[row] for row in rows.tolist())
    return Corpus(counts[rows], labels, vocab, kept, corpus.name), rows
