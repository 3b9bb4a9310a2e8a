// The tab of IMDB reviews: the map of the vocabulary, and sentences about a training run.
/* global PLANTED, cloud, correlation, curves, lookFor, mean, newModel, orderOf, randomNumbers, range, readings, reviewsOf, round, training */
const percent = (x) => `${(100 * x).toFixed(0)}%`;
const fitText = (x) => Number.isNaN(x) ? "none"
  : (Math.round(100 * x) / 100 || 0).toFixed(2).replace("0.", ".");
const diverged = ({train, test}) => !Number.isFinite(train.loss + test.loss);
const FREQUENT = 100;
const whenOf = (step) => !step ? "Before the first step"
  : `After ${step} ${step > 1 ? "steps" : "step"}`;

const reviewsTab = {
  steps: 300,

  begin(settings, stored) {
    const corpus = reviewsOf(stored, settings), {names, times, leans, marked} = corpus;
    const model = newModel(names.length, settings.d, randomNumbers(1000 + settings.seed));
    const views = new Map([0, FREQUENT].map((least) => [least, leans.map((all) => {
      const lean = all.map((x, s) => times[s] < least ? NaN : x);
      return {lean, named: namedBy(lean, names, marked), ranked: rankedLeans(lean)};
    })]));
    const run = {...corpus, model, views};
    return Object.assign(run, {steps: training(run, corpus, settings)});
  },

  // The correlations with leans in training reviews and in new reviews.
  fits({views}, now, least) {
    now.fits ??= new Map();
    if (!now.fits.has(least)) {
      now.fits.set(least, views.get(least).map(({ranked}) => fitsOf(now.scores, ranked)));
    }
    return now.fits.get(least);
  },

  // The step at which a run paused, and the new reviews that it classified correctly.
  summary(run) {
    const {step, train, test, ...now} = run.records.at(-1);
    const right = Array.from(readings(run.test, now.scores).logits,
      (f, i) => run.test.signs[i] * f > 0);
    return {step, train, test, right, scores: now.scores, views: run.views,
      fits: new Map([0, FREQUENT].map((least) => [least, reviewsTab.fits(run, now, least)]))};
  },

  // The settings of the comparison run: other labels, or other attention.
  control: ({settings, records}) => !records[0].moves ? null
    : settings.uniform ? {...settings, uniform: false}
    : {...settings, shuffle: !settings.shuffle},

  rivalName: ({settings}) => settings.uniform ? "softmax attention"
    : settings.shuffle ? "true labels" : "shuffled labels",
  ownName: ({settings}) => settings.uniform ? "uniform attention"
    : settings.shuffle ? "shuffled labels" : "true labels",

  // The first sentences: the accuracy of this run and of the comparison run.
  headline(run, now, rival) {
    const right = ({train, test}) => [train, test].map(({accuracy}) => percent(accuracy));
    const [own, unseen] = right(now);
    return diverged(now) || !now.moves ? "" : `${whenOf(now.step)}, the model classifies ${own} of the training reviews and ${
      unseen} of the new reviews correctly.${!rival || diverged(rival) ? "" : ` With ${
      reviewsTab.rivalName(run)}, it classifies ${right(rival).join(" and ")} ${
      whenOf(rival.step).toLowerCase()}.`}`;
  },

  status(_, now) {
    const {step, train, test} = now;
    return diverged(now) ? `step ${step} · the training diverged`
      : `step ${step} · training reviews ${percent(train.accuracy)}, loss ${
        train.loss.toFixed(3)} · new reviews ${percent(test.accuracy)}, loss ${
        test.loss.toFixed(3)}`;
  },

  inShort: ({step, train, test}) => `took ${step} steps and classified ${
    percent(train.accuracy)} of the training reviews and ${percent(test.accuracy)} of the new ones correctly`,

  sentences(run, now, shown) {
    const {settings, records, going} = run, {step, train, test} = now;
    if (diverged(now)) {
      return ["The training diverged. Choose a smaller step size, and press Restart."];
    }
    if (!now.moves) {
      return ["Nothing is trained, so nothing moves. Choose E, p or v to be trained."
        + (settings.uniform && settings.p ? " With uniform attention, p stays 0." : "")];
    }
    const [own, unseen] = reviewsTab.fits(run, now, shown.least);
    const which = shown.least ? `Among words with ${FREQUENT} or more occurrences, the` : "The";
    const said = [`${whenOf(step)}, ${percent(train.accuracy)} of the training reviews and ${
      percent(test.accuracy)} of the new reviews are classified correctly.${
      settings.shuffle ? " The labels of the training reviews are shuffled." : ""} ${which
    } rank correlation of value and lean is ${fitText(own[0])} in the training reviews and ${
      fitText(unseen[0])} in new reviews. ${settings.uniform ? "Every score is 0."
      : `For the score and the size of the lean it is ${fitText(own[1])} and ${
        fitText(unseen[1])}.`}`];
    if (going) { return said; }
    return [...said, ...[pauseSentence, controlSentence, descentSentence, plantedSentence,
      lawSentence].flatMap((sentence) => sentence(run, now, shown, records)).filter(Boolean)];
  },

  point({names, views, times}, now, {at, word, view, least}) {
    if (diverged(now) || (at < 0 && !word)) { return "Point at a word, or search for one."; }
    if (at < 0) { return `No word here begins with ${word}.`; }
    const {lean} = views.get(least)[view], {a, b} = now.scores;
    return `${names[at]}: value ${round(b[at])}, score ${round(a[at])}, ${
      !Number.isNaN(lean[at]) ? `lean ${round(lean[at])}` : `no lean, because it occurs ${
        times[at] < least ? `fewer than ${least} times` : "in no new review"}`}`;
  },

  // The comparison run has the same axes, if there is room for it. Colours always show the
  // leans in training reviews, even where the positions show the leans in new reviews.
  draw({names, views, records}, now, {canvases, look, view, across, least, at}, rival) {
    const isLost = diverged(now), isLaw = across === "value", [first] = records;
    const both = [now, rival].map((one) => one && !diverged(one) ? one.scores : null);
    const panelsOf = (scores, {views: own}, from) => ["b", "a"].map((letter, k) => {
      if (!scores || isLost) { canvases[from + k].getContext("2d").reset?.(); return []; }
      const {lean, named} = own.get(least)[view], {b} = scores;
      if (across === "rank") {
        own.get(least)[view].spread ??= orderOf(lean, randomNumbers(1)).map((x) => 2 * x - 1);
      }
      const [xs, below] = isLaw && k ? [b, "value of the word"] : across === "rank"
        ? [own.get(least)[view].spread, "words in order of their leans"]
        : [lean, view ? "lean of the word in new reviews" : "lean of the word"];
      const shown = both.filter(Boolean);
      return cloud(canvases[from + k], lookFor(look, from + k), {xs, below, named, names, at,
        heights: scores[letter], beside: k ? "score" : "value", leans: own.get(least)[0].lean,
        ends: isLaw && k ? range(...shown.map((one) => one.b)) : [-1, 1],
        reach: range(...shown.map((one) => one[letter]), first.scores[letter]),
        curve: isLaw && k && ((x) => x * x / 2)});
    });
    const panels = panelsOf(both[0], {views}, 0);
    if (canvases.length > 4) { panels.push(...panelsOf(both[1], rival ?? {}, 4)); }
    const xs = records.map(({step}) => step), kept = records.filter((x) => !diverged(x));
    ["accuracy", "loss"].forEach((name, k) => {
      const lines = [["train", []], ["test", [6, 4]]].map(([part, dash]) =>
        ({values: kept.map((record) => record[part][name]), dash, colour: look.ink}));
      const reach = name === "accuracy" ? [0.4, 1] : range([0, 0.7], ...lines.map(
        ({values}) => values));
      curves(canvases[2 + k], lookFor(look, 2 + k), {xs, lines, reach, beside: name,
        now: now.step, below: "step", ends: [0, Math.max(10, records.length - 1)]});
    });
    return panels;
  },
};

// Sentences on why a run pauses, and on the effect of more steps on new reviews.
function pauseSentence({records, pause}, now) {
  const then = records[pause];
  if (!then || now.step < then.step) { return ""; }
  if (now.step === then.step) {
    return then.train.accuracy >= 0.99
      ? "The training paused here because 99% of the training reviews are classified "
        + "correctly. Press Continue to see what more steps do to new reviews."
      : `The training paused here after ${then.step} steps. It pauses earlier if 99% of the `
        + "training reviews are classified correctly.";
  }
  const [better, worse] = [now.train.loss < then.train.loss, now.test.loss > then.test.loss];
  return `Since the pause at step ${then.step}, the accuracy on new reviews went from ${
    percent(then.test.accuracy)} to ${percent(now.test.accuracy)} and the loss on them from ${
    round(then.test.loss)} to ${round(now.test.loss)}, while the loss on the training reviews `
    + `went from ${round(then.train.loss)} to ${round(now.train.loss)}. ${
      better && worse ? "So the model now fits the training reviews better and new reviews "
        + "worse: it memorizes (overfitting)."
      : worse ? "" : "So these steps also help on new reviews."}`;
}

// Sentences about the comparison run with other labels or other attention.
function controlSentence(run) {
  const {settings, summaryOf, pause} = run, rival = reviewsTab.control(run);
  if (pause === undefined || !rival) { return ""; }
  const [own, other] = [settings, rival].map(summaryOf);
  const name = reviewsTab.rivalName(run);
  if (!other) { return `For comparison, the same training with ${name} runs now.`; }
  if (diverged(other) || diverged(own)) { return `The same training with ${name} ${
    diverged(other) ? "diverged." : "did not diverge."}`; }
  const start = `At its pause, the model with ${name} classifies ${
    percent(other.test.accuracy)} of the new reviews correctly; this model classifies ${
    percent(own.test.accuracy)}.`;
  if (settings.uniform) {
    const [gain, loss] = [[other, own], [own, other]].map(([one, two]) =>
      one.right.filter((x, i) => x && !two.right[i]).length);
    return `${start} They disagree on ${gain + loss} new reviews. Softmax attention classifies `
      + `${gain} of these correctly, and uniform attention ${loss}. ${
        Math.abs(gain - loss) <= 2 * Math.sqrt(gain + loss)
          ? "Chance alone could explain this difference, so the test does not show that "
            + "attention helps or harms."
          : `That is more than chance explains, so softmax attention ${
            gain > loss ? "helps" : "harms"} here.`}`;
  }
  const [real, noise] = settings.shuffle ? [other, own] : [own, other];
  const counts = [0, FREQUENT].map((least) => run.views.get(least)[1].ranked.known.length);
  // The correlations in new reviews for all words and for frequent words, and the standard
  // errors between true and shuffled labels.
  const found = [0, 1].map((part) => [0, FREQUENT].map((least, k) => {
    const pair = [real, noise].map(({fits}) => fits.get(least)[1][part]);
    return {pair, ahead: (pair[0] - pair[1]) / Math.sqrt(2 / (counts[k] - 3))};
  }));
  const [all, many] = counts.map((n) => n.toLocaleString("en"));
  const rows = [["rank correlation in new reviews", "true labels", "shuffled labels"],
    ...found.flatMap((both, part) => both.map(({pair}, k) => [`${
      part ? "score and size of the lean" : "value and lean"}, ${k
      ? `the ${many} words with ${FREQUENT} or more occurrences` : `all ${all} words`}`,
    ...pair.map(fitText)]))];
  return [start, {rows}, `${verdictOf("values", found[0])} ${verdictOf("V of the scores", found[1])
  } (A difference counts if it exceeds two standard errors, computed as if the words were independent.)`];
}

// State whether a picture distinguishes true from shuffled labels, and among which words.
function verdictOf(name, found) {
  const [all, many] = found.map(({ahead}) => ahead > 2 ? 1 : ahead < -2 ? -1 : 0);
  const verb = name === "values" ? ["distinguish", "do not distinguish"]
    : ["distinguishes", "does not distinguish"];
  const start = `The ${name} ${verb[all > 0 || many > 0 ? 0 : 1]} true labels from shuffled ones`;
  if (all < 0 || many < 0) {
    return `${start}${all > 0 || many > 0 ? ` among ${all > 0 ? "all" : "frequent"} words` : ""}; among ${
      all < 0 && many < 0 ? "all words and among frequent words"
      : all < 0 ? "all words" : "frequent words"}, the shuffled labels are ahead.`;
  }
  return `${start}${all && many ? ", among all words and among frequent ones"
    : all ? " among all words, but not among frequent ones"
    : many ? " among frequent words, but not among all" : ""}.`;
}

// Explain the V of gradient descent, in which rare words have small gradients.
function descentSentence(run, {scores, ...now}) {
  const {settings: {optimizer, E, uniform}, records: [first]} = run;
  if (optimizer !== "gd" || !E || uniform || !now.step) { return ""; }
  const moved = scores.a.map((a, s) => Math.abs(a - first.scores.a[s])).sort();
  const scatter = Math.sqrt(mean(first.scores.a.map((a) => a * a)));
  const [all, many] = [0, FREQUENT].map((least) => reviewsTab.fits(run, {scores}, least)[0][1]);
  return "Gradient descent moves an embedding in proportion to its gradient, which is small for "
    + `a rare word. ${many > all ? "Therefore the V appears among the frequent words first. "
      : ""}The rank correlation of score and size of the lean in the training reviews is ${
      fitText(many)} among words with ${FREQUENT} or more occurrences and ${fitText(all)} among `
    + `all words. The median score has changed by ${round(moved[moved.length >> 1])}, and the `
    + `random initial scores scatter by ${round(scatter)}. ${all < 0.3
      ? "So all words together show no V yet. With the settings of the button "
        + "“Descent on E alone”, a V appears." : "So the V is there."}`;
}

// A sentence on the value and score of the planted word.
function plantedSentence({marked, names, settings}, {scores}) {
  if (!marked) { return ""; }
  const placeOf = (letter) => scores[letter].filter((x) => x > scores[letter].at(-1)).length + 1;
  const [byValue, byScore] = ["b", "a"].map(placeOf);
  const number = (n) => n.toLocaleString("en");
  return `“${PLANTED}”, which was written into ${marked} ${settings.shuffle ? "" : "positive "
  }training ${marked > 1 ? "reviews" : "review"}, has rank ${number(byValue)} by value${
    settings.uniform ? "" : ` and rank ${number(byScore)} by score`} among ${number(names.length)} words. ${
    settings.optimizer === "adam" && byValue > 100 ? "Adam moves each word by about the same "
      + "amount per step, however often it occurs, so hundreds of words with a large lean have "
      + `similar values. The value of “${PLANTED}” is ${round(scores.b.at(-1))}, and the largest is ${
        round(Math.max(...scores.b))}. ${
        settings.planted === 20 ? "Gradient descent puts the word first. " : ""}` : ""}The word occurs in no new review, so no accuracy on new reviews can reveal it.`;
}

// A sentence that compares the scores with the law of the V.
const lawSentence = (_, {scores: {a, b}}, {across}) => across !== "value" ? ""
  : "The dashed parabola is a = b²/2. The law of the V states that, if E alone is trained in small steps, each "
    + "score is b²/2 minus a number that grows with the word's frequency (its exposure). "
    + `The score has a correlation of ${
      fitText(correlation([...a], Array.from(b, (x) => x * x)))} with the square of the value and of ${
      fitText(correlation([...a], Array.from(b, Math.abs)))} with its size.`;

// The words to name: the planted word first, then frequent words with a large lean.
function namedBy(lean, names, marked) {
  const weights = Array.from(lean, (x, s) => x / (s + 1) ** 0.4 || 0);
  const order = [...weights.keys()].filter((s) => /\p{L}/u.test(names[s]))
    .sort((s, t) => weights[t] - weights[s]);
  const planted = marked ? [names.length - 1] : [];
  return [...planted, ...order.slice(0, 12), ...order.slice(-12).reverse(), 0];
}

// The tokens with a lean, the ranks of their leans, and the ranks of the leans' sizes.
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

// The rank of each value; equal values get the mean of their ranks.
function ranks(values) {
  const order = [...values.keys()].sort((i, j) => values[i] - values[j]), places = [];
  for (let from = 0, end = 0; from < order.length; from = end) {
    do { end++; } while (values[order[end]] === values[order[from]]);
    for (let k = from; k < end; k++) { places[order[k]] = (from + end - 1) / 2; }
  }
  return places;
}
