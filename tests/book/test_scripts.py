"""The scripts of the figures are complete, in the package, and correct in node."""

import re
from pathlib import Path

import numpy as np
import pytest
from hatchling.builders.wheel import WheelBuilder

import attnsel_book
from attnsel_book.widgets.embedding import embed, packed, source
from support.node import call

FOLDER = Path(attnsel_book.__file__).parent / "widgets"
SCRIPTS = sorted(path.name for path in FOLDER.glob("*.js"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_parses_and_stands_alone(name):
    assert call([name], "true")
    text = source(name)
    assert max(map(len, text.splitlines())) <= 88
    assert "</script" not in text
    # No figure requests files, or runs a reader's text as code or HTML.
    for word in ("http", "fetch(", "import(", "eval(", "Function(", "document.write"):
        assert word not in text, word


def test_scripts_and_styles_are_in_the_package():
    builder = WheelBuilder(str(FOLDER.parents[2]))
    files = {file.distribution_path for file in builder.recurse_included_files()}
    kinds = (".css", ".js", ".json", ".mplstyle")
    package = FOLDER.parent
    inside = {
        str(path.relative_to(package.parent))
        for path in package.rglob("*")
        if path.suffix in kinds
    }
    assert len(inside) > len(SCRIPTS)
    assert inside <= files


def test_a_figure_holds_all_it_needs_and_no_text_ends_it():
    data = {"text": "</script><script>alert(1)</script>", "x": [1.5, 2]}
    page = embed("tips", 'a "b" & c', data, "<p>body</p>").data
    assert page == embed("tips", 'a "b" & c', data, "<p>body</p>").data
    assert "http" not in page
    assert page.count("</script>") == 1
    assert 'aria-label="a &quot;b&quot; &amp; c"' in page
    (name,) = re.findall(r'<div class="attnsel attnsel-tips" id="(attnsel-\w+)"', page)
    assert f'getElementById("{name}")' in page
    for other in (
        ["tips", "t", data],
        ["tips", 'a "b" & c', {}],
        ["frames", "t", data],
    ):
        assert name not in embed(*other, "<p>body</p>").data
    assert source("tips.js") in page


def test_the_page_unpacks_what_was_packed():
    rng = np.random.default_rng(0)
    values = rng.standard_normal(500) * 10.0 ** rng.integers(-9, 3, 500)
    values[:2] = 0.0, -np.abs(values).max()
    for numbers in (values, 1e-9 * values, -1e9 * abs(values), np.zeros(2)):
        found = np.array(call(["tips.js"], "[...unpack(data)]", packed(numbers)))
        error, size = np.abs(found - numbers), np.abs(numbers)
        assert (error <= size / 2000 + size.max() / 1e12).all()


def test_numbers_are_told_with_three_digits():
    values = [0, -0.0, 12345678, 0.012345, -4.567e-4, 1.2345e-9, 1]
    rounded = call(["tips.js"], "data.map((x) => round(x))", values)
    assert rounded == ["0", "0", "12,300,000", "0.0123", "-0.000457", "1.23e-9", "1"]


def axes(given):
    """Return the ticks of linear and logarithmic axes, and positions of values."""
    code = """data.map(([values, log]) => {
      const {part, ticks} = axis(range(values), log);
      return {ticks, parts: values.map(part)}; })"""
    return call(["tips.js", "canvas.js"], code, given)


def test_ticks_on_axes_of_all_sizes():
    # The full range of 16-bit numbers, a wider range, and equal numbers.
    rng = np.random.default_rng(0)
    given = [[[x, x], False] for x in (0, 5, -5, 1e9, 1e-9)]
    for _ in range(300):
        left = rng.choice([-1, 1]) * 10 ** rng.uniform(-9, 9)
        given.append([[left, left + abs(left) * 10 ** rng.uniform(-3, 9)], False])
        least = 10 ** rng.uniform(-9, 3)
        given.append([[least, least * 10 ** rng.uniform(0.01, 12)], True])
    expected = [np.log10(ends) if log else np.array(ends) for ends, log in given]
    for axis, ends, (_, log) in zip(axes(given), expected, given, strict=True):
        places, texts = zip(*axis["ticks"], strict=True)
        assert 2 <= len(set(texts)) == len(texts) <= 15
        ticks = np.array([float(text.replace(",", "")) for text in texts])
        on = np.log10(ticks) if log else ticks
        left, right = axis["parts"]
        assert min(places) > -1e-9 and max(places) < 1 + 1e-9
        if ends[0] == ends[1]:
            assert left == right == pytest.approx(0.03)
            continue
        where = (on - ends[0]) / (ends[1] - ends[0]) * 0.94 + 0.03
        assert (left, right) == pytest.approx((0.03, 0.97))
        assert places == pytest.approx(where, abs=0.005)


@pytest.mark.parametrize("log", [False, True])
def test_an_axis_holds_its_values_and_round_ticks(log):
    values = [0.02, 3, 7, 1234] if log else [-0.3, 0.1, 0.45]
    (axis,) = axes([[values, log]])
    on = np.log10(values) if log else np.array(values)
    expected = (on - on.min()) / np.ptp(on) * 0.94 + 0.03
    assert axis["parts"] == pytest.approx(expected)
    ticks = [float(text.replace(",", "")) for _, text in axis["ticks"]]
    assert ticks == ([0.1, 1, 10, 100, 1000] if log else [-0.2, 0, 0.2, 0.4])
    places = np.interp(np.log10(ticks) if log else ticks, on, expected)
    assert [at for at, _ in axis["ticks"]] == pytest.approx(places)
