// What is wider than the page: tables turn into lists, formulas scroll in their own
// box, fade out where there is more, and only then are reached by the keyboard.
const SCROLLING = "div.math mjx-container, mjx-container.wide, .cell_output .output,"
  + ".pst-scrollable-table-container";

function more(box) {
  const hidden = box.scrollWidth - box.clientWidth;
  return hidden > 1 && box.scrollLeft < hidden - 1;
}

function mark({target}) {
  target.classList.toggle("more", more(target));
}

// Names each cell after its column, for the list that a wide table becomes.
function nameCells(table) {
  const names = [];
  table.querySelectorAll("thead tr").forEach((row) => {
    [...row.cells].forEach((cell, i) => { names[i] = cell.innerText.trim() || names[i]; });
  });
  const roles = {TABLE: "table", THEAD: "rowgroup", TBODY: "rowgroup", TR: "row", TD: "cell"};
  [table, ...table.querySelectorAll("thead, tbody, tr, th, td")].forEach((part) => {
    part.setAttribute("role", roles[part.tagName]
      || (part.closest("thead") ? "columnheader" : "rowheader"));
  });
  table.querySelectorAll("tbody tr").forEach((row) => {
    [...row.cells].forEach((cell, i) => {
      cell.dataset.column = names[i] || "";
      if (cell.childNodes.length) {
        const inside = document.createElement("div");
        inside.append(...cell.childNodes);
        cell.append(inside);
      }
    });
  });
}

const seen = (what) => [...document.querySelectorAll(what)].filter((e) => e.checkVisibility());

// Everything is measured before anything changes: a change in between would have the
// whole page laid out again for each table and formula. So would a look into a closed
// box: what is in there is fitted when the box opens.
function fit() {
  const tables = seen(".bd-article table");
  const cut = (table) => {
    const room = table.closest(".output, .pst-scrollable-table-container, article");
    return table.getBoundingClientRect().width > room.clientWidth + 1;
  };
  tables.forEach((table) => { table.classList.remove("tight", "rows"); });
  const wide = tables.filter(cut);
  wide.forEach((table) => { table.classList.add("tight"); });
  wide.filter(cut).forEach((table) => {
    if (!table.hasAttribute("role")) { nameCells(table); }
    table.classList.add("rows");
  });
  const formulas = seen("span.math mjx-container");
  formulas.forEach((formula) => {
    formula.classList.remove("wide", "more");
    formula.removeAttribute("tabindex");
  });
  const beyond = formulas.filter((formula) => {
    const room = formula.closest("p, li, dd, td, th, figcaption, article");
    return formula.getBoundingClientRect().width > room.clientWidth;
  });
  beyond.forEach((formula) => { formula.classList.add("wide"); });
  const boxes = seen(SCROLLING);
  const scrolling = new Set(boxes.filter((box) => box.scrollWidth > box.clientWidth + 1
    && !/visible/.test(getComputedStyle(box).overflowX)));
  const marks = boxes.map(more);
  boxes.forEach((box, i) => {
    box.classList.toggle("more", marks[i]);
    if (scrolling.has(box)) {
      box.tabIndex = 0;
      box.addEventListener("scroll", mark, {passive: true});
    } else {
      box.removeAttribute("tabindex");
    }
  });
}

// Many boxes may open at once, as for print: the page is fitted once for all.
let asked;
function fitSoon() {
  cancelAnimationFrame(asked);
  asked = requestAnimationFrame(fit);
}

window.addEventListener("load", async () => {
  // Sphinx's entries of the bibliography have a role that a list may not hold.
  document.querySelectorAll(".citation-list > .citation").forEach((entry) => {
    entry.setAttribute("role", "listitem");
  });
  await window.MathJax?.startup?.promise;
  fit();
  // The article goes on changing after its window did, while a sidebar moves in.
  const article = document.querySelector("article") ?? document.querySelector("main");
  let width = article.clientWidth;
  new ResizeObserver(() => {
    if (article.clientWidth === width) { return; }
    width = article.clientWidth;
    fitSoon();
  }).observe(article);
  document.addEventListener("toggle", fitSoon, true);
});
