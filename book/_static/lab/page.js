// A place in a page where the model is trained: controls, and a worker that computes and
// draws; the page tells it what is looked at, and shows what it says.
/* global attnselLab, changed, clean, colourOf, heightOf, knobsFrom, lookOf, on, onKeys, reviewsTab, round, setForm, stagesTab, startWorker, tips */
const TABS = {reviews: reviewsTab, stages: stagesTab};
const HERE = typeof document === "undefined" ? "" : document.currentScript.src;

function laboratory(root) {
  const given = new URLSearchParams(root.dataset.knobs), isPage = given.has("page");
  const linked = () => new URLSearchParams(location.hash.slice(1));
  const isTab = (address) => Object.hasOwn(TABS, address.get("tab") ?? "");
  const tabs = {};
  let lab = null, followed = location.hash;
  // A tab that is left pauses, and comes back as it was; a link begins it anew.
  function show(kind, address) {
    if (lab?.number) { go(lab, 0); }
    lab?.place.remove();
    if (address || !tabs[kind]) {
      tabs[kind]?.worker?.terminate();
      tabs[kind] = open(root, kind, isPage, address);
      tabs[kind].place.querySelectorAll("[aria-pressed=false]").forEach((button) =>
        on(button, "click", () => {
          show(button.dataset.tab);
          lab.part("[aria-pressed=true]").focus();  // the button that has its place
        }));
    }
    lab = tabs[kind];
    root.append(lab.place);
    look(lab);
  }
  const follow = (address) =>
    show(isTab(address) ? address.get("tab") : "reviews", address);
  root.classList.toggle("small", given.has("small"));
  follow(isPage ? linked() : given);
  new MutationObserver(() => look(lab)).observe(document.documentElement,
    {attributes: true});  // the theme
  // Another link to knobs, in a tab that shows the page already; not one's own, nor the
  // same once more, on the way back from a heading.
  if (isPage) {
    on(window, "hashchange", () => {
      if (!isTab(linked()) || location.hash === followed) { return; }
      followed = location.hash;
      if (followed !== lab.part(".link").hash) { follow(linked()); }
    });
  }
}

// Show a tab, as it is before a run.
function open(root, kind, isPage, address = new URLSearchParams()) {
  const {content} = root.querySelector(`template[data-kind=${kind}]`), tab = TABS[kind];
  const place = content.firstElementChild.cloneNode(true);
  const part = (selector) => place.querySelector(selector);
  const lab = {place, part, kind, tab, isPage, knobs: knobsFrom(kind, address), number: 0,
    worker: null, news: new Map(), shown: new Map(), play: part(".play").textContent};
  on(part(".play"), "click", () => go(lab, lab.going ? 0 : tab.steps, lab.ended));
  on(part(".step"), "click", () => go(lab, 1, lab.ended));
  on(part(".again"), "click", () => go(lab, 0, true));
  // What ran begins anew, and goes on if it was going, once a knob is let go.
  on(part("form"), "input", ({target}) => turn(lab, target));
  on(part("form"), "change", () =>
    lab.number && go(lab, lab.going ? tab.steps : 0, true));
  on(part(".read input"), "input", ({target}) => send(lab, "show", {text: target.value}));
  place.querySelectorAll("[data-try]").forEach((button) => on(button, "click", () => {
    lab.knobs = knobsFrom(kind, new URLSearchParams(button.dataset.try));
    setKnobs(lab); go(lab, tab.steps, true);
  }));
  if (kind === "reviews") { watch(lab); }
  new ResizeObserver(() => look(lab)).observe(part(".panels"));
  tips(place); setKnobs(lab);
  return lab;
}

// The switches of view, and words that are pointed at, reached by keys or searched for.
function watch(lab) {
  const [leans, beside, search] = ["select", "[type=checkbox]", "[type=search]"].map(
    (selector) => lab.part(`.seen ${selector}`));
  const canvases = [...lab.place.querySelectorAll("canvas")];
  const show = () => {
    canvases.slice(2).forEach((canvas) => { canvas.parentNode.hidden = !beside.checked; });
    send(lab, "show", {view: leans.selectedIndex, beside: beside.checked});
  };
  on(leans, "change", show); on(beside, "change", show); show();
  on(search, "input", () =>
    send(lab, "find", search.value.trim().toLowerCase().replaceAll("’", "'")));
  canvases.forEach((canvas, panel) => {
    on(canvas, "pointermove pointerdown", ({clientX, clientY}) => {
      const {left, top} = canvas.getBoundingClientRect();
      send(lab, "near", {panel, x: clientX - left, y: clientY - top});
    });
    onKeys(canvas, {ArrowLeft: -1, ArrowRight: 1, PageDown: -50, PageUp: 50}, (by) =>
      send(lab, "move", {panel, by}));
  });
}

// A knob was turned.
function turn(lab, control) {
  lab.knobs[control.name] = valueOf(lab.kind, control);
  if (control.name === "optimizer") {  // with a step size that suits it
    lab.knobs.rate = lab.knobs.optimizer === "gd" ? 3 : 0.01;
  }
  setKnobs(lab);
}

// Show the knobs as they stand, in the form and in the link.
function setKnobs({part, kind, knobs, isPage}) {
  const address = [`tab=${kind}`, ...changed(kind, knobs).map((pair) => pair.join("="))];
  setForm(part("form"), kind, knobs);
  part(".link").href = `${isPage ? "" : "train.html"}#${address.join("&")}`;
}

// Take steps, 0 to pause; `anew` from a new start.
async function go(lab, steps, anew = false) {
  lab.part(".told").ariaBusy = true;
  lab.ready ??= prepare(lab);  // once, however often one presses meanwhile
  if (!await lab.ready) { lab.ready = null; lab.part(".told").ariaBusy = false; return; }
  if (!lab.place.isConnected) { steps = 0; }  // another tab was opened meanwhile
  if (anew || !lab.number) {
    lab.number += 1;
    send(lab, "begin", {number: lab.number, kind: lab.kind, knobs: lab.knobs});
  }
  send(lab, "go", steps);
}

// What a first run needs, and whether it is there: the worker before what it is told by.
// On a slow phone all that appears and begins would be one long task: each waits a frame.
async function prepare(lab) {
  const reviews = lab.kind === "reviews" ? await reviewsFor(lab) : {};
  if (!reviews || !lab.place.isConnected) { return false; }  // or another tab is open
  newWorker(lab);
  if (reviews.texts) { send(lab, "load", reviews); }
  for (const section of lab.place.querySelectorAll(".seen")) {
    await nextFrame();
    section.hidden = false;
  }
  await nextFrame();
  look(lab);
  return true;
}

const nextFrame = () => new Promise((done) => {
  requestAnimationFrame(() => setTimeout(done));
});

// Reviews come as a script, since a page opened from the disk may load no other file.
const fetchReviews = (source) => new Promise((resolve, reject) => {
  const script = document.createElement("script");
  window.attnselReviews = (stored) => resolve({source, ...stored});
  on(script, "error", () => reject(new Error(`${source}.js could not be loaded`)));
  script.src = new URL(`lab/${source}.js`, HERE);
  document.head.append(script);
});

// The reviews, fetched once, when a first place asks; or nothing, and then the page says
// why, and one may try again.
let fetched = null;
async function reviewsFor({part}) {
  const note = part(".note");
  if (!fetched) { note.textContent = "fetching the reviews …"; }
  fetched ??= fetchReviews("imdb").catch(() => fetchReviews("generated"));
  try {
    const reviews = await fetched;
    note.textContent = reviews.source === "imdb" ? ""
      : "The IMDB reviews could not be fetched; these are generated ones.";
    return reviews;
  } catch ({message}) {
    fetched = null;
    note.textContent = `${message}: no reviews are there. Press Train to try again.`;
    return null;
  }
}

// A worker, to which all canvases go over.
function newWorker(lab) {
  const code = new Blob([`(${attnselLab})();`], {type: "text/javascript"});
  const canvases = [...lab.place.querySelectorAll("canvas")].map((canvas) =>
    canvas.transferControlToOffscreen());
  lab.worker = new Worker(URL.createObjectURL(code));
  on(lab.worker, "message", ({data}) => {
    if (data.number === lab.number) { tell(lab, data); }
  });
  send(lab, "show", {canvases, text: lab.part(".read input").value,
    still: matchMedia("(prefers-reduced-motion: reduce)").matches}, canvases);
}

const send = ({worker}, name, content, transferred = []) =>
  worker?.postMessage([name, content], transferred);

// How wide the canvases are, and in which colours and letters the page stands.
function look(lab) {
  const canvas = lab.part("canvas");
  if (!lab.worker || !canvas.clientWidth) { return; }
  const seen = lookOf(canvas), {backgroundColor: paper} = getComputedStyle(document.body);
  lab.place.querySelectorAll("canvas").forEach(({style}) => {
    style.height = `${heightOf(seen.width)}px`;
  });
  send(lab, "show", {look: {...seen, paper}});
}

// What the worker says of the run: its state, and more where it is to be seen.
function tell(lab, {going, ended, status, last, told, point, runs, reading}) {
  const {part, news} = lab;
  Object.assign(lab, {going, ended});
  part(".play").textContent = going ? "Pause" : ended ? lab.play : "Go on";
  for (const place of [".point", ".read output"]) {  // they are read out at its end
    part(place).ariaLive = going ? "off" : "polite";
  }
  news.set(".status", status);
  if (told) {
    const rows = [...lab.place.querySelectorAll("tbody th")].map((head, k) => {
      const cells = runs.map((run) => `<td>${clean(run[k])}</td>`);
      return `<tr>${head.outerHTML}${cells.join("")}</tr>`;
    });
    news.set(".told", clean(told)).set(".point", clean(point)).set(".last", last)
      .set(".runs tbody", rows.join(""));
  }
  if (reading) {
    news.set(".read output", reading.verdict)
      .set(".attnsel-text", reading.pieces.map(pieceOf).join(""));
  }
  if (!lab.shows) { showNews(lab); }
}

// One piece of news a frame: on a slow phone all of them would be one long task.
async function showNews(lab) {
  const {news, part, shown} = lab;
  lab.shows = true;
  for (const [place, words] of news) {  // also what comes meanwhile
    news.delete(place);
    const text = document.activeElement.closest(".attnsel-text");  // keys go over it
    if (shown.get(place) === words || (lab.going && part(place) === text)) { continue; }
    shown.set(place, words); part(place).innerHTML = words;
    await nextFrame();
  }
  lab.shows = false;
  part(".told").ariaBusy = lab.going;
}

// A piece of one's own text, in the colour of its value as strong as the attention on it.
function pieceOf([text, attention, value]) {
  if (attention === undefined) {
    return `<span class="${text.trim() && "unknown"}">${clean(text)}</span>`;
  }
  const alpha = Math.round(153 * Math.min(1, attention / 0.6)).toString(16);
  const tip = `attention ${attention.toFixed(3)}, value ${round(value)}`;
  return `<span style="background:${colourOf(value)}${alpha.padStart(2, "0")}"
    data-tip="${tip}">${clean(text)}</span>`;
}

if (HERE) {
  document.querySelectorAll(".attnsel-lab").forEach(laboratory);
} else {
  startWorker();
}
