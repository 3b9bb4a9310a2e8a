"""Runs that test whether correlations with the lean indicate a good model.

    python -m sweeps.own_texts.run_diagnosis

The script trains on IMDB and Yelp for half a minute on one core, and writes
`diagnosis.json`. The chapter on your own texts trains the first models again.
"""

import json

import pandas as pd
import torch

from attnsel import load_corpus
from attnsel_book.results import result_folder, store
from attnsel_book.trials import trials

N, MODELS, COINS = 800, 24, 6
CHOICES = {
    "dim": (8, 64, 256),
    "lr": (1e-4, 1e-3, 1e-2, 1e-1),
    "steps": (5, 20, 60, 120),
    "frozen": (False, False, False, True),
    "noise": (0.0, 0.0, 0.15, 0.3),
    "tokens": (300, 1500),
}


def models_of(data: str) -> pd.DataFrame:
    """Train models with random settings on a data set, and diagnose each model."""
    learn = load_corpus(data, limit=N, min_count=1, max_tokens=1500)
    held = load_corpus(data, split="test", limit=N, vocab=learn.vocab)
    found = trials(learn, held, CHOICES, number=MODELS, coins=COINS)
    found.insert(0, "data", data)
    return found


if __name__ == "__main__":
    torch.set_num_threads(1)
    models = pd.concat([models_of(data) for data in ("imdb", "yelp")])
    rows = json.loads(models.to_json(orient="records", double_precision=5))
    store(result_folder("own_texts") / "diagnosis.json", rows)
