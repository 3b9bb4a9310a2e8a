// What is drawn: words as a cloud of dots, curves, attention as cells, and p as an arrow.
/* global chart, range, round, steps */

// An axis between two numbers: the part of it at which a number lies, and its ticks.
function axisBetween(low, high) {
  const span = high - low || 1, part = (y) => 0.03 + 0.94 * (y - low) / span;
  const words = (y) => Math.abs(y) < 1e4 ? round(y)
    : Number(y.toPrecision(3)).toExponential().replace("e+", "e");
  return {part, ticks: steps(low, low + span).map((y) => [part(y), words(y)])};
}

function line(pen, points, {colour, width = 2, dash = []}) {
  pen.strokeStyle = colour; pen.lineWidth = width; pen.setLineDash(dash);
  pen.beginPath(); points.forEach((point) => pen.lineTo(...point)); pen.stroke();
  pen.setLineDash([]);
}

// Words at their xs and heights, in the colours of their leans, with the mean in 20 bins
// and the names of some; returns the places [x, y] of the words, in pixels.
function cloud(canvas, look, {xs, heights, leans, ends, reach, below, title, names, named, at,
  curve}) {
  const across = axisBetween(...ends), up = axisBetween(...reach);
  const {pen, place, text} = chart(look, canvas, across.ticks, up.ticks, below, title);
  const sums = Array.from({length: 20}, () => [0, 0]), [low, high] = ends;
  const placeOf = (x, y) => place(across.part(x), up.part(y));
  pen.globalAlpha = look.alpha;
  const places = Array.from(heights, (y, s) => {
    if (Number.isNaN(xs[s]) || Number.isNaN(leans[s])) { return [-99, -99]; }
    const [left, top] = placeOf(xs[s], y);
    const bin = sums[Math.min(19, Math.floor(20 * (xs[s] - low) / (high - low)))];
    bin[0] += y; bin[1] += 1;
    pen.fillStyle = look[leans[s] > 0 ? "positive" : leans[s] < 0 ? "negative" : "neither"];
    pen.fillRect(left - 1.5, top - 1.5, 3, 3);
    return [left, top];
  });
  pen.globalAlpha = 1;
  if (heights.every((y) => y === 0)) {
    text("every word counts alike", look.width / 2, placeOf(0, 0)[1] - 20);
  }
  line(pen, sums.flatMap(([sum, count], k) => count > 4
    ? [placeOf(low + (high - low) * (k + 0.5) / 20, sum / count)] : []), {colour: look.ink});
  if (curve) {
    const all = Array.from({length: 101}, (_, k) => low + (high - low) * k / 100);
    line(pen, all.filter((x) => curve(x) <= reach[1]).map((x) => placeOf(x, curve(x))),
      {colour: look.third, width: 3, dash: [7, 4]});
  }
  const taken = [];
  [at, ...named].filter((s) => s >= 0 && places[s][0] > 0).forEach((s) => {
    const [x, y] = places[s], isLeft = x > look.width / 2;
    const isNear = ([x0, y0]) => Math.abs(x - x0) < 80 && Math.abs(y - y0) < 14;
    if (taken.some(isNear)) { return; }
    taken.push([x, y]);
    pen.font = `${s === at ? "bold 16" : "13"}px ${look.font}`;
    pen.textAlign = isLeft ? "right" : "left";
    pen.strokeStyle = look.paper; pen.lineWidth = 4; pen.fillStyle = look.ink;
    for (const write of ["strokeText", "fillText"]) {
      pen[write](names[s], x + (isLeft ? -7 : 7), Math.max(14, y + 4));
    }
    if (s === at) {
      pen.strokeStyle = look.ink; pen.lineWidth = 2;
      pen.beginPath(); pen.arc(x, y, 7, 0, 7); pen.stroke();
    }
  });
  return places;
}

// Lines [{values, colour, dash}] over xs, and where one is now; on a scale of powers of
// ten, `ends` are exponents.
function curves(canvas, look, {xs, lines, now, ends, reach, below, title, isLog = false}) {
  const along = axisBetween(...ends), up = axisBetween(...reach);
  const ticks = along.ticks.map(([part, x]) => [part, isLog ? round(10 ** x) : x]);
  const {pen, place} = chart(look, canvas, ticks, up.ticks, below, title);
  const across = (x) => along.part(isLog ? Math.log10(x) : x);
  const [left, top] = place(0, 1), [right, bottom] = place(1, 0);
  pen.beginPath(); pen.rect(left, top, right - left, bottom - top); pen.clip();
  pen.globalAlpha = 1;
  line(pen, [0, 1].map((y) => place(across(now), y)), {colour: look.ink, width: 1});
  lines.forEach(({values, ...style}) => line(pen,
    values.map((y, i) => place(across(xs[i]), up.part(y))), {width: 2.5, ...style}));
}

// Numbers from 0 to 1 as the light of cells, row by row, on black.
function cells(canvas, look, {rows, below, title}) {
  const {pen, place} = chart(look, canvas, [], [], below, title);
  const [left, top] = place(0, 1), [right, bottom] = place(1, 0);
  const width = (right - left) / (rows[0].length + 1), height = (bottom - top) / rows.length;
  pen.globalAlpha = 1; pen.fillStyle = "#000";
  pen.fillRect(left, top, right - left, bottom - top);
  pen.fillStyle = "#ffd75e";
  rows.forEach((row, i) => row.forEach((share, k) => {
    pen.globalAlpha = Math.sqrt(share);  // the first column is apart from the others
    pen.fillRect(left + width * (k + (k > 0)), top + height * i,
      width * (k ? 0.9 : 1.6), 0.9 * height);
  }));
}

// The path of a vector in a plane and the vector as it is now, the length as a logarithm;
// dashed, a direction.
function arrow(canvas, look, {points, most, goal, below, title}) {
  const {pen, place} = chart(look, canvas, [], [], below, title);
  const size = Math.min(look.width - 64, look.height - 52) / 2;
  const [x0, y0] = place(0.5, 0.5);
  const placeOf = ([x, y]) => {
    const length = Math.hypot(x, y) || 1;
    const scale = size * Math.min(1, Math.log1p(length) / Math.log1p(most)) / length;
    return [x0 + x * scale, y0 - y * scale];
  };
  pen.globalAlpha = 1;
  for (const [x, y] of [[size, 0], [0, size]]) {
    line(pen, [[x0 - x, y0 - y], [x0 + x, y0 + y]], {colour: look.neither, width: 1});
  }
  if (goal) {
    const far = most / Math.hypot(...goal);
    line(pen, [[x0, y0], placeOf(goal.map((x) => x * far))],
      {colour: look.third, dash: [7, 4]});
  }
  const all = points.map(placeOf), [x, y] = all.at(-1), turn = Math.atan2(y - y0, x - x0);
  line(pen, all, {colour: look.neither});
  line(pen, [[x0, y0], [x, y]], {colour: look.ink, width: 4});
  line(pen, [2.6, 0, -2.6].map((by) => by ? [x + 14 * Math.cos(turn + by),
    y + 14 * Math.sin(turn + by)] : [x, y]), {colour: look.ink, width: 4});
}
