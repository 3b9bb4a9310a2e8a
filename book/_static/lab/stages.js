// The tab of the two stages: one step on E, then the flow of p, on 80 sequences.
/* global COLOURS, SETTINGS, arrow, cells, curves, drawnSequences, lookFor, mean, newModel, percent, randomNumbers, range, round, softmax, twoStages */
const FARTHEST = 1000;  // the norm at which a path of p ends
const CLASSES = ["positive", "negative"];

const stagesTab = {
  steps: Infinity,

  begin(settings) {
    const corpus = drawnSequences(settings.seed), {seed, d} = settings;
    const run = {...corpus, model: newModel(60, d, randomNumbers(1000 + seed))};
    return Object.assign(run, {steps: twoStages(run, corpus, {...settings, most: FARTHEST})});
  },

  summary: ({records}) => records.at(-1).selected,

  // The share of each class that is selected, by first-step size, for the sizes that ran.
  shares: ({settings, summaryOf}) => SETTINGS.stages[0].values.map((eta) =>
    summaryOf({...settings, eta})),

  status: (_, {norm, loss, cosine}) =>
    `‖p‖ ${round(norm)} · loss ${round(loss)} · cosine ${cosine.toFixed(4)}`,

  inShort: ({loss, selected}) => `had a loss of ${round(loss)} and selected the relevant token in ${
    selected.map(percent).join(" and ")} of the sequences of the two classes`,

  sentences(run, now) {
    const {going, ended, records} = run, {norm, selected, cosine, balance} = now;
    const isLast = now === records.at(-1), lost = ended && isLast ? lostIn(selected) : [];
    const [positive, negative] = selected.map(percent);
    const said = [`At ‖p‖ = ${round(norm)}, the relevant token has the most attention in ${
      positive} of the positive and ${negative} of the negative sequences${
      !lost.length ? "" : lost.length > 1 ? ", so both classes are lost"
      : `, so the ${lost[0]} class is lost`}. The cosine of p with the max-margin direction is ${
      cosine.toFixed(4)}.`];
    if (going) { return said; }
    if (!ended) {
      said.push(isLast ? "Press Continue to follow the path further." : "");
    } else if (isLast && balance < 1e-8) {
      said.push("Here the pulls on p cancel, so p stands still.");
    } else if (isLast && norm < FARTHEST) {
      said.push("Here p turns too often to be followed further.");
    }
    return [...said, sweepSentence(run)].filter(Boolean);
  },

  draw({records, texts, goal}, now, {canvases, look}) {
    const some = records.filter(({length}) => length > 0);
    const xs = some.map(({length}) => length);
    const style = ["positive", "positive", "negative", "negative", "neutral"];
    const colours = style.map((name) => COLOURS[name]);
    const scores = colours.map((colour, k) => ({colour, dash: k % 2 ? [6, 4] : [],
      values: some.map((record) => record.tops[k] / record.norm)}));
    const shares = CLASSES.map((name, k) =>
      ({colour: COLOURS[name], values: some.map(({attention}) => attention[k])}));
    shares.push({colour: COLOURS.accent, values: some.map(({cosine}) => cosine), dash: [7, 4]});
    const common = {xs, now: Math.max(0.01, now.length), ends: [0.01, 1000], isLog: true,
      below: "length of the path of p"};
    cells(canvases[0], lookFor(look, 0), {rows: texts.map((text) => softmax(text.map((s) => now.scores.a[s]))),
      below: "the relevant token, then the 30 others",
      beside: "negative · positive sequences"});
    arrow(canvases[1], lookFor(look, 1), {goal: goal && ahead(goal), most: 500,
      points: records.slice(0, records.indexOf(now) + 1).map(({scores: {a}}) => ahead(a)),
      below: "positive tokens ahead →", beside: "negative tokens ahead →"});
    curves(canvases[2], lookFor(look, 2), {...common, lines: scores,
      beside: "score / ‖p‖",
      reach: range([0, 1e-3], ...scores.map(({values}) => values))});
    curves(canvases[3], lookFor(look, 3), {...common, lines: shares,
      beside: "attention, cosine", reach: [-0.2, 1]});
    return [];
  },
};

const lostIn = (selected) => CLASSES.filter((_, k) => selected[k] === 0);

// By class, the mean score of its relevant tokens minus that of all other tokens.
function ahead(scores) {
  const others = mean(scores.slice(4));
  return [mean(scores.slice(0, 2)) - others, mean(scores.slice(2, 4)) - others];
}

// A sentence about the tried first-step sizes at which a class is lost.
function sweepSentence(run) {
  const all = stagesTab.shares(run), {values} = SETTINGS.stages[0];
  const tried = values.filter((_, k) => all[k]);
  if (tried.length < 2) { return ""; }
  const lost = values.filter((_, k) => all[k] && lostIn(all[k]).length);
  return `Of ${tried.length} first-step sizes tried, ${
    lost.length ? `${lost.length} ${lost.length > 1 ? "lose" : "loses"} a class (${
      lost.map((eta) => eta.toLocaleString("en")).join("; ")})` : "none loses a class"}.`;
}
