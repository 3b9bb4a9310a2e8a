"""The runs behind the chapter on which step selects: selection.json.

    python -m sweeps.selection.run_selection

Ten seeds of each experiment (about six minutes of one core); the chapter runs one.
Flows after steps of many sizes are in `run_steps.py`.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnsel import AttentionClassifier, Corpus, Vocab, certificate, one_step
from attnsel.flow import Flow, gradient_flow
from attnsel.synthetic import separable_corpus
from attnsel.theory import highest_votes, mean_count, relevant_tokens
from attnsel_book import one_step_problem
from attnsel_book.data import result_folder, store
from attnsel_book.problems import OneStepProblem
from sweeps.selection.run_steps import SIZES

LONG: dict[str, Any] = {"n": 80, "n_tokens": 60, "length": 31, "n_relevant": 4}
SMALL: dict[str, Any] = {"n": 80, "n_tokens": 40, "length": 6, "n_relevant": 8}
DIM, MAX_NORM, SEEDS = 2048, 300.0, range(10)
Rows = list[dict[str, Any]]


def shares(flow: Flow, corpus: Corpus, relevant: Tensor) -> list[float]:
    """Return the share of each class, positive first, that selects rightly."""
    right = (flow.selected == relevant) & (flow.attention[-1] > 0.5)
    return [float(right[corpus.signs == y].double().mean()) for y in (1, -1)]


def weaken(model: AttentionClassifier, c: float) -> AttentionClassifier:
    """Return the same values and scores, with c times the common part along v."""
    weak = copy.deepcopy(model).double()
    E, p, v = (x.detach() for x in (weak.embeddings, weak.cls, weak.output))
    along = v / v.norm()
    E += (c - 1) * torch.outer(E @ along, along)
    p += (1 / c - 1) * (p @ along) * along
    v /= c
    return weak


def weaken_other(model: AttentionClassifier, c: float, seed: int) -> Any:
    """Return c times the part along a random direction orthogonal to p and v.

    The null of `weaken`: here, too, all values and scores stay as they are.
    """
    weak = copy.deepcopy(model).double()
    E, p, v = (x.detach() for x in (weak.embeddings, weak.cls, weak.output))
    random = torch.Generator().manual_seed(seed)
    drawn = torch.randn(len(p), generator=random).double()
    along = torch.linalg.qr(torch.stack([p, v, drawn], dim=1)).Q[:, 2]
    E += (c - 1) * torch.outer(E @ along, along)
    return weak


def weakened_elsewhere() -> Rows:
    """Follow runs in the window with less of a random direction, the null."""
    rows = []
    for lr in (300, 1000):
        for seed in SEEDS:
            problem = one_step_problem(DIM, lr, seed=seed, **LONG)
            weak = weaken_other(problem.model, 0.1, seed)
            known: dict[str, Any] = {"max_norm": MAX_NORM, "tol": 1e-4}
            flow = gradient_flow(weak, problem.corpus, **known)
            plus, minus = shares(flow, problem.corpus, problem.relevant)
            run = {"step": lr, "seed": seed, "c": 0.1}
            rows.append(run | {"positive": plus, "negative": minus})
    return rows


def no_step() -> Rows:
    """Follow p on embeddings as they were drawn, whose values are noise: the null."""
    rows = []
    runs = [("T31", d) for d in (512, 2048, 32_768)] + [("T8", 2048), ("T6", 256)]
    for name, d in runs:
        for seed in SEEDS:
            problem = one_step_problem(d, 0.0, seed=seed, **SIZES[name])
            flow = gradient_flow(
                problem.model, problem.corpus, max_norm=3000.0, tol=1e-4
            )
            plus, minus = shares(flow, problem.corpus, problem.relevant)
            row: dict[str, Any] = {"problem": name, "d": d, "seed": seed}
            row |= {"positive": plus, "negative": minus}
            row |= {"norm": round(float(flow.norms[-1]), 1)}
            rows.append(row | by_sign(problem, flow))
            print(rows[-1], flush=True)
    return rows


def by_sign(problem: OneStepProblem, flow: Flow) -> dict[str, int]:
    """Count sequences whose relevant token votes for the label, and what they select.

    "selected" are those of the "votes for"; "selected against" those of the others.
    """
    values = (problem.model.embeddings @ problem.model.output).detach()
    votes = problem.corpus.signs * values[problem.relevant] > 0
    right = (flow.selected == problem.relevant) & (flow.attention[-1] > 0.5)
    return {
        "votes for": int(votes.sum()),
        "selected": int((right & votes).sum()),
        "selected against": int((right & ~votes).sum()),
    }


def weakened() -> Rows:
    """Follow runs in the window with less and less of the common part."""
    rows = []
    for lr in (300, 1000):
        for seed in SEEDS:
            problem = one_step_problem(DIM, lr, seed=seed, **LONG)
            for c in (1.0, 0.5, 0.1):
                weak = weaken(problem.model, c)
                known: dict[str, Any] = {"max_norm": MAX_NORM, "tol": 1e-4}
                flow = gradient_flow(weak, problem.corpus, **known)
                plus, minus = shares(flow, problem.corpus, problem.relevant)
                run = {"step": lr, "seed": seed, "c": c}
                rows.append(run | {"positive": plus, "negative": minus})
    return rows


def limit_model(
    corpus: Corpus, lr: float, dim: float = np.inf, seed: int = 0
) -> AttentionClassifier:
    """Return the limit of large d, with fluctuations of size dim**-0.5 around it."""
    beta = mean_count(corpus, corpus.signs.double() / corpus.lengths)
    V = len(beta)
    model = AttentionClassifier(V, V + 2, dtype=torch.float64)
    E, p, v = (x.detach() for x in (model.embeddings, model.cls, model.output))
    random = torch.Generator().manual_seed(seed)
    E.copy_(torch.randn(E.shape, generator=random) / dim**0.5)
    E += torch.eye(V, V + 2)
    E[:, V] += lr / 2 * beta
    v.copy_(torch.eye(V + 2)[V])
    p.copy_(torch.eye(V + 2)[V + 1] if dim < np.inf else torch.zeros(V + 2))
    return model


def limits() -> Rows:
    """Follow the limit flow at step 300 with fluctuations as at some dimensions."""
    rows = []
    for dim in (1e4, 1e6, 1e8, np.inf):
        for seed in SEEDS:
            corpus = separable_corpus(**LONG, seed=seed)
            model = limit_model(corpus, 300.0, dim, seed)
            flow = gradient_flow(model, corpus, max_norm=60.0, tol=1e-4)
            plus, minus = shares(flow, corpus, relevant_tokens(corpus))
            run = {"d": dim if dim < np.inf else None, "seed": seed}
            rows.append(run | {"positive": plus, "negative": minus})
    return rows


def early() -> Rows:
    """Ask the certificate right after a large step on the small problem."""
    rows = []
    for lr in (2000, 4000, 8000):
        for seed in SEEDS:
            problem = one_step_problem(65_536, float(lr), seed=seed, **SMALL)
            proof = certificate(problem.model, problem.corpus, problem.relevant)
            excess = float(np.exp(proof.log_excess) / proof.selection_level)
            run: dict[str, Any] = {"step": lr, "seed": seed}
            run |= {"excess over the level": round(excess, 5)}
            theta = None if np.isnan(proof.theta) else round(float(proof.theta), 5)
            rows.append(run | {"level": proof.level, "theta": theta})
    return rows


def trap() -> Rows:
    """Follow the twenty sequences of Theorem E at a finite dimension."""
    plain = list(range(4, 34))
    owners = [0] * 5 + [1] * 5 + [2] * 6 + [3] * 4
    names = ["+a", "+b", "-six", "-four", *(f"plain_{i}" for i in range(30))]
    texts, labels = [[r, *plain] for r in owners], [1] * 10 + [0] * 10
    twenty = Corpus.from_tokens(texts, labels, Vocab(names))
    rows = []
    for lr in (1240, 20_000):
        for seed in SEEDS:
            start = AttentionClassifier(len(names), DIM, seed=seed)
            model = one_step(start, twenty, lr=float(lr))
            flow = gradient_flow(model, twenty, max_norm=30.0, tol=1e-5)
            plus, minus = shares(flow, twenty, relevant_tokens(twenty))
            run = {"step": lr, "seed": seed}
            rows.append(run | {"positive": plus, "negative": minus})
    return rows


def several() -> Rows:
    """Ask for the selection of the highest of two relevant tokens a sequence."""
    rows = []
    for seed in SEEDS:
        problem = one_step_problem(256, seed=seed, per_sequence=2, **SMALL)
        corpus, model = problem.corpus, problem.model
        flow = gradient_flow(model, corpus, max_norm=300.0, tol=1e-5)
        highest = highest_votes(corpus, model.embeddings @ model.output)
        proof = certificate(model, corpus, highest)
        certain = flow.norms[proof.bounds(flow).isfinite()]
        run = {"seed": seed, "gap": round(float(proof.gap), 6)}
        run |= {"certain": round(float(certain[0]), 3)}
        rows.append(run | {"won": bool((flow.selected == highest).all())})
    return rows


def main() -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", RuntimeWarning)  # a flow that stalls
    parts = {
        "weakened": weakened(),
        "weakened elsewhere": weakened_elsewhere(),
        "no step": no_step(),
        "limit": limits(),
        "early": early(),
        "trap": trap(),
        "several": several(),
    }
    store(result_folder("selection") / "selection.json", parts)


if __name__ == "__main__":
    main()
