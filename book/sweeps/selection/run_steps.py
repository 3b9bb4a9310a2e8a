"""Outcomes of the flow after first steps of many sizes, stored in `steps.csv`.

    python -m sweeps.selection.run_steps

Each step size has ten seeds or more, and the flow runs to ‖p‖ = 3,000. The script takes
about 15 minutes on one idle core. `attnsel_book.step_sweep` describes the columns.
"""

import itertools
import warnings
from concurrent.futures import ProcessPoolExecutor

import pandas as pd
import torch

from attnsel import certificate, gradient_flow
from attnsel_book import one_step_problem
from attnsel_book.results import result_folder
from sweeps.common import SIZES, rounded, shares

MANY = (50, 100, 150, 200, 250, 300, 500, 700, 1000, 1500, 2000, 3000, 6000)
FEW = (100, 200, 300, 1000, 2000, 6000)
EIGHT = (100, 200, 300, 400, 500, 700, 1000, 1500, 2000, 3000)
SIX = (1, 10, 30, 50, 100, 150, 200, 300, 400, 500, 700, 1000, 2000, 3000, 5000)
RUNS = [
    *itertools.product(["T31"], [2048], MANY, range(10)),
    *itertools.product(["T31"], [512, 32768], FEW, range(10)),
    *itertools.product(["T31"], [32768], [300], range(10, 13)),
    *itertools.product(["T8"], [2048], EIGHT, range(10)),
    *itertools.product(["T6"], [256], SIX, range(10)),
]


def outcome(run: tuple[str, int, int, int]) -> dict[str, object]:
    """Take the first step of a run, run the flow of p, and return the outcome."""
    torch.set_num_threads(1)
    name, d, step, seed = run
    problem = one_step_problem(d, float(step), seed=seed, **SIZES[name])
    corpus, model, relevant = problem.corpus, problem.model, problem.relevant
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a flow that stalls
        flow = gradient_flow(model, corpus, max_norm=3000.0, record=[1e3], tol=1e-4)
    proof = certificate(model, corpus, relevant)
    certain = flow.norms[proof.bounds(flow).isfinite()].tolist()
    return {
        "problem": name,
        "d": d,
        "step": step,
        "seed": seed,
        **rounded(shares(flow, corpus, relevant)),
        "gap": round(proof.gap, 4),
        "certain": round(certain[0], 2) if certain else "",
    }


if __name__ == "__main__":
    with ProcessPoolExecutor() as pool:
        table = pd.DataFrame(pool.map(outcome, RUNS))
    table.to_csv(result_folder("selection") / "steps.csv", index=False)
