// Drawing on a canvas: axes, the frame of a chart, points and their names.
/* global on, onKeys, round, sum */

const range = (...lists) => lists.reduce((ends, list) => list.reduce(([low, high], x) =>
  [Math.min(low, x), Math.max(high, x)], ends), [Infinity, -Infinity]);
const mean = (x) => sum(x) / x.length;

function correlation(x, y) {
  const [mx, my] = [x, y].map(mean);
  const of = (f) => sum(x.map((a, i) => f(a - mx, y[i] - my)));
  return of((a, b) => a * b) / Math.sqrt(of((a) => a * a) * of((_, b) => b * b));
}

// About four to eight round numbers between two limits; if `whole`, all integers.
function steps(low, high, whole = false) {
  const least = (high - low) / 5, unit = 10 ** Math.floor(Math.log10(least));
  const step = whole ? 1 : [1, 2, 5, 10].find((m) => m * unit >= least) * unit;
  const first = Math.ceil(low / step - 1e-3);
  const size = Math.floor(high / step + 1e-3) - first + 1;
  return [...Array(size).keys()].map((i) => (first + i) * step);
}

// An axis between two numbers: a function that gives the position of a number as a part
// of the length, and ticks [[part, text]]. A long logarithmic axis has powers of ten.
function axis([least, most], log = false) {
  const [low, high] = log ? [Math.log10(least), Math.log10(most)] : [least, most];
  const size = Math.abs(low) || 1;
  const span = high - low > 1e-9 * size ? high - low : size;
  const part = (v) => 0.03 + 0.94 * ((log ? Math.log10(v) : v) - low) / span;
  const far = log && span >= 2, end = low + span;
  const marks = far ? steps(low, end, true).map((power) => 10 ** power)
    : log ? steps(least, 10 ** end) : steps(low, end);
  const apart = far ? 1 : Math.max(...marks.map(Math.abs)) / (marks[1] - marks[0]);
  const digits = Math.max(3, Math.ceil(Math.log10(apart)) + 1);
  const written = (v) => Math.abs(v) < 1e4 ? round(v, digits)
    : Number(v.toPrecision(digits)).toExponential().replace("e+", "e");
  return {part, ticks: marks.map((v) => [part(v), written(v)])};
}

// A canvas uses the font of its surroundings and is drawn on white. The dark theme
// inverts its lightness, as it does for all figures.
const lookOf = (place) => ({ink: "#000", paper: "#fff", grid: "#e6e6e6",
  font: getComputedStyle(place).fontFamily, scale: window.devicePixelRatio || 1});
const heightOf = (width) => Math.max(300, Math.min(460, width * 0.62));

// Draw the frame of a chart in the Matplotlib style of this book: a grid, two spines
// with ticks, and labels; without labels, only a grid. `at` converts two numbers into
// pixels, and `place` converts parts of the axes.
function chart(canvas, look, {across, up, below, beside}) {
  const {width, height = heightOf(width), scale, ink, grid, font} = look;
  const pen = canvas.getContext("2d"), isBare = below === undefined;
  const left = isBare ? 6 : 52, right = width - (isBare ? 6 : 12);
  const top = isBare ? 6 : 10, bottom = height - (isBare ? 6 : 42);
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  pen.scale(scale, scale);
  const place = (x, y) => [left + x * (right - left), bottom + y * (top - bottom)];
  const text = (words, x, y, align = "center") => {
    pen.textAlign = align; pen.fillText(words, x, y);
  };
  const [columns, rows] = [across, up].map(({ticks}) => ticks);
  pen.fillStyle = grid;
  columns.forEach(([x]) => pen.fillRect(place(x, 0)[0], top, 1, bottom - top));
  rows.forEach(([y]) => pen.fillRect(left, place(0, y)[1], right - left, 1));
  pen.fillStyle = pen.strokeStyle = ink; pen.font = "13px " + font;
  if (!isBare) {
    pen.fillRect(left, top, 1, bottom - top);
    pen.fillRect(left, bottom, right - left, 1);
    columns.forEach(([x, words]) => {
      pen.fillRect(place(x, 0)[0], bottom, 1, 5);
      text(words, place(x, 0)[0], bottom + 18);
    });
    rows.forEach(([y, words]) => {
      pen.fillRect(left - 5, place(0, y)[1], 5, 1);
      text(words, left - 8, place(0, y)[1] + 4, "right");
    });
    text(below, (left + right) / 2, bottom + 34);
    pen.save(); pen.translate(12, (top + bottom) / 2); pen.rotate(-Math.PI / 2);
    text(beside, 0, 0); pen.restore();
  }
  return {pen, place, at: (x, y) => place(across.part(x), up.part(y)), text};
}

// Draw points at positions [x, y] in their colours; a point may have no position.
function dots(pen, places, colours) {
  places.forEach((place, i) => {
    if (!place) { return; }
    pen.fillStyle = colours[i]; pen.fillRect(place[0] - 1.5, place[1] - 1.5, 3, 3);
  });
}

// Write the names of chosen points. The first one, at which the reader points, gets a
// ring; the others are written where there is room.
function writeNames(pen, {width, font, ink, paper}, places, names, chosen) {
  const taken = [];
  for (const i of chosen.filter((k) => places[k])) {
    const [x, y] = places[i], isLeft = x > width / 2, isAt = i === chosen[0];
    const isNear = ([x0, y0]) => Math.abs(x - x0) < 80 && Math.abs(y - y0) < 14;
    if (taken.some(isNear)) { continue; }
    taken.push([x, y]);
    pen.font = `${isAt ? "bold 16" : "13"}px ${font}`;
    pen.textAlign = isLeft ? "right" : "left";
    pen.strokeStyle = paper; pen.lineWidth = 4; pen.fillStyle = ink;
    for (const write of ["strokeText", "fillText"]) {
      pen[write](names[i], x + (isLeft ? -9 : 9), Math.max(14, y + 4));
    }
    if (isAt) {
      pen.strokeStyle = ink; pen.lineWidth = 2;
      pen.beginPath(); pen.arc(x, y, 7, 0, 7); pen.stroke();
    }
  }
}

// The index of the point nearest to a position, or -1 if none is near.
function nearest(places, x, y) {
  const away = places.map((place) =>
    place ? Math.hypot(place[0] - x, place[1] - y) : Infinity);
  const best = away.indexOf(Math.min(...away));
  return away[best] < 30 ? best : -1;
}

// The point `by` places to the right of another point, or the first point.
function beside(places, at, by) {
  const order = [...places.keys()].filter((i) => places[i])
    .sort((i, j) => places[i][0] - places[j][0]);
  const next = at < 0 ? 0 : order.indexOf(at) + by;
  return order[Math.max(0, Math.min(order.length - 1, next))] ?? -1;
}

// Let the reader point at the points of a canvas, or move between them with the keys.
function onPoints(canvas, near, move) {
  on(canvas, "pointermove pointerdown", ({clientX, clientY}) => {
    const {left, top} = canvas.getBoundingClientRect();
    near(clientX - left, clientY - top);
  });
  onKeys(canvas, {ArrowLeft: -1, ArrowRight: 1, PageDown: -50, PageUp: 50}, move);
}
