"""The text that the bytes of a file encode."""

import re
import warnings

# Letters that a text in an encoding mostly has, by the encoding.
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
DAMAGED = 0.1  # bytes that are no UTF-8 for each letter that is, at most


def decoded(content: bytes) -> str:
    """Return the text of bytes: UTF-8, UTF-16, or else Windows-1252.

    The latter is guessed, and a few bytes that are no letters of UTF-8 are replaced; a
    warning reports both.

    Raises:
        UnicodeDecodeError: if the bytes are in another encoding.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16")
    beginning = content[:200]
    if beginning.count(0) > len(beginning) // 3:  # ASCII with a zero in each pair
        first_is_zero = beginning[0::2].count(0) > beginning[1::2].count(0)
        return content.decode("utf-16-be" if first_is_zero else "utf-16-le")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = _mostly_utf8(content) or _in_windows_letters(content)
        if text is None:
            raise
    return text


def _mostly_utf8(content: bytes) -> str | None:
    """Return a text in UTF-8 with its few damaged letters replaced."""
    text = content.decode("utf-8-sig", "replace")
    damaged = text.count("\ufffd")
    letters = len(re.findall(r"[^\0-\x7f]", text)) - damaged
    if 0 in content or damaged > DAMAGED * letters:
        return None
    warnings.warn(
        f"{damaged:,} {'byte is' if damaged == 1 else 'bytes are'} no UTF-8, as the "
        f"rest of the file is; each is replaced by \ufffd (encoding_errors='replace')",
        stacklevel=2,
    )
    return text


def _in_windows_letters(content: bytes) -> str | None:
    """Read bytes as Windows-1252, if that is what they can be."""
    # Pairs that are UTF-8 hardly occur by chance, nor a text that is mostly accents.
    as_utf8 = content.decode("utf-8", "ignore")
    accents = len(content) - len(as_utf8)
    if not as_utf8.isascii() or accents > len(content) / 5:
        return None
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        return None
    warnings.warn(
        "the file is not UTF-8 and read as Windows-1252, the letters of Western "
        "Europe; if they look wrong, save it in UTF-8",
        stacklevel=2,
    )
    return text


def likely_encodings(content: bytes) -> list[str]:
    """Return the encodings in which bytes are text, the likeliest first."""
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
