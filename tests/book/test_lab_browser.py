"""The laboratory in a browser, on a page that is opened without a server."""

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_lab import CODE, IMDB, SETTINGS, USUAL

from support.axe import serious_violations
from support.node import committed, evaluate
from tools.site import lab

pytestmark = pytest.mark.site

FEW = "reviews=200&d=16"
# Settings without the pauses that let a reader follow a run.
AT_ONCE = {"reduced_motion": "reduce"}
PAGE = '<!doctype html><html lang="en"><meta charset="utf-8"><title>lab</title>'
FILES = ("_static/lab.js", "_static/lab.css")
PAUSED = """(play) => { const lab = play.closest(".attnsel-lab");
  return lab.querySelector(".outcome").ariaBusy === "false"; }"""


@pytest.fixture
def visit(opened, tmp_path):
    """Return a function that opens a page of laboratories from files."""

    def show(
        *places: str,
        width: int = 1280,
        address: str = "",
        without: tuple[str, ...] = (),
        init: str = "",
        **settings: Any,
    ) -> Any:
        static = tmp_path / "_static" / "lab"
        static.mkdir(parents=True, exist_ok=True)
        lab.write_files(static.parent)
        for name in {"imdb.js", "generated.js"} - {*without}:
            (static / name).write_bytes((lab.LAB / name).read_bytes())
        head = f"{PAGE}<style>a{{color:inherit}} figure{{padding:8px}}</style>"
        head += f'<link rel="stylesheet" href="../{FILES[1]}">'
        script = f'<script defer src="../{FILES[0]}"></script>'
        paper, ink = ("#14181e", "#ced6dd") if width < 600 else ("#fff", "#000")
        dark = f"--pst-color-background:{paper};background:{paper};color:{ink}"
        page = tmp_path / "book" / "train.html"
        page.parent.mkdir(exist_ok=True)
        body = f'<body style="{dark}"><main>{"".join(map(lab.place, places))}</main>'
        page.write_text(f"{head}{script}{body}", encoding="utf-8")
        tab = opened(width, **settings)
        tab.add_init_script(init)
        tab.goto(f"{page.as_uri()}{address}")
        return tab

    return show


def press(button: Any, *, width: int = 1280) -> None:
    """Tap a button on a phone, and click it on wider screens."""
    button.tap() if width < 600 else button.click()


def wait(tab: Any) -> str:
    """Wait until a run pauses, and return the sentence about the run.

    The run for comparison continues meanwhile.
    """
    play = tab.locator(".play").first
    tab.wait_for_function(PAUSED, arg=play.element_handle())
    return tab.locator(".outcome").first.inner_text()


def run(tab: Any, *, width: int = 1280) -> str:
    """Press play, wait until the run pauses, and return the sentence about the run."""
    press(tab.locator(".play").first, width=width)
    return wait(tab)


def as_it_runs(tab: Any, deed: str) -> None:
    """Press play, and run the script `deed` as soon as the training runs."""
    tab.evaluate(f"""() => new Promise((done) => {{
      const play = document.querySelector(".play");
      new MutationObserver((_, observer) => {{
        if (play.textContent !== "Pause") {{ return; }}
        observer.disconnect(); {deed}; done();
      }}).observe(play, {{childList: true}});
      play.click();
    }})""")


def says(place: Any, pattern: str) -> None:
    """Wait until a place contains a text that matches the pattern."""
    place.filter(has_text=re.compile(pattern)).wait_for(state="attached")


@functools.cache
def expected(**changes: Any) -> dict[str, Any]:
    """Return the last state of a training with these settings, computed in node."""
    code = """(() => {
      const stored = {...data.reviews, texts: readTexts(data.reviews.texts)};
      const corpus = reviewsOf(stored, data.settings);
      const run = {model: newModel(corpus.names.length, data.settings.d,
        randomNumbers(1000 + data.settings.seed))};
      for (const now of training(run, corpus, data.settings)) {
        if (isEnd(now)) { return now; }
      }
    })()"""
    settings = SETTINGS | USUAL | changes
    return evaluate(CODE, code, {"reviews": committed(IMDB), "settings": settings})


def beginning(end: dict[str, Any]) -> str:
    """Return the beginning of the sentence about the end of a training."""
    train, test = (f"{100 * end[part]['accuracy']:.0f}%" for part in ("train", "test"))
    right = f"{train} of the training reviews and {test} of the new reviews"
    return f"After {end['step']} steps, {right} are classified correctly."


def drawn(canvas: Any) -> int:
    """Return the number of coloured pixels of a canvas."""
    code = """(canvas) => createImageBitmap(canvas).then((image) => {
      const copy = new OffscreenCanvas(image.width, image.height).getContext("2d");
      copy.drawImage(image, 0, 0);
      const {data} = copy.getImageData(0, 0, image.width, image.height);
      let count = 0;
      for (let i = 0; i < data.length; i += 4) {
        count += data[i + 3] > 90 && Math.abs(data[i] - data[i + 2]) > 60;
      }
      return count; })"""
    count: int = canvas.evaluate(code)
    return count


def by_keys(tab: Any) -> None:
    tab.locator(".play").focus()
    tab.keyboard.press("Enter")


@pytest.mark.parametrize(
    ("width", "start", "settings"),
    [
        (1280, lambda tab: tab.locator(".play").click(), {}),
        (390, lambda tab: tab.locator(".play").tap(), AT_ONCE),
        (1280, by_keys, AT_ONCE),
    ],
    ids=["mouse", "touch", "keys"],
)
def test_a_training_ends_where_it_does_in_node(
    visit: Any, width: int, start: Callable[[Any], None], settings: dict[str, str]
) -> None:
    tab = visit(FEW, width=width, **settings)
    files = [Path(url).name for url in tab.requested]
    assert files == ["train.html", "lab.css", "lab.js"]  # no reviews before one asks
    start(tab)
    sentence = wait(tab)
    assert sentence.startswith(beginning(expected(reviews=200, d=16)))
    assert Path(tab.requested[-1]).name == "imdb.js" or "blob:" in tab.requested[-1]
    assert tab.locator(".note").inner_text() == ""
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shown = tab.locator(".panels canvas").evaluate_all(
        """all => all.map((canvas) => {
          const copy = document.createElement("canvas");
          copy.width = 600; copy.height = 400;
          copy.getContext("2d").drawImage(canvas, 0, 0, 600, 400);
          return canvas.checkVisibility() && copy.toDataURL().length > 5000; })"""
    )
    assert shown == [True] * 4


def test_reduced_motion_shows_the_end_alone(visit: Any) -> None:
    watch = """() => { window.sentences = new Set();
      const said = document.querySelector(".outcome");
      new MutationObserver(() => sentences.add(said.textContent)).observe(said,
        {childList: true}); }"""
    ends = []
    for motion in ("no-preference", "reduce"):
        tab = visit(FEW, reduced_motion=motion)
        tab.evaluate(watch)
        tab.locator(".play").click()
        says(tab.locator(".outcome"), "At its pause, the model with shuffled")
        ends.append(wait(tab))
    assert ends[0] == ends[1]
    steps = ends[1].partition(",")[0]
    assert all(each.startswith(steps) for each in tab.evaluate("[...sentences]"))


def test_who_presses_twice_while_reviews_are_fetched_trains_once(visit: Any) -> None:
    tab = visit(FEW)
    tab.locator(".play").evaluate("(play) => { play.click(); play.click(); }")
    assert wait(tab).startswith(beginning(expected(reviews=200, d=16)))


def test_a_training_is_interrupted_and_goes_on(visit: Any) -> None:
    tab = visit("d=16&rate=0.003&reviews=500", **AT_ONCE)
    play = tab.locator(".play")
    as_it_runs(tab, "play.click()")
    middle = wait(tab)
    tab.locator("[name=step]").click()
    wait(tab)
    number = int(re.findall(r"\d+", middle)[0])
    assert tab.locator(".status").inner_text().startswith(f"step {number + 1} ")
    play.click()
    end = expected(d=16, rate=0.003, reviews=500)
    assert wait(tab).startswith(beginning(end))
    assert 0 < number < end["step"]
    tab.locator("[name=restart]").click()
    says(tab.locator(".status"), "^step 0 ")


def test_a_setting_that_is_turned_while_it_runs_begins_anew(visit: Any) -> None:
    tab = visit("d=16&rate=0.003&reviews=500", **AT_ONCE)
    turn = """const setting = document.querySelector("[name=reviews]");
      setting.value = "200";
      for (const name of ["input", "change"]) {
        setting.dispatchEvent(new Event(name, {bubbles: true}));
      }"""
    as_it_runs(tab, turn)
    sentence = wait(tab)
    assert sentence.startswith(beginning(expected(d=16, rate=0.003, reviews=200)))
    last = "The last run (step size: 0.003, training reviews: 500, dimension d: 16)"
    assert tab.locator(".last").inner_text().startswith(last)
    tab.locator("summary").click()
    tab.locator("[name=shuffle]").check()
    says(tab.locator(".outcome"), "are shuffled")
    assert tab.locator(".status").inner_text().startswith("step 0 ")
    tab.locator("[name=optimizer]").select_option("gd")
    assert tab.locator("[name=rate]").input_value() == "3"


def test_generated_reviews_stand_in_and_the_page_says_so(visit: Any) -> None:
    tab = visit(FEW, without=("imdb.js",), **AT_ONCE)
    assert "classified correctly" in run(tab)
    assert "the page uses generated ones" in tab.locator(".note").inner_text()


def test_without_reviews_the_page_says_what_is_missing(visit: Any) -> None:
    tab = visit(FEW, without=("imdb.js", "generated.js"))
    tab.locator(".play").click()
    tab.locator(".note", has_text="because there is no connection").wait_for()
    assert not tab.locator("canvas").first.is_visible()


@pytest.mark.parametrize("width", [1280, 390])
def test_words_are_pointed_at_searched_and_reached_by_keys(
    visit: Any, width: int
) -> None:
    tab = visit(FEW, width=width, **AT_ONCE)
    run(tab, width=width)
    narrow = "heads => heads.filter(e => e.scrollWidth > e.clientWidth).length"
    assert tab.locator(".runs th").evaluate_all(narrow) == 0
    # Points are where they are drawn, for any margins of the figure.
    tab.wait_for_function("""() => [...document.querySelectorAll("canvas[tabindex]")]
      .every((c) => c.width === c.clientWidth && c.height === c.clientHeight)""")
    point, nothing = tab.locator(".point"), "Point at a word, or search for one."
    assert point.inner_text() == nothing
    tab.locator("[type=search]").fill("the")
    number = r"-?[\d.]+"
    says(point, rf"the: value {number}, score {number}, lean {number}$")
    tab.locator("[type=search]").fill("nosuchword")
    says(point, "^No word here begins with nosuchword.$")
    tab.locator("[type=search]").fill("")
    says(point, nothing)
    canvas = tab.locator("canvas").nth(1)
    canvas.evaluate("(canvas) => canvas.scrollIntoView({block: 'center'})")
    box = canvas.bounding_box()
    where = box["x"] + 52 + 0.5 * (box["width"] - 64), box["y"] + 0.5 * box["height"]
    tab.touchscreen.tap(*where) if width < 600 else tab.mouse.move(*where)
    says(point, ": value")
    named = point.inner_text()
    canvas.press("PageDown")
    says(point, f"^(?!{re.escape(named)}).*: value")
    tab.locator("[value='view=1']").click()
    tab.locator(".across").select_option("rank")
    canvas.press("PageUp")
    says(point, ": value")


def test_a_word_is_searched_for_however_it_is_typed(visit: Any) -> None:
    tab = visit("d=16", **AT_ONCE)
    run(tab)
    search = tab.locator("[type=search]")
    search.fill("DON’T")
    says(tab.locator(".point"), "^don't: ")
    search.fill("x" * 2000)
    says(tab.locator(".point"), "^No word here begins with xxx")
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_finished_run_is_looked_at_step_by_step(visit: Any) -> None:
    tab = visit(FEW)
    tab.locator("[name=speed][value='4']").click()
    end = run(tab)
    last = int(re.findall(r"\d+", end)[0])
    scrub = tab.locator(".scrub")
    assert scrub.get_attribute("max") == scrub.input_value() == str(last)
    scrub.fill("3")
    says(tab.locator(".status"), "^step 3 ")
    says(tab.locator(".outcome"), "^After 3 steps")
    scrub.press("ArrowLeft")
    says(tab.locator(".status"), "^step 2 ")
    tab.locator("[name=step]").click()  # it goes on from the end
    says(tab.locator(".status"), rf"^step {last + 1} ")
    says(tab.locator(".outcome"), f"Since the pause at step {last}")


def test_first_steps_fill_the_strip_one_after_another(visit: Any) -> None:
    tab = visit("page=1", address="#tab=stages&d=64")
    says(tab.locator(".status"), "^‖p‖")
    assert tab.locator("button[name=eta][aria-pressed=true]").inner_text() == "3,000"
    first, last = (tab.locator("button[name=eta]").nth(k) for k in (0, 14))
    assert not last.get_attribute("aria-description")
    tab.locator("[name=sweep]").click()
    says(tab.locator(".outcome"), r"Of \d+ first-step sizes tried, \d+ loses? a class")
    said = first.get_attribute("aria-description")
    assert said == (
        "The relevant token is selected in 0% of the positive and 100% of the negative "
        "sequences."
    )
    assert first.evaluate("(e) => e.style.getPropertyValue('--positive')") == "0"
    first.click()
    assert tab.locator("select[name=eta]").input_value() == "10"
    assert first.get_attribute("aria-pressed") == "true"


def test_a_middle_step_loses_a_class(visit: Any) -> None:
    tab = visit("page=1", width=390, address="#tab=stages&eta=300", **AT_ONCE)
    sentence = run(tab, width=390)
    assert "100% of the positive and 0% of the negative" in sentence
    assert "the negative class is lost" in sentence
    tab.locator("button[name=eta][value='3000']").tap()
    tab.wait_for_function(
        "!document.querySelector('.outcome').textContent.includes('lost')"
    )
    sentence = wait(tab)
    assert "100% of the positive and 100% of the negative" in sentence
    assert "is 1.0000." in sentence
    assert tab.locator("select[name=eta]").input_value() == "3000"
    last = "The last run (first-step size η₀: 300) had a loss of"
    assert tab.locator(".last").inner_text().startswith(last)
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_tab_that_is_left_pauses_and_comes_back_as_it_was(visit: Any) -> None:
    tab = visit("page=1", address="#tab=reviews&rate=0.001&d=16", **AT_ONCE)
    tab.locator("[name=step]").click()
    tab.locator("[type=search]").fill("the")
    as_it_runs(tab, "document.querySelector('[name=tab][value=stages]').click()")
    assert tab.locator(".play").inner_text() == "Run both stages"
    stages = run(tab)
    assert "100% of the positive and 100% of the negative" in stages
    stages = tab.locator(".outcome").inner_text()
    tab.locator("[name=tab][value=reviews]").click()
    says(tab.locator(".play"), "^Continue$")
    status = tab.locator(".status").inner_text()
    assert tab.locator("[type=search]").input_value() == "the"
    says(tab.locator(".point"), "the")
    tab.locator("[name=step]").click()  # it goes on from there
    took = int(re.findall(r"step (\d+)", status)[0])
    says(tab.locator(".status"), f"step {took + 1}\\b")
    tab.locator("[name=tab][value=stages]").click()
    assert tab.locator(".outcome").inner_text() == stages


def test_a_tab_that_is_left_while_it_fetches_has_not_begun(visit: Any) -> None:
    tab = visit("page=1", address=f"#tab=reviews&{FEW}", **AT_ONCE)
    tab.evaluate("""document.querySelector('.play').click();
      document.querySelector('[name=tab][value=stages]').click();""")
    tab.locator(".play", has_text="Run both stages").wait_for()
    tab.wait_for_function("document.head.querySelector('[src*=imdb]')")
    tab.locator("[name=tab][value=reviews]").click()
    assert tab.locator(".play").inner_text() == "Train"
    says(tab.locator(".note"), "^$")
    says(tab.locator(".status"), "^step 0 ")
    assert "training reviews" in run(tab)


def test_a_training_that_diverges_says_so(visit: Any) -> None:
    tab = visit("optimizer=gd&rate=100&reviews=200")
    tab.locator(".play").click()
    tab.locator(".outcome", has_text="The training diverged").wait_for()
    tab.locator("[type=search]").fill("the")
    tab.locator(".scrub").fill("0")
    says(tab.locator(".status"), "^step 0 ")
    tab.locator("canvas").nth(1).press("ArrowRight")
    assert not re.search("NaN|Infinity|undefined", tab.locator("main").inner_text())


def test_the_address_holds_settings_and_tab(visit: Any) -> None:
    tab = visit("page=1")
    assert tab.evaluate("location.hash") == ""
    tab.locator("summary").click()
    tab.locator("[name=d]").select_option("256")
    tab.locator("[name=uniform]").check()
    link = "#tab=reviews&uniform=true&d=256"
    assert tab.evaluate("location.hash") == link
    uniform = tab.get_by_role("button", name="Uniform attention")
    assert uniform.get_attribute("aria-pressed") == "false"  # d is another one, too
    tab.locator("[name=d]").select_option("64")
    assert uniform.get_attribute("aria-pressed") == "true"
    again = visit("page=1", address=link)
    assert again.locator("[name=uniform]").is_checked()
    assert again.locator("[name=d]").input_value() == "256"
    embedded = visit("shuffle=true")
    link = embedded.locator(".link").get_attribute("href")
    assert link == "train.html#tab=reviews&shuffle=true"


def test_the_address_holds_what_one_looks_at_and_a_preset_is_left_by_back(
    visit: Any,
) -> None:
    tab = visit("page=1", address=f"#tab=reviews&{FEW}", **AT_ONCE)
    says(tab.locator(".status"), "^step 0 ")
    tab.locator("[value='view=1']").click()
    tab.locator("[value='words=100']").click()
    tab.locator(".across").select_option("rank")
    link = f"#tab=reviews&{FEW}&view=1&words=100&across=rank"
    assert sorted(tab.evaluate("location.hash")[1:].split("&")) == sorted(
        link[1:].split("&")
    )
    tab.get_by_role("button", name="A planted word").click()
    tab.wait_for_function("location.hash.includes('planted=20')")
    wait(tab)
    tab.go_back()
    tab.wait_for_function("location.hash.includes('d=16')")
    tab.wait_for_function("document.querySelector('[name=d]').value === '16'")
    assert tab.locator("[value='view=1'][aria-pressed=true]").is_visible()
    assert tab.locator(".across").input_value() == "rank"
    assert "does not know" not in tab.locator(".linked").inner_text()


def test_the_same_training_with_the_other_labels_is_beside_it(visit: Any) -> None:
    tab = visit("page=1", address=f"#tab=reviews&{FEW}", **AT_ONCE)
    run(tab)
    other = r" With shuffled labels, it classifies 99% and \d\d% after \d+ steps\."
    says(tab.locator(".headline"), other)
    titles = tab.locator(".panels figure:not(.low) figcaption").all_inner_texts()
    assert titles == [
        f"{name}, {labels} labels"
        for labels in ("true", "shuffled")
        for name in ("value", "attention score")
    ]
    for canvas in tab.locator(".rival canvas").all():
        assert drawn(canvas) > 100
    says(tab.locator(".outcome th"), "^value and lean, all ")


def test_what_one_sets_and_sees_is_on_one_screen(visit: Any) -> None:
    tab = visit("page=1", address=f"#tab=reviews&{FEW}", **AT_ONCE)
    tab.set_viewport_size({"width": 1280, "height": 720})
    run(tab)
    top = tab.locator(".attnsel-lab").bounding_box()["y"]
    for place in tab.locator("canvas, .play, .headline, .scrub").all():
        box = place.bounding_box()
        assert box["y"] >= top and box["y"] + box["height"] - top < 690


def test_a_browser_that_cannot_train_says_so(visit: Any) -> None:
    tab = visit("page=1", init="delete window.Worker")
    says(
        tab.locator(".note"),
        "This browser cannot train .* needs JavaScript, workers and",
    )
    tab.locator(".note img").wait_for()
    assert not any(url.endswith("imdb.js") for url in tab.requested)


def test_a_shared_link_scrolls_there_draws_and_says_what_was_set(visit: Any) -> None:
    tab = visit(
        "", "page=1", "", address="#tab=reviews&shuffle=1&rate=7&d=16", width=390
    )
    place = tab.locator(".attnsel-lab").nth(1)
    says(place.locator(".status"), "^step 0 ")
    assert place.locator("[name=shuffle]").is_checked()
    assert place.locator(".linked").inner_text() == (
        "The link has these settings: shuffled labels: yes, dimension d: 16. "
        "The page does not know rate=7 and uses the default."
    )
    assert abs(place.bounding_box()["y"]) < 100


def test_another_link_in_the_same_tab_sets_it(visit: Any) -> None:
    tab = visit("page=1", address="#tab=reviews&reviews=100")
    says(tab.locator(".status"), "^step 0 ")
    for kind, seed in (("stages", "2"), ("reviews", "1")):
        tab.evaluate(f"location.hash = 'tab={kind}&seed={seed}'")
        tab.locator(f"[name=tab][value={kind}][aria-pressed=true]").wait_for()
        assert tab.locator("[name=seed]").input_value() == seed


@pytest.mark.parametrize("name", ["__proto__", "none"])
def test_a_link_to_no_tab_opens_the_first(visit: Any, name: str) -> None:
    tab = visit("page=1", address=f"#tab={name}")
    assert tab.locator("[name=tab][value=reviews][aria-pressed=true]").is_visible()
    tab.evaluate("location.hash = 'tab=constructor'")
    tab.evaluate("location.hash = 'tab=stages'")
    tab.locator("[name=tab][value=stages][aria-pressed=true]").wait_for()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_step_and_the_last_run_stay_in_view(visit: Any, width: int) -> None:
    tab = visit("page=1", address=f"#tab=reviews&{FEW}", width=width, **AT_ONCE)
    run(tab, width=width)
    press(tab.locator("[name=restart]"), width=width)
    says(
        tab.locator(".last"),
        r"^The last run \(.*\) took \d+ steps and classified 99% .* \d\d% of the new",
    )
    tab.locator(".outcome").scroll_into_view_if_needed()
    for place in (".play", ".status", ".last"):
        box = tab.locator(place).bounding_box()
        assert 0 <= box["y"] < 844 / 2, place


# Controls that are too small for a finger; the label of a box to tick counts, too.
SMALL = """(all) => all.filter((e) => e.checkVisibility()).map((e) =>
  e.matches("[type=checkbox]") ? e.parentElement : e).filter((e) => {
    const {width, height} = e.getBoundingClientRect();
    return Math.min(width, height) < 24; }).map((e) => e.outerHTML)"""


def check_sizes(tab: Any) -> None:
    controls = tab.locator("a, button, select, input, summary, [tabindex]")
    assert controls.count() > 5
    assert controls.evaluate_all(SMALL) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_serious_and_a_finger_hits_all(visit: Any, width: int):
    tab = visit(f"page=1&{FEW}", width=width, **AT_ONCE)
    for kind in ("reviews", "stages"):
        press(tab.locator(f"[name=tab][value={kind}]"), width=width)
        run(tab, width=width)
        assert serious_violations(tab) == []
        check_sizes(tab)


def test_small_places_share_a_page_and_a_finger_hits_all(visit: Any):
    places = f"small=1&{FEW}", f"{FEW}&shuffle=true"
    tab = visit(*places, width=390, **AT_ONCE)
    small, other = tab.locator(".attnsel-lab").all()
    small.locator(".play").click()
    wait(tab)
    assert not small.locator("[name=restart], .tries, .link").first.is_visible()
    assert not other.locator("canvas").first.is_visible()
    other.locator(".play").click()
    other.locator(".outcome", has_text="are shuffled").wait_for()
    assert "are shuffled" not in small.locator(".outcome").inner_text()
    check_sizes(tab)
    assert [Path(url).name for url in tab.requested].count("imdb.js") == 1


def test_the_focus_stays_with_the_keys(visit: Any) -> None:
    tab = visit("page=1", address="#tab=reviews&d=256&optimizer=gd&rate=0.001")
    play = tab.locator(".play")
    play.focus()
    tab.keyboard.press("Enter")
    says(tab.locator(".play"), "^Pause$")
    tab.keyboard.press("Enter")
    wait(tab)
    assert play.inner_text() == "Continue"
    tab.locator("[name=tab][value=stages]").focus()
    tab.keyboard.press("Enter")
    focused = tab.evaluate("document.activeElement.value")
    assert focused == "stages"
