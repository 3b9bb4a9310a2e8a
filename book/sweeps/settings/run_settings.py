"""The sweeps behind the chapter on settings, stored in `settings.json`.

    python -m sweeps.settings.run_settings

The script needs the reviews of IMDB and takes two minutes on one core. The chapter
repeats some of the runs.
"""

from typing import Any

import numpy as np
import torch

from attnsel import AttentionClassifier, Corpus, fit, load_corpus
from attnsel.synthetic import synthetic_corpus
from attnsel.theory import posterior_difference
from attnsel.train import History
from attnsel_book.problems import equal_frequencies
from attnsel_book.results import result_folder, store
from attnsel_book.v_shape import Shape, shape
from sweeps.common import Row, rounded

SUBSET, TOKENS, DIM, RATE, STEPS = 2_000, 4_000, 256, 0.045, 400
N, V, T, DELTA, DRAWN_RATE, LOSS = 4_000, 400, 20, 0.1, 0.09, 0.01
SEEDS, STARTS, RESTARTS = range(3), range(6), 4
DIMS = [16, 64, 256, 1024, 2048]
KNOBS: dict[str, list[int]] = {
    "dim": [32, 256, 2048],
    "n": [500, 2000, 8000],
    "length": [10, 20, 80],
    "n_tokens": [100, 400, 800],
}
SIZES = [500, 2000, 8000]
Run = tuple[History, Shape]
Rows = list[Row]


def reviews() -> tuple[Corpus, Corpus]:
    """Return two balanced corpora of IMDB, for training and for testing."""
    train = load_corpus("imdb", min_count=20)
    test = load_corpus("imdb", "test", vocab=train.vocab)
    train, test = (c.balanced(SUBSET).most_frequent(TOKENS) for c in (train, test))
    return train, test


def on_reviews(
    corpora: tuple[Corpus, Corpus], dim: int = DIM, seed: int = 0, **options: Any
) -> Run:
    """Train on reviews until the accuracy is 99%; return the history and the shape."""
    train, test = corpora
    given = {"steps": STEPS, "lr": RATE / dim**0.5} | options
    model = AttentionClassifier(len(train.vocab), dim, seed=seed)
    run = fit(model, train, test=test, until_accuracy=0.99, **given)
    return run, shape(posterior_difference(train), run.at())


def summary(run: History, of: Shape) -> Row:
    """Return the measures of a run on reviews that the chapter's tables contain."""
    assert run.test_accuracy is not None
    found = {
        "steps": int(run.step[-1]),
        "best test": float(run.test_accuracy.max()),
        "last test": float(run.test_accuracy[-1]),
        "values": of.values,
        "weaker arm": of.arms,
        "value spread": of.value_spread,
        "score spread": of.score_spread,
    }
    return rounded(found, 5)


def measures(of: Shape, *more: str) -> Row:
    """Return four measures of a shape, and the measures with the names in `more`."""
    names = ("values", "arms", "value_spread", "score_spread", *more)
    return rounded({name: getattr(of, name) for name in names}, 5)


def on_drawn(
    dim: int = 2048,
    n: int = N,
    length: int = T,
    n_tokens: int = V,
    seed: int = 0,
    start: int | None = None,
) -> tuple[History, torch.Tensor]:
    """Train on synthetic data to a loss below LOSS; return the history and leans."""
    R = equal_frequencies(n_tokens, length, DELTA)
    given: Row = {"delta": DELTA, "n_relevant": R, "seed": seed}
    corpus = synthetic_corpus(n, n_tokens, length, **given)
    start = 1000 + seed if start is None else start
    model = AttentionClassifier(n_tokens, dim, seed=start)
    lr = DRAWN_RATE / dim**0.5
    run = fit(model, corpus, steps=2_000, lr=lr, until_loss=LOSS)
    return run, posterior_difference(corpus)


def starts(corpora: tuple[Corpus, Corpus]) -> tuple[Rows, list[float]]:
    """Return a row per start, and the lowest correlations of values and of scores."""
    runs = [on_reviews(corpora, seed=seed) for seed in STARTS]
    alike = []
    for k in (1, 0):
        columns = [run.at()[:, k].numpy() for run, _ in runs]
        alike.append(round(float(np.corrcoef(columns).min()), 5))
    return [summary(*run) for run in runs], alike


def variants(corpora: tuple[Corpus, Corpus]) -> Rows:
    """Return a row for each setting of the training on reviews."""
    made = {f"d = {dim}": on_reviews(corpora, dim=dim) for dim in DIMS}
    for factor in (0.25, 4):
        made[f"{factor:g} x rate"] = on_reviews(corpora, lr=factor * RATE / DIM**0.5)
    train, test = corpora
    for size in (1000, 2000):
        fewer = train.most_frequent(size), test.most_frequent(size)
        made[f"{size} tokens"] = on_reviews(fewer)
    slow: Row = {"optimizer": "gd", "lr": 3.0, "steps": 1000}
    made["descent, d = 64"] = on_reviews(corpora, dim=64, **slow)
    return [{"setting": name} | summary(*run) for name, run in made.items()]


def drawn() -> Rows:
    """Return a row for each setting in KNOBS, each of its values, and each seed."""
    rows = []
    for name, values in KNOBS.items():
        for value in values:
            for seed in SEEDS:
                run, x = on_drawn(**{name: value}, seed=seed)
                found = {"knob": name, "value": value, "seed": seed}
                found |= measures(shape(x, run.at())) | {"steps": int(run.step[-1])}
                rows.append(found | {"loss": round(float(run.loss[-1]), 5)})
    return rows


def variance_shares(n: int) -> Rows:
    """Divide the variance within bins into the shares of trend, start and data.

    "size" is the variance within bins, divided by the squared range of the bin means.
    """
    runs = [on_drawn(n=n, start=start) for start in range(RESTARTS)]
    x = runs[0][1]
    place = ((x + 1) * 10).long().clamp(max=19)
    table: Rows = []
    for column in (1, 0):
        y = torch.stack([run.at()[:, column].double() for run, _ in runs])
        rows = []
        for i in range(20):
            inside = place == i
            if inside.sum() < 5:
                continue
            mean = y[:, inside].mean(dim=0)
            line = np.polyval(np.polyfit(x[inside], mean, 1), x[inside])
            start = float(y[:, inside].var(dim=0).mean())
            variance = float(y[:, inside].var(dim=1, correction=0).mean())
            rows.append([line.var(), start, variance, float(mean.mean())])
        trend, start, variance, heights = np.array(rows).T
        trend, start, variance = trend.mean(), start.mean(), variance.mean()
        shares = np.array([trend, start, variance - trend - start]) / variance
        numbers = [*shares, variance / np.ptp(heights) ** 2]
        names = ("trend", "start", "data", "size")
        found = {k: float(f"{v:.5g}") for k, v in zip(names, numbers, strict=True)}
        table.append({"n": n, "column": column} | found)
    return table


def levels() -> Rows:
    """Return the shapes of ten runs when the loss falls below each of three levels."""
    rows: Rows = []
    for seed in range(10):
        R = equal_frequencies(V, T, DELTA)
        given: Row = {"delta": DELTA, "n_relevant": R, "seed": seed}
        corpus = synthetic_corpus(N, V, T, **given)
        model = AttentionClassifier(V, 2048, seed=1000 + seed)
        known: Row = {"steps": 128, "snapshots": range(129)}
        run = fit(model, corpus, lr=DRAWN_RATE / 2048**0.5, **known)
        x = posterior_difference(corpus)
        for loss in (0.1, LOSS, 0.001):
            step = int((run.loss < loss).nonzero()[0])
            found = {"seed": seed, "below": loss, "step": step}
            rows.append(found | measures(shape(x, run.at(step)), "end"))
    return rows


if __name__ == "__main__":
    torch.set_num_threads(1)
    corpora = reviews()
    seeds, alike = starts(corpora)
    parts: Row = {
        "starts": seeds,
        "alike": alike,
        "reviews": variants(corpora),
        "drawn": drawn(),
        "noise": [row for n in SIZES for row in variance_shares(n)],
        "levels": levels(),
    }
    store(result_folder("settings") / "settings.json", parts)
