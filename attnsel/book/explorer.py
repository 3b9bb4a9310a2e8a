"""A scatter of tokens to search and to point at."""

from __future__ import annotations

import html
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from IPython.display import HTML
from torch import Tensor

from attnsel.book.embed import embed
from attnsel.book.style import CLASSES, NEGATIVE, POSITIVE


def scatter_explorer(
    tokens: Sequence[str],
    columns: Mapping[str, Tensor | Sequence[float]],
    *,
    title: str,
    x: str,
    y: str,
    sign: str = "",
    classes: Sequence[str] = (),
    log: Collection[str] = (),
) -> HTML:
    """Return a scatter whose axes are chosen, and whose points are named on demand.

    It works in the static page, in Jupyter and in Colab, with a pointer, by touch and
    with the keys: the data lie within, rounded to four digits, and so does the script.

    Args:
        tokens: V names, one a point; the search takes the first that matches.
        columns: V numbers a label; any two can be on the axes.
        title: names the figure for screen readers.
        x: label of the column first on the horizontal axis.
        y: label of the column first on the vertical axis.
        sign: label of the column whose sign colours the points, blue where positive
            and orange elsewhere. Give this or `classes`.
        classes: labels of K columns; a point has the colour of the greatest of them,
            and a line above the figure names the colours.
        log: labels of the columns on a logarithmic scale.

    Raises:
        ValueError: if a label is unknown, there is no token, a column has not one
            finite number a token, or one in `log` has a number that is not positive.
    """
    labels, numbers = list(columns), []
    for label in (x, y, *(classes or [sign]), *log):
        if label not in columns:
            raise ValueError(f"columns: there is no {label!r}, only {labels}")
    for label, values in columns.items():
        array = np.asarray(values, dtype=np.float64)
        if not len(tokens) or array.shape != (len(tokens),):
            raise ValueError(
                f"columns: {label!r} has shape {array.shape} for {len(tokens)} tokens"
            )
        if not np.isfinite(array).all() or (label in log and array.min() <= 0):
            kind = "positive" if label in log else "finite"
            raise ValueError(f"columns: {label!r} holds a number that is not {kind}")
        short = [float(f"{value:.4g}") for value in array]
        numbers.append([int(v) if v.is_integer() else v for v in short])
    judged = np.array([numbers[labels.index(label)] for label in classes or [sign]])
    data = {
        "tokens": list(tokens),
        "labels": labels,
        "columns": numbers,
        "log": [label in log for label in labels],
        "colours": CLASSES if classes else [NEGATIVE, POSITIVE],
        "groups": (judged.argmax(0) if classes else (judged[0] > 0) + 0).tolist(),
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
    body = (
        f'<div class="bar">{bar}'
        '<label>find<input type="search" placeholder="a token"></label></div>'
        f'<canvas role="img" tabindex="0" aria-label="{html.escape(title)}; the left '
        'and right keys go from point to point"></canvas>'
        '<output aria-live="polite">Point at a token, or search for one.</output>'
    )
    return embed("map", body, title=title, data=data, scripts=("explorer.js",))
