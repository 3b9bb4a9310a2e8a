// A heading or the title of a result that the query names comes before all text.
var Scorer = {
  score: ([, , anchor, , score]) => (anchor ? score + 100 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
