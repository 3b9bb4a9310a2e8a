import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnsel import model as model_module
from attnsel.beyond.deep import MLPClassifier, TwoLayerClassifier
from attnsel.beyond.deletion import influence
from attnsel.corpus import Corpus
from attnsel.model import (
    SAFE_SPREAD,
    AttentionClassifier,
    attention_on,
    bag_logits,
    mean_loss,
    score_change,
)
from attnsel.statistics import binned
from attnsel.theory import one_step_prediction
from attnsel.tokens import Vocab
from attnsel.train import fit
from support.reference import naive_logits, naive_loss, ragged

TOLERANCE = {torch.float32: 2e-5, torch.float64: 1e-11}


@pytest.mark.parametrize("dtype", list(TOLERANCE))
# A factor of 1 shares one shift among all sequences; 300 spreads the scores far
# past SAFE_SPREAD of float32, and 6000 past that of float64.
@pytest.mark.parametrize("factor", [1.0, 300.0, 6000.0])
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32), K=st.integers(2, 5), key_query=st.booleans())
def test_logits_and_gradients_match_float64_autograd(dtype, factor, seed, K, key_query):
    sequences, labels, corpus = ragged(seed, n_classes=K)
    model = AttentionClassifier(
        9, 5, n_classes=K, key_query=key_query, seed=seed, dtype=dtype
    )
    with torch.no_grad():
        model.cls.mul_(factor)
    # Autograd in float64 through the gather of whole embeddings.
    leaves = [p.requires_grad_() for p in model.weights()]
    E, p, v, *W = leaves
    logits = naive_logits(E, W[0] @ p if W else p, v, sequences)
    expected = torch.autograd.grad(naive_loss(logits, labels), leaves)
    found = model(corpus)
    # The scores are rounded to the dtype before the softmax, so its error grows
    # with their size.
    tolerance = TOLERANCE[dtype] * max(1.0, factor / 10)
    off = (found - logits).detach().norm() / logits.detach().norm()
    assert float(off) < tolerance
    grads = torch.autograd.grad(mean_loss(found, corpus), list(model.parameters()))
    for ours, theirs in zip(grads, expected, strict=True):
        # One-token sequences leave the attention without a gradient.
        scale = max(float(theirs.norm()), 1e-3)
        assert float((ours - theirs).norm()) < tolerance * scale


def test_both_shifts_are_used_and_agree():
    _, _, corpus = ragged(3)
    scores = torch.randn(9, 2, generator=torch.Generator().manual_seed(0)).double()
    a = scores[:, 0]
    for spread in (0.99, 1.01):
        limit = SAFE_SPREAD[torch.float64] * spread
        a.sub_(a.min()).mul_(limit / a.max())
        with pytest.MonkeyPatch.context() as patch:
            if spread < 1:  # one shift: no softmax by sequences
                patch.delattr(model_module, "sequence_softmax")
            else:
                patch.delattr(model_module, "_Product")
            logits = bag_logits(scores, corpus)
        reference = torch.stack(
            [
                torch.softmax(a[torch.tensor(ids)], 0) @ scores[ids, 1]
                for ids in ragged(3)[0]
            ]
        )
        torch.testing.assert_close(logits, reference)


@pytest.mark.parametrize("K", [2, 3])
def test_the_change_of_the_scores_is_that_of_a_gradient_step(K):
    sequences, labels, corpus = ragged(3, n_classes=K)
    model = AttentionClassifier(9, 6, n_classes=K, dtype=torch.float64)
    E, p, v = (x.detach() for x in (model.embeddings, model.cls, model.output))
    leaf = E.clone().requires_grad_()
    loss = naive_loss(naive_logits(leaf, p, v, sequences), labels)
    (gradient,) = torch.autograd.grad(loss, leaf)
    moved = torch.cat([p[None], v.view(-1, 6)]) @ -gradient.T
    found = score_change(model.scores(), p, v, corpus)
    torch.testing.assert_close(found, moved.T)


def measured_by_name(model, corpus):
    """Yield the name and the value of each measurement of a model on a corpus."""
    history = fit(model, corpus, steps=2, lr=0.1, snapshots=[1])
    yield from history.scores.items()
    yield from [("loss", history.loss), ("accuracy", history.accuracy)]
    yield from zip(["E", "p", "v", "W"], model.weights(), strict=True)
    yield "scores", model.scores()
    yield "attention", torch.from_numpy(model.attention(corpus).data)
    yield "influence", torch.from_numpy(influence(model, corpus).data)
    yield "change", score_change(model.scores(), model.cls, model.output, corpus)
    yield "signs", corpus.signs
    yield "prediction", one_step_prediction(corpus, model.output, lr=1.0)
    yield from vars(binned(model.scores()[:, 0], model.scores()[:, 1])).items()


def test_what_is_measured_is_float64_without_a_gradient():
    _, _, corpus = ragged(3)
    model = AttentionClassifier(9, 6, key_query=True)
    for name, found in measured_by_name(model, corpus):
        assert not found.requires_grad, name
        assert found.dtype == (torch.int64 if name == "count" else torch.float64), name


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_weights_are_copies_of_the_parameters(dtype):
    model = AttentionClassifier(9, 6, dtype=dtype)
    E, p, v = model.weights()
    scores = torch.stack([E @ p, E @ v], dim=1)
    torch.testing.assert_close(model.scores(), scores, rtol=1e-5, atol=1e-6)
    for array, tensor in zip(model.arrays(), model.weights(), strict=True):
        assert array.dtype == np.float64
        assert array.tolist() == tensor.tolist()
    E.zero_()
    assert bool(model.embeddings.all())


@pytest.mark.parametrize("factor", [1.0, 1e4])
def test_attention_is_the_softmax_of_each_sequence(factor):
    sequences, _, corpus = ragged(11)
    model = AttentionClassifier(9, 4, seed=2, dtype=torch.float64)
    with torch.no_grad():
        model.cls.mul_(factor)
    attention = model.attention(corpus).toarray()
    a = (model.embeddings @ model.cls).detach()
    for row, sequence in zip(attention, sequences, strict=True):
        expected = torch.zeros(9, dtype=torch.float64)
        ids = torch.tensor(sequence)
        expected.index_add_(0, ids, torch.softmax(a[ids], 0))
        torch.testing.assert_close(torch.from_numpy(row), expected)
    one = model.attention(corpus[3])
    assert one.shape == (1, 9)
    assert one.sum() == pytest.approx(1.0)


def test_attention_on_a_text_is_the_softmax_over_its_tokens():
    corpus = Corpus.from_texts(["A good, good film"], vocab=Vocab(["good", "a"]))
    words = corpus.words(0)
    scores = torch.tensor([[1.0, 9.0], [2.0, -9.0]])
    e = torch.e
    expected = {-1: 0.0, 0: 1 / (2 + e), 1: e / (2 + e)}
    found = attention_on(words, scores)
    assert found.tolist() == pytest.approx([expected[s] for _, s in words])
    assert attention_on([("?", -1)], scores).tolist() == [0.0]


def test_predict_names_the_likelier_class():
    _, _, corpus = ragged(4)
    model = AttentionClassifier(9, 6, seed=4)
    logits = model(corpus)
    assert (logits > 0).any() and (logits < 0).any()
    assert model.predict(corpus) == (logits > 0).long().tolist()
    model.classes = ("neg", "pos")
    expected = ["pos" if logit > 0 else "neg" for logit in logits]
    assert model.predict(corpus) == expected
    three = AttentionClassifier(9, 6, n_classes=3, seed=4)
    assert three.predict(corpus) == three(corpus).argmax(1).tolist()


def test_errors_name_the_argument():
    _, _, corpus = ragged(1)
    with pytest.raises(ValueError, match="dtype"):
        AttentionClassifier(5, 4, dtype=torch.float16)
    model = AttentionClassifier(9, 4)
    model.vocab = Vocab(f"other{i}" for i in range(9))
    for message, use in (
        ("corpus: expected 5 tokens, got 9", AttentionClassifier(5, 4)),
        ("corpus: its vocabulary is not the model's", model),
        ("corpus: its vocabulary is not the model's", model.attention),
    ):
        with pytest.raises(ValueError, match=message):
            use(corpus)


@pytest.mark.parametrize("column", [0, 1])
def test_scores_that_are_not_finite_are_refused(column):
    _, _, corpus = ragged(1)
    scores = torch.zeros(9, 2)
    scores[4, column] = torch.inf
    with pytest.raises(FloatingPointError, match="smaller lr"):
        bag_logits(scores, corpus)


# Predictions for texts, and models in files


@pytest.fixture(scope="module")
def trained():
    texts = ["a good film", "a bad film", "good", "bad bad"]
    corpus = Corpus.from_texts(texts, ["yes", "no", "yes", "no"], min_count=1)
    model = AttentionClassifier(len(corpus.vocab), 8)
    fit(model, corpus, steps=30, lr=0.05)
    return model, corpus


def test_each_text_has_an_answer(trained):
    model, corpus = trained
    texts = ["good film", "zebra", None, "", "the bad one", "  "]
    assert model.predict(texts) == ["yes", None, None, None, "no", None]
    assert model.predict(["zebra"]) == [None]
    assert model.predict([]) == []
    assert model.predict(corpus) == model.predict(list(corpus.texts))
    with pytest.raises(TypeError, match="expected a list of strings, got one string"):
        model.predict("good")
    with pytest.raises(ValueError, match="the model has no vocabulary"):
        AttentionClassifier(5, 4).predict(["good"])
    with pytest.raises(ValueError, match="n_tokens: expected an integer"):
        AttentionClassifier(2.5, 4)


@pytest.mark.parametrize(
    "classes", [("no", "yes"), (1, 4), (False, True), ("a", 2, "\ud800"), None]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_model_comes_back_as_it_was_saved(tmp_path, classes, dtype):
    sequences, labels, _ = ragged(3, n_classes=len(classes or "ab"))
    vocab = Vocab([f"t{i}" for i in range(8)] + ["\udc80"], classes)
    labels = [(classes or (0, 1))[k] for k in labels]
    corpus = Corpus.from_tokens(sequences, labels, vocab)
    model = AttentionClassifier(
        9, 6, n_classes=len(classes or "ab"), key_query=True, dtype=dtype
    )
    for steps in (0, 2):  # as it starts, and trained
        if steps:
            fit(model, corpus, steps=steps, lr=0.1)
        model.save(tmp_path / "model.pt")
        again = AttentionClassifier.load(tmp_path / "model.pt")
        assert again.classes == model.classes
        assert list(map(type, again.classes)) == list(map(type, model.classes))
        assert again.vocab == model.vocab
        for old, new in zip(model.parameters(), again.parameters(), strict=True):
            assert torch.equal(old, new) and old.dtype == new.dtype
    assert again.vocab.classes == corpus.classes
    assert again.predict(corpus) == model.predict(corpus)
    other = Corpus.from_tokens(sequences, labels, Vocab(map(str, range(9)), classes))
    with pytest.raises(ValueError, match="its vocabulary is not the model's"):
        again.predict(other)
    assert [file.name for file in tmp_path.iterdir()] == ["model.pt"]
    torch.load(tmp_path / "model.pt", weights_only=True)


@pytest.mark.parametrize(
    "model",
    [MLPClassifier(9, 4, residual=True), TwoLayerClassifier(9, 4, positions=7)],
)
def test_deeper_models_come_back_too(tmp_path, model):
    model.save(tmp_path / "model.pt")
    again = type(model).load(tmp_path / "model.pt")
    assert again.settings == model.settings
    assert again.residual == model.residual
    for old, new in zip(model.parameters(), again.parameters(), strict=True):
        assert torch.equal(old, new)
    with pytest.raises(ValueError, match="expected AttentionClassifier, got .*load$"):
        AttentionClassifier.load(tmp_path / "model.pt")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_seed_gives_the_same_start_for_good(n_classes, dtype):
    d = 6
    model = AttentionClassifier(
        5, d, n_classes=n_classes, key_query=True, seed=7, dtype=dtype
    )
    random = torch.Generator().manual_seed(7)
    shapes = [(5, d), (d,), (d,) if n_classes == 2 else (n_classes, d), (d, d)]
    drawn = [torch.randn(*shape, generator=random, dtype=dtype) for shape in shapes]
    parameters = model.embeddings, model.cls, model.output, model.key_query
    for parameter, normal in zip(parameters, drawn, strict=True):
        torch.testing.assert_close(parameter.detach(), normal / d**0.5)
    alike = AttentionClassifier(5, d, n_classes=n_classes, seed=7, dtype=dtype)
    assert torch.equal(model.output, alike.output)  # W is drawn last


def test_texts_are_read_by_the_function_that_split_those_it_learned_from(tmp_path):
    corpus = Corpus.from_texts(
        ["a-good", "a-bad"] * 9, [1, 0] * 9, min_count=1, tokenize=by_dash
    )
    model = AttentionClassifier(len(corpus.vocab), 8, seed=0)
    fit(model, corpus, steps=30, lr=0.1)
    assert model.predict(["a-good", "bad", "unknown", None]) == [1, 0, None, None]
    model.save(tmp_path / "model.pt")
    again = AttentionClassifier.load(tmp_path / "model.pt")
    with pytest.raises(ValueError, match="^texts: .* set model.vocab.tokenize to it"):
        again.predict(["a-good"])
    again.vocab.tokenize = by_dash
    assert again.predict(["a-good", "bad"]) == [1, 0]


def by_dash(text):
    return text.split("-")
