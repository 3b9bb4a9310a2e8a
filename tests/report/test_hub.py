"""Corpora through the Hub's own libraries, from a Hub on this machine."""

import os

from attnsel.texts.reviews import generate_reviews
from support import forks
from support.hub import hub, repository

LOAD = """
import warnings
import attnsel
from attnsel.texts.hub import SOURCES
warnings.simplefilter("error", UserWarning)
for name, classes in {"imdb": 2, "yelp": 2, "yelp-full": 5}.items():
    SOURCES[name]["per_class"] = {"train": 60 // classes, "test": 40 // classes}
    train = attnsel.load_corpus(name, min_count=2)
    test = attnsel.load_corpus(name, "test", vocab=train.vocab)
    print(train.name, len(train), len(test), *train.labels.bincount().tolist())
    print("\\\\" in train.vocab, "\\n" in train.texts[0])
train = attnsel.load_corpus("someone/reviews", min_count=2)
test = attnsel.load_corpus("someone/reviews", "test", vocab=train.vocab)
print(train.classes, len(train), len(test))
"""
# Yelp's texts have a backslash before line breaks and quotes.
PRINTED = """\
imdb 60 40 30 30
True False
yelp 60 40 30 30
False True
yelp-full 60 40 12 12 12 12 12
False True
('neg', 'pos') 60 40
"""


def splits(classes):
    found = {}
    for split, size in (("train", 60), ("test", 40)):
        texts, labels = generate_reviews(size, classes=classes, stream=size)
        found[split] = [rf"{text}\n\"so\"" for text in texts], labels
    return found


@forks.in_forks
def test_each_file_is_fetched_from_the_hub_once(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(LOAD)
    names = ("stanfordnlp/imdb", "fancyzhx/yelp_polarity", "someone/reviews")
    repositories = dict.fromkeys(names, repository(splits(2), "plain_text"))
    stars = repository(splits(5), "yelp_review_full")
    with hub(repositories | {"Yelp/yelp_review_full": stars}) as running:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("HF_")}
        env = inherited | {
            "ATTNSEL_DATA": "",
            "ATTNSEL_CACHE": str(tmp_path / "attnsel"),
            "HF_ENDPOINT": running.address,
            "HF_HOME": str(tmp_path / "hub"),
        }
        for fetched in (True, False):
            if not fetched:  # nor is the network asked
                env["HF_ENDPOINT"] = "http://127.0.0.1:9"
            (done,) = forks.run(script, [], environment=env)
            assert done.stdout == PRINTED, done.stderr
            files = [f for f in running.downloads if f.endswith(".parquet")]
            assert len(files) == len(set(files)) == (8 if fetched else 0)
            running.downloads.clear()
