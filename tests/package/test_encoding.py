"""Counts of texts: in blocks, on the disk, and in a corpus of small size."""

import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attnsel import encoding
from attnsel.corpus import Corpus

TEXTS = ["a b a", "b ?", "c", "", "a c c c", "?", "b"]
LABELS = ["x", "y", "x", "y", None, "y", "x"]


def brute(texts, vocab):
    bags = [Counter(text.split()) for text in texts]
    return [[bag[token] for token in vocab] for bag in bags]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_texts_counted_in_blocks_are_counted_once(size, monkeypatch):
    monkeypatch.setattr(encoding, "BLOCK_SIZE", size)
    corpus = Corpus.from_texts(TEXTS, LABELS, min_count=1, on_bad_rows="ignore")
    # Texts without label do not count; otherwise c would come first.
    assert corpus.vocab == ("b", "?", "a", "c")
    usable = [text for text, label in zip(TEXTS, LABELS, strict=True) if text and label]
    assert corpus.counts.toarray().tolist() == brute(usable, corpus.vocab)
    assert corpus.left_out == {"text": [3], "label": [4]}
    assert corpus.counts.indices.dtype == corpus.counts.indptr.dtype == np.int32
    assert corpus.counts.has_sorted_indices


def test_a_block_has_about_the_size_that_is_asked_for():
    blocks = encoding.in_parts(np.full(100, 3), 30)
    assert [part.stop - part.start for part in blocks] == [9, *[10] * 9, 1]


@settings(max_examples=60)
@example([20, 10])  # two thirds to the digit
@given(st.lists(st.integers(1, 30), min_size=1, max_size=30))
def test_a_small_corpus_keeps_two_thirds_of_what_is_written(times):
    text = " ".join(f"w{i} " * n for i, n in enumerate(times))
    total = sum(times)
    shares = {m: sum(n for n in times if n >= m) / total for m in (20, 10, 5, 2, 1)}
    expected = max(m for m, share in shares.items() if 3 * share >= 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        corpus = Corpus.from_texts([text])
    frequent = [n for n in times if n >= expected]
    assert len(corpus.vocab) == len(frequent)
    assert corpus.lengths.tolist() == [sum(frequent)]
    messages = [str(warning.message) for warning in caught]
    if expected == 20:
        assert not messages
        return
    assert messages == [
        f"the corpus is small, so min_count is {expected} instead of 20: "
        f"{len(frequent)} of {len(times)} tokens are kept; with 20, the tokens "
        f"kept would cover only {shares[20]:.0%} of the text"
    ]


def test_more_than_one_clause_in_twenty_tokens_is_a_warning():
    words, clauses = [f"w{i}" for i in range(19)], ["这部电影很好看", "演员也很好看"]
    Corpus.from_texts([" ".join([*words, clauses[0]])], min_count=1)  # one in twenty
    with pytest.warns(
        UserWarning, match="^2 of 21 tokens are clauses, because the texts"
    ):
        Corpus.from_texts([" ".join([*words, *clauses])], min_count=1)
