"""Figures read back from their SVG: words, colours and places, as readers see them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from attnsel_book import style
from support.chapters import CHAPTERS, cells_of

SVG = "{http://www.w3.org/2000/svg}"
GREY = style.NEUTRAL.lower()
COLOURS = {"#000000": "black", GREY: "grey", style.POSITIVE: "blue"}
COLOURS |= {style.NEGATIVE: "orange"}
SHADES = "green", "purple", "olive", "brown", "pink", "violet"
COLOURS |= dict(zip(style.CURVES, SHADES, strict=True))
COLOURS = {shade.lower(): name for shade, name in COLOURS.items()}


@dataclass
class Panel:
    """One pair of axes.

    Ticks and lines are in points of the page; `lines` and `legend` have the colour and
    the dashes ("" for a solid line) of each.
    """

    labels: list[str]  # across and up
    ticks: list[dict[float, str]]
    texts: list[str]  # titles and annotations
    legend: list[tuple[str, tuple[str, bool]]] = field(default_factory=list)
    lines: list[tuple[str, bool, list[tuple[float, float]]]] = field(
        default_factory=list
    )
    has_picture: bool = False  # thousands of points, drawn as one


@dataclass
class Figure:
    chapter: str
    name: str
    caption: str
    alt: str
    panels: list[Panel]


def figures() -> Iterator[Figure]:
    """Yield the stored figures of all chapters."""
    for chapter in CHAPTERS:
        for cell in cells_of(chapter):
            shown = cell.metadata.get("mystnb", {})
            for output in cell.get("outputs", []):
                drawn = output.get("data", {}).get("image/svg+xml")
                if drawn:
                    words = shown["figure"]
                    alt = shown["image"]["alt"]
                    panels = read(drawn)
                    yield Figure(chapter, words["name"], words["caption"], alt, panels)


def read(drawn: str) -> list[Panel]:
    """Return the panels of an SVG by matplotlib, which notes each text as a comment."""
    builder = ElementTree.TreeBuilder(insert_comments=True)
    root = ElementTree.fromstring(drawn, ElementTree.XMLParser(target=builder))
    return [_panel(axes) for axes in _groups(root, "axes")]


def _groups(parent: Any, kind: str) -> list[Any]:
    return [g for g in parent.iter(f"{SVG}g") if g.get("id", "").startswith(f"{kind}_")]


def _within(parent: Any, kind: str) -> list[Any]:
    return [g for g in parent if g.get("id", "").startswith(f"{kind}_")]


def _words(text: Any) -> str:
    lines = (part.text for part in text.iter(ElementTree.Comment))
    return " ".join(" ".join(lines).split())


def _look(group: Any) -> tuple[str, bool]:
    """Return the colour of the first thing of a group, and whether it is dashed."""
    for part in group.iter():
        found = dict(re.findall(r"([\w-]+): (#\w+|[\d.][^;]*)", part.get("style", "")))
        shade = found.get("stroke") or found.get("fill")
        if shade:
            return colour(shade), "stroke-dasharray" in found
    return "", False


def colour(shade: str) -> str:
    """Return the name of a colour; what has no hue is black or a grey."""
    is_grey = shade[1:3] == shade[3:5] == shade[5:7]
    return COLOURS.get(shade, "grey" if is_grey else shade)


def _panel(axes: Any) -> Panel:
    panel = Panel(["", ""], [{}, {}], [_words(text) for text in _within(axes, "text")])
    for i, axis in enumerate(_within(axes, "matplotlib.axis")):
        at = "xy"[i]
        panel.labels[i] = " ".join(map(_words, _within(axis, "text")))
        for tick in _within(axis, f"{at}tick"):
            for text in _within(tick, "text"):
                place = next(tick.iter(f"{SVG}use")).get(at)
                panel.ticks[i][float(place)] = _words(text)
    for legend in _within(axes, "legend"):
        marks: list[Any] = []
        for part in legend.iter(f"{SVG}g"):
            if part.get("id", "").startswith("text_"):
                look = _look(marks[0]) if marks else ("", False)
                panel.legend.append((_words(part), look))
                marks = []
            elif re.match("line2d|LineC|patch|PathC|PolyC|Fill", part.get("id", "")):
                marks.append(part)
        # The first mark of a legend is its frame.
    for group in axes:
        if not re.match("text|matplotlib|legend", group.get("id", "")):
            panel.lines.append((*_look(group), _places(group)))
        panel.has_picture |= group.find(f".//{SVG}image") is not None or (
            group.tag == f"{SVG}image"
        )
    return panel


def _places(group: Any) -> list[tuple[float, float]]:
    """Return the corners of paths and the places of marks of a group."""
    found = []
    for part in group.iter():
        if part.tag == f"{SVG}use":
            found.append((float(part.get("x")), float(part.get("y"))))
    for part in group.iter(f"{SVG}path"):
        if "clip-path" in part.attrib:
            pairs = re.findall(r"(-?[\d.]+) (-?[\d.]+)", part.get("d", ""))
            found += [(float(x), float(y)) for x, y in pairs]
    return found
