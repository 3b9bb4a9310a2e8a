"""The runs behind the chapter "Which margin does your optimizer find?".

    python benchmarks/optimizers.py shares sizes epsilon rotations dims joint lost bend

Each part named is run and kept in `attnsel/book/optimizers.json`, which the chapter
reads; the other parts of the file stay. On one core `lost` takes about a
minute a draw, `shares` about five minutes, the other parts a minute or less.

An optimizer is followed on p alone. The gradient is computed as in
`attnsel.log_domain`: differences to the token with the most attention, a common factor
kept as a logarithm, so that its direction is exact at any lead; Adam's second moment is
kept as a logarithm, too.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from scipy.optimize import linprog
from scipy.special import expit

import attnsel
from attnsel import Corpus
from attnsel.book import leaning_corpus, one_step_problem
from attnsel.book.data import store
from attnsel.book.problems import OneStepProblem
from attnsel.model import logistic_loss, score_gradient
from attnsel.statistics import shape
from attnsel.theory import posterior_difference

OUT = Path(__file__).resolve().parent.parent / "attnsel" / "book" / "optimizers.json"
SMALL: dict[str, Any] = {"n": 80, "n_tokens": 40, "length": 6, "n_relevant": 8}
SHORT: dict[str, Any] = {"n": 400, "n_tokens": 500, "length": 8}
SEEDS = range(5)
State = dict[str, Any]
Rule = Callable[[int, np.ndarray, np.ndarray, State], np.ndarray]


@dataclass
class Tasks:
    """S losses in p, each with embeddings E (S, V, d) and sequences X (S, n, T).

    Labels y (S, n), values b (S, V), where p starts (S, d), and the pairs of a selected
    and another token, (S, pairs, 2), the first one repeated where there are fewer.
    """

    E: np.ndarray
    X: np.ndarray
    y: np.ndarray
    b: np.ndarray
    p: np.ndarray
    pairs: np.ndarray
    kept: dict[int, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    def gathered(self, L: int) -> tuple[np.ndarray, np.ndarray]:
        """Return where X is in scores (S, L, V), and b there, (S, L, n, T)."""
        if L not in self.kept:
            S, V = self.b.shape
            X = np.repeat(self.X[:, None], L, axis=1)
            flat = X + V * np.arange(S * L).reshape(S, L, 1, 1)
            self.kept[L] = flat, np.repeat(self.b, L, axis=0).ravel()[flat]
        return self.kept[L]

    def differences(self, i: int = 0) -> np.ndarray:
        """Return E_r - E_s of the pairs of one task, (pairs, d)."""
        r, s = self.pairs[i].T
        return self.E[i][r] - self.E[i][s]


def task_of(problem: OneStepProblem) -> Tasks:
    """Return the task of a corpus with sequences of one length and a model."""
    counts, model = problem.corpus.counts, problem.model
    repeats = counts.data.astype(int)
    X = np.repeat(counts.indices, repeats).reshape(len(problem.corpus), -1)
    E, p, v = (x.detach().double().numpy() for x in model.parameters())
    r = np.repeat(problem.relevant.numpy(), X.shape[1])
    pairs = np.unique(np.stack([r, X.ravel()], 1)[r != X.ravel()], axis=0)
    y = problem.corpus.signs.double().numpy()
    E, X, y, b, p, pairs = (x[None] for x in (E, X, y, E @ v, p, pairs))
    return Tasks(E, X, y, b, p, pairs)


def together(tasks: Sequence[Tasks]) -> Tasks:
    """Join tasks of equal sizes."""
    most = max(task.pairs.shape[1] for task in tasks)
    for task in tasks:
        missing = most - task.pairs.shape[1]
        first = np.repeat(task.pairs[:, :1], missing, axis=1)
        task.pairs = np.concatenate([task.pairs, first], axis=1)
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(task, name) for task in tasks])
        for name in ("E", "X", "y", "b", "p", "pairs")
    }
    return Tasks(**joined)


def gradient(tasks: Tasks, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return -dL/da over a factor, for scores a (S, L, V), and the factor's log."""
    flat, b = tasks.gathered(a.shape[1])
    at = a.ravel()[flat]
    top = at.argmax(-1)[..., None]
    behind = at - np.take_along_axis(at, top, -1)  # log of q_i / q_top
    np.put_along_axis(behind, top, -np.inf, -1)
    scale = behind.max((-1, -2), keepdims=True)
    odds = np.exp(behind - scale)
    q_top = 1 / (1 + odds.sum(-1, keepdims=True) * np.exp(scale))
    b_top = np.take_along_axis(b, top, -1)
    gap = b - b_top
    shift = (odds * gap).sum(-1, keepdims=True) * q_top  # f - b_top, scaled
    true_shift = shift * np.exp(scale)
    y = tasks.y[:, None, :, None]
    weight = y * expit(-y * (b_top + true_shift)) * q_top
    pull = weight * odds * (gap - true_shift)
    np.put_along_axis(pull, top, -weight * shift, -1)
    pulls = np.bincount(flat.ravel(), pull.ravel(), a.size).reshape(a.shape)
    return pulls / at.shape[2], scale[..., 0]


def normalized(eta: float) -> Rule:
    return lambda t, u, log_norm, state: eta * u


def sign(eta: Any) -> Rule:
    return lambda t, u, log_norm, state: eta * np.sign(u)


def coordinate(eta: float) -> Rule:
    def rule(t: int, u: np.ndarray, log_norm: np.ndarray, state: State) -> np.ndarray:
        largest = np.abs(u).argmax(-1)[..., None]
        step = np.zeros_like(u)
        up = np.sign(np.take_along_axis(u, largest, -1))
        np.put_along_axis(step, largest, eta * up, -1)
        return step

    return rule


def adam(eta: Any, beta2: Any = 0.999, eps: Any = 0.0) -> Rule:
    """Adam with beta1 = 0.9; numbers, or arrays (L, 1) of one for each run.

    `state` holds m / norm, log norm, v / e^scale, scale, and log of root v-hat.
    """
    with np.errstate(divide="ignore"):
        log_eps = np.log(eps)

    def rule(t: int, u: np.ndarray, log_norm: np.ndarray, state: State) -> np.ndarray:
        m, log_new = 0.1 * u, 2 * log_norm + np.log(1 - beta2)
        scale, v = log_new, u**2
        if t > 1:
            m = m + 0.9 * state["m"] * np.exp(state["log_norm"] - log_norm)
            log_old = state["scale"] + np.log(beta2)
            scale = np.maximum(log_new, log_old)
            v = v * np.exp(log_new - scale) + state["v"] * np.exp(log_old - scale)
        half = (scale - np.log(1 - beta2**t)) / 2
        state.update(m=m, log_norm=log_norm, v=v, scale=scale, half=half)
        root = np.sqrt(v) + np.exp(log_eps - half)
        return eta * np.exp(log_norm - half) * m / (1 - 0.9**t) / root

    return rule


def path(
    tasks: Tasks, rule: Rule, most: int, L: int = 1
) -> Iterator[tuple[int, np.ndarray, State]]:
    """Take steps, L runs a task; yield how many, p (S, L, d), and the rule's state.

    The scores of the tokens, (S, L, V), are `state["a"]`.
    """
    p = np.repeat(tasks.p[:, None], L, axis=1)
    state: State = {"a": scores(tasks, p)}
    for t in range(1, most + 1):
        pulls, scale = gradient(tasks, state["a"])
        descent = product(pulls, tasks.E)
        size = np.linalg.norm(descent, axis=-1, keepdims=True)
        p = p + rule(t, descent / size, scale + np.log(size), state)
        state["a"] = scores(tasks, p)
        yield t, p, state


def scores(tasks: Tasks, p: np.ndarray) -> np.ndarray:
    return product(p, tasks.E.transpose(0, 2, 1))


def product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return x @ y in the precision of y, as float64; torch is faster at it."""
    left = torch.from_numpy(x.astype(y.dtype))
    return (left @ torch.from_numpy(y)).double().numpy()


def leads(tasks: Tasks, a: np.ndarray) -> np.ndarray:
    """Return the least lead of each run, (S, L)."""
    r, s = (tasks.pairs[:, None, :, k] for k in (0, 1))
    ahead = np.take_along_axis(a, np.broadcast_to(r, (*a.shape[:2], r.shape[2])), -1)
    behind = np.take_along_axis(a, np.broadcast_to(s, (*a.shape[:2], r.shape[2])), -1)
    return (ahead - behind).min(-1)


def margin(D: np.ndarray, norm: str) -> tuple[float, np.ndarray]:
    """Return the greatest least lead at norm 1, and p, for "l1" or "linf" by an LP."""
    n, d = D.shape
    if norm == "linf":
        A = np.c_[-D, np.ones(n)]
        bounds: list[Any] = [(-1, 1)] * d + [(None, None)]
        answer = linprog(np.r_[np.zeros(d), -1], A, np.zeros(n), bounds=bounds)
        return answer.x[-1], answer.x[:-1]
    A = np.c_[-D, D, np.ones(n)]
    A = np.r_[A, [np.r_[np.ones(2 * d), 0]]]
    bounds = [(0, None)] * (2 * d) + [(None, None)]
    answer = linprog(
        np.r_[np.zeros(2 * d), -1], A, np.r_[np.zeros(n), 1], bounds=bounds
    )
    return answer.x[-1], answer.x[:d] - answer.x[d:-1]


@dataclass
class Margins:
    """The three optimal margins of a task, and unit vectors that attain them."""

    margins: dict[str, float]
    directions: dict[str, np.ndarray]

    def of(self, p: np.ndarray, least: float) -> dict[str, float]:
        """Return the shares of the margins and the cosines of a p with this lead."""
        norms = {
            "l2": np.linalg.norm(p),
            "linf": np.abs(p).max(),
            "l1": np.abs(p).sum(),
        }
        found = {k: least / norms[k] / self.margins[k] for k in norms}
        return found | {
            f"cos {k}": float(p @ u) / norms["l2"] for k, u in self.directions.items()
        }


def margins(problem: OneStepProblem, task: Tasks) -> Margins:
    """Solve the QP and both LPs."""
    best = problem.best
    found, directions = {"l2": best.margin}, {"l2": best.direction.numpy()}
    for norm in ("linf", "l1"):
        found[norm], x = margin(task.differences(), norm)
        directions[norm] = x / np.linalg.norm(x)
    return Margins(found, directions)


def small(seed: int, dim: int = 256) -> OneStepProblem:
    return one_step_problem(dim, seed=seed, dtype=torch.float64, **SMALL)


def weighted_cosine(problem: OneStepProblem, p: np.ndarray, v: np.ndarray) -> float:
    """Return the cosine of p to the margin in the norm of sum_j root(v_j) p_j^2."""
    weights = (v / v.mean()) ** 0.25
    scaled = problem.model.embeddings.detach() / torch.from_numpy(weights)
    best = attnsel.max_margin(scaled, problem.corpus, problem.relevant)
    u = best.direction.numpy() / weights
    return float(p @ u / np.linalg.norm(p) / np.linalg.norm(u))


@dataclass
class Setting:
    """The small problem with five seeds."""

    problems: list[OneStepProblem]
    tasks: Tasks
    known: list[Margins]


@cache
def setting() -> Setting:
    problems = [small(seed) for seed in SEEDS]
    each = [task_of(problem) for problem in problems]
    known = [margins(*both) for both in zip(problems, each, strict=True)]
    return Setting(problems, together(each), known)


def shares_at(
    names: list[str], rule: Rule, goals: list[list[float]], most: int
) -> list[dict[str, Any]]:
    """Follow runs; a row each time that the lead of one first reaches a goal of its."""
    tasks, rows = setting().tasks, []
    ahead = {(i, k): list(goals[k]) for i in SEEDS for k in range(len(names))}
    for t, p, state in path(tasks, rule, most, len(names)):
        least = leads(tasks, state["a"])
        for (i, k), left in ahead.items():
            if left and least[i, k] >= left[0]:
                row: dict[str, Any] = {"optimizer": names[k], "seed": i}
                row |= {"lead": left.pop(0)}
                row |= {"steps": t} | setting().known[i].of(p[i, k], least[i, k])
                if "v" in state:
                    v = state["v"][i, k]
                    row["cos root v"] = weighted_cosine(
                        setting().problems[i], p[i, k], v
                    )
                rows.append(told(row))
        if not any(ahead.values()):
            return rows
    raise RuntimeError(f"{names}: not all leads are reached, left {ahead}")


FAR = [3.0, 10.0, 30.0, 100.0, 300.0]


def column(*numbers: float) -> np.ndarray:
    return np.array(numbers)[:, None]


def shares() -> list[dict[str, Any]]:
    """Follow nine optimizers on five draws."""
    found = [
        {"optimizer": "margin", "seed": i} | setting().known[i].margins for i in SEEDS
    ]
    found += shares_at(["normalized .1"], normalized(0.1), [FAR], 20_000)
    found += shares_at(["sign .01"], sign(0.01), [FAR], 20_000)
    found += shares_at(["coordinate .1"], coordinate(0.1), [FAR], 100_000)
    names = ["Adam .01, beta2 .9"]
    found += shares_at(names, adam(0.01, 0.9), [FAR], 20_000)
    names = [
        "Adam .01, beta2 .99",
        "Adam .01, beta2 .995",
        "Adam .003, beta2 .997",
        "Adam .001, beta2 .99",
    ]
    rule = adam(column(0.01, 0.01, 0.003, 0.001), column(0.99, 0.995, 0.997, 0.99))
    found += shares_at(names, rule, [FAR, FAR, FAR[:4], FAR], 150_000)
    names = ["Adam .01, beta2 .999"]
    found += shares_at(names, adam(0.01), [FAR[:3]], 80_000)
    return found


def sizes() -> list[dict[str, Any]]:
    """Take sign steps of seven fixed sizes up to a lead of 300."""
    etas = (0.003, 0.01, 0.02, 0.03, 0.05, 0.1, 0.3)
    names = [f"{eta:g}" for eta in etas]
    rows = shares_at(names, sign(column(*etas)), [[300.0]] * len(etas), 40_000)
    for row in rows:
        D = setting().tasks.differences(row["seed"])
        row["M"] = float(np.abs(D).sum(1).max())
        row["margin"] = setting().known[row["seed"]].margins["linf"]
    return rows


def epsilon() -> list[dict[str, Any]]:
    """Follow Adam with its defaults until the median of root v is a tenth of epsilon.

    `norm` and `lead` are those where the median is epsilon. From where the steps end,
    Adam is gradient descent with step eta / epsilon: the flow goes on from there, and
    says after how many steps the cosine to the l2 margin reaches .99.
    """
    tasks, found = setting().tasks, []
    values = (1e-8, 1e-12)
    rows: dict[Any, dict[str, Any]] = {}
    ends: dict[Any, np.ndarray] = {}
    for t, p, state in path(tasks, adam(0.01, eps=column(*values)), 150_000, 2):
        root = state["half"][..., 0] + np.log(np.median(state["v"], -1)) / 2
        least = leads(tasks, state["a"])
        for i in SEEDS:
            for k, eps in enumerate(values):
                if root[i, k] < np.log(eps) and (i, k) not in rows:
                    row = {"seed": i, "epsilon": eps, "steps": t}
                    row |= {"norm": float(np.linalg.norm(p[i, k]))}
                    rows[i, k] = told(row | {"lead": float(least[i, k])})
                if root[i, k] < np.log(eps / 10) and (i, k) not in ends:
                    ends[i, k] = p[i, k]
        if len(ends) == 2 * len(SEEDS):
            break
    for (i, k), row in sorted(rows.items()):
        where = setting().problems[i], ends[i, k]
        found.append(told(row | afterwards(*where, np.log(0.01 / values[k]))))
    return found


def afterwards(
    problem: OneStepProblem, p: np.ndarray, log_eta: float
) -> dict[str, float]:
    """Follow the flow from p and say when the cosine to the l2 margin reaches .99."""
    model = copy.deepcopy(problem.model)
    with torch.no_grad():
        model.cls.copy_(torch.from_numpy(p))
    flow = attnsel.gradient_flow(model, problem.corpus, max_norm=1000.0)
    cosine = flow.cls @ problem.best.direction / flow.norms
    steps = (flow.log_time - log_eta) / np.log(10)
    at = int((cosine >= 0.99).nonzero()[0])
    slope = (flow.norms[-1] - flow.norms[at]) / (steps[-1] - steps[at])
    return {
        "cos then": float(cosine[0]),
        "log10 steps to .99": float(steps[at]),
        "norm at .99": float(flow.norms[at]),
        "norm a factor of ten": float(slope),
    }


def rotations() -> list[dict[str, Any]]:
    """Rotate embeddings and start; turn what is found back and compare."""
    found, tasks = [], setting().tasks
    d = tasks.p.shape[1]
    draws = [np.random.default_rng(seed).normal(size=(d, d)) for seed in SEEDS]
    Q = np.stack([np.linalg.qr(draw)[0] for draw in draws])
    start = np.matmul(tasks.p[:, None], Q)[:, 0]
    turned = replace(tasks, E=np.matmul(tasks.E, Q), p=start)
    rules: list[tuple[str, Rule, float]] = [
        ("normalized .1", normalized(0.1), 100.0),
        ("sign .01", sign(0.01), 100.0),
        ("coordinate .1", coordinate(0.1), 30.0),
        ("Adam .01, beta2 .999", adam(0.01), 10.0),
    ]
    for name, rule, goal in rules:
        plain, other = end(tasks, rule, goal), end(turned, rule, goal)
        back = np.matmul(Q, other[..., None])[..., 0]
        for i in SEEDS:
            one, two = (x[i] / np.linalg.norm(x[i]) for x in (plain, back))
            row = {"optimizer": name, "seed": i, "cos": float(one @ two)}
            row["difference"] = float(np.abs(one - two).max())
            found.append(told(row))
    return found


def end(tasks: Tasks, rule: Rule, goal: float) -> np.ndarray:
    """Return each p where its lead first reaches the goal, (S, d)."""
    ends = np.full(tasks.p.shape, np.nan)
    for _, p, state in path(tasks, rule, 50_000):
        there = (leads(tasks, state["a"])[:, 0] >= goal) & np.isnan(ends[:, 0])
        ends[there] = p[there, 0]
        if not np.isnan(ends).any():
            return ends
    raise RuntimeError(f"the leads did not reach {goal}")


def dims() -> list[dict[str, Any]]:
    """Compare the l2 and the l-infinity direction from d = 64 to 4,096."""
    found = []
    for dim in (64, 256, 1024, 4096):
        for seed in SEEDS:
            problem = small(seed, dim)
            D = task_of(problem).differences()
            u = problem.best.direction.numpy()
            least, x = margin(D, "linf")
            a, b = D @ u, D @ x
            row = {
                "d": dim,
                "seed": seed,
                "cos": float(u @ x / np.linalg.norm(x)),
                "cos of leads": float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)),
                "margins": float(least / problem.best.margin / dim**0.5),
            }
            found.append(told(row))
    return found


def joint() -> list[dict[str, Any]]:
    """Train E, p and v together; measure p against the margins of the E it has."""
    found = []
    rates: dict[Literal["adam", "gd"], float] = {"adam": 0.001, "gd": 10.0}
    for seed in SEEDS:
        corpus = attnsel.separable_corpus(**SMALL, seed=seed)
        for name, rate in rates.items():
            for loss in (1e-2, 1e-4):
                model = attnsel.AttentionClassifier(
                    40, 256, seed=seed, dtype=torch.float64
                )
                ends: dict[str, Any] = {"steps": 20_000, "until_loss": loss}
                run = attnsel.fit(model, corpus, lr=rate, optimizer=name, **ends)
                problem = OneStepProblem(corpus, model)
                task = task_of(problem)
                least = leads(task, scores(task, task.p[:, None])).item()
                row = {"optimizer": name, "seed": seed, "loss": float(run.loss[-1])}
                row |= {"steps": int(run.step[-1]), "lead": least}
                row |= margins(problem, task).of(task.p[0], least)
                found.append(told(row))
    return found


def lost() -> list[dict[str, Any]]:
    """Say what is selected of each class after a step of 1,000, ten seeds.

    Four optimizers are followed, on embeddings in float32, until no sequence has
    changed the token it attends to in the second half of the steps and each gives it
    all but 1e-2 of its attention, for 1,000 steps at least and 20,000 at most. The
    stored table has draws 0, 2, 3 and 4, the first followed until all but 1e-4.
    """
    rules: dict[str, Rule] = {
        "sign .001": sign(0.001),
        "coordinate 1": coordinate(1.0),
        "Adam .001": adam(0.001),
        "Adam .01": adam(0.01),
    }
    found = []
    for seed in range(10):
        problem = one_step_problem(2048, 1000.0, seed=seed, **SHORT)
        flow = attnsel.gradient_flow(problem.model, problem.corpus, tol=1e-4)
        right = (flow.selected == problem.relevant) & (flow.attention[-1] > 0.5)
        row: dict[str, Any] = {"optimizer": "flow", "seed": seed}
        found.append(told(row | by_class(problem, right.numpy())))
        for name, end in settled(problem, rules).items():
            found.append(told({"optimizer": name, "seed": seed} | end))
    return found


def side_by_side(rules: Sequence[Rule]) -> Rule:
    """Return the rule that applies one of several to each run of a task."""
    states = [State() for _ in rules]

    def rule(t: int, u: np.ndarray, log_norm: np.ndarray, state: State) -> np.ndarray:
        steps = []
        for i, (one, memory) in enumerate(zip(rules, states, strict=True)):
            steps.append(one(t, u[:, i : i + 1], log_norm[:, i : i + 1], memory))
        return np.concatenate(steps, axis=1)

    return rule


def settled(
    problem: OneStepProblem, rules: dict[str, Rule]
) -> dict[str, dict[str, float]]:
    """Follow rules until nothing moves; see `lost`."""
    task = task_of(problem)
    task.E = task.E.astype(np.float32)
    X, L = task.X[0], len(rules)
    before, changed = np.zeros((L, len(X)), int), np.zeros(L, int)
    ends: dict[str, dict[str, float]] = {}
    rule = side_by_side(list(rules.values()))
    for t, _, state in path(task, rule, 20_000, L):
        at = state["a"][0][:, X]  # (L, n, T)
        top = np.take_along_axis(X[None], at.argmax(-1)[..., None], -1)[..., 0]
        changed[(top != before).any(axis=1)] = t
        before = top
        if t % 100:
            continue
        weights = np.exp(at - at.max(-1, keepdims=True))
        elsewhere = weights * (top[..., None] != X)
        rest = (elsewhere.sum(-1) / weights.sum(-1)).max(-1)
        for i, name in enumerate(rules):
            still = t >= max(1000, 2 * changed[i]) and rest[i] < 1e-2
            if name not in ends and (still or t == 20_000):
                right = top[i] == problem.relevant.numpy()
                ends[name] = {"steps": t, "changed": int(changed[i])}
                ends[name] |= {"rest": float(rest[i])} | by_class(problem, right)
        if len(ends) == L:
            break
    return ends


def bend() -> list[dict[str, Any]]:
    """Train reviews of IMDB and drawn sequences in several ways to the same loss.

    Two seeds. The loss is .05 for reviews and .01 for drawn sequences; `end` is the
    mean value in the last bins of the axis over the greatest mean, averaged over both
    sides (`attnsel.statistics.shape`).
    """
    imdb = attnsel.load_corpus("imdb", min_count=20)
    reviews = imdb.balanced(2000).most_frequent(4000)
    corpora = {
        "reviews": [reviews, reviews],
        "reviews, thinned": [thinned(reviews, 25, seed) for seed in (0, 1)],
        "drawn": [leaning_corpus(seed) for seed in (0, 1)],
        "drawn, rare ends": [leaning_corpus(seed, rare=1) for seed in (0, 1)],
    }
    adam_, descent = torch.optim.Adam, torch.optim.SGD
    ways: dict[str, dict[str, Any]] = {
        "Adam": {"eps": 1e-12},
        "epsilon 1e-8": {"eps": 1e-8},
        "epsilon 1e-6": {"eps": 1e-6},
        "without momentum": {"eps": 1e-12, "betas": (0.0, 0.999)},
        "a step for each direction": {"eps": 1e-12, "apart": True},
        "half the rate": {"eps": 1e-12, "rate": 1 / 2},
        "an eighth of the rate": {"eps": 1e-12, "rate": 1 / 8},
        "descent": {"method": descent, "rate": 8 * 512**0.5 / 0.09},
        "heavy ball": {"method": descent, "rate": 2 * 512**0.5 / 0.09, "momentum": 0.9},
    }
    many = ["drawn", "drawn, rare ends", "reviews"]
    found = []
    for way, options in ways.items():
        names = many if way in list(ways)[:5] else ["drawn"]
        for name in [*names, "reviews, thinned"] if way == "Adam" else names:
            for seed, corpus in enumerate(corpora[name]):
                settings: dict[str, Any] = {"method": adam_} | options
                kind = name.split(",")[0]
                reached = trained(corpus, kind, 1000 + seed, **settings)
                x = posterior_difference(corpus)
                row = {"corpus": name, "way": way, "seed": seed}
                row |= {"end": shape(x, reached["scores"]).end}
                found.append(told(row | {"steps": reached["steps"]}))
    return found


LOSS = {"reviews": 0.05, "drawn": 0.01}
RATE = {"reviews": 0.045, "drawn": 0.09}
DIM = {"reviews": 128, "drawn": 512}


def trained(
    corpus: Corpus,
    kind: str,
    seed: int,
    method: Any,
    rate: float = 1.0,
    apart: bool = False,
    **other: Any,
) -> dict[str, Any]:
    """Train E, p and v; `apart` gives Adam a step for each of E's two directions."""
    model = attnsel.AttentionClassifier(len(corpus.vocab), DIM[kind], seed=seed)
    E, p, v = [x.detach() for x in model.parameters()]
    more = torch.zeros_like(E)
    stepper = method([E, more, p, v], lr=rate * RATE[kind] / DIM[kind] ** 0.5, **other)
    for step in range(5000):
        whole = E + more
        scores = whole @ torch.stack([p, v], dim=1)
        logits, g = score_gradient(scores, corpus)
        if float(logistic_loss(logits, corpus.signs)) < LOSS[kind]:
            return {"scores": scores, "steps": step}
        ga, gb = g.T
        along_p, along_v = torch.outer(ga, p), torch.outer(gb, v)
        E.grad = along_v if apart else along_v + along_p
        more.grad = along_p if apart else None
        p.grad, v.grad = whole.T @ ga, whole.T @ gb
        stepper.step()
    raise RuntimeError(f"{kind}: the loss did not fall to {LOSS[kind]}")


def thinned(corpus: Corpus, most: int, seed: int) -> Corpus:
    """Leave out occurrences so that no token has many more than `most`."""
    random = np.random.default_rng(seed)
    counts = corpus.counts.copy()
    total = np.maximum(counts.sum(axis=0), 1)
    share = np.minimum(1, most / total)[counts.indices]
    counts.data = random.binomial(counts.data.astype(int), share)
    rows = np.flatnonzero(counts.sum(axis=1))
    return Corpus(counts[rows], corpus[rows].labels, corpus.vocab)


def by_class(problem: OneStepProblem, right: np.ndarray) -> dict[str, float]:
    positive = problem.corpus.signs.numpy() > 0
    return {
        "positive": float(right[positive].mean()),
        "negative": float(right[~positive].mean()),
    }


def told(row: dict[str, Any]) -> dict[str, Any]:
    print(row, flush=True)
    return row


def short(x: Any) -> Any:
    """Round a number to six digits."""
    return float(f"{x:.6g}") if isinstance(x, float) else x


PARTS = {
    part.__name__: part
    for part in (shares, sizes, epsilon, rotations, dims, joint, lost, bend)
}


def main() -> None:
    torch.set_num_threads(1)
    for name in sys.argv[1:]:
        rows = PARTS[name]()
        known = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else {}
        known[name] = [{k: short(x) for k, x in row.items()} for row in rows]
        store(OUT, dict(sorted(known.items())))


if __name__ == "__main__":
    main()
