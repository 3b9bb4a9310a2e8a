"""Each fact of a report about the data, on a few texts."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from attnsel import Corpus, Vocab
from attnsel_report.data_notes import (
    data_facts,
    too_many_classes,
    what_groups_cost,
)
from attnsel_report.sequences import InOrder
from attnsel_report.splits import Alone, Parts, Repeats, Sample

NONE = Repeats(
    copies=0, torn=0, most="a", times=1, labelled={}, near=0, rows=1000, seen=0
)


def sampled(labels, lengths, classes, groups=None):
    """Return a sample of texts that repeat one token as often as `lengths` states."""
    corpus = Corpus.from_tokens(
        [[0] * n for n in lengths], labels, Vocab(["a"], classes)
    )
    places = np.arange(len(labels))
    return Sample(corpus, places if groups is None else np.array(groups), places)


def parts(train, test, **changes):
    usual = {
        "order": InOrder(np.array([]), np.array([])),
        "names": pd.Series(range(0, 2 * len(train.rows), 2)),
        "left_out": {},
        "repeats": NONE,
        "grouped": None,
        "telling": [],
        "copies": pd.DataFrame(),
    }
    return Parts(train, test, **(usual | changes))


CLASSES = ("bad", "good")
TRAIN = sampled(["bad"] * 3 + ["good"] * 5, [1, 1, 2, 3, 4, 4, 5, 1200], CLASSES)
TEST = sampled(["bad", "good"], [2, 9], CLASSES)


def notes(of, *, said=(), learned=0):
    """Return the facts by name; only warnings may share a name."""
    facts = data_facts(of, said, 1234, 56, learned)
    names = [fact.name for fact in facts if fact.name != "Warning while loading"]
    assert len(names) == len(set(names))
    return {fact.name: fact for fact in facts}


def test_what_is_said_of_texts_with_nothing_amiss():
    found = notes(parts(TRAIN, TEST))
    # The middle of 1, 1, 2, 2, 3, 4, 4, 5, 9 and 1,200 is 3.5, written as an even one.
    assert {name: fact.value for name, fact in found.items()} == {
        "Texts": "8 for training, 2 held out; the median length is 4 tokens, the "
        "greatest 1,200",
        "Tokens": "1,234 are in 2 or more training texts; 56 are frequent enough for "
        "the model",
        "Classes": "2: “good” 5 (62.5%), “bad” 3 (37.5%)",
        "Left out": "no row",
        "Texts that occur twice": "0 rows repeat the text of another one, 0 of them "
        "with another label",
        "Near copies": "0 texts are nearly the same as another text",
    }
    assert not any(fact.amiss for fact in found.values())


def of_labels(*labels):
    names = tuple(dict.fromkeys(labels))
    return parts(sampled(labels, [1] * len(labels), names), TEST)


@pytest.mark.parametrize(
    ("name", "value", "amiss", "just_not"),
    [
        (
            "Rare classes",
            "1 of 2 have fewer than 3 training texts: “rare” in row 20, “rare” in row "
            "22",
            of_labels(*["usual"] * 10, *["rare"] * 2),
            of_labels(*["usual"] * 10, *["rare"] * 3),
        ),
        (
            "Nearly one class per row",
            "2 classes for 5 texts",
            of_labels(*"ababa"),
            of_labels(*"ababab"),
        ),
    ],
)
def test_each_side_of_a_threshold(name, value, amiss, just_not):
    found = notes(amiss)
    assert found[name].value.startswith(value) and found[name].amiss
    assert name not in notes(just_not)
    for of in (amiss, just_not):
        nearly_all = name == "Nearly one class per row" and of is amiss
        assert too_many_classes(of.train.corpus) == nearly_all
    assert ("Rare classes" in found) == (name == "Rare classes")


@pytest.mark.parametrize(("n", "amiss"), [(10, False), (11, True)])
def test_copies_of_more_than_one_row_in_a_hundred_are_a_warning(n, amiss):
    for change, name in {"near": "Near copies", "copies": "Texts that occur"}.items():
        facts = notes(parts(TRAIN, TEST, repeats=replace(NONE, **{change: n})))
        (fact,) = [facts[key] for key in facts if key.startswith(name)]
        assert fact.amiss == amiss


def test_groups_are_counted_on_both_sides_and_columns_like_them_are_named():
    train = sampled(["bad"] * 3 + ["good"] * 3, [1] * 6, CLASSES, [0, 0, 1, 1, 2, 2])
    test = sampled(["bad", "good"], [1, 1], CLASSES, [0, 1])
    fact = notes(parts(train, test, grouped="film"))["Groups"]
    assert fact.value == "5 by film"
    assert not fact.amiss
    alone = Alone("my film", 1200, 0.901, 0.51)
    fact = notes(parts(train, test, grouped="film", telling=[alone]))["Groups"]
    share = "it alone predicts 90.1% of the labels (the most frequent class: 51.0%)"
    assert fact.value == f"5 by film; {share}"
    fact = notes(parts(train, test, telling=[alone]))["Groups by “my film”?"]
    assert fact.value == f"texts share its 1,200 values; {share}"
    assert "groups='my film' (--groups 'my film')" in fact.meaning
    assert fact.amiss
    assert not any("Groups" in name for name in notes(parts(train, test)))
    cost = what_groups_cost("film", 0.852, 0.768)
    assert "classifies 85.2% of the texts correctly if training texts" in cost.value
    assert cost.value.endswith("share their film, and 76.8% if none does")


def test_rows_that_lack_something_are_counted_by_what_they_lack():
    lacking = {"text": range(1500), "label": [7]}
    fact = notes(parts(TRAIN, TEST, left_out=lacking))["Left out"]
    assert fact.value == "1,500 without text, 1 without label"
    assert fact.amiss


def test_twelve_classes_are_named_and_the_others_counted():
    names = [f"c{i:02}" for i in range(14)]
    labels = [name for i, name in enumerate(names) for _ in range(3 + i)]
    of = parts(sampled(labels, [1] * len(labels), names), TEST)
    value = notes(of)["Classes"].value
    assert value.startswith("14: “c13” 16 (12.0%), “c12” 15 (11.3%), ")
    assert value.endswith("“c02” 5 (3.8%) and 2 more")
    rest = [label for label in labels if label not in ("c00", "c01")]
    of = parts(sampled(rest, [1] * len(rest), names[2:]), TEST)
    assert notes(of)["Classes"].value.endswith("“c02” 5 (4.0%)")
