"""Checkpoints from which a training continues, and files that it refuses."""

import copy

import pytest
import torch

from attnsel.beyond.deep import TwoLayerClassifier
from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel.scale import checkpoint
from attnsel.scale.checkpoint import Checkpoint
from attnsel.tokens import Vocab
from attnsel.train import fit
from support.reference import ragged

MEASURED = ("step", "loss", "accuracy", "test_loss", "test_accuracy")


class Stop(Exception):
    """An error that stands in for a crash."""


def interrupted(monkeypatch, at, model, corpus, settings):
    """Interrupt a training after `at` saves, with one save per step."""
    calls = iter(range(at))
    write = Checkpoint.write

    def write_or_stop(*given):
        if next(calls, None) is None:
            raise Stop
        write(*given)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "SAVE_EVERY", 0.0)
        patch.setattr(Checkpoint, "write", write_or_stop)
        with pytest.raises(Stop):
            fit(model, corpus, **settings)


def by_torch(*settings):
    # In the one process that imports the compiler for it, which takes seconds.
    return pytest.param(
        torch.optim.RMSprop, *settings, marks=pytest.mark.xdist_group("torch.optim")
    )


@pytest.mark.parametrize(
    ("optimizer", "model", "batch_size"),
    [
        ("adam", AttentionClassifier(9, 6, key_query=True), None),
        ("adam", AttentionClassifier(9, 6), 7),
        ("adam", TwoLayerClassifier(9, 6), 7),
        ("gd", AttentionClassifier(9, 6), 7),
        by_torch(AttentionClassifier(9, 6, key_query=True), None),
        by_torch(TwoLayerClassifier(9, 6), 7),
    ],
)
def test_training_goes_on_to_the_same_bits(
    monkeypatch, tmp_path, optimizer, model, batch_size
):
    _, _, corpus = ragged(5, n=40)
    settings = {"steps": 6, "lr": 0.05, "optimizer": optimizer, "test": corpus}
    settings |= {"batch_size": batch_size, "snapshots": (1, 5)}
    straight, other = copy.deepcopy(model), copy.deepcopy(model)
    expected = fit(straight, corpus, **settings)
    settings["checkpoint"] = tmp_path / "checkpoint"
    interrupted(monkeypatch, 4, other, corpus, settings)
    another = copy.deepcopy(model)
    for _ in range(2):  # going on, and then from the last step
        history = fit(another, corpus, **settings)
        for name in MEASURED:
            assert torch.equal(getattr(history, name), getattr(expected, name))
        assert sorted(history.scores) == sorted(expected.scores)
        for step, scores in expected.scores.items():
            assert torch.equal(history.at(step), scores)
        for ours, theirs in zip(
            another.parameters(), straight.parameters(), strict=True
        ):
            assert torch.equal(ours, theirs)


@pytest.fixture
def saved(tmp_path):
    """Return a corpus, and the settings of a training that has written a checkpoint."""
    _, _, corpus = ragged(5, n=40)
    settings = {"steps": 3, "lr": 0.05, "checkpoint": tmp_path / "checkpoint"}
    fit(AttentionClassifier(9, 6), corpus, **settings)
    return corpus, settings


@pytest.mark.parametrize("kind", [OSError, RuntimeError])  # torch raises either
def test_a_disk_that_fills_up_leaves_the_last_checkpoint(monkeypatch, saved, kind):
    corpus, settings = saved
    path = settings["checkpoint"]
    before = path.read_bytes()

    def full(state, file):
        file.write(b"half of it")
        raise kind("no space left on device")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(OSError, match=r"checkpoint cannot be written \(no space left"):
        fit(AttentionClassifier(9, 6), corpus, **settings | {"steps": 5})
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["checkpoint"]


def other_texts(corpus):
    counts = corpus.counts.copy()
    counts.data[7] += 1
    return Corpus(counts, corpus.labels, corpus.vocab)


def other_labels(corpus):
    labels = corpus.labels.clone()
    labels[3] = 1 - labels[3]
    return corpus.with_labels(labels)


def test_a_checkpoint_is_of_one_training(saved, tmp_path):
    corpus, settings = saved
    tested = settings | {"checkpoint": tmp_path / "tested", "test": corpus[:9]}
    fit(AttentionClassifier(9, 6), corpus, **tested)
    renamed = Vocab(map(str, range(9)), range(2))
    renamed = Corpus(corpus.counts, corpus.labels, renamed)
    double = AttentionClassifier(9, 6, dtype=torch.float64)
    changed_test = tested | {"test": other_texts(corpus[:9])}
    changed_labels = tested | {"test": other_labels(corpus[:9])}
    for change, message in (
        ({"lr": 0.1}, "lr: 0.1 here, but 0.05"),
        ({"train": ("cls",)}, "train: .*cls.* here, but .*"),
        ({"batch_size": 5}, "batch_size: 5 here, but None"),
        ({"optimizer": "gd"}, "optimizer: 'gd' here, but 'adam'"),
        ({"test": corpus}, "test: True here, but False"),
        (tested | {"test": None}, "test: False here, but True"),
        (changed_test, "test texts: .*"),
        (changed_labels, "test labels: .*"),
        ({"corpus": corpus[:39]}, "number of texts: '39' here, but '40'"),
        ({"corpus": other_texts(corpus)}, "texts: .*"),
        ({"corpus": other_labels(corpus)}, "labels: .*"),
        ({"corpus": renamed}, "vocab: .*"),
        ({"model": AttentionClassifier(9, 7)}, "dim: 7 here, but 6"),
        ({"model": double}, "dtype: 'torch.float64' here, but 'torch.float32'"),
        ({"model": AttentionClassifier(9, 6, seed=1)}, "start: .*"),
    ):
        given = {"model": AttentionClassifier(9, 6), "corpus": corpus} | settings
        given |= change
        start = copy.deepcopy(given["model"].state_dict())
        with pytest.raises(ValueError, match=f"^{message} in the checkpoint"):
            fit(**given)
        for name, value in given["model"].state_dict().items():
            assert torch.equal(value, start[name])
    with pytest.raises(ValueError, match="steps, with this checkpoint: .* 3, got 2"):
        fit(AttentionClassifier(9, 6), corpus, **settings | {"steps": 2})


def test_a_missing_folder_is_an_error_before_the_first_step(saved):
    corpus, settings = saved
    folder = settings["checkpoint"].parent
    for path, error, message in (
        (folder / "nowhere" / "run.pt", FileNotFoundError, "no folder .*nowhere for"),
        (folder, OSError, ".* cannot be written"),
    ):
        with pytest.raises(error, match=f"checkpoint: {message}"):
            fit(AttentionClassifier(9, 6), corpus, **settings | {"checkpoint": path})


def test_a_file_that_is_no_checkpoint_is_refused(saved):
    corpus, settings = saved
    path = settings["checkpoint"]
    parts = torch.load(path)
    del parts["measured"]  # as in a file of another layout
    torch.save(parts, path)
    with pytest.raises(ValueError, match="checkpoint: .* contains no training state"):
        fit(AttentionClassifier(9, 6), corpus, **settings)
    path.write_bytes(b"no")
    with pytest.raises(ValueError, match="checkpoint: .* is damaged"):
        fit(AttentionClassifier(9, 6), corpus, **settings)
