"""Chromium, what it may reach, and what it finds on a page of the site."""

import functools
import gzip
import http.server
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.serving import serving as serving_with

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
    height: Math.round(box(article).height),
    first: Math.round(Math.min(...tops, 1e6)),
    cutFigures: figures.filter(cut).map(name),
    wideTables: tables.filter(cut).map(name),
    cutTables: tables.filter((e) => cut(e) && !(scrolls(room(e)) && stays(e)))
      .map(name),
    cutFormulas: formulas.filter((e) => !scrolls(e)).map(name),
    hoverTitles: all("[title]").filter((e) => !e.closest("a, button, iframe"))
      .map(name),
    emptyStops: all("[tabindex='0']").filter((e) => seen(e) && !wide(e)
      && e.scrollHeight <= e.clientHeight
      && !e.matches("a, button, input, select, summary, canvas, [role]")).map(name),
  };
}"""


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

    with serving_with(functools.partial(Quiet, directory=folder)) as address:
        yield address


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


WATCH = """
  window.seen = {shift: 0, blocked: 0, longest: 0};
  const watch = (type, note) => new PerformanceObserver((list) =>
    list.getEntries().forEach(note)).observe({type, buffered: true});
  watch("layout-shift", (e) => { seen.shift += e.hadRecentInput ? 0 : e.value; });
  watch("longtask", ({duration}) => {
    seen.blocked += Math.max(0, duration - 50) / 1000;
    seen.longest = Math.max(seen.longest, duration / 1000);
  });
"""
# Each screen stays for a moment, so that what comes into view is loaded and drawn.
SCROLL = """async () => {
  seen.longest = 0;
  for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight) {
    scrollTo({top: y, behavior: "instant"});
    await new Promise((done) => setTimeout(done, 40));
    await new Promise(requestAnimationFrame);
  }
}"""


def sent(path: Path) -> int:
    """Return the bytes of a file as a web server sends it: text is compressed."""
    body = path.read_bytes()
    return min(len(body), len(gzip.compress(body)))


# The parts of a long page that are not laid out yet, as in `attnsel.css`.
WAITING = (
    ".piecemeal .bd-article section > section > :not(section, h2, h3, h4, .laid-out)"
)


def wait_for_layout(tab: Any) -> None:
    """Wait until all of an open page is laid out."""
    tab.wait_for_function(f"!document.querySelector('{WAITING}')")


def scroll(tab: Any) -> None:
    """Go through an open page to its end, until all that it shows has come.

    It begins when the page is laid out, as a reader begins with the first screen.
    """
    wait_for_layout(tab)
    tab.evaluate(SCROLL)
    tab.wait_for_load_state("networkidle")
