"""The estimator where scikit-learn puts estimators."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.utils.estimator_checks import check_estimator

from attnsel_report.estimator import AttentionTextClassifier

TEXTS = [f"a {word} film number {i}" for i in range(20) for word in ("good", "bad")]
LABELS = np.array(["yes", "no"] * 20)
MORE = [f"a {word} film" for word in ("good", "bad", "dull")] * 8


@pytest.mark.filterwarnings("ignore:Can't test estimator")  # of texts, some of them
def test_it_passes_the_checks_for_estimators_of_texts():
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


@pytest.mark.parametrize("texts", ["a film", [], [1, 2], [["a", "b"]]], ids=str)
def test_what_is_no_list_of_texts_is_refused(texts):
    with pytest.raises(ValueError, match="^X: expected a list of strings"):
        AttentionTextClassifier().fit(texts, [0, 1])
    with pytest.raises(ValueError, match="^y: expected two classes"):
        AttentionTextClassifier().fit(["a", "b"], [1, 1])


def test_a_missing_text_is_named_by_its_row():
    with pytest.raises(
        ValueError, match="strings, got nan in row 2; leave the row out"
    ):
        AttentionTextClassifier().fit(["a", "b", float("nan")], [0, 1, 1])


@pytest.mark.parametrize("n", [3, 5])
def test_each_text_has_a_label(n):
    with pytest.raises(ValueError, match=f"inconsistent .*(4, {n}|{n}, 4)"):
        AttentionTextClassifier().fit(["a", "b", "a", "b"], ([0, 1] * 3)[:n])


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


def test_it_is_a_classifier_of_texts():
    tags = AttentionTextClassifier().__sklearn_tags__()
    assert tags.estimator_type == "classifier"
    taken = tags.input_tags
    assert (taken.string, taken.one_d_array, taken.two_d_array) == (True, True, False)
    usual = {"dim": 64, "steps": 30, "lr": 0.02, "min_count": None, "tokenize": None}
    assert AttentionTextClassifier().get_params() == usual | {"random_state": 0}


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
