"""The sources of `load_corpus`, and the arguments that it refuses."""

import json
import socket
import threading

import datasets
import huggingface_hub
import pandas as pd
import pytest
from test_hub import ask_at

from attnsel.texts import loading
from attnsel.texts.loading import load_corpus
from attnsel.tokens import Vocab
from attnsel_readers import hub as hub_module
from support.corpora import same

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
    with pytest.warns(UserWarning, match=message) as caught:
        corpus = load_corpus(path, min_count=1)
    assert [w.filename for w in caught] == [__file__]
    assert len(corpus) == 28
    with pytest.raises(ValueError, match=message):
        load_corpus(path, min_count=1, on_bad_rows="error")
    load_corpus(path, min_count=1, on_bad_rows="ignore")


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
        load_corpus("generated", **arguments)


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


# The Hub


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
    with pytest.raises(ValueError, match="'no/thing', nor a data set of the Hub .no"):
        load_corpus("no/thing")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("silent", "no answer in 0 seconds|ReadTimeout"), ("refusing", "Connection ref")],
)
def test_a_hub_that_gives_nothing_is_an_error_with_the_reason(
    monkeypatch, kind, reason
):
    with socket.create_server(("127.0.0.1", 0)) as server:  # it never answers
        port = 9
        if kind == "silent":
            port = server.getsockname()[1]
            monkeypatch.setattr(hub_module, "HUB_PATIENCE", 0.2)
        ask_at(monkeypatch, f"http://127.0.0.1:{port}")
        with pytest.raises(ValueError, match=f"'stanfordnlp/imdb', nor .*({reason})"):
            load_corpus("stanfordnlp/imdb")


def test_a_name_that_never_resolves(monkeypatch):
    """A look-up that never ends does not delay the caller."""
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


# Generated reviews


def test_generated_splits_differ_and_share_a_vocabulary(monkeypatch):
    monkeypatch.setattr(loading, "GENERATED_REVIEWS", 1000)
    train = load_corpus("generated")
    test = load_corpus("generated", split="test", vocab=train.vocab)
    assert len(train) == len(test) == 1000
    assert len(train.vocab) >= 300
    assert not set(train.texts) & set(test.texts)
    assert load_corpus("generated", limit=100).labels.bincount().tolist() == [50, 50]
    stars = load_corpus("generated-full", limit=100)
    assert stars.classes[0] == "1 star" and stars.n_classes == 5


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
def test_what_else_is_read(tmp_path, files, loaded):
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, "utf-8")
    for (name, split), texts in loaded.items():
        corpus = load_corpus(tmp_path / name, split, min_count=1)
        assert " ".join(corpus.texts) == texts
        if name in ("a", "b"):
            assert corpus.classes == (f"{name}0", f"{name}1")
