// The tab of the two stages: one step on E, then the flow of p, on 80 drawn sequences.
const swatch = (colour, label) => `<span style="border-left:1em solid ${colour};
  padding-left:.4em">${label}</span>`;

const stagesTab = {
  title: "One step, then the flow of p",
  play: "Take the step, then follow p",
  text: "pos1 w1 w2 w3 neg1 w4",
  steps: Infinity,
  panels: ["scores of the four relevant tokens, by ‖p‖",
    "mean attention on the relevant token",
    "cosine of p with the max-margin direction"],
  view: swatch(BLUE, "positive class") + swatch(ORANGE, "negative class")
    + swatch(GREY, "the highest score of all other tokens"),
  tries: {"η₀ = 150": "eta=150", "η₀ = 300": "eta=300", "η₀ = 3,000": "eta=3000"},
  columns: ["‖p‖", "positive", "negative", "cosine"],

  status({records}) {
    const {norm, loss, cosine} = records.at(-1);
    return `‖p‖ ${round(norm)} · loss ${round(loss)} · cosine ${cosine.toFixed(4)}`;
  },

  row({records}) {
    const {norm, selected, cosine} = records.at(-1);
    return [round(norm), ...selected.map(percent), cosine.toFixed(4)];
  },

  sentence({records, going}) {
    const {norm, selected, cosine, balance} = records.at(-1);
    const [positive, negative] = selected.map(percent);
    const lost = ["positive", "negative"].filter((_, k) => selected[k] === 0);
    const ended = going || norm >= 1000 ? "" : balance < 1e-8
      ? " Here the pulls on p cancel, and it stands still." : " It goes on from here.";
    return `At ‖p‖ = ${round(norm)} the relevant token has the most attention in `
      + `${positive} of the positive and ${negative} of the negative sequences`
      + (lost.length ? `: the ${lost.join(" and the ")} class is lost. ` : ". ")
      + `The cosine of p with the max-margin direction is ${cosine.toFixed(4)}.${ended}`;
  },

  draw({root, records}) {
    const figures = root.querySelectorAll(".panels figure");
    const some = records.filter(({length}) => length > 0);
    const lengths = some.map(({length}) => length);
    const line = (colour, of, dash = []) => ({colour, dash, values: some.map(of)});
    const scores = [BLUE, BLUE, ORANGE, ORANGE, GREY].map((colour, k) =>
      line(colour, ({scores: all, norm}) => all[k] / norm, k % 2 ? [6, 4] : []));
    const shown = scores.flatMap(({values}) => values);
    const attention = [BLUE, ORANGE].map((colour, k) =>
      line(colour, (record) => record.attention[k], k ? [6, 4] : []));
    const panels = [
      {lines: scores, title: "score by ‖p‖",
        reach: [Math.min(0, ...shown), Math.max(1e-3, ...shown)]},
      {lines: attention, title: "attention", reach: [0, 1]},
      {lines: [line(GREEN, ({cosine}) => cosine)], title: "cosine", reach: [-0.2, 1]},
    ];
    panels.forEach((panel, k) => curves(figures[k],
      {...panel, lengths, ends: [-2, 3]}));
  },
};
