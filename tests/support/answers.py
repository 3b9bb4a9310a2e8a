"""Exercises of the first seven chapters as a reader may solve them.

Each is right and written in another way than the package's: with lists and loops, with
numpy where that has torch and the other way round, by another formula.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ANSWERS: dict[str, Callable[..., Any]] = {}


def answers(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that notes what a reader writes for an exercise."""

    def note(function: Callable[..., Any]) -> Callable[..., Any]:
        ANSWERS[name] = function
        return function

    return note


@answers("model-logit")
def my_logit(ids, a, b):
    """Go through the sequence, with weights relative to its greatest score."""
    import math

    scores = [float(a[s]) for s in ids]
    top = max(scores)
    weights = [math.exp(score - top) for score in scores]
    votes = sum(w * float(b[s]) for w, s in zip(weights, ids, strict=True))
    return votes / sum(weights)


@answers("model-forward")
def my_forward(counts, a, b):
    """Take one product of the counts with two columns."""
    import torch

    w = (a - a.max().detach()).exp()
    both = counts @ torch.stack([w * b, w], dim=1)
    return both[:, 0] / both[:, 1]


@answers("model-constant")
def my_shift(E, p, v, c):
    """Move along the part of v that is orthogonal to p: no score changes at all."""
    import numpy as np

    across = v - (v @ p) / (p @ p) * p
    return E + np.outer(np.ones(len(E)), c * across / (across @ v))


@answers("model-two-numbers")
def my_two_numbers(corpus):
    """Score by the share of the label that is more frequent, values by the sign."""
    positive = corpus.counts[corpus.labels.numpy() == 1].sum(axis=0).tolist()
    negative = corpus.counts[corpus.labels.numpy() == 0].sum(axis=0).tolist()
    a, b = [], []
    for k, m in zip(positive, negative, strict=True):
        share = max(k, m) / max(k + m, 1)
        a.append(30.0 if share > 0.95 else 0.0)
        b.append(2.9 if k > m else -2.9)
    return a, b


@answers("one-step-alpha")
def my_alpha(corpus):
    """Weigh each row by its label, and take the mean of the rows."""
    import torch

    y = corpus.signs.double().numpy()
    return torch.as_tensor(corpus.counts.multiply(y[:, None]).sum(axis=0)) / len(y)


@answers("one-step-gradient")
def my_gradient_of_E(E, p, v, corpus):
    """Let autograd find it, in torch."""
    import numpy as np
    import torch

    at = torch.tensor(np.asarray(E), requires_grad=True)
    p, v = torch.as_tensor(np.asarray(p)), torch.as_tensor(np.asarray(v))
    counts = corpus.counts.tocoo()
    index = torch.from_numpy(np.stack([counts.row, counts.col]).astype(np.int64))
    values = torch.from_numpy(counts.data).to(at.dtype)
    C = torch.sparse_coo_tensor(index, values, counts.shape)
    scores = at @ p
    w = torch.exp(scores - scores.max().detach())
    f = (C @ (w * (at @ v))[:, None] / (C @ w[:, None]))[:, 0]
    loss = torch.nn.functional.softplus(-corpus.signs.to(at.dtype) * f).mean()
    (gradient,) = torch.autograd.grad(loss, at)
    return gradient


@answers("one-step-z")
def my_z(corpus):
    """Compare the covariance of labels and counts with its deviation by chance."""
    import numpy as np

    y = corpus.signs.double().numpy()
    c = corpus.counts.toarray().astype(float)
    n = len(y)
    found = ((y - y.mean())[:, None] * c).mean(axis=0)
    with np.errstate(all="ignore"):
        return found / (y.std() * c.std(axis=0, ddof=1) / np.sqrt(n))


@answers("one-step-lengths")
def my_sequences():
    """Write two long positive sequences, and one that is token 0 alone."""
    long = [0, 0] + [1, 2, 3] * 4
    return (long, tuple(long), [0, 0]), (1, 1, -1)


@answers("max-margin-rows")
def my_rows(E, corpus, selected):
    """Collect the pairs in a set, in a loop over the sequences."""
    import torch

    pairs = set()
    for i in range(len(corpus)):
        bag = corpus.counts[[i]].indices.tolist()
        pairs |= {(int(selected[i]), s) for s in bag if s != int(selected[i])}
    return torch.stack([torch.as_tensor(E[r] - E[s]) for r, s in sorted(pairs)])


@answers("max-margin-pull")
def my_pull(E, p, v, corpus):
    """Sum over all sequences and pairs of their tokens."""
    import numpy as np

    a, b = E @ p, E @ v
    pull = np.zeros(len(b))
    for i in range(len(corpus)):
        bag = corpus.counts[[i]]
        q = bag.data * np.exp(a[bag.indices] - a[bag.indices].max())
        q = q / q.sum()
        y, f = float(corpus.signs[i]), q @ b[bag.indices]
        wrong = 1 / (1 + np.exp(y * f))
        pull[bag.indices] += y * wrong * q * (b[bag.indices] - f) / len(corpus)
    return E.T @ pull


@answers("max-margin-lost")
def my_start():
    """Start below, a little to the left."""
    import numpy as np

    return np.array([-2.4, -3.0], dtype=np.float32)


@answers("selection-push")
def my_push(ahead, behind, k):
    """Solve behind = k x^2 (ahead - behind) by bisection."""
    low, high = 0.0, 1e6
    for _ in range(200):
        x = (low + high) / 2
        low, high = (x, high) if k * x * x * (ahead - behind) < behind else (low, x)
    return x


@answers("selection-weaken")
def my_weaken(E, v, c):
    """Split each row by numpy."""
    import numpy as np

    E, v = np.asarray(E), np.asarray(v)
    unit = v / np.linalg.norm(v)
    along = np.outer(E @ unit, unit)
    return (E - along) + c * along


@answers("selection-lost")
def my_corpus():
    """Take five relevant tokens a class, each in two sequences of six tokens."""
    import attnsel

    rows, labels = [], []
    for token in range(10):
        for _ in range(2):
            rows.append([token, 10, 11, 12, 13, 14, 15, 16])
            labels.append(int(token < 5))
    return attnsel.Corpus.from_tokens(rows, labels, [f"w{i}" for i in range(17)])


@answers("convergence-cheapest")
def my_cheapest(votes, there, relevant):
    """Try each sequence in turn, and keep the attention of least loss."""
    import math

    def loss(z):
        return max(-z, 0.0) + math.log1p(math.exp(-abs(z)))

    n, V = votes.shape
    Q = [[float(s == relevant[i]) for s in range(V)] for i in range(n)]
    tried = []
    for i in range(n):
        others = [s for s in range(V) if there[i, s] and s != relevant[i]]
        best = max(others, key=lambda s: votes[i, s])
        tried.append((loss(votes[i, best]) - loss(votes[i, relevant[i]]), i, best))
    _, i, best = min(tried)
    Q[i] = [float(s == best) for s in range(V)]
    return Q


@answers("convergence-cosine")
def my_cosine(lead, norm, m):
    """Divide the product with the solution by both norms."""
    product = lead * m**-2
    return product / (norm * m**-1)


@answers("convergence-start")
def my_certain_start(E, v, corpus, relevant):
    """Score relevant tokens alike by least squares, and go as far as is allowed."""
    import numpy as np

    wanted = np.zeros(len(E))
    wanted[np.asarray(relevant)] = 1
    h = np.linalg.lstsq(np.asarray(E), wanted, rcond=None)[0]
    return 24.9 * h / np.linalg.norm(h)


@answers("synthetic-lean")
def my_leans(first, later, length):
    """Write Bayes' rule, token by token."""
    found = []
    for s in range(first.shape[1]):
        often = [float(first[k, s] + (length - 1) * later[k, s]) for k in (0, 1)]
        found.append(often[1] / sum(often) - often[0] / sum(often))
    return found


@answers("synthetic-sampler")
def my_sampler(first, later, y, length, seed):
    """Invert the distribution function, by numpy's generator."""
    import numpy as np

    random = np.random.default_rng(seed)
    y = np.asarray(y)
    tokens = np.zeros((len(y), length), dtype=int)
    for label in (0, 1):
        rows = np.flatnonzero(y == label)
        for law, columns in ((first, slice(0, 1)), (later, slice(1, length))):
            steps = np.cumsum(np.asarray(law[label]))
            u = random.random(tokens[rows, columns].shape) * steps[-1]
            tokens[rows, columns] = np.searchsorted(steps, u, side="right")
    return tokens


@answers("synthetic-limit")
def my_distance(n, length):
    """Solve n (T - 1) log k = log 1/2."""
    import numpy as np

    return -np.expm1(np.log(0.5) / (n * (length - 1)))


@answers("synthetic-break")
def my_broken_corpus():
    """Draw another corpus in which irrelevant tokens are rare."""
    import attnsel

    return attnsel.synthetic_corpus(1000, 96, 20, delta=0.1, n_relevant=66, seed=4)


@answers("reviews-lean")
def my_lean(corpus):
    """Divide the signed frequency by the frequency."""
    from attnsel.theory import mean_count, signed_frequency

    ones = corpus.signs.double() * 0 + 1
    return signed_frequency(corpus) / mean_count(corpus, ones)


@answers("reviews-bins")
def my_bins(x, y):
    """Group by pandas."""
    import numpy as np
    import pandas as pd

    there = ~np.isnan(x)
    place = np.clip(np.searchsorted(np.linspace(-1, 1, 21), x, "right") - 1, 0, 19)
    held = pd.Series(y[there]).groupby(place[there])
    both = held.mean(), held.std(ddof=0)
    return [part.reindex(range(20)).tolist() for part in both]


@answers("reviews-neutral")
def my_neutral(corpus):
    """Count tokens by label."""
    long = corpus.lengths.tolist()
    signs = corpus.signs.tolist()
    return sum(T * y for T, y in zip(long, signs, strict=True)) / sum(long)


@answers("frozen-embeddings")
def my_embeddings(ab, p, v):
    """Solve two equations, and add what neither p nor v sees."""
    import numpy as np

    P = np.stack([np.asarray(p), np.asarray(v)])
    rows = np.linalg.solve(P @ P.T, np.asarray(ab).T).T @ P
    noise = np.random.default_rng(0).normal(size=rows.shape)
    unseen = noise - noise @ np.linalg.pinv(P) @ P
    return (rows + unseen).tolist()


@answers("reviews-null")
def my_null(corpus, seed):
    """Shuffle the rows of the counts and leave the labels."""
    import numpy as np

    import attnsel

    order = np.random.default_rng(seed + 7).permutation(len(corpus))
    return attnsel.Corpus(corpus.counts[order], corpus.labels, corpus.vocab)


def _per_sequence(corpus, a, b):
    """Return attention (n, V) and outputs (n,), one sequence after the other."""
    import numpy as np

    counts = corpus.counts.toarray()
    weights = counts * np.exp(np.asarray(a) - np.max(a))
    attention = weights / weights.sum(axis=1, keepdims=True)
    return attention, attention @ np.asarray(b)


@answers("why-v-exposure")
def my_exposure(corpus, a, b):
    """Average over a dense matrix of attention."""
    import numpy as np

    attention, f = _per_sequence(corpus, a, b)
    y = corpus.signs.numpy()
    g = 1 / (1 + np.exp(y * f))
    return (attention * (y * g * f)[:, None]).mean(axis=0)


@answers("why-v-step")
def my_step(corpus, a, b, rate):
    """Move by the mean of each factor over the sequences."""
    import numpy as np

    attention, f = _per_sequence(corpus, a, b)
    y = corpus.signs.numpy()
    pushed = attention * (y / (1 + np.exp(y * f)))[:, None]
    b = np.asarray(b)
    score = (pushed * (b[None, :] - f[:, None])).mean(axis=0)
    return np.stack([a + rate * score, b + rate * pushed.mean(axis=0)])


@answers("why-v-balance")
def my_balance(E, p, v):
    """Sum outer products by einsum."""
    import numpy as np

    return np.einsum("si,sj->ij", E, E) - np.outer(p, p) - np.outer(v, v)


@answers("why-v-upside-down")
def my_sinking_sequences():
    """Hide the good token among more empty words."""
    return [[1, 1, 0, 1, 1], [2, 3]], [1, 0]
