// The flow on p in the plane: the reader drags words and p(0), and the path is updated.
/* global clean, handleIn, on, pixelsOf */

const dot = ([a, b], [c, d]) => a * c + b * d;
const minus = ([a, b], [c, d]) => [a - c, b - d];
const plus = (p, h, q) => [p[0] + h * q[0], p[1] + h * q[1]];
const turned = ([x, y]) => [y, -x];

// The direction of -dL/dp, its balance, which is 0 where the pulls cancel, and each top
// token. All terms are differences from the top token, which avoids cancellation.
function pull({places, output, bags, signs}, p) {
  const values = places.map((e) => dot(e, output)), tops = [];
  let sum = [0, 0], sizes = 0;
  bags.forEach((bag, n) => {
    const scores = bag.map(([s, count]) => dot(places[s], p) + Math.log(count));
    const most = Math.max(...scores), best = scores.indexOf(most), top = bag[best][0];
    const odds = scores.map((score, i) => i === best ? 0 : Math.exp(score - most));
    const gaps = bag.map(([s]) => values[s] - values[top]);
    const total = 1 + odds.reduce((a, b) => a + b, 0);
    const shift = odds.reduce((f, w, i) => f + w * gaps[i], 0) / total;
    const far = 1 + Math.exp(signs[n] * (values[top] + shift));
    bag.forEach(([s], i) => {
      const part = odds[i] * signs[n] * (gaps[i] - shift) / (total * far);
      const lead = minus(places[s], places[top]);
      sum = plus(sum, part, lead); sizes += Math.abs(part) * Math.hypot(...lead);
    });
    tops.push(top);
  });
  const norm = Math.hypot(...sum), direction = sum.map((x) => x / (norm || 1));
  return {direction, balance: norm / (sizes || 1), tops};
}

// The path of p by arc length, up to the norm `most` or to where the pulls cancel.
// Heun's method takes the steps; its distance from Euler's controls their length.
function follow(problem, start, most = 100, tolerance = 1e-3) {
  const path = [start];
  let p = start, now = pull(problem, p), h = 0.1;
  for (let i = 0; i < 4000 && Math.hypot(...p) < most && now.balance > 1e-8; i++) {
    const {direction: d} = now, next = plus(p, h, d);
    const turn = minus(pull(problem, next).direction, d);
    const error = h / 2 * Math.hypot(...turn);
    if (error <= tolerance) {
      p = plus(next, h / 2, turn); now = pull(problem, p); path.push(p);
    }
    h *= Math.max(0.2, Math.min(3, 0.9 * Math.sqrt(tolerance / (error || 1e-12))));
  }
  return {path, tops: now.tops, direction: p.map((x) => x / Math.hypot(...p))};
}

// The max-margin direction u, its margin, and one or two support pairs [ahead, behind].
// The differences of these pairs span the side of the hull that is nearest to 0.
function widest(places, pairs) {
  const leads = pairs.map(([r, s]) => minus(places[r], places[s]));
  let best = {margin: Infinity};
  leads.forEach((a, i) => leads.slice(0, i + 1).forEach((b, j) => {
    const way = minus(b, a), along = -dot(a, way) / (dot(way, way) || 1);
    const part = Math.max(0, Math.min(1, along)), near = plus(a, part, way);
    const margin = Math.hypot(...near), support = part ? [pairs[j]] : [];
    if (margin < best.margin - 1e-9) {
      if (part < 1) { support.push(pairs[i]); }
      best = {u: near.map((x) => x / margin), margin, support};
    }
  }));
  return leads.every((lead) => dot(lead, best.u) > 0) ? best : null;
}

function plane(root, {words, colours, start, lost, pairs, selected, ...problem}) {
  const handle = (name, side) => `<g class="handle" tabindex="0" role="slider"
    aria-label="${clean(name)}; the arrow keys move it"><circle r="18" opacity="0"/>
    <circle r="5" fill="${colours.at(side)}"/><text x="8" y="-6">${clean(name)}</text>
    </g>`;
  const panel = (inside, caption) => `<figure><svg viewBox="0 0 340 340">
    <g class="lines"></g>${inside}</svg><figcaption>${caption}</figcaption></figure>`;
  const sides = words.map((_, s) => problem.signs[selected.indexOf(s)] || 0);
  root.innerHTML = `<div class="bar"><button type="button">Start over</button>
    <button type="button">A start that loses a class</button></div>
    <div class="bar panels">${
    panel(words.map((word, s) => handle(word, sides[s])).join(""),
      "words, with the first coordinate across and the second up")}${
    panel(handle("p", 1), "p: its start and path, the max-margin direction u★, "
      + "and the circle of norm 4")
    }</div><output aria-live="polite"></output>`;
  const here = [-1.6, 2.1, 3.3], there = [-15, 15, 30];  // left, top and size
  const frameOf = (i) => i < words.length ? here : there;
  const place = (frame, point) => pixelsOf(frame, 340, point);
  const line = (frame, points, style) =>
    `<polyline points="${points.map((p) => place(frame, p)).join(" ")}" ${style}/>`;
  const axes = (frame) => line(frame, [[-99, 0], [99, 0]], 'opacity=".3"')
    + line(frame, [[0, -99], [0, 99]], 'opacity=".3"');
  const [nil, four] = [[0, 0], [4, 0]].map((point) => place(there, point));
  const scale = `<circle cx="${nil[0]}" cy="${nil[1]}" r="${four[0] - nil[0]}"
    fill="none" stroke="currentColor" stroke-dasharray="2 4"/>` + [-10, 10].map((x) => {
    const ends = [[x, 0], [0, x]].map((at) => place(there, at));
    const [[left, below], [beside, top]] = ends;
    return `<text x="${left}" y="${+below + 14}" text-anchor="middle">${x}</text>
      <text x="${+beside + 4}" y="${+top + 4}">${x}</text>`;
  }).join("");
  const handles = [...root.querySelectorAll(".handle")];
  const [near, far] = root.querySelectorAll(".lines");
  const out = root.querySelector("output"), first = [...problem.places, start];
  let points = first;
  function draw() {
    const places = points.slice(0, -1), now = {...problem, places};
    const best = widest(places, pairs), flow = follow(now, points.at(-1));
    const wrong = flow.tops.filter((top, i) => top !== selected[i]).length;
    const u = best?.u, reached = Math.hypot(...flow.path.at(-1));
    const arrows = [...Array(169).keys()].map((i) => {
      const at = [i % 13, Math.floor(i / 13)].map((k) => (k - 6) * 30 / 13);
      const {direction: d} = pull(now, at), tip = plus(at, 1.6, d);
      const [left, right] = [-0.5, 0.5].map((side) =>
        plus(plus(tip, -0.6, d), side, turned(d)));
      return line(there, [at, tip, left, tip, right], 'opacity=".35"');
    });
    const level = (s) => line(here, [-9, 9].map((side) => plus(
      plus([0, 0], dot(places[s], u), u), side, turned(u))), 'stroke-dasharray="4"');
    const held = u ? best.support.map((pair) => pair.map(level).join("")
      + line(here, pair.map((s) => places[s]), 'class="pair"')) : [];
    const to = (frame, length) => u
      ? line(frame, [[0, 0], plus([0, 0], length, u)], 'class="best"') : "";
    near.innerHTML = axes(here) + held.join("") + to(here, 0.6);
    far.innerHTML = axes(there) + scale + arrows.join("")
      + line(there, flow.path, 'class="path"') + to(there, 50);
    out.textContent = (wrong ? `In ${wrong} of ${selected.length} sequences a word `
      + "other than the relevant one has the most attention. "
      : "Each relevant word is selected. ")
      + `p starts at norm ${Math.hypot(...points.at(-1)).toFixed(1)}. `
      + (reached < 100 ? "The path ends where the pulls on p cancel. " : "")
      + (u ? `At norm ${reached.toFixed(0)} the cosine of p to u★ is ${
        dot(u, flow.direction).toFixed(4)}.` : "No p puts all relevant words ahead.");
    points.forEach((point, i) => put[i](point));
  }
  function move(i, point) { 
    points = points.map((each, k) => k === i ? point : each);
    draw();
  }
  const put = handles.map((element, i) =>
    handleIn(frameOf(i), 340, element, (point) => move(i, point)));
  const [again, losing] = root.querySelectorAll("button");
  on(again, "click", () => { points = first; draw(); });
  on(losing, "click", () => move(words.length, lost));
  draw();
}
