"""Lost runs followed on, and classes of one token each: followed.json.

    python -m sweeps.selection.run_followed

"lost" has each run of `steps.csv` that loses a class, from the start to norm 30,000;
"pairs" has runs on a corpus of one relevant token a class, and "pairs, limit" the limit
flow on the same corpora (about eight minutes of one core in all).
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor

from attnsel import gradient_flow
from attnsel.flow import Flow, angle_gap
from attnsel.synthetic import separable_corpus
from attnsel.theory import relevant_tokens
from attnsel_book import one_step_problem, step_sweep
from attnsel_book.data import result_folder, store
from sweeps.selection.run_selection import (
    LONG,
    Rows,
    limit_model,
    shares,
)
from sweeps.selection.run_steps import SIZES

NORMS = (1_000.0, 3_000.0, 10_000.0, 30_000.0)
PAIRS: dict[str, Any] = LONG | {"n_relevant": 2}
STEPS = (100, 200, 300, 500, 700, 1000, 2000, 3000, 6000)


def on_the_way(flow: Flow) -> dict[str, Any]:
    """Return how many sequences change their winner between norms, and the cosines."""
    end = flow.cls[-1] / flow.cls[-1].norm()
    row: dict[str, Any] = {}
    for norm in NORMS[:-1]:
        at = int((flow.norms - norm).abs().argmin())
        row[f"change after {norm:.0f}"] = int((flow.attention[at] < 0.5).sum())
        gap = float(angle_gap(flow.cls[at][None], end)[0])
        row[f"cos from {norm:.0f}"] = round(1 - gap, 6)
    late = (flow.attention < 0.5).any(dim=1).nonzero()
    row["last change"] = round(float(flow.norms[late[-1, 0]]), 1)
    return row


def followed(d: int, step: float, seed: int, sizes: dict[str, Any]) -> tuple[Flow, Any]:
    """Return the flow after a step, to norm 30,000, and its problem."""
    problem = one_step_problem(d, step, seed=seed, **sizes)
    known: dict[str, Any] = {"max_norm": NORMS[-1], "record": NORMS[:-1], "tol": 1e-4}
    return gradient_flow(problem.model, problem.corpus, **known), problem


def lost() -> Rows:
    """Follow each run that loses a class on to ten times the norm."""
    rows = []
    runs = step_sweep().query("lost")[["problem", "d", "step", "seed"]]
    for name, d, step, seed in runs.itertuples(index=False):
        flow, problem = followed(d, float(step), seed, SIZES[name])
        plus, minus = shares(flow, problem.corpus, problem.relevant)
        row = {"problem": name, "d": d, "step": step, "seed": seed}
        row |= {"positive": plus, "negative": minus, "end": float(flow.norms[-1])}
        rows.append(row | on_the_way(flow))
        print(rows[-1], flush=True)
    return rows


def pairs() -> Rows:
    """Follow runs on corpora of two relevant tokens, one a class."""
    rows = []
    kinds = [(2048, step, seed) for step in STEPS for seed in range(10)]
    kinds += [(32_768, step, seed) for step in (300, 500) for seed in range(3)]
    for d, step, seed in kinds:
        flow, problem = followed(d, float(step), seed, PAIRS)
        plus, minus = shares(flow, problem.corpus, problem.relevant)
        row = {"d": d, "step": step, "seed": seed}
        rows.append(row | {"positive": plus, "negative": minus} | gap(problem))
    return rows


def gap(problem: Any) -> dict[str, float]:
    """Return the least value gap of a problem."""
    corpus, values = problem.corpus, problem.model.embeddings @ problem.model.output
    held = torch.from_numpy(corpus.counts.toarray() > 0)
    held[torch.arange(len(corpus)), problem.relevant] = False
    votes: Tensor = corpus.signs[:, None] * values.detach()
    best = votes[torch.arange(len(corpus)), problem.relevant]
    least = (best - votes.where(held, votes.new_tensor(-torch.inf)).amax(dim=1)).min()
    return {"gap": round(float(least), 4)}


def limits() -> Rows:
    """Follow the limit flow on the same corpora, with kappa below one, to norm 60."""
    rows = []
    for step in (300.0, 500.0):
        for seed in range(10):
            corpus = separable_corpus(**PAIRS, seed=seed)
            model = limit_model(corpus, step)
            flow = gradient_flow(model, corpus, max_norm=60.0, tol=1e-4)
            plus, minus = shares(flow, corpus, relevant_tokens(corpus))
            row = {"step": step, "seed": seed}
            rows.append(row | {"positive": plus, "negative": minus})
    return rows


def main() -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", RuntimeWarning)  # a flow that stalls
    parts = {"pairs": pairs(), "pairs, limit": limits(), "lost": lost()}
    store(result_folder("selection") / "followed.json", parts)


if __name__ == "__main__":
    main()
