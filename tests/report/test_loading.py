"""load_corpus: where data comes from, what is refused, and a cache that holds."""

import hashlib
import io
import json
import os
import pickle
import random
import socket
import threading
import warnings

import datasets
import huggingface_hub
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from test_hub import ask_at

from attnsel.corpus import Corpus
from attnsel.texts import cache
from attnsel.texts import hub as hub_module
from attnsel.texts.hub import BundledCorpusWarning
from attnsel.texts.loading import load_corpus
from attnsel.tokens import Vocab
from attnsel_report.readers import sources
from support.caching import cached, same

TEXTS = [f"a {w} film, number {i}" for i in range(15) for w in ("bad", "good")]
LABELS = [0, 1] * 15

pytestmark = pytest.mark.usefixtures("alone")


def write(path, texts=TEXTS, labels=LABELS, **columns):
    columns = columns or {"text": texts, "label": labels}
    path.parent.mkdir(parents=True, exist_ok=True)
    frame = pd.DataFrame(columns)
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    return path


# Own files


def test_rows_left_out_are_reported_each_time(tmp_path):
    texts = [*TEXTS[:3], None, *TEXTS[4:]]
    labels = [*LABELS[:-1], None]
    path = write(tmp_path / "mine.csv", texts, labels)
    message = r"2 of 30 rows are left out: 1 without text \(row 3\), 1 without label"
    for _ in range(2):  # read, then from the cache
        with pytest.warns(UserWarning, match=message) as caught:
            corpus = load_corpus(path, min_count=1)
        assert [w.filename for w in caught] == [__file__]
        assert len(corpus) == 28
        with pytest.raises(ValueError, match=message):
            load_corpus(path, min_count=1, on_bad_rows="error")
    load_corpus(path, min_count=1, on_bad_rows="ignore")
    assert len(cached(tmp_path)) == 1


def test_bad_rows_are_those_of_the_file_even_in_a_sample(tmp_path):
    texts = ["?" if i in (7, 22) else text for i, text in enumerate(TEXTS)]
    path = write(tmp_path / "mine.csv", [*texts, ""], [*LABELS, 1])
    with pytest.raises(ValueError, match=r"text \(row 30\)") as caught:
        load_corpus(path, vocab=Vocab(["film"]), limit=30, on_bad_rows="error")
    assert "rows 7, 22)" in str(caught.value) or "rows 22, 7)" in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"split": "valid"},
            r"split: expected one of \['train', 'test'\], got 'valid'",
        ),
        ({"limit": 0}, "limit: expected an integer from 1"),
        ({"limit": 2.0}, "limit: expected an integer from 1"),
        ({"limit": True}, "limit: expected an integer from 1"),
        ({"seed": -1}, "seed: expected an integer from 0"),
        ({"min_count": "5"}, "min_count: expected an integer from 1"),
        ({"max_tokens": 0}, "max_tokens: expected an integer from 1"),
        ({"vocab": ["a"]}, "vocab: expected a Vocab"),
    ],
)
def test_settings_out_of_range(arguments, message):
    with pytest.raises(ValueError, match=message):
        load_corpus("bundled", **arguments)


# Samples


def test_limit_takes_a_balanced_seeded_sample(tmp_path):
    # In the order of the labels and unbalanced, as real files are.
    texts = [f"a film {i}" for i in range(40)]
    path = write(tmp_path / "mine.csv", texts, [0] * 30 + [1] * 10)
    sample = load_corpus(path, limit=11, min_count=1)
    assert sample.labels.bincount().tolist() == [6, 5]
    for text, label in zip(sample.texts, sample.labels.tolist(), strict=True):
        assert label == (texts.index(text) >= 30)
    assert len(set(sample.texts)) == 11
    assert sample.labels.tolist() != sorted(sample.labels.tolist())  # in random order
    assert same(sample, load_corpus(path, limit=11, min_count=1))
    assert sample.texts != load_corpus(path, limit=11, min_count=1, seed=1).texts
    # A class that runs out leaves its place to the others.
    for limit, sizes in ((20, [10, 10]), (22, [12, 10]), (40, [30, 10])):
        some = load_corpus(path, limit=limit, min_count=1)
        assert some.labels.bincount().tolist() == sizes
    vocab = Vocab(["film"], (0, 1))
    assert len(load_corpus(path, limit=1, vocab=vocab)) == 1
    for wrong, range_ in ((0, "from 1"), (41, "from 1 to 40")):
        with pytest.raises(ValueError, match=f"^limit: .* {range_}, got {wrong}$"):
            load_corpus(path, limit=wrong)
    bare = load_corpus(path, label=None, limit=7, min_count=1)
    assert bare.labels is None and len(bare.vocab) == 9  # of the sample alone


def test_parts_are_the_rows_of_one_table_in_their_order(tmp_path):
    texts = [f"film {i} {'good' * (i % 3)}" for i in range(24)]
    labels = [f"class {i % 2}" for i in range(24)]
    for i in (3, 15, 20):
        texts[i] = None
    intact = write(tmp_path / "whole.parquet", texts, labels)
    for number in range(12):  # part 10 follows part 9
        rows = slice(2 * number, 2 * number + 2)
        path = tmp_path / "parts" / f"train-{number}.parquet"
        write(path, texts[rows], labels[rows])
    settings = {"min_count": 1, "limit": 9, "on_bad_rows": "ignore"}
    expected = load_corpus(intact, **settings)
    found = load_corpus(tmp_path / "parts", **settings)
    assert same(found, expected)
    assert found.texts == expected.texts
    assert found.left_out == expected.left_out


# The folder ATTNSEL_DATA


@pytest.fixture
def stars(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNSEL_DATA", str(tmp_path / "data"))
    texts = [f"stars {i} food" for i in range(10)]
    write(tmp_path / "data" / "yelp" / "train.parquet", texts, [0, 1, 2, 3, 4] * 2)
    write(tmp_path / "data" / "imdb" / "test.parquet")
    return texts


def test_stars_become_polarity(stars):
    full = load_corpus("yelp-full", min_count=1)
    assert full.labels.tolist() == [0, 1, 2, 3, 4] * 2
    assert full.n_classes == 5
    polar = load_corpus("yelp", min_count=1)
    assert polar.labels.tolist() == [0, 0, 1, 1] * 2
    assert polar.texts == tuple(stars[i] for i in (0, 1, 3, 4, 5, 6, 8, 9))
    assert (polar.n_classes, polar.name) == (2, "yelp")


def test_the_folder_comes_before_the_hub(stars, monkeypatch):
    asked = []
    monkeypatch.setattr(hub_module, "BUNDLED_REVIEWS", 300)
    monkeypatch.setattr(
        hub_module, "from_hub", lambda s, x: asked.append((s["hub"], x)) or "-"
    )
    assert len(load_corpus("imdb", split="test", min_count=1)) == 30
    assert not asked
    with pytest.warns(BundledCorpusWarning):  # the folder holds no such file
        load_corpus("imdb")
    assert asked == [("stanfordnlp/imdb", "train")]


def test_a_data_folder_that_does_not_exist_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNSEL_DATA", str(tmp_path / "typo"))
    with pytest.raises(ValueError, match="ATTNSEL_DATA: there is no folder"):
        load_corpus("imdb")


# The Hub


@pytest.mark.parametrize(("texts", "labels"), [(TEXTS[:28], 2), (TEXTS, 3)])
def test_what_the_hub_gave_is_checked(monkeypatch, texts, labels, tmp_path):
    small = hub_module.SOURCES["imdb"] | {"per_class": {"train": 15}}
    monkeypatch.setitem(hub_module.SOURCES, "imdb", small)
    file = tmp_path / "hub.parquet"
    write(file, texts, [i % labels for i in range(len(texts))])
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", lambda *_, **__: file)
    with pytest.raises(
        ValueError, match="/imdb as published: its classes .* instead of .15, 15."
    ):
        load_corpus("imdb")
    assert not cached(tmp_path)


def test_a_download_that_fails_says_why(monkeypatch):
    def fetch(*_, local_files_only=False, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(hub_module, "BUNDLED_REVIEWS", 300)
    monkeypatch.setattr(hub_module, "unreachable", lambda _: None)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", fetch)
    with pytest.warns(BundledCorpusWarning, match="OSError: .*No space left on device"):
        load_corpus("imdb")


def test_any_data_set_of_the_hub(monkeypatch):
    features = datasets.Features(
        text=datasets.Value("string"),
        label=datasets.ClassLabel(names=["World", "Sports", "Business"]),
    )
    data = {"text": TEXTS[:6], "label": [2, 0, 2, 0, -1, None]}
    table = datasets.Dataset.from_dict(data, features=features)
    asked = []

    def load_dataset(name):
        asked.append((name, datasets.config.HF_HUB_OFFLINE))
        return datasets.DatasetDict(train=table)

    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    with pytest.warns(UserWarning, match=r"2 without label \(rows 4, 5\)"):
        corpus = load_corpus("fancyzhx/ag_news", min_count=1)
    # The fixture's Hub cannot be reached: what was fetched before is used.
    assert asked == [("fancyzhx/ag_news", True)]
    assert not datasets.config.HF_HUB_OFFLINE
    # Classes go by the data set's own names and order; those that do not occur are out.
    assert corpus.classes == ("World", "Business")
    assert corpus.labels.tolist() == [1, 0, 1, 0]
    with pytest.raises(ValueError, match=r"expected one of \['train'\], got 'test'"):
        load_corpus("fancyzhx/ag_news", split="test")
    monkeypatch.setattr(datasets, "load_dataset", lambda _: 1 / 0)
    with pytest.raises(ValueError, match="'no/thing', on the Hub neither .no netw"):
        load_corpus("no/thing")


@pytest.mark.parametrize(
    ("kind", "name", "classes", "reason"),
    [
        ("silent", "imdb", 2, "no answer in 0 seconds|ReadTimeout"),
        ("refusing", "yelp-full", 5, "Connection refused"),
        ("off", "imdb", 2, "offline mode"),
    ],
)
def test_a_hub_that_gives_nothing_is_replaced(monkeypatch, kind, name, classes, reason):
    monkeypatch.setattr(hub_module, "BUNDLED_REVIEWS", 200)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", kind == "off")
    with socket.create_server(("127.0.0.1", 0)) as server:  # it never answers
        port = 9
        if kind == "silent":
            port = server.getsockname()[1]
            monkeypatch.setattr(hub_module, "HUB_PATIENCE", 0.2)
        ask_at(monkeypatch, f"http://127.0.0.1:{port}")
        with pytest.warns(BundledCorpusWarning, match=reason) as caught:
            corpus = load_corpus(name)
        if kind == "silent":  # it was asked
            server.settimeout(60)
            server.accept()[0].close()
    assert (corpus.name, corpus.n_classes) == ("bundled", classes)
    (warning,) = caught
    assert warning.filename == __file__
    source = hub_module.SOURCES[name]
    message = str(warning.message)
    assert message.startswith(f"'{name}' is replaced by generated reviews")
    for part in (source["hub"], "ATTNSEL_DATA", f"{source['folder']}/train.parquet"):
        assert part in message


def test_a_name_that_never_resolves(monkeypatch):
    """Not even a look-up that no timeout reaches holds the caller up."""
    monkeypatch.undo()
    forever = threading.Event()
    monkeypatch.setattr(
        huggingface_hub.HfApi, "dataset_info", lambda *_, **__: forever.wait()
    )
    monkeypatch.setattr(hub_module, "HUB_PATIENCE", 0.1)
    assert "no answer" in hub_module.unreachable("stanfordnlp/imdb")
    forever.set()
    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", lambda *_, **__: 1)
    monkeypatch.setattr(hub_module, "HUB_PATIENCE", 60.0)
    assert hub_module.unreachable("stanfordnlp/imdb") is None


# The bundled reviews


def test_bundled_splits_differ_and_share_a_vocabulary(monkeypatch):
    monkeypatch.setattr(hub_module, "BUNDLED_REVIEWS", 1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train = load_corpus("bundled")
        test = load_corpus("bundled", split="test", vocab=train.vocab)
    assert len(train) == len(test) == 1000
    assert len(train.vocab) >= 300
    assert not set(train.texts) & set(test.texts)
    assert load_corpus("bundled", limit=100).labels.bincount().tolist() == [50, 50]


# The cache


@pytest.mark.parametrize("kind", ["a file", "parts", "texts"])
def test_a_source_comes_from_the_cache_until_a_file_of_it_changes(
    tmp_path, kind, monkeypatch
):
    def refuse(*_, **__):
        raise AssertionError("read again instead of from the cache")

    source = tmp_path / "mine"
    if kind == "a file":
        source = last = write(tmp_path / "mine.csv")
    elif kind == "parts":
        write(source / "train" / "part-1.csv")
        last = write(source / "train" / "part-2.csv")
    else:
        for i, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True)):
            last = source / str(label) / f"{i}.txt"
            last.parent.mkdir(parents=True, exist_ok=True)
            last.write_text(text)
    first = load_corpus(source, min_count=1)
    monkeypatch.setattr(sources, "read_file", refuse)
    monkeypatch.setattr(sources, "read_texts", refuse)
    second = load_corpus(str(source), min_count=1)
    assert same(first, second) and second.counts.dtype == np.float32
    if kind == "a file":
        copy = tmp_path / "copy.csv"
        copy.write_bytes(last.read_bytes())
        assert load_corpus(copy, min_count=1).name == "copy"  # content is what counts
    last.write_bytes(last.read_bytes() + b"!")
    with pytest.raises(AssertionError, match="read again"):
        load_corpus(source, min_count=1)


def test_each_setting_and_each_content_has_its_own_entry(tmp_path, monkeypatch):
    others = {"other": TEXTS[::-1], "verdict": LABELS[::-1]}
    path = write(tmp_path / "mine.csv", text=TEXTS, label=LABELS, **others)
    variants = [
        {},
        {"min_count": 2},
        {"max_tokens": 3},
        {"limit": 10},
        {"limit": 10, "seed": 1},
        {"text": "other"},
        {"label": "verdict"},
        {"vocab": Vocab(["film"])},
        {"vocab": Vocab(["film", "bad"])},
        {"vocab": Vocab(["film", "bad"], classes=[1, 0])},
    ]
    arguments = [{"min_count": 1, **variant} for variant in variants]
    loaded = [load_corpus(path, **each) for each in arguments]
    assert len(cached(tmp_path)) == len(variants)
    for corpus, each in zip(loaded, arguments, strict=True):
        assert same(corpus, load_corpus(path, **each))
    write(tmp_path / "mine.csv", text=TEXTS[2:], label=LABELS[2:])
    assert len(load_corpus(path, min_count=1)) == 28
    monkeypatch.setattr(cache, "TOKEN_PATTERN", "other")
    load_corpus(path, min_count=1)
    assert len(cached(tmp_path)) == len(variants) + 2


def test_a_damaged_entry_is_noticed_and_made_again(tmp_path):
    path = write(tmp_path / "mine.csv")
    first = load_corpus(path, min_count=1)
    [entry] = cached(tmp_path)
    intact = entry.read_bytes()
    rng = random.Random(0)
    damages = [intact[:kept] for kept in (0, 1, 100, -1, -30)]
    for _ in range(100):
        damaged = bytearray(intact)
        for at in rng.sample(range(len(intact)), 2):
            damaged[at] ^= rng.randrange(1, 256)
        damages.append(bytes(damaged))
    for damage in damages:
        with pytest.raises(ValueError, match="damaged"):
            cache.unpacked(damage)
    for damage in (damages[0], damages[4], damages[-1]):
        entry.write_bytes(damage)
        assert same(first, load_corpus(path, min_count=1))
        assert entry.read_bytes() == intact


class Code:
    """What runs, when it is unpickled."""

    def __reduce__(self):
        return os.mkdir, (os.environ["RUN"],)


def entry_of(arrays):
    """Return arrays as an entry that its checksum fits."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=True, **arrays)
    size = buffer.tell().to_bytes(cache.SIZE_BYTES, "big")
    body = size + pa.compress(buffer.getvalue(), codec="zstd", asbytes=True)
    return hashlib.sha256(body).digest() + body


def test_an_entry_that_holds_code_is_refused_without_running_it(tmp_path, monkeypatch):
    monkeypatch.setenv("RUN", str(tmp_path / "run"))
    first = load_corpus(write(tmp_path / "mine.csv"), min_count=1)
    [entry] = cached(tmp_path)
    intact = entry.read_bytes()
    code = np.array([Code()], object)
    names = ("times", "ids", "starts", "about", "labels")
    for evil in (pickle.dumps(Code()), entry_of(dict.fromkeys(names, code))):
        entry.write_bytes(evil)
        assert same(first, load_corpus(tmp_path / "mine.csv", min_count=1))
        assert entry.read_bytes() == intact
    assert not (tmp_path / "run").exists()


def test_what_a_corpus_is_comes_back_from_its_entry():
    texts = ["a b b", "\ud800 lone", "c"]
    for labels in ([0, 2**70, 0], None, ["x", "y", None]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            corpus = Corpus.from_texts(texts, labels, min_count=1, name="odd")
        again, notes = cache.unpacked(cache.packed(corpus, ["a note"]))
        assert notes == ["a note"] and again.name == "odd"
        assert again.vocab == corpus.vocab and again.classes == corpus.classes
        assert again.texts == corpus.texts and again.left_out == corpus.left_out
        assert (again.counts != corpus.counts).nnz == 0
        if labels is None:
            assert again.labels is None
        else:
            assert again.labels.equal(corpus.labels)


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch, error):
    path = write(tmp_path / "mine.csv")
    fsync = os.fsync

    def interrupted(_):
        raise error("stopped")

    monkeypatch.setattr(os, "fsync", interrupted)
    if error is OSError:
        with pytest.warns(UserWarning, match="not cached in .*stopped") as caught:
            first, second = (load_corpus(path, min_count=1) for _ in range(2))
        assert len(caught) == 1 and same(first, second)
    else:
        with pytest.raises(KeyboardInterrupt):
            load_corpus(path, min_count=1)
    assert not cached(tmp_path)
    monkeypatch.setattr(os, "fsync", fsync)
    assert len(load_corpus(path, min_count=1)) == 30
    assert [entry.suffix for entry in cached(tmp_path)] == [".corpus"]


ROWS = "text\tlabel\t,text,label\ngood\ta\t,poor,x\nbad\tb\t,fine,y\n"
SPLITS = {
    name: [{"text": f"{word} {name}", "label": word} for word in ("bad", "good")]
    for name in ("train", "test", "validation")
}


@pytest.mark.parametrize(
    ("files", "loaded"),
    [
        (  # a table is read by its ending
            {"mine.tsv": ROWS, "mine.csv": ROWS},
            {("mine.tsv", "train"): "good bad", ("mine.csv", "train"): "poor fine"},
        ),
        (  # the names of folders are classes
            {f"{folder}/{folder}{k}/1.txt": f"t{k}" for folder in "ab" for k in "01"},
            {("a", "train"): "t0 t1", ("b", "train"): "t0 t1"},
        ),
        (
            {"mine.json": json.dumps(SPLITS)},
            {("mine.json", name): f"bad {name} good {name}" for name in SPLITS},
        ),
    ],
)
def test_what_else_is_read_has_an_entry_of_its_own(tmp_path, files, loaded):
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, "utf-8")
    found = [
        {key: load_corpus(tmp_path / key[0], key[1], min_count=1) for key in loaded}
        for _ in range(2)  # the second time from the cache
    ]
    for (name, split), texts in loaded.items():
        first, again = (corpora[name, split] for corpora in found)
        assert " ".join(first.texts) == texts and same(first, again)
        if name in ("a", "b"):
            assert first.classes == (f"{name}0", f"{name}1")
    assert len(cached(tmp_path)) == len(loaded)
