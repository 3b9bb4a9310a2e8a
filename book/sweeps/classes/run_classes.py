"""The sweep behind the chapter on more than two classes.

    ATTNSEL_DATA=... python -m sweeps.classes.run_classes

Each model is trained again with shuffled labels: whatever it then shows is memory. It
takes about ten minutes of one core and writes `classes.json`, which
the chapter reads. IMDB's ratings are in a local copy of the data only.
"""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats import spearmanr
from torch.nn.functional import one_hot

from attnsel import AttentionClassifier, Corpus, Vocab, load_corpus
from attnsel.model import accuracy, bag_logits
from attnsel.theory import mean_count, posterior_difference, signed_frequency
from attnsel.train import fit, one_step
from attnsel_book import authors
from attnsel_book.data import result_folder, store
from attnsel_report.baseline import baseline

OUT = result_folder("classes") / "classes.json"
SEEDS, ARM_SEEDS = range(10), range(3)
FREQUENT = 0.01  # occurrences a test review
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


def with_shuffled_labels(corpus: Corpus, seed: int) -> Corpus:
    """Return the same texts, their labels in another order."""
    random = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(corpus), generator=random)
    return Corpus(corpus.counts, corpus.targets[order], corpus.vocab)


def tables(name: str, true: Corpus, labels: str) -> list[dict[str, Any]]:
    """Return for seeds and classes how the bin means agree with table and axis."""
    rows = []
    for seed in SEEDS:
        corpus = with_shuffled_labels(true, seed) if labels == "shuffled" else true
        x = importance(corpus).numpy()
        K = corpus.n_classes
        model = AttentionClassifier(len(corpus.vocab), 2048, n_classes=K, seed=seed)
        fit(model, corpus, steps=120, lr=rate(2048), until_accuracy=0.99)
        scores = model.scores().numpy()
        for k in range(1, K + 1):
            theirs = PAPER.get(k)
            centers = PAPER[2]["x"] if theirs is None else theirs["x"]
            y = by_bin(x[:, k - 1], scores[:, k], centers)
            full = ~np.isnan(y)
            row: dict[str, Any] = {"corpus": name, "labels": labels}
            row |= {"class": k, "seed": seed}
            row["rise"] = spearmanr(centers[full], y[full]).statistic
            row["step"] = inner_over_outer(centers[full], y[full])
            if theirs is not None:
                row["table"] = spearmanr(y[full], theirs["value"][full]).statistic
            rows.append(
                {k: round(x, 4) if type(x) is not str else x for k, x in row.items()}
            )
        print(rows[-1], flush=True)
    return rows


def partial_spearman(x: np.ndarray, y: np.ndarray, given: np.ndarray) -> float:
    """Return the rank correlation of x and y with that of a third taken out."""
    xy, xz, yz = (
        float(spearmanr(*pair).statistic) for pair in ((x, y), (x, given), (y, given))
    )
    return (xy - xz * yz) / float(np.sqrt((1 - xz**2) * (1 - yz**2)))


def arms(name: str, true: Corpus, test: Corpus, dim: int) -> list[dict[str, Any]]:
    """Return how attention rises with the lean to each class, in three readings.

    Along the leans of the texts a model has learned from, along those of test reviews,
    and along these for tokens that occur often there, with the frequency of a token in
    training taken out.
    """
    rows = []
    often = np.asarray(true.counts.sum(0)).ravel()
    in_test = np.asarray(test.counts.sum(0)).ravel()
    for seed, labels in product(ARM_SEEDS, ("true", "shuffled")):
        corpus = with_shuffled_labels(true, seed) if labels == "shuffled" else true
        K = corpus.n_classes
        model = AttentionClassifier(len(corpus.vocab), dim, n_classes=K, seed=seed)
        fit(model, corpus, steps=120, lr=rate(dim), until_accuracy=0.99)
        a = model.scores().numpy()[:, 0]
        readings = {
            "own": (posterior_difference(corpus), often > 0),
            "test": (posterior_difference(test), in_test > 0),
            "frequent": (posterior_difference(test), in_test >= FREQUENT * len(test)),
        }
        for k in range(K):
            row: dict[str, Any] = {"corpus": name, "labels": labels}
            row |= {"class": k + 1, "seed": seed}
            for reading, (leans, there) in readings.items():
                lean, own = leans.nan_to_num(-1).max(1)
                mine = ((own == k) & (lean >= 0)).numpy() & there & (often > 0)
                x, y = lean.numpy()[mine], a[mine]
                found = (
                    partial_spearman(x, y, often[mine])
                    if reading == "frequent"
                    else float(spearmanr(x, y).statistic)
                )
                row |= {reading: round(found, 4), f"{reading}, tokens": int(mine.sum())}
            rows.append(row)
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
        for kind, guess in (("plain", plain), ("with G", plain @ (v @ v.T))):
            row[kind] = round(float((change - guess).norm() / guess.norm()), 4)
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
    found: dict[str, list[Any]] = {
        part: [] for part in ("tables", "errors", "accuracy", "arms")
    }
    for name, (corpus, test) in yelp.items():
        found["errors"] += errors(name, corpus)
        found["accuracy"].append(quality(name, corpus, test, 2048))
        for labels in ("true", "shuffled"):
            found["tables"] += tables(name, corpus, labels)
        found["arms"] += arms(name, corpus, test, 2048)
    found["errors"] += errors("IMDB by rating", imdb)
    test = regroup(rated_new, pairs).balanced()
    found["accuracy"].append(quality("IMDB by rating", imdb, test, 512))
    found["arms"] += arms("IMDB by rating", imdb, test, 512)
    store(OUT, found)


if __name__ == "__main__":
    main()
