"""Scores against values after training by descent and Adam, for *Why the V*.

    python -m sweeps.why_v.run_laws

The script takes about 15 minutes on one core and writes `laws.json` in the folder of
the chapter. In the part "trainings", plain descent stops when its loss is below .5. All
other runs of this part stop when their loss is below the final loss of plain descent.
Each run has a maximum number of steps.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from scipy.stats import spearmanr

from attnsel import AttentionClassifier, Corpus, fit, load_corpus
from attnsel.synthetic import synthetic_corpus
from attnsel.theory import mean_count, posterior_difference
from attnsel_book.chapters.why_v.laws import explained, line, loss, rates, unit_steps
from attnsel_book.v_shape import shape
from sweeps.common import Row, rounded, run_parts, with_shuffled_labels

SEEDS, DIM, LEVEL = range(5), 2048, 0.5
RATES = {"synthetic": 10.0, "IMDB": 10.0, "Yelp": 10.0}
EVEN = 0.05  # rate times share, the same for all tokens
STEPS = {"synthetic": 1500, "IMDB": 3000, "Yelp": 3000}  # of descent, at most
ADAM = 0.005  # the rate of Adam
LAB_RATE, LAB_DIM = 3.0, 64  # of the laboratory


def corpora(seed: int) -> dict[str, Corpus]:
    """Draw a synthetic corpus and samples of IMDB and Yelp; return them by name."""
    return {
        "synthetic": synthetic_corpus(delta=0.5, seed=seed),
        "IMDB": load_corpus("imdb", limit=1000, min_count=10, seed=seed),
        "Yelp": load_corpus("yelp", limit=1000, min_count=5, seed=seed),
    }


def described(corpus: Corpus, scores: Any) -> Row:
    """Return the loss, the spread of |E v|, and measures of the V."""
    a, b = scores.T
    lean = posterior_difference(corpus)
    return {
        "loss": loss(corpus, a, b),
        "square": line(a, b**2),
        "size": line(a, np.abs(b)),
        "spread": float(np.abs(b).std() / np.abs(b).mean()),
        "arms": shape(lean, torch.from_numpy(scores)).arms,
    }


def descent(
    corpus: Corpus, start: Any, rate: Any, level: float, steps: int
) -> tuple[Any, Any, int]:
    """Train E alone by descent; return scores, exposure (V,) and number of steps.

    The scores (V, 2) have the columns E p and E v, as in `start`. The `rate` is one
    number, or one number per token (V,). Training stops when the loss is below `level`,
    or after `steps` steps.
    """
    (a, b), exposure = start.T, np.zeros(len(start))
    for step in range(steps + 1):
        if step == steps or loss(corpus, a, b) < level:
            break
        toward_p, toward_v, more = rates(corpus, a, b)
        a, b = a + rate * toward_p, b + rate * toward_v
        exposure = exposure + rate * more
    return np.stack([a, b], axis=1), exposure, step


def by_adam(model: AttentionClassifier, corpus: Corpus, level: float, **given: Any):
    """Train by Adam to a loss below `level`, or for 400 steps; return the history."""
    known: Row = {"lr": ADAM, "steps": 400, "snapshots": range(401)}
    known["until_loss"] = level
    return fit(model, corpus, **known | given)


def rows(name: str, corpus: Corpus, seed: int, labels: str) -> list[Row]:
    """Return a row for each training run on one corpus."""
    known = {"corpus": name, "labels": labels, "seed": seed}
    lean = posterior_difference(corpus).numpy()
    small = np.abs(lean) < 0.1
    size, level = len(corpus.vocab), LEVEL
    found: list[Row] = []
    share = mean_count(corpus, 1 / corpus.lengths.double()).numpy()
    start = noise(size, DIM, seed)
    for by, rate in (("descent", RATES[name]), ("even descent", EVEN / share)):
        scores, exposure, steps = descent(corpus, start, rate, level, STEPS[name])
        row: Row = {"trained": "E", "by": by, "steps": steps}
        row |= described(corpus, scores)
        moved = scores[:, 0] - start[:, 0]
        half = (scores[:, 1] ** 2 - start[:, 1] ** 2) / 2
        row["law"] = explained(moved, half - exposure)
        exposed = spearmanr(exposure[small], share[small]).statistic
        row["exposed"] = float(exposed)
        found.append(known | row)
        level = found[0]["loss"]
    for trained, lr in ((("embeddings",), ADAM), (None, ADAM / 5)):
        model = AttentionClassifier(size, DIM, seed=seed)
        history = by_adam(model, corpus, level, train=trained, lr=lr)
        begun, end = (history.at(k).double().numpy() for k in (0, -1))
        steps = int(history.step[-1])
        row = {"trained": "E" if trained else "E, p, v", "by": "Adam", "steps": steps}
        row |= described(corpus, end)
        if trained:
            foretold = unit_steps(corpus, begun, steps, lr * (2 * DIM / np.pi) ** 0.5)
            row["foretold a"] = explained(end[:, 0], foretold[:, 0])
            row["foretold b"] = explained(end[:, 1], foretold[:, 1])
        found.append(known | row)
    return found


def noise(size: int, dim: int, seed: int) -> Any:
    """Return random initial scores and values of `size` tokens, (size, 2)."""
    drawn = torch.Generator().manual_seed(seed)
    scores = torch.randn(size, 2, generator=drawn, dtype=torch.float64)
    return scores.numpy() / dim**0.5


def in_the_laboratory() -> Iterator[Row]:
    """Yield measures of the V for descent on E, as in the book's laboratory."""
    corpus = load_corpus("imdb", limit=2000, min_count=10)
    share = mean_count(corpus, 1 / corpus.lengths.double()).numpy()
    start = noise(len(corpus.vocab), LAB_DIM, 0)
    for by, begin, rate, times in (
        ("descent", start, LAB_RATE, (300, 1000, 3000, 10_000, 30_000)),
        ("descent from zero", 0 * start, LAB_RATE, (300, 1000, 3000)),
        ("even descent", start, EVEN / share, (10, 30, 100, 300, 1000)),
    ):
        scores, before = begin, 0
        for time in times:
            scores, _, _ = descent(corpus, scores, rate, 0.0, time - before)
            before = time
            row = {"by": by, "steps": time, "seed": 0} | described(corpus, scores)
            yield rounded(row)


def trainings() -> Iterator[Row]:
    """Yield the rows of all corpora, with true labels and with shuffled ones."""
    for seed in SEEDS:
        for name, corpus in corpora(seed).items():
            shuffled = with_shuffled_labels(corpus, seed)
            for labels, given in (("true", corpus), ("shuffled", shuffled)):
                yield from map(rounded, rows(name, given, seed, labels))


if __name__ == "__main__":
    parts = {"trainings": trainings(), "laboratory": in_the_laboratory()}
    run_parts("why_v/laws", parts)
