"""Generated reviews: words have the intended leans, and a seed fixes all words."""

import hashlib
import re
from functools import cache
from itertools import chain

import numpy as np
import pytest
from scipy.stats import spearmanr

from attnsel.corpus import Corpus
from attnsel.texts import reviews
from attnsel.texts.reviews import generate_reviews

# Its corpora are made once, in one process.
pytestmark = pytest.mark.xdist_group("reviews")


@cache
def generated(classes=2):
    return generate_reviews(4000 if classes == 2 else 2000, classes=classes)


@cache
def as_corpus(classes=2, min_count=1):
    return Corpus.from_texts(*generated(classes), min_count=min_count)


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


@pytest.mark.parametrize("classes", [2, 5])
def test_each_opinion_word_leans_as_its_strength_says(classes):
    words, strength, _ = reviews._lexicon()
    corpus = as_corpus(classes)
    texts, labels = generate_reviews(10, classes=classes)
    assert labels == [i % classes for i in range(10)] and len(texts) == 10
    counts = corpus.counts.toarray()
    place = 2 * corpus.labels.numpy() / (classes - 1) - 1
    lean = [place @ counts[:, corpus.vocab.index(word)] for word in words]
    assert spearmanr(lean, strength).statistic > 0.9


def test_as_many_opinions_are_negated_as_asked_for():
    opinion = "|".join(reviews._lexicon()[0])
    for negation in (0.0, 0.3):
        said = " ".join(generate_reviews(500, negation=negation)[0])
        found = re.findall(rf"\b(not )?(?:{opinion})\b", said)
        assert abs(np.mean([bool(before) for before in found]) - negation) < 0.02
