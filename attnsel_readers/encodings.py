"""Functions that find the encoding of a file."""

import codecs
import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

# Patterns of the usual letters of a text in each encoding.
USUAL = {
    "shift_jis": r"[\u3040-\u30ff\u4e00-\u9fa5](?=.{0,9}[\u3040-\u30ff])",
    "cp949": r"[\uac00-\ud7a3]",
    "gb18030": r"[\u4e00-\u9fa5]",
    "big5": r"[\u4e00-\u9fa5]",
    "cp1251": r"[а-яё]",
    "cp1250": r"[à-ž]",
    "cp1253": r"[ά-ώ]",
}
TESTED = 100_000  # bytes by which encodings are compared
DAMAGED = 0.1  # largest number of invalid bytes per valid non-ASCII letter
BLOCK = 1 << 22  # bytes that are read together


class Letters(NamedTuple):
    """The encoding of a file, the treatment of invalid bytes, and the line endings.

    `has_returns` is true if a file of valid UTF-8 has line feeds, but not after each
    carriage return.
    """

    encoding: str
    errors: str = "strict"
    has_returns: bool = False


def letters_of(opened: Callable[[], Any]) -> Letters:
    """Find a file's encoding: UTF-8, UTF-16 with a byte-order mark, or Windows-1252.

    If only a few bytes are not valid UTF-8, they are replaced. Otherwise a file that is
    not UTF-8 is read as Windows-1252, which is a guess. In both cases, the function
    warns. UTF-8 is read in blocks, so that the file may be large.

    Raises:
        ValueError: if a file that is not marked as UTF-16 contains a NUL byte.
        UnicodeDecodeError: if the bytes seem to be in another encoding.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    has_returns = has_feeds = False
    with opened() as file:
        block = file.read(BLOCK)
        if block.startswith((b"\xff\xfe", b"\xfe\xff")):
            return Letters("utf-16")
        while block:
            if block.endswith(b"\r"):
                block += file.read(1)
            if 0 in block:
                raise ValueError(
                    "the file contains a NUL byte, so it is binary, or UTF-16 without "
                    "a byte-order mark. Save it in UTF-8, or give its name the ending "
                    "of its kind, for example .parquet or .csv.gz"
                )
            try:
                decoder.decode(block)
            except UnicodeDecodeError:
                return _guessed(block + file.read())
            has_feeds |= b"\n" in block
            has_returns |= re.search(rb"\r(?!\n)", block) is not None
            block = file.read(BLOCK)
    return Letters("utf-8-sig", has_returns=has_returns and has_feeds)


def _guessed(content: bytes) -> Letters:
    """Find the encoding of bytes that are not UTF-8."""
    text = content.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    letters = len(re.findall(r"[^\0-\x7f]", text)) - damaged
    if damaged <= DAMAGED * letters:
        warnings.warn(
            f"{damaged:,} {'byte is' if damaged == 1 else 'bytes are'} not UTF-8, "
            "unlike the rest of the file; each is replaced by \ufffd "
            "(encoding_errors='replace')",
            stacklevel=2,
        )
        return Letters("utf-8-sig", "replace")
    # Pairs that are UTF-8 hardly occur by chance, nor a text that is mostly accents.
    as_utf8 = content.decode("utf-8", "ignore")
    if not as_utf8.isascii() or len(content) > 1.25 * len(as_utf8):
        content.decode("utf-8")
    try:
        content.decode("cp1252")
    except UnicodeDecodeError:
        content.decode("utf-8")
    warnings.warn(
        "the file is not UTF-8, so it is read as Windows-1252 (the letters of Western "
        "Europe); if letters look wrong, save the file in UTF-8",
        stacklevel=2,
    )
    return Letters("cp1252")


def likely_encodings(content: bytes) -> list[str]:
    """Return the possible encodings of some bytes, the most likely one first."""
    part = content[:TESTED]
    part = part[: part.rfind(b"\n") + 1] or part
    shares = {}
    for encoding, usual in USUAL.items():
        try:
            text = part.decode(encoding)
        except UnicodeDecodeError:
            continue
        letters = len(re.findall(r"[^\0-\x7f]", text))
        shares[encoding] = len(re.findall(usual, text)) / max(letters, 1)
    if shares.get("shift_jis", 0) > 0.5:  # other texts have no kana in it
        shares["shift_jis"] = 1.5
    ranked = sorted(shares, key=lambda encoding: -shares[encoding])
    return [name for name in ranked if shares[name] > 0.3] or ["cp1251"]
