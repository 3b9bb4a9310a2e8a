"""A function that trains models with random settings and diagnoses each model."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch

from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel.train import fit
from attnsel_report.diagnosis import diagnose

NO_LABELS = 0.5  # share of wrong labels that makes labels random


def trials(
    train: Corpus,
    test: Corpus,
    choices: Mapping[str, Sequence[Any]],
    *,
    number: int,
    coins: int,
) -> pd.DataFrame:
    """Train models with random settings, and return their diagnoses, one row per model.

    Args:
        train: texts of two classes.
        test: other texts, in the same vocabulary.
        choices: possible values of `dim`, `lr`, `steps`, `tokens` (the size of the
            vocabulary), `frozen` (whether E is not trained) and `noise` (probability
            that a training label is exchanged).
        number: number of models.
        coins: number of models, counted from the first, for which about half of the
            training labels are exchanged.

    Returns:
        A data frame with the settings, and with each attribute of `Diagnosis` in two
        columns, whose names begin with "training, " and "held-out, ". The diagnosis on
        the training texts uses the labels with which the model was trained.
    """
    rows = []
    for seed in range(number):
        random = np.random.default_rng(seed)
        chosen = {name: random.choice(np.array(of)) for name, of in choices.items()}
        if seed < coins:
            chosen["noise"] = NO_LABELS
        rows.append(chosen | _diagnosed(train, test, chosen, seed))
    return pd.DataFrame(rows)


def _diagnosed(
    train: Corpus, test: Corpus, chosen: Mapping[str, Any], seed: int
) -> dict[str, float]:
    """Train a model with some settings and diagnose it on both corpora."""
    size, dim, steps = (int(chosen[name]) for name in ("tokens", "dim", "steps"))
    lr = float(chosen["lr"])
    clean, held = train.most_frequent(size), test.most_frequent(size)
    random = np.random.default_rng(seed)
    is_wrong = random.random(len(clean)) < chosen["noise"]
    labels = clean.targets
    exchanged = torch.where(torch.from_numpy(is_wrong), 1 - labels, labels)
    seen = clean.with_labels(exchanged)
    model = AttentionClassifier(len(seen.vocab), dim, seed=seed)
    free = ("cls", "output") if chosen["frozen"] else None
    fit(model, seen, steps=steps, lr=lr, train=free)
    parts = model.embeddings, model.cls, model.output
    found = {}
    for where, corpus in (("training", seen), ("held-out", held)):
        diagnosis = diagnose(corpus, *parts)
        for name, value in vars(diagnosis).items():
            found[f"{where}, {name}"] = value
    return found
