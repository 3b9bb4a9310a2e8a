// The model of the paper in score space: f depends on the embeddings E only through two
// numbers per token, its score a = E p and its value b = E v.
/* global diverged, optimizers, range */

// Entries from N(0, 1 / d), each from two uniform numbers by the method of Box and Muller.
function newModel(size, d, random) {
  const drawn = (length) => Float32Array.from({length}, () => {
    const radius = Math.sqrt(-2 * Math.log(1 - random()) / d);
    return radius * Math.cos(2 * Math.PI * random());
  });
  return {d, E: drawn(size * d), p: drawn(d), v: drawn(d)};
}

function scoresOf({d, E, p, v}) {
  const size = E.length / d, a = new Float64Array(size), b = new Float64Array(size);
  for (let s = 0, at = 0; s < size; s++) {
    let score = 0, value = 0;
    for (let k = 0; k < d; k++, at++) { score += E[at] * p[k]; value += E[at] * v[k]; }
    a[s] = score; b[s] = value;
  }
  return {a, b};
}

// The logit of each bag and the attention on each of its tokens. If all scores
// are close, one shift avoids overflow in all bags; otherwise each bag has its own shift.
function readings({starts, ids, counts}, {a, b}) {
  const n = starts.length - 1, logits = new Float64Array(n);
  const attention = new Float64Array(ids.length), weights = new Float64Array(a.length);
  const [low, high] = range(a);
  a.forEach((x, s) => { weights[s] = Math.exp(x - high); });
  const near = high - low < 600;
  for (let i = 0; i < n; i++) {
    let most = -Infinity, total = 0, sum = 0;
    for (let k = starts[i]; k < starts[i + 1] && !near; k++) {
      most = Math.max(most, a[ids[k]]);
    }
    for (let k = starts[i]; k < starts[i + 1]; k++) {
      const s = ids[k], w = counts[k] * (near ? weights[s] : Math.exp(a[s] - most));
      attention[k] = w; total += w; sum += w * b[s];
    }
    for (let k = starts[i]; k < starts[i + 1]; k++) { attention[k] /= total; }
    logits[i] = sum / total;
  }
  return {logits, attention};
}

const softplus = (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

// The mean logistic loss, and the share of bags that are classified correctly.
function quality(logits, signs) {
  let loss = 0, right = 0;
  logits.forEach((f, i) => {
    loss += softplus(-signs[i] * f);
    right += signs[i] * f > 0;
  });
  return {loss: loss / signs.length, accuracy: right / signs.length};
}

// The gradient of the loss with respect to the scores and values of all tokens.
function scoreGradient({starts, ids, signs}, {logits, attention}, {b}) {
  const ga = new Float64Array(b.length), gb = new Float64Array(b.length);
  logits.forEach((f, i) => {
    const u = -signs[i] / (1 + Math.exp(signs[i] * f)) / signs.length;
    for (let k = starts[i]; k < starts[i + 1]; k++) {
      const s = ids[k], pull = u * attention[k];
      gb[s] += pull; ga[s] += pull * (b[s] - f);
    }
  });
  return {ga, gb};
}

// One step on the parameters that have an optimizer in `movers`. All gradients are taken
// at the old parameters: dL/dE = ga p' + gb v', dL/dp = E' ga, dL/dv = E' gb.
function takeStep({d, E, p, v}, {ga, gb}, movers) {
  const row = new Float64Array(d), gp = new Float64Array(d), gv = new Float64Array(d);
  for (let s = 0; s < ga.length; s++) {
    const at = s * d, x = ga[s], y = gb[s];
    for (let k = 0; k < d; k++) {
      gp[k] += x * E[at + k]; gv[k] += y * E[at + k]; row[k] = x * p[k] + y * v[k];
    }
    movers.E?.(E, row, at);
  }
  movers.p?.(p, gp, 0);
  movers.v?.(v, gv, 0);
}

// Train a model. At the start and after each step, yield the loss and accuracy on training
// and test reviews, and whether a parameter moves; stop if none does. `run.scores` contains
// the scores and values of all tokens.
function* training(run, {train, test}, {rate, optimizer, E, p, v, uniform}) {
  const {model} = run, movers = {}, trained = {E, p: p && !uniform, v};
  if (uniform) { model.p.fill(0); }
  for (const name of ["E", "p", "v"].filter((part) => trained[part])) {
    movers[name] = optimizers[optimizer](rate, model[name].length);
  }
  for (let step = 0; ; step++) {
    run.scores = scoresOf(model);
    const read = readings(train, run.scores), tested = readings(test, run.scores);
    const now = {step, train: quality(read.logits, train.signs),
      test: quality(tested.logits, test.signs), moves: Object.keys(movers).length > 0};
    yield now;
    if (!now.moves || diverged(now)) { return; }
    takeStep(model, scoreGradient(train, read, run.scores), movers);
  }
}
