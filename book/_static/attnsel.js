// What is wider than the page: tables turn into lists, formulas scroll in their own
// box, fade out where there is more, and only then are reached by the keyboard.
const SCROLLING = "div.math mjx-container, mjx-container.wide, .cell_output .output,"
  + ".pst-scrollable-table-container";

function mark(box) {
  const hidden = box.scrollWidth - box.clientWidth;
  box.classList.toggle("more", hidden > 1 && box.scrollLeft < hidden - 1);
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

function fit() {
  document.querySelectorAll(".bd-article table").forEach((table) => {
    const room = table.closest(".output, .pst-scrollable-table-container, article");
    const wide = () => table.getBoundingClientRect().width > room.clientWidth + 1;
    table.classList.remove("tight", "rows");
    if (wide()) { table.classList.add("tight"); }
    if (wide()) {
      if (!table.hasAttribute("role")) { nameCells(table); }
      table.classList.add("rows");
    }
  });
  document.querySelectorAll("span.math mjx-container").forEach((formula) => {
    formula.classList.remove("wide", "more");
    formula.removeAttribute("tabindex");
    const room = formula.closest("p, li, dd, td, th, figcaption, article");
    const {width} = formula.getBoundingClientRect();
    formula.classList.toggle("wide", width > room.clientWidth);
  });
  document.querySelectorAll(SCROLLING).forEach((box) => {
    mark(box);
    if (box.scrollWidth > box.clientWidth + 1 && box.checkVisibility()
        && !/visible/.test(getComputedStyle(box).overflowX)) {
      box.tabIndex = 0;
      box.addEventListener("scroll", () => mark(box), {passive: true});
    } else {
      box.removeAttribute("tabindex");
    }
  });
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
    requestAnimationFrame(fit);
  }).observe(article);
  document.addEventListener("toggle", fit, true);
});
