"""A mistake that is made a second time, in other lines, is told by its sentence.

Below stands for each sentence of each exercise what a reader may have written who makes
that mistake: from the formula, by loops where the book has products of matrices, and
without what the exercise itself is made with. What asks for an example has another
example of the same mistake.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from scipy.optimize import brentq
from scipy.special import expit, log_expit, softmax

import attnsel
from attnsel.corpus import Corpus
from attnsel.synthetic import separable_corpus, synthetic_corpus
from attnsel_book.exercises.checking import exercises, judge
from attnsel_book.exercises.messages import as_numbers
from support.tried import by_name, time_enough  # noqa: F401

pytestmark = pytest.mark.usefixtures("time_enough")

Answer = Callable[..., Any]
SECOND: dict[str, dict[str, Answer]] = {}


def right(name: str, change: Callable[..., Any]) -> Answer:
    """Return the shown solution, its numbers changed in view of the arguments."""
    solution = exercises()[name].solution
    return lambda *given: change(as_numbers(solution(*given)), *given)


def rows(corpus: Corpus) -> Iterator[tuple[list[int], float]]:
    """Yield the tokens of each sequence, as often as they occur, and its sign."""
    counts = corpus.counts.toarray().astype(int)
    for row, label in zip(counts, corpus.targets.tolist(), strict=True):
        tokens = [s for s, c in enumerate(row) for _ in range(c)]
        yield tokens, 2.0 * label - 1.0


def over(corpus: Corpus, of: Callable[..., float]) -> np.ndarray:
    """Return the mean over sequences of a number for each token.

    It is made of how often the sequence holds the token, its length and its sign.
    """
    n_tokens = len(corpus.vocab)
    total = np.zeros(n_tokens)
    for tokens, y in rows(corpus):
        for s in range(n_tokens):
            total[s] += of(tokens.count(s), len(tokens), y)
    return total / len(corpus)


# -- the model ----------------------------------------------------------------------


def logit_with(
    of_sequence: Callable[[np.ndarray, np.ndarray], float],
) -> Answer:
    return lambda ids, a, b: of_sequence(
        np.array([a[s] for s in ids]), np.array([b[s] for s in ids])
    )


def over_all_tokens(ids: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    total = sum(np.exp(x - a.max()) for x in a)
    return sum(np.exp(a[s] - a.max()) / total * b[s] for s in ids)


def each_token_once(ids: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    once = sorted(set(ids.tolist()))
    return softmax(a[once]) @ b[once]


SECOND["model-logit"] = {
    "not over the whole vocabulary": over_all_tokens,
    "value with the largest score": logit_with(
        lambda a, b: max(zip(a, b, strict=True), key=lambda pair: pair[0])[1]
    ),
    "plain mean of the values": logit_with(lambda a, b: sum(b) / len(b)),
    "divide by their sum": logit_with(
        lambda a, b: sum(math.exp(x - max(a)) * y for x, y in zip(a, b, strict=True))
    ),
    "occurs twice has two weights": each_token_once,
    "exchanged": logit_with(lambda a, b: softmax(b) @ a),
    "e to the 1000": logit_with(lambda a, b: (np.exp(a) / np.exp(a).sum()) @ b),
    "before the sigmoid": logit_with(lambda a, b: 1 / (1 + math.exp(-softmax(a) @ b))),
    "not the mean": logit_with(lambda a, b: softmax(a) @ b / len(b)),
    "scores times values": logit_with(
        lambda a, b: sum(x * y for x, y in zip(a, b, strict=True))
    ),
}


def bag_logits(weight: Callable[..., Any], centered: bool = True) -> Answer:
    """Return logits from what a token weighs: of its count, its score and the top."""

    def logits(counts: Any, a: Any, b: Any) -> torch.Tensor:
        found = []
        for row in counts.to_dense():
            w = [
                weight(c, x, a.max()) if c else 0.0 * x
                for c, x in zip(row, a, strict=True)
            ]
            total = torch.stack(w)
            f = (total * b).sum()
            found.append(f / total.sum() if centered else f)
        return torch.stack(found)

    return logits


SECOND["model-forward"] = {
    "occurs twice has twice the weight": bag_logits(lambda c, x, top: (x - top).exp()),
    "plain mean of the values": bag_logits(lambda c, x, top: c + 0 * x),
    "divide by their sum": bag_logits(
        lambda c, x, top: c * (x - top).exp(), centered=False
    ),
    "not over the whole vocabulary": lambda counts, a, b: bag_logits(
        lambda c, x, top: c * (x - torch.logsumexp(a, 0)).exp(), centered=False
    )(counts, a, b),
    "exchanged": lambda counts, a, b: bag_logits(lambda c, x, top: c * (x - top).exp())(
        counts, b, a
    ),
    "e to the 1000": bag_logits(lambda c, x, top: c * x.exp()),
    "no gradient": lambda counts, a, b: bag_logits(
        lambda c, x, top: c * (x - top).exp()
    )(counts, a.detach(), b.detach()),
}

SECOND["model-constant"] = {
    "by c ‖v‖²": lambda E, p, v, c: np.array([row + c * v for row in E]),
    "by c ‖v‖;": lambda E, p, v, c: np.array(
        [row + c * v / (v @ v) ** 0.5 for row in E]
    ),
    "c in every entry": lambda E, p, v, c: E + np.full(E.shape, c),
    "a factor is no constant": lambda E, p, v, c: E + c * E,
    "along p": lambda E, p, v, c: E + np.outer(np.ones(len(E)), c * p / sum(p * p)),
}


def lean(corpus: Corpus) -> np.ndarray:
    """Return the share of the occurrences of a token by label, one less the other."""
    votes = over(corpus, lambda count, length, y: y * count)
    return votes / over(corpus, lambda count, length, y: count)


SECOND["model-two-numbers"] = {
    "seven other words dilute": lambda corpus: [
        np.zeros(len(corpus.vocab)),
        3 * lean(corpus),
    ],
    "needs a large score, too": lambda corpus: [20 * lean(corpus), 3 * lean(corpus)],
    "wrong sign": lambda corpus: [20 * np.abs(lean(corpus)), -3 * lean(corpus)],
    "on the frequent tokens": lambda corpus: [
        len(corpus) * over(corpus, lambda count, length, y: count),
        3 * lean(corpus),
    ],
}

# -- one step, and the step on p ------------------------------------------------------

SECOND["one-step-alpha"] = {
    "sign is turned": right("one-step-alpha", lambda x, corpus: -x),
    "labels are 0 and 1": lambda corpus: over(corpus, lambda c, T, y: c * (y + 1) / 2),
    "number of sequences, not of tokens": right(
        "one-step-alpha", lambda x, corpus: x * len(corpus) / corpus.counts.sum()
    ),
    "sum over the sequences": lambda corpus: (
        len(corpus) * over(corpus, lambda c, T, y: c * y)
    ),
    "divided by the lengths it is beta": lambda corpus: over(
        corpus, lambda c, T, y: y * c / T
    ),
    "posterior difference": lean,
    "count every occurrence": lambda corpus: over(corpus, lambda c, T, y: y * (c > 0)),
}


def gradient_by_loops(
    of_token: Callable[..., tuple[float, float]], even: bool = False, once: bool = False
) -> Answer:
    """Return the gradient in E, (V, d), from what each token adds along v and p.

    That is made of y g, its attention, value and the logit; where g = sigmoid(-y f).
    """

    def gradient(E: Any, p: Any, v: Any, corpus: Corpus) -> np.ndarray:
        total = np.zeros_like(E)
        for tokens, y in rows(corpus):
            tokens = sorted(set(tokens)) if once else tokens
            values = E[tokens] @ v
            q = np.full(len(tokens), 1 / len(tokens))
            if not even:
                q = softmax(E[tokens] @ p)
            f = q @ values
            for s, share, value in zip(tokens, q, values, strict=True):
                along_v, along_p = of_token(y, share, value, f)
                total[s] -= along_v * v + along_p * p
        return total / len(corpus)

    return gradient


SECOND["one-step-gradient"] = {
    "minus the gradient": right("one-step-gradient", lambda x, *_: -x),
    "divide by their number": right(
        "one-step-gradient", lambda x, E, p, v, corpus: x * len(corpus)
    ),
    "part along p is missing": gradient_by_loops(
        lambda y, q, b, f: (y * expit(-y * f) * q, 0.0)
    ),
    "b_s - f, not the value": gradient_by_loops(
        lambda y, q, b, f: (y * expit(-y * f) * q, y * expit(-y * f) * q * b)
    ),
    "where the model is wrong": gradient_by_loops(
        lambda y, q, b, f: (y * expit(y * f) * q, y * expit(y * f) * q * (b - f))
    ),
    "not uniform": gradient_by_loops(
        lambda y, q, b, f: (y * expit(-y * f) * q, y * expit(-y * f) * q * (b - f)),
        even=True,
    ),
    "multiply by the counts": gradient_by_loops(
        lambda y, q, b, f: (y * expit(-y * f) * q, y * expit(-y * f) * q * (b - f)),
        once=True,
    ),
    "the wrong label, is missing": gradient_by_loops(
        lambda y, q, b, f: (y * q, y * q * (b - f))
    ),
    "p and v are exchanged": lambda E, p, v, corpus: gradient_by_loops(
        lambda y, q, b, f: (y * expit(-y * f) * q, y * expit(-y * f) * q * (b - f))
    )(E, v, p, corpus),
}


def z_by_columns(of_column: Callable[..., tuple[float, float]]) -> Answer:
    """Return z from what is taken off alpha and what divides, of a token's column."""

    def z(corpus: Corpus) -> list[float]:
        y = np.array([side for _, side in rows(corpus)])
        found: list[float] = []
        for column in corpus.counts.toarray().T.astype(float):
            center, spread = of_column(column, y, len(y))
            found.append(np.float64((column * y).sum() / len(y) - center) / spread)
        return found

    return z


SECOND["one-step-z"] = {
    "not centred": z_by_columns(
        lambda c, y, n: (0.0, np.sqrt(y.var() * c.var() / (n - 1)))
    ),
    "divide by n - 1": z_by_columns(
        lambda c, y, n: (y.mean() * c.mean(), np.sqrt(y.var() * c.var() / n))
    ),
    "the square of their mean, is missing": z_by_columns(
        lambda c, y, n: (y.mean() * c.mean(), np.sqrt(c.var() / (n - 1)))
    ),
    "without ddof=1": z_by_columns(
        lambda c, y, n: (
            y.mean() * c.mean(),
            np.sqrt(y.var() * c.var() * n) / (n - 1),
        )
    ),
    "the root of the variance": z_by_columns(
        lambda c, y, n: (y.mean() * c.mean(), y.var() * c.var() / (n - 1))
    ),
}

SECOND["one-step-lengths"] = {
    "all lengths are equal": lambda: ([[0], [1], [0]], [1, 0, 1]),
    "positive sequences have to be the long": lambda: ([[0, 0], [0, 1, 1, 1]], [1, -1]),
    "token 0 has to occur": lambda: ([[0, 1, 1, 1], [0]], [1, -1]),
    "a list of lists": lambda: ([[0, 1.5], [0]], [1, 0]),
}


def parts_by_loops(
    of_token: Callable[..., float], scale: float = 1.0, mean: bool = True
) -> Answer:
    """Return the sum over positions of what is made of y, f, g and the value."""

    def total(corpus: Corpus, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        found = np.zeros(len(a))
        for tokens, y in rows(corpus):
            q = softmax(scale * a[tokens])
            f = q @ b[tokens]
            for s, weight in zip(tokens, q, strict=True):
                found[s] += weight * of_token(y, f, expit(-y * f), b[s])
        return found / (len(corpus) if mean else 1)

    return total


SECOND["why-v-exposure"] = {
    "the label is missing": parts_by_loops(lambda y, f, g, b: g * f),
    "the factor g": parts_by_loops(lambda y, f, g, b: y * f),
    "g is large where the model": parts_by_loops(lambda y, f, g, b: y * f * (1 - g)),
    "not uniform": parts_by_loops(lambda y, f, g, b: y * f * g, scale=0.0),
    "sum over the sequences": parts_by_loops(lambda y, f, g, b: y * f * g, mean=False),
    "the output f is missing": parts_by_loops(lambda y, f, g, b: y * g),
}


def step_by_loops(
    of_score: Callable[..., float], factor: float = 1.0, rated: bool = True
) -> Answer:
    """Return the step whose score moves by the mean of what is made of y, f, g, b."""
    score = parts_by_loops(of_score)
    value = parts_by_loops(lambda y, f, g, b: y * g)

    def step(
        corpus: Corpus, a: np.ndarray, b: np.ndarray, rate: float
    ) -> list[np.ndarray]:
        size = factor * (rate if rated else 1.0)
        return [a + size * score(corpus, a, b), b + size * value(corpus, a, b)]

    return step


SECOND["why-v-step"] = {
    "descent goes against": step_by_loops(lambda y, f, g, b: y * g * (b - f), -1.0),
    "has to be subtracted": step_by_loops(lambda y, f, g, b: y * g * b),
    "the exposure lowers": step_by_loops(lambda y, f, g, b: y * g * (b + f)),
    "stay as they are": step_by_loops(lambda y, f, g, b: 0.0),
    "the rate is missing": step_by_loops(
        lambda y, f, g, b: y * g * (b - f), rated=False
    ),
}

SECOND["why-v-balance"] = {
    "p and v are subtracted": lambda E, p, v: (
        sum(np.outer(x, x) for x in E) + np.outer(p, p) + np.outer(v, v)
    ),
    "trace alone": lambda E, p, v: np.sum(E * E) - np.sum(p * p) - np.sum(v * v),
    "compares tokens": lambda E, p, v: np.einsum("ik,jk->ij", E, E),
    "p p^T is a matrix": lambda E, p, v: (
        np.einsum("ki,kj->ij", E, E) - np.sum(p * p) - np.sum(v * v)
    ),
    "v counts, too": lambda E, p, v: sum(np.outer(x, x) for x in E) - np.outer(p, p),
}

SECOND["why-v-upside-down"] = {
    "has to be below": lambda: ([[0], [1]], [1, 0]),
    "of one label": lambda: ([[0, 1], [0, 1, 2], [2]], [1, 0, 0]),
    "both labels": lambda: ([[0, 1, 1], [2]], [0, 0]),
}


def own_by_loops(of_token: Callable[..., float], factor: float = 0.5) -> Answer:
    """Return the own part from what is made of c, T, gamma_s and the sum of gamma."""

    def own(corpus: Corpus, gamma: np.ndarray) -> np.ndarray:
        total = np.zeros(len(gamma))
        for tokens, y in rows(corpus):
            said = sum(gamma[s] for s in tokens)
            for s in set(tokens):
                c, T = tokens.count(s), len(tokens)
                total[s] += factor * y * of_token(c, T, gamma[s], said)
        return total / len(corpus)

    return own


SECOND["first-step-own"] = {
    "attention is a competition": own_by_loops(lambda c, T, g, said: c * g / T),
    "one over the length": own_by_loops(lambda c, T, g, said: c * (g - said / T)),
    "not their sum": own_by_loops(lambda c, T, g, said: c / T * (g - said)),
    "g = 1/2": right("first-step-own", lambda x, *_: 2 * x),
    "down the gradient": right("first-step-own", lambda x, *_: -x),
}


def background_by_loops(of_token: Callable[..., float]) -> Answer:
    """Return the background from what is made of c, T, y and the sum of gamma."""

    def background(corpus: Corpus, gamma: np.ndarray, v2: float) -> np.ndarray:
        total = np.zeros(len(gamma))
        for tokens, y in rows(corpus):
            said = sum(gamma[s] for s in tokens)
            for s in set(tokens):
                total[s] += of_token(tokens.count(s), len(tokens), y, said)
        return -v2 / 4 * total / len(corpus)

    return background


def product_of_means(corpus: Corpus, gamma: np.ndarray, v2: float) -> np.ndarray:
    share = over(corpus, lambda c, T, y: c / T)
    return -v2 / 4 * share * sum(share * gamma)


SECOND["deviations-background"] = {
    "pushes against the lean": right("deviations-background", lambda x, *_: -x),
    "has lost the label": background_by_loops(
        lambda c, T, y, said: y * c / T * said / T
    ),
    "mean of the product": product_of_means,
    "a count over the length": background_by_loops(lambda c, T, y, said: c * said / T),
    "the factor is 1/4": right("deviations-background", lambda x, *_: 2 * x),
}


def after_a_step(terms: Callable[..., torch.Tensor]) -> Answer:
    """Return values after a step from the gradients of scores, found by autograd."""

    def values(start: Any, corpus: Corpus, eta: float, v: torch.Tensor) -> torch.Tensor:
        E, p, own = (part.detach() for part in start.parameters())
        a, b = (E @ p).requires_grad_(), (E @ own).requires_grad_()
        f = []
        for tokens, _ in rows(corpus):
            f.append(torch.softmax(a[tokens], 0) @ b[tokens])
        signs = torch.tensor([y for _, y in rows(corpus)])
        loss = torch.nn.functional.softplus(-signs * torch.stack(f)).mean()
        ga, gb = torch.autograd.grad(eta * loss, (a, b))
        return terms(E, p, own, v, ga, gb)

    return values


SECOND["frozen-value"] = {
    "goes down": after_a_step(
        lambda E, p, own, v, ga, gb: E @ v + ga * (p @ v) + gb * (own @ v)
    ),
    "part along p is missing": after_a_step(
        lambda E, p, own, v, ga, gb: (E - torch.outer(gb, own)) @ v
    ),
    "start.output, is missing": after_a_step(
        lambda E, p, own, v, ga, gb: (E - torch.outer(ga, p)) @ v
    ),
    "random start is missing": after_a_step(
        lambda E, p, own, v, ga, gb: -(torch.outer(ga, p) + torch.outer(gb, own)) @ v
    ),
    "g_a goes along p": after_a_step(
        lambda E, p, own, v, ga, gb: (E - torch.outer(gb, p) - torch.outer(ga, own)) @ v
    ),
    "not along v": after_a_step(
        lambda E, p, own, v, ga, gb: (E - torch.outer(ga, p) - torch.outer(gb, v)) @ v
    ),
}

# -- synthetic data -----------------------------------------------------------------


def lean_of_laws(often: Callable[..., float], divided: bool = True) -> Answer:
    """Return leans from how often a token occurs: of its two probabilities and T."""

    def leans(first: Any, later: Any, length: int) -> list[float]:
        found = []
        for s in range(first.shape[1]):
            no, yes = (
                often(float(first[row, s]), float(later[row, s]), length)
                for row in (0, 1)
            )
            found.append((yes - no) / (yes + no if divided else 1.0))
        return found

    return leans


SECOND["synthetic-lean"] = {
    "row 1 is the positive": right("synthetic-lean", lambda x, *_: -x),
    "law of the first token alone": lean_of_laws(lambda one, more, T: one),
    "the first token is drawn once": lean_of_laws(lambda one, more, T: one + more),
    "not length": lean_of_laws(lambda one, more, T: one + T * more),
    "under both labels": lean_of_laws(
        lambda one, more, T: one + (T - 1) * more, divided=False
    ),
}


def sampled(
    start: Callable[..., Any], other: Callable[..., Any], repeats: bool = True
) -> Answer:
    """Return a sampler by numpy from the law of each place: of laws and a label."""

    def drawn(first: Any, later: Any, y: Any, length: int, seed: int) -> np.ndarray:
        random = np.random.default_rng(seed)
        V, rows = first.shape[1], []
        for label in y.tolist():
            p, q = (np.array(law(first, later, label)) for law in (start, other))
            ids = [random.choice(V, p=p / p.sum())]
            rest = random.choice(V, length - 1, replace=repeats, p=q / q.sum())
            rows.append([*ids, *rest])
        return np.array(rows)

    return drawn


SECOND["synthetic-sampler"] = {
    "the labels are exchanged": sampled(
        lambda first, later, y: first[1 - y], lambda first, later, y: later[1 - y]
    ),
    "the first token of a sequence": sampled(
        lambda first, later, y: later[y], lambda first, later, y: later[y]
    ),
    "only the first token": sampled(
        lambda first, later, y: first[y], lambda first, later, y: first[y]
    ),
    "of its own label": sampled(
        lambda first, later, y: first[0] + first[1],
        lambda first, later, y: later[0] + later[1],
    ),
    "not equally likely": sampled(
        lambda first, later, y: 0 * first[y] + 1,
        lambda first, later, y: 0 * first[y] + 1,
    ),
    "may occur twice": sampled(
        lambda first, later, y: first[y],
        lambda first, later, y: later[y],
        repeats=False,
    ),
    "copies of one another": lambda first, later, y, length, seed: (
        [[int(first[0].argmax()), *range(length - 1)]] * len(y)
    ),
}

SECOND["synthetic-limit"] = {
    "all n sequences must comply": lambda n, T: 1 - math.exp(math.log(0.5) / (T - 1)),
    "length - 1 are left": lambda n, T: 1 - math.exp(math.log(0.5) / (n * T)),
    "that is k itself": lambda n, T: math.exp(math.log(0.5) / (n * (T - 1))),
    "bounds the sum": lambda n, T: 1 / (2 * n * (T - 1)),
}

SECOND["synthetic-break"] = {
    "the V is whole": lambda: synthetic_corpus(1000, 100, 20, delta=0.1, n_relevant=92),
    "at most 1,000": lambda: synthetic_corpus(1001, 100, 20, delta=0.1, n_relevant=70),
    "lean by chance": lambda: synthetic_corpus(1000, 100, 20, delta=0.1, n_relevant=40),
    "cannot be learned": lambda: synthetic_corpus(1000, 100, 20, delta=0.1).with_labels(
        torch.arange(1000) // 3 % 2
    ),
}

# -- the margin ---------------------------------------------------------------------


def margin_rows(
    of_sequence: Callable[..., list[np.ndarray]],
) -> Answer:
    def found(E: Any, corpus: Corpus, selected: np.ndarray) -> np.ndarray:
        parts = []
        for (tokens, _), r in zip(rows(corpus), selected.tolist(), strict=True):
            parts += of_sequence(E, sorted(set(tokens)), r)
        return np.array(parts)

    return found


SECOND["max-margin-rows"] = {
    "turn the sign round": margin_rows(
        lambda E, bag, r: [E[s] - E[r] for s in bag if s != r]
    ),
    "no rival of itself": margin_rows(lambda E, bag, r: [E[r] - E[s] for s in bag]),
    "not the whole vocabulary": margin_rows(
        lambda E, bag, r: [E[r] - E[s] for s in range(len(E)) if s != r]
    ),
    "do not take their mean": margin_rows(
        lambda E, bag, r: [E[r] - np.mean([E[s] for s in bag if s != r], axis=0)]
    ),
}


def pull_by_loops(
    of_token: Callable[..., float], even: bool = False, once: bool = False
) -> Answer:
    """Return the pull on p from what a token adds: of y, attention, value, logit."""

    def pull(E: Any, p: Any, v: Any, corpus: Corpus) -> np.ndarray:
        total = np.zeros(len(p))
        for tokens, y in rows(corpus):
            tokens = sorted(set(tokens)) if once else tokens
            q, b = softmax(E[tokens] @ p), E[tokens] @ v
            if even:
                q = np.full(len(tokens), 1 / len(tokens))
            for s, share, value in zip(tokens, q, b, strict=True):
                total += of_token(y, share, value, q @ b) * E[s]
        return total / len(corpus)

    return pull


SECOND["max-margin-pull"] = {
    "p goes down the gradient": right("max-margin-pull", lambda x, *_: -x),
    "divide by their number": right(
        "max-margin-pull", lambda x, E, p, v, corpus: x * len(corpus)
    ),
    "not the value itself": pull_by_loops(lambda y, q, b, f: y * expit(-y * f) * q * b),
    "where the model is wrong": pull_by_loops(
        lambda y, q, b, f: y * expit(y * f) * q * (b - f)
    ),
    "not uniform": pull_by_loops(
        lambda y, q, b, f: y * expit(-y * f) * q * (b - f), even=True
    ),
    "the wrong label, is missing": pull_by_loops(
        lambda y, q, b, f: y * q * (b - f),
    ),
    "multiply by the counts": pull_by_loops(
        lambda y, q, b, f: y * expit(-y * f) * q * (b - f), once=True
    ),
}

SECOND["max-margin-lost"] = {
    "a norm of 10": lambda: [-6.0, -8.0],
    "selects every relevant word": lambda: [0.0, 0.5],
    "two finite numbers": lambda: [float("inf"), 0.0],
}

SECOND["margins-query-rate"] = {
    "turn it round": lambda rate, p: rate * sum(abs(x) for x in p.tolist()),
    "plain descent": lambda rate, p: rate / sum(x * x for x in p.tolist()),
    "Muon": lambda rate, p: rate / math.sqrt(sum(x * x for x in p.tolist())),
    "many equal entries": lambda rate, p: rate / math.sqrt(len(p)),
}

SECOND["margins-epsilon"] = {
    "the sign": lambda lead, eps, other: lead + math.log(other) - math.log(eps),
    "root of v": lambda lead, eps, other: lead + math.log(math.sqrt(eps / other)),
    "natural logarithm": lambda lead, eps, other: (
        lead + (math.log(eps) - math.log(other)) / math.log(10)
    ),
    "leads add up": lambda lead, eps, other: lead * math.log(other, eps),
}


def adam_by_entries(
    move: Callable[..., float], returned: Callable[..., float] = lambda x, beta, t: x
) -> Answer:
    """Return Adam's step from the move of an entry: of m and s, beta2, t and eps."""

    def step(
        p: Any, g: Any, m: Any, s: Any, t: int, rate: float, beta2: float, eps: float
    ) -> list[list[float]]:
        found: list[list[float]] = [[], [], []]
        for x, slope, mean, square in zip(p, g, m, s, strict=True):
            mean = 0.9 * mean + (1 - 0.9) * slope
            square = beta2 * square + (1 - beta2) * slope * slope
            found[0].append(x + rate * move(mean, square, beta2, t, eps))
            found[1].append(returned(mean, 0.9, t))
            found[2].append(returned(square, beta2, t))
        return found

    return step


def full(mean: float, beta: float, t: int) -> float:
    """Return a mean that began at zero, corrected."""
    return mean / (1 - beta**t)


def adams(m: float, s: float, beta2: float, t: int, eps: float) -> float:
    return full(m, 0.9, t) / (math.sqrt(full(s, beta2, t)) + eps)


SECOND["margins-adam"] = {
    "both averages start at zero": adam_by_entries(
        lambda m, s, beta2, t, eps: m / (math.sqrt(s) + eps)
    ),
    "not by the mean square": adam_by_entries(
        lambda m, s, beta2, t, eps: full(m, 0.9, t) / (full(s, beta2, t) + eps)
    ),
    "not under it": adam_by_entries(
        lambda m, s, beta2, t, eps: full(m, 0.9, t) / math.sqrt(full(s, beta2, t) + eps)
    ),
    "add the step": adam_by_entries(lambda *given: -adams(*given)),
    "as they are kept": adam_by_entries(adams, returned=full),
}

SECOND["margins-first-step"] = {
    "it climbs": right("margins-first-step", lambda x, *_: -x),
    "that is gradient descent": lambda g, p, v, lr: -lr * (g @ torch.stack([p, v])),
    "sum of the signs": lambda g, p, v, lr: (
        -lr * (g.sign() @ torch.stack([p, v]).sign())
    ),
    "column 0 of g": lambda g, p, v, lr: -lr * torch.sign(g @ torch.stack([v, p])),
}

# -- convergence --------------------------------------------------------------------


SECOND["convergence-start"] = {
    "p is too short": right("convergence-start", lambda x, *_: x / np.linalg.norm(x)),
    "norm is 1000": right("convergence-start", lambda x, *_: 40 * x),
    "finite numbers are asked": lambda E, v, corpus, relevant: (E * v).sum(dim=1),
    "v says nothing": lambda E, v, corpus, relevant: v * (-25 / (v @ v).sqrt()),
}


def constant_by_loops(of_sequence: Callable[..., float], how: Answer = max) -> Answer:
    return lambda votes, others: how(
        of_sequence(len(votes), expit(-vote), vote - other)
        for vote, other in zip(votes, others, strict=True)
    )


SECOND["convergence-constant"] = {
    "n is missing": constant_by_loops(lambda n, g, gap: 1 / (g * gap)),
    "the worst of them decides": constant_by_loops(
        lambda n, g, gap: n / (g * gap), how=min
    ),
    "sign in the exponent": constant_by_loops(lambda n, g, gap: n / ((1 - g) * gap)),
    "g is missing": constant_by_loops(lambda n, g, gap: n / gap),
    "not g and gap apart": lambda votes, others: (
        len(votes) / min(expit(-votes)) / min(votes - others)
    ),
}


def theta_by_loops(
    share: Callable[..., float], how: Answer = min, parts: str = "n"
) -> Answer:
    """Return theta from the share of attention: of the worst y f, vote and other."""

    def theta(votes: np.ndarray, others: np.ndarray, excess: float) -> float:
        n, found = len(votes), []
        for vote, other in zip(votes, others, strict=True):
            loss = -log_expit(vote) + (n * excess if parts == "n" else excess)
            worst = brentq(lambda z, u=loss: -log_expit(z) - u, -60, 60, xtol=1e-13)
            found.append(share(worst, vote, other))
        return how(found)

    return theta


SECOND["convergence-theta"] = {
    "n times the excess": theta_by_loops(
        lambda z, vote, other: (z - other) / (vote - other), parts="one"
    ),
    "at least theta in each": theta_by_loops(
        lambda z, vote, other: (z - other) / (vote - other), how=max
    ),
    "sign of the inverse": theta_by_loops(
        lambda z, vote, other: (-z - other) / (vote - other)
    ),
    "divide by the gap": theta_by_loops(lambda z, vote, other: (z - other) / vote),
}

SECOND["floating-lead"] = {
    "agree in all digits": lambda a, b: np.log(
        b[0] - np.exp(a - a[0]) @ b / np.exp(a - a[0]).sum()
    ),
    "rounded to zero": lambda a, b: np.log(
        sum(w * (b[0] - y) for w, y in zip(np.exp(a - a[0]), b, strict=True))
        / np.exp(a - a[0]).sum()
    ),
    "sum of all weights": right(
        "floating-lead", lambda x, a, b: x + a[0] + np.log1p(np.exp(a[1:] - a[0]).sum())
    ),
    "its logarithm is asked": right("floating-lead", lambda x, a, b: np.exp(x)),
}

# -- which step selects -------------------------------------------------------------


def along(how: Callable[..., Any]) -> Answer:
    """Return embeddings row by row, from the part of each along v and the rest."""

    def found(E: torch.Tensor, v: torch.Tensor, c: float) -> torch.Tensor:
        parts = [(row @ v) / (v @ v) * v for row in E]
        return torch.stack(
            [how(part, row - part, c) for row, part in zip(E, parts, strict=True)]
        )

    return found


SECOND["selection-weaken"] = {
    "the rest of E stays": along(lambda part, rest, c: c * part + c * rest),
    "v is no unit vector": lambda E, v, c: torch.stack(
        [row + (c - 1) * (row @ v) * v for row in E]
    ),
    "takes the part along v out": along(lambda part, rest, c: rest),
    "weakens the rest": along(lambda part, rest, c: part + c * rest),
    "c - 1 times it is added": along(lambda part, rest, c: part + rest + c * part),
}


def shared_by_all(positive: int, negative: int, times: int, length: int) -> Corpus:
    """Return sequences of one rare token each and the same others."""
    kinds = positive + negative
    others = list(range(kinds, kinds + length - 1))
    sequences = [[r, *others] for r in range(kinds) for _ in range(times)]
    labels = [int(r < positive) for r in range(kinds) for _ in range(times)]
    vocab = attnsel.Vocab([str(s) for s in range(kinds + length - 1)])
    return Corpus.from_tokens(sequences, labels, vocab)


SECOND["selection-lost"] = {
    "at most 24 of at most 8": lambda: separable_corpus(80, 50, 31, n_relevant=4),
    "Assumption 1": lambda: Corpus.from_tokens(
        [[0, 1], [0, 1]], [1, 0], attnsel.Vocab(["a", "b"])
    ),
    "0 of 3 seeds": lambda: shared_by_all(1, 1, 10, 8),
    "an attnsel.Corpus is asked": lambda: ["good film", "bad film"],
}


def limit_flow(kernel: Callable[[torch.Tensor], torch.Tensor]) -> Answer:
    """Return the motion of scores with some K (V, V) in place of I + gamma gamma^T."""

    def motion(a: Any, gamma: Any, ids: Any, signs: Any) -> torch.Tensor:
        slope = torch.zeros_like(a)
        for row, y in zip(ids.tolist(), signs.tolist(), strict=True):
            q = torch.softmax(a[row], 0)
            f = q @ gamma[row]
            for s, share in zip(row, q, strict=True):
                slope[s] -= y * torch.sigmoid(-y * f) * share * (gamma[s] - f)
        return -kernel(gamma) @ slope / len(ids)

    return motion


SECOND["selection-limit"] = {
    "K is missing": limit_flow(lambda gamma: torch.eye(len(gamma)).double()),
    "a token also moves itself": limit_flow(lambda gamma: torch.outer(gamma, gamma)),
    "goes downhill": right("selection-limit", lambda x, *_: -x),
    "not their sum": right(
        "selection-limit", lambda x, a, gamma, ids, signs: x * len(ids)
    ),
    "is the number ‖b‖²": limit_flow(
        lambda gamma: torch.eye(len(gamma)).double() * (1 + gamma.square().sum())
    ),
    "squares of its diagonal": limit_flow(lambda gamma: torch.diag(1 + gamma * gamma)),
}

# -- reviews, and what they say -----------------------------------------------------


def signed_tokens(corpus: Corpus) -> float:
    return sum(y * len(tokens) for tokens, y in rows(corpus))


SECOND["reviews-neutral"] = {
    "mean label of the texts": lambda corpus: (
        sum(y for _, y in rows(corpus)) / len(corpus)
    ),
    "sign is reversed": lambda corpus: -signed_tokens(corpus) / corpus.counts.sum(),
    "mean length as well": lambda corpus: signed_tokens(corpus) / len(corpus),
    "from 0 to 1": lambda corpus: (
        sum(len(tokens) for tokens, y in rows(corpus) if y > 0) / corpus.counts.sum()
    ),
}


def leaning(of_token: Callable[[int, int, int, int], float]) -> Answer:
    """Return the lean from occurrences and texts of a token in each class."""

    def found(corpus: Corpus) -> list[float]:
        held = list(rows(corpus))
        leans = []
        for s in range(len(corpus.vocab)):
            of = {y: [t.count(s) for t, sign in held if sign == y] for y in (1, -1)}
            numbers = [sum(of[1]), sum(of[-1])]
            numbers += [sum(c > 0 for c in of[y]) for y in (1, -1)]
            leans.append(of_token(*numbers) if sum(numbers) else math.nan)
        return leans

    return found


SECOND["reviews-lean"] = {
    "sign is reversed": leaning(lambda k, m, *_: (m - k) / (m + k)),
    "signed frequency": lambda corpus: over(corpus, lambda c, T, y: y * c),
    "twice in a text counts twice": leaning(lambda k, m, a, b: (a - b) / (a + b)),
    "not by in how many texts": leaning(lambda k, m, a, b: (k - m) / (a + b)),
    "from 0 to 1": leaning(lambda k, m, *_: k / (m + k)),
    "has no lean: nan": lambda corpus: np.nan_to_num(
        leaning(lambda k, m, *_: (k - m) / (m + k))(corpus)
    ),
}


def held_by(
    x: np.ndarray,
    y: np.ndarray,
    place: Callable[[float], float],
    of: Callable[[list[float]], tuple[float, float]] = lambda held: (
        float(np.mean(held)),
        float(np.std(held)),
    ),
    empty: float = math.nan,
) -> np.ndarray:
    """Return two numbers for each of 20 bins, from the points that it holds."""
    found = []
    for i in range(20):
        held = [b for a, b in zip(x, y, strict=True) if place(a) == i]
        found.append(of(held) if held else (empty, empty))
    return np.array(found).T


def bin_of(x: float) -> float:
    """Return the bin of x; the places tried are at no edge but -1, 0 and 1."""
    return x if math.isnan(x) else min(math.floor((x + 1) * 10), 19)


SECOND["reviews-bins"] = {
    "contains its right end": lambda x, y: held_by(
        x, y, lambda a: a if math.isnan(a) else math.floor((a + 1) * 10)
    ),
    "an empty bin": lambda x, y: held_by(x, y, bin_of, empty=0.0),
    "whatever the points": lambda x, y: held_by(
        x,
        y,
        lambda a: bin_of(
            2 * (a - np.nanmin(x)) / (np.nanmax(x) - np.nanmin(x)) - 1 + 1e-12
        ),
    ),
    "not by the count less one": lambda x, y: held_by(
        x,
        y,
        bin_of,
        lambda held: (
            float(np.mean(held)),
            float(np.std(held, ddof=1)) if len(held) > 1 else math.nan,
        ),
    ),
    "belongs to no bin": lambda x, y: held_by(
        x, y, lambda a: 10 if math.isnan(a) else bin_of(a)
    ),
    "that is the variance": lambda x, y: held_by(
        x, y, bin_of, lambda held: (float(np.mean(held)), float(np.var(held)))
    ),
}

SECOND["reviews-null"] = {
    "tokens still lean": lambda corpus, seed: corpus[torch.randperm(len(corpus))],
    "how many texts each class has": lambda corpus, seed: corpus.with_labels(
        (torch.rand(len(corpus)) < 0.5).long()
    ),
    "how often each occurs": lambda corpus, seed: corpus[::2],
}

SECOND["frozen-embeddings"] = {
    "p and v overlap": lambda ab, p, v: torch.stack(
        [a * p / sum(p * p) + b * v / sum(v * v) for a, b in ab]
    ),
    "along p as well": lambda ab, p, v: torch.stack(
        [b * v / sum(v * v) for _, b in ab]
    ),
    "along v as well": lambda ab, p, v: torch.stack(
        [a * p / sum(p * p) for a, _ in ab]
    ),
    "squared lengths": lambda ab, p, v: torch.stack([a * p + b * v for a, b in ab]),
}


def chance(n: int, counts: Callable[[int], bool]) -> float:
    """Return the chance of some numbers among n flips of a coin."""
    whole = math.lgamma(n + 1) - n * math.log(2)
    return sum(
        math.exp(whole - math.lgamma(k + 1) - math.lgamma(n - k + 1))
        for k in range(n + 1)
        if counts(k)
    )


SECOND["memorized-chance"] = {
    "one end of the axis": lambda n: chance(n, lambda k: 10 * k > 9 * n),
    "strictly beyond": lambda n: chance(n, lambda k: abs(2 * k - n) * 10 >= 8 * n),
    "completely one-sided": lambda n: chance(n, lambda k: k in (0, n)),
    "nine tenths, not eight": lambda n: chance(n, lambda k: k > 0.8 * n or k < 0.2 * n),
}


def dealt(x: int, m: int, n_1: int, n: int) -> dict[int, float]:
    """Return the probability of each number of class 1 among m of n texts."""
    whole = math.comb(n, m)
    return {
        k: math.comb(n_1, k) * math.comb(n - n_1, m - k) / whole for k in range(m + 1)
    }


def thrown(x: int, m: int, n_1: int, n: int) -> dict[int, float]:
    """Return the same if each text draws its label by itself."""
    p = n_1 / n
    return {k: math.comb(m, k) * p**k * (1 - p) ** (m - k) for k in range(m + 1)}


def added(law: Answer, counts: Callable[..., bool]) -> Answer:
    """Return the sum of the probabilities that count: of k, x, and those of both."""

    def total(x: int, m: int, n_1: int, n: int) -> float:
        of = law(x, m, n_1, n)
        return sum(share for k, share in of.items() if counts(k, x, share, of[x]))

    return total


SECOND["own-texts-p"] = {
    "one tail only": added(dealt, lambda k, x, one, other: k >= x),
    "of x alone": added(dealt, lambda k, x, one, other: k == x),
    "without replacement": added(
        thrown, lambda k, x, one, other: one <= other * (1 + 1e-9)
    ),
    "as likely as x count": added(
        dealt, lambda k, x, one, other: one < other * (1 - 1e-9)
    ),
}


def spread_by_loops(
    of_bins: Callable[[list[np.ndarray], np.ndarray], float], least: int = 5
) -> Answer:
    """Return a number of the heights in each of 20 bins, and of all heights."""

    def spread(x: torch.Tensor, y: torch.Tensor) -> float:
        heights: list[list[float]] = [[] for _ in range(20)]
        for at, height in zip(x.tolist(), y.tolist(), strict=True):
            heights[min(math.floor((at + 1) * 10), 19)].append(height)
        return of_bins([np.array(h) for h in heights if len(h) >= least], y.numpy())

    return spread


def range_of(bins: list[np.ndarray]) -> float:
    means = [heights.mean() for heights in bins]
    return max(means) - min(means)


def mean_deviation(bins: list[np.ndarray]) -> float:
    return sum(heights.std() for heights in bins) / len(bins)


SECOND["settings-spread"] = {
    "that is the deviation itself": spread_by_loops(
        lambda bins, y: mean_deviation(bins)
    ),
    "fewer than five": spread_by_loops(
        lambda bins, y: mean_deviation(bins) / range_of(bins), least=1
    ),
    "not of all heights": spread_by_loops(
        lambda bins, y: mean_deviation(bins) / (y.max() - y.min())
    ),
    "each bin counts once": spread_by_loops(
        lambda bins, y: (
            sum(len(heights) * heights.std() for heights in bins)
            / sum(map(len, bins))
            / range_of(bins)
        )
    ),
}

# -- explanation, interactions, and what one sees from outside ------------------------

SECOND["explanation-influence"] = {
    "still contains the token": lambda Q, b: [
        q * (x - Q @ b) for q, x in zip(Q, b, strict=True)
    ],
    "the logit of the rest": lambda Q, b: [q * x for q, x in zip(Q, b, strict=True)],
    "without the token; how far": lambda Q, b: [
        (Q @ b - q * x) / (1 - q) for q, x in zip(Q, b, strict=True)
    ],
}


def by_attention(Q: np.ndarray, b: np.ndarray) -> list[int]:
    gone: list[int] = []
    for s in sorted(range(len(Q)), key=lambda s: -Q[s]):
        gone.append(s)
        if (
            sum(
                q * x
                for t, (q, x) in enumerate(zip(Q, b, strict=True))
                if t not in gone
            )
            * (Q @ b)
            < 0
        ):
            break
    return gone


SECOND["explanation-flip"] = {
    "by their attention": by_attention,
    "one token, the most attended": lambda Q, b: [
        max(range(len(Q)), key=Q.__getitem__)
    ],
    "some token has to be left": lambda Q, b: list(range(len(Q))),
    "whole numbers": lambda Q, b: (Q * b) * (1 if Q @ b > 0 else -1),
}

SECOND["explanation-reversed"] = {
    "sums to one": lambda: ([0.5, 0.4, 0.3, 0.2, 0.1], [1, 2, 3, 4, 5]),
    "same attention": lambda: ([0.3, 0.3, 0.2, 0.15, 0.05], [1, 2, 3, 4, 5]),
    "its influence is not smaller": lambda: (
        [0.35, 0.25, 0.2, 0.15, 0.05],
        [9, 1, 1, 1, 1],
    ),
    "two lists of five": lambda: ([0.5, 0.5], [1, -1]),
}

SECOND["interactions-gate"] = {
    "cannot turn an opinion": lambda B: ([0, 0, 9], [B, -B, -0.5]),
    "0.5 of the attention": lambda B: ([3, 3, 3], [B, -B, 0]),
    "0.998 of the attention": lambda B: ([-6, -6, 0], [B, -B, 0]),
    'alone, "good"': lambda B: ([0, 0, 9], [2 * B, -2 * B, 0]),
}

SECOND["outside-pair"] = {
    "this is a_t - a_s": right("outside-pair", lambda x, *_: -x),
    "ratio of the weights": right("outside-pair", lambda x, *_: np.exp(x)),
    "logarithm of one weight": right("outside-pair", lambda x, *_: log_expit(x)),
}


def pairs(beyond: Callable[..., bool], itself: bool = False) -> Answer:
    """Return for which pairs it holds: of both numbers and the start."""
    return lambda zeta, start: [
        [(s != t or itself) and beyond(x, y, start) for t, y in enumerate(zeta)]
        for s, x in enumerate(zeta)
    ]


SECOND["outside-betrayed"] = {
    "look like attention": pairs(lambda x, y, start: x * y <= 0, itself=True),
    "no pair with itself": pairs(lambda x, y, start: x * y > 0, itself=True),
    "not of the value": pairs(lambda x, y, start: (x + start) * (y + start) > 0),
    "below the lower count": pairs(lambda x, y, start: x > 0 and y > 0),
}

SECOND["outside-tanh"] = {
    "one neutral word": lambda c, k: (math.exp(c) + math.exp(-c)) / 2,
    "all k neutral words": right("outside-tanh", lambda x, c, k: x / k),
    "over k + 1 words": lambda c, k: (
        k / (math.tanh(c) / math.tanh(c / k) - 1) if k > 1 else math.inf
    ),
    "not its logarithm": right("outside-tanh", lambda x, c, k: np.log(x)),
}

# -- several classes, deeper models, broken assumptions -------------------------------


def of_classes(of_token: Callable[..., float]) -> Answer:
    """Return a mean over sequences, (V, K): of a count, whether y = k, and K."""

    def found(corpus: Corpus) -> np.ndarray:
        counts, K = corpus.counts.toarray(), corpus.n_classes
        total = np.zeros((counts.shape[1], K))
        for row, target in zip(counts, corpus.targets.tolist(), strict=True):
            for s, c in enumerate(row):
                for k in range(K):
                    total[s, k] += of_token(c, target == k, K)
        return total / len(counts)

    return found


SECOND["classes-once"] = {
    "count a token once": of_classes(lambda c, same, K: c * (same - 1 / K)),
    "1/K is missing": of_classes(lambda c, same, K: float(c > 0 and same)),
    "take their mean": right("classes-once", lambda x, corpus: x * len(corpus)),
    "sign is turned": right("classes-once", lambda x, corpus: -x),
    "transpose": right("classes-once", lambda x, corpus: x.T),
}


def two_layers(first: Answer, second: Answer, residual: bool = True) -> Answer:
    """Return f of a bag, each token weighed by functions of its count."""

    def f(X: Any, counts: Any, W1: Any, k: Any, v: Any, r: int) -> float:
        X, W1, k, v = (part.numpy() for part in (X, W1, k, v))
        c = counts.numpy().astype(float)
        H = np.zeros_like(X)
        for i, x in enumerate(X):
            w = first(c) * np.exp(x @ W1 @ X.T)
            H[i] = w @ X / w.sum() + (r * x if residual else 0)
        w = second(c) * np.exp(H @ k)
        return w @ (H @ v) / w.sum()

    return f


SECOND["deeper-bag"] = {
    "not used at all": two_layers(np.ones_like, np.ones_like),
    "the first softmax needs": two_layers(np.ones_like, np.copy),
    "the second softmax needs": two_layers(np.copy, np.ones_like),
    "add the logarithms": two_layers(np.exp, np.exp),
    "residual is missing": two_layers(np.copy, np.copy, residual=False),
}


def winner(
    push: Callable[[float, Any], float] = lambda y, beta: y * beta,
    share: Callable[[int, int], float] = lambda c, T: c / T,
    anywhere: bool = False,
) -> Answer:
    """Return the token of each sequence with the greatest push, the first of many."""

    def found(corpus: Corpus) -> list[int]:
        beta = over(corpus, lambda c, T, y: y * share(c, T)).round(12)
        every = range(len(corpus.vocab))
        return [
            max(
                every if anywhere else sorted(set(tokens)),
                key=lambda s: push(y, beta[s]),
            )
            for tokens, y in rows(corpus)
        ]

    return found


SECOND["broken-winner"] = {
    "the label is missing": winner(push=lambda y, beta: beta),
    "beta, not alpha": winner(share=lambda c, T: c),
    "in the sequence can win": winner(anywhere=True),
    "sign is turned": winner(push=lambda y, beta: -y * beta),
}


@by_name(sorted(SECOND))
def test_a_mistake_made_in_other_lines_is_told_by_its_sentence(name):
    task = exercises()[name]
    for words, answer in SECOND[name].items():
        (sentence,) = (told for told in task.mistakes if words in told)
        verdict = judge(task, answer)
        assert verdict.state == "wrong", sentence
        assert sentence in verdict.text, verdict
