"""A chapter shows where it stands in the sequence of maps."""

import io
import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from tools.site.stages import NAMES, STATES, outdated, strip

SITE = Path(__file__).resolve().parents[2] / "_build" / "html"


def sequence() -> str:
    """Return a picture with five panels of one width."""
    figure, axes = plt.subplots(1, 5, figsize=(10, 2))
    for axis in axes:
        axis.set(xticks=[], yticks=[], ylabel="score")
    file = io.StringIO()
    figure.savefig(file, format="svg")
    return file.getvalue()


def test_a_frame_stands_around_each_state_of_the_chapter():
    line = strip("maps.svg", "intro.html#maps", sequence(), (1, 4))
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
@pytest.mark.parametrize("page", sorted(STATES))
def test_the_page_of_a_chapter_shows_its_states_above_the_guess(page):
    text = (SITE / f"{page}.html").read_text(encoding="utf-8")
    (line,) = re.findall(r'<a class="stages".*?</a>', text)
    assert line.count('class="here"') == len(STATES[page])
    assert all(NAMES[state - 1] in line for state in STATES[page])
    assert text.index(line) < text.index("Guess first")
    address, name = re.findall(r'href="([^"#]*)#([^"]*)"', line)[0]
    landing = (SITE / "book" / address).read_text(encoding="utf-8")
    assert f'id="{name}"' in landing
    image = re.findall(r'src="([^"]*)"', line)[0]
    assert (SITE / "book" / image).is_file()


def test_chapters_are_written_again_when_the_landing_page_changes():
    for changed, expected in (({"book/intro"}, set(STATES)), ({"book/model"}, set())):
        assert set(outdated(None, None, set(), changed, set())) == expected
