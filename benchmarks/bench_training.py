"""Speed and memory of training on all of IMDB at d = 2048, as ratios.

    python benchmarks/bench_training.py [--dim 2048] [--repeat 5]

Prints a table against the budgets: the full-batch Adam step beside streaming E twice
by `copy_`, one pass of the naive `nn.Embedding` model beside one such step, the time
to 99% training accuracy and the peak memory beside the bytes of E, and steps with
five classes and with a key-query matrix beside the binary one, all measured in this
run. Each time is the least of its repeats.

    python benchmarks/bench_training.py --busy

Prints the time of a step while no other process, one and two keep a core busy, beside
`torch.optim.Adam` on the whole matrix: quartiles over many steps, the two in turn.
"""

from __future__ import annotations

import argparse
import functools
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from unittest import mock

import numpy as np
import torch

import attnsel
import attnsel.train
from attnsel.model import logistic_loss

PEAK = """
import sys, pathlib, re, torch, attnsel
corpus = attnsel.load_corpus("imdb")
attnsel.corpus.count_tensors(corpus)
model = attnsel.AttentionClassifier(len(corpus.vocab), int(sys.argv[1]))
proc = pathlib.Path("/proc/self")
def status(key):
    return int(re.search(key + r":\\s+(\\d+)", (proc / "status").read_text())[1]) / 1024
before = status("VmRSS")
(proc / "clear_refs").write_text("5")  # starts the peak anew
attnsel.fit(model, corpus, steps=4, lr=1e-3)
E = model.embeddings
print(before, status("VmHWM"), E.numel() * E.element_size() / 2**20)
"""


def least(function: Callable[[], object], repeat: int) -> float:
    """Return the least time of a call, in seconds, after one that warms up."""
    function()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def naive_epoch(
    model: attnsel.AttentionClassifier, corpus: attnsel.Corpus, repeat: int
) -> float:
    """Return the time of a pass of gathered embeddings in batches of 64."""
    embedding = torch.nn.Embedding.from_pretrained(
        model.embeddings.detach().clone(), freeze=False
    )
    p, v = (torch.nn.Parameter(x.detach().clone()) for x in (model.cls, model.output))
    optimizer = torch.optim.Adam([embedding.weight, p, v], lr=1e-3, fused=True)
    order = torch.randperm(len(corpus), generator=torch.Generator().manual_seed(0))
    batches = iter(order.split(64)[: repeat + 1])

    def step() -> None:
        batch = corpus[next(batches)]
        rows = [
            torch.tensor([s for _, s in batch.words(i) if s >= 0])
            for i in range(len(batch))
        ]
        ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        mask = torch.arange(ids.shape[1]) < batch.lengths[:, None]
        E_X = embedding(ids)
        scores = (E_X @ p).masked_fill(~mask, -torch.inf)
        logits = (torch.softmax(scores, 1) * (E_X @ v)).sum(1)
        optimizer.zero_grad()
        logistic_loss(logits, batch.signs).backward()
        optimizer.step()

    return least(step, repeat) * len(corpus) / 64


BUSY = "while True: pass"


def step_times(model: attnsel.AttentionClassifier, corpus: attnsel.Corpus) -> list:
    """Return the seconds of 20 steps of `fit`, without the first two."""
    ends = []

    def counted(steps: range, _: str) -> Iterator[int]:
        for step in steps:
            ends.append(time.perf_counter())
            yield step

    with mock.patch.object(attnsel.train, "progress", counted):
        attnsel.fit(model, corpus, steps=22, lr=1e-3)
    return [end - start for start, end in pairwise(ends)][2:]


def whole_matrix_times(
    model: attnsel.AttentionClassifier, corpus: attnsel.Corpus
) -> list:
    """Return the seconds of steps of `torch.optim.Adam`, as anybody would take them."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    times = []
    for _ in range(12):
        start = time.perf_counter()
        optimizer.zero_grad()
        logistic_loss(model(corpus), corpus.signs).backward()
        optimizer.step()
        times.append(time.perf_counter() - start)
    model.zero_grad()
    return times[2:]


def busy_table(corpus: attnsel.Corpus, dim: int, repeat: int) -> None:
    """Print steps beside processes that keep cores busy."""
    model = attnsel.AttentionClassifier(len(corpus.vocab), dim)
    E = model.embeddings.detach()
    target = torch.zeros_like(E)
    idle: dict[str, float] = {}
    print(f"{corpus}\nd = {dim}, {torch.get_num_threads()} threads, ms")
    print("busy  two copies  what             least  quartile  median  over idle")
    for n_busy in range(3):
        others = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(n_busy)]
        try:
            seconds: dict[str, list] = {"fit": [], "torch.optim.Adam": []}
            copies = least(lambda: target.copy_(E), repeat) * 2
            for _ in range(repeat):
                seconds["fit"] += step_times(model, corpus)
                seconds["torch.optim.Adam"] += whole_matrix_times(model, corpus)
        finally:
            for other in others:
                other.kill()
                other.wait()
        for what, times in seconds.items():
            low, quartile, middle = np.quantile(times, [0, 0.25, 0.5]) * 1e3
            idle.setdefault(what, middle)
            print(
                f"{n_busy:<5} {1e3 * copies:>10.1f}  {what:<16} {low:>5.0f} "
                f"{quartile:>9.0f} {middle:>7.0f} {middle / idle[what]:>10.2f}"
            )
    print("budget of fit over idle: 2.5 with one busy, 4 with two, on two cores")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dim", type=int, default=2048)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--busy", action="store_true")
    options = parser.parse_args()

    corpus = attnsel.load_corpus("imdb")
    if options.busy:
        busy_table(corpus, options.dim, options.repeat)
        return
    test = attnsel.load_corpus("imdb", split="test", vocab=corpus.vocab)
    model = attnsel.AttentionClassifier(len(corpus.vocab), options.dim)
    E = model.embeddings.detach()
    target = torch.zeros_like(E)

    def stream() -> None:
        target.copy_(E)
        target.copy_(E)

    streams = least(stream, 3 * options.repeat)

    def step_of(
        model: attnsel.AttentionClassifier, corpus: attnsel.Corpus, long: int
    ) -> float:
        # A longer run minus a shorter one: neither what a run sets up nor its last
        # evaluation is part of a step.
        def fit(steps: int) -> float:
            run = functools.partial(attnsel.fit, model, corpus, steps=steps, lr=1e-3)
            return least(run, options.repeat)

        return (fit(long) - fit(5)) / (long - 5)

    step = step_of(model, corpus, 35)
    five = attnsel.Corpus(
        corpus.counts,
        torch.randint(5, (len(corpus),), generator=torch.Generator().manual_seed(0)),
        attnsel.Vocab(corpus.vocab, range(5)),
    )
    size = (len(corpus.vocab), options.dim)
    more = step_of(attnsel.AttentionClassifier(*size, n_classes=5), five, 20)
    query = step_of(attnsel.AttentionClassifier(*size, key_query=True), corpus, 20)
    epoch = naive_epoch(model, corpus, options.repeat)
    fresh = attnsel.AttentionClassifier(len(corpus.vocab), options.dim)
    start = time.perf_counter()
    history = attnsel.fit(
        fresh, corpus, steps=300, lr=1e-3, until_accuracy=0.99, test=test
    )
    training = time.perf_counter() - start
    answer = subprocess.run(
        [sys.executable, "-c", PEAK, str(options.dim)],
        check=True,
        capture_output=True,
        text=True,
    )
    before, peak, bytes_of_E = map(float, answer.stdout.split())

    rows = [
        ("streaming E twice with copy_", f"{1e3 * streams:.1f} ms", ""),
        ("full-batch Adam step on E, p, v", f"{1e3 * step:.1f} ms", ""),
        ("  over streaming E twice", f"{step / streams:.2f}", "at most 3"),
        ("  with five classes, over it", f"{more / step:.2f}", "at most 2.2"),
        ("  with a key-query matrix, over it", f"{query / step:.2f}", ""),
        ("naive pass, nn.Embedding", f"{epoch:.0f} s", ""),
        ("  over one of our steps", f"{epoch / step:,.0f}", "at least 5,000"),
        (
            f"{history.step[-1]} steps to {history.accuracy[-1]:.1%} in training",
            f"{training:.1f} s",
            "under 10 s",
        ),
        ("peak memory of training over the bytes of E", "", ""),
        (
            f"  E of {bytes_of_E:.0f} MiB, {before:.0f} to {peak:.0f} MiB in all",
            f"{(peak - before + bytes_of_E) / bytes_of_E:.2f}",
            "at most 6",
        ),
    ]
    print(f"{corpus}\nd = {options.dim}, {torch.get_num_threads()} threads")
    for what, value, budget in rows:
        print(f"{what:<45} {value:>10}   {budget}")


if __name__ == "__main__":
    main()
