"""Speed against the budgets, as ratios where a machine's own speed would count.

    python benchmarks/speed.py [--dim 2048] [step busy naive classes flow import report]

Each part named, or all, prints its rows: what was measured, the value, the budget. All
need the reviews of IMDB; times are the least of some repeats on an otherwise idle
machine, but for `busy`, which keeps one core busy itself.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pandas as pd
import torch

import attnsel
from attnsel.flow import angle_gap
from attnsel.model import logistic_loss
from attnsel.theory import relevant_tokens

Row = tuple[str, str, str]
REPEAT = 5
BUSY = "while True: pass"
IMPORT = """
import time
start = time.perf_counter()
import {}
print(time.perf_counter() - start)
"""


def least(function: Callable[[], object], repeat: int = REPEAT) -> float:
    """Return the least time of a call, in seconds, after one that warms up."""
    function()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


@cache
def reviews() -> attnsel.Corpus:
    """Return the training reviews of IMDB."""
    return attnsel.load_corpus("imdb")


def step_time(model: attnsel.AttentionClassifier, corpus: attnsel.Corpus) -> float:
    """Return the time of a step: of a longer run minus a shorter one."""

    def times(steps: int) -> float:
        return least(lambda: attnsel.fit(model, corpus, steps=steps, lr=1e-3))

    return (times(35) - times(5)) / 30


def new_model(dim: int, n_classes: int = 2) -> attnsel.AttentionClassifier:
    """Return an untrained model of the reviews."""
    return attnsel.AttentionClassifier(len(reviews().vocab), dim, n_classes=n_classes)


def two_copies(dim: int) -> float:
    """Return the time of copying E twice."""
    E = new_model(dim).embeddings.detach()
    target = torch.zeros_like(E)
    return 2 * least(lambda: target.copy_(E), 3 * REPEAT)


def step(dim: int) -> Iterator[Row]:
    """A full-batch Adam step on E, p and v."""
    seconds, copies = step_time(new_model(dim), reviews()), two_copies(dim)
    yield "full-batch Adam step on E, p, v", f"{1e3 * seconds:.1f} ms", ""
    yield "  over two copies of E", f"{seconds / copies:.2f}", "at most 3"


def busy(dim: int) -> Iterator[Row]:
    """The same while another process keeps one core busy."""
    idle = step_time(new_model(dim), reviews())
    other = subprocess.Popen([sys.executable, "-c", BUSY])
    try:
        beside = step_time(new_model(dim), reviews())
    finally:
        other.kill()
        other.wait()
    yield (
        "a step while one core is busy, over idle",
        f"{beside / idle:.2f}",
        "at most 2",
    )


def naive(dim: int) -> Iterator[Row]:
    """A pass of gathered embeddings, in batches of 64, beside one of our steps."""
    model = new_model(dim)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    order = torch.randperm(len(reviews()), generator=torch.Generator().manual_seed(0))
    batches = iter(order.split(64))

    def take_batch() -> None:
        batch = reviews()[next(batches)]
        rows = [
            torch.from_numpy(ids).repeat_interleave(torch.from_numpy(times).long())
            for ids, times in batch.bags()
        ]
        ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True).long()
        is_token = torch.arange(ids.shape[1]) < batch.lengths[:, None]
        E_X = model.embeddings[ids]
        scores = (E_X @ model.cls).masked_fill(~is_token, -torch.inf)
        logits = (torch.softmax(scores, 1) * (E_X @ model.output)).sum(1)
        optimizer.zero_grad()
        logistic_loss(logits, batch.signs).backward()
        optimizer.step()

    epoch = least(take_batch) * len(reviews()) / 64
    ratio = epoch / step_time(new_model(dim), reviews())
    yield "naive pass over one of our steps", f"{ratio:,.0f}", "at least 5,000"


def classes(dim: int) -> Iterator[Row]:
    """A step with four classes beside the binary one."""
    labels = torch.randint(4, (len(reviews()),), generator=torch.Generator())
    vocab = attnsel.Vocab(reviews().vocab, range(4))
    four = attnsel.Corpus(reviews().counts, labels, vocab)
    ratio = step_time(new_model(dim, 4), four) / step_time(new_model(dim), reviews())
    yield "a step with four classes over two", f"{ratio:.2f}", "at most 1.9"


def flow(dim: int) -> Iterator[Row]:
    """The flow of p to norm 3,000 on 500 tokens and 400 sequences."""
    corpus = attnsel.separable_corpus(400, 500, 8)
    start = attnsel.AttentionClassifier(500, dim)
    model = attnsel.one_step(start, corpus, lr=100.0)
    seconds = least(lambda: attnsel.gradient_flow(model, corpus), 2)
    end = attnsel.gradient_flow(model, corpus).cls[-1:]
    best = attnsel.max_margin(model.embeddings, corpus, relevant_tokens(corpus))
    cosine = 1 - float(angle_gap(end, best.direction))
    yield "flow to norm 3,000", f"{seconds:.1f} s", "under 2 s"
    yield "  its cosine with the max-margin direction", f"{cosine:.5f}", "0.9999"


def imports(_: int) -> Iterator[Row]:
    """The import of attnsel beside that of torch, each in processes of its own."""

    def seconds(module: str) -> float:
        command = [sys.executable, "-c", IMPORT.format(module)]
        return min(float(subprocess.check_output(command)) for _ in range(REPEAT))

    ratio = seconds("attnsel") / seconds("torch")
    yield "import attnsel over import torch", f"{ratio:.2f}", "at most 1.3"


def report(_: int) -> Iterator[Row]:
    """A page on reviews, and on a million short rows."""
    texts = pd.Series(reviews().texts)
    labels = pd.Series(reviews().targets.numpy())
    short = texts.str.split().str[:5].str.join(" ")
    order = pd.Series(range(len(texts))).sample(frac=1, random_state=0)
    for n, words, budget in ((800, texts, 4), (12_000, texts, 15), (10**6, short, 25)):
        rows = order.iloc[[i % len(order) for i in range(n)]]
        table = pd.DataFrame({"text": words[rows], "label": labels[rows]})
        if n > len(order):
            table["text"] += [f" row{i}" for i in range(n)]  # none of them twice
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            attnsel.report(table).save(Path(folder, "page.html"))
            seconds = time.perf_counter() - start
        yield f"report of {n:,} rows", f"{seconds:.1f} s", f"{budget} s"


PARTS = {
    "step": step,
    "busy": busy,
    "naive": naive,
    "classes": classes,
    "flow": flow,
    "import": imports,
    "report": report,
}


def main() -> None:
    """Print the rows of the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS])
    parser.add_argument("--dim", type=int, default=2048)
    options = parser.parse_args()
    print(f"d = {options.dim}, {torch.get_num_threads()} threads")
    for name in options.parts or PARTS:
        for what, value, budget in PARTS[name](options.dim):
            print(f"{what:<44} {value:>10}   {budget}", flush=True)


if __name__ == "__main__":
    main()
