"""Changes to the SVG figures of pages: explicit sizes, stacked panels, joined letters.

On a phone, the panels of a figure are one below the other.

Matplotlib draws each letter once and refers to it wherever it occurs. A browser copies
the drawing at each reference, so a figure with much text delays a phone by a quarter of
a second. With one path for all letters of a text, the picture looks the same and has
about half as many elements.
"""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
PHONE = 358  # width of a figure on a phone of width 390, in CSS pixels
IMAGE = re.compile(r'<img [^>]*?src="[^"]*_images/([^"/]+\.svg)"[^>]*>')
NUMBER = r"-?[\d.]+"
PLACE = rf' transform="translate\(({NUMBER}) ({NUMBER})\)(?: scale\(({NUMBER})\))?"'
USE = re.compile(rf'<use xlink:href="#(DejaVu[\w-]+)"(?:{PLACE})?/>\s*')
TEXT = re.compile(f"(?:{USE.pattern})+")
LETTER = re.compile(
    r'<path id="(DejaVu[\w-]+)"(?: d="([^"]*)")? transform="[^"]*"/>\s*'
)
# Texts are set in hundredths of an em. These are the units of a coordinate in such a
# hundredth, in the path of a text and in the drawing of a letter (see its `transform`).
FINE, LETTER_FINE = 8, 64


def axes_boxes(svg: str) -> tuple[float, list[tuple[float, float, float, float]]]:
    """Return the width of a picture by Matplotlib, and the frame of each of its axes.

    A frame has four numbers: left, top, right, bottom.
    """
    root = ElementTree.fromstring(svg)
    width = float(root.get("viewBox", "0 0 1 1").split()[2])
    boxes = []
    for group in root.iter(f"{SVG}g"):
        patch = group.find(f"{SVG}g/{SVG}path")
        if group.get("id", "").startswith("axes") and patch is not None:
            numbers = [float(x) for x in re.findall(NUMBER, patch.get("d", ""))]
            xs, ys = numbers[::2], numbers[1::2]
            boxes.append((min(xs), min(ys), max(xs), max(ys)))
    return width, boxes


def panels(svg: str) -> tuple[float, float, list[tuple[float, float]]]:
    """Return the width, the height and the columns of a picture by Matplotlib.

    Axes one above the other form a column, and a colour bar belongs to the axes before
    it. A picture is one column if a text or a legend belongs to all panels, or if
    panels share the numbers of their vertical axes.
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
    """Yield the left end of each text in a group."""
    for element in group.iter(f"{SVG}g"):
        move = re.match(
            r"translate\((-?[\d.]+) [^)]*\)( rotate\(-90\))? scale\(([\d.]+) ",
            element.get("transform", ""),
        )
        if move:
            yield float(move[1]) - (100 * float(move[3]) if move[2] else 0)


def smallest_text(svg: str) -> float:
    """Return the smallest font size, in CSS pixels, of a picture shown on a phone."""
    _, _, columns = panels(svg)
    widest = max(right - left for left, right in columns)
    sizes = re.findall(r"translate\([^)]*\)(?: rotate\([^)]*\))? scale\(([\d.]+) ", svg)
    points = min((100 * float(size) for size in sizes), default=float("inf"))
    return points * min(PHONE / widest, 4 / 3)


def stack(image: str, svg: str) -> str:
    """Return an `<img>` with its size and, for narrow pages, its panels in a column."""
    width, height, columns = panels(svg)
    # By its size, a page reserves the place of a figure, which is loaded when in view.
    size = f'width="{width * 4 / 3:.0f}" height="{height * 4 / 3:.0f}" loading="lazy"'
    image = image.replace("<img ", f"<img {size} ", 1)
    if len(columns) == 1:
        return image
    parts = [image.replace("<img ", '<img class="abreast" ', 1)]
    for i, (left, right) in enumerate(columns):
        part = right - left
        style = f"width:{100 * width / part:.2f}%;left:{-100 * left / part:.2f}%"
        again = re.sub(r'alt="[^"]*"', f'alt="Panel {i + 1} of {len(columns)}"', image)
        again = again if i else image
        again = again.replace("<img ", f'<img style="{style}" ', 1)
        ratio = f"{part:.1f}/{height:.1f}"
        parts.append(f'<span class="panel" style="aspect-ratio:{ratio}">{again}</span>')
    return "".join(parts)


def stack_all(app: Any, _page: str, _template: str, context: Any, _tree: Any) -> None:
    """Add sizes, and panels for narrow pages, to the SVG figures of a page."""
    sources = {name: path for path, name in app.builder.images.items()}

    def replace(m: re.Match[str]) -> str:
        return stack(m[0], Path(app.srcdir, sources[m[1]]).read_text(encoding="utf-8"))

    if "body" in context:
        context["body"] = IMAGE.sub(replace, context["body"])


def points(numbers: str, at: tuple[float, float], scale: float) -> list[int]:
    """Return the coordinates of a drawing command, moved to the place of its letter."""
    values = (scale * float(x) / LETTER_FINE for x in numbers.split())
    return [round(FINE * (at[k % 2] + x)) for k, x in enumerate(values)]


def joined(text: str, letters: dict[str, str]) -> str:
    """Return one path for a text, with coordinates relative to the previous command.

    A letter then has almost the same commands everywhere, so the file compresses well.
    """
    path, here, start = [], [0, 0], [0, 0]
    for name, x, y, scale in USE.findall(text):
        at = float(x or 0), float(y or 0)
        for command, numbers in re.findall(r"([MLQCz])([^MLQCz]*)", letters[name]):
            moves = points(numbers, at, float(scale or 1))
            steps = [z - here[k % 2] for k, z in enumerate(moves)]
            path.append(command.lower() + " ".join(map(str, steps)).replace(" -", "-"))
            here = moves[-2:] or start
            start = here if command == "M" else start
    return f'<path d="{"".join(path)}" transform="scale({1 / FINE})"/>\n'


def with_whole_texts(svg: str) -> str:
    """Return a picture by Matplotlib with one path for each of its texts."""
    letters = dict(LETTER.findall(svg))
    return TEXT.sub(lambda text: joined(text[0], letters), LETTER.sub("", svg))


def rewrite(app: Any, error: Exception | None) -> None:
    """Join the letters in the figures of a site that has been built without errors."""
    if not error and app.builder.format == "html":
        for path in Path(app.outdir, "_images").glob("*.svg"):
            svg = path.read_text(encoding="utf-8")
            path.write_text(with_whole_texts(svg), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Register the functions that add sizes and panels, and that join letters."""
    app.connect("html-page-context", stack_all)
    app.connect("build-finished", rewrite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
