"""The order in which finds are listed, and labels that look wrong, by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression

from attnsel import Corpus, Vocab
from attnsel_report import suspects as module
from attnsel_report.ranking import by_surplus, signs
from attnsel_report.splits import Sample
from attnsel_report.suspects import suspects
from attnsel_report.tables import token_table

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


def surplus_by_hand(sample, token, own):
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


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("grouped", [False, True])
def test_the_surplus_is_what_other_words_do_not_explain(n_classes, grouped):
    groups = [i // 2 if grouped and i < 60 else i for i in range(150)]
    sample = drawn(n_classes, pd.factorize(np.array(groups))[0])
    found = by_surplus(token_table(sample, sample), sample, 1.0)
    assert len(found) == 8
    expected = [
        surplus_by_hand(sample, row["id"], row["class number"])
        for row in found.to_dict("records")
    ]
    np.testing.assert_allclose(found["surplus"], expected, rtol=1e-5, atol=1e-5)
    assert found["surplus"].is_monotonic_decreasing
    assert set(found["token"].head(n_classes)) == set(LETTERS[:n_classes])


def test_a_tag_comes_before_words_that_say_the_same():
    random = np.random.default_rng(3)
    labels = random.integers(2, size=600)
    words = ["good fine nice", "bad poor dull"]
    texts = []
    for i, label in enumerate(labels.tolist()):
        is_told = random.random() < 0.6
        side = label if is_told else random.integers(2)
        tag = " zzz" if label and random.random() < 0.15 else ""
        texts.append(f"{words[side]} {'abcdefgh'[i % 8]}{tag}")
    corpus = Corpus.from_texts(texts, labels, min_count=1)
    sample = Sample(corpus, np.arange(600), np.arange(600))
    tokens = token_table(sample, sample)
    assert tokens["token"][0] != "zzz"
    found = by_surplus(tokens, sample, 0.05)
    assert found["token"].iloc[0] == "zzz"
    assert set(found["token"]) == {"zzz", *" ".join(words).split()}
    assert (found["q"] <= 0.05).all()


def test_where_a_half_has_one_class_the_order_stays_that_of_evidence():
    labels = np.array([1] + [0] * 19)
    texts = [f"w{i % 3} all" for i in range(20)]
    corpus = Corpus.from_texts(texts, labels, min_count=1)
    sample = Sample(corpus, np.arange(20), np.arange(20))
    tokens = token_table(sample, sample)
    found = by_surplus(tokens, sample, 1.0)
    half = np.random.default_rng(0).permutation(20) < 10
    assert len(set(labels[half])) + len(set(labels[~half])) == 3
    assert sorted(found["token"]) == sorted(tokens["token"])
    assert np.isfinite(found["surplus"]).all()
    alone = Sample(corpus[1:], np.arange(19), np.arange(19))
    same = by_surplus(tokens, alone, 1.0)
    assert same["token"].tolist() == tokens["token"].tolist()
    assert (same["surplus"] == 0).all()


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
