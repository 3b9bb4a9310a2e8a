"""Leaks outside words, near copies, wrong labels, and the list of all findings."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.stats import fisher_exact, mannwhitneyu

import attnsel
from attnsel import Corpus
from attnsel.texts.reviews import generate_reviews
from attnsel_report import figures, surface
from attnsel_report.quality import some_to_learn
from attnsel_report.sequences import in_order
from attnsel_report.splits import (
    Sample,
    predicted_alone,
    read_parts,
    telling_columns,
)
from attnsel_report.surface import (
    KINDS,
    MEASURES,
    form_table,
    kinds_of,
    measure_table,
    measured,
)
from attnsel_report.suspects import suspects, unseen_probabilities
from attnsel_report.tables import token_table
from support.corpora import sampled


def sample_of(texts, labels):
    return sampled(Corpus.from_texts(texts, labels, min_count=1))


def test_measures_are_counted_letter_by_letter(monkeypatch):
    monkeypatch.setattr(surface, "FEWEST", 2)
    texts = ["ÀB c1!", "x", "12.", "Ж好, é?"]
    sample = sample_of(texts, [0, 1, 0, 1])
    table = measure_table(sample, sample).set_index("measure")
    letters = [sum(map(str.isalpha, text)) for text in texts]
    capitals = [sum(map(str.isupper, text)) for text in texts]
    expected = {
        "length": sample.corpus.lengths.tolist(),
        "length in characters": [6, 1, 3, 6],
        "capitals": [
            100 * a / max(b, 1) for a, b in zip(capitals, letters, strict=True)
        ],
        "digits": [100 / 6, 0, 200 / 3, 0],
        "punctuation": [100 / 6, 0, 100 / 3, 200 / 6],
    }
    assert set(expected) == set(MEASURES) == set(table.index)
    for name, of_text in expected.items():
        assert table["mean"][name] == pytest.approx(np.mean(of_text[1::2]))
        assert table["elsewhere"][name] == pytest.approx(np.mean(of_text[::2]))
        test = mannwhitneyu(of_text[1::2], of_text[::2], method="asymptotic")
        assert table["above"][name] == pytest.approx(test.statistic / 4)
        assert table["p"][name] == pytest.approx(np.nan_to_num(test.pvalue, nan=1))
        assert table["held-out"][name] == table["above"][name]
        assert table["low"][name] <= table["above"][name] <= table["high"][name]


def test_capitals_and_cut_texts_are_found_and_shuffled_ones_are_not():
    texts, _ = generate_reviews(300)
    labels = np.arange(300) % 2
    loud = list(texts)
    for i in np.flatnonzero(labels * (np.arange(300) % 3)):
        loud[i] = texts[i].upper()
    found = p_of_measures(loud, labels)
    assert found["p"]["capitals"] < 1e-7 < found["p"]["digits"]
    assert found["above"]["capitals"] > 0.7
    cut = [t[:200] if y else t for t, y in zip(texts, labels, strict=True)]
    assert p_of_measures(cut, labels)["p"]["length"] < 1e-7
    assert p_of_measures(texts, labels)["p"].min() > 0.01


@pytest.mark.parametrize(("n", "is_exact"), [(1, True), (19, True), (20, False)])
def test_a_class_of_few_texts_has_an_exact_p(n, is_exact):
    texts = [f"{'word ' * (40 if i < n else i % 5)}end" for i in range(400)]
    sample = sample_of(texts, (np.arange(400) < n).astype(int))
    row = measure_table(sample, sample).set_index("measure").loc["length"]
    lengths = sample.corpus.lengths.numpy()
    is_long = lengths > np.median(lengths)
    assert is_long[:n].all()
    n_long = int(is_long.sum())
    exact = fisher_exact([[n, 0], [n_long - n, 400 - n_long]]).pvalue
    assert (row["p"] == pytest.approx(exact)) == is_exact
    assert (row["least"] > 0) == is_exact


def test_a_small_class_without_a_held_out_text_is_not_tested():
    texts = [
        f"{'odd end' if i < 9 else 'usual'} w{i % 7} w{i % 11}" for i in range(300)
    ]
    labels = np.where(
        np.arange(300) < 9, "rare", np.where(np.arange(300) % 2, "a", "b")
    )
    train = sample_of(texts, labels)
    rest = train.at(np.arange(9, 300))
    assert token_table(train, train).set_index("token")["p"]["odd"] < 1e-9
    table = token_table(train, rest)
    assert table.set_index("token")["p"]["odd"] == 1
    assert set(measure_table(train, rest)["class"]) == {"a", "b"}
    two = sample_of(texts, labels == "rare")
    assert (token_table(two, two.at(np.arange(9, 300)))["p"] == 1).all()


def p_of_measures(texts, labels):
    sample = sample_of(texts, labels)
    return measure_table(sample, sample).set_index("measure")


def test_beginnings_ends_and_kinds_are_found():
    texts, _ = generate_reviews(240)
    labels = np.arange(240) % 2
    leaks = [
        f"dear sir , {text} seen on 2019-05-01 by k@x.org" if y else text
        for text, y in zip(texts, labels, strict=True)
    ]
    sample = sample_of(leaks, labels)
    order = in_order(sample.corpus)
    table, contains = form_table(sample, sample, order, order)
    assert contains.sum(axis=0)[table["id"]].tolist() == table["texts"].tolist()
    table = table.set_index("token")
    for name in ("begins with “dear”", "begins with “dear sir”", "an e-mail address"):
        assert (table["texts"][name], table["share"][name]) == (120, 1)
        assert table["p"][name] < 1e-20
    assert table["class"]["a date"] == "1"
    assert "ends with “x . org”" not in table.index  # of one, two and five tokens
    assert table["texts"]["ends with “. org”"] == 120
    # A text of two tokens neither begins nor ends with five.
    few = sample_of(["a b", "a b c d e f", "a b c d e f g"], [0, 1, 1])
    order = in_order(few.corpus)
    known = form_table(few, few, order, order)[0].set_index("token")
    assert known["texts"]["begins with “a b c d e”"] == 2


KIND_TEXTS = {
    "a number": (["7", "é7"], ["seven"]),
    "a year": (["in 1999.", "2024"], ["1850", "x1999", "19991", "a2001"]),
    "a date": (["on 2019-05-01", "1/2/99"], ["1/2", "a1/2/99"]),
    "a time": (["at 9:30", "23:59"], ["a9:30", "9:3"]),
    "a sum of money": (["$5", "5 €", "£ 9"], ["5", "$", "5  $", "$ x"]),
    "a share of something": (["7/10", "3.5 / 5"], ["and/or", "7 of 10"]),
    "a link": (["HTTPS://x", "www.x", "see http://x"], ["awww.x", "http:x"]),
    "an e-mail address": (["me@x.org"], ["@x.org", " @x.org", "me@x"]),
    "a name with @ or #": (["@me", "so #it is"], ["me@x", "# x"]),
    "markup": (["<b>x", "a &amp; b", "</p >"], ["a < b > c", "& x;"]),
    "a contraction": (["don't", "don’t"], ["'don", "' t", "‘don"]),
    "a typographic quote": (["don’t", "“so”"], ["don't", '"so"']),
    "a word in capitals": (["THE end"], ["The", "THe", "aTHE", "USa"]),
    "repeated signs": (["no!?", "so...", "**"], ["no.", "so..", "*"]),
    "a line break": (["a\nb"], ["a b"]),
    "a tab": (["a\tb"], ["a b"]),
    "a blank at the beginning": ([" a", "\n"], ["a", "a ", ""]),
    "a blank at the end": (["a ", "a\t"], ["a", " a", ""]),
    "two blanks in a row, or HTML line breaks": (["a  b", "a   b"], ["a b", "a "]),
    "a no-break or other special blank": (["a\xa0b", "\u2009"], ["a b", "\t"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_seen_in_its_texts_and_never_across_two(kind):
    those, others = KIND_TEXTS[kind]
    column = list(KINDS).index(kind)
    texts = [text for other in others for text in (other, *those)] + [others[0]]
    held = kinds_of(texts).toarray()[:, column] > 0
    assert held.tolist() == [text in those for text in texts]
    # Joined, they contain no more than one by one.
    for one in others:
        for other in others:
            assert not kinds_of([one, other]).toarray()[:, column].any()


def test_some_texts_are_learned_from_and_all_of_a_rare_class(monkeypatch):
    counts = csr_array(np.ones((1000, 2)))
    labels = np.repeat([0, 1], [970, 30])
    assert some_to_learn(counts, labels, 0).tolist() == list(range(1000))
    monkeypatch.setattr("attnsel_report.quality.LEARNED", 400)
    rows = some_to_learn(counts, labels, 0)
    assert len(set(rows)) == len(rows) and (np.diff(rows) > 0).all()
    assert 200 <= len(rows) <= 230 and (rows >= 970).sum() == 30
    assert some_to_learn(counts, labels, 1).tolist() != rows.tolist()
    monkeypatch.setattr("attnsel_report.quality.LEARNED_TEXTS", 100)
    rows = some_to_learn(counts, labels, 0)
    assert 100 <= len(rows) <= 130 and (rows >= 970).sum() == 30


def test_texts_that_share_no_token_have_a_report():
    texts = [f"one{i} two{i} three{i}" for i in range(14)]
    found = attnsel.report({"text": texts, "label": ["a", "b"] * 7})
    assert len(found.tokens) == len(found.suspects) == 0
    assert "<!doctype html>" in found.html()


def test_flipped_labels_are_found_by_models_that_did_not_see_them():
    random = np.random.default_rng(0)
    labels = random.integers(2, size=400)
    words = [("awful", "lovely")[y] for y in labels]
    texts = [f"{w} {' '.join(random.choice(list('abcdefgh'), 6))}" for w in words]
    flipped = random.random(400) < 0.1
    given = np.where(flipped, 1 - labels, labels)
    sample = sample_of(texts, given)
    found = suspects(sample)
    assert flipped[found["row"]].all() and len(found) > 0.8 * flipped.sum()
    assert (found["label"] != found["read"]).all()
    lead = unseen_probabilities(sample)
    assert lead.shape == (400, 2)
    np.testing.assert_allclose(lead.sum(axis=1), 1)
    # A group is never on two sides, so memorized texts are not reported.
    copies = Sample(sample.corpus, np.arange(400) // 200, sample.rows)
    assert (suspects(copies)["row"].isin(np.flatnonzero(flipped))).all()


def test_a_rare_leak_of_a_rare_class_is_not_cut():
    texts, _ = generate_reviews(300)
    labels = np.where(np.arange(300) < 15, "rare", "usual")
    tagged = [f"{t} zzz" if i < 8 else t for i, t in enumerate(texts)]
    told = attnsel.report(pd.DataFrame({"text": tagged, "label": labels}), min_count=20)
    row = told.tokens.set_index("token").loc["zzz"]
    assert row["q"] < 1e-4 and row["class"] == "rare" and np.isnan(row["attention"])
    assert len(told.model.vocab) < len(told.tokens)
    assert (told.signs["token"][0], told.signs["members"][0]) == ("“zzz”", 3)
    assert "ends with “zzz”" in told.form["token"].head(2).tolist()


def test_a_column_that_looks_like_a_group_is_named_and_counts_once():
    texts, _ = generate_reviews(60)
    table = pd.DataFrame({"text": texts, "label": np.arange(60) // 6 % 2})
    table["user"] = [f"u{i // 6}" for i in range(60)]
    table["stars"] = np.arange(60) % 5
    (alone,) = telling_columns(table[["user", "stars"]], table["label"])
    assert alone == ("user", 10, 1.0, 0.5)
    told = attnsel.report(table)
    meanings = " ".join(fact.meaning for fact in told.facts)
    ((named, typed),) = re.findall(r"use groups='(\w+)' \(--groups (\w+)\)", meanings)
    assert named == typed == "user"
    grouped = attnsel.report(table, groups=named)
    assert grouped.tokens["texts"].max() <= 10
    facts = {fact.name: fact.value for fact in grouped.facts}
    assert facts["Groups"].endswith(
        "alone predicts 100.0% of the labels (the most frequent class: 50.0%)"
    )
    assert "Accuracy with and without groups" in facts
    assert "groups (user)" in grouped.html()
    seen = {text.casefold() for text in grouped.train.texts}
    users = table["user"][table["text"].str.casefold().isin(seen)]
    held = table["user"][~table["text"].str.casefold().isin(seen)]
    assert not set(users) & set(held)


def test_what_a_column_says_alone_leaves_the_text_itself_out():
    random = np.random.default_rng(0)
    values, labels = random.integers(12, size=80), random.integers(3, size=80)
    values[0] = 99  # alone
    common = np.bincount(labels).argmax()
    right = 0
    for i in range(80):
        others = labels[(values == values[i]) & (np.arange(80) != i)]
        times = np.bincount(others, minlength=3)
        own, rest = times[labels[i]], np.delete(times, labels[i]).max()
        right += own > rest if len(others) else labels[i] == common
    alone = predicted_alone(values, pd.Series(labels))
    assert alone[1:] == (13, right / 80, (labels == common).mean())
    others = {"distinct": labels + np.arange(80) / 99, "equal": 0, "of": values}
    frame = pd.DataFrame({"same": 5 + labels, **others})
    told = telling_columns(frame, pd.Series(labels))
    assert [column.name for column in told] == ["same"]


def test_names_of_findings_are_strings_also_if_there_are_none():
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice([*"abcdefgh"], 6)) for _ in range(40)]
    signs = attnsel.report((texts, [0, 1] * 20)).signs
    assert signs.empty and signs["token"].str.upper().empty


def test_where_nothing_can_be_learned_or_held_out_a_sentence_says_why():
    texts, labels = generate_reviews(40)
    table = pd.DataFrame({"text": texts, "label": labels})
    with pytest.raises(
        ValueError, match="min_count: expected at most .* in the training texts"
    ):
        attnsel.report(table, min_count=9999)
    settings = {"text": "text", "label": "label", "groups": None, "limit": None}
    parts = read_parts(table, **settings, seed=0, tokenize=None)
    learned = parts.train.corpus.texts[0]
    rare = table.replace({"text": {learned: "zz " * 900 + learned}})
    with pytest.raises(ValueError, match="no held-out text contains any of"):
        attnsel.report(rare, min_count=900)
    with pytest.raises(
        ValueError, match="all training texts are of class '[01]', because"
    ):
        attnsel.report(table.assign(film=labels), groups="film")
    for test in (table, table[:3]):
        with pytest.raises(ValueError, match="each text of the test split is a copy"):
            attnsel.report({"train": table, "test": test})


def test_of_three_classes_a_lean_is_that_above_all_texts_to_the_class_of_most():
    texts = ["x y", "x x y", "y z", "y"]
    corpus = Corpus.from_texts(texts, ["a", "a", "b", "c"], min_count=1)
    lean = dict(zip(corpus.vocab, figures._greatest_lean(corpus), strict=True))
    # All texts of a hold x, and half of all are of a: 1 and 1/4. One of four is of b.
    assert lean == pytest.approx({"x": 1 - 1 / 4, "y": 0, "z": 1 + 1 / 8})


def test_texts_that_are_searched_in_parts_give_the_same(monkeypatch):
    texts, labels = generate_reviews(20)
    texts, labels = [*texts, "SEE www.example.com !"], [*labels, 1]
    corpus = Corpus.from_texts(texts, labels, min_count=1)
    expected, kinds = measured(corpus), kinds_of(corpus.texts).toarray()
    monkeypatch.setattr(surface, "CHUNK", 4)
    assert (measured(corpus) == expected).all()
    assert (kinds_of(corpus.texts).toarray() == kinds).all()
