"""Sizes of the built pages, in a table: `python -m tools.measure_pages [FOLDER]`.

The tests of the site ask the same of each page.
"""

from __future__ import annotations

import functools
import http.server
import re
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).resolve().parent.parent
MEASURE = r"""() => {
  const article = document.querySelector("article");
  const all = (what) => [...article.querySelectorAll(what)];
  const box = (e) => e.getBoundingClientRect();
  const seen = (e) => e.checkVisibility() && box(e).width > 0;
  const wide = (e) => e.scrollWidth > e.clientWidth + 1;
  const name = (e) => e.id || e.closest("[id]").id;
  // A figure or table is cut if it goes beyond what scrolls or hides around it.
  const room = (e) => {
    for (let p = e.parentElement; p && p !== article; p = p.parentElement) {
      if (/auto|scroll|hidden|clip/.test(getComputedStyle(p).overflowX)) { return p; }
    }
    return article;
  };
  const right = (e) => Math.max(box(e).right,
    e.matches("table") ? box(e).left + e.scrollWidth : 0);
  const cut = (e) => right(e) > Math.min(box(room(e)).right, innerWidth) + 1;
  const height = box(article).height;
  const code = all("div.cell_input, div.highlight").filter((e) => seen(e)
    && !e.closest(".cell_output") && !e.parentElement.closest("div.cell_input"));
  const figures = all(".cell_output :is(img, svg, canvas), figure :is(img, svg)")
    .filter((e) => seen(e) && !e.closest(".panel"))
    .concat(all(".panel").filter(seen));
  const live = all("[class^=attnsel-]:not(.attnsel-claim), figure iframe").filter(seen);
  const tops = [...figures, ...live].map((e) => box(e).top + scrollY);
  const tables = all("table").filter(seen);
  const formulas = all("math").filter((e) => seen(e) && wide(e));
  // What is wide may scroll if one sees it and the keyboard gets there.
  const scrolls = (e) => e.matches(".more[tabindex='0']");
  const stays = (e) => [...e.rows].every((row) => !row.cells[0]
    || getComputedStyle(row.cells[0]).position === "sticky");
  return {
    height: Math.round(height),
    code: code.reduce((sum, e) => sum + box(e).height, 0) / height,
    first: Math.round(Math.min(...tops, 1e6)),
    figures: figures.length,
    cutFigures: figures.filter(cut).map(name),
    tables: tables.length,
    wideTables: tables.filter(cut).map(name),
    cutTables: tables.filter((e) => cut(e) && !(scrolls(room(e)) && stays(e)))
      .map(name),
    formulas: all("div.math").filter(seen).length,
    wideFormulas: formulas.length,
    cutFormulas: formulas.filter((e) => !scrolls(e)).map(name),
    hoverTitles: all("[title]").filter((e) => !e.closest("a, button, iframe"))
      .map(name),
    emptyStops: all("[tabindex='0']").filter((e) => seen(e) && !wide(e)
      && e.scrollHeight <= e.clientHeight
      && !e.matches("a, button, input, select, summary, canvas, [role]")).map(name),
  };
}"""


def words_and_cells(page: str) -> tuple[int, int]:
    """Return how many words and cells the notebook of a page has, labs apart."""
    path = ROOT / "book" / f"{page}.ipynb"
    if not path.is_file():
        return 0, 0
    cells = nbformat.read(path, as_version=4).cells
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    kept = [cell for cell in cells if "lab" not in cell.metadata.get("tags", [])]
    return words("\n".join(texts)), len(kept)


# Formulas, directives with their options, labels and roles are not words.
MARKUP = re.compile(
    r"\$\$[\s\S]+?\$\$|\$[^$]+\$|^[:`]{3,}.*$|^:[\w-]+:.*$|^\([\w-]+\)=$|\{[\w:]+\}",
    re.MULTILINE,
)


def words(text: str) -> int:
    """Return the number of words of a Markdown text."""
    return len(re.findall(r"[^\W_]+(?:['’.,-][^\W_]+)*", MARKUP.sub(" ", text)))


def measure(tab: Any) -> dict[str, Any]:
    """Return what was measured on an open page, when all of it is there."""
    tab.evaluate("document.fonts.ready.then(() => null)")
    tab.wait_for_load_state("networkidle")
    found: dict[str, Any] = tab.evaluate(MEASURE)
    return found


@contextmanager
def serving(folder: str) -> Iterator[str]:
    """Serve a folder on this machine, and give the address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    handler = functools.partial(Quiet, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


# Playwright's own list but for what a site on this machine never meets, and the pop-ups
# of the address bar: two pages more a window, drawn though nobody sees them.
UNUSED = (
    "AimEnabled,AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,"
    "HttpsUpgrades,LensOverlay,MediaRouter,NetworkTimeServiceQuerying,"
    "OptimizationHints,PaintHolding,ThirdPartyStoragePartitioning,"
    "WebUIOmniboxAimPopup,WebUIOmniboxPopup"
)


def start_chromium(playwright: Any) -> Any:
    """Start the system's Chromium if there is one, else playwright's own.

    It reaches nothing but this machine.
    """
    return playwright.chromium.launch(
        executable_path=shutil.which("chromium"),
        args=[
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            f"--disable-features={UNUSED}",
        ],
    )


def main(folder: str = "_build/html") -> None:
    """Print a line of Markdown for each page."""
    from playwright.sync_api import sync_playwright

    heads = "page|height, px|code|first figure, px|words|cells|cut at 1366|cut at 390"
    print(f"| {heads.replace('|', ' | ')} |\n|{' --- |' * 8}")
    with serving(folder) as address, sync_playwright() as playwright:
        chromium = start_chromium(playwright)
        for path in sorted(Path(folder, "book").glob("*.html")):
            found: list[dict[str, Any]] = []
            for width in (1366, 390):
                tab = chromium.new_page(viewport={"width": width, "height": 844})
                tab.goto(f"{address}/book/{path.name}")
                found.append(measure(tab))
                tab.close()
            desk, _ = found
            first = desk["first"] if desk["first"] < 1e6 else "-"
            cut = [
                f"{len(m['cutFigures'])} of {m['figures']} figures, "
                f"{len(m['cutTables'])} of {m['tables']} tables, "
                f"{len(m['cutFormulas'])} of {m['formulas']} formulas"
                for m in found
            ]
            count, cells = words_and_cells(path.stem)
            print(
                f"| {path.stem} | {desk['height']} | {desk['code']:.0%} | {first} | "
                f"{count} | {cells} | {cut[0]} | {cut[1]} |",
                flush=True,
            )
        chromium.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
