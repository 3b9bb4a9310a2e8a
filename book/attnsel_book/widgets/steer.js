// A review of a few words, and a p to drag until the review is classified correctly.
/* global clean, handleIn, on, pixelsOf, softmax */

// The attention on each word and the logit, for a p in the plane.
function reading({places, values}, p) {
  const weights = softmax(places.map(([x, y]) => x * p[0] + y * p[1]));
  return {weights, logit: weights.reduce((f, q, s) => f + q * values[s], 0)};
}

function steer(root, {words, places, values, start, label, wanted, colours}) {
  const size = 300, frame = [-3, 3, 6, 30];
  const at = (point) => pixelsOf(frame, size, point);
  const colour = (s) => colours[values[s] > 0 ? 1 : 0];
  const arrow = (point, style) => {
    const [[left, top], middle] = [at(point), `x1="${size / 2}" y1="${size / 2}"`];
    return `<line ${middle} x2="${left}" y2="${top}" ${style}/>`;
  };
  const dots = words.map((word, s) => {
    const [x, y] = at(places[s]);
    return arrow(places[s], 'opacity=".35"') + `<circle cx="${x}" cy="${y}" r="5"
      fill="${colour(s)}"/><text x="${+x + 8}" y="${+y + 4}">${clean(word)}</text>`;
  });
  const rows = words.map((word) => `<tr><th scope="row">${clean(word)}</th>
    <td><span class="meter"><span></span></span></td><td></td></tr>`);
  root.innerHTML = `<div class="bar panels"><figure><svg viewBox="0 0 ${size} ${size}">
    <g>${dots.join("")}</g><g class="aim"></g><g class="handle" tabindex="0"
    role="slider" aria-label="p; the arrow keys move it"><circle r="20" opacity="0"/>
    <circle r="7" fill="currentColor"/><text x="11" y="-7">p</text></g></svg></figure>
    <div class="readout"><table><thead><tr><th scope="col">word</th>
    <th scope="col">attention</th><th scope="col">value</th></tr></thead>
    <tbody>${rows.join("")}</tbody></table><p></p><output aria-live="polite"></output>
    <button type="button">Start over</button></div></div>`;
  const handle = root.querySelector(".handle"), aim = root.querySelector(".aim");
  const out = root.querySelector("output"), verdict = root.querySelector("p");
  let p = start;
  function lesson(right, share) {
    if (!right) { return `The label is ${label}, so drag p until the logit agrees.`; }
    if (share < 0.99) {
      return `The review is classified correctly, and ${words[wanted]} has ${
        (100 * share).toFixed(0)}% of the attention. Can you give it 99%?`;
    }
    return "You have solved it. The direction of p decides which word wins, and its"
      + " length decides how sharply. Gradient flow finds such a p by itself.";
  }
  function draw() {
    const {weights, logit} = reading({places, values}, p), right = logit > 0;
    root.querySelectorAll("tbody tr").forEach((row, s) => {
      const bar = row.querySelector(".meter > span");
      bar.style.width = `${100 * weights[s]}%`; bar.style.background = colour(s);
      bar.parentNode.nextSibling?.remove();
      bar.parentNode.after(` ${(100 * weights[s]).toFixed(0)}%`);
      row.cells[2].textContent = values[s].toFixed(1).replace("-", "−");
    });
    verdict.textContent = `The logit is ${logit.toFixed(2).replace("-", "−")}, `
      + `so the review is classified as ${right ? "positive" : "negative"}.`;
    out.textContent = lesson(right, weights[wanted]);
    aim.innerHTML = arrow(p, 'stroke-width="2.5"');
    put(p);
  }
  function move(point) { p = point; draw(); }
  const put = handleIn(frame, size, handle, move);
  on(root.querySelector("button"), "click", () => move(start));
  draw();
}
