"""The PDF holds each page of a book in its order, opened, and its links lead on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tools import print_book
from tools.measure_pages import serving

pytestmark = [pytest.mark.site, pytest.mark.xdist_group(name="pdf")]  # printed once

PAGE = """<!doctype html><html lang="en"><title>{0}</title>
<div id="print-main-content"><nav>old list</nav></div>
<article><h1 id="top">{0}</h1>{1}</article></html>"""
BOOK = {
    "intro": '<p>See <a href="last.html#end">the end</a>.</p>',
    "middle": """<details><summary>Proof</summary>
        <h2>A proof that is open</h2></details>
        <details class="hide"><summary>Code</summary><h2>Folded code</h2></details>
        <h2>A claim with a &lt; b</h2><p>See <a href="other.html">another</a>,
        <a href="https://example.org/there">there</a>.</p>""",
    "claims": "<p>A list that is looked up.</p>",
    "last": '<h2 id="end">The end</h2><p>From <a href="intro.html">the start</a>.</p>',
    "other": "<p>A page that is not in the list.</p>",
}


LISTED = [{"file": f"book/{name}"} for name in ("claims", "middle", "last")]
CONTENTS = "document.querySelector('.printed').innerText"


@pytest.fixture(scope="module")
def book(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, str]:
    """The PDF of all pages but one, and the text of its contents."""
    from playwright.sync_api import Page

    site = tmp_path_factory.mktemp("site")
    (site / "book").mkdir()
    for name, content in BOOK.items():
        page = PAGE.format(name.title(), content)
        (site / "book" / f"{name}.html").write_text(page, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        toc = {"root": "book/intro", "parts": [{"chapters": LISTED}]}
        (site / "_toc.yml").write_text(json.dumps(toc), "utf-8")
        patch.setattr(print_book, "ROOT", site)
        patch.setattr(Page, "close", lambda _: None)  # for a look at its end
        with serving(str(site)) as address:
            print_book.print_book(browser, address, site / "book.pdf")
            contents = browser.contexts[0].pages[0].evaluate(CONTENTS)
    return (site / "book.pdf").read_bytes(), contents


@pytest.fixture(scope="module")
def printed(book: tuple[bytes, str]) -> str:
    """What stands outside of streams is text."""
    return book[0].decode("latin-1")


def outline(pdf: str) -> list[str]:
    """The titles of a PDF's table of contents, each with its level, as one reads it."""
    objects = dict(re.findall(r"(\d+) 0 obj\n(<<.*?>>)\nendobj", pdf, re.DOTALL))
    told = []

    def follow(number: str | None, level: int) -> None:
        while number:
            item = objects[number]
            (title,) = re.findall(r"/Title \((.*?)\)", item) or [""]
            told.append(f"{level} {title}")
            for below in re.findall(r"/First (\d+)", item):
                follow(below, level + 1)
            number = next(iter(re.findall(r"/Next (\d+)", item)), None)

    (root,) = re.findall(r"/Outlines (\d+)", pdf)
    follow(re.findall(r"/First (\d+)", objects[root])[0], 1)
    return told


def test_each_page_stands_in_the_pdf_in_its_place(printed: str) -> None:
    assert outline(printed) == [
        "1 Intro",
        "1 Middle",
        "2 A proof that is open",
        "2 A claim with a < b",
        "1 Last",
        "2 The end",
        "1 Claims",
    ]


def test_the_contents_tell_where_chapters_begin_and_what_is_looked_up(
    book: tuple[bytes, str],
) -> None:
    # The list itself has the first page, and each chapter begins one.
    assert book[1].split() == [
        *("Intro", "2", "Middle", "3", "Last", "4"),
        *("Appendix", "Claims", "5"),
    ]


def test_links_lead_to_their_place_and_out_of_the_book(printed: str) -> None:
    # The list of pages, then the links in the text; what is not printed has none.
    pages = ["/intro--", "/middle--", "/last--", "/claims--"]
    links = re.findall(r"/Subtype /Link.*?/(?:Dest (\S+)|URI \((.*?)\))", printed, re.S)
    assert [place or address for place, address in links] == [
        *pages,
        "/last--end",
        "https://example.org/there",
        "/intro--",
    ]


def test_the_pages_are_those_of_the_book() -> None:
    toc = (Path(__file__).parents[2] / "_toc.yml").read_text("utf-8")
    files = re.findall(r"(?:file|root): (?:book/)?([\w/]+)", toc)
    found = print_book.pages()
    assert sorted(found) == sorted(Path(file).name for file in files)
    appendix = ["package", "package_models", "package_theory", "claims"]
    assert set(appendix) <= set(found[-7:])
    assert found[:2] == ["intro", "train"]
