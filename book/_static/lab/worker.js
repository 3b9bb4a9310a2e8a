// The worker computes and draws, so that the page never waits. It takes steps in slices,
// between which it receives commands of the page.
/* global TABS, beside, inWordsOf, lineupWorker, nearest, readTexts */
function labWorker() {
  const shown = {view: 0, across: "lean", least: 0, at: -1, word: "", speed: 1,
    step: null, still: false};  // the view of the page
  const finished = new Map();  // results of paused runs, by their settings
  let run = {records: [], names: [], places: []}, reviews = null, queue = [], other = null;
  let left = 0, turn = 0, timer = null, frame = null, took = 0;
  const keyOf = (settings) => JSON.stringify(Object.entries(settings).sort());
  const summaryOf = (settings) => finished.get(keyOf(settings));

  const start = (kind, settings) => Object.assign(TABS[kind].begin(settings, reviews),
    {tab: TABS[kind], kind, settings, records: [], summaryOf});
  // Take a step, and return whether the run pauses: at 99%, at its end, or at a step limit.
  function advance(one) {
    const {value, done} = one.steps.next();
    one.ended = done;
    if (!done) { one.records.push({...value, scores: one.scores}); }
    const {pause, records, tab} = one;
    if (pause !== undefined || !(done || isEnd(value) || records.length > tab.steps)) {
      return done;
    }
    one.pause = records.length - 1;
    finished.set(keyOf(one.settings), tab.summary(one));
    return true;
  }
  // Show steps one by one at growing speed, or take as many at once as time allows.
  function slice() {
    run.rival ??= rivalOf(run);
    const isFast = shown.still || shown.speed === 0, {records} = run;
    const end = performance.now() + Math.max(30, 3 * took);
    do {
      left -= 1;
      if (advance(run)) { left = 0; }
      follow(run);
    } while (left > 0 && isFast && performance.now() < end);
    if (left > 0) {
      timer = setTimeout(slice, isFast ? 0 : 100 / shown.speed / (1 + records.length / 30));
    }
    report();
  }
  // The comparison run, if there is room to show it. It advances until it classifies as
  // many training reviews correctly as the run itself.
  function rivalOf(one) {
    const settings = shown.canvases?.length > 4 ? one.tab.control?.(one) : null;
    const rival = settings && start(one.kind, settings);
    if (rival) { advance(rival); }
    return rival;
  }
  const isBehind = (rival, {train}) => rival.pause === undefined
    && rival.records.at(-1).train.accuracy < train.accuracy;
  function follow({rival, records}) {
    for (let k = 0; rival && k < 2 && isBehind(rival, records.at(-1)); k++) { advance(rival); }
  }
  const rivalAt = ({rival}, {train}) => !rival ? undefined : {views: rival.views,
    ...rival.records.find((one) => one.train.accuracy >= train.accuracy) ?? rival.records.at(-1)};

  // Compute runs that are not shown while the shown run pauses.
  function compute() {
    if (!queue.length) { other = null; return; }
    const end = performance.now() + 50;
    let pauses = false;
    other ??= run.rival && keyOf(run.rival.settings) === keyOf(queue[0]) ? run.rival
      : start(run.kind, queue[0]);
    while (!pauses && performance.now() < end) { pauses = advance(other); }
    if (pauses) { queue.shift(); other = null; report(); } else { timer = setTimeout(compute); }
  }
  function report() {
    const began = performance.now(), {tab, records, number, ended} = run;
    const step = shown.step ?? records.length - 1, now = records[step];
    frame = null; run.going = left > 0;
    const message = {number, turn, going: run.going, ended, step, steps: records.length - 1,
      status: tab.status(run, now)};
    const rival = rivalAt(run, now);
    if (!run.going || !shown.still) {
      if (shown.look) { run.places = tab.draw(run, now, shown, rival); }
      Object.assign(message, {outcome: tab.sentences(run, now, shown),
        headline: tab.headline?.(run, now, rival) ?? "", names: tab.rivalName && [tab.ownName(run), tab.rivalName(run)],
        point: tab.point?.(run, now, shown) ?? "", shares: tab.shares?.(run),
        last: run.last ?? ""});
    }
    postMessage(message);
    took = performance.now() - began;
    if (run.going) { return; }
    if (run.pause !== undefined) {
      const rival = tab.control?.(run);
      if (rival && !queue.length && !summaryOf(rival)) { queue = [rival]; }
    }
    clearTimeout(timer);
    if (queue.length) { timer = setTimeout(compute); }
  }
  const soon = () => { if (run.records.length) { frame ??= setTimeout(report, 16); } };
  const stop = () => { clearTimeout(timer); shown.step = null; };
  const point = (s) => { if (s !== shown.at) { shown.at = s; soon(); } };
  const sought = () => run.ids.get(shown.word)
    ?? run.names.findIndex((name) => shown.word && name.startsWith(shown.word));
  return {
    load: ({texts, ...stored}) => { reviews = {...stored, texts: readTexts(texts)}; },
    begin: ({number, kind, settings}) => {
      stop(); clearTimeout(frame); frame = null; queue = []; other = null;
      const last = run.records.length < 2 ? run.last : `The last run (${
        inWordsOf(run.kind, run.settings)}) ${run.tab.inShort(run.records.at(-1))}.`;
      run = Object.assign(start(kind, settings), {number, last, places: []});
      run.ids = new Map(run.names.map((name, s) => [name, s]));
      shown.at = sought(); advance(run);
    },
    go: (order) => {
      stop(); ({steps: left, turn} = order);
      if (left) { slice(); } else { report(); }
    },
    // Run all values of one setting, one after another.
    sweep: ({name, values}) => {
      queue = values.map((value) => ({...run.settings, [name]: value}))
        .filter((settings) => !summaryOf(settings));
      left = 0; stop(); report();
    },
    show: (changes) => { Object.assign(shown, changes); soon(); },
    // Words that the reader points at, searches for, or reaches with the keys.
    near: ({panel, x, y}) => {
      const best = nearest(run.places[panel] ?? [], x, y);
      if (best >= 0) { point(best); }
    },
    find: (word) => { shown.word = word; shown.at = sought(); soon(); },
    move: ({panel, by}) => point(beside(run.places[panel] ?? [], shown.at, by)),
  };
}

// A worker serves one part of a page; the first command names its kind.
function startWorker() {
  let commands = {open: (kind) => { commands = {lab: labWorker, lineup: lineupWorker}[kind](); }};
  onmessage = ({data: [name, content]}) => commands[name](content);
}

// A run pauses once 99% of the training reviews are classified correctly.
const isEnd = (now) => now?.train?.accuracy >= 0.99;
