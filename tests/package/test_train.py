import copy
import functools
import io
import itertools
import sys
import threading

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import attnsel.model
from attnsel import learners, train
from attnsel import progress as progress_module
from attnsel.beyond.deep import TwoLayerClassifier
from attnsel.corpus import Corpus
from attnsel.learners import BLOCK
from attnsel.model import (
    AttentionClassifier,
    Classifier,
    accuracy,
    logistic_loss,
    mean_loss,
)
from attnsel.tokens import Vocab
from attnsel.train import fit, one_step
from support.reference import naive_logits, naive_loss, ragged

MOMENTUM = functools.partial(torch.optim.SGD, momentum=0.5, nesterov=True)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), lr=st.floats(1e-3, 1e3), K=st.integers(2, 4))
def test_one_step_is_one_gradient_step_on_the_embeddings(seed, lr, K):
    sequences, labels, corpus = ragged(seed, n_classes=K)
    settings = {"n_classes": K, "key_query": K > 2, "seed": seed}
    model = AttentionClassifier(9, 6, **settings, dtype=torch.float64)
    before = copy.deepcopy(model.state_dict())
    E, p, v, *W = model.weights()
    E.requires_grad_()
    query = W[0] @ p if W else p
    loss = naive_loss(naive_logits(E, query, v, sequences), labels)
    (grad,) = torch.autograd.grad(loss, E)
    stepped = one_step(model, corpus, lr=lr)
    torch.testing.assert_close(stepped.embeddings.detach(), (E - lr * grad).detach())
    for name in set(before) - {"embeddings"}:
        assert torch.equal(stepped.get_parameter(name), before[name])
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name])


# The argument of `fit`, and the class of torch that takes the same steps.
OPTIMIZERS = {
    "adam": ("adam", torch.optim.Adam),
    "gd": ("gd", torch.optim.SGD),
    "a class": (torch.optim.RMSprop, torch.optim.RMSprop),
    "its settings": (MOMENTUM, MOMENTUM),
}


# In one process: torch imports its compiler for an optimizer, which takes seconds.
with_torch_optim = pytest.mark.xdist_group("torch.optim")


@with_torch_optim
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("train", [None, ("cls", "output"), ("embeddings",)])
# With a key-query matrix, or with several blocks of rows.
@pytest.mark.parametrize(("n_tokens", "K"), [(9, 2), (9, 4), (1200, 2)])
def test_fit_takes_the_steps_of_the_torch_optimizer(optimizer, train, n_tokens, K):
    sequences, labels, corpus = ragged(21, n=30, n_tokens=n_tokens, n_classes=K)
    settings = {"n_classes": K, "key_query": n_tokens == 9, "dtype": torch.float64}
    model = AttentionClassifier(n_tokens, 7, **settings)
    peer = copy.deepcopy(model)
    groups = []
    for name, value in peer.named_parameters():
        if train is None or name in train:
            slower = optimizer == "adam" and name == "key_query"
            groups.append({"params": [value], "lr": 0.05 / 7**0.5 if slower else 0.05})
    given, peer_class = OPTIMIZERS[optimizer]
    torch_optimizer = peer_class(groups, lr=0.05)
    losses = []
    for step in range(6):
        torch_optimizer.zero_grad()
        E, p, v, *W = peer.parameters()
        loss = naive_loss(naive_logits(E, W[0] @ p if W else p, v, sequences), labels)
        losses.append(loss.detach())
        if step < 5:
            loss.backward()
            torch_optimizer.step()
    history = fit(model, corpus, steps=5, lr=0.05, train=train, optimizer=given)
    for ours, theirs in zip(model.parameters(), peer.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(history.loss, torch.stack(losses))
    assert history.step.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("K", [2, 3])
def test_mini_batches_see_each_sequence_once_a_pass(K):
    _, _, corpus = ragged(6, n=50, n_classes=K)
    settings = {"lr": 0.1, "optimizer": "gd", "test": corpus}
    model = AttentionClassifier(9, 8, n_classes=K, dtype=torch.float64)
    peer, alone, start = (copy.deepcopy(model) for _ in range(3))
    history = fit(model, corpus, steps=2, batch_size=20, **settings)
    random, means, ends = torch.Generator().manual_seed(0), [], []
    for _ in range(2):
        ends.append(mean_loss(peer(corpus), corpus).detach())
        order, total = torch.randperm(50, generator=random), 0
        for rows in (order[:20], order[20:40], order[40:]):
            loss = mean_loss(peer(corpus[rows]), corpus[rows])
            total += len(rows) / 50 * loss.detach()
            grads = torch.autograd.grad(loss, list(peer.parameters()))
            with torch.no_grad():
                for value, grad in zip(peer.parameters(), grads, strict=True):
                    value -= 0.1 * grad
        means.append(total)
    ends.append(mean_loss(peer(corpus), corpus).detach())
    assert history.step.tolist() == [0, 1, 2]
    exactly = {"rtol": 1e-12, "atol": 0}
    found = history.loss, history.test_loss
    expected = torch.stack([*means, ends[-1]]), torch.stack(ends)
    torch.testing.assert_close(found, expected, **exactly)
    for ours, theirs in zip(model.parameters(), peer.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)
    one = fit(alone, corpus, steps=3, batch_size=50, **settings)
    torch.testing.assert_close(one.loss, fit(start, corpus, steps=3, **settings).loss)


def test_history_describes_the_state_before_each_step_and_the_last():
    _, _, corpus = ragged(2, n=40)
    _, _, test = ragged(3, n=20)
    model = AttentionClassifier(9, 8)
    start = copy.deepcopy(model)
    history = fit(model, corpus, steps=4, lr=0.1, test=test, snapshots=(0,))
    for row, state in ((0, start), (-1, model)):
        for part, loss, share in (
            (corpus, history.loss, history.accuracy),
            (test, history.test_loss, history.test_accuracy),
        ):
            logits = state(part).detach()
            expected = logistic_loss(logits, part.signs)
            assert float(loss[row]) == pytest.approx(float(expected), rel=1e-5)
            right = ((logits > 0).long() == part.labels).double().mean()
            assert float(share[row]) == float(right)
    assert sorted(history.scores) == [0, 4]
    torch.testing.assert_close(history.scores[0], start.scores())
    torch.testing.assert_close(history.at(), model.scores())


def test_a_zero_logit_and_a_draw_between_classes_count_as_wrong():
    three = Corpus.from_tokens([[0], [1], [2]], [0, 1, 2], list("abc"))
    logits = torch.tensor([[2.0, 1.0, 0.0], [1.0, 1.0, 0.0], [3.0, 0.0, 2.0]])
    assert accuracy(logits, three) == pytest.approx(1 / 3)
    vocab = Vocab(["good", "bad"])
    corpus = Corpus.from_tokens([[0], [0], [1], [1]], [1, 1, 0, 0], vocab)
    assert accuracy(torch.tensor([0.0, 2.0, 0.0, -1.0]), corpus) == 0.5
    model = AttentionClassifier(2, 4)
    with torch.no_grad():
        model.output.zero_()  # before the first step every logit is zero
    assert fit(model, corpus, steps=1, lr=0.1).accuracy.tolist() == [0.0, 1.0]


def test_history_gives_the_scores_of_a_step_or_names_those_kept():
    _, _, corpus = ragged(2)
    history = fit(AttentionClassifier(9, 8), corpus, steps=3, lr=0.1, snapshots=(0, 2))
    assert history.at(2) is history.scores[2]
    with pytest.raises(KeyError, match="at step 1; steps with scores: 0, 2"):
        history.at(1)
    assert len(history.test_loss) == len(history.test_accuracy) == 0  # without a test


def test_a_huge_learning_rate_never_returns_nonsense():
    _, _, corpus = ragged(2, n=40)
    with pytest.raises(FloatingPointError, match="at step .* smaller lr"):
        fit(AttentionClassifier(9, 8), corpus, steps=50, lr=1e30)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"train": ("weights",)}, "train: expected some of"),
        ({"train": "cls"}, "train: expected some of"),
        ({"train": ()}, "train: expected some of"),
        (
            {"optimizer": "lbfgs"},
            r"optimizer: expected one of \['adam', 'gd'\], got 'lbfgs'",
        ),
        (
            {"optimizer": lambda _, lr: lr},
            "optimizer: expected a function that returns a torch.optim.Optimizer",
        ),
    ],
)
def test_fit_refuses_bad_arguments(change, message):
    _, _, corpus = ragged(2)
    model = AttentionClassifier(9, 4)
    before = model.embeddings.clone()
    with pytest.raises(ValueError, match=message):
        fit(model, corpus, **({"steps": 3, "lr": 0.1} | change))
    assert torch.equal(model.embeddings, before)


def test_one_step_is_of_one_layer():
    _, _, corpus = ragged(2)
    with pytest.raises(TypeError, match="model: expected one layer, got Classifier"):
        one_step(Classifier(9, 4), corpus, lr=0.1)


def test_vocabularies_must_agree():
    sequences, labels, corpus = ragged(2)
    other = Vocab(f"u{i}" for i in range(9))
    renamed = Corpus.from_tokens(sequences, labels, other)
    model = AttentionClassifier(9, 4)
    exchanged = Corpus.from_tokens(sequences, labels, Vocab(corpus.vocab, (1, 0)))
    for test in (renamed, exchanged):
        with pytest.raises(ValueError, match="test: its vocabulary or classes"):
            fit(model, corpus, steps=1, lr=0.1, test=test)
    fit(model, corpus, steps=1, lr=0.1)
    other_tokens = "its vocabulary is not the model's"
    for learn in (functools.partial(fit, steps=1), one_step):
        with pytest.raises(ValueError, match=other_tokens):
            learn(model, renamed, lr=0.1)
    with pytest.raises(ValueError, match="it has 3 classes, the model 2"):
        fit(model, ragged(2, n_classes=3)[2], steps=1, lr=0.1)


def test_a_model_takes_the_names_of_the_classes_it_was_trained_on():
    sequences, labels, _ = ragged(2)
    vocab = Vocab((f"t{i}" for i in range(9)), ("dull", "fine"))
    names = [vocab.classes[label] for label in labels]
    corpus = Corpus.from_tokens(sequences, names, vocab)
    model = AttentionClassifier(9, 4)
    assert model.classes == (0, 1)
    stepped = one_step(model, corpus, lr=0.1)
    fit(model, corpus, steps=1, lr=0.1)
    for taught in (model, stepped):
        assert taught.classes == ("dull", "fine")
        right = (taught(corpus).detach() > 0).int().tolist()
        assert taught.predict(corpus) == [("dull", "fine")[k] for k in right]


@with_torch_optim
def test_processes_train_one_layer_in_full_batches(monkeypatch):
    _, _, corpus = ragged(2)
    monkeypatch.setattr(train, "n_processes", lambda: 2)
    for model, batches in (
        (AttentionClassifier(9, 4), {"batch_size": 10}),
        (AttentionClassifier(9, 4), {"optimizer": torch.optim.SGD}),
        (TwoLayerClassifier(9, 4), {}),
    ):
        with pytest.raises(ValueError, match="optimizer: with several processes, only"):
            fit(model, corpus, steps=1, lr=0.1, **batches)


# Interruption


@pytest.fixture
def bars(monkeypatch):
    """Return a list of all progress bars, which are drawn from the first step on."""
    made, plain = [], progress_module._Bar

    def bar(*given, **settings):
        shown = {"delay": 0, "mininterval": 0, "file": io.StringIO()}
        made.append(plain(*given, **{**settings, **shown, "disable": False}))
        return made[-1]

    monkeypatch.setattr(progress_module, "_Bar", bar)
    return made


TRACED = {module.__file__ for module in (train, learners, attnsel.model)}


def stop_at(line):
    """Return a tracer that raises KeyboardInterrupt at the executed line `line`."""
    passed = itertools.count(1)

    def trace(frame, event, _):
        if frame.f_code.co_filename not in TRACED:
            return None
        if event == "line" and next(passed) == line:
            raise KeyboardInterrupt
        return trace

    return trace


@with_torch_optim
def test_fit_interrupted_without_autograd_turns_it_on_again():
    class Stopped(torch.optim.SGD):
        def step(self):
            torch.set_grad_enabled(False)
            raise KeyboardInterrupt

    _, _, corpus = ragged(3)
    with pytest.raises(KeyboardInterrupt):
        fit(AttentionClassifier(9, 6), corpus, steps=2, lr=0.1, optimizer=Stopped)
    assert torch.is_grad_enabled()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("optimizer", ["adam", "gd", torch.optim.RMSprop])
def test_a_gpu_trains_to_the_same_parameters(optimizer):
    _, _, corpus = ragged(21, n=30, n_tokens=2 * BLOCK + 5)
    model = AttentionClassifier(2 * BLOCK + 5, 7, dtype=torch.float64)
    on_gpu = copy.deepcopy(model).to("cuda")
    for trained in (model, on_gpu):
        fit(trained, corpus, steps=20, lr=0.01, optimizer=optimizer, test=corpus)
    for one, other in zip(model.weights(), on_gpu.weights(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "optimizer", ["adam", pytest.param("gd", marks=pytest.mark.weekly)]
)
def test_fit_interrupted_at_any_line_leaves_a_model_to_go_on_with(optimizer, bars):
    _, _, corpus = ragged(21, n=30, n_tokens=2 * BLOCK + 5)
    begin = AttentionClassifier(2 * BLOCK + 5, 7, dtype=torch.float64)
    settings = {"lr": 0.05, "optimizer": optimizer, "test": corpus}

    def parts(model):
        return [*model.embeddings.detach().split(BLOCK), model.cls, model.output]

    states = [parts(begin)]
    for steps in (1, 2):
        model = copy.deepcopy(begin)
        fit(model, corpus, steps=steps, **settings)
        states.append(parts(model))
    threads, within_a_step = threading.enumerate(), []
    for line in itertools.count(1, 6):  # a step passes the same lines at other turns
        model = copy.deepcopy(begin)
        parameters = list(model.parameters())
        bars.clear()
        sys.settrace(stop_at(line))
        try:
            fit(model, corpus, steps=2, **settings)
        except KeyboardInterrupt as error:
            stopped = error  # with the frames that hold the bar
        else:
            break
        finally:
            sys.settrace(None)
        # A step may be taken by some rows and not by others; no row is left between.
        reached = [
            {step for step, state in enumerate(states) if torch.equal(part, state[i])}
            for i, part in enumerate(parts(model))
        ]
        assert any(all(r & {k, k + 1} for r in reached) for k in (0, 1))
        within_a_step.append(not set.intersection(*reached))
        assert all(
            new is old and new.requires_grad and new.grad is None
            for new, old in zip(model.parameters(), parameters, strict=True)
        )
        assert torch.is_grad_enabled()
        assert threading.enumerate() == threads
        for bar in bars:
            assert not bar.fp.getvalue().split("\r")[-1].strip()  # drawn, then cleared
        again = fit(model, corpus, steps=1, **settings)
        assert again.loss[1] < again.loss[0]
        del stopped
    assert len(within_a_step) > 25
    assert 0 < sum(within_a_step) < len(within_a_step)
