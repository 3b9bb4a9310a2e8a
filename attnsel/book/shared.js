// What the figures share: numbers as text and packed, charts on a canvas, tips.

const round = (x) => Number(x.toPrecision(3)).toLocaleString("en");

// Numbers that Python packed as 16-bit floats in units of the greatest, in base64.
function unpack({unit, halves}) {
  const bytes = Uint8Array.from(atob(halves), (c) => c.charCodeAt(0));
  return Float64Array.from(new Uint16Array(bytes.buffer), (h) => {
    const exponent = (h >> 10) & 31, fraction = h & 1023;
    const size = exponent ? (1024 + fraction) * 2 ** (exponent - 1) : fraction;
    return (h >> 15 ? -unit : unit) * size * 2 ** -24;
  });
}

// Draw the frame of a chart. An axis has a label, ticks [[part of its length, text]];
// the returned function places such parts, in pixels.
function chart(root, canvas, across, up) {
  const pen = canvas.getContext("2d"), ink = getComputedStyle(root);
  const width = canvas.parentElement.clientWidth;
  const height = Math.max(300, Math.min(460, width * 0.62));
  const scale = window.devicePixelRatio || 1;
  const left = 52, right = width - 12, top = 10, bottom = height - 42;
  canvas.width = width * scale; canvas.height = height * scale;
  canvas.style.height = height + "px"; pen.scale(scale, scale);
  const place = (x, y) => [left + x * (right - left), bottom + y * (top - bottom)];
  const text = (words, x, y, align = "center") => {
    pen.textAlign = align; pen.fillText(words, x, y);
  };
  pen.fillStyle = pen.strokeStyle = ink.color; pen.font = "13px " + ink.fontFamily;
  across.ticks.forEach(([at, words]) => text(words, place(at, 0)[0], bottom + 16));
  up.ticks.forEach(([at, words]) =>
    text(words, left - 6, place(0, at)[1] + 4, "right"));
  text(across.label, (left + right) / 2, bottom + 34);
  pen.save(); pen.translate(12, (top + bottom) / 2); pen.rotate(-Math.PI / 2);
  text(up.label, 0, 0); pen.restore();
  pen.globalAlpha = 0.2;
  across.ticks.forEach(([at]) => pen.fillRect(place(at, 0)[0], top, 1, bottom - top));
  up.ticks.forEach(([at]) => pen.fillRect(left, place(0, at)[1], right - left, 1));
  pen.globalAlpha = 1;
  return {pen, place, text, width};
}

// Draw again when the figure gets another width or the page another theme.
function redraw(root, draw) {
  new ResizeObserver(draw).observe(root);
  new MutationObserver(draw).observe(document.documentElement, {attributes: true});
}

// Tell the number of a coloured word: under the pointer, where one taps, by the keys.
function tips(root) {
  const tip = document.createElement("div");
  let shown = null;
  function show(word) {
    shown?.classList.remove("shown");
    shown = word;
    tip.hidden = !word;
    if (!word) { return; }
    word.classList.add("shown");
    tip.textContent = word.textContent + ": " + word.dataset.tip;
    const [box, frame] = [word, root].map((e) => e.getBoundingClientRect());
    const most = frame.width - tip.offsetWidth;
    tip.style.left = Math.max(0, Math.min(box.left - frame.left, most)) + "px";
    tip.style.top = box.top - frame.top - tip.offsetHeight - 4 + "px";
  }
  const named = (event) => event.target.closest("[data-tip]");
  tip.className = "tip"; tip.setAttribute("role", "status");
  root.append(tip);
  show(null);
  root.addEventListener("pointerover", (event) => show(named(event)));
  root.addEventListener("pointerleave", () => show(null));
  root.addEventListener("click", (event) => show(named(event)));
  root.addEventListener("focusout", () => show(null));
  root.addEventListener("keydown", (event) => {
    const text = event.target.closest(".attnsel-text");
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!text || !(step || event.key === "Escape")) { return; }
    event.preventDefault();
    const words = [...text.querySelectorAll("[data-tip]")];
    show(step ? words[words.indexOf(shown) + step] || shown : null);
  });
}
