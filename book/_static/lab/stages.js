// The tab of the two stages: one step on E, then the flow of p, on 80 drawn sequences.
/* global BLUE, GREEN, GREY, ORANGE, curves, drawnSequences, newModel, percent, randomNumbers, range, round, twoStages */
const FARTHEST = 1000;  // the norm at which a path ends

const stagesTab = {
  steps: Infinity,

  begin(knobs) {
    const corpus = drawnSequences(knobs.seed);
    const run = {...corpus, model: newModel(60, knobs.d, randomNumbers(1000 + knobs.seed))};
    return Object.assign(run, {steps: twoStages(run, corpus, {...knobs, most: FARTHEST})});
  },

  status({records}) {
    const {norm, loss, cosine} = records.at(-1);
    return `‖p‖ ${round(norm)} · loss ${round(loss)} · cosine ${cosine.toFixed(4)}`;
  },

  inShort: ([norm, positive, negative, cosine]) =>
    `‖p‖ ${norm}, ${positive} and ${negative} selected, cosine ${cosine}`,

  row({records}) {
    const {norm, selected, cosine} = records.at(-1);
    return [round(norm), ...selected.map(percent), cosine.toFixed(4)];
  },

  sentence({records, going, ended}) {
    const {norm, selected, cosine, balance} = records.at(-1);
    const [positive, negative] = selected.map(percent);
    const lost = ["positive", "negative"].filter((_, k) => ended && selected[k] === 0);
    const rest = !ended ? going ? "" : " It goes on from here."
      : balance < 1e-8 ? " Here the pulls on p cancel, and it stands still."
      : norm < FARTHEST ? " Here p turns too often to be followed further." : "";
    return `At ‖p‖ = ${round(norm)} the relevant token has the most attention in `
      + `${positive} of the positive and ${negative} of the negative sequences`
      + (lost.length > 1 ? ": both classes are lost. "
        : lost.length ? `: the ${lost[0]} class is lost. ` : ". ")
      + `The cosine of p with the max-margin direction is ${cosine.toFixed(4)}.${
        rest}`;
  },

  draw({records}, {canvases, look}) {
    const some = records.filter(({length}) => length > 0);
    const lengths = some.map(({length}) => length);
    const line = (colour, of, dash = []) => ({colour, dash, values: some.map(of)});
    const scores = [BLUE, BLUE, ORANGE, ORANGE, GREY].map((colour, k) =>
      line(colour, ({scores: all, norm}) => all[k] / norm, k % 2 ? [6, 4] : []));
    const attention = [BLUE, ORANGE].map((colour, k) =>
      line(colour, (record) => record.attention[k]));
    const panels = [
      {lines: scores, title: "score / ‖p‖",
        reach: range([0, 1e-3], ...scores.map(({values}) => values))},
      {lines: attention, title: "attention", reach: [0, 1]},
      {lines: [line(GREEN, ({cosine}) => cosine)], title: "cosine", reach: [-0.2, 1]},
    ];
    panels.forEach((panel, k) => curves(canvases[k], look,
      {...panel, lengths, ends: [-2, Math.log10(FARTHEST)]}));
  },
};
