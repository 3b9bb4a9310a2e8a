// A text read as one types: its tokens, their attention and values, and the logit.

// As `attnsel.tokens` has it: Python's \w is letters, numbers and _, and its \s this.
const SPACE = "\\t-\\r\\x1c-\\x1f \\x85\\xa0\\u1680\\u2000-\\u200a"
  + "\\u2028\\u2029\\u202f\\u205f\\u3000";
const BREAK = new RegExp(`<br[${SPACE}]*/?>`, "gi");
// Marks that belong to the letter before them, and joiners.
const MARK = "(?![\\u{1F000}-\\u{10FFFF}])[\\p{M}\\u200c\\u200d]";
const LETTER = "[\\p{L}\\p{N}]", WORD = `${LETTER}+(?:(?:${MARK})+${LETTER}*)*`;
const TOKEN = new RegExp(`${WORD}(?:'${WORD})*|[^${SPACE}](?:${MARK})*`, "gu");

// Pieces [text, id] that join to the text; -1 between tokens and for unknown ones.
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
  const most = Math.max(...pieces.map(([, id]) => id < 0 ? -Infinity : scores[id]));
  const odds = pieces.map(([, id]) => id < 0 ? 0 : Math.exp(scores[id] - most));
  const total = odds.reduce((a, b) => a + b, 0), weights = odds.map((w) => w / total);
  const logit = weights.reduce((f, w, i) => w ? f + w * values[pieces[i][1]] : f, 0);
  return {weights, logit};
}

function textbox(root, {tokens, scores, scale, colours, classes, lessons}) {
  const ids = new Map(tokens.map((token, i) => [token, i])), taught = new Map(lessons);
  const numbers = scores.map(([k, a, b]) => [k, unpack(a), unpack(b)]);
  const texts = [...taught.keys()], last = numbers.length - 1;
  const row = (name) => `<div class="line"><span>${name}</span><div class="attnsel-text"
    tabindex="0" role="group"
    aria-label="${name} of the words; the left and right keys go over them"></div>
    </div>`;
  const chip = (text) => ` <button type="button">${clean(text)}</button>`;
  root.innerHTML = `<div class="bar"><label>Type a review <input type="text"
    value="${clean(texts[0] || "")}" autocomplete="off" spellcheck="false"></label>
    <output aria-live="polite"></output></div>${row("attention")}${row("value")}
    <div class="bar"><label>training <input type="range" max="${last}" value="${last}">
    </label><output></output></div><div class="bar">try${texts.map(chip).join("")}
    </div><output aria-live="polite"></output>`;
  const [input, slider] = root.querySelectorAll("input");
  const [verdict, step, lesson] = root.querySelectorAll("output");
  const [attention, votes] = root.querySelectorAll(".attnsel-text");
  function shade(part) {
    const alpha = Math.round(153 * Math.min(Math.abs(part), 1)).toString(16);
    return `background:${colours[part < 0 ? 0 : 1]}${alpha.padStart(2, "0")}`;
  }
  function colour(box, pieces, partOf, tipOf) {
    box.innerHTML = pieces.map(([text, id], i) => `<span ${id < 0
      ? `class="${text.trim() && "unknown"}"`
      : `style="${shade(partOf(id, i))}" data-tip="${tipOf(id, i)}"`
    }>${clean(text)}</span>`).join("");
  }
  function read() {
    const [k, a, b] = numbers[slider.value], pieces = tokenize(input.value, ids);
    const known = pieces.some(([, id]) => id >= 0);
    const {weights, logit} = attend(pieces, a, b);
    verdict.textContent = known ? `f(X) = ${logit < 0 ? "−" : "+"}`
      + `${Math.abs(logit).toFixed(2)}: ${classes[logit > 0 ? 1 : 0]}`
      : "No word here is in the vocabulary.";
    verdict.style = shade(logit / scale);
    step.textContent = "step " + k;
    slider.setAttribute("aria-valuetext", step.textContent);
    lesson.textContent = taught.get(input.value) || "";
    colour(attention, pieces, (_, i) => weights[i] / 0.6,
      (_, i) => "attention " + weights[i].toFixed(3));
    colour(votes, pieces, (id) => b[id] / scale, (id) => "value " + round(b[id]));
  }
  on(input, "input", read);
  on(slider, "input", read);
  root.querySelectorAll("button").forEach((chip) =>
    on(chip, "click", () => { input.value = chip.textContent; read(); }));
  read();
  tips(root);
}
