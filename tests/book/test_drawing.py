"""What the figures of single chapters show, read back from their axes."""

import math
import re

import numpy as np
import pandas as pd
import pytest
import torch
from matplotlib import pyplot, rc_context
from matplotlib.colors import to_hex, to_rgba, to_rgba_array
from matplotlib.lines import Line2D
from scipy.special import softmax

from attnsel.corpus import Corpus
from attnsel.flow import Flow
from attnsel.model import AttentionClassifier
from attnsel.theory import max_margin
from attnsel.tokens import Vocab
from attnsel.train import History
from attnsel_book import attended_text
from attnsel_book.chapters.convergence import figures as convergence
from attnsel_book.chapters.explanation import figures as explanation
from attnsel_book.chapters.explanation.results import explanations
from attnsel_book.chapters.margins import figures as margins
from attnsel_book.chapters.max_margin import figures as max_margins
from attnsel_book.chapters.model.figures import (
    draw_classifier,
    draw_map,
    shaded_review,
    typical_reviews,
)
from attnsel_book.chapters.one_step import figures as one_step
from attnsel_book.chapters.selection import figures as selection
from attnsel_book.chapters.why_v import figures as why_v
from attnsel_book.plots import draw_training
from attnsel_book.style import (
    ACCENT,
    CURVES,
    NEGATIVE,
    NEUTRAL,
    POSITIVE,
    use_style,
)
from attnsel_book.widgets import embedding, plane, steer
from attnsel_book.widgets import map as scatter

NAMES = "blue orange grey black green purple olive brown pink violet"
SHADES = [POSITIVE, NEGATIVE, NEUTRAL, "#000000", *CURVES]
COLOURS = dict(zip(map(str.lower, SHADES), NAMES.split(), strict=True))
POWERS = torch.logspace(0, 4, 9).double()  # norms of p
GAP, BOUND = 0.5 * POWERS**-1.5, 2 / POWERS
MOMENTS = "best step", "converged"


@pytest.fixture(autouse=True)
def in_the_style_of_the_book(monkeypatch):
    """Show nothing, and leave no figure to the next test."""
    monkeypatch.setattr(pyplot, "show", lambda: None)
    monkeypatch.setattr(selection, "figure_html", lambda figure, alt: alt)
    for module in (scatter, embedding):
        monkeypatch.setattr(module, "figure_html", lambda figure, alt: f"({alt}) ")
    with rc_context():
        use_style()
        yield


def panels():
    """The axes of the one figure that was drawn."""
    assert len(pyplot.get_fignums()) == 1
    every = [line for axes in pyplot.gcf().axes for line in axes.lines]
    assert all((x.get_linestyle(), x.get_marker()) != ("None", "None") for x in every)
    return pyplot.gcf().axes


def colour_of(drawn):
    """The colour of what a legend names."""
    if hasattr(drawn, "get_facecolor"):
        return to_hex(drawn.get_facecolor()[0])
    return to_hex((drawn[0] if hasattr(drawn, "__len__") else drawn).get_color())


def described(axes):
    """What axes say: title, what is across and up, and the colour of each name.

    A line has its first and last point, too, and a logarithmic axis is named so.
    """
    drawn, names = axes.get_legend_handles_labels()
    found = [f"{COLOURS[colour_of(one)]}{ends(one)}" for one in drawn]
    names = [f"{name}: {colour}" for name, colour in zip(names, found, strict=True)]
    words = [axes.get_title(loc="left")]
    for label, scale in (
        (axes.get_xlabel(), axes.get_xscale()),
        (axes.get_ylabel(), axes.get_yscale()),
    ):
        words.append(f"{label} ({scale})" if scale == "log" else label)
    return " ".join(" | ".join([*words, "; ".join(names)]).split())


def ends(drawn):
    """The first and the last point of a line, as text."""
    if not isinstance(drawn, Line2D) or not len(drawn.get_xydata()):
        return ""
    points = [",".join(f"{x:.3g}" for x in drawn.get_xydata()[k]) for k in (0, -1)]
    return " from {} to {}".format(*points)


def line(axes, label):
    """The points of the line that the legend calls so, (k, 2)."""
    (found,) = [one for one in axes.lines if one.get_label() == label]
    return np.asarray(found.get_xydata(), dtype=float)


def points(axes, at=0):
    """The points of a scatter, (k, 2), and their colours."""
    scatter = axes.collections[at]
    return np.asarray(scatter.get_offsets()), scatter.get_facecolors()[:, :3]


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def some_flow():
    random = torch.Generator().manual_seed(3)
    k = len(POWERS)
    return Flow(
        cls=POWERS[:, None] * torch.tensor([[0.6, 0.8]]).double(),
        norms=POWERS,
        loss=1 / POWERS,
        log_excess=-POWERS,
        log_gradient=-0.1 * POWERS,
        attention=torch.rand(k, 5, generator=random).double(),
        selected=torch.zeros(5, dtype=torch.int64),
        reason="max_norm",
    )


HISTORY = History(
    step=torch.tensor([0, 10, 20, 40]),
    scores={},
    loss=torch.tensor([0.7, 0.5, 0.4, 0.3]),
    accuracy=torch.tensor([0.5, 0.7, 0.8, 0.9]),
    test_loss=torch.tensor([0.7, 0.6, 0.5, 0.6]),
    test_accuracy=torch.tensor([0.5, 0.6, 0.75, 0.7]),
)
WINDOW = pd.DataFrame(
    {
        "d": 2048,
        "step": [10.0, 10.0, 1000.0, 1000.0],
        "seed": [0, 1, 0, 1],
        "positive": [1.0, 0.8, 0.0, 0.4],
        "negative": [1.0, 0.6, 1.0, 0.8],
        "lost": [False, False, True, False],
    }
)
NO_STEP = pd.DataFrame({"positive": [0.0, 0.4], "negative": [1.0, 0.2]})
SHARES = pd.DataFrame(
    {
        "optimizer": ["gd", "gd", "adam", "adam", "h"],
        "lead": [10.0, 10.0, 10.0, 20.0, 1.0],
        "l2": [0.9, 0.8, 0.5, 0.1, 0.85],
        "linf": [0.4, 0.3, 0.7, 0.2, 0.35],
        "l1": [0.6, 0.5, 0.4, 0.3, 0.45],
    }
)
RUNS = {"steps": ("gd", 10.0), "Adam": ("adam", 10.0), "none": ("h", 1.0)}
MEMORY = pd.DataFrame(
    {
        "time": [1.0, 10.0],
        "linf": [0.9, 0.5],
        "cos root v": [0.1, 0.8],
        "cos l2": [0.3, 0.2],
    }
)
TOUCH = {"l2": np.array([1.0, 1]), "linf": np.array([2.0, 1]), "l1": np.array([1.0, 0])}


def on_axes(draw, *given):
    """A figure of a function that draws on axes."""
    _, axes = pyplot.subplots(1, 2 if draw is why_v.draw_horseshoe else 1)
    draw(axes, *given)


# Each figure, of known data: how it is drawn, and for each panel its title, what is
# across and up, and the colour of each name. Blue and orange mean the label alone.
SHOWN = {
    "a training": (
        lambda: draw_training(HISTORY),
        r"""
        - | step | logistic loss | training: black from 0,0.7 to 40,0.3; test:
          purple from 0,0.7 to 40,0.6
        - | step | accuracy (%) | training: black from 0,50 to 40,90; test:
          purple from 0,50 to 40,70
        """,
    ),
    "descent": (
        lambda: max_margins.draw_descent(
            {"near": np.array([[3.0, 4], [6, 8]]), "wide": np.array([[0.0, 2]])},
            {"near": np.array([0.5, 0.1]), "wide": np.array([0.3])},
        ),
        r"""
        - | $\|p\|$ (log) | $1 - \cos(p, u_\star)$ (log) | near: green from
          5,0.5 to 10,0.1; wide: purple from 2,0.3 to 2,0.3
        """,
    ),
    "a flow": (
        lambda: max_margins.draw_flow(some_flow(), GAP, 0.25),
        r"""
        - | $\|p\|$ (log) | attention on relevant token | least to greatest:
          grey; mean: black from 1,0.179 to 1e+04,0.477
        - | $\|p\|$ (log) | $1 - \cos(p, u_\star)$ (log) | $1 - \cos$: black
          from 1,0.5 to 1e+04,5e-07; slope $-2$: green from 1,50 to 1e+04,5e-07
        - | $\|p\|$ (log) | log of time (log) | flow: black from 3.16,1 to
          1e+04,1e+03; $m\,\|p\|$: green from 1,0.25 to 1e+04,2.5e+03
        """,
    ),
    "a bound": (
        lambda: convergence.draw_bound(some_flow(), GAP, BOUND, 50.0, 0.07),
        r"""
        - | $\|p\|$ (log) | $1 - \cos$ (log) | flow, $1 - \cos(p, u_\star)$:
          black from 1,0.5 to 1e+04,5e-07; Theorem A, $C / \|p\|$: purple from
          1,2 to 1e+04,0.0002; slope $-2$ (Theorem B): green from 316,0.0005 to
          1e+04,5e-07; $\mathcal{E}_{sel}$ passed: grey from 50,0 to 50,1
        """,
    ),
    "p in the plane": (
        lambda: convergence.draw_tiny(
            torch.tensor([[1.0, 2], [3, 2]]), torch.tensor([2.0, 0])
        ),
        r"""
        - | first entry of $p$ | second entry | $p$: black from 1,2 to 3,2;
          $u_\star$, times 4: purple; $w$: grey
        - | $\|p\|$ (log) | (log) | $1 - \cos$: black from 2.24,0.553 to
          3.61,0.168; $\|w\|^2/(2\|p\|^2)$: green from 2.24,0.4 to 3.61,0.154
        """,
    ),
    "leads": (
        lambda: convergence.draw_leads(np.array([2.0, 4]), np.array([1.0, 3]), 0.9, 5),
        r"""
        - | $\|p\|$ (log) | least lead over $\|p\|$ | flow: black from 2,0.5 to
          4,0.75; $m$: green from 0,0.9 to 1,0.9; $1/\|h\|$: grey from 0,0.2 to
          1,0.2
        """,
    ),
    "a cause": (
        lambda: selection.draw_cause({"one": 1.0, "two": 2.0}, (0.05, 0.04)),
        r"""
        - one | axes of the tokens | along $v$ |
        - two | axes of the tokens | |
        """,
    ),
    "a window": (
        lambda: selection.draw_window(WINDOW, NO_STEP, 0.25),
        r"""
        - | size of the step $\eta_0$ (log) | share of sequences selected |
          positive class: blue from 9.9,0.98 to 1.01e+03,0.38; negative class:
          orange from 9.9,1.02 to 1.01e+03,0.82; mean of both: green from
          10,0.85 to 1e+03,0.55; no step: mean: grey from 0,0.4 to 1,0.4
        """,
    ),
    "a sweep": (
        lambda: selection.draw_sweep(np.array([1, 10]), np.eye(2), 0.25),
        r"""
        - | size of the step $\eta_0$ (log) | share selected | positive class:
          blue from 1,0.99 to 10,-0.01; negative class: orange from 1,0.01 to
          10,1.01; by chance: grey from 0,0.25 to 1,0.25
        """,
    ),
    "scores of classes": (
        lambda: selection.draw_scores(dict.fromkeys("ab", 5 * (POWERS,))),
        r"""
        - a | $\|p\|$ (log) | score over irrelevant tokens | irrelevant tokens:
          grey; positive class: blue from 1,1 to 1e+04,1e+04; negative class:
          orange from 1,1 to 1e+04,1e+04
        - b | $\|p\|$ (log) | score over irrelevant tokens | irrelevant tokens:
          grey; positive class: blue from 1,1 to 1e+04,1e+04; negative class:
          orange from 1,1 to 1e+04,1e+04
        """,
    ),
    "paths": (
        lambda: on_axes(why_v.draw_paths, "xyz", np.full((2, 2, 3), -2.0)),
        r"""
        - | value $b$ | score $a$ | half the square, $b^2/2$: grey from
          -2.2,2.42 to 2.2,2.42
        """,
    ),
    "arms": (
        lambda: on_axes(why_v.draw_arms, "Adam", *-np.eye(3)),
        r"""
        - Adam | value $b_s$ | | half the square, $b^2/2$: black from
          -1.05,0.551 to 1.05,0.551; score plus exposure: grey
        """,
    ),
    "a drop of the loss": (
        lambda: on_axes(
            why_v.draw_drop, *2 * [{3: np.eye(2), 8: np.eye(2)}], np.eye(2)
        ),
        r"""
        - | time $t$ of the flow | loss | T = 3: green from 1,0 to 0,1; T = 8:
          purple from 1,0 to 0,1; uniform attention: grey from 1,0 to 0,1
        """,
    ),
    "shares of leads": (
        lambda: margins.draw_shares(SHARES, RUNS, "none"),
        r"""
        - | share of the largest possible lead | | $\ell_2$: green from 0.9,0 to
          0.5,-1; $\ell_\infty$: purple from 0.4,0 to 0.7,-1; $\ell_1$: olive
          from 0.6,0 to 0.4,-1
        """,
    ),
    "balls": (
        lambda: margins.draw_balls(
            np.eye(2), TOUCH, {name: np.stack([0 * p, p]) for name, p in TOUCH.items()}
        ),
        r"""
        - | first entry of $p$ | second entry | $\ell_2$: green from 1,1 to 1,1;
          $\ell_\infty$: purple from 2,1 to 2,1; $\ell_1$: olive from 1,0 to 1,0
        - | first entry of $p$ | second entry | normalized descent: green from
          0,0 to 1,1; sign descent: purple from 0,0 to 2,1; coordinate descent:
          olive from 0,0 to 1,0
        """,
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_figure_says_what_it_shows(name):
    draw, expected = SHOWN[name]
    draw()
    found = [described(axes) for axes in panels()]
    wanted = re.split("^ *- ", expected, flags=re.MULTILINE)[1:]
    wanted = [" ".join(part.split()) for part in wanted]
    if " from " not in wanted[0]:  # as of stored results, which may change
        found = [re.sub(r" from \S+ to [^\s;]+", "", words) for words in found]
    assert found == wanted


@pytest.mark.parametrize(("name", "level"), [("a bound", 0.07), ("a window", 0.25)])
def test_a_level_to_compare_with_is_drawn(name, level):
    SHOWN[name][0]()
    (axes,) = panels()
    assert any(set(one.get_ydata()) == {level} for one in axes.lines)


@pytest.mark.parametrize("side", [1, -1])
def test_a_sentence_is_drawn_with_the_numbers_of_the_model(side):
    random = torch.Generator().manual_seed(0)
    a, b = torch.randn(2, 4, generator=random)
    if float(softmax(a.numpy()) @ b.numpy()) * side < 0:
        b = -b
    embeddings = torch.randn(4, 6, generator=random)
    draw_classifier(["a", "very", "dull", "film"], embeddings, a, b)
    (axes,) = pyplot.gcf().axes
    q = softmax(a.numpy())
    close([bar.get_height() for bar in axes.patches], q)
    middles = [bar.get_x() + bar.get_width() / 2 for bar in axes.patches]
    close(middles, [0.5, 1.5, 2.5, 3.5])
    for image, entries in zip(axes.images, embeddings, strict=True):
        close(image.get_array(), entries[None])
    named = {t.get_text().split(" ")[0]: t.get_position()[1] for t in axes.texts}
    for i, word in enumerate(["a", "very", "dull", "film"]):
        column = [t for t in axes.texts if t.get_position()[0] == i + 0.5]
        column = sorted(column, key=lambda t: -t.get_position()[1])
        words = [t.get_text() for t in column if t.get_text()]
        assert words == [word, f"{a[i]:.1f}", f"{q[i]:.0%}", f"{b[i]:.1f}"]
        beside = [named[row] for row in ("token", "score", "value")]
        assert beside == [column[k].get_position()[1] for k in (0, -3, -1)]
        assert column[-1].get_color() == (POSITIVE if b[i] > 0 else NEGATIVE)
        (share,) = [t for t in column if t.get_text() == f"{q[i]:.0%}"]
        assert share.get_position()[1] > axes.patches[i].get_bbox().y1
    verdict = "positive" if side > 0 else "negative"
    logit = f"$\\sum_i q_i\\, b_{{x_i}}$ = {q @ b.numpy():.1f}, {verdict}"
    written = [text.get_text() for text in axes.texts]
    assert logit in written
    assert r"score $a_s = E_s^\top p$" in written
    assert r"value $b_s = E_s^\top v$" in written
    for arrow in (text for text in axes.texts if hasattr(text, "arrow_patch")):
        (x, end), (from_x, start) = arrow.xy, arrow.get_position()
        assert x == from_x and end < start < end + 1


def test_training_is_drawn_with_its_best_step():
    draw_training(HISTORY)
    left, right = panels()
    for axes in (left, right):
        assert list(axes.lines[2].get_xdata()) == [20, 20]
        assert [one.get_linestyle() for one in axes.lines] == ["-", "--", ":"]


def test_a_map_has_values_across_and_scores_up():
    vocab = Vocab(["a", "b", "c"])
    scores = torch.tensor([[1.0, -2.0], [3.0, 4.0], [5.0, 6.0]])
    lean = torch.tensor([-0.6, torch.nan, 0.6])
    on_axes(draw_map, vocab, scores, lean, ["c", "a"])
    (axes,) = panels()
    close(points(axes)[0], [[-2, 1], [4, 3], [6, 5]])
    dots = axes.collections[0]
    colours = dots.to_rgba(dots.get_array())
    expected = to_rgba_array([NEGATIVE, NEUTRAL, POSITIVE])
    np.testing.assert_allclose(colours[:, :3], expected[:, :3], atol=0.01)
    names = {text.get_text(): text.xy for text in axes.texts}
    assert names == {"c": (6, 5), "a": (-2, 1)}
    close([one.get_xydata()[0] for one in axes.lines], [[6, 5], [-2, 1]])


@pytest.mark.parametrize("scale", [1.0, 2e-4])
def test_predictions_stand_against_what_was_measured(scale):
    vocab = Vocab(["low", "b", "c", "top", "e"])
    x = scale * torch.tensor([-8.0, -0.1, 0.2, 9.0, 1.0])
    y = 1.1 * x
    on_axes(one_step.draw_prediction, vocab, x, y)
    (axes,) = panels()
    found, colours = points(axes)
    close(found, np.stack([x, y], 1))
    close(colours, to_rgba_array(2 * [NEGATIVE] + 3 * [POSITIVE])[:, :3])
    diagonal = axes.lines[0].get_xydata()
    assert (diagonal[:, 0] == diagonal[:, 1]).all()
    assert diagonal[0, 0] == -diagonal[1, 0] < -9 * scale
    # The lower name stands on the right of its point, the upper on the left.
    assert [(t.get_text(), t.get_ha()) for t in axes.texts] == [
        ("“low”", "left"),
        ("“top”", "right"),
    ]
    for axis, (low, high) in (
        (axes.xaxis, axes.get_xlim()),
        (axes.yaxis, axes.get_ylim()),
    ):
        assert low == -high and high > diagonal[1, 0]
        ticks = axis.get_ticklocs()
        written = [float(tick.get_text()) for tick in axis.get_ticklabels()]
        close(written, ticks)
        # The greatest power of ten on the line, with both signs.
        assert math.log10(ticks[2]).is_integer() or scale < 1
        assert -ticks[0] == ticks[2] <= diagonal[1, 0] < 10 * ticks[2]
        assert axis.get_transform().linthresh == pytest.approx(scale)  # the median


def test_a_horseshoe_has_values_across_and_forecasts_across_from_scores():
    measured, forecast = np.array([[1.0, 2], [3, -4]]), np.array([[5.0, 6], [7, 8]])
    on_axes(why_v.draw_horseshoe, measured, forecast)
    left, right = panels()
    close(points(left)[0], [[3, 1], [-4, 2]])
    close(points(right)[0], [[5, 1], [6, 2]])
    for axes in (left, right):
        close(points(axes)[1], to_rgba_array([POSITIVE, NEGATIVE])[:, :3])


def test_errors_stand_below_their_bound():
    share, error = torch.tensor([0.2, 0.1]), torch.tensor([0.3, 0.4])
    on_axes(one_step.draw_bound, share, error, torch.tensor([1.0, 2.0]), "")
    (axes,) = panels()
    for at, expected, colour in (
        (0, [[0.2, 0.3], [0.1, 0.4]], NEUTRAL),
        (1, [[0.2, 1], [0.1, 2]], ACCENT),
    ):
        close(points(axes, at)[0], expected)
        close(points(axes, at)[1], to_rgba_array([colour])[:, :3])
        # Thousands of elements of an SVG stop a phone for seconds.
        assert axes.collections[at].get_rasterized()


def test_a_review_has_the_colours_of_its_values_as_strong_as_its_attention():
    words = [("good", 0), (" ", -1), ("bad", 1)]
    scores = torch.tensor([[math.log(13 / 4), 6.0], [0.0, -3.0]])
    page = shaded_review("A title", words, scores)
    assert "A title" in page
    assert 'data-tip="attention 0.765, value 6"' in page
    assert 'data-tip="attention 0.235, value -3"' in page
    # Both have more than the attention of the full colour, which is 0.6 of 255.
    assert f"{POSITIVE.lower()}99" in page and f"{NEGATIVE.lower()}99" in page
    weak = attended_text(words, [0.15, 0, 0.075], [6, 0, -3], full=0.25)
    assert f"{POSITIVE.lower()}5c" in weak and f"{NEGATIVE.lower()}2e" in weak


def test_typical_reviews_are_right_by_the_median_and_wrong_by_most():
    labels = [0, 0, 0, 0, 1, 1, 1, 1]
    corpus = Corpus.from_tokens([[0]] * 8, labels, Vocab(["a"]))
    logits = torch.tensor([-3.0, -1.0, -2.0, 4.0, 5.0, 7.0, 6.0, -2.0])
    assert typical_reviews(corpus, logits, length=1) == {
        "Negative, correct": 2,
        "The most confident mistake": 3,
    }


def test_typical_reviews_are_those_of_about_the_length():
    rows = [[0] * length for length in range(1, 303)]
    corpus = Corpus.from_tokens(rows, [0, 1] * 151, Vocab(["a"]))
    logits = torch.where(corpus.lengths > 200, -9.0, -1.0)
    chosen = typical_reviews(corpus, logits, length=10)
    assert len(chosen) == 2
    assert max(chosen.values()) < 200
    assert typical_reviews(corpus[:1], -logits[:1], length=10).keys() == {
        "The most confident mistake"
    }
    assert typical_reviews(corpus[:1], logits[:1], length=10) == {
        "Negative, correct": 0
    }


def test_selected_tokens_stand_above_and_attention_is_sorted():
    values, scores = torch.tensor([[2.0, -1.0, 0.5], [1.0, 0.9, -0.3]])
    kinds = ["pos", "neg", "irr"]
    attention = torch.tensor([0.9, 0.1, 0.5])
    max_margins.draw_selection(values, scores, kinds, attention, "step 3")
    left, right = panels()
    found, colours = points(left)
    close(found, np.stack([values, scores], 1))
    close(colours, to_rgba_array([POSITIVE, NEGATIVE, NEUTRAL])[:, :3])
    assert right.lines[0].get_ydata().tolist() == attention.sort().values.tolist()
    low, high = right.get_ylim()
    assert -0.1 < low < 0 and 1 < high < 1.1  # an attention of 0 or 1 is seen
    # Frames of one figure that moves have one axis, whatever the scores.
    later = max_margins.draw_selection(values, 0.1 * scores, kinds, attention, "step 4")
    assert later.axes[0].get_ylim() == left.get_ylim()


def test_attention_of_a_flow_reaches_from_the_least_to_the_greatest():
    flow = some_flow()
    max_margins.draw_flow(flow, GAP, 0.25)
    first = panels()[0]
    outline = first.collections[0].get_paths()[0].vertices
    for norm, row in zip(POWERS, flow.attention, strict=True):
        across = outline[np.isclose(outline[:, 0], float(norm))][:, 1]
        close([across.min(), across.max()], [row.min(), row.max()])
    close(line(first, "mean"), np.stack([POWERS, flow.attention.mean(1)], 1))


def test_arrows_of_the_cause_end_at_the_values_and_at_twenty_times_the_pull():
    selection.draw_cause({"one": 1.0, "two": 2.0}, (0.05, 0.04))
    arrows = pyplot.gca().collections
    ends = [(float(arrow.U[0]), float(arrow.V[0])) for arrow in arrows]
    assert ends[:4] == [(-1, 2), (-1, -2), (1, 2), (1, -2)]
    # Two tokens ahead and two behind: 2 (.05) 2 - 2 (.04) 2.
    assert ends[4] == pytest.approx((0, 20 * 0.04))


def test_a_window_names_the_steps_that_lose_a_class():
    alt = selection.draw_window(WINDOW, NO_STEP, 0.25)
    (axes,) = panels()
    assert "d = 2,048" in alt and "lose a class at steps 1,000.0," in alt
    low, high = axes.get_ylim()
    assert -0.2 < low < -0.02 and 1.02 < high < 1.2


def test_words_stand_by_attention_and_contrast():
    random = np.random.default_rng(0)
    share, gap = random.uniform(0.001, 0.1, 40), random.uniform(0.1, 3, 40)
    pull = random.choice([-1.0, 1.0], 40)
    names = [f"word {i}" for i in range(40)]
    explanation.draw_influence(names, share, gap, pull)
    (axes,) = panels()
    product = share * gap
    for label, sign in (("for the verdict", 1), ("against it", -1)):
        close(line(axes, label), np.stack([share, gap], 1)[pull == sign])
    levels = [one.get_xydata().prod(axis=1) for one in axes.lines[:4]]
    ranks = [(product > level[0] * (1 + 1e-9)).sum() for level in levels]
    assert ranks == [0, 3, 9, 27]  # words above the line
    for level in levels:
        close(level, level[0])
    # The word of most influence is named, others among the next 11.
    named = [int(text.get_text().strip("“”").split()[1]) for text in axes.texts]
    order = np.argsort(-product).tolist()
    assert named[0] == order[0]
    assert named == [i for i in order[:12] if i in named]
    for i, text in zip(named, axes.texts, strict=True):
        x, y = text.xy
        assert 1 < x / share[i] < 1.2 and 1 < y / gap[i] < 1.2
    for number, i in enumerate(named):
        for j in named[:number]:
            across = abs(math.log(share[i] / share[j]))
            assert across >= 1.3 or abs(math.log(gap[i] / gap[j])) >= 0.12
    left, right = axes.get_xlim()
    assert left < share.min() and share.max() < right
    assert gap.max() < axes.get_ylim()[1]
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_deletions_are_drawn_by_way_and_moment():
    runs = explanations()
    explanation.draw_deletion(runs, MOMENTS)
    drawn = panels()
    for axes, moment in zip(drawn, MOMENTS, strict=True):
        for container in axes.containers:
            rows = runs.index.str.startswith(
                f"comprehensiveness, {container.get_label()}, "
            )
            found = runs.loc[rows, moment].to_numpy()
            parts = runs.index[rows].str.split(", ").str[-1].astype(float)
            order = np.argsort(parts)
            x, y = container[0].get_xydata().T
            close(x, parts[order])
            close(y, found.mean(1)[order])
            ends = [segment[:, 1] for segment in container[2][0].get_segments()]
            close(ends, np.stack([found.min(1), found.max(1)], 1)[order])
        ticks = [tick.get_text() for tick in axes.get_xticklabels()]
        assert ticks == ["1%", "2%", "5%", "10%", "20%"]
    assert drawn[0].get_ylim() == drawn[1].get_ylim()


def test_replaced_attention_is_drawn_by_what_it_changes():
    runs = explanations()
    heights = {"best step": 0.25, "converged": 0.5}
    explanation.draw_replacement(runs, heights)
    for axes, (moment, height) in zip(panels(), heights.items(), strict=True):
        assert set(line(axes, "one per review")[:, 1]) == {height}
        for name in ("training", "test"):
            for way, label in (("shared p", "one p"), ("retrained", "all free")):
                change, divergence = (
                    [runs.loc[f"{way}, {price}, {name} {what}", moment].mean()
                     for price in (10, 100, 1000)]
                    for what in ("change", "divergence")
                )  # fmt: skip
                found = line(axes, f"{label}, {name}")
                close(found, np.stack([change, divergence], 1))
        same = [
            [runs.loc[f"{way}, {what}", moment].mean()
             for what in ("change of probability", "divergence")]
            for way in ("uniform", "permuted")
        ]  # fmt: skip
        close(line(axes, "same verdicts"), same)
        assert axes.get_xscale() == axes.get_yscale() == "log"
    first, second = pyplot.gcf().axes
    assert first.get_ylim() == second.get_ylim()


def test_each_optimizer_has_a_line_of_its_shares():
    margins.draw_shares(SHARES, RUNS, control="none")
    (axes,) = pyplot.gcf().axes
    heights = {t.get_text(): t.get_position()[1] for t in axes.get_yticklabels()}
    assert heights == {"steps": 0, "Adam": -1, "none": -2}
    grey = [one for one in axes.lines if one.get_color() == NEUTRAL]
    close([one.get_xydata()[0] for one in grey], [[x, -2] for x in (0.85, 0.35, 0.45)])
    low, high = axes.get_ylim()
    assert low < -2 and high > 0 and axes.get_xlim() == (0, 1.03)


def test_the_memory_of_adam_is_drawn_by_the_lead():
    margins.draw_memory({"one": MEMORY, "two": MEMORY / 2})
    left, right = panels()
    own, null, *rest = right.lines
    close(own.get_xydata(), [[1, 0.1], [10, 0.8]])
    close(null.get_xydata(), [[1, 0.3], [10, 0.2]])
    close(rest[0].get_xydata(), [[0.5, 0.05], [5, 0.4]])
    assert null.get_linestyle() == "--"
    marks = [one.get_marker() for one in left.lines]
    assert len(set(marks)) == 2 and marks == [own.get_marker(), rest[0].get_marker()]


def test_entries_and_leads_are_sorted_and_scaled():
    p = np.array([3.0, -6.0, 1.0])
    differences = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [1.0, 0.0, -1.0]])
    margins.draw_entries({"p": p}, -p[::-1], differences)
    left, right = panels()
    close(left.lines[0].get_ydata(), [-1, 1 / 6, 0.5])
    close(right.lines[0].get_ydata(), [1, 1.5, 3])  # of the leads 3, 6 and 2
    close(left.lines[1].get_ydata(), [-0.5, -1 / 6, 1])  # the null
    assert right.lines[1].get_color() == NEUTRAL


def plane_of(places):
    """What a plane draws of three words at these places, and p = (0.3, -0.2)."""
    corpus = Corpus.from_tokens([[0, 2], [1, 2]], [1, 0], ["good", "$bad$", "film"])
    model = AttentionClassifier(3, 2, dtype=torch.float64)
    p, output = torch.tensor([0.3, -0.2]), torch.tensor([1.0, 0.0])
    for parameter, value in zip(model.parameters(), (places, p, output), strict=True):
        parameter.data.copy_(value)
    return model, corpus, torch.tensor([0, 1])


def test_the_plane_has_its_words_the_path_of_p_and_where_it_goes():
    places = torch.tensor([[1.0, 0.5], [-1.0, 1.0], [0.0, -1.0]])
    model, corpus, selected = plane_of(places)
    p = model.cls.detach()
    page = plane.plane_still(model, corpus, selected)
    assert page == (
        "(Words in the plane; the path of p and where it goes.) "
        "<p>To drag the words and p needs JavaScript.</p>"
    )
    left, right = panels()
    of_plane = "first coordinate | second coordinate |"
    assert described(left) == f"words | {of_plane}"
    assert described(right).startswith(f"$p$ | {of_plane} path of $p$: black from 0.3,")
    _named_beside(left.texts, ["good", "$bad$", "film"], places)
    dots = torch.tensor(np.concatenate([dot.get_xydata() for dot in left.lines]))
    assert torch.equal(dots, places.double())
    colours = [dot.get_color() for dot in left.lines]
    assert colours == [POSITIVE, NEGATIVE, NEUTRAL]
    named = {one.get_label(): one.get_xydata() for one in right.lines}
    start = right.lines[1]  # a dot
    assert (start.get_marker(), start.get_color()) == ("o", "black")
    assert start.get_xydata().tolist() == [p.tolist()]
    best = max_margin(places.double(), corpus, selected).direction.numpy()
    assert named["$u_\\star$"] == pytest.approx(np.stack([0 * best, 15 * best]))
    path = named["path of $p$"]
    assert path[0] == pytest.approx(p.numpy())
    assert path[-1] @ best > 0.9 * np.linalg.norm(path[-1])  # it goes there
    assert 15 < np.linalg.norm(path[-1]) < 16  # |p| at the start is 0.36
    low, high = left.get_xlim()
    assert -1.5 < low < -1.1 and 1.1 < high < 1.5  # no dot on the edge


def _named_beside(texts, words, places):
    """Words stand beside their points as they are written, whatever their signs."""
    assert [text.get_text() for text in texts] == words
    assert [text.xy for text in texts] == [tuple(place) for place in places.tolist()]
    for text in texts:
        assert text.anncoords == "offset points" and not text.get_parse_math()
        assert min(text.xyann) > 0


def test_a_plane_where_no_direction_selects_has_none():
    # "film" lies between the others: no p puts both of them ahead of it.
    model, corpus, selected = plane_of(torch.tensor([[1.0, 0], [-1, 0], [0, 0]]))
    plane.plane_still(model, corpus, selected)
    _, right = pyplot.gcf().axes
    assert [text.get_text() for text in right.get_legend().texts] == ["path of $p$"]


@pytest.mark.parametrize(
    ("second", "reading"),
    [
        (-1.6, "The logit is 0.20: classified as positive."),
        (-3.2, "The logit is \N{MINUS SIGN}0.20: classified as negative."),
    ],
)
def test_the_review_to_be_steered_is_drawn_and_read(second, reading):
    places = torch.tensor([[math.log(3), 1.0], [0.0, -2.0]])
    page = steer.steer_still(
        ["$a$", "b"], places, [0.8, second], torch.tensor([1.0, 0.0])
    )
    assert page == (
        "(Three words and p as an arrow in the plane.) "
        f"<p>Attention: $a$ 75%, b 25%. {reading} To drag p needs JavaScript.</p>"
    )
    (axes,) = pyplot.gcf().axes
    close(np.concatenate([dot.get_xydata() for dot in axes.lines]), places)
    assert [dot.get_color() for dot in axes.lines] == [POSITIVE, NEGATIVE]
    assert {dot.get_marker() for dot in axes.lines} == {"o"}
    *words, arrow, p = axes.texts
    end = torch.tensor([[1.0, 0.0]])
    _named_beside(words, ["$a$", "b"], places)
    _named_beside([p], ["p"], end)
    assert p.get_style() == "italic"
    assert (arrow.get_text(), arrow.xyann, arrow.xy) == ("", (0, 0), (1.0, 0.0))
    assert arrow.arrow_patch.get_arrowstyle().arrow == "->"
    assert axes.get_xlim() == axes.get_ylim() == (-3, 3)


def test_a_still_of_the_explorer_has_its_points_colours_and_labels():
    columns = torch.tensor([1.0, -2.0, 3.0]), torch.tensor([10.0, 1000.0, 1.0])
    colours = [POSITIVE, NEGATIVE, NEUTRAL]
    page = scatter.scatter_still(["side", "count"], columns, colours, ["linear", "log"])
    assert page == (
        "(Tokens by side, across, and count.) "
        "<p>To choose the axes and to find a token needs JavaScript.</p>"
    )
    (axes,) = panels()
    assert described(axes) == "| side | count (log) |"
    found, shades = points(axes)
    close(found, np.stack(columns, 1))
    close(shades, to_rgba_array(colours)[:, :3])


def test_of_many_tokens_one_in_so_many_is_drawn():
    n = 2 * scatter.MOST_POINTS + 1
    columns = torch.arange(n).double(), -torch.arange(n).double()
    colours = [POSITIVE, NEGATIVE, NEUTRAL] * (n // 3) + [NEGATIVE] * (n % 3)
    page = scatter.scatter_still(["x", "y"], columns, colours, ["linear", "linear"])
    assert "<p>One token in 3 is drawn. To choose the axes" in page
    (axes,) = pyplot.gcf().axes
    found, shades = points(axes)
    close(found[:3], [[0, 0], [3, -3], [6, -6]])
    assert len(found) == len(shades) == math.ceil(n / 3)
    assert {tuple(shade) for shade in shades[:-1]} == {to_rgba(POSITIVE)[:3]}


@pytest.mark.parametrize(
    ("near", "ticks"), [(0.04, [-10, -0.1, 0, 0.1, 10]), (0.06, [-10, 0, 10])]
)
def test_a_scale_is_linear_up_to_the_median_size(near, ticks):
    columns = torch.tensor([50.0, -near, 0.0]), torch.tensor([0.0, 0.0, 0.0])
    scatter.scatter_still(["x", "y"], columns, ["black"] * 3, ["symlog", "symlog"])
    (axes,) = pyplot.gcf().axes
    assert axes.get_xscale() == "symlog"
    assert axes.xaxis.get_transform().linthresh == pytest.approx(near)
    close(axes.get_xticks(), ticks)
    assert len(axes.get_xticks(minor=True)) == 0
    # What is 0 throughout has no such scale.
    assert axes.get_yscale() == "linear"
