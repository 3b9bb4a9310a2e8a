"""Arguments on both sides of each bound: the last accepted, the first refused."""

import functools
import math
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
import qpsolvers
import torch

import attnsel
from attnsel import AttentionClassifier, Corpus, Vocab, fit, separable_corpus
from attnsel.scale.checkpoint import Checkpoint
from attnsel.significance.exact_test import beyond_luck, q_values
from attnsel.statistics import binned, rank_correlation
from attnsel.synthetic import synthetic_corpus, synthetic_probabilities
from support.reference import place, ragged

letters = functools.partial(Corpus.from_texts, ["a b c", "a b", "a"], [0, 1, 1])


def trained(**settings):
    _, _, corpus = ragged(2)
    model = AttentionClassifier(9, 4)
    fit(model, corpus, **({"steps": 3, "lr": 0.1} | settings))


def stepped(lr):
    attnsel.one_step(AttentionClassifier(9, 4), ragged(2)[2], lr=lr)


def separable(**sizes):
    """Generate a small corpus of 8 sequences of 3 tokens, with 4 relevant tokens."""
    usual = {"n": 8, "n_tokens": 12, "length": 3, "n_relevant": 4}
    separable_corpus(**(usual | sizes))


def stretched(ratio: float):
    model, corpus = plane()
    start = float(model.cls.detach().norm())
    attnsel.gradient_flow(model, corpus, max_norm=ratio * start)


def plane():
    """Return two sequences for which the flow turns p from (1, -1) towards (1, 1)."""
    vocab = Vocab(["yes", "no", "."])
    corpus = Corpus.from_tokens([[0, 2], [1, 2]], [1, 0], vocab)
    model = AttentionClassifier(3, 2, dtype=torch.float64)
    E, turned = torch.tensor([[1.0, 0], [0, 1], [0, 0]]), torch.tensor([1.0, -1])
    return place(model, embeddings=E, output=turned, cls=turned), corpus


NAN = math.nan
ZEROS = torch.zeros(3)
BALANCED = Corpus.from_tokens([[0], [0], [1]], [0, 0, 1], ["a", "b"])
# A call and its argument, a value that passes, and a value that does not.
BOUNDS = [
    (
        lambda x: AttentionClassifier(x, 2),
        "n_tokens",
        [1, np.int64(3)],
        [0, 2.5, True, None],
    ),
    (lambda x: AttentionClassifier(2, x), "dim", [1], [0]),
    (lambda x: AttentionClassifier(2, 2, n_classes=x), "n_classes", [2], [1]),
    (lambda x: letters(min_count=x), "min_count", [1, 3], [0, 2.5, 4]),
    (lambda x: letters(max_tokens=x, min_count=1), "max_tokens", [1, 9], [0]),
    (lambda x: BALANCED.balanced(x), "per_class", [1], [0, 0.5, 2]),
    (lambda x: BALANCED.most_frequent(x), "size", [2, 9], [0, 1.5]),
    (lambda x: trained(steps=x), "steps", [1], [0]),
    (
        lambda x: trained(lr=x),
        "lr",
        [1e-9, np.float32(0.5)],
        [0.0, -1.0, NAN, math.inf, "0.1"],
    ),
    (lambda x: stepped(x), "lr", [1e-9], [0.0, NAN]),
    (lambda x: trained(snapshots=[x]), "snapshots", [0, 3], [-1, 4]),
    (lambda x: trained(batch_size=x), "batch_size", [1, 12, 99], [0]),
    (lambda x: trained(until_accuracy=x), "until_accuracy", [0, 1], [-0.01, 1.01]),
    (lambda x: trained(until_loss=x), "until_loss", [1e-9], [0]),
    (lambda x: separable(n=x), "n", [8], [0, 7, 9]),
    (lambda x: separable(n=x), "n_tokens", [8], [6]),
    (lambda x: separable(n_tokens=x), "n_tokens", [5, 12], [4, 13]),
    (lambda x: separable(n_tokens=x, length=1), "n_tokens", [4], [3, 5]),
    (lambda x: separable(n_relevant=x), "n_relevant", [4, 6], [0, 5]),
    (lambda x: separable(n_relevant=x, n_tokens=14), "n_tokens", [6, 8], [2, 10]),
    (lambda x: separable(per_sequence=x, n_tokens=8), "per_sequence", [1, 2], [0, 3]),
    (lambda x: separable(n_partly=x), "n_partly", [0, 8], [-2, 7, 10]),
    (lambda x: separable(tilt=x, n_partly=2), "tilt", [0.01, 1], [0, 1.01]),
    (lambda x: synthetic_corpus(x), "n", [2], [1]),
    (lambda x: synthetic_corpus(length=x), "length", [1], [0]),
    (lambda x: synthetic_probabilities(x, 0), "n_tokens", [3], [2]),
    (lambda x: synthetic_probabilities(4, x), "delta", [0, 0.75], [-0.01, 0.76, NAN]),
    (lambda x: synthetic_probabilities(5, 0.5, x), "n_relevant", [2, 4], [0, 3, 6]),
    (stretched, "max_norm", [1.01], [1.0, 0.99, math.inf, NAN]),
    (lambda x: binned(ZEROS, ZEROS, bins=x), "bins", [1], [0, 2.5]),
    (lambda x: binned(ZEROS, ZEROS, range=(0, x)), "range", [0.01], [0]),
    (lambda x: beyond_luck(BALANCED, rate=x), "rate", [0, 1], [-0.1, 1.5, NAN]),
]


@pytest.mark.parametrize(("call", "name", "inside", "outside"), BOUNDS)
@pytest.mark.filterwarnings("ignore:.* of 3 rows (is|are) left out")
def test_what_just_passes_and_what_just_does_not(call, name, inside, outside):
    for value in inside:
        call(value)
    for value in outside:
        with pytest.raises(ValueError, match=f"^{name}: "):
            call(value)


@pytest.mark.parametrize(
    ("part", "wrong", "passes"),
    [("x", 4e-7, True), ("x", 6e-7, False), ("z", 4e-7, True), ("z", 1e-4, False)],
)
def test_an_answer_of_the_solver_is_right_to_a_millionth(
    part, wrong, passes, monkeypatch
):
    _, corpus = plane()
    solve = qpsolvers.solve_problem

    def slightly_wrong(*arguments, **options):
        found = solve(*arguments, **options)
        values = getattr(found, part)
        values *= 1 + wrong  # and the squared norm of x by twice that
        return found

    monkeypatch.setattr(qpsolvers, "solve_problem", slightly_wrong)
    expected = pytest.raises(RuntimeError, match="KKT residual of 1")
    with nullcontext() if passes else expected:
        attnsel.max_margin(torch.eye(3), corpus, [0, 1])


@pytest.mark.parametrize("n", [9, 10])
def test_a_rank_correlation_needs_ten_points(n):
    x = torch.arange(12.0)
    x[n:] = torch.nan
    expected = pytest.raises(ValueError, match="at least 10 points, got 9")
    with nullcontext() if n == 10 else expected:
        correlation = rank_correlation(x, -torch.arange(12.0))
        assert correlation.value == pytest.approx(-1)


@pytest.mark.parametrize(("seconds", "is_due"), [(59.9, False), (60.0, True)])
def test_a_checkpoint_is_due_once_a_minute(seconds, is_due, monkeypatch, tmp_path):
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    checkpoint = Checkpoint(tmp_path / "training.pt", {}, 0)
    now[0] += seconds
    assert checkpoint.is_due() == is_due
    now[0] += 60
    checkpoint.write({})
    assert not checkpoint.is_due()


@pytest.mark.parametrize(
    ("train", "size"),
    # 9 embeddings, p and v in 4 dimensions of 4 bytes, and twice what is trained.
    [(None, 3 * 11 * 16), (("cls",), 11 * 16 + 2 * 16)],
)
def test_a_checkpoint_needs_room_for_all_it_holds(train, size, monkeypatch, tmp_path):
    for free in (size, size - 1):
        usage = SimpleNamespace(free=free)
        monkeypatch.setattr("shutil.disk_usage", lambda _, usage=usage: usage)
        expected = pytest.raises(OSError, match="checkpoint: .* needs .* free space")
        with nullcontext() if free == size else expected:
            trained(train=train, checkpoint=tmp_path / f"{free}.pt")


def test_a_token_at_the_rate_itself_is_found():
    corpus = separable_corpus(n=40, n_tokens=20, length=3, n_relevant=4)
    q = q_values(corpus)
    rate = float(q.min())
    assert 0 < rate < 0.05
    assert beyond_luck(corpus, rate=rate).equal(q == rate)
    assert not beyond_luck(corpus, rate=rate * (1 - 1e-12)).any()
    assert beyond_luck(corpus).equal(q <= 0.05)


def test_a_training_ends_at_the_accuracy_and_below_the_loss_asked_for():
    _, _, corpus = ragged(2)

    def history(**until):
        return fit(AttentionClassifier(9, 4), corpus, steps=9, lr=0.1, **until)

    full = history()
    third = float(full.loss[3])
    assert len(history(until_loss=third).loss) == 5  # not at the loss itself
    assert len(history(until_loss=third * (1 + 1e-12)).loss) == 4
    best = float(full.accuracy.max())
    first = int((full.accuracy == best).nonzero()[0])
    assert len(history(until_accuracy=best).loss) == first + 1
    assert len(history(until_accuracy=best + 1e-9).loss) == 10
