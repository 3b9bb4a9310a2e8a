// The part of a page in which the model is trained: controls, and a worker that computes
// and draws. The page sends commands and views, and shows the answers of the worker.
/* global CLASSES, HERE, LOOKS, SETTINGS, addressOf, clean, fetchReviews, fillForm, inWordsOf, lineup, lookAddress, looksFrom, on, onPoints, percent, readControl, reviewsTab, settingsFrom, stagesTab, startWorker, unable, unknownIn, workerFor */
const TABS = {reviews: reviewsTab, stages: stagesTab};

function laboratory(root) {
  const given = new URLSearchParams(root.dataset.settings), isPage = given.has("page");
  const linked = () => new URLSearchParams(location.hash.slice(1));
  const isTab = (address) => Object.hasOwn(TABS, address.get("tab") ?? "");
  const tabs = {};
  let lab = null, isSeen = false;
  // On its own page a tab shows the initialization as soon as it is in view.
  const begin = () => { if (isPage && isSeen && !lab.number) { go(lab, 0); } };
  // A tab pauses when another one opens, and keeps its state; a link resets it.
  function show(kind, address) {
    if (lab?.number) { go(lab, 0); }
    lab?.place.remove();
    if (address || !tabs[kind]) {
      tabs[kind]?.worker?.end();
      tabs[kind] = openTab(root, kind, isPage, address);
      on(tabs[kind].place, "click", ({target: {name, value}}) => {
        if (name !== "tab" || value === lab.kind) { return; }
        show(value); keep(lab);
        lab.part(`[name=tab][value=${value}]`).focus();  // the button in the new tab
      });
    }
    lab = tabs[kind];
    root.append(lab.place);
    begin();
  }
  function follow(address) {
    show(isTab(address) ? address.get("tab") : "reviews", address);
    if (isPage && isTab(address)) { sayLink(lab, address); root.scrollIntoView(); }
  }
  root.classList.toggle("small", given.has("small"));
  follow(isPage ? linked() : given);
  new IntersectionObserver(([{isIntersecting}]) => { isSeen ||= isIntersecting; begin(); })
    .observe(root);
  // A link was opened while the page is shown; ignore the address of the current state.
  if (isPage) {
    on(window, "hashchange", () => {
      const isOther = (location.hash || "#tab=reviews") !== lab.address;
      if (isOther && (isTab(linked()) || !location.hash)) { follow(linked()); }
    });
  }
}

// Show the settings of a link, and the parts that the page does not know.
function sayLink({part, kind, settings}, address) {
  const unknown = unknownIn(kind, address).map(([key, value]) => `${key}=${value}`);
  part(".linked").textContent = `The link has these settings: ${inWordsOf(kind, settings)}.${
    unknown.length ? ` The page does not know ${unknown.join(", ")} and uses the default.` : ""}`;
}

// Show a tab in its state before a run.
function openTab(root, kind, isPage, address = new URLSearchParams()) {
  const {content} = root.querySelector(`template[data-kind=${kind}]`);
  const place = content.firstElementChild.cloneNode(true);
  const part = (selector) => place.querySelector(selector);
  const lab = {place, part, kind, tab: TABS[kind], isPage, number: 0, worker: null,
    settings: settingsFrom(kind, address), news: new Map(), shown: new Map(),
    play: part(".play").textContent, looks: looksFrom(address), seen: {},
    still: root.querySelector("noscript").textContent};
  const search = part("[type=search]");
  on(place, "click", ({target}) => {
    const button = target.closest("button");
    if (button) { PRESSED[button.name]?.(lab, button); }
  });
  // When a setting changes, restart the run, and let it continue if it was running.
  on(part("form"), "change", ({target}) => {
    lab.settings[target.name] = readControl(kind, target);
    if (target.name === "optimizer") {  // with a step size that suits it
      lab.settings.rate = lab.settings.optimizer === "gd" ? 3 : 0.01;
    }
    keep(lab);
    if (lab.number) { go(lab, lab.going ? lab.tab.steps : 0, true); }
  });
  on(part(".scrub"), "input", ({target}) => {
    if (lab.going) { go(lab, 0); }
    see(lab, {step: Number(target.value)});
  });
  if (search) {
    on(search, "input", () =>
      send(lab, "find", search.value.trim().toLowerCase().replaceAll("’", "'")));
    on(part(".across"), "change", ({target}) => { look(lab, "across", target.value); keep(lab); });
    Object.entries(lab.looks).forEach(([name, value]) => look(lab, name, value));
  }
  place.querySelectorAll("canvas[tabindex]").forEach((canvas, panel) => {
    onPoints(canvas, (x, y) => send(lab, "near", {panel, x, y}),
      (by) => send(lab, "move", {panel, by}));
  });
  showSettings(lab);
  return lab;
}

// The actions of the buttons.
const PRESSED = {
  train: (lab) => {
    // Scroll, so that the whole first training is in view.
    if (lab.isPage && lab.place.getBoundingClientRect().top > 0) { lab.place.scrollIntoView(); }
    go(lab, lab.going ? 0 : lab.tab.steps, lab.ended);
  },
  step: (lab) => go(lab, 1, lab.ended),
  restart: (lab) => go(lab, 0, true),
  attempt: (lab, {value}) => {
    const address = new URLSearchParams(value);
    lab.settings = settingsFrom(lab.kind, address);
    keep(lab, "pushState"); go(lab, lab.tab.steps, true);
  },
  eta: (lab, {value}) => {
    lab.settings.eta = Number(value);
    keep(lab); go(lab, lab.tab.steps, true);
  },
  sweep: (lab) => go(lab, 0).then(() => send(lab, "sweep", SETTINGS[lab.kind][0])),
  look: (lab, {value}) => { look(lab, ...value.split("=")); keep(lab); },
  speed: (lab, {value}) => look(lab, "speed", value),
  copy: async (lab, button) => {
    keep(lab);
    await navigator.clipboard?.writeText(location.href).catch(() => {});
    button.textContent = navigator.clipboard ? "The link is copied" : "Copy it from the address bar";
  },
};

// Change the view; this is remembered even before the worker starts.
function see(lab, changes) {
  Object.assign(lab.seen, changes);
  send(lab, "show", changes);
}

// Change the words or their order, and record this in the address.
function look(lab, name, value) {
  if (name in LOOKS) { lab.looks[name] = value; }
  for (const button of lab.place.querySelectorAll(`[value^="${name}="], [name=${name}]`)) {
    button.ariaPressed = String(button.value.split("=").pop() === value);
  }
  if (name === "across") { lab.part(".across").value = value; }
  see(lab, {[name === "words" ? "least" : name]: name === "across" ? value : Number(value)});
}

// Show the settings in the form, in the buttons that set them and in the link.
function showSettings(lab) {
  const {part, place, kind, settings, isPage} = lab, set = addressOf(kind, settings);
  lab.address = `#${[`tab=${kind}`, set, lookAddress(lab.looks)].filter(String).join("&")}`;
  fillForm(part("form"), kind, settings);
  for (const button of place.querySelectorAll("[name=attempt]")) {
    button.ariaPressed = set === addressOf(kind,
      settingsFrom(kind, new URLSearchParams(button.value)));
  }
  for (const button of place.querySelectorAll("button[name=eta]")) {
    button.ariaPressed = button.value === String(settings.eta);
  }
  if (!isPage) { part(".link").href = `train.html${lab.address}`; }
}

// Show the settings that somebody chose, also in the address bar.
// A preset gets an entry in the history, so that the back button works.
function keep(lab, how = "replaceState") {
  showSettings(lab);
  lab.part(".linked").textContent = "";
  if (lab.isPage) { history[how](null, "", lab.address); }
}

// Take steps, or pause if `steps` is 0; `anew` starts from a new initialization.
async function go(lab, steps, anew = false) {
  if (unable()) {
    lab.part(".note").innerHTML = `This browser cannot train the model. ${lab.still}`;
    return;
  }
  lab.part(".outcome").ariaBusy = lab.isBusy = true;
  lab.ready ??= prepare(lab);  // once, even if the button is pressed again
  if (!await lab.ready) { lab.ready = null; lab.part(".outcome").ariaBusy = false; return; }
  if (!lab.place.isConnected) { steps = 0; }  // another tab is open now
  if (anew || !lab.number) {
    lab.number += 1;
    send(lab, "begin", {number: lab.number, kind: lab.kind, settings: lab.settings});
  }
  lab.turn = (lab.turn ?? 0) + 1;
  send(lab, "go", {steps, turn: lab.turn});
}

// Prepare a first run, and return whether this worked. Each part waits for a frame, because
// together they would be one long task on a slow phone.
async function prepare(lab) {
  const reviews = lab.kind === "reviews" ? await reviewsFor(lab) : {};
  if (!reviews || !lab.place.isConnected) { return false; }  // no reviews, or another tab
  newWorker(lab);
  if (reviews.texts) { send(lab, "load", reviews); }
  for (const section of lab.place.querySelectorAll(".seen")) {
    await nextFrame();
    section.hidden = false;
  }
  await nextFrame();
  return true;
}

const nextFrame = () => new Promise((done) => {
  requestAnimationFrame(() => setTimeout(done));
});

// Fetch the reviews once, when they are first needed. If this fails, the page says why, and
// the reader can try again.
let fetched = null;
async function reviewsFor({part}) {
  const note = part(".note");
  // Show the note only after a delay, because a brief note would make the page jump.
  const late = setTimeout(() => { note.textContent = "Loading the reviews …"; }, 300);
  const from = (source) => fetchReviews(`lab/${source}.js`)
    .then((stored) => ({source, ...stored}));
  fetched ??= from("imdb").catch(() => from("generated"));
  try {
    const reviews = await fetched;
    clearTimeout(late);
    note.textContent = reviews.source === "imdb" ? ""
      : "The IMDB reviews could not be loaded, so the page uses generated ones.";
    return reviews;
  } catch {
    fetched = null;
    clearTimeout(late);
    note.textContent = "The reviews could not be loaded, because there is no connection. Press Train to try again.";
    return null;
  }
}

function newWorker(lab) {
  lab.worker = workerFor(lab.place, "lab", (data) => {
    if (data.number === lab.number) { showRun(lab, data); }
  });
  send(lab, "show", lab.seen);
}

const send = ({worker}, name, content) => worker?.send(name, content);

// Show the state of a run, and details if they are in view.
function showRun(lab, {turn, going, ended, step, steps, status, last, outcome, headline, names, point,
  shares}) {
  const {part, news, place} = lab, scrub = part(".scrub");
  Object.assign(lab, {going, ended, isBusy: going || turn !== lab.turn});
  scrub.max = steps; scrub.value = step; scrub.ariaValueText = status;
  part(".point").ariaLive = going ? "off" : "polite";  // announced at the end
  news.set(".play", going ? "Pause" : ended || !steps ? lab.play : "Continue")
    .set(".status", status);
  if (outcome) {
    news.set(".outcome", outcome.map((said) =>
      said.rows ? tableOf(said.rows) : `<p>${clean(said)}</p>`).join(""))
      .set(".headline", clean(headline)).set(".point", clean(point)).set(".last", last);
  }
  if (names && part(".rival")) {
    place.querySelectorAll("figure:not(.low) figcaption").forEach((title, k) => {
      const words = `${["value", "attention score"][k % 2]}, ${names[k >> 1]}`;
      if (title.textContent !== words) { title.textContent = words; }
    });
  }
  place.querySelectorAll(".strip button").forEach((button, k) => {
    const pair = shares?.[k];
    if (!pair) { return; }
    CLASSES.forEach((name, i) => button.style.setProperty(`--${name}`, pair[i]));
    button.ariaDescription = `The relevant token is selected in ${percent(pair[0])} of the positive and ${
      percent(pair[1])} of the negative sequences.`;
  });
  if (!lab.shows) { showNews(lab); }
}

// Return a table as HTML; the first row contains the column heads.
const tableOf = ([heads, ...rows]) => `<table class="runs"><thead><tr>${
  heads.map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead><tbody>${rows.map(
  ([head, ...cells]) => `<tr><th scope="row">${head}</th>${cells.map((cell) =>
    `<td>${cell}</td>`).join("")}</tr>`).join("")}</tbody></table>`;

// Show one message per frame, because all together would be one long task on a phone.
async function showNews(lab) {
  const {news, part, shown} = lab;
  lab.shows = true;
  for (const [area, words] of news) {  // including new messages
    news.delete(area);
    if (!part(area) || shown.get(area) === words) { continue; }
    shown.set(area, words); part(area).innerHTML = words;
    await nextFrame();
  }
  lab.shows = false;
  part(".outcome").ariaBusy = lab.isBusy;
}

if (HERE) {
  document.querySelectorAll(".attnsel-lab").forEach(laboratory);
  document.querySelectorAll(".attnsel-lineup").forEach(lineup);
} else {
  startWorker();
}
