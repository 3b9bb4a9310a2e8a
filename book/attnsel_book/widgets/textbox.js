// Analyze a text while the reader types: tokens, attention, values, and the logit.
/* global clean, on, round, softmax, sum, tips, unpack */

// The rules of `attnsel.tokens`: Python's \w is letters, numbers and _; \s is this.
const SPACE = "\\t-\\r\\x1c-\\x1f \\x85\\xa0\\u1680\\u2000-\\u200a"
  + "\\u2028\\u2029\\u202f\\u205f\\u3000";
const BREAK = new RegExp(`<br[${SPACE}]*/?>`, "gi");
// Combining marks, and joiners between letters.
const MARK = "(?![\\u{1F000}-\\u{10FFFF}])[\\p{M}\\u200c\\u200d]";
const LETTER = "[\\p{L}\\p{N}]", WORD = `${LETTER}+(?:(?:${MARK})+${LETTER}*)*`;
const TOKEN = new RegExp(`${WORD}(?:'${WORD})*|[^${SPACE}](?:${MARK})*`, "gu");

// Split a text into pieces [text, id]; id is -1 between tokens and for unknown tokens.
function tokenize(text, ids) {
  const clear = text.replace(BREAK, " ").normalize("NFC"), pieces = [];
  const folded = clear.replaceAll("İ", "I").toLowerCase().replaceAll("’", "'");
  let end = 0;
  for (const {0: token, index} of folded.matchAll(TOKEN)) {
    if (index > end) { pieces.push([clear.slice(end, index), -1]); }
    end = index + token.length;
    pieces.push([clear.slice(index, end), ids.get(token) ?? -1]);
  }
  return end < clear.length ? [...pieces, [clear.slice(end), -1]] : pieces;
}

// The attention of each piece, a softmax of the scores of its tokens, and the logit.
function attend(pieces, scores, values) {
  const known = pieces.some(([, id]) => id >= 0);
  if (!known) { return {weights: pieces.map(() => 0), logit: 0}; }
  const weights = softmax(pieces.map(([, id]) => id < 0 ? -Infinity : scores[id]));
  const logit = weights.reduce((f, w, i) => w ? f + w * values[pieces[i][1]] : f, 0);
  return {weights, logit};
}

// The distinct words of a text, with id, logarithm of the weight, attention and value.
function bag(pieces, weights, scores, values) {
  const words = new Map();
  pieces.forEach(([, id], i) => {
    const {count, share} = words.get(id) || {count: 0, share: 0};
    if (id >= 0) { words.set(id, {count: count + 1, share: share + weights[i]}); }
  });
  return [...words].map(([id, {count, share}]) => (
    {id, log: scores[id] + Math.log(count), share, value: values[id]}));
}

// The logit of some words alone, or 0 if there are none.
const logitOf = (words) => sum(softmax(words.map(({log}) => log)).map(
  (share, i) => share * words[i].value));

// The logit minus the logit without each word, as in `influence` of the package.
function influences(words) {
  const whole = logitOf(words);
  return words.map((word) => whole - logitOf(words.filter((w) => w !== word)));
}

// A smallest set of words whose removal changes the sign of the logit, or [].
function flipping(words) {
  const logit = sum(words.map((word) => word.share * word.value));
  const pull = (word) => word.share * word.value * Math.sign(logit);
  const chosen = [];
  if (!words.some((word) => pull(word) < 0)) { return chosen; }
  let gone = 0;
  for (const word of [...words].sort((a, b) => pull(b) - pull(a))) {
    if (gone > Math.abs(logit) || pull(word) <= 0) { break; }
    chosen.push(word.id); gone += pull(word);
  }
  return chosen;
}

// The class of a logit and its probability, unless the logit is too close to 0.
function opinionOf(logit, classes) {
  const sure = 100 / (1 + Math.exp(-Math.abs(logit)));
  return Math.abs(logit) < 0.1 ? "no opinion yet" : `${classes[logit > 0 ? 1 : 0]}, ${
    sure > 99.99 ? "more than 99.99" : sure.toFixed(sure > 99 ? 2 : 0)}% sure`;
}

// Sentences about the most attended word, the logit, and the most influential words.
function inWords(words, tokens, logit) {
  const signed = (x) => (x < 0 ? "−" : "+") + Math.abs(x).toFixed(2);
  const part = (word) => word.share * word.value;
  const name = (word) => `“${tokens[word.id]}”`;
  const term = (word) => `${name(word)} (${signed(part(word))})`;
  const top = words.reduce((most, word) => word.share > most.share ? word : most);
  const side = Math.sign(logit) || -1;
  const by = [...words].sort((one, other) => side * (part(other) - part(one)));
  const [first, last] = [by[0], by.at(-1)];
  const against = side * part(last) <= -0.005
    ? `, and ${term(last)} most against it` : "";
  const share = (100 * top.share).toFixed(0);
  return `${name(top)} gets ${share}% of the attention, and its`
    + ` value is ${signed(top.value)}. Values times attention sum to ${signed(logit)}.`
    + ` ${term(first)} contributes most to this sum${against}.`;
}

// Pieces [text, style, tip] as HTML; an unknown word has neither style nor tip.
const spansOf = (pieces) => pieces.map(([text, style, tip]) => `<span ${
  style ? `style="${style}" data-tip="${tip}"` : `class="${text.trim() && "unknown"}"`
}>${clean(text)}</span>`).join("");

function textbox(root,
  {tokens, scores, between, words, scale, colours, classes, lessons, open}) {
  const ids = new Map(tokens.map((token, i) => [token, i])), taught = new Map(lessons);
  const texts = [...taught.keys()], numbers = new Map();
  // Intermediate steps have numbers only for the words of the examples.
  const all = [...scores, ...between.map((one) => [...one, new Set(words)])]
    .sort(([one], [other]) => one - other);
  let stops = [];
  const line = (name, content) =>
    `<div class="line"><span>${name}</span>${content}</div>`;
  const shaded = (name, what) => line(name, `<div class="attnsel-text" tabindex="0"
    role="group" aria-label="${what} of the words; the left and right keys go over them"
    ></div>`);
  const chip = (text) => `<button type="button">${clean(text)}</button> `;
  root.innerHTML = `<label class="line"><span>your review</span><input type="text"
    value="${clean(texts[0] || "")}" autocomplete="off" spellcheck="false"></label>
    ${texts.length ? line("or one of", `<div>${texts.map(chip).join("")}</div>`) : ""}
    ${line("the model", '<output aria-live="polite"></output>')}
    ${shaded("word by word", "attention and values")}
    <label class="line"><span>training</span><span class="bar"><input type="range"
    ><output></output></span></label>
    ${line("because", '<output aria-live="polite"></output>')}
    <details${open ? " open" : ""}>
    <summary>What does each word do to the prediction?</summary>
    ${shaded("influence", "influence")}
    <p></p></details>`;
  const [input, slider] = root.querySelectorAll("input");
  const [verdict, step, lesson] = root.querySelectorAll("output");
  const [reading, effects] = root.querySelectorAll(".attnsel-text");
  const details = root.querySelector("details"), goes = root.querySelector("p");
  const alpha = (part) => Math.round(153 * Math.min(Math.abs(part), 1)).toString(16);
  const shade = (sign, part) =>
    `background:${colours[sign < 0 ? 0 : 1]}${alpha(part).padStart(2, "0")}`;
  function colour(box, pieces, styleOf, tipOf) {
    box.innerHTML = spansOf(pieces.map(([text, id], i) =>
      id < 0 ? [text] : [text, styleOf(id, i), tipOf(id, i)]));
  }
  // The step of the slider, among the steps with numbers for all words of a text.
  function stepFor(pieces) {
    const [now] = stops[slider.value] ?? all.at(-1);
    stops = all.filter(([, , , known]) => !known || pieces.every(([, id]) =>
      id < 0 || known.has(id)));
    slider.max = stops.length - 1;
    slider.value = stops.findLastIndex(([k], i) => k <= now || i === 0);
    slider.closest(".line").hidden = stops.length < 2;
    return stops[slider.value];
  }
  const numbersOf = (...packed) => packed.slice(0, 2).map(unpack).map((numbers) =>
    packed[2] ? words.reduce((sparse, id, i) => {
      sparse[id] = numbers[i]; return sparse; }, []) : numbers);
  function read() {
    const pieces = tokenize(input.value, ids);
    const known = pieces.some(([, id]) => id >= 0);
    const [k, ...packed] = stepFor(pieces);
    // Unpack a step when it is first shown, because unpacking all would block a phone.
    if (!numbers.has(k)) { numbers.set(k, numbersOf(...packed)); }
    const [a, b] = numbers.get(k);
    const {weights, logit} = attend(pieces, a, b);
    verdict.textContent = known ? opinionOf(logit, classes)
      : "No word here is in the vocabulary.";
    verdict.style = shade(logit, logit / scale);
    step.textContent = "step " + k;
    slider.setAttribute("aria-valuetext", step.textContent);
    const why = known
      ? inWords(bag(pieces, weights, a, b), tokens, logit) : "";
    lesson.textContent = `${why} ${taught.get(input.value) || ""}`.trim();
    colour(reading, pieces, (id, i) => shade(b[id], weights[i] / 0.6),
      (id, i) => `attention ${weights[i].toFixed(3)}, value ${round(b[id])}`);
    if (details.open) { explain(pieces, weights, a, b, logit); }
  }
  const signed = (x) => (x < 0 ? "−" : "+") + round(Math.abs(x));
  // Show the influence of each word, and the words whose removal changes the sign.
  function explain(pieces, weights, a, b, logit) {
    const words = bag(pieces, weights, a, b), place = new Map();
    words.forEach(({id}, t) => place.set(id, t));
    const lost = influences(words), unit = Math.max(...lost.map(Math.abs)) || 1;
    const [other, gone] = [classes[logit > 0 ? 0 : 1], flipping(words)];
    const of = (id) => lost[place.get(id)];
    colour(effects, pieces, (id) => shade(of(id), of(id) / unit),
      (id) => `influence ${signed(of(id))}, f without it ${signed(logit - of(id))}`);
    const named = gone.map((id) => `“${tokens[id]}”`).join(", ");
    goes.textContent = gone.length
      ? `Without ${named} the text would be classified as ${other}; removing fewer `
        + "words is not enough."
      : words.length ? "No deletion changes the predicted class." : "";
  }
  on(details, "toggle", read);
  on(input, "input", read);
  on(slider, "input", read);
  root.querySelectorAll("button").forEach((chip) =>
    on(chip, "click", () => { input.value = chip.textContent; read(); }));
  read();
  tips(root);
}
