"""The order of findings, and labels that look wrong, computed by hand."""

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from attnsel import Corpus, Vocab
from attnsel_report import suspects as module
from attnsel_report.ranking import Evidence, top_findings
from attnsel_report.splits import Sample
from attnsel_report.surface import MEASURES, measure_table
from attnsel_report.suspects import suspects
from attnsel_report.tables import token_table, with_q
from support.corpora import sampled

WORDS = [["good", "fine", "nice"], ["bad", "poor", "dull"]]


def evidence_of(sample):
    """Return the evidence of a sample that is also used as held-out texts."""
    none = token_table(sample, sample)[:0]
    measures = none.assign(above=0.5, measure="", unit="", mean=0.0, elsewhere=0.0)
    tokens = token_table(sample, sample)
    tables = {"tokens": tokens, "pairs": none.assign(left=0, right=0), "form": none}
    tables = with_q(tables | {"measures": measures})
    contains = {"tokens": sample.corpus.counts > 0}
    contains["measures"] = csr_array((len(sample.corpus), len(MEASURES)))
    return Evidence(tables, contains)


def tagged(tag, n=600, share=0.3):
    """Return texts with redundant words, and with a tag in a share of class 1."""
    random = np.random.default_rng(3)
    labels = random.integers(2, size=n)
    texts = []
    for i, label in enumerate(labels.tolist()):
        is_told = random.random() < 0.6
        side = label if is_told else random.integers(2)
        end = f" {tag}" if label and random.random() < share else ""
        two = " ".join(random.choice(WORDS[side], 2, replace=False))
        texts.append(f"{two} {'abcdefgh'[i % 8]}{end}")
    corpus = Corpus.from_texts(texts, labels, min_count=1)
    return sampled(corpus)


def with_form(sample, q, share):
    """Return the evidence of a sample with three features in disjoint texts."""
    evidence = evidence_of(sample)
    contains = np.zeros((len(sample.corpus), 3))
    for column in range(3):
        contains[np.flatnonzero(sample.corpus.targets == 1)[column::3], column] = 1
    names = ["a number", "a year", "ends with “!”"]
    form = evidence.tables["tokens"][:3].assign(token=names, id=range(3))
    form["q"], form["share"], form["class number"], form["class"] = q, share, 1, "1"
    tokens = evidence.tables["tokens"].assign(share=0.8)
    tables = evidence.tables | {"tokens": tokens, "form": form}
    return Evidence(tables, evidence.contains | {"form": csr_array(contains)})


def test_what_gives_the_class_away_is_first_and_then_q_decides():
    sample = tagged("zzz")
    given = with_form(sample, q=[0.0, 0.01, 0.02], share=[0.7, 1.0, 0.9])
    found = top_findings(given, sample.corpus, 0.05)
    tokens = given.tables["tokens"]["token"][:7].tolist()
    assert sorted(tokens) == sorted(["zzz", *chain(*WORDS)])
    # All hundred texts with the token are of the class.
    assert found["token"].tolist()[:2] == ["a year", "a number"]
    assert found["token"].tolist()[2:-1] == tokens
    assert found["token"].tolist()[-1] == "ends with “!”"
    assert len(top_findings(given, sample.corpus, 0.005)) < len(found)


@pytest.mark.parametrize(("texts", "is_first"), [(58, False), (59, True)])
def test_doubt_is_the_most_that_chance_allows(texts, is_first):
    # Of 58 texts of one class the limit is 5.03% of another, of 59 texts 4.95%.
    sample = tagged("zzz")
    half = replace(sample.corpus, labels=torch.arange(600) % 2)
    limit = 1 - 0.05 ** (1 / texts)
    given = with_form(sample, q=[0.04, 1.0, 1.0], share=1.0)
    given.tables["form"]["texts"] = texts
    found = top_findings(given, half, 0.05).set_index("token")
    assert found["doubt"]["a number"] == pytest.approx(limit / 0.5)
    assert (found.index[0] == "a number") == (limit <= 0.05) == is_first


def test_words_of_one_template_are_one_finding():
    sample = tagged("closed by agent number 7")
    found = top_findings(evidence_of(sample), sample.corpus, 0.05)
    (template,) = found[found["members"] > 1].to_dict("records")
    assert template["members"] == 5
    names = {sample.corpus.vocab[i] for i in template["words"]}
    assert names == {"closed", "by", "agent", "number", "7"}


def test_what_held_out_texts_contradict_is_left_out():
    sample = tagged("zzz")
    evidence = evidence_of(sample)
    tokens = evidence.tables["tokens"]
    base = float((sample.corpus.targets == 1).double().mean())
    for share, is_kept in ((base, False), (base + 0.01, True), (np.nan, True)):
        again = tokens["held-out share"].where(tokens["token"] != "zzz", share)
        evidence.tables["tokens"] = tokens.assign(**{"held-out share": again})
        found = top_findings(evidence, sample.corpus, 0.05)
        assert ("zzz" in found["token"].tolist()) == is_kept


def test_measures_are_listed_in_words_and_only_where_held_out_texts_agree():
    texts = ["word " * (9 if i % 2 else 3) + f"w{i % 5}" for i in range(80)]
    corpus = Corpus.from_texts(texts, np.arange(80) % 2, min_count=1)
    sample = sampled(corpus)
    evidence = evidence_of(sample)
    none = {name: evidence.tables[name][:0] for name in ("tokens", "pairs", "form")}
    measures = measure_table(sample, sample).rename(columns={"p": "q"})
    evidence = Evidence(none | {"measures": measures}, evidence.contains)
    found = top_findings(evidence, sample.corpus, 0.05)
    # The length in characters is the same thing.
    (length,) = found[found["token"].str.startswith("length")]["token"]
    assert length == "length: 10 tokens on average, in other texts 4"
    equal = measures.assign(elsewhere=measures["mean"] + 1e-6)
    evidence = Evidence(none | {"measures": equal}, evidence.contains)
    assert not len(top_findings(evidence, sample.corpus, 0.05))
    again = measures.assign(**{"held-out": 1 - measures["above"]})
    evidence = Evidence(none | {"measures": again}, evidence.contains)
    assert not len(top_findings(evidence, sample.corpus, 0.05))


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
