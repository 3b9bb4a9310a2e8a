import json
import re

import pytest
import torch

from attnsel.book import NEGATIVE, POSITIVE, scatter_explorer
from attnsel.book.style import CLASSES

TOKENS = ["fine", "</script>", "dull", 'é"']
COLUMNS = {
    "side <x>": torch.tensor([0.123456, -1.0, 0.0, 1e-5]),
    "count": [20, 12345, 3, 1],
}


def explorer(**changes):
    settings = {
        "title": 'A "map"',
        "x": "side <x>",
        "y": "count",
        "sign": "side <x>",
        "log": ["count"],
    }
    columns = changes.pop("columns", COLUMNS)
    tokens = changes.pop("tokens", TOKENS)
    return scatter_explorer(tokens, columns, **settings | changes).data


def stored(page):
    (text,) = re.findall(r'<script type="application/json">(.*?)</script>', page)
    return json.loads(text)


def test_the_data_come_back_rounded_and_no_token_ends_them_early():
    data = stored(explorer())
    assert data["tokens"] == TOKENS
    assert data["labels"] == list(COLUMNS)
    assert data["columns"] == [[0.1235, -1, 0, 1e-5], [20, 12340, 3, 1]]
    assert data["log"] == [False, True]
    assert data["groups"] == [1, 0, 0, 1]
    assert data["colours"] == [NEGATIVE, POSITIVE]


def test_each_point_has_the_colour_of_its_greatest_class():
    columns = {"a & b": [1, 2, 3], "c": [3, 2, 1], "d": [0, 5, 0]}
    page = scatter_explorer(
        ["x", "y", "z"], columns, title="t", x="c", y="d", classes=list(columns)
    ).data
    data = stored(page)
    assert data["groups"] == [1, 2, 0]
    assert data["colours"][:3] == CLASSES[:3]
    legend = re.findall(r'solid (#\w+);padding-left:.4em">([^<]+)<', page)
    assert legend == list(zip(CLASSES, ["a &amp; b", "c", "d"], strict=False))


def test_the_page_names_its_parts_and_loads_nothing():
    page = explorer()
    assert 'aria-label="A &quot;map&quot;"' in page
    assert page.count("<option") == 2 * len(COLUMNS)
    assert '<option value="0" selected>side &lt;x&gt;</option>' in page
    assert '<option value="1" selected>count</option>' in page
    assert "http" not in page
    name = re.search(r'id="(attnsel-\w+)"', page)[1]
    assert f'getElementById("{name}")' in page


def test_equal_input_gives_an_equal_page_and_other_input_another_id():
    def name(page):
        return re.search(r'id="(attnsel-\w+)"', page)[1]

    assert explorer() == explorer()
    assert name(explorer()) != name(explorer(title="Another"))
    assert name(explorer()) != name(explorer(x="count"))


def test_thousands_of_tokens_stay_light():
    size = 13_000
    generator = torch.Generator().manual_seed(0)
    columns = {f"c{i}": torch.randn(size, generator=generator) for i in range(4)}
    tokens = [f"token{i}" for i in range(size)]
    page = scatter_explorer(tokens, columns, title="t", x="c0", y="c1", sign="c2").data
    assert len(page.encode()) < 600_000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": "nothing"}, "there is no 'nothing'"),
        ({"log": ["nothing"]}, "there is no 'nothing'"),
        ({"tokens": TOKENS[:3]}, r"shape \(4,\) for 3 tokens"),
        ({"log": ["side <x>"]}, "not positive"),
        ({"columns": COLUMNS | {"count": [1, 2, 3, float("nan")]}}, "not positive"),
        ({"columns": COLUMNS | {"z": [1, 2, 3, float("inf")]}}, "not finite"),
        ({"tokens": [], "columns": {k: [] for k in COLUMNS}}, "for 0 tokens"),
    ],
)
def test_it_says_what_is_wrong(changes, message):
    with pytest.raises(ValueError, match=message):
        explorer(**changes)
