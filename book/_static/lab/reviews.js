// The tab of real reviews: the map of the vocabulary, and what is said of a training.
const percent = (x) => `${(100 * x).toFixed(0)}%`;
const fitText = (x) => Number.isNaN(x) ? "none" : x.toFixed(2).replace("0.", ".");

const reviewsTab = {
  title: "Real reviews",
  play: "Train",
  text: "A dull film with superb actors.",
  steps: 300,
  panels: ["value, now", "score, now", "value, start", "score, start"],
  view: `<label>leans of the <select><option>training reviews</option>
    <option>other reviews</option></select></label>
    <label><input type="checkbox"> start beside now</label>
    <label>find <input type="search" placeholder="a word"></label>`,
  tries: {"as the book has it": "", "shuffled labels": "shuffle=true",
    "uniform attention": "uniform=true", "a planted word": "planted=20",
    "100 reviews": "reviews=100", "gradient descent": "optimizer=gd&rate=3"},
  columns: ["steps", "training", "others", "value, lean", "score, size of lean"],

  // Words go by frequency: named are frequent ones that lean, the planted one, the first.
  prepare(lab) {
    lab.named = lab.leans.map((lean) => {
      const weights = Array.from(lean, (x, s) => x / (s + 1) ** 0.4 || 0);
      const order = [...weights.keys()].sort((s, t) => weights[t] - weights[s]);
      const planted = lab.ran.planted ? [lab.names.length - 1] : [];
      return [...planted, ...order.slice(0, 12), ...order.slice(-12).reverse(), 0];
    });
  },

  status({records}) {
    const {step, train, test} = records.at(-1);
    return `step ${step} · loss ${train.loss.toFixed(3)} · training reviews ${
      percent(train.accuracy)} right · others ${percent(test.accuracy)}`;
  },

  row({records, fits}) {
    const {step, train, test} = records.at(-1);
    return [step, percent(train.accuracy), percent(test.accuracy), ...fits[0].map(fitText)];
  },

  sentence({records, fits, ran, scores, names}) {
    const {step, train, test} = records.at(-1), [ours, others] = fits;
    if (Number.isNaN(train.loss)) {
      return "The training diverged: take a smaller step size, and start again.";
    }
    const notes = [];
    if (ran.shuffle) { notes.push("The labels of the training reviews were shuffled."); }
    if (ran.uniform) { notes.push("Attention is uniform: each score is 0."); }
    if (ran.planted) {
      const higher = scores.a.filter((a) => a > scores.a.at(-1)).length;
      notes.push(`“${PLANTED}” has score ${higher + 1} of ${names.length}, from above.`);
    }
    return [`After ${step} steps ${percent(train.accuracy)} of the training reviews are`,
      `classified correctly, ${percent(test.accuracy)} of others. Rank correlation of`,
      `the value with the lean: ${fitText(ours[0])}, of the score with the size of the`,
      `lean: ${fitText(ours[1])}; with the leans in other reviews ${fitText(others[0])}`,
      `and ${fitText(others[1])}.`, ...notes].join(" ");
  },

  point({root, at, names, leans, scores, view}) {
    root.querySelector(".point").textContent = at < 0 ? "Point at a word, or search for one."
      : `${names[at]}: value ${round(scores.b[at])}, score ${round(scores.a[at])}, lean `
        + (Number.isNaN(leans[view][at]) ? "none: it does not occur there"
          : round(leans[view][at]));
  },

  draw(lab) {
    const {root, names, scores, first, at} = lab, lean = lab.leans[lab.view];
    const figures = [...root.querySelectorAll(".panels figure")];
    if (Number.isNaN(lab.records.at(-1).train.loss)) { return; }  // it diverged
    const named = lab.named[lab.view];
    figures.slice(2).forEach((figure) => { figure.hidden = !lab.beside; });
    lab.places = figures.map((figure, k) => {
      if (figure.hidden) { return []; }
      const letter = k % 2 ? "a" : "b", heights = (k < 2 ? scores : first)[letter];
      const both = [...scores[letter], ...first[letter]];
      return cloud(figure, {lean, heights, names, named, at, title: k % 2 ? "score"
        : "value", reach: [Math.min(...both), Math.max(...both)]});
    });
  },
};
