"""The division of rows into training texts and held-out texts."""

import numpy as np
import pandas as pd
import pytest

from attnsel import Corpus
from attnsel_report.splits import (
    Sample,
    held_out,
    joined,
    read_parts,
)
from support.corpora import sampled

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def text(i):
    """Return a text that differs from all others."""
    return " ".join(f"{LETTERS[i]}{letter}" for letter in LETTERS[:12])


def read(source, **changes):
    usual = {"text": "text", "label": "label", "groups": None, "limit": None}
    return read_parts(source, **(usual | {"seed": 0, "tokenize": None} | changes))


def table(texts, labels=None, **columns):
    labels = labels or [("no", "yes")[i % 2] for i in range(len(texts))]
    return pd.DataFrame({"text": texts, "label": labels, **columns})


def rows_of(sample):
    return sorted(sample.rows.tolist())


def test_each_distinct_text_is_on_one_side_with_the_place_of_its_first_row():
    texts = [text(i) for i in range(20)]
    source = table([*texts, texts[3], texts[3], texts[5], "", texts[6]])
    source.loc[22, "label"] = "yes"
    parts = read(source)
    assert sorted(rows_of(parts.train) + rows_of(parts.test)) == list(range(20))
    assert len(parts.test.rows) == 4
    for sample in (parts.train, parts.test):
        assert [*sample.corpus.texts] == [texts[i] for i in sample.rows]
        assert type(sample.rows) is np.ndarray and sample.rows.dtype == np.int64
        names = [sample.corpus.classes[k] for k in sample.corpus.labels.tolist()]
        assert names == [("no", "yes")[i % 2] for i in sample.rows]
        assert sorted(sample.groups.tolist()) == list(range(len(sample.rows)))
    repeats = parts.repeats
    assert (repeats.copies, repeats.times, repeats.most) == (4, 3, texts[3])
    # Rows 20 to 24 are "no" and "yes" in turn; 3 and 5 are "yes", 6 is "no".
    assert repeats.torn == 1
    assert (repeats.near, repeats.seen) == (0, 0)
    assert {what: list(rows) for what, rows in parts.left_out.items()} == {"text": [23]}
    assert parts.grouped is None and parts.telling == []


def test_near_copies_are_one_group_and_no_held_out_text_was_seen():
    texts = [text(i) for i in range(20)]
    near = [f"{text(3)} indeed", f"so {text(4)}"]
    train, test = table([*texts, near[0]]), table([near[1], texts[5], text(22)])
    parts = read({"train": train, "test": test})
    assert rows_of(parts.train) == list(range(21))
    assert rows_of(parts.test) == [23]  # counted on from the other split
    assert parts.repeats.seen == 2  # one is nearly a text to learn from
    assert (parts.repeats.near, parts.repeats.copies) == (2, 1)
    place = dict(zip(parts.train.rows.tolist(), parts.train.groups, strict=True))
    assert place[3] == place[20]
    assert len(set(parts.train.groups.tolist())) == 20
    firsts = parts.train.firsts()
    assert firsts.rows.tolist() == list(range(20))
    assert firsts.groups.tolist() == list(range(20))


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("film", "film"),
        (list("aabbccddeeffgghhiijj"), "given"),
        (pd.Series(list("aabbccddeeffgghhiijj")), "given"),
        (pd.Series(list("aabbccddeeffgghhiijj"), name="by film"), "by film"),
    ],
)
def test_groups_are_a_column_or_names_one_a_row(given, name):
    source = table([text(i) for i in range(20)], film=list("aabbccddeeffgghhiijj"))
    parts = read(source, groups=given)
    assert parts.grouped == name and len(parts.telling) == 1
    for sample in (parts.train, parts.test):
        films = np.asarray(sample.rows) // 2
        same = films[:, None] == films
        assert ((sample.groups[:, None] == sample.groups) == same).all()
    assert not {*(parts.train.rows // 2)} & {*(parts.test.rows // 2)}
    with pytest.raises(ValueError, match="groups: .* 20 names, one per row, got 19"):
        read(source, groups=["a"] * 19)


def test_of_classes_too_small_to_divide_something_is_held_out():
    corpus = Corpus.from_texts([text(i) for i in range(10)], range(10), min_count=1)
    assert held_out(sampled(corpus), seed=0).sum() == 2
    two = Sample(corpus[:2], np.zeros(2, int), np.arange(2))
    assert held_out(two, seed=0).tolist() == [False, True]
    groups = np.array([0] * 5 + [1] * 5 + [2] * 6)  # the last is all of its class
    labels = [0] * 10 + [1] * 6
    three = Corpus.from_texts([text(i) for i in range(16)], labels, min_count=1)
    for seed in range(9):
        is_test = held_out(Sample(three, groups, np.arange(16)), seed)
        assert is_test.sum() == 5 and not is_test[10:].any()


def test_rows_are_called_as_in_the_source():
    texts = [text(i) for i in range(20)]
    some = read(table(texts), limit=10)
    assert len(some.train.rows) + len(some.test.rows) == 10
    for sample in (some.train, some.test):
        called = some.names[sample.rows].tolist()
        assert [*sample.corpus.texts] == [texts[place] for place in called]
    both = read({"train": table(texts[:14]), "test": table(texts[14:])})
    assert both.names[both.test.rows].tolist() == [
        f"{i} of the test split" for i in range(6)
    ]
    assert both.names[both.train.rows].tolist() == list(range(14))


def test_a_test_split_that_cannot_be_read_is_told_of(tmp_path):
    table([text(i) for i in range(20)]).to_csv(tmp_path / "train.csv", index=False)
    assert len(read(str(tmp_path)).test.rows) == 4  # there is none
    (tmp_path / "test.csv").write_text("text,label\na,b\nhello, you, there,no\n")
    with pytest.raises(ValueError, match="test.csv cannot be read as a table"):
        read(str(tmp_path))


def test_a_test_split_of_other_classes_is_told_of():
    train = table([text(i) for i in range(14)])
    held = [text(i) for i in range(14, 20)]
    some = read({"train": train, "test": table(held, ["yes"] + ["-1"] * 5)})
    assert len(some.test.rows) == 6
    with pytest.raises(
        ValueError, match="labels: the test split contains only -1, and"
    ):
        read({"train": train, "test": table(held, ["-1"] * 6)})


def test_both_parts_are_one_sample_again_with_groups_of_their_own():
    parts = read(table([text(i) for i in range(20)]), groups=list("aabbccddee" * 2))
    both = joined(parts)
    assert sorted(both.rows.tolist()) == list(range(20))
    assert both.rows.tolist() == [*parts.train.rows, *parts.test.rows]
    assert [*both.corpus.texts] == [text(i) for i in both.rows]
    labels = [both.corpus.classes[k] for k in both.corpus.labels.tolist()]
    assert labels == [("no", "yes")[i % 2] for i in both.rows]
    films = both.rows % 10 // 2
    assert ((both.groups[:, None] == both.groups) == (films[:, None] == films)).all()
    alone = Corpus.from_texts([text(7)], ["no"], vocab=both.corpus.vocab)
    at = both.rows.tolist().index(7)
    assert (both.corpus.counts[[at]] != alone.counts).nnz == 0
