"""The tables of evidence, compared row by row with counts of texts."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import false_discovery_control, fisher_exact

from attnsel import Corpus, Vocab
from attnsel.significance.lean import shrunken_lean
from attnsel.statistics import label_z
from attnsel_report.pairs import neighbours, pair_p
from attnsel_report.sequences import in_order, read_texts
from attnsel_report.tables import (
    pair_table,
    token_table,
    with_attention,
    with_q,
)
from support.corpora import drawn, sampled

N_TOKENS = 12


def corpora(n_classes):
    """Return a corpus in which tokens lean, and another one in the same vocabulary.

    The last token but one occurs only in the first corpus, and the last one nowhere.
    """
    names = [f"class {k}" for k in range(n_classes)]
    vocab = Vocab([f"t{s}" for s in range(N_TOKENS + 2)], names)
    made = []
    for seed, more in ((1, [N_TOKENS]), (2, [])):
        plain = drawn(n=70, n_tokens=N_TOKENS, n_classes=n_classes, seed=seed)
        labels = plain.labels.tolist()
        rows = [np.flatnonzero(row).tolist() for row in plain.counts.toarray()]
        rows = [
            [*row, *more, k, k] if i % 3 else row
            for i, (row, k) in enumerate(zip(rows, labels, strict=True))
        ]
        # The classes differ in size.
        kept = [i for i in range(70) if labels[i] or i % 4]
        given = [names[labels[i]] for i in kept]
        made.append(Corpus.from_tokens([rows[i] for i in kept], given, vocab))
    return made


def counted(held, corpus):
    """Return the number of texts of each class that are marked in `held`."""
    labels = corpus.labels.tolist()
    return np.array(
        [
            sum(h and y == k for h, y in zip(held, labels, strict=True))
            for k in range(corpus.n_classes)
        ]
    )


@cache
def fisher_p(of_class, held, size, total):
    """Return the p-value of `of_class` texts of a class of `size` in `held` texts."""
    rest = held - of_class
    table = [[of_class, rest], [size - of_class, total - size - rest]]
    return fisher_exact(table).pvalue


def fisher(found, sizes, k):
    """Return the p-value of Fisher's test of one class against the rest."""
    return fisher_p(found[k], found.sum(), sizes[k], sizes.sum())


def least_fisher(found, sizes, k):
    """Return the least p-value that this number of texts can have under any labels."""
    held, size, total = found.sum(), sizes[k], sizes.sum()
    possible = range(max(0, held - (total - size)), min(held, size) + 1)
    return min(fisher_p(x, held, size, total) for x in possible)


def adjusted(p, least):
    """Return q-values of the tests that can be significant, by Tarone's rule."""
    tests = 1
    while (least <= 0.05 / tests).sum() > tests:
        tests += 1
    q = np.ones(p.shape)
    q[least <= 0.05 / tests] = false_discovery_control(p[least <= 0.05 / tests])
    return q


def lean_to(found, k):
    """Return the share of a class minus the mean share of the other classes."""
    share = found / found.sum()
    return share[k] - np.delete(share, k).mean()


def alone(table):
    """Return a table with q-values that are adjusted for its own rows only."""
    return with_q({"alone": table})["alone"]


def check_rows(table, holds, again, p, least, train, test):
    """Compare each row of a table with a count of the texts that contain its feature.

    `holds` and `again` are masks (texts, features) for training and held-out texts, `p`
    contains the p-values of each class, and `least` the least possible p-values.
    """
    sizes = counted([True] * len(train), train)
    n_tested = p.shape[1]
    owns = {}
    for row in table.to_dict("records"):
        i = row["id"]
        found = counted(holds[:, i], train)
        new = counted(again[:, i], test)
        excess = [
            k
            for k, n in enumerate(sizes)
            if found.sum() and found[k] / found.sum() > n / sizes.sum()
        ]
        of_class = np.broadcast_to(p[i], len(sizes))
        own = min(excess, key=lambda k: of_class[k], default=0)
        owns[i] = min(n_tested * of_class[own], 1)
        assert (row["class number"], row["class"]) == (own, f"class {own}")
        assert (row["texts"], row["held-out texts"]) == (found.sum(), new.sum())
        if found.sum():
            assert row["share"] == pytest.approx(found[own] / found.sum())
            assert row["lean"] == pytest.approx(lean_to(found, own))
        else:
            assert np.isnan([row["share"], row["lean"]]).all()
        if new.sum():
            assert row["held-out"] == pytest.approx(lean_to(new, own))
            assert row["held-out share"] == pytest.approx(new[own] / new.sum())
        else:
            assert np.isnan(row["held-out"])
    places = list(owns)
    of_rows = np.array([owns[i] for i in places])
    lowest = np.minimum(n_tested * least[places].min(axis=1), 1)
    np.testing.assert_allclose(table["q"], adjusted(of_rows, lowest))
    order = [
        (r["q"], -abs(r["shrunken"]), -r["texts"]) for r in table.to_dict("records")
    ]
    assert order == sorted(order)
    often = np.flatnonzero(np.sum(holds, axis=0) >= 2)
    assert sorted(table["id"]) == often.tolist()
    assert table.index.tolist() == list(range(len(table)))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_for_each_token_tells_what_its_texts_are(n_classes):
    train, test = corpora(n_classes)
    V = len(train.vocab)
    scores = torch.randn(V, n_classes, generator=torch.Generator().manual_seed(0))
    holds = train.counts.toarray() > 0
    sizes = counted([True] * len(train), train)
    found = [counted(holds[:, s], train) for s in range(V)]
    tested = range(n_classes) if n_classes > 2 else [1]
    p = np.array([[fisher(f, sizes, k) for k in tested] for f in found])
    least = np.array([[least_fisher(f, sizes, k) for k in tested] for f in found])
    table = alone(token_table(sampled(train), sampled(test)))
    table = with_attention(table, scores[:, 0])
    check_rows(table, holds, test.counts.toarray() > 0, p, least, train, test)
    assert 0 < (table["q"] < 0.05).sum() < V
    assert set(table["class number"]) == set(range(n_classes))
    shrunken, z = shrunken_lean(train).numpy(), label_z(train).numpy()
    attention = scores[:, 0].numpy()
    for row in table.to_dict("records"):
        s, k = row["id"], row["class number"]
        assert row["token"] == train.vocab[s]
        lower = (attention < attention[s]).sum() / (V - 1)
        assert row["attention rank"] == pytest.approx(lower)
        assert row["attention"] == attention[s]
        if n_classes > 2:
            expected = shrunken[s, k], z[s, k]
        else:
            expected = np.array([shrunken[s], z[s]]) * (1 if k else -1)
        found = row["shrunken"], row["z"]
        np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_for_each_pair_tells_what_its_texts_are(n_classes):
    parts, holds = [], []
    for corpus in corpora(n_classes):
        rows = ["".join(w for w, _ in corpus.words(i)) for i in range(len(corpus))]
        names = [corpus.classes[k] for k in corpus.labels.tolist()]
        parts.append(Corpus.from_texts(rows, names, vocab=corpus.vocab))
    train, test = parts
    pairs = neighbours(train, in_order(train))
    names = pairs.names(train.vocab)
    p, least = pair_p(pairs, train)
    again = neighbours(test, in_order(test), pairs.ids)
    table = alone(pair_table(sampled(train), sampled(test), pairs, again))
    for corpus in parts:
        padded = [f" {text} " for text in corpus.texts]
        holds.append(np.array([[f" {n} " in text for n in names] for text in padded]))
    check_rows(table, *holds, p, least, train, test)
    assert len(table) == len(names) > 20
    for row in table.to_dict("records"):
        pair = f"{train.vocab[row['left']]} {train.vocab[row['right']]}"
        assert row["token"] == pair == names[row["id"]]


def test_texts_are_read_once_for_their_bags_and_their_order():
    texts = ["good film . Good", "", "a film , a", None, "b é b", "b"]
    labels = [1, 1, 0, 0, 1, None]
    corpus, order = read_texts(texts, labels, tokenize=None, name="mine")
    assert corpus.texts == ("good film . Good", "a film , a", "b é b")
    assert corpus.left_out == {"text": [1, 3], "label": [5]}
    rows = np.array([4, 0, 2])
    again = in_order(corpus[[2, 0, 1]])
    assert order.at(rows).ids.tolist() == again.ids.tolist()
    assert order.at(rows).sizes.tolist() == again.sizes.tolist() == [4, 5, 5]
    expected = Corpus.from_texts(texts, labels, min_count=1, on_bad_rows="ignore")
    assert corpus.vocab == expected.vocab
    assert (corpus.counts != expected.counts).nnz == 0
    bare = Corpus(corpus.counts, corpus.labels, corpus.vocab)
    with pytest.raises(ValueError, match="counts without texts, so the order of its"):
        in_order(bare)


def test_one_rate_is_for_the_rows_of_all_tables():
    p, least = np.array([1e-6, 0.02, 0.5, 0.01]), np.zeros(4)
    rows = pd.DataFrame({"p": p, "least": least, "name": [*"abcd"]})
    found = with_q({"one": rows[:2], "none": rows[:0], "other": rows[2:]})
    q = dict(zip("abcd", false_discovery_control(p), strict=True))
    for table in found.values():
        assert table["q"].tolist() == [q[name] for name in table["name"]]
        assert table["q"].is_monotonic_increasing
    assert found["other"]["name"].tolist() == ["d", "c"]


def test_a_token_goes_with_the_class_that_holds_it_more_often_than_luck():
    # There are two texts of each class. "b" is in one of x and in both of y.
    sequences = [[0, 1], [0], [0, 1], [0, 1], [0], [0]]
    vocab = Vocab(["a", "b"], ("x", "y", "z"))
    corpus = Corpus.from_tokens(sequences, ["x", "x", "y", "y", "z", "z"], vocab)
    table = token_table(sampled(corpus), sampled(corpus))
    assert dict(zip(table["token"], table["class"], strict=True)) == {
        "a": "x",
        "b": "y",
    }
    assert table["p"].tolist() == [1, 1]
    assert table.columns[0] == "token"
