"""Figures that move without a kernel: self-contained HTML, no library, no network."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Sequence

from IPython.display import HTML

# Red, green and blue of plots.POSITIVE and plots.NEGATIVE. The colour is laid over the
# page with an opacity of at most 0.6, so text stays readable in both themes.
_BLUE, _ORANGE = "0,114,178", "213,94,0"
_STRONGEST = 0.6

_STYLE = """
.attnsel-text{line-height:1.9;text-align:left;overflow-wrap:anywhere;
margin-bottom:1em}
.attnsel-text span{padding:.1em .05em;border-radius:.2em}
.attnsel-frames{margin:1em 0}
.attnsel-frames .bar{display:flex;flex-wrap:wrap;gap:.6em;align-items:center}
.attnsel-frames input{flex:1 1 12em;min-width:8em;accent-color:#0072B2}
.attnsel-frames output{min-width:9em;font-variant-numeric:tabular-nums}
.attnsel-frames button{min-width:4.5em;padding:.2em .6em;font:inherit;color:inherit;
background:transparent;border:1px solid currentColor;border-radius:.3em}
.attnsel-frames [hidden]{display:none}
"""

_SCRIPT = """
(function () {
  const root = document.getElementById("ID");
  const slider = root.querySelector("input"), output = root.querySelector("output");
  const button = root.querySelector("button");
  const frames = root.querySelectorAll(".frame");
  let timer = null;
  function show() {
    frames.forEach((frame, i) => { frame.hidden = i !== Number(slider.value); });
    const label = frames[slider.value].dataset.label;
    output.textContent = label;
    slider.setAttribute("aria-valuetext", label);
  }
  function stop() {
    clearInterval(timer); timer = null; button.textContent = "Play";
  }
  slider.addEventListener("input", () => { stop(); show(); });
  button.addEventListener("click", () => {
    if (timer) { stop(); return; }
    if (Number(slider.value) === frames.length - 1) { slider.value = 0; show(); }
    button.textContent = "Pause";
    timer = setInterval(() => {
      slider.value = Number(slider.value) + 1; show();
      if (Number(slider.value) === frames.length - 1) { stop(); }
    }, 700);
  });
  show();
})();
"""


def coloured_text(
    words: Sequence[tuple[str, int]],
    values: Sequence[float],
    *,
    scale: float,
    unit: str = "",
    signed: bool = False,
) -> str:
    """Return a text as HTML with a colour behind each token, stronger for more.

    Args:
        words: pieces of text with their token ids, as `Corpus.words` returns them.
        values: one number a piece; pieces with the id -1 stay without colour.
        scale: the value of the full colour, positive.
        unit: what the value is, for a tooltip on each token; none without it.
        signed: blue for positive and orange for negative values; otherwise blue.

    Raises:
        ValueError: if the lengths differ or the scale is not positive.
    """
    if len(words) != len(values):
        raise ValueError(f"values: {len(values)} values for {len(words)} pieces")
    if not scale > 0:
        raise ValueError(f"scale: expected a positive number, got {scale!r}")
    spans = []
    for (text, token_id), value in zip(words, values, strict=True):
        text = html.escape(text)
        if token_id < 0:
            spans.append(text)
            continue
        strength = min(abs(float(value)) / scale, 1.0) * _STRONGEST
        colour = _ORANGE if signed and value < 0 else _BLUE
        shade = f' style="background:rgba({colour},{strength:.2f})"'
        shade = shade if strength >= 0.005 else ""
        tip = f' title="{float(value):.3g} {html.escape(unit)}"' if unit else ""
        spans.append(f"<span{tip}{shade}>{text}</span>")
    return f'<div class="attnsel-text">{"".join(spans)}</div>'


def show_text(text: str) -> HTML:
    """Return coloured text, or several joined, as something a notebook displays."""
    return HTML(f"<style>{_STYLE}</style>{text}")


def frames(
    contents: Sequence[str], labels: Sequence[str], *, title: str, start: int = 0
) -> HTML:
    """Return a figure whose frames a labelled range slider and a button go through.

    It works in the static page, in Jupyter and in Colab: the frames are HTML computed
    beforehand, and the script is a few lines within it.

    Args:
        contents: the frames, as HTML (`coloured_text`, `plots.figure_html`).
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
    # The same frames give the same id, so that a rerun leaves no difference.
    digest = hashlib.sha256("\0".join([title, *labels, *contents]).encode())
    name = f"attnsel-{digest.hexdigest()[:12]}"
    body = "".join(
        f'<div class="frame" data-label="{html.escape(label)}"'
        f"{'' if i == start else ' hidden'}>{content}</div>"
        for i, (content, label) in enumerate(zip(contents, labels, strict=True))
    )
    title = html.escape(title)
    return HTML(
        f"<style>{_STYLE}</style>"
        f'<div class="attnsel-frames" id="{name}" role="group" aria-label="{title}">'
        f'<div class="bar"><label for="{name}-at">{title}</label>'
        f'<input id="{name}-at" type="range" min="0" max="{len(contents) - 1}" '
        f'step="1" value="{start}"><output for="{name}-at"></output>'
        f'<button type="button">Play</button></div>{body}</div>'
        f"<script>{_SCRIPT.replace('ID', name)}</script>"
    )
