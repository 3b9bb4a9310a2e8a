"""Near copies share rare sequences of words; frequent sequences are no evidence."""

import numpy as np
import pytest

from attnsel.texts.reviews import generate_reviews
from attnsel_report import copies as module
from attnsel_report.copies import ALIKE, FEW, find_near_copies
from attnsel_report.sequences import read_texts

WORDS = [f"word{a}{b}{c}" for a in "abcdefghij" for b in "klmnop" for c in "qrstuvwx"]


def drawn(n: int, length: int, seed: int = 0) -> list[list[str]]:
    """Return texts of words drawn at random."""
    random = np.random.default_rng(seed)
    return [random.choice(WORDS, length, replace=False).tolist() for _ in range(n)]


def centres(texts: list[str]) -> np.ndarray:
    labels = np.arange(len(texts)) % 2
    corpus, order = read_texts(texts, labels, tokenize=None, name="texts")
    return find_near_copies(order, corpus.vocab)


def copies(texts: list[str]) -> list[int]:
    """Return the indices of texts that are near copies of other texts."""
    return np.flatnonzero(centres(texts) != np.arange(len(texts))).tolist()


def test_a_text_with_a_word_more_is_a_near_copy_of_the_text():
    texts, _ = generate_reviews(60)
    centre = centres([*texts, *(f"{text} indeed" for text in texts)])
    assert (centre[60:] == centre[:60]).all()


@pytest.mark.parametrize("words", [5, 12, 31])
@pytest.mark.parametrize("length", [4, 12, 200])
def test_a_disclaimer_below_some_texts_makes_none_of_them_a_copy(words, length):
    below = " ".join(f"of{a}" for a in WORDS[:words])
    texts = [" ".join(text) for text in drawn(300, length)]
    assert not copies([f"{t} {below}" if i < 40 else t for i, t in enumerate(texts)])


@pytest.mark.parametrize(("length", "replaced"), [(8, 1), (12, 1), (40, 5)])
def test_short_and_long_copies_of_which_some_words_were_replaced_are_found(
    length, replaced
):
    texts = drawn(100, length)
    again = [
        [*text[:-replaced], *WORDS[i : i + replaced]] for i, text in enumerate(texts)
    ]
    assert len(copies([" ".join(text) for text in [*texts, *again]])) == 100


@pytest.mark.parametrize(("length", "found"), [(60, True), (41, False)])
def test_many_copies_of_a_long_text_are_no_phrase(length, found):
    # A text of 41 words has 39 sequences of three.
    texts = [" ".join(text) for text in drawn(200, length)]
    words = texts[0].split()
    again = [" ".join([*words[:i], "other", *words[i + 1 :]]) for i in range(30)]
    assert copies([*texts, *again]) == (list(range(200, 230)) if found else [])


@pytest.mark.parametrize("n", [FEW, FEW + 1])
def test_a_sequence_counts_up_to_five_texts(n):
    texts = [" ".join(text) for text in drawn(100, 10)]
    same = [f"{text} it was as so often" for text in texts[:n]]
    tails = [" ".join(text.split()[-2:]) + " it was as so often" for text in texts[:n]]
    assert copies([*tails, *texts[n:]]) == (list(range(1, n)) if n == FEW else [])
    assert not copies(same + texts[n:])


def test_a_text_of_two_words_is_compared_as_a_whole():
    words = ["Great film!", "great FILM 10", "great", "Great.", "2", "3", "film great"]
    others = [" ".join(text) for text in drawn(20, 10)]
    assert centres([*words, *others])[:7].tolist() == [0, 0, 2, 2, 4, 5, 6]
    many = [f"great film {'!' * i}" for i in range(12)]
    assert copies([*many, *others]) == list(range(1, 12))


def test_copies_are_linked_to_one_centre_and_not_in_chains():
    # Each text shares half of its words with the next one: a chain from a to e.
    words = iter(WORDS)
    pieces = [[next(words) for _ in range(10)] for _ in range(6)]
    chain = [" ".join(pieces[i] + pieces[i + 1]) for i in range(5)]
    others = [" ".join(text) for text in drawn(60, 20, seed=1)]
    of_chain = centres([*chain, *others])[:5]
    assert (of_chain[of_chain] == of_chain).all()  # a centre is its own
    assert len(set(of_chain.tolist())) > 1


@pytest.mark.parametrize("block", [1000, module.BLOCK])
def test_each_pair_is_as_alike_as_by_brute_force(monkeypatch, block):
    monkeypatch.setattr(module, "BLOCK", block)
    texts = drawn(80, 30)
    for i, text in enumerate(texts[40:]):
        shared = 8 + i % 15
        text[:shared] = texts[i][:shared]
    bags = [set(zip(t, t[1:], t[2:], strict=False)) for t in texts]
    centre = centres([" ".join(text) for text in texts])

    def alike(i: int, j: int) -> float:
        return len(bags[i] & bags[j]) / len(bags[i] | bags[j])

    pairs = [(i, 40 + i) for i in range(40)]
    near = {(i, j) for i, j in pairs if alike(i, j) >= ALIKE}
    assert 10 < len(near) < 30
    assert {(i, j) for i, j in pairs if centre[i] == centre[j]} == near
