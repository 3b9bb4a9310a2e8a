"""A scatter of tokens to search and to point at."""

from __future__ import annotations

import html
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from IPython.display import HTML

from attnsel.book.embed import embed, packed
from attnsel.book.style import CLASSES, NEGATIVE, POSITIVE


def scatter_explorer(
    tokens: Sequence[str],
    columns: Mapping[str, Any],
    *,
    title: str,
    x: str,
    y: str,
    sign: str = "",
    classes: Sequence[str] = (),
    log: Collection[str] = (),
    slider: tuple[str, float, float] | None = None,
) -> HTML:
    """Return a scatter whose axes are chosen, and whose points are named on demand.

    It works in the static page, in Jupyter and in Colab, with a pointer, by touch and
    with the keys: the data lie within, rounded to four digits, and so does the script.

    Args:
        tokens: V names, one a point; the search takes the first that matches.
        columns: V numbers a label; any two can be on the axes. With a slider, pairs of
            such: the numbers before a step, and their change by each unit of its size.
        title: names the figure for screen readers.
        x: label of the column first on the horizontal axis.
        y: label of the column first on the vertical axis.
        sign: label of the column whose sign colours the points, blue where positive
            and orange elsewhere. Give this or `classes`.
        classes: labels of K columns; a point has the colour of the greatest of them,
            and a line above the figure names the colours.
        log: labels of the columns on a logarithmic scale.
        slider: its label, the least and the greatest size of the step, set on a
            logarithmic scale. Axes stay fixed, and the correlation of the two columns
            on them is told.

    Raises:
        ValueError: if a label is unknown, there is no token, a column has not one
            finite number a token, or one in `log` has a number that is not positive.
    """
    labels, numbers = list(columns), []
    for label in (x, y, *(classes or [sign]), *log):
        if label not in columns:
            raise ValueError(f"columns: there is no {label!r}, only {labels}")
    shape = (2, len(tokens)) if slider else (len(tokens),)
    for label, values in columns.items():
        pair = [np.asarray(v, dtype=np.float64) for v in values] if slider else values
        array = np.asarray(pair, dtype=np.float64)
        if not len(tokens) or array.shape != shape:
            raise ValueError(
                f"columns: {label!r} has shape {array.shape} for {len(tokens)} tokens"
            )
        if not np.isfinite(array).all() or (label in log and array.min() <= 0):
            kind = "positive" if label in log else "finite"
            raise ValueError(f"columns: {label!r} holds a number that is not {kind}")
        numbers.append(array)
    judged = np.array([numbers[labels.index(label)] for label in classes or [sign]])
    judged = judged[:, 1] if slider else judged
    data = {
        "tokens": list(tokens),
        "labels": labels,
        "columns": [list(map(packed if slider else _short, n)) for n in numbers],
        "log": [label in log for label in labels],
        "colours": CLASSES if classes else [NEGATIVE, POSITIVE],
        "groups": (judged.argmax(0) if classes else (judged[0] > 0) + 0).tolist(),
        "sizes": slider and slider[1:],
    }
    bar = "".join(
        f'<span style="border-left:1em solid {colour};padding-left:.4em">'
        f"{html.escape(label)}</span>"
        for label, colour in zip(classes, CLASSES, strict=False)
    )
    for word, chosen in (("across", x), ("up", y)):
        options = "".join(
            f'<option value="{i}"{" selected" if label == chosen else ""}>'
            f"{html.escape(label)}</option>"
            for i, label in enumerate(labels)
        )
        bar += f"<label>{word}<select>{options}</select></label>"
    bar += '<label>find<input type="search" placeholder="a token"></label>'
    if slider:
        bar += (
            f'<label>{html.escape(slider[0])}<input type="range" min="0" max="1" '
            'step="0.005" value="0.5"></label><output></output>'
        )
    body = (
        f'<div class="bar">{bar}</div>'
        f'<canvas role="img" tabindex="0" aria-label="{html.escape(title)}; the left '
        'and right keys go from point to point"></canvas>'
        '<output aria-live="polite">Point at a token, or search for one.</output>'
    )
    return embed("map", body, title=title, data=data, scripts=("explorer.js",))


def _short(value: float) -> float:
    """Return a number rounded to four digits, whole where it can be."""
    short = float(f"{value:.4g}")
    return int(short) if short.is_integer() else short
