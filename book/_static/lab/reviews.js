// The tab of real reviews: the map of the vocabulary, and what is said of a training.
/* global PLANTED, cloud, correlation, diverged, newModel, randomNumbers, reviewsOf, round, training */
const percent = (x) => `${(100 * x).toFixed(0)}%`;
const fitText = (x) => Number.isNaN(x) ? "none"
  : (Math.round(100 * x) / 100 || 0).toFixed(2).replace("0.", ".");
const range = (...lists) => lists.reduce((ends, list) => list.reduce(([low, high], x) =>
  [Math.min(low, x), Math.max(high, x)], ends), [Infinity, -Infinity]);

const reviewsTab = {
  steps: 300,

  // Tokens go by frequency: named are frequent words that lean, the planted one, the first.
  begin(knobs, stored) {
    const corpus = reviewsOf(stored, knobs), {names, leans} = corpus;
    const named = leans.map((lean) => {
      const weights = Array.from(lean, (x, s) => x / (s + 1) ** 0.4 || 0);
      const order = [...weights.keys()].filter((s) => /\p{L}/u.test(names[s]))
        .sort((s, t) => weights[t] - weights[s]);
      const planted = corpus.marked ? [names.length - 1] : [];
      return [...planted, ...order.slice(0, 12), ...order.slice(-12).reverse(), 0];
    });
    const model = newModel(names.length, knobs.d, randomNumbers(1000 + knobs.seed));
    const run = {...corpus, model, named, ranked: leans.map(rankedLeans)};
    return Object.assign(run, {steps: training(run, corpus, knobs)});
  },

  measure(run) { run.fits = run.ranked.map((ranked) => fitsOf(run.scores, ranked)); },

  status({records}) {
    const now = records.at(-1), {step, train, test} = now;
    return diverged(now) ? `step ${step} · the training diverged`
      : `step ${step} · training reviews ${percent(train.accuracy)} right, loss ${
        train.loss.toFixed(3)} · others ${percent(test.accuracy)}, loss ${
        test.loss.toFixed(3)}`;
  },

  inShort: ([step, right, others]) => `${step} steps, ${right} right, others ${others}`,

  row({records, fits}) {
    const {step, train, test} = records.at(-1);
    return [step, percent(train.accuracy), percent(test.accuracy), ...fits[0].map(fitText)];
  },

  sentence({records, fits, ran, scores, names, marked}) {
    const now = records.at(-1), {step, train, test} = now;
    if (diverged(now)) {
      return "The training diverged: take a smaller step size, and start again.";
    }
    if (!now.moves) {
      return "Nothing is trained, so nothing moves: let E, p or v be trained."
        + (ran.uniform && ran.p ? " With uniform attention, p stays 0." : "");
    }
    const [ours, others] = fits.map((pair) => pair.map(fitText));
    const notes = [];
    if (ran.shuffle) { notes.push("The labels of the training reviews were shuffled."); }
    if (ran.uniform) { notes.push("Attention is uniform: each score is 0."); }
    if (marked) {
      const higher = scores.a.filter((a) => a > scores.a.at(-1)).length;
      const where = `${marked} ${marked > 1 ? "reviews" : "review"}`;
      notes.push(`“${PLANTED}”, written into ${where}, is number ${higher + 1} of ${
        names.length.toLocaleString("en")} by score.`);
    }
    const when = !step ? "Before the first step"
      : `After ${step} ${step > 1 ? "steps" : "step"}`;
    return [`${when} ${percent(train.accuracy)} of the training reviews are classified`,
      `correctly, ${percent(test.accuracy)} of others. Rank correlation of value and lean:`,
      `${ours[0]}, of score and size of the lean: ${ours[1]}; by the leans in other`,
      `reviews: ${others.join(" and ")}.`, ...notes].join(" ");
  },

  point({names, leans, scores, records}, {at, word, view}) {
    return diverged(records.at(-1)) || (at < 0 && !word)
      ? "Point at a word, or search for one."
      : at < 0 ? `No word here begins with ${word}.`
      : `${names[at]}: value ${round(scores.b[at])}, score ${round(scores.a[at])}, lean `
        + (Number.isNaN(leans[view][at]) ? "none: it does not occur there"
          : round(leans[view][at]));
  },

  draw(run, {canvases, look, view, beside, at}) {
    const {names, scores, first, records, leans} = run, isLost = diverged(records.at(-1));
    run.places = canvases.map((canvas, k) => {
      if (k < 2 ? isLost : !beside) { return []; }
      const letter = k % 2 ? "a" : "b", heights = (k < 2 ? scores : first)[letter];
      const all = isLost ? [heights] : [scores[letter], first[letter]];
      return cloud(canvas, look, {lean: leans[view], heights, names, named: run.named[view],
        at, title: k % 2 ? "score" : "value", reach: range(...all)});
    });
  },
};

// The tokens that have a lean, and the ranks of their leans and of the sizes of these.
function rankedLeans(lean) {
  const known = [...lean.keys()].filter((s) => !Number.isNaN(lean[s]));
  return {known, leans: ranks(known.map((s) => lean[s])),
    sizes: ranks(known.map((s) => Math.abs(lean[s])))};
}

// Spearman's correlations of the value with the lean and of the score with its size.
function fitsOf({a, b}, {known, leans, sizes}) {
  return [correlation(ranks(known.map((s) => b[s])), leans),
    correlation(ranks(known.map((s) => a[s])), sizes)];
}

// The rank of each value; equal ones share the mean of theirs.
function ranks(values) {
  const order = [...values.keys()].sort((i, j) => values[i] - values[j]), places = [];
  for (let from = 0, end = 0; from < order.length; from = end) {
    do { end++; } while (values[order[end]] === values[order[from]]);
    for (let k = from; k < end; k++) { places[order[k]] = (from + end - 1) / 2; }
  }
  return places;
}
