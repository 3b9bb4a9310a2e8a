"""Many models of random settings, and what `diagnose` tells of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch

from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel.reporting.diagnosis import diagnose
from attnsel.train import fit

NO_LABELS = 0.5  # share of wrong labels that makes them coins


def trials(
    train: Corpus,
    test: Corpus,
    choices: Mapping[str, Sequence[Any]],
    *,
    number: int,
    coins: int,
) -> pd.DataFrame:
    """Train models with settings drawn at random; a row has settings and diagnoses.

    Args:
        train: texts of two classes.
        test: others, in the same vocabulary.
        choices: what to draw from for `dim`, `lr`, `steps`, `tokens` (the size of the
            vocabulary), `frozen` (whether E stays as drawn) and `noise` (share of the
            training labels that are exchanged).
        number: of models.
        coins: how many of them, the first, have half of their labels exchanged.

    Columns are the settings and, after "training, " or "held-out, ", the attributes of
    `Diagnosis`; training labels are those that the model saw.
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
    """Train a model with some settings and diagnose it on both parts."""
    size = int(chosen["tokens"])
    seen, held = train.most_frequent(size), test.most_frequent(size)
    random = np.random.default_rng(seed)
    wrong = torch.from_numpy(random.random(len(seen)) < chosen["noise"])
    seen = seen.with_labels(torch.where(wrong, 1 - seen.targets, seen.targets))
    model = AttentionClassifier(len(seen.vocab), int(chosen["dim"]), seed=seed)
    free = ("cls", "output") if chosen["frozen"] else None
    fit(model, seen, steps=int(chosen["steps"]), lr=float(chosen["lr"]), train=free)
    parts = model.embeddings, model.cls, model.output
    return {
        f"{where}, {name}": value
        for where, corpus in (("training", seen), ("held-out", held))
        for name, value in vars(diagnose(corpus, *parts)).items()
    }
