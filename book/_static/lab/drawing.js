// What is drawn: tokens as a cloud, whose points can be named, and lines over a path.
/* global chart, round, steps */
const BLUE = "#0072B2", ORANGE = "#D55E00", GREY = "#8a8a8a", GREEN = "#009E73";
const colourOf = (sign) => sign > 0 ? BLUE : sign < 0 ? ORANGE : GREY;

// An axis between two numbers: the part of it at which a number lies, and its ticks.
function axisBetween(low, high) {
  const span = high - low || 1, part = (y) => 0.03 + 0.94 * (y - low) / span;
  const told = (y) => Math.abs(y) < 1e4 ? round(y)
    : Number(y.toPrecision(3)).toExponential().replace("e+", "e");
  return {part, ticks: steps(low, low + span).map((y) => [part(y), told(y)])};
}

// Tokens over their leans, with the mean in 20 bins and the names of some; returns the
// places [x, y] of the tokens, in pixels.
function cloud(canvas, look, {lean, heights, reach, title, names, named, at}) {
  const across = axisBetween(-1, 1), up = axisBetween(...reach);
  const {pen, place} = chart(look, canvas, across.ticks, up.ticks, "lean of the word",
    title);
  const sums = Array.from({length: 20}, () => [0, 0]), places = [];
  pen.globalAlpha = 0.5;
  lean.forEach((x, s) => {
    if (Number.isNaN(x)) { places.push([-99, -99]); return; }
    const [left, top] = places[s] = place(across.part(x), up.part(heights[s]));
    const bin = sums[Math.min(19, Math.floor(10 * (x + 1)))];
    bin[0] += heights[s]; bin[1] += 1;
    pen.fillStyle = colourOf(x); pen.fillRect(left - 1.5, top - 1.5, 3, 3);
  });
  pen.globalAlpha = 1; pen.lineWidth = 2; pen.strokeStyle = look.ink;
  pen.beginPath();
  sums.forEach(([sum, count], k) => {
    const middle = 0.1 * (k - 9.5);
    if (count > 4) { pen.lineTo(...place(across.part(middle), up.part(sum / count))); }
  });
  pen.stroke();
  const taken = [];
  [at, ...named].filter((s) => s >= 0 && places[s][0] > 0).forEach((s) => {
    const [x, y] = places[s], isLeft = x > look.width / 2;
    const near = ([x0, y0]) => Math.abs(x - x0) < 80 && Math.abs(y - y0) < 14;
    if (taken.some(near)) { return; }
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

// Lines over the length of a path, on a scale of powers of ten between two `ends`.
function curves(canvas, look, {lengths, lines, reach, title, ends}) {
  const along = axisBetween(...ends), up = axisBetween(...reach);
  const across = along.ticks.map(([part, power]) => [part, round(10 ** power)]);
  const {pen, place} = chart(look, canvas, across, up.ticks, "length of the path of p",
    title);
  const [left, top] = place(0, 1), [right, bottom] = place(1, 0);
  pen.beginPath(); pen.rect(left, top, right - left, bottom - top); pen.clip();
  pen.globalAlpha = 1; pen.lineWidth = 2.5;
  lines.forEach(({values, colour, dash}) => {
    pen.strokeStyle = colour; pen.setLineDash(dash); pen.beginPath();
    lengths.forEach((x, i) =>
      pen.lineTo(...place(along.part(Math.log10(x)), up.part(values[i]))));
    pen.stroke();
  });
}
