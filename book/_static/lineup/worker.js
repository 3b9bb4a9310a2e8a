// The worker of the line-up trains and draws. It sends the answer to the page only after a
// bet.
/* global ROUND, advance, atSameStep, beside, cloud, described, extremes, kindsOf, letterOf,
   lookFor, nearest, range, readLineup, roundOf, sameSteps, verdict */
const PACE = 40, GLIDE = 1800;  // steps per second; duration of the dots' motion in ms

function lineupWorker() {
  let stored = null, rounds = null, match = null, look = null, still = false, timer = null;
  let shift = 0, isOpen = false, isSame = false, at = -1, places = [];
  const canvases = [];

  const scores = () => isSame ? atSameStep(match) : match.models.map((run) => run.scores);
  // Both models are drawn on the same scale, so that heights can be compared.
  function draw() {
    if (!match || !look) { return; }
    const shown = scores();
    places = canvases.map((canvas, k) => {
      const run = match.models[k >> 1], letter = k % 2 ? "a" : "b", {orders} = run;
      if (match.question === "attention" && k % 2 && !isOpen) {
        canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
        return [];
      }
      // A word that no unseen review contains keeps its place.
      const across = orders[0].map((x, s) =>
        Number.isNaN(orders[1][s]) ? x : x + shift * (orders[1][s] - x));
      const heights = shown[k >> 1][letter], leans = orders[0].map((x) => x - 0.5);
      return cloud(canvas, lookFor(look, k), {xs: across, heights, leans, ends: [0, 1],
        reach: range(...shown.map((one) => one[letter])), names: run.names, at,
        named: isOpen ? extremes(run, 4).flat() : []});
    });
  }
  function begin({number, question}) {
    clearTimeout(timer);
    match = roundOf(stored, number, question);
    shift = 0; isOpen = isSame = false; at = -1;
    train(performance.now(), 0);
  }
  // Take as many steps as the elapsed time requires; a slow phone draws less often.
  function train(start, taken) {
    const due = still ? Infinity : 2 + PACE * (performance.now() - start) / 1000;
    const slice = performance.now() + 100;
    let goes = true;
    while (goes && taken < due && performance.now() < slice) {
      goes = advance(match); taken += 1;
    }
    if (!still || !goes) { draw(); }
    const reached = Math.min(...match.models.map(({now}) => now.train.accuracy));
    postMessage({number: match.number, accuracy: Math.min(ROUND.reached, reached),
      described: goes ? null : match.models.map((run) => described(run, match.question))});
    if (goes) { timer = setTimeout(train, 16, start, taken); }
  }
  function glide(to, then, start = performance.now(), from = shift) {
    clearTimeout(timer);
    const t = still ? 1 : Math.min(1, (performance.now() - start) / GLIDE);
    shift = from + (to - from) * (t < 0.5 ? 2 * t * t : 1 - 2 * (1 - t) ** 2);
    draw();
    if (t < 1) { timer = setTimeout(glide, 16, to, then, start, from); } else { then(); }
  }
  const point = (s) => {
    if (!isOpen || s === at || s < 0) { return; }
    at = s; draw();
    const word = scores().map(({a, b}, k) =>
      `${letterOf(k)}: value ${hundredths(b[s])}, score ${hundredths(a[s])}`);
    postMessage({number: match.number, point: `${match.models[0].names[s]}: ${
      word.join("; ")}; lean in new reviews ${hundredths(match.models[0].leans[1][s])}`});
  };
  const hundredths = (x) => Number.isNaN(x) ? "none" : x.toFixed(2).replace("-", "−");
  return {
    load: (given) => { stored = readLineup(given.stored); ({rounds} = given); },
    show: (changes) => {
      canvases.push(...changes.canvases ?? []); still = changes.still ?? still;
      look = changes.look ?? look;
      draw();
    },
    begin,
    bet: (k) => {
      const texts = verdict(match, k, rounds), {number, answer, models} = match;
      const unseen = models.map(({now}) => now.test.accuracy);
      isOpen = true;
      postMessage({number, answer, kinds: kindsOf(match), texts});
      glide(1, () => postMessage({number, texts, unseen}));
    },
    view: (to) => glide(to, () => {}),
    same: (to) => {
      isSame = to;
      postMessage({number: match.number, same: to ? sameSteps(match, rounds) : ""});
    },
    near: ({k, x, y}) => point(nearest(places[k] ?? [], x, y)),
    move: ({k, by}) => point(beside(places[k] ?? [], at, by)),
  };
}
