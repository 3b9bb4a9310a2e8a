// What computes, beside the page. It takes steps in slices of 30 ms, between which it
// hears of a pause, or of another run.
function startWorker() {
  let reviews = null, run = null, left = 0, timer = null, heard = Promise.resolve();
  const random = (seed) => randomNumbers(1000 + seed);
  const makers = {
    reviews: (knobs) => {
      const corpus = reviewsOf(reviews, knobs);
      const model = newModel(corpus.names.length, knobs.d, random(knobs.seed));
      const made = {model, ...corpus};
      return [made, training(made, corpus, knobs)];
    },
    stages: (knobs) => {
      const corpus = drawnSequences(knobs.seed);
      const made = {model: newModel(60, knobs.d, random(knobs.seed)), ...corpus};
      return [made, twoStages(made, corpus, {...knobs, most: 1000})];
    },
  };
  function slice() {
    const end = performance.now() + 30, records = [];
    do {
      const {value, done} = run.steps.next();
      left = done ? 0 : left - 1;
      if (!done) { records.push(value); }
      if (!run.reached && isEnd(value)) { run.reached = true; left = 0; }
    } while (left > 0 && performance.now() < end);
    report(records);
    if (left > 0) { timer = setTimeout(slice); }
  }
  function report(records) {
    const {scores, leans} = run.made;
    postMessage({number: run.number, records, scores, going: left > 0,
      fits: leans?.map((lean) => fitsOf(scores, lean))});
  }
  const commands = {
    load: async ({labels, bytes, ...stored}) => {
      reviews = {...stored, bags: readBags(await inflated(bytes), labels)};
    },
    begin: ({number, kind, knobs}) => {
      const [made, steps] = makers[kind](knobs);
      run = {number, made, steps};
      postMessage({number, names: made.names, leans: made.leans});
    },
    go: (steps) => {
      clearTimeout(timer); left = steps;
      if (left) { slice(); } else { report([]); }
    },
  };
  onmessage = ({data: [name, content]}) => {
    heard = heard.then(() => commands[name](content));
  };
}

// A training pauses once almost all is right, or where it diverged.
const isEnd = (now) => now?.train?.accuracy >= 0.99 || Number.isNaN(now?.train?.loss);

// Spearman's correlations of the value with the lean and of the score with its size, over
// the tokens that have a lean.
function fitsOf({a, b}, lean) {
  const known = [...lean.keys()].filter((s) => !Number.isNaN(lean[s]));
  const ranked = (of) => ranks(known.map(of));
  return [correlation(ranked((s) => b[s]), ranked((s) => lean[s])),
    correlation(ranked((s) => a[s]), ranked((s) => Math.abs(lean[s])))];
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
