"""The runs behind the chapter *When does attention fail?*, in `selection.json`.

    python -m sweeps.selection.run_selection

The script runs ten seeds of each experiment, which takes about six minutes on one core.
The script `run_steps.py` runs flows after first steps of many sizes.
"""

import copy
import warnings
from collections.abc import Iterator

import numpy as np
import torch

from attnsel import AttentionClassifier, Corpus, Vocab, certificate, one_step
from attnsel.flow import Flow, gradient_flow
from attnsel.synthetic import separable_corpus
from attnsel.theory import highest_votes, mean_count, relevant_tokens
from attnsel_book import one_step_problem
from attnsel_book.problems import OneStepProblem
from sweeps.common import SIZES, Row, run_parts, shares

DIM, SEEDS = 2048, range(10)
Runs = Iterator[Row]


def followed(model: AttentionClassifier, corpus: Corpus, max_norm: float) -> Row:
    """Run the flow; return the share of sequences that select correctly, by class."""
    flow = gradient_flow(model, corpus, max_norm=max_norm, tol=1e-4)
    return shares(flow, corpus, relevant_tokens(corpus))


def weaken(
    model: AttentionClassifier, c: float, seed: int | None = None
) -> AttentionClassifier:
    """Scale the part of E along v by `c` in a copy of a model; keep values and scores.

    With a `seed`, the part of E along a random direction orthogonal to p and v is
    scaled instead, as a control.
    """
    weak = copy.deepcopy(model).double()
    E, p, v = (x.detach() for x in (weak.embeddings, weak.cls, weak.output))
    along = v / v.norm()
    if seed is not None:
        random = torch.Generator().manual_seed(seed)
        drawn = torch.randn(len(p), generator=random).double()
        along = torch.linalg.qr(torch.stack([p, v, drawn], dim=1)).Q[:, 2]
    E += (c - 1) * torch.outer(E @ along, along)
    if seed is None:
        p += (1 / c - 1) * (p @ along) * along
        v /= c
    return weak


def weakened(factors: tuple[float, ...], elsewhere: bool) -> Runs:
    """Run flows on models from `weaken`, for two step sizes in the failure window."""
    for lr in (300, 1000):
        for seed in SEEDS:
            problem = one_step_problem(DIM, lr, seed=seed, **SIZES["T31"])
            for c in factors:
                weak = weaken(problem.model, c, seed if elsewhere else None)
                row = {"step": lr, "seed": seed, "c": c}
                yield row | followed(weak, problem.corpus, 300.0)


def no_step() -> Runs:
    """Run the flow on random embeddings, whose values are noise, as a control."""
    runs = [("T31", d) for d in (512, 2048, 32_768)] + [("T8", 2048), ("T6", 256)]
    for name, d in runs:
        for seed in SEEDS:
            problem = one_step_problem(d, 0.0, seed=seed, **SIZES[name])
            flow = gradient_flow(
                problem.model, problem.corpus, max_norm=3000.0, tol=1e-4
            )
            row: Row = {"problem": name, "d": d, "seed": seed}
            row |= shares(flow, problem.corpus, problem.relevant)
            row |= {"norm": round(float(flow.norms[-1]), 1)}
            yield row | by_sign(problem, flow)


def by_sign(problem: OneStepProblem, flow: Flow) -> dict[str, int]:
    """Count sequences by the vote of the relevant token, and by its selection.

    In "votes for", the relevant token votes for the label. In "selected", it does so
    and is selected. In "selected against", it is selected without such a vote.
    """
    values = (problem.model.embeddings @ problem.model.output).detach()
    votes = problem.corpus.signs * values[problem.relevant] > 0
    right = (flow.selected == problem.relevant) & (flow.attention[-1] > 0.5)
    return {
        "votes for": int(votes.sum()),
        "selected": int((right & votes).sum()),
        "selected against": int((right & ~votes).sum()),
    }


def limit_model(
    corpus: Corpus, lr: float, dim: float = np.inf, seed: int = 0
) -> AttentionClassifier:
    """Return the limit model for large d, with noise of size dim**-0.5 added to E."""
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


def limits() -> Runs:
    """Run the flow of `limit_model` for eta_0 = 300 and noise of several sizes."""
    for dim in (1e4, 1e6, 1e8, np.inf):
        for seed in SEEDS:
            corpus = separable_corpus(**SIZES["T31"], seed=seed)
            run = {"d": dim if dim < np.inf else None, "seed": seed}
            yield run | followed(limit_model(corpus, 300.0, dim, seed), corpus, 60.0)


def early() -> Runs:
    """Yield the certificates right after large first steps on the corpus T6."""
    for lr in (2000, 4000, 8000):
        for seed in SEEDS:
            problem = one_step_problem(65_536, float(lr), seed=seed, **SIZES["T6"])
            proof = certificate(problem.model, problem.corpus, problem.relevant)
            excess = float(np.exp(proof.log_excess) / proof.selection_level)
            theta = None if np.isnan(proof.theta) else round(float(proof.theta), 5)
            yield {
                "step": lr,
                "seed": seed,
                "excess over the level": round(excess, 5),
                "level": proof.level,
                "theta": theta,
            }


def trap() -> Runs:
    """Run the flow on the twenty sequences of Theorem E at a finite dimension."""
    plain = list(range(4, 34))
    owners = [0] * 5 + [1] * 5 + [2] * 6 + [3] * 4
    names = ["+a", "+b", "-six", "-four", *(f"plain_{i}" for i in range(30))]
    texts, labels = [[r, *plain] for r in owners], [1] * 10 + [0] * 10
    twenty = Corpus.from_tokens(texts, labels, Vocab(names))
    for lr in (1240, 20_000):
        for seed in SEEDS:
            start = AttentionClassifier(len(names), DIM, seed=seed)
            model = one_step(start, twenty, lr=float(lr))
            flow = gradient_flow(model, twenty, max_norm=30.0, tol=1e-5)
            run = {"step": lr, "seed": seed}
            yield run | shares(flow, twenty, relevant_tokens(twenty))


def two_relevant() -> Runs:
    """Run flows on two relevant tokens per sequence; check if the higher vote wins."""
    for seed in SEEDS:
        problem = one_step_problem(256, seed=seed, per_sequence=2, **SIZES["T6"])
        corpus, model = problem.corpus, problem.model
        flow = gradient_flow(model, corpus, max_norm=300.0, tol=1e-5)
        highest = highest_votes(corpus, model.embeddings @ model.output)
        proof = certificate(model, corpus, highest)
        certain = flow.norms[proof.bounds(flow).isfinite()]
        yield {
            "seed": seed,
            "gap": round(float(proof.gap), 6),
            "certain": round(float(certain[0]), 3),
            "won": bool((flow.selected == highest).all()),
        }


if __name__ == "__main__":
    warnings.simplefilter("ignore", RuntimeWarning)  # a flow that stalls
    parts = {
        "weakened": weakened((1.0, 0.5, 0.1), elsewhere=False),
        "weakened elsewhere": weakened((0.1,), elsewhere=True),
        "no step": no_step(),
        "limit": limits(),
        "early": early(),
        "trap": trap(),
        "several": two_relevant(),
    }
    run_parts("selection/selection", parts)
