"""A Sphinx extension that draws each text of a figure as one path.

Matplotlib draws each letter once and refers to it wherever it occurs. A browser copies
the drawing at each reference, so a figure with much text holds up a phone for a quarter
of a second. With one path for all letters of a text, the picture is the same and has
about half as many elements.
"""

import re
from pathlib import Path
from typing import Any

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


def points(numbers: str, at: tuple[float, float], scale: float) -> list[int]:
    """Return the coordinates of a command where its letter stands."""
    values = (scale * float(x) / LETTER_FINE for x in numbers.split())
    return [round(FINE * (at[k % 2] + x)) for k, x in enumerate(values)]


def joined(text: str, letters: dict[str, str]) -> str:
    """Return the path of a text, each command relative to the end of the one before.

    A letter then has the same commands wherever it stands, so the file compresses well.
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
    """Rewrite the figures of the built pages, unless the build has failed."""
    if not error and app.builder.format == "html":
        for path in Path(app.outdir, "_images").glob("*.svg"):
            svg = path.read_text(encoding="utf-8")
            path.write_text(with_whole_texts(svg), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Connect it to Sphinx."""
    app.connect("build-finished", rewrite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
