"""Places in pages where models are trained: laboratories and the line-up.

`{lab} shuffle=1&d=64` shows a laboratory, which trains the model with these settings.
`{lineup}` shows the line-up, which trains two models. Readers bet on the one with true
labels, or on the one with attention. The HTML of each place is written from a template,
and a script fills it. All places share one script and one style sheet. The script is a
single file, because a page opened from disk cannot load separate modules or workers.
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
LINEUP = ROOT / "book" / "_static" / "lineup"
PLACE = ROOT / "book" / "_templates" / "lab.html"
LINEUP_PLACE = ROOT / "book" / "_templates" / "lineup.html"
SETTINGS = LAB / "settings.json"
COLOURS = FIGURES / "colours.json"
COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)
TABS = {"reviews": "Real reviews", "stages": "Theorem 4.3"}
MODULES = (
    *(f"lab/{name}" for name in ("place", "bags", "model", "optimizers", "drawing")),
    *("lab/reviews", "lab/flow", "lab/worker", "lab/settings", "lab/stages"),
    *("lineup/round", "lineup/worker", "lineup/page", "lab/page"),
)
SCRIPTS = [
    *(FIGURES / f"{name}.js" for name in ("tips", "canvas")),
    COLOURS,
    SETTINGS,
    *(ROOT / "book" / "_static" / f"{name}.js" for name in MODULES),
]
STYLES = [FIGURES / "figures.css", LAB / "lab.css", LINEUP / "lineup.css"]
DOTS = (
    "Each dot is a word. The further right it is, the more of its reviews are labelled "
    "positive."
)
ASKS = {
    "labels": "Both learn 800 film reviews by heart. One of them was given random "
    "labels, so all that it can learn is noise.",
    "attention": "Both have true labels now. In one of them, every word gets the same "
    "attention. Which one has attention at all?",
}
WIDE = ("book/intro", "book/train")
# The round that pages without scripts show, and its answer.
STILL = LINEUP / "still.json"
# Statistics of the first rounds of the line-up, from `tools/lab_data.py`.
ROUNDS = LINEUP / "rounds.json"
# Shown until the script fills the place; a page that runs scripts loads no picture.
STILLS = {
    "reviews": (
        '<figure><img src="../_static/lab/still.svg" width="403" height="307" '
        'alt="Each dot is a word. Their scores draw a V over their leans.">'
        "<figcaption>The figure shows the attention scores of the words of 2,000 "
        "reviews of IMDB after 100 steps. Training the model in the page needs "
        "JavaScript, workers and OffscreenCanvas.</figcaption>"
        "</figure>"
    ),
    "stages": (
        "<p>After a first step of size 300 the attention leaves the relevant tokens of "
        "one class, and after one of size 3,000 it selects those of both. Following "
        "such runs in the page needs JavaScript, workers and OffscreenCanvas.</p>"
    ),
}


def source(path: Path) -> str:
    """Return a script or, for a JSON file, code that stores its data in a constant."""
    code = path.read_text(encoding="utf-8")
    return code if path.suffix == ".js" else f"const {path.stem.upper()} = {code};\n"


def joined(name: str, scripts: list[Path]) -> str:
    """Return scripts joined in one function, which both a page and its workers run."""
    # Comments are for those who read the repository; a page is lighter without them.
    code = COMMENT.sub("", "".join(map(source, scripts)))
    return f'function {name}() {{\n"use strict";\n{code}}}\n{name}();\n'


def filled(template: Path, **values: Any) -> str:
    """Return the text of a template, with the given `values` filled in."""
    writer = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    page = writer.from_string(template.read_text(encoding="utf-8"))
    return page.render(**values)


def place(settings: str) -> str:
    """Return the HTML of a laboratory with the given `settings`; a script fills it."""
    given = parse_qs(settings, keep_blank_values=True)
    kind = "stages" if given.get("tab") == ["stages"] else "reviews"
    return filled(
        PLACE,
        settings=Markup(html.escape(settings)),
        page="page" in given,
        kinds=list(TABS) if "page" in given else [kind],
        titles=TABS,
        forms=json.loads(SETTINGS.read_text(encoding="utf-8")),
        still=STILLS[kind],
    )


def lineup_place() -> str:
    """Return the HTML of the line-up; a script fills it."""
    still, rounds = (json.loads(p.read_text(encoding="utf-8")) for p in (STILL, ROUNDS))
    return filled(LINEUP_PLACE, dots=DOTS, asks=ASKS, still=still, rounds=rounds)


def in_page_and_copy(at: SphinxDirective, place: str, link: str) -> list[nodes.Node]:
    """Return the HTML of a place, and a link that replaces it in copies for Colab."""
    copy = nodes.raw("", link, format="markdown")
    at.set_source_info(copy)
    return [nodes.raw("", place, format="html"), copy]


class Lineup(SphinxDirective):
    """The directive `lineup` for the line-up."""

    def run(self) -> list[nodes.Node]:
        """Return the HTML of the line-up, and the link that replaces it in Colab."""
        self.env.metadata[self.env.docname]["lab"] = True
        for path in (LINEUP_PLACE, STILL, ROUNDS):
            self.env.note_dependency(str(path))
        address = f"{self.config.html_baseurl}book/intro.html"
        link = f"[See the two models in the book, and bet on one of them]({address})"
        return in_page_and_copy(self, lineup_place(), link)


class Lab(SphinxDirective):
    """The directive `lab` for a laboratory; its optional argument contains settings."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the HTML of a laboratory, and the link that replaces it in Colab."""
        self.env.metadata[self.env.docname]["lab"] = True
        for path in (PLACE, SETTINGS):  # a page is read again when they change
            self.env.note_dependency(str(path))
        knobs = self.arguments[0] if self.arguments else ""
        address = f"{self.config.html_baseurl}book/train.html#{knobs}".rstrip("#")
        link = f"[Train the model in the book]({address})"
        return in_page_and_copy(self, place(knobs), link)


def load(app: Any, page: str, _template: str, context: Any, _tree: Any) -> None:
    """Add `lab.js` and `lab.css` to a page that contains a laboratory or the line-up.

    On the landing page and the laboratory's own page, the second sidebar is removed, so
    that the content is wider.
    """
    if "lab" in app.env.metadata.get(page, ()):
        if page in WIDE:
            meta = {"html_theme.sidebar_secondary.remove": True}
            context["meta"] = {**(context["meta"] or {}), **meta}
        app.add_js_file("lab.js", loading_method="defer")
        app.add_css_file("lab.css")


def write_files(folder: Path) -> None:
    """Write `lab.js` and `lab.css` into a folder."""
    named = json.loads(COLOURS.read_text(encoding="utf-8")).items()
    colours = "".join(f"--{name}:{colour};" for name, colour in named)
    styles = "".join(path.read_text(encoding="utf-8") for path in STYLES)
    page = f".attnsel{{{colours}}}\n{styles}"
    (folder / "lab.css").write_text(page, encoding="utf-8")
    script = joined("attnselLab", SCRIPTS)
    (folder / "lab.js").write_text(script, encoding="utf-8")


def write(app: Any, error: Exception | None) -> None:
    """Write `lab.js` and `lab.css` into `_static` after a successful HTML build."""
    if error is None and app.builder.format == "html":
        write_files(Path(app.outdir, "_static"))


def setup(app: Any) -> dict[str, bool]:
    """Register `lab` and `lineup`, and the functions that write and load the files."""
    app.add_directive("lab", Lab)
    app.add_directive("lineup", Lineup)
    app.connect("html-page-context", load)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
