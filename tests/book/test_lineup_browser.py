"""The line-up in a browser, on a page that is opened without a server."""

import json
import re
from typing import Any

import pytest

from support.node import committed, evaluate
from tools.site import lab

pytestmark = pytest.mark.site

CODE = "".join(map(lab.source, lab.SCRIPTS[:-1]))
AT_ONCE = {"reduced_motion": "reduce"}
PAGE = '<!doctype html><html lang="en"><meta charset="utf-8"><title>line-up</title>'
# How many dots of the two colours a panel shows, left and right of its middle.
DOTS = """(canvas) => new Promise((done) => createImageBitmap(canvas).then((image) => {
  const copy = new OffscreenCanvas(image.width, image.height).getContext("2d");
  copy.drawImage(image, 0, 0);
  const {data, width} = copy.getImageData(0, 0, image.width, image.height);
  const counts = [[0, 0], [0, 0]];
  for (let i = 0; i < data.length; i += 4) {
    const side = (i / 4) % width < width / 2 ? 0 : 1, [red, , blue, alpha] =
      data.subarray(i, i + 4);
    if (alpha > 90 && Math.abs(blue - red) > 60) {
      counts[side][blue > red ? 1 : 0] += 1;
    }
  }
  done(counts);
}))"""


@pytest.fixture
def visit(opened, tmp_path):
    """Return a function that opens a page with the line-up from files."""

    def show(
        address: str = "#round=18",
        width: int = 1280,
        above: int = 0,
        reviews: bool = True,
        theme: str = "light",
        init: str = "",
        **settings: Any,
    ) -> Any:
        static = tmp_path / "_static"
        (static / "lineup").mkdir(parents=True, exist_ok=True)
        lab.write_files(static)
        for name in ("imdb.js", "still.webp")[0 if reviews else 1 :]:
            target = static / "lineup" / name
            target.write_bytes((lab.LINEUP / name).read_bytes())
        head = '<link rel="stylesheet" href="../_static/lab.css">'
        head += '<script defer src="../_static/lab.js"></script>'
        space = f'<div style="height:{above}px"></div>'
        page = tmp_path / "book" / "intro.html"
        page.parent.mkdir(exist_ok=True)
        start = PAGE.replace("<html ", f'<html data-theme="{theme}" ')
        body = f"<body><main>{space}{lab.lineup_place()}</main>"
        page.write_text(f"{start}{head}{body}", encoding="utf-8")
        tab = opened(width, **settings)
        tab.add_init_script(init)
        tab.goto(f"{page.as_uri()}{address}")
        return tab

    return show


@pytest.fixture(scope="module")
def expected():
    """Return the answers of rounds in node, and the sentences after a bet on A."""
    rounds = [(18, "labels"), (19, "labels"), (18, "attention")]
    code = """data[1].map(([number, question]) => {
      const played = roundOf(readLineup(data[0]), number, question);
      while (advance(played)) {}
      const {first, surprise, because, right} = verdict(played, 0, data[2]);
      const law = question === "labels" ? " Both follow the law of the V." : "";
      return [played.answer, [first, surprise, because + law, right]]; })"""
    counted = json.loads(lab.ROUNDS.read_text("utf-8"))
    stored = committed(lab.LINEUP / "imdb.js")
    found = evaluate(CODE, code, [stored, rounds, counted])
    return dict(zip(rounds, found, strict=True))


def ready(tab: Any) -> Any:
    """Wait until both models of a tab are trained, and return the tab."""
    tab.locator(".bet:enabled").nth(1).wait_for()
    return tab


def revealed(tab: Any) -> list[str]:
    """Wait until the answer is revealed, and return its sentences."""
    tab.locator(".after:visible").wait_for()
    return tab.locator(".said p").all_inner_texts()


def test_a_bet_is_answered_with_the_numbers_of_the_model(visit, expected):
    tab = ready(visit())
    assert tab.locator(".accuracy").all_inner_texts() == ["98% correct"] * 2
    assert tab.locator(".kind").all_inner_texts() == ["", ""]
    tab.locator(".bet").first.click()
    answer, texts = expected[18, "labels"]
    assert revealed(tab) == texts
    kinds = tab.locator(".kind").all_inner_texts()
    assert kinds[answer] == "true labels" and kinds[1 - answer] == "random labels"
    right = tab.locator(".model").nth(answer).get_attribute("class")
    assert right == "model right"
    assert tab.locator(".score-line").inner_text() == (
        f"You were right in {int(answer == 0)} of 1 bets."
    )
    for place in tab.locator(".accuracy").all_inner_texts():
        percent = re.fullmatch(r"(\d+%) of new reviews", place)[1]
        assert percent in texts[-1]


def test_nothing_is_loaded_before_the_models_can_be_seen(visit):
    tab = visit(above=3000)
    tab.wait_for_timeout(500)
    names = [url.rpartition("/")[2].partition("#")[0] for url in tab.requested]
    assert names == ["intro.html", "lab.css", "lab.js"]
    tab.locator(".pair").scroll_into_view_if_needed()
    ready(tab)
    assert any(url.endswith("lineup/imdb.js") for url in tab.requested)


def test_the_dots_move_from_their_sides_to_those_of_new_reviews(visit):
    tab = ready(visit())
    panel = tab.locator("canvas").first
    for canvas in tab.locator("canvas").all():
        (left, right) = canvas.evaluate(DOTS)
        assert left[0] > 20 * max(left[1], 1) and right[1] > 20 * max(right[0], 1)
    tab.locator(".bet").first.click()
    revealed(tab)
    left, right = panel.evaluate(DOTS)
    assert left[1] > 0.05 * left[0] and right[0] > 0.05 * right[1]
    back = tab.locator(".back")
    assert back.inner_text() == "Back to the reviews they learned from"
    back.click()
    assert back.inner_text() == "Over to the new reviews"
    tab.wait_for_timeout(2500)
    again = panel.evaluate(DOTS)
    assert again[0][0] > 10 * max(again[0][1], 1)


def test_on_a_phone_a_tap_bets_and_nothing_is_wider_than_the_page(visit, expected):
    tab = ready(visit(width=390, theme="dark", **AT_ONCE))
    wide = "document.documentElement.scrollWidth"
    assert tab.evaluate(wide) <= 390
    tab.locator(".bet").nth(1).tap()
    texts = revealed(tab)
    assert texts[1:] == expected[18, "labels"][1][1:]
    assert tab.evaluate(wide) <= 390
    boxes = [button.bounding_box() for button in tab.locator("button:visible").all()]
    assert all(box["height"] >= 40 for box in boxes)
    one, two = (card.bounding_box() for card in tab.locator(".model").all())
    assert two["x"] > one["x"] + one["width"] and two["y"] == one["y"]


def test_the_keyboard_plays_a_round_and_names_a_word(visit):
    tab = ready(visit(**AT_ONCE))
    focus = "document.activeElement.className"
    for name in ("link", "bet"):
        tab.keyboard.press("Tab")
        assert tab.evaluate(focus) == name
    tab.keyboard.press("Enter")
    assert tab.evaluate(focus) == "said"
    revealed(tab)
    tab.locator("canvas").first.focus()
    tab.keyboard.press("ArrowRight")
    point = tab.locator(".point")
    point.filter(has_text="A: value").wait_for()
    first = point.inner_text()
    tab.keyboard.press("PageUp")
    changed = "(text) => document.querySelector('.point').innerText !== text"
    tab.wait_for_function(changed, arg=first)
    assert re.search(r"B: value −?[\d.]+, score −?[\d.]+; lean", point.inner_text())


def test_a_word_under_the_pointer_is_named_only_after_the_bet(visit):
    tab = ready(visit(**AT_ONCE))
    box = tab.locator("canvas").first.bounding_box()
    middle = (box["x"] + box["width"] * 0.8, box["y"] + box["height"] * 0.15)
    tab.mouse.move(*middle)
    tab.wait_for_timeout(300)
    assert tab.locator(".point").inner_text() == ""
    for k, canvas in enumerate(tab.locator("canvas").all()):
        label = canvas.get_attribute("aria-label")
        assert f"model {'AB'[k // 2]}" in label
        assert label.startswith(("Value", "Score")[k % 2])
    tab.locator(".bet").first.click()
    revealed(tab)
    tab.mouse.move(middle[0] + 2, middle[1] + 2)
    tab.locator(".point").filter(has_text="value").wait_for()


def test_the_cards_of_the_next_round_are_in_view(visit):
    for width, height in ((390, 844), (1280, 720)):
        tab = visit(width=width, **AT_ONCE)
        tab.set_viewport_size({"width": width, "height": height})
        ready(tab).locator(".bet").first.click()
        revealed(tab)
        tab.locator("[data-next=labels]").scroll_into_view_if_needed()
        tab.evaluate("scrollTo(0, document.body.scrollHeight)")
        tab.locator("[data-next=labels]").click()
        ready(tab)
        assert tab.evaluate("document.activeElement.className") == "tally"
        boxes = [bet.bounding_box() for bet in tab.locator(".bet").all()]
        boxes += [card.bounding_box() for card in tab.locator(".model").all()]
        assert all(
            box["y"] >= 0 and box["y"] + box["height"] <= height for box in boxes
        )


def test_five_bets_are_a_game_with_a_result_to_pass_on(visit, expected):
    tab, right = visit(**AT_ONCE), 0
    for k in range(5):
        ready(tab)
        assert tab.locator(".score-line").inner_text() == (f"This is bet {k + 1} of 5.")
        assert tab.locator(".link").get_attribute("href") == f"#round={18 + k}"
        assert tab.locator(".kind").all_inner_texts() == ["", ""]
        assert not tab.locator(".result").is_visible()
        tab.locator(".bet").first.click()
        texts = revealed(tab)
        assert k > 1 or texts == expected[18 + k, "labels"][1]
        right += "right" in tab.locator(".model").first.get_attribute("class")
        assert tab.locator(".bets .won").count() == right
        assert tab.locator(".bets .lost").count() == k + 1 - right
        if k < 4:
            tab.locator("[data-next=labels]").click()
            tab.locator(".after").wait_for(state="hidden")
    text = tab.locator(".result output").inner_text()
    assert text.startswith(f"I was right in {right} of 5 rounds (")
    assert text.endswith("#round=18")
    tab.locator("[data-next=labels]").click()
    assert tab.locator(".bets :is(.won, .lost)").count() == 0


def test_after_the_same_number_of_steps_the_vs_are_as_deep(visit):
    tab = ready(visit(**AT_ONCE))
    tab.locator(".bet").first.click()
    revealed(tab)
    tab.locator(".same").click()
    point = tab.locator(".point").filter(has_text="steps each, the ends of the V")
    point.wait_for()
    assert tab.locator(".back").inner_text() == "Over to the new reviews"
    tab.locator(".same").click()
    tab.locator(".point:not(:has-text('steps'))").wait_for()


def test_a_browser_that_cannot_train_shows_a_round_and_says_why(visit):
    tab = visit(init="delete window.OffscreenCanvas")
    still = tab.locator(".still")
    still.wait_for()
    assert not tab.locator(".live").is_visible()
    assert "workers and OffscreenCanvas" in still.inner_text()
    assert not any(url.endswith("imdb.js") for url in tab.requested)


def test_scores_stay_hidden_until_the_bet_on_which_has_attention(visit, expected):
    tab = ready(visit("#round=18&ask=attention", **AT_ONCE))
    assert "has attention at all" in tab.locator(".asked").inner_text()
    hidden = tab.locator(".score canvas").first
    assert hidden.evaluate("(e) => getComputedStyle(e).visibility") == "hidden"
    assert tab.locator(".bet").first.inner_text() == "It is A"
    tab.locator(".bet").first.click()
    answer, texts = expected[18, "attention"]
    assert revealed(tab) == texts
    assert hidden.evaluate("(e) => getComputedStyle(e).visibility") == "visible"
    assert tab.locator(".kind").nth(answer).inner_text() == "attention"


def test_reviews_that_do_not_come_are_reported(visit):
    tab = visit(reviews=False)
    said = tab.locator(".said").filter(has_text="could not be loaded")
    said.wait_for()
    assert said.inner_text() == (
        "The reviews could not be loaded (no connection). Load the page again."
    )


def test_without_scripts_there_is_a_picture_and_a_fold_with_the_answer(visit):
    tab = visit(java_script_enabled=False)
    assert not tab.locator(".live").is_visible()
    box = tab.locator(".still img").bounding_box()
    assert box["width"] > 400 and box["height"] > 100
    answer = tab.locator(".still details p")
    assert not answer.first.is_visible()
    tab.locator(".still summary").click()
    still = json.loads(lab.STILL.read_text("utf-8"))
    assert answer.all_inner_texts() == still["answer"]
