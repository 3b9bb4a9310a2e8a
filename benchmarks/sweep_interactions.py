"""The sweeps behind the chapter on interactions.

    python benchmarks/sweep_interactions.py [layers] [order] [scrambled]

They take about five minutes of one core and write `attnsel/book/interactions_*.json`,
which the chapter reads. The chapter runs the smallest part again.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.sparse import csr_array

from attnsel import AttentionClassifier, Corpus, Vocab, load_corpus
from attnsel.deep import TwoLayerClassifier
from attnsel.statistics import correlation, spearman
from attnsel.theory import mean_count, signed_frequency
from attnsel.train import fit, one_step

DATA = Path(__file__).resolve().parents[1] / "attnsel/book"
SEEDS = range(10)
WORDS, LENGTH, N, N_TEST = 10, 8, 5_000, 1_000
TOKENS = [f"{side}{i}" for side in ("good", "bad") for i in range(WORDS)]
TOKENS += ["not"] + [f"w{i}" for i in range(20)]
VOCAB, NOT = Vocab(TOKENS, (0, 1)), 2 * WORDS


def negated(q: float, n: int, seed: int, order: bool = False) -> Corpus:
    """Draw the sequences of the chapter: "not" flips one opinion word in a share q."""
    rng = np.random.default_rng(seed)
    zipf = 1 / np.arange(1, WORDS + 1)
    ids, i = rng.integers(NOT + 1, len(VOCAB), (n, LENGTH)), np.arange(n)
    at, good, flip = (
        rng.integers(LENGTH, size=n),
        rng.random(n) < 0.5,
        rng.random(n) < q,
    )
    at = np.maximum(at, 1)
    ids[i, at] = rng.choice(WORDS, n, p=zipf / zipf.sum()) + WORDS * ~good
    where = (at + rng.integers(1, LENGTH - order, n)) % LENGTH
    where = np.where(flip & order, at - 1, where)
    holds = flip | order
    ids[i[holds], where[holds]] = NOT
    texts = [" ".join(TOKENS[s] for s in row) for row in ids]
    return Corpus.from_texts(texts, (good ^ flip).astype(int).tolist(), vocab=VOCAB)


def two_layers(q: float, seed: int, order: bool, **settings: Any) -> dict[str, Any]:
    rate, passes = settings.pop("rate", 0.02), settings.pop("passes", 8)
    corpus, test = negated(q, N, 1, order), negated(q, N_TEST, 2, order)
    model = TwoLayerClassifier(len(VOCAB), 64, seed=seed, **settings)
    steps: dict[str, Any] = {"steps": passes, "lr": rate, "batch_size": 250}
    record = fit(model, corpus, test=test, **steps)
    row = {"order": order, "q": q, "seed": seed, "rate": rate, "passes": passes}
    found = {"train": record.accuracy[-1], "test": record.test_accuracy[-1]}
    print(row, settings, found, flush=True)
    return row | settings | {name: round(float(x), 4) for name, x in found.items()}


Plan = tuple[float, dict[str, Any], int]
BARE, TIED = {"residual": False}, {"residual": True}
SLOW = {"residual": True, "rate": 0.005}
PLACES, NO_PLACES = BARE | {"positions": LENGTH}, BARE | {"positions": None}


def layers() -> pd.DataFrame:
    """Unordered pairs: with and without a residual, two rates, more passes."""
    plan: list[Plan] = [(0.5, way, 10) for way in (BARE, TIED, SLOW)]
    plan += [(0.5, SLOW | {"passes": 24}, 3), (0.3, BARE, 10), (0.3, TIED, 3)]
    plan += [(0.45, BARE, 5), (0.4, BARE, 5)]
    return pd.DataFrame(
        [two_layers(q, s, False, **way) for q, way, n in plan for s in range(n)]
    )


def order() -> pd.DataFrame:
    """Order: "not" before the word, with and without positions."""
    plan: list[Plan] = [(0.5, PLACES, 10), (0.3, PLACES, 5), (0.5, NO_PLACES, 3)]
    plan += [(0.5, TIED | {"positions": LENGTH}, 5), (0.3, NO_PLACES, 3)]
    return pd.DataFrame(
        [two_layers(q, s, True, **way) for q, way, n in plan for s in range(n)]
    )


def redrawn(corpus: Corpus, seed: int) -> Corpus:
    """Draw the words of each review anew from all words of its class."""
    rng, lengths = np.random.default_rng(seed), corpus.lengths.numpy()
    row = np.repeat(np.arange(len(corpus)), lengths)
    label, word = corpus.targets.numpy()[row], np.zeros(len(row), dtype=np.int64)
    for k in (0, 1):
        often = corpus.counts[corpus.targets.numpy() == k].sum(0).astype(np.float64)
        here = label == k
        word[here] = rng.choice(len(often), here.sum(), p=often / often.sum())
    ones = np.ones(len(row), dtype=np.float32)
    counts = csr_array((ones, (row, word)), shape=corpus.counts.shape)
    return Corpus(counts, corpus.targets, corpus.vocab, None, "scrambled")


def scrambled() -> pd.DataFrame:
    """One layer on IMDB and on words drawn anew: alignment at matched points."""
    imdb = load_corpus("imdb").balanced(3_000).most_frequent(7_766)
    rows = []
    for name in ("IMDB", "scrambled"):
        for seed in SEEDS:
            corpus = imdb if name == "IMDB" else redrawn(imdb, seed)
            alpha = signed_frequency(corpus)
            beta = mean_count(corpus, corpus.signs.double() / corpus.lengths)
            known = torch.from_numpy(corpus.counts.sum(0) > 0)
            model = AttentionClassifier(len(corpus.vocab), 256, seed=seed)
            large = one_step(model, corpus, lr=1e5).scores().detach()
            steps: dict[str, Any] = {"steps": 120, "lr": 0.045 / 16, "until_loss": 0.03}
            record = fit(model, corpus, **steps, snapshots=range(121))
            at = {
                "99% right": int((record.accuracy >= 0.99).nonzero()[0]),
                "loss 0.1": int((record.loss <= 0.1).nonzero()[0]),
                "end": int(record.step[-1]),
            }
            ranks = [
                spearman(alpha[known], record.at(k)[known, 1]) for k in range(at["end"])
            ]
            row = {"corpus": name, "seed": seed, "best": max(ranks)}
            for where, k in at.items():
                values = record.at(k)[known, 1]
                row[f"step, {where}"] = k
                row[f"rank, {where}"] = spearman(alpha[known], values)
            r2 = [
                correlation(beta, b.double()) ** 2
                for b in (large[:, 1], record.at()[:, 1])
            ]
            row |= {"R2, one large step": r2[0], "R2, end": r2[1]}
            rows.append(row)
            print(row, flush=True)
    return pd.DataFrame(rows).round(4)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for part in sys.argv[1:] or ("layers", "order", "scrambled"):
        table = {"layers": layers, "order": order, "scrambled": scrambled}[part]()
        text = table.to_json(orient="records", indent=0)
        (DATA / f"interactions_{part}.json").write_text(text)
        print(table.to_string())
