"""Live figures, used up to their limits by mouse, by touch and by keys."""

from typing import Any

import pytest
import torch
from test_live import PLACES, SEQUENCES

import attnsel
from attnsel.tokens import Vocab
from attnsel_book import (
    coloured_text,
    flow_plane,
    frames,
    scatter_explorer,
    show_text,
    steer_box,
    text_box,
)

pytestmark = pytest.mark.site

# A word that begins another, quotes, tags, letters from right to left or of two units.
ODD = ["goodness", "good", '"so"', "<BR/>", "שלום", "𝒜b😀", "it's"]


def touch(tab: Any, *path: tuple[float, float]) -> None:
    """Touch the first place, move the finger to the other places, and lift it."""
    cdp = tab.context.new_cdp_session(tab)
    for i, (x, y) in enumerate(path):
        kind = "touchMove" if i else "touchStart"
        points = [{"x": x, "y": y}]
        cdp.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    cdp.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def middle(box: dict[str, float]) -> tuple[float, float]:
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


# Frames


def shown(tab: Any) -> list[str]:
    """Return the label and the visible frames."""
    readout = tab.locator(".bar output").inner_text()
    return [readout, *tab.locator(".frame:visible").all_inner_texts()]


def test_frames_are_played_to_their_end(visit):
    start = 1
    contents = {"first <BR/>": "one", "שלום": "two", '"𝒜"': "three"}
    tab = visit(frames(contents, title="steps", start=start))
    each = list(map(list, contents.items()))
    slider, button = tab.locator("[type=range]"), tab.get_by_role("button")
    assert shown(tab) == each[start]
    assert slider.input_value() == str(start)
    assert button.inner_text() == "Play"  # nothing moves by itself
    for key, at in (("Home", 0), ("ArrowLeft", 0), ("End", 2), ("ArrowRight", 2)):
        slider.press(key)
        assert shown(tab) == each[at]
        assert slider.get_attribute("aria-valuetext") == each[at][0]
    tab.clock.install(time=0)
    tab.clock.pause_at(3600)  # the machine's own time, slow or not, does not count
    button.click()  # from the end it starts over
    for at in (0, 1, 2, 2):
        assert shown(tab) == each[at]
        assert button.inner_text() == ("Play" if at == 2 else "Pause")
        assert slider.input_value() == str(at)
        tab.clock.run_for(701)
    button.click()
    tab.clock.run_for(701)
    button.click()
    tab.clock.run_for(5000)
    assert (shown(tab), button.inner_text()) == (each[1], "Play")
    button.click()  # on from where it stands
    assert shown(tab) == each[1]
    slider.press("Home")  # a hand on the slider stops it
    tab.clock.run_for(5000)
    assert (shown(tab), button.inner_text()) == (each[0], "Play")


# The explorer

RECORD = """() => {
  const draw = CanvasRenderingContext2D.prototype.fillText;
  window.written = [];
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    window.written.push([text, x, y, this.textAlign]); draw.call(this, text, x, y);
  };
}"""
SIZES = {"about zero": [-3e6, 1, 2e6], "equal": [7, 7, 7], "log": [1e-1, 5, 1e8]}


def test_both_axes_have_ticks_whatever_is_on_them(visit):
    tab = visit(scatter_explorer(["a", "b", "c"], SIZES, title="sizes", log=["log"]))
    across, up = tab.locator("select").all()
    assert across.locator("option").all_inner_texts() == list(SIZES)
    tab.evaluate(RECORD)
    for k, name in enumerate(SIZES):
        up.select_option(str(k))
        tab.evaluate("window.written = []")
        across.select_option(str(k))
        texts = tab.evaluate("window.written")
        # Ticks beside the axis are written from the right, those below are centred.
        beside = {text: y for text, _, y, align in texts if align == "right"}
        below = {text: x for text, x, _, align in texts if align == "center"}
        below.pop(name)
        assert beside.keys() == below.keys() and len(below) > 1, name
        for places, sign in ((below, 1), (beside, -1)):
            order = sorted(places, key=lambda text: sign * places[text])
            numbers = [float(text.replace(",", "")) for text in order]
            assert numbers == sorted(numbers), name


def test_the_search_prefers_the_word_and_takes_any_letters(visit):
    columns = {"x": range(7), "y": range(0, 70, 10)}
    tab = visit(scatter_explorer(ODD, columns, title='"odd" words'))
    keys = "the left and right keys go from point to point"
    assert tab.locator("canvas").get_attribute("aria-label") == f'"odd" words; {keys}'
    readout, box = tab.locator("canvas+output"), tab.locator("[type=search]")
    before = readout.inner_text()
    asked = dict(zip(ODD, ODD, strict=True))
    asked |= {"goodn": "goodness", "goo": "goodness", " GOOD ": "good", "<br": "<BR/>"}
    asked |= {'"': '"so"', "ש": "שלום", "𝒜": "𝒜b😀"}
    for typed, word in asked.items():
        box.fill(typed)
        i = ODD.index(word)
        assert readout.inner_text() == f"{word}: x {i}, y {10 * i}"
    box.fill("<b>no")
    assert readout.inner_text() == "No token here begins with <b>no."
    box.fill("")
    assert before.startswith("Point at a token")


@pytest.mark.parametrize("width", [1280, 390])
def test_points_are_gone_through_and_pointed_at(visit, width):
    columns = {"x": [3, 1, 2], "y": [1, 3, 2]}
    tab = visit(scatter_explorer(["right", "left", "mid"], columns, title="t"), width)
    canvas, readout = tab.locator("canvas"), tab.locator("canvas+output")
    keys = ["ArrowLeft", "ArrowRight", "PageUp", "ArrowRight", "PageDown", "ArrowLeft"]
    words = ["left", "mid", "right", "right", "left", "left"]
    for key, word in zip(keys, words, strict=True):
        canvas.press(key)
        assert readout.inner_text().split(":")[0] == word
    box = canvas.bounding_box()
    across, up = box["width"] - 64, box["height"] - 52  # what lies inside the axes
    for word, x, y in (("right", 0.97, 0.03), ("mid", 0.5, 0.5), ("left", 0.03, 0.97)):
        at = box["x"] + 52 + x * across, box["y"] + 10 + (1 - y) * up
        touch(tab, at) if width < 600 else tab.mouse.move(*at)
        assert readout.inner_text().split(":")[0] == word
    outside = box["x"] - 5, box["y"] + box["height"] + 200
    touch(tab, outside) if width < 600 else tab.mouse.move(*outside)
    assert readout.inner_text().split(":")[0] == "left"


# Dragging


def placed(handle: Any) -> list[float]:
    return [float(c) for c in handle.get_attribute("aria-valuetext").split(", ")]


def drag(tab: Any, handle: Any, way: tuple[int, int], *, by_touch: bool) -> None:
    """Drag a handle far beyond the edge of its picture."""
    handle.scroll_into_view_if_needed()
    picture = handle.locator("xpath=ancestor::*[local-name()='svg']").bounding_box()
    x, y = middle(handle.locator("circle").first.bounding_box())
    # At an edge, the half of the handle that is inside is held.
    x = min(max(x, picture["x"] + 4), picture["x"] + picture["width"] - 4)
    y = min(max(y, picture["y"] + 4), picture["y"] + picture["height"] - 4)
    path = [(x, y), (x + 4 * way[0], y + 4 * way[1])]
    path.append((x + 2000 * way[0], y + 2000 * way[1]))
    if by_touch:  # a finger stays on the screen
        size = tab.viewport_size
        within = (size["width"] - 1, size["height"] - 1)
        touch(tab, *[_within(place, within) for place in path])
        return
    tab.mouse.move(*path[0])
    tab.mouse.down()
    for place in path[1:]:
        tab.mouse.move(*place)
    tab.mouse.up()


def _within(place: tuple[float, float], most: tuple[int, int]) -> tuple[float, float]:
    return min(max(place[0], 1), most[0]), min(max(place[1], 1), most[1])


WAYS = {(1, 0): (0, 1), (-1, 0): (0, -1), (0, -1): (1, 1), (0, 1): (1, -1)}
KEYS = {"ArrowRight": (0, 1), "ArrowLeft": (0, -1), "ArrowUp": (1, 1)}
KEYS["ArrowDown"] = (1, -1)


def test_words_and_p_stay_in_the_plane(visit):
    corpus = attnsel.Corpus.from_tokens(SEQUENCES, [1, 1, 1, 0, 0, 0], Vocab(ODD))
    model = attnsel.AttentionClassifier(7, 2, dtype=torch.float64)
    with torch.no_grad():
        model.embeddings.copy_(PLACES)
        model.cls.copy_(torch.tensor([2.0, -3.0]))
        model.output.copy_(torch.tensor([1.0, 0.0]))
    selected = torch.tensor([0, 1, 0, 2, 3, 2])
    tab = visit(flow_plane(model, corpus, selected, lost=(-10, 0)), 390)
    handles, out = tab.locator(".handle"), tab.locator("output")
    assert handles.locator("text").all_text_contents() == [*ODD, "p"]
    first, again = out.inner_text(), tab.get_by_role("button").first
    for i, ends in ((3, ((-1.6, 1.7), (-1.2, 2.1))), (7, ((-15, 15), (-15, 15)))):
        handle = handles.nth(i)
        for way, (axis, side) in WAYS.items():
            drag(tab, handle, way, by_touch=True)
            assert placed(handle)[axis] == pytest.approx(ends[axis][side > 0])
        assert "NaN" not in tab.locator(".attnsel").inner_html()
        again.click()
        assert out.inner_text() == first
    tab.get_by_role("button").nth(1).click()
    assert placed(handles.nth(7)) == [-10, 0]


def test_p_of_a_review_is_dragged_and_stays_in_its_picture(visit):
    vocab = Vocab(["<BR/>", '"שלום"', "𝒜"], ("negative", "positive"))
    corpus = attnsel.Corpus.from_tokens([[0, 1, 2]], ["positive"], vocab)
    model = attnsel.AttentionClassifier(3, 2)
    with torch.no_grad():
        model.embeddings[:] = torch.tensor([[-1.5, 1.2], [0.2, -1.5], [1.5, 0.7]])
        model.output[:] = torch.tensor([1.0, 0.0])
        model.cls[:] = torch.tensor([-1.6, -0.3])
    tab = visit(steer_box(model, corpus, wanted=2))
    assert tab.locator("tbody th").all_inner_texts() == list(vocab)
    output, verdict = tab.locator("output"), tab.locator(".readout p")
    logit = float(model(corpus).detach())
    at_first = f"The logit is −{-logit:.2f}, so the review is classified as negative."
    assert verdict.inner_text() == at_first
    assert "The label is positive" in output.inner_text()
    handle = tab.locator(".handle")
    for way, (axis, side) in WAYS.items():
        drag(tab, handle, way, by_touch=False)
        assert placed(handle)[axis] == 3 * side
    for way in ((1, 0), (0, -1)):
        drag(tab, handle, way, by_touch=False)
    assert "classified as positive" in verdict.inner_text()
    assert output.inner_text().startswith("You have solved it.")
    handle.focus()
    for key, (axis, side) in KEYS.items():
        for _ in range(31):
            tab.keyboard.press(key)
        assert placed(handle)[axis] == 3 * side
        with torch.no_grad():
            model.cls[:] = torch.tensor(placed(handle))
        shares = model.attention(corpus).toarray()[0]
        rows = tab.locator("tbody td:nth-child(2)").all_inner_texts()
        assert [text.strip() for text in rows] == [f"{100 * q:.0f}%" for q in shares]
    tab.get_by_role("button").click()
    assert placed(handle) == pytest.approx([-1.6, -0.3])
    assert verdict.inner_text() == at_first


@pytest.mark.parametrize("width", [1280, 390])
def test_odd_words_tell_their_numbers(visit, width):
    words = [piece for i, word in enumerate(ODD) for piece in ((word, i), (" ", -1))]
    values = [1.0 + i // 2 for i in range(len(words))]
    tab = visit(show_text(coloured_text(words, values, scale=9, unit='"u"')), width)
    text, tip = tab.locator(".attnsel-text"), tab.locator(".tip")
    assert text.inner_text().strip() == " ".join(ODD)
    for i, word in enumerate(ODD):
        text.press("ArrowRight")
        assert tip.inner_text() == f'{word}: {i + 1} "u"'
    text.press("ArrowRight")  # there is no further one
    assert tip.inner_text() == 'it\'s: 7 "u"'
    for _ in ODD:
        text.press("ArrowLeft")
    assert tip.inner_text() == 'goodness: 1 "u"'
    text.press("Escape")
    assert tip.is_hidden()
    for i, word in enumerate(ODD):
        place = middle(tab.locator("[data-tip]").nth(i).bounding_box())
        tab.touchscreen.tap(*place) if width < 600 else tab.mouse.move(*place)
        assert tip.inner_text() == f'{word}: {i + 1} "u"'
        box = tip.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width


# Odd contents: few data, or markup

WORDS = Vocab(["good", "bad", '"'], ['"thumbs" <up>', "it's down & out"])
SCORES = {0: torch.tensor([[0.0, -1.0], [0.0, 1.0], [0.0, 0.0]])}


def test_a_text_of_unknown_words_has_no_numbers(visit):
    from playwright.sync_api import expect

    tab = visit(text_box(WORDS, SCORES, examples={}))
    box, goes = tab.locator("[type=text]"), tab.locator("details p")
    assert box.input_value() == "" and tab.get_by_role("button").count() == 0
    box.fill("good bad bad")  # equal attention on one value of -1 and two of 1
    verdict = tab.locator("output").first.inner_text()
    assert verdict == "it's down & out, 58% sure"
    tab.locator("summary").click()
    for text in ("", "  ", "?!", "nothing known here", "<b>x</b>"):
        box.fill("good")
        expect(goes).to_have_text("No deletion changes the predicted class.")
        box.fill(text)
        verdict = tab.locator("output").first.inner_text()
        assert verdict == "No word here is in the vocabulary."
        assert goes.inner_text() == ""
        assert tab.locator("[data-tip]").count() == 0
        for pieces in tab.locator(".attnsel-text").all():
            assert pieces.text_content() == text
            pieces.press("ArrowRight")
            assert tab.locator(".tip").is_hidden()
        assert "NaN" not in tab.locator("main").inner_html()
