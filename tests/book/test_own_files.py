"""Ordinary files of readers, and the function that reads them."""

import random

import pytest

from attnsel.corpus import Corpus
from attnsel.statistics import RankCorrelation
from attnsel_book import majority_share, train_and_test
from attnsel_book.chapter import Stop
from attnsel_book.chapters.reviews import own_file
from support.display import displayed

WORDS = ["good", "bad", "film", "plot", "actor", "the", "scene", "end"]


def write(folder, labels, length):
    """Write a file with a text of `length` words per label; return its path."""
    draw = random.Random(0)
    rows = [f"{' '.join(draw.choices(WORDS, k=length))},{label}" for label in labels]
    path = folder / "mine.csv"
    path.write_text("\n".join(["text,label", *rows]))
    return str(path)


def read(source, **settings):
    """Return both corpora and the displayed text."""
    columns = {"text": "text", "label": "label", "limit": None}
    parts, outputs = displayed(train_and_test, source, **columns | settings)
    return *parts, " ".join(output.data["text/plain"] for output in outputs)


@pytest.mark.parametrize(
    ("labels", "length", "words"),
    [
        (30 * ["yes", "no"], 12, "50% of the held-out"),
        (10 * (19 * ["no"] + ["yes"]), 12, "predicting no is correct for 95%"),
        (100 * ["yes", "no"], 1, "only one known token, which gets all attention"),
        (100 * ["yes", "no"], 3, "8 tokens."),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_file_of_two_classes_is_read_and_described(tmp_path, labels, length, words):
    train, test, said = read(write(tmp_path, labels, length))
    assert len(train.classes) == len(set(test.targets.tolist())) == 2
    assert words in said
    assert len(train) > 2 * len(test)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_words_that_the_vocabulary_lacks_are_counted():
    texts = [f"good film {i}" for i in range(60)]
    _, _, said = read({"text": texts, "label": 30 * ["yes", "no"]})
    assert "33% of the held-out words are not in the vocabulary" in said


def test_of_three_classes_the_two_largest_remain_or_those_that_are_chosen(tmp_path):
    path = write(tmp_path, 40 * ["a", "b", "c", "b", "c"], 12)
    train, test, said = read(path)
    assert train.classes == test.classes == ("b", "c")
    assert len(train) + len(test) == 160 and train.vocab == test.vocab
    assert "has 3 classes" in said and "CLASSES = (..., ...)" in said
    train, _, said = read(path, classes=("a", "c"))
    assert train.classes == ("a", "c") and "has 3 classes" not in said
    with pytest.raises(Stop, match="expected two of a, b, c, got"):
        read(path, classes=("a", "x"))


@pytest.mark.parametrize(
    ("labels", "columns", "why"),
    [
        (["a", "b", "a"], {}, "not both classes in each"),
        (20 * ["a"], {}, "every row has 'a'"),
        (20 * ["a", "b"], {"text": "body"}, "expected one column 'body'"),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_file_that_cannot_be_used_is_a_sentence(tmp_path, labels, columns, why):
    with pytest.raises(Stop, match=why):
        read(write(tmp_path, labels, 12), **columns)


def test_a_file_that_is_missing_is_a_sentence():
    with pytest.raises(Stop, match="there is no file 'none.csv'"):
        read("none.csv")


def test_the_majority_share_is_the_accuracy_of_the_largest_class():
    corpus = Corpus.from_tokens([[0], [0], [1], [1]], [0, 1, 1, 1], ["x", "y"])
    assert majority_share(corpus) == 0.75


def found(value, error=0.1):
    return RankCorrelation(value, value - error, value + error)


def conclusions(accuracy=0.9, left=-0.5, held=0.5):
    """Return the sentences about results on 100 held-out texts, 80 of one class."""
    test = Corpus.from_tokens(100 * [[0]], 80 * [0] + 20 * [1], ["x"])
    shapes = {"value": found(0.5), "left arm": found(left), "right arm": found(0.5)}
    of = {"test accuracy": accuracy, "value, held-out leans": held and found(held)}
    control = {"test accuracy": 0.5, "value, held-out leans": found(0.0)}
    return own_file.sentences(
        {"your labels": shapes | of, "control": shapes | control}, test
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"accuracy": 0.89}, "which is clearly better than always predicting"),
        ({"accuracy": 0.87}, "not clearly better than always predicting the most"),
        ({"left": -0.11}, "With your labels values rise and scores form a V; with"),
        ({"left": -0.09}, "With your labels values rise and scores form the right arm"),
        ({"held": 0.21}, "values with leans in held-out texts is 0.21, and that of"),
        ({"held": 0.21}, "of the control 0.00; the first is clearly larger"),
        ({"held": 0.19}, "the first is not clearly larger"),
        ({"held": None}, "too few tokens occur"),
    ],
)
def test_of_a_readers_file_no_more_is_said_than_the_intervals_show(given, words):
    assert words in " ".join(conclusions(**given))
