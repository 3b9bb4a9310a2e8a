"""Serious violations that axe finds on an open page."""

from pathlib import Path
from typing import Any

LOOK = Path(__file__).with_name("axe.js").read_text(encoding="utf-8")


def serious_violations(
    tab: Any, looks: set[str] | None = None, rules: int = 15
) -> list[list[Any]]:
    """Return the broken rules, each with the elements that break it.

    More than `rules` rules must hold, which shows that axe has read the page. Texts
    that look like one of `looks` are not checked again; new looks are added to it.
    """
    from axe_playwright_python.sync_playwright import Axe

    if not tab.evaluate("'axe' in window"):
        tab.evaluate(f"{Axe().axe_script};{LOOK}")
    looks = set() if looks is None else looks
    found = tab.evaluate("looks => seenByAxe(looks)", list(looks))
    assert found["rules"] > rules
    looks.update(found["looks"])
    serious: list[list[Any]] = found["serious"]
    return serious
