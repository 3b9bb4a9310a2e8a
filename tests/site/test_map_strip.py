"""A chapter shows where it stands in the sequence of maps."""

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
    """Return a picture with five panels of one width."""
    figure, axes = plt.subplots(1, 5, figsize=(10, 2))
    for axis in axes:
        axis.set(xticks=[], yticks=[], ylabel="score")
    file = io.StringIO()
    figure.savefig(file, format="svg")
    return file.getvalue()


def test_a_frame_stands_around_each_state_of_the_chapter():
    line = strip("maps.svg", "intro.html#maps", sequence(), [1, 4])
    assert "This chapter shows map 1 (random start) and map 4 (shuff" in line
    places = re.findall(r"left:([\d.]+)%;width:([\d.]+)%", line)
    (first, wide), (fourth, narrow) = [tuple(map(float, place)) for place in places]
    # The axes share 77.5% of the width, after a margin of 12.5%; the first panel
    # has the margin before it.
    assert first == 0
    assert wide == pytest.approx(12.5 + 77.5 / 5, abs=4)
    assert fourth == pytest.approx(12.5 + 3 * 77.5 / 5, abs=4)
    assert narrow == pytest.approx(77.5 / 5, abs=4)


@pytest.mark.site
@pytest.mark.parametrize(("page", "states"), STRIPS.items())
def test_the_page_of_a_chapter_shows_its_states_above_the_guess(page, states):
    text = (SITE / "book" / f"{page}.html").read_text(encoding="utf-8")
    (line,) = re.findall(r'<a class="stages".*?</a>', text)
    assert line.count('class="here"') == len(states)
    assert all(NAMES[state - 1] in line for state in states)
    assert text.index(line) < text.index("Guess first")
    address, name = re.findall(r'href="([^"#]*)#([^"]*)"', line)[0]
    landing = (SITE / "book" / address).read_text(encoding="utf-8")
    assert f'id="{name}"' in landing
    image = re.findall(r'src="([^"]*)"', line)[0]
    assert (SITE / "book" / image).is_file()
