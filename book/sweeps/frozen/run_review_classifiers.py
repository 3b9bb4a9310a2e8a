"""Runs of nine classifiers on IMDB and Yelp, for a comparison with attention.

    python -m sweeps.frozen.run_review_classifiers

As in `run_random_embeddings.py`, each setting is chosen on a fifth of the training
reviews, and the test reviews are used once. `review_classifiers.json` contains the
results. `edge` marks a best setting at an end of the range that was tried.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from attnsel import AttentionClassifier, Corpus, fit, one_step
from attnsel.model import accuracy, bag_logits, logistic_loss
from attnsel.theory import posterior_difference, signed_frequency
from attnsel_book.results import result_folder, store
from attnsel_report.baseline import baseline
from sweeps.frozen.run_random_embeddings import DIM, Parts, parts_of

# A setting, whether it is the first or last one tried, and logits on valid and test.
Candidates = Iterator[tuple[str, bool, Tensor, Tensor]]
MEANS = [0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10]  # strengths, the inverse penalties C
COUNTS, TFIDF = [0.01, 0.03, 0.1, 0.3, 1, 3], [1, 3, 10, 30]
RATES = {2: 80, 4: 60, 8: 40, 16: 30, 32: 20, 64: 20}  # rate over ours: most steps


def majority(parts: Parts) -> Candidates:
    """Predict the more frequent class, with the log-odds of the classes as logits."""
    learn, valid, test = parts
    odds = torch.logit(learn.targets.double().mean())
    yield "", False, odds.expand(len(valid)), odds.expand(len(test))


def scaled(features: list[np.ndarray], learn: Corpus) -> tuple[Tensor, Tensor]:
    """Fit a scale and threshold to the first array; return logits of the other two."""
    columns = [x[:, None] / np.abs(features[0]).max() for x in features]
    model = LogisticRegression(C=1e5).fit(columns[0], learn.targets.numpy())
    f, g = (torch.from_numpy(model.decision_function(x)) for x in columns[1:])
    return f, g


def mean_weight(weights: Tensor, parts: Parts) -> Candidates:
    """Yield logits from the mean weight of each sequence's tokens."""
    w = np.nan_to_num(weights.double().numpy())
    means = [part.counts @ w / part.lengths.numpy() for part in parts]
    yield "", False, *scaled(means, parts[0])


def after_one_step(parts: Parts) -> Candidates:
    """Take one step on E for each of five sizes; then fit a scale and a threshold."""
    model = AttentionClassifier(len(parts[0].vocab), DIM, seed=0)
    for eta in (1.0, 10.0, 100.0, 1e3, 1e4):
        scores = one_step(model, parts[0], lr=eta).scores()
        logits = [bag_logits(scores, part).double().numpy() for part in parts]
        yield f"eta_0 = {eta:g}", eta in (1.0, 1e4), *scaled(logits, parts[0])


def without_attention(parts: Parts) -> Candidates:
    """Train E and v with p = 0 at several learning rates; yield logits at each step."""
    for factor, steps in RATES.items():
        model = AttentionClassifier(len(parts[0].vocab), DIM, seed=0)
        torch.nn.init.zeros_(model.cls)
        lr, train = factor * 0.045 * DIM**-0.5, ("embeddings", "output")
        every = range(steps + 1)
        run = fit(model, parts[0], steps=steps, lr=lr, train=train, snapshots=every)
        for k in every:
            f, g = (bag_logits(run.at(k), part) for part in parts[1:])
            at_edge = k == steps or factor in (min(RATES), max(RATES))
            yield f"{k} steps, {factor} x rate", at_edge, f, g


def mean_of_values(
    parts: Parts, strengths: list[float], has_threshold: bool
) -> Candidates:
    """Fit a mean of values by logistic regression, with each of the `strengths`.

    Without a threshold, the models have the form of those in `without_attention`, but
    the values are fitted directly, so that the loss is convex.
    """
    learn = parts[0]
    scale = float(learn.lengths.double().mean())
    shares = [
        part.counts.multiply(scale / part.lengths.numpy()[:, None]).tocsr()
        for part in parts
    ]
    for strength in strengths:
        model = LogisticRegression(
            C=strength, fit_intercept=has_threshold, max_iter=1000, tol=1e-3
        )
        model.fit(shares[0], learn.targets.numpy())
        f, g = (torch.from_numpy(model.decision_function(x)) for x in shares[1:])
        yield f"C = {strength:g}", strength in (strengths[0], strengths[-1]), f, g


def regression(parts: Parts, strengths: Sequence[float], tfidf: bool) -> Candidates:
    """Fit a logistic regression on tf-idf or counts, with each of the `strengths`."""
    learn, valid, test = parts
    for strength in strengths:
        f, g = (
            baseline(learn, part, strength=strength, tfidf=tfidf).logits
            for part in (valid, test)
        )
        yield f"C = {strength:g}", strength in (strengths[0], strengths[-1]), f, g


def best(name: str, way: str, found: Candidates, parts: Parts) -> dict[str, Any]:
    """Return the results of the candidate with the best validation accuracy."""
    _, valid, test = parts
    tried = [(accuracy(f, valid), setting, edge, g) for setting, edge, f, g in found]
    right, setting, edge, g = max(tried, key=lambda entry: entry[0])
    row: dict[str, Any] = {"data": name, "way": way, "setting": setting, "edge": edge}
    row["validation"] = round(right, 5)
    row["test"] = round(accuracy(g, test), 5)
    row["loss"] = round(float(logistic_loss(g, test.signs)), 4)
    print(row, flush=True)
    return row


def rows_of(name: str) -> list[dict[str, Any]]:
    """Return a row of results for each classifier on the data set `name`."""
    parts = parts_of(name)
    learn = parts[0]
    ways = {
        "majority": majority(parts),
        "signed frequency": mean_weight(signed_frequency(learn), parts),
        "mean lean": mean_weight(posterior_difference(learn), parts),
        "one step": after_one_step(parts),
        "no attention": without_attention(parts),
        "no attention, convex": mean_of_values(parts, MEANS, has_threshold=False),
        "no attention, convex, threshold": mean_of_values(parts, MEANS, True),
        "logistic regression, counts": regression(parts, COUNTS, False),
        "logistic regression, tf-idf": regression(parts, TFIDF, True),
    }
    return [best(name, way, found, parts) for way, found in ways.items()]


if __name__ == "__main__":
    rows = [row for name in ("imdb", "yelp") for row in rows_of(name)]
    store(result_folder("frozen") / "review_classifiers.json", rows)
