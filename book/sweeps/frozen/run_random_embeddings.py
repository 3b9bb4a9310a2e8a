"""Trained and random embeddings on reviews, compared at the best rate and step.

    python -m sweeps.frozen.run_random_embeddings

The rate (with seed 0) and the number of steps (in each run) are those with the best
accuracy on a fifth of the training reviews. If a choice is at the edge of its grid,
this is printed. The test reviews are not used to choose anything. The script takes
about half an hour on an idle machine. The stored table has only two runs with frozen p
and v, both on IMDB. All three runs with trained embeddings on Yelp have the best rate
of IMDB.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnsel import AttentionClassifier, Corpus, fit, load_corpus
from attnsel.model import accuracy, bag_logits, logistic_loss, score_gradient
from attnsel.theory import posterior_difference
from attnsel_book.results import result_folder, store
from attnsel_book.v_shape import shape

DIM, SEEDS, REACH = 2048, (0, 1, 2), {"imdb": 0.84, "yelp": 0.88}
Parts = tuple[Corpus, Corpus, Corpus]
Path_ = Iterator[Tensor]  # the scores (V, 2) before each step


def parts_of(name: str) -> Parts:
    """Return four fifths and a fifth of the training reviews, and the test reviews."""
    least, size = {"imdb": (20, None), "yelp": (1, 5_424)}[name]
    corpus = load_corpus(name, min_count=least)
    corpus = corpus.most_frequent(size) if size else corpus
    order = torch.randperm(len(corpus), generator=torch.Generator().manual_seed(0))
    cut = len(corpus) // 5
    test = load_corpus(name, "test", vocab=corpus.vocab)
    return corpus[order[cut:]], corpus[order[:cut]], test


def model_scores(
    corpus: Corpus, seed: int, lr: float, steps: int, train: tuple[str, ...]
) -> Path_:
    """Train some of E, p and v by Adam, and yield the scores (V, 2) from step 0 on."""
    model = AttentionClassifier(len(corpus.vocab), DIM, seed=seed)
    every = range(steps + 1)
    run = fit(model, corpus, steps=steps, lr=lr, train=train, snapshots=every)
    yield from (run.at(k) for k in every)


def unit_vector_scores(corpus: Corpus, seed: int, lr: float, steps: int) -> Path_:
    """Train p and v with E = I, and yield the scores (V, 2), with columns p and v."""
    V = len(corpus.vocab)
    drawn = np.random.default_rng(seed).normal(0, V**-0.5, (V, 2))
    ab = torch.from_numpy(drawn).requires_grad_()
    adam = torch.optim.Adam([ab], lr=lr)
    for step in range(steps + 1):
        scores = ab.detach().float()
        yield scores
        if step < steps:
            ab.grad = score_gradient(scores, corpus)[1].double()
            adam.step()


def best(name: str, parts: Parts, path: Path_, **setting: Any) -> dict[str, Any]:
    """Return measures of a run at the step with the best validation accuracy."""
    learn, valid, test = parts
    right, top, steps, reached = -1.0, torch.empty(0), 0, None
    for k, scores in enumerate(path):
        now = accuracy(bag_logits(scores, valid), valid)
        if reached is None and now >= REACH[name]:
            reached = k
        if now > right:
            right, top, steps = now, scores.clone(), k
    f, of = bag_logits(top, test), shape(posterior_difference(learn), top)
    return setting | {
        "data": name,
        "steps": steps,
        "last": k,
        "reached": reached,
        "validation": round(right, 5),
        "test": round(accuracy(f, test), 5),
        "loss": round(float(logistic_loss(f, test.signs)), 4),
        "training_loss": round(
            float(logistic_loss(bag_logits(top, learn), learn.signs)), 4
        ),
        "values": round(of.values, 4),
        "arms": round(of.arms, 4),
    }


def ways(name: str) -> dict[str, tuple[Callable[..., Path_], dict[str, Any]]]:
    """Return training functions by name, with options and numbers of steps per rate."""
    unit = DIM**-0.5
    small = {0.0225 * unit: 110, 0.045 * unit: 65, 0.09 * unit: 45}
    everything, frozen = ("embeddings", "cls", "output"), ("cls", "output")
    large = {
        "imdb": {0.03: 600, 0.1: 600, 0.3: 150},
        "yelp": {0.03: 900, 0.1: 400, 0.3: 250},
    }[name]
    alone = {
        "imdb": {0.045: 120, 0.135: 80, 0.405: 60},
        "yelp": {0.015: 250, 0.045: 120, 0.135: 80},
    }[name]
    all_parts, embeddings_only = {"train": everything}, {"train": ("embeddings",)}
    return {
        "random": (model_scores, {"train": frozen, "tried": large}),
        "orthonormal, unit vectors": (unit_vector_scores, {"tried": alone}),
        "trained": (model_scores, all_parts | {"tried": small}),
        "trained, p and v frozen": (
            model_scores,
            embeddings_only | {"tried": small | {0.18 * unit: 130}},
        ),
    }


def rows_of(name: str, parts: Parts, way: str) -> list[dict[str, Any]]:
    """Return one row per seed, at the rate that is best for seed 0."""
    scores, given = ways(name)[way]
    options = {k: v for k, v in given.items() if k != "tried"}
    tried = given["tried"]

    def run(rate: float, seed: int) -> dict[str, Any]:
        path = scores(parts[0], seed, rate, tried[rate], **options)
        setting = {
            "way": way,
            "dim": DIM if options else "V",
            "rate": rate,
            "seed": seed,
        }
        found = best(name, parts, path, **setting)
        print(found, flush=True)
        return found

    first = [run(rate, 0) for rate in tried]
    top = max(first, key=lambda row: row["validation"])
    if top["rate"] in (min(tried), max(tried)) or top["steps"] == top["last"]:
        print(f"{name}, {way}: best at an edge, rate {top['rate']}, {top['steps']}")
    return [top] + [run(top["rate"], seed) for seed in SEEDS[1:]]


if __name__ == "__main__":
    found = []
    for name in ("imdb", "yelp"):
        parts = parts_of(name)
        for way in ways(name):
            found += rows_of(name, parts, way)
    store(result_folder("frozen") / "random_embeddings.json", found)
