// Drawings: words as a cloud of dots, curves, attention as cells, and p as an arrow.
/* global COLOURS, axis, chart, dots, writeNames */

function line(pen, points, {colour, width = 2, dash = []}) {
  pen.strokeStyle = colour; pen.lineWidth = width; pen.setLineDash(dash);
  pen.beginPath(); points.forEach((point) => pen.lineTo(...point)); pen.stroke();
  pen.setLineDash([]);
}

// Points [x, mean height] of 20 bins from left to right; each has more than 4 words.
function binMeans(xs, heights, [low, high]) {
  const sums = Array.from({length: 20}, () => [0, 0]), span = high - low;
  xs.forEach((x, s) => {
    if (Number.isNaN(x)) { return; }
    const bin = sums[Math.min(19, Math.floor(20 * (x - low) / span))];
    bin[0] += heights[s]; bin[1] += 1;
  });
  return sums.flatMap(([total, count], k) =>
    count > 4 ? [[low + span * (k + 0.5) / 20, total / count]] : []);
}

// Draw words as dots at their xs and heights, coloured by their leans. Then draw the means
// of 20 bins, and some names, beginning with that of the word `at`. Return the position
// [x, y] of each word in pixels, if it has one.
function cloud(canvas, look, {xs, heights, leans, ends, reach, below, beside, names, named, at,
  curve}) {
  const across = axis(ends), up = axis(reach), [low, high] = ends, span = high - low;
  if (below === undefined) { across.ticks = [[0.5, ""]]; up.ticks = []; }
  const {pen, at: placeOf, text} = chart(canvas, look, {across, up, below, beside});
  const isHere = (s) => !Number.isNaN(xs[s]) && !Number.isNaN(leans[s]);
  const places = Array.from(heights, (y, s) => isHere(s) ? placeOf(xs[s], y) : null);
  dots(pen, places, Array.from(leans, (x) =>
    COLOURS[x > 0 ? "positive" : x < 0 ? "negative" : "neutral"]));
  if (heights.every((y) => y === 0)) {
    text("every word counts alike", look.width / 2, placeOf(0, 0)[1] - 20);
  }
  const known = Array.from(xs, (x, s) => isHere(s) ? x : NaN);
  const means = binMeans(known, heights, ends).map((point) => placeOf(...point));
  line(pen, means, {colour: look.paper, width: 6});
  line(pen, means, {colour: look.ink});
  if (curve) {
    const all = Array.from({length: 101}, (_, k) => low + span * k / 100);
    line(pen, all.filter((x) => curve(x) <= reach[1]).map((x) => placeOf(x, curve(x))),
      {colour: COLOURS.accent, dash: [7, 4]});
  }
  writeNames(pen, look, places, names, [at, ...named]);
  return places;
}

// Draw lines [{values, colour, dash}] over xs, and a mark at the current x.
function curves(canvas, look, {xs, lines, now, ends, reach, isLog, ...labels}) {
  const across = axis(ends, isLog), up = axis(reach);
  const {pen, place, at} = chart(canvas, look, {across, up, ...labels});
  const [left, top] = place(0, 1), [right, bottom] = place(1, 0);
  pen.beginPath(); pen.rect(left, top, right - left, bottom - top); pen.clip();
  line(pen, [0, 1].map((y) => place(across.part(now), y)), {colour: look.ink, width: 1});
  lines.forEach(({values, ...style}) =>
    line(pen, values.map((y, i) => at(xs[i], y)), style));
}

// Draw numbers from 0 to 1 as cells, row by row; larger numbers have a deeper colour.
const BLANK = {across: {ticks: []}, up: {ticks: []}};
function cells(canvas, look, {rows, ...labels}) {
  const {pen, place} = chart(canvas, look, {...BLANK, ...labels});
  const [left, top] = place(0, 1), [right, bottom] = place(1, 0);
  const width = (right - left) / (rows[0].length + 1), height = (bottom - top) / rows.length;
  pen.fillStyle = COLOURS.accent;
  rows.forEach((row, i) => row.forEach((share, k) => {
    pen.globalAlpha = Math.sqrt(share);  // a gap separates the first column
    pen.fillRect(left + width * (k + (k > 0)), top + height * i,
      width * (k ? 0.9 : 1.6), 0.9 * height);
  }));
}

// Draw the path of a vector in a plane, with logarithmic lengths, its current value as an
// arrow, and a dashed direction.
function arrow(canvas, look, {points, most, goal, ...labels}) {
  const {pen, place} = chart(canvas, look, {...BLANK, ...labels});
  const size = Math.min(look.width - 64, look.height - 52) / 2;
  const [x0, y0] = place(0.5, 0.5);
  const placeOf = ([x, y]) => {
    const length = Math.hypot(x, y) || 1;
    const scale = size * Math.min(1, Math.log1p(length) / Math.log1p(most)) / length;
    return [x0 + x * scale, y0 - y * scale];
  };
  for (const [x, y] of [[size, 0], [0, size]]) {
    line(pen, [[x0 - x, y0 - y], [x0 + x, y0 + y]], {colour: COLOURS.neutral, width: 1});
  }
  if (goal) {
    const far = most / Math.hypot(...goal);
    line(pen, [[x0, y0], placeOf(goal.map((x) => x * far))],
      {colour: COLOURS.accent, dash: [7, 4]});
  }
  const all = points.map(placeOf), [x, y] = all.at(-1), turn = Math.atan2(y - y0, x - x0);
  line(pen, all, {colour: COLOURS.neutral});
  line(pen, [[x0, y0], [x, y]], {colour: look.ink, width: 3});
  line(pen, [2.6, 0, -2.6].map((by) => by ? [x + 14 * Math.cos(turn + by),
    y + 14 * Math.sin(turn + by)] : [x, y]), {colour: look.ink, width: 3});
}
