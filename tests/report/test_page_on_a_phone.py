"""No part of a report is cut off on a phone, because wide parts scroll."""

from dataclasses import replace

import pandas as pd
import pytest
from test_page_by_hand import EVIDENCE, TOKENS, by_hand, open_page

pytestmark = pytest.mark.site

PHONE = {"width": 390, "height": 844}
LONG = "donaudampfschifffahrtsgesellschaftskapitaensmuetze" * 3
# What holds a letter and goes beyond the first box around it that scrolls or hides, or
# beyond the window; and what hides while it is wider than it shows.
CUT = """() => {
  const seen = [...document.querySelectorAll("body *")].filter((e) =>
    e.checkVisibility() && e.getBoundingClientRect().width > 0
    && !e.closest("svg, style, script"));
  const scrolls = (e) => /auto|scroll/.test(getComputedStyle(e).overflowX);
  const room = (e) => {
    for (let p = e.parentElement; p; p = p.parentElement) if (scrolls(p)) return p;
  };
  const name = (e) => `${e.tagName} ${e.className} ${e.textContent.slice(0, 30)}`;
  const beyond = seen.filter((e) => !room(e)
    && e.getBoundingClientRect().right > innerWidth + 1);
  const hidden = seen.filter((e) => !scrolls(e) && e.scrollWidth > e.clientWidth + 1
    && /hidden|clip/.test(getComputedStyle(e).overflowX));
  return [...beyond, ...hidden].map(name);
}"""


# The table of all results is as wide as its columns need.
@pytest.mark.parametrize("width", [320, 390])
@pytest.mark.parametrize("words", ["short", "long"])
def test_nothing_of_a_report_is_cut_on_a_phone(browser, width, words, tmp_path):
    report = by_hand()
    if words == "long":
        tokens = [(LONG, *row[1:]) for row in TOKENS]
        report = replace(
            report,
            name=LONG,
            tokens=pd.DataFrame(tokens, columns=EVIDENCE),
            signs=report.signs.assign(token=LONG),
            masked=report.masked.assign(token=LONG),
            suspects=report.suspects.assign(text=LONG),
        )
    viewport = PHONE | {"width": width}
    tab = open_page(browser, tmp_path, report.html(), viewport=viewport)
    tab.evaluate("document.querySelectorAll('details').forEach((e) => e.open = true)")
    assert tab.evaluate(CUT) == []
    html = "document.documentElement"
    assert tab.evaluate(f"{html}.scrollWidth <= {html}.clientWidth")
    # Scrolling parts can be reached by keys, and show their ends.
    for box in tab.locator(".wide").all():
        if box.evaluate("(e) => e.checkVisibility() && e.scrollWidth > e.clientWidth"):
            assert box.get_attribute("tabindex") == "0"
            box.evaluate("(e) => e.scrollTo(9999, 0)")
            end = box.evaluate("(e) => e.scrollLeft + e.clientWidth - e.scrollWidth")
            assert abs(end) <= 1
    tab.close()
