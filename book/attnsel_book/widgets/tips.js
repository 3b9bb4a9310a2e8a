// Code shared by the figures: text that is safe as HTML, events, numbers, and tips.

const clean = (text) => new Option(text).innerHTML.replaceAll('"', "&quot;");
// Round to three or more digits; small numbers get a power of ten, and -0 becomes 0.
function round(x, digits = 3) {
  const value = Number(x.toPrecision(digits)) || 0;
  return value && Math.abs(value) < 1e-4 ? String(value.toExponential())
    : value.toLocaleString("en", {maximumSignificantDigits: digits});
}

const sum = (x) => x.reduce((total, each) => total + each, 0);

// The softmax of scores; a score of -Infinity gets the weight 0.
function softmax(scores) {
  const most = Math.max(...scores), odds = scores.map((a) => Math.exp(a - most));
  const total = sum(odds);
  return odds.map((w) => w / total);
}

const on = (element, events, act) => events.split(" ").forEach((name) =>
  element.addEventListener(name, act));

// Call `act` for some keys, and prevent their usual effect.
const onKeys = (element, steps, act) => on(element, "keydown", (event) => {
  if (event.key in steps) { event.preventDefault(); act(steps[event.key]); }
});

// Unpack numbers that Python stored in base64, as 16-bit floats in a common unit.
function unpack({unit, halves}) {
  const bytes = Uint8Array.from(atob(halves), (c) => c.charCodeAt(0));
  return Array.from(new Uint16Array(bytes.buffer), (h) => {
    const exponent = (h >> 10) & 31, fraction = h & 1023;
    const size = exponent ? (1024 + fraction) * 2 ** (exponent - 1) : fraction;
    return (h >> 15 ? -unit : unit) * size * 2 ** -24;
  });
}

// Show the number of a coloured word on hover, on a tap, or with the keys.
function tips(root) {
  const tip = document.createElement("div");
  let shown = null;
  function show(word) {
    shown?.classList.remove("shown");
    word?.classList.add("shown");
    shown = word; tip.hidden = !word;
    if (!word) { return; }
    tip.textContent = word.textContent + ": " + word.dataset.tip;
    const [box, frame] = [word, root].map((e) => e.getBoundingClientRect());
    const most = frame.width - tip.offsetWidth;
    tip.style.left = Math.max(0, Math.min(box.left - frame.left, most)) + "px";
    tip.style.top = box.top - frame.top - tip.offsetHeight - 4 + "px";
  }
  tip.className = "tip"; tip.hidden = true; tip.setAttribute("role", "status");
  root.append(tip);
  on(root, "pointerover click", ({target}) => show(target.closest("[data-tip]")));
  on(root, "pointerleave focusout", () => show(null));
  root.querySelectorAll(".attnsel-text").forEach((text) =>
    onKeys(text, {ArrowLeft: -1, ArrowRight: 1, Escape: 0}, (step) => {
      const words = [...text.querySelectorAll("[data-tip]")];
      show(step ? words[words.indexOf(shown) + step] || shown : null);
    }));
}
