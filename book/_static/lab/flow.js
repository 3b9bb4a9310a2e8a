// One step on E, then the gradient flow of p by path length, in the log domain, which never
// subtracts nearly equal numbers; the common factor of all pulls is a logarithm.
// Since p = p0 + E'z, with one number z per token, only the inner products K = E E' of the
// embeddings are needed, and the scores are a = a0 + K z.
/* global optimizers, quality, readings, rowsOf, scoreGradient, scoresOf, softplus, sum, takeStep */

function inner(x, y) {
  let total = 0;
  for (let k = 0; k < x.length; k++) { total += x[k] * y[k]; }
  return total;
}
const times = (matrix, x) => Float64Array.from(matrix, (row) => inner(row, x));
// The inner products of the embeddings, the scores and the square of the norm of p.
function tokenSpace({d, E, p}) {
  const rows = Array.from({length: E.length / d}, (_, s) => E.subarray(s * d, s * d + d));
  return {K: rows.map((row) => times(rows, row)), start: times(rows, p),
    square: inner(p, p)};
}
const lengthOf = (K, x) => Math.sqrt(Math.max(0, inner(x, times(K, x))));

// The pulls y g q (b - f) along the embeddings, in units of exp(scale), the direction and
// size of -dL/dp, and its balance, which is 0 where the pulls cancel. The pull of a row's
// top token is minus the sum of the row's other pulls, which avoids cancellation.
function pulls({K, start, bags, values}, z) {
  const scores = times(K, z).map((x, s) => start[s] + x);
  const rows = rowsOf(bags).map(({sign, ids, counts}) => {
    const logs = ids.map((s, k) => scores[s] + Math.log(counts[k]));
    const most = Math.max(...logs), top = logs.indexOf(most), limit = values[ids[top]];
    const odds = logs.map((x) => Math.exp(x - most)), total = sum(odds);
    const attention = odds.map((x) => x / total), gaps = ids.map((s) => values[s] - limit);
    const shift = inner(attention, gaps), margin = sign * (limit + shift);
    const leads = gaps.map((gap) => sign * (gap - shift)), g = 1 / (1 + Math.exp(margin));
    const bend = attention.map((q, k) => q * (1 + (1 - g) * leads[k]));
    const shared = most + Math.log(total) + softplus(margin);
    return {ids, top, margin, attention, leads, bend, logs: logs.map((x) => x - shared)};
  });
  const isOther = ({top}) => (_, k) => k !== top;
  const scale = Math.max(...rows.flatMap((row) => row.logs.filter(isOther(row))));
  const byToken = new Float64Array(values.length);
  let sizes = 0;
  for (const row of rows) {
    const {ids, top, logs, leads} = row;
    const pull = logs.map((x, k) => k === top ? 0 : Math.exp(x - scale) * leads[k]);
    sizes += sum(pull.map(Math.abs));
    pull[top] = -sum(pull);
    ids.forEach((s, k) => { byToken[s] += pull[k]; });
    row.pull = pull;
  }
  const size = lengthOf(K, byToken), losses = rows.map(({margin}) => softplus(-margin));
  return {rows, scores, size, direction: byToken.map((x) => x / (size || 1)),
    balance: size / (sizes || 1), loss: sum(losses) / rows.length};
}

// The derivative of the direction with respect to z, as in `attnsel.log_domain.jacobian`:
// the derivative of the pulls, without its component along the direction.
function turning(K, {rows, direction, size}) {
  const curvature = K.map((row) => new Float64Array(row.length));
  for (const {ids, pull, bend, attention} of rows) {
    ids.forEach((s, k) => {
      const row = curvature[s];
      row[s] += pull[k];
      ids.forEach((t, l) => { row[t] -= pull[k] * bend[l] + attention[k] * pull[l]; });
    });
  }
  const along = times(K, times(curvature, times(K, direction)));
  return curvature.map((row, s) =>
    times(K, row).map((x, t) => (x - direction[s] * along[t]) / size));
}

// The inverse of a matrix, by elimination with the largest pivots.
function inverse(matrix) {
  const n = matrix.length, rows = matrix.map((row, s) =>
    Float64Array.from({length: 2 * n}, (_, t) => t < n ? row[t] : t === n + s ? 1 : 0));
  for (let k = 0; k < n; k++) {
    const best = rows.reduce((top, row, s) =>
      s > k && Math.abs(row[k]) > Math.abs(rows[top][k]) ? s : top, k);
    [rows[k], rows[best]] = [rows[best], rows[k]];
    const pivot = rows[k] = rows[k].map((x) => x / rows[k][k]);
    for (const row of rows) {
      if (row === pivot) { continue; }
      for (let t = 2 * n - 1; t >= k; t--) { row[t] -= row[k] * pivot[t]; }
    }
  }
  return rows.map((row) => row.subarray(n));
}

// A step of length h by the Rosenbrock method ROS2, which is stable on stiff paths, and its
// distance from a first-order step.
function rosenbrock(problem, z, now, h) {
  const gamma = 1 - Math.SQRT1_2;
  const solved = inverse(now.turning.map((row, s) =>
    row.map((x, t) => (s === t ? 1 : 0) - gamma * h * x)));
  const first = times(solved, now.direction);
  const ahead = pulls(problem, z.map((x, s) => x + h * first[s])).direction;
  const second = times(solved, ahead.map((x, s) => x - 2 * first[s]));
  return {change: first.map((x, s) => h * (1.5 * x + 0.5 * second[s])),
    error: h / 2 * lengthOf(problem.K, first.map((x, s) => x + second[s]))};
}

// Yield the path of p: z, its pulls, the norm of p and the path length. The path ends at a
// given norm, where the pulls cancel, or after the given number of steps.
function* path(problem, most, tolerance = 1e-4, steps = 1500) {
  const {K, start, square} = problem;
  let z = start.map(() => 0), now = pulls(problem, z), h = 0.01, length = 0;
  for (let step = 0; ; step++) {
    const norm = Math.sqrt(square + inner(z, start) + inner(z, now.scores));
    yield {z, now, norm, length};
    if (norm >= most || now.balance < 1e-8 || step === steps) { return; }
    now.turning = turning(K, now);
    h = Math.min(h, 1.001 * most - norm);
    for (let accepted = false; !accepted;) {
      const {change, error} = rosenbrock(problem, z, now, h);
      accepted = error <= tolerance * Math.max(1, norm);
      if (accepted) {
        length += lengthOf(K, change);
        z = z.map((x, s) => x + change[s]); now = pulls(problem, z);
      }
      const ratio = tolerance * Math.max(1, norm) / (error || 1e-12);
      h *= Math.max(0.2, Math.min(3, 0.9 * Math.sqrt(ratio)));
    }
  }
}

// The max-margin direction, a unit vector, as weights of the embeddings. The dual problem
// has a nonnegative weight for each pair of a relevant token and a rival, and is solved by
// the active-set method of Lawson and Hanson.
function maxMargin({K, bags}, relevant) {
  const named = new Map(), active = new Set();
  rowsOf(bags).forEach(({ids}, i) => ids.forEach((t) => {
    const s = relevant[i];
    if (t !== s) { named.set(`${s} ${t}`, {s, t, weight: 0}); }
  }));
  const pairs = [...named.values()], sums = new Float64Array(K.length);
  const product = (i, j) => K[i.s][j.s] - K[i.s][j.t] - K[i.t][j.s] + K[i.t][j.t];
  for (let round = 0; round < 20 * pairs.length; round++) {
    const scores = times(K, sums);
    const lacks = pairs.map((pair) =>
      active.has(pair) ? 0 : 1 - scores[pair.s] + scores[pair.t]);
    const most = Math.max(...lacks);
    if (most < 1e-9) { break; }
    active.add(pairs[lacks.indexOf(most)]);
    for (let part = 0; part < 1;) {
      const held = [...active], gram = held.map((i) => held.map((j) => product(i, j)));
      const goal = times(inverse(gram), held.map(() => 1));
      part = Math.min(1, ...held.map(({weight}, k) =>
        goal[k] > 0 ? 1 : weight / (weight - goal[k])));
      held.forEach((pair, k) => {
        pair.weight += part * (goal[k] - pair.weight);
        if (goal[k] <= 0 && pair.weight < 1e-12) { pair.weight = 0; active.delete(pair); }
      });
    }
    sums.fill(0);
    for (const {s, t, weight} of active) { sums[s] += weight; sums[t] -= weight; }
  }
  const size = lengthOf(K, sums);
  return sums.map((x) => x / size);
}

// For each class, the mean attention on the relevant token, and the share of sequences in
// which no token has more attention.
function onRelevant({signs}, relevant, attentionOf) {
  const found = relevant.map((token, i) => {
    const {ids, attention} = attentionOf(i), share = attention[ids.indexOf(token)];
    return {share, isTop: Number(share === Math.max(...attention))};
  });
  const means = (of) => [1, -1].map((sign) => {
    const chosen = found.filter((_, i) => signs[i] === sign).map(of);
    return sum(chosen) / chosen.length;
  });
  return {attention: means(({share}) => share), selected: means(({isTop}) => isTop)};
}
const firstScores = (a) => [...a.slice(0, 4), Math.max(...a.slice(4))];

// The two stages of Theorem 4.3: one step of size eta on E, then the flow of p. For each
// point of the path, yield ‖p‖, the cosine with the max-margin direction, the scores of the
// relevant tokens and the largest other score, and the attention on relevant tokens.
function* twoStages(run, {bags, relevant}, {eta, most}) {
  const {model} = run, before = scoresOf(model);
  const gradient = scoreGradient(bags, readings(bags, before), before);
  takeStep(model, gradient, {E: optimizers.gd(eta)});
  run.scores = scoresOf(model);
  const values = run.scores.b, problem = {...tokenSpace(model), bags, values};
  const best = maxMargin(problem, relevant);
  run.goal = times(problem.K, best);
  for (const {now, norm, length} of path(problem, most)) {
    run.scores = {a: now.scores, b: values};
    yield {norm, length, loss: now.loss, balance: now.balance,
      cosine: inner(now.scores, best) / norm, tops: firstScores(now.scores),
      ...onRelevant(bags, relevant, (i) => now.rows[i])};
  }
}
