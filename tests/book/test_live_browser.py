"""Live figures in a browser without network: typing, dragging, tapping, keys."""

import math
from collections.abc import Mapping

import pytest
import torch
from test_live import moved, plane

import attnsel
from attnsel.beyond.deletion import score_influence
from attnsel.tokens import Vocab
from attnsel_book import (
    NEGATIVE,
    NEUTRAL,
    POSITIVE,
    coloured_text,
    flow_plane,
    scatter_explorer,
    show_text,
    text_box,
)
from support.axe import serious_violations

pytestmark = pytest.mark.site

WORDS = Vocab(["good", "not", "bad", ".", "a"])
SCORES = {
    0: torch.tensor([[0.0, 0.1], [0.0, -0.1], [0.0, -0.1], [0.0, 0.0], [0.0, 0.0]]),
    40: torch.tensor([[2.0, 5.0], [1.0, -3.0], [2.5, -6.0], [-1.0, 0.5], [-2.0, 0.1]]),
}
EXAMPLES = {"Not good.": "Each word by itself.", "A bad <b>film</b>": "Another."}


def is_that_of(
    verdict: str, text: str, step: int, scores: Mapping[int, torch.Tensor] = SCORES
) -> bool:
    """Return whether the box shows the class and probability of the package's logit."""
    corpus = attnsel.Corpus.from_texts([text], vocab=WORDS)
    logit = float(attnsel.model.bag_logits(scores[step].double(), corpus))
    if abs(logit) < 0.1:
        return verdict == "no opinion yet"
    name, _, sure = verdict.removesuffix("% sure").rpartition(", ")
    exact = 100 / (1 + math.exp(-abs(logit)))
    if sure == "more than 99.99":
        return name == ("positive" if logit > 0 else "negative") and exact > 99.98
    near = 0.02 if exact > 99 else 1
    side = "positive" if logit > 0 else "negative"
    return name == side and abs(float(sure) - exact) < near


@pytest.mark.parametrize("width", [1280, 390])
def test_the_text_box_follows_what_one_types(visit, width):
    tab = visit(text_box(WORDS, SCORES, examples=EXAMPLES), width)
    verdict, step, lesson = (tab.locator("output").nth(i) for i in range(3))
    box, slider = tab.locator("[type=text]"), tab.locator("[type=range]")
    first, second = EXAMPLES
    assert box.input_value() == first
    assert is_that_of(verdict.inner_text(), first, 40)
    assert step.inner_text() == "step 40"
    assert lesson.inner_text().endswith(f" {EXAMPLES[first]}")

    box.fill("")
    assert verdict.inner_text() == "No word here is in the vocabulary."
    box.press_sequentially("Bad, bad!")
    assert is_that_of(verdict.inner_text(), "Bad, bad!", 40)
    beginning = "“bad” gets 100% of the attention, and its value is −6.00. Values times"
    assert lesson.inner_text().startswith(beginning)
    slider.press("Home")
    assert is_that_of(verdict.inner_text(), "Bad, bad!", 0)
    assert step.inner_text() == "step 0"
    assert slider.get_attribute("aria-valuetext") == "step 0"

    box.fill('<img src=x onerror="alert(1)"> good')
    rows = tab.locator(".attnsel-text")
    assert rows.nth(0).inner_text() == '<img src=x onerror="alert(1)"> good'
    chip = tab.get_by_role("button", name=second)
    chip.tap() if width < 600 else chip.click()
    assert box.input_value() == second
    assert lesson.inner_text().endswith(f" {EXAMPLES[second]}")

    # A word shows its numbers to a pointer, a finger and the keys.
    slider.press("End")
    tip = tab.locator(".tip")
    assert tip.is_hidden()
    shares = torch.softmax(SCORES[40][[4, 2], 0], 0)
    numbers = f"bad: attention {shares[1]:.3f}, value -6"
    word = rows.nth(0).get_by_text("bad", exact=True)
    word.tap() if width < 600 else word.hover()
    assert tip.inner_text() == numbers
    rows.nth(0).press("Escape")
    rows.nth(0).press("ArrowRight")
    rows.nth(0).press("ArrowRight")
    assert tip.inner_text() == numbers
    rows.nth(0).press("Escape")
    assert tip.is_hidden()


def test_the_slider_stops_more_often_for_the_words_of_the_examples(visit):
    scores = {40: SCORES[40]}
    between = {0: SCORES[0], 20: SCORES[40].flip(1)}
    tab = visit(text_box(WORDS, scores, examples={"Not good.": ""}, between=between))
    verdict, step = (tab.locator("output").nth(i) for i in range(2))
    box, slider = tab.locator("[type=text]"), tab.locator("[type=range]")
    for key, k in (("End", 40), ("ArrowLeft", 20), ("ArrowLeft", 0)):
        slider.press(key)
        assert step.inner_text() == f"step {k}"
        assert is_that_of(verdict.inner_text(), "Not good.", k, scores | between)
    box.fill("Not bad.")  # which no example has
    assert not slider.is_visible()
    assert is_that_of(verdict.inner_text(), "Not bad.", 40)
    box.fill("good?")
    slider.press("ArrowLeft")
    assert is_that_of(verdict.inner_text(), "good?", 20, between)


def test_the_text_box_says_what_each_word_does(visit):
    from playwright.sync_api import expect

    tab = visit(text_box(WORDS, SCORES, examples=EXAMPLES), 390)
    box, rows = tab.locator("[type=text]"), tab.locator(".attnsel-text")
    box.fill("A good, not bad film. Good!")
    assert rows.count() == 2
    assert rows.nth(1).is_hidden()
    tab.locator("summary").tap()
    # The page is notified of an opened fold only after it is open.
    expect(tab.locator("details p")).not_to_be_empty()
    corpus = attnsel.Corpus.from_texts([box.input_value()], vocab=WORDS)
    lost = score_influence(SCORES[40], corpus).toarray()[0]
    assert min(lost) < 0 < max(lost)
    tip = tab.locator(".tip")
    assert rows.nth(1).inner_text() == box.input_value()
    for s, word in ((0, "good"), (2, "bad")):
        place = rows.nth(1).get_by_text(word, exact=True).first
        place.hover()
        number = tip.inner_text().replace("−", "-").split("influence")[1].split(",")[0]
        assert float(number) == pytest.approx(lost[s], rel=0.01)
        shade = place.evaluate("e => getComputedStyle(e).backgroundColor")
        assert ("(0, 114, 178" in shade) == (lost[s] > 0)
    goes = tab.locator("details p")
    first = "Without “bad” the text would be classified as positive; "
    assert goes.inner_text() == first + "removing fewer words is not enough."
    box.fill("bad, bad")
    assert goes.inner_text() == "No deletion changes the predicted class."
    box.fill("?")
    assert goes.inner_text() == ""
    rows.nth(1).press("ArrowRight")
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_start_that_loses_a_class_is_a_drag_away(visit):
    model, corpus, selected = plane()
    tab = visit(flow_plane(model, corpus, selected, lost=(-10, 0)))
    out, handles = tab.locator("output"), tab.locator(".handle")
    assert out.inner_text().startswith("Each relevant word is selected.")
    assert "is 1.0000" in out.inner_text()
    colours = tab.locator("circle[fill]:not([fill=none])").evaluate_all(
        "all => all.map(dot => dot.getAttribute('fill'))"
    )
    assert colours == [POSITIVE] * 2 + [NEGATIVE] * 2 + [NEUTRAL] * 3 + [POSITIVE]

    start = handles.nth(7)
    panel = tab.locator("svg").nth(1).bounding_box()
    point = start.locator("circle").nth(1).bounding_box()
    tab.mouse.move(point["x"] + point["width"] / 2, point["y"] + point["height"] / 2)
    tab.mouse.down()
    goal = panel["x"] + panel["width"] * 5 / 30, panel["y"] + panel["height"] / 2
    tab.mouse.move(*goal, steps=3)
    tab.mouse.up()
    at = [float(part) for part in start.get_attribute("aria-valuetext").split(", ")]
    assert at == pytest.approx([-10, 0], abs=0.3)
    tab.mouse.move(*reversed(goal))  # let go
    assert out.inner_text().startswith("In 3 of 6 sequences")

    # If the keys raise a word above all informative ones, no direction is left.
    tab.get_by_role("button", name="Start over").click()
    paths = tab.locator(".path").get_attribute("points")
    for _ in range(25):
        handles.nth(4).press("ArrowUp")
    assert "No p puts all relevant words ahead." in out.inner_text()
    assert tab.locator(".path").get_attribute("points") != paths


def test_the_path_is_drawn_where_it_runs(visit):
    model, corpus, selected = plane(moved(2), (8, 3), (1, 0.6))
    tab = visit(flow_plane(model, corpus, selected, lost=(-10, 0)))
    flow = attnsel.gradient_flow(model, corpus, max_norm=14)
    points = tab.locator(".path").get_attribute("points").split()
    drawn = torch.tensor([[float(x) for x in p.split(",")] for p in points])
    drawn = (drawn / 340 - 0.5) * torch.tensor([30.0, -30.0])
    for p in flow.cls.float():
        assert (drawn - p).norm(dim=1).min() < 0.5


def test_the_slider_of_the_step_moves_the_points(visit):
    before, change = torch.tensor([0.1, -0.1, 0.05]), torch.tensor([0.3, -0.2, 0.0])
    figure = scatter_explorer(
        ["up", "down", "still"],
        {"prediction": (0 * before, change), "value": (before, change)},
        title="Step",
        slider=("size", 1, 100),
    )
    tab = visit(figure)
    slider, output = tab.locator("[type=range]"), tab.locator(".bar output")
    pictures = set()
    tab.locator("[type=search]").fill("up")
    for key, numbers in (("End", "30, value 30.1"), ("Home", "0.3, value 0.4")):
        slider.press(key)
        size, fit = output.inner_text().split(": correlation ")
        exact = torch.stack([before + float(size) * change, float(size) * change])
        assert float(fit) == pytest.approx(float(torch.corrcoef(exact)[0, 1]), abs=1e-3)
        assert tab.locator("canvas+output").inner_text() == f"up: prediction {numbers}"
        pictures.add(tab.evaluate("document.querySelector('canvas').toDataURL()"))
    assert len(pictures) == 2


@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_serious_in_a_figure(visit, width):
    model, corpus, selected = plane()
    words = [("good", 0), (" ", -1), ("bad", 2)]
    for figure in (
        text_box(WORDS, SCORES, examples=EXAMPLES, explained=True),
        flow_plane(model, corpus, selected, lost=(-10, 0)),
        show_text(coloured_text(words, [1.0, 0, -1.0], scale=1, unit="x")),
    ):
        assert serious_violations(visit(figure, width), rules=5) == []
