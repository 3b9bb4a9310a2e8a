"""The order in which finds are listed, and labels that look wrong, by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from attnsel import Corpus, Vocab
from attnsel.reporting import suspects as module
from attnsel.reporting.evidence import token_table
from attnsel.reporting.ranking import in_joint_order, signs
from attnsel.reporting.splits import Sample
from attnsel.reporting.suspects import suspects

# "all" is in each text, "yes" and "no" in those of their class, "once" in two of one.
VOCAB = Vocab(["all", "yes", "no", "once"], ["bad", "good"])
TEXTS = [[0, 1 + (i % 2 == 0)] for i in range(60)]
TEXTS[1], TEXTS[3] = [0, 1, 3], [0, 1, 3]
CORPUS = Corpus.from_tokens(TEXTS, [("bad", "good")[i % 2] for i in range(60)], VOCAB)


def sampled(groups):
    return Sample(CORPUS, np.array(groups), np.arange(60))


def listed(coefficients, groups=range(60), rate=1.0):
    sample = sampled(groups)
    tokens = token_table(sample, sample)
    found = in_joint_order(tokens, sample, np.array(coefficients), rate)
    assert set(found["q"] <= rate) == {True}
    return found.set_index("token")["stability"]


def test_a_find_is_stable_if_halves_of_the_texts_show_it_again():
    found = listed([1.0, 1.0, 1.0, 1.0])
    assert found[["yes", "no"]].tolist() == [1, 1]
    assert found["all"] == 0  # it leans to no class
    assert found["once"] == 0  # two of thirty are luck
    assert listed([0.0] * 4, rate=0.05).index.tolist() == ["yes", "no"]


def test_a_group_counts_once_in_a_half():
    # Two groups, of which a half holds one: a text of one class, or of the other.
    found = listed([1.0] * 4, [i % 2 for i in range(60)])
    assert set(found) == {0}


@pytest.mark.parametrize(
    ("coefficients", "order"),
    [
        ([0, 1, 2, 0], ["no", "yes"]),
        ([0, -2, 1, 0], ["yes", "no"]),
        ([[0, 1, 0, 0], [0, 0, -2, 0], [0, 1.5, 0, 0]], ["no", "yes"]),
        # All else is alike, and a rank by q weighs as much as one by the regression.
        ([9, 1, 2, 0], ["no", "yes", "all"]),
    ],
)
def test_of_like_finds_the_regression_decides(coefficients, order):
    found = listed(np.array(coefficients, float)).index
    assert found[: len(order)].tolist() == order


def test_measures_are_listed_in_words():
    measures = pd.DataFrame(
        {
            "class": ["good"],
            "measure": ["length"],
            "unit": ["tokens"],
            "median": [1234.5678],
            "elsewhere": [0.000123456],
            "above": [0.75],
            "q": [0.012],
        }
    )
    none = pd.DataFrame({"token": ["a"], "class": ["bad"], "q": [0.03]})
    tables = {"tokens": none, "pairs": none, "form": none, "measures": measures}
    found = signs(tables, 0.05)
    length = "length, higher: median 1235, of the others 0.0001235 (tokens)"
    assert found[["kind", "token", "class", "q"]].values.tolist() == [
        ["looks", length, "good", 0.048]
    ]
    assert found.columns[0] == "kind"
    lower = measures.assign(above=0.25)
    (token,) = signs(tables | {"measures": lower}, 0.05)["token"]
    assert token.startswith("length, lower:")


def test_a_label_looks_wrong_where_another_class_is_as_likely_as_usual(monkeypatch):
    names = ["a", "b", "c"]  # of "c" there is no text
    labels = ["a", "b", "b", "b", "b"]
    texts = [f"{letter} word" for letter in "vwxyz"]
    texts[3] += " more" * 100
    vocab = Vocab([*"vwxyz", "word", "more"], names)
    corpus = Corpus.from_texts(texts, labels, vocab=vocab)
    probabilities = [
        [0.6, 0.4, 0.0],
        [0.6, 0.4, 0.0],  # as likely "a" as the only text of it
        [0.1, 0.9, 0.0],
        [0.8, 0.2, 0.0],
        [0.05, 0.35, 0.6],  # nothing is as likely as usual
    ]
    table = np.array(probabilities)
    monkeypatch.setattr(module, "unseen_probabilities", lambda *_: table)
    sample = Sample(corpus, np.arange(5), 10 + np.arange(5))
    found = suspects(sample)
    assert found.drop(columns="text").values.tolist() == [
        [13, "b", "a", 0.2],
        [11, "b", "a", 0.4],
    ]
    assert found["text"][1] == "w word"
    start = found["text"][0]
    assert texts[3].startswith(start) and 20 < len(start) < len(texts[3])
