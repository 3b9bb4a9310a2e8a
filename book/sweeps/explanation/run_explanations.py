"""Measures of how well attention explains the predictions for reviews.

    python -m sweeps.explanation.run_explanations

Three models of IMDB and three of Yelp are trained, all with d = 2,048. Each is measured
at 99% training accuracy and at the step with the best test accuracy. A row of
`explanations.csv` contains corpus, seed, moment, measure and value. A model whose rows
exist is skipped. On an idle core, a model takes about three minutes for IMDB and half a
minute for Yelp.
"""

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.stats import rankdata
from torch import Tensor

from attnsel import AttentionClassifier, Corpus, fit, load_corpus
from attnsel.beyond.deletion import score_flips, score_influence, score_shapley
from attnsel.corpus import count_tensors
from attnsel.model import accuracy, bag_logits, sequence_softmax
from attnsel_book.results import result_folder
from sweeps.common import Row, add_missing

DIM, SEEDS, STEPS, LR = 2048, (0, 1, 2), 200, 1e-3
CORPORA = ("yelp", "imdb")
PARTS = (0.01, 0.02, 0.05, 0.1, 0.2)  # shares of the types (distinct tokens)
COSTS, ROUNDS = (10, 100, 1000), 150  # per squared change of a prediction; steps
READ, EXACT, ATTACKED = 5_000, 100, 4_000  # numbers of reviews
Rows = Iterator[tuple[str, float]]


class Padded:
    """Reviews as rows of equal width; values b and logits f are multiplied by sgn f."""

    def __init__(self, scores: Tensor, corpus: Corpus) -> None:
        counts = corpus.counts
        self.types = np.diff(counts.indptr)
        rows = np.repeat(np.arange(len(corpus)), self.types)
        places = np.arange(len(rows)) - counts.indptr[:-1][rows]
        self.at = rows, places
        self.there = np.arange(self.types.max()) < self.types[:, None]
        a, b = scores.double().numpy().T
        log_w = a[counts.indices] + np.log(counts.data.astype(float))
        self.Q = self.fill(np.exp(log_w - log_w.max()))
        self.Q /= self.Q.sum(1, keepdims=True)
        values = self.fill(b[counts.indices])
        self.sign = np.sign((self.Q * values).sum(1, keepdims=True))
        self.b = values * self.sign
        self.f = (self.Q * self.b).sum(1)

    def fill(self, numbers: np.ndarray) -> np.ndarray:
        """Return `numbers`, one per stored count, as rows padded with zeros."""
        table = np.zeros(self.there.shape)
        table[self.at] = numbers
        return table

    def order(self, merit: np.ndarray) -> np.ndarray:
        """Return the rank of each type in its review, 0 for the greatest `merit`."""
        falling = np.argsort(np.where(self.there, -merit, np.inf), 1, kind="stable")
        return np.argsort(falling, 1, kind="stable")

    def mean(self, kept: np.ndarray) -> np.ndarray:
        """Return the logits, times sgn f, if only the types in `kept` remain."""
        Q = np.where(kept & self.there, self.Q, 0)
        return (Q * self.b).sum(1) / Q.sum(1)


def optimum(padded: Padded, k: np.ndarray, sign: int) -> np.ndarray:
    """Return the logit of `k` types, times sgn f, that is least or greatest.

    `sign` is -1 for the least and 1 for the greatest of these products.
    """
    # Dinkelbach's method may start at any set of the right size.
    level = sign * padded.mean(padded.order(sign * padded.Q * padded.b) < k[:, None])
    while True:
        gain = padded.Q * (sign * padded.b - level[:, None])
        found = sign * padded.mean(padded.order(gain) < k[:, None])
        if not (found > level + 1e-12).any():
            return sign * level
        level = np.maximum(level, found)


def chance(logits: np.ndarray) -> np.ndarray:
    """Return the probability of the predicted class from `logits` times sgn f."""
    return 1 / (1 + np.exp(-logits))


def merits(padded: Padded, lost: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """Return, by name, numbers that rank types; `lost` is the influence times sgn f."""
    draw = np.random.default_rng(seed)
    return {
        "attention": padded.Q,
        "size of influence": np.abs(lost),
        "influence": lost,
        "signed Q b": padded.Q * padded.b,
        "random": draw.random(padded.Q.shape),
    }


def faithfulness(padded: Padded, ways: dict[str, np.ndarray]) -> Rows:
    """Yield the mean decrease of the predicted probability if types are deleted.

    For comprehensiveness, the first types of each ranking in `ways`, or an optimal
    choice of types, are deleted. For sufficiency, all other types are deleted.
    """
    unchanged, T = chance(padded.f), padded.types
    for part in PARTS:
        k = np.minimum(np.ceil(part * T).astype(int), T - 1)
        least = chance(optimum(padded, T - k, -1))
        yield f"comprehensiveness, optimum, {part}", float((unchanged - least).mean())
        greatest = chance(optimum(padded, k, 1))
        yield f"sufficiency, optimum, {part}", float((unchanged - greatest).mean())
        for name, merit in ways.items():
            rank = padded.order(merit)
            left = chance(padded.mean(rank >= k[:, None]))
            yield f"comprehensiveness, {name}, {part}", float((unchanged - left).mean())
            only = chance(padded.mean(rank < k[:, None]))
            yield f"sufficiency, {name}, {part}", float((unchanged - only).mean())


def until_flip(padded: Padded, merit: np.ndarray) -> np.ndarray:
    """Delete types by falling `merit`; return their number when the prediction flips.

    If it never flips, the result is the number of all types.
    """
    falling = np.argsort(padded.order(merit), 1)
    gone = np.cumsum(np.take_along_axis(padded.Q * padded.b, falling, 1), 1)
    flips = gone > padded.f[:, None] + 1e-12
    return np.where(flips.any(1), flips.argmax(1) + 1, padded.types)


def first_words(padded: Padded, ways: dict[str, np.ndarray], lost: np.ndarray) -> Rows:
    """Yield measures of the first types in the rankings `ways`, and a correlation."""
    rows = np.arange(len(lost))
    first = {name: padded.order(merit).argmin(1) for name, merit in ways.items()}
    top, strongest = first["attention"], first["size of influence"]
    yield "most attended is not most influential", float((top != strongest).mean())
    yield "most attended counts against", float((lost[rows, top] < 0).mean())
    for name, s in first.items():
        flips = lost[rows, s] > padded.f
        yield f"flips without the first, {name}", float(flips.mean())
    same = [
        np.corrcoef(*(rankdata(x[i][padded.there[i]]) for x in (padded.Q, abs(lost))))
        for i in range(0, len(lost), 5)
    ]
    yield "median Spearman", float(np.median([c[0, 1] for c in same]))


def agreement(scores: Tensor, corpus: Corpus) -> Rows:
    """Yield measures of the agreement of explanations with exact Shapley values."""
    phi, lost = score_shapley(scores, corpus), score_influence(scores, corpus)
    padded = Padded(scores, corpus)
    exact, lost = (padded.fill(x.data) * padded.sign for x in (phi, lost))
    gradient = padded.Q * (padded.b - padded.f[:, None])
    ways = {"gradient": gradient, "influence": lost, "Q b": padded.Q * padded.b}
    for name, values in (*ways.items(), ("attention", padded.Q)):
        truth = exact if name in ways else np.abs(exact)
        close = [
            np.corrcoef(values[i][there], truth[i][there])[0, 1]
            for i, there in enumerate(padded.there)
        ]
        yield f"median Pearson with Shapley, {name}", float(np.median(close))
        same = np.abs(values).argmax(1) == np.abs(exact).argmax(1)
        yield f"same first type as Shapley, {name}", float(same.mean())


def divergence(q: Tensor, other: Tensor, rows: Tensor, n: int) -> Tensor:
    """Return the Jensen-Shannon divergence (n,) of two attentions on each review."""
    middle = (q + other) / 2
    terms = torch.xlogy(q, q / middle) + torch.xlogy(other, other / middle)
    return q.new_zeros(n).index_add(0, rows, terms / 2)


def easy_directions(model: AttentionClassifier, train: Corpus) -> Tensor:
    """Return directions for changes of p, as the columns of a matrix (d, d).

    Let J (n, d) contain the derivatives of the logits with respect to p. The directions
    are eigenvectors of J^T J, divided by the roots of the eigenvalues plus a small
    number, so that steps along most of them change the logits about equally.
    """
    scores = model.scores()
    rows, columns, q = sequence_softmax(scores[:, 0], count_tensors(train)[0])
    gap = scores[columns, 1] - bag_logits(scores, train)[rows]
    shape = len(train), len(scores)
    slopes = csr_array(((q * gap).numpy(), (rows.numpy(), columns.numpy())), shape)
    J = torch.from_numpy(slopes @ model.embeddings.detach().numpy()).float()
    size, vectors = torch.linalg.eigh(J.T @ J)
    return vectors / (size.clamp_min(0) + 1e-3 * size.mean()).sqrt()


def go_far(
    adam: torch.optim.Optimizer,
    moved: Callable[[], tuple[Tensor, Tensor]],
    scores: Tensor,
    train: Corpus,
    cost: float,
) -> None:
    """Change the attention by steps of `adam`, at a `cost` for changed predictions."""
    C, _ = count_tensors(train)
    rows, columns, q = sequence_softmax(scores[:, 0], C)
    usual = bag_logits(scores, train).sigmoid()
    for _ in range(ROUNDS):
        adam.zero_grad()
        a, b = moved()
        _, _, now = sequence_softmax(a, C)
        f = torch.zeros(len(train)).index_add(0, rows, now * b[columns])
        changed = (f.sigmoid() - usual).square().mean()
        distance = divergence(q, now.clamp_min(1e-12), rows, len(train)).mean()
        (cost * changed - distance).backward()
        adam.step()


def other_p(
    model: AttentionClassifier, scores: Tensor, train: Corpus, cost: float
) -> Tensor:
    """Return the scores (V, 2) of the model with another p, which `go_far` finds."""
    E, p = model.embeddings.detach(), model.cls.detach()
    ways = easy_directions(model, train)
    z = torch.randn(len(p), generator=torch.Generator().manual_seed(0))
    unit = 0.5 / float((E @ (ways @ z)).std())  # scores then differ by half a unit
    z.mul_(unit).requires_grad_()
    adam = torch.optim.Adam([z], lr=0.1 * unit)
    b = scores[:, 1]
    go_far(adam, lambda: (E @ (p + ways @ z), b), scores, train, cost)
    return torch.stack([E @ (p + ways @ z.detach()), b], 1)


def other_model(scores: Tensor, train: Corpus, cost: float) -> Tensor:
    """Return the scores (V, 2) of another model, which `go_far` finds.

    If p and v are linearly independent, any a and b have the form a = E p and b = E v.
    """
    random = torch.Generator().manual_seed(0)
    a = scores[:, 0] + 0.5 * torch.randn(len(scores), generator=random)
    b = scores[:, 1].clone()
    unit = float(b.std())
    a.requires_grad_()
    b.requires_grad_()
    groups = [{"params": [a], "lr": 0.05}, {"params": [b], "lr": 0.05 * unit}]
    go_far(torch.optim.Adam(groups), lambda: (a, b), scores, train, cost)
    return torch.stack([a, b], 1).detach()


def reweighted(scores: Tensor, log_weights: Tensor) -> Tensor:
    """Return scores with the `log_weights`, and with the same predictions as `scores`.

    A token with log-weight a and value b gets the value exp(a - `log_weights`) b.
    """
    a, b = scores.double().T
    return torch.stack([log_weights, (a - log_weights).exp() * b], 1)


def twins(scores: Tensor, test: Corpus) -> Rows:
    """Yield changes of explanations if `reweighted` equalizes or permutes scores."""
    scores = scores.double()
    order = torch.randperm(len(scores), generator=torch.Generator().manual_seed(0))
    a = scores[:, 0]
    for name, other in (("uniform", 0 * a), ("permuted", a[order])):
        twin = reweighted(scores, other - other.mean() + a.mean())
        f, g = (bag_logits(x, test) for x in (scores, twin))
        yield f"{name}, verdicts that differ", float((f * g <= 0).double().mean())
        flips, again = (score_flips(x, test) for x in (scores, twin))
        changed = np.diff((flips != again).tocsr().indptr) > 0
        yield f"{name}, smallest flips that differ", float(changed.mean())
        both = Padded(scores, test), Padded(twin, test)
        lost = [
            of.fill(score_influence(x, test).data) * of.sign
            for of, x in zip(both, (scores, twin), strict=True)
        ]
        tops = {
            "most attended": [of.Q.argmax(1) for of in both],
            "largest signed Q b": [(of.Q * of.b).argmax(1) for of in both],
            "most influential": [np.abs(x).argmax(1) for x in lost],
        }
        for measure, (one, two) in tops.items():
            yield f"{name}, same {measure}", float((one == two).mean())
        rows, _, q = sequence_softmax(a, count_tensors(test)[0].double())
        _, _, moved = sequence_softmax(twin[:, 0], count_tensors(test)[0].double())
        distance = divergence(q, moved, rows, len(test)).mean()
        yield f"{name}, divergence", float(distance)
        g = g * (f @ g) / (g @ g)  # values have no scale of their own here
        change = (f.sigmoid() - g.sigmoid()).abs().mean()
        yield f"{name}, change of probability", float(change)


def shared(model: AttentionClassifier, train: Corpus, test: Corpus) -> Rows:
    """Yield changes of attention and predictions by `other_p` and by `other_model`."""
    scores = model.scores().float()
    for cost in COSTS:
        others = {
            "shared p": other_p(model, scores, train, cost),
            "retrained": other_model(scores, train, cost),
        }
        for (way, moved), (name, corpus) in product(
            others.items(), (("training", train), ("test", test))
        ):
            C, _ = count_tensors(corpus)
            rows, _, q = sequence_softmax(scores[:, 0], C)
            _, _, other = sequence_softmax(moved[:, 0], C)
            distance = divergence(q, other, rows, len(corpus)).mean()
            f, g = (bag_logits(x, corpus) for x in (scores, moved))
            change = (f.sigmoid() - g.sigmoid()).abs().mean()
            yield f"{way}, {cost}, {name} divergence", float(distance)
            yield f"{way}, {cost}, {name} change", float(change)
            if (way, name) == ("shared p", "test"):
                yield f"{way}, {cost}, test accuracy", accuracy(g, corpus)


def spaced(corpus: Corpus, size: int) -> Corpus:
    """Return at least `size` sequences, at equal distances; all if there are fewer."""
    return corpus[:: max(1, len(corpus) // size)]


def loaded(name: str) -> tuple[Corpus, Corpus]:
    """Return the training and the test reviews of "imdb" or "yelp"."""
    if name == "imdb":
        train = load_corpus(name)
        return train, load_corpus(name, split="test", vocab=train.vocab)
    train = load_corpus(name, min_count=1).most_frequent(5_424).balanced()
    return train, load_corpus(name, split="test", vocab=train.vocab).balanced()


def measures(model: AttentionClassifier, train: Corpus, test: Corpus) -> Rows:
    """Yield the name and the number of each measure of a model."""
    scores = model.scores()
    yield "test accuracy", accuracy(bag_logits(scores, test), test)
    read = spaced(test, READ)
    padded = Padded(scores, read)
    lost = padded.fill(score_influence(scores, read).data) * padded.sign
    ways = merits(padded, lost, seed=0)
    yield from first_words(padded, ways, lost)
    sizes = np.diff(score_flips(scores, read).indptr)
    yield "types until it flips, optimum", float(np.median(sizes))
    for name in ("attention", "size of influence", "random"):
        needed = until_flip(padded, ways[name])
        yield f"types until it flips, {name}", float(np.median(needed))
    yield from faithfulness(padded, ways)
    yield from agreement(scores, spaced(test, EXACT))
    yield from twins(scores, read)
    yield from shared(
        model,
        spaced(train, ATTACKED),
        spaced(test, ATTACKED),
    )


def rows_of(corpus: str, seed: int) -> Iterator[Row]:
    """Yield measures of models at 99% training accuracy and at best test accuracy."""
    train, test = loaded(corpus)
    steps, goals = STEPS, {"converged": 0.99, "best": 1.0}
    for moment, goal in goals.items():
        model = AttentionClassifier(len(train.vocab), DIM, seed=seed)
        history = fit(model, train, steps=steps, lr=LR, test=test, until_accuracy=goal)
        steps = int(history.test_accuracy.argmax())
        for measure, value in measures(model, train, test):
            yield {"moment": moment, "measure": measure, "value": round(value, 5)}


if __name__ == "__main__":
    add_missing(
        result_folder("explanation") / "explanations.csv",
        [{"corpus": name, "seed": seed} for name in CORPORA for seed in SEEDS],
        rows_of,
    )
