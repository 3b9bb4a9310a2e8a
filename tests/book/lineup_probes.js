// What a test asks of the line-up, after its scripts: `test_lineup.py`.
/* global advance, described, kindsOf, measured, readLineup, roundOf, sameSteps, verdict */
// A round before and after its training, and what is said of it.
function told(stored, number, question, rounds) {
  const played = roundOf(readLineup(stored), number, question);
  const copy = ({d, E, p, v}) => ({d, E: [...E], p: [...p], v: [...v]});
  const starts = played.models.map(({model}) => copy(model));
  const trail = [];
  while (advance(played)) { trail.push(played.models.map(({now}) => now)); }
  const models = played.models.map((run, k) => ({start: starts[k], now: run.now,
    scores: run.scores, names: run.names, leans: run.leans,
    path: run.path, orders: run.orders, measured: measured(run),
    described: described(run, question)}));
  return {answer: played.answer, models, trail, kinds: kindsOf(played),
    verdicts: [0, 1].map((bet) => verdict(played, bet, rounds)),
    same: question === "labels" ? sameSteps(played, rounds) : ""};
}
