"""The estimator, used wherever scikit-learn uses estimators."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline

from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel.train import fit
from attnsel_report.estimator import AttentionTextClassifier

TEXTS = [f"a {word} film number {i}" for i in range(20) for word in ("good", "bad")]
LABELS = np.array(["yes", "no"] * 20)
MORE = [f"a {word} film" for word in ("good", "bad", "dull")] * 8
WEIGHED = ["a good film", "a bad film", "a dull film", "good", "?!", "a bad good film"]
VERDICTS = ["yes", "no", "so so", "yes", "no", "no"]


@pytest.mark.filterwarnings("ignore:Can't test estimator")  # of texts, some of them
def test_it_passes_the_checks_for_estimators_of_texts():
    from sklearn.utils.estimator_checks import check_estimator  # slow to import

    results = check_estimator(AttentionTextClassifier())
    assert results
    assert {result["status"] for result in results} == {"passed"}


def test_it_works_in_what_takes_estimators():
    model = AttentionTextClassifier(dim=8, steps=20, lr=0.1, min_count=1)
    assert cross_val_score(model, TEXTS, LABELS, cv=2).tolist() == [1, 1]
    pipeline = Pipeline([("model", model)])
    search = GridSearchCV(pipeline, {"model__steps": [1, 20]}, cv=2).fit(TEXTS, LABELS)
    assert search.best_score_ == 1
    copy = clone(model).set_params(dim=4)
    assert (copy.dim, model.dim) == (4, 8)


def test_probabilities_are_of_the_classes_in_their_order():
    model = AttentionTextClassifier(dim=8, steps=40, lr=0.1, min_count=1)
    model.fit(MORE, [3, 1, 2] * 8)
    assert model.classes_.tolist() == [1, 2, 3]
    found = model.predict_proba(["good", "unheard", "bad", "dull", ""])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(found[[1, 4]], 1 / 3)  # the shares of the classes
    assert model.predict(["good", "bad", "dull"]).tolist() == [3, 1, 2]
    with pytest.raises(NotFittedError):
        clone(model).predict(["good"])


def test_texts_are_split_by_a_function_of_ones_own():
    model = AttentionTextClassifier(dim=8, steps=30, lr=0.1, min_count=1, tokenize=list)
    model.fit(["好", "差"] * 10, [1, 0] * 10)
    assert model.predict(["好", "差"]).tolist() == [1, 0]


STRINGS = "^X: expected a list of strings"
NO_LABEL = "^y: row {} has no label; leave the row out"
UNEQUAL = "inconsistent .*(2, 3|3, 2)"
NONE = (None, float("nan"), pd.NA)


@pytest.mark.parametrize(
    ("message", "texts", "labels"),
    [
        (STRINGS, "a film", [0, 1]),
        (STRINGS, [], [0, 1]),
        (STRINGS, [1, 2], [0, 1]),
        (STRINGS, [["a", "b"]], [0, 1]),
        ("strings, got nan in row 1; leave the row out", ["a", float("nan")], [0, 1]),
        ("^y: expected two classes", ["a", "b"], [1, 1]),
        *((NO_LABEL.format(1), ["a", "b"], np.array(["no", x], object)) for x in NONE),
        *((NO_LABEL.format(0), ["a", "b"], [x, 1]) for x in NONE),
        (UNEQUAL, ["a", "b"], [0, 1, 0]),
        (UNEQUAL, ["a", "b", "a"], [0, 1]),
    ],
)
def test_texts_and_labels_that_cannot_be_are_refused(message, texts, labels):
    with pytest.raises(ValueError, match=message):
        AttentionTextClassifier().fit(texts, labels)


@pytest.mark.parametrize(
    ("message", "weights", "settings"),
    [
        ("sample_weight.shape", [1, 2], {}),
        ("[Nn]egative", [1, -1, 1, 1, 1, 1], {}),
        ("^lr: expected a finite number above 0", None, {"lr": 0}),
    ],
)
def test_weights_and_settings_that_cannot_be_are_refused(message, weights, settings):
    with pytest.raises(ValueError, match=message):
        AttentionTextClassifier(**settings).fit(WEIGHED, VERDICTS, weights)


def test_its_settings_are_those_of_the_model_and_shares_those_of_the_labels():
    texts, labels = ["a b", "a b b", "a c", "a"], ["yes", "no", "yes", "yes"]
    settings = {"dim": 3, "min_count": 2, "lr": 0.1}
    model, other, start = (
        AttentionTextClassifier(**settings, steps=steps, random_state=seed)
        for steps, seed in ((5, 0), (5, 1), (1, 0))
    )
    parts = [one.fit(texts, labels).model_.embeddings for one in (model, other, start)]
    assert {part.shape for part in parts} == {(2, 3)}  # "a" and "b"
    assert list(model.model_.vocab) == ["a", "b"]
    for part in parts[1:]:
        assert not part.equal(parts[0])
    assert model.fit(texts, labels).model_.embeddings.equal(parts[0])
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.prior_.tolist() == [0.25, 0.75]
    assert model.predict_proba(["unheard"]).tolist() == [[0.25, 0.75]]
    assert model.predict(["unheard"]).tolist() == ["yes"]


def test_seeds_and_labels_come_as_scikit_learn_has_them():
    texts, labels = ["a b", "a b b", "a c", "a"], ["yes", "no", "yes", "yes"]

    def learned(seed, y=labels):
        model = AttentionTextClassifier(3, 2, min_count=1, random_state=seed)
        return model.fit(texts, y).model_.embeddings

    assert learned(np.int64(3)).equal(learned(3))
    generator = np.random.RandomState(3)
    first, second = learned(generator), learned(generator)
    assert not first.equal(second)
    assert first.equal(learned(np.random.RandomState(3)))
    assert not learned(None).equal(learned(None))
    with pytest.warns(DataConversionWarning, match="column-vector"):
        column = learned(3, np.array(labels)[:, None])
    assert column.equal(learned(3))


def learned(texts, labels, weights=None, **settings):
    model = AttentionTextClassifier(4, 20, 0.1, min_count=1, **settings)
    model.fit(texts, labels, sample_weight=weights)
    return model.predict_proba([*WEIGHED, "unheard"]), model


@pytest.mark.parametrize("classes", [2, 3])
def test_a_weight_counts_as_that_many_texts(classes):
    labels = VERDICTS if classes == 3 else ["yes", "no", "no", "yes", "no", "no"]
    weights = [3, 3, 2, 0, 2, 2]  # tokens stay in their order by frequency
    found, model = learned(WEIGHED, labels, weights)
    repeated = np.repeat(WEIGHED, weights), np.repeat(labels, weights)
    expected, other = learned(*repeated)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    np.testing.assert_allclose(model.prior_, other.prior_)
    scaled, _ = learned(WEIGHED, labels, 7 * np.array(weights))
    np.testing.assert_allclose(found, scaled, atol=1e-5)
    assert abs(found - learned(WEIGHED, labels)[0]).max() > 0.02


def test_without_weights_it_is_trained_as_fit_trains():
    expected = AttentionClassifier(7, 4, n_classes=3)
    corpus = Corpus.from_texts(WEIGHED, VERDICTS, min_count=1)
    fit(expected, corpus, steps=20, lr=0.1)
    _, model = learned(WEIGHED, VERDICTS)
    assert model.model_.vocab == corpus.vocab
    found, wanted = (one.scores().numpy() for one in (model.model_, expected))
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_classes_weigh_the_same_if_they_are_balanced_or_as_they_are_told():
    given = WEIGHED, VERDICTS
    shares = {"no": 6 / (3 * 3), "so so": 6 / 3, "yes": 6 / (3 * 2)}  # n / (K n_k)
    expected, _ = learned(*given, [shares[label] for label in VERDICTS])
    for weight in ("balanced", shares):
        found, model = learned(*given, class_weight=weight)
        np.testing.assert_allclose(found, expected, atol=1e-5)
        np.testing.assert_allclose(model.prior_, 1 / 3)
    twice, _ = learned(*given, [2, 1, 1, 1, 1, 1], class_weight=shares)
    assert abs(twice - expected).max() > 0.01


def test_weights_reach_it_through_what_takes_estimators():
    weights = np.array([1, 5] * 20)
    params = {"sample_weight": weights}
    with sklearn.config_context(enable_metadata_routing=True):
        model = AttentionTextClassifier(4, 5, min_count=1)
        model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        found = cross_validate(
            model, TEXTS, LABELS, cv=2, params=params, return_estimator=True
        )
    for estimator in found["estimator"]:
        np.testing.assert_allclose(estimator.prior_, [5 / 6, 1 / 6])


@pytest.mark.parametrize("labels", [VERDICTS, ["yes", "no", "no", "yes", "no", "no"]])
def test_influence_is_what_the_prediction_loses_without_a_token(labels):
    _, model = learned(WEIGHED, labels)
    texts = ["a bad bad film", "good", "unheard", "dull good film unheard"]
    found = model.influence(texts)
    assert [len(of_text) for of_text in found] == [3, 1, 0, 3]

    def logit(words, first, second):
        if not words:
            return 0.0
        (chances,) = np.log(model.predict_proba([" ".join(words)]))
        return chances[first] - chances[second]

    for text, of_text in zip(texts, found, strict=True):
        words = text.replace(" unheard", "").split()
        first, second = model.predict_proba([text])[0].argsort()[::-1][:2]
        for token, lost in of_text.items():
            rest = [word for word in words if word != token]
            assert lost == pytest.approx(
                logit(words, first, second) - logit(rest, first, second), abs=1e-5
            )
        assert list(of_text.values()) == sorted(of_text.values(), reverse=True)
