"""Corpora through the Hub's own libraries, from a Hub on this machine."""

from __future__ import annotations

import os

from attnsel.texts.reviews import generate_reviews
from support import forks
from support.hub import hub, repository

LOAD = """
import warnings
import attnsel
from attnsel.texts.hub import SOURCES
warnings.simplefilter("error", UserWarning)
for name in ("imdb", "yelp"):
    SOURCES[name]["per_class"] = {"train": 30, "test": 20}
    train = attnsel.load_corpus(name, min_count=2)
    test = attnsel.load_corpus(name, "test", vocab=train.vocab)
    print(train.name, len(train), len(test), *train.labels.bincount().tolist())
train = attnsel.load_corpus("someone/reviews", min_count=2)
test = attnsel.load_corpus("someone/reviews", "test", vocab=train.vocab)
print(train.classes, len(train), len(test))
"""
SAID = "imdb 60 40 30 30\nyelp 60 40 30 30\n('neg', 'pos') 60 40\n"


@forks.in_forks
def test_each_file_is_fetched_from_the_hub_once(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(LOAD)
    splits = {
        split: tuple(map(list, generate_reviews(size, classes=2, stream=size)))
        for split, size in (("train", 60), ("test", 40))
    }
    names = ("stanfordnlp/imdb", "fancyzhx/yelp_polarity", "someone/reviews")
    with hub(dict.fromkeys(names, repository(splits))) as running:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("HF_")}
        env = inherited | {
            "ATTNSEL_DATA": "",
            "ATTNSEL_CACHE": str(tmp_path / "attnsel"),
            "HF_ENDPOINT": running.address,
            "HF_HOME": str(tmp_path / "hub"),
        }
        for fetched in (True, False):
            (done,) = forks.run(script, [], environment=env)
            assert done.stdout == SAID, done.stderr
            files = [f for f in running.downloads if f.endswith(".parquet")]
            assert len(files) == len(set(files)) == (6 if fetched else 0)
            running.downloads.clear()
