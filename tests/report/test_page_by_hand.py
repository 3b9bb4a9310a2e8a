"""The page of a report whose complete visible text is known in advance."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from bs4 import BeautifulSoup, Tag

from attnsel import Corpus, Vocab
from attnsel_report.data_notes import Fact
from attnsel_report.diagnosis import Diagnosis
from attnsel_report.examples import Example
from attnsel_report.page import written
from attnsel_report.quality import Misread, Share
from attnsel_report.result import Report
from attnsel_report.tables import COLUMNS

NAN = math.nan
# Of eight texts, one, two and five are of these classes.
CLASSES = ["bad", "fine", "a < b"]
EVIDENCE = [
    *("token", "class", "class number", "texts", "share", "lean", "shrunken"),
    *("held-out", "held-out share", "q", "id"),
]
# All other columns contain 0, so that columns can be added.
OTHERS = {column.name: 0 for column in COLUMNS if column.name not in EVIDENCE}
# Rows of the table; the third is at the rate, and the fourth just above the rate.
TOKENS = [
    ("dull", "bad", 0, 1234, 0.76, 0.64, 0.5, -0.25, 0.375, 0.0004, 4),
    ("<i>", "a < b", 2, 7, 1.0, 1.0, 0.333, NAN, NAN, 0.0, 1),
    ("it's", "a < b", 2, 3, 0.5, 0.25, 0.0, -0.001, 0.5, 0.05, 2),
    ("plain", "fine", 1, 2, 0.5, 0.25, 0.1, 0.0, 0.5, 0.0501, 3),
]
PAIRS = [("not bad", "fine", 1, 9, 1.0, 1.0, 0.9, 0.8, 0.9, 0.01, 0)]
FORM = [("begins with “so”", "bad", 0, 5, 0.8, 0.7, 0.6, 0.5, 0.75, 0.02, 0)]
MEASURES = pd.DataFrame(
    {
        "class": ["bad", "fine"],
        "measure": ["length", "commas"],
        "unit": ["words", "in 100"],
        "mean": [12.5, 3.0],
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
        "token": ["dull", "length: 12.5 words on average, in other texts 20"],
        "class": ["bad", "bad"],
        "class number": [0, 0],
        "texts": [1234, NAN],
        "share": [0.76, NAN],
        "held-out share": [0.375, NAN],
        "q": [0.0012, 0.09],
    }
)
SIGNS = SIGNS.assign(**(OTHERS | dict(SIGNS)))
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


def findings(rows: list[Any]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=EVIDENCE).assign(**OTHERS)


def by_hand(**changes: object) -> Report:
    """Return a report of eight training and two held-out texts, with all parts."""
    vocab = Vocab(["dull", "<i>"], CLASSES)
    labels = [CLASSES[k] for k in (0, 1, 1, 2, 2, 2, 2, 2)]
    parts = {
        "name": "mine & <yours>",
        "facts": [
            Fact("Texts", "10 in all", "Few."),
            Fact("Odd", "a < b", "See.", True),
        ],
        "tokens": findings(TOKENS),
        "pairs": findings(PAIRS),
        "signs": SIGNS,
        "form": findings(FORM),
        "measures": MEASURES,
        "examples": {"dull": [Example(17, "so ", "dull", " & <b>grey</b>\x1b")]},
        "rows": pd.DataFrame(),
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


def open_page(browser: Any, folder: Path, page: str, **settings: Any) -> Any:
    """Open a page in a new tab of a browser, and return the tab."""
    file = folder / "report.html"
    file.write_text(page, encoding="utf-8")
    tab = browser.new_page(**settings)
    tab.goto(file.as_uri())
    return tab


class Reader:
    """The words and the table cells of a page, by heading."""

    def __init__(self, page: str) -> None:
        self.page = BeautifulSoup(page, "html.parser")
        for tag in self.page(["script", "style"]):
            tag.decompose()
        for tag in self.page(["p", "li", "dt", "dd", "h2", "h3", "th", "td"]):
            tag.append(" ")

    def boxes(self, heading: str) -> list[Tag]:
        """Return the parts of the page below a heading."""
        titles = [h for h in self.page(["h1", "h2", "h3"]) if plain(h) == heading]
        (title,) = titles
        if title.name == "h1":
            return title.find_next_siblings(["p", "ul"])
        box = title.find_parent(["details", "section", "div"])
        assert box is not None
        return [box]

    def words(self, heading: str) -> str:
        words = " ".join(map(plain, self.boxes(heading)))
        return words.removeprefix(heading).strip()

    def table(self, heading: str) -> list[list[str]]:
        """Return the rows of the table below a heading, except lists of examples."""
        (box,) = self.boxes(heading)
        rows = [[plain(cell) for cell in row(["th", "td"])] for row in box("tr")]
        return [row for row in rows if len(row) > 1]


def plain(tag: Tag) -> str:
    return " ".join(tag.get_text().split())


@pytest.fixture(scope="module")
def page() -> Reader:
    return Reader(by_hand().html())


TITLE = "Which words predict the label in “mine & <yours>”"


def test_the_strongest_finding_is_the_first_line(page):
    text = page.words(TITLE)
    assert text.startswith(
        "1,234 training texts contain “dull”. Of these, 76% are of class “bad”, "
        "compared with 12% of all training texts. "
        "Will this hold where the model is used?"
    )
    assert (
        "10 texts 3 classes 3 of 4 tokens significant "
        "75.0% of held-out texts classified correctly" in text
    )
    assert page.words("Warnings").startswith("Odd: a < b. See.")
    assert page.words("Data") == "Texts 10 in all. Few. Odd a < b. See."


def test_top_findings_are_in_their_order_with_examples(page):
    head = ["finding", "class", "texts", "in class", "held out", "q"]
    rows = page.table("Top findings")
    places = [rows[0].index(name) for name in head]
    assert [[row[i] for i in places] for row in rows] == [
        head,
        ["“dull”", "bad", "1,234", "76%", "38%", "0.001"],
        [SIGNS["token"][1], "bad", "–", "–", "–", "0.090"],
    ]
    text = page.words("Top findings")
    assert "1 example row 17: … so dull & <b>grey</b>⟨U+001B⟩ …" in text
    assert "empty 95% of the time" in text
    exact = Reader(by_hand(rate=0.005).html())
    assert "empty 99.5% of the time" in exact.words("Top findings")


def test_lengths_have_a_table_of_their_own_whose_finds_are_marked(page):
    looks = page.table("Length and characters")
    assert looks == [
        ["class", "what", "mean", "others", "P(higher)", "q"],
        ["bad", "length, words", "12.5", "20", "0.25 0.12 to 0.38", "0.030"],
        ["fine", "commas, in 100", "3", "4", "0.50 0.40 to 0.60", "0.900"],
    ]
    rows = re.findall(r'<tr class="find"><th scope="row">(.*?)</th>', by_hand().html())
    assert rows == ["bad"]


def test_labels_that_look_wrong_are_named_by_their_row(page):
    text = page.words("Labels that look wrong")
    assert text.startswith("1 of 10 texts looks mislabelled to a logistic regression")
    assert (
        "row 17: labelled fine, looks like bad probability of the label 0.002" in text
    )
    assert text.endswith("so <b>dull</b>")


def test_what_masking_costs_is_in_points_with_its_interval(page):
    assert page.table("Effect of removing a token") == [
        ["masked", "points lost", "held-out texts with it", "points lost on these"],
        ["dull", "12.50 ± 3.25", "1,100", "50.0 ± 20.0"],
        ["<i>", "-0.12 ± 1.00", "0", "–"],
    ]


def test_accuracies_are_written_and_drawn_to_the_same_size(page):
    heading = "How accurate is the model?"
    assert page.table(heading) == [
        ["attention", "75.0% [50.0%, 87.5%]"],
        ["none", "40.0% [10.0%, 70.0%]"],
    ]
    assert "trained for 7 steps, the number out of up to 30" in page.words(heading)
    bars = re.findall(r'<span style="width:(.*?)%">', by_hand().html())
    assert bars == ["75.0", "40.0"]


def test_a_misread_text_is_coloured_by_where_its_words_pushed(page):
    text = page.words("Wrong predictions")
    assert (
        "labelled a < b, predicted bad probability of the label 0.062 Words pushing "
        "towards bad: dull +2.00, x +0.50. Without dull the prediction would be "
        "different. "
        "… A dull <i> x …"
    ) in text
    coloured = re.findall(r'background:rgba\((.*?)\)">(.*?)</span>', by_hand().html())
    blue, orange = "0,114,178", "213,94,0"
    assert coloured == [
        (f"{blue},0.55", "dull"),
        (f"{orange},0.28", "&lt;i&gt;"),
        (f"{blue},0.14", "x"),
    ]


def test_where_nothing_was_found_it_says_so():
    none = findings([]).astype({"q": float, "class": str})
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
        "Top findings": "None.",
        "Labels that look wrong": "that was trained on other texts.",
        "Effect of removing a token": "in two texts or more, so none is masked.",
        "Wrong predictions": "No text is misclassified.",
    }.items():
        assert page.words(heading).endswith(told)
    assert page.words(TITLE).startswith(
        "Nothing is significant among the distinct texts: no word"
    )
    assert "0 of 0 tokens significant" in page.words(TITLE)


def test_a_report_without_a_model_ends_with_what_was_tested():
    page = Reader(by_hand(model=None, diagnosis=None, misread=[]).html())
    assert "3 of 4 tokens significant Warnings" not in page.words(TITLE)
    assert page.words(TITLE).endswith("10 texts 3 classes 3 of 4 tokens significant")
    assert plain(page.page.select("summary h3")[-1]) == "Data"


def test_all_results_are_in_one_table_that_is_sorted_by_a_click():
    pairs = findings(PAIRS).assign(lean=2 / 3)
    _, _, part = by_hand(pairs=pairs).html().partition('<div class="all">')
    heads = re.findall('<th scope="col"><button type="button">(.*?)<', part)
    kinds = {
        **{"kind": "name", "what": "name", "class": "name", "texts": "count"},
        **{"in class": "share", "held out": "share", "lean": "lean"},
        **{"expected": "lean", "held-out lean": "lean", "q": "q"},
    }
    (data,) = re.findall('<script type="application/json">(.*?)</script>', part)
    table = json.loads(data)
    of_heads = dict(zip(heads, table["kinds"], strict=True))
    assert of_heads | kinds == of_heads
    places = [heads.index(head) for head in kinds]
    assert places == sorted(places)
    assert [[row[i] for i in places] for row in table["rows"]] == [
        ["token", "<i>", "a < b", 7, 1.0, None, 1.0, 0.333, None, 0.0],
        ["token", "dull", "bad", 1234, 0.76, 0.375, 0.64, 0.5, -0.25, 0.0004],
        ["pair", "not bad", "fine", 9, 1.0, 0.9, 0.667, 0.9, 0.8, 0.01],
        ["feature", "begins with “so”", "bad", 5, 0.8, 0.75, 0.7, 0.6, 0.5, 0.02],
        ["token", "it's", "a < b", 3, 0.5, 0.5, 0.25, 0.0, -0.001, 0.05],
        ["token", "plain", "fine", 2, 0.5, 0.5, 0.25, 0.1, 0.0, 0.0501],
    ]


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (-0.004, "lean", "0.00"),
        (0.006, "lean", "+0.01"),
        (-0.25, "lean", "-0.25"),
        (1.0, "q", "1.000"),
        (0.001, "q", "0.001"),
        (0.00099, "q", "1e-03"),
        (2e-99, "q", "2e-99"),
        (0.0, "q", "< 1e-99"),
    ],
)
def test_a_lean_has_its_sign_and_a_probability_is_short_and_never_zero(
    value, kind, text
):
    assert written(value, kind) == text


FIRST_LINES = {
    "contain “Closed by …”. Of these, all are of": {
        "token": "“Closed by …”",
        "share": 1.0,
    },
    "1,234 training texts begin with": {"kind": "form", "token": "begins with “a”"},
    "1,234 training texts end with “a”": {"kind": "form", "token": "ends with “a”"},
    "training texts contain a number. Of these, 76%": {
        "kind": "form",
        "token": "a number",
    },
    "Texts of class “bad” differ in dull.": {"kind": "measures"},
    "contain “⟨U+200B ZERO WIDTH SPACE⟩”. Of": {"token": "\u200b"},
    "contain “x ⟨U+200B ZERO WIDTH SPACE⟩”. Of": {"token": "x \u200b"},
}


@pytest.mark.parametrize("line", FIRST_LINES)
def test_the_first_line_is_a_sentence_for_each_kind_of_finding(line):
    signs = SIGNS[:1].assign(**FIRST_LINES[line])
    assert line in Reader(by_hand(signs=signs).html()).words(TITLE)


def test_groups_are_named():
    page = Reader(by_hand(grouped="film").html())
    assert "random among groups (film)" in page.words("Top findings")
    assert page.words(TITLE).startswith("1,234 groups (film) contain “dull”")
    assert "groups (" not in by_hand().html()


@pytest.mark.parametrize("left", [0, 2])
def test_what_has_no_room_is_counted(left):
    report = by_hand(
        signs=pd.concat([SIGNS[:1]] * (20 + left)),
        measures=pd.concat([MEASURES[:1]] * (60 + left)),
        suspects=pd.concat([SUSPECTS] * (5 + left)),
    )
    html = report.html()
    page = Reader(html)
    told = re.findall('<p class="more">(\\d+) more in report.(\\w+)', html)
    assert told == ([("2", "signs"), ("2", "measures")] if left else [])
    rows = [row for row in page.table("Top findings") if row[0] == "“dull”"]
    assert len(rows) == 20
    assert len(page.table("Length and characters")) == 1 + 60
    wrong = page.words("Labels that look wrong")
    assert wrong.count("row 17") == 5
    assert wrong.startswith(f"{5 + left} of 10 texts look mislabelled")
