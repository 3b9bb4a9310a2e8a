"""How a stored figure comes apart into panels, and what stands on the pages."""

import io
import itertools

import matplotlib
import pytest
from matplotlib.figure import Figure

from attnsel_book import use_style
from tools.panels import PHONE, panels, smallest_text

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
