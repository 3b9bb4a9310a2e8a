// A panel of the line-up: one dot per word, in the colour of the side it comes from, and
// their mean from left to right.
/* global range */
const BINS = 16;

function panel(canvas, look, {start, across, up, names, named, at}) {
  const {width, height, scale} = look, pen = canvas.getContext("2d");
  canvas.width = Math.round(width * scale); canvas.height = Math.round(height * scale);
  pen.scale(scale, scale);
  const [low, high] = range(up);
  const place = (x, y) => [6 + x * (width - 12),
    height - 6 - (y - low) / (high - low || 1) * (height - 12)];
  const places = across.map((x, s) => place(x, up[s]));
  const drawn = [...across.keys()].filter((s) => !Number.isNaN(across[s]));
  pen.fillStyle = look.rule;
  pen.fillRect(width / 2, 0, 1, height);
  pen.globalAlpha = 0.7;
  for (const [colour, isPositive] of [[look.positive, true], [look.negative, false]]) {
    pen.fillStyle = colour;
    drawn.filter((s) => start[s] > 0.5 === isPositive).forEach((s) =>
      pen.fillRect(places[s][0] - 1.1, places[s][1] - 1.1, 2.2, 2.2));
  }
  const sums = Array.from({length: BINS}, () => [0, 0]);
  drawn.forEach((s) => {
    const bin = sums[Math.min(BINS - 1, Math.floor(BINS * across[s]))];
    bin[0] += up[s]; bin[1] += 1;
  });
  pen.globalAlpha = 1; pen.lineJoin = "round"; pen.beginPath();
  sums.forEach(([sum, count], k) => {
    if (count) { pen.lineTo(...place((k + 0.5) / BINS, sum / count)); }
  });
  for (const [colour, thick] of [[look.paper, 6], [look.ink, 2.5]]) {
    pen.strokeStyle = colour; pen.lineWidth = thick; pen.stroke();
  }
  const taken = [];
  [at, ...named].filter((s) => s >= 0 && !Number.isNaN(across[s])).forEach((s) => {
    const [x, y] = places[s], isLeft = x > width / 2;
    if (taken.some(([x0, y0]) => Math.abs(x - x0) < 76 && Math.abs(y - y0) < 15)) { return; }
    taken.push([x, y]);
    pen.font = `600 ${s === at ? 16 : 13}px ${look.font}`;
    pen.textAlign = isLeft ? "right" : "left";
    pen.strokeStyle = look.paper; pen.lineWidth = 4; pen.fillStyle = look.ink;
    for (const write of ["strokeText", "fillText"]) {
      pen[write](names[s], x + (isLeft ? -6 : 6), Math.min(height - 4, Math.max(13, y + 4)));
    }
    pen.strokeStyle = look.ink; pen.lineWidth = 2;
    pen.beginPath(); pen.arc(x, y, s === at ? 6 : 3, 0, 7); pen.stroke();
  });
  return places;
}
