"""Corpora through the Hub's own libraries, from a Hub on this machine."""

import warnings

import datasets
import pytest
from huggingface_hub import constants

import attnsel
from attnsel.texts import hub as module
from attnsel.texts.hub import SOURCES
from attnsel.texts.reviews import generate_reviews
from support.hub import hub, repository

pytestmark = pytest.mark.usefixtures("alone")
NAMES = ("stanfordnlp/imdb", "fancyzhx/yelp_polarity", "someone/reviews")

UNREACHABLE = module.unreachable  # which the fixture `alone` replaces


def ask_at(monkeypatch, address):
    """Let the libraries ask a Hub at an address, as HF_ENDPOINT does at their start."""
    files = address + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", files)
    monkeypatch.setattr(datasets.config, "HF_ENDPOINT", address)
    monkeypatch.setattr(module, "unreachable", UNREACHABLE)


def splits(classes):
    found = {}
    for split, size in (("train", 60), ("test", 40)):
        texts, labels = generate_reviews(size, classes=classes, stream=size)
        # Yelp's texts have a backslash before line breaks and quotes.
        found[split] = [rf"{text}\n\"so\"" for text in texts], labels
    return found


def loaded(name):
    """Load both splits; nothing may be replaced by generated reviews."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        train = attnsel.load_corpus(name, min_count=2)
        test = attnsel.load_corpus(name, "test", vocab=train.vocab)
    assert (len(train), len(test)) == (60, 40)
    return train


def test_each_file_is_fetched_from_the_hub_once(monkeypatch):
    published = {"imdb": 2, "yelp": 2, "yelp-full": 5}
    for name, classes in published.items():
        sizes = {"train": 60 // classes, "test": 40 // classes}
        monkeypatch.setitem(SOURCES[name], "per_class", sizes)
    repositories = dict.fromkeys(NAMES, repository(splits(2), "plain_text"))
    stars = repository(splits(5), "yelp_review_full")
    with hub(repositories | {"Yelp/yelp_review_full": stars}) as running:
        for fetched in (True, False):
            # Once there are the files, the network is not needed.
            ask_at(monkeypatch, running.address if fetched else "http://127.0.0.1:9")
            for name, classes in published.items():
                train = loaded(name)
                assert train.name == name
                assert train.labels.bincount().tolist() == [60 // classes] * classes
                assert ("\\" in train.vocab) == (name == "imdb")
                assert ("\n" in train.texts[0]) == (name != "imdb")
            assert loaded("someone/reviews").classes == ("neg", "pos")
            files = [f for f in running.downloads if f.endswith(".parquet")]
            assert len(files) == len(set(files)) == (8 if fetched else 0)
            running.downloads.clear()
