// A text read as one types: its tokens, their attention and values, and the logit.

// As `attnsel.corpus` has it: Python's \w is letters, numbers and _, and its \s this.
const SPACE = "\\t-\\r\\x1c-\\x1f \\x85\\xa0\\u1680\\u2000-\\u200a"
  + "\\u2028\\u2029\\u202f\\u205f\\u3000";
const BREAK = new RegExp(`<br[${SPACE}]*/?>`, "gi");
const TOKEN = new RegExp(`[\\p{L}\\p{N}]+(?:'[\\p{L}\\p{N}]+)*|[^${SPACE}]`, "gu");

// Pieces [text, id] that join to the text; -1 between tokens and for unknown ones.
function tokenize(text, ids) {
  const clean = text.replace(BREAK, " "), pieces = [];
  const folded = clean.replaceAll("İ", "I").toLowerCase().replaceAll("’", "'");
  let end = 0;
  for (const {0: token, index} of folded.matchAll(TOKEN)) {
    if (index > end) { pieces.push([clean.slice(end, index), -1]); }
    end = index + token.length;
    pieces.push([clean.slice(index, end), ids.get(token) ?? -1]);
  }
  return end < clean.length ? [...pieces, [clean.slice(end), -1]] : pieces;
}

// The attention of each piece, a softmax of the scores of its tokens, and the logit.
function attend(pieces, scores, values) {
  const most = Math.max(...pieces.map(([, id]) => id < 0 ? -Infinity : scores[id]));
  const odds = pieces.map(([, id]) => id < 0 ? 0 : Math.exp(scores[id] - most));
  const total = odds.reduce((a, b) => a + b, 0), weights = odds.map((w) => w / total);
  const logit = weights.reduce((f, w, i) => w ? f + w * values[pieces[i][1]] : f, 0);
  return {weights, logit};
}

function textbox(root, {tokens, steps, scores, scale, colours, classes, lessons}) {
  const ids = new Map(tokens.map((token, i) => [token, i]));
  const numbers = scores.map((pair) => pair.map(unpack));
  const [input, slider] = root.querySelectorAll("input");
  const [verdict, step, lesson] = root.querySelectorAll("output");
  const [attention, votes] = root.querySelectorAll(".attnsel-text");
  const shade = (element, part) => {
    const alpha = Math.round(153 * Math.min(Math.abs(part), 1)).toString(16);
    element.style.background = colours[part < 0 ? 0 : 1] + alpha.padStart(2, "0");
  };
  function colour(box, pieces, partOf, tipOf) {
    box.replaceChildren(...pieces.map(([text, id], i) => {
      const span = document.createElement("span");
      span.textContent = text;
      if (id >= 0) { shade(span, partOf(id, i)); span.dataset.tip = tipOf(id, i); }
      else if (text.trim()) { span.className = "unknown"; }
      return span;
    }));
  }
  function read() {
    const at = Number(slider.value), [a, b] = numbers[at];
    const pieces = tokenize(input.value, ids), known = pieces.some(([, id]) => id >= 0);
    const {weights, logit} = known ? attend(pieces, a, b) : {weights: [], logit: 0};
    verdict.textContent = known ? `f(X) = ${logit < 0 ? "−" : "+"}`
      + `${Math.abs(logit).toFixed(2)}: ${classes[logit > 0 ? 1 : 0]}`
      : "No word here is in the vocabulary.";
    shade(verdict, logit / scale);
    step.textContent = "step " + steps[at];
    slider.setAttribute("aria-valuetext", step.textContent);
    lesson.textContent = lessons[input.value] || "";
    colour(attention, pieces, (_, i) => weights[i] / 0.6,
      (_, i) => "attention " + weights[i].toFixed(3));
    colour(votes, pieces, (id) => b[id] / scale, (id) => "value " + round(b[id]));
  }
  input.addEventListener("input", read);
  slider.addEventListener("input", read);
  root.querySelectorAll("button").forEach((chip) => {
    chip.addEventListener("click", () => { input.value = chip.textContent; read(); });
  });
  read();
  tips(root);
}
