"""A Sphinx extension that formats the tables that code cells show.

In a column of plain numbers, the decimal points are aligned, and trailing zeros that
all numbers have are omitted. Words are aligned to the left, and headings like their
columns. An index that only counts rows is omitted. Numbers such as 1e-07 become powers
of ten. A table with a caption is a numbered table.
"""

import re
from typing import Any

from bs4 import BeautifulSoup, Tag
from docutils import nodes
from sphinx.transforms import SphinxTransform

NUMBER = re.compile(r"[-+−]?[\d.,]+(e[-+]?\d+)?\s?%?")
PLAIN = re.compile(r"-?[\d,]+(\.\d+)?")
RANGE = re.compile(r"(-?[\d.,]+) to (-?[\d.,]+%?)")
POINT, DIGIT = "\u2008", "\u2007"  # spaces as wide as these
POWER = re.compile(r"(-?[\d.]+)e([-+])0*(\d+)")


def set_number(cell: Tag) -> None:
    """In a cell, replace a hyphen by a minus sign and an exponent by a power of ten."""
    text = cell.get_text().strip()
    power = POWER.fullmatch(text)
    if power:
        digits, sign, exponent = power.groups()
        lead = "" if digits == "1" else f"{digits.replace('-', '−')}·"
        cell.clear()
        cell.append(f"{lead}10")
        raised = Tag(name="sup")
        raised.string = exponent if sign == "+" else f"−{exponent}"
        cell.append(raised)
    elif text.startswith("-"):
        cell.string = text.replace("-", "−", 1)


def align(cells: list[Tag]) -> None:
    """Drop trailing zeros that all numbers have, and align the decimal points."""
    texts = [cell.get_text().strip() for cell in cells]
    while all("." in text and text.endswith("0") for text in texts):
        texts = [text[:-1].removesuffix(".") for text in texts]
    decimals = [len(text.partition(".")[2]) for text in texts]
    for cell, text, count in zip(cells, texts, decimals, strict=True):
        point = POINT if max(decimals) > 0 == count else ""
        no_sign = text.lstrip("-") if not text.strip("-0.") else text
        cell.string = (
            no_sign.replace("-", "−") + point + DIGIT * (max(decimals) - count)
        )


def set_range(cell: Tag) -> None:
    """Write a range on one line, with a dash or, if it has a minus sign, with *to*."""
    text = cell.get_text().strip()
    cell.string = text.replace("-", "−") if "-" in text else text.replace(" to ", "–")
    mark(cell, "range")


def mark(cell: Tag, kind: str) -> None:
    """Add the CSS class `kind` to a cell."""
    cell["class"] = " ".join([*filter(None, cell.get_attribute_list("class")), kind])


def tidy(page: str) -> str:
    """Return HTML in which data frames without merged cells are formatted."""
    soup = BeautifulSoup(page, "html.parser")
    for table in soup.select("table.dataframe, table[id^=T_]"):
        rows = [row.find_all(["th", "td"]) for row in table.find_all("tr")]
        head, body = rows[0], rows[1:]
        if table.select("[rowspan], [colspan]") or len(set(map(len, rows))) > 1:
            continue
        first = [row[0].get_text() for row in body]
        if not head[0].get_text() and first == [str(i) for i in range(len(body))]:
            for row in rows:
                row.pop(0).decompose()
        for column in zip(*rows, strict=True):
            filled = [cell for cell in column[1:] if cell.get_text().strip()]
            texts = [cell.get_text().strip() for cell in filled]
            if all(PLAIN.fullmatch(text) for text in texts):
                align(filled)
            elif all(RANGE.fullmatch(text) or NUMBER.fullmatch(text) for text in texts):
                for cell, text in zip(filled, texts, strict=True):
                    (set_range if RANGE.fullmatch(text) else set_number)(cell)
            else:
                for cell in column:
                    mark(cell, "words")
    return str(soup)


class CellTable(nodes.figure):
    """A table that a code cell shows, with its caption."""


def holds_table(page: str) -> bool:
    """Return whether HTML contains a table outside its scripts."""
    return "<table" in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)


class Tables(SphinxTransform):
    """The conversion of figures that contain a table and no picture into tables."""

    default_priority = 600

    def apply(self, **_: Any) -> None:
        """Replace each figure that contains a table and no picture by a `CellTable`."""
        for node in list(self.document.findall(nodes.figure)):
            raw = [n for n in node.findall(nodes.raw) if holds_table(n.astext())]
            picture = next(node.findall(nodes.image), None)
            if type(node) is not nodes.figure or not raw or picture:
                continue
            captions = [n for n in node.children if isinstance(n, nodes.caption)]
            rest = [n for n in node.children if n not in captions]
            table = CellTable("", *captions, *rest, **node.attributes)
            table["classes"] = [*node["classes"], "cell-table"]
            node.replace_self(table)
            for name in table["ids"]:
                self.document.ids[name] = table


class Frames(SphinxTransform):
    """The formatting of data frames that code cells show."""

    default_priority = 490

    def apply(self, **_: Any) -> None:
        """Format the data frames that the code cells of a page show."""
        for node in self.document.findall(nodes.raw):
            if re.search('class="dataframe"|<table id="T_', node.astext()):
                node.children = [nodes.Text(tidy(node.astext()))]


def setup(app: Any) -> dict[str, bool]:
    """Register numbered tables, and the transforms of data frames and of figures."""
    app.add_enumerable_node(
        CellTable,
        "table",
        html=(
            lambda visitor, node: visitor.visit_figure(node),
            lambda visitor, node: visitor.depart_figure(node),
        ),
    )
    app.add_transform(Frames)
    app.add_transform(Tables)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
