"""Models with random settings, each trained as its row states."""

import numpy as np
import pytest
import torch

from attnsel_book import trials as module
from attnsel_book.trials import trials
from support.corpora import leaning

CHOICES = {
    "dim": [4, 8],
    "lr": [0.02, 0.05],
    "steps": [2, 3],
    "tokens": [10, 20],
    "frozen": [True, False],
    "noise": [0.0, 0.3],
}


@pytest.fixture(scope="module")
def corpora():
    corpus, _ = leaning(300, 40)
    return corpus[:200], corpus[200:]


@pytest.fixture
def seen(monkeypatch):
    """Return a list that records how each model is trained and diagnosed."""
    found = []
    fit, diagnose = module.fit, module.diagnose

    def fitted(model, corpus, **given):
        start = model.embeddings.detach().clone()
        fit(model, corpus, **given)
        moved = not torch.equal(start, model.embeddings)
        found.append({"corpus": corpus, "moved": moved, "on": [], "start": start})
        found[-1] |= given

    def diagnosed(corpus, *parts):
        found[-1]["on"].append((corpus, diagnose(corpus, *parts)))
        return found[-1]["on"][-1][1]

    monkeypatch.setattr(module, "fit", fitted)
    monkeypatch.setattr(module, "diagnose", diagnosed)
    return found


def test_a_model_is_trained_as_its_row_says(corpora, seen):
    train, test = corpora
    table = trials(train, test, CHOICES, number=12, coins=2)
    assert len(table) == len(seen) == 12
    for name, values in CHOICES.items():
        drawn = set(table[name][2:] if name == "noise" else table[name])
        assert drawn == set(values)  # each is drawn among ten or more
    assert table["noise"][:2].tolist() == [0.5, 0.5]
    for row, one in zip(table.to_dict("records"), seen, strict=True):
        assert (one["steps"], one["lr"]) == (row["steps"], row["lr"])
        assert one["start"].shape == (row["tokens"], row["dim"])
        assert one["moved"] != row["frozen"]
        learned, ((on, of_learned), (held, of_held)) = one["corpus"], one["on"]
        assert on is learned and len(held) == len(test)
        for side, diagnosis in (("training", of_learned), ("held-out", of_held)):
            for name, value in vars(diagnosis).items():
                assert row.pop(f"{side}, {name}") == value
        assert list(row) == list(CHOICES)
        names = train.most_frequent(row["tokens"]).vocab
        assert list(learned.vocab) == list(held.vocab) == list(names)
        assert held.targets.equal(test.targets)
        wrong = (learned.targets != train.targets).double().mean()
        # Four deviations of a share of 200.
        width = 4 * (row["noise"] * (1 - row["noise"]) / 200) ** 0.5
        assert abs(wrong - row["noise"]) <= width
    starts = [tuple(one["start"][0, :2].tolist()) for one in seen]
    assert len(set(starts)) == 12


def test_the_same_seeds_are_the_same_models(corpora):
    train, test = corpora
    first, second = (trials(train, test, CHOICES, number=2, coins=1) for _ in "ab")
    assert first.equals(second)
    assert np.isfinite(first["training, accuracy"]).all()
