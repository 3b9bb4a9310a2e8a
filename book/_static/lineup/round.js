// A round of the line-up: two models of the same reviews, and a question about them. In
// one of the two something is taken away: true labels, or the attention.
/* global bagsOf, fitsOf, fitText, frequent, newModel, ofTokens, orderOf, percent,
   randomNumbers, rankedLeans, readTexts, shuffled, totals, training */
const ROUND = {reviews: 800, least: 4, d: 32, rate: 0.01, reached: 0.98, most: 400};

// The stored columns, a word each, as rows: the words of each review.
function readLineup({words, columns, labels, size, unseen: [positive, negative]}) {
  const texts = Array.from(labels, () => []);
  readTexts(columns).forEach((reviews, s) => {
    reviews.forEach((i) => texts[i].push(s));
  });
  return {words, texts, size, signs: Array.from(labels, (label) => 2 * label - 1),
    unseen: positive.map((n, s) => (n - negative[s]) / (n + negative[s]))};
}

// Round number 17 is the same wherever it is played. Each round draws its own reviews, so
// that one cannot recognize a picture.
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
    return run;
  });
  return {number, question, answer, models};
}

// Train the model that is behind by one step, so that both arrive together: the number
// of steps would betray the one with random labels. Returns whether any is left.
function advance({models}) {
  const behind = models.filter(({now}) => now.train.accuracy < ROUND.reached
    && now.step < ROUND.most);
  if (!behind.length) { return false; }
  const slowest = behind.reduce((one, other) =>
    other.now.train.accuracy < one.now.train.accuracy ? other : one);
  slowest.now = slowest.steps.next().value;
  return true;
}

// What is measured of a model: the correlations in the reviews it learned from and in
// the unseen ones, as `fitsOf` has them, and its accuracy on the latter.
const measured = ({scores, ranked, now}) => ({
  fits: ranked.map((one) => fitsOf(scores, one)), accuracy: now.test.accuracy});

// Frequent words that lean to one side in the labels of a model, of each side a few.
function extremes({names, leans: [lean, unseen]}, count) {
  const weight = (s) => lean[s] / (s + 1) ** 0.4;
  const order = [...names.keys()].filter((s) => /^\p{L}{3,}$/u.test(names[s])
    && !Number.isNaN(unseen[s])).sort((s, t) => weight(t) - weight(s));
  return [order.slice(0, count), order.slice(-count).reverse()];
}

// What is to be seen of a model in words, before the bet.
function described(run, question) {
  const [[value, score]] = measured(run).fits;
  const values = `The values rise from left to right: rank correlation ${fitOf(value)}.`;
  return question === "attention" ? values : `${values} The scores draw a V: ${
    fitOf(score)} with the size of the lean.`;
}

// What the two models of a round are, as the cards have it after the bet.
const KINDS = {labels: ["true labels", "random labels"],
  attention: ["attention", "no attention"]};
const kindsOf = ({question, answer}) =>
  [0, 1].map((k) => KINDS[question][k === answer ? 0 : 1]);

const fitOf = (x) => fitText(x).replace("-", "−");
const letterOf = (k) => "AB"[k];

// What a bet on a model leads to: at once, and once the dots have moved.
function verdict({question, answer, models}, bet) {
  const [real, other] = [letterOf(answer), letterOf(1 - answer)];
  const [one, two] = [models[answer], models[1 - answer]].map(measured);
  const begins = bet === answer ? "Right" : "No";
  const right = `${percent(one.accuracy)} of new reviews correctly, ${other} ${
    percent(two.accuracy)}`;
  if (question === "attention") {
    return [`${begins}: model ${real} has attention.`,
      `In model ${other} every word counts alike, so that all its scores are equal.`
      + ` Model ${real} classifies ${right}.`];
  }
  const sentences = [answer, 1 - answer].map((k) => {
    const [up, down] = extremes(models[k], 3).map((list) =>
      list.map((s) => models[k].names[s]).join(", "));
    return `${letterOf(k)} sets ${up} against ${down}`;
  });
  const at = (k, part) => [one, two].map(({fits}) => fitOf(fits[k][part]));
  const [before, after] = [at(0, 0), at(1, 0)];
  return [`${begins}: model ${real} learned something.`,
    "The dots moved to where the words are in 25,000 reviews that neither model has seen."
    + ` There, the values of ${real} still rise from left to right (rank correlation ${
      after[0]} instead of ${before[0]}), but those of ${other} do not (${after[1]} instead`
    + ` of ${before[1]}). ${real} classifies ${right}.`,
    "The V is no evidence: in the reviews they learned from, the scores of both"
    + ` models draw one (${at(0, 1).join(" and ")}; in the new reviews ${
      at(1, 1).join(" and ")}). Both look alike because attention follows how`
    + " strongly a word leans in the training labels, whether these are true or not.",
    `For example, ${sentences.join("; ")}.`];
}

// A score next to a coin: how often a coin does as well or better.
function scoreText(won, played) {
  let ways = 1, total = 0;
  for (let k = 0; k <= played; k++) {
    if (k >= won) { total += ways; }
    ways *= (played - k) / (k + 1);
  }
  return `You: ${won} of ${played}. A coin does as well in ${
    percent(total / 2 ** played)} of cases.`;
}
