"""A report about leaks in so few texts that its numbers can be computed by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from attnsel import AttentionClassifier, Corpus, Vocab
from attnsel.significance.exact_test import false_discovery
from attnsel_report import quality
from attnsel_report.examples import examples, find_words
from attnsel_report.pairs import neighbours, pair_p
from attnsel_report.quality import (
    accuracies,
    best_steps,
    masked_table,
    read_without,
    shuffled,
)
from attnsel_report.sequences import in_order
from support.reference import place


def places(texts: list[str], labels: list[int], word: str, label: int) -> list[str]:
    corpus = Corpus.from_texts(texts, labels, min_count=1)
    token = corpus.vocab.index(word)
    contains = corpus.counts[:, [token]].toarray()[:, 0] > 0
    rows = np.flatnonzero(contains & (corpus.targets.numpy() == label))
    found = examples(corpus, rows, lambda row: find_words(corpus, row, [token]))
    assert all(texts[place.row].startswith("".join(place[1:])) for place in found)
    return ["".join(place[1:]) for place in found]


def test_three_examples_that_differ_are_shown_long_texts_last():
    long = "bad " + "word " * 1000
    short = "bad " + "word " * 999  # a thousand tokens
    texts = [long, short, "bad a", "bad a", "bad b", "none"]
    shown = places(texts, [0, 0, 0, 0, 0, 1], "bad", 0)
    assert [place[:5] for place in shown] == ["bad w", "bad a", "bad b"]
    shown = places(texts[:4] + texts[5:], [0, 0, 0, 0, 1], "bad", 0)
    assert [place[:5] for place in shown] == ["bad w", "bad a"]  # both long: one place


def test_the_most_frequent_class_is_that_of_the_texts_to_learn_from():
    vocab = Vocab(["a", "b"], ["no", "yes"])
    train = Corpus.from_tokens([[0], [1], [0]], ["no", "yes", "no"], vocab)
    test = Corpus.from_tokens([[0], [1], [0], [1]], ["yes", "yes", "yes", "no"], vocab)
    model = AttentionClassifier(2, 4)
    output = torch.tensor([-1.0, 1.0, 0.0, 0.0])
    place(model, embeddings=torch.eye(2, 4), output=output)
    regression = torch.tensor([1.0, 1.0, 1.0, 1.0])
    share = accuracies(train, test, model, regression)
    # Class by class: of the three that are yes one holds "b", which is read as yes.
    assert [part.value for part in share.values()] == [1 / 4, 3 / 4, 1 / 4]
    first, _, last = share
    assert (first, last) == ("attention", "always the most frequent class")


@pytest.mark.parametrize("side", [0, 1])
def test_a_pair_says_more_than_either_of_its_tokens(side):
    random = np.random.default_rng(1)
    labels = np.arange(400) % 2
    tells = np.where(labels == 1, "good", "bad")
    other = random.choice(["day", "night"], 400)
    texts = []
    for words in zip(tells, other, strict=True):
        first, second = words if side == 0 else words[::-1]
        texts.append(f"{first} {second} .")
    corpus = Corpus.from_texts(texts, labels, min_count=1)
    pairs = neighbours(corpus, in_order(corpus))
    assert false_discovery(*pair_p(pairs, corpus)).min() > 0.05


def test_a_pair_that_tells_what_its_tokens_do_not_is_found():
    # The label states whether both words are of one kind.
    random = np.random.default_rng(0)
    one, other = random.integers(2, size=(2, 400))
    labels = (one == other).astype(int)
    lefts, rights = np.array(["hot", "cold"])[one], np.array(["sun", "rain"])[other]
    texts = [f"{a} {b} ." for a, b in zip(lefts, rights, strict=True)]
    corpus = Corpus.from_texts(texts, labels, min_count=1)
    pairs = neighbours(corpus, in_order(corpus))
    q = dict(
        zip(pairs.names(corpus.vocab), pair_p(pairs, corpus)[0].min(1), strict=True)
    )
    found = {name for name, value in q.items() if value < 1e-6}
    assert found == {"hot sun", "hot rain", "cold sun", "cold rain"}


@pytest.mark.parametrize("rare", [0, 2])
def test_what_a_masked_token_costs_is_counted_over_the_right_texts(rare):
    # "tell" alone says the class; without it every text is read as the commoner one,
    # as texts of a rare token are in any case.
    vocab = Vocab(["tell", ".", "rare"], ["no", "yes"])
    train = Corpus.from_tokens(
        [[0, 1]] * 20 + [[1]] * 30,
        ["yes"] * 20 + ["no"] * 30,
        Vocab(vocab[:2], vocab.classes),
    )
    rows = [[0, 1]] * 4 + [[1]] * 6 + [[2]] * rare
    test = Corpus.from_tokens(rows, ["yes"] * 4 + ["no"] * (6 + rare), vocab)
    model = AttentionClassifier(2, 4)
    query, output = torch.tensor([[9.0, 0.0, 0.0, 0.0], [1.0, -1.0, 0.0, 0.0]])
    place(model, embeddings=torch.eye(2, 4), cls=query, output=output)
    tokens = pd.DataFrame({"id": [0]})
    (row,) = masked_table(train, test, model, 30, tokens).to_dict("records")
    assert row["token"] == "tell"
    assert row["points lost"] == pytest.approx(100 * 4 / (10 + rare))
    assert row["held-out texts with it"] == 4
    assert row["points lost on these"] == pytest.approx(100)
    # Agresti and Min: half a text more of each kind.
    n = 12 + rare
    half = 196 * math.sqrt((5 / n - (4 / n) ** 2) / n)
    assert row["plus or minus"] == pytest.approx(half)


def test_a_text_of_the_masked_token_alone_is_read_as_the_commoner_class():
    vocab = Vocab(["a", "b"], ["no", "yes"])
    for labels, answer in ((["no", "yes", "yes"], 1), (["no", "yes", "no"], 0)):
        train = Corpus.from_tokens([[0, 1], [1], [0, 1]], labels, vocab)
        test = Corpus.from_tokens([[0], [0, 0], [1]], ["no", "yes", "no"], vocab)
        assert read_without(train, test, 0, 1).tolist()[:2] == [answer, answer]


def test_a_token_is_masked_from_the_initialization_of_the_report(monkeypatch):
    generator = np.random.default_rng(0)
    rows = [generator.integers(0, 30, 8).tolist() for _ in range(80)]
    vocab = Vocab([f"w{i}" for i in range(31)], ["no", "yes"])
    corpus = Corpus.from_tokens(rows, generator.choice(["no", "yes"], 80), vocab)
    train, test = corpus[:40], corpus[40:]
    model = quality.trained(train, 3, seed=5)
    alone = read_without(train, test, 30, 3, seed=5)  # it occurs in no text
    assert (alone == quality.read(model, test)).all()
    assert (alone != read_without(train, test, 30, 3, seed=6)).any()
    seeds = []
    monkeypatch.setattr(quality, "read_without", lambda *given: seeds.append(given[-1]))
    masked_table(train, test, model, 3, pd.DataFrame({"id": [30]}), 5)
    assert seeds == [5]


def test_shuffled_labels_are_the_same_ones_dealt_anew():
    corpus = Corpus.from_tokens(
        [[i % 3] for i in range(60)], [0] * 45 + [1] * 15, list("abc")
    )
    control, _ = shuffled(corpus, 1, seed=1)
    again, _ = shuffled(corpus, 1, seed=1)
    other, _ = shuffled(corpus, 1, seed=2)
    assert control.targets.bincount().tolist() == [45, 15]
    assert control.targets.equal(again.targets)
    assert not control.targets.equal(corpus.targets)
    assert not control.targets.equal(other.targets)
    assert (control.counts != corpus.counts).nnz == 0


@pytest.mark.parametrize(("n", "apart"), [(5, 1), (19, 1), (20, 2), (100, 10)])
@pytest.mark.parametrize(("losses", "steps"), [([0.9, 0.5, 0.2, 0.4], 2), ([1, 2], 1)])
def test_steps_are_chosen_on_a_tenth_of_the_texts(monkeypatch, n, apart, losses, steps):
    # Each text has a different length.
    corpus = Corpus.from_tokens(
        [[0] * (1 + i) for i in range(n)], [0, 1] * (n // 2) + [0] * (n % 2), ["a"]
    )
    asked = []

    def fit(model, rest, **given):
        asked.append((rest, given))
        return SimpleNamespace(test_loss=torch.tensor(losses))

    monkeypatch.setattr(quality, "fit", fit)
    assert best_steps(corpus, seed=3) == steps
    ((rest, given),) = asked
    validation = given.pop("test")
    assert given == {"steps": 30, "lr": 0.02}
    assert len(validation) == apart
    lengths = [*rest.lengths.tolist(), *validation.lengths.tolist()]
    assert sorted(lengths) == list(range(1, n + 1))
    best_steps(corpus, seed=4)
    if n > 5:  # another seed sets others apart
        others = asked[1][1]["test"].lengths
        assert not torch.equal(others, validation.lengths)
