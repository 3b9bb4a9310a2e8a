"""The runs behind the chapter on broken assumptions of Theorem 4.3.

    python -m sweeps.broken_assumptions.run_assumptions

The script runs ten seeds of each variant, and writes `assumptions.json`. It takes about
two minutes on one core. The chapter repeats the first seed of most variants.
"""

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from attnsel import AttentionClassifier, Corpus, certificate, fit, gradient_flow
from attnsel.flow import Flow, angle_gap
from attnsel.theory import (
    highest_votes,
    max_margin,
    relevant_tokens,
    signed_frequency,
)
from attnsel_book import one_step_problem
from sweeps.common import SIZES, Row, rounded, run_parts

SMALL = SIZES["T6"]
DIM, STEP, SEEDS = 256, 100.0, range(10)
VARIANTS: dict[str, Row] = {
    "none broken": {},
    "two relevant tokens": {"per_sequence": 2},
    "partly relevant": {"n_partly": 6, "tilt": 0.9},
    "small dimension": {"dim": 12},
    "no step on E": {"lr": 0},
    "large start": {"start": 100.0},
    "large start, ideal": {"start": 100.0, "dim": 40, "ideal": True},
}


def make(
    seed: int,
    *,
    dim: int = DIM,
    lr: float = STEP,
    start: float = 1.0,
    ideal: bool = False,
    **change: Any,
) -> tuple[Corpus, AttentionClassifier]:
    """Return the corpus and the model of a variant, usually after one step on E."""
    sizes = SMALL | change
    problem = one_step_problem(dim, lr, seed=seed, dtype=torch.float64, **sizes)
    corpus, model = problem.corpus, problem.model
    E, p, v = (x.detach() for x in (model.embeddings, model.cls, model.output))
    p *= start
    if ideal:
        E.copy_(torch.eye(len(E)))
        v.copy_(STEP / 2 * signed_frequency(corpus) / SMALL["length"])
    return corpus, model


def judge(corpus: Corpus, model: AttentionClassifier, flow: Flow) -> Row:
    """Return measures of the tokens that a flow selects."""
    top, end = flow.selected, flow.attention[-1]
    kinds = np.array([token[:3] in ("pos", "neg") for token in corpus.vocab])
    highest = highest_votes(corpus, model.embeddings @ model.output)
    early = flow.attention[(flow.norms - 300).abs().argmin()]
    stalled = flow.reason != "max_norm"
    cosine = math.nan
    if bool((end > 0.99).all()) and not stalled:
        target = max_margin(model.embeddings, corpus, top)
        cosine = 1 - float(angle_gap(flow.cls, target.direction)[-1])
    return {
        "stalled": stalled,
        "right": float(kinds[top].mean()),
        "highest value": float((top == highest).double().mean()),
        "alone": float((end > 0.99).double().mean()),
        "late": not stalled and not bool((early > 0.5).all()),
        "cosine": cosine,
    }


def run(name: str, seed: int) -> Row:
    """Run the flow for one variant and seed, and return measures of its selection."""
    corpus, model = make(seed, **VARIANTS[name])
    flow = gradient_flow(model, corpus, record=[300.0], tol=1e-3)
    return {"variant": name, "seed": seed} | judge(corpus, model, flow)


def with_output(seed: int) -> Row:
    """Train p and v together by gradient descent, and return measures of selection."""
    corpus, model = make(seed)
    relevant = relevant_tokens(corpus)
    best = max_margin(model.embeddings, corpus, relevant)
    train = ("cls", "output")
    fit(model, corpus, steps=300, lr=30.0, train=train, optimizer="gd")
    attention = model.attention(corpus).toarray()
    p, v = model.cls.detach(), model.output.detach()
    return {
        "seed": seed,
        "right": float((attention.argmax(axis=1) == relevant.numpy()).mean()),
        "mean attention": attention[np.arange(len(corpus)), relevant].mean(),
        "|p|": float(p.norm()),
        "|v|": float(v.norm()),
        "cosine": 1 - float(angle_gap(p[None], best.direction)[0]),
    }


def large_step(dim: int, seed: int) -> Row:
    """Check if Theorem A applies for eta_0 = 10,000 near the initial p and at p = 0."""
    problem = one_step_problem(dim, 10_000.0, seed=seed, **SMALL)
    corpus, model = problem.corpus, problem.model.double()
    relevant = relevant_tokens(corpus)
    attention = model.attention(corpus).toarray()
    least = attention[np.arange(len(corpus)), relevant].min()
    near = float(model.cls.detach().norm()) + 0.5
    flow = gradient_flow(model, corpus, max_norm=near, tol=1e-5)
    bounds = certificate(model, corpus, relevant).bounds(flow)
    model.cls.detach().zero_()
    zero = certificate(model, corpus, relevant).level != "none"
    return {
        "d": dim,
        "seed": seed,
        "certain by + 0.5": bool(bounds.isfinite().any()),
        "certain at p = 0": zero,
        "least": round(math.log10(least), 3),
    }


def huge_step(seed: int, dtype: torch.dtype) -> Row:
    """Run the flow up to ‖p‖ = 30,000 for eta_0 = 10,000, and check the selection."""
    problem = one_step_problem(DIM, 10_000.0, seed=seed, dtype=dtype, **SMALL)
    flow = gradient_flow(problem.model, problem.corpus, max_norm=30_000.0, tol=1e-5)
    right = (flow.selected == problem.relevant) & (flow.attention[-1] > 0.5)
    return {
        "draw": str(dtype).removeprefix("torch."),
        "seed": seed,
        "right": float(right.double().mean()),
        "norm": float(flow.norms[-1]),
        "loss fell": bool(flow.loss[-1] < flow.loss[0]),
    }


def stored(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield rows for JSON, with rounded numbers, and with None in place of nan."""
    for row in rows:
        yield {k: None if x != x else x for k, x in rounded(row, 6).items()}


if __name__ == "__main__":
    warnings.simplefilter("ignore", RuntimeWarning)  # a flow that stalls is counted
    types = (torch.float32, torch.float64)
    parts = {
        "variants": (run(name, seed) for name in VARIANTS for seed in SEEDS),
        "output": (with_output(seed) for seed in SEEDS),
        "large step": (large_step(dim, seed) for dim in (256, 4096) for seed in SEEDS),
        "huge step": (huge_step(seed, dtype) for dtype in types for seed in SEEDS),
    }
    run_parts(
        "broken_assumptions/assumptions",
        {name: stored(rows) for name, rows in parts.items()},
    )
