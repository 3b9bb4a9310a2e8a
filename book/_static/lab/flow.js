// One step on E, then the gradient flow of p, followed by its length in the log domain:
// nearly equal numbers are never subtracted, and what all pulls share is a logarithm.

const times = (rows, r, x) => Float64Array.from({length: rows.length / r}, (_, s) => {
  let sum = 0;
  for (let k = 0; k < r; k++) { sum += rows[s * r + k] * x[k]; }
  return sum;
});
const timesLeft = (weights, rows, r) => {
  const sums = new Float64Array(r);
  weights.forEach((w, s) => {
    for (let k = 0; k < r; k++) { sums[k] += w * rows[s * r + k]; }
  });
  return sums;
};
const inner = (x, y) => x.reduce((sum, value, k) => sum + value * y[k], 0);

// Coordinates of the embeddings in the space they span, of which there are as many as
// tokens, by Cholesky from their inner products; those of p, and the rest of its norm.
function rowSpace({d, E, p}) {
  const r = E.length / d, points = new Float64Array(r * r), scores = times(E, d, p);
  const row = (s) => points.subarray(s * r, s * r + r), z = new Float64Array(r);
  for (let s = 0; s < r; s++) {
    const products = times(E, d, E.subarray(s * d, s * d + d));
    for (let t = 0; t <= s; t++) {
      const left = products[t] - inner(row(s), row(t));
      points[s * r + t] = s === t ? Math.sqrt(left) : left / points[t * r + t];
    }
    z[s] = (scores[s] - inner(row(s), z)) / points[s * r + s];
  }
  return {points, z, rest: Math.sqrt(Math.max(0, inner(p, p) - inner(z, z)))};
}

// The pull of each entry along its embedding, y g q (b - f), in units of exp(scale); the
// direction of -dL/dp, its size, and its balance, 0 where the pulls cancel. The others of
// a sequence pull against the token with most attention, which is exact everywhere.
function pulls({points, r, bags: {starts, ids, counts, signs}, values}, z) {
  const scores = times(points, r, z), size = ids.length, n = signs.length;
  const [logs, leads, attention, bend, pull] = [1, 2, 3, 4, 5].map(() =>
    new Float64Array(size));
  const tops = new Int32Array(n);
  let scale = -Infinity, loss = 0;
  for (let i = 0; i < n; i++) {
    const [from, end, y] = [starts[i], starts[i + 1], signs[i]];
    let top = from, total = 0, shift = 0;
    for (let k = from; k < end; k++) {
      logs[k] = scores[ids[k]] + Math.log(counts[k]);
      if (logs[k] > logs[top]) { top = k; }
    }
    const [most, limit] = [logs[top], values[ids[top]]];
    for (let k = from; k < end; k++) {
      const odds = Math.exp(logs[k] - most), gap = values[ids[k]] - limit;
      attention[k] = odds; leads[k] = gap; total += odds; shift += odds * gap;
    }
    shift /= total;
    const margin = y * (limit + shift), g = 1 / (1 + Math.exp(margin));
    loss += softplus(-margin) / n;
    for (let k = from; k < end; k++) {
      logs[k] -= most + Math.log(total) + softplus(margin);
      leads[k] = y * (leads[k] - shift);
      attention[k] /= total; bend[k] = attention[k] * (1 + (1 - g) * leads[k]);
      if (k !== top) { scale = Math.max(scale, logs[k]); }
    }
    tops[i] = top;
  }
  const byToken = new Float64Array(values.length);
  let sizes = 0;
  tops.forEach((top, i) => {
    for (let k = starts[i]; k < starts[i + 1]; k++) {
      if (k === top) { continue; }
      pull[k] = Math.exp(logs[k] - scale) * leads[k]; pull[top] -= pull[k];
      byToken[ids[k]] += pull[k]; sizes += Math.abs(pull[k]);
    }
    byToken[ids[top]] += pull[top];
  });
  const way = timesLeft(byToken, points, r), norm = Math.sqrt(inner(way, way));
  return {direction: way.map((x) => x / (norm || 1)), norm, balance: norm / (sizes || 1),
    tops, attention, bend, pull, scores, loss};
}

// The derivative of the direction, r rows of r, as `attnsel.log_domain.jacobian` has it.
function turning({points, r, bags: {starts, ids}}, now) {
  const {pull, bend, attention, direction, norm} = now, size = points.length / r;
  const curvature = new Float64Array(size * size);
  for (let i = 0; i + 1 < starts.length; i++) {
    for (let k = starts[i]; k < starts[i + 1]; k++) {
      const at = ids[k] * size;
      curvature[at + ids[k]] += pull[k];
      for (let l = starts[i]; l < starts[i + 1]; l++) {
        curvature[at + ids[l]] -= pull[k] * bend[l] + attention[k] * pull[l];
      }
    }
  }
  const half = new Float64Array(size * r), change = new Float64Array(r * r);
  for (let s = 0; s < size; s++) {
    half.set(timesLeft(curvature.subarray(s * size, (s + 1) * size), points, r), s * r);
  }
  for (let k = 0; k < r; k++) {
    const column = direction.map((_, s) => points[s * r + k]);
    change.set(timesLeft(column, half, r), k * r);
  }
  const along = timesLeft(direction, change, r);  // of a unit vector what is across moves
  return change.map((x, at) => (x - direction[Math.floor(at / r)] * along[at % r]) / norm);
}

// Solve square systems with one matrix, by elimination: a function of the right side.
function solver(matrix, n) {
  const m = Float64Array.from(matrix), order = Array.from({length: n}, (_, i) => i);
  for (let k = 0; k < n; k++) {
    let best = k;
    for (let i = k; i < n; i++) {
      if (Math.abs(m[order[i] * n + k]) > Math.abs(m[order[best] * n + k])) { best = i; }
    }
    [order[k], order[best]] = [order[best], order[k]];
    for (let i = k + 1; i < n; i++) {
      const [row, first] = [order[i] * n, order[k] * n], part = m[row + k] /= m[first + k];
      for (let j = k + 1; j < n; j++) { m[row + j] -= part * m[first + j]; }
    }
  }
  return (right) => {
    const x = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      x[i] = right[order[i]];
      for (let j = 0; j < i; j++) { x[i] -= m[order[i] * n + j] * x[j]; }
    }
    for (let i = n - 1; i >= 0; i--) {
      for (let j = i + 1; j < n; j++) { x[i] -= m[order[i] * n + j] * x[j]; }
      x[i] /= m[order[i] * n + i];
    }
    return x;
  };
}

// A step of length h by the Rosenbrock method ROS2, stable where the path is stiff, and
// how far it is from a step of the first order.
function rosenbrock(problem, z, now, h) {
  const gamma = 1 - Math.SQRT1_2, {r} = problem;
  const matrix = now.turning.map((x, at) => (at % (r + 1) ? 0 : 1) - gamma * h * x);
  const solve = solver(matrix, r), first = solve(now.direction);
  const ahead = pulls(problem, z.map((x, k) => x + h * first[k])).direction;
  const second = solve(ahead.map((x, k) => x - 2 * first[k]));
  const next = z.map((x, k) => x + h * (1.5 * first[k] + 0.5 * second[k]));
  return {next, error: h / 2 * Math.hypot(...first.map((x, k) => x + second[k]))};
}

// The path of p up to a norm, or to where the pulls cancel: z, and what pulls there.
function* path(problem, start, most, tolerance = 1e-4) {
  let z = start, now = pulls(problem, z), h = 0.01, length = 0;
  while (true) {
    const norm = Math.hypot(...z, problem.rest);
    yield {z, now, norm, length};
    if (norm >= most || now.balance < 1e-8) { return; }
    now.turning = turning(problem, now);
    h = Math.min(h, 1.01 * most - norm);
    for (let accepted = false; !accepted;) {
      const {next, error} = rosenbrock(problem, z, now, h);
      accepted = error <= tolerance * Math.max(1, norm);
      if (accepted) {
        length += Math.hypot(...next.map((x, k) => x - z[k]));
        z = next; now = pulls(problem, z);
      }
      const ratio = tolerance * Math.max(1, norm) / (error || 1e-12);
      h *= Math.max(0.2, Math.min(3, 0.9 * Math.sqrt(ratio)));
    }
  }
}

// The unit vector that puts the relevant token of each sequence ahead of the others by
// the widest margin: an active set in the dual, after Lawson and Hanson.
function maxMargin({points, r, bags: {starts, ids}}, relevant) {
  const pairs = new Map();
  relevant.forEach((s, i) => ids.slice(starts[i], starts[i + 1]).forEach((t) => {
    if (t !== s) { pairs.set(`${s} ${t}`, [s, t]); }
  }));
  const leads = Float64Array.from([...pairs.values()].flatMap(([s, t]) =>
    Array.from({length: r}, (_, k) => points[s * r + k] - points[t * r + k])));
  const m = pairs.size, weights = new Float64Array(m), active = new Set();
  const lead = (j) => leads.subarray(j * r, j * r + r);
  for (let round = 0; round < 20 * m; round++) {
    const short = times(leads, r, timesLeft(weights, leads, r)).map((x) => 1 - x);
    const worst = short.reduce((best, x, j) => !active.has(j) && x > short[best] ? j : best,
      short.findIndex((_, j) => !active.has(j)));
    if (short[worst] < 1e-9) { break; }
    active.add(worst);
    for (let feasible = false; !feasible;) {
      const held = [...active], gram = held.flatMap((i) =>
        held.map((j) => inner(lead(i), lead(j))));
      const goal = solver(gram, held.length)(held.map(() => 1));
      const part = Math.min(1, ...held.map((j, k) =>
        goal[k] > 0 ? 1 : weights[j] / (weights[j] - goal[k])));
      held.forEach((j, k) => {
        weights[j] += part * (goal[k] - weights[j]);
        if (goal[k] <= 0 && weights[j] < 1e-12) { weights[j] = 0; active.delete(j); }
      });
      feasible = part === 1;
    }
  }
  const w = timesLeft(weights, leads, r), size = Math.hypot(...w);
  return w.map((x) => x / size);
}

// The two stages of Theorem 4.3: one step of size eta on E, then the flow of p. Of each
// point it yields the norm, the cosine with the max-margin direction, the scores of the
// relevant tokens and the greatest other one, and by class the attention on them, and in
// what share of the sequences they have most of it.
function* twoStages(run, {bags, relevant}, {eta, most}) {
  const {model} = run, start = scoresOf(model);
  const gradient = scoreGradient(bags, readings(bags, start), start);
  takeStep(model, gradient, {E: optimizers.gd(eta)});
  const values = scoresOf(model).b, {z, ...space} = rowSpace(model);
  const problem = {...space, r: z.length, bags, values}, u = maxMargin(problem, relevant);
  const places = relevant.map((s, i) => bags.ids.indexOf(s, bags.starts[i]));
  const mean = (x, sign) => {
    const chosen = x.filter((_, i) => bags.signs[i] === sign);
    return chosen.reduce((sum, value) => sum + Number(value), 0) / chosen.length;
  };
  for (const {z: at, now, norm, length} of path(problem, z, most)) {
    run.scores = {a: now.scores, b: values};
    const shares = places.map((k) => now.attention[k]);
    const first = places.map((k, i) => k === now.tops[i]);
    yield {norm, length, loss: now.loss, cosine: inner(at, u) / norm, balance: now.balance,
      scores: [...now.scores.slice(0, 4), Math.max(...now.scores.slice(4))],
      attention: [1, -1].map((sign) => mean(shares, sign)),
      selected: [1, -1].map((sign) => mean(first, sign))};
  }
}
