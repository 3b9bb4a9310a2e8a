// What tests ask of the laboratory, after its scripts: `test_lab.py`.
/* global COLOURS, isEnd, readTexts, reviewsTab, settingsFrom, stagesTab, training, twoStages */
const typed = ({d, E, p, v}) => ({d, E: Float32Array.from(E), p: Float32Array.from(p),
  v: Float32Array.from(v)});
const unpacked = (stored) => ({...stored, texts: readTexts(stored.texts)});
function stepsOf({model, train, test, settings, steps}) {
  const run = {model: typed(model)}, all = [];
  for (const record of training(run, {train, test}, settings)) {
    all.push({...record, scores: run.scores});
    if (record.step === steps) { return all; }
  }
}
function flowOf({model, sequences, settings}) {
  const run = {model: typed(model)}, all = [...twoStages(run, sequences, settings)];
  return {all, scores: run.scores};
}

// What the page says and draws after some steps, on canvases that take no NaN.
const written = new Set();
const pen = () => new Proxy({}, {get: (held, name) => held[name] ?? ((...numbers) => {
  if (name === "fillText") { written.add(numbers[0]); }
  if (numbers.some(Number.isNaN)) { throw new Error(`NaN is drawn by ${name}`); } })});
const canvases = [1, 2, 3, 4].map(() => ({getContext: pen}));
const look = {sizes: canvases.map(() => [300, 200]), scale: 1, ink: "#000",
  font: "serif"};
const VIEWS = [{view: 0, least: 0, across: "lean"},
  {view: 1, least: 100, across: "rank"},
  {view: 1, least: 0, across: "value"}];
function trained(kind, changes, reviews, most = 25, summaryOf = () => undefined) {
  const tab = {reviews: reviewsTab, stages: stagesTab}[kind], records = [];
  const settings = {...settingsFrom(kind, new URLSearchParams()), ...changes};
  const run = Object.assign(tab.begin(settings, reviews),
    {records, settings, tab, kind, summaryOf});
  run.ids = new Map(run.names.map((name, s) => [name, s]));
  for (const now of run.steps) {
    records.push({...now, scores: run.scores});
    if (records.length > most || isEnd(now)) { break; }
  }
  run.pause = records.length - 1; run.ended = kind === "stages";
  return run;
}
function said(kind, changes, reviews) {
  const run = trained(kind, changes, reviews), {tab, records} = run;
  const now = records.at(-1);
  for (const view of VIEWS) { tab.draw(run, now, {...view, canvases, look, at: 0}); }
  tab.draw(run, records[0], {...VIEWS[0], canvases, look, at: -1});
  const words = (said) => typeof said === "string" ? said : said.rows.join(" ");
  return [...VIEWS.map((view) => tab.sentences(run, now, view).map(words).join(" ")),
    tab.status(run, now), tab.inShort(now),
    tab.point?.(run, now, {at: 0, ...VIEWS[1]})];
}

// What is drawn on each canvas: dots [colour, x, y], words, and lines with their dashes.
function drawn(tab, run, view, many = 4, rival = undefined) {
  const canvases = [...Array(many).keys()].map(() => {
    const pen = {dots: [], words: [], lines: [],
      fillText: (text) => pen.words.push(text),
      fillRect: (x, y, w) => w === 3 && pen.dots.push([pen.fillStyle, x, y]),
      beginPath: () => { pen.path = []; }, setLineDash: (dash) => { pen.dash = dash; },
      lineTo: (...place) => pen.path.push(place),
      stroke: () => pen.lines.push([pen.strokeStyle, pen.dash.length > 0, pen.path])};
    for (const name of ["scale", "save", "restore", "translate", "rotate", "strokeText",
      "rect", "clip", "arc"]) { pen[name] = () => {}; }
    return {pen, getContext: () => pen};
  });
  const look = {sizes: canvases.map(() => [300, 200]), scale: 1, ink: "black",
    paper: "white", grid: "white"};
  Object.assign(COLOURS, {positive: "blue", negative: "orange", neutral: "grey",
    accent: "green"});
  tab.draw(run, run.records.at(-1), {view: 0, least: 0, across: "lean", at: -1, ...view,
    canvases, look}, rival);
  return canvases.map(({pen: {dots, words, lines}}) => ({dots, words, lines}));
}
