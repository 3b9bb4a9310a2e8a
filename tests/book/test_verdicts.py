"""What a check says of answers: one table of exercise, answer and verdict.

An answer is an expression in the arguments of its exercise. It is written in another
way than the mistake in the decorator, mostly from the formula, so that the sentences
belong to their mistakes. Right answers and wrong ones stand on each side of a bound.
"""

import inspect
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats
import torch
from scipy.optimize import brentq
from scipy.special import expit, log_expit, softmax

import attnsel
from attnsel.corpus import Corpus
from attnsel.synthetic import synthetic_corpus
from attnsel_book.exercises.checking import Verdict, judge
from attnsel_book.exercises.messages import as_numbers
from attnsel_book.problems import crowd_corpus
from support.tried import TASKS, by_name, runs, time_enough  # noqa: F401

pytestmark = pytest.mark.usefixtures("time_enough")
RIGHT, WRONG = "right", "wrong"  # of a verdict without words that matter


# -- what the expressions are made of -------------------------------------------------


def attended(C: Any, y: Any, a: Any, b: Any) -> tuple[np.ndarray, ...]:
    """Return attention (n, V), outputs and g (n, 1), from counts (n, V)."""
    Q = C * np.exp(a - np.max(a))
    Q = Q / Q.sum(axis=1, keepdims=True)
    f = (Q * b).sum(axis=1, keepdims=True)
    return Q, f, expit(-y * f)


def gradient(C: Any, y: Any, a: Any, b: Any, p: Any, v: Any) -> np.ndarray:
    Q, f, g = attended(C, y, a, b)
    along_v, along_p = (y * g * Q).mean(axis=0), (y * g * Q * (b - f)).mean(axis=0)
    return -np.outer(along_v, v) - np.outer(along_p, p)


def pull(C: Any, y: Any, a: Any, b: Any, E: Any) -> np.ndarray:
    Q, f, g = attended(C, y, a, b)
    return E.T @ (y * g * Q * (b - f)).mean(axis=0)


def z_score(C: Any, y: Any, center: Any, variance: Any) -> np.ndarray:
    return ((y * C).mean(axis=0) - center) / np.sqrt(variance)


def logits(counts: Any, a: Any, b: Any, weigh: Callable[..., Any]) -> torch.Tensor:
    """Return logits by loops, from the weight of a count and a score."""
    found = []
    for row in counts.to_dense():
        w = [weigh(c, x) if c else 0.0 * x for c, x in zip(row, a, strict=True)]
        found.append(torch.stack(w) @ b / torch.stack(w).sum())
    return torch.stack(found)


def bins(
    x: Any, y: Any, place: Any, second: Any = np.std, empty: float = np.nan
) -> Any:
    """Return means and another number of the points in each of 20 bins."""
    held = [[b for a, b in zip(x, y, strict=True) if place(a) == i] for i in range(20)]
    numbers = [(np.mean(part), second(part)) if part else (empty,) * 2 for part in held]
    return np.array(numbers).T


def bin_of(x: float) -> float:
    """Return the bin of x; the places tried are at no edge but -1, 0 and 1."""
    return x if math.isnan(x) else min(math.floor((x + 1) * 10), 19)


def spread(x: Any, y: Any, least: int = 5) -> tuple[np.ndarray, ...]:
    """Return deviations, means and counts of bins, by loops."""
    places = [bin_of(at) for at in x.tolist()]
    held = [y.numpy()[[k == i for k in places]] for i in range(20)]
    held = [part for part in held if len(part) >= least]
    numbers = np.array([(part.std(), part.mean(), len(part)) for part in held])
    return tuple(numbers.T)


def flips(n: int, counts: Callable[[np.ndarray], Any]) -> float:
    """Return the chance of some numbers among n flips of a coin."""
    k = np.arange(n + 1)
    return scipy.stats.binom(n, 0.5).pmf(k)[counts(k)].sum()


def shuffled(x: int, m: int, n_1: int, n: int, counts: Callable[..., bool]) -> float:
    """Return the chance of numbers of class 1 among m of n texts."""
    law = [
        math.comb(n_1, k) * math.comb(n - n_1, m - k) / math.comb(n, m)
        for k in range(m + 1)
    ]
    return sum(share for k, share in enumerate(law) if counts(k, share, law[x]))


def tossed(x: int, m: int, p: float) -> float:
    """Return the same where each text draws its label by itself."""
    law = [math.comb(m, k) * p**k * (1 - p) ** (m - k) for k in range(m + 1)]
    return sum(share for share in law if share <= law[x] * (1 + 1e-9))


def output_of(loss: float) -> float:
    """Return the z with log(1 + e^-z) = loss."""
    return brentq(lambda z: -log_expit(z) - loss, -60, 60, xtol=1e-13)


def thetas(votes: Any, others: Any, excess: float, share: Any) -> list[float]:
    """Return a number of the worst output, vote and rival of each sequence."""
    worst = [output_of(-log_expit(vote) + excess) for vote in votes]
    return [share(*given) for given in zip(worst, votes, others, strict=True)]


def sample(start: Any, others: Any, length: int, repeat: bool = True) -> np.ndarray:
    """Draw ids by numpy, from the law of each sequence for the first and the others."""
    random = np.random.default_rng(0)
    found = []
    for p, q in zip(np.array(start), np.array(others), strict=True):
        first = random.choice(len(p), 1, p=p / p.sum())
        rest = random.choice(len(q), length - 1, replace=repeat, p=q / q.sum())
        found.append([*first, *rest])
    return np.array(found)


def exchanged_in_part(ids: Any, n: int) -> np.ndarray:
    """Let half of the sequences of one label stand at the other."""
    found = np.array(ids)
    found[:n:6], found[1:n:6] = ids[1:n:6], ids[:n:6]
    return found


def two_layers(X: Any, W1: Any, k: Any, v: Any, r: int, one: Any, two: Any) -> float:
    """Return f of a bag, its tokens weighed by these numbers in the two layers."""
    X, W1, k, v = (part.numpy() for part in (X, W1, k, v))
    W = [one * np.exp(x @ W1 @ X.T) for x in X]
    H = [w @ X / w.sum() + r * x for w, x in zip(W, X, strict=True)]
    w = two * np.exp(H @ k)
    return w @ (H @ v) / w.sum()


def repeated(bag: Any) -> np.ndarray:
    return np.repeat(bag[0], bag[1].astype(int))


def stepped(start: Any, corpus: Corpus, eta: float) -> tuple[np.ndarray, ...]:
    """Return E, p, v of a start and eta times the gradients in its scores."""
    E, p, v = (part.detach() for part in start.parameters())
    a, b = (E @ p).requires_grad_(), (E @ v).requires_grad_()
    f = [torch.softmax(a[x], 0) @ b[x] for x in map(repeated, corpus.bags())]
    loss = -torch.nn.functional.logsigmoid(corpus.signs * torch.stack(f)).mean()
    found = torch.autograd.grad(eta * loss, (a, b))
    return tuple(part.numpy() for part in (E, p, v, *found))


def speed(a: Any, b: Any, ids: Any, signs: Any) -> np.ndarray:
    """Return minus the gradient of the loss in the scores, by loops."""
    found = np.zeros(len(a))
    for x, y in zip(ids.numpy(), signs.numpy(), strict=True):
        q = softmax(a.numpy()[x])
        f = q @ b.numpy()[x]
        np.add.at(found, x, y * expit(-y * f) * q * (b.numpy()[x] - f) / len(ids))
    return found


def adam(p: Any, g: Any, m: Any, s: Any, beta2: float, move: Any) -> np.ndarray:
    """Return p, m and s after a step that is made of both averages."""
    m, s = m + (g - m) / 10, s - (1 - beta2) * (s - g * g)
    return np.array([p + move(m, s), m, s])


def rows_of(E: Any, C: Any, selected: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the embeddings of the selected token and of all of its sequence."""
    return [(E[r], E[c > 0]) for r, c in zip(selected, C, strict=True)]


def scaled(p: Any, norm: float) -> np.ndarray:
    return norm * np.asarray(p) / np.linalg.norm(p)


def spread_attention(Q: Any, there: Any, relevant: Any, share: float) -> np.ndarray:
    """Return attention of which so much is on the other tokens of a sequence."""
    others = there.copy()
    others[np.arange(len(Q)), relevant] = False
    return (1 - share) * Q + share * others / others.sum(axis=1, keepdims=True)


def missing(votes: Any, there: Any, relevant: Any, which: Any) -> np.ndarray:
    """Let the sequences picked by their two highest votes attend the second one."""
    found, one = np.eye(votes.shape[1])[relevant], (np.arange(len(votes)), relevant)
    rivals = np.where(there & (found == 0), votes, -np.inf)
    for i in which(votes[one], rivals.max(axis=1)):
        found[i] = np.eye(votes.shape[1])[rivals[i].argmax()]
    return found


def one_more(S: Any, Q: Any, b: Any) -> np.ndarray:
    """Delete one token more on the same side."""
    rest = np.setdiff1d(np.arange(len(Q)), S)
    return np.append(S, rest[(Q * b * np.sign(Q @ b))[rest].argmin()])


def near_the_level(E: Any, v: Any, corpus: Corpus, relevant: Any, times: float) -> Any:
    """Return a start whose excess loss is so many times the level."""
    direction = attnsel.max_margin(E, corpus, relevant).direction
    model = attnsel.AttentionClassifier(*E.shape, dtype=torch.float64)

    def excess(size: float) -> float:
        with torch.no_grad():
            for part, x in zip(
                model.parameters(), (E, size * direction, v), strict=True
            ):
                part.copy_(x)
        proof = attnsel.certificate(model, corpus, relevant)
        return proof.log_excess - np.log(proof.direction_level * times)

    return brentq(excess, 1, 25) * direction


def crowd(times: int, positive: int, negative: int, length: int) -> Corpus:
    return crowd_corpus([times] * positive, [times] * negative, length=length)


def drawn(n: int, n_tokens: int, share: float) -> Corpus:
    relevant = round(share * n_tokens)
    return synthetic_corpus(n, n_tokens, 20, delta=0.1, n_relevant=relevant)


# -- the table ------------------------------------------------------------------------

# `right` is what the solution gives. Of n sequences, C are the counts, y the labels and
# T the lengths (n, 1); Q, f and g as in `attended`, where b is given.
TABLE: dict[str, dict[str, str]] = {
    "model-logit": {
        "sum(np.exp(a[s]) * b[s] for s in ids) / np.exp(a).sum()": (
            "over the sequence, not over the whole vocabulary"
        ),
        "max((a[s], b[s]) for s in ids)[1]": (
            "value with the largest score; the softmax weights all values"
        ),
        "sum(b[s] for s in ids) / len(ids)": "plain mean of the values",
        "sum(math.exp(a[s] - max(a[ids])) * b[s] for s in ids)": (
            "sum to one: divide by their sum"
        ),
        "softmax(a[sorted(set(ids))]) @ b[sorted(set(ids))]": "twice has two weights",
        "softmax(b[ids]) @ a[ids]": "scores and values are exchanged",
        "np.exp(a[ids]) / np.exp(a[ids]).sum() @ b[ids]": (
            "e to the power 1000 overflows: subtract the largest score first"
        ),
        "expit(softmax(a[ids]) @ b[ids])": "before the sigmoid",
        "np.mean([q * b[s] for q, s in zip(softmax(a[ids]), ids)])": (
            "sum to one already: take the sum, not the mean"
        ),
        "sum(a[s] * b[s] for s in ids)": "sum of scores times values",
    },
    "model-forward": {
        "logits(counts, a, b, lambda c, x: (x - a.max()).exp())": "twice the weight",
        "logits(counts, a, b, lambda c, x: c + 0 * x)": "plain mean of the values",
        "counts.to_dense() @ ((a - a.max()).exp() * b)": "sum ... divide by their sum",
        "counts.to_dense() @ (torch.softmax(a, 0) * b)": (
            "over each sequence, not over the whole vocabulary"
        ),
        "logits(counts, b, a, lambda c, x: c * (x - b.max()).exp())": (
            "scores and values are exchanged"
        ),
        "logits(counts, a, b, lambda c, x: c * x.exp())": (
            "e to the power 1000 overflows: subtract the largest score first"
        ),
        "right_tensor.detach()": "no gradient: use torch only, without",
        "right_tensor.tolist()": "no gradient",
        "torch.tensor(right, requires_grad=True)": "right ... derivatives are not",
        "logits(counts, a.detach(), b, lambda c, x: c * (x - a.max()).exp())": (
            "derivatives are not"
        ),
        "logits(counts, a, b.detach(), lambda c, x: c * (x - a.max()).exp())": (
            "derivatives are not"
        ),
        "logits(counts, a.double(), b, lambda c, x: c * (x - a.max()).exp())": "dtype",
        "right_tensor * (1 + 5e-7)": RIGHT,
        "right_tensor * (1 + 1e-4)": WRONG,
    },
    "model-constant": {
        "[row + c * v for row in E]": "value grows by c ‖v‖²",
        "[row + c * v / math.sqrt(v @ v) for row in E]": (
            "value grows by c ‖v‖; divide by it once more"
        ),
        "E + np.full(E.shape, c)": "c in every entry adds c times the sum",
        "E + c * E": "a factor is no constant: it moves large values",
        "E + np.outer(np.ones(len(E)), c * p / sum(p * p))": "rows along p",
        "E + (1 + 5e-5) * (right - E)": RIGHT,
        "E + (1 - 2e-4) * (right - E)": WRONG,
        "E + (1 + 2e-4) * (right - E)": WRONG,
        "right.astype(np.float32)": RIGHT,
        # along what is orthogonal to p, so that no score changes
        "E + c * (v - v @ p / (p @ p) * p) / (v @ v - (v @ p) ** 2 / (p @ p))": RIGHT,
        "E + math.sqrt(c) ** 2 * v / (v @ v)": "math domain error",  # c may be negative
    },
    "model-two-numbers": {
        "0 * lean, 3 * lean": "scores ... seven other words dilute the value",
        "20 * lean, 3 * lean": "negative sequences needs a large score, too",
        "20 * abs(lean), -3 * lean": "values have the wrong sign",
        "C.sum(axis=0), 3 * lean": "on the frequent tokens, which are in both classes",
        "right[0], np.where(lean < 0, -100.0, 3 * lean)": "at most 3 is allowed",
        "right[0], np.clip(right[1], -2.4, 2.4)": RIGHT,
        "right[0], np.clip(right[1], -2.2, 2.2)": WRONG,
        "right[0], 1.0001 * right[1]": WRONG,
        "30.0 * (abs(lean) > 0.9), 2.9 * np.sign(lean)": RIGHT,
    },
    "one-step-alpha": {
        "-right": "sign is reversed",
        "(C * (y > 0)).mean(0)": "labels are 0 and 1",
        "(C * y).sum(0) / C.sum()": "number of sequences, not of tokens",
        "(C * y).sum(0)": "sum over the sequences; alpha is their mean",
        "(C * y / T).mean(0)": "divided by the lengths it is beta",
        "(C * y).sum(0) / C.sum(0)": "posterior difference",
        "((C > 0) * y).mean(0)": "count every occurrence",
    },
    "one-step-gradient": {
        "-right": "minus the gradient",
        "right * n": "mean over the sequences: divide by their number",
        "gradient(C, y, a, b, 0 * p, v)": "score ... part along p is missing",
        "-np.outer((y * g * Q).mean(0), v) - np.outer((y * g * Q * b).mean(0), p)": (
            "b_s - f, not the value"
        ),
        "-np.outer((y * (1 - g) * Q).mean(0), v)"
        " - np.outer((y * (1 - g) * Q * (b - f)).mean(0), p)": "the model is wrong",
        "gradient(C, y, 0 * a, b, p, v)": "scores, not uniform",
        "gradient(C > 0, y, a, b, p, v)": "multiply by the counts",
        "-np.outer((y * Q).mean(0), v) - np.outer((y * Q * (b - f)).mean(0), p)": (
            "the wrong label, is missing"
        ),
        "-np.outer((y * Q).mean(0), v) / 2"
        " - np.outer((y * Q * (b - f)).mean(0), p) / 2": (
            "one half at the start only, where all"
        ),
        "gradient(C, y, a, b, v, p)": "the two parts are exchanged: that of the values",
        "gradient(C, y, b, a, v, p)": "p and v are exchanged",
    },
    "one-step-z": {
        "z_score(C, y, 0, y.var() * C.var(0) / (n - 1))": (
            "not centred: subtract the mean label times the mean"
        ),
        "z_score(C, y, y.mean() * C.mean(0), y.var() * C.var(0) / n)": (
            "by n - 1, not by n: labels"
        ),
        "z_score(C, y, y.mean() * C.mean(0), C.var(0) / (n - 1))": (
            "labels, 1 - the square of their mean, is"
        ),
        "z_score(C, y, y.mean() * C.mean(0), y.var() * C.var(0, ddof=1) / (n - 1))": (
            "over all n sequences, without ddof=1"
        ),
        "z_score(C, y, 0, (C * C).mean(0) / (n - 1))": (
            "both means are missing: counts and labels"
        ),
        "z_score(C, y, 0, C.var(0) / (n - 1))": (
            "both means of the labels are missing, in numerator and denominator"
        ),
        "z_score(C, y, y.mean() * C.mean(0), (y.var() * C.var(0) / (n - 1))**2)": (
            "root of the variance"
        ),
    },
    "one-step-lengths": {
        "[[0], [1], [0]], [1, 0, 1]": "all lengths are equal ... over",
        "[[0, 0], [0, 1, 1, 1]], [1, -1]": "positive sequences have to be the long",
        "[[0, 1], []], [1, 0]": "sequence needs a label, and at least one token",
        "[[0, 1.5], [0]], [1, 0]": "a list of lists of token ids and a list of labels",
        "[[0, 0, 1, 1, 1], [0, 1]], [1, 0]": RIGHT,  # beta is 2/5 - 1/2
        "[[0, 0, 1, 1, 1], [0, 1]], [1, -1]": RIGHT,
        "([0, 0] + [1] * 9, (0, 0, *[1, 2] * 5), [0, 0]), (1, 1, -1)": RIGHT,
        "[[0, 0, 1, 1], [0, 1]], [1, 0]": "n beta_0 is 0",
        "[[0, 1, 1, 1], [0, 1]], [1, 0]": "token 0 has to occur",
        "[[1], [0, 1]], [1, 0]": "to occur more often in positive sequences",
        # beta_0 is exactly zero, where sums of floats give -2.8e-17
        "[[0] * 3 + [1] * 7, [0] * 3 + [1] * 7, [0] * 3 + [1] * 2], [1, 1, 0]": WRONG,
    },
    "why-v-exposure": {
        "(g * Q * f).mean(0)": "the label is missing: sequences ... lower",
        "(y * Q * f).mean(0)": "the factor g",
        "(y * (1 - g) * Q * f).mean(0)": "g is large where the model",
        "np.mean(y * C / T * np.prod(attended(C, y, 0 * a, b)[1:], axis=0), axis=0)": (
            "scores, not uniform"
        ),
        "(y * g * Q * f).sum(0)": "sum over the sequences; the rate is their mean",
        "(y * g * Q).mean(0)": "value: the output f is missing",
    },
    "why-v-step": {
        "2 * np.stack([a, b]) - right": "descent goes against",
        "[a + rate * (y * g * Q * b).mean(0), right[1]]": "has to be subtracted",
        "[a + rate * (y * g * Q * (b + f)).mean(0), right[1]]": (
            "the exposure lowers the score"
        ),
        "[a, right[1]]": "scores stay as they are: that is a step on the values",
        "np.stack([a, b]) + (right - np.stack([a, b])) / rate": "the rate is missing",
    },
    "why-v-balance": {
        "sum(np.outer(x, x) for x in [*E, p, v])": "p and v are subtracted",
        "np.sum(E * E) - np.sum(p * p) - np.sum(v * v)": "trace alone",
        "np.einsum('ik,jk->ij', E, E)": "compares tokens",
        "np.einsum('ki,kj->ij', E, E) - np.sum(p * p) - np.sum(v * v)": "is a matrix",
        "sum(np.outer(x, x) for x in E) - np.outer(p, p)": "v counts, too",
    },
    "why-v-upside-down": {
        "[[0], [1]], [1, 0]": "score has to be below",
        "[[0, 0, 1], [2]], [1, 0]": "has to be below",
        "[[0, 1], [0, 1, 2], [2]], [1, 0, 0]": "sequences of one label",
        "[[0, 1, 1], [2]], [0, 0]": "both labels",
        "[[0, 1, 1], [21]], [1, 0]": "tokens 0 to 20 are enough",
        "[[2], [0, 1, 1]], [1, 0]": RIGHT,
        "[[1, 1, 0, 1, 1], [2, 3]], [1, 0]": RIGHT,
    },
    "first-step-own": {
        "(y * C / T * b).mean(0) / 2": "attention is a competition ... mean value",
        "(y * C * (b - f)).mean(0) / 2": "one over the length",
        "(y * C / T * (b - T * f)).mean(0) / 2": "mean of the values ... not their sum",
        "2 * right": "g = 1/2",
        "-right": "down the gradient",
    },
    "deviations-background": {
        "-right": "pushes against the lean",
        "-v2 / 4 * (y * C / T * f).mean(0)": "has lost the label",
        "-v2 / 4 * (C / T).mean(0) * f.mean()": "mean of the product",
        "-v2 / 4 * (C * f).mean(0)": "a count over the length",
        "2 * right": "the factor is 1/4",
    },
    "frozen-value": {
        "E @ v + ga * (p @ v) + gb * (old @ v)": "goes down",
        "E @ v - gb * (old @ v)": "part along p is missing",
        "E @ v - ga * (p @ v)": "start.output, is missing",
        "-ga * (p @ v) - gb * (old @ v)": "random start is missing",
        "E @ v - gb * (p @ v) - ga * (old @ v)": "g_a goes along p",
        "E @ v - ga * (p @ v) - gb * (v @ v)": "not along v",
    },
    "frozen-embeddings": {
        "torch.stack([a * p / (p @ p) + b * v / (v @ v) for a, b in ab])": "overlap",
        "torch.stack([b * v / (v @ v) for _, b in ab])": "along p as well",
        "torch.stack([a * p / (p @ p) for a, _ in ab])": "along v as well",
        "torch.stack([a * p + b * v for a, b in ab])": "squared lengths",
        "right * (1 + 5e-6)": RIGHT,
        "right * (1 + 3e-5)": WRONG,
        # and what neither p nor v sees
        "right + 1 - np.linalg.pinv(np.stack([p, v])) @ np.stack([p, v]).sum(1)": RIGHT,
    },
    "synthetic-lean": {
        "-right": "row 1 is the positive",
        "(first[1] - first[0]) / (first[1] + first[0])": (
            "of the first token alone: later tokens"
        ),
        "2 * (first + later)[1] / (first + later).sum(0) - 1": (
            "first token is drawn once"
        ),
        "2 * (first + length * later)[1] / (first + length * later).sum(0) - 1": (
            "tokens, not length"
        ),
        "np.diff(first + (length - 1) * later, axis=0)[0]": "under both labels",
    },
    "synthetic-sampler": {
        "sample(first[1 - y], later[1 - y], length)": (
            "the labels are exchanged: row 0 is for label 0, row"
        ),
        "sample(later[y], later[y], length)": "the first token of a sequence",
        "sample(first[y], first[y], length)": "only the first token has the first",
        "sample(first.sum(0) + 0 * first[y], later.sum(0) + 0 * later[y], length)": (
            "of its own label"
        ),
        "sample(0 * first[y] + 1, 0 * later[y] + 1, length)": (
            "tokens are not equally likely"
        ),
        "sample(first[y], later[y], length, False)": "may occur twice ... with",
        "[[int(first[0].argmax()), *range(length - 1)]] * len(y)": "copies",
        "np.roll(right, 2 * 3, axis=0)": RIGHT,  # labels repeat after three
        "exchanged_in_part(right, 600)": WRONG,
        "np.where(right == right.max(), first.shape[1], right)": "integers from 0 to",
    },
    "synthetic-limit": {
        "1 - math.exp(math.log(0.5) / (length - 1))": "must hold in all n sequences",
        "1 - math.exp(math.log(0.5) / (n * length))": (
            "first token is a signal draw always; length - 1 are left"
        ),
        "math.exp(math.log(0.5) / (n * (length - 1)))": "that is k itself",
        "1 / (2 * n * (length - 1))": "union bound; since the tokens are independent",
    },
    "synthetic-break": {
        "drawn(1000, 100, 0.92)": "the V is whole: irrelevant tokens",
        "drawn(1001, 100, 0.7)": "at most 1,000 sequences and 100 tokens",
        "drawn(1000, 102, 0.686)": "at most 1,000",
        "drawn(1000, 100, 0.4)": "tokens that occur too seldom lean by chance",
        "drawn(1000, 100, 0.7).with_labels(torch.arange(1000) // 3 % 2)": (
            "labels that the tokens do not predict"
        ),
        "attnsel.synthetic_corpus(1000, 96, delta=0.1, n_relevant=66, seed=4)": RIGHT,
    },
    "max-margin-rows": {
        "-right": "reverse the sign",
        "np.concatenate([r - bag for r, bag in rows_of(E, C, selected)])": (
            "its own rival: leave out the rows"
        ),
        "[E[r] - E[s] for r in selected for s in range(len(E)) if s != r]": (
            "tokens of the sequence, not the whole vocabulary"
        ),
        "[r - (x.sum(0) - r) / (len(x) - 1) for r, x in rows_of(E, C, selected)]": (
            "tokens has a row of its own: do not take their mean"
        ),
        "right[::-1] * (1 + 5e-6)": RIGHT,
        "np.unique(right, axis=0)": RIGHT,
        "right * (1 + 3e-5)": WRONG,
        "right[abs(right - right[-1]).max(axis=1) > 1e-9]": "has no row",
        "np.concatenate([right, 1.01 * right[-1:]])": "is not a selected",
    },
    "max-margin-pull": {
        "-right": "p goes down the gradient",
        "right * n": "mean over the sequences: divide by their number",
        "E.T @ (y * g * Q * b).mean(0)": "value above ... not the value itself",
        "E.T @ (y * (1 - g) * Q * (b - f)).mean(0)": "where the model is wrong",
        "pull(C, y, 0 * a, b, E)": "scores, not uniform",
        "E.T @ (y * Q * (b - f)).mean(0)": "the wrong label, is missing",
        "pull(C > 0, y, a, b, E)": "multiply by the counts",
    },
    "max-margin-lost": {
        "[-6.0, -8.0]": "a norm of 10: at most",
        "[0.0, 0.5]": "selects every relevant word",
        "[float('inf'), 0.0]": "two finite numbers",
        "scaled(right, 4 - 1e-9)": RIGHT,
        "np.array([-2.4, -3.0], dtype=np.float32)": RIGHT,
        "scaled(right, 4.001)": WRONG,
    },
    "margins-query-rate": {
        "rate * sum(abs(x) for x in p.tolist())": "turn it round",
        "rate / sum(x * x for x in p.tolist())": "right for plain descent ... with",
        "rate / math.sqrt(sum(x * x for x in p.tolist()))": "right for Muon",
        "rate / math.sqrt(len(p))": "with many equal entries",
    },
    "margins-epsilon": {
        "lead + math.log(other) - math.log(eps)": "the sign: a smaller ... over",
        "lead + math.log(math.sqrt(eps / other))": "with the root of v, not with",
        "lead + math.log(eps / other) / math.log(10)": "falls ... natural logarithm",
        "lead * math.log(other, eps)": "leads add up",
    },
    "margins-adam": {
        "adam(p, g, m, s, beta2, lambda m, s: rate * m / (s**0.5 + eps))": "at zero",
        "adam(p, g, m, s, beta2, lambda m, s: rate * m / (1 - 0.9**t)"
        " / (s / (1 - beta2**t) + eps))": "mean square, not by the mean square",
        "adam(p, g, m, s, beta2, lambda m, s: rate * m / (1 - 0.9**t)"
        " / (s / (1 - beta2**t) + eps) ** 0.5)": "not under it",
        "[2 * p - right[0], *right[1:]]": "add the step",
        "[right[0], right[1] / (1 - 0.9**t), right[2] / (1 - beta2**t)]": (
            "are kept, without"
        ),
    },
    "margins-first-step": {
        "-right": "it climbs",
        "-lr * g @ torch.stack([p, v])": "that is gradient descent; Adam's first",
        "-lr * g.sign() @ torch.stack([p, v]).sign()": "sum, not the sum of the signs",
        "-lr * torch.sign(g @ torch.stack([v, p]))": "column 0 of g ... column",
    },
    "own-attention-margin": {
        "right * (1 + 5e-4)": RIGHT,
        "right * (1 + 2e-3)": "times shorter",
        "right * 0.999": "the smallest lead is",
        "right / np.linalg.norm(right)": "that is the direction ... smallest",
        "np.linalg.lstsq(rows, np.ones(len(rows)), rcond=None)[0]": (
            "a lead may be larger than 1: do not ask for equality in each row"
        ),
        "rows.sum(0) / min(rows @ rows.sum(0))": "the mean of all rows weighs pairs",
        "rows.mean(0) / (rows.mean(0) @ rows.mean(0))": "smallest lead ... their mean",
    },
    "convergence-cheapest": {
        "missing(votes, there, relevant, lambda one, other: range(len(one)))": (
            "one sequence is enough; the others keep"
        ),
        "missing(votes, there, relevant, lambda one, other: [one.argmin()])": (
            "a low vote of the relevant token alone does not make"
        ),
        "missing(votes, there, relevant, lambda x, other: [(x - other).argmin()])": (
            "a difference of losses log(1 + e^-z), not of votes z"
        ),
        "missing(votes, there, relevant, lambda one, other:"
        " [(log_expit(one) - log_expit(other)).argmax()])": "most expensive",
        "missing(votes, there, relevant, lambda one, other: [])": "one has to get none",
        "right + 1e-12 * (right > 0)": RIGHT,
        "spread_attention(right, there, relevant, 1e-4)": WRONG,
        "spread_attention(right, there, relevant, 0.01)": WRONG,
    },
    "convergence-cosine": {
        "lead * m**-1": "the norm of p counts",
        "lead * norm**-1": "the margin counts: it is the largest",
        "lead * m**-2": "with the solution of norm 1/m is not yet the cosine",
        "lead * m**-2 * norm**-1": "u is a unit vector",
        "1 - right": "return the cosine itself",
    },
    "convergence-start": {
        "right / np.linalg.norm(right)": "right, and p is too short",
        "scaled(right, 25.0)": RIGHT,
        # equal scores of all relevant tokens, by least squares
        "scaled(np.linalg.pinv(E) @ np.isin(range(len(E)), relevant), 24.9)": RIGHT,
        "scaled(right, 25.001)": "has to be at most 25",
        "(E * v).sum(dim=1)": "finite numbers, the entries",
        "scaled(v, -25)": "v does not affect ... with ... all",
        # What is certain ends at the level: of the excess loss, not of the norm.
        "near_the_level(E, v, corpus, relevant, 0.99)": RIGHT,
        "near_the_level(E, v, corpus, relevant, 1.01)": WRONG,
    },
    "convergence-constant": {
        "max(1 / (expit(-votes) * (votes - others)))": "n is missing ... mean",
        "min(len(votes) / (expit(-votes) * (votes - others)))": (
            "greatest over the sequences: the worst of them"
        ),
        "max(len(votes) / (expit(votes) * (votes - others)))": "sign in the exponent",
        "max(len(votes) / (votes - others))": "g is missing",
        "len(votes) / min(expit(-votes)) / min(votes - others)": (
            "first, then the greatest; not g and gap apart"
        ),
    },
    "convergence-theta": {
        "min(thetas(votes, others, excess, lambda z, b, o: (z - o) / (b - o)))": (
            "n times the excess"
        ),
        "max(thetas(votes, others, len(votes) * excess,"
        " lambda z, b, o: (z - o) / (b - o)))": (
            "least over the sequences: the attention is at least theta in each"
        ),
        "min(thetas(votes, others, len(votes) * excess,"
        " lambda z, b, o: (-z - o) / (b - o)))": "sign of the inverse: a vote with",
        "min(thetas(votes, others, len(votes) * excess,"
        " lambda z, b, o: (z - o) / b))": "divide by the gap",
    },
    "floating-lead": {
        "np.log(b[0] - np.exp(a - a[0]) @ b / np.exp(a - a[0]).sum())": (
            "all digits from a lead of about 36 on: add up"
        ),
        "np.log(np.exp(a - a[0]) @ (b[0] - b) / np.exp(a - a[0]).sum())": (
            "to zero: keep the largest"
        ),
        "right + a[0] + np.log1p(np.exp(a[1:] - a[0]).sum())": (
            "sum of all weights: the attention adds up"
        ),
        "np.exp(right)": "its logarithm is asked",
    },
    "selection-push": {
        "math.sqrt(behind / (k * ahead))": "its own class pushes its tokens up",
        "math.sqrt(behind / (ahead - behind))": "all k tokens of a class push",
        "right**2": "score has x in it twice: take the root",
        "math.sqrt(ahead / (k * ahead - k * behind))": "score of the class behind",
        "math.sqrt(behind / (k * ahead + k * behind))": (
            "classes have values of opposite signs"
        ),
    },
    "selection-weaken": {
        "E * c": "smaller; the rest of E stays",
        "torch.stack([row + (c - 1) * (row @ v) * v for row in E])": (
            "not a unit vector"
        ),
        "torch.stack([row - row @ v / (v @ v) * v for row in E])": "takes the part",
        "torch.stack([c * row + (1 - c) * (row @ v) / (v @ v) * v for row in E])": (
            "weakens the rest"
        ),
        "torch.stack([row + c * (row @ v) / (v @ v) * v for row in E])": (
            "c times the component should remain"
        ),
    },
    "selection-lost": {
        "attnsel.separable_corpus(80, 50, 31, n_relevant=4)": (
            "sequences of up to 31 tokens; at most 24 of at most 8"
        ),
        "crowd(3, 4, 5, 8)": "at most 24 of at most 8",
        "crowd(3, 4, 4, 9)": "at most 24 of at most 8",
        "crowd(3, 4, 4, 8)": RIGHT,
        "crowd(2, 5, 5, 8)": RIGHT,
        "crowd(10, 1, 1, 8)": "0 of 3 seeds; at least",
        "crowd(2, 1, 2, 2)": "Assumption 1",
        "['good film', 'bad film']": "return an attnsel.Corpus",
    },
    "selection-limit": {
        "speed(a, b, ids, signs)": "K is missing",
        "np.outer(b, b) @ speed(a, b, ids, signs)": "a token also moves itself",
        "-right": "goes downhill",
        "right * len(ids)": "mean over the sequences, not their sum",
        "speed(a, b, ids, signs) * (1 + sum(x * x for x in b.tolist()))": "number ‖b‖²",
        "speed(a, b, ids, signs) * (1 + b.numpy() ** 2)": "squares of its diagonal",
    },
    "reviews-neutral": {
        "y.mean()": "more: that is the mean label of the texts",
        "-(y * T).sum() / C.sum()": "sign is reversed",
        "(y * C).sum() / n": "mean length as well",
        "C[y[:, 0] > 0].sum() / C.sum()": "tokens in positive texts, from 0 to 1",
    },
    "reviews-lean": {
        "-right": "sign is reversed",
        "(y * C).mean(0)": "signed frequency",
        "(y * (C > 0)).sum(0) / (C > 0).sum(0)": "twice in a text counts twice",
        "(y * C).sum(0) / (C > 0).sum(0)": "not by in how many texts",
        "C[y[:, 0] > 0].sum(0) / C.sum(0)": "positive texts, from 0 to 1",
        "np.nan_to_num(right)": "has no lean: nan",
    },
    "reviews-bins": {
        "bins(x, y, lambda a: a if a != a else math.floor((a + 1) * 10))": (
            "last bin contains its right end, too: some tokens"
        ),
        "bins(x, y, bin_of, empty=0.0)": "an empty bin has no mean",
        "bins(x, y, lambda a: bin_of(2 * (a - np.nanmin(x)) / np.ptp(x[x == x])"
        " - 1 + 1e-12))": "whatever the points",
        "bins(x, y, bin_of, lambda part: np.std(part, ddof=1) if len(part) > 1 else"
        " np.nan)": "not by the count minus one",
        "bins(x, y, lambda a: bin_of(0.0 if a != a else a))": (
            "without x belongs to no bin"
        ),
        "bins(x, y, lambda a: bin_of(1.0 if a != a else a))": (
            "without x is in no bin, and np.digitize puts it into the last"
        ),
        "bins(x, y, bin_of, np.var)": "that is the variance",
        "bins(x, y, bin_of)": RIGHT,
    },
    "reviews-null": {
        "corpus[torch.arange(n).flip(0)]": "tokens still lean to a label, more",
        # token 0 read as token 1
        "Corpus(scipy.sparse.csr_array(C @ np.eye(40)[np.maximum(range(40), 1)]),"
        " right_corpus.labels, corpus.vocab)": "how often each occurs",
        "corpus.with_labels(torch.arange(n) % 3 // 2)": "texts each class has",
        "corpus[::2]": "texts and tokens there are, and how often each occurs",
        "right_corpus[torch.arange(n).flip(0)]": RIGHT,
        "right_corpus[1:]": WRONG,
        "Corpus(corpus.counts[np.arange(n) * 7 % n], corpus.labels, corpus.vocab)": (
            RIGHT
        ),
    },
    "memorized-chance": {
        "flips(n, lambda k: 10 * k > 9 * n)": "one end of the axis",
        "flips(n, lambda k: abs(2 * k - n) * 10 >= 8 * n)": "strictly beyond",
        "flips(n, lambda k: k % n == 0)": "completely one-sided",
        "flips(n, lambda k: abs(k - n / 2) > 0.3 * n)": "nine tenths, not eight",
        "2 * scipy.stats.norm(n / 2, n**0.5 / 2).cdf((n - 1) // 10)": (
            "normal approximation; few flips need the exact sum"
        ),
        "2 * scipy.stats.norm(n / 2, n**0.5 / 2).cdf((n - 1) // 10 + 0.5)": (
            "half a count on; take the exact sum"
        ),
    },
    "own-texts-p": {
        "shuffled(x, m, n_1, n, lambda k, one, other: k >= x)": "one tail only",
        "shuffled(x, m, n_1, n, lambda k, one, other: k == x)": "of x alone; add all",
        "tossed(x, m, n_1 / n)": "without replacement",
        "1 - shuffled(x, m, n_1, n, lambda k, one, other: one > other * (1 + 1e-9))": (
            "no digits left where p is below 1e-16: add up"  # one p-value is 1e-32
        ),
        "(lambda law: law[law <= law[x]].sum())"
        "(scipy.stats.hypergeom(n, n_1, m).pmf(np.arange(m + 1)))": (
            "differ by rounding: compare with"
        ),
        "shuffled(x, m, n_1, n, lambda k, one, other: one < other * (1 - 1e-9))": (
            "as likely as x count"
        ),
        "shuffled(x, m, n_1, n, lambda k, one, other:"
        " abs(k * n - m * n_1) >= abs(x * n - m * n_1))": "as far from the mean",
    },
    "settings-spread": {
        "spread(x, y)[0].mean()": "that is the deviation itself",
        "spread(x, y, 1)[0].mean() / np.ptp(spread(x, y, 1)[1])": (
            "with fewer than five tokens"
        ),
        "spread(x, y)[0].mean() / np.ptp(y.numpy())": "not of all heights",
        "spread(x, y)[0] @ spread(x, y)[2] / spread(x, y)[2].sum()"
        " / np.ptp(spread(x, y)[1])": "each bin counts once, however many tokens",
    },
    "explanation-influence": {
        "[q * (x - Q @ b) for q, x in zip(Q, b)]": "still contains the token",
        "[q * x for q, x in zip(Q, b)]": "value leaves out the logit of the rest",
        "[(Q @ b - q * x) / (1 - q) for q, x in zip(Q, b)]": (
            "without the token; how far is it from f"
        ),
    },
    "explanation-flip": {
        "(lambda order: order[: np.argmax((Q * b * np.sign(Q @ b))[order].cumsum()"
        " > abs(Q @ b)) + 1])(np.argsort(-Q))": "took the tokens by their attention",
        "[Q.argmax()]": "one token, the most attended, is not always",
        "list(range(len(Q)))": "some token has to be left",
        "Q * b * np.sign(Q @ b)": "whole numbers",
        "set(right.astype(int).tolist())": RIGHT,
        "right[::-1]": RIGHT,
        "right[:-1]": WRONG,
        "one_more(right, Q, b)": "are enough, not",
    },
    "explanation-reversed": {
        "[0.5, 0.4, 0.3, 0.2, 0.1], [1, 2, 3, 4, 5]": "positive and sums to one",
        "right[0] * (1 + 5e-7), right[1]": RIGHT,
        "right[0] * (1 - 2e-6), right[1]": "sums to one",
        "[0.3, 0.3, 0.2, 0.15, 0.05], [1, 2, 3, 4, 5]": "tokens ... same attention",
        "[0.35, 0.25, 0.2, 0.15, 0.05], [9, 1, 1, 1, 1]": (
            "more attention than token 1, and its influence is not smaller"
        ),
        "[0.5, 0.5], [1, -1]": "two lists of five",
        "[np.nan] * 5, [1, 2, 3, 4, 5]": "two lists of five",
        "[0.2] * 5, [np.inf] * 5": "two lists of five",
    },
    "interactions-gate": {
        "[0, 0, 9], [B, -B, -0.5]": "cannot turn an opinion",
        "[3, 3, 3], [B, -B, 0]": "0.5 of the attention",
        "[-6, -6, 0], [B, -B, 0]": "0.998 of the attention",
        "[0, 0, 9], [2 * B, -2 * B, 0]": 'alone, "good"',
        "[0, 0, math.log(101 * B)], [B, -B, 0]": RIGHT,
        "[0, 0, math.log(95 * B)], [B, -B, 0]": "of the attention",
        "[0, 0, math.log(101 * B)], [(1 + 5e-7) * B, -B, 0]": RIGHT,
        "[0, 0, math.log(101 * B)], [(1 + 2e-6) * B, -B, 0]": 'alone, "good"',
        "[0, 0, math.log(1e4 * B)], [B, -B, 0.0098]": RIGHT,
        "[0, 0, math.log(1e4 * B)], [B, -B, 0.0102]": "cannot turn an opinion",
    },
    "outside-pair": {
        "-right": "this is a_t - a_s",
        "np.exp(right)": "ratio of the weights",
        "log_expit(right)": "logarithm of one weight",
    },
    "outside-betrayed": {
        "[[x * z <= 0 for z in zeta] for x in zeta]": "look like attention",
        "[[x * z > 0 for z in zeta] for x in zeta]": "no pair with itself",
        "[[(x + start) * (z + start) > 0 and s != t for t, z in enumerate(zeta)]"
        " for s, x in enumerate(zeta)]": "not of the value",
        "[[min(x, z) > 0 and s != t for t, z in enumerate(zeta)]"
        " for s, x in enumerate(zeta)]": (
            "above the higher value; the ones below the lower count"
        ),
    },
    "outside-tanh": {
        "(math.exp(c) + math.exp(-c)) / 2": "right for one neutral word; next to more",
        "right / k": "all k neutral words",
        "k / (math.tanh(c) / math.tanh(c / k) - 1 or math.nan)": (
            "mean is over k + 1 words"
        ),
        "np.log(right)": "not its logarithm",
    },
    "classes-once": {
        "C.T @ (classes - 1 / classes.shape[1]) / n": "count a token once",
        "(C > 0).T @ classes / n": "classes push back: 1/K is missing",
        "right * n": "sum over the sequences; take their mean",
        "-right": "sign is reversed",
        "right.T": "rows are tokens and columns classes: transpose",
        "(C > 0).T @ (classes - 1 / 3) / n": "four classes, not three",
    },
    "deeper-bag": {
        "two_layers(X, W1, k, v, r, 1, 1)": "not used at all",
        "two_layers(X, W1, k, v, r, 1, counts.numpy())": "the first softmax needs",
        "two_layers(X, W1, k, v, r, counts.numpy(), 1)": "the second softmax needs",
        "two_layers(X, W1, k, v, r, *[np.exp(counts.numpy())] * 2)": "logarithms",
        "two_layers(X, W1, k, v, 0, *[counts.numpy()] * 2)": "residual is missing",
        "two_layers(X.repeat_interleave(counts, 0), W1, k, v, r, 1, 1)": "fails",
    },
    "broken-winner": {
        # of equal votes, the last token: none is equal
        "C.shape[1] - 1 - np.where(C > 0, y * (y * C / T).mean(0).round(9), -9)"
        "[:, ::-1].argmax(1)": RIGHT,
        "np.where(C > 0, (y * C / T).mean(0).round(9), -9).argmax(1)": (
            "missing: a negative sequence goes to its most negative token"
        ),
        "np.where(C > 0, y * (y * C).mean(0).round(9), -9).argmax(1)": "not alpha",
        "(y * (y * C / T).mean(0).round(9)).argmax(1)": "in the sequence can win",
        "np.where(C > 0, -y * (y * C / T).mean(0).round(9), -9).argmax(1)": "sign",
    },
}


# The formulas of hints and the words for them, the first hint's before the second's,
# and the right answer that they lead to.
FORMULAS: dict[str, str] = {
    "model-logit: a[ids] ... b[ids]": "softmax({}) @ {}",
    "model-forward: w * b ... w": (
        "(lambda w: counts @ ({}) / (counts @ {}))((a - a.max()).exp())"
    ),
    "one-step-gradient: y g Q_s ... y g Q_s (b_s - f)": (
        "-np.outer(({}).mean(0), v) - np.outer(({}).mean(0), p)"
    ),
    "one-step-z: .var(0)": (
        "z_score(C, y, y.mean() * C.mean(0), y.var() * C{} / (n - 1))"
    ),
    "max-margin-rows: corpus.counts.nonzero()": (
        "(lambda n, s: (E[selected[n]] - E[s])[selected[n] != s])(*{})"
    ),
    "max-margin-rows: selected[n]": (
        "(lambda n, s: (E[{0}] - E[s])[{0} != s])(*C.nonzero())"
    ),
    "max-margin-pull: y g Q_s (b_s - f)": "E.T @ ({}).mean(0)",
    "max-margin-pull: Q @ b ... Q.T": (
        "(lambda u: E.T @ (b * ({1} @ u) - {1} @ (u * ({0}))))((y * g)[:, 0] / n)"
    ),
    "selection-push: product of values gives the push of all tokens": (
        "brentq(lambda x: k * x * (x * ahead - x * behind) - behind, 0, 1e3)"
    ),
    "selection-push: k x ... k x ... x": (
        "brentq(lambda x: {2} * ({0} * ahead - {1} * behind) - behind, 0, 1e3)"
    ),
    "convergence-cosine: 1/m ... lead / m^2": "({1}) / (norm * ({0}))",
    "memorized-chance: 2 k / n - 1": "flips(n, lambda k: abs({}) > 0.8 + 1e-12)",
    "memorized-chance: n / 10 ... 9 n / 10": "flips(n, lambda k: (k < {}) | (k > {}))",
    "classes-once: corpus.counts > 0 ... which sequences contain which token": (
        "({}).T @ (classes - 1 / classes.shape[1]) / n"
    ),
    "classes-once: rows of torch.eye(K), minus 1/K. The mean over the sequences": (
        "(lambda row: ((C > 0)[..., None] * row[:, None]).mean(0))"
        "(np.eye(classes.shape[1])[corpus.targets] - 1 / classes.shape[1])"
    ),
    "broken-winner: mean over the sequences of y times the count ... after the step": (
        "np.where(C > 0, y * (y * C / T).mean(0).round(9), -9).argmax(1)"
    ),
    "broken-winner: corpus.bags() ... towards the label": (
        "[ids[(label * (y * C / T).mean(0)[ids]).argmax()] "
        "for label, (ids, _) in zip(y, corpus.bags())]"
    ),
    "deeper-bag: terms in the sum of the softmax ... a + log c": (
        "two_layers(X, W1, k, v, r, *[np.exp(np.log(counts.numpy()))] * 2)"
    ),
    "deeper-bag: two softmaxes; in the first each row runs over the tokens": (
        "(lambda more: (lambda H: torch.softmax(H @ k + more, 0) @ H @ v)"
        "(torch.softmax(X @ W1 @ X.T + more, dim=1) @ X + r * X))(counts.log())"
    ),
    "floating-lead: sum of q_i (b_top - b_i) over the other tokens": (
        "scipy.special.logsumexp(a[1:], b=b[0] - b[1:]) - scipy.special.logsumexp(a)"
    ),
    "interactions-gate: how much attention is left for good": (
        "(lambda left: ([0, 0, math.log(1 / left - 1)], [B, -B, 0]))(0.0099 / B)"
    ),
    "explanation-flip: Without S ... f minus the sum of Q b over S": (
        "(lambda S, f: S[: next(k for k in range(1, len(Q)) "
        "if f * (f - (Q * b)[S[:k]].sum()) < 0)])"
        "(np.argsort(-Q * b * np.sign(Q @ b)), Q @ b)"
    ),
    "synthetic-break: n_relevant=R with R of 100 tokens determines": (
        "attnsel.synthetic_corpus(1000, 100, 20, delta=0.1, n_relevant=70)"
    ),
    "convergence-constant: 1 / (1 + exp(vote)) ... vote minus other": (
        "max(len(votes) / (({}) * ({})) for vote, other in zip(votes, others))"
    ),
    "convergence-theta: log(1 + exp(-vote)) + n excess": (
        "min((output_of({}) - other) / (vote - other) for vote, other, n in "
        "zip(votes, others, [len(votes)] * len(votes)))"
    ),
    "convergence-theta: Q vote + (1 - Q) other": (
        "min(thetas(votes, others, len(votes) * excess, lambda z, vote, other: "
        "brentq(lambda Q: {} - z, -9, 9)))"
    ),
    "deviations-background: C @ b / T": (
        "-v2 / 4 * (lambda T: ({}) / T @ C)(T[:, 0]) / n"
    ),
    "deviations-background: 1/4": "-v2 * ({}) * (C / T * f).mean(0)",
    "first-step-own: y g c_s/T (b_s - f)": "(lambda g, c: ({}).mean(0))(0.5, C)",
    "explanation-influence: Without s ... 1 / (1 - Q_s)": (
        "Q * (b - (Q @ b - Q * b) * ({1}))"
    ),
    "explanation-influence: f - Q_s b_s ... 1 - Q_s": (
        "(lambda f: f - ({}) / ({}))(Q @ b)"
    ),
    "frozen-value: -eta_0 (g_a p + g_b v0)": (
        "(E + (lambda g_a, g_b, v0: {})(*(x[:, None] / eta_0 for x in (ga, gb)), "
        "old)) @ v"
    ),
    "frozen-embeddings: two linear equations": (
        "torch.linalg.lstsq(torch.stack([p, v]), ab.T, driver='gelsd').solution.T"
    ),
    "frozen-embeddings: torch.stack([p, v])": (
        "torch.linalg.lstsq({}, ab.T, driver='gelsd').solution.T"
    ),
    "margins-adam: .9 m + .1 g ... beta2 s + (1 - beta2) g^2": (
        "(lambda m, s: [p + rate * m / (1 - 0.9**t) / ((s / (1 - beta2**t)) ** 0.5 + "
        "eps), m, s])({}, {})"
    ),
    "margins-first-step: x / sqrt(x * x)": (
        "-lr * (lambda x, sqrt: {})(g @ torch.stack([p, v]), torch.sqrt)"
    ),
    "margins-first-step: two averages are the gradient and its square": (
        "-lr * (lambda m: m / (m**2) ** 0.5)(g @ torch.stack([p, v]))"
    ),
    "margins-query-rate: sign(p_j)": "rate / float((lambda sign: {})(torch.sign) @ p)",
    "outside-pair: q b_s + (1 - q) b_t": (
        "(lambda q: np.log(q / (1 - q)))(brentq(lambda q: {} - f, 1e-9, 1 - 1e-9))"
    ),
    "outside-tanh: w b / (w + k) ... tanh(c / (k + 1))": (
        "brentq(lambda w, b, tanh: {} - {}, 0, 1e6, args=(np.tanh(c), np.tanh))"
    ),
    "own-texts-p: scipy.stats.hypergeom(n, n_1, m).pmf(k)": (
        "(lambda law: law[law <= law[x] * (1 + 1e-9)].sum())((lambda k: "
        "{})(np.arange(m + 1)))"
    ),
    "reviews-neutral: tokens do the positive texts contain ... the negative texts": (
        "(C[y[:, 0] > 0].sum() - C[y[:, 0] < 0].sum()) / C.sum()"
    ),
    "selection-limit: the loss of the scores a": (
        "(lambda x: x + (b @ x) * b)(torch.from_numpy(speed(a, b, ids, signs)))"
    ),
    "reviews-bins: np.linspace(-1, 1, 21)": (
        "bins(x, y, lambda a: np.digitize(a, {}) - 1 - (a == 1))"
    ),
    "reviews-bins: np.digitize(x, edges) - 1": (
        "bins(x, y, lambda x, edges=np.linspace(-1, 1, 21): {} - (x == 1))"
    ),
    "selection-limit: x + b (b·x)": (
        "(lambda x: {})(torch.from_numpy(speed(a, b, ids, signs)))"
    ),
    "synthetic-lean: length - 1": (
        "(lambda often: 2 * often[1] / often.sum(0) - 1)(first + ({}) * later)"
    ),
    "synthetic-sampler: first[y]": "sample({}, later[y], length)",
    "synthetic-limit: length - 1": "1 - 0.5 ** (1 / (n * ({})))",
    "why-v-exposure: y g f ... Q_s": "(({}) * {}).mean(0)",
    "why-v-exposure: w * (C.T @ x)": (
        "(lambda w: (lambda x: {})((y * g * f)[:, 0] / (C @ w)))(np.exp(a)) / n"
    ),
    "why-v-step: y g Q_s ... y g Q_s (b_s - f)": (
        "[a + rate * ({1}).mean(0), b + rate * ({0}).mean(0)]"
    ),
    "why-v-step: b * toward_v minus the exposure": (
        "[a + rate * (lambda toward_v, exposure: {})((y * g * Q).mean(0), (y * g * Q "
        "* f).mean(0)), right[1]]"
    ),
    "why-v-balance: E.T @ E ... np.outer": "{0} - {1}(p, p) - {1}(v, v)",
}


def with_names(name: str, given: tuple[Any, ...]) -> dict[str, Any]:
    """Return the arguments of an exercise by name, and what is made of them."""
    keys = inspect.signature(TASKS[name].solution).parameters
    names = dict(zip(keys, given, strict=True))
    if name == "frozen-value":
        parts = stepped(*given[:3])
        names |= dict(zip(("E", "p", "old", "ga", "gb"), parts, strict=True))
        names["v"] = given[3].numpy()
    if "corpus" in names and name != "convergence-start":
        corpus = names["corpus"]
        C = corpus.counts.toarray().astype(float)
        names |= {"C": C, "T": C.sum(axis=1, keepdims=True), "n": len(C)}
        names["classes"] = np.eye(corpus.n_classes)[corpus.targets]
        if corpus.n_classes == 2:
            names["y"] = corpus.targets.numpy()[:, None] * 2.0 - 1
            names["lean"] = (names["y"] * C).sum(axis=0) / C.sum(axis=0)
        if isinstance(names.get("E"), np.ndarray) and "p" in names:
            names |= {"a": names["E"] @ names["p"], "b": names["E"] @ names["v"]}
        if "b" in names:
            a, b = names.get("a", 0 * names["b"]), names["b"]
            names |= dict(zip("Qfg", attended(C, names["y"], a, b), strict=True))
    return names


def answer(name: str, expression: str) -> Callable[..., Any]:
    """Return the function of the arguments of an exercise that an expression is."""
    code = compile(expression, name, "eval")

    def of(*given: Any) -> Any:
        names = globals() | with_names(name, given)
        if "right" in expression:
            result = TASKS[name].solution(*given)
            names |= {"right_tensor": result, "right_corpus": result}
            names["right"] = as_numbers(result)
        return eval(code, names)

    return of


@by_name(sorted(TABLE))
def test_an_answer_gets_its_verdict(name):
    unseen = set(TASKS[name].mistakes)
    for expression, words in TABLE[name].items():
        verdict = judge(TASKS[name], answer(name, expression))
        assert (verdict.state == "right") is (words == RIGHT), (expression, verdict)
        if words not in (RIGHT, WRONG):
            pattern = ".*".join(map(re.escape, words.split(" ... ")))
            assert re.search(pattern, verdict.text), (expression, verdict)
            unseen -= {said for said in unseen if re.search(pattern, said)}
    assert not unseen, f"{name}: write an answer that makes these mistakes"


def as_python(formula: str, name: str) -> str:
    """Return a formula of a hint in Python: without indices, with signs of products."""
    given = inspect.signature(TASKS[name].solution).parameters
    formula = re.sub(
        r"\b([EQbchpw])_[sij]\b",
        lambda found: found[0] if found[0] in given else found[1],
        formula,
    )
    for words, sign in (("minus the", "-"), ("minus", "-"), ("^", "**"), ("·", " @ ")):
        formula = formula.replace(words, sign)
    formula = re.sub(r"(?<=[\w)\]]) (?=[\w(])", " * ", formula)
    return re.sub(r"\b(exp|log)\(", r"np.\1(", formula)


@by_name(sorted({key.partition(":")[0] for key in FORMULAS}))
def test_the_formulas_of_a_hint_lead_to_a_right_answer(name):
    places = []
    for key, expression in FORMULAS.items():
        exercise, _, parts = key.partition(": ")
        if exercise == name:
            formulas = parts.split(" ... ")
            pattern = ".*".join(map(re.escape, formulas))
            found = [bool(re.search(pattern, hint)) for hint in TASKS[name].hints]
            assert any(found), f"no hint has {pattern}"
            places.append(found.index(True))
            text = expression.format(*(as_python(x, name) for x in formulas))
            verdict = judge(TASKS[name], answer(name, text))
            assert verdict.state == "right", (text, verdict)
    assert places == sorted(places), f"{name}: the plainer hint is the second one"


def verdict_on(name: str, factor: float, only: int | None = None) -> Verdict:
    """Judge the right results, the greatest number of one or all of them changed.

    Of whole numbers, one is taken off instead.
    """
    results = []
    for i, (result, _) in enumerate(runs(name)):
        found = as_numbers(result)
        assert found is not None
        sizes = np.where(np.isfinite(found), np.abs(found), -1.0)
        place = np.unravel_index(sizes.argmax(), found.shape)
        if only in (None, i):
            found[place] = found[place] - 1 if is_whole(name) else factor * found[place]
        results.append(found)
    given = iter(results)
    return judge(TASKS[name], lambda *_: next(given))


def is_whole(name: str) -> bool:
    return str(getattr(runs(name)[0][0], "dtype", "")).endswith(("bool", "int64"))


COMPARED = sorted(name for name, task in TASKS.items() if task.expected)


@by_name(COMPARED)
def test_one_per_cent_in_one_number_of_one_case_is_noticed(name):
    some = [
        i for i, (x, _) in enumerate(runs(name)) if np.nan_to_num(as_numbers(x)).any()
    ]
    for i in {some[0], some[-1]}:  # a zero stays as it is
        assert verdict_on(name, 1.01, only=i).state == "wrong", i


@by_name(COMPARED)
def test_rounding_is_allowed_and_no_more(name):
    if not is_whole(name):
        assert verdict_on(name, 1 + 1e-5).state == "right"
        assert verdict_on(name, 1 + 3e-5).state == "wrong"
