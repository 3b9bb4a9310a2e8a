"""Corpora that the Hub's own libraries load from a Hub on this machine."""

import datasets
import pytest
from huggingface_hub import constants

import attnsel
from attnsel.texts.reviews import generate_reviews
from attnsel_readers import hub as module
from support.hub import hub, repository

pytestmark = pytest.mark.usefixtures("alone")

UNREACHABLE = module.unreachable  # which the fixture `alone` replaces


def ask_at(monkeypatch, address):
    """Make the libraries use the Hub at an address, as HF_ENDPOINT would."""
    files = address + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", files)
    monkeypatch.setattr(datasets.config, "HF_ENDPOINT", address)
    monkeypatch.setattr(module, "unreachable", UNREACHABLE)


def test_a_data_set_is_fetched_from_the_hub_once(monkeypatch):
    splits = {"train": generate_reviews(60), "test": generate_reviews(40, stream=1)}
    with hub({"someone/reviews": repository(splits, "plain_text")}) as running:
        for fetched in (True, False):
            # Once there are the files, the network is not needed.
            ask_at(monkeypatch, running.address if fetched else "http://127.0.0.1:9")
            train = attnsel.load_corpus("someone/reviews", min_count=2)
            test = attnsel.load_corpus("someone/reviews", "test", vocab=train.vocab)
            assert (len(train), len(test)) == (60, 40)
            assert train.classes == ("neg", "pos")
            files = [f for f in running.downloads if f.endswith(".parquet")]
            assert len(files) == len(set(files)) == (2 if fetched else 0)
            running.downloads.clear()
