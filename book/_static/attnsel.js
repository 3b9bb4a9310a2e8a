// Each element that is too wide for the page gets a scroll bar of its own. It fades out
// where more follows, and the keyboard can reach it.
const SCROLLING = ".bd-article math, .bd-article pre, .cell_output .output,"
  + ".pst-scrollable-table-container";

function mark(box) {
  const hidden = box.scrollWidth - box.clientWidth;
  const scrolls = hidden > 1 && !/visible/.test(getComputedStyle(box).overflowX);
  return {box, scrolls, more: scrolls && box.scrollLeft < hidden - 1};
}

const follow = ({currentTarget}) => show([mark(currentTarget)]);

// Measure all boxes before changing any, because each change causes a new layout.
function show(marks) {
  marks.forEach(({box, scrolls, more}) => {
    box.classList.toggle("more", more);
    if (scrolls) {
      box.tabIndex = 0;
      box.addEventListener("scroll", follow, {passive: true});
    } else {
      box.removeAttribute("tabindex");
    }
  });
}

// A box is measured after its layout: at first, when a fold around it opens, and when the
// window or a sidebar changes its width.
const sizes = new ResizeObserver((entries) => show(entries.map((e) => mark(e.target))));

// Asking for the fonts causes a layout, so this is a task of its own.
setTimeout(async () => {
  await document.fonts.ready;
  document.querySelectorAll(SCROLLING).forEach((box) => sizes.observe(box));
});

// Sphinx gives bibliography entries a role that is not allowed in a list.
document.querySelectorAll(".citation-list > .citation").forEach((entry) => {
  entry.setAttribute("role", "listitem");
});

// Lay the page out for a few milliseconds at a time, so that it responds in between.
{
  const pieces = document.querySelectorAll(
    ".piecemeal .bd-article section > section > :not(section)").values();
  const go = () => {
    const end = performance.now() + 20;
    for (const piece of pieces) {
      piece.classList.add("laid-out");
      piece.getBoundingClientRect();
      if (performance.now() > end) {
        setTimeout(go);
        return;
      }
    }
  };
  setTimeout(go);
}

// The search and its index are loaded when a reader focuses the search field.
const SEARCH = ["vendor/minisearch/minisearch.js", "search/index.js", "search/search.js"];
let search;

// Load a script of the site. `lab/place.js` says why the index is a script, too.
function load(name) {
  const script = document.createElement("script");
  script.src = document.documentElement.dataset.content_root + name;
  const loaded = new Promise((done) => { script.onload = done; });
  document.head.append(script);
  return loaded;
}

async function loadSearch() {
  const style = Object.assign(document.createElement("link"), {rel: "stylesheet"});
  style.href = `${document.documentElement.dataset.content_root}_static/search/search.css`;
  document.head.append(style);
  for (const name of SEARCH) { await load(`_static/${name}`); }
}

document.addEventListener("focusin", async ({target}) => {
  if (!target.matches("form.bd-search input") || "searches" in target.dataset) { return; }
  target.dataset.searches = "";
  search ??= loadSearch();
  await search;
  window.attnselSearch.attach(target);
});

document.querySelectorAll(".bd-search-container input").forEach((field) => {
  field.value = new URLSearchParams(location.search).get("q") || "";
  field.focus();
});

// Bootstrap opens the menus. It is loaded when a reader presses the first menu.
document.addEventListener("click", async ({target}) => {
  const button = target.closest("[data-bs-toggle]");
  if (!button || window.bootstrap) { return; }
  await load("_static/scripts/bootstrap.js");
  button.click();
});

// A figure with much data first shows a picture, with a button or a field. The data is
// loaded when the pointer or focus comes near; input before that is not lost.
async function draw(figure) {
  const {drawing} = figure.dataset, before = figure.querySelector("input[type=text]");
  if (!drawing) { return; }
  delete figure.dataset.drawing;
  let at = -1;  // the field or button that has the focus until the figure is drawn
  const all = () => [...figure.querySelectorAll("input, button")];
  const follow = () => { at = all().indexOf(document.activeElement); };
  figure.addEventListener("focusin", follow);
  follow();
  await load(drawing);
  figure.removeEventListener("focusin", follow);
  if (before) {
    const [field] = all();
    field.value = before.value;
    field.dispatchEvent(new Event("input"));
    all()[at]?.focus();
  } else if (at >= 0) {
    figure.querySelector("input:not([type=range])").focus();
  }
}

document.querySelectorAll("[data-drawing]").forEach((figure) => {
  const field = figure.querySelector("input[type=text]");
  if (field) {
    figure.addEventListener("focusin", () => draw(figure));
  } else {
    const button = Object.assign(document.createElement("button"), {type: "button"});
    button.textContent = figure.dataset.asks;
    figure.querySelector("p").replaceWith(button);
  }
  figure.addEventListener("click", ({target}) => {
    const button = target.closest("button");
    if (button && field?.isConnected) { field.value = button.textContent; }
    if (button) { draw(figure); }
  });
  figure.addEventListener("pointerenter", ({pointerType}) => {
    if (pointerType === "mouse") { draw(figure); }
  });
});
