import html.parser
import re

import matplotlib
import pytest
import torch

from attnsel.book import coloured_text, frames, show_text, token_scatter
from attnsel.book.style import CLASSES, STYLE, figure_html
from attnsel.statistics import binned

WORDS = [("<b>Fine", 3), (" & ", -1), ("dull", 5), ("!", -1)]


class Tags(html.parser.HTMLParser):
    """Collects tags and text, and checks that what opens also closes."""

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
    tags = Tags(coloured_text(WORDS, [1, 0, -2, 0], scale=2, unit="<u>", signed=True))
    assert tags.text == "<b>Fine & dull!"
    spans = [attrs for tag, attrs in tags.seen if tag == "span"]
    assert len(spans) == 2
    assert spans[0]["data-tip"] == "1 <u>"
    assert "0,114,178,0.30" in spans[0]["style"]  # half of the strongest blue
    assert "213,94,0,0.60" in spans[1]["style"]  # all of the strongest orange


def test_colour_grows_with_the_value_and_has_an_end():
    def opacity(value):
        text = coloured_text([("x", 0)], [value], scale=1.0)
        return float(re.search(r"rgba\(0,114,178,([\d.]+)\)", text)[1])

    assert 0 < opacity(0.2) < opacity(0.7) < opacity(1.0) == opacity(9.0)
    assert "rgba" not in coloured_text([("x", 0)], [0.0], scale=1.0)


def test_a_token_takes_the_colour_of_its_greatest_class_and_tells_all():
    values = torch.tensor([[0.1, -3, 1], [0, 0, 0], [2, 1, 0], [0, 0, 0]])
    text = coloured_text(WORDS, values, scale=2, unit="u", classes=["x", "y", "z"])
    spans = [attrs for tag, attrs in Tags(text).seen if tag == "span"]
    assert [s["data-tip"] for s in spans] == ["x 0.1, y -3, z 1 u", "x 2, y 1, z 0 u"]
    red, green, blue = bytes.fromhex(CLASSES[2][1:])
    assert f"rgba({red},{green},{blue},0.30)" in spans[0]["style"]
    assert "0,114,178,0.60" in spans[1]["style"]


def test_coloured_text_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="3 rows of 1 values for 4 pieces"):
        coloured_text(WORDS, [1, 2, 3], scale=1)
    with pytest.raises(ValueError, match="for 4 pieces and 2 classes"):
        coloured_text(WORDS, [1, 2, 3, 4], scale=1, classes=["a", "b"])
    with pytest.raises(ValueError, match="scale"):
        coloured_text(WORDS, [1, 2, 3, 4], scale=0)


def test_frames_show_one_frame_and_name_them_all():
    page = frames(["<p>a</p>", "<p>b</p>"], ["step 1", "<2>"], title="A & B", start=1)
    tags = Tags(page.data)
    shown = [a for tag, a in tags.seen if a.get("class") == "frame"]
    assert ["hidden" in a for a in shown] == [True, False]
    assert [a["data-label"] for a in shown] == ["step 1", "<2>"]
    (slider,) = [a for tag, a in tags.seen if tag == "input"]
    assert (slider["type"], slider["max"], slider["value"]) == ("range", "1", "1")
    assert re.search(r"<label>A &amp; B <input [^>]+></label>", page.data)
    assert "http" not in page.data  # nothing comes from another host


def test_the_same_frames_give_the_same_page():
    first = frames(["a", "b"], ["1", "2"], title="t").data
    assert first == frames(["a", "b"], ["1", "2"], title="t").data
    other = frames(["a", "c"], ["1", "2"], title="t").data
    assert re.search('id="(.*?)"', first)[1] != re.search('id="(.*?)"', other)[1]


@pytest.mark.parametrize(
    ("contents", "labels", "start"), [([], [], 0), (["a"], [], 0), (["a"], ["1"], 1)]
)
def test_frames_refuse_what_does_not_fit(contents, labels, start):
    with pytest.raises(ValueError, match="labels|start"):
        frames(contents, labels, title="t", start=start)


def test_a_figure_becomes_a_picture_with_alt_text():
    figure = matplotlib.figure.Figure()
    figure.subplots().plot([1, 2])
    tags = Tags(show_text(figure_html(figure, 'a "line"')).data)
    (image,) = [a for tag, a in tags.seen if tag == "img"]
    assert image["alt"] == 'a "line"'
    assert image["src"].startswith("data:image/png;base64,iVBOR")


def test_an_svg_is_the_same_on_each_run(tmp_path):
    def draw(name):
        with matplotlib.rc_context(STYLE):
            figure = matplotlib.figure.Figure()
            figure.subplots().scatter([1, 2], [3, 1], clip_on=True)
            figure.savefig(tmp_path / name, format="svg", metadata={"Date": None})
        return (tmp_path / name).read_bytes()

    assert draw("a.svg") == draw("b.svg")


def test_token_scatter_draws_tokens_means_and_deviations():
    x = torch.tensor([-0.9, -0.85, 0.2, 0.9, torch.nan])
    y = torch.tensor([1.0, 3.0, -1.0, 5.0, 0.0], requires_grad=True)
    axes = matplotlib.figure.Figure().subplots()
    bins = token_scatter(axes, x, y)
    offsets = torch.tensor(axes.collections[0].get_offsets()[:4])
    torch.testing.assert_close(offsets, torch.stack([x, y.detach()], 1)[:4].double())
    (bars,) = axes.containers
    line, _, (whiskers,) = bars
    expected = binned(x, y)
    kept = expected.count > 0
    assert bins.count.tolist() == expected.count.tolist()
    middle = torch.stack([expected.centers, expected.mean], 1)[kept]
    assert torch.equal(torch.tensor(line.get_xydata())[kept], middle)
    segments = [piece for piece in whiskers.get_segments() if len(piece)]
    assert segments[0][:, 1].tolist() == [1.0, 3.0]  # 2 - 1 and 2 + 1


def test_token_scatter_takes_groups_and_a_narrow_axis():
    x, y = torch.tensor([-0.02, 0.01, 0.02]), torch.tensor([1.0, 2.0, 3.0])
    axes = matplotlib.figure.Figure().subplots()
    groups = {"low": (x < 0, "red"), "high": (x > 0, "blue")}
    bins = token_scatter(axes, x, y, groups=groups, span=0.02)
    assert axes.get_legend_handles_labels()[1] == ["low", "high", "mean by bin"]
    assert [len(c.get_offsets()) for c in axes.collections[:2]] == [1, 2]
    assert int(bins.count.sum()) == 3
