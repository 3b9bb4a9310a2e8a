"""Functions that clean texts and split them into tokens, and the class `Vocab`."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

from attnsel.labels import ClassName

# Marks that belong to the letter before them, as the vowels of Hindi do, and joiners.
_MARKS = "".join(
    character
    for character in map(chr, range(0x300, 0x1F000))
    if unicodedata.category(character).startswith("M") or character in "\u200c\u200d"
)
_WORD = rf"[^\W_]+(?:[{_MARKS}]+[^\W_]*)*"
# Words with their contractions (don't, o'neil's), then any other visible character
# by itself, so that neither punctuation nor one-letter words are lost.
TOKEN_PATTERN = rf"{_WORD}(?:'{_WORD})*|\S[{_MARKS}]*"
_TOKEN = re.compile(TOKEN_PATTERN)
# The same in lower-case ASCII, where no letter has a mark: three times as fast.
_ASCII_TOKEN = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*|\S")
# A run of letters of a script that writes no spaces between its words: Thai, Lao,
# Tibetan, Burmese, Khmer, Japanese and Chinese.
_UNSPACED = re.compile(
    r"[\u0e01-\u0eff\u0f00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]{5}"
)
END = "\0"  # between texts that are split together; no text contains it
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
Tokenizer = Callable[[str], Iterable[str]]


def clean_text(text: str) -> str:
    """Return the text without HTML line breaks and with letters in composed form.

    Each HTML line break and each NUL character becomes a space. A letter and the accent
    after it become one character if such a character exists (NFC).
    """
    if "<" in text or END in text:
        text = _LINE_BREAK.sub(" ", text).replace(END, " ")
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def fold(text: str) -> str:
    """Return the text in lower case, with straight apostrophes and the same length."""
    # The dotted capital I is the one letter that would grow when lowercased.
    lower = text.replace("İ", "I").lower()
    return lower.replace("’", "'")


def split(text: str) -> list[str]:
    """Return the tokens of a text, in lower case."""
    return _split(clean_text(text))


def _split(text: str) -> list[str]:
    folded = fold(text)
    pattern = _ASCII_TOKEN if folded.isascii() else _TOKEN
    return pattern.findall(folded)


def split_all(tokenize: Tokenizer | None, texts: Iterable[str]) -> list[str]:
    """Return the tokens of all texts in one list, with `END` after each text.

    The tokens are the same as those of `split_with`. If `tokenize` is None, short ASCII
    texts are split several times as fast as by `split_with`.
    """
    found: list[str] = []
    if tokenize is not None:
        for text in texts:
            found += [*split_with(tokenize, text), END]
        return found
    for is_ascii, run in groupby(texts, str.isascii):
        cleaned = map(clean_text, run)
        # A pattern three times as fast is enough for texts in ASCII.
        parts = [f" {END} ".join(cleaned)] if is_ascii else cleaned
        for part in parts:
            found += _split(part)
            found.append(END)
    return found


def is_unspaced(token: str) -> bool:
    """Return whether a token begins with five characters of a script without spaces."""
    return _UNSPACED.match(token) is not None


def split_with(tokenize: Tokenizer | None, text: str) -> list[str]:
    """Clean a text, split it with `tokenize`, and return the tokens that are not blank.

    If `tokenize` is None, the text is split by `split`.
    """
    if tokenize is None:
        return split(text)
    found = tokenize(clean_text(text))
    return [token for token in found if token.strip() not in ("", END)]


def pieces(text: str, vocab: Vocab) -> list[tuple[str, int]]:
    """Split a cleaned text into pieces with their token ids.

    Each piece is a token or a string of characters outside all tokens. Such strings,
    and tokens that are not in the vocabulary, have the id -1. The pieces, joined
    together, are the text.
    """
    folded = fold(text)  # of the same length
    found: list[tuple[str, int]] = []
    end = 0
    for token in split_with(vocab.tokenize, text):
        start = folded.find(token, end)
        if start < 0:  # your own function may leave capitals
            start = text.find(token, end)
        if start >= 0:
            found.append((text[end:start], -1))
            end = start + len(token)
            found.append((text[start:end], vocab.get(token)))
    found.append((text[end:], -1))
    return [(piece, token) for piece, token in found if piece]


class Vocab(tuple[str, ...]):
    """The distinct tokens of a corpus; `vocab[id]` is the token with this id.

    Attributes:
        classes: names of the classes 0..K-1 of the corpus, or None.
        tokenize: function that split the texts of the corpus; None if the texts were
            split by `split`.
    """

    classes: tuple[ClassName, ...] | None
    tokenize: Tokenizer | None
    _ids: dict[str, int]

    def __new__(
        cls,
        tokens: Iterable[str],
        classes: Iterable[ClassName] | None = None,
        tokenize: Tokenizer | None = None,
    ) -> Vocab:
        """Make a vocabulary whose ids are the positions of the tokens.

        Raises:
            TypeError: if a token is not a string.
            ValueError: if a token occurs twice, or if there is no token.
        """
        vocab = super().__new__(cls, tokens)
        vocab._ids = {token: i for i, token in enumerate(vocab)}
        vocab.classes = None
        if classes is not None:
            vocab.classes = tuple(classes)
        vocab.tokenize = tokenize
        if isinstance(tokens, str) or not all(isinstance(t, str) for t in vocab):
            raise TypeError("tokens: expected a list of strings")
        if not 0 < len(vocab) == len(vocab._ids):
            raise ValueError("tokens: expected distinct strings, at least one")
        return vocab

    def index(self, token: Any, *_: Any) -> int:
        """Return the id of a token.

        Raises:
            KeyError: if the vocabulary lacks it; the message lists similar tokens.
        """
        if token not in self._ids:
            near = difflib.get_close_matches(str(token), self) or "none"
            raise KeyError(f"{token!r} is not in the vocabulary; near misses: {near}")
        return self._ids[token]

    def get(self, token: str) -> int:
        """Return the id of a token, or -1 if the token is not in the vocabulary."""
        return self._ids.get(token, -1)

    def __contains__(self, token: object) -> bool:
        return token in self._ids

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:5]))
        more = ", ..." if len(self) > 5 else ""
        return f"Vocab({len(self):,} tokens: {shown}{more})"
