"""A training kept in a file, to go on from, and files that it does not go on from."""

import copy

import pytest
import torch

from attnsel.beyond.deep import TwoLayerClassifier
from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel.scale import checkpoint
from attnsel.scale.checkpoint import Checkpoint, vocab_digest
from attnsel.tokens import Vocab
from attnsel.train import fit
from support.reference import ragged

MEASURED = ("step", "loss", "accuracy", "test_loss", "test_accuracy")


class Stop(Exception):
    """Raised in place of a crash."""


def interrupted(monkeypatch, at, model, corpus, settings):
    """Let a training end before its save number `at`, with one save a step."""
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


@pytest.mark.parametrize("optimizer", ["adam", "gd", torch.optim.RMSprop])
@pytest.mark.parametrize(
    ("model", "batch_size"),
    [
        (AttentionClassifier(9, 6, key_query=True), None),
        (AttentionClassifier(9, 6), 7),
        (TwoLayerClassifier(9, 6), 7),
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
    """A corpus, and the settings of a training that has left a checkpoint."""
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
    with pytest.raises(OSError, match="checkpoint could not be written: no space left"):
        fit(AttentionClassifier(9, 6), corpus, **settings | {"steps": 5})
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["checkpoint"]


def test_a_checkpoint_of_other_settings_is_refused(saved):
    corpus, settings = saved
    for change, message in (
        ({"lr": 0.1}, "lr: 0.1 here, but 0.05 in the checkpoint"),
        ({"train": ("cls",)}, "train: .*cls.* here, but .* in the checkpoint"),
        ({"steps": 2}, "steps, with this checkpoint: expected .* from 3, got 2"),
        ({"batch_size": 5}, "batch_size: 5 here, but None in the checkpoint"),
        ({"optimizer": "gd"}, "optimizer: 'gd' here, but 'adam' in the checkpoint"),
        ({"test": corpus}, "test: True here, but False in the checkpoint"),
    ):
        with pytest.raises(ValueError, match=message):
            fit(AttentionClassifier(9, 6), corpus, **settings | change)


def test_a_checkpoint_belongs_to_its_texts_labels_and_start(saved):
    corpus, settings = saved
    counts = corpus.counts.copy()
    counts.data[7] += 1
    labels = corpus.labels.clone()
    labels[3] = 1 - labels[3]
    vocab = Vocab(map(str, range(9)), range(2))
    for other, message in (
        (corpus[:39], "number of texts: '39' here, but '40' in the checkpoint"),
        (Corpus(counts, corpus.labels, corpus.vocab), "texts: .* in the checkpoint"),
        (Corpus(corpus.counts, labels, corpus.vocab), "labels: .* in the checkpoint"),
        (Corpus(corpus.counts, corpus.labels, vocab), "vocab: .* in the checkpoint"),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            fit(AttentionClassifier(9, 6), other, **settings)
    double = AttentionClassifier(9, 6, dtype=torch.float64)
    for model, message in (
        (AttentionClassifier(9, 7), "dim: 7 here, but 6 in the checkpoint"),
        (double, "dtype: 'torch.float64' here, but 'torch.float32' in the checkpoint"),
        (AttentionClassifier(9, 6, seed=1), "start: .* in the checkpoint"),
    ):
        start = copy.deepcopy(model.state_dict())
        with pytest.raises(ValueError, match=f"^{message}"):
            fit(model, corpus, **settings)
        for name, value in model.state_dict().items():
            assert torch.equal(value, start[name])


def test_a_checkpoint_belongs_to_what_it_was_tested_on(saved, tmp_path):
    corpus, settings = saved
    settings |= {"checkpoint": tmp_path / "tested"}
    test = corpus[:9]
    counts, labels = test.counts.copy(), test.labels.clone()
    counts.data[7] += 1
    labels[3] = 1 - labels[3]
    fit(AttentionClassifier(9, 6), corpus, test=test, **settings)
    for other, message in (
        (Corpus(counts, test.labels, test.vocab), "test texts: .* in the checkpoint"),
        (Corpus(test.counts, labels, test.vocab), "test labels: .* in the checkpoint"),
        (None, "test: False here, but True in the checkpoint"),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            fit(AttentionClassifier(9, 6), corpus, test=other, **settings)


def test_a_folder_that_is_not_there_is_told_before_the_first_step(saved):
    corpus, settings = saved
    path = settings["checkpoint"].parent / "nowhere" / "run.pt"
    with pytest.raises(FileNotFoundError, match="checkpoint: no folder .*nowhere for"):
        fit(AttentionClassifier(9, 6), corpus, **settings | {"checkpoint": path})
    with pytest.raises(OSError, match="checkpoint: .* cannot be written"):
        fit(
            AttentionClassifier(9, 6),
            corpus,
            **settings | {"checkpoint": settings["checkpoint"].parent},
        )


def test_a_file_that_is_no_checkpoint_is_refused(saved):
    corpus, settings = saved
    path = settings["checkpoint"]
    parts = torch.load(path)
    del parts["measured"]  # as in a file of another layout
    torch.save(parts, path)
    with pytest.raises(ValueError, match="checkpoint: .* holds no training"):
        fit(AttentionClassifier(9, 6), corpus, **settings)
    path.write_bytes(b"no")
    with pytest.raises(ValueError, match="checkpoint: .* is damaged"):
        fit(AttentionClassifier(9, 6), corpus, **settings)


def test_tokens_of_any_letters_have_a_digest_of_their_own():
    # Half of a pair of surrogates, as a damaged file may hold.
    one, other = (Vocab(["film", half]) for half in ("\ud800", "\ud801"))
    assert vocab_digest(one) == vocab_digest(Vocab(["film", "\ud800"]))
    assert vocab_digest(one) != vocab_digest(other)
