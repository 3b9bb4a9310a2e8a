"""The PDF holds each page of a book in its order, opened, and its links lead on."""

import contextlib
import io
import json
import re
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from matplotlib.image import imread
from PIL import Image

from tools import print_book

pytestmark = [pytest.mark.site, pytest.mark.xdist_group(name="pdf")]  # printed once

PAGE = """<!doctype html><html lang="en"><title>{0}</title>
<div id="print-main-content"><nav>old list</nav></div>
<article><h1 id="top">{0}</h1>{1}</article></html>"""
BOOK = {
    "intro": '<p>See <a href="last.html#end">the end</a>.</p>'
    '<img src="../_images/red.svg" alt="" width="20">',
    "middle": """<details><summary>Proof</summary>
        <h2>A proof that is open</h2></details>
        <details class="hide"><summary>Code</summary><h2>Folded code</h2></details>
        <h2>A claim with a &lt; b</h2><p>See <a href="other.html">another</a>,
        <a href="https://example.org/there">there</a>.</p>""",
    "claims": "<p>A list that is looked up.</p>",
    "last": '<h2 id="end">The end</h2><noscript><h2>Still</h2></noscript>'
    '<script src="../_static/lab.js"></script>'
    '<p>From <a href="intro.html">the start</a>.</p>',
    "other": "<p>A page that is not in the list.</p>",
}


LISTED = [{"file": f"book/{name}"} for name in ("claims", "middle", "last")]
CONTENTS = "document.querySelector('.printed')?.innerText"
MM = 72 / 25.4  # in points
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" \
height="9" fill="red"/></svg>'
MOVED = "document.querySelector('article').innerHTML += '<h2>Moved</h2>'"


class Book(NamedTuple):
    """What was printed: the PDF, the text of its contents, and what was said."""

    pdf: bytes
    contents: str
    folder: Path
    said: str


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Book:
    """The PDF of all pages but one, and the picture for previews."""
    from playwright.sync_api import Page

    site = tmp_path_factory.mktemp("site")
    for name in ("book", "_static", "_images"):
        (site / name).mkdir()
    for name, content in BOOK.items():
        page = PAGE.format(name.title(), content)
        (site / "book" / f"{name}.html").write_text(page, "utf-8")
    (site / "_images" / "red.svg").write_text(PICTURE)
    (site / "_static" / "lineup").mkdir()
    red = Image.new("RGB", (300, 100), (255, 0, 0))
    red.save(site / "_static" / "lineup" / "card.webp", lossless=True)
    (site / "_static" / "lab.js").write_text(MOVED)
    (site / "_config.yml").write_text('title: "Long and bold"')
    toc = {"root": "book/intro", "parts": [{"chapters": LISTED}]}
    (site / "_toc.yml").write_text(json.dumps(toc), "utf-8")
    contents = []
    close, said = Page.close, io.StringIO()

    def look(tab: Page) -> None:
        contents.append(tab.evaluate(CONTENTS))
        close(tab)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(print_book, "ROOT", site)
        patch.setattr(Page, "close", look)  # the book, then the picture
        # In a thread of its own: this one may have the browser of other tests.
        with contextlib.redirect_stdout(said), ThreadPoolExecutor() as pool:
            pool.submit(print_book.main, str(site)).result()
    pdf = (site / "book.pdf").read_bytes()
    return Book(pdf, contents[0], site, said.getvalue())


@pytest.fixture(scope="module")
def printed(book: Book) -> str:
    """What stands outside of streams is text."""
    return book.pdf.decode("latin-1")


def outline(pdf: str) -> list[str]:
    """The titles of a PDF's table of contents, each with its level, as one reads it."""
    objects = dict(re.findall(r"(\d+) 0 obj\n(<<.*?>>)\nendobj", pdf, re.DOTALL))
    titles = []

    def follow(number: str | None, level: int) -> None:
        while number:
            item = objects[number]
            (title,) = re.findall(r"/Title \((.*?)\)", item) or [""]
            titles.append(f"{level} {title}")
            for below in re.findall(r"/First (\d+)", item):
                follow(below, level + 1)
            number = next(iter(re.findall(r"/Next (\d+)", item)), None)

    (root,) = re.findall(r"/Outlines (\d+)", pdf)
    follow(re.findall(r"/First (\d+)", objects[root])[0], 1)
    return titles


def test_each_page_stands_in_the_pdf_in_its_place(printed: str) -> None:
    assert outline(printed) == [
        "1 Intro",
        "1 Middle",
        "2 A proof that is open",
        "2 A claim with a < b",
        "1 Last",
        "2 The end",
        "2 Still",
        "1 Claims",
    ]


def test_the_contents_tell_where_chapters_begin_and_what_is_looked_up(
    book: Book,
) -> None:
    # The list itself has the first page, and each chapter begins one.
    assert book.contents.split() == [
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
    assert found[:3] == ["intro", "half_hour", "train"]


def drawn(pdf: bytes) -> list[str]:
    """What is drawn on each page."""
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    texts = []
    for stream in streams:
        with contextlib.suppress(zlib.error):
            texts.append(zlib.decompress(stream).decode("latin-1"))
    return [text for text in texts if re.search(r"> Tj", text)]


def test_a_page_is_an_a4_with_its_margins_and_its_number(book: Book) -> None:
    pages = drawn(book.pdf)
    assert len(pages) == 5
    numbers = []
    for page in pages:
        unit, height = map(float, re.findall(r"^(\S+) 0 0 \S+ 0 (\S+) cm", page)[0])
        assert height == pytest.approx(297 * MM, abs=1)
        # What is printed, within the margins; then the whole page, for its number.
        text, *_, whole = re.findall(r"(\S+) (\S+) (\S+) (\S+) re\nW\*", page)
        left, top, right, down = (float(number) * unit for number in text)
        room = [18 * MM, 18 * MM, (210 - 36) * MM, (297 - 36) * MM]
        assert [left, top, right, down] == pytest.approx(room, abs=3)
        assert [float(number) for number in whole[:2]] == [0, 0]
        scale, *_, one = re.findall(r"^(\S+) 0 0 \1 \S+ \S+ cm", page, re.MULTILINE)
        assert float(scale) / float(one) == pytest.approx(0.85)
        foot = page[page.index(f"\n{one} 0 0") :]
        (size,), (place,) = re.findall(r"(\S+) Tf", foot), re.findall(r"(.*) Tm", foot)
        across, below = (float(number) * 0.75 for number in place.split()[-2:])
        assert float(size) == 8
        assert across == pytest.approx(105 * MM, abs=5)
        assert height - 18 * MM < below < height
        (number,) = re.findall(r"<(\w+)> Tj", foot)
        numbers.append(int(number, 16))
    assert [number - numbers[0] for number in numbers] == [0, 1, 2, 3, 4]


def test_pictures_are_printed(book: Book) -> None:
    assert ["1 0 0 rg" in page for page in drawn(book.pdf)][:3] == [False, True, False]


def test_readers_by_ear_can_follow_the_pdf(printed: str) -> None:
    assert "/StructTreeRoot" in printed


def test_the_picture_for_previews_asks_its_question_above_the_figure(
    book: Book,
) -> None:
    found = imread(book.folder / "_static" / "preview.png")[:, :, :3]
    assert found.shape == (630, 1200, 3)
    is_red = (found == [1, 0, 0]).all(axis=2)
    places = np.argwhere(is_red)
    assert [places[:, 1].min(), places[:, 1].max()] == [60, 1139]
    first = places[:, 0].min()
    is_dark = np.asarray(found.max(axis=2) < 0.2)
    assert is_dark[:first].sum() > 1000
    assert not is_dark[first:].any() and not is_dark[:40].any()


def test_what_was_written_is_said_with_its_size(book: Book) -> None:
    assert book.said == f"{book.folder / 'book.pdf'}: 0.0 MB\n"
