"""How long a corpus larger than memory's comfort takes to count, and how much memory.

Run as `python benchmarks/bench_large.py 3600000`: so many texts of the length of
product reviews are drawn, written to the disk by `datasets`, and counted in two
processes. Memory is what the whole process holds at its peak above what it held before
(pages of mapped files that stay in memory are counted, too), beside the counts
themselves; the processes that tokenize hold a block each, and are told apart. Then one
layer takes ten steps on all of them.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator

import datasets
import numpy as np

from attnsel import AttentionClassifier, fit
from attnsel.texts.loading import load_corpus

TOKENS = 200_000  # to draw from, by Zipf's law
LENGTH = 80  # tokens in a text, on average
BLOCK = 10_000
PROCESSES = 2
DIM, STEPS = 128, 10


def reviews(blocks: list[int]) -> Iterator[dict[str, object]]:
    """Draw blocks of texts; half of the words that lean do so to the label's side."""
    weights = 1 / (np.arange(TOKENS) + 10.0)
    law = np.cumsum(weights / weights.sum())
    words = np.array([f"w{i}" for i in range(TOKENS)], dtype=object)
    for block in blocks:
        rng = np.random.default_rng(block)
        sizes = np.maximum(rng.poisson(LENGTH * rng.gamma(2, 0.5, BLOCK)), 3)
        ids = np.searchsorted(law, rng.random(sizes.sum()))
        labels = rng.integers(0, 2, BLOCK)
        ids = np.minimum(ids ^ ((ids % 8 == 0) & np.repeat(labels, sizes)), TOKENS - 1)
        for tokens, label in zip(
            np.split(words[ids], np.cumsum(sizes)[:-1]), labels, strict=True
        ):
            yield {"text": " ".join(tokens), "label": ("bad", "good")[label]}


def peak(who: int = resource.RUSAGE_SELF) -> float:
    """The greatest resident size so far, in GB."""
    return resource.getrusage(who).ru_maxrss / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", type=int, nargs="?", default=100_000)
    n = parser.parse_args().texts
    datasets.disable_progress_bars()
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        table = datasets.Dataset.from_generator(
            reviews,
            gen_kwargs={"blocks": list(range(n // BLOCK))},
            num_proc=PROCESSES,
            cache_dir=folder,
        )
        drawn = time.perf_counter() - start
        before = peak()
        start = time.perf_counter()
        corpus = load_corpus(table, num_proc=PROCESSES)
        counted = time.perf_counter() - start
        after, workers = peak(), peak(resource.RUSAGE_CHILDREN)
    counts = corpus.counts
    size = sum(a.nbytes for a in (counts.data, counts.indices, counts.indptr)) / 1e9
    print(corpus)
    print(f"drawn in {drawn:.0f} s, counted in {counted:.0f} s")
    print(f"counts {size:.2f} GB, {counts.nnz / len(corpus):.0f} tokens a text")
    print(
        f"peak {after - before:.2f} GB = {(after - before) / size:.2f} times the counts"
    )
    print(f"before {before:.2f} GB; greatest of the other processes {workers:.2f} GB")
    model = AttentionClassifier(len(corpus.vocab), DIM, seed=0)
    start = time.perf_counter()
    history = fit(model, corpus, steps=STEPS, lr=0.01)
    trained = time.perf_counter() - start
    print(
        f"d = {DIM}: {STEPS} steps in {trained:.0f} s, peak {peak() - before:.2f} GB, "
        f"accuracy {history.accuracy[0]:.3f} to {history.accuracy[-1]:.3f}"
    )


if __name__ == "__main__":
    main()
