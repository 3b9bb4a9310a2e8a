"""Training in several processes: what is exchanged, and speed against processes.

    python benchmarks/bench_distributed.py
    torchrun --standalone --nproc-per-node 2 benchmarks/bench_distributed.py

Generated texts (80 tokens with Zipf's frequencies) are shared among the processes. For
each number of texts it prints the seconds of a step, those of the exchange alone and
its size, beside the size of the gradient of E.
"""

from __future__ import annotations

import argparse
import time
from datetime import timedelta

import numpy as np
import torch
import torch.distributed as dist
from scipy.sparse import csr_array

import attnsel
from attnsel.scale.distributed import summed


def generated(n: int, n_tokens: int, seed: int) -> attnsel.Corpus:
    """Draw n labelled texts of 80 tokens."""
    rng = np.random.default_rng(seed)
    ids = (n_tokens ** rng.random(80 * n)).astype(np.int32) - 1
    starts = np.arange(0, 80 * n + 1, 80)
    ones = np.ones(80 * n, dtype=np.float32)
    counts = csr_array((ones, ids, starts), shape=(n, n_tokens))
    vocab = attnsel.Vocab(map(str, range(n_tokens)), range(2))
    return attnsel.Corpus(counts, torch.from_numpy(rng.integers(0, 2, n)), vocab)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--texts", type=int, nargs="*", default=[25_000, 200_000])
    parser.add_argument("--tokens", type=int, default=13_391)
    parser.add_argument("--dim", type=int, default=256)
    options = parser.parse_args()
    rank, world = 0, 1
    if dist.is_torchelastic_launched():
        dist.init_process_group(timeout=timedelta(seconds=30))
        rank, world = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    for n in options.texts:
        corpus = generated(n // world, options.tokens, seed=rank)
        model = attnsel.AttentionClassifier(options.tokens, options.dim)

        def run(steps: int) -> float:
            start = time.perf_counter()
            attnsel.fit(model, corpus, steps=steps, lr=1e-3)  # noqa: B023
            return time.perf_counter() - start

        run(1)
        step = (min(run(22) for _ in range(2)) - min(run(2) for _ in range(2))) / 20
        g, exchanges = torch.zeros(options.tokens, 2), []
        for _ in range(20):
            start = time.perf_counter()
            summed(g)
            exchanges.append(time.perf_counter() - start)
        if rank == 0:
            print(
                f"{world} processes, {n:,} texts: {1e3 * step:.0f} ms a step, of it "
                f"{1e3 * min(exchanges):.1f} ms for {g.nbytes / 1e3:.0f} kB exchanged "
                f"(the gradient of E has {model.embeddings.nbytes / 1e6:.0f} MB)"
            )
    if world > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
