"""Texts coloured by numbers, and frames that a slider goes through."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np
from IPython.display import HTML
from torch import Tensor

from attnsel.book.embed import embed
from attnsel.book.style import CLASSES, NEGATIVE, POSITIVE

# The colour is laid over the page with an opacity of at most this, so that text stays
# readable in both themes.
_STRONGEST = 0.6


def coloured_text(
    words: Sequence[tuple[str, int]],
    values: Sequence[float] | Tensor,
    *,
    scale: float,
    unit: str = "",
    signed: bool = False,
    classes: Sequence[str] = (),
) -> str:
    """Return a text as HTML with a colour behind each token, stronger for more.

    Args:
        words: pieces of text with their token ids, as `Corpus.words` returns them.
        values: one number a piece, or a row of K, one a class; pieces with the id -1
            stay without colour.
        scale: the value of the full colour, positive.
        unit: what the value is, for what a token tells when one points at it, taps it
            or goes to it by the keys; it tells nothing without.
        signed: blue for positive and orange for negative values; otherwise blue.
        classes: names of the K classes; a token takes the colour of its greatest value.

    Raises:
        ValueError: if the lengths differ or the scale is not positive.
    """
    rows = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
    if len(words) != len(rows) or rows.shape[1] != max(1, len(classes)):
        raise ValueError(
            f"values: {len(rows)} rows of {rows.shape[1]} values for {len(words)} "
            f"pieces and {len(classes)} classes"
        )
    if not scale > 0:
        raise ValueError(f"scale: expected a positive number, got {scale!r}")
    spans = []
    for (text, token_id), row in zip(words, rows, strict=True):
        text = html.escape(text)
        if token_id < 0:
            spans.append(text)
            continue
        top = int(row.argmax())
        strength = min(abs(row[top]) / scale, 1.0) * _STRONGEST
        colour = NEGATIVE if signed and row[top] < 0 else POSITIVE
        red, green, blue = bytes.fromhex((CLASSES[top] if classes else colour)[1:])
        shade = f' style="background:rgba({red},{green},{blue},{strength:.2f})"'
        shade = shade if strength >= 0.005 else ""
        named = zip(classes or [""], row, strict=True)
        told = [f"{name} {x:.3g}".strip() for name, x in named]
        tip = f"{', '.join(told)} {unit}"
        tip = f' data-tip="{html.escape(tip)}"' if unit else ""
        spans.append(f"<span{tip}{shade}>{text}</span>")
    keys = ' tabindex="0" role="group" aria-label="Words; the left and right keys '
    keys += 'tell their numbers"'
    return f'<div class="attnsel-text"{keys if unit else ""}>{"".join(spans)}</div>'


def show_text(text: str) -> HTML:
    """Return coloured text, or several joined, as something a notebook displays."""
    return embed("tips", text, title="Coloured text")


def frames(
    contents: Sequence[str], labels: Sequence[str], *, title: str, start: int = 0
) -> HTML:
    """Return a figure whose frames a labelled range slider and a button go through.

    It works in the static page, in Jupyter and in Colab: the frames are HTML computed
    beforehand, and the script is a few lines within it.

    Args:
        contents: the frames, as HTML (`coloured_text`, `figure_html`).
        labels: what each frame shows, such as "step 12".
        title: names the figure for the label of the slider and for screen readers.
        start: position of the frame shown first.

    Raises:
        ValueError: if there is no frame, the lengths differ or start is out of range.
    """
    if not contents or len(contents) != len(labels):
        raise ValueError(f"labels: {len(labels)} labels for {len(contents)} frames")
    if not 0 <= start < len(contents):
        raise ValueError(f"start: {start} is not in 0..{len(contents) - 1}")
    parts = "".join(
        f'<div class="frame" data-label="{html.escape(label)}"'
        f"{'' if i == start else ' hidden'}>{content}</div>"
        for i, (content, label) in enumerate(zip(contents, labels, strict=True))
    )
    body = (
        f'<div class="bar"><label>{html.escape(title)} <input type="range" min="0" '
        f'max="{len(contents) - 1}" step="1" value="{start}"></label>'
        f'<output></output><button type="button">Play</button></div>{parts}'
    )
    return embed("frames", body, title=title, scripts=("frames.js",))
