"""Moved controls draw their figures again, with the functions that a reader wrote."""

import re
import sys

import numpy as np
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from matplotlib import pyplot, rc_context

import attnsel
from attnsel.corpus import Corpus
from attnsel.synthetic import synthetic_corpus
from attnsel.theory import relevant_tokens
from attnsel.tokens import Vocab
from attnsel_book.chapters.convergence import controls as convergence
from attnsel_book.chapters.convergence.exercises import my_cheapest
from attnsel_book.chapters.max_margin import controls as max_margin
from attnsel_book.chapters.max_margin.exercises import my_pull
from attnsel_book.chapters.memorized import controls as memorized
from attnsel_book.chapters.model import controls as model
from attnsel_book.chapters.model.exercises import my_forward
from attnsel_book.chapters.one_step import controls as one_step
from attnsel_book.chapters.one_step.exercises import my_gradient_of_E
from attnsel_book.chapters.selection import controls as selection
from attnsel_book.chapters.why_v import controls as why_v
from attnsel_book.chapters.why_v.exercises import my_step
from attnsel_book.interactive import LIVE, interactive_figure
from attnsel_book.style import use_style
from support.display import displayed


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def title(figure, axes=0):
    return figure.axes[axes].get_title(loc="left")  # as in the style of the book


def heights(figure, axes=0):
    return [bar.get_height() for bar in figure.axes[axes].patches]


VOCAB = Vocab(["good", "bad", "film"])
MAPS = {
    "random": torch.zeros(3, 2),
    "trained": torch.tensor([[np.log(3), 1.0], [0.0, -1.0], [0.0, 0.0]]),
}


@pytest.mark.parametrize(
    ("text", "name", "attention", "logit"),
    [
        ("Good film", "random", [0.5, 0.5], "0.00"),
        ("good unknown film", "trained", [0.75, 0.25], "0.75"),
        ("bad, bad", "trained", [0.5, 0.5], "-1.00"),
        ("", "trained", [], None),
    ],
)
def test_a_text_has_the_attention_and_the_logit_of_a_model(
    text, name, attention, logit
):
    figure = model.draw_attention(VOCAB, MAPS, my_forward, text, name)
    assert heights(figure) == pytest.approx(attention)
    expected = f"logit f(X) = {logit}" if logit else "no word of this text is in the "
    assert title(figure).startswith(expected)


@pytest.mark.parametrize(
    ("eta_0", "least", "most"), [(1.0, -0.3, 0.3), (30.0, 0.3, 0.9), (1e4, 0.99, 1)]
)
def test_the_step_is_seen_once_it_is_large(eta_0, least, most):
    corpus = synthetic_corpus(delta=0.5, seed=0)
    figure = one_step.draw_step(corpus, my_gradient_of_E, eta_0, d=256)
    assert least <= float(title(figure).split()[-1]) <= most


def test_the_readers_gradient_is_the_one_that_steps():
    corpus = synthetic_corpus(delta=0.5, seed=0)

    def upside_down(*given):
        return -my_gradient_of_E(*given)

    figure = one_step.draw_step(corpus, upside_down, 1e5)
    assert title(figure) == "correlation -1.00"


PLANE = Corpus.from_tokens(
    convergence.ROWS, [1, 1, 1, 0, 0, 0], Vocab(convergence.WORDS)
)
PARTS = np.array(convergence.PLACES), np.array([2.0, -3.0]), np.array([1.0, 0.0])
STARTS = {"selects": [2.0, -3.0], "loses": [-10.0, 0.0]}


@pytest.mark.parametrize(
    ("norm", "start", "least", "most"),
    [
        (3.7, "selects", -10, -0.1),
        (8.0, "selects", 0.1, 0.96),
        (40.0, "selects", 0.97, 1.001),
        (40.0, "loses", -10, -1),
    ],
)
def test_all_lead_by_the_margin_at_the_end_of_the_flow(norm, start, least, most):
    best = attnsel.max_margin(torch.tensor(PARTS[0]), PLANE, relevant_tokens(PLANE))
    shortest = (best.direction / best.margin).numpy()
    figure = max_margin.draw_length(
        PARTS, PLANE, my_pull, shortest, STARTS, norm, start
    )
    leads = heights(figure, 1)
    assert len(leads) == 6 and least <= min(leads) <= most
    assert title(figure) == f"|p| = {norm:.1f}"


@pytest.mark.parametrize(
    ("eta_0", "tokens", "all_select"),
    [(50.0, 2, True), (300.0, 2, False), (50.0, 8, False), (3000.0, 1, True)],
)
def test_a_class_is_lost_at_some_steps(eta_0, tokens, all_select):
    figure = selection.draw_selected(my_gradient_of_E, eta_0, tokens)
    shares = heights(figure)
    assert len(shares) == 2 * tokens
    assert (min(shares) > 0.9) == all_select


@pytest.mark.parametrize(
    ("p_1", "p_2", "words"),
    [
        (2.0, -3.0, r"certain from \|p\| = [\d.]+ on; 6 of 6 selected"),
        (0.0, 10.0, r"certain from \|p\| = 10\.0 on; 6 of 6 selected"),
        (-10.0, 0.0, r"never certain; [0-5] of 6 selected"),
    ],
)
def test_a_start_is_certain_or_loses_a_class(p_1, p_2, words):
    assert re.fullmatch(words, title(convergence.draw_excess(my_cheapest, p_1, p_2)))


@pytest.mark.parametrize("steps", [1, 30, 100])
@pytest.mark.parametrize("rates", [why_v.EQUAL, why_v.BY_FREQUENCY])
def test_training_moves_the_values_further_on_true_labels(steps, rates):
    corpus = synthetic_corpus(delta=0.5, seed=0)
    spread = {}
    for labels in ("true", "shuffled"):
        figure = why_v.draw_v(corpus, my_step, labels, steps, rates, rate=2.0)
        assert title(figure) == f"{steps} steps"
        spread[labels] = figure.axes[0].collections[0].get_offsets()[:, 0].std()
    assert spread["true"] > 1.5 * spread["shuffled"]


@pytest.mark.parametrize(("least", "kept"), [(1, "300"), (20, "280"), (200, "100")])
@pytest.mark.parametrize("lean", [memorized.TRAINING, memorized.TEST])
def test_rare_tokens_are_left_out(least, kept, lean):
    x = torch.linspace(-1, 1, 300, dtype=torch.float64)
    scores = {"true": torch.stack([x.abs(), x], 1), "control": torch.zeros(300, 2)}
    leans = {name: {"training": x, "test": -x} for name in scores}
    figure = memorized.draw_vs(scores, leans, np.arange(1, 301), least, lean)
    assert title(figure) == f"{301 - least} tokens"
    rises = np.diff(figure.axes[0].lines[0].get_ydata()) > 0
    assert rises.all() if lean == "training" else not rises.any()


# How a control is displayed


@pytest.fixture(scope="module", autouse=True)
def style():
    with rc_context():  # other tests have the style that they had
        use_style()
        yield


def curve(slope=1, kind="line"):
    figure, axes = pyplot.subplots()
    axes.plot([0, slope])
    axes.set_title(f"{kind} {slope}")
    if slope > 10:
        raise ValueError("too steep")
    return figure


def shown(**choices):
    """Return the data that a figure with controls shows first, and its widgets."""
    from ipywidgets import Widget
    from ipywidgets.widgets import widget

    _, (output,) = displayed(interactive_figure, curve, **choices)
    alive = widget._instances if hasattr(widget, "_instances") else Widget.widgets
    return output.data, alive[output.data[LIVE]["model_id"]].children


def test_a_slider_and_a_menu_draw_the_figure_again():
    data, (slope, kind, picture) = shown(slope=[1, 2, 11], kind=["line", "arc"])
    first = picture.value
    assert data["image/svg+xml"] == first
    slope.value = 2
    second = picture.value
    kind.value = "arc"
    assert len({first, second, picture.value}) == 3
    slope.value = 11
    assert "ValueError: too steep" in picture.value
    slope.value, kind.value = 1, "line"
    assert picture.value == first


def test_a_text_is_typed_into_a_field():
    _, (kind, picture) = shown(kind="hello")
    first = picture.value
    kind.value = "good bye"
    assert picture.value != first


def test_a_control_starts_at_one_of_its_values():
    with pytest.raises(ValueError, match="slope=1 is not one of the values 2, 3 of"):
        interactive_figure(curve, slope=[2, 3])


def test_without_ipywidgets_there_is_the_first_figure_and_what_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    InteractiveShell.instance()
    with capture_output() as captured:
        interactive_figure(curve, slope=[1, 2])
    assert "%pip install ipywidgets" in captured.stdout
    assert set(captured.outputs[0].data) == {"image/svg+xml", "text/plain"}
