// Bags: texts as counts of their tokens, the rows of a sparse matrix. Row i has the
// entries starts[i] to starts[i + 1] of `ids` and `counts`, and the label signs[i].
function bagsOf(texts, signs) {
  const starts = [0], ids = [], counts = [];
  for (const text of texts) {
    const times = new Map();
    for (const s of text) { times.set(s, (times.get(s) ?? 0) + 1); }
    ids.push(...times.keys()); counts.push(...times.values()); starts.push(ids.length);
  }
  return {starts: Int32Array.from(starts), ids: Int32Array.from(ids),
    counts: Float64Array.from(counts), signs};
}

// The same data row by row, for short data that need no speed.
const rowsOf = ({starts, ids, counts, signs}) => Array.from(signs, (sign, i) => {
  const [row, times] = [ids, counts].map((all) => [...all.slice(starts[i], starts[i + 1])]);
  return {sign, ids: row, counts: times};
});

// Decode texts stored by `tools/lab_data.py`. Each character of a string is a token: its
// code, minus that of "#", is the difference between the token's id and the previous id.
const readTexts = (stored) => stored.map((text) => {
  let id = -1;
  return Array.from(text, (character) => id += character.charCodeAt(0) - 35);
});

// The number of occurrences of each token, and its lean P(1|s) - P(0|s), which is the mean
// label of its occurrences and NaN for a token that does not occur.
function totals(texts, signs, size) {
  const times = new Float64Array(size), lean = new Float64Array(size);
  texts.forEach((text, i) => {
    for (const s of text) { times[s] += 1; lean[s] += signs[i]; }
  });
  return {times, lean: lean.map((sum, s) => sum / times[s])};
}

// The tokens that occur often enough.
function frequent(texts, size, least) {
  const {times} = totals(texts, [], size);
  return [...times.keys()].filter((s) => times[s] >= least);
}

// Remove all but some tokens from texts, and number these tokens from 0. Texts that become
// empty are left out, with their signs.
function ofTokens(kept, texts, signs) {
  const place = new Map(kept.map((s, at) => [s, at]));
  const rows = texts.map((text) => text.map((s) => place.get(s)).filter((s) => s >= 0));
  return {texts: rows.filter((row) => row.length),
    signs: signs.filter((_, i) => rows[i].length)};
}

// The horizontal position of each word, from 0 to 1, by the rank of its lean; words with
// equal leans are in random order. A word without a lean has the position NaN.
function orderOf(lean, random) {
  const known = [...lean.keys()].filter((s) => !Number.isNaN(lean[s]));
  const ties = lean.map(() => random()), order = lean.map(() => NaN);
  known.sort((s, t) => lean[s] - lean[t] || ties[s] - ties[t])
    .forEach((s, at) => { order[s] = (at + 0.5) / known.length; });
  return order;
}

// The training and test reviews of one run, and the tokens that are frequent enough in
// the training reviews.
const PLANTED = "xyzzy";
function reviewsOf(stored, {reviews, least, planted, shuffle, seed}) {
  const {tokens, texts, size} = stored, random = randomNumbers(seed + 1);
  const end = Math.min(reviews, size), signs = [...stored.labels].map((l) => 2 * l - 1);
  const kept = frequent(texts.slice(0, end), tokens.length, least);
  const names = kept.map((s) => tokens[s]);
  const positive = signs.flatMap((sign, i) => i < end && sign > 0 ? [i] : []);
  const share = Math.ceil(positive.length * planted / 100);
  const marked = new Set(shuffled(positive, random).slice(0, share));
  if (marked.size) { names.push(PLANTED); kept.push(tokens.length); }
  const written = texts.map((text, i) => marked.has(i) ? [...text, tokens.length] : text);
  const [train, test] = [[0, end], [size, texts.length]].map(([from, to]) =>
    ofTokens(kept, written.slice(from, to), signs.slice(from, to)));
  if (shuffle) { train.signs = shuffled(train.signs, random); }
  const [own, unseen] = [train, test].map((part) =>
    totals(part.texts, part.signs, names.length));
  return {train: bagsOf(train.texts, train.signs), test: bagsOf(test.texts, test.signs),
    names, leans: [own.lean, unseen.lean], times: own.times, marked: marked.size};
}

// A random corpus like `attnsel.separable_corpus(80, 60, 31, n_relevant=4)`. Each sequence
// contains one of four relevant tokens and 30 draws from 56 other tokens. Both classes
// have the same multiset of other tokens, in shuffled order.
function drawnSequences(seed) {
  const random = randomNumbers(seed + 1), pick = (n) => Math.floor(random() * n);
  const free = Array.from({length: 1200}, (_, k) => 4 + (k < 56 ? k : pick(56)));
  const texts = [1, -1].flatMap((sign) => {
    const others = shuffled(free, random), kind = sign > 0 ? 0 : 2;
    return Array.from({length: 40}, (_, i) => [
      kind + (i < 2 ? i : pick(2)), ...others.slice(30 * i, 30 * i + 30)]);
  });
  const names = Array.from({length: 60}, (_, s) => s < 2 ? `pos${s + 1}`
    : s < 4 ? `neg${s - 1}` : `w${s - 3}`);
  return {bags: bagsOf(texts, texts.map((_, i) => i < 40 ? 1 : -1)), names, texts,
    relevant: texts.map(([first]) => first)};
}

// Numbers between 0 and 1 from a seed, by the generator mulberry32.
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6D2B79F5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function shuffled(values, random) {
  const copy = [...values];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [copy[i], copy[j]] = [copy[j], copy[i]];
  }
  return copy;
}
