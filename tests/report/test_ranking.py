"""The order in which finds are listed, and labels that look wrong, by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression

from attnsel import Corpus, Vocab
from attnsel_report import suspects as module
from attnsel_report.ranking import Evidence, top_findings
from attnsel_report.splits import Sample
from attnsel_report.surface import measure_table
from attnsel_report.suspects import suspects
from attnsel_report.tables import token_table, with_q

LETTERS = Vocab([*"abcdefgh"], ["bad", "good", "odd"])


def drawn(n_classes, groups):
    """Texts of letters of which the first ones go with a class each."""
    random = np.random.default_rng(n_classes)
    labels = random.integers(n_classes, size=len(groups))
    texts = []
    for label in labels.tolist():
        letters = np.flatnonzero(random.random(8) < 0.4).tolist()
        texts.append([*letters, label] if random.random() < 0.8 else [7, *letters])
    names = LETTERS.classes[:n_classes]
    vocab = Vocab(list(LETTERS), names)
    corpus = Corpus.from_tokens(texts, [names[k] for k in labels], vocab)
    return Sample(corpus, np.array(groups), np.arange(len(groups)))


def strength_by_hand(sample, token, own):
    """Over halves of the groups: text by text, its logits without the token."""
    counts = sample.corpus.counts.toarray()
    labels = sample.corpus.targets.numpy()
    n_groups = len(set(sample.groups))
    turn = np.random.default_rng(0).permutation(n_groups)
    first = turn[sample.groups] < n_groups // 2
    more = variance = 0.0
    for learned in (first, ~first):
        scale = TfidfTransformer(sublinear_tf=True).fit(counts[learned])
        model = LogisticRegression(C=3.0, max_iter=200, tol=1e-3)
        model.fit(scale.transform(counts[learned]), labels[learned])
        for row in np.flatnonzero(~learned & (counts[:, token] > 0)):
            text = scale.transform(counts[[row]]).toarray()
            logits = model.decision_function(text)[0]
            if model.coef_.shape[0] == 1:
                odds = logits - text[0, token] * model.coef_[0, token]
                odds = odds if own else -odds
            else:
                others = np.delete(logits, own)
                odds = logits[own] - np.log(np.exp(others).sum())
                odds -= text[0, token] * model.coef_[own, token]
            p = 1 / (1 + np.exp(-odds))
            weight = 1 / (sample.groups == sample.groups[row]).sum()
            more += weight * ((labels[row] == own) - p)
            variance += weight * p * (1 - p)
    return more / variance**0.5


def evidence_of(sample):
    """The evidence of a sample whose held-out texts are its own."""
    none = token_table(sample, sample)[:0]
    measures = none.assign(above=0.5, measure="", unit="", mean=0.0, elsewhere=0.0)
    tokens = token_table(sample, sample)
    tables = {"tokens": tokens, "pairs": none.assign(left=0, right=0), "form": none}
    tables = with_q(tables | {"measures": measures})
    return Evidence(tables, {})


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("grouped", [False, True])
def test_the_strength_is_what_other_words_do_not_explain(n_classes, grouped):
    groups = [i // 2 if grouped and i < 60 else i for i in range(150)]
    sample = drawn(n_classes, pd.factorize(np.array(groups))[0])
    found = top_findings(evidence_of(sample), sample, 1.0)
    assert len(found) == 8 and (found["members"] == 1).all()
    expected = [
        strength_by_hand(sample, row["id"], row["class number"])
        for row in found.to_dict("records")
    ]
    np.testing.assert_allclose(found["strength"], expected, rtol=1e-5, atol=1e-5)
    assert found["strength"].is_monotonic_decreasing
    assert set(found["token"].head(n_classes)) == set(LETTERS[:n_classes])


def tagged(tag, n=600):
    """Texts in which several words say the same, and 30% of one class have a tag."""
    random = np.random.default_rng(3)
    labels = random.integers(2, size=n)
    words = [["good", "fine", "nice"], ["bad", "poor", "dull"]]
    texts = []
    for i, label in enumerate(labels.tolist()):
        is_told = random.random() < 0.6
        side = label if is_told else random.integers(2)
        end = f" {tag}" if label and random.random() < 0.3 else ""
        two = " ".join(random.choice(words[side], 2, replace=False))
        texts.append(f"{two} {'abcdefgh'[i % 8]}{end}")
    corpus = Corpus.from_texts(texts, labels, min_count=1)
    return Sample(corpus, np.arange(n), np.arange(n))


def test_a_tag_comes_before_words_that_say_the_same():
    sample = tagged("zzz")
    evidence = evidence_of(sample)
    assert evidence.tables["tokens"]["token"][0] != "zzz"
    found = top_findings(evidence, sample, 0.05)
    assert found["token"][0] == "zzz"
    words = ["good", "fine", "nice", "bad", "poor", "dull"]
    assert set(found["token"]) == {"zzz", *words}
    assert (found["q"] <= 0.05).all()


def test_a_weak_finding_of_another_kind_stands_in_the_first_round():
    sample = tagged("zzz")
    labels = sample.corpus.targets.numpy()
    tokens, contains = evidence_of(sample)[0], np.zeros((len(labels), 1))
    for label, count in ((1, 28), (0, 12)):
        contains[np.flatnonzero(labels == label)[:count]] = 1
    edge = tokens["tokens"][:1].assign(token="ends with “?”", id=0, q=0.01)
    edge["class number"], edge["class"] = 1, sample.corpus.classes[1]
    tables = tokens | {"form": edge}
    found = top_findings(Evidence(tables, {"form": csr_array(contains)}), sample, 0.05)
    kinds = found["kind"].tolist()
    assert kinds == 3 * ["tokens"] + ["form"] + 4 * ["tokens"]
    assert found["strength"][0] == found["strength"].max()
    assert found["strength"][3] < found["strength"][4:].max()


def test_words_of_one_template_are_one_finding_and_the_first():
    sample = tagged("closed by agent number 7")
    found = top_findings(evidence_of(sample), sample, 0.05)
    assert found["members"][0] == 5
    names = {sample.corpus.vocab[i] for i in found["words"][0]}
    assert names == {"closed", "by", "agent", "number", "7"}


def test_what_held_out_texts_contradict_is_left_out():
    sample = tagged("zzz")
    evidence = evidence_of(sample)
    tokens = evidence.tables["tokens"]
    base = float((sample.corpus.targets == 1).double().mean())
    for share, is_kept in ((base, False), (base + 0.01, True), (np.nan, True)):
        again = tokens["held-out share"].where(tokens["token"] != "zzz", share)
        evidence.tables["tokens"] = tokens.assign(**{"held-out share": again})
        found = top_findings(evidence, sample, 0.05)
        assert ("zzz" in found["token"].tolist()) == is_kept


def test_where_a_half_has_one_class_the_order_stays_that_of_evidence():
    labels = np.array([1] + [0] * 19)
    texts = [f"w{i % 3} all" for i in range(20)]
    corpus = Corpus.from_texts(texts, labels, min_count=1)
    sample = Sample(corpus, np.arange(20), np.arange(20))
    half = np.random.default_rng(0).permutation(20) < 10
    assert len(set(labels[half])) + len(set(labels[~half])) == 3
    found = top_findings(evidence_of(sample), sample, 1.0)
    assert np.isfinite(found["strength"]).all()


def test_measures_are_listed_in_words_and_only_where_held_out_texts_agree():
    texts = ["word " * (9 if i % 2 else 3) + f"w{i % 5}" for i in range(80)]
    corpus = Corpus.from_texts(texts, np.arange(80) % 2, min_count=1)
    sample = Sample(corpus, np.arange(80), np.arange(80))
    evidence = evidence_of(sample)
    none = {name: evidence.tables[name][:0] for name in ("tokens", "pairs", "form")}
    measures = measure_table(sample, sample).rename(columns={"p": "q"})
    found = top_findings(Evidence(none | {"measures": measures}, {}), sample, 0.05)
    (length,) = found[found["token"].str.startswith("length")]["token"]
    assert length == "length: 10 tokens on average, in other texts 4"
    assert found["members"].max() == 2  # and the length in characters
    equal = measures.assign(elsewhere=measures["mean"] + 1e-6)
    evidence = Evidence(none | {"measures": equal}, {})
    assert not len(top_findings(evidence, sample, 0.05))
    again = measures.assign(**{"held-out": 1 - measures["above"]})
    evidence = Evidence(none | {"measures": again}, {})
    assert not len(top_findings(evidence, sample, 0.05))


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
