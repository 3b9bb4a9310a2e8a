"""Functions that combine data, scripts and styles into the HTML of live figures."""

import base64
import html
import json
import warnings
from collections.abc import Mapping
from hashlib import sha256
from importlib import resources
from typing import Any

import numpy as np
from IPython.display import HTML
from matplotlib.figure import Figure
from torch import Tensor

from attnsel_book.style import COLOURS, figure_html

# The script that a kind of figure needs in addition to its own and `tips.js`.
NEEDS = {"map": "canvas", "plane": "handles", "steer": "handles"}
# A word is not parsed as a formula, whatever signs it contains.
BESIDE: Any = {"xytext": (5, 4), "textcoords": "offset points", "parse_math": False}


def source(name: str) -> str:
    """Return the text of the file `name` in this folder, a script or a style sheet."""
    folder = resources.files("attnsel_book.widgets")
    return folder.joinpath(name).read_text(encoding="utf-8")


def styles() -> str:
    """Return the style sheet of all live figures, with the book's colours."""
    colours = "".join(f"--{name}:{colour};" for name, colour in COLOURS.items())
    return f".attnsel{{{colours}}}\n{source('figures.css')}"


def embed(kind: str, title: str, data: Mapping[str, Any], body: str = "") -> HTML:
    """Return a live figure that needs no other file, no library and no network.

    The script with the name `kind` defines a function of the same name. The figure
    calls it with the element that contains `body`, and with `data` and `title`. Screen
    readers read `title`. Equal figures give equal HTML.
    """
    # No text in the data can end the script.
    stored = json.dumps({"title": title, **data}, ensure_ascii=False)
    stored = stored.replace("<", "\\u003c")
    digest = sha256("\0".join([kind, stored, body]).encode()).hexdigest()
    names = dict.fromkeys(("tips", *filter(None, [NEEDS.get(kind)]), kind))
    code = "".join(source(f"{name}.js") for name in names)
    return HTML(
        f"<style>{styles()}</style>"
        f'<div class="attnsel attnsel-{kind}" id="attnsel-{digest[:12]}" role="group" '
        f'aria-label="{html.escape(title)}">{body}</div>'
        f'<script>(() => {{\n"use strict";\n{code}'
        f'{kind}(document.getElementById("attnsel-{digest[:12]}"), {stored});\n'
        "})();</script>"
    )


def packed(values: Tensor | np.ndarray) -> dict[str, Any]:
    """Return numbers as 16-bit floats in base64, which `unpack` in `tips.js` decodes.

    The error is at most 1/2,000 of the number or, if this is larger, 10^-12 times the
    largest absolute value.
    """
    array = np.asarray(values, dtype=np.float64)
    unit = float(np.abs(array).max()) / 60_000 or 1.0
    halves = base64.b64encode((array / unit).astype("<f2").tobytes()).decode()
    return {"unit": unit, "halves": halves}


def state_line(state: str, what: str) -> str:
    """Return a line that contains `state` and the note that `what` needs JavaScript."""
    line = f"{state} {what} needs JavaScript.".strip()
    return f"<p>{line}</p>".replace(" -", " −")


def picture_of_words(figure: Figure, alt: str) -> str:
    """Return a figure with words as HTML; letters not in the font are empty boxes."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        return figure_html(figure, alt)
