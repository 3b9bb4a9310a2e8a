"""The runs behind the two chapters on the margins of optimizers.

    python -m sweeps.margins.run_optimizers [PART ...]

The parts are `shares`, `defaults`, `sizes`, `epsilon`, `rotations`, `dims`, `joint`,
`bend`, `lost`, `lost_again`, `reviews` and `rates`. Their rows are stored in
`optimizers.json`, which both chapters read. On one core, `lost`, `lost_again`, `shares`
and `rates` take about five minutes each, `reviews` takes two, and the other parts take
a minute or less.

If only p is trained, the gradient is computed as in `attnsel.log_domain`, from score
differences to the token with the most attention. The logarithm of a common factor is
stored separately, so that the direction is accurate at any lead. Adam's second moment
has such a factor, too.
"""

import copy
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, Literal

import numpy as np
import torch
from scipy.optimize import linprog
from scipy.special import expit
from scipy.stats import spearmanr

import attnsel
from attnsel import Corpus
from attnsel.model import accuracy, bag_logits
from attnsel.theory import posterior_difference
from attnsel_book import leaning_corpus, one_step_problem
from attnsel_book.problems import OneStepProblem
from attnsel_book.v_shape import shape
from sweeps.common import SIZES, Row, run_parts

SHORT: Row = {"n": 100, "n_tokens": 120, "length": 8, "n_relevant": 10}
SEEDS = range(5)
State = Row
Rule = Callable[[int, np.ndarray, np.ndarray, State], np.ndarray]


@dataclass
class Tasks:
    """S losses of p, each with its embeddings E (S, V, d) and sequences X (S, n, T).

    The other arrays are the labels y (S, n), the values b (S, V) and the initial p
    (S, d). Each entry of `pairs` (S, pairs, 2) is a relevant token and another token of
    its sequence. A task with fewer pairs than another task repeats its first pair.
    """

    E: np.ndarray
    X: np.ndarray
    y: np.ndarray
    b: np.ndarray
    p: np.ndarray
    pairs: np.ndarray
    kept: dict[int, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    def gathered(self, L: int) -> tuple[np.ndarray, np.ndarray]:
        """Return indices of X in flattened scores (S, L, V), and the values b of X."""
        if L not in self.kept:
            S, V = self.b.shape
            X = np.repeat(self.X[:, None], L, axis=1)
            flat = X + V * np.arange(S * L).reshape(S, L, 1, 1)
            self.kept[L] = flat, np.repeat(self.b, L, axis=0).ravel()[flat]
        return self.kept[L]

    def differences(self, i: int = 0) -> np.ndarray:
        """Return E_r - E_s for all pairs (r, s) of task `i`, (pairs, d)."""
        r, s = self.pairs[i].T
        return self.E[i][r] - self.E[i][s]


def task_of(problem: OneStepProblem) -> Tasks:
    """Return the task of a problem with sequences of equal length."""
    model, bags = problem.model, problem.corpus.bags()
    X = np.stack([ids.repeat(times.astype(int)) for ids, times in bags])
    E, p, v = (x.detach().double().numpy() for x in model.parameters())
    r = np.repeat(problem.relevant.numpy(), X.shape[1])
    pairs = np.unique(np.stack([r, X.ravel()], 1)[r != X.ravel()], axis=0)
    y = problem.corpus.signs.double().numpy()
    E, X, y, b, p, pairs = (x[None] for x in (E, X, y, E @ v, p, pairs))
    return Tasks(E, X, y, b, p, pairs)


def stacked(tasks: Sequence[Tasks]) -> Tasks:
    """Stack tasks that have equal sizes; only their numbers of pairs may differ."""
    most = max(task.pairs.shape[1] for task in tasks)
    for task in tasks:
        missing = most - task.pairs.shape[1]
        first = np.repeat(task.pairs[:, :1], missing, axis=1)
        task.pairs = np.concatenate([task.pairs, first], axis=1)
    joined: Row = {
        name: np.concatenate([getattr(task, name) for task in tasks])
        for name in ("E", "X", "y", "b", "p", "pairs")
    }
    return Tasks(**joined)


def gradient(tasks: Tasks, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return -dL/da divided by a factor, for scores `a`, and the factor's logarithm."""
    flat, b = tasks.gathered(a.shape[1])
    at = a.ravel()[flat]
    places = at.shape[3] * np.arange(at.size // at.shape[3]).reshape(at.shape[:3])
    top = places + at.argmax(-1)
    behind = at - at.ravel()[top][..., None]  # log of q_i / q_top
    behind.ravel()[top] = -np.inf
    scale = behind.max((-1, -2), keepdims=True)
    odds = np.exp(behind - scale)
    q_top = 1 / (1 + odds.sum(-1, keepdims=True) * np.exp(scale))
    b_top = b.ravel()[top][..., None]
    gap = b - b_top
    shift = (odds * gap).sum(-1, keepdims=True) * q_top  # f - b_top, scaled
    true_shift = shift * np.exp(scale)
    y = tasks.y[:, None, :, None]
    weight = y * expit(-y * (b_top + true_shift)) * q_top
    pull = weight * odds * (gap - true_shift)
    pull.ravel()[top] = (-weight * shift)[..., 0]
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
    """Return Adam's rule for beta1 = 0.9; arguments are numbers, or (L, 1) for L runs.

    In `state`, `m` is minus the average gradient, divided by the new gradient's norm,
    and exp(half) root(v) is the root of the corrected average of squares.
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
    """Take steps in L runs per task; yield the step number, p (S, L, d), and the state.

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
    """Return x @ y in float64; for speed, torch computes it in the precision of y."""
    left = torch.from_numpy(x.astype(y.dtype))
    return (left @ torch.from_numpy(y)).double().numpy()


def leads(tasks: Tasks, a: np.ndarray) -> np.ndarray:
    """Return the least lead of each run, (S, L)."""
    r, s = (tasks.pairs[:, None, :, k] for k in (0, 1))
    ahead = np.take_along_axis(a, np.broadcast_to(r, (*a.shape[:2], r.shape[2])), -1)
    behind = np.take_along_axis(a, np.broadcast_to(s, (*a.shape[:2], r.shape[2])), -1)
    return (ahead - behind).min(-1)


def margin(D: np.ndarray, norm: str) -> tuple[float, np.ndarray]:
    """Return the largest margin over all p of norm 1, and this p, by an LP.

    The norm is "l1" or "linf".
    """
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
    """The largest margins for l2, linf and l1, and the max-margin direction for l2."""

    margins: dict[str, float]
    direction: np.ndarray

    def of(self, p: np.ndarray, least: float) -> dict[str, float]:
        """Return `least` / ‖p‖ / margin by norm, and the cosine of p to `direction`."""
        norms = {
            "l2": np.linalg.norm(p),
            "linf": np.abs(p).max(),
            "l1": np.abs(p).sum(),
        }
        found = {k: least / norms[k] / self.margins[k] for k in norms}
        return found | {"cos l2": float(p @ self.direction) / norms["l2"]}


def margins(problem: OneStepProblem, task: Tasks) -> Margins:
    """Return the margins of a problem, by a QP for l2 and by LPs for linf and l1."""
    others = {norm: margin(task.differences(), norm)[0] for norm in ("linf", "l1")}
    best = problem.best
    return Margins({"l2": best.margin} | others, best.direction.numpy())


def small(seed: int, dim: int = 256) -> OneStepProblem:
    return one_step_problem(dim, seed=seed, dtype=torch.float64, **SIZES["T6"])


def separator(problem: OneStepProblem) -> np.ndarray:
    """Return the shortest p with scores 1 for relevant tokens and 0 for all others.

    This p selects as well as any optimizer's p, but it maximizes no margin.
    """
    E = problem.model.embeddings.detach().numpy()
    a = np.zeros(len(E))
    a[problem.relevant.numpy()] = 1
    return np.linalg.lstsq(E, a, rcond=None)[0]


def weighted_cosine(problem: OneStepProblem, p: np.ndarray, v: np.ndarray) -> float:
    """Return the cosine of p to the max-margin direction of a weighted norm.

    The weighted norm of p is root(sum_j root(v_j) p_j^2).
    """
    weights = (v / v.mean()) ** 0.25
    scaled = problem.model.embeddings.detach() / torch.from_numpy(weights)
    best = attnsel.max_margin(scaled, problem.corpus, problem.relevant)
    u = best.direction.numpy() / weights
    return float(p @ u / np.linalg.norm(p) / np.linalg.norm(u))


@dataclass
class Setting:
    """The small problems of five seeds, with their tasks and margins."""

    problems: list[OneStepProblem]
    tasks: Tasks
    known: list[Margins]


@cache
def setting() -> Setting:
    problems = [small(seed) for seed in SEEDS]
    each = [task_of(problem) for problem in problems]
    known = [margins(*both) for both in zip(problems, each, strict=True)]
    return Setting(problems, stacked(each), known)


def top_leads(tasks: Tasks, a: np.ndarray) -> np.ndarray:
    """Return the least lead of the most attended tokens in each run, (S, L)."""
    flat, _ = tasks.gathered(a.shape[1])
    at = a.ravel()[flat]
    top = np.take_along_axis(flat, at.argmax(-1)[..., None], -1)
    others = np.where(flat == top, -np.inf, at)
    return (at.max(-1) - others.max(-1)).min(-1)


def reached(
    tasks: Tasks,
    rule: Rule,
    goals: Sequence[Sequence[float]],
    most: int,
    measure: Callable[[Tasks, np.ndarray], np.ndarray] = leads,
    every: int = 1,
) -> Iterator[tuple[int, int, int, float, float, np.ndarray, State]]:
    """Yield the state of a run whenever its least lead reaches the next of its goals.

    `goals` contains a rising list for each of L runs. They are checked every `every`
    steps. The function yields the number of steps, the numbers of the task and of the
    run, the goal, the least lead, p (d,) and the state of the rule for all runs.
    """
    left = {(i, k): [*of] for i in range(len(tasks.p)) for k, of in enumerate(goals)}
    for t, p, state in path(tasks, rule, most, len(goals)):
        if t % every:
            continue
        least = measure(tasks, state["a"])
        for (i, k), own in left.items():
            if own and least[i, k] >= own[0]:
                yield t, i, k, own.pop(0), float(least[i, k]), p[i, k], state
        if not any(left.values()):
            return
    raise RuntimeError(f"not all leads are reached, left {left}")


def shares_at(
    names: list[str], rule: Rule, goals: list[list[float]], most: int
) -> Iterator[Row]:
    """Apply a rule; yield a row when a run's least lead reaches its next goal."""
    for t, i, k, lead, least, p, state in reached(setting().tasks, rule, goals, most):
        row: Row = {"optimizer": names[k], "seed": i, "lead": lead}
        row |= {"steps": t} | setting().known[i].of(p, least)
        if "v" in state:
            v, problem = state["v"][i, k], setting().problems[i]
            row["cos root v"] = weighted_cosine(problem, p, v)
            other = np.random.default_rng(i).permutation(v)  # the control
            row["cos shuffled v"] = weighted_cosine(problem, p, other)
        yield row


FAR = [3.0, 10.0, 30.0, 100.0, 300.0]


def column(*numbers: float) -> np.ndarray:
    return np.array(numbers)[:, None]


def shares() -> Iterator[Row]:
    """Yield rows about the margins, `separator` and nine optimizers, for five seeds."""
    for i in SEEDS:
        yield {"optimizer": "margin", "seed": i} | setting().known[i].margins
    for i, problem in enumerate(setting().problems):
        row = {"optimizer": "separator", "seed": i, "lead": 1.0}
        yield row | setting().known[i].of(separator(problem), 1.0)
    yield from shares_at(["normalized .1"], normalized(0.1), [FAR], 20_000)
    yield from shares_at(["sign .01"], sign(0.01), [FAR], 20_000)
    yield from shares_at(["coordinate .1"], coordinate(0.1), [FAR], 100_000)
    yield from shares_at(["Adam .01, beta2 .9"], adam(0.01, 0.9), [FAR], 20_000)
    names = [
        "Adam .01, beta2 .99",
        "Adam .01, beta2 .995",
        "Adam .003, beta2 .997",
        "Adam .001, beta2 .99",
    ]
    rule = adam(column(0.01, 0.01, 0.003, 0.001), column(0.99, 0.995, 0.997, 0.99))
    yield from shares_at(names, rule, [FAR, FAR, FAR[:4], FAR], 150_000)
    yield from shares_at(["Adam .01, beta2 .999"], adam(0.01), [FAR[:3]], 80_000)


def defaults() -> Iterator[Row]:
    """Run Adam with torch's defaults, rate .001 and epsilon 1e-8, for 50,000 steps."""
    tasks = setting().tasks
    for t, p, state in path(tasks, adam(0.001, eps=1e-8), 50_000):
        if t == 50_000:
            least = leads(tasks, state["a"])[:, 0]
            for i in SEEDS:
                row = {"seed": i, "steps": t, "lead": float(least[i])}
                yield row | setting().known[i].of(p[i, 0], float(least[i]))


def sizes() -> Iterator[Row]:
    """Take sign steps of seven fixed sizes until the least lead is 300."""
    etas = (0.003, 0.01, 0.02, 0.03, 0.05, 0.1, 0.3)
    names = [f"{eta:g}" for eta in etas]
    yield from shares_at(names, sign(column(*etas)), [[300.0]] * len(etas), 40_000)


def epsilon() -> Iterator[Row]:
    """Run Adam for two epsilons until the median of root v is a tenth of epsilon.

    `lead` is the least lead when the median first falls below epsilon. When the median
    is a tenth of epsilon, Adam is nearly gradient descent with step size eta / epsilon.
    Therefore `log10_steps` follows the gradient flow from there.
    """
    tasks, values = setting().tasks, (1e-8, 1e-12)
    rows: dict[Any, Row] = {}
    ends: dict[Any, np.ndarray] = {}
    for t, p, state in path(tasks, adam(0.01, eps=column(*values)), 150_000, 2):
        root = state["half"][..., 0] + np.log(np.median(state["v"], -1)) / 2
        least = leads(tasks, state["a"])
        for i in SEEDS:
            for k, eps in enumerate(values):
                if root[i, k] < np.log(eps) and (i, k) not in rows:
                    row = {"seed": i, "epsilon": eps, "steps": t}
                    rows[i, k] = row | {"lead": float(least[i, k])}
                if root[i, k] < np.log(eps / 10) and (i, k) not in ends:
                    ends[i, k] = p[i, k]
        if len(ends) == 2 * len(SEEDS):
            break
    for (i, k), row in sorted(rows.items()):
        where = setting().problems[i], ends[i, k]
        steps = log10_steps(*where, np.log(0.01 / values[k]))
        yield row | {"log10 steps to .99": steps}


def log10_steps(problem: OneStepProblem, p: np.ndarray, log_eta: float) -> float:
    """Return log10 of the step count to cosine .99 with the l2 max-margin direction.

    A gradient flow from p estimates the number of steps of size exp(`log_eta`).
    """
    model = copy.deepcopy(problem.model)
    with torch.no_grad():
        model.cls.copy_(torch.from_numpy(p))
    flow = attnsel.gradient_flow(model, problem.corpus, max_norm=1000.0)
    cosine = flow.cls @ problem.best.direction / flow.norms
    steps = (flow.log_time - log_eta) / np.log(10)
    return float(steps[(cosine >= 0.99).nonzero()[0]])


def rotations() -> Iterator[Row]:
    """Train p in the given and in rotated coordinates; compare the two directions."""
    tasks = setting().tasks
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
            yield {"optimizer": name, "seed": i, "cos": float(one @ two)}


def end(tasks: Tasks, rule: Rule, goal: float) -> np.ndarray:
    """Return the p of each task when its least lead first reaches `goal`, (S, d)."""
    ends = {i: p for _, i, _, _, _, p, _ in reached(tasks, rule, [[goal]], 50_000)}
    return np.stack([ends[i] for i in range(len(tasks.p))])


def dims() -> Iterator[Row]:
    """Compare the l2 and linf max-margin directions in 64 to 4,096 dimensions."""
    for dim in (64, 256, 1024, 4096):
        for seed in SEEDS:
            problem = small(seed, dim)
            D = task_of(problem).differences()
            u, x = problem.best.direction.numpy(), margin(D, "linf")[1]
            a, b = D @ u, D @ x
            yield {
                "d": dim,
                "seed": seed,
                "cos": float(u @ x / np.linalg.norm(x)),
                "cos of leads": float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)),
            }


def joint() -> Iterator[Row]:
    """Train E, p and v together; compare the lead with the margins of the trained E."""
    rates: dict[Literal["adam", "gd"], float] = {"adam": 0.001, "gd": 10.0}
    for seed in SEEDS:
        corpus = attnsel.separable_corpus(**SIZES["T6"], seed=seed)
        for name, rate in rates.items():
            for loss in (1e-2, 1e-4):
                model = attnsel.AttentionClassifier(
                    40, 256, seed=seed, dtype=torch.float64
                )
                ends: Row = {"steps": 20_000, "until_loss": loss}
                run = attnsel.fit(model, corpus, lr=rate, optimizer=name, **ends)
                problem = OneStepProblem(corpus, model)
                task = task_of(problem)
                least = leads(task, scores(task, task.p[:, None])).item()
                row = {"optimizer": name, "seed": seed, "loss": float(run.loss[-1])}
                row |= {"steps": int(run.step[-1]), "lead": least}
                yield row | margins(problem, task).of(task.p[0], least)


LEAD = 20.0
LOST = {"sign .001": sign(0.001), "coordinate .3": coordinate(0.3)}
LOST |= {"Adam .01": adam(0.01)}
# The control for "the optimizer decides": the same optimizers, other step sizes.
AGAIN = {"sign .002": sign(0.002), "coordinate .15": coordinate(0.15)}
AGAIN |= {"Adam .005": adam(0.005)}


def lost() -> Iterator[Row]:
    """Yield the share of correct selections in each class, on the problems of `losing`.

    A run yields its row when, in all sequences, the token with the most attention leads
    the next one by 20. Each of ten problems has four runs: the flow, and three
    optimizers with embeddings in float32 and at most 100,000 steps.
    """
    for seed, problem in enumerate(losing()):
        task = task_of(problem)
        flow = attnsel.gradient_flow(problem.model, problem.corpus)
        a = flow.cls.numpy() @ task.E[0].T
        at = int((top_leads(task, a[None])[0] >= LEAD).argmax())
        yield {"optimizer": "flow", "seed": seed} | selected(problem, at, a[at])
    yield from lost_by(LOST)


def lost_again() -> Iterator[Row]:
    """Run the three optimizers of `lost` with doubled or halved step sizes."""
    yield from lost_by(AGAIN)


def losing() -> list[OneStepProblem]:
    """Return ten problems with first steps of size 300; on some, runs lose a class."""
    return [
        one_step_problem(512, 300.0, seed=seed, dtype=torch.float64, **SHORT)
        for seed in range(10)
    ]


def lost_by(rules: dict[str, Rule]) -> Iterator[Row]:
    """Run update rules on the ten problems of `losing`; yield rows as in `lost`."""
    problems = losing()
    tasks = stacked([task_of(problem) for problem in problems])
    tasks.E = tasks.E.astype(np.float32)
    for name, rule in rules.items():
        ends = reached(tasks, rule, [[LEAD]], 100_000, top_leads, every=50)
        for t, seed, *_, state in ends:
            row = {"optimizer": name, "seed": seed}
            yield row | selected(problems[seed], t, state["a"][seed, 0])


def selected(problem: OneStepProblem, steps: int, a: np.ndarray) -> Row:
    """Return a row with each class's share of correct selections by the scores `a`."""
    bags = problem.corpus.counts.toarray() > 0
    right = np.where(bags, a, -np.inf).argmax(1) == problem.relevant.numpy()
    positive = problem.corpus.signs.numpy() > 0
    return {
        "lead": LEAD,
        "steps": steps,
        "positive": float(right[positive].mean()),
        "negative": float(right[~positive].mean()),
    }


def bend() -> Iterator[Row]:
    """Train on IMDB and on synthetic sequences in several ways, to a fixed loss.

    Each way has two seeds. The loss is .05 for reviews and .01 for synthetic sequences.
    `end` is the mean value in the outermost bin of a side, divided by the most extreme
    mean of this side, and averaged over both sides (`attnsel_book.v_shape.shape`).
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
    ways: dict[str, Row] = {
        "Adam": {"eps": 1e-12},
        "epsilon 1e-8": {"eps": 1e-8},
        "epsilon 1e-6": {"eps": 1e-6},
        "without momentum": {"eps": 1e-12, "betas": (0.0, 0.999)},
        "a step for each direction": {"method": AdamByDirection, "eps": 1e-12},
        "half the rate": {"eps": 1e-12, "rate": 1 / 2},
        "an eighth of the rate": {"eps": 1e-12, "rate": 1 / 8},
        "descent": {"method": descent, "rate": 8 * 512**0.5 / 0.09},
        "heavy ball": {"method": descent, "rate": 2 * 512**0.5 / 0.09, "momentum": 0.9},
    }
    many = ["drawn", "drawn, rare ends", "reviews"]
    for way, options in ways.items():
        names = many if way in list(ways)[:5] else ["drawn"]
        for name in [*names, "reviews, thinned"] if way == "Adam" else names:
            for seed, corpus in enumerate(corpora[name]):
                settings: Row = {"method": adam_} | options
                kind = name.split(",")[0]
                reached = trained(corpus, kind, 1000 + seed, **settings)
                end = shape(posterior_difference(corpus), reached["scores"]).end
                yield {"corpus": name, "way": way, "seed": seed, "end": end}


def reviews() -> Iterator[Row]:
    """Compare models that four optimizers train on reviews to the same loss.

    Runs from three seeds, with d = 512, end when the loss is below .3 or .1. Normalized
    descent uses the unit vector of the gradient. It is slow here, so it has momentum .9
    and stops at a loss of .3. Sign descent uses the signs of the gradient. Adam has the
    settings of the chapter on reviews, and the fourth optimizer is Adam with beta2 .9.
    `cos` and `rank` compare p and E p with those of the first Adam.
    """
    goals = {0.3: list(WAYS), 0.1: list(WAYS)[:3]}
    for name, corpus in data().items():
        for seed, (loss, names) in itertools.product(range(3), goals.items()):
            first: Row = {}
            for way in names:
                given: Row = {"loss": loss, "dim": 512} | WAYS[way]
                found = trained(corpus, "reviews", seed, **given)
                first = first or found
                row = {"corpus": name, "optimizer": way, "seed": seed, "goal": loss}
                yield row | {"steps": found["steps"]} | beside(found, first)


def rates() -> Iterator[Row]:
    """Repeat `reviews` at five learning rates of each optimizer, to a loss of .3.

    `rate` is relative to the rate in `reviews`. The control is Adam from another start;
    it shows how far two runs of the same optimizer differ.
    """
    for name, corpus in data().items():
        test = attnsel.load_corpus(name, "test", vocab=corpus.vocab).balanced()
        for seed in range(3):
            given: Row = {"loss": 0.3, "dim": 512}
            first = trained(corpus, "reviews", seed, **given | WAYS["Adam"])
            plan = [("Adam, another start", seed + 100, WAYS["Adam"], 1.0)]
            for way, rate in itertools.product(WAYS, (1 / 4, 1 / 2, 1.0, 2.0, 4.0)):
                settings = WAYS[way] | {"rate": rate * WAYS[way].get("rate", 1.0)}
                plan.append((way, seed, settings, rate))
            for way, start, settings, rate in plan:
                found = trained(corpus, "reviews", start, **given | settings)
                row = {"corpus": name, "optimizer": way, "seed": seed, "rate": rate}
                right = accuracy(bag_logits(found["scores"], test), test)
                yield row | {"test": float(right)} | beside(found, first)


def data() -> dict[str, Corpus]:
    """Return parts of IMDB and Yelp with equally many reviews of each class."""
    imdb = attnsel.load_corpus("imdb", min_count=20).balanced(2000).most_frequent(4000)
    yelp = attnsel.load_corpus("yelp", min_count=1).most_frequent(5424).balanced()
    return {"imdb": imdb, "yelp": yelp}


def beside(found: Row, first: Row) -> dict[str, float]:
    """Return the cosine between the p of two models and the rank correlation of E p."""
    a, b = (each["scores"][:, 0] for each in (found, first))
    cosine = torch.nn.functional.cosine_similarity(found["p"], first["p"], dim=0)
    return {"cos": float(cosine), "rank": float(spearmanr(a, b).statistic)}


class SignDescent(torch.optim.SGD):
    """Descent along the signs of the gradient."""

    def step(self, closure: Any = None) -> Any:
        """Move the parameters by one step."""
        for part in parameters(self):
            part.grad = gradient_of(part).sign()
        return super().step(closure)


class NormalizedDescent(torch.optim.SGD):
    """Descent along the unit vector of the whole gradient."""

    def step(self, closure: Any = None) -> Any:
        """Move the parameters by one step."""
        sizes = [gradient_of(part).norm() for part in parameters(self)]
        size = torch.stack(sizes).norm()
        for part in parameters(self):
            part.grad = gradient_of(part) / size
        return super().step(closure)


WAYS: dict[str, Row] = {
    "Adam": {"method": torch.optim.Adam},
    "Adam, beta2 .9": {"method": torch.optim.Adam, "betas": (0.9, 0.9)},
    "sign": {"method": SignDescent, "rate": 1 / 3},
    "normalized": {"method": NormalizedDescent, "rate": 50.0, "momentum": 0.9},
}


class AdamByDirection(torch.optim.SGD):
    """Adam with a separate step for E along each of the directions p and v.

    The gradient with respect to E is g_a p^T + g_b v^T. Each of the two terms has its
    own moments and moves its own part of E.
    """

    def __init__(self, parts: list[torch.Tensor], lr: float, **settings: Any) -> None:
        super().__init__(parts, lr=lr)
        self.terms = [torch.zeros_like(parts[0]) for _ in range(2)]
        self.adam = torch.optim.Adam([*self.terms, *parts[1:]], lr=lr, **settings)

    def step(self, closure: Any = None) -> Any:
        """Move the parameters E, p and v by one step."""
        E, p, v = parameters(self)
        P = torch.stack([p, v])
        g = torch.linalg.lstsq(P.T, gradient_of(E).T).solution  # (2, V)
        before = self.terms[0] + self.terms[1]
        for term, scores, direction in zip(self.terms, g, P, strict=True):
            term.grad = torch.outer(scores, direction)
        self.adam.step()
        E.add_(self.terms[0] + self.terms[1] - before)


def parameters(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    """Return the parameters that an optimizer moves, in the order of the model."""
    (group,) = optimizer.param_groups
    parts: list[torch.Tensor] = group["params"]
    return parts


def gradient_of(part: torch.Tensor) -> torch.Tensor:
    """Return the gradient that `fit` has computed for a parameter."""
    assert part.grad is not None
    return part.grad


LOSS = {"reviews": 0.05, "drawn": 0.01}
RATE = {"reviews": 0.045, "drawn": 0.09}
DIM = {"reviews": 128, "drawn": 512}


def trained(
    corpus: Corpus,
    kind: str,
    seed: int,
    method: Callable[..., torch.optim.Optimizer],
    rate: float = 1.0,
    loss: float | None = None,
    dim: int | None = None,
    **other: Any,
) -> Row:
    """Train E, p and v with the optimizer `method` until the loss is below `loss`."""
    dim, loss = dim or DIM[kind], loss or LOSS[kind]
    model = attnsel.AttentionClassifier(len(corpus.vocab), dim, seed=seed)
    run = attnsel.fit(
        model,
        corpus,
        steps=5000,
        lr=rate * RATE[kind] / dim**0.5,
        optimizer=partial(method, **other),
        until_loss=loss,
    )
    if not run.loss[-1] < loss:
        raise RuntimeError(f"{kind}: the loss did not fall to {loss}")
    ends = {"scores": run.at(), "p": model.cls.detach()}
    return ends | {"steps": int(run.step[-1])}


def thinned(corpus: Corpus, most: int, seed: int) -> Corpus:
    """Remove random occurrences, so that no token has many more than `most` of them."""
    random = np.random.default_rng(seed)
    counts = corpus.counts.copy()
    total = np.maximum(counts.sum(axis=0), 1)
    share = np.minimum(1, most / total)[counts.indices]
    counts.data = random.binomial(counts.data.astype(int), share)
    rows = np.flatnonzero(counts.sum(axis=1))
    return Corpus(counts[rows], corpus[rows].labels, corpus.vocab)


def six_digits(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield rows with floating-point numbers rounded to six significant digits."""
    for row in rows:
        yield {
            k: float(f"{x:.6g}") if isinstance(x, float) else x for k, x in row.items()
        }


PARTS = (
    shares,
    defaults,
    sizes,
    epsilon,
    rotations,
    dims,
    joint,
    lost,
    lost_again,
    bend,
    reviews,
    rates,
)

if __name__ == "__main__":
    run_parts(
        "margins/optimizers",
        {part.__name__: six_digits(part()) for part in PARTS},
    )
