"""Token selection if some or all of E, p and v are trained.

    python -m sweeps.selection.run_freezing

The script takes about 15 minutes on one idle core. After a first step on E (or none),
gradient descent trains the parameters that `training` names. In `freezing.csv`, a run
has one row for each of LEVELS that its loss falls below, and a last row without a level
if it misses one. If only p is trained, most runs cannot reach these losses, because the
values do not change. Instead, the flow of p runs to ‖p‖ = 300.

The embeddings are rotated into the V + 2 dimensions that E, p and v span. All gradients
are in this space, so the rotation changes only the running time.
"""

import itertools
import warnings
from collections.abc import Iterator
from functools import cache

import pandas as pd
import torch
from torch import Tensor
from torch.nn.functional import softplus

from attnsel import AttentionClassifier, Corpus, gradient_flow, one_step
from attnsel.synthetic import separable_corpus
from attnsel.theory import relevant_tokens
from attnsel_book.problems import crowd_corpus
from attnsel_book.results import result_folder
from sweeps.common import SIZES as DRAWN
from sweeps.common import Row, shown

SIZES = DRAWN | {"pairs": DRAWN["T31"] | {"n_relevant": 2}}
CROWDS = {"4:4": ([10] * 4, [10] * 4), "4:1": ([10] * 4, [40])}
SEEDS = range(10)
STEPS: dict[str, tuple[int, ...]] = dict.fromkeys(
    ("T31", "pairs"), (0, 50, 150, 300, 500, 700, 1500, 3000, 6000)
)
STEPS |= {"T8": (300, 700, 1500), "T6": (50, 300, 700, 1500, 6000)}
STEPS |= dict.fromkeys(CROWDS, (0, 50, 150, 300))
TRAININGS = ("p", "p v", "E", "E p", "E p v")
SPEEDS = (0.0, 0.1, 0.3, 3.0, 10.0, 30.0)  # rates of E relative to the rate of p
LEVELS = (0.003, 0.0003)  # losses at which a run has a row
LARGEST_MOVE = 0.1  # most that a score or value moves in a step
MOST_STEPS = 4000
Run = tuple[str, int, int]


def start_of(run: Run) -> tuple[AttentionClassifier, Corpus]:
    """Return the model after the first step of a run, if it has one, and the corpus."""
    name, step, seed = run
    if name in CROWDS:
        corpus = crowd_corpus(*CROWDS[name], length=31)
    else:
        corpus = separable_corpus(**SIZES[name], seed=seed)
    model = AttentionClassifier(
        len(corpus.vocab), 256 if name == "T6" else 2048, seed=seed
    ).double()
    return one_step(model, corpus, lr=step) if step else model, corpus


@cache
def tensors_of(run: Run) -> tuple[Tensor, ...]:
    """Return the start of a run, for `Descent`.

    The tensors are E (V, V + 2), p and v in a basis of their span, the two results of
    `padded`, the signs of the labels (n,), and the relevant tokens (n,).
    """
    model, corpus = start_of(run)
    E, p, v = (x.detach() for x in (model.embeddings, model.cls, model.output))
    rows = torch.cat([E, p[None], v[None]])
    R = torch.linalg.qr(rows.T).R.T
    relevant = relevant_tokens(corpus)
    return R[:-2], R[-2], R[-1], *padded(corpus), corpus.signs.double(), relevant


def padded(corpus: Corpus) -> tuple[Tensor, Tensor]:
    """Return distinct tokens (n, T) padded with 0, and log counts padded with -inf."""
    length = int(corpus.lengths.max())
    tokens = torch.zeros(len(corpus), length, dtype=torch.int64)
    log_counts = torch.full((len(corpus), length), -torch.inf, dtype=torch.float64)
    bounds = itertools.pairwise(corpus.counts.indptr.tolist())
    for i, (first, end) in enumerate(bounds):
        bag = slice(first, end)
        tokens[i, : end - first] = torch.from_numpy(corpus.counts.indices[bag])
        counts = torch.from_numpy(corpus.counts.data[bag]).double()
        log_counts[i, : end - first] = counts.log()
    return tokens, log_counts


class Descent:
    """Gradient descent for several runs at once, with a separate step size for each.

    A step is taken if the loss falls by at least half of the predicted decrease;
    otherwise the next step is half as long. To first order, no score or value moves by
    more than 0.1 in a step.
    """

    def __init__(self, runs: list[Run], training: str, speed: float) -> None:
        starts = zip(*map(tensors_of, runs), strict=True)
        columns = [torch.stack(tensors) for tensors in starts]
        self.E, self.p, self.v = columns[:3]
        self.tokens, self.log_counts, self.signs, self.relevant = columns[3:]
        self.size = torch.full((len(runs),), 0.5, dtype=torch.float64)
        self.runs = list(range(len(runs)))
        # The rates of E, p and v.
        self.rates = [
            rate * (name in training.split())
            for name, rate in (("E", speed), ("p", 1.0), ("v", 1.0))
        ]
        self.look(self.E, self.p, self.v)

    def forward(self, E: Tensor, p: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        """Return the attention and values by position, the logits, and the losses."""
        runs, n, length = self.tokens.shape
        flat = self.tokens.reshape(runs, -1)
        a, b = ((E @ x[:, :, None])[..., 0].gather(1, flat) for x in (p, v))
        q = torch.softmax(a.view(runs, n, length) + self.log_counts, dim=2)
        values = b.view(runs, n, length)
        logits = (q * values).sum(dim=2)
        return q, values, logits, softplus(-self.signs * logits).mean(dim=1)

    def look(self, E: Tensor, p: Tensor, v: Tensor) -> None:
        """Store the results of `forward`."""
        self.q, self.values, self.logits, self.loss = self.forward(E, p, v)

    def pulls(self) -> tuple[Tensor, Tensor]:
        """Return minus the gradients with respect to scores and values, (runs, V)."""
        runs, n, _ = self.tokens.shape
        g = self.signs * torch.sigmoid(-self.signs * self.logits) / n
        on_value = g[..., None] * self.q
        on_score = on_value * (self.values - self.logits[..., None])
        flat = self.tokens.reshape(runs, -1)
        zeros = self.E.new_zeros(self.E.shape[:2])
        a, b = (
            zeros.scatter_add(1, flat, x.reshape(runs, -1))
            for x in (on_score, on_value)
        )
        return a, b

    def step(self) -> None:
        """Try a step in each run, and keep the steps that lower the loss enough."""
        on_a, on_b = self.pulls()
        on_E, on_p, on_v = self.rates
        dE = on_E * (
            on_a[..., None] * self.p[:, None] + on_b[..., None] * self.v[:, None]
        )
        dp = on_p * torch.einsum("rs,rsd->rd", on_a, self.E)
        dv = on_v * torch.einsum("rs,rsd->rd", on_b, self.E)
        da, db = (
            torch.einsum("rsd,rd->rs", dE, x) + torch.einsum("rsd,rd->rs", self.E, dx)
            for x, dx in ((self.p, dp), (self.v, dv))
        )
        promised = (on_a * da + on_b * db).sum(dim=1)
        move = torch.maximum(da.abs().amax(1), db.abs().amax(1))
        size = torch.minimum(self.size, LARGEST_MOVE / move.clamp_min(1e-300))
        E = self.E + size[:, None, None] * dE
        p, v = self.p + size[:, None] * dp, self.v + size[:, None] * dv
        falls = self.loss - self.forward(E, p, v)[-1] >= size * promised / 2
        keep = falls.double()
        self.E = torch.lerp(self.E, E, keep[:, None, None])
        self.p = torch.lerp(self.p, p, keep[:, None])
        self.v = torch.lerp(self.v, v, keep[:, None])
        self.look(self.E, self.p, self.v)
        self.size = torch.where(falls, 1.3 * size, size / 2)

    def selected(self, i: int) -> dict[str, float]:
        """Return the columns of `selection_of` for the run at position `i`."""
        q, relevant = self.q[i], self.relevant[i]
        top = self.tokens[i].gather(1, q.argmax(dim=1, keepdim=True))[:, 0]
        on_relevant = (q * (self.tokens[i] == relevant[:, None])).sum(dim=1)
        return selection_of(top == relevant, self.signs[i], on_relevant)

    def drop(self, done: list[int]) -> None:
        """Remove the runs at positions `done`, which have reached the last level."""
        kept = [i for i in range(len(self.runs)) if i not in done]
        for name, x in vars(self).items():
            if isinstance(x, Tensor):
                setattr(self, name, x[kept])
        self.runs = [self.runs[i] for i in kept]


def selection_of(right: Tensor, signs: Tensor, attention: Tensor) -> dict[str, float]:
    """Return the share of `right` selections by class, and the mean of `attention`."""
    row = {
        "positive": right[signs > 0].double().mean(),
        "negative": right[signs < 0].double().mean(),
        "mean": attention.mean(),
    }
    return {name: float(f"{float(x):.4g}") for name, x in row.items()}


def trained(runs: list[Run], training: str, speed: float = 1.0) -> list[Row]:
    """Train runs on one kind of corpus; return a row for each level that a run reaches.

    A run that misses the last level in MOST_STEPS steps has a last row without a level.
    """
    descent = Descent(runs, training, speed)
    reached = dict.fromkeys(range(len(runs)), 0)
    rows = []

    def row(i: int, level: float | str) -> Row:
        name, step, seed = runs[descent.runs[i]]
        known = {"corpus": name, "step": step, "seed": seed, "training": training}
        known |= {"speed": speed, "level": level}
        return known | {"loss": f"{descent.loss[i]:.4g}"} | descent.selected(i)

    for _ in range(MOST_STEPS):
        done = []
        for i, run in enumerate(descent.runs):
            while reached[run] < len(LEVELS) and descent.loss[i] < LEVELS[reached[run]]:
                rows.append(row(i, LEVELS[reached[run]]))
                reached[run] += 1
            if reached[run] == len(LEVELS):
                done.append(i)
        if done:
            descent.drop(done)
        if not descent.runs:
            break
        descent.step()
    rows += [row(i, "") for i in range(len(descent.runs))]
    return rows


def followed(runs: list[Run]) -> list[Row]:
    """Run the flow of p alone to ‖p‖ = 300, and return one row per run."""
    rows = []
    for run in runs:
        name, step, seed = run
        model, corpus = start_of(run)
        flow = gradient_flow(model, corpus, max_norm=300.0, tol=1e-4)
        right = flow.selected == relevant_tokens(corpus)
        known = {"corpus": name, "step": step, "seed": seed, "training": "p"}
        known |= {"speed": 1.0, "level": "", "loss": f"{float(flow.loss[-1]):.4g}"}
        on_relevant = torch.where(right, flow.attention[-1], 0.0)
        rows.append(known | selection_of(right, corpus.signs, on_relevant))
    return rows


def all_rows() -> Iterator[Row]:
    """Yield the rows of all runs."""
    for name, training in itertools.product(STEPS, TRAININGS):
        for step in STEPS[name]:
            runs = [(name, step, seed) for seed in SEEDS]
            yield from followed(runs) if training == "p" else trained(runs, training)
    for speed in SPEEDS:
        yield from trained([("T31", 1500, seed) for seed in SEEDS], "E p", speed)


if __name__ == "__main__":
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", RuntimeWarning)  # a flow that stalls
    table = pd.DataFrame(shown(all_rows()))
    table.to_csv(result_folder("selection") / "freezing.csv", index=False)
