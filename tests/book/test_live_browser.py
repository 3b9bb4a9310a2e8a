"""The live figures in a browser without network: typed in, dragged, tapped, by keys."""

import math
from collections.abc import Mapping

import pytest
import torch
from test_live import PLACES, moved, plane

import attnsel
from attnsel.beyond.deletion import score_influence, score_shapley
from attnsel.tokens import Vocab
from attnsel_book import (
    NEGATIVE,
    NEUTRAL,
    POSITIVE,
    coloured_text,
    flow_plane,
    scatter_explorer,
    show_text,
    steer_box,
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
    """Return whether the box tells the class and probability of the package's logit."""
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
    beginning = "“bad” gets 100% of the attention; its value is −6.00. Values times"
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

    # A word tells its numbers to a pointer or a finger, and to the keys.
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


@pytest.mark.parametrize("width", [1280, 390])
def test_the_text_box_says_what_each_word_does(visit, width):
    from playwright.sync_api import expect

    tab = visit(text_box(WORDS, SCORES, examples=EXAMPLES), width)
    box, rows = tab.locator("[type=text]"), tab.locator(".attnsel-text")
    box.fill("A good, not bad film. Good!")
    assert rows.count() == 3
    assert rows.nth(1).is_hidden()
    summary = tab.locator("summary")
    summary.tap() if width < 600 else summary.press("Enter")
    # The page hears of an opened fold only after it is open.
    expect(tab.locator("details p")).not_to_be_empty()
    corpus = attnsel.Corpus.from_texts([box.input_value()], vocab=WORDS)
    lost = score_influence(SCORES[40], corpus).toarray()[0]
    values = score_shapley(SCORES[40], corpus).toarray()[0]
    assert min(lost) < 0 < max(lost)
    tip = tab.locator(".tip")
    for row, name, numbers in ((1, "influence", lost), (2, "Shapley value", values)):
        assert rows.nth(row).inner_text() == box.input_value()
        for s, word in ((0, "good"), (2, "bad")):
            place = rows.nth(row).get_by_text(word, exact=True).first
            place.tap() if width < 600 else place.hover()
            number = tip.inner_text().replace("−", "-").split(name)[1].split(",")[0]
            assert float(number) == pytest.approx(numbers[s], rel=0.01)
            shade = place.evaluate("e => getComputedStyle(e).backgroundColor")
            assert ("(0, 114, 178" in shade) == (numbers[s] > 0)
    goes = tab.locator("details p")
    first = "Without “bad” the text would be classified as positive; "
    assert goes.inner_text() == first + "removing fewer words is not enough."
    box.fill("bad, bad")
    assert goes.inner_text() == "No deletion changes the predicted class."
    box.fill("?")
    assert goes.inner_text() == ""
    rows.nth(2).press("ArrowRight")
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("width", [1280, 390])
def test_words_and_p_are_dragged_and_moved_by_keys(visit, width):
    model, corpus, selected = plane()
    tab = visit(flow_plane(model, corpus, selected, lost=(-10, 0)), width)
    out, handles = tab.locator("output"), tab.locator(".handle")
    assert out.inner_text().startswith("Each relevant word is selected.")
    assert "is 1.0000" in out.inner_text()
    lines = tab.locator("polyline[opacity='.3']")
    axes = lines.evaluate_all("all => all.map(line => line.outerHTML)")
    dots = tab.locator("circle[fill]:not([fill=none])").evaluate_all(
        "all => all.map(dot => dot.outerHTML)"
    )
    colours = [POSITIVE] * 2 + [NEGATIVE] * 2 + [NEUTRAL] * 3 + [POSITIVE]
    assert [dot.split('"')[3] for dot in dots] == colours

    start = handles.nth(7)
    losing = tab.get_by_role("button", name="A start that loses a class")
    losing.tap() if width < 600 else losing.click()
    assert start.get_attribute("aria-valuetext") == "-10.00, 0.00"
    assert out.inner_text().startswith("Lost: in 3 of 6 sequences")
    tab.get_by_role("button", name="Start over").click()
    assert "is 1.0000" in out.inner_text()

    # The same path is one drag away.
    panel = tab.locator("svg").nth(1).bounding_box()
    point = start.locator("circle").nth(1).bounding_box()
    x, y = point["x"] + point["width"] / 2, point["y"] + point["height"] / 2
    tab.mouse.move(x, y)
    tab.mouse.down()
    goal = panel["x"] + panel["width"] * 5 / 30, panel["y"] + panel["height"] / 2
    tab.mouse.move(*goal, steps=3)
    tab.mouse.up()
    at = [float(part) for part in start.get_attribute("aria-valuetext").split(", ")]
    assert at == pytest.approx([-10, 0], abs=0.3)
    assert out.inner_text().startswith("Lost: in 3 of 6 sequences")
    tab.mouse.move(*reversed(goal))
    assert out.inner_text().startswith("Lost: in 3 of 6 sequences")  # let go

    # A word that the keys raise above all telling ones leaves no direction.
    tab.get_by_role("button", name="Start over").click()
    paths = tab.locator(".path").get_attribute("points")
    for _ in range(25):
        handles.nth(4).press("ArrowUp")
    assert "No p puts all relevant words ahead." in out.inner_text()
    assert tab.locator(".path").get_attribute("points") != paths
    assert lines.evaluate_all("all => all.map(line => line.outerHTML)") == axes
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_path_is_drawn_where_it_runs(visit):
    places = moved(2)
    model, corpus, selected = plane(places, (8, 3), (1, 0.6))
    tab = visit(flow_plane(model, corpus, selected, lost=(-10, 0)))
    flow = attnsel.gradient_flow(model, corpus, max_norm=14)
    points = tab.locator(".path").get_attribute("points").split()
    drawn = torch.tensor([[float(x) for x in p.split(",")] for p in points])
    drawn = (drawn / 340 - 0.5) * torch.tensor([30.0, -30.0])
    for p in flow.cls.float():
        assert (drawn - p).norm(dim=1).min() < 0.5
    assert not torch.equal(places, PLACES)


def test_the_slider_of_the_step_keeps_the_axes(visit):
    before, change = torch.tensor([0.1, -0.1, 0.05]), torch.tensor([0.3, -0.2, 0.0])
    figure = scatter_explorer(
        ["up", "down", "still"],
        {"prediction": (0 * before, change), "value": (before, change)},
        title="Step",
        slider=("size", 1, 100),
    )
    tab = visit(figure)
    slider, output = tab.locator("[type=range]"), tab.locator(".bar output")
    drawn = "document.querySelector('canvas').toDataURL()"
    pictures, fits = [], []
    for key in ("Home", "End"):
        slider.press(key)
        size, fit = output.inner_text().split(": correlation ")
        exact = torch.stack([before + float(size) * change, float(size) * change])
        assert float(fit) == pytest.approx(float(torch.corrcoef(exact)[0, 1]), abs=1e-3)
        pictures.append(tab.evaluate(drawn))
        fits.append(fit)
    assert pictures[0] != pictures[1]
    assert fits[0] != fits[1]
    tab.locator("[type=search]").fill("up")
    assert tab.locator("canvas+output").inner_text() == "up: prediction 30, value 30.1"
    slider.press("Home")
    assert tab.locator("canvas+output").inner_text() == "up: prediction 0.3, value 0.4"


def test_the_explorer_names_columns_and_points(visit):
    columns = {"a <b>": [1, 2, 3], "c": [3, 2, 1], '"d"': [0, 5, 0]}
    tab = visit(scatter_explorer(["x", "y", "z"], columns, title="t"))
    across, up = tab.locator("select").all()
    assert across.locator("option").all_inner_texts() == list(columns)
    assert (across.input_value(), up.input_value()) == ("0", "1")
    output = tab.locator("canvas+output")
    for key, word in (("ArrowRight", "x"), ("ArrowRight", "y"), ("ArrowLeft", "x")):
        tab.locator("canvas").press(key)
        assert output.inner_text().startswith(f"{word}: a <b> ")
    across.select_option("1")
    tab.locator("canvas").press("ArrowLeft")
    assert output.inner_text() == 'y: a <b> 2, c 2, "d" 5'


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


@pytest.fixture(scope="module")
def steered():
    corpus = attnsel.Corpus.from_tokens(
        [[0, 1, 2]],
        ["positive"],
        Vocab(["dull", "a", "superb"], ("negative", "positive")),
    )
    model = attnsel.AttentionClassifier(3, 2)
    with torch.no_grad():
        model.embeddings[:] = torch.tensor([[-1.5, 1.2], [0.2, -1.5], [1.5, 0.7]])
        model.output[:] = torch.tensor([1.0, 0.0])
        model.cls[:] = torch.tensor([-1.6, -0.3])
    return model, corpus


@pytest.mark.parametrize("width", [1280, 390])
def test_p_is_dragged_until_the_review_is_read_rightly(visit, steered, width):
    model, corpus = steered
    tab = visit(steer_box(model, corpus, wanted=2), width)
    output, verdict = tab.locator("output"), tab.locator(".readout p")
    logit = float(model(corpus).detach())
    assert verdict.inner_text() == f"logit = −{-logit:.2f}: classified as negative"
    assert "The label is positive" in output.inner_text()
    handle, box = tab.locator(".handle"), tab.locator("svg").bounding_box()
    handle.hover(force=True)
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + box["height"] * 0.5)
    assert "classified as positive" in verdict.inner_text()
    assert "Can you give it 99%?" in output.inner_text()
    tab.mouse.move(box["x"] + box["width"] * 3, box["y"] + box["height"] * 0.4)
    tab.mouse.up()
    assert output.inner_text().startswith("Solved.")
    assert (
        tab.locator(".meter > span").nth(2).evaluate("e => e.style.width")[:2] == "99"
    )
    tab.get_by_role("button").click()
    assert verdict.inner_text() == f"logit = −{-logit:.2f}: classified as negative"
    handle.focus()
    for _ in range(30):
        tab.keyboard.press("ArrowRight")
    assert handle.get_attribute("aria-valuetext").split(", ")[0] == "3.00"
    assert output.inner_text().startswith("Classified correctly.")
    wide = tab.evaluate("document.documentElement.scrollWidth")
    assert wide <= width
