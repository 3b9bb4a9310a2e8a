"""Invisible characters in texts, and codes that replace them."""

import re
import unicodedata

# Control characters except tabs and line ends, zero-width characters, marks of the text
# direction, and private use. Joiners are part of words and emoji, but not at their end.
INVISIBLE = re.compile(
    r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e"
    r"\u2060-\u206f\u2800\u3164\ue000-\uf8ff\ufeff\ufff9-\ufffb]"
    r"|[\u200c\u200d](?![^\s<])"
)


def visible(text: str) -> str:
    """Return a text with codes, such as ⟨U+200B⟩, in place of invisible characters."""
    return INVISIBLE.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def with_names(text: str) -> str:
    """Name invisible characters in a text, for example ⟨U+200B ZERO WIDTH SPACE⟩."""

    def named(found: re.Match[str]) -> str:
        name = unicodedata.name(found[0], "")
        return f"⟨{f'U+{ord(found[0]):04X} {name}'.strip()}⟩"

    return INVISIBLE.sub(named, text)
