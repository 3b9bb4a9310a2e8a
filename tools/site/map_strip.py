"""The directive `map-strip`, which shows five small maps and frames some of them.

The landing page draws the map of the vocabulary in five states. A chapter about some of
these states shows all five maps above its first guess. For example, `{map-strip} 1 3`
frames the maps of states 1 and 3.
"""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from tools.site.svg import axes_boxes

LANDING, FIGURE = "book/intro", "fig-intro-strip"
NAMES = "random start", "one step", "trained", "shuffled labels", "flow of p"
WIDTH = 64  # CSS pixels of a map


class MapStrip(nodes.Element):
    """A placeholder for the maps; `states` contains the numbers of the framed ones."""


class Directive(SphinxDirective):
    """The directive `map-strip`, with the numbers of the framed maps as arguments."""

    required_arguments = 1
    optional_arguments = len(NAMES) - 1

    def run(self) -> list[nodes.Node]:
        """Return a placeholder; its page is updated when the landing page changes."""
        self.env.note_dependency(f"{LANDING}.ipynb")
        return [MapStrip(states=[int(word) for word in self.arguments])]


def strip(image: str, address: str, svg: str, states: list[int]) -> str:
    """Return the maps as a link to the landing page, with those in `states` framed."""
    width, boxes = axes_boxes(svg)
    maps = ""
    for state, (left, top, right, bottom) in enumerate(boxes, 1):
        scale = WIDTH / (right - left)
        here = " here" if state in states else ""
        maps += (
            f'<span class="map{here}" style="width:{WIDTH}px;'
            f"height:{scale * (bottom - top):.0f}px;background:url({image}) "
            f'{-scale * left:.1f}px {-scale * top:.1f}px/{scale * width:.1f}px"></span>'
        )
    shown = " and ".join(f"map {state} ({NAMES[state - 1]})" for state in states)
    return (
        f'<a class="stages" href="{address}"><span class="maps">{maps}</span>'
        f"<small>This chapter shows {shown} of five.</small></a>"
    )


def write(visitor: Any, node: MapStrip) -> None:
    """Write the maps, which are parts of a figure on the landing page."""
    builder = visitor.builder
    figures = builder.env.get_doctree(LANDING).findall(nodes.figure)
    figure = next(figure for figure in figures if FIGURE in figure["names"])
    path = next(figure.findall(nodes.image))["uri"]
    image = f"{builder.imgpath}/{builder.env.images[path][1]}"
    page = builder.get_relative_uri(builder.current_docname, LANDING)
    svg = Path(builder.srcdir, path).read_text(encoding="utf-8")
    visitor.body.append(strip(image, f"{page}#{FIGURE}", svg, node["states"]))
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the directive `map-strip`, and the function that writes the maps."""
    app.add_node(MapStrip, html=(write, None))
    app.add_directive("map-strip", Directive)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
