"""What people have: each loads as it is, and means the same."""

from __future__ import annotations

import warnings

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch

from attnsel.corpus import Corpus
from attnsel.texts.loading import load_corpus

pytestmark = pytest.mark.usefixtures("alone")

# In the order of the labels, as files often are.
TEXTS = [f"a {w} film, number {i}" for w in ("bad", "good") for i in range(200)]
NUMBERS = np.repeat([0, 1], 200)
WORDS = np.where(NUMBERS, "pos", "neg")
STARS = [str(1 + i % 5) for i in range(400)]


def frame(labels=NUMBERS, texts=TEXTS):
    return pd.DataFrame({"text": texts, "label": labels})


def csv(path, labels=NUMBERS, texts=TEXTS, sep=",", name="mine.csv"):
    frame(labels, texts).to_csv(path / name, sep=sep, index=False)
    return path / name


def lines(path, name, labels=WORDS, texts=TEXTS):
    frame(labels, texts).to_json(path / name, orient="records", lines=True)
    return path / name


def records(path):
    frame(WORDS).to_json(path / "mine.json", orient="records")
    return path / "mine.json"


def parquet(path):
    frame().to_parquet(path / "mine.parquet")
    return path / "mine.parquet"


def arrow(path, write=pa.ipc.new_file):
    table = pa.Table.from_pandas(frame())
    with write(str(path / "mine.arrow"), table.schema) as writer:
        writer.write_table(table)
    return path / "mine.arrow"


def class_labels(_):
    features = datasets.Features(
        text=datasets.Value("string"), label=datasets.ClassLabel(names=["pos", "neg"])
    )
    return datasets.Dataset.from_dict(dict(frame()), features=features)


def folder(path):
    lines(path, "train.jsonl.gz")
    csv(path, WORDS[:2], TEXTS[:2], name="test.csv")
    return path


def three_empty(path):
    texts = [t if i not in (3, 70, 201) else "" for i, t in enumerate(TEXTS)]
    return csv(path, texts=texts)


INPUTS = {
    "0 and 1 in CSV": (csv, (0, 1)),
    "Parquet": (parquet, (0, 1)),
    "words for labels": (lambda path: csv(path, WORDS), ("neg", "pos")),
    "1 and 2": (lambda path: csv(path, NUMBERS + 1), (1, 2)),
    "-1 and 1": (lambda path: csv(path, 2 * NUMBERS - 1), (-1, 1)),
    "0.0 and 1.0": (lambda path: csv(path, NUMBERS.astype(float)), (0, 1)),
    "stars as strings": (lambda path: csv(path, STARS), (1, 2, 3, 4, 5)),
    "stars as strings in JSON": (
        lambda path: lines(path, "mine.jsonl", STARS),
        (1, 2, 3, 4, 5),
    ),
    "three empty texts among 400": (three_empty, (0, 1)),
    "tab-separated": (lambda p: csv(p, sep="\t", name="mine.tsv"), (0, 1)),
    "JSON lines": (lambda p: lines(p, "mine.jsonl"), ("neg", "pos")),
    "gzip": (lambda p: csv(p, name="mine.csv.gz"), (0, 1)),
    "a data frame": (lambda _: frame(WORDS), ("neg", "pos")),
    "a datasets.Dataset": (
        lambda _: datasets.Dataset.from_pandas(frame(WORDS)),
        ("neg", "pos"),
    ),
    "a sentence without a known token": (
        lambda p: csv(p, [*NUMBERS, 1], [*TEXTS, "?"]),
        (0, 1),
    ),
    # Ten more.
    "one list of JSON records": (records, ("neg", "pos")),
    "JSON lines called JSON": (lambda p: lines(p, "mine.json"), ("neg", "pos")),
    "an Arrow file": (arrow, (0, 1)),
    "an Arrow stream": (lambda p: arrow(p, pa.ipc.new_stream), (0, 1)),
    "zip": (lambda p: csv(p, name="mine.csv.zip"), (0, 1)),
    "bz2": (lambda p: lines(p, "mine.jsonl.bz2"), ("neg", "pos")),
    "xz, in capitals": (lambda p: csv(p, sep="\t", name="MINE.TSV.xz"), (0, 1)),
    "a folder of splits": (folder, ("neg", "pos")),
    "a DatasetDict": (
        lambda _: datasets.DatasetDict(train=datasets.Dataset.from_pandas(frame())),
        (0, 1),
    ),
    "a ClassLabel in its own order": (class_labels, ("pos", "neg")),
    "categories": (lambda _: frame(pd.Categorical(WORDS)), ("neg", "pos")),
    "booleans": (lambda p: csv(p, NUMBERS == 1), (False, True)),
    "integers that may be missing": (
        lambda _: frame(pd.array([*NUMBERS[1:], None], dtype="Int64")),
        (0, 1),
    ),
    "words with empty ones": (
        lambda _: frame([None, *WORDS[1:-1], ""]),
        ("neg", "pos"),
    ),
}
LEFT_OUT = {
    "three empty texts among 400": "3 of 400 rows .* 3 without text",
    "a sentence without a known token": "1 of 401 rows .* 1 without known token",
    "integers that may be missing": "1 of 400 rows .* 1 without label",
    "words with empty ones": "2 of 400 rows .* 2 without label",
}


@pytest.mark.parametrize("what", INPUTS)
def test_what_people_have_loads_as_it_is(tmp_path, what):
    make, classes = INPUTS[what]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        corpus = load_corpus(make(tmp_path), min_count=20)
    told = [str(w.message) for w in caught if w.category is UserWarning]
    assert len(told) == (what in LEFT_OUT)
    assert len(corpus) >= 397
    assert corpus.classes == classes
    for row in (1, 250, -2):  # of each class, and none of them among those left out
        assert corpus.texts[row] in TEXTS
        at = TEXTS.index(corpus.texts[row])
        assert corpus.labels[row] == (at % 5 if len(classes) == 5 else NUMBERS[at])
    if told:
        with pytest.raises(ValueError, match=LEFT_OUT[what]):
            load_corpus(make(tmp_path), min_count=20, on_bad_rows="error")


@pytest.mark.parametrize(
    "texts",
    [
        TEXTS,
        tuple(TEXTS),
        np.array(TEXTS),
        pd.Series(TEXTS, index=range(1000, 1400)),
        pd.Series(TEXTS, dtype="category"),
        datasets.Dataset.from_dict({"t": TEXTS})["t"],
    ],
    ids=["list", "tuple", "array", "Series", "categories", "column"],
)
@pytest.mark.parametrize("kind", [list, np.array, torch.tensor, pd.Series])
def test_texts_and_labels_in_any_sequence(texts, kind):
    corpus = Corpus.from_texts(texts, kind(NUMBERS.tolist()))
    assert corpus.texts == tuple(TEXTS)
    assert corpus.labels.tolist() == NUMBERS.tolist()


def test_a_test_split_with_its_training_split(tmp_path):
    train = load_corpus(folder(tmp_path))
    test = load_corpus(tmp_path, "test", vocab=train.vocab)
    assert (test.classes, test.labels.tolist()) == (("neg", "pos"), [0, 0])
    new = load_corpus(frame().drop(columns="label"), vocab=train.vocab, label=None)
    assert new.labels is None and new.classes == train.classes and len(new) == 400


def test_a_hundred_thousand_texts_with_fifty_bad_rows(tmp_path):
    texts = [f"a short text {i % 100}" for i in range(100_000)]
    labels = [("neg", "pos")[i % 2] for i in range(100_000)]
    for row in range(17, 100_000, 4000):  # 25 of each kind
        texts[row], labels[row + 1] = "", None
    with pytest.warns(UserWarning) as caught:
        corpus = load_corpus(csv(tmp_path, labels, texts))
    (warning,) = caught
    assert str(warning.message) == (
        "50 of 100,000 rows are left out: 25 without text (rows 17, 4017, 8017, 12017, "
        "16017, ...), 25 without label (rows 18, 4018, 8018, 12018, 16018, ...)"
    )
    assert len(corpus) == 99_950


def test_a_source_that_is_none():
    for source in (3, None, [("a", 1)], {"text": ["a"]}):
        with pytest.raises((TypeError, ValueError), match="source:|split:"):
            load_corpus(source)


def test_a_large_data_set_is_counted_in_processes(tmp_path):
    file = csv(tmp_path, [*WORDS, None], [*TEXTS, "a good film"])
    table = datasets.Dataset.from_csv(str(file), cache_dir=str(tmp_path / "arrow"))
    with pytest.warns(UserWarning, match=r"1 of 401 .* 1 without label \(row 400\)"):
        here = load_corpus(table)
        assert here.texts is not None
    datasets.disable_progress_bars()
    with pytest.warns(UserWarning, match=r"1 of 401 .* 1 without label \(row 400\)"):
        large = load_corpus(table, num_proc=2)
    assert large.texts is None
    assert large.vocab == here.vocab and large.classes == here.classes
    assert (large.counts != here.counts).nnz == 0
    assert large.counts.indices.dtype == large.counts.indptr.dtype == "int32"
    assert large.labels.equal(here.labels)
