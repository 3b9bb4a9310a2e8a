"""What becomes of the flow after first steps of many sizes: steps.csv.

    python -m sweeps.selection.run_steps

Ten seeds a step, each followed to norm 3,000 (about 15 minutes on one idle core). The
columns are those of `attnsel_book.step_sweep`.
"""

from __future__ import annotations

import itertools
import warnings
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pandas as pd
import torch

from attnsel import certificate, gradient_flow
from attnsel.flow import angle_gap
from attnsel_book import one_step_problem
from attnsel_book.data import result_folder

SIZES: dict[str, Any] = {
    "T31": {"n": 80, "n_tokens": 60, "length": 31, "n_relevant": 4},
    "T8": {"n": 400, "n_tokens": 500, "length": 8},
    "T6": {"n": 80, "n_tokens": 40, "length": 6, "n_relevant": 8},
}
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
    """Take the step, follow p, and tell what was selected."""
    torch.set_num_threads(1)
    name, d, step, seed = run
    problem = one_step_problem(d, float(step), seed=seed, **SIZES[name])
    corpus, model, relevant = problem.corpus, problem.model, problem.relevant
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a flow that stalls
        flow = gradient_flow(model, corpus, max_norm=3000.0, record=[1e3], tol=1e-4)
    proof = certificate(model, corpus, relevant)
    certain = flow.norms[proof.bounds(flow).isfinite()].tolist()
    right = (flow.selected == relevant) & (flow.attention[-1] > 0.5)
    end, early = flow.cls[-1], flow.cls[(flow.norms - 1000).abs().argmin()]
    return {
        "problem": name,
        "d": d,
        "step": step,
        "seed": seed,
        "positive": round(float(right[corpus.signs > 0].double().mean()), 4),
        "negative": round(float(right[corpus.signs < 0].double().mean()), 4),
        "least": round(float(flow.attention[-1].min()), 4),
        "gap": round(proof.gap, 4),
        "certain": round(certain[0], 2) if certain else "",
        "cos": round(1 - float(angle_gap(early[None], end / end.norm())[0]), 5),
    }


def main() -> None:
    with ProcessPoolExecutor() as pool:
        table = pd.DataFrame(pool.map(outcome, RUNS))
    table.to_csv(result_folder("selection") / "steps.csv", index=False)


if __name__ == "__main__":
    main()
