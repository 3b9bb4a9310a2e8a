"""The laboratory in the pages: an extension of Sphinx.

`{lab} shuffle=1&d=64` is a place where the model is trained in the page, with these
settings. What it shows is written here, from one template; its script fills it in.
Scripts and styles are one file each, since a page opened from the disk may load files,
but neither modules nor workers from files of their own.
"""

import html
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from docutils import nodes
from jinja2 import Environment
from markupsafe import Markup
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "book" / "attnsel_book" / "widgets"
LAB = ROOT / "book" / "_static" / "lab"
PLACE = ROOT / "book" / "_templates" / "lab.html"
SETTINGS = LAB / "settings.json"
COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)
TABS = {"reviews": "Real reviews", "stages": "Theorem 4.3"}
SHARED = (
    "place",
    "bags",
    "model",
    "optimizers",
    "drawing",
    "reviews",
)  # with the line-up
MODULES = *SHARED, "flow", "worker", "settings", "stages", "page"
SCRIPTS = [
    *(FIGURES / f"{name}.js" for name in ("tips", "textbox", "canvas")),
    SETTINGS,
    *(LAB / f"{name}.js" for name in MODULES),
]
STYLES = [FIGURES / "figures.css", LAB / "lab.css"]
# Until the script fills the place; where there is one, nothing of it is loaded.
STILLS = {
    "reviews": (
        '<figure><img src="../_static/lab/still.svg" width="403" height="307" '
        'alt="Each dot is a word. Their scores draw a V over their leans.">'
        "<figcaption>The attention scores of the words of 2,000 reviews of IMDB after "
        "100 steps. To train the model in the page needs JavaScript.</figcaption>"
        "</figure>"
    ),
    "stages": (
        "<p>After a first step of 300 the attention leaves the relevant tokens of one "
        "class, after 3,000 it finds those of both. To follow such runs in the page "
        "needs JavaScript.</p>"
    ),
}


def source(path: Path) -> str:
    """Return a script; of data, one that gives it the name of its file."""
    code = path.read_text(encoding="utf-8")
    return code if path.suffix == ".js" else f"const {path.stem.upper()} = {code};\n"


def joined(name: str, scripts: list[Path]) -> str:
    """Return scripts as one function, which a worker runs as well as the page."""
    # Comments are for those who read the repository; a page is lighter without them.
    code = COMMENT.sub("", "".join(map(source, scripts)))
    return f'function {name}() {{\n"use strict";\n{code}}}\n{name}();\n'


def place(settings: str) -> str:
    """Return a place with some settings: its tabs, which the script opens."""
    given = parse_qs(settings, keep_blank_values=True)
    kind = "stages" if given.get("tab") == ["stages"] else "reviews"
    writer = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return writer.from_string(PLACE.read_text(encoding="utf-8")).render(
        settings=Markup(html.escape(settings)),
        page="page" in given,
        kinds=list(TABS) if "page" in given else [kind],
        titles=TABS,
        forms=json.loads(SETTINGS.read_text(encoding="utf-8")),
        still=STILLS[kind],
    )


class Lab(SphinxDirective):
    """A place to train the model, with some settings: their names and values."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the place, which the script opens."""
        self.env.metadata[self.env.docname]["lab"] = True
        for path in (PLACE, SETTINGS):  # a page is read again when they change
            self.env.note_dependency(str(path))
        knobs = self.arguments[0] if self.arguments else ""
        address = f"{self.config.html_baseurl}book/train.html#{knobs}".rstrip("#")
        link = f"[Train the model in the book]({address})"
        page, copy = nodes.raw("", place(knobs), format="html"), nodes.raw("", link)
        self.set_source_info(copy)
        copy["format"] = "markdown"  # of the copies for Colab
        return [page, copy]


def load(app: Any, page: str, _template: str, context: Any, _tree: Any) -> None:
    """Load script and style on a page that holds such a place."""
    if "lab" in app.env.metadata.get(page, ()):
        app.add_js_file("lab.js", loading_method="defer")
        app.add_css_file("lab.css")


def write_files(folder: Path) -> None:
    """Write script and style into a folder."""
    styles = "".join(path.read_text(encoding="utf-8") for path in STYLES)
    (folder / "lab.css").write_text(styles, encoding="utf-8")
    script = joined("attnselLab", SCRIPTS)
    (folder / "lab.js").write_text(script, encoding="utf-8")


def write(app: Any, error: Exception | None) -> None:
    """Write script and style beside the other files that pages load."""
    if error is None and app.builder.format == "html":
        write_files(Path(app.outdir, "_static"))


def setup(app: Any) -> dict[str, bool]:
    """Connect it to Sphinx."""
    app.add_directive("lab", Lab)
    app.connect("html-page-context", load)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
