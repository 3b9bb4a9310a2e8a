// A scatter of tokens whose axes are chosen and whose points are named on demand. With
// a slider, columns are lines: numbers before a step, and their change by its size.
function map(root, {tokens, labels, columns, log, colours, groups, sizes}) {
  const canvas = root.querySelector("canvas");
  const out = root.querySelector("canvas+output");
  const [xs, ys] = root.querySelectorAll("select");
  const search = root.querySelector("[type=search]");
  const slider = root.querySelector("[type=range]");
  const lines = columns.map((column) => sizes && column.map(unpack));
  let at = -1, places = [], values = columns;
  function draw() {
    if (slider) {
      const size = sizes[0] * (sizes[1] / sizes[0]) ** slider.value;
      values = lines.map((line) => along(line, size));
      const fit = correlation(values[xs.value], values[ys.value]);
      const told = `${size.toFixed(0)}: correlation ${fit.toFixed(3)}`;
      root.querySelector(".bar output").textContent = told;
      slider.setAttribute("aria-valuetext", told);
    }
    const [across, up] = [xs, ys].map(({value: k}) => slider
      ? fixedAxis(values[k], along(lines[k], sizes[1]), labels[k])
      : axisOf(values[k], log[k], labels[k]));
    const {pen, place, text, width} = chart(root, canvas, across, up);
    places = across.parts.map((x, i) => place(x, up.parts[i]));
    pen.globalAlpha = 0.55;
    places.forEach(([x, y], i) => {
      pen.fillStyle = colours[groups[i]]; pen.fillRect(x - 1.5, y - 1.5, 3, 3);
    });
    pen.globalAlpha = 1;
    if (at < 0) { return; }
    const [x, y] = places[at], side = x > width / 2 ? -12 : 12;
    pen.fillStyle = pen.strokeStyle; pen.lineWidth = 2;
    pen.beginPath(); pen.arc(x, y, 7, 0, 7); pen.stroke();
    pen.font = "bold 16px " + getComputedStyle(root).fontFamily;
    text(tokens[at], x + side, Math.max(y - 8, 14), side < 0 ? "right" : "left");
  }
  function choose(i) {
    at = i; draw();
    out.textContent = tokens[i] + ": "
      + labels.map((label, k) => label + " " + round(values[k][i])).join(", ");
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
  slider?.addEventListener("input", () => { draw(); if (at >= 0) { choose(at); } });
  redraw(root, draw);
}

// The axis on which all values lie: their parts of its length, and round ticks.
function axisOf(values, log, label) {
  const on = values.map((v) => log ? Math.log10(v) : v), ticks = [];
  const low = on.reduce((a, b) => Math.min(a, b));
  const span = on.reduce((a, b) => Math.max(a, b)) - low || 1;
  const unit = 10 ** Math.floor(Math.log10(span / 5));
  const step = log ? 1 : [1, 2, 5, 10].find((m) => m * unit >= span / 5) * unit;
  const part = (v) => (v - low) / span * 0.94 + 0.03;
  for (let i = Math.ceil(low / step); i * step <= low + span; i++) {
    ticks.push([part(i * step), round(log ? 10 ** (i * step) : i * step)]);
  }
  return {label, ticks, parts: on.map(part)};
}

// An axis for all that a slider reaches: linear near 0, logarithmic far from it.
function fixedAxis(values, reached, label) {
  const most = reached.reduce((a, v) => Math.max(a, Math.abs(v)), 0);
  const part = (v) => 0.5 + 0.48 * Math.asinh(v * 1000 / most) / Math.asinh(1000);
  const tens = [0, 1, 2].map((k) => 10 ** (Math.floor(Math.log10(most)) - k));
  const ticks = [0, ...tens, ...tens.map((v) => -v)].map((v) => [part(v), round(v)]);
  return {label, ticks, parts: [...values].map(part)};
}

const along = ([before, change], size) => before.map((b, i) => b + size * change[i]);

function correlation(x, y) {
  const [mx, my] = [x, y].map((z) => z.reduce((a, b) => a + b, 0) / z.length);
  const sum = (f) => x.reduce((total, a, i) => total + f(a - mx, y[i] - my), 0);
  return sum((a, b) => a * b) / Math.sqrt(sum((a) => a * a) * sum((_, b) => b * b));
}
