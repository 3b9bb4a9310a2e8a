"""The built site in a browser that can reach nothing else (`make test-site`)."""

from __future__ import annotations

import functools
import gzip
import http.server
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from serving import serving

pytestmark = pytest.mark.site

SITE = Path(__file__).resolve().parent.parent / "_build" / "html"
PAGES = sorted(
    str(path.relative_to(SITE)) for path in SITE.rglob("*.html") if path.is_file()
)
CHAPTERS = [page for page in PAGES if page.startswith("book/")]
LOADING = {"link": "href", "script": "src", "img": "src", "iframe": "src"}


class Page(HTMLParser):
    """The addresses, identifiers and images of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.images: list[dict[str, str | None]] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if values.get("id"):
            self.ids.add(str(values["id"]))
        if tag == "img":
            self.images.append(values)
        if tag == "a" and values.get("href"):
            self.links.append(str(values["href"]))
        address = values.get(LOADING.get(tag, ""))
        if address:
            self.loads.append(address)


@functools.cache
def parsed(page: str) -> Page:
    return Page(SITE / page)


def test_the_site_is_built():
    assert "book/intro.html" in PAGES, "run `make book` first"


@pytest.mark.parametrize("page", PAGES)
def test_pages_load_from_the_site_only(page):
    for address in parsed(page).loads:
        assert re.match(r"data:|(?!\w+:|//)", address), address


@pytest.mark.parametrize("path", sorted(SITE.rglob("*.css")), ids=lambda p: p.name)
def test_styles_load_from_the_site_only(path):
    for address in re.findall(r"url\(([^)]*)\)", path.read_text(encoding="utf-8")):
        assert re.match(r"data:|(?!\w+:|//)", address.strip("'\"")), address


@pytest.mark.parametrize("page", PAGES)
def test_links_within_the_site_resolve(page):
    for link in parsed(page).links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = SITE / page
        if parts.path:
            target = (target.parent / unquote(parts.path)).resolve()
        assert target.is_file(), link
        if parts.fragment and target.suffix == ".html":
            anchors = parsed(str(target.relative_to(SITE.resolve()))).ids
            assert unquote(parts.fragment) in anchors, link


@pytest.mark.parametrize("page", PAGES)
def test_images_have_alt_text(page):
    for image in parsed(page).images:
        assert (image.get("alt") or "").strip(), image


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Serve the site on this machine."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    handler = functools.partial(Handler, directory=str(SITE))
    with serving(handler) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # The system's Chromium if there is one, else the one playwright installed.
        instance = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield instance
        instance.close()


@pytest.fixture
def visit(browser, address):
    """Open pages; return each with the complaints and the responses it gathered."""
    contexts = []

    def open_page(page: str, width: int = 1280, theme: str = "light"):
        context = browser.new_context(
            viewport={"width": width, "height": 844}, color_scheme=theme
        )
        contexts.append(context)
        tab = context.new_page()
        wrong: list[str] = []
        responses: list[Any] = []

        def guard(route: Any) -> None:
            if route.request.url.startswith(address):
                route.continue_()
            else:
                wrong.append(f"asked for {route.request.url}")
                route.abort()

        def answered(response: Any) -> None:
            responses.append(response)
            if response.status >= 400:
                wrong.append(f"{response.status} for {response.url}")

        def said(message: Any) -> None:
            if message.type in ("error", "warning"):
                wrong.append(message.text)

        context.route("**/*", guard)
        tab.on("response", answered)
        tab.on("console", said)
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on("requestfailed", lambda request: wrong.append(f"lost {request.url}"))
        tab.goto(f"{address}/{page}", wait_until="networkidle")
        if tab.evaluate("'MathJax' in window"):
            tab.evaluate("MathJax.startup.promise")
        return tab, wrong, responses

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("page", CHAPTERS)
def test_page_is_whole(visit, page, width):
    tab, wrong, _ = visit(page, width)
    assert wrong == []
    formulas = tab.locator(".math").count()
    assert tab.locator(".math mjx-container").count() == formulas
    assert tab.locator("mjx-container mjx-assistive-mml math").count() == formulas
    assert tab.locator("mjx-merror, merror").count() == 0
    assert tab.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    broken = tab.evaluate(
        "[...document.images].filter(i => i.complete && !i.naturalWidth)"
        ".map(i => i.src)"
    )
    assert broken == []


@pytest.mark.parametrize("page", CHAPTERS)
def test_page_weighs_little(visit, page):
    _, _, responses = visit(page)
    # As a web server sends it: text compressed, fonts and pictures as they are.
    weight = sum(
        min(len(body), len(gzip.compress(body)))
        for body in (response.body() for response in responses)
    )
    assert weight < (1.5e6 if page == "book/intro.html" else 6e6)


def test_theme_switch_and_preference(visit):
    tab, wrong, _ = visit("book/intro.html", theme="dark")
    theme = "document.documentElement.dataset.theme"
    assert tab.evaluate(theme) == "dark"
    button = tab.locator("button.theme-switch-button").first
    seen = set()
    for _ in range(3):
        button.click()
        seen.add(tab.evaluate("document.documentElement.dataset.mode"))
    assert seen == {"auto", "dark", "light"}
    assert wrong == []


def test_search_finds_a_symbol(visit):
    tab, wrong, _ = visit("search.html?q=embedding")
    tab.wait_for_selector("#search-results li a", timeout=10_000)
    assert wrong == []
