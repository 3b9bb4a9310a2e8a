"""Speed against the budgets, as ratios where a machine's own speed would count.

    python benchmarks/speed.py [--dim 2048] [step busy naive classes flow imports ...]

Each part named, or all, prints its rows: what was measured, the value, the budget. All
need the reviews of IMDB; times are the least of some repeats on an otherwise idle
machine, but for `busy`, which keeps one core busy itself.
"""

import argparse
import subprocess
import sys
import timeit
from collections.abc import Callable, Iterator
from functools import cache

import pandas as pd
import torch
from torch.nn.utils.rnn import pad_sequence

import attnsel
from attnsel.flow import angle_gap
from attnsel.model import logistic_loss
from attnsel.texts.reviews import generate_reviews
from attnsel.theory import relevant_tokens

Row = tuple[str, str, str]
# What stands in attnsel is imported when it is asked for: so the training is, here.
OURS = "attnsel; attnsel.fit; attnsel.gradient_flow; attnsel.max_margin"
TIMED = "import time; t = time.time(); import {}; print(time.time() - t)"


def least(function: Callable[[], object], repeat: int = 5) -> float:
    """Return the least time of a call, in seconds, after one that warms up."""
    function()
    return min(timeit.repeat(function, number=1, repeat=repeat))


@cache
def reviews() -> attnsel.Corpus:
    """Return the training reviews of IMDB."""
    return attnsel.load_corpus("imdb")


def new_model(dim: int, n_classes: int = 2) -> attnsel.AttentionClassifier:
    """Return an untrained model of the reviews."""
    return attnsel.AttentionClassifier(len(reviews().vocab), dim, n_classes=n_classes)


def step_time(dim: int, corpus: attnsel.Corpus, device: str = "cpu") -> float:
    """Return the time of a step: of a longer run minus a shorter one."""
    model = new_model(dim, corpus.n_classes).to(device)

    def times(steps: int) -> float:
        return least(lambda: attnsel.fit(model, corpus, steps=steps, lr=1e-3))

    return (times(35) - times(5)) / 30


def step(dim: int, device: str = "cpu") -> Iterator[Row]:
    """A full-batch Adam step on E, p and v."""
    seconds = step_time(dim, reviews(), device)
    E = new_model(dim).embeddings.detach().to(device)
    target = torch.zeros_like(E)

    def copy() -> None:
        target.copy_(E)
        if E.is_cuda:
            torch.cuda.synchronize()

    copies = 2 * least(copy, 15)
    yield "full-batch Adam step on E, p, v", f"{1e3 * seconds:.1f} ms", ""
    yield "  over two copies of E", f"{seconds / copies:.2f}", "at most 3"
    # It reads E and both moments of Adam, writes the three, and reads E for the logits.
    yield "  over seven passes of E", f"{seconds / (7 / 4 * copies):.2f}", ""


def gpu(dim: int) -> Iterator[Row]:
    """The same on a GPU, and the memory it takes there."""
    if not torch.cuda.is_available():
        yield "full-batch Adam step on a GPU", "no GPU", ""
        return
    torch.cuda.reset_peak_memory_stats()
    yield from step(dim, "cuda")
    size = new_model(dim).embeddings.nbytes
    peak = torch.cuda.max_memory_allocated() / size
    yield "  most memory, in sizes of E", f"{peak:.2f}", ""


def busy(dim: int) -> Iterator[Row]:
    """The same while another process keeps one core busy."""
    idle = step_time(dim, reviews())
    other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        ratio = step_time(dim, reviews()) / idle
    finally:
        other.kill()
        other.wait()
    yield "a step while one core is busy, over idle", f"{ratio:.2f}", "at most 2"


def naive(dim: int) -> Iterator[Row]:
    """A pass of gathered embeddings, in batches of 64, beside one of our steps."""
    model = new_model(dim)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    batches = iter(torch.randperm(len(reviews())).split(64))

    def take_batch() -> None:
        batch = reviews()[next(batches)]
        rows = [torch.from_numpy(ids.repeat(n.astype(int))) for ids, n in batch.bags()]
        ids = pad_sequence(rows, batch_first=True).long()
        is_token = torch.arange(ids.shape[1]) < batch.lengths[:, None]
        E_X = model.embeddings[ids]
        scores = (E_X @ model.cls).masked_fill(~is_token, -torch.inf)
        logits = (torch.softmax(scores, 1) * (E_X @ model.output)).sum(1)
        optimizer.zero_grad()
        logistic_loss(logits, batch.signs).backward()
        optimizer.step()

    epoch = least(take_batch) * len(reviews()) / 64
    ratio = epoch / step_time(dim, reviews())
    yield "naive pass over one of our steps", f"{ratio:,.0f}", "at least 5,000"


def classes(dim: int) -> Iterator[Row]:
    """A step with four classes beside the binary one."""
    labels = torch.randint(4, (len(reviews()),))
    vocab = attnsel.Vocab(reviews().vocab, range(4))
    four = attnsel.Corpus(reviews().counts, labels, vocab)
    ratio = step_time(dim, four) / step_time(dim, reviews())
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
        command = [sys.executable, "-c", TIMED.format(module)]
        return min(float(subprocess.check_output(command)) for _ in range(5))

    ratio = seconds(OURS) / seconds("torch")
    yield "import of the paper's part over torch", f"{ratio:.2f}", "at most 1.3"


def in_fives(text: str) -> list[str]:
    """Cut a text into pieces of five words."""
    words = text.split()
    return [" ".join(words[i : i + 5]) for i in range(0, len(words), 5)]


def report(_: int) -> Iterator[Row]:
    """A page on reviews, and on a million short rows: five words of a review each."""
    texts, labels = generate_reviews(25_000)
    table = pd.DataFrame({"text": texts, "label": labels})
    table = table.sample(frac=1, random_state=0)
    short = table.assign(text=table["text"].map(in_fives)).explode("text")
    million = short.sample(1_000_000, random_state=0)
    for rows, budget in ((table[:800], 4), (table[:12_000], 15), (million, 60)):
        start = timeit.default_timer()
        attnsel.report(rows).html()
        seconds = timeit.default_timer() - start
        yield f"report of {len(rows):,} rows", f"{seconds:.1f} s", f"{budget} s"


PARTS = {
    f.__name__: f for f in (step, gpu, busy, naive, classes, flow, imports, report)
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS])
    parser.add_argument("--dim", type=int, default=2048)
    options = parser.parse_args()
    print(f"d = {options.dim}, {torch.get_num_threads()} threads")
    for name in options.parts or PARTS:
        for what, value, budget in PARTS[name](options.dim):
            print(f"{what:<44} {value:>10}   {budget}", flush=True)
