"""Each symbol of the page *Notation* occurs once, and in the chapters listed there."""

import re

import pytest

from support.chapters import BOOK, cells_of

ROW = re.compile(r"^\* - (.+)\n  - (.+)\n  -.*$", re.MULTILINE)
LETTER = re.compile(r"\$([^$]+)\$")


def rows(part: str = "") -> list[tuple[list[str], str]]:
    """Return the symbols of each row after a heading, and their meaning."""
    page = (BOOK / "notation.md").read_text(encoding="utf-8")
    found = ROW.findall(page[page.index(part) :])
    assert len(found) > 15
    symbols = [(LETTER.findall(first), meaning) for first, meaning in found]
    return [row for row in symbols if row[0]]


def plain(formula: str) -> str:
    """Return a formula without spaces and braces, in which every bar is `|`."""
    return re.sub(r"[{}\s]", "", formula.replace("\\mid", "|"))


def letter(symbol: str) -> str:
    """Return a symbol without its definition, spaces and braces."""
    left = re.split(r"\s*(?:=|\\in\b)", symbol)[0]
    return plain(left)


def test_no_symbol_stands_in_two_rows():
    seen: dict[str, str] = {}
    for symbols, meaning in rows():
        for name in {letter(symbol) for symbol in symbols}:
            assert name not in seen, f"{name}: {seen[name]} / {meaning}"
            seen[name] = meaning


def formulas_of(chapter: str) -> str:
    """Return the text of a chapter without spaces and braces."""
    cells = cells_of(chapter)
    text = "".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return plain(text)


named = [
    pytest.param(chapter, [letter(s) for s in symbols], id=f"{chapter}-{symbols[0]}")
    for symbols, meaning in rows("## Single chapters")
    for chapter in re.findall(r"\{doc\}`(\w+)`", meaning)[:1]
]


@pytest.mark.parametrize(("chapter", "symbols"), named)
def test_a_symbol_stands_in_the_chapter_that_its_row_names(chapter, symbols):
    text = formulas_of(chapter)
    bases = [re.sub(r"_\w$", "_", symbol) for symbol in symbols]
    missing = [base for base in bases if base not in text]
    assert missing == [], f"{chapter} has no {missing}"
