"""The corpora of the package are counts of the published reviews."""

import hashlib
import importlib
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from attnsel import Corpus, Vocab, load_corpus, report
from attnsel.texts import shipped
from support.corpora import same

PUBLISHED = Path(__file__).parents[3] / "shared" / "data"  # the texts, where they are
needs_texts = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="the published texts are not on this machine"
)


@given(st.data())
@settings(max_examples=5)
def test_a_file_gives_back_what_was_packed(data):
    draw = data.draw
    width = draw(st.integers(1, 6))
    splits = {}
    for split in ("train", "test"):
        counts = st.lists(
            st.sampled_from([0, 0, 0, 1, 2, 127, 128, 255, 256, 65_535]),
            min_size=width,
            max_size=width,
        )
        rows = draw(st.lists(counts, min_size=1, max_size=300 // width))
        n = len(rows)
        splits[split] = shipped.Reviews(
            [f"t{s}" for s in range(width)],
            csr_array(np.array(rows, np.int32)),
            np.array(draw(st.lists(st.integers(1, 10), min_size=n, max_size=n)), "u1"),
            np.arange(n, dtype=np.uint64) * 2**56 + 255,
        )
    content = shipped.pack(splits)
    for split, reviews in splits.items():
        again = shipped.unpack(content, split)
        assert again.tokens == reviews.tokens
        assert (again.counts.toarray() == reviews.counts.toarray()).all()
        assert (again.stars == reviews.stars).all()
        assert (again.hashes == reviews.hashes).all()


def test_the_splits_have_the_published_sizes_and_no_texts():
    train = load_corpus("imdb")
    test = load_corpus("imdb", "test", vocab=train.vocab)
    for corpus in (train, test):
        assert corpus.labels.bincount().tolist() == [12_500, 12_500]
        assert corpus.texts is None
    assert train.vocab == test.vocab and len(train.vocab) == 13_478
    assert (train.counts != test.counts).nnz > 0
    totals = train.counts.sum(axis=0)
    assert totals.min() == 20  # min_count, which is 20 unless it is given
    assert (np.diff(totals) <= 0).all()


def test_classes_are_made_of_the_same_stars():
    rated = load_corpus("imdb-rating", min_count=1, max_tokens=50)
    assert rated.classes == (1, 2, 3, 4, 7, 8, 9, 10)
    positive = load_corpus("imdb", min_count=1, max_tokens=50)
    assert positive.labels.tolist() == (rated.labels >= 4).int().tolist()
    full = load_corpus("yelp-full", min_count=1)
    assert full.classes[:2] == ("1 star", "2 stars")
    assert full.labels.bincount().tolist() == [750, 435, 516, 1111, 2188]
    polar = load_corpus("yelp", vocab=Vocab(full.vocab))
    kept = full[full.labels != 2]
    assert polar.classes == ("negative", "positive")
    assert (polar.counts != kept.counts).nnz == 0
    assert polar.labels.tolist() == (kept.labels > 2).int().tolist()


def test_a_sample_is_balanced_seeded_and_has_the_words_of_its_own_reviews():
    sample = load_corpus("yelp", limit=101, min_count=1)
    assert sorted(sample.labels.bincount().tolist()) == [50, 51]
    assert sample.counts.sum(axis=0).min() >= 1
    assert same(sample, load_corpus("yelp", limit=101, min_count=1))
    assert not same(sample, load_corpus("yelp", limit=101, min_count=1, seed=1))
    with pytest.warns(UserWarning, match="the corpus is small, so min_count is 10 "):
        load_corpus("yelp", limit=101)
    with pytest.raises(ValueError, match="limit: expected an integer from 1 to 4484"):
        load_corpus("yelp", limit=4485)
    assert load_corpus("yelp", limit=9, min_count=1, label=None).labels is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"split": "dev"}, r"split: expected one of \['train', 'test'\], got 'dev'"),
        (
            {"tokenize": str.split},
            r"tokenize: .*counts.*load_corpus\('Yelp/yelp_review_full', tokenize=...\)",
        ),
        ({"vocab": Vocab(["a"], tokenize=str.split)}, "tokenize: .*counts of words"),
        ({"vocab": Vocab(["food"], ["bad", "good"])}, "'positive' in row 0 is not one"),
    ],
)
def test_what_counts_cannot_give_is_an_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        load_corpus("yelp", **arguments)


def test_a_report_on_counts_says_where_the_texts_are():
    with pytest.raises(ValueError, match="needs texts; pass 'stanfordnlp/imdb' to"):
        report("imdb")


def test_a_damaged_file_is_told_by_name(tmp_path, monkeypatch):
    intact = (shipped._HERE / "counts" / "yelp.npz").read_bytes()
    (tmp_path / "counts").mkdir()
    monkeypatch.setattr(shipped, "_HERE", tmp_path)
    for damaged in (intact[:-1], intact[:1000] + b"?" + intact[1001:]):
        (tmp_path / "counts" / "yelp.npz").write_bytes(damaged)
        with pytest.raises(ValueError, match=r"counts/yelp\.npz is damaged; install"):
            load_corpus("yelp")


# The counts against the published texts, where these are


def texts_of(file: str, split: str) -> pd.DataFrame:
    table = pd.read_parquet(PUBLISHED / file / f"{split}.parquet")
    return table.assign(text=[shipped.plain_text(file, t) for t in table["text"]])


@needs_texts
@pytest.mark.parametrize(
    "file", ["yelp", pytest.param("imdb", marks=pytest.mark.weekly)]
)
def test_the_texts_give_the_same_corpus(file):
    train, test = texts_of(file, "train"), texts_of(file, "test")
    name = {"yelp": "yelp-full", "imdb": "imdb"}[file]
    ours = load_corpus(name)
    theirs = Corpus.from_texts(train["text"], train["label"])
    assert list(ours.vocab) == list(theirs.vocab)
    assert (ours.counts != theirs.counts).nnz == 0
    assert ours.labels.equal(theirs.labels)
    ours_test = load_corpus(name, "test", vocab=ours.vocab)
    theirs_test = Corpus.from_texts(test["text"], test["label"], vocab=theirs.vocab)
    assert (ours_test.counts != theirs_test.counts).nnz == 0
    assert ours_test.labels.equal(theirs_test.labels)
    raw = pd.read_parquet(PUBLISHED / file / "test.parquet")["text"]
    digests = [hashlib.sha256(text.encode()).digest()[:8] for text in raw]
    stored = shipped.read_reviews(file, "test").hashes
    assert stored.tobytes() == b"".join(digests)


@needs_texts
def test_the_check_finds_a_changed_word_and_a_changed_star(tmp_path):
    count_reviews = importlib.import_module("tools.count_reviews")
    for split in ("train", "test"):
        table = pd.read_parquet(PUBLISHED / "yelp" / f"{split}.parquet")
        table = table.sample(300, random_state=0)  # in another order, and not all
        table.drop(columns="category").to_parquet(tmp_path / f"{split}.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = count_reviews.published("yelp", str(tmp_path))["test"]
    ours = shipped.read_reviews("yelp", "test")
    told = count_reviews.compare(ours, theirs, exact=True)
    assert told == "300 of 5,000 texts found, 0 with other counts, 0 with other stars"
    counts = theirs.counts.tolil()
    counts[0, 0] += 1
    stars = theirs.stars.copy()
    stars[1] = 6 - stars[1] if stars[1] != 3 else 1
    planted = theirs._replace(counts=csr_array(counts), stars=stars)
    told = count_reviews.compare(ours, planted, exact=True)
    assert told == "300 of 5,000 texts found, 1 with other counts, 1 with other stars"
