// The tab of the two stages: one step on E, then the flow of p or of E, on 80 sequences.
/* global SETTINGS, arrow, cells, curves, drawnSequences, lookFor, mean, newModel, percent, randomNumbers, range, round, softmax, twoStages */
const FARTHEST = 1000;  // the norm at which a path of p ends
const SMALLEST = 0.001;  // the loss at which one of E does
const CLASSES = ["positive", "negative"];

const stagesTab = {
  steps: Infinity,

  begin(settings) {
    const corpus = drawnSequences(settings.seed), {seed, d} = settings;
    const run = {...corpus, model: newModel(60, d, randomNumbers(1000 + seed))};
    const ends = {most: FARTHEST, least: SMALLEST};
    return Object.assign(run, {steps: twoStages(run, corpus, {...settings, ...ends})});
  },

  summary: ({records}) => records.at(-1).selected,

  // The same first step, and the other second stage.
  control: ({settings}) => ({...settings, train: settings.train === "E" ? "p" : "E"}),

  // What share of each class is selected after which first step, as far as it is known.
  shares: ({settings, summaryOf}) => SETTINGS.stages[0].values.map((eta) =>
    summaryOf({...settings, eta})),

  status: (_, {norm, loss, cosine, least}) => norm === undefined
    ? `loss ${round(loss)} · smallest attention on a relevant token ${round(least)}`
    : `‖p‖ ${round(norm)} · loss ${round(loss)} · cosine ${cosine.toFixed(4)}`,

  inShort: ([loss, positive, negative]) =>
    `loss ${loss}, ${positive} and ${negative} selected`,

  row: (_, {norm, loss, selected, cosine}) => [round(loss), ...selected.map(percent),
    ...norm === undefined ? ["", ""] : [round(norm), cosine.toFixed(4)]],

  sentences(run, now) {
    const {going, ended, settings, records} = run, isE = settings.train === "E";
    const {norm, loss, selected, cosine, balance, least} = now, isLast = now === records.at(-1);
    const lost = lostIn(selected);
    const [positive, negative] = selected.map(percent);
    const said = [`${isE ? `With E alone trained to a loss of ${round(loss)}`
      : `At ‖p‖ = ${round(norm)}`}, the relevant token has the most attention in ${
      positive} of the positive and ${negative} of the negative sequences${
      !ended || !isLast || !lost.length ? "" : lost.length > 1 ? ", so both classes are lost"
      : `, so the ${lost[0]} class is lost`}. ${isE
      ? `The smallest attention on a relevant token is ${round(least)}.`
      : `The cosine of p with the max-margin direction is ${cosine.toFixed(4)}.`}`];
    if (going) { return said; }
    if (!isLast || !ended) {
      said.push(isLast ? "Press Continue to follow the path further." : "");
    } else if (isE) {
      if (loss > SMALLEST) { said.push("The path ends here before the loss is small."); }
    } else if (balance < 1e-8) {
      said.push("Here the pulls on p cancel, so p stands still.");
    } else if (norm < FARTHEST) {
      said.push("Here p turns too often to be followed further.");
    }
    return [...said, ended && isLast ? backSentence(run, lost) : "", sweepSentence(run)]
      .filter(Boolean);
  },

  draw({records, texts, settings, goal}, now, {canvases, look}) {
    const some = records.filter(({length}) => length > 0), isE = settings.train === "E";
    const xs = some.map(({length}) => length);
    const style = ["positive", "positive", "negative", "negative", "neither"];
    const colours = style.map((name) => look[name]);
    const scores = colours.map((colour, k) => ({colour, dash: k % 2 ? [6, 4] : [],
      values: some.map((record) => record.tops[k] / (record.norm ?? 1))}));
    const shares = CLASSES.map((name, k) =>
      ({colour: look[name], values: some.map(({attention}) => attention[k])}));
    if (!isE) {
      shares.push({colour: look.third, values: some.map(({cosine}) => cosine), dash: [7, 4]});
    }
    const common = {xs, now: Math.max(0.01, now.length), ends: [0.01, isE ? 100 : 1000], isLog: true,
      below: `length of the path of ${isE ? "E" : "p"}`};
    cells(canvases[0], lookFor(look, 0), {rows: texts.map((text) => softmax(text.map((s) => now.scores.a[s]))),
      below: "the relevant token, then the 30 others",
      beside: "negative sequences · positive sequences"});
    arrow(canvases[1], lookFor(look, 1), {goal: goal && ahead(goal), most: isE ? 10 : 500,
      points: records.slice(0, records.indexOf(now) + 1).map(({scores: {a}}) => ahead(a)),
      below: "positive tokens ahead →", beside: "negative tokens ahead →"});
    curves(canvases[2], lookFor(look, 2), {...common, lines: scores,
      beside: isE ? "score" : "score / ‖p‖",
      reach: range([0, 1e-3], ...scores.map(({values}) => values))});
    curves(canvases[3], lookFor(look, 3), {...common, lines: shares,
      beside: isE ? "attention" : "attention, cosine", reach: [isE ? 0 : -0.2, 1]});
    return [];
  },
};

const lostIn = (selected) => CLASSES.filter((_, k) => selected[k] === 0);

// How far the scores of the relevant tokens of each class are above the mean of the others.
function ahead(scores) {
  const others = mean(scores.slice(4));
  return [mean(scores.slice(0, 2)) - others, mean(scores.slice(2, 4)) - others];
}

// Whether the class that p alone loses comes back with E alone.
function backSentence(run, lost) {
  const {train} = run.settings, rival = stagesTab.control(run), other = run.summaryOf(rival);
  if (!other) { return `For comparison, ${rival.train} alone is trained now.`; }
  const [byP, byE] = (train === "p" ? [lost, lostIn(other)] : [lostIn(other), lost]).map((all) =>
    all.length ? `the ${all.join(" and the ")} class is lost` : "no class is lost");
  return `After the same first step, with p alone ${byP}, and with E alone ${byE}.`;
}

// At which of the first steps that were tried a class is lost.
function sweepSentence(run) {
  const all = stagesTab.shares(run), {values} = SETTINGS.stages[0];
  const tried = values.filter((_, k) => all[k]);
  if (tried.length < 2) { return ""; }
  const lost = values.filter((_, k) => all[k] && lostIn(all[k]).length);
  return `Of ${tried.length} first-step sizes tried with ${run.settings.train} alone, ${
    lost.length ? `${lost.length} ${lost.length > 1 ? "lose" : "loses"} a class (${
      lost.map((eta) => eta.toLocaleString("en")).join("; ")})` : "none loses a class"}.`;
}
