"""The sweep behind the chapter on more than two classes.

    ATTNSEL_DATA=... python -m attnsel_book.chapters.classes.run_classes

It takes about five minutes of one core and writes `classes.json`, which
the chapter reads. IMDB's ratings are in a local copy of the data only.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats import spearmanr
from torch.nn.functional import one_hot

from attnsel import AttentionClassifier, Corpus, Vocab, load_corpus
from attnsel.model import accuracy, bag_logits
from attnsel.reporting.baseline import baseline
from attnsel.theory import mean_count, signed_frequency
from attnsel.train import fit, one_step
from attnsel_book import authors

OUT = Path(__file__).with_name("classes.json")
SEEDS = range(10)
PAPER = {k: authors(f"class {k}") for k in (2, 4)}


def regroup(corpus: Corpus, groups: tuple[int, ...]) -> Corpus:
    """Number the classes anew; a class in group -1 is left out."""
    labels = torch.tensor(groups)[corpus.targets]
    part = corpus[labels >= 0]
    vocab = Vocab(part.vocab, range(1, max(groups) + 2))
    return Corpus(part.counts, labels[labels >= 0], vocab)


def importance(corpus: Corpus) -> torch.Tensor:
    """Return the signed frequency with each token counted once a review."""
    seen = corpus.counts.copy()
    seen.data[:] = 1
    return signed_frequency(Corpus(seen, corpus.labels, corpus.vocab))


def by_bin(x: np.ndarray, y: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return the means of y over the bins of x with these centers."""
    middles = (centers[1:] + centers[:-1]) / 2
    ends = 2 * centers[[0, -1]] - middles[[0, -1]]
    at = np.digitize(x, [ends[0], *middles, ends[1]]) - 1
    return np.array(
        [y[at == i].mean() if (at == i).any() else np.nan for i in range(len(centers))]
    )


def inner_over_outer(x: np.ndarray, y: np.ndarray) -> float:
    """Return the height of the inner bins over that of the outer, over both sides."""
    found = []
    for side in (x < 0, x > 0):
        inner = np.abs(x[side]) <= np.abs(x[side]).max() / 2
        tall = np.abs(y[side])
        found.append(tall[inner].mean() / tall[~inner].mean())
    return float(np.mean(found))


def rate(dim: int) -> float:
    return 0.045 / dim**0.5


def tables(name: str, corpus: Corpus) -> list[dict[str, Any]]:
    """Return for seeds and classes how the bin means agree with table and axis."""
    rows, x = [], importance(corpus).numpy()
    for seed in SEEDS:
        K = corpus.n_classes
        model = AttentionClassifier(len(corpus.vocab), 2048, n_classes=K, seed=seed)
        fit(model, corpus, steps=120, lr=rate(2048), until_accuracy=0.99)
        scores = model.scores().detach().numpy()
        for k in range(1, K + 1):
            theirs = PAPER.get(k)
            centers = PAPER[2]["x"] if theirs is None else theirs["x"]
            y = by_bin(x[:, k - 1], scores[:, k], centers)
            full = ~np.isnan(y)
            row: dict[str, Any] = {"corpus": name, "class": k, "seed": seed}
            row["rise"] = spearmanr(centers[full], y[full]).statistic
            row["step"] = inner_over_outer(centers[full], y[full])
            if theirs is not None:
                row["table"] = spearmanr(y[full], theirs["value"][full]).statistic
            rows.append(
                {k: round(x, 4) if type(x) is not str else x for k, x in row.items()}
            )
        print(rows[-1], flush=True)
    return rows


def errors(name: str, corpus: Corpus) -> list[dict[str, Any]]:
    """Return the relative error of the one-step formula, with G and without."""
    K, rows = corpus.n_classes, []
    weights = one_hot(corpus.targets, K).double() - 1 / K
    plain = mean_count(corpus, weights / corpus.lengths[:, None])
    for dim in (512, 2048):
        start = AttentionClassifier(len(corpus.vocab), dim, n_classes=K)
        v = start.output.detach().double()
        stepped = one_step(start, corpus, lr=1000.0).embeddings.detach()
        change = (stepped - start.embeddings.detach()).double() @ v.T / 1000
        row: dict[str, Any] = {"corpus": name, "d": dim}
        for told, guess in (("plain", plain), ("with G", plain @ (v @ v.T))):
            row[told] = round(float((change - guess).norm() / guess.norm()), 4)
        rows.append(row)
    print(rows, flush=True)
    return rows


def quality(name: str, corpus: Corpus, test: Corpus, dim: int) -> dict[str, Any]:
    """Return the accuracies, with steps and penalty chosen on a fifth set aside."""
    order = torch.randperm(len(corpus), generator=torch.Generator().manual_seed(0))
    cut = len(corpus) // 5
    learn, valid = corpus[order[cut:]], corpus[order[:cut]]
    K = corpus.n_classes
    model = AttentionClassifier(len(corpus.vocab), dim, n_classes=K)
    steps: dict[str, Any] = {"steps": 60, "snapshots": range(61), "lr": rate(dim)}
    record = fit(model, learn, test=valid, **steps)
    best = int(record.test_accuracy.argmax())
    strengths = (1.0, 3.0, 10.0)
    by_strength = {c: baseline(learn, valid, strength=c).accuracy for c in strengths}
    chosen = max(by_strength, key=by_strength.__getitem__)
    row = {"corpus": name, "classes": K, "step": best}
    row["attention"] = round(accuracy(bag_logits(record.at(best), test), test), 4)
    row["regression"] = round(baseline(learn, test, strength=chosen).accuracy, 4)
    print(row, flush=True)
    return row


def main() -> None:
    torch.set_num_threads(1)
    stars = load_corpus("yelp-full", min_count=1, max_tokens=5_424)
    new = load_corpus("yelp-full", "test", vocab=stars.vocab)
    middle, pairs = (0, 1, -1, 2, 3), (0, 0, 1, 1, 2, 2, 3, 3)
    yelp = {
        "five stars": (stars.balanced(), new.balanced()),
        "stars 1, 2, 4, 5": (
            regroup(stars, middle).balanced(),
            regroup(new, middle).balanced(),
        ),
    }
    files = Path(os.environ["ATTNSEL_DATA"], "imdb")
    rated = load_corpus(files / "train.parquet", label="rating")
    rated_new = load_corpus(files / "test.parquet", label="rating", vocab=rated.vocab)
    imdb = regroup(rated, pairs).balanced(2_000)
    found: dict[str, list[Any]] = {"tables": [], "errors": [], "accuracy": []}
    for name, (corpus, test) in yelp.items():
        found["errors"] += errors(name, corpus)
        found["accuracy"].append(quality(name, corpus, test, 2048))
        found["tables"] += tables(name, corpus)
    found["errors"] += errors("IMDB by rating", imdb)
    test = regroup(rated_new, pairs).balanced()
    found["accuracy"].append(quality("IMDB by rating", imdb, test, 512))
    OUT.write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    main()
