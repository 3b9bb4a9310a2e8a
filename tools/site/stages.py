"""Where a chapter stands in the sequence of maps: an extension of Sphinx.

The landing page draws the map of the vocabulary in five states. A chapter that treats
one of them shows the sequence above its first guess, with its own state framed.
"""

import re
from pathlib import Path
from typing import Any

from docutils import nodes

from tools.site.svg import panels

SEQUENCE = "book/intro", "fig-intro-strip"
NAMES = "random start", "one step", "trained", "shuffled labels", "flow of p"
# The states that a chapter treats, from 1.
STATES = {
    "book/model": (1, 3),
    "book/one_step": (2,),
    "book/reviews": (3,),
    "book/memorized": (4,),
    "book/max_margin": (5,),
}
GUESS = re.compile(r'<div class="guess [^"]*admonition">')
WIDTH = 360  # CSS pixels


def strip(image: str, address: str, svg: str, states: tuple[int, ...]) -> str:
    """Return the sequence of maps as a link to its figure, these states framed."""
    width, height, columns = panels(svg)
    frames = ""
    for state in states:
        left, right = (100 * end / width for end in columns[state - 1])
        place = f"left:{left:.1f}%;width:{right - left:.1f}%"
        frames += f'<span class="here" style="{place}"></span>'
    shown = " and ".join(f"map {state} ({NAMES[state - 1]})" for state in states)
    size = f'width="{WIDTH}" height="{WIDTH * height / width:.0f}"'
    return (
        f'<a class="stages" href="{address}"><span class="maps"><img src="{image}" '
        f'{size} alt="Five small maps of the vocabulary">{frames}</span>'
        f"<small>This chapter shows {shown} of five.</small></a>"
    )


def show(
    app: Any, page: str, _template: str, context: Any, _tree: nodes.document | None
) -> None:
    """Show a chapter's place in the sequence above its first guess."""
    if page not in STATES:
        return
    document, name = SEQUENCE
    tree = app.env.get_doctree(document)
    figure = next(f for f in tree.findall(nodes.figure) if name in f["names"])
    path = next(figure.findall(nodes.image))["uri"]
    image = context["pathto"](f"_images/{app.env.images[path][1]}", resource=True)
    address = f"{context['pathto'](document)}#{name}"
    svg = Path(app.srcdir, path).read_text(encoding="utf-8")
    line = strip(image, address, svg, STATES[page])
    context["body"], found = GUESS.subn(lambda m: line + m[0], context["body"], 1)
    if not found:
        raise ValueError(f"{page}: there is no guess above which the maps can stand")


def outdated(
    _app: Any, _env: Any, added: set[str], changed: set[str], _removed: set[str]
) -> list[str]:
    """Return the chapters to write again, because the landing page has a new figure."""
    return list(STATES) if SEQUENCE[0] in added | changed else []


def setup(app: Any) -> dict[str, bool]:
    """Connect it to Sphinx."""
    app.connect("env-get-outdated", outdated)
    app.connect("html-page-context", show)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
