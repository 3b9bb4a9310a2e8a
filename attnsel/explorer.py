"""A scatter of tokens to search and to point at: self-contained HTML on a canvas."""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from IPython.display import HTML
from torch import Tensor

from attnsel.plots import NEGATIVE, POSITIVE

_STYLE = """
.attnsel-map{margin:1em 0;line-height:1.5}
.attnsel-map .bar{display:flex;flex-wrap:wrap;gap:.4em 1em;margin-bottom:.4em}
.attnsel-map label{display:flex;gap:.4em;align-items:center;flex:1 1 11em}
.attnsel-map :is(select,input){flex:1;min-width:0;font:inherit;color:inherit;
background:transparent;border:1px solid currentColor;border-radius:.3em;padding:.2em}
.attnsel-map option{color:#000;background:#fff}
.attnsel-map canvas{display:block;width:100%;touch-action:pan-y;cursor:crosshair}
.attnsel-map output{display:block;min-height:3em;font-variant-numeric:tabular-nums}
"""

_SCRIPT = """
(function () {
  const root = document.getElementById("ID"), find = (q) => root.querySelector(q);
  const {tokens, labels, columns, log, sign} = JSON.parse(find("script").textContent);
  const canvas = find("canvas"), pen = canvas.getContext("2d"), out = find("output");
  const [xs, ys] = root.querySelectorAll("select"), search = find("input");
  const box = {left: 52, right: 12, top: 10, bottom: 42};
  let at = -1, places = [];
  const round = (v) => Number(v.toPrecision(3)).toLocaleString("en");
  function axis(column, start, end) {
    const f = log[column] ? Math.log10 : (v) => v, values = columns[column].map(f);
    let [low, high] = values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)],
      [Infinity, -Infinity]);
    const pad = (high - low) * 0.03 || 1; low -= pad; high += pad;
    const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
    const step = log[column] ? Math.max(1, Math.round(rough))
      : [1, 2, 5, 10].find((m) => m * power >= rough) * power;
    const place = (v) => start + (v - low) / (high - low) * (end - start), ticks = [];
    for (let k = Math.ceil(low / step); k * step <= high; k++) {
      ticks.push([place(k * step), round(log[column] ? 10 ** (k * step) : k * step)]);
    }
    return {places: values.map(place), ticks};
  }
  function draw() {
    const width = root.clientWidth, height = Math.max(300, Math.min(460, width * 0.62));
    const scale = window.devicePixelRatio || 1, ink = getComputedStyle(root);
    if (!width) { return; }
    canvas.width = width * scale; canvas.height = height * scale;
    canvas.style.height = height + "px";
    pen.scale(scale, scale);
    const bottom = height - box.bottom, right = width - box.right;
    const h = axis(xs.value, box.left, right), v = axis(ys.value, bottom, box.top);
    places = h.places.map((x, i) => [x, v.places[i]]);
    pen.fillStyle = pen.strokeStyle = ink.color; pen.font = "13px " + ink.fontFamily;
    const text = (words, x, y, align) => {
      pen.textAlign = align; pen.fillText(words, x, y);
    };
    h.ticks.forEach(([x, words]) => text(words, x, bottom + 16, "center"));
    v.ticks.forEach(([y, words]) => text(words, box.left - 6, y + 4, "right"));
    text(labels[xs.value], (box.left + right) / 2, bottom + 34, "center");
    pen.save(); pen.translate(12, (box.top + bottom) / 2); pen.rotate(-Math.PI / 2);
    text(labels[ys.value], 0, 0, "center"); pen.restore();
    pen.globalAlpha = 0.25; pen.beginPath();
    h.ticks.forEach(([x]) => { pen.moveTo(x, box.top); pen.lineTo(x, bottom); });
    v.ticks.forEach(([y]) => { pen.moveTo(box.left, y); pen.lineTo(right, y); });
    pen.lineWidth = 0.5; pen.stroke(); pen.globalAlpha = 0.55;
    places.forEach(([x, y], i) => {
      pen.fillStyle = columns[sign][i] > 0 ? "BLUE" : "ORANGE";
      pen.fillRect(x - 1.5, y - 1.5, 3, 3);
    });
    pen.globalAlpha = 1; pen.fillStyle = ink.color;
    if (at < 0) { return; }
    const [x, y] = places[at], end = x > width / 2;
    pen.lineWidth = 2; pen.beginPath(); pen.arc(x, y, 7, 0, 7); pen.stroke();
    pen.font = "bold 15px " + ink.fontFamily;
    text(tokens[at], x + (end ? -12 : 12), Math.max(y - 8, 14), end ? "right" : "left");
  }
  function choose(i) {
    at = i;
    out.textContent = tokens[i] + ": " + labels.map((label, k) =>
      label + " " + round(columns[k][i])).join(", ");
    draw();
  }
  function point(event) {
    const r = canvas.getBoundingClientRect();
    const far = ([x, y]) => (x - event.clientX + r.left) ** 2
      + (y - event.clientY + r.top) ** 2;
    let best = 0;
    places.forEach((place, i) => { if (far(place) < far(places[best])) { best = i; } });
    if (far(places[best]) < 900) { choose(best); }
  }
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  canvas.addEventListener("keydown", (event) => {
    const step = {ArrowLeft: -1, ArrowRight: 1, PageUp: 50, PageDown: -50}[event.key];
    if (!step) { return; }
    event.preventDefault();
    const order = places.map((_, i) => i).sort((i, j) => places[i][0] - places[j][0]);
    const next = at < 0 ? 0 : order.indexOf(at) + step;
    choose(order[Math.max(0, Math.min(order.length - 1, next))]);
  });
  search.addEventListener("input", () => {
    const word = search.value.trim().toLowerCase();
    const exact = tokens.indexOf(word);
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
    with the keys: the data lie within, rounded to four digits, and the script is here.

    Args:
        tokens: V names, one a point; the search prefers the first that matches.
        columns: V numbers a label; any two can be on the axes.
        title: names the figure for screen readers.
        x: label of the column first on the horizontal axis.
        y: label of the column first on the vertical axis.
        sign: label of the column whose sign colours the points, blue where positive
            and orange elsewhere.
        log: labels of the columns on a logarithmic scale.

    Raises:
        ValueError: if a label is unknown, a column has not one finite number a token,
            a column in `log` has one that is not positive, or there is no token.
    """
    labels, arrays = list(columns), []
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
        arrays.append([float(f"{value:.4g}") for value in array])
    numbers = [[int(v) if v.is_integer() else v for v in array] for array in arrays]
    data = {
        "tokens": list(tokens),
        "labels": labels,
        "columns": numbers,
        "log": [label in log for label in labels],
        "sign": labels.index(sign),
    }
    # Nothing in a token may end the element that holds the data.
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    text = text.replace("<", "\\u003c")
    name = f"attnsel-{hashlib.sha256((title + x + y + text).encode()).hexdigest()[:12]}"

    def select(word: str, chosen: str) -> str:
        options = "".join(
            f'<option value="{i}"{" selected" if label == chosen else ""}>'
            f"{html.escape(label)}</option>"
            for i, label in enumerate(labels)
        )
        return f"<label>{word}<select>{options}</select></label>"

    script = _SCRIPT.replace("ID", name)
    script = script.replace("BLUE", POSITIVE).replace("ORANGE", NEGATIVE)
    about = f"{title}; the left and right keys go from point to point"
    return HTML(
        f"<style>{_STYLE}</style>"
        f'<div class="attnsel-map" id="{name}" role="group" '
        f'aria-label="{html.escape(title)}"><div class="bar">'
        f"{select('across', x)}{select('up', y)}"
        '<label>find<input type="search" placeholder="a token"></label></div>'
        f'<canvas role="img" tabindex="0" aria-label="{html.escape(about)}"></canvas>'
        '<output aria-live="polite">Point at a token, or search for one.</output>'
        f'<script type="application/json">{text}</script></div>'
        f"<script>{script}</script>"
    )
