"""Probes of classifiers through outputs, compared with the known parameters."""

import hashlib
import importlib
import json
import math
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import attnsel
from attnsel.beyond.probe import DILUTIONS, average, log_ratio, outside
from attnsel.beyond.transformer import Transformer
from attnsel.tokens import Vocab
from attnsel_book.chapters.outside.stored_models import (
    asking,
    packed,
    stored_classifiers,
    stored_models,
    unpacked,
)

PUBLISHED = Path(__file__).parents[3] / "shared" / "data"  # where there is one
WORDS = [f"w{i}" for i in range(40)]
PLACE = {word: i for i, word in enumerate(WORDS)}


def of_numbers(formula):
    """Return a classifier of lists of words that applies a formula to their ids."""
    return lambda texts: [formula([PLACE[w] for w in text]) for text in texts]


def drawn(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return random values and log-weights of the words."""
    random = np.random.default_rng(seed)
    return random.normal(0, 2, len(WORDS)), random.normal(0, 1.5, len(WORDS))


def ask(formula):
    return outside(of_numbers(formula), WORDS, join=None, samples=200)


@pytest.mark.parametrize("seed", range(3))
def test_one_layer_is_recovered_exactly(seed):
    model = attnsel.AttentionClassifier(len(WORDS), 8, seed=seed, dtype=torch.float64)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)

    def classify(texts):
        rows = [[PLACE[word] for word in text.split()] for text in texts]
        corpus = attnsel.Corpus.from_tokens(rows, None, WORDS)
        return model(corpus).detach()

    found = outside(classify, WORDS, samples=100)
    a, b = model.scores().numpy().T
    assert np.abs(found.values - b).max() < 1e-9
    assert np.abs(found.scores - (a - a.mean())).max() < 1e-9
    assert found.fits
    assert found.beyond == 0
    assert found.cycle < 1e-9
    assert np.ptp(found.strength) < 1e-9
    assert found.explained == pytest.approx(1)
    assert found.queries < 2 * len(WORDS) + 6 * 100 + 4 * 50 + 1


def test_a_cycle_is_the_sum_of_the_ratios_around_relative_to_their_size():
    values = np.linspace(-3, 3, len(WORDS))
    third = np.repeat([0, 1, 2], [13, 14, 13])

    def f(ids):  # each third gets e times the attention of the next one
        if len(ids) != 2:
            return values[ids].mean()
        behind = (third[ids[1]] - third[ids[0]]) % 3
        weight = 1 / (1 + np.exp(1 if behind == 2 else -behind))
        return values[ids] @ [weight, 1 - weight]

    assert ask(f).cycle == pytest.approx(3)


def test_logistic_regression_draws_a_false_v_and_pairs_of_one_sign_betray_it():
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(WORDS, 12)) for _ in range(400)]
    weight = np.linspace(-2, 2, len(WORDS))
    margin = [sum(weight[PLACE[w]] for w in text.split()) for text in texts]
    labels = np.array(margin) > 0
    pattern = r"\S+"
    counted = make_pipeline(
        CountVectorizer(token_pattern=pattern, vocabulary=WORDS), LogisticRegression()
    ).fit(texts, labels)
    regression = counted[-1]
    beta = regression.coef_[0]
    found = outside(counted.decision_function, WORDS, samples=200)
    assert found.values == pytest.approx(beta + regression.intercept_)
    assert found.beyond == 1
    assert not found.fits
    # Pairs of opposite signs are those of an attention with the weights |beta|.
    s, t = np.argmax(beta), np.argmin(beta)
    low = [i for i in range(len(WORDS)) if beta[i] < 0]
    pairs = counted.decision_function([f"{WORDS[s]} {WORDS[i]}" for i in low])
    ratio = log_ratio(pairs, found.values[s], found.values[low])
    assert ratio == pytest.approx(np.log(np.abs(beta[s] / beta[low])), abs=1e-9)
    known = np.isfinite(found.scores)
    expected = np.log(np.abs(beta))
    shift = found.scores[known] - expected[known]
    assert t in np.flatnonzero(known)
    assert np.ptp(shift) < 1e-9


def test_the_tangent_of_a_mean_looks_like_attention_in_pairs_and_not_in_long_texts():
    c, _ = drawn()
    found = ask(lambda ids: math.tanh(np.mean(c[ids])))
    false = np.log(np.cosh(c))
    assert found.scores == pytest.approx(false - false.mean(), abs=1e-7)
    assert found.beyond == 0
    assert found.cycle < 1e-6
    assert found.drift > 0.5
    assert not found.fits
    # One word c beside k neutral ones, f = tanh(c / (k + 1)), seems to have the odds
    # f / (tanh c - f) against k of them: cosh c at first, and c / tanh c in the end.
    for size in (0.5, 3.0):
        f = np.tanh(size / (np.array([1, 1e6]) + 1))
        odds = np.array([1, 1e6]) * f / (math.tanh(size) - f)
        assert odds[0] == pytest.approx(math.cosh(size))
        assert odds[1] == pytest.approx(size / math.tanh(size), rel=1e-5)


def test_a_mean_of_values_has_equal_weights():
    b, _ = drawn()
    found = ask(lambda ids: np.mean(b[ids]))
    assert np.abs(found.scores).max() < 1e-9
    assert np.abs(found.strength).max() < 1e-9
    assert found.dilution == pytest.approx([1 / (k + 1) for k in DILUTIONS])
    assert found.fits


def test_words_of_equal_value_do_not_hide_an_average_or_a_sum():
    values = np.repeat([-1.0, 0, 1], [13, 14, 13])
    found = ask(lambda ids: values[ids].mean())
    assert found.fits and found.beyond == 0
    assert ask(lambda ids: values[ids].sum()).beyond == 1


def test_a_cls_that_is_attended_to_is_one_more_token():
    b, a = drawn()
    ghost = ask(lambda ids: average(np.append(b[ids], 0.3), np.append(a[ids], 1.0)))
    assert ghost.beyond > 0  # a word said twice has more weight
    assert not ghost.fits

    # With the ghost's own value known, the odds of each word against it are its weight.
    w = np.exp(a - 1.0)
    assert (ghost.values - 0.3) / (b - ghost.values) == pytest.approx(w)
    # Repeated words give its weight without this value, by a median over strong words.
    order = ghost.values.argsort(kind="stable")
    strong = np.concatenate([order[:5], order[-5:]])
    assert ghost.ghost == pytest.approx(np.median(1 / w[strong]), rel=1e-4)
    assert ghost.verdict.endswith(
        "a sum divided by a root of the length, or a <cls> token that gets attention "
        f"in every text, with {ghost.ghost:.2g} times the weight of a strong token"
    )


def test_hard_attention_has_no_weights_and_says_so():
    b, _ = drawn()
    with pytest.warns(UserWarning, match="a weight for 1 of 40 tokens; for 100%"):
        found = ask(lambda ids: max(b[ids], key=abs))
    assert (found.hard, found.beyond, found.ghost) == (1, 0, 0)
    assert "hard attention or a maximum" in found.verdict
    assert not found.fits
    assert np.isfinite(found.scores).sum() == 1
    assert np.isnan(found.explained) and np.isnan(found.strength).all()


def test_the_verdict_names_what_pairs_cannot_decide():
    b, a = drawn()
    total = ask(lambda ids: b[ids].sum())
    assert total.ghost == math.inf
    assert "for 100% of the pairs with two low or two high" in total.verdict
    assert total.verdict.endswith("at least as much as in a sum")
    # Logits that grow faster than a sum are no attention with a ghost either.
    assert ask(lambda ids: b[ids].sum() * len(ids) ** 0.2).ghost == math.inf
    layer = ask(lambda ids: average(b[ids], a[ids]))
    assert (layer.ghost, layer.hard) == (0, 0)
    assert layer.verdict.startswith("on all texts that were tried, the logit is an")
    curve = ask(lambda ids: math.tanh(np.mean(b[ids])))
    assert "a saturating curve" in curve.verdict


@pytest.mark.parametrize(
    ("classify", "message"),
    [
        (lambda texts: [0.0], "classify: expected .*, got shape .1,"),
        (lambda texts: [math.nan] * len(texts), "one per text, got nan or inf"),
        (lambda texts: [1.0] * len(texts), "the same number for all"),
        (lambda texts: [float(text > "w17") for text in texts], "seem to be classes"),
    ],
)
def test_a_function_that_is_no_classifier_is_refused(classify, message):
    with pytest.raises(ValueError, match=message):
        outside(classify, WORDS)


def test_a_few_tokens_are_too_few():
    with pytest.raises(ValueError, match="tokens: expected 15 or more, got 3"):
        outside(len, WORDS[:3])
    with pytest.raises(ValueError, match="samples: expected an integer from 10"):
        outside(len, WORDS, samples=9)


def test_a_stored_transformer_saturates_and_does_not_select():
    vocab, models = stored_models()
    chosen = [vocab[i] for i in range(50, 1_000, 5)]
    model = models["transformer"]
    found = outside(asking(model, vocab), chosen, join=None, samples=200)
    alone = model(torch.tensor([[vocab.index(word)] for word in chosen]))
    assert found.values == pytest.approx(alone.double().numpy(), abs=1e-5)
    assert found.drift > 0.5
    assert not found.fits


@pytest.mark.parametrize("pool", ["mean", "cls", "query"])
@pytest.mark.parametrize("norm", ["post", "pre", "none"])
def test_padding_and_order_change_nothing_without_positions(pool, norm):
    model = Transformer(9, 8, layers=2, heads=2, norm=norm, pool=pool).double()
    ids = torch.tensor([[1, 4, 4, 7]])
    padded = torch.tensor([[7, 4, 1, 4, -1, -1], [0, 1, 2, 3, 4, 5]])
    assert model(padded)[0].item() == pytest.approx(model(ids).item(), abs=1e-12)
    placed = Transformer(9, 8, heads=2, norm=norm, pool=pool, positions=6).double()
    turned = placed(ids.flip(1)).item()
    assert turned != pytest.approx(placed(ids).item(), abs=1e-9)


def test_uniform_attention_is_one_over_the_length():
    assert Transformer(9).settings["dim"] == 32  # which its heads divide
    model = Transformer(9, 8, heads=2, uniform=True)
    (attention,) = model.look(torch.tensor([[1, 2, 3, -1]]))[1]
    expected = torch.tensor([1 / 3, 1 / 3, 1 / 3, 0])
    assert torch.allclose(attention, expected.expand_as(attention))
    (free,) = Transformer(9, 8, heads=2).look(torch.tensor([[1, 2, 3, -1]]))[1]
    assert torch.allclose(free.sum(3), torch.ones(1, 2, 4))
    assert not torch.allclose(free, expected.expand_as(free), atol=1e-3)


def test_a_block_is_its_formula():
    model = Transformer(5, 4, heads=1, sharpness=3.0).double()
    (block,) = model.blocks
    x = model.embeddings[[0, 3]].detach()
    weights = [part.T for part in block.read.weight.split(4)]
    biases = block.read.bias.split(4)
    q, k, v = (x @ W + b for W, b in zip(weights, biases, strict=True))
    A = torch.softmax(3.0 * q @ k.T / 2, dim=1)
    norm = torch.nn.LayerNorm(4, elementwise_affine=False, dtype=torch.float64)
    x = norm(x + block.write(A @ v))
    x = norm(x + block.back(block.hidden(x).clamp(min=0)))
    expected = model.output(x.mean(0)).item()
    assert model(torch.tensor([[0, 3]])).item() == pytest.approx(expected)


def test_bad_parts_of_a_transformer_are_named():
    with pytest.raises(ValueError, match="dim: expected a multiple of heads=3, got 8"):
        Transformer(9, 8, heads=3)
    with pytest.raises(ValueError, match="pool: expected one of"):
        Transformer(9, 8, pool="max")
    with pytest.raises(ValueError, match="n_tokens: expected an integer from 1"):
        Transformer(0, 8)


def test_stored_models_have_their_checksum_and_come_back():
    folder = resources.files("attnsel_book.chapters.outside")
    content = folder.joinpath("models.npz").read_bytes()
    index = json.loads(folder.joinpath("models.json").read_text())
    assert hashlib.sha256(content).hexdigest() == index["sha256"]
    assert len(content) < 2e6
    changed = bytes([content[0] ^ 1]) + content[1:]
    with pytest.raises(ValueError, match="its checksum is"):
        unpacked(index, changed, "imdb")
    model = Transformer(3, 8, layers=2, norm="none", pool="cls", sharpness=9.0)
    groups = {"imdb": {"one": model, "numbers": torch.tensor([1.5, -2.0])}}
    again, content = packed({"imdb": Vocab(["a", "b", "c"])}, groups)
    vocab, back = unpacked(again, content, "imdb")
    assert list(vocab) == ["a", "b", "c"]
    ids = torch.tensor([[0, 2, 1]])
    assert back["one"](ids).item() == pytest.approx(model(ids).item(), abs=0.01)
    assert back["numbers"].tolist() == [1.5, -2.0]


def test_stored_numbers_are_read_as_a_layer_and_as_a_sum():
    vocab, classify = stored_classifiers()
    models = stored_models()[1]
    text = [vocab[7], vocab[300], vocab[7]]
    a, b = models["one layer"][[7, 300, 7]].T
    expected = float(torch.softmax(a, dim=0) @ b)
    padded = classify["one layer"]([text, [vocab[1]] * 5])
    assert padded[0].item() == pytest.approx(expected, rel=1e-5)
    zeta = models["sum"]
    expected = float(2 * zeta[7] + zeta[300] + zeta[-1])
    padded = classify["sum"]([text, [vocab[1]] * 5])
    assert padded[0].item() == pytest.approx(expected, rel=1e-5)
    equal = classify["mean of values"]([text])
    assert equal.item() == pytest.approx(
        models["mean of values"][[7, 300, 7], 1].mean()
    )


@pytest.mark.weekly  # about ten seconds of one core; the checksum guards each push
@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the texts are not on this machine")
def test_the_smallest_model_is_trained_again(monkeypatch):
    monkeypatch.setattr("sys.argv", ["test", "--texts", str(PUBLISHED)])
    script = importlib.import_module("sweeps.outside.run_outside")
    vocab, model = script.smallest()
    stored_vocab, models = stored_models("yelp")
    assert vocab == stored_vocab
    stored = models["transformer"].state_dict()
    for name, parameter in model.state_dict().items():
        off = (parameter - stored[name]).abs().max().item() if parameter.numel() else 0
        assert off < 0.02, name
    ids = script.all_reviews("yelp").test_ids[:200]
    with torch.no_grad():
        now, then = model(ids), models["transformer"](ids)
    assert (now - then).abs().max() < 0.05
