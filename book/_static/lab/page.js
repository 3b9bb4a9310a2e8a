// A place in a page where the model is trained: controls, drawings and a worker.
const TABS = {reviews: reviewsTab, stages: stagesTab};
const HERE = typeof document === "undefined" ? "" : document.currentScript.src;
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// The reviews, fetched once, when a first place asks: a script, since a page opened from
// the disk may load no other file.
let fetched = null;
function fetchReviews() {
  const load = (name) => new Promise((resolve, reject) => {
    const script = document.createElement("script");
    window.attnselReviews = (stored) => resolve({...stored, source: name});
    on(script, "error", () => reject(new Error(`${name}.js could not be loaded`)));
    script.src = new URL(`lab/${name}.js`, HERE);
    document.head.append(script);
  });
  fetched ??= load("imdb").catch(() => load("generated"));
  return fetched;
}

function laboratory(root) {
  const given = new URLSearchParams(root.dataset.knobs), isPage = given.has("page");
  const address = isPage ? new URLSearchParams(location.hash.slice(1)) : given;
  const lab = {root, isPage, isSmall: given.has("small"), number: 0, loaded: false};
  open(lab, address.get("tab") in TABS ? address.get("tab") : "reviews", address);
}

// Show a tab, as it is before a run.
function open(lab, kind, address) {
  const {root} = lab, tab = TABS[kind];
  lab.worker?.terminate();
  Object.assign(lab, {kind, tab, knobs: knobsFrom(kind, address), worker: null, last: null,
    loaded: false, begun: false, going: false, view: 0, beside: false, at: -1, records: [],
    scores: null});
  const tabs = Object.entries(TABS).map(([name, {title}]) => `<button type="button"
    data-tab="${name}" aria-pressed="${name === kind}">${title}</button>`);
  const tries = Object.entries(tab.tries).map(([name, knobs]) =>
    `<button type="button" data-try="${knobs}">${name}</button>`);
  const figure = (title) => `<figure hidden><canvas role="img" tabindex="0"
    aria-label="${title}"></canvas><figcaption>${title}</figcaption></figure>`;
  root.classList.toggle("small", lab.isSmall);
  root.innerHTML = `${lab.isPage ? `<div class="bar tabs">${tabs.join("")}</div>` : ""}
    <div class="bar"><button type="button" class="play">${tab.play}</button>
    <button type="button" class="step full">One step</button>
    <button type="button" class="again full">Start again</button>
    <output class="status"></output></div><div class="bar full tries">try ${tries.join("")}
    </div><p class="note"></p><div class="panels">${tab.panels.map(figure).join("")}</div>
    <div class="bar view" hidden>${tab.view}</div><output class="point" aria-live="polite"
    hidden></output><p class="told" aria-live="polite"></p>
    <details class="full" ${lab.isPage ? "open" : ""}><summary>Knobs</summary>
    <form>${knobForm(kind, lab.knobs)}</form></details>
    <div class="full scroll" tabindex="0" role="region" aria-label="this run and the last">
    <table class="runs" hidden></table></div>
    <div class="read" hidden><div class="bar"><label>Your own text <input type="text"
    value="${clean(tab.text)}" autocomplete="off" spellcheck="false"></label>
    <output aria-live="polite"></output></div><div class="attnsel-text" tabindex="0"
    role="group" aria-label="attention on the words; the left and right keys go over them">
    </div></div><p class="full"><a class="link">A link to these knobs</a></p>`;
  const part = (selector) => root.querySelector(selector);
  on(part(".play"), "click", () => go(lab, lab.going ? 0 : tab.steps));
  on(part(".step"), "click", () => go(lab, 1));
  on(part(".again"), "click", () => go(lab, 1, true));
  on(part("form"), "change", ({target}) => turn(lab, target));
  on(part(".read input"), "input", () => read(lab));
  root.querySelectorAll("[data-tab]").forEach((button) => on(button, "click", () =>
    open(lab, button.dataset.tab, new URLSearchParams())));
  root.querySelectorAll("[data-try]").forEach((button) => on(button, "click", () => {
    lab.knobs = knobsFrom(kind, new URLSearchParams(button.dataset.try));
    part("form").innerHTML = knobForm(kind, lab.knobs);
    link(lab); go(lab, tab.steps, true);
  }));
  if (kind === "reviews") { watch(lab, part); }
  new ResizeObserver(() => redraw(lab)).observe(part(".panels"));
  tips(root); link(lab);
}

// The switches of view, and words that are pointed at, reached by keys or searched for.
function watch(lab, part) {
  const [leans, beside, search] = ["select", "[type=checkbox]", "[type=search]"].map(
    (selector) => part(`.view ${selector}`));
  const show = (s) => {
    if (lab.records.length) { lab.at = s; lab.tab.point(lab); redraw(lab); }
  };
  on(leans, "change", () => { lab.view = leans.selectedIndex; redraw(lab); });
  on(beside, "change", () => { lab.beside = beside.checked; redraw(lab); });
  on(search, "input", () => {
    const word = search.value.trim().toLowerCase(), exact = lab.names.indexOf(word);
    show(exact < 0 && word ? lab.names.findIndex((name) => name.startsWith(word)) : exact);
  });
  lab.root.querySelectorAll("canvas").forEach((canvas, k) => {
    on(canvas, "pointermove pointerdown", ({clientX, clientY}) => {
      const {left, top} = canvas.getBoundingClientRect();
      const away = lab.places[k].map(([x, y]) =>
        Math.hypot(x + left - clientX, y + top - clientY));
      const best = away.reduce((near, x, s) => x < away[near] ? s : near, 0);
      if (away[best] < 30) { show(best); }
    });
    onKeys(canvas, {ArrowLeft: -1, ArrowRight: 1, PageDown: -50, PageUp: 50}, (step) => {
      const order = [...lab.names.keys()].sort((s, t) =>
        lab.places[k][s][0] - lab.places[k][t][0]);
      const next = lab.at < 0 ? 0 : order.indexOf(lab.at) + step;
      show(order[Math.max(0, Math.min(order.length - 1, next))]);
    });
  });
}

// A knob was turned: what ran begins anew, and goes on if it was going.
function turn(lab, control) {
  const {going} = lab;
  lab.knobs[control.name] = valueOf(lab.kind, control);
  if (control.type === "range") {
    control.setAttribute("aria-valuetext", lab.knobs[control.name]);
    control.nextElementSibling.textContent = lab.knobs[control.name].toLocaleString("en");
  }
  if (control.name === "optimizer") {  // with a step size that suits it
    lab.knobs.rate = lab.knobs.optimizer === "gd" ? 3 : 0.01;
    lab.root.querySelector("form").innerHTML = knobForm(lab.kind, lab.knobs);
    lab.root.querySelector("[name=optimizer]").focus();
  }
  link(lab);
  if (lab.begun) { go(lab, going ? lab.tab.steps : 1, true); }
}

function link({root, kind, knobs, isPage}) {
  const address = [`tab=${kind}`, ...changed(kind, knobs)].join("&");
  root.querySelector(".link").href = `${isPage ? "" : "train.html"}#${address}`;
}

// Begin a run; the one before stays in view, if it took a step.
function begin(lab) {
  if (lab.records.length > 1) { lab.last = ranRow(lab); }
  lab.number += 1;
  Object.assign(lab, {begun: true, records: [], first: null, at: -1, ran: {...lab.knobs}});
  send(lab, "begin", {number: lab.number, kind: lab.kind, knobs: lab.ran});
}

// Take steps, 0 to pause; `anew` from a new start.
async function go(lab, steps, anew = false) {
  lab.root.querySelector(".play").disabled = true;
  if (lab.kind === "reviews" && !lab.loaded) {
    lab.root.querySelector(".status").textContent = "fetching the reviews …";
    try {
      const stored = await fetchReviews();
      send(lab, "load", stored); lab.loaded = true;
      lab.root.querySelector(".note").textContent = stored.source === "imdb" ? ""
        : "The IMDB reviews could not be fetched; these are generated ones.";
    } catch ({message}) {
      lab.root.querySelector(".status").textContent = message;
      return;
    }
  }
  if (anew || !lab.begun) { begin(lab); }
  send(lab, "go", steps);
}

function send(lab, name, content) {
  if (!lab.worker) {
    const code = new Blob([`(${attnselLab})();`], {type: "text/javascript"});
    lab.worker = new Worker(URL.createObjectURL(code));
    on(lab.worker, "message", ({data}) => { hear(lab, data); });
  }
  lab.worker.postMessage([name, content]);
}

// What the worker says: the names of a new run, or what its last steps led to.
function hear(lab, {number, names, leans, records, scores, fits, going}) {
  if (number !== lab.number) { return; }
  if (names) {
    lab.ids = new Map(names.map((name, s) => [name, s]));
    Object.assign(lab, {names, leans});
    lab.tab.prepare?.(lab);
    return;
  }
  lab.records.push(...records); lab.first ??= scores;
  Object.assign(lab, {scores, fits, going});
  const play = lab.root.querySelector(".play");
  play.disabled = false; play.textContent = going ? "Pause" : lab.tab.play;
  lab.root.querySelector(".status").textContent = lab.tab.status(lab);
  if (!going || !still()) { redraw(lab); }
}

// Draw once a frame, whatever asks for it.
function redraw(lab) {
  if (!lab.scores || lab.frame) { return; }
  lab.frame = requestAnimationFrame(() => {
    const {root, tab} = lab;
    lab.frame = null;
    if (!lab.records.length) { return; }  // a run has just begun
    root.querySelectorAll("figure,.view,.point,.runs,.read").forEach((hidden) => {
      hidden.hidden = hidden.matches(".point") && lab.kind !== "reviews";
    });
    tab.draw(lab); tab.point?.(lab);
    root.querySelector(".told").textContent = tab.sentence(lab);
    root.querySelector(".runs").innerHTML = comparison(lab);
    read(lab);
  });
}

// This run and the last one, as the rows of a table.
function comparison(lab) {
  const row = (cells, kind) => `<tr>${cells.map((cell) =>
    `<${kind}>${clean(String(cell))}</${kind}>`).join("")}</tr>`;
  const rows = [["this", ...ranRow(lab)], ...(lab.last ? [["last", ...lab.last]] : [])];
  return `<thead>${row(["run", ...lab.tab.columns, "knobs"], "th")}</thead><tbody>${
    rows.map((cells) => row(cells, "td")).join("")}</tbody>`;
}

const ranRow = (lab) => [...lab.tab.row(lab),
  changed(lab.kind, lab.ran).join(", ") || "as they were set"];

// One's own text, read by the model as it now stands.
function read({root, ids, scores}) {
  const [input, verdict, text] = ["input", "output", ".attnsel-text"].map((selector) =>
    root.querySelector(`.read ${selector}`));
  const pieces = tokenize(input.value, ids), {a, b} = scores;
  const {weights, logit} = attend(pieces, a, b);
  verdict.textContent = Number.isNaN(logit) || !pieces.some(([, id]) => id >= 0)
    ? "No word here is in the vocabulary."
    : `logit ${round(logit)}: ${logit > 0 ? "positive" : "negative"}`;
  const shade = (weight) => Math.round(153 * Math.min(1, weight / 0.6)).toString(16)
    .padStart(2, "0");
  const coloured = (id, weight) => `style="background:${colourOf(b[id])}${shade(weight)}"
    data-tip="attention ${weight.toFixed(3)}, value ${round(b[id])}"`;
  text.innerHTML = pieces.map(([piece, id], i) => `<span ${id < 0
    ? `class="${piece.trim() && "unknown"}"` : coloured(id, weights[i])}>${
    clean(piece)}</span>`).join("");
}

if (HERE) {
  document.querySelectorAll(".attnsel-lab").forEach(laboratory);
} else {
  startWorker();
}
