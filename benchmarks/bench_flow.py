"""Gradient flow on p and the max-margin direction, beside the ways of peers.

    python benchmarks/bench_flow.py [--dim 2048] [--repeat 3] [--seeds 5] [--raw]

On separable data (500 tokens, 400 sequences) after one step on E: the cosine of the
flow to the max-margin direction by norm, the same by normalized gradient descent with
autograd, and the times. Then `max_margin` beside cvxpy with Clarabel on 50 random
instances, in the raw dimension. `--raw` solves the large problem by cvxpy as well,
in the raw dimension (minutes). Each time is the least of its repeats.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import TypeVar

import cvxpy
import numpy as np
import torch

from attnsel.flow import gradient_flow
from attnsel.model import AttentionClassifier, logistic_loss
from attnsel.synthetic import separable_corpus
from attnsel.theory import max_margin, relevant_tokens
from attnsel.train import one_step

NORMS = (100.0, 300.0, 1000.0, 3000.0, 5000.0)
T = TypeVar("T")


def least(function: Callable[[], T], repeat: int) -> tuple[T, float]:
    """Return the value and the least time of some calls."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        value = function()
        times.append(time.perf_counter() - start)
    return value, min(times)


def miss(direction, cls):
    """1 - cosine, without the cancellation."""
    unit = cls.double() / cls.double().norm(dim=-1, keepdim=True)
    return (unit - direction).square().sum(-1) / 2


def raw_margin(E, corpus, selected):
    """The margin by cvxpy and Clarabel in the raw dimension."""
    E, counts = E.detach().double().numpy(), corpus.counts
    pairs = {
        (s, t)
        for i, s in enumerate(selected.tolist())
        for t in counts[[i]].indices.tolist()
        if t != s
    }
    chosen, others = np.array(sorted(pairs)).T
    p = cvxpy.Variable(E.shape[1])
    problem = cvxpy.Problem(
        cvxpy.Minimize(cvxpy.sum_squares(p)), [(E[chosen] - E[others]) @ p >= 1]
    )
    problem.solve(solver=cvxpy.CLARABEL)
    return 1 / float(np.linalg.norm(p.value))


def autograd_descent(model, corpus, direction, step=0.5, until=300.0):
    """Normalized gradient descent on p; norm and 1 - cosine after each step."""
    p = model.cls.detach().clone().requires_grad_()
    C = torch.from_numpy(corpus.counts.toarray()).to(p)
    E = model.embeddings.detach()
    b = E @ model.output.detach()
    rows = []
    while float(p.detach().norm()) < until:
        a = E @ p
        w = C * torch.exp(a - a.max())
        loss = logistic_loss(w @ b / w.sum(1), corpus.signs)
        (gradient,) = torch.autograd.grad(loss, p)
        size = float(gradient.norm())
        if not 0 < size < float("inf") or len(rows) > 20 * until:
            break
        moved = p.detach() - step * gradient / size
        rows.append((float(moved.norm()), float(miss(direction, moved))))
        p = moved.requires_grad_()
    return rows


def flow_row(seed: int, dim: int, lr: float, repeat: int) -> str:
    """Flow and margin on one corpus: a row of the table."""
    corpus = separable_corpus(400, 500, 8, n_relevant=20, seed=seed)
    model = one_step(AttentionClassifier(500, dim, seed=seed), corpus, lr=lr)
    flow = gradient_flow(model, corpus, max_norm=NORMS[-1], record=NORMS[:-1])
    _, seconds = least(lambda: gradient_flow(model, corpus), repeat)
    found, margin_seconds = least(
        lambda: max_margin(model.embeddings, corpus, flow.selected), repeat
    )
    at = [int((flow.norms - r).abs().argmin()) for r in NORMS]
    gaps = miss(found.direction, flow.cls[at])
    slope = np.polyfit(np.log(NORMS[2:]), gaps[2:].log().numpy(), 1)[0]
    agree = torch.equal(flow.selected, relevant_tokens(corpus))
    return (
        f"{seed:4d} {agree!s:11}  "
        + "".join(f"  {float(g):12.3g}" for g in gaps)
        + f"  {slope:5.2f} {float(flow.log_gradient[at[3]]):15.1f} {seconds:8.2f}"
        f" {found.margin:8.5f} {margin_seconds:9.3f}  {found.residual:.0e}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Flow and margin, timed.")
    parser.add_argument("--dim", type=int, default=2048)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--lr", type=float, default=100.0)
    parser.add_argument("--raw", action="store_true")
    options = parser.parse_args()
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")

    print("\nseed selects-all  " + "".join(f"  1-cos@{r:<6.0f}" for r in NORMS), end="")
    print("  slope log|grad|@3000   flow s   margin  margin s    KKT")
    for seed in range(options.seeds):
        print(flow_row(seed, options.dim, options.lr, options.repeat))

    corpus = separable_corpus(400, 500, 8, n_relevant=20)
    model = one_step(AttentionClassifier(500, options.dim), corpus, lr=options.lr)
    found = max_margin(model.embeddings, corpus, relevant_tokens(corpus))
    for dtype in (torch.float32, torch.float64):
        begin = time.perf_counter()
        rows = autograd_descent(model.to(dtype), corpus, found.direction)
        seconds = time.perf_counter() - begin
        best = min(rows, key=lambda row: row[1])
        print(
            f"autograd, normalized, {dtype}: best 1-cos {best[1]:.3g} at norm "
            f"{best[0]:.0f}; ends at {rows[-1][1]:.3g}, norm {rows[-1][0]:.0f}, after "
            f"{len(rows)} steps; {seconds:.1f} s"
        )
    if options.raw:
        selected = relevant_tokens(corpus)
        margin, seconds = least(
            lambda: raw_margin(model.embeddings, corpus, selected), 1
        )
        print(f"cvxpy + Clarabel, raw dimension: margin {margin:.5f}, {seconds:.0f} s")

    differences = []
    for seed in range(50):
        size = 30 + seed
        corpus = separable_corpus(24, size, 8, n_relevant=6, seed=seed)
        model = AttentionClassifier(size, (25, 60, 120)[seed % 3], seed=seed)
        selected = relevant_tokens(corpus)
        margin = max_margin(model.embeddings, corpus, selected).margin
        other = raw_margin(model.embeddings, corpus, selected)
        differences.append(abs(margin / other - 1))
    print(f"50 random instances: greatest relative difference {max(differences):.1e}")


if __name__ == "__main__":
    main()
