// A heading or the title of a result that the query names comes before all text, and
// chapters come before the pages of the package.
var Scorer = {
  score: ([page, , anchor, , score]) =>
    score + (anchor ? 100 : 0) - (page.startsWith("book/package") ? 200 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
