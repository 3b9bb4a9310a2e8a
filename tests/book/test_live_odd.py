"""Live figures where there is little to show, or what is shown could be markup."""

from __future__ import annotations

import pytest
import torch

from attnsel.tokens import Vocab
from attnsel_book import frames, scatter_explorer, text_box

pytestmark = pytest.mark.site

WORDS = Vocab(["good", "bad", '"'], ['"thumbs" <up>', "it's down & out"])
SCORES = {0: torch.tensor([[0.0, -1.0], [0.0, 1.0], [0.0, 0.0]])}
LESSONS = {
    'She said "good" & <b>left</b>': 'A "lesson"',
    "It's bad, isn't it?": "<i>Another</i>",
}


@pytest.mark.parametrize("width", [1280, 390])
def test_quotes_and_tags_of_an_example_are_letters(visit, width):
    tab = visit(text_box(WORDS, SCORES, examples=LESSONS), width)
    box = tab.locator("[type=text]")
    verdict, lesson = tab.locator("output").nth(0), tab.locator("output").nth(2)
    assert box.input_value() == next(iter(LESSONS))
    for i, (example, told) in enumerate(LESSONS.items()):
        chip = tab.get_by_role("button").nth(i)
        assert chip.inner_text() == example
        chip.tap() if width < 600 else chip.click()
        assert box.input_value() == example
        assert lesson.inner_text().endswith(told)
        assert tab.locator(".attnsel-text").first.inner_text() == example
        assert verdict.inner_text().endswith(f": read as {WORDS.classes[i]}")
    box.fill('"')
    tip, word = tab.locator(".tip"), tab.locator("[data-tip]").first
    word.tap() if width < 600 else word.hover()
    assert tip.inner_text().startswith('": attention 1.000, value ')
    assert tab.locator("main b, main i").count() == 0


@pytest.mark.parametrize("text", ["", "  ", "?!", "nothing known here", "<b>x</b>"])
def test_a_text_of_unknown_words_has_no_numbers(visit, text):
    from playwright.sync_api import expect

    tab = visit(text_box(WORDS, SCORES, examples={}))
    box, goes = tab.locator("[type=text]"), tab.locator("details p")
    tab.locator("summary").click()
    box.fill("good")
    expect(goes).to_have_text("No deletion changes how it is read.")
    box.fill(text)
    assert tab.locator("output").first.inner_text() == (
        "No word here is in the vocabulary."
    )
    assert goes.inner_text() == ""
    assert tab.locator("[data-tip]").count() == 0
    for row in range(3):
        pieces = tab.locator(".attnsel-text").nth(row)
        assert pieces.text_content() == text
        pieces.press("ArrowRight")
        assert tab.locator(".tip").is_hidden()
    assert "NaN" not in tab.locator("main").inner_html()


def test_a_box_without_examples_is_empty_until_one_types(visit):
    tab = visit(text_box(WORDS, SCORES, examples={}))
    assert tab.locator("[type=text]").input_value() == ""
    verdict = tab.locator("output").first
    assert verdict.inner_text() == "No word here is in the vocabulary."
    assert tab.get_by_role("button").count() == 0
    tab.locator("[type=text]").fill("good bad bad")
    # Equal attention on one value of -1 and two of 1.
    assert verdict.inner_text() == "f(X) = +0.33: read as it's down & out"


def test_nothing_moves_until_it_is_played(visit):
    tab = visit(
        frames({"one": "first", "two": "second", "three": "third"}, title="steps")
    )
    tab.emulate_media(reduced_motion="reduce")
    tab.clock.install()
    seen = tab.locator(".frame:visible")
    before = seen.all_inner_texts()
    tab.clock.run_for(10_000)
    assert seen.all_inner_texts() == before
    button = tab.get_by_role("button")
    button.click()
    assert button.inner_text() == "Pause"
    button.click()
    paused = seen.all_inner_texts()
    tab.clock.run_for(10_000)
    assert seen.all_inner_texts() == paused
    assert button.inner_text() == "Play"


@pytest.mark.parametrize("width", [1280, 390])
def test_one_point_is_found_and_others_are_not(visit, width):
    columns = {"x": torch.tensor([0.5]), "y": torch.tensor([-2.0])}
    tab = visit(scatter_explorer(['"so"'], columns, title="one"), width)
    out, search = tab.locator("output").last, tab.get_by_role("searchbox")
    assert out.inner_text() == "Point at a token, or search for one."
    search.fill('"S')
    assert out.inner_text() == '"so": x 0.5, y -2'
    search.fill("<b>")
    assert out.inner_text() == "No token here begins with <b>."
    search.fill("")
    canvas = tab.locator("canvas")
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "PageDown"):
        canvas.press(key)
        assert out.inner_text() == '"so": x 0.5, y -2'
