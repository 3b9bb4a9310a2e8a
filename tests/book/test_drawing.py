"""What the figures of single chapters show, read back from their axes."""

import math
import re

import numpy as np
import pandas as pd
import pytest
import torch
from matplotlib import pyplot, rc_context
from matplotlib.colors import to_rgb, to_rgba
from scipy.special import softmax
from scipy.stats import linregress

from attnsel.corpus import Corpus
from attnsel.flow import Flow
from attnsel.model import AttentionClassifier
from attnsel.theory import max_margin
from attnsel.tokens import Vocab
from attnsel.train import History
from attnsel_book import attended_text, stills
from attnsel_book.chapters.convergence.figures import draw_bound
from attnsel_book.chapters.explanation.figures import (
    draw_deletion,
    draw_influence,
    draw_replacement,
)
from attnsel_book.chapters.explanation.results import explanations
from attnsel_book.chapters.margins.figures import draw_entries, draw_memory, draw_shares
from attnsel_book.chapters.max_margin.figures import (
    draw_descent,
    draw_flow,
    draw_selection,
)
from attnsel_book.chapters.model.figures import (
    draw_classifier,
    draw_map,
    shaded_review,
    typical_reviews,
)
from attnsel_book.chapters.one_step.figures import draw_bound as draw_error_bound
from attnsel_book.chapters.one_step.figures import draw_prediction
from attnsel_book.chapters.selection import figures as selection_figures
from attnsel_book.chapters.selection.figures import draw_window
from attnsel_book.plots import draw_training
from attnsel_book.style import CONTRAST, CURVES, NEGATIVE, NEUTRAL, POSITIVE, use_style

# What a curve of a label is called.
SIDE = re.compile(r"(positive|negative) class|for the verdict|against it")
POWERS = torch.logspace(0, 4, 9).double()  # norms of p


@pytest.fixture(autouse=True)
def in_the_style_of_the_book(monkeypatch):
    """Show nothing, and leave no figure to the next test."""
    monkeypatch.setattr(pyplot, "show", lambda: None)
    with rc_context():
        use_style()
        yield
    pyplot.close("all")


def panels():
    """The axes of the one figure that was drawn.

    Each says what it shows, in colours of the book, one for each name in its legend.
    """
    assert len(pyplot.get_fignums()) == 1
    found = pyplot.gcf().axes
    for axes in found:
        assert axes.get_xlabel() and (axes.get_ylabel() or axes.get_title(loc="left"))
        named = [one for one in axes.lines if not one.get_label().startswith("_")]
        colours = [one.get_color() for one in named]
        assert len(set(colours)) == len(colours)
        # Blue and orange mean the label, and so no other curve has them.
        sides = [one.get_color() for one in named if SIDE.search(one.get_label())]
        assert set(sides) <= {POSITIVE, NEGATIVE}
        assert set(colours) - set(sides) <= {*CURVES, NEUTRAL, "black"}
    return found


def line(axes, label):
    """The points of the line that the legend calls so, (k, 2)."""
    (found,) = [one for one in axes.lines if one.get_label() == label]
    return np.asarray(found.get_xydata(), dtype=float)


def points(axes):
    """The points of the first scatter, (k, 2), and their colours."""
    scatter = axes.collections[0]
    return np.asarray(scatter.get_offsets()), scatter.get_facecolors()[:, :3]


def is_red(colours):
    """Which colours are that of the negative class."""
    return [tuple(colour) == to_rgba(NEGATIVE)[:3] for colour in colours]


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
    said = {text.get_text(): text for text in axes.texts}
    for i, word in enumerate(["a", "very", "dull", "film"]):
        column = [t for t in axes.texts if t.get_position()[0] == i + 0.5]
        column = sorted(column, key=lambda t: -t.get_position()[1])
        told = [t.get_text() for t in column if t.get_text()]
        assert told == [word, f"{a[i]:.1f}", f"{q[i]:.0%}", f"{b[i]:.1f}"]
        assert column[-1].get_color() == (POSITIVE if b[i] > 0 else NEGATIVE)
    verdict = "positive" if side > 0 else "negative"
    assert f"$\\sum_i q_i\\, b_{{x_i}}$ = {q @ b.numpy():.1f}, {verdict}" in said


def test_arrows_go_down_and_rows_stand_in_their_order():
    draw_classifier(["x"], torch.zeros(1, 3), torch.zeros(1), torch.ones(1))
    (axes,) = pyplot.gcf().axes
    arrows = [text for text in axes.texts if hasattr(text, "arrow_patch")]
    assert len(arrows) == 3
    for arrow in arrows:
        (x, end), (from_x, start) = arrow.xy, arrow.get_position()
        assert x == from_x == 0.5 and end < start


def test_training_is_drawn_with_its_best_step():
    history = History(
        step=torch.tensor([0, 10, 20, 40]),
        scores={},
        loss=torch.tensor([0.7, 0.5, 0.4, 0.3]),
        accuracy=torch.tensor([0.5, 0.7, 0.8, 0.9]),
        test_loss=torch.tensor([0.7, 0.6, 0.5, 0.6]),
        test_accuracy=torch.tensor([0.5, 0.6, 0.75, 0.7]),
    )
    draw_training(history)
    left, right = panels()
    close(line(left, "training"), [[0, 0.7], [10, 0.5], [20, 0.4], [40, 0.3]])
    close(line(left, "test"), [[0, 0.7], [10, 0.6], [20, 0.5], [40, 0.6]])
    close(line(right, "training"), [[0, 50], [10, 70], [20, 80], [40, 90]])
    close(line(right, "test"), [[0, 50], [10, 60], [20, 75], [40, 70]])
    for axes in (left, right):
        assert list(axes.lines[2].get_xdata()) == [20, 20]
        training, test, _ = (one.get_color() for one in axes.lines)
        assert (training, test) == ("black", CONTRAST)
        styles = [one.get_linestyle() for one in axes.lines]
        assert styles == ["-", "--", ":"]
        assert axes.get_xlabel() == "step"
    assert (left.get_ylabel(), right.get_ylabel()) == ("logistic loss", "accuracy (%)")
    assert left.get_legend() is not None


def test_a_map_has_values_across_and_scores_up():
    vocab = Vocab(["a", "b", "c"])
    scores = torch.tensor([[1.0, -2.0], [3.0, 4.0], [5.0, 6.0]])
    _, axes = pyplot.subplots()
    lean = torch.tensor([-0.6, torch.nan, 0.6])
    draw_map(axes, vocab, scores, lean, ["c", "a"], "a map")
    assert panels() == [axes]
    close(points(axes)[0], [[-2, 1], [4, 3], [6, 5]])
    dots = axes.collections[0]
    colours = [dots.to_rgba(x)[:3] for x in dots.get_array()]
    expected = [to_rgb(NEGATIVE), to_rgb("#e8e8e8"), to_rgb(POSITIVE)]
    np.testing.assert_allclose(colours, expected, atol=0.01)
    assert [(text.get_text(), text.xy) for text in axes.texts] == [
        ("c", (6, 5)),
        ("a", (-2, 1)),
    ]
    close([one.get_xydata()[0] for one in axes.lines], [[6, 5], [-2, 1]])
    assert "value" in axes.get_xlabel() and "score" in axes.get_ylabel()
    assert axes.get_title(loc="left") == "a map"


@pytest.mark.parametrize("scale", [1.0, 2e-4])
def test_predictions_stand_against_what_was_measured(scale):
    vocab = Vocab(["low", "b", "c", "top", "e"])
    x = scale * torch.tensor([-8.0, -0.1, 0.2, 9.0, 1.0])
    y = 1.1 * x
    _, axes = pyplot.subplots()
    draw_prediction(axes, vocab, x, y)
    close(points(axes)[0], np.stack([x, y], 1))
    assert is_red(points(axes)[1]) == [True, True, False, False, False]
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


def test_errors_stand_below_their_bound():
    _, axes = pyplot.subplots()
    share, error = torch.tensor([0.2, 0.1]), torch.tensor([0.3, 0.4])
    draw_error_bound(axes, share, error, torch.tensor([1.0, 2.0]), "a step")
    close(points(axes)[0], [[0.2, 0.3], [0.1, 0.4]])
    _, bound = axes.collections
    close(bound.get_offsets(), [[0.2, 1], [0.1, 2]])
    # Thousands of elements of an SVG stop a phone for seconds.
    assert all(dots.get_rasterized() for dots in axes.collections)
    assert axes.get_title(loc="left") == "a step"


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
    draw_selection(values, scores, kinds, attention, "step 3")
    left, right = panels()
    found, colours = points(left)
    close(found, np.stack([values, scores], 1))
    close(colours, [to_rgba(c)[:3] for c in (POSITIVE, NEGATIVE, NEUTRAL)])
    assert right.lines[0].get_ydata().tolist() == attention.sort().values.tolist()
    assert left.get_title(loc="left") == "step 3"
    low, high = right.get_ylim()
    assert -0.1 < low < 0 and 1 < high < 1.1  # an attention of 0 or 1 is seen
    # Frames of one figure that moves have one axis, whatever the scores.
    later = draw_selection(values, 0.1 * scores, kinds, attention, "step 4")
    assert later.axes[0].get_ylim() == left.get_ylim()


def test_a_descent_is_drawn_by_the_norm():
    paths = {"near": np.array([[3.0, 4], [6, 8]]), "wide": np.array([[0.0, 2]])}
    draw_descent(paths, {"near": np.array([0.5, 0.1]), "wide": np.array([0.3])})
    (axes,) = panels()
    close(axes.lines[0].get_xydata(), [[5, 0.5], [10, 0.1]])
    close(axes.lines[1].get_xydata(), [[2, 0.3]])
    assert [text.get_text() for text in axes.get_legend().texts] == ["near", "wide"]
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_a_flow_is_drawn_by_the_norm():
    flow = some_flow()
    gap = 0.5 * POWERS**-1.5
    draw_flow(flow, gap, 0.25)
    first, second, third = panels()
    assert all(axes.get_xscale() == "log" for axes in (first, second, third))
    outline = first.collections[0].get_paths()[0].vertices
    for norm, row in zip(POWERS, flow.attention, strict=True):
        across = outline[np.isclose(outline[:, 0], float(norm))][:, 1]
        close([across.min(), across.max()], [row.min(), row.max()])
    close(line(first, "mean"), np.stack([POWERS, flow.attention.mean(1)], 1))
    close(line(second, "$1 - \\cos$"), np.stack([POWERS, gap], 1))
    _slopes_to(second, "slope $-2$", -2, gap[-1])
    # The first point has no time, and a log of time under 1 is drawn at 1.
    expected = np.maximum(flow.log_time[1:].numpy(), 1)
    close(line(third, "flow"), np.stack([POWERS[1:], expected], 1))
    assert expected[0] == 1 < expected[-1]
    close(line(third, "$m\\,\\|p\\|$"), np.stack([POWERS, 0.25 * POWERS], 1))
    assert second.get_yscale() == third.get_yscale() == "log"
    assert all(axes.get_legend() is not None for axes in (first, second, third))


def _slopes_to(axes, label, exponent, last):
    """A dashed power law of this exponent, through the last point of a curve."""
    x, y = line(axes, label).T
    (dashed,) = [one.get_label() for one in axes.lines if one.get_linestyle() == "--"]
    assert dashed == label
    assert linregress(np.log(x), np.log(y)).slope == pytest.approx(exponent)
    assert y[-1] == pytest.approx(float(last))


def test_a_bound_is_drawn_with_its_law_and_the_norm_it_holds_from():
    flow = some_flow()
    gap, bound = 0.5 * POWERS**-1.5, 2 / POWERS
    draw_bound(flow, gap, bound, 50.0, 0.07)
    (axes,) = panels()
    close(line(axes, "flow, $1 - \\cos(p, u_\\star)$")[:, 1], gap)
    close(line(axes, "Theorem A, $C / \\|p\\|$"), np.stack([POWERS, bound], 1))
    law = line(axes, "slope $-2$ (Theorem B)")
    _slopes_to(axes, "slope $-2$ (Theorem B)", -2, gap[-1])
    assert law[0, 0] == pytest.approx(10**2.5) and law[-1, 0] == 1e4
    assert set(line(axes, "$\\mathcal{E}_{sel}$ passed")[:, 0]) == {50.0}
    assert any(set(one.get_ydata()) == {0.07} for one in axes.lines)
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_shares_of_both_classes_stand_by_the_step(monkeypatch):
    runs = pd.DataFrame(
        {
            "d": 2048,
            "step": [10.0, 10.0, 1000.0, 1000.0],
            "seed": [0, 1, 0, 1],
            "positive": [1.0, 0.8, 0.0, 0.4],
            "negative": [1.0, 0.6, 1.0, 0.8],
            "lost": [False, False, True, False],
        }
    )
    monkeypatch.setattr(selection_figures, "figure_html", lambda figure, alt: alt)
    no_step = pd.DataFrame({"positive": [0.0, 0.4], "negative": [1.0, 0.2]})
    alt = draw_window(runs, no_step, 0.25)
    (axes,) = panels()
    for label in ("positive", "negative"):
        drawn = line(axes, f"{label} class")
        np.testing.assert_allclose(drawn[:, 1], runs[label], atol=0.03)
        np.testing.assert_allclose(drawn[:, 0], runs["step"], rtol=0.03)
        assert drawn[0, 0] < 10 < drawn[1, 0]  # seeds side by side
    apart = line(axes, "negative class") - line(axes, "positive class")
    assert apart[0, 1] > 0 == apart[0, 0]  # marks of equal shares are both seen
    close(line(axes, "mean of both"), [[10, 0.85], [1000, 0.55]])
    assert set(line(axes, "no step: mean")[:, 1]) == {0.4}
    assert any(set(one.get_ydata()) == {0.25} for one in axes.lines)
    assert "d = 2,048" in alt and "lose a class at steps 1,000.0," in alt
    assert axes.get_xscale() == "log"
    low, high = axes.get_ylim()
    assert -0.2 < low < -0.02 and 1.02 < high < 1.2


def test_words_stand_by_attention_and_contrast():
    random = np.random.default_rng(0)
    share, gap = random.uniform(0.001, 0.1, 40), random.uniform(0.1, 3, 40)
    pull = random.choice([-1.0, 1.0], 40)
    names = [f"word {i}" for i in range(40)]
    draw_influence(names, share, gap, pull)
    (axes,) = panels()
    product = share * gap
    for label, colour, sign in (
        ("for the verdict", POSITIVE, 1),
        ("against it", NEGATIVE, -1),
    ):
        here = pull == sign
        close(line(axes, label), np.stack([share, gap], 1)[here])
        (drawn,) = [one for one in axes.lines if one.get_label() == label]
        assert drawn.get_color() == colour
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
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_deletions_are_drawn_by_way_and_moment():
    runs = explanations()
    draw_deletion(runs, ["best step", "converged"])
    drawn = panels()
    assert [axes.get_title(loc="left") for axes in drawn] == ["best step", "converged"]
    for axes, moment in zip(drawn, ("best step", "converged"), strict=True):
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
        assert len({one[0].get_color() for one in axes.containers}) == 5
        told = [tick.get_text() for tick in axes.get_xticklabels()]
        assert told == ["1%", "2%", "5%", "10%", "20%"]
    assert drawn[0].get_legend() is not None
    assert drawn[0].get_ylim() == drawn[1].get_ylim()


def test_replaced_attention_is_drawn_by_what_it_changes():
    runs = explanations()
    draw_replacement(runs, {"best step": 0.25, "converged": 0.5})
    for axes, moment, height in zip(
        panels(), ("best step", "converged"), (0.25, 0.5), strict=True
    ):
        assert axes.get_title(loc="left") == moment
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
    shares = pd.DataFrame(
        {
            "optimizer": ["gd", "gd", "adam", "adam", "h"],
            "lead": [10.0, 10.0, 10.0, 20.0, 1.0],
            "l2": [0.9, 0.8, 0.5, 0.1, 0.85],
            "linf": [0.4, 0.3, 0.7, 0.2, 0.35],
            "l1": [0.6, 0.5, 0.4, 0.3, 0.45],
        }
    )
    runs = {"steps": ("gd", 10.0), "Adam": ("adam", 10.0), "none": ("h", 1.0)}
    draw_shares(shares, runs, control="none")
    (axes,) = pyplot.gcf().axes
    close(line(axes, "$\\ell_2$"), [[0.9, 0], [0.8, 0], [0.5, -1]])
    close(line(axes, "$\\ell_\\infty$"), [[0.4, 0], [0.3, 0], [0.7, -1]])
    close(line(axes, "$\\ell_1$"), [[0.6, 0], [0.5, 0], [0.4, -1]])
    told = {t.get_text(): t.get_position()[1] for t in axes.get_yticklabels()}
    assert told == {"steps": 0, "Adam": -1, "none": -2}
    grey = [one for one in axes.lines if one.get_color() == NEUTRAL]
    close([one.get_xydata()[0] for one in grey], [[x, -2] for x in (0.85, 0.35, 0.45)])
    low, high = axes.get_ylim()
    assert low < -2 and high > 0 and axes.get_xlim() == (0, 1.03)


def test_the_memory_of_adam_is_drawn_by_the_lead():
    frame = pd.DataFrame(
        {
            "time": [1.0, 10.0],
            "linf": [0.9, 0.5],
            "cos root v": [0.1, 0.8],
            "cos l2": [0.3, 0.2],
        }
    )
    draw_memory({"one": frame, "two": frame / 2})
    left, right = panels()
    close(line(left, "one"), [[1, 0.9], [10, 0.5]])
    close(line(left, "two"), [[0.5, 0.45], [5, 0.25]])
    own, null, *rest = right.lines
    close(own.get_xydata(), [[1, 0.1], [10, 0.8]])
    close(null.get_xydata(), [[1, 0.3], [10, 0.2]])
    close(rest[0].get_xydata(), [[0.5, 0.05], [5, 0.4]])
    assert null.get_linestyle() == "--" and null.get_color() == NEUTRAL
    assert left.get_xscale() == right.get_xscale() == "log"
    marks = [one.get_marker() for one in left.lines]
    assert len(set(marks)) == 2 and marks == [own.get_marker(), rest[0].get_marker()]


def test_entries_and_leads_are_sorted_and_scaled():
    p = np.array([3.0, -6.0, 1.0])
    differences = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [1.0, 0.0, -1.0]])
    draw_entries({"p": p}, -p[::-1], differences)
    left, right = panels()
    close(left.lines[0].get_ydata(), [-1, 1 / 6, 0.5])
    close(right.lines[0].get_ydata(), [1, 1.5, 3])  # of the leads 3, 6 and 2
    close(left.lines[1].get_ydata(), [-0.5, -1 / 6, 1])  # the null
    assert left.lines[1].get_color() == right.lines[1].get_color() == NEUTRAL
    assert left.get_legend() is not None


@pytest.fixture
def left_open(monkeypatch):
    """A still figure stays open, and only its alt text stands in what is returned."""
    monkeypatch.setattr(stills, "figure_html", lambda figure, alt: f"({alt}) ")


def plane_of(places):
    """What a plane draws of three words at these places, and p = (0.3, -0.2)."""
    corpus = Corpus.from_tokens([[0, 2], [1, 2]], [1, 0], ["good", "$bad$", "film"])
    model = AttentionClassifier(3, 2, dtype=torch.float64)
    p, output = torch.tensor([0.3, -0.2]), torch.tensor([1.0, 0.0])
    for parameter, value in zip(model.parameters(), (places, p, output), strict=True):
        parameter.data.copy_(value)
    return model, corpus, torch.tensor([0, 1])


def test_the_plane_has_its_words_the_path_of_p_and_where_it_goes(left_open):
    places = torch.tensor([[1.0, 0.5], [-1.0, 1.0], [0.0, -1.0]])
    model, corpus, selected = plane_of(places)
    p = model.cls.detach()
    page = stills.plane_still(model, corpus, selected)
    assert page == (
        "(Words in the plane; the path of p and where it goes.) "
        "<p>To drag the words and p needs JavaScript.</p>"
    )
    left, right = panels()
    assert [axes.get_title(loc="left") for axes in (left, right)] == ["words", "$p$"]
    for axes in (left, right):
        told = axes.get_xlabel(), axes.get_ylabel()
        assert told == ("first coordinate", "second coordinate")
    _named_beside(left.texts, ["good", "$bad$", "film"], places)
    dots = torch.tensor(np.concatenate([dot.get_xydata() for dot in left.lines]))
    assert torch.equal(dots, places.double())
    colours = [dot.get_color() for dot in left.lines]
    assert colours == [POSITIVE, NEGATIVE, NEUTRAL]
    named = {one.get_label(): one.get_xydata() for one in right.lines}
    assert [text.get_text() for text in right.get_legend().texts] == [
        "path of $p$",
        "$u_\\star$",
    ]
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


def test_a_plane_where_no_direction_selects_has_none(left_open):
    # "film" lies between the others: no p puts both of them ahead of it.
    model, corpus, selected = plane_of(torch.tensor([[1.0, 0], [-1, 0], [0, 0]]))
    stills.plane_still(model, corpus, selected)
    _, right = pyplot.gcf().axes
    assert [text.get_text() for text in right.get_legend().texts] == ["path of $p$"]


@pytest.mark.parametrize(
    ("second", "told"),
    [
        (-1.6, "The logit is 0.20: read as positive."),
        (-3.2, "The logit is \N{MINUS SIGN}0.20: read as negative."),
    ],
)
def test_the_review_to_be_steered_is_drawn_and_read(left_open, second, told):
    places = torch.tensor([[math.log(3), 1.0], [0.0, -2.0]])
    page = stills.steer_still(
        ["$a$", "b"], places, [0.8, second], torch.tensor([1.0, 0.0])
    )
    assert page == (
        "(Three words and p as an arrow in the plane.) "
        f"<p>Attention: $a$ 75%, b 25%. {told} To drag p needs JavaScript.</p>"
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


def test_a_still_of_the_explorer_has_its_points_colours_and_labels(left_open):
    columns = torch.tensor([1.0, -2.0, 3.0]), torch.tensor([10.0, 1000.0, 1.0])
    colours = [POSITIVE, NEGATIVE, NEUTRAL]
    page = stills.scatter_still(["side", "count"], columns, colours, ["linear", "log"])
    assert page == (
        "(Tokens by side, across, and count.) "
        "<p>To choose the axes and to find a token needs JavaScript.</p>"
    )
    (axes,) = panels()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("side", "count")
    found, shades = points(axes)
    close(found, np.stack(columns, 1))
    close(shades, [to_rgba(colour)[:3] for colour in colours])
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "log")


def test_of_many_tokens_one_in_so_many_is_drawn(left_open):
    n = 2 * stills.MOST_POINTS + 1
    columns = torch.arange(n).double(), -torch.arange(n).double()
    colours = [POSITIVE, NEGATIVE, NEUTRAL] * (n // 3) + [NEGATIVE] * (n % 3)
    page = stills.scatter_still(["x", "y"], columns, colours, ["linear", "linear"])
    assert "<p>One token in 3 is drawn. To choose the axes" in page
    (axes,) = pyplot.gcf().axes
    found, shades = points(axes)
    close(found[:3], [[0, 0], [3, -3], [6, -6]])
    assert len(found) == len(shades) == math.ceil(n / 3)
    assert {tuple(shade) for shade in shades[:-1]} == {to_rgba(POSITIVE)[:3]}


@pytest.mark.parametrize(
    ("near", "ticks"), [(0.04, [-10, -0.1, 0, 0.1, 10]), (0.06, [-10, 0, 10])]
)
def test_a_scale_is_linear_up_to_the_median_size(left_open, near, ticks):
    columns = torch.tensor([50.0, -near, 0.0]), torch.tensor([0.0, 0.0, 0.0])
    stills.scatter_still(["x", "y"], columns, ["black"] * 3, ["symlog", "symlog"])
    (axes,) = pyplot.gcf().axes
    assert axes.get_xscale() == "symlog"
    assert axes.xaxis.get_transform().linthresh == pytest.approx(near)
    close(axes.get_xticks(), ticks)
    assert len(axes.get_xticks(minor=True)) == 0
    # What is 0 throughout has no such scale.
    assert axes.get_yscale() == "linear"
