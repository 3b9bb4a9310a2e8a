"""Self-contained figures: HTML, its data, and the scripts and styles of this folder."""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import json
from importlib import resources
from typing import Any

import numpy as np
from IPython.display import HTML
from torch import Tensor


@functools.cache
def source(name: str) -> str:
    """Return the text of a script or style of this folder."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def embed(
    kind: str, body: str, *, title: str, data: Any = None, scripts: tuple[str, ...] = ()
) -> HTML:
    """Return a figure that needs no other file, no library and no network.

    Equal figures have equal text, so that a rerun leaves no difference.

    Args:
        kind: function called with the element and the data, and part of its class.
        body: what the element holds.
        title: names the figure for screen readers.
        data: what the function gets, as JSON writes it.
        scripts: files that hold the function, besides `shared.js`.
    """
    stored = ""
    if data is not None:  # no text in the data can end their element
        text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
        text = text.replace("<", "\\u003c")
        stored = f'<script type="application/json">{text}</script>'
    digest = hashlib.sha256("\0".join([kind, title, body, stored]).encode())
    name = f"attnsel-{digest.hexdigest()[:12]}"
    code = "".join(map(source, ("shared.js", *scripts)))
    given = 'JSON.parse(root.querySelector("script").textContent)' if stored else ""
    return HTML(
        f"<style>{source('figures.css')}</style>"
        f'<div class="attnsel attnsel-{kind}" id="{name}" role="group" '
        f'aria-label="{html.escape(title)}">{body}{stored}</div>'
        f'<script>(() => {{\n"use strict";\n{code}'
        f'const root = document.getElementById("{name}");\n'
        f"{kind}(root, {given});\n}})();</script>"
    )


def packed(values: Tensor | np.ndarray) -> dict[str, Any]:
    """Return numbers as 16-bit floats in base64, for `unpack` of `shared.js`.

    Each is off by at most 1 in 2,000 of itself or 1 in 10^12 of the greatest.
    """
    array = np.asarray(values, dtype=np.float64)
    unit = float(np.abs(array).max()) / 60_000 or 1.0
    halves = base64.b64encode((array / unit).astype("<f2").tobytes()).decode()
    return {"unit": unit, "halves": halves}
