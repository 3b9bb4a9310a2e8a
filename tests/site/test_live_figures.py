"""A live figure of a chapter on another page."""

import re
from pathlib import Path

import pytest

pytest.importorskip("jupyter_book", reason="needs Jupyter Book")

from tools.site.live import output_of

BOOK = Path(__file__).parents[2] / "book"
USED = re.findall(r"^```{live} (\S+) (\S+)$", (BOOK / "half_hour.md").read_text(), re.M)


@pytest.mark.parametrize(("chapter", "name"), USED)
def test_a_page_shows_what_the_chapter_stores(chapter, name):
    page = output_of(BOOK / f"{chapter}.ipynb", name)
    assert re.search(r'<div class="attnsel attnsel-(textbox|map|plane)"', page)
    assert page.count("<div") == page.count("</div>") > 0


def test_a_name_without_a_live_figure_is_refused():
    with pytest.raises(ValueError, match="no live figure fig-one-step-scatter"):
        output_of(BOOK / "one_step.ipynb", "fig-one-step-scatter")
