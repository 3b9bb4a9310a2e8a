"""Computed numbers that `make execute` writes into the text of the book.

A cell names a number with `glue(awful_ratio="9")`. A sentence of its chapter contains
`9<!-- awful_ratio -->`, and a sentence of another page contains
`9<!-- one_step: awful_ratio -->`. Every Markdown viewer shows the number and hides the
comment. Running a chapter updates all numbers in its text, and
`python -m tools.glued` updates all pages.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

BOOK = Path(__file__).resolve().parent.parent / "book"
MARK = re.compile(r"<!--\s+(?:(\w+):\s+)?([^>]+?)\s+-->")  # YAML may break its lines
NUMBER = r"[−-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
ALONE = r"(?<![\w.,−-])"  # a number is not the end of a longer one

Numbers = dict[tuple[str, str], str]  # by chapter and name


def marked(text: str, page: str) -> list[tuple[str, str]]:
    """Return the chapter and the name of each number with a comment in a text."""
    found = MARK.findall(text)
    return [(chapter or page, " ".join(name.split())) for chapter, name in found]


def stored(notebook: Any, chapter: str) -> Numbers:
    """Return the numbers that the cells of a notebook stored."""
    found = {}
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            if scrap := output.get("metadata", {}).get("scrapbook"):
                lines = output["data"][scrap["mime_prefix"] + "text/plain"]
                found[chapter, scrap["name"]] = ast.literal_eval("".join(lines))
    return found


def written(text: str, page: str, numbers: Numbers, old: Numbers | None = None) -> str:
    """Return a text with the given numbers before the comments that name them.

    If the old number of the same name precedes a comment, the new number replaces it.
    Otherwise, the new number replaces a text of the same form, as *3 of 10* replaces
    *4 of 10*, or else the word before the comment.

    Raises:
        ValueError: if no cell stores a number with the name in a comment.
    """
    parts, end = [], 0
    for mark, name in zip(MARK.finditer(text), marked(text, page), strict=True):
        if name not in numbers:
            raise ValueError(
                f"no cell of {name[0]} stores “{name[1]}”, which {page} mentions: use "
                "a name from a call of `glue`, and run the chapter"
            )
        shape = "".join(
            NUMBER if i % 2 else re.escape(part)
            for i, part in enumerate(re.split(f"({NUMBER})", numbers[name]))
        )
        there = re.escape((old or {}).get(name, numbers[name]))
        head = text[end : mark.start()]
        for kind in (ALONE + there, ALONE + shape, r"[^\s(|*]*"):
            if found := re.search(rf"(?:{kind})\Z", head):
                break
        assert found  # the last kind may be empty
        parts += [head[: found.start()], numbers[name], mark[0]]
        end = mark.end()
    return "".join([*parts, text[end:]])


def texts(notebook: Any) -> Iterator[tuple[Any, str, str]]:
    """Yield the dictionary, the key and the text of each Markdown cell and caption."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            yield cell, "source", cell.source
        figure = cell.metadata.get("mystnb", {}).get("figure", {})
        if "caption" in figure:
            yield figure, "caption", figure["caption"]


def write(notebook: Any, page: str, numbers: Numbers, old: Numbers) -> bool:
    """Write numbers into the texts of a notebook; return whether a text changed."""
    changed = False
    for place, key, text in texts(notebook):
        place[key] = written(text, page, numbers, old)
        changed |= place[key] != text
    return changed


def all_stored(book: Path = BOOK) -> Numbers:
    """Return the stored numbers of all chapters."""
    found: Numbers = {}
    for path in book.glob("*.ipynb"):
        found |= stored(json.loads(path.read_text("utf-8")), path.stem)
    return found


def main(book: Path = BOOK) -> None:
    """Write the stored numbers of all chapters into all pages."""
    numbers = all_stored(book)
    for path in sorted(book.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        if write(notebook, path.stem, numbers, {}):
            path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
            print(f"{path.name}: new numbers")
    for path in sorted(book.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if (new := written(text, path.stem, numbers)) != text:
            path.write_text(new, encoding="utf-8")
            print(f"{path.name}: new numbers")


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:
        sys.exit(str(error))
