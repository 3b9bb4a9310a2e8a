// A scatter plot of tokens: the reader chooses the axes and names points. With a
// slider, a column consists of numbers before a step and their changes per step size.
/* global axis, beside, chart, clean, correlation, dots, heightOf, lookOf, nearest, on,
   onPoints, range, round, unpack, writeNames */
function map(root, data) {
  const {title, tokens, columns, log, colours, groups, slider} = data;
  const labels = columns.map(([label]) => label), [name, least, most] = slider || [""];
  const lines = columns.map(([, parts]) => parts.map(unpack));
  const options = labels.map((label, k) =>
    `<option value="${k}">${clean(label)}</option>`).join("");
  const sizes = `<label>${clean(name)}<input type="range" max="1" step="0.005"
    value="0.5"></label><output></output>`;
  root.innerHTML = `<div class="bar"><label>across<select>${options}</select>
    </label><label>up<select>${options}</select></label><label>find<input type="search"
    placeholder="a token"></label>${slider ? sizes : ""}</div>
    <canvas role="img" tabindex="0"
    aria-label="${clean(title)}; the left and right keys go from point to point">
    </canvas><output aria-live="polite">Point at a token, or search for one.</output>`;
  const [xs, ys, search, size, reading] = root.querySelectorAll(
    ".bar :is(select,input,output)");
  const canvas = root.querySelector("canvas"), out = canvas.nextElementSibling;
  const names = tokens.map((token) => token.toLowerCase());
  let at = -1, places = [], values = [];
  ys.value = 1;
  function draw() {
    const now = slider && least * (most / least) ** size.value;
    values = lines.map((line) => along(line, now));
    if (slider) {
      const fit = correlation(values[xs.value], values[ys.value]);
      reading.textContent = `${now.toFixed(0)}: correlation ${fit.toFixed(3)}`;
      size.setAttribute("aria-valuetext", reading.textContent);
    }
    const [across, up] = [xs, ys].map(({value: k}) => slider
      ? evenAxis(values[k]) : axis(range(values[k]), log[k]));
    const look = {...lookOf(root), width: root.clientWidth};
    canvas.style.height = heightOf(look.width) + "px";
    const {pen, at: placeOf} = chart(canvas, look,
      {across, up, below: labels[xs.value], beside: labels[ys.value]});
    places = tokens.map((_, i) => placeOf(values[xs.value][i], values[ys.value][i]));
    dots(pen, places, groups.map((group) => colours[group]));
    writeNames(pen, look, places, tokens, [at]);
  }
  function show(i, otherwise = out.textContent) {
    at = i; draw();
    out.textContent = i < 0 ? otherwise : tokens[i] + ": "
      + labels.map((label, k) => label + " " + round(values[k][i])).join(", ");
  }
  onPoints(canvas, (x, y) => {
    const best = nearest(places, x, y);
    if (best >= 0) { show(best); }
  }, (by) => show(beside(places, at, by)));
  on(search, "input", () => {
    const word = search.value.trim().toLowerCase(), exact = names.indexOf(word);
    const first = exact < 0 ? names.findIndex((t) => t.startsWith(word)) : exact;
    show(word ? first : -1, word && `No token here begins with ${word}.`);
  });
  root.querySelectorAll("select,[type=range]").forEach((control) =>
    on(control, "input", () => show(at)));
  new ResizeObserver(draw).observe(root);
}

// The axis of a column that a slider moves, linear up to the median, then logarithmic.
function evenAxis(values) {
  const sizes = values.map(Math.abs).sort((a, b) => a - b);
  const most = sizes.at(-1) || 1, near = sizes[sizes.length >> 1] || most;
  const part = (v) => 0.5 + 0.48 * Math.asinh(v / near) / Math.asinh(most / near);
  const power = 10 ** Math.floor(Math.log10(most));
  const tens = power < 200 * near ? [power] : [power, power / 100];
  const ticks = [0, ...tens, ...tens.map((v) => -v)].map((v) => [part(v), round(v)]);
  return {ticks, part};
}

const along = ([before, change], size) =>
  change ? before.map((b, i) => b + size * change[i]) : before;
