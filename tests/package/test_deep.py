"""Deeper models, compared with their formulas for each token in float64."""

import functools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnsel.beyond import deep
from attnsel.beyond.deep import MLPClassifier, TwoLayerClassifier
from attnsel.corpus import Corpus
from attnsel.model import accuracy, mean_loss
from attnsel.tokens import Vocab
from attnsel.train import fit
from support.reference import naive_loss, ragged

DOUBLE = {"dtype": torch.float64}


def naive_mlp(model, sequences):
    E, p, v, hidden = (model.get_parameter(n) for n in NAMES["mlp"])
    logits = []
    for ids in sequences:
        X = E[torch.tensor(ids)]
        x = torch.softmax(X @ p, 0) @ X
        out = torch.relu(hidden @ x)
        logits.append((out + x if model.residual else out) @ v.mT)
    return torch.stack(logits)


def naive_two_layers(model, sequences):
    E, p, v, W1, W = (model.get_parameter(n) for n in NAMES["two"])
    logits = []
    for ids in sequences:
        X = E[torch.tensor(ids)]
        if model.positions is not None:
            X = X + model.positions[: len(ids)]
        H = torch.softmax(X @ W1 @ X.T, 1) @ X
        H = H + X if model.residual else H
        logits.append(torch.softmax(H @ W @ p, 0) @ H @ v.mT)
    return torch.stack(logits)


NAMES = {
    "mlp": ("embeddings", "cls", "output", "hidden"),
    "two": ("embeddings", "cls", "output", "first_key_query", "key_query"),
}


def compare(model, naive, corpus, sequences, labels):
    logits, expected = model(corpus), naive(model, sequences)
    expected = expected.squeeze(1) if expected.shape[-1] == 1 else expected
    torch.testing.assert_close(logits, expected, rtol=1e-9, atol=1e-9)
    values = list(model.parameters())
    ours = torch.autograd.grad(mean_loss(logits, corpus), values)
    theirs = torch.autograd.grad(naive_loss(expected, labels), values)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


def stretch(model, factor):
    """Multiply the scores, so that attention is far from uniform."""
    with torch.no_grad():
        model.cls.mul_(factor)
        if isinstance(model, TwoLayerClassifier):
            model.first_key_query.mul_(factor)
        if model.output.ndim == 1:
            model.output.data = model.output.data[None]  # one formula for all K


@settings(max_examples=10)
@given(
    residual=st.booleans(),
    K=st.integers(2, 3),
    factor=st.sampled_from([4.0, 3000.0]),
    seed=st.integers(0, 2**32),
)
def test_an_mlp_is_its_formula(residual, K, factor, seed):
    sequences, labels, corpus = ragged(seed, n_classes=K)
    model = MLPClassifier(9, 5, residual=residual, n_classes=K, seed=seed, **DOUBLE)
    stretch(model, factor)
    compare(model, naive_mlp, corpus, sequences, labels)


@settings(max_examples=15)
@given(
    residual=st.booleans(),
    K=st.integers(2, 3),
    group=st.sampled_from([1, 30, 2**21]),
    seed=st.integers(0, 2**32),
)
def test_two_layers_on_bags_are_their_formula_on_sequences(residual, K, group, seed):
    sequences, labels, corpus = ragged(seed, n_classes=K)
    model = TwoLayerClassifier(
        9, 5, residual=residual, n_classes=K, seed=seed, **DOUBLE
    )
    stretch(model, 5.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deep, "GROUP", group)
        compare(model, naive_two_layers, corpus, sequences, labels)


@pytest.mark.parametrize("residual", [False, True])
def test_positions_see_the_order_of_a_text(residual):
    vocab = Vocab(["not", "good", "film"], range(2))
    texts = ["not good film", "film not good, good", "good film", "film"]
    sequences, labels = [[0, 1, 2], [2, 0, 1, 1], [1, 2], [2]], [1, 0, 1, 0]
    corpus = Corpus.from_texts(texts, labels, vocab=vocab)
    model = TwoLayerClassifier(3, 6, residual=residual, positions=4, **DOUBLE)
    stretch(model, 5.0)
    compare(model, naive_two_layers, corpus, sequences, labels)
    turned = Corpus.from_texts(["good not film"], [1], vocab=vocab)
    assert (model(turned) - model(corpus[0])).abs().item() > 1e-3
    longer = Corpus.from_texts(["film " * 5], [1], vocab=vocab)
    with pytest.raises(ValueError, match="text 0 has 5 tokens, the model 4 positions"):
        model(longer)
    with pytest.raises(ValueError, match="positions need the texts"):
        model(Corpus.from_tokens([[0]], [0], vocab))


@pytest.mark.parametrize(
    "kind",
    [
        MLPClassifier,
        TwoLayerClassifier,
        functools.partial(TwoLayerClassifier, residual=False),
    ],
)
@pytest.mark.parametrize("batch_size", [None, 8])
def test_fit_trains_the_parameters_named(kind, batch_size):
    _, _, corpus = ragged(4, n=40)
    model = kind(9, 16)
    names = [name for name, _ in model.named_parameters()]
    for name in names:
        before = {n: p.detach().clone() for n, p in model.named_parameters()}
        fit(model, corpus, steps=1, lr=0.01, train=(name,), batch_size=batch_size)
        moved = [n for n in names if not torch.equal(before[n], model.get_parameter(n))]
        assert moved == [name]
    history = fit(model, corpus, steps=5, lr=0.03, batch_size=batch_size)
    assert history.loss[-1] < history.loss[0]
    assert history.loss[-1] == pytest.approx(mean_loss(model(corpus), corpus).item())
    assert history.accuracy[-1] == accuracy(model(corpus), corpus)
    torch.testing.assert_close(history.at(), model.scores())


@pytest.mark.parametrize("kind", [MLPClassifier, TwoLayerClassifier])
def test_an_adam_step_moves_matrices_by_less(kind):
    _, _, corpus = ragged(4, n=40)
    model = kind(9, 16)
    before = {n: p.detach().clone() for n, p in model.named_parameters()}
    fit(model, corpus, steps=1, lr=0.01)
    for name, value in model.named_parameters():
        rate = 0.01 / 4 if name in model.matrices else 0.01
        moved = (value.detach() - before[name]).abs().max()
        assert float(moved) == pytest.approx(rate, rel=1e-2)


def test_two_layers_learn_pairs_that_one_layer_cannot():
    # Exclusive or: the label states whether a and b agree.
    vocab = Vocab(["a", "A", "b", "B", *"cdef"], range(2))
    random = torch.Generator().manual_seed(0)
    bits = torch.randint(2, (200, 2), generator=random)
    noise = torch.randint(4, 8, (200, 2), generator=random)
    sequences = torch.cat([bits + torch.tensor([0, 2]), noise], 1).tolist()
    corpus = Corpus.from_tokens(sequences, (bits[:, 0] == bits[:, 1]).int(), vocab)
    model = TwoLayerClassifier(8, 32, residual=False, seed=1)
    history = fit(model, corpus, steps=30, lr=0.03, batch_size=25)
    assert history.accuracy[-1] == 1
