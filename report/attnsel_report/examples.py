"""Functions that find examples in texts, or that remove tokens from a corpus."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.sparse import csr_array

from attnsel.corpus import Corpus
from attnsel.tokens import END, Vocab, pieces

LONGEST = 20_000  # characters of a text in which an example is looked for
AROUND = 9  # words of an example on either side of the token
CHARACTERS = 60  # of an example on either side of another feature
EXAMPLES = 3  # of a finding
LONGEST_PHRASE = 120  # characters, also of a whole text


class Example(NamedTuple):
    """A piece of a text: a finding with the characters before and after it.

    Attributes:
        row: name of the text's row in the source, its position in a corpus, or None.
        before, token, after: the three parts of the piece; `token` is the finding.
    """

    row: Any
    before: str
    token: str
    after: str


def opening(corpus: Corpus, row: int) -> list[tuple[str, int]]:
    """Return the pieces of a text, or only its first pieces if it is very long."""
    if corpus.texts is None:
        return corpus.words(row)
    return pieces(corpus.texts[row][:LONGEST], corpus.vocab)


def find_words(
    corpus: Corpus, row: int, ids: Sequence[int], *, is_pair: bool = False
) -> Example | None:
    """Return the shortest piece of a text that contains all tokens in `ids`, or None.

    If `is_pair` is true, the tokens must be neighbours in the given order.
    """
    words = opening(corpus, row)
    filled = [i for i, (piece, _) in enumerate(words) if piece.strip()]
    tokens = [words[i][1] for i in filled]
    if is_pair:
        left, right = ids
        starts = [i for i, pair in enumerate(pairwise(tokens)) if pair == (left, right)]
        span = (starts[0], starts[0] + 2) if starts else None
    else:
        span = _shortest_span(tokens, set(ids))
    return None if span is None else _piece(words, filled, *span)


def find_edge(corpus: Corpus, row: int, size: int, side: str) -> Example | None:
    """Return the first `size` tokens of a text, or the last if `side` is "ends".

    The result is None if the text is missing or has no token.
    """
    if corpus.texts is None:
        return None
    text = corpus.texts[row]
    text = text[:LONGEST] if side == "begins" else text[-LONGEST:]
    words = pieces(text, corpus.vocab)
    filled = [i for i, (_, token) in enumerate(words) if token >= 0]
    start = 0 if side == "begins" else max(len(filled) - size, 0)
    return _piece(words, filled, start, start + size) if filled else None


def _piece(
    words: list[tuple[str, int]], filled: list[int], start: int, stop: int
) -> Example:
    """Return the tokens from `start` to `stop`, with AROUND tokens on either side."""
    parts = [piece for piece, _ in words]
    near = filled[max(0, start - AROUND) : stop + AROUND]
    first, behind = filled[start], filled[min(stop, len(filled)) - 1] + 1
    return Example(
        None,
        before="".join(parts[near[0] : first]),
        token="".join(parts[first:behind]),
        after="".join(parts[behind : near[-1] + 1]),
    )


def find_pattern(text: str, pattern: str) -> Example | None:
    """Return the first match of a pattern in a text, or None.

    Before the search, END is added on both sides of the text.
    """
    whole = f"{END}{text[:LONGEST]}{END}"
    found = re.search(pattern, whole)
    if found is None:
        return None
    start, stop = found.span()
    if END in found[0]:  # it is the beginning or the end, next to which is the blank
        start, stop = (1, 2) if start == 0 else (start - 1, start)
    return Example(
        None,
        before=whole[max(start - CHARACTERS, 1) : start],
        token=whole[start:stop],
        after=whole[stop : stop + CHARACTERS].removesuffix(END),
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


def examples(
    corpus: Corpus, rows: np.ndarray, find: Callable[[int], Example | None]
) -> list[Example]:
    """Return up to EXAMPLES distinct pieces that `find` returns for texts in `rows`.

    Pieces of texts of usual length come before pieces of very long texts. The row of a
    piece is the position of its text in the corpus.
    """
    very_long = corpus.lengths.numpy()[rows] > 1000
    rows = rows[np.argsort(very_long, kind="stable")]
    places: dict[tuple[str, ...], Example] = {}
    for row in rows[: 10 * EXAMPLES].tolist():
        place = find(row)
        if place is not None and len(places) < EXAMPLES:
            places.setdefault(place[1:], place._replace(row=row))
    return list(places.values())


def phrase(corpus: Corpus, places: Sequence[Example]) -> str:
    """Return the phrase that examples have in common, with … for words that differ.

    A phrase longer than LONGEST_PHRASE is shortened to its beginning.
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
    """Return a corpus without counts of a token, and the positions of the kept rows.

    Rows without any other token are left out. The new corpus has the same vocabulary,
    but no texts.
    """
    counts = corpus.counts.copy()
    counts.data[counts.indices == token] = 0
    counts.eliminate_zeros()
    return _filled(counts, corpus, corpus.vocab)


def first_tokens(corpus: Corpus, size: int) -> tuple[Corpus, np.ndarray]:
    """Return a corpus of the first `size` tokens of the vocabulary, and the kept rows.

    Rows without any of these tokens are left out, and the positions of all other rows
    are returned. The new corpus contains the texts.
    """
    head = Vocab(corpus.vocab[:size], corpus.vocab.classes, corpus.vocab.tokenize)
    return _filled(corpus.counts[:, :size], corpus, head, texts=corpus.texts)


def _filled(
    counts: csr_array,
    corpus: Corpus,
    vocab: Vocab,
    texts: Sequence[str] | None = None,
) -> tuple[Corpus, np.ndarray]:
    """Return a corpus of the rows with a nonzero count, and the rows' positions."""
    rows = np.flatnonzero(np.diff(counts.indptr))
    labels = corpus.targets[torch.from_numpy(rows)]
    kept = None if texts is None else tuple(texts[row] for row in rows.tolist())
    return Corpus(counts[rows], labels, vocab, kept, corpus.name), rows
