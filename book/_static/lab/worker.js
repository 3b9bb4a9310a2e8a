// What computes and draws, beside the page, which never waits for it. It takes steps in
// slices, between which it hears of a pause, of another run, or of what is looked at.
/* global TABS, attend, inWordsOf, readTexts, round, tokenize */
function startWorker() {
  const shown = {view: 0, beside: false, at: -1, word: "", text: ""};  // as the page has it
  let run = {records: [], names: [], ids: new Map(), places: [[], [], [], []]};
  let reviews = null, left = 0, timer = null, frame = null, took = 0, read = 0;
  function advance() {
    const {value, done} = run.steps.next();
    run.ended = done;
    if (!done) { run.records.push(value); run.first ??= run.scores; }
    if (done || (!run.reached && isEnd(value))) { run.reached = true; left = 0; }
  }
  function slice() {
    const end = performance.now() + Math.max(30, 3 * took);
    while (left > 0 && performance.now() < end) { left -= 1; advance(); }
    if (left > 0) { timer = setTimeout(slice); }
    report();
  }
  function report() {
    const began = performance.now(), {tab, number, ended} = run;
    frame = null; run.going = left > 0;
    const told = {number, going: run.going, ended, status: tab.status(run)};
    if (!run.going || !shown.still) {
      const row = rowOf(run);
      if (shown.look) { tab.draw(run, shown); }
      Object.assign(told, {told: tab.sentence(run), point: tab.point?.(run, shown) ?? "",
        runs: [row, run.last ?? row.map(() => "")],
        last: run.last ? `last run: ${tab.inShort(run.last)}` : ""});
      if (!run.going || began - read > 500) {  // words are slow to set
        told.reading = readingOf(run, shown.text);
        read = began;
      }
    }
    postMessage(told);
    took = performance.now() - began;
  }
  const soon = () => { if (run.records.length) { frame ??= setTimeout(report, 16); } };
  const point = (s) => { if (s !== shown.at) { shown.at = s; soon(); } };
  const sought = () => run.ids.get(shown.word)
    ?? run.names.findIndex((name) => shown.word && name.startsWith(shown.word));
  const commands = {
    load: ({texts, ...stored}) => { reviews = {...stored, texts: readTexts(texts)}; },
    begin: ({number, kind, knobs}) => {
      clearTimeout(timer); clearTimeout(frame); frame = null;
      const last = run.records.length > 1 ? rowOf(run) : run.last, tab = TABS[kind];
      run = Object.assign(tab.begin(knobs, reviews), {tab, kind, number, last, ran: knobs,
        records: [], places: [[], [], [], []]});
      run.ids = new Map(run.names.map((name, s) => [name, s]));
      shown.at = sought(); advance();
    },
    go: (steps) => { clearTimeout(timer); left = steps; slice(); },
    show: (changes) => { Object.assign(shown, changes); soon(); },
    // Words that are pointed at, searched for, or reached by keys.
    near: ({panel, x, y}) => {
      const away = run.places[panel].map(([x0, y0]) => Math.hypot(x - x0, y - y0));
      const best = away.reduce((near, far, s) => far < away[near] ? s : near, 0);
      if (away[best] < 30) { point(best); }
    },
    find: (word) => { shown.word = word; shown.at = sought(); soon(); },
    move: ({panel, by}) => {
      const places = run.places[panel];
      const order = [...places.keys()].filter((s) => places[s][0] > 0)
        .sort((s, t) => places[s][0] - places[t][0]);
      const next = shown.at < 0 ? 0 : order.indexOf(shown.at) + by;
      point(order[Math.max(0, Math.min(order.length - 1, next))] ?? -1);
    },
  };
  onmessage = ({data: [name, content]}) => commands[name](content);
}

// A training pauses once almost all is right.
const isEnd = ({train}) => train?.accuracy >= 0.99;
const diverged = ({train, test}) => !Number.isFinite(train.loss + test.loss);

// A run as a column of the table, where it stands: also one that was not shown on its way.
function rowOf(run) {
  run.tab.measure?.(run);
  return [...run.tab.row(run), inWordsOf(run.kind, run.ran)];
}

// One's own text, as the model reads it now: its first pieces [text, attention, value].
const MOST_PIECES = 400;
function readingOf({ids, scores: {a, b}, records}, text) {
  const now = records.at(-1), canRead = !now.train || !diverged(now);
  const pieces = tokenize(text, ids), {weights, logit} = attend(pieces, a, b);
  const more = pieces.length > MOST_PIECES ? [[" …"]] : [];
  const side = logit > 0 ? "positive" : "negative";
  const verdict = !text.trim() ? ""
    : !pieces.some(([, id]) => id >= 0) ? "No word here is in the vocabulary."
    : canRead ? `logit ${round(logit)}: ${side}`
      : "The model cannot read: its training diverged.";
  return {verdict, pieces: pieces.slice(0, MOST_PIECES).map(([piece, id], i) =>
    id < 0 ? [piece] : [piece, weights[i], b[id]]).concat(more)};
}
