"""All tables in the report of a small file, compared with counts by hand."""

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import torch

import attnsel
from attnsel import Corpus
from attnsel_report.figures import BOTTOM, LEFT, RIGHT, TOP, attention_figure

CLASSES = ["neg", "pos"]


def table_of(n: int, seed: int) -> pd.DataFrame:
    """Return texts with a pair that predicts the label, a first and a last word."""
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        hot, sun = random.integers(2, size=2)
        label = int(hot == sun) if random.random() < 0.9 else int(random.integers(2))
        words = [f"{a}{b}" for a, b in random.choice(list("abcdefghij"), (9, 2))]
        words[4:4] = [("cold", "hot")[hot], ("rain", "sun")[sun]]
        if label and random.random() < 0.3:
            words[:0] = ["zzz", "hot"]  # so that "hot" is not always in the pair
        if not label and random.random() < 0.3:
            words.append("aa")
        rows.append((" ".join(words), CLASSES[label]))
    return pd.DataFrame(rows, columns=["text", "label"])


TRAIN, TEST = table_of(400, 0), table_of(100, 1)
COPY, WRONG = 400, 7


@pytest.fixture(scope="module")
def told():
    train = pd.concat([TRAIN, TRAIN[:1]], ignore_index=True)
    return attnsel.report({"train": train, "test": TEST})


def words_of(row):
    return TRAIN.text[row].split()


def rows_with(has):
    return [row for row in TRAIN.index if has(words_of(row))]


def share(rows, name, table=TRAIN):
    return float((table.label[rows] == name).mean())


KINDS = {
    "tokens": lambda name: lambda words: name in words,
    "pairs": lambda name: lambda words: tuple(name.split()) in pairwise(words),
    "form": lambda name: {
        "begins": lambda words: (
            words[: len(name.split("“")[1].split())] == name.split("“")[1][:-1].split()
        ),
        "ends": lambda words: (
            words[-len(name.split("“")[1].split()) :] == name.split("“")[1][:-1].split()
        ),
    }[name.split()[0]],
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_row_of_a_table_is_counted_over_the_training_texts(told, kind):
    table = getattr(told, kind)
    assert len(table) > 10
    for row in table.head(60).to_dict("records"):
        there = rows_with(KINDS[kind](row["token"]))
        assert row["texts"] == len(there)
        assert row["share"] == pytest.approx(share(there, row["class"]))
        again = [
            i for i in TEST.index if KINDS[kind](row["token"])(TEST.text[i].split())
        ]
        if again:
            assert row["held-out share"] == share(again, row["class"], TEST)


def test_measures_are_means_over_the_training_texts(told):
    (row,) = told.measures[told.measures["measure"] == "length"].to_dict("records")
    lengths = TRAIN.text.str.split().map(len)
    assert row["mean"] == lengths[TRAIN.label == "pos"].mean()
    assert row["elsewhere"] == lengths[TRAIN.label == "neg"].mean()


@pytest.mark.parametrize(
    ("name", "side", "has"),
    [
        ("hot sun", "pos", lambda words: ("hot", "sun") in pairwise(words)),
        ("cold sun", "neg", lambda words: ("cold", "sun") in pairwise(words)),
        ("ends with “aa”", "neg", lambda words: words[-1] == "aa"),
    ],
)
def test_examples_and_rows_are_those_that_counted(told, name, side, has):
    there = rows_with(has)
    listed = told.rows[told.rows["finding"] == name]
    assert listed["row"].tolist() == there
    assert listed["label"].tolist() == TRAIN.label[there].tolist()
    places = told.examples[name]
    assert len(places) == 3
    for place in places:
        assert place.row in there and TRAIN.label[place.row] == side
        assert place.token == name.removeprefix("ends with “").removesuffix("”")
        assert "".join(place[1:]) in TRAIN.text[place.row]


def test_findings_are_rows_of_the_tables_and_a_phrase_is_first(told):
    first = told.signs.iloc[0]
    assert first["token"] == "“zzz hot”" and first["members"] == 3
    assert f"{first['texts']:.0f} training texts contain “zzz hot”" in told.html()
    q = pd.concat([told.tokens, told.pairs, told.form]).set_index("token")["q"]
    for row in told.signs[1:].to_dict("records"):
        if row["members"] == 1 and row["kind"] != "measures":
            assert q[row["token"]] == row["q"] <= told.rate


def test_wrong_predictions_are_held_out_texts(told):
    assert told.misread
    for text in told.misread:
        held_out = told.test.texts[text.row]
        assert held_out in set(TEST.text) and held_out not in set(TRAIN.text)
        assert "".join(piece for piece, _ in text.words) == held_out
        assert TEST.set_index("text")["label"][held_out] == text.label != text.read


def test_copies_and_suspects_are_named_by_their_rows(told):
    (copy,) = told.copies.to_dict("records")
    assert (copy["row"], copy["of row"], copy["alike"]) == (COPY, 0, "same text")
    assert len(told.suspects) > 5
    for row in told.suspects.to_dict("records"):
        name = str(row["row"]).removesuffix(" of the test split")
        table = TRAIN if name == str(row["row"]) else TEST
        assert table.text[int(name)].startswith(row["text"])
        assert table.label[int(name)] == row["label"] != row["read"]


def test_masked_tokens_are_the_strongest_of_the_model(told):
    known = told.tokens["token"][told.tokens["id"] < len(told.model.embeddings)]
    assert told.masked["token"].tolist() == known.head(10).tolist()
    for row in told.masked.to_dict("records"):
        there = [row["token"] in text.split() for text in TEST.text]
        assert row["held-out texts with it"] == sum(there)


def test_the_axes_reach_beyond_each_dot(told):
    corpus = Corpus.from_tokens([range(4)] * 2, ["a", "b"], list("wxyz"))
    score = torch.tensor([0.0, 0.0, 0.0, 9.0])  # far above their mean
    tokens = pd.DataFrame({"id": range(4), "attention": score, "q": 1.0})
    drawn = attention_figure(corpus, tokens, 0.05, [(corpus, score)])
    for figure, least in ((drawn, 2), (told.figure, 20)):
        dots = re.findall(r"M(-?\d+) (-?\d+)h0", figure)
        x, y = np.array(dots, float).T
        assert len(dots) >= least
        assert x.min() >= LEFT and x.max() <= RIGHT
        assert y.min() >= TOP and y.max() <= BOTTOM
        assert np.ptp(y) > 0.5 * (BOTTOM - TOP)
