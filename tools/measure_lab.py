"""What training in the page costs: `python -m tools.measure_lab [FOLDER]`.

In Chromium, at two widths, as fast as the machine is and four times slower: the time of
a step with what is drawn after it, the seconds from the click to 99% of the training
reviews, the longest task of the page's own thread, which counts from 50 ms on, and the
most memory that its process had (on Linux).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from tools.measure_pages import SLOWER, serving, start_chromium

SETTINGS = ("d=16", "d=64", "d=256", "d=64&reviews=500", "tab=stages&eta=3000")
HEADS = (
    "knobs | width | slower | loop, ms | step, ms | whole, s | longest, ms | MB | end"
)
WATCH = """
  window.seen = {longest: 0, told: []};
  new PerformanceObserver((list) => list.getEntries().forEach(({duration}) => {
    seen.longest = Math.max(seen.longest, duration); })).observe({type: "longtask"});
"""
BEGIN = """() => {
  Object.assign(seen, {longest: 0, told: [], start: performance.now()});
  const status = document.querySelector(".status");
  new MutationObserver(() => seen.told.push([performance.now(), status.textContent]))
    .observe(status, {childList: true});
  document.querySelector(".play").click();
}"""
ENDED = """() => document.querySelector(".told").ariaBusy === "false" """
# Whether workers, too, are slowed: what a loop takes in one, in ms.
LOOP = """() => new Promise((done) => {
  const code = `const start = performance.now(); let x = 0;
    for (let i = 0; i < 1e8; i++) { x += Math.sqrt(i); }
    postMessage([performance.now() - start, x]);`;
  const worker = new Worker(URL.createObjectURL(new Blob([code])));
  worker.onmessage = ({data}) => done(data[0]);
})"""


def visit(browser: Any, address: str, knobs: str, width: int, slower: int) -> str:
    """Return what a training with these knobs costs, as the cells of a row."""
    context = browser.new_context(viewport={"width": width, "height": 844})
    context.add_init_script(WATCH)
    tab = context.new_page()
    tab.goto(f"{address}/book/train.html#{knobs}")
    tab.wait_for_load_state("networkidle")
    tab.wait_for_function("true", polling=100)
    session = context.new_cdp_session(tab)
    session.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    loop = tab.evaluate(LOOP)
    tab.evaluate(BEGIN)
    # Playwright's own script is there already, and asks seldom.
    tab.wait_for_function(ENDED, timeout=300_000, polling=100)
    seen, most = tab.evaluate("seen"), memory(browser)
    context.close()
    taken = [
        (time, int(step[1]))
        for time, told in seen["told"]
        if (step := re.match(r"step (\d+)", told))
    ]
    each = "" if not taken else f"{_slope(taken[0], taken[-1]):.1f}"
    end, status = seen["told"][-1]
    whole = (end - seen["start"]) / 1000
    cells = f"{loop:.0f} | {each} | {whole:.2f} | {seen['longest']:.0f} | {most:.0f}"
    return f"{cells} | {status}"


def memory(browser: Any) -> float:
    """Return the most memory that a process of a page had so far, in MB."""
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    states = [
        Path(f"/proc/{process['id']}/status").read_text()
        for process in processes
        if process["type"] == "renderer"
    ]
    return max(int(re.findall(r"VmHWM:\s+(\d+)", state)[0]) for state in states) / 1000


def _slope(first: tuple[float, int], last: tuple[float, int]) -> float:
    return (last[0] - first[0]) / max(1, last[1] - first[1])


def main(folder: str = "_build/html") -> None:
    """Print a line of Markdown for each setting."""
    from playwright.sync_api import sync_playwright

    print(f"| {HEADS} |\n|{' --- |' * len(HEADS.split('|'))}")
    with serving(folder) as address, sync_playwright() as playwright:
        chromium = start_chromium(playwright)
        for slower in (1, SLOWER):
            for width in (1280, 390):
                for knobs in SETTINGS:
                    row = visit(chromium, address, knobs, width, slower)
                    print(f"| {knobs} | {width} | {slower} | {row} |", flush=True)
        chromium.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
