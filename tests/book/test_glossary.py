"""Terms are defined before they are used, and replaced words do not come back."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = yaml.safe_load((ROOT / "book/glossary.yml").read_text(encoding="utf-8"))
RETIRED = {re.compile(pattern): new for pattern, new in GLOSSARY["retired"].items()}
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


def docstrings(source: str) -> str:
    """Return the docstrings of a module."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]
    found = [ast.get_docstring(node) or "" for node in nodes]
    return NO_WORDS.sub(" ", "\n".join(re.sub("``.*?``", "", x) for x in found))


def claim_labels(notebook: str) -> str:
    """Return the labels of the claims of a notebook, one a line."""
    outputs = [
        x for cell in json.loads(notebook)["cells"] for x in cell.get("outputs", [])
    ]
    found = [x.get("metadata", {}).get("claim") for x in outputs]
    return "\n".join(claim["statement"] for claim in found if claim)


@cache
def words_of(name: str) -> str:
    """Return what a person reads in a file of the project."""
    text = (ROOT / name).read_text(encoding="utf-8")
    if name.endswith(".py"):
        return docstrings(text)
    if name.endswith(".ipynb"):  # its text is that of its .md
        return claim_labels(text)
    return prose(text) if name.endswith(".md") else text


def files() -> Iterator[str]:
    """Yield the files with prose, docstrings or strings of a page."""
    for pattern in (
        "README.md",
        "book/*.md",
        "book/text/*.md",
        "book/*.ipynb",
        "book/_static/*.js",
        "book/attnsel_book/widgets/*.js",
        "attnsel/**/*.py",
        "book/attnsel_book/**/*.py",
    ):
        yield from sorted(str(x.relative_to(ROOT)) for x in ROOT.glob(pattern))


def retired_in(text: str) -> list[str]:
    """Return the replaced words of a text, each with what to write."""
    return [
        f"{found[0]!r}: {new}"
        for pattern, new in RETIRED.items()
        for found in pattern.finditer(text)
    ]


def chapters() -> list[str]:
    """Return the numbered chapters in the order in which they are read."""
    toc: dict[str, Any] = yaml.safe_load((ROOT / "_toc.yml").read_text())
    parts = [part["chapters"] for part in toc["parts"] if part.get("numbered")]
    return [Path(page["file"]).name for part in parts for page in part]


def first_use(pattern: str) -> tuple[str, str]:
    """Return the chapter that first uses a term, and the place with what surrounds it.

    What is folded counts like all else; what is in italics, a quotation, does not.
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


@pytest.mark.parametrize("name", sorted(files()))
def test_no_replaced_word_comes_back(name):
    assert retired_in(words_of(name)) == []


@pytest.mark.parametrize("name", [x for x in files() if x.endswith(".ipynb")])
def test_a_claim_says_smallest_largest_and_minus(name):
    other = r".*(?:\bgreatest\b|(?<!at )\bleast\b| less ).*"
    assert re.findall(other, words_of(name), re.IGNORECASE) == []


def test_words_are_found_in_prose_and_captions_but_not_in_code():
    text = (
        "It is dealt.\n\n```{code-cell}\n---\nmystnb:\n  figure:\n"
        "    caption: A knob\n    name: fig-x\n---\nanew = 1\n```\n\n`by luck` $knob$"
    )
    found = [word.split(":")[0] for word in retired_in(prose(text))]
    assert sorted(found) == ["'dealt'", "'knob'"]
    source = 'def f():\n    """Return what is told of."""\n    knob = "dealt"\n'
    assert len(retired_in(docstrings(source))) == 1
