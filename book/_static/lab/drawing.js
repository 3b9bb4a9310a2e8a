// What is drawn: tokens as a cloud, whose points can be named, and lines over a path.
const BLUE = "#0072B2", ORANGE = "#D55E00", GREY = "#8a8a8a", GREEN = "#009E73";
const colourOf = (sign) => sign > 0 ? BLUE : sign < 0 ? ORANGE : GREY;

// Tokens over their leans, with the mean in 20 bins and the names of some; returns the
// places [x, y] of the tokens, in pixels.
function cloud(figure, {lean, heights, reach, title, names, named, at}) {
  const canvas = figure.querySelector("canvas"), [low, high] = reach;
  const span = high - low || 1, part = (y) => 0.03 + 0.94 * (y - low) / span;
  const across = [-1, -0.5, 0, 0.5, 1].map((x) => [0.5 + 0.47 * x, String(x)]);
  const up = steps(low, low + span).map((y) => [part(y), round(y)]);
  const {pen, place, width} = chart(figure, canvas, across, up, "lean of the word", title);
  const paper = getComputedStyle(document.body).backgroundColor;
  const ink = pen.strokeStyle, places = [], sums = Array.from({length: 20}, () => [0, 0]);
  pen.globalAlpha = 0.5;
  lean.forEach((x, s) => {
    if (Number.isNaN(x)) { places.push([-99, -99]); return; }
    const spot = place(0.5 + 0.47 * x, part(heights[s]));
    pen.fillStyle = colourOf(x); pen.fillRect(spot[0] - 1.5, spot[1] - 1.5, 3, 3);
    const bin = sums[Math.min(19, Math.floor(10 * (x + 1)))];
    bin[0] += heights[s]; bin[1] += 1; places.push(spot);
  });
  pen.globalAlpha = 1; pen.lineWidth = 2; pen.strokeStyle = pen.fillStyle = ink;
  pen.beginPath();
  sums.forEach(([sum, count], k) => {
    if (count > 4) { pen.lineTo(...place(0.5 + 0.047 * (k - 9.5), part(sum / count))); }
  });
  pen.stroke();
  const taken = [];
  [at, ...named].filter((s) => s >= 0 && places[s][0] > 0).forEach((s, i) => {
    const [x, y] = places[s], left = x > width / 2;
    const free = taken.every(([x0, y0]) => Math.abs(x - x0) > 80 || Math.abs(y - y0) > 14);
    if (i && !free) { return; }
    taken.push([x, y]);
    pen.font = `${s === at ? "bold 16" : "13"}px ${getComputedStyle(figure).fontFamily}`;
    pen.textAlign = left ? "right" : "left"; pen.strokeStyle = paper; pen.lineWidth = 4;
    ["strokeText", "fillText"].forEach((write) =>
      pen[write](names[s], x + (left ? -7 : 7), Math.max(14, y + 4)));
    pen.strokeStyle = ink; pen.lineWidth = 2;
    if (s === at) { pen.beginPath(); pen.arc(x, y, 7, 0, 7); pen.stroke(); }
  });
  return places;
}

// Lines over the length of a path, on a scale of powers of ten between two `ends`.
function curves(figure, {lengths, lines, reach, title, ends}) {
  const canvas = figure.querySelector("canvas"), [low, high] = reach, [first, last] = ends;
  const span = high - low || 1, part = (y) => 0.03 + 0.94 * (y - low) / span;
  const along = (x) => 0.02 + 0.96 * (Math.log10(x) - first) / (last - first);
  const across = Array.from({length: last - first + 1}, (_, k) =>
    [along(10 ** (first + k)), round(10 ** (first + k))]);
  const up = steps(low, low + span).map((y) => [part(y), round(y)]);
  const {pen, place} = chart(figure, canvas, across, up, "length of the path of p", title);
  pen.globalAlpha = 1; pen.lineWidth = 2.5;
  lines.forEach(({values, colour, dash}) => {
    pen.strokeStyle = colour; pen.setLineDash(dash); pen.beginPath();
    lengths.forEach((x, i) => pen.lineTo(...place(along(x), part(values[i]))));
    pen.stroke();
  });
}
