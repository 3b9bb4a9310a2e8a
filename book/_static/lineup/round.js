// A round of the line-up: two models of the same reviews, and a question about them. One of
// the two is the control, with random labels or without attention.
/* global bagsOf, binMeans, fitsOf, fitText, frequent, newModel, ofTokens, orderOf, percent,
   randomNumbers, rankedLeans, readTexts, shuffled, totals, training */
const ROUND = {reviews: 800, least: 4, d: 32, rate: 0.01, reached: 0.98, most: 400};

// Turn the stored columns, one per word, into rows, which contain the words of a review.
function readLineup({words, columns, labels, size, unseen: [positive, negative]}) {
  const texts = Array.from(labels, () => []);
  readTexts(columns).forEach((reviews, s) => {
    reviews.forEach((i) => texts[i].push(s));
  });
  return {words, texts, size, signs: Array.from(labels, (label) => 2 * label - 1),
    unseen: positive.map((n, s) => (n - negative[s]) / (n + negative[s]))};
}

// A round is determined by its number, so it is the same everywhere. Each round draws its
// own reviews, so that no picture can be recognized.
function roundOf({words, texts, signs, size, unseen}, number, question) {
  const random = randomNumbers(7919 * number + Object.keys(KINDS).indexOf(question));
  const answer = random() < 0.5 ? 0 : 1;
  const chosen = shuffled([...texts.keys()].slice(0, size), random)
    .slice(0, ROUND.reviews);
  const textsOf = (all) => all.map((i) => texts[i]);
  const reviews = (all) => ofTokens(kept, textsOf(all), all.map((i) => signs[i]));
  const kept = frequent(textsOf(chosen), words.length, ROUND.least);
  const train = reviews(chosen), others = reviews([...texts.keys()].slice(size));
  const names = kept.map((s) => words[s]), test = bagsOf(others.texts, others.signs);
  const models = [0, 1].map((k) => {
    const lacks = k === answer ? "" : question;
    const given = lacks === "labels" ? shuffled(train.signs, random) : train.signs;
    const {lean} = totals(train.texts, given, names.length);
    const leans = [Array.from(lean), kept.map((s) => unseen[s])];
    const bags = bagsOf(train.texts, given);
    const run = {model: newModel(names.length, ROUND.d, random), bags, names, leans,
      ranked: leans.map(rankedLeans), orders: leans.map((x) => orderOf(x, random))};
    run.steps = training(run, {train: bags, test}, {
      rate: ROUND.rate, optimizer: "adam", E: true, p: true, v: true,
      uniform: lacks === "attention"});
    run.now = run.steps.next().value;
    run.path = [run.scores];
    return run;
  });
  return {number, question, answer, models, unseen: others.texts.length};
}

// Train the less accurate model by one step, so that both models finish together. Otherwise
// the earlier end would reveal the true labels. Return whether a step was taken.
function advance({models}) {
  const behind = models.filter(({now}) => now.train.accuracy < ROUND.reached
    && now.step < ROUND.most);
  if (!behind.length) { return false; }
  const slowest = behind.reduce((one, other) =>
    other.now.train.accuracy < one.now.train.accuracy ? other : one);
  slowest.now = slowest.steps.next().value;
  slowest.path.push(slowest.scores);
  return true;
}

// Measurements of a model: its correlations (`fitsOf`) in training reviews and in unseen
// reviews, and its accuracy on unseen reviews.
const measured = ({scores, ranked, now}) => ({
  fits: ranked.map((one) => fitsOf(scores, one)), accuracy: now.test.accuracy});

// The depth of a V: the mean height of the two ends of its line above the lowest point.
function depthOf({orders: [places]}, {a}) {
  const heights = binMeans(places, a, [0, 1]).map(([, height]) => height);
  return (heights[0] + heights.at(-1)) / 2 - Math.min(...heights);
}
// The scores of both models after the number of steps of the model that needs fewer.
const fewestSteps = ({models}) => Math.min(...models.map(({now}) => now.step));
const atSameStep = (match) => match.models.map(({path}) => path[fewestSteps(match)]);

// A few frequent words of each side that lean in the labels of a model.
function extremes({names, leans: [lean, unseen]}, count) {
  const weight = (s) => lean[s] / (s + 1) ** 0.4;
  const order = [...names.keys()].filter((s) => /^\p{L}{3,}$/u.test(names[s])
    && !Number.isNaN(unseen[s])).sort((s, t) => weight(t) - weight(s));
  return [order.slice(0, count), order.slice(-count).reverse()];
}

// Describe the picture of a model in words, before the bet.
function described(run, question) {
  const [[value, score]] = measured(run).fits;
  const values = `The values rise from left to right: their rank correlation with the lean is ${
    fitOf(value)}.`;
  return question === "attention" ? values : `${values} The scores draw a V: their rank correlation with the size of the lean is ${
    fitOf(score)}. The ends of the V are ${
    depthOf(run, run.scores).toFixed(1)} above its lowest point.`;
}

// The names of the two models of a round, which the cards show after the bet.
const KINDS = {labels: ["true labels", "random labels"],
  attention: ["attention", "no attention"]};
const kindsOf = ({question, answer}) =>
  [0, 1].map((k) => KINDS[question][k === answer ? 0 : 1]);

const fitOf = (x) => fitText(x).replace("-", "−");
const letterOf = (k) => "AB"[k];

// The texts after a bet: at once, and after the dots have moved. `rounds` contains the
// counts of `tools/lab_data.py` over the first rounds.
function verdict({question, answer, models, unseen}, bet, rounds) {
  const [real, other] = [letterOf(answer), letterOf(1 - answer)];
  const [one, two] = [models[answer], models[1 - answer]].map(measured);
  const begins = bet === answer ? "Right" : "No", {labels, attention} = rounds;
  const error = Math.max(...[one, two].map(({accuracy: x}) => Math.sqrt(x * (1 - x) / unseen)));
  const right = `Of ${unseen} short reviews that neither has seen, ${real} classifies ${
    percent(one.accuracy)} correctly and ${other} ${percent(two.accuracy)} (standard error: ${
    (100 * error).toFixed(0)} points).`;
  if (question === "attention") {
    return {first: `${begins}: model ${real} has attention. In model ${other} every word counts alike.`,
      right, surprise: "Surprisingly, attention adds little here.",
      because: `In the first ${attention.rounds} rounds it classified ${
        attention.points} points more of the new reviews correctly on average. It was ahead in ${
        attention.ahead} rounds, equal in ${attention.equal}, and behind in ${attention.behind}.`,
      more: [`The scores of ${other} are all equal. Its values alone had to fit the labels, which took ${
        models[1 - answer].now.step} training steps instead of ${models[answer].now.step}.`]};
  }
  const [deep, deeper] = [answer, 1 - answer].map((k) => depthOf(models[k], models[k].scores));
  const [steps, longer] = [answer, 1 - answer].map((k) => models[k].now.step);
  const sentences = [answer, 1 - answer].map((k) => {
    const [up, down] = extremes(models[k], 3).map((list) =>
      list.map((s) => models[k].names[s]).join(", "));
    return `${letterOf(k)} sets ${up} against ${down}`;
  });
  const at = (k, part) => [one, two].map(({fits}) => fitOf(fits[k][part]));
  const [before, after] = [at(0, 0), at(1, 0)];
  return {
    first: `${begins}: model ${real} learned something, and ${other} memorized noise.`,
    right: `${right} Guessing gets 50% right, and models with random labels got ${
      percent(labels.least)} to ${percent(labels.most)} in ${labels.rounds} rounds.`,
    surprise: deeper > deep ? `Surprisingly, the deeper V belongs to ${other}, which learned random labels.`
      : `Here the deeper V belongs to ${real}. In most rounds it belongs to the model with random labels.`,
    because: `The model with random labels had the deeper V in ${labels.deeper} of the first ${
      labels.rounds} rounds, because random labels take more training steps (here ${longer} instead of ${steps
    }), and each step lifts the ends. A clear picture of attention is no sign of learning.`,
    more: ["The dots moved to where the words are in 25,000 reviews that neither model has seen."
      + ` There, the values of ${real} still rise from left to right (rank correlation ${
        after[0]} instead of ${before[0]}), but those of ${other} do not (${after[1]} instead`
      + ` of ${before[1]}).`,
    "In the reviews they learned from, the scores of both models draw a V, and its ends are "
      + `${deep.toFixed(1)} (${real}) and ${deeper.toFixed(1)} (${other}) above its lowest `
      + "point. So a V in the training reviews is no sign of true labels. In new reviews the "
      + `rank correlation of score and size of the lean is ${at(1, 1)[0]} for ${real} and ${
        at(1, 1)[1]} for ${other}.`,
    `For example, ${sentences.join("; ")}.`]};
}

// The remaining difference after the same number of steps of both models.
function sameSteps(match, {labels}) {
  const same = atSameStep(match), order = [match.answer, 1 - match.answer];
  const [[real, other], depths] = [order.map(letterOf),
    order.map((k) => depthOf(match.models[k], same[k]).toFixed(1))];
  return `After ${fewestSteps(match)} steps each, the ends of the V are ${depths[0]} (${real}) and ${
    depths[1]} (${other}) above its lowest point. Over ${labels.rounds} rounds these depths are ${
    labels.same[0].toFixed(1)} and ${labels.same[1].toFixed(1)} on average, against ${
    labels.depth[0].toFixed(1)} and ${labels.depth[1].toFixed(1)} at the end of training. So `
    + "the V of the model with random labels is deeper because this model took more steps.";
}

// The bets of a game as a line to share, compared with a coin.
function resultText(bets, question) {
  const won = bets.filter(Boolean).length;
  let ways = 1, total = 0;
  for (let k = 0; k <= bets.length; k++) {
    if (k >= won) { total += ways; }
    ways *= (bets.length - k) / (k + 1);
  }
  return `I was right in ${won} of ${bets.length} rounds (${bets.map((x) => x ? "✓" : "✗").join("")}). `
    + `A coin does as well in ${percent(total / 2 ** bets.length)} of cases. ${
      question === "labels" ? "Which of these two models learned anything?"
      : "Which of these two models has attention?"}`;
}
