"""The panels of a stored figure, and how large its text is on a phone."""

import itertools
import re
from collections.abc import Iterator
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
PHONE = 358  # CSS pixels that a figure has on a phone of 390


def panels(svg: str) -> tuple[float, float, list[tuple[float, float]]]:
    """Return width and height of a picture by Matplotlib, and where its columns are.

    Axes above each other are one column, and a colour bar belongs to the axes before
    it. A picture with text that belongs to all panels, or with an axis whose numbers
    are in another panel, is one column.
    """
    root = ElementTree.fromstring(svg)
    _, _, width, height = map(float, root.get("viewBox", "0 0 1 1").split())
    whole = width, height, [(0.0, width)]
    drawn = root.find(f"{SVG}g")
    groups = [] if drawn is None else drawn.findall(f"{SVG}g")
    if any(g.get("id", "").startswith(("text", "legend")) for g in groups):
        return whole
    columns: list[list[float]] = []  # left end with its text, left, right
    for group in groups:
        patch = group.find(f"{SVG}g/{SVG}path")
        if not group.get("id", "").startswith("axes") or patch is None:
            continue
        numbers = re.findall(r"-?[\d.]+", patch.get("d", ""))
        left, right = min(map(float, numbers[::2])), max(map(float, numbers[::2]))
        text = min([left, *starts(group)])
        columns.append([text, left, right])
    columns.sort(key=lambda c: c[1])
    if not columns:
        return whole
    widest = max(right - left for _, left, right in columns)
    merged: list[list[float]] = []
    for column in columns:
        bar = column[2] - column[1] < widest / 8
        if merged and (bar or column[1] < merged[-1][2]):
            merged[-1] = [merged[-1][0], merged[-1][1], max(column[2], merged[-1][2])]
        else:
            merged.append(column)
    if any(left - text < 5 for text, left, _ in merged[1:]):
        return whole
    cuts = [0.0, *(text - 2 for text, _, _ in merged[1:]), width]
    return width, height, list(itertools.pairwise(cuts))


def starts(group: ElementTree.Element) -> Iterator[float]:
    """Yield where the texts of a group begin, on the left."""
    for element in group.iter(f"{SVG}g"):
        move = re.match(
            r"translate\((-?[\d.]+) [^)]*\)( rotate\(-90\))? scale\(([\d.]+) ",
            element.get("transform", ""),
        )
        if move:
            yield float(move[1]) - (100 * float(move[3]) if move[2] else 0)


def smallest_text(svg: str) -> float:
    """Return the height of the smallest letters on a phone, in CSS pixels an em."""
    _, _, columns = panels(svg)
    widest = max(right - left for left, right in columns)
    sizes = re.findall(r"translate\([^)]*\)(?: rotate\([^)]*\))? scale\(([\d.]+) ", svg)
    points = min((100 * float(size) for size in sizes), default=float("inf"))
    return points * min(PHONE / widest, 4 / 3)
