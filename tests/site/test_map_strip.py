"""A chapter frames its own maps in the sequence of maps."""

import io
import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from tools.site.map_strip import NAMES, strip

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"
STRIPS = {
    path.stem: [int(state) for state in found[1].split()]
    for path in sorted(ROOT.glob("book/text/*.md"))
    if (found := re.search(r"^```{map-strip} (.*)$", path.read_text("utf-8"), re.M))
}


def sequence() -> str:
    """Return a picture with five panels of equal width."""
    figure, axes = plt.subplots(1, 5, figsize=(10, 2))
    for axis in axes:
        axis.set(xticks=[], yticks=[], ylabel="score")
    file = io.StringIO()
    figure.savefig(file, format="svg")
    return file.getvalue()


def test_each_map_is_cut_out_of_the_figure_without_its_letters():
    line = strip("maps.svg", "intro.html#maps", sequence(), [1, 4])
    assert "This chapter shows map 1 (random start) and map 4 (shuff" in line
    maps = re.findall(
        r'class="map( here)?" style="width:64px;height:(\d+)px;background:'
        r'url\(maps.svg\) (-[\d.]+)px (-[\d.]+)px/([\d.]+)px"',
        line,
    )
    assert [bool(here) for here, *_ in maps] == [True, False, False, True, False]
    # Axes begin at 12.5% of the width and 12% below the top, five and four gaps of a
    # fifth share 77.5%, and each is 77% of the height: a fifth of the width.
    part = 0.775 / (5 + 4 * 0.2)
    for k, (_, high, left, top, wide) in enumerate(maps):
        whole = 64 / part
        assert float(wide) == pytest.approx(whole, rel=0.01)
        assert -float(left) / whole == pytest.approx(0.125 + k * 1.2 * part, abs=0.003)
        assert float(high) == pytest.approx(0.77 * whole / 5, abs=1)
        assert -float(top) == pytest.approx(0.12 * whole / 5, abs=1)


@pytest.mark.site
@pytest.mark.parametrize(("page", "states"), STRIPS.items())
def test_the_page_of_a_chapter_shows_its_states_above_the_guess(page, states):
    text = (SITE / "book" / f"{page}.html").read_text(encoding="utf-8")
    (line,) = re.findall(r'<a class="stages".*?</a>', text)
    assert line.count('class="map here"') == len(states)
    assert all(NAMES[state - 1] in line for state in states)
    assert text.index(line) < text.index("Guess first")
    address, name = re.findall(r'href="([^"#]*)#([^"]*)"', line)[0]
    landing = (SITE / "book" / address).read_text(encoding="utf-8")
    assert f'id="{name}"' in landing
    image = re.findall(r"url\(([^)]*)\)", line)[0]
    assert (SITE / "book" / image).is_file()
