"""Copies, near copies and groups count once, as in a count by hand."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import binom

from attnsel import Corpus, Vocab
from attnsel.significance.exact_test import beyond_luck, q_values
from attnsel.significance.groups import group_numbers, linked, same_texts, sides
from attnsel.texts.reviews import generate_reviews


def by_hand(holds, labels, n_classes, groups, wanted):
    """Count the groups of each class with a row whose entry in a column is `wanted`."""
    counted = np.zeros((holds.shape[1], n_classes), int)
    for column in range(holds.shape[1]):
        for group in set(groups):
            rows = np.flatnonzero((groups == group) & (holds[:, column] == wanted))
            if len(rows):
                counted[column, labels[rows[0]]] += 1
    return counted


@given(st.integers(0, 10**6))
def test_a_group_counts_once_on_either_side(seed):
    random = np.random.default_rng(seed)
    n, P, K = random.integers(1, 25), random.integers(1, 6), random.integers(2, 4)
    holds = random.random((n, P)) < random.random()
    labels = random.integers(K, size=n)
    names = random.integers(max(1, n // random.integers(1, 4)), size=n)
    _, groups = np.unique(names, return_inverse=True)
    held, lacked = sides(csr_array(holds.astype(float)), labels, K, groups)
    assert (held == by_hand(holds, labels, K, groups, True)).all()
    assert (lacked == by_hand(holds, labels, K, groups, False)).all()


def test_copies_differ_in_case_and_space_and_in_nothing_else():
    texts = ["A film", "a  film", "film a", "a film .", "a film", "no"]
    corpus = Corpus.from_texts(texts, [0, 1] * 3, min_count=1)
    assert same_texts(corpus).tolist() == [0, 0, 2, 3, 0, 5]
    # Without texts, copies are unknown.
    bare = Corpus(corpus.counts, corpus.labels, corpus.vocab)
    assert same_texts(bare).tolist() == list(range(6))


def test_groups_are_joined_with_copies_and_a_missing_name_is_shared_by_none():
    texts = ["a film", "so good", "a film", "so bad", "none", "none such"]
    corpus = Corpus.from_texts(texts, [0, 1] * 3, min_count=1)
    names = ["x", "x", "y", "z", None, None]
    assert group_numbers(corpus, names).tolist() == [0, 0, 0, 1, 2, 3]
    assert group_numbers(corpus).tolist() == [0, 1, 0, 2, 3, 4]
    with pytest.raises(ValueError, match="^groups: expected 6 names.* got 2"):
        group_numbers(corpus, ["x", "y"])
    chain = linked(np.array([0, 0, 1, 1, 2]), np.array([5, 6, 6, 7, 8]))
    assert chain.tolist() == [0, 0, 0, 0, 1]


def test_q_values_are_of_groups_where_a_group_is_all_or_nothing():
    sequences = [[0, 1], [0, 1, 1], [0, 1], [1], [1, 1], [0, 1], [1]]
    groups = ["a", "a", "b", "c", "c", "d", "e"]
    labels = [1, 1, 1, 0, 0, 1, 0]
    vocab = Vocab(["s", "t"])
    rows = Corpus.from_tokens(sequences, labels, vocab)
    first = [[0, 1], [0, 1], [1], [0, 1], [1]]
    firsts = Corpus.from_tokens(first, [1, 1, 0, 1, 0], vocab)
    torch.testing.assert_close(q_values(rows, groups=groups), q_values(firsts))
    assert q_values(rows)[0] < q_values(rows, groups=groups)[0]


def shuffled_by_group(texts, groups, shares, seed):
    """Return one label per text, shuffled among the groups in given shares."""
    size = max(groups) + 1
    ends = np.cumsum(shares) / np.sum(shares) * size
    labels = np.searchsorted(ends, np.arange(size) + 0.5)
    return np.random.default_rng(seed).permutation(labels)[groups]


def copied(texts):
    return texts + texts, [*range(len(texts))] * 2


def by_author(texts):
    """Return texts signed by authors, who have fifteen texts each, and the groups."""
    groups = [i // 15 for i in range(len(texts))]
    signed = [
        f"{text} by{group}" if i % 15 else text
        for i, (text, group) in enumerate(zip(texts, groups, strict=True))
    ]
    return signed, groups


@pytest.mark.parametrize("shares", [(1, 1), (95, 5)], ids=str)
@pytest.mark.parametrize("kind", [copied, by_author])
def test_labels_shuffled_by_group_give_a_finding_as_rarely_as_promised(kind, shares):
    texts, groups = kind(generate_reviews(300)[0])
    names = None if kind is copied else groups
    corpus = Corpus.from_texts(texts, np.arange(len(texts)) % 2, min_count=2)
    false = by_row = 0
    for seed in range(15):
        labels = torch.from_numpy(shuffled_by_group(texts, groups, shares, seed))
        noise = corpus.with_labels(labels)
        false += bool(beyond_luck(noise, groups=names).any())
        bare = Corpus(noise.counts, labels, noise.vocab)
        by_row += bool(beyond_luck(bare).any())
    # At the promised 5%, this many false draws occur about once in a thousand times.
    assert binom.sf(false - 1, 15, 0.05) > 1e-3
    if shares == (1, 1):  # counted row by row, the promise is broken
        assert by_row > 10


def test_a_token_that_no_labels_could_make_significant_is_no_test():
    # Among 40 texts, half of them of a class, a token in two has p = .23 at least.
    sequences = [[0, 1 + i // 2] if i < 6 else [0, *([4] * (i % 2))] for i in range(40)]
    labels = [i % 2 for i in range(40)]
    corpus = Corpus.from_tokens(sequences, labels, Vocab(list("abcde")))
    q = q_values(corpus)
    assert q[:4].tolist() == [1, 1, 1, 1]
    two = [[0, *([1] * (4 in row))] for row in sequences]
    alone = Corpus.from_tokens(two, labels, Vocab(["a", "b"]))
    assert q[4] == q_values(alone)[1] < 1e-6
