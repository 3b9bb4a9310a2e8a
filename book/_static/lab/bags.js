// Bags: texts as counts of their tokens, the rows of a sparse matrix. Row i has the
// entries starts[i] to starts[i + 1] of `ids` and `counts`, and the label signs[i].

async function inflated(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(
    new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// As `tools/lab_data.py` stores bags: how many tokens each has, in two bytes; of all
// tokens the gaps between their ids, first the low and then the high bytes; the counts.
function readBags(bytes, labels) {
  const n = labels.length, starts = new Int32Array(n + 1);
  for (let i = 0; i < n; i++) {
    starts[i + 1] = starts[i] + bytes[2 * i] + 256 * bytes[2 * i + 1];
  }
  const size = starts[n], low = bytes.subarray(2 * n), high = low.subarray(size);
  const counts = high.slice(size), ids = new Int32Array(size);
  for (let i = 0; i < n; i++) {
    for (let k = starts[i], id = -1; k < starts[i + 1]; k++) {
      id += low[k] + 256 * high[k]; ids[k] = id;
    }
  }
  return {starts, ids, counts, signs: Array.from(labels, (l) => l === "1" ? 1 : -1)};
}

// The bags of some rows. Token s becomes place[s], and is left out where that is -1; a
// row in `marked` gets the token `mark` as well, and one without tokens is left out.
function select(bags, rows, place, marked = new Set(), mark = -1) {
  const starts = [0], ids = [], counts = [], signs = [];
  for (const i of rows) {
    for (let k = bags.starts[i]; k < bags.starts[i + 1]; k++) {
      const id = place[bags.ids[k]];
      if (id >= 0) { ids.push(id); counts.push(bags.counts[k]); }
    }
    if (marked.has(i)) { ids.push(mark); counts.push(1); }
    if (ids.length > starts.at(-1)) { starts.push(ids.length); signs.push(bags.signs[i]); }
  }
  return {starts: Int32Array.from(starts), ids: Int32Array.from(ids),
    counts: Float64Array.from(counts), signs};
}

// How often each token occurs, and the mean label of its occurrences: its lean,
// P(1|s) - P(0|s), which no token has that does not occur.
function totals(bags, size) {
  const times = new Float64Array(size), lean = new Float64Array(size);
  bags.signs.forEach((sign, i) => {
    for (let k = bags.starts[i]; k < bags.starts[i + 1]; k++) {
      times[bags.ids[k]] += bags.counts[k];
      lean[bags.ids[k]] += sign * bags.counts[k];
    }
  });
  return {times, lean: lean.map((sum, s) => sum / times[s])};
}

// The reviews of one run: those that train, those that test, and the tokens.
const PLANTED = "xyzzy";
function reviewsOf({tokens, bags, size}, {reviews, least, planted, shuffle, seed}) {
  const random = randomNumbers(seed + 1);
  const rows = Array.from({length: Math.min(reviews, size)}, (_, i) => i);
  const all = totals(select(bags, rows, tokens.map((_, s) => s)), tokens.length);
  const kept = tokens.map((_, s) => s).filter((s) => all.times[s] >= least);
  const place = new Int32Array(tokens.length).fill(-1), names = kept.map((s) => tokens[s]);
  kept.forEach((s, at) => { place[s] = at; });
  const positive = shuffled(rows.filter((i) => bags.signs[i] > 0), random);
  const marked = new Set(positive.slice(0, Math.ceil(positive.length * planted / 100)));
  const train = select(bags, rows, place, marked, names.length);
  const others = Array.from({length: bags.signs.length - size}, (_, i) => size + i);
  const test = select(bags, others, place);
  if (marked.size) { names.push(PLANTED); }
  if (shuffle) { train.signs = shuffled(train.signs, random); }
  const leans = [train, test].map((part) => totals(part, names.length).lean);
  return {train, test, names, leans, marked: marked.size};
}

// The corpus of `attnsel.separable_corpus(80, 60, 31, n_relevant=4)`, drawn anew: each
// sequence holds one of four relevant tokens and 30 of 56 others, and the others of
// both classes are the same ones, shuffled.
function drawnSequences(seed) {
  const random = randomNumbers(seed + 1), pick = (n) => Math.floor(random() * n);
  const free = Array.from({length: 1200}, (_, k) => 4 + (k < 56 ? k : pick(56)));
  const ids = [1, -1].flatMap((sign) => {
    const others = shuffled(free, random), kind = sign > 0 ? 0 : 2;
    return Array.from({length: 40}, (_, i) => [
      kind + (i < 2 ? i : pick(2)), ...others.slice(30 * i, 30 * i + 30)]);
  });
  const signs = ids.map((_, i) => i < 40 ? 1 : -1);
  const rows = ids.map((row) => [...new Set(row)]);
  const counts = rows.flatMap((row, i) =>
    row.map((s) => ids[i].filter((t) => t === s).length));
  let end = 0;
  const starts = Int32Array.from([0, ...rows.map((row) => end += row.length)]);
  const names = Array.from({length: 60}, (_, s) => s < 2 ? `pos${s + 1}`
    : s < 4 ? `neg${s - 1}` : `w${s - 3}`);
  return {bags: {starts, ids: Int32Array.from(rows.flat()), counts, signs}, names,
    relevant: ids.map(([first]) => first)};
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
