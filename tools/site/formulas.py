"""A Sphinx extension that converts formulas to MathML when the book is built.

The JavaScript library Temml converts the formulas. Each process of the build uses one
process of node for all its formulas. A formula that Temml cannot convert causes a
warning, which makes the build fail. A character that is not in the font for formulas
also causes such a warning.
"""

import atexit
import functools
import html
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from tools.site.node import node as node_program

FOLDER = Path(__file__).resolve().parent
# The characters in the font of formulas, which are all that formulas may contain.
CHARACTERS = {*(FOLDER / "temml" / "characters.txt").read_text("utf-8")} - {"\n"}
# Formulas and table cells in the HTML that Jupyter stores as output.
MARKED = re.compile(r"\\\((.+?)\\\)|\$([^$<>]+)\$", re.DOTALL)
CELL = re.compile(r"(<t[hd]\b[^>]*>)(.*?)(?=</t[hd]>)", re.DOTALL)


@functools.cache
def engine(_process: int) -> subprocess.Popen[str]:
    """Return the node process that converts all formulas of the calling process."""
    process = subprocess.Popen(
        [node_program(), str(FOLDER / "formulas.js")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    atexit.register(process.communicate)
    return process


@functools.cache
def formula(tex: str, *, display: bool = False) -> str:
    """Convert a LaTeX formula to MathML.

    Raises:
        ValueError: if Temml cannot convert the formula, or the font lacks a character.
    """
    process = engine(os.getpid())
    assert process.stdin and process.stdout
    process.stdin.write(json.dumps({"tex": tex, "display": display}) + "\n")
    process.stdin.flush()
    found = json.loads(process.stdout.readline())
    if "error" in found:
        raise ValueError(f"formula {tex!r}: {found['error']}")
    text = html.unescape(re.sub(r"<[^>]*>", "", found["math"]))
    missing = sorted({letter for letter in text if letter not in CHARACTERS})
    if missing:
        raise ValueError(f"formula {tex!r}: the font lacks {', '.join(missing)}")
    return str(found["math"])


def lines(tex: str) -> str:
    """Return a displayed formula, with `split` around lines without an environment."""
    broken = r"\\" in tex and r"\begin" not in tex
    return rf"\begin{{split}}{tex}\end{{split}}" if broken else tex


def set_or_warn(tex: str, where: Any, *, display: bool = False) -> str:
    """Return a formula as MathML; if this fails, warn and return its LaTeX."""
    try:
        return formula(tex, display=display)
    except ValueError as error:
        logging.getLogger(__name__).warning("%s", error, location=where)
        return html.escape(tex)


def inline(writer: Any, node: nodes.math) -> None:
    """Write a formula in a sentence."""
    writer.body.append(set_or_warn(node.astext(), node))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, with its number if it has one."""
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    if node["number"]:
        number = get_node_equation_number(writer, node)
        writer.body.append(f'<span class="eqno">({number})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    writer.body.append(set_or_warn(lines(node.astext()), node, display=True))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def in_tables(page: str, where: Any) -> str:
    """Return the HTML `page` with MathML for the formulas in the cells of tables."""

    def cell(m: re.Match[str]) -> str:
        return m[1] + MARKED.sub(lambda f: set_or_warn(f[1] or f[2], where), m[2])

    return CELL.sub(cell, page)


class TablesOfCells(SphinxTransform):
    """The conversion of formulas in the tables that code cells show."""

    default_priority = 500

    def apply(self, **_: Any) -> None:
        """Convert the formulas in the tables that the code cells of a page show."""
        for node in self.document.findall(nodes.raw):
            if "<table" in node.astext():
                node.children = [nodes.Text(in_tables(node.astext(), node))]


def setup(app: Any) -> dict[str, bool]:
    """Register the math renderer `temml`, and the transform of formulas in tables."""
    app.add_html_math_renderer("temml", (inline, None), (block, None))
    app.add_transform(TablesOfCells)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
