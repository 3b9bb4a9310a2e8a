import math

import pytest
import torch
from matplotlib import rc_context

import attnsel
from attnsel_book import NEGATIVE, POSITIVE, scatter_explorer
from attnsel_book.style import use_style
from attnsel_book.widgets import map as scatter
from support.node import call, stored

TOKENS = ["fine", "</script>", "dull", 'é"']
COLUMNS = {
    "side <x>": torch.tensor([0.123456, -1.0, 0.0, 1e-5]),
    "count": [20, 12345, 3, 1],
}


def explorer(tokens=TOKENS, columns=COLUMNS, log=("count",), **settings):
    return scatter_explorer(tokens, columns, title='A "map"', log=log, **settings).data


def test_the_data_come_back_and_no_token_ends_them_early():
    data = stored(explorer())
    assert data["title"] == 'A "map"'
    assert data["tokens"] == TOKENS
    assert [label for label, _ in data["columns"]] == list(COLUMNS)
    for label, (column,) in data["columns"]:
        again = call(["tips.js"], "unpack(data)", column)
        assert again == pytest.approx(list(map(float, COLUMNS[label])), rel=5e-4)
    assert data["log"] == [False, True]
    assert data["groups"] == [1, 0, 0, 1]
    assert data["colours"] == [NEGATIVE, POSITIVE]


def test_thousands_of_tokens_stay_light():
    size = 13_000
    generator = torch.Generator().manual_seed(0)
    columns = {f"c{i}": torch.randn(size, generator=generator) for i in range(4)}
    tokens = [f"token{i}" for i in range(size)]
    with rc_context():
        use_style()  # as in a chapter: without it the first state is lighter
        page = scatter_explorer(tokens, columns, title="t").data
    assert len(page.encode()) < 420_000
    assert "One token in 9 is drawn." in page
    few = {name: numbers[:1500] for name, numbers in columns.items()}
    assert "One token in" not in scatter_explorer(tokens[:1500], few, title="t").data


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"log": ["nothing"]}, "log: expected one of .* got 'nothing'"),
        ({"tokens": TOKENS[:3]}, r"side <x>: expected shape \(1, 3\), got \(1, 4\)"),
        ({"log": ["side <x>"]}, "side <x>: .* above 0"),
        ({"columns": COLUMNS | {"count": [0, 2, 3, 4]}}, "count: .* above 0"),
        ({"columns": COLUMNS | {"count": [1, 2, 3, float("nan")]}}, "count: .* finite"),
        ({"columns": COLUMNS | {"z": [1, 2, 3, float("inf")]}}, "z: .* finite"),
        (
            {"columns": COLUMNS | {"count": [1e-9, 2, 3, 4]}},
            "count: expected a ratio of at most 1e[+]09, got numbers from",
        ),
        ({"slider": ("step", 1, 10)}, r"expected shape \(2, 4\), got \(4,\)"),
        ({"tokens": [], "columns": {k: [] for k in COLUMNS}}, "tokens: .* got 0"),
    ],
)
def test_it_says_what_is_wrong(changes, message):
    with pytest.raises(ValueError, match=message):
        explorer(**changes)


def test_at_first_the_step_is_in_the_middle_of_a_logarithmic_slider(monkeypatch):
    found = []

    def kept(labels, columns, colours, scales):
        found.extend([[column.tolist() for column in columns], colours, scales])
        return "a still"

    monkeypatch.setattr(scatter, "scatter_still", kept)
    columns = {"a": ([0, 0], [1, -1]), "b": ([5, 6], [0, 0.5])}
    slider = ("step", 10, 1000)  # so 100
    page = scatter_explorer(["x", "y"], columns, title="t", slider=slider)
    assert "a still" in page.data
    assert found == [
        [[100, -100], [5, 56]],
        [POSITIVE, NEGATIVE],
        ["symlog", "symlog"],
    ]


@pytest.fixture(scope="module")
def step():
    """Return a figure with a slider of the step size, the model and the corpus."""
    corpus = attnsel.separable_corpus(60, 40, 6, seed=0)
    model = attnsel.AttentionClassifier(40, 64, seed=0, dtype=torch.float64)
    before = model.scores()
    change = attnsel.one_step(model, corpus, lr=1.0).scores() - before
    predicted = attnsel.theory.one_step_prediction(corpus, model.output, lr=1.0)
    columns = {
        "predicted": (torch.zeros(40), predicted),
        "value": (before[:, 1], change[:, 1]),
        "score": (before[:, 0], change[:, 0]),
    }
    page = scatter_explorer(
        corpus.vocab,
        columns,
        title="One step",
        slider=("size of the step", 10, 1000),
    )
    return page.data, model, corpus


@pytest.mark.parametrize("lr", [10, 33.0, 1000])
def test_the_slider_shows_the_step_that_the_package_takes(step, lr):
    page, model, corpus = step
    data = stored(page)
    code = """((d) => {
      const [x, y, a] = d[0].map(([, line]) => along(line.map(unpack), d[1]));
      return {x: [...x], y: [...y], a: [...a], fit: correlation(x, y)};
    })(data)"""
    found = call(["tips.js", "canvas.js", "map.js"], code, [data["columns"], lr])
    stepped = attnsel.one_step(model, corpus, lr=lr).scores()
    predicted = attnsel.theory.one_step_prediction(corpus, model.output, lr=lr)
    for name, exact in (("x", predicted), ("y", stepped[:, 1]), ("a", stepped[:, 0])):
        shown = torch.tensor(found[name], dtype=torch.float64)
        torch.testing.assert_close(
            shown, exact, rtol=0.01, atol=1e-4 * float(exact.abs().max())
        )
    fit = torch.corrcoef(torch.stack([predicted, stepped[:, 1]]))[0, 1]
    assert found["fit"] == pytest.approx(float(fit), abs=1e-3)
    assert data["slider"] == ["size of the step", 10, 1000]
    assert data["groups"] == (predicted > 0).int().tolist()


def even_axis(values):
    """Return the ticks of an axis, and the positions of the values on the axis."""
    code = """(() => { const {part, ticks} = evenAxis(data);
      return {ticks, parts: data.map(part)}; })()"""
    return call(["tips.js", "map.js"], code, values)


@pytest.mark.parametrize("unit", [1, 1000])
def test_the_axis_of_a_slider_is_odd_and_spans_what_is_on_it(unit):
    numbers = [-50 * unit, -0.02 * unit, 0, 0.01 * unit, 40 * unit]  # median size 0.02
    axis = even_axis(numbers)
    low, left, middle, right, high = axis["parts"]
    assert (low, middle) == pytest.approx((0.02, 0.5))
    assert 0.96 < high < 0.98
    assert 0.5 - left == pytest.approx(2 * (right - 0.5), rel=0.1)  # linear near 0
    places = {float(text.replace(",", "")): at for at, text in axis["ticks"]}
    assert sorted(places) == [-10 * unit, -0.1 * unit, 0, 0.1 * unit, 10 * unit]
    assert places[0] == 0.5
    assert places[10 * unit] - 0.5 == pytest.approx(0.5 - places[-10 * unit])
    # Far from 0, a factor of 100 has the same length everywhere.
    most = 0.48 * math.log(100) / math.asinh(2500)
    assert places[10 * unit] - places[0.1 * unit] == pytest.approx(most, abs=0.01)


def test_the_axis_of_a_slider_has_no_tick_within_its_linear_part():
    axis = even_axis([-4, 1, 0.9, 0])
    assert sorted(float(text) for _, text in axis["ticks"]) == [-1, 0, 1]
    assert even_axis([0, 0])["parts"] == [0.5, 0.5]


def test_a_correlation_is_about_the_means():
    x, y = [1.0, 2.0, 4.0, 9.0], [10.0, 9.0, 14.0, 11.0]
    found = call(["tips.js", "canvas.js", "map.js"], "correlation(...data)", [x, y])
    exact = torch.corrcoef(torch.tensor([x, y], dtype=torch.float64))[0, 1]
    assert found == pytest.approx(float(exact))
