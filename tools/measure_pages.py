"""Sizes of the built pages: `python -m tools.measure_pages` prints them as a table.

The tests of the site use the same measurements.
"""

from __future__ import annotations

MEASURE = r"""() => {
  const article = document.querySelector("article");
  const all = (what, root = article) => [...root.querySelectorAll(what)];
  const seen = (e) => e.checkVisibility() && e.getBoundingClientRect().width > 0;
  const box = (e) => e.getBoundingClientRect();
  const wide = (e) => e.scrollWidth > e.clientWidth + 1;
  // What contains an element and scrolls sideways or hides what is too wide.
  const frame = (e) => {
    for (let p = e.parentElement; p && p !== article; p = p.parentElement) {
      if (/auto|scroll|hidden|clip/.test(getComputedStyle(p).overflowX)) { return p; }
    }
    return article;
  };
  const cut = (e) => box(e).right > box(frame(e)).right + 1
    || box(e).right > innerWidth + 1;
  const name = (e) => e.id || e.closest("[id]").id;
  const code = all("div.cell_input, article > * div.highlight").filter(seen)
    .filter((e) => !e.parentElement.closest("div.cell_input"));
  const figures = all(".cell_output :is(img, svg, canvas), figure :is(img, svg)")
    .filter(seen);
  const first = figures.length ? box(figures[0]).top + scrollY : Infinity;
  const stops = all("[tabindex='0']").filter(
    (e) => seen(e) && !wide(e) && e.scrollHeight <= e.clientHeight
      && !e.matches("a, button, input, select, summary, canvas, [role]"));
  return {
    height: Math.round(article.getBoundingClientRect().height),
    code: code.reduce((sum, e) => sum + box(e).height, 0)
      / article.getBoundingClientRect().height,
    first: Math.round(first),
    figures: [figures.length, figures.filter(cut).map(name)],
    tables: [all("table").filter(seen).length,
      all("table").filter(seen).filter(cut).map(name)],
    formulas: [all("div.math").filter(seen).length,
      all("div.math mjx-container").filter(seen).filter(wide).map(name)],
    titles: all("[title]").filter((e) => !e.closest("a, button, mjx-container")).length,
    stops: stops.length,
  };
}"""
