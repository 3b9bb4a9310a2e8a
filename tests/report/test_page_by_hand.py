"""The page of a report, read as a person reads it: all of it is known beforehand."""

from __future__ import annotations

import json
import math
import re
from html.parser import HTMLParser
from typing import Any

import pandas as pd
import pytest
import torch

from attnsel import Corpus, Vocab
from attnsel_report.data_notes import Fact
from attnsel_report.diagnosis import Diagnosis
from attnsel_report.examples import Example
from attnsel_report.quality import Misread, Share
from attnsel_report.report import Report

NAN = math.nan
# One of eight texts, two and five are of these classes.
CLASSES = ["bad", "fine", "a < b"]
EVIDENCE = [
    *("token", "class", "class number", "texts", "share", "lean", "shrunken"),
    *("held-out", "held-out low", "held-out high", "q", "id"),
]
# What each says of itself; the third is at the rate, the fourth just beyond it.
TOKENS = [
    ("dull", "bad", 0, 1234, 0.76, 0.64, 0.5, -0.25, -0.5, 0.13, 0.0004, 4),
    ("<i>", "a < b", 2, 7, 1.0, 1.0, 0.333, NAN, NAN, NAN, 0.0, 1),
    ("it's", "a < b", 2, 3, 0.5, 0.25, 0.0, -0.001, -1.0, 1.0, 0.05, 2),
    ("plain", "fine", 1, 2, 0.5, 0.25, 0.1, 0.0, -0.2, 0.2, 0.0501, 3),
]
PAIRS = [("not bad", "fine", 1, 9, 1.0, 1.0, 0.9, 0.8, 0.7, 0.9, 0.01, 0)]
FORM = [("begins: so", "bad", 0, 5, 0.8, 0.7, 0.6, 0.5, 0.4, 0.6, 0.02, 0)]
MEASURES = pd.DataFrame(
    {
        "class": ["bad", "fine"],
        "measure": ["length", "commas"],
        "unit": ["words", "in 100"],
        "median": [12.5, 3.0],
        "elsewhere": [20.0, 4.0],
        "above": [0.25, 0.5],
        "low": [0.125, 0.4],
        "high": [0.375, 0.6],
        "q": [0.03, 0.9],
    }
)
SIGNS = pd.DataFrame(
    {
        "kind": ["tokens", "measures"],
        "token": ["dull", "length: 12.5 words, the others 20"],
        "class": ["bad", "bad"],
        "texts": [1234, NAN],
        "share": [0.76, NAN],
        "held-out": [-0.25, NAN],
        "q": [0.0012, 0.09],
    }
)
MASKED = pd.DataFrame(
    {
        "token": ["dull", "<i>"],
        "points lost": [12.5, -0.125],
        "plus or minus": [3.25, 1.0],
        "held-out texts with it": [1100, 0],
        "points lost on these": [50.0, NAN],
        "these, plus or minus": [20.0, NAN],
    }
)
WORDS = [("A", -1), (" ", -1), ("dull", 0), (" ", -1), ("<i>", 1), (" ", -1), ("x", 2)]
MISREAD = Misread(
    row=0,
    label="a < b",
    read="bad",
    probability=0.0625,
    words=WORDS,
    pushes=torch.tensor([0, 0, 2.0, 0, -1.0, 0, 0.5], dtype=torch.float64),
    strongest=[("dull", 2.0), ("x", 0.5)],
    enough=["dull"],
)
SUSPECTS = pd.DataFrame(
    {
        "row": [17],
        "label": ["fine"],
        "read": ["bad"],
        "probability": [0.002],
        "text": ["so <b>dull</b>"],
    }
)


def by_hand(**changes: object) -> Report:
    """A report of eight and of two texts, with all of its parts."""
    vocab = Vocab(["dull", "<i>"], CLASSES)
    labels = [CLASSES[k] for k in (0, 1, 1, 2, 2, 2, 2, 2)]
    parts = {
        "name": "mine & <yours>",
        "facts": [
            Fact("Texts", "10 in all", "Few."),
            Fact("Odd", "a < b", "See.", True),
        ],
        "tokens": pd.DataFrame(TOKENS, columns=EVIDENCE),
        "pairs": pd.DataFrame(PAIRS, columns=EVIDENCE),
        "signs": SIGNS,
        "form": pd.DataFrame(FORM, columns=EVIDENCE),
        "measures": MEASURES,
        "examples": {"dull": [Example("so ", "dull", " & <b>grey</b>")]},
        "train": Corpus.from_tokens([[0]] * 8, labels, vocab),
        "test": Corpus.from_tokens([[0], [1]], ["bad", "fine"], vocab),
        "rate": 0.05,
        "grouped": None,
        "model": object(),
        "steps": 7,
        "suspects": SUSPECTS,
        "masked": MASKED,
        "accuracy": {
            "attention": Share(0.75, 0.5, 0.875),
            "none": Share(0.4, 0.1, 0.7),
        },
        "misread": [MISREAD],
        "diagnosis": Diagnosis(0.11, 0.22, 0.33, 0.44, 0.55, 0.66),
        "figure": "<svg></svg>",
    }
    return Report(**(parts | changes))


class Reader(HTMLParser):
    """Takes a page apart: by heading its words, and the cells of its tables."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text: dict[str, str] = {}
        self.rows: dict[str, list[list[str]]] = {}
        self.heading = self.hidden = ""
        self.cell = self.title = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("style", "script", "head"):
            self.hidden = tag
        elif tag in ("h1", "h2"):
            self.title, self.heading = True, ""
        elif tag == "tr":
            self.rows.setdefault(self.heading, []).append([])
        elif tag in ("th", "td"):
            self.rows[self.heading][-1].append("")
            self.cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag == self.hidden:
            self.hidden = ""
        elif tag in ("h1", "h2"):
            self.title = False
        elif tag in ("th", "td"):
            self.cell = False
        if tag in ("p", "li", "dt", "dd", "h3", "th", "td", "summary", "h2"):
            self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        if self.hidden:
            return
        if self.title:
            self.heading += data
            return
        self.text[self.heading] = self.text.get(self.heading, "") + data
        if self.cell:
            self.rows[self.heading][-1][-1] += data

    def words(self, heading: str) -> str:
        return " ".join(self.text[heading].split())

    def table(self, heading: str) -> list[list[str]]:
        """The rows below a heading that are no list of examples."""
        rows = [[" ".join(c.split()) for c in row] for row in self.rows[heading]]
        return [row for row in rows if len(row) > 1]


@pytest.fixture(scope="module")
def page() -> Reader:
    return Reader(by_hand().html())


def test_the_top_counts_texts_classes_and_finds(page):
    title = "What the label of “mine & <yours>” hangs on"
    assert page.words(title) == (
        "10 texts 3 classes 3 of 4 tokens beyond luck 1 pair beyond luck "
        "75.0% of the held-out texts classified correctly"
    )
    assert page.words("To be looked at first") == "Odd: a < b. See."
    assert page.words("The data") == "Texts 10 in all. Few. Odd a < b. See."


def test_what_to_look_at_is_in_the_order_of_the_signs(page):
    assert page.table("What to look at") == [
        ["sign", "goes with", "texts", "of class", "held out", "q"],
        ["dull", "bad", "1,234", "76%", "-0.25", "0.001"],
        ["length: 12.5 words, the others 20", "bad", "–", "–", "–", "0.090"],
    ]


def test_each_token_stands_below_its_class_with_its_numbers(page):
    heading = "Tokens beyond luck"
    head = ["token", "texts", "of class", "lean", "shrunken", "held out", "q"]
    assert page.table(heading) == [
        head,
        ["dull", "1,234", "76%", "+0.64", "+0.50", "-0.25 -0.50 to +0.13", "4e-04"],
        head,
        ["<i>", "7", "100%", "+1.00", "+0.33", "–", "< 1e-99"],
        ["it's", "3", "50%", "+0.25", "0.00", "0.00 -1.00 to +1.00", "0.050"],
    ]
    text = page.words(heading)
    assert "“bad” 12.5% of the texts" in text
    assert "“a < b” 62.5% of the texts" in text
    assert "1 example … so dull & <b>grey</b> …" in text
    assert "empty in 95% of all cases" in text
    exact = Reader(by_hand(rate=0.005).html())
    assert "empty in 99.5% of all cases" in exact.words(heading)
    assert "The classes differ in size" in text  # five texts and one
    assert " plain " not in text


def test_the_class_with_most_evidence_comes_first_whatever_its_number():
    tokens = pd.DataFrame([TOKENS[i] for i in (1, 0, 2)], columns=EVIDENCE)
    _, _, rest = by_hand(tokens=tokens).html().partition("<h2>Tokens beyond luck")
    part, _, _ = rest.partition("<h2>")
    assert re.findall("<h3>“(.*?)”", part) == ["a &lt; b", "bad"]
    assert re.findall("<code>(.*?)</code>", part) == ["&lt;i&gt;", "it&#39;s", "dull"]


def test_pairs_and_forms_have_tables_of_their_own(page):
    (head, row) = page.table("Pairs of neighbours beyond luck")
    assert (head[0], row) == (
        "pair",
        ["not bad", "9", "100%", "+1.00", "+0.90", "+0.80 +0.70 to +0.90", "0.010"],
    )
    looks = page.table("How texts look, begin and end")
    assert looks[0] == [
        *("class", "what", "half of its texts have up to", "of the others"),
        *("above", "q"),
    ]
    assert looks[1:3] == [
        ["bad", "length, words", "12.5", "20", "0.25 0.12 to 0.38", "0.030"],
        ["fine", "commas, in 100", "3", "4", "0.50 0.40 to 0.60", "0.900"],
    ]
    assert looks[4] == [
        *("begins: so", "5", "80%", "+0.70", "+0.60", "+0.50 +0.40 to +0.60"),
        "0.020",
    ]


def test_only_finds_among_measures_are_marked():
    rows = re.findall(r'<tr class="find"><th scope="row">(.*?)</th>', by_hand().html())
    assert rows == ["bad"]


def test_labels_that_look_wrong_are_named_by_their_row(page):
    text = page.words("Labels that look wrong")
    assert "Of all 10 texts 1 looks mislabelled to a logistic regression" in text
    assert (
        "row 17: labelled fine, looks like bad probability of the label 0.002" in text
    )
    assert text.endswith("so <b>dull</b>")


def test_what_masking_costs_is_in_points_with_its_interval(page):
    assert page.table("Without a token") == [
        ["masked", "points lost", "held-out texts with it", "points lost on these"],
        ["dull", "12.50 ± 3.25", "1,100", "50.0 ± 20.0"],
        ["<i>", "-0.12 ± 1.00", "0", "–"],
    ]


def test_accuracies_are_written_and_drawn_to_the_same_size(page):
    heading = "Is the model any good?"
    assert page.table(heading) == [
        ["attention", "75.0% [50.0%, 87.5%]"],
        ["none", "40.0% [10.0%, 70.0%]"],
    ]
    assert "trained for 7 steps, the number up to 30" in page.words(heading)
    bars = re.findall(r'<span style="width:(.*?)%">', by_hand().html())
    assert bars == ["75.0", "40.0"]


def test_a_misread_text_is_coloured_by_where_its_words_pushed(page):
    text = page.words("Held-out texts that it gets most wrong")
    assert (
        "labelled a < b, read as bad probability of the label 0.062 Pushed to bad: "
        "dull +2.00, x +0.50. Without dull it would be read otherwise. "
        "… A dull <i> x …"
    ) in text
    coloured = re.findall(r'background:rgba\((.*?)\)">(.*?)</span>', by_hand().html())
    blue, orange = "0,114,178", "213,94,0"
    assert coloured == [
        (f"{blue},0.55", "dull"),
        (f"{orange},0.28", "&lt;i&gt;"),
        (f"{blue},0.14", "x"),
    ]


def test_what_the_model_works_by_is_named_in_its_place(page):
    text = page.words("By what the model works")
    assert "values with the lean of tokens +0.11 correlation of values with z" in text
    assert "z, the lean in deviations of luck +0.33 correlation of attention" in text
    assert (
        "with the size of the lean +0.22 correlation of attention scores with the size "
        "of z +0.44" in text
    )
    assert "beyond luck 55.0% share of the texts classified correctly 66.0%" in text


def test_where_nothing_was_found_it_says_so():
    none = pd.DataFrame(columns=EVIDENCE).astype({"q": float, "class": str})
    empty = by_hand(
        tokens=none,
        pairs=none,
        form=none,
        signs=SIGNS[:0],
        suspects=SUSPECTS[:0],
        masked=MASKED[:0],
        misread=[],
    )
    page = Reader(empty.html())
    for heading, told in {
        "What to look at": "Nothing is beyond luck.",
        "Tokens beyond luck": "No token is beyond luck.",
        "Pairs of neighbours beyond luck": "No pair of neighbours is.",
        "How texts look, begin and end": "None does.",
        "Labels that look wrong": "None does.",
        "Without a token": "No token is in two texts or more, so none is masked.",
        "Held-out texts that it gets most wrong": "None is misclassified.",
    }.items():
        assert page.words(heading).endswith(told)
    assert "0 of 0 tokens beyond luck" in page.words(
        "What the label of “mine & <yours>” hangs on"
    )


def test_training_that_takes_too_long_is_told():
    page = Reader(by_hand(masked=MASKED[:0]).html())
    told = page.words("Without a token")
    assert told.endswith("Training again takes too long on so many classes.")


def test_classes_of_like_sizes_are_not_said_to_differ():
    vocab = Vocab(["dull"], CLASSES[:2])
    labels = ["bad", "fine", "fine"]  # twice as many are alike
    even = by_hand(
        train=Corpus.from_tokens([[0]] * 3, labels, vocab),
        tokens=pd.DataFrame(TOKENS[:1], columns=EVIDENCE),
    )
    assert "The classes differ in size" not in even.html()


def test_where_all_is_shown_nothing_is_said_of_more_and_texts_are_no_groups(page):
    for heading in ("What to look at", "Tokens beyond luck"):
        assert not re.search(r"\d+ (more|others)|[Aa]nd \d+", page.words(heading))
    text = by_hand().html()
    assert "distinct texts" in text and "groups (" not in text
    assert "groups (film)" in by_hand(grouped="film").html()


def test_a_report_without_a_model_ends_with_what_was_looked_at():
    page = Reader(by_hand(model=None, diagnosis=None, misread=[]).html())
    title = "What the label of “mine & <yours>” hangs on"
    assert page.words(title) == "10 texts 3 classes"
    assert list(page.text)[-1] == "All of them"


def test_what_cannot_be_told_of_the_texts_is_said():
    none = Diagnosis(0.11, 0.22, NAN, 0.44, 0.55, 0.66)
    text = Reader(by_hand(diagnosis=none).html()).words("By what the model works")
    assert text.count("cannot be told of these texts") == 1
    assert "z, the lean in deviations of luck cannot be told of these texts" in text


def test_groups_are_counted_and_named():
    page = Reader(by_hand(grouped="film").html())
    for heading in ("What to look at", "Tokens beyond luck"):
        text = page.words(heading)
        assert "dealt by luck among groups (film)" in text
        assert ", each group counted once;" in text
    assert "each group" not in by_hand().html()


@pytest.mark.parametrize(("n", "told"), [(9, True), (10, False)])
def test_fewer_than_ten_masked_tokens_have_a_reason(n, told):
    page = Reader(by_hand(masked=pd.concat([MASKED[:1]] * n)).html())
    assert ("Fewer than ten tokens" in page.words("Without a token")) == told


@pytest.mark.parametrize(
    ("q", "written"),
    [
        (1.0, "1.000"),
        (0.001, "0.001"),
        (0.00099, "1e-03"),
        (2e-99, "2e-99"),
        (1e-99, "< 1e-99"),
        (0.0, "< 1e-99"),
    ],
)
def test_a_probability_is_short_and_never_zero(q, written):
    page = Reader(by_hand(signs=SIGNS[:1].assign(q=q)).html())
    ((*_, found),) = page.table("What to look at")[1:]
    assert found == written


def of_many_classes(left: int) -> Report:
    """A report with so many rows or classes more, in each part, than have room."""
    classes = [f"c{i:02}" for i in range(12 + left)]
    vocab = Vocab(["dull"], classes)
    find = dict(zip(EVIDENCE, PAIRS[0], strict=True))
    finds = pd.DataFrame(
        [
            find | {"token": f"t{k} {name}", "class": name, "class number": i}
            for i, name in enumerate(classes)
            for k in range(12 + left if i == 1 else 1)
        ]
    )
    return by_hand(
        train=Corpus.from_tokens([[0]] * len(classes), classes, vocab),
        test=Corpus.from_tokens([[0]], ["c00"], vocab),
        tokens=finds,
        pairs=finds,
        form=finds,
        signs=pd.concat([SIGNS[:1]] * (20 + left)),
        measures=pd.concat([MEASURES[:1]] * (60 + left)),
        suspects=pd.concat([SUSPECTS] * (12 + left)),
    )


@pytest.mark.parametrize(
    ("left", "row", "sign", "of_classes", "measure"),
    [
        (0, [], [], [], []),
        (
            1,
            ["1 more is beyond luck."],
            ["1 more is in the tables below, by kind."],
            ["1 more class has finds."],
            ["1 more row is in report.measures."],
        ),
        (
            2,
            ["2 more are beyond luck."],
            ["2 more are in the tables below, by kind."],
            ["2 more classes have finds."],
            ["2 more rows are in report.measures."],
        ),
    ],
)
def test_what_has_no_room_is_counted(left, row, sign, of_classes, measure):
    html = of_many_classes(left).html()
    page, parts = Reader(html), html.split("<h2>")
    told = {
        part.partition("<")[0]: re.findall('<p class="more">(.*?)</p>', part)
        for part in parts
    }
    looks = "How texts look, begin and end"
    for heading in ("Tokens beyond luck", "Pairs of neighbours beyond luck", looks):
        first = measure if heading == looks else []
        assert told[heading] == first + row + of_classes
        firsts = [cells[0] for cells in page.table(heading) if len(cells) == 7]
        assert [
            name for name in firsts if name.startswith("t") and name != "token"
        ] == [f"t{k} c{i:02}" for i in range(12) for k in range(12 if i == 1 else 1)]
    assert told["What to look at"] == sign
    assert len(page.table("What to look at")) == 1 + 20
    assert len([c for c in page.table(looks) if c[0] == "bad"]) == 60
    wrong = page.words("Labels that look wrong")
    assert wrong.count("row 17") == 12
    assert f"texts {12 + left} look mislabelled" in wrong


def tables_of_all(page: str) -> dict[str, tuple[list[str], Any]]:
    """Return the heads and the data of each table of all, by what it is called."""
    found = {}
    for part in page.split('<details class="all">')[1:]:
        (name,) = re.findall("<summary>All (.*?)</summary>", part)
        heads = re.findall('<th scope="col"><button type="button">(.*?)<', part)
        (data,) = re.findall('<script type="application/json">(.*?)</script>', part)
        found[name] = heads, json.loads(data)
    return found


def test_all_that_was_looked_at_is_in_the_tables_that_are_sorted_by_a_click():
    pairs = pd.DataFrame(PAIRS, columns=EVIDENCE)
    tables = tables_of_all(by_hand(pairs=pairs.assign(lean=2 / 3)).html())
    told = ["goes with", "texts", "of class", "lean", "shrunken", "held out", "q"]
    assert {name: heads for name, (heads, _) in tables.items()} == {
        "tokens": ["token", *told],
        "pairs of neighbours": ["pair", *told],
        "beginnings, ends and kinds": ["what", *told],
    }
    kinds = ["name", "name", "count", "share", "lean", "lean", "lean", "q"]
    assert all(data["kinds"] == kinds for _, data in tables.values())
    assert [data["rows"] for _, data in tables.values()] == [
        [
            ["dull", "bad", 1234, 0.76, 0.64, 0.5, -0.25, 0.0004],
            ["<i>", "a < b", 7, 1.0, 1.0, 0.333, None, 0.0],
            ["it's", "a < b", 3, 0.5, 0.25, 0.0, -0.001, 0.05],
            ["plain", "fine", 2, 0.5, 0.25, 0.1, 0.0, 0.0501],
        ],
        [["not bad", "fine", 9, 1.0, 0.667, 0.9, 0.8, 0.01]],
        [["begins: so", "bad", 5, 0.8, 0.7, 0.6, 0.5, 0.02]],
    ]


@pytest.mark.parametrize(("n", "told"), [(0, "0 pairs"), (2, "2 pairs"), (1, "1 pair")])
def test_one_pair_is_a_pair_and_others_are_pairs(n, told):
    page = by_hand(pairs=pd.DataFrame(PAIRS * n, columns=EVIDENCE).astype({"q": float}))
    text = Reader(page.html()).words("What the label of “mine & <yours>” hangs on")
    assert f" {told} beyond luck" in text
