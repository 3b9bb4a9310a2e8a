"""A scatter of tokens to search and to point at: self-contained HTML on a canvas."""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from IPython.display import HTML
from torch import Tensor

from attnsel.book.style import NEGATIVE, POSITIVE

_STYLE = """
.attnsel-map{margin:1em 0;line-height:1.5}
.attnsel-map .bar{display:flex;flex-wrap:wrap;gap:.4em 1em;margin-bottom:.4em}
.attnsel-map label{display:flex;gap:.4em;align-items:center;flex:1 1 11em}
.attnsel-map :is(select,input){flex:1;min-width:0;font:inherit;color:inherit;
background:transparent;border:1px solid currentColor;border-radius:.3em;padding:.2em}
.attnsel-map option{color:#000;background:#fff}
.attnsel-map canvas{display:block;width:100%;touch-action:pan-y;cursor:crosshair}
.attnsel-map output{display:block;min-height:3em}
"""

_SCRIPT = """
(function () {
  const root = document.getElementById("ID"), canvas = root.querySelector("canvas");
  const {tokens, labels, columns, log, sign} = JSON.parse(
    root.querySelector("script").textContent);
  const pen = canvas.getContext("2d"), out = root.querySelector("output");
  const [xs, ys] = root.querySelectorAll("select");
  const search = root.querySelector("input");
  const round = (v) => Number(v.toPrecision(3)).toLocaleString("en");
  let at = -1, places = [];
  function axis(k, start, end) {
    const values = columns[k].map((v) => log[k] ? Math.log10(v) : v), ticks = [];
    const low = values.reduce((a, b) => Math.min(a, b));
    const span = values.reduce((a, b) => Math.max(a, b)) - low || 1;
    const unit = 10 ** Math.floor(Math.log10(span / 5));
    const step = log[k] ? 1 : [1, 2, 5, 10].find((m) => m * unit >= span / 5) * unit;
    const place = (v) => start + ((v - low) / span * 0.94 + 0.03) * (end - start);
    for (let i = Math.ceil(low / step); i * step <= low + span; i++) {
      ticks.push([place(i * step), round(log[k] ? 10 ** (i * step) : i * step)]);
    }
    return [values.map(place), ticks];
  }
  function draw() {
    const width = root.clientWidth, height = Math.max(300, Math.min(460, width * 0.62));
    const scale = window.devicePixelRatio || 1, ink = getComputedStyle(root);
    const left = 52, right = width - 12, top = 10, bottom = height - 42;
    const text = (words, x, y, align = "center") => {
      pen.textAlign = align; pen.fillText(words, x, y);
    };
    canvas.width = width * scale; canvas.height = height * scale;
    canvas.style.height = height + "px"; pen.scale(scale, scale);
    const [px, tx] = axis(xs.value, left, right);
    const [py, ty] = axis(ys.value, bottom, top);
    places = px.map((x, i) => [x, py[i]]);
    pen.fillStyle = pen.strokeStyle = ink.color; pen.font = "13px " + ink.fontFamily;
    tx.forEach(([x, words]) => text(words, x, bottom + 16));
    ty.forEach(([y, words]) => text(words, left - 6, y + 4, "right"));
    text(labels[xs.value], (left + right) / 2, bottom + 34);
    pen.save(); pen.translate(12, (top + bottom) / 2); pen.rotate(-Math.PI / 2);
    text(labels[ys.value], 0, 0); pen.restore();
    pen.globalAlpha = 0.2;
    tx.forEach(([x]) => pen.fillRect(x, top, 1, bottom - top));
    ty.forEach(([y]) => pen.fillRect(left, y, right - left, 1));
    pen.globalAlpha = 0.55;
    places.forEach(([x, y], i) => {
      pen.fillStyle = columns[sign][i] > 0 ? "BLUE" : "ORANGE";
      pen.fillRect(x - 1.5, y - 1.5, 3, 3);
    });
    if (at < 0) { return; }
    const [x, y] = places[at], side = x > width / 2 ? -12 : 12;
    pen.globalAlpha = 1; pen.fillStyle = ink.color; pen.lineWidth = 2;
    pen.beginPath(); pen.arc(x, y, 7, 0, 7); pen.stroke();
    pen.font = "bold 16px " + ink.fontFamily;
    text(tokens[at], x + side, Math.max(y - 8, 14), side < 0 ? "right" : "left");
  }
  function choose(i) {
    at = i; draw();
    out.textContent = tokens[i] + ": "
      + labels.map((label, k) => label + " " + round(columns[k][i])).join(", ");
  }
  function point(event) {
    const r = canvas.getBoundingClientRect();
    const far = places.map(([x, y]) =>
      Math.hypot(x + r.left - event.clientX, y + r.top - event.clientY));
    const best = far.reduce((a, d, i) => d < far[a] ? i : a, 0);
    if (far[best] < 30) { choose(best); }
  }
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  canvas.addEventListener("keydown", (event) => {
    const step = {ArrowLeft: -1, ArrowRight: 1, PageDown: -50, PageUp: 50}[event.key];
    if (!step) { return; }
    event.preventDefault();
    const order = places.map((_, i) => i).sort((i, j) => places[i][0] - places[j][0]);
    const next = at < 0 ? 0 : order.indexOf(at) + step;
    choose(order[Math.max(0, Math.min(order.length - 1, next))]);
  });
  search.addEventListener("input", () => {
    const word = search.value.trim().toLowerCase(), exact = tokens.indexOf(word);
    const i = exact < 0 ? tokens.findIndex((t) => t.startsWith(word)) : exact;
    if (word && i >= 0) { choose(i); return; }
    at = -1; draw();
    out.textContent = word ? "No token here begins with " + word + "." : "";
  });
  [xs, ys].forEach((select) => select.addEventListener("change", draw));
  new ResizeObserver(draw).observe(root);
  new MutationObserver(draw).observe(document.documentElement, {attributes: true});
})();
"""


def scatter_explorer(
    tokens: Sequence[str],
    columns: Mapping[str, Tensor | Sequence[float]],
    *,
    title: str,
    x: str,
    y: str,
    sign: str,
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
            and orange elsewhere.
        log: labels of the columns on a logarithmic scale.

    Raises:
        ValueError: if a label is unknown, there is no token, a column has not one
            finite number a token, or one in `log` has a number that is not positive.
    """
    labels, numbers = list(columns), []
    for label in (x, y, sign, *log):
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
    data = {
        "tokens": list(tokens),
        "labels": labels,
        "columns": numbers,
        "log": [label in log for label in labels],
        "sign": labels.index(sign),
    }
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    text = text.replace("<", "\\u003c")  # no token can end the element of the data
    name = f"attnsel-{hashlib.sha256((title + x + y + text).encode()).hexdigest()[:12]}"
    script = _SCRIPT.replace("ID", name)
    script = script.replace("BLUE", POSITIVE).replace("ORANGE", NEGATIVE)
    selects = ""
    for word, chosen in (("across", x), ("up", y)):
        options = "".join(
            f'<option value="{i}"{" selected" if label == chosen else ""}>'
            f"{html.escape(label)}</option>"
            for i, label in enumerate(labels)
        )
        selects += f"<label>{word}<select>{options}</select></label>"
    title = html.escape(title)
    return HTML(
        f"<style>{_STYLE}</style>"
        f'<div class="attnsel-map" id="{name}" role="group" aria-label="{title}">'
        f'<div class="bar">{selects}'
        '<label>find<input type="search" placeholder="a token"></label></div>'
        f'<canvas role="img" tabindex="0" aria-label="{title}; the left and right '
        'keys go from point to point"></canvas>'
        '<output aria-live="polite">Point at a token, or search for one.</output>'
        f'<script type="application/json">{text}</script></div>'
        f"<script>{script}</script>"
    )
