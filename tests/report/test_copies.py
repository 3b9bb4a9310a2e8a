"""Near copies: what most texts share is no likeness, and each has one centre."""

import numpy as np
import pytest

from attnsel import Corpus
from attnsel.texts.reviews import generate_reviews
from attnsel_report.copies import ALIKE, HALF_ALIKE, find_near_copies

WORDS = [f"word{i}" for i in range(3000)]
DISCLAIMER = " ".join(f"confidential{i}" for i in range(31))


def drawn(n: int, length: int, seed: int = 0) -> list[list[str]]:
    """Return texts of words drawn at random."""
    random = np.random.default_rng(seed)
    return [random.choice(WORDS, length, replace=False).tolist() for _ in range(n)]


def likeness(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    corpus = Corpus.from_texts(texts, min_count=1)
    assert len(corpus) == len(texts)
    return find_near_copies(corpus)


def copies(texts: list[str]) -> np.ndarray:
    """Return which texts are near copies of another one."""
    return np.flatnonzero(likeness(texts)[0] != np.arange(len(texts)))


def test_a_text_with_a_word_more_is_a_near_copy_of_the_text():
    texts, _ = generate_reviews(60)
    centre, _ = likeness([*texts, *(f"{text} indeed" for text in texts)])
    assert (centre[60:] == centre[:60]).all()


@pytest.mark.parametrize("words", [0, 10, 31])
def test_a_disclaimer_under_every_text_makes_none_of_them_a_copy(words):
    below = " ".join(DISCLAIMER.split()[:words])
    texts = [f"{' '.join(text)} {below}" for text in drawn(300, 12)]
    centre, half = likeness(texts)
    assert (centre == np.arange(300)).all() and len(half) == 0


@pytest.mark.parametrize(("length", "replaced"), [(6, 1), (8, 1), (40, 6)])
def test_short_and_long_copies_of_which_some_words_were_replaced_are_found(
    length, replaced
):
    texts = drawn(100, length)
    again = [
        [*text[:-replaced], *WORDS[i : i + replaced]] for i, text in enumerate(texts)
    ]
    both = [" ".join(text) for text in [*texts, *again]]
    assert len(copies(both)) >= 98


def test_a_number_that_differs_between_texts_of_one_form_is_no_copy():
    kinds = ("good", "bad", "slow", "short")
    assert not len(copies([f"film number {i} was {kinds[i % 4]}" for i in range(200)]))


def test_long_texts_of_one_small_vocabulary_are_no_copies():
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(WORDS[:50], 2000)) for _ in range(20)]
    assert not len(copies(texts))


def test_copies_are_linked_to_one_centre_and_not_in_chains():
    # Each text shares half of its words with the next one: a chain from a to e.
    words = iter(WORDS)
    pieces = [[next(words) for _ in range(10)] for _ in range(6)]
    chain = [" ".join(pieces[i] + pieces[i + 1]) for i in range(5)]
    others = [" ".join(text) for text in drawn(60, 20, seed=1)]
    centre, _ = likeness([*chain, *others])
    of_chain = centre[:5]
    assert (centre[of_chain] == of_chain).all()  # a centre is its own
    assert len(set(of_chain.tolist())) > 1
    shared = [
        set(chain[i].split()) & set(chain[c].split()) for i, c in enumerate(of_chain)
    ]
    assert all(len(words) >= 10 for words in shared)


def test_pairs_that_are_half_alike_are_named_and_each_is_half_alike_by_brute_force():
    texts = drawn(80, 30)
    for i, text in enumerate(texts[40:]):
        shared = 10 + i % 10
        text[:shared] = texts[i][:shared]
    together = [" ".join(text) for text in texts]
    corpus = Corpus.from_texts(together, min_count=1)
    centre, half = find_near_copies(corpus)
    contains = (corpus.counts > 0).toarray()
    weight = np.log(len(texts) / contains.sum(axis=0))
    weight[contains.sum(axis=0) > len(texts) / 2] = 0

    def alike(i: int, j: int) -> float:
        both, either = contains[i] & contains[j], contains[i] | contains[j]
        return float(weight[both].sum() / weight[either].sum())

    assert len(half)
    assert all(alike(i, j) >= HALF_ALIKE for i, j in half)
    assert all(alike(i, c) >= ALIKE for i, c in enumerate(centre) if i != c)
