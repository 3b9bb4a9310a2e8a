"""The division of stored figures into panels, and the figures on the pages."""

import io
import itertools
import re

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import text_to_path

from attnsel_book import use_style
from tools.site.svg import PHONE, panels, smallest_text, with_whole_texts

FONT = 11  # points, as `figures.mplstyle` says


def drawn(columns: int, width: float, *, rows: int = 1, sharey: bool = False) -> Figure:
    """Return a figure with labelled axes side by side."""
    with matplotlib.rc_context():
        use_style()
        figure = Figure(figsize=(width, 3))
        for axes in figure.subplots(rows, columns, squeeze=False, sharey=sharey).flat:
            axes.plot([0, 1], [0, 100])
            axes.set_ylabel("height")
        return figure


def svg(figure: Figure) -> str:
    file = io.StringIO()
    with matplotlib.rc_context():
        use_style()
        figure.savefig(file, format="svg")
    return file.getvalue()


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_a_figure_is_cut_between_its_columns(columns, rows):
    width, height, found = panels(svg(drawn(columns, 8, rows=rows)))
    assert (width, height) == pytest.approx((8 * 72, 3 * 72))
    assert len(found) == columns
    assert found[0][0] == 0
    assert found[-1][1] == width
    for (_, end), (start, _) in itertools.pairwise(found):
        assert end == start
    # Equal axes with equal labels: equal panels, but for the margins of the figure.
    sizes = [right - left for left, right in found]
    assert max(sizes) - min(sizes) < 12


def test_a_colour_bar_stays_with_its_panel():
    figure = drawn(2, 8)
    picture = figure.axes[0].imshow([[1, 2]])
    figure.colorbar(picture, ax=figure.axes[0])
    _, _, found = panels(svg(figure))
    assert len(found) == 2


def test_what_belongs_to_all_panels_keeps_them_together():
    titled, shared = drawn(2, 8), drawn(2, 8, sharey=True)
    titled.suptitle("Both")
    for axes in shared.axes:
        axes.set_ylabel("")
    assert len(panels(svg(titled))[2]) == len(panels(svg(shared))[2]) == 1


def test_letters_shrink_with_the_width_of_a_panel():
    one, two = smallest_text(svg(drawn(1, 8))), smallest_text(svg(drawn(2, 8)))
    assert one == pytest.approx(FONT * PHONE / (8 * 72), rel=0.01)
    assert two == pytest.approx(2 * one, rel=0.05)
    assert smallest_text(svg(drawn(1, 3))) == pytest.approx(FONT * 4 / 3)


@pytest.mark.parametrize("text", ["height 0.5", "é – WAVE", r"$10^{-3}$ of $\beta$"])
def test_a_text_is_one_element_and_its_letters_stay_where_they_are(text):
    figure = drawn(1, 4)
    figure.axes[0].set(ylabel=text, xticks=[], yticks=[])
    whole = with_whole_texts(svg(figure))
    assert len(re.findall("<use", whole)) == 0
    (path,) = re.findall(r'<path d="(\S[^"]*)" transform="scale\(0\.125\)"', whole)
    here = start = np.zeros(2)
    found = []
    for command, numbers in re.findall(r"([mlqcz])([^mlqcz]*)", path):
        if command == "z":
            here = start
            continue
        steps = np.array(re.findall(r"-?\d+", numbers), dtype=float).reshape(-1, 2)
        found += [*(here + steps)]
        here = found[-1]
        start = here if command == "m" else start
    # The drawing of Matplotlib itself, in hundredths of an em.
    with matplotlib.rc_context():
        use_style()
        font = FontProperties(size=FONT)
        expected, codes = text_to_path.get_text_path(font, text, ismath="$" in text)
    moves = np.asarray(codes) != Path.CLOSEPOLY
    np.testing.assert_allclose(found, 8 * np.asarray(expected)[moves], atol=0.6)
