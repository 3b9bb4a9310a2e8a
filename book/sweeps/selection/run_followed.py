"""Runs of the flow to large norms of p, stored in `followed.json`.

    python -m sweeps.selection.run_followed

The script takes about eight minutes. The part "lost" repeats each run of `steps.csv`
that loses a class, up to ‖p‖ = 30,000. The part "pairs" contains runs on corpora with
one relevant token per class, and "pairs, limit" the flow of `limit_model` on the same
corpora.
"""

import warnings
from collections.abc import Iterator

import torch

from attnsel import gradient_flow
from attnsel.flow import Flow, angle_gap
from attnsel.synthetic import separable_corpus
from attnsel_book import one_step_problem, step_sweep
from attnsel_book.problems import OneStepProblem
from sweeps.common import SIZES, Row, run_parts, shares
from sweeps.selection.run_selection import followed, limit_model

NORMS = (1_000.0, 3_000.0, 10_000.0, 30_000.0)
PAIRS: Row = SIZES["T31"] | {"n_relevant": 2}
STEPS = (100, 200, 300, 500, 700, 1000, 2000, 3000, 6000)


def on_the_way(flow: Flow) -> Row:
    """Return changes of the selection and of the direction of p along a flow.

    A selection changes after a norm if, at this norm, the token that is selected at the
    end has less than half of the attention. The cosine compares this p with the last p.
    """
    end = flow.cls[-1] / flow.cls[-1].norm()
    row: Row = {}
    for norm in NORMS[:-1]:
        at = int((flow.norms - norm).abs().argmin())
        row[f"change after {norm:.0f}"] = int((flow.attention[at] < 0.5).sum())
        gap = float(angle_gap(flow.cls[at][None], end)[0])
        row[f"cos from {norm:.0f}"] = round(1 - gap, 6)
    late = (flow.attention < 0.5).any(dim=1).nonzero()
    row["last change"] = round(float(flow.norms[late[-1, 0]]), 1)
    return row


def far(d: int, step: float, seed: int, sizes: Row) -> tuple[Flow, OneStepProblem]:
    """Return the flow to ‖p‖ = 30,000 on a one-step problem, and the problem."""
    problem = one_step_problem(d, step, seed=seed, **sizes)
    known: Row = {"max_norm": NORMS[-1], "record": NORMS[:-1], "tol": 1e-4}
    return gradient_flow(problem.model, problem.corpus, **known), problem


def lost() -> Iterator[Row]:
    """Repeat each run of `steps.csv` that loses a class, up to ‖p‖ = 30,000."""
    runs = step_sweep().query("lost")[["problem", "d", "step", "seed"]]
    for name, d, step, seed in runs.itertuples(index=False):
        flow, problem = far(d, float(step), seed, SIZES[name])
        row = {"problem": name, "d": d, "step": step, "seed": seed}
        row |= shares(flow, problem.corpus, problem.relevant)
        yield row | {"end": round(float(flow.norms[-1]), 1)} | on_the_way(flow)


def pairs() -> Iterator[Row]:
    """Run flows on corpora with two relevant tokens, one per class."""
    kinds = [(2048, step, seed) for step in STEPS for seed in range(10)]
    kinds += [(32_768, step, seed) for step in (300, 500) for seed in range(3)]
    for d, step, seed in kinds:
        flow, problem = far(d, float(step), seed, PAIRS)
        row: Row = {"d": d, "step": step, "seed": seed}
        row |= shares(flow, problem.corpus, problem.relevant)
        yield row | {"gap": round(value_gap(problem), 4)}


def value_gap(problem: OneStepProblem) -> float:
    """Return the smallest value gap among the sequences of a problem."""
    corpus, values = problem.corpus, problem.model.embeddings @ problem.model.output
    held = torch.from_numpy(corpus.counts.toarray() > 0)
    held[torch.arange(len(corpus)), problem.relevant] = False
    votes = corpus.signs[:, None] * values.detach()
    best = votes[torch.arange(len(corpus)), problem.relevant]
    others = votes.where(held, votes.new_tensor(-torch.inf)).amax(dim=1)
    return float((best - others).min())


def limits() -> Iterator[Row]:
    """Run the flow of `limit_model` to ‖p‖ = 60 on the corpora of `pairs`."""
    for step in (300.0, 500.0):
        for seed in range(10):
            corpus = separable_corpus(**PAIRS, seed=seed)
            row = {"step": step, "seed": seed}
            yield row | followed(limit_model(corpus, step), corpus, 60.0)


if __name__ == "__main__":
    warnings.simplefilter("ignore", RuntimeWarning)  # a flow that stalls
    parts = {"pairs": pairs(), "pairs, limit": limits(), "lost": lost()}
    run_parts("selection/followed", parts)
