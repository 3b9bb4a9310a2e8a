import base64
import html.parser
import re
from io import BytesIO

import matplotlib
import numpy as np
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from matplotlib import pyplot
from matplotlib.colors import to_rgb
from matplotlib_inline import backend_inline as inline
from PIL import Image

from attnsel_book import coloured_text, frames, show_text, style, token_scatter
from attnsel_book.style import NEGATIVE, NEUTRAL, POSITIVE, figure_html, use_style
from attnsel_book.widgets import embedding

WORDS = [("<b>Fine", 3), (" & ", -1), ("dull", 5), ("!", -1)]


class Tags(html.parser.HTMLParser):
    """A parser that collects tags and text, and checks that all open tags close."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.text = [], [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in ("img", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.text += data


def test_coloured_text_keeps_the_text_and_escapes_it():
    tags = Tags(coloured_text(WORDS, [1, 0, -2, 0], scale=2, unit="<u>"))
    assert tags.text == "<b>Fine & dull!"
    spans = [attrs for tag, attrs in tags.seen if tag == "span"]
    assert len(spans) == 2
    assert spans[0]["data-tip"] == "1 <u>"
    assert "#0072b24c" in spans[0]["style"]  # half of the strongest blue
    assert "#d55e0099" in spans[1]["style"]  # all of the strongest orange


def test_colour_grows_with_the_value_and_has_an_end():
    def opacity(value):
        text = coloured_text([("x", 0)], [value], scale=1.0)
        return int(re.search("#0072b2(..)", text)[1], 16) / 255

    assert 0 == opacity(0) < opacity(0.2) < opacity(0.7) < opacity(1.0) == opacity(9.0)


def test_coloured_text_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match=r"values: expected shape \(4,\), got \(3,\)"):
        coloured_text(WORDS, [1, 2, 3], scale=1)
    with pytest.raises(ValueError, match="scale"):
        coloured_text(WORDS, [1, 2, 3, 4], scale=0)


def test_a_figure_holds_its_style_and_each_of_its_scripts_once():
    css = embedding.styles()
    tips, own = map(embedding.source, ("tips.js", "frames.js"))
    still, moving = show_text("").data, frames({"1": "a"}, title="t").data
    for page in (still, moving):
        assert page.count(f"<style>{css}</style>") == page.count(tips) == 1
    assert tips + own in moving and own not in still


@pytest.mark.parametrize(("contents", "start"), [({}, 0), ({"1": "a"}, 1)])
def test_frames_refuse_what_does_not_fit(contents, start):
    with pytest.raises(ValueError, match="start"):
        frames(contents, title="t", start=start)


def side_by_side(*spans, **look):
    """Return a figure; each span is the left and right end of axes, as shares."""
    figure = matplotlib.figure.Figure(figsize=(6, 2), dpi=100)
    for left, right in spans:
        axes = figure.add_axes((left, 0.1, right - left, 0.8))
        axes.set(xticks=[], yticks=[], **look)
    return figure


@pytest.mark.parametrize(
    ("spans", "cuts"),
    [
        ([(0.1, 0.9)], []),
        ([(0.6, 0.9), (0.1, 0.4)], [0.5]),  # drawn from right to left
        ([(0.1, 0.2), (0.4, 0.5), (0.7, 0.9)], [0.3, 0.6]),
        ([(0.1, 0.6), (0.2, 0.3), (0.5, 0.55)], []),  # two below one
        ([(0.1, 0.2), (0.3, 0.8), (0.4, 0.5), (0.6, 0.7)], [0.25]),
    ],
)
def test_a_figure_is_cut_in_the_middle_between_axes_that_no_other_reaches(spans, cuts):
    found = style.columns(side_by_side(*spans))
    assert found == pytest.approx([0, *cuts, 1], abs=1e-3)


def test_the_panels_of_a_figure_are_pictures_that_stand_below_each_other_on_a_phone():
    figure = side_by_side((0.1, 0.3), (0.7, 0.9), facecolor="blue")
    figure.axes[0].set_facecolor("red")
    tags = Tags(figure_html(figure, "two"))
    assert "flex-wrap:wrap" in tags.seen[0][1]["style"]
    images = [a for tag, a in tags.seen if tag == "img"]
    assert [image["alt"] for image in images] == ["two", "Panel 2 of 2"]
    for image, at, colour in zip(
        images, (0.4, 0.6), ((255, 0, 0), (0, 0, 255)), strict=True
    ):
        assert image["style"] == (
            "flex:1 1 max(50.00%,min(100%,13em));min-width:0;"
            "max-width:288px;height:auto"  # half of 6 inches
        )
        data = base64.b64decode(image["src"].removeprefix("data:image/webp;base64,"))
        picture = Image.open(BytesIO(data)).convert("RGB")
        assert picture.size == (432, 288)  # three pixels for two of the page
        assert picture.getpixel((round(at * 432), 144)) == colour
        assert picture.getpixel((5, 5)) == (255, 255, 255)


def test_a_figure_that_became_a_picture_is_closed():
    figure, _ = pyplot.subplots()
    kept, _ = pyplot.subplots()
    figure_html(figure, "")
    assert pyplot.get_fignums() == [kept.number]


def test_an_svg_is_the_same_on_each_run(tmp_path):
    def draw(name):
        with matplotlib.rc_context():
            use_style()
            figure = matplotlib.figure.Figure()
            figure.subplots().scatter([1, 2], [3, 1], clip_on=True)
            figure.savefig(tmp_path / name, format="svg", metadata={"Date": None})
        return (tmp_path / name).read_bytes()

    assert draw("a.svg") == draw("b.svg")


def test_in_a_notebook_figures_are_svg_without_a_date(monkeypatch):
    shell = InteractiveShell()
    monkeypatch.setattr(style, "get_ipython", lambda: shell)
    monkeypatch.setattr(inline, "get_ipython", lambda: shell)
    with matplotlib.rc_context():
        use_style()
        figure, axes = pyplot.subplots()
        axes.scatter([1, 2], [3, 1])
        shown, _ = shell.display_formatter.format(figure)
        pyplot.close(figure)
    assert [kind for kind in shown if kind.startswith("image/")] == ["image/svg+xml"]
    assert "<dc:date>" not in shown["image/svg+xml"]


def pictures(drawn):
    """Return the pictures in an SVG, in the modes in which they are stored."""
    held = re.findall(r'data:image/png;base64,([^"]+)"', drawn)
    return [Image.open(BytesIO(base64.b64decode(data))) for data in held]


def test_thousands_of_points_are_a_small_picture_that_looks_the_same():
    with matplotlib.rc_context():
        use_style()
        figure, axes = pyplot.subplots()
        points = torch.randn(2, 4000, generator=torch.Generator().manual_seed(0))
        token_scatter(axes, points[0].clip(-1, 1), points[1])
        written = BytesIO()
        figure.savefig(written, format="svg", dpi=figure.dpi, bbox_inches="tight")
        drawn = style.svg(figure)
        pyplot.close(figure)
    (before,), (after,) = pictures(written.getvalue().decode()), pictures(drawn)
    assert (before.mode, after.mode) == ("RGBA", "P")
    assert len(drawn) < 0.6 * len(written.getvalue())
    shades = []
    for picture in (before, after):
        paper = Image.new("RGBA", picture.size, "white")
        paper.alpha_composite(picture.convert("RGBA"))
        shades.append(np.asarray(paper, dtype=float))
    assert np.abs(shades[0] - shades[1]).mean() < 3  # of 255


def test_the_colour_of_a_token_is_that_of_its_side_wherever_the_others_are():
    _, axes = pyplot.subplots()
    token_scatter(axes, torch.tensor([0.0, 0.5, 0.6, 0.9]), torch.zeros(4))
    scatter = axes.collections[0]
    shades = [scatter.to_rgba(x)[:3] for x in (-1, 0, 1)]
    expected = [to_rgb(colour) for colour in (NEGATIVE, NEUTRAL, POSITIVE)]
    assert np.allclose(shades, expected, atol=0.01)
    assert scatter.get_array().tolist() == pytest.approx([0.0, 0.5, 0.6, 0.9])
    assert axes.get_xlabel() == "lean"
