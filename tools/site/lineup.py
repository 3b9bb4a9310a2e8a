"""The line-up on the landing page: an extension of Sphinx.

`{lineup}` is the place where two models train and one bets which of them learned
something. What it shows first is written here, from one template.
"""

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from jinja2 import Environment
from sphinx.util.docutils import SphinxDirective

from tools.site import lab

LINEUP = lab.ROOT / "book" / "_static" / "lineup"
PLACE = lab.ROOT / "book" / "_templates" / "lineup.html"
# The laboratory's model and training, and what is the line-up's own.
SCRIPTS = [
    *(lab.FIGURES / f"{name}.js" for name in ("tips", "canvas")),
    *(lab.LAB / f"{name}.js" for name in lab.SHARED),
    *(LINEUP / f"{name}.js" for name in ("round", "worker", "page")),
]
STYLES = [lab.FIGURES / "figures.css", LINEUP / "lineup.css"]


DOTS = (
    "Each dot is a word. The further right it is, the more of its reviews are labelled "
    "positive."
)
ASKS = {
    "labels": "One of these models learned to read reviews. The other was taught "
    "noise. Which one learned something?",
    "attention": "One of these models has attention. In the other, every word counts "
    "equally. Which one has attention at all?",
}
# What pages without scripts show: a round, and its answer.
STILL = LINEUP / "still.json"


def place() -> str:
    """Return the place of the line-up, which its script fills."""
    writer = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    page = writer.from_string(PLACE.read_text(encoding="utf-8"))
    still = json.loads(STILL.read_text(encoding="utf-8"))
    return page.render(dots=DOTS, asks=ASKS, still=still)


class Lineup(SphinxDirective):
    """The place of the line-up."""

    def run(self) -> list[nodes.Node]:
        """Return the place, which the script fills."""
        self.env.metadata[self.env.docname]["lineup"] = True
        for path in (PLACE, STILL):  # a page is read again when they change
            self.env.note_dependency(str(path))
        return [nodes.raw("", place(), format="html")]


def load(app: Any, page: str, _template: str, context: Any, _tree: Any) -> None:
    """Load script and style on the page that has the line-up, and give it the width."""
    if "lineup" in app.env.metadata.get(page, ()):
        meta = {"html_theme.sidebar_secondary.remove": True}
        context["meta"] = {**(context["meta"] or {}), **meta}
        app.add_js_file("lineup.js", loading_method="defer")
        app.add_css_file("lineup.css")


def write_files(folder: Path) -> None:
    """Write script and style into a folder."""
    styles = "".join(path.read_text(encoding="utf-8") for path in STYLES)
    (folder / "lineup.css").write_text(styles, encoding="utf-8")
    script = lab.joined("attnselLineup", SCRIPTS)
    (folder / "lineup.js").write_text(script, encoding="utf-8")


def write(app: Any, error: Exception | None) -> None:
    """Write script and style next to the other files that pages load."""
    if error is None and app.builder.format == "html":
        write_files(Path(app.outdir, "_static"))


def setup(app: Any) -> dict[str, bool]:
    """Connect it to Sphinx."""
    app.add_directive("lineup", Lineup)
    app.connect("html-page-context", load)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
