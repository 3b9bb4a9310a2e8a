"""The built site in a browser that can reach nothing else (`make test-site`)."""

import collections
import functools
import html
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest
import yaml
from bs4 import BeautifulSoup

from support.axe import serious_violations
from support.browser import WAITING, WATCH, measure, scroll, sent, wait_for_layout
from support.colours import least_contrast
from support.turns import commit
from tools.site import bundle
from tools.site.contents import chapters

pytestmark = pytest.mark.site

KB = 350  # of a page as it is sent, but for those of `HEAVY`
HEAVY = {"own_texts": 600, "train": 600}  # a whole report; the reviews
TARGETS = {"requests": 25, "elements": 9000, "shift": 0.05}
SITE = Path(__file__).resolve().parents[2] / "_build" / "html"
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


class Page(NamedTuple):
    """What a page loads and links to, its identifiers and the words for its images."""

    loads: list[str]
    links: list[str]
    ids: set[str]
    alts: list[str]


@functools.cache
def source_of(page: str) -> str:
    return (SITE / page).read_text(encoding="utf-8")


@functools.cache
def parsed(page: str) -> Page:
    soup = BeautifulSoup(source_of(page), "html.parser")
    loading = soup.select("link:not([rel=canonical]), script, img, iframe")
    return Page(
        loads=[str(a) for e in loading if (a := e.get("href") or e.get("src"))],
        links=[str(e["href"]) for e in soup.select("a[href]")],
        ids={str(e["id"]) for e in soup.select("[id]")},
        alts=[str(e.get("alt", "")) for e in soup.select("img")],
    )


# One process reads all files, and each of them once.
files = pytest.mark.xdist_group("files")


def each(pages: list[str]) -> Any:
    """Run a test of files for each of these pages."""
    return pytest.mark.parametrize(
        "page", [pytest.param(page, marks=files) for page in pages]
    )


@files
def test_the_site_is_built():
    assert "book/intro.html" in PAGES, "run `make book` first"


@each(PAGES)
def test_pages_load_from_the_site_only(page):
    for address in parsed(page).loads:
        assert re.match(r"data:|(?!\w+:|//)", address), address


@files
@pytest.mark.parametrize("path", sorted(SITE.rglob("*.css")), ids=lambda p: p.name)
def test_styles_load_from_the_site_only(path):
    for address in re.findall(r"url\(([^)]*)\)", path.read_text(encoding="utf-8")):
        assert re.match(r"data:|(?!\w+:|//)", address.strip("'\"")), address


@each(PAGES)
def test_links_within_the_site_resolve(page):
    for link in parsed(page).links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = SITE / page
        if parts.path:
            target = (target.parent / unquote(parts.path)).resolve()
        assert target.is_file(), link
        # A state of the line-up or the laboratory is no place of a page.
        if re.fullmatch(r"(round=\d+|tab=(reviews|stages))", parts.fragment):
            continue
        if parts.fragment and target.suffix == ".html":
            anchors = parsed(str(target.relative_to(SITE.resolve()))).ids
            assert unquote(parts.fragment) in anchors, link


@files
@pytest.mark.parametrize("old", MOVED)
def test_an_old_address_leads_on(old):
    page, _, anchor = MOVED[old].partition("#")
    assert anchor in parsed(f"book/{page}").ids
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
    assert tags["site_name"] == SETTINGS["title"]
    assert f'<link rel="canonical" href="{tags["url"]}"' in text
    assert f"<loc>{tags['url']}</loc>" in (SITE / "sitemap.xml").read_text("utf-8")
    start = (SITE / "_static" / "preview.png").read_bytes()[:24]
    assert start[12:24] == b"IHDR" + (1200).to_bytes(4) + (630).to_bytes(4)
    assert tags["image"] == tags["url"].removesuffix(page) + "_static/preview.png"


@files
def test_the_book_is_there_to_download():
    with zipfile.ZipFile(SITE / "notebooks.zip") as archive:  # by `make colab`
        names = {name.removeprefix("book/") for name in archive.namelist()} - {""}
        readme = archive.read("book/README.md").decode()
        needed = archive.read("book/requirements.txt").decode()
    stored = {path.name for path in chapters(SITE.parent.parent)}
    assert names == stored | {"README.md", "requirements.txt"}
    assert all(f"- `{name}`: " in readme for name in stored)
    assert re.search(r"^attnsel\[book\] @ git\+https://\S+@\w+", needed, re.MULTILINE)


@each(PAGES)
def test_images_have_alt_text(page):
    assert all(alt.strip() for alt in parsed(page).alts)


FRAMES = """async () => {
  for (let i = 0; i < 3; i += 1) { await new Promise(requestAnimationFrame); }
}"""
# In a closed box nothing changes its colour before it opens.
MOVING = """document.getAnimations().some((change) =>
  change.playState === "running" && change.effect.target.checkVisibility())"""


PHONE, DESK = 390, 1280
both = pytest.mark.parametrize("width", [PHONE, DESK])
on_a_phone = pytest.mark.parametrize("width", [PHONE])
at_a_desk = pytest.mark.parametrize("width", [DESK])


def usual_theme(width: int) -> str:
    """Return the theme of a window: at a desk by day, on a phone at night."""
    return "dark" if width < 600 else "light"


class View:
    """A page opened in the browser, with the complaints and responses it gathered."""

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
        self.context.add_init_script(WATCH)
        self.tab = tab = self.context.new_page()
        tab.on("response", self.answered)
        tab.on("console", self.said)
        tab.on("pageerror", lambda error: self.wrong.append(str(error)))
        tab.on("requestfailed", self.lost)
        self.go(page)

    def lost(self, asked: Any) -> None:
        """Note a request that failed; one given up when its page is left is none."""
        if asked.failure != "net::ERR_ABORTED":
            self.wrong.append(f"lost {asked.url}: {asked.failure}")

    def go(self, page: str) -> None:
        """Open a page, and wait until all of it is there."""
        self.page = page
        self.wrong.clear()
        self.responses.clear()
        self.tab.goto(f"{self.address}/{page}")
        self.tab.wait_for_function("document.fonts.status === 'loaded'")
        self.tab.wait_for_load_state("networkidle")
        wait_for_layout(self.tab)

    @property
    def width(self) -> int:
        return int(self.tab.viewport_size["width"])

    def resize(self, width: int) -> None:
        """Go on at a desk or on a phone; sidebars and colours take a moment."""
        # Also in a tab of this width: a test before may have left it in the dark.
        self.tab.emulate_media(color_scheme=usual_theme(width))
        if self.width != width:
            self.tab.set_viewport_size({"width": width, "height": 844})
            self.settle()

    def settle(self) -> None:
        """Wait until what moves in or changes its colour has, and what follows."""
        self.tab.evaluate(FRAMES)
        self.tab.wait_for_function(f"!{MOVING}")
        self.tab.evaluate(FRAMES)

    def asked(self, request: Any) -> None:
        """Complain of what leads to another host; the browser reaches none."""
        # A worker's script is the page's own text.
        if not request.url.startswith((self.address, f"blob:{self.address}")):
            self.wrong.append(f"asked for {request.url}")

    def answered(self, response: Any) -> None:
        if response.url.startswith("blob:"):
            return
        self.responses.append(response)
        if response.status >= 400:
            self.wrong.append(f"{response.status} for {response.url}")

    def said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(message.text)


def grouped(names: list[str]) -> list[Any]:
    """Return pages as parameters: all tests of one run in one process."""
    return [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in names]


@pytest.fixture(scope="module")
def phone(browser, address) -> Iterator[View]:
    """A tab for page after page: to open another one takes as long as a page does."""
    opened = View(browser, address, "404.html", PHONE)
    # Each page comes as it does to a reader who has seen none.
    session = opened.context.new_cdp_session(opened.tab)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    yield opened
    opened.context.close()


@pytest.fixture(scope="module", params=grouped(CHAPTERS))
def view(request, phone) -> View:
    """A page on a phone, opened once for all tests that only look at it.

    Opening a page is what takes time: other widths and the dark theme are those of a
    window that changes.
    """
    phone.resize(PHONE)
    phone.go(request.param)
    return phone


@on_a_phone
def test_page_is_whole_and_light(view, width):
    """It is the first test of a page: what others do with the page moves it, too."""
    tab = view.tab
    scroll(tab)
    shift = tab.evaluate("seen.shift")
    tab.evaluate("scrollTo(0, 0)")
    assert view.wrong == []
    paths = [unquote(urlsplit(response.url).path) for response in view.responses]
    assert not any(re.search(r"fontawesome|/search/|minisearch", p) for p in paths)
    weight = sum(sent(SITE / path.lstrip("/")) for path in paths) / 1000
    assert weight <= HEAVY.get(Path(view.page).stem, KB)
    assert len(paths) <= TARGETS["requests"]
    assert tab.locator("*").count() <= TARGETS["elements"]
    assert shift <= TARGETS["shift"]
    assert tab.locator("div.math > math").count() == tab.locator("div.math").count()
    assert tab.locator("merror").count() == 0
    broken = tab.evaluate(
        "[...document.images].filter(i => i.complete && !i.naturalWidth)"
        ".map(i => i.src)"
    )
    assert broken == []
    assert tab.locator(".problematic, .system-message").count() == 0
    prose = "[...document.querySelectorAll('article :is(p, li, td, figcaption)')]"
    for text in tab.evaluate(f"{prose}.map(e => e.innerText)"):
        assert re.search(r"\{[\w:-]+\}`|:::|\(eq-|\[\?\]", text) is None, text


# Closed boxes that hold something of these kinds are opened, or closed again, for a
# frame. What is open on the page stays open.
SWITCH = """(kinds) => {
  const boxes = kinds ? `article details:not([open]):has(${kinds})` : "details.opened";
  document.querySelectorAll(boxes).forEach((box) => {
    box.open = kinds !== "";
    box.classList.toggle("opened", box.open);
  });
  return new Promise((done) => setTimeout(() => requestAnimationFrame(done), 100));
}"""


@on_a_phone
def test_what_opens_on_a_phone_fits(view, width):
    view.resize(width)
    view.tab.evaluate(SWITCH, "table, math")
    found = measure(view.tab)
    cut = [found[name] for name in ("cutTables", "cutFormulas", "emptyStops")]
    view.tab.evaluate(SWITCH, "")
    assert cut == [[], [], []]


@both
def test_everything_fits(view, width):
    view.resize(width)
    found = measure(view.tab)
    cut = {name: ids for name, ids in found.items() if name.startswith("cut")}
    assert cut == {"cutFigures": [], "cutTables": [], "cutFormulas": []}
    assert found["emptyStops"] == []
    assert found["hoverTitles"] == []
    assert view.tab.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    if width > 600:
        assert found["wideTables"] == []  # there is room for tables
        if (SITE.parent.parent / view.page).with_suffix(".ipynb").is_file():
            assert found["height"] <= 19_000
            # A page of details may begin with its theorems.
            assert found["first"] <= 1500 or view.page in DETAILS


CODE = re.compile(r"<(pre|code|script|style)\b.*?</\1>", re.DOTALL)


@each(CHAPTERS)
def test_no_formula_is_left_to_a_script(page):
    text = CODE.sub("", source_of(page))
    assert re.findall(r"\\[()\[\]].{20}|\$\$", text) == []
    assert "mathcolor" not in text  # all signs of a formula have its colour


@each(CHAPTERS)
def test_a_page_holds_no_data_of_figures(page):
    text = source_of(page)
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert max(map(len, scripts)) < 2000
    kinds = "textbox|map|frames|plane|steer|tips"
    figures = re.findall(rf'<div class="attnsel attnsel-(?:{kinds})"[^>]*>', text)
    drawn = [figure for figure in figures if "data-drawing" not in figure]
    drawing = f'<script defer="defer" src="../_static/drawing/{Path(page).stem}.js'
    assert (drawing in text) == bool(drawn)


@each(CHAPTERS)
def test_no_picture_is_heavy(page):
    names = {name for name in parsed(page).loads if "_images/" in name}
    for path in ((SITE / page).parent / name for name in names):
        assert path.stat().st_size <= 200_000
        if path.suffix == ".svg":
            assert len(re.findall(r"<\w", path.read_text(encoding="utf-8"))) <= 3000


SVG = "{http://www.w3.org/2000/svg}"
AROUND = "#e6e6e6", "#ffffff"  # the grid, and what is around a curve


@each(CHAPTERS)
def test_marks_of_pictures_stand_out_in_both_themes(page):
    for name in re.findall(r"_images/(\w+\.svg)", source_of(page)):
        for group in ElementTree.parse(SITE / "_images" / name).iter(f"{SVG}g"):
            if not group.get("id", "").startswith(("PathCollection", "line2d")):
                continue
            for mark in (*group.iter(f"{SVG}use"), *group.iterfind(f"{SVG}path")):
                style = mark.get("style", "")
                for colour, alpha in re.findall(
                    r"(?:fill|stroke): (#\w{6})(?:; \w+-opacity: ([\d.]+))?", style
                ):
                    if colour not in AROUND:
                        assert least_contrast(colour, float(alpha or 1)) >= 3, style


SIDEWAYS = """() => [...document.querySelectorAll("article div.highlight pre")]
  .filter((e) => !e.closest(".cell_output") && e.checkVisibility()
    && e.scrollWidth > e.clientWidth + 1)
  .map((e) => e.textContent.slice(0, 200))"""


@at_a_desk
def test_no_code_scrolls_sideways_at_a_desk(view, width):
    view.resize(width)
    view.tab.evaluate(SWITCH, "div.highlight")
    found = view.tab.evaluate(SIDEWAYS)
    view.tab.evaluate(SWITCH, "")
    assert found == []


# What looks the same with the keyboard on it as without.
UNSEEN = """() => {
  const look = (e) => {
    const {outlineStyle, outlineWidth, boxShadow} = getComputedStyle(e);
    return [outlineStyle !== "none" && parseFloat(outlineWidth) > 1, boxShadow];
  };
  const stops = "a[href], button, input, select, textarea, summary, [tabindex]";
  return [...document.querySelectorAll(stops)].filter((e) => {
    const there = e.checkVisibility({visibilityProperty: true});
    if (e.tabIndex < 0 || !there) { return false; }
    const [, before] = look(e);
    e.focus({focusVisible: true, preventScroll: true});
    const [ring, after] = look(e), focused = document.activeElement === e;
    e.blur();
    return focused && !ring && after === before;
  }).map((e) => e.outerHTML.slice(0, 200));
}"""


@both
def test_the_keyboard_is_seen_on_each_control(view, width):
    view.resize(width)
    assert view.tab.evaluate(UNSEEN) == []


# What the keyboard stops at before the text of a page.
STOPS = """() => {
  const text = document.querySelector("article");
  const stops = "a[href], button, input, select, textarea, summary, [tabindex]";
  return [...document.querySelectorAll(stops)].filter((e) => e.tabIndex >= 0
    && e.checkVisibility({visibilityProperty: true})
    && text.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_PRECEDING)
    .map((e) => e.outerHTML);
}"""


@both
def test_the_keyboard_is_soon_at_the_text(view, width):
    view.resize(width)
    stops = view.tab.evaluate(STOPS)
    assert "Skip to the text" in stops[0]
    assert len(stops) <= 10


# Links of the list of chapters on which something else lies.
COVERED_LINKS = """() => [...document.querySelectorAll(".bd-sidebar-primary a[href]")]
  .filter((e) => {
    if (!e.checkVisibility({visibilityProperty: true})) { return false; }
    e.scrollIntoView({block: "center", behavior: "instant"});
    const {left, top, width, height} = e.getBoundingClientRect();
    return !e.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  }).map((e) => e.href)"""


@at_a_desk
def test_links_to_other_chapters_can_be_pressed(view, width):
    view.resize(width)
    assert view.tab.evaluate(COVERED_LINKS) == []


def test_folds_have_names(view):
    for name in view.tab.locator("summary").evaluate_all(
        "all => all.map((e) => [e.getAttribute('aria-label'), e.textContent.trim()])"
    ):
        assert name[0] is None and name[1], name


def test_a_skip_leads_where_it_says(searching):
    for link, place in [("Skip to the text", "article"), ("chapters", ".bd-sidebar")]:
        searching.go("book/one_step.html")
        tab = searching.tab
        tab.get_by_role("link", name=link).focus()
        tab.keyboard.press("Enter")
        tab.keyboard.press("Tab")
        assert tab.evaluate("place => document.activeElement.closest(place)", place)
        assert searching.wrong == []


@both
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
    if width == PHONE:  # the theme has this button on narrow screens alone
        tab.evaluate("scrollTo({top: 2000, behavior: 'instant'})")
        tab.mouse.wheel(0, -300)
        tab.locator("#pst-back-to-top").click()
        tab.wait_for_function("scrollY === 0")
    view.context.close()


def moving(kind: str) -> list[str]:
    """Return the pages that hold a figure of a kind."""
    mark = re.compile(f'class="(?:attnsel )?attnsel-{kind}"')
    return [p for p in CHAPTERS if mark.search(source_of(p))]


@files
def test_figures_that_move_are_there():
    assert len(moving("frames")) >= 2
    assert moving("map")


IMAGES = """() => Promise.all([...document.images].map(image => {
  image.loading = "eager";
  return image.decode().catch(() => null);
}))"""


ASK = """async () => {
  document.querySelectorAll("[data-drawing] > button").forEach((b) => b.click());
  while (document.querySelector("[data-asks] > button")) {
    await new Promise((done) => setTimeout(done, 50));
  }
}"""


def figures_used(view: View, kind: str) -> Iterator[Any]:
    """Give the figures of a kind, wide and as on a phone, without network.

    Closed boxes around them are open for as long.
    """
    seen = len(view.responses)
    view.tab.evaluate(IMAGES)  # those below the fold come when they are scrolled to
    view.tab.evaluate(ASK)
    del view.responses[seen:]
    view.context.set_offline(True)
    view.tab.evaluate(SWITCH, f".attnsel-{kind}")
    try:
        # First the width that the window has.
        for width in sorted((DESK, PHONE), key=lambda width: width != view.width):
            view.resize(width)
            figures = view.tab.locator(f".attnsel-{kind}")
            assert figures.count()
            yield figures
    finally:
        view.tab.evaluate(SWITCH, "")
        view.context.set_offline(False)
    assert view.wrong == []


@pytest.mark.parametrize("page", grouped(moving("frames")))
def test_sliders_move_their_figures(browser, address, page):
    view = View(browser, address, page, PHONE)  # whose clock no other page has
    tab = view.tab
    tab.clock.install(time=0)
    for hour, figures in enumerate(figures_used(view, "frames"), 1):
        # The machine's own time, slow or not, does not count.
        tab.clock.pause_at(3600 * hour)
        try:
            for figure in figures.all():
                check_slider(tab, figure)
        finally:
            tab.clock.resume()
    view.context.close()


def check_slider(tab: Any, figure: Any) -> None:
    slider, output = figure.locator("input"), figure.locator("output")
    frames = figure.locator(".frame")
    labels = frames.evaluate_all("all => all.map(f => f.dataset.label)")
    last = len(labels) - 1
    assert last > 0
    kinds = frames.evaluate_all("all => new Set(all.map(f => f.innerHTML)).size")
    assert kinds == len(labels)

    def shown() -> int:
        (visible,) = frames.evaluate_all(
            "all => all.flatMap((f, i) => f.checkVisibility() ? [i] : [])"
        )
        return visible

    slider.press("Home")
    for at, label in enumerate(labels):
        assert slider.input_value() == str(at)
        assert shown() == at
        assert output.inner_text() == label
        slider.press("ArrowRight")

    # From the end it starts over; touching the slider stops it.
    figure.locator("button").click()
    assert shown() == 0
    tab.clock.run_for(701)
    assert shown() == int(slider.input_value()) == 1
    going = "Pause" if last > 1 else "Play"
    assert figure.locator("button").inner_text() == going
    slider.press("Home")
    assert figure.locator("button").inner_text() == "Play"
    assert shown() == 0


@pytest.mark.parametrize("view", grouped(moving("map")), indirect=True)
def test_explorers_name_and_place_their_points(view):
    for figures in figures_used(view, "map"):
        check_explorer(view, figures.first)


def check_explorer(view: View, figure: Any) -> None:
    tab = view.tab
    canvas, output = figure.locator("canvas"), figure.locator("canvas + output")
    search, select = figure.locator("[type=search]"), figure.locator("select").first
    drawn = "canvas => canvas.toDataURL()"
    seen = {canvas.evaluate(drawn)}

    search.fill("awful")
    assert output.inner_text().startswith("awful: ")
    seen.add(canvas.evaluate(drawn))
    search.fill("no such token")
    assert "No token" in output.inner_text()

    names = select.locator("option")
    for i in range(names.count()):
        select.select_option(str(i))
        seen.add(canvas.evaluate(drawn))
    assert len(seen) == 1 + names.count()  # the axis at first, and with a mark on it

    select.select_option("0")
    canvas.scroll_into_view_if_needed()
    canvas.focus()
    named = set()
    for _ in range(3):
        canvas.press("ArrowRight")
        named.add(output.inner_text())
    assert len(named) == 3
    box = canvas.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.touchscreen.tap(x, y) if view.width < 600 else tab.mouse.move(x, y)
    assert output.inner_text() not in named
    assert ": " in output.inner_text()
    tab.mouse.move(0, 0)
    search.fill("")  # nothing is marked any more, at the other width


looks: set[str] = set()  # of texts on the pages of this process


def check_with_axe(view: View, width: int) -> None:
    """Look at a page wide and light, or as on a phone at night."""
    view.tab.mouse.move(0, 0)  # on no link: what is pointed at has another colour
    view.resize(width)
    view.settle()
    shown = view.tab.evaluate("document.documentElement.dataset.theme")
    assert shown == usual_theme(width)
    assert serious_violations(view.tab, looks) == []


def in_turns() -> Iterator[Any]:
    """Yield each page with one width, and at another commit with the other one."""
    for turn, page in enumerate(grouped(CHAPTERS), commit()):
        yield pytest.param(*page.values, (PHONE, DESK)[turn % 2], marks=page.marks)


@pytest.mark.parametrize(("view", "width"), list(in_turns()), indirect=["view"])
def test_axe_finds_no_serious_violation(view, width):
    check_with_axe(view, width)


@files
def test_the_theme_leaves_boxes_that_scroll_to_our_script():
    script = (SITE / "_static" / "site.js").read_text(encoding="utf-8")
    assert script.count("{return;" + bundle.STOPS[1:]) == 1


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


def test_a_figure_with_much_data_is_drawn_when_it_is_asked_for(browser, address):
    view = View(browser, address, "book/one_step.html", 390)
    figure = view.tab.locator(".attnsel-map")
    assert figure.locator("img").count() and not figure.locator("canvas").count()
    assert not figure.locator("p").is_visible()  # that it needs JavaScript
    figure.locator("button").focus()
    view.tab.keyboard.press("Enter")
    figure.locator("canvas").wait_for()
    view.tab.wait_for_function("document.activeElement.type === 'search'")
    view.context.close()
    view = View(browser, address, "book/one_step.html", 1280)
    view.tab.locator(".attnsel-map").hover()
    view.tab.locator(".attnsel-map canvas").wait_for()
    assert view.wrong == []
    view.context.close()


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


@pytest.fixture(scope="module")
def searching(browser, address) -> Iterator[View]:
    """One tab for all that is searched."""
    view = View(browser, address, "search.html", 1366)
    yield view
    view.context.close()


@both
def test_axe_finds_no_serious_violation_in_the_search(searching, width):
    searching.go("search.html?q=awful")
    searching.tab.locator(".search-found a").first.wait_for(timeout=10_000)
    assert searching.wrong == []
    check_with_axe(searching, width)


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


@files
def test_pages_of_the_package_say_where_functions_are_used():
    text = source_of("book/package_models.html")
    assert re.search(r"Used in <a", text)
    assert '<span class="pre">[source]</span>' in text
    assert "set_score_request" not in text


# What a figure that moves shows before its script has run, and where none runs.
HOLDS = """() => [...document.querySelectorAll("article :is(.attnsel, figure)")]
  .filter((e) => e.checkVisibility() && (e.getBoundingClientRect().height < 40
    || !e.innerText.trim() && !e.querySelector("img, svg, table, math")))
  .map((e) => e.id || e.className)"""


@pytest.fixture(scope="module")
def without_scripts(browser) -> Iterator[Any]:
    """A tab in which no script runs."""
    tab = browser.new_page(java_script_enabled=False)
    yield tab
    tab.close()


def test_all_claims_are_there_without_scripts(without_scripts, address):
    without_scripts.goto(f"{address}/book/claims.html")
    assert without_scripts.locator("ul.claims > li").last.is_visible()
    assert not without_scripts.locator(".claims-filter").is_visible()


def with_each_kind() -> list[str]:
    """Return pages on which there is each kind of figure at least once."""
    kinds: dict[str, str] = {}
    for page in CHAPTERS:
        for kind in re.findall(r'class="attnsel (attnsel-\w+)', source_of(page)):
            kinds.setdefault(kind, page)
    return sorted(set(kinds.values()))


@pytest.mark.parametrize("page", grouped(with_each_kind()))
def test_without_scripts_figures_of_each_kind_are_seen(without_scripts, address, page):
    without_scripts.goto(f"{address}/{page}")
    assert without_scripts.evaluate(HOLDS) == []


# The file of a page, read as where no script runs.
EMPTY = """async () => {
  const text = await (await fetch(location.href)).text();
  const page = new DOMParser().parseFromString(text, "text/html");
  page.querySelectorAll("script").forEach((e) => e.remove());
  return [...page.querySelectorAll("article :is(.attnsel, figure)")]
    .filter((e) => !e.textContent.trim() && !e.querySelector("img, svg, table, math"))
    .map((e) => e.id || e.className);
}"""


def test_without_scripts_no_figure_is_empty(view):
    assert view.tab.evaluate(EMPTY) == []


# A picture by Matplotlib has a group for each text. Its letters are drawn a hundred
# units high; those of exponents and indices are smaller, as they are in print. Also how
# many points of its curves lie below the texts and marks of a legend.
TEXTS = """(picture) => {
  const box = document.createElement("div");
  box.innerHTML = picture.slice(picture.indexOf("<svg"));
  document.body.append(box);
  const svg = box.firstChild, {width} = svg.viewBox.baseVal;
  const rect = (e) => e.getBoundingClientRect();
  const within = ({left, right, top, bottom}, x, y) =>
    x > left && x < right && y > top && y < bottom;
  svg.setAttribute("width", width);
  const groups = svg.querySelectorAll("g[id^=text_]:has(path[transform])");
  const texts = [...groups].map((text) => {
    const {left, right, top, bottom} = text.getBoundingClientRect();
    const {a, b} = text.querySelector("path[transform]").parentElement.getScreenCTM();
    return {left, right, top, bottom, size: 100 * Math.hypot(a, b)};
  });
  let count = 0;
  box.querySelectorAll("g[id^=legend_]").forEach((legend) => {
    const marks = [...legend.querySelectorAll("g[id]")];
    const parts = marks.map(rect).filter(({width}) => width);
    const axes = legend.parentElement, area = rect(axes.querySelector("g[id^=patch]"));
    const lies = (x, y) => within(area, x, y) && parts.some((r) => within(r, x, y));
    const drawn = /^(line2d|LineC|PathC)/;
    const curves = [...axes.children].filter(({id}) => drawn.test(id));
    curves.flatMap((curve) => [...curve.querySelectorAll("path, use")]).forEach((e) => {
      if (e.closest("defs")) { return; }
      if (e.matches("use")) {
        const {left, right, top, bottom} = rect(e);
        count += lies((left + right) / 2, (top + bottom) / 2);
        return;
      }
      if (!e.getAttribute("d")) { return; }  // a line of no points
      const place = e.getScreenCTM(), length = e.getTotalLength();
      for (let at = 0; at <= length; at += 2) {
        const {x, y} = e.getPointAtLength(at).matrixTransform(place);
        count += lies(x, y);
      }
    });
  });
  box.remove();
  const pairs = texts.flatMap((one, i) => texts.slice(0, i).map((two) => [
    Math.min(one.right, two.right) - Math.max(one.left, two.left),
    Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top)]));
  return {width, least: Math.min(1000, ...texts.map(({size}) => size)),
    overlaps: pairs.filter(([across, up]) => across > 1 && up > 1).length,
    covered: count};
}"""
DRAWN = """() => [...document.querySelectorAll("article img[src$='.svg']")]
  .filter((image) => image.checkVisibility() && image.closest("figure, .cell_output"))
  .map((image) => [image.src.split("/").pop(), image.getBoundingClientRect().width])"""


@pytest.fixture(scope="module")
def texts_of(browser):
    """What the labels of a picture are like at its own size, on an empty page."""
    tab = browser.new_page()

    @functools.cache
    def measured(name: str) -> dict[str, float]:
        text = (SITE / "_images" / name).read_text(encoding="utf-8")
        found: dict[str, float] = tab.evaluate(TEXTS, text)
        return found

    yield measured
    tab.close()


@both
def test_labels_of_figures_can_be_read(view, width, texts_of):
    view.resize(width)
    for name, shown in view.tab.evaluate(DRAWN):
        texts = texts_of(name)
        assert texts["overlaps"] == 0, name
        assert texts["least"] * shown / texts["width"] >= 9, name
    for name in re.findall(r"_images/(\w+\.svg)", source_of(view.page)):
        assert texts_of(name)["covered"] == 0, name  # by a legend


@on_a_phone
def test_every_picture_is_dark_at_night(view, width):
    view.resize(width)
    pictures = "[...document.querySelectorAll(\"article img[src*='_images/']\")]"
    shown = f"{pictures}.map((image) => getComputedStyle(image).filter)"
    assert set(view.tab.evaluate(shown)) <= {"invert(0.93) hue-rotate(180deg)"}


# Where the question, the first figure and the knobs of a page begin, and its cost.
ORDER = """() => {
  const article = document.querySelector("article");
  const top = (e) => e && e.checkVisibility()
    ? e.getBoundingClientRect().top + scrollY : null;
  const code = [...article.querySelectorAll("div.highlight")];
  const lines = [...article.querySelectorAll("p")];
  return {
    guess: top(article.querySelector(".guess")),
    figure: top(article.querySelector("figure:has(.attnsel, img)")),
    knobs: top(code.find((e) => e.textContent.startsWith("# settings"))),
    cost: top(lines.find((e) => /chapter takes about/.test(e.textContent))),
  };
}"""


@both
def test_question_and_figure_come_before_the_knobs(view, width):
    view.resize(width)
    found = view.tab.evaluate(ORDER)
    # Who brings texts of their own does so first.
    own = view.page in ("book/own_texts.html", "book/own_attention.html")
    if own or None in (found["guess"], found["knobs"]):
        return
    assert found["cost"] is None  # under "How to run it", which is folded
    assert found["guess"] < 844
    assert found["guess"] < found["knobs"]
    if view.page not in DETAILS:
        assert found["guess"] < found["figure"] < found["knobs"]


# What columns of tables are like: numbers to the right, heads as their columns.
COLUMNS = r"""() => [...document.querySelectorAll("article table")].flatMap((table) => {
  const rows = [...table.rows].map((row) => [...row.cells]);
  const side = (cell) => /right|end/.test(getComputedStyle(cell).textAlign);
  const number = /^[-−]?[\d.,]+[\u2007\u2008 ]*%?$/;
  const [head, ...body] = rows;
  if (!body.length || !table.matches(".dataframe, [id^=T_]")) { return []; }
  return head.flatMap((top, k) => {
    const cells = body.map((row) => row[k]).filter((cell) => cell?.innerText.trim());
    const numbers = cells.length && cells.every((cell) => number.test(cell.innerText));
    const empty = !top.innerText.trim();
    const wrong = !empty && cells.some((cell) => side(cell) !== side(top)) && "head"
      || numbers && !cells.every(side) && "numbers"
      || cells.some((cell) => /^-?[\d.]+e[-+]?\d+$/.test(cell.innerText)) && "power";
    return wrong ? [[wrong, top.innerText, cells[0].innerText]] : [];
  });
})"""


def test_numbers_of_tables_stand_to_the_right(view):
    assert view.tab.evaluate(COLUMNS) == []
