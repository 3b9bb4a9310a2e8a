// The flow on p in the plane: words and the start are dragged, the rest follows.

const dot = ([a, b], [c, d]) => a * c + b * d;
const minus = ([a, b], [c, d]) => [a - c, b - d];
const plus = (p, h, q) => [p[0] + h * q[0], p[1] + h * q[1]];

// The direction of -dL/dp; its balance, 0 where the pulls cancel; the top tokens. As in
// `attnsel.flow`: the other tokens of a sequence pull against the top one, and their
// weights stay logarithms up to a common factor.
function pull({places, output, bags, signs}, p) {
  const values = places.map((e) => dot(e, output)), pulls = [], tops = [];
  bags.forEach((bag, n) => {
    const scores = bag.map(([s, count]) => dot(places[s], p) + Math.log(count));
    const most = Math.max(...scores), best = scores.indexOf(most), top = bag[best][0];
    const odds = scores.map((score, i) => i === best ? 0 : Math.exp(score - most));
    const gaps = bag.map(([s]) => values[s] - values[top]);
    const total = 1 + odds.reduce((a, b) => a + b, 0);
    const shift = odds.reduce((sum, w, i) => sum + w * gaps[i], 0) / total;
    const far = Math.log1p(Math.exp(signs[n] * (values[top] + shift)));
    bag.forEach(([s], i) => {
      if (i === best) { return; }
      const lead = minus(places[s], places[top]), size = signs[n] * (gaps[i] - shift);
      pulls.push([scores[i] - most - Math.log(total) - far, size, lead]);
    });
    tops.push(top);
  });
  const scale = Math.max(...pulls.map(([weight]) => weight));
  let sum = [0, 0], sizes = 0;
  for (const [weight, size, lead] of pulls) {
    const part = Math.exp(weight - scale) * size;
    sum = plus(sum, part, lead);
    sizes += Math.abs(part) * Math.hypot(...lead);
  }
  const norm = Math.hypot(...sum) || 1, balance = Math.hypot(...sum) / (sizes || 1);
  return {direction: [sum[0] / norm, sum[1] / norm], balance, tops};
}

// The path of p by arc length, by Bogacki and Shampine's pair of orders 3 and 2, to the
// norm `most`, or to where the pulls cancel: there steps get short, and come to an end.
function follow(problem, start, most = 100, tolerance = 1e-4) {
  const path = [start];
  let p = start, now = pull(problem, p), h = 0.1;
  for (let i = 0; i < 4000 && Math.hypot(...p) < most && now.balance > 1e-8; i++) {
    const a = now.direction, b = pull(problem, plus(p, h / 2, a)).direction;
    const c = pull(problem, plus(p, 0.75 * h, b)).direction;
    const next = [0, 1].map((i) => p[i] + h * (2 * a[i] + 3 * b[i] + 4 * c[i]) / 9);
    const there = pull(problem, next), d = there.direction;
    const error = h / 72 * Math.hypot(...[0, 1].map((i) =>
      -5 * a[i] + 6 * b[i] + 8 * c[i] - 9 * d[i]));
    if (error <= tolerance) { p = next; now = there; path.push(p); }
    h *= Math.max(0.2, Math.min(3, 0.9 * Math.cbrt(tolerance / (error || 1e-12))));
  }
  return {path, tops: now.tops, direction: p.map((x) => x / Math.hypot(...p))};
}

// The shortest p with a lead of 1 in all pairs [ahead, behind], and the pairs that hold
// it: in the plane one or two do. Null if no p has such a lead.
function widest(places, pairs) {
  const leads = pairs.map(([r, s]) => minus(places[r], places[s]));
  let best = null;
  leads.forEach((a, i) => leads.slice(0, i + 1).forEach((b, j) => {
    const det = a[0] * b[1] - a[1] * b[0];
    const p = i === j ? a.map((x) => x / dot(a, a)) : [(b[1] - a[1]) / det,
      (a[0] - b[0]) / det];
    const norm = Math.hypot(...p);
    if (norm < (best ? best.norm - 1e-9 : Infinity)
        && leads.every((lead) => dot(lead, p) > 1 - 1e-9)) {
      best = {p, norm, support: i === j ? [pairs[i]] : [pairs[j], pairs[i]]};
    }
  }));
  return best;
}

function plane(root, {start, lost, pairs, selected, frames, ...problem}) {
  const handles = [...root.querySelectorAll(".handle")];
  const [words, norms] = root.querySelectorAll("svg .lines");
  const out = root.querySelector("output"), first = [...problem.places, start];
  let points = first;
  const frameOf = (i) => frames[i < first.length - 1 ? 0 : 1];
  const place = ([[left, right], [low, high]], [x, y]) => [
    340 * (x - left) / (right - left), 340 * (high - y) / (high - low)];
  const line = (frame, all, style) => `<polyline points="${
    all.map((p) => place(frame, p).map((x) => x.toFixed(1))).join(" ")}" ${style}/>`;
  const axes = (frame) => [0, 1].map((k) =>
    line(frame, frame[k].map((x) => k ? [0, x] : [x, 0]), 'opacity=".3"')).join("");
  function draw() {
    const now = {...problem, places: points.slice(0, -1)}, p = points.at(-1);
    const best = widest(now.places, pairs), flow = follow(now, p);
    const wrong = flow.tops.filter((top, i) => top !== selected[i]).length;
    const u = best && best.p.map((x) => x / best.norm), [here, there] = frames;
    const arrows = [...Array(169).keys()].map((i) => {
      const at = [i % 13, Math.floor(i / 13)].map((k, axis) =>
        there[axis][0] + (k + 0.5) / 13 * (there[axis][1] - there[axis][0]));
      const {direction: d} = pull(now, at), tip = plus(at, 1.6, d);
      const head = [0.5, -0.5].map((side) =>
        plus(plus(tip, -0.6, d), side, [d[1], -d[0]]));
      return line(there, [at, tip, head[0], tip, head[1]], 'opacity=".35"');
    });
    norms.innerHTML = axes(there) + arrows.join("")
      + line(there, flow.path, 'class="path"')
      + (u ? line(there, [[0, 0], plus([0, 0], 50, u)], 'class="best"') : "");
    words.innerHTML = axes(here) + (!u ? "" : best.support.map((pair) =>
      line(here, pair.map((s) => now.places[s]), 'class="pair"')
      + pair.map((s) => line(here, [-3, 3].map((side) =>
        plus(plus([0, 0], dot(now.places[s], u), u), side, [u[1], -u[0]])),
        'stroke-dasharray="4"')).join("")).join("")
      + line(here, [[0, 0], plus([0, 0], 0.6, u)], 'class="best"'));
    const reached = Math.hypot(...flow.path.at(-1));
    out.textContent = (wrong ? `Lost: in ${wrong} of ${selected.length} sequences `
      + "another word has the most attention. " : "Each telling word is selected. ")
      + (reached < 100 ? "The path ends where the pulls on p cancel. " : "")
      + (u ? `At norm ${reached.toFixed(0)} the cosine of p to u★ is ${
        dot(u, flow.direction).toFixed(4)}.` : "No p puts all telling words ahead.");
    handles.forEach((handle, i) => {
      const [x, y] = place(frameOf(i), points[i]);
      handle.setAttribute("transform", `translate(${x.toFixed(1)},${y.toFixed(1)})`);
      const told = points[i].map((c) => c.toFixed(2));
      handle.setAttribute("aria-valuenow", told[0]);
      handle.setAttribute("aria-valuetext", told.join(", "));
    });
  }
  function move(i, point) {
    const inside = point.map((x, k) =>
      Math.max(frameOf(i)[k][0], Math.min(frameOf(i)[k][1], x)));
    points = points.map((old, k) => k === i ? inside : old);
    draw();
  }
  handles.forEach((handle, i) => {
    const [[left, right], [low, high]] = frameOf(i);
    handle.addEventListener("pointerdown", (event) => {
      handle.setPointerCapture(event.pointerId); event.preventDefault(); handle.focus();
    });
    handle.addEventListener("pointermove", (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) { return; }
      const box = handle.ownerSVGElement.getBoundingClientRect();
      move(i, [left + (event.clientX - box.left) / box.width * (right - left),
        high - (event.clientY - box.top) / box.height * (high - low)]);
    });
    handle.addEventListener("keydown", (event) => {
      const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1],
        ArrowDown: [0, -1]}[event.key];
      if (!step) { return; }
      event.preventDefault(); move(i, plus(points[i], (right - left) / 60, step));
    });
  });
  const [again, losing] = root.querySelectorAll("button");
  again.addEventListener("click", () => { points = first; draw(); });
  losing.addEventListener("click", () => move(first.length - 1, lost));
  draw();
}
