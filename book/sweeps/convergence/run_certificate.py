"""A comparison of the bound of Theorem A with the flow in nine runs.

    python -m sweeps.convergence.run_certificate

The script takes a few seconds on one core and writes `certified.json`. The book's page
`convergence_details` repeats two of the runs.
"""

import torch

from attnsel import certificate, gradient_flow
from attnsel.flow import angle_gap
from attnsel_book import one_step_problem
from attnsel_book.results import result_folder, store
from sweeps.common import SIZES

SETTINGS = [("T8", 2048, 100.0, 1), ("T8", 2048, 100.0, 2)]
SETTINGS += [("T8", 2048, 50.0, 0), ("T8", 2048, 200.0, 0)]
SETTINGS += [("T6", 256, 100.0, seed) for seed in range(4)]
SETTINGS += [("T6", 1024, 30.0, 0)]


def run(name: str, dim: int, lr: float, seed: int) -> dict[str, float]:
    """Run the flow to ‖p‖ = 3,000; compare 1 - cos(p, u) with Theorem A's bound."""
    problem = one_step_problem(dim, lr, seed=seed, **SIZES[name])
    flow = gradient_flow(problem.model, problem.corpus, tol=1e-4)
    proof = certificate(problem.model, problem.corpus, problem.relevant)
    limit, miss = proof.bounds(flow), angle_gap(flow.cls, problem.best.direction)
    begin = flow.norms[limit.isfinite()][0]
    return {
        "n": SIZES[name]["n"],
        "d": dim,
        "seed": seed,
        "step": lr,
        "certain from norm": float(f"{float(begin):.5g}"),
        "share": float(f"{float((miss / limit).max()):.5g}"),
        "1 - cos": float(f"{float(miss[-1]):.5g}"),
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    rows = [run(*setting) for setting in SETTINGS]
    store(result_folder("convergence") / "certified.json", rows)
