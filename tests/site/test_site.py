"""The built site in a browser without other network access (`make test-site`)."""

import collections
import functools
import html
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest
import yaml
from bs4 import BeautifulSoup

from support.axe import serious_violations
from support.browser import WAITING, sent, wait_for_layout
from support.colours import least_contrast
from support.turns import commit
from tools.site import bundle
from tools.site.contents import chapters

pytestmark = pytest.mark.site

KB = 350  # of a page as it is sent, but for those of `HEAVY`
HEAVY = {"own_texts": 600, "train": 600}  # a whole report; the reviews
TARGETS = {"requests": 25, "elements": 9000, "shift": 0.05}
SITE = Path(__file__).resolve().parents[2] / "_build" / "html"
PROBES = Path(__file__).with_name("page.js")
SETTINGS = yaml.safe_load(Path(SITE.parent.parent, "_config.yml").read_text("utf-8"))
MOVED = SETTINGS["sphinx"]["config"]["redirects"]  # old pages, and where they lead
PAGES = sorted(
    {str(path.relative_to(SITE)) for path in SITE.rglob("*.html") if path.is_file()}
    - {f"{old}.html" for old in MOVED}
)
CHAPTERS = [page for page in PAGES if page.startswith("book/")]
TOC = yaml.safe_load(Path(SITE.parent.parent, "_toc.yml").read_text("utf-8"))
DETAILS = [
    f"{chapter['file']}.html"
    for part in TOC["parts"]
    if part["caption"] == "Proofs and sweeps"
    for chapter in part["chapters"]
]
# Readers with their own texts use these chapters first.
OWN = ["book/own_texts.html", "book/own_attention.html"]
PHONE, DESK = 390, 1280


# The files


@functools.cache
def source_of(page: str) -> str:
    return (SITE / page).read_text(encoding="utf-8")


@functools.cache
def parsed(page: str) -> BeautifulSoup:
    return BeautifulSoup(source_of(page), "html.parser")


@functools.cache
def ids_of(page: str) -> set[str]:
    return {str(e["id"]) for e in parsed(page).select("[id]")}


def loads(page: str) -> list[str]:
    """Return the addresses of the files that a page loads."""
    loading = parsed(page).select("link:not([rel=canonical]), script, img, iframe")
    return [str(a) for e in loading if (a := e.get("href") or e.get("src"))]


# One process reads all files, and each of them once.
files = pytest.mark.xdist_group("files")


def each(pages: list[str]) -> Any:
    """Return a mark that runs a test, which needs only files, for each page."""
    return pytest.mark.parametrize(
        "page", [pytest.param(page, marks=files) for page in pages]
    )


@files
def test_the_site_is_built():
    assert "book/intro.html" in PAGES, "run `make book` first"


@each(PAGES)
def test_the_file_of_a_page_loads_from_the_site_and_its_links_arrive(page):
    for address in loads(page):
        assert re.match(r"data:|(?!\w+:|//)", address), address
    assert all(str(e.get("alt", "")).strip() for e in parsed(page).select("img"))
    for link in [str(e["href"]) for e in parsed(page).select("a[href]")]:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = SITE / page
        if parts.path:
            target = (target.parent / unquote(parts.path)).resolve()
        assert target.is_file(), link
        # A state of the line-up or the laboratory is not an anchor of a page.
        if re.fullmatch(r"(round=\d+|tab=(reviews|stages))", parts.fragment):
            continue
        if parts.fragment and target.suffix == ".html":
            anchors = ids_of(str(target.relative_to(SITE.resolve())))
            assert unquote(parts.fragment) in anchors, link


@files
@pytest.mark.parametrize("path", sorted(SITE.rglob("*.css")), ids=lambda p: p.name)
def test_styles_load_from_the_site_only(path):
    for address in re.findall(r"url\(([^)]*)\)", path.read_text(encoding="utf-8")):
        assert re.match(r"data:|(?!\w+:|//)", address.strip("'\"")), address


@files
@pytest.mark.parametrize("old", MOVED)
def test_an_old_address_leads_on(old):
    page, _, anchor = MOVED[old].partition("#")
    assert anchor in ids_of(f"book/{page}")
    assert f'url={MOVED[old]}"' in (SITE / f"{old}.html").read_text(encoding="utf-8")
    assert not (SITE.parent.parent / f"{old}.ipynb").exists()


descriptions: dict[str, set[str]] = collections.defaultdict(set)


@each(CHAPTERS)
def test_links_to_a_page_have_a_preview(page):
    text = source_of(page)
    tags = dict(re.findall(r'<meta property="og:([\w:]+)" content="([^"]*)"', text))
    assert tags["title"]
    # The first paragraph, whole: neither an answer of a guess nor what a run costs.
    described = html.unescape(tags["description"])
    assert f'<meta name="description" content="{tags["description"]}"' in text
    assert 20 < len(described) < 400
    assert not re.search(r"Answer|From top to bottom|\.\.\.$|\\", described)
    descriptions[described].add(page)
    assert descriptions[described] == {page}
    assert tags["url"].endswith(page)
    assert f'<link rel="canonical" href="{tags["url"]}"' in text
    assert f"<loc>{tags['url']}</loc>" in (SITE / "sitemap.xml").read_text("utf-8")
    assert tags["image"] == tags["url"].removesuffix(page) + "_static/preview.png"
    assert (SITE / "_static" / "preview.png").is_file()


@files
def test_the_book_is_there_to_download():
    with zipfile.ZipFile(SITE / "notebooks.zip") as archive:  # by `make colab`
        names = {name.removeprefix("book/") for name in archive.namelist()} - {""}
        needed = archive.read("book/requirements.txt").decode()
    stored = {path.name for path in chapters(SITE.parent.parent)}
    assert names == stored | {"README.md", "requirements.txt"}
    assert re.search(r"^attnsel\[book\] @ git\+https://\S+@\w+", needed, re.MULTILINE)


CODE = re.compile(r"<(pre|code|script|style)\b.*?</\1>", re.DOTALL)
SVG = "{http://www.w3.org/2000/svg}"
AROUND = "#e6e6e6", "#ffffff"  # the grid, and what is around a curve


@each(CHAPTERS)
def test_the_file_of_a_chapter_is_light_and_needs_no_script(page):
    text = source_of(page)
    assert re.findall(r"\\[()\[\]].{20}|\$\$", CODE.sub("", text)) == []
    assert "mathcolor" not in text  # all signs of a formula have its colour
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert max(map(len, scripts)) < 2000  # the data of figures come later
    kinds = "textbox|map|frames|plane|steer|tips"
    figures = re.findall(rf'<div class="attnsel attnsel-(?:{kinds})"[^>]*>', text)
    drawn = [figure for figure in figures if "data-drawing" not in figure]
    assert (f"_static/drawing/{Path(page).stem}.js" in text) == bool(drawn)
    for figure in parsed(page).select("article :is(.attnsel, figure)"):
        # Not `strings`, which leaves out the content of a template in Python 3.11.2.
        words = "".join(
            words
            for words in figure.descendants
            if isinstance(words, str) and words.parent.name != "script"
        )
        assert words.strip() or figure.select("img, svg, table, math"), figure


@each(CHAPTERS)
def test_marks_of_pictures_stand_out_in_both_themes_and_none_is_heavy(page):
    for address in {name for name in loads(page) if "_images/" in name}:
        path = (SITE / page).parent / address
        assert path.stat().st_size <= 200_000
        if path.suffix != ".svg":
            continue
        picture = ElementTree.parse(path)
        assert len(list(picture.iter())) <= 3000
        for group in picture.iter(f"{SVG}g"):
            if not group.get("id", "").startswith(("PathCollection", "line2d")):
                continue
            for mark in (*group.iter(f"{SVG}use"), *group.iterfind(f"{SVG}path")):
                style = mark.get("style", "")
                for colour, alpha in re.findall(
                    r"(?:fill|stroke): (#\w{6})(?:; \w+-opacity: ([\d.]+))?", style
                ):
                    if colour not in AROUND:
                        assert least_contrast(colour, float(alpha or 1)) >= 3, style


@files
def test_pages_of_the_package_say_where_functions_are_used():
    text = source_of("book/package_models.html")
    assert re.search(r"Used in <a", text)
    assert '<span class="pre">[source]</span>' in text
    assert "set_score_request" not in text


@files
def test_the_theme_leaves_boxes_that_scroll_to_our_script():
    script = (SITE / "_static" / "site.js").read_text(encoding="utf-8")
    assert script.count("{return;" + bundle.STOPS[1:]) == 1


# Each page, opened once


def usual_theme(width: int) -> str:
    """Return the theme for a window: light at a desk, and dark on a phone."""
    return "dark" if width < 600 else "light"


class View:
    """A page in the browser, with the errors and responses that occurred."""

    def __init__(
        self,
        browser: Any,
        address: str,
        page: str,
        width: int,
        theme: str | None = None,
    ) -> None:
        self.address = address
        self.wrong: list[str] = []
        self.responses: list[Any] = []
        self.context = browser.new_context(
            viewport={"width": width, "height": 844},
            color_scheme=theme or usual_theme(width),
            has_touch=width < 600,
        )
        self.context.on("request", self.asked)
        self.context.add_init_script(path=PROBES)
        self.tab = tab = self.context.new_page()
        tab.on("response", self.answered)
        tab.on("console", self.said)
        tab.on("pageerror", lambda error: self.wrong.append(str(error)))
        tab.on("requestfailed", self.lost)
        self.go(page)

    def lost(self, asked: Any) -> None:
        """Record a failed request, except a request that ended with its page."""
        if asked.failure != "net::ERR_ABORTED":
            self.wrong.append(f"lost {asked.url}: {asked.failure}")

    def go(self, page: str) -> None:
        """Open a page, and wait until its layout is complete."""
        self.page = page
        self.wrong.clear()
        self.responses.clear()
        self.tab.goto(f"{self.address}/{page}")
        self.tab.wait_for_function("document.fonts.status === 'loaded'")
        wait_for_layout(self.tab)

    def resize(self, width: int) -> None:
        """Change to a desk or a phone, and wait for sidebars and colours."""
        # Also in a tab of this width: a test before may have left it in the dark.
        self.tab.emulate_media(color_scheme=usual_theme(width))
        if self.tab.viewport_size["width"] != width:
            self.tab.set_viewport_size({"width": width, "height": 844})
            self.settle()

    def settle(self) -> None:
        """Wait until all animations and changes of colour have ended."""
        frames = "async () => { for (let i = 0; i < 3; i += 1) await probes.frame(); }"
        self.tab.evaluate(frames)
        self.tab.wait_for_function("!probes.moves()")
        self.tab.evaluate(frames)

    def asked(self, request: Any) -> None:
        """Record a request to another host, which the browser cannot reach."""
        # A worker's script is the page's own text.
        if not request.url.startswith((self.address, f"blob:{self.address}")):
            self.wrong.append(f"asked for {request.url}")

    def answered(self, response: Any) -> None:
        if response.url.startswith("blob:"):
            return
        if response.status >= 400:
            self.wrong.append(f"{response.status} for {response.url}")
        else:
            self.responses.append(response)

    def said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(message.text)


@pytest.fixture(scope="module")
def phone(browser, address) -> Iterator[View]:
    """Yield one tab for all pages, because opening a tab takes as long as a page."""
    opened = View(browser, address, "404.html", PHONE)
    # Each page is loaded as by a reader who has visited no other page.
    session = opened.context.new_cdp_session(opened.tab)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    yield opened
    opened.context.close()


def loaded(view: View) -> dict[str, Any]:
    """Return the faults of a page that has just been loaded."""
    shift = view.tab.evaluate("probes.scroll()")
    view.tab.wait_for_load_state("networkidle")
    paths = [unquote(urlsplit(response.url).path) for response in view.responses]
    weight = sum(sent(SITE / path.lstrip("/")) for path in paths) / 1000
    elements = view.tab.locator("*").count()
    late = r"fontawesome|/search/|minisearch"
    return {
        "loaded too early": [path for path in paths if re.search(late, path)],
        "kB": weight > HEAVY.get(Path(view.page).stem, KB) and weight,
        "requests": len(paths) > TARGETS["requests"] and paths,
        "elements": elements > TARGETS["elements"] and elements,
        "shift": shift > TARGETS["shift"] and shift,
        **view.tab.evaluate("probes.broken()"),
    }


@pytest.fixture(scope="module")
def texts_of(browser):
    """Yield a function that measures the labels of a picture at its own size."""
    tab = browser.new_page()
    tab.add_init_script(path=PROBES)
    tab.goto("about:blank")

    @functools.cache
    def measured(name: str) -> dict[str, float]:
        text = (SITE / "_images" / name).read_text(encoding="utf-8")
        found: dict[str, float] = tab.evaluate("svg => probes.texts(svg)", text)
        return found

    yield measured
    tab.close()


looks: set[str] = set()  # of texts on the pages of this process


def seen_by_axe(view: View, width: int) -> list[list[Any]]:
    """Return the violations that axe finds on a page at this width."""
    view.tab.mouse.move(0, 0)  # on no link: what is pointed at has another colour
    view.resize(width)
    view.settle()
    shown = view.tab.evaluate("document.documentElement.dataset.theme")
    assert shown == usual_theme(width)
    return serious_violations(view.tab, looks)


@pytest.mark.parametrize("page", CHAPTERS)
def test_a_page_is_right_on_a_phone_at_night_and_at_a_desk_by_day(
    phone, texts_of, page
):
    phone.resize(PHONE)
    phone.go(page)
    found = loaded(phone)
    is_chapter = (SITE.parent.parent / page).with_suffix(".ipynb").is_file()
    of_page = [is_chapter, page in DETAILS, page in OWN]
    # Axe takes as long as all the rest, so it checks a quarter of the pages per width.
    turn = (CHAPTERS.index(page) + commit()) % 4
    with_axe = {0: PHONE, 2: DESK}.get(turn)
    for width in (PHONE, DESK):
        phone.resize(width)
        faults = phone.tab.evaluate("of => probes.faults(...of)", of_page)
        drawn = phone.tab.evaluate("probes.drawn()")
        faults["small or overlapping texts"] = [
            name
            for name, shown in drawn
            if (texts := texts_of(name))["overlaps"]
            or texts["least"] * shown / texts["width"] < 9
        ]
        if width == with_axe:
            faults["axe"] = seen_by_axe(phone, width)
        found |= {f"at {width}, {what}": names for what, names in faults.items()}
    found["curves below a legend"] = [
        name
        for name in re.findall(r"_images/(\w+\.svg)", source_of(page))
        if texts_of(name)["covered"]
    ]
    found["complaints"] = phone.wrong
    wrong = [f"{what}: {names}" for what, names in found.items() if names]
    assert not wrong, "\n".join(wrong)


# One page for what is the same on all, or happens on one alone


def pages_with(kind: str) -> list[str]:
    """Return the pages that contain a figure of this kind."""
    mark = re.compile(f'class="(?:attnsel )?attnsel-{kind}"')
    return [p for p in CHAPTERS if mark.search(source_of(p))]


@pytest.fixture(scope="module")
def searching(browser, address) -> Iterator[View]:
    """Yield one wide tab for all tests of the search."""
    view = View(browser, address, "search.html", DESK)
    yield view
    view.context.close()


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_the_keyboard_is_soon_at_the_text_and_no_link_is_covered(searching, width):
    searching.go("book/one_step.html")
    searching.resize(width)
    stops = searching.tab.evaluate("probes.stopsAbove()")
    searching.resize(DESK)
    assert "Skip to the text" in stops[0]
    assert len(stops) <= 10
    assert searching.tab.evaluate("probes.covered()") == []


def test_a_skip_leads_where_it_says(searching):
    for link, place in [("Skip to the text", "article"), ("chapters", ".bd-sidebar")]:
        searching.go("book/one_step.html")
        tab = searching.tab
        tab.get_by_role("link", name=link).focus()
        tab.keyboard.press("Enter")
        tab.keyboard.press("Tab")
        assert tab.evaluate("place => document.activeElement.closest(place)", place)
        assert searching.wrong == []


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_what_a_link_leads_to_is_below_the_bar(browser, address, width):
    view = View(browser, address, "book/one_step.html", width)
    for name in ["equation-eq-one-step-lemma", "thm-one-step-lemma41", "summary"]:
        view.tab.evaluate("name => { location.hash = name; }", name)
        view.settle()
        top = "document.querySelector(':target').getBoundingClientRect().top"
        bar = "document.querySelector('.bd-header-article').getBoundingClientRect()"
        assert view.tab.evaluate(f"{bar}.bottom <= {top} && {top} < innerHeight / 2")
    view.context.close()


def test_a_long_page_is_laid_out_piece_by_piece(browser, address):
    tab = browser.new_page()
    tab.route("**/site.js*", lambda route: route.abort())
    tab.goto(f"{address}/book/one_step.html")
    kinds = f"new Set([...document.querySelectorAll('{WAITING}')].map((piece) => "
    kinds += "getComputedStyle(piece).contentVisibility))"
    assert tab.evaluate(f"[...{kinds}]") == ["auto"]
    tab.unroute("**/site.js*")
    tab.goto(f"{address}/book/one_step.html?again")
    wait_for_layout(tab)
    kinds = kinds.replace(WAITING, "article *")
    assert tab.evaluate(f"[...{kinds}]") == ["visible"]
    tab.close()


def test_a_page_that_one_comes_back_to_stands_where_it_stood(browser, address):
    view = View(browser, address, "book/one_step.html", PHONE)
    place = "Math.round(document.querySelector('#summary').getBoundingClientRect().top)"
    view.tab.evaluate("document.querySelector('#summary').scrollIntoView()")
    view.settle()
    before = view.tab.evaluate(place)
    assert abs(before) < 100
    view.tab.reload()
    view.settle()
    assert abs(view.tab.evaluate(place) - before) < 100
    assert view.tab.locator("html.piecemeal").count() == 0
    view.context.close()


@pytest.mark.parametrize(
    ("width", "menu"), [(PHONE, "Menu of this page"), (DESK, "Download this page")]
)
def test_a_menu_opens_and_the_top_is_a_press_away(browser, address, width, menu):
    view = View(browser, address, "book/one_step.html", width)
    tab, link = view.tab, view.tab.get_by_text(".ipynb", exact=True)
    assert tab.evaluate("typeof bootstrap") == "undefined" and not link.is_visible()
    tab.get_by_label(menu).press("Enter")
    link.wait_for()
    tab.keyboard.press("Escape")
    link.wait_for(state="hidden")
    view.context.close()


@files
def test_figures_that_move_are_there():
    assert len(pages_with("frames")) >= 2
    assert pages_with("map")


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_a_figure_with_much_data_is_drawn_when_it_is_asked_for(browser, address, width):
    view = View(browser, address, "book/one_step.html", width)
    tab, figure = view.tab, view.tab.locator(".attnsel-map")
    assert figure.locator("img").count() and not figure.locator("canvas").count()
    assert not figure.locator("p").is_visible()  # that it needs JavaScript
    if width == DESK:
        figure.hover()
    else:
        figure.locator("button").focus()
        tab.keyboard.press("Enter")
    canvas, output = figure.locator("canvas"), figure.locator("canvas + output")
    canvas.wait_for()
    if width == PHONE:
        tab.wait_for_function("document.activeElement.type === 'search'")
    search, select = figure.locator("[type=search]"), figure.locator("select").first
    drawn = "canvas => canvas.toDataURL()"
    seen = {canvas.evaluate(drawn)}
    search.fill("awful")
    assert output.inner_text().startswith("awful: ")
    seen.add(canvas.evaluate(drawn))
    names = select.locator("option")
    for i in range(names.count()):
        select.select_option(str(i))
        seen.add(canvas.evaluate(drawn))
    assert len(seen) == 1 + names.count()  # the axis at first, and with a mark on it
    assert view.wrong == []
    view.context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_link_that_is_pointed_at_can_be_read(searching, theme):
    from axe_playwright_python.sync_playwright import Axe

    searching.go("book/cite.html")
    searching.tab.emulate_media(color_scheme=theme)
    searching.tab.locator("article p a").first.hover()
    searching.settle()
    searching.tab.evaluate(Axe().axe_script)
    options = {"runOnly": ["color-contrast"], "resultTypes": ["violations"]}
    found = searching.tab.evaluate("how => axe.run('article p a:hover', how)", options)
    assert len(found["passes"]) + len(found["violations"]) == 1
    assert found["violations"] == []


def test_theme_switch_and_preference(browser, address):
    view = View(browser, address, "book/intro.html", 1280, theme="dark")
    tab, theme = view.tab, "document.documentElement.dataset.theme"
    assert tab.evaluate(theme) == "dark"
    button = tab.locator("button.theme-switch-button").first
    seen = set()
    for _ in range(3):
        button.click()
        seen.add(tab.evaluate("document.documentElement.dataset.mode"))
    assert seen == {"auto", "dark", "light"}
    assert view.wrong == []
    view.context.close()


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_axe_finds_nothing_serious_in_the_search(searching, width):
    searching.go("search.html?q=awful")
    searching.tab.locator(".search-found a").first.wait_for(timeout=10_000)
    assert searching.wrong == []
    assert seen_by_axe(searching, width) == []


def test_claims_are_filtered(searching):
    searching.go("book/claims.html")
    tab = searching.tab
    count, lines = tab.locator(".claims-filter output"), tab.locator("ul.claims > li")
    shown = "all => all.filter(e => e.checkVisibility()).map(e => e.innerText)"
    every = lines.evaluate_all(shown)
    assert count.inner_text() == f"{len(every)} of {len(every)} claims"
    tab.get_by_role("searchbox", name="Words").fill("SLOPE lemma")
    found = lines.evaluate_all(shown)
    assert found == [c for c in every if "slope" in c.lower() and "lemma" in c.lower()]
    assert count.inner_text() == f"{len(found)} of {len(every)} claims"
    tab.get_by_role("searchbox", name="Words").fill("")
    tab.get_by_label("Said by").select_option("the paper")
    assert lines.evaluate_all(shown) == [c for c in every if "(the paper)" in c]
    tab.get_by_label("Chapter").select_option(label="The max-margin direction")
    paper = lines.evaluate_all(shown)
    assert paper and all("(the paper)" in line for line in paper)
    heads = "all => all.filter(e => e.checkVisibility()).length"
    assert tab.locator("article h2").evaluate_all(heads) == 1
    tab.get_by_label("Said by").select_option("this book")
    assert lines.evaluate_all(shown) and not set(lines.evaluate_all(shown)) & set(paper)
    assert searching.wrong == []


# The contents of live figures before their scripts run, and without scripts.
HOLDS = """() => [...document.querySelectorAll("article :is(.attnsel, figure)")]
  .filter((e) => e.checkVisibility() && (e.getBoundingClientRect().height < 40
    || !e.innerText.trim() && !e.querySelector("img, svg, table, math")))
  .map((e) => e.id || e.className)"""


@pytest.fixture(scope="module")
def without_scripts(browser) -> Iterator[Any]:
    """Yield a tab without scripts."""
    tab = browser.new_page(java_script_enabled=False)
    yield tab
    tab.close()


def test_all_claims_are_there_without_scripts(without_scripts, address):
    without_scripts.goto(f"{address}/book/claims.html")
    assert without_scripts.locator("ul.claims > li").last.is_visible()
    assert not without_scripts.locator(".claims-filter").is_visible()


def with_each_kind() -> list[str]:
    """Return pages that contain each kind of figure at least once."""
    kinds: dict[str, str] = {}
    for page in CHAPTERS:
        for kind in re.findall(r'class="attnsel (attnsel-\w+)', source_of(page)):
            kinds.setdefault(kind, page)
    return sorted(set(kinds.values()))


@pytest.mark.parametrize("page", with_each_kind())
def test_without_scripts_figures_of_each_kind_are_seen(without_scripts, address, page):
    without_scripts.goto(f"{address}/{page}")
    assert without_scripts.evaluate(HOLDS) == []
