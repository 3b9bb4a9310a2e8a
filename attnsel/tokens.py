"""Tokens: what a text is cleaned of, how it is split, and the table of a vocabulary."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

# Words with their contractions (don't, o'neil's), then any other visible character
# by itself, so that neither punctuation nor one-letter words are lost.
TOKEN_PATTERN = r"[^\W_]+(?:'[^\W_]+)*|\S"
_TOKEN = re.compile(TOKEN_PATTERN)
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
ClassName = str | int | bool


def clean_text(text: str) -> str:
    """Return the text with each HTML line break replaced by a space."""
    return _LINE_BREAK.sub(" ", text)


def fold(text: str) -> str:
    """Lowercase a text and straighten its apostrophes, keeping its length."""
    # The dotted capital I is the one letter that would grow when lowercased.
    return text.replace("İ", "I").lower().replace("’", "'")


def split(text: str) -> list[str]:
    """Return the tokens of a text, in lower case."""
    return _TOKEN.findall(fold(clean_text(text)))


def pieces(text: str, vocab: Vocab) -> list[tuple[str, int]]:
    """Split a cleaned text into tokens with their ids, and what lies between, at -1.

    The pieces, read one after the other, give the text.
    """
    # Tokens and what lies between them, in turn; folding keeps their lengths.
    folded = re.split(f"({TOKEN_PATTERN})", fold(text))
    ends = accumulate(map(len, folded))
    return [
        (text[end - len(piece) : end], vocab.get(piece))
        for piece, end in zip(folded, ends, strict=True)
        if piece
    ]


class Vocab(tuple[str, ...]):
    """The distinct tokens a corpus is counted in; `vocab[id]` is the token of an id.

    `classes` are the names of the classes 0..K-1 of the corpus it belongs to, or None.
    """

    classes: tuple[ClassName, ...] | None
    _ids: dict[str, int]

    def __new__(
        cls, tokens: Iterable[str], classes: Iterable[ClassName] | None = None
    ) -> Vocab:
        """Number the tokens; a ValueError if one occurs twice or there is none."""
        vocab = super().__new__(cls, tokens)
        vocab._ids = {token: i for i, token in enumerate(vocab)}
        vocab.classes = None if classes is None else tuple(classes)
        if isinstance(tokens, str) or not all(isinstance(t, str) for t in vocab):
            raise TypeError("tokens: expected a list of strings")
        if not 0 < len(vocab) == len(vocab._ids):
            raise ValueError("tokens: expected distinct strings, at least one")
        return vocab

    def index(self, token: Any, *_: Any) -> int:
        """Return the id of a token; a KeyError names the tokens most like it."""
        if token not in self._ids:
            near = difflib.get_close_matches(str(token), self) or "none"
            raise KeyError(f"{token!r} is not in the vocabulary; near misses: {near}")
        return self._ids[token]

    def get(self, token: str) -> int:
        """Return the id of a token, -1 if there is no such token."""
        return self._ids.get(token, -1)

    def __contains__(self, token: object) -> bool:
        return token in self._ids

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:5]))
        more = ", ..." if len(self) > 5 else ""
        return f"Vocab({len(self):,} tokens: {shown}{more})"
