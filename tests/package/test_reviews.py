"""The grammar of reviews: its known statistics, and that a seed fixes every word."""

import hashlib
import re
from functools import cache
from itertools import chain

import numpy as np
import pytest
from scipy.stats import binomtest

from attnsel.corpus import Corpus
from attnsel.texts import reviews
from attnsel.texts.reviews import expected_counts, generate_reviews

# Its corpora are made once, in one process.
pytestmark = pytest.mark.xdist_group("reviews")


@cache
def generated(classes=2):
    return generate_reviews(4000 if classes == 2 else 2000, classes=classes)


@cache
def as_corpus(classes=2, min_count=1):
    return Corpus.from_texts(*generated(classes), min_count=min_count)


def counts_by_class(corpus):
    """How often each token occurs in each class, (K, V)."""
    one_hot = np.eye(corpus.n_classes)[corpus.labels.numpy()]
    return one_hot.T @ corpus.counts.toarray()


def test_posterior_difference_of_opinion_words_is_the_known_one():
    corpus = as_corpus()
    negative, positive = counts_by_class(corpus)
    expected = expected_counts()
    assert len(expected) > 200
    reversed_is_noticed = 0
    for word, rate in expected.items():
        s = corpus.vocab.index(word)
        total = int(negative[s] + positive[s])
        assert total > 0
        # 236 words: a p-value below 1e-6 means the share is not the stated one.
        own, other = (
            binomtest(int(positive[s]), total, share).pvalue
            for share in rate[::-1] / rate.sum()
        )
        assert own > 1e-6, word
        reversed_is_noticed += other < 1e-6
    assert reversed_is_noticed > 100


def test_signed_frequency_of_opinion_words_is_the_known_one():
    corpus = as_corpus()
    alpha = (corpus.signs.numpy() @ corpus.counts.toarray()) / len(corpus)
    for word, rate in expected_counts().items():
        error = abs(alpha[corpus.vocab.index(word)] - (rate[1] - rate[0]) / 2)
        # The count of a word in a review is close to Poisson.
        assert error < 5 * np.sqrt(rate.mean() / len(corpus)), word


@pytest.mark.parametrize("classes", [2, 5])
def test_expected_counts_of_each_class(classes):
    corpus = as_corpus(classes)
    found = counts_by_class(corpus) * classes / len(corpus)
    expected = expected_counts(classes)
    for word, rate in expected.items():
        error = abs(found[:, corpus.vocab.index(word)] - rate)
        spread = np.sqrt(rate * classes / len(corpus))
        assert (error <= 5.5 * spread).all(), word
    # Each class holds the same number of opinions, five on average.
    assert np.allclose(sum(expected.values()), 5)


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_classes_mirror_each_other(classes):
    expected = list(expected_counts(classes).values())
    assert np.allclose(sorted(c[0] for c in expected), sorted(c[-1] for c in expected))


def test_negation_borrows_words_of_the_other_side():
    expected = expected_counts()
    texts, labels = generated()
    for label in (0, 1):
        said = [text for text, y in zip(texts, labels, strict=True) if y == label]
        negated = re.findall(r"\bnot (\w+)", " ".join(said))
        opposite = [
            expected[word][label] < expected[word][1 - label] for word in negated
        ]
        assert len(opposite) > 200
        assert np.mean(opposite) > 0.6


def test_as_many_opinions_are_negated_as_asked_for():
    opinion = "|".join(expected_counts())
    for negation in (0.0, 0.3):
        said = " ".join(generate_reviews(500, negation=negation)[0])
        found = re.findall(rf"\b(not )?(?:{opinion})\b", said)
        assert abs(np.mean([bool(before) for before in found]) - negation) < 0.02


def test_tokens_cover_every_degree_of_polarity():
    known = np.array([(c[1] - c[0]) / c.sum() for c in expected_counts().values()])
    assert (known == 1).sum() == (known == -1).sum() == 28
    negative, positive = counts_by_class(as_corpus(min_count=20))
    found = (positive - negative) / (positive + negative)
    assert np.histogram(found, bins=20, range=(-1, 1))[0].min() >= 3


def test_other_tokens_tell_nothing_of_the_label():
    corpus = as_corpus()
    negative, positive = counts_by_class(corpus)
    opinions = set(expected_counts())
    for s, token in enumerate(corpus.vocab):
        if token not in opinions:
            total = int(negative[s] + positive[s])
            assert binomtest(int(positive[s]), total).pvalue > 1e-6, token


def test_opinion_words_occur_nowhere_else():
    lists = [reviews.GRAMMAR[part].values() for part in ("sentences", "slots")]
    neutral = " ".join(chain.from_iterable(chain(*lists))).lower()
    neutral = re.sub(r"\{\w+\}", " ", neutral)
    words = reviews._lexicon()[0]
    assert not set(re.findall(r"\w+", neutral)) & set(words)
    assert len(set(words)) == len(words)
    assert all(re.fullmatch("[a-z]+", word) for word in words)


def test_the_corpus_is_large_balanced_and_looks_like_reviews():
    texts, labels = generated()
    assert len(as_corpus(min_count=20).vocab) >= 500
    assert labels.count(0) == labels.count(1) == 2000
    lengths = as_corpus().lengths
    assert lengths.min() >= 20 and lengths.max() <= 180
    assert 70 < lengths.double().mean() < 110
    for text in texts[:500]:
        assert not re.search(r"[{}_]|  | [.,;!?]", text)
        assert all(s[0].isupper() for s in re.split(r"(?<=[.!?]) ", text))
    assert any("not " in text for text in texts)


def test_stars_come_in_five_classes():
    _, labels = generate_reviews(10, classes=5)
    assert labels == [0, 1, 2, 3, 4] * 2
    middle = {w for w, c in expected_counts(5).items() if c.argmax() == 2}
    assert {"ordinary", "ambitious"} <= middle


def test_a_seed_fixes_every_word_on_every_machine():
    texts, _ = generate_reviews(50)
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    assert digest[:16] == "25f1324acd128f91"
    assert generate_reviews(20)[0] == texts[:20]
    assert generate_reviews(50, seed=1)[0] != texts


def test_streams_are_different_draws():
    train, test = set(generated()[0]), set(generate_reviews(500, stream=1)[0])
    assert (len(train), len(test)) == (4000, 500)
    assert not train & test
