"""The text in the bytes of a file."""

import re
import warnings

DAMAGED = 0.1  # bytes that are no UTF-8 for each letter that is, at most


def decoded(content: bytes) -> str:
    """Return bytes as text: UTF-8, UTF-16 with its mark, or else Windows-1252.

    Windows-1252 is a guess. A few bytes that are not valid UTF-8 are replaced. A
    warning reports both. A carriage return within a line becomes a space.

    Raises:
        ValueError: if there is a NUL byte.
        UnicodeDecodeError: if the bytes are in another encoding.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = content.decode("utf-16")
    elif 0 in content:
        raise ValueError(
            "a NUL byte: it is binary, or UTF-16 without a mark. Save it in UTF-8, or "
            "give its name the usual ending of such files, for example .parquet or "
            ".csv.gz"
        )
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = _guessed(content)
    return re.sub(r"\r(?!\n)", " ", text) if "\n" in text else text


def _guessed(content: bytes) -> str:
    """Return the text in bytes that are not UTF-8."""
    text = content.decode("utf-8-sig", "replace")
    damaged = text.count("\ufffd")
    letters = len(re.findall(r"[^\0-\x7f]", text)) - damaged
    if damaged <= DAMAGED * letters:
        warnings.warn(
            f"{damaged:,} {'byte is' if damaged == 1 else 'bytes are'} not UTF-8, "
            "unlike the rest of the file; each is replaced by \ufffd "
            "(encoding_errors='replace')",
            stacklevel=2,
        )
        return text
    # Pairs that are UTF-8 hardly occur by chance, nor a text that is mostly accents.
    as_utf8 = content.decode("utf-8", "ignore")
    if not as_utf8.isascii() or len(content) > 1.25 * len(as_utf8):
        content.decode("utf-8")
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        content.decode("utf-8")
    warnings.warn(
        "the file is not UTF-8 and read as Windows-1252, the letters of Western "
        "Europe; if they look wrong, save it in UTF-8",
        stacklevel=2,
    )
    return text
