"""Terms are defined before they are used."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = yaml.safe_load((ROOT / "book/glossary.yml").read_text(encoding="utf-8"))
CELL = re.compile(r"^```\{code-cell\}.*?^```$", re.DOTALL | re.MULTILINE)
CAPTION = re.compile(
    r"^ +(?:caption|alt): (.*?)(?=^ *(?:alt|image|name|tags):|^---$)", re.S | re.M
)
NO_WORDS = re.compile(
    r"^`{3,}.*?$|\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|^:label:.*?$|^\([\w-]+\)=$",
    re.DOTALL | re.MULTILINE,
)


def prose(text: str) -> str:
    """Return the prose and the captions of a chapter, without code and formulas."""

    def captions(cell: re.Match[str]) -> str:
        return "\n".join(found[1] for found in CAPTION.finditer(cell[0]))

    return NO_WORDS.sub(" ", CELL.sub(captions, text))


def chapters() -> list[str]:
    """Return the numbered chapters in the order in which they are read."""
    toc: dict[str, Any] = yaml.safe_load((ROOT / "_toc.yml").read_text())
    parts = [part["chapters"] for part in toc["parts"] if part.get("numbered")]
    return [Path(page["file"]).name for part in parts for page in part]


def first_use(pattern: str) -> tuple[str, str]:
    """Return the chapter that first uses a term, and the text around this use.

    Folded text counts; quotations in italics do not.
    """
    for chapter in chapters():
        text = prose((ROOT / f"book/text/{chapter}.md").read_text(encoding="utf-8"))
        found = re.search(pattern, text)
        if found:
            start, end = found.span()
            return chapter, text[max(0, start - 30) : end + 30]
    return "", ""


@pytest.mark.parametrize("term", GLOSSARY["defined"])
def test_a_term_is_defined_in_bold_where_it_first_occurs(term):
    where = GLOSSARY["defined"][term]
    chapter, place = first_use(where["pattern"])
    assert chapter == where["chapter"], place
    assert f"**{term}**" in re.sub(r"\s+", " ", place), place
