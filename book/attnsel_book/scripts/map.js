// A scatter of tokens whose axes are chosen and whose points are named on demand. With
// a slider, columns are lines: numbers before a step, and their change by its size.
/* global clean, on, onKeys, round, unpack */
function map(root, data) {
  const {title, tokens, columns, log, colours, groups, classes, slider} = data;
  const labels = columns.map(([label]) => label), [name, least, most] = slider || [""];
  const lines = columns.map(([, parts]) => parts.map(unpack));
  const options = labels.map((label, k) =>
    `<option value="${k}">${clean(label)}</option>`).join("");
  const legend = classes.map((label, k) => `<span style="border-left:1em solid
    ${colours[k]};padding-left:.4em">${clean(label)}</span>`).join("");
  const range = `<label>${clean(name)}<input type="range" max="1" step="0.005"
    value="0.5"></label><output></output>`;
  root.innerHTML = `<div class="bar">${legend}<label>across<select>${options}</select>
    </label><label>up<select>${options}</select></label><label>find<input type="search"
    placeholder="a token"></label>${slider ? range : ""}</div>
    <canvas role="img" tabindex="0"
    aria-label="${clean(title)}; the left and right keys go from point to point">
    </canvas><output aria-live="polite">Point at a token, or search for one.</output>`;
  const [xs, ys, search, size, told] = root.querySelectorAll(
    ".bar :is(select,input,output)");
  const canvas = root.querySelector("canvas"), out = canvas.nextElementSibling;
  const names = tokens.map((token) => token.toLowerCase());
  let at = -1, places = [], values = [];
  ys.value = 1;
  function draw() {
    const now = slider && least * (most / least) ** size.value;
    values = lines.map((line) => along(line, now));
    if (slider) {
      const fit = correlation(values[xs.value], values[ys.value]);
      told.textContent = `${now.toFixed(0)}: correlation ${fit.toFixed(3)}`;
      size.setAttribute("aria-valuetext", told.textContent);
    }
    const [across, up] = [xs, ys].map(({value: k}) => slider
      ? evenAxis(values[k]) : axisOf(values[k], log[k]));
    const look = lookOf(root), {width} = look;
    canvas.style.height = heightOf(width) + "px";
    const {pen, place, text} = chart(look, canvas, across.ticks, up.ticks,
      labels[xs.value], labels[ys.value]);
    places = across.parts.map((x, i) => place(x, up.parts[i]));
    pen.globalAlpha = 0.9;
    const shades = colours.map(
      (colour) => isLight(look.ink) && LIGHTER[colour] || colour);
    places.forEach(([x, y], i) => {
      pen.fillStyle = shades[groups[i]]; pen.fillRect(x - 1.5, y - 1.5, 3, 3);
    });
    if (at < 0) { return; }
    const [x, y] = places[at], side = x > width / 2 ? -12 : 12;
    pen.globalAlpha = 1; pen.fillStyle = pen.strokeStyle; pen.lineWidth = 2;
    pen.beginPath(); pen.arc(x, y, 7, 0, 7); pen.stroke();
    pen.font = "bold 16px " + getComputedStyle(root).fontFamily;
    text(tokens[at], x + side, Math.max(y - 8, 14), side < 0 ? "right" : "left");
  }
  function show(i, otherwise = out.textContent) {
    at = i; draw();
    out.textContent = i < 0 ? otherwise : tokens[i] + ": "
      + labels.map((label, k) => label + " " + round(values[k][i])).join(", ");
  }
  on(canvas, "pointermove pointerdown", ({clientX, clientY}) => {
    const {left, top} = canvas.getBoundingClientRect();
    const far = places.map(([x, y]) =>
      Math.hypot(x + left - clientX, y + top - clientY));
    const best = far.reduce((a, d, i) => d < far[a] ? i : a, 0);
    if (far[best] < 30) { show(best); }
  });
  onKeys(canvas, {ArrowLeft: -1, ArrowRight: 1, PageDown: -50, PageUp: 50}, (step) => {
    const order = places.map((_, i) => i).sort((i, j) => places[i][0] - places[j][0]);
    const next = at < 0 ? 0 : order.indexOf(at) + step;
    show(order[Math.max(0, Math.min(order.length - 1, next))]);
  });
  on(search, "input", () => {
    const word = search.value.trim().toLowerCase(), exact = names.indexOf(word);
    const first = exact < 0 ? names.findIndex((t) => t.startsWith(word)) : exact;
    show(word ? first : -1, word && `No token here begins with ${word}.`);
  });
  root.querySelectorAll("select,[type=range]").forEach((control) =>
    on(control, "input", () => show(at)));
  new ResizeObserver(draw).observe(root);
  new MutationObserver(draw).observe(document.documentElement, {attributes: true});
}

// Of marks on a dark page, where the text is light: each has a contrast of 3 and more.
const LIGHTER = {"#0072B2": "#56B4E9", "#D55E00": "#F0894A", "#000000": "#FFFFFF"};
const isLight = (ink) => Math.max(...ink.match(/[\d.]+/g).slice(0, 3)) > 150;

// The axis on which all values lie: their parts of its length, and round ticks.
function axisOf(values, log) {
  const scaled = values.map((v) => log ? Math.log10(v) : v);
  const low = scaled.reduce((a, b) => Math.min(a, b));
  const most = scaled.reduce((a, b) => Math.max(a, b)), size = Math.abs(low) || 1;
  const span = most - low > 1e-9 * size ? most - low : size, high = low + span;
  const part = (v) => (v - low) / span * 0.94 + 0.03;
  const far = log && span >= 2;  // from power to power of ten, or in numbers
  const marks = log && !far ? steps(10 ** low, 10 ** high) : steps(low, high, far);
  const apart = Math.max(...marks.map(Math.abs)) / (marks[1] - marks[0]);
  const digits = Math.max(3, Math.ceil(Math.log10(apart)) + 1);  // that tell them apart
  const ticks = marks.map((v) => far ? [part(v), round(10 ** v)]
    : [part(log ? Math.log10(v) : v), round(v, digits)]);
  return {ticks, parts: scaled.map(part)};
}

// Round numbers, some four to eight, between two; of `whole` ones the step is one.
function steps(low, high, whole = false) {
  const least = (high - low) / 5, unit = 10 ** Math.floor(Math.log10(least));
  const step = whole ? 1 : [1, 2, 5, 10].find((m) => m * unit >= least) * unit;
  const first = Math.ceil(low / step - 1e-3);
  const size = Math.floor(high / step + 1e-3) - first + 1;
  return [...Array(size).keys()].map((i) => (first + i) * step);
}

// The axis of what a slider moves: linear up to the median size, logarithmic beyond.
function evenAxis(values) {
  const sizes = values.map(Math.abs).sort((a, b) => a - b);
  const most = sizes.at(-1) || 1, near = sizes[sizes.length >> 1] || most;
  const part = (v) => 0.5 + 0.48 * Math.asinh(v / near) / Math.asinh(most / near);
  const power = 10 ** Math.floor(Math.log10(most));
  const tens = power < 200 * near ? [power] : [power, power / 100];
  const ticks = [0, ...tens, ...tens.map((v) => -v)].map((v) => [part(v), round(v)]);
  return {ticks, parts: values.map(part)};
}

const along = ([before, change], size) =>
  change ? before.map((b, i) => b + size * change[i]) : before;

function correlation(x, y) {
  const [mx, my] = [x, y].map((z) => z.reduce((a, b) => a + b, 0) / z.length);
  const sum = (f) => x.reduce((total, a, i) => total + f(a - mx, y[i] - my), 0);
  return sum((a, b) => a * b) / Math.sqrt(sum((a) => a * a) * sum((_, b) => b * b));
}

// What a chart takes from the place where it stands, and how high it is there.
function lookOf(root) {
  const {color: ink, fontFamily: font} = getComputedStyle(root);
  return {width: root.clientWidth, scale: window.devicePixelRatio || 1, ink, font};
}
const heightOf = (width) => Math.max(300, Math.min(460, width * 0.62));

// Draw the frame of a chart, with ticks [[part of the axis, text]] and a label for each
// axis; the returned function places such parts, in pixels.
function chart(look, canvas, across, up, below, beside) {
  const {width, height = heightOf(width), scale, ink, font} = look;
  const pen = canvas.getContext("2d");
  const left = 52, right = width - 12, top = 10, bottom = height - 42;
  canvas.width = width * scale; canvas.height = height * scale; pen.scale(scale, scale);
  const place = (x, y) => [left + x * (right - left), bottom + y * (top - bottom)];
  const text = (words, x, y, align = "center") => {
    pen.textAlign = align; pen.fillText(words, x, y);
  };
  pen.fillStyle = pen.strokeStyle = ink; pen.font = "13px " + font;
  across.forEach(([at, words]) => text(words, place(at, 0)[0], bottom + 16));
  up.forEach(([at, words]) => text(words, left - 6, place(0, at)[1] + 4, "right"));
  text(below, (left + right) / 2, bottom + 34);
  pen.save(); pen.translate(12, (top + bottom) / 2); pen.rotate(-Math.PI / 2);
  text(beside, 0, 0); pen.restore();
  pen.globalAlpha = 0.2;
  across.forEach(([at]) => pen.fillRect(place(at, 0)[0], top, 1, bottom - top));
  up.forEach(([at]) => pen.fillRect(left, place(0, at)[1], right - left, 1));
  return {pen, place, text};
}
