r"""The laws of the chapters on the V, and flows on which they are checked.

With a = E p, b = E v and the loss L, minus the derivatives with respect to the value
and the score of a token s are

.. math::

    -\frac{\partial L}{\partial b_s} = \hat{\mathbb E}[y g Q_s], \qquad
    -\frac{\partial L}{\partial a_s} = -b_s \frac{\partial L}{\partial b_s}
    - \hat{\mathbb E}[y g Q_s f] .

The subtracted mean is the rate at which the exposure of the token grows.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
from scipy.integrate import solve_ivp
from scipy.sparse import csr_array
from scipy.special import expit, softmax

from attnsel.corpus import Corpus
from attnsel.tokens import Vocab

Array = np.ndarray
TIGHT = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13}  # of the solver of flows


def rates(corpus: Corpus, a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Return -dL/da, -dL/db and the growth rate of the exposure, each (V,).

    The corpus has two classes. The scores a and the values b are float64 (V,).
    """
    C, y = corpus.counts, corpus.signs.numpy()
    w = np.exp(a - a.max())
    total = C @ w
    f = C @ (w * b) / total
    u = y * expit(-y * f) / total / len(y)
    toward_v = w * (C.T @ u)
    exposure = w * (C.T @ (u * f))
    return b * toward_v - exposure, toward_v, exposure


def loss(corpus: Corpus, a: Array, b: Array) -> float:
    """Return the logistic loss for scores a and values b, (V,) each."""
    w = np.exp(a - a.max())
    f = corpus.counts @ (w * b) / (corpus.counts @ w)
    return float(np.logaddexp(0, -corpus.signs.numpy() * f).mean())


def flow_of_embeddings(
    corpus: Corpus, a: Array, b: Array, gram: Array, times: Sequence[float]
) -> Array:
    r"""Return the gradient flow on E alone, computed from two numbers per token.

    Args:
        corpus: sequences of two classes.
        a: scores E p at the start, float64 (V,).
        b: values E v at the start, float64 (V,).
        gram: inner products of p and v, float64 (2, 2).
        times: increasing times at which to record the flow, at least 0.

    Returns:
        float64 (len(times), 5, V): scores a, values b, the multiples of p and of v by
        which E_s has moved, and the weighted exposure

        .. math:: \int_0^t e^{-(p \cdot v)\, w_s} \hat{\mathbb E}[y g Q_s f]\, d\tau ,

        where w_s is the multiple of v. If p·v = 0, the integral is the exposure.
    """

    def speed(_: float, state: Array) -> Array:
        a, b, along_v = state.reshape(5, -1)[[0, 1, 3]]
        toward_p, toward_v, exposure = rates(corpus, a, b)
        moved = gram @ np.stack([toward_p, toward_v])
        weighed = np.exp(-gram[0, 1] * along_v) * exposure
        return np.concatenate([*moved, toward_p, toward_v, weighed])

    start = np.concatenate([a, b, np.zeros(3 * len(a))])
    found = solve_ivp(speed, (0, times[-1]), start, t_eval=times, **TIGHT)
    return found.y.T.reshape(len(times), 5, -1)


def along_p(b_start: Array, along_v: Array, weighted: Array, gram: Array) -> Array:
    r"""Return the multiple of p by which each E_s has moved, by the law of the V.

    Let c = p·v, N = ‖v‖² and w = `along_v` (V,), the multiple of v. By the proposition
    on the law for any p and v, the result is

    .. math::

        e^{cw} \Big( \int_0^w e^{-c\omega} (b_s(0) + N \omega)\, d\omega
        - \int_0^t e^{-cw} \hat{\mathbb E}[y g Q_s f]\, d\tau \Big) ,

    where `b_start` is b_s(0), and `weighted`, from `flow_of_embeddings`, is the second
    integral. For c = 0, the result is b_s(0) w + N w² / 2 minus the exposure.
    """
    c, N = gram[0, 1], gram[1, 1]
    integral: Array = b_start * along_v + N * along_v**2 / 2
    if c != 0:
        fading = np.exp(-c * along_v)
        integral = (b_start / c + N / c**2) * (1 - fading) - N / c * along_v * fading
    return np.exp(c * along_v) * (integral - weighted)


def flow(start: Mapping[str, Array], corpus: Corpus, time: float) -> dict[str, Array]:
    """Return all parameters after running the gradient flow of the loss up to `time`.

    The parameters of a one-layer model are given by name, in float64: "embeddings"
    (V, d), "cls" (d,), "output" (d,) or (K, d) and, if there is one, "key_query"
    (d, d). All of them are trained.
    """
    counts = corpus.counts.toarray().astype(np.float64)
    targets = np.eye(corpus.n_classes)[corpus.targets.numpy()]
    ends = np.cumsum([part.size for part in start.values()])[:-1]

    def parts_of(state: Array) -> dict[str, Array]:
        pieces = zip(start.items(), np.split(state, ends), strict=True)
        return {name: piece.reshape(part.shape) for (name, part), piece in pieces}

    def speed(_: float, state: Array) -> Array:
        now = parts_of(state)
        E, p, W = now["embeddings"], now["cls"], now.get("key_query")
        P = np.vstack([p if W is None else W @ p, now["output"]])
        toward = score_forces(counts, targets, E @ P.T)
        turn = toward.T @ E  # of the query and of the outputs
        moved = {"embeddings": toward @ P, "output": turn[1:], "cls": turn[0]}
        if W is not None:
            moved |= {"cls": W.T @ turn[0], "key_query": np.outer(turn[0], p)}
        return np.concatenate([moved[name].ravel() for name in start])

    begin = np.concatenate([part.ravel() for part in start.values()])
    return parts_of(solve_ivp(speed, (0, time), begin, **TIGHT).y[:, -1])


def score_forces(counts: Array, targets: Array, scores: Array) -> Array:
    """Return minus the gradient of the loss with respect to `scores`.

    The columns of `scores` are a, b_1, ..., b_K for K outputs, and `counts` is a dense
    array (n, V). For one output, the one-hot `targets` are (n, 2), and the result is
    (V, 2). Otherwise they are (n, K) and (V, K + 1).
    """
    a, b = scores[:, 0], scores[:, 1:]
    w = counts * np.exp(a - a.max())
    Q = w / w.sum(axis=1, keepdims=True)
    f = Q @ b
    if b.shape[1] == 1:
        missing = targets[:, 1:] - expit(f)
    else:
        missing = targets - softmax(f, axis=1)
    missing = missing / len(counts)
    toward_v = Q.T @ missing
    toward_p = (b * toward_v).sum(1) - Q.T @ (missing * f).sum(1)
    return np.column_stack([toward_p, toward_v])


def balances(parts: Mapping[str, Array]) -> list[Array]:
    r"""Return the matrices (d, d) that the flow on all parameters conserves.

    By the theorem on the balance, there is one, E^T E - p p^T - sum_k v_k v_k^T. With a
    key-query matrix W there are two, E^T E - W W^T - sum_k v_k v_k^T and W^T W - p p^T.
    The `parts` have the names and types that `flow` returns.
    """
    E, p, W = parts["embeddings"], parts["cls"], parts.get("key_query")
    V = np.atleast_2d(parts["output"])
    of_outputs = E.T @ E - V.T @ V
    if W is None:
        return [of_outputs - np.outer(p, p)]
    return [of_outputs - W @ W.T, W.T @ W - np.outer(p, p)]


def symmetric_corpus(
    length: int, n_relevant: int, n_irrelevant: int, n: int, seed: int = 0
) -> Corpus:
    """Draw a corpus that satisfies Assumption 1.

    Tokens of one kind are equally frequent. Each of the n sequences has T = `length`
    tokens. One token is relevant: "pos_0" and so on in positive sequences, "neg_0" and
    so on in negative ones. There are R = `n_relevant` relevant tokens, each in n / R
    sequences. The other T - 1 tokens are from I = `n_irrelevant` tokens, "irr_0" and so
    on. Each of these occurs equally often in both classes.

    Raises:
        ValueError: unless R is even and divides n, and I divides n (T - 1) / 2.
    """
    R, each = n_relevant, n // 2 * (length - 1)
    if R % 2 or n % R or each % n_irrelevant:
        raise ValueError(
            f"n_relevant, n_irrelevant: {R} and {n_irrelevant} tokens cannot be "
            f"equally frequent in {n} sequences of {length}; take an even number that "
            f"divides {n}, and one that divides {each}"
        )
    random = torch.Generator().manual_seed(seed)
    relevant = torch.arange(n).remainder(R)
    half = torch.arange(each).remainder(n_irrelevant) + R
    drawn = [half[torch.randperm(each, generator=random)] for _ in range(2)]
    others = torch.cat(drawn).view(n, length - 1)
    # The first half of the relevant tokens is positive, and so are their sequences.
    order = (relevant >= R // 2).long().argsort(stable=True)
    rows = torch.cat([relevant[order, None], others], dim=1)
    names = [f"{kind}_{i}" for kind in ("pos", "neg") for i in range(R // 2)]
    names += [f"irr_{i}" for i in range(n_irrelevant)]
    labels = (rows[:, 0] < R // 2).long()
    return Corpus.from_tokens(rows.numpy(), labels, Vocab(names), name="symmetric")


def odd_corpora() -> Iterator[tuple[str, Corpus]]:
    """Yield ten small corpora that violate common assumptions, with their names."""
    rows: dict[str, tuple[list[list[int]], list[int]]] = {
        "one token": ([[0], [0, 0, 0], [0]], [1, 0, 1]),
        "one sequence": ([[0, 1, 1, 2]], [1]),
        "one class": ([[0, 1], [1, 2, 2], [0, 2]], [1, 1, 1]),
        "repeated tokens": ([[0, 0, 0, 1], [1, 1, 2], [2, 2, 2, 2, 0]], [1, 0, 0]),
        "unequal lengths": ([[0], [1, 2, 3, 4, 5, 0, 1], [2, 2, 3]], [1, 0, 1]),
        "a token that never occurs": ([[0, 1], [1, 3], [3, 0, 0]], [1, 0, 0]),
        "the same text in both classes": ([[0, 1, 2], [0, 1, 2], [1, 2]], [1, 0, 1]),
        "three to one": ([[0, 1], [0, 2], [0, 3], [1, 2, 3]], [1, 1, 1, 0]),
    }
    random = torch.Generator().manual_seed(5)
    for i in range(2):
        lengths = torch.randint(1, 8, (6,), generator=random).tolist()
        drawn = [torch.randint(6, (T,), generator=random).tolist() for T in lengths]
        rows[f"drawn {i}"] = drawn, [1, 0, 1, 1, 0, 1]
    for name, (tokens, labels) in rows.items():
        size = 1 + max(map(max, tokens))
        counts = [np.bincount(sequence, minlength=size) for sequence in tokens]
        vocab = Vocab([f"t{s}" for s in range(size)])
        yield name, Corpus(csr_array(counts), torch.tensor(labels), vocab, name=name)


def unit_steps(corpus: Corpus, start: Array, steps: int, speed: float) -> Array:
    r"""Predict the result of Adam on E, if all tokens move equally far in each step.

    In high dimension d, a sign step with learning rate eta moves the score a and the
    value b of each token against the gradient, by about `speed` = eta sqrt(2 d / pi).
    Adam replaces the gradient by its running mean, with weight .9 on the past.

    Args:
        corpus: sequences of two classes.
        start: scores E p and values E v, float64 (V, 2).
        steps: number of steps.
        speed: length of a step in the plane of a and b.

    Returns:
        Scores and values after the steps, float64 (V, 2).
    """
    scores, mean = start, np.zeros_like(start)
    for _ in range(steps):
        toward_p, toward_v, _ = rates(corpus, *scores.T)
        mean = 0.9 * mean + 0.1 * np.stack([toward_p, toward_v], axis=1)
        scores = scores + speed * mean / np.linalg.norm(mean, axis=1, keepdims=True)
    return scores


def explained(measured: Array, foretold: Array) -> float:
    """Return the share of the variance of `measured` that `foretold` explains."""
    rest = np.square(measured - foretold).sum()
    return float(1 - rest / np.square(measured - measured.mean()).sum())


def line(y: Array, x: Array) -> float:
    """Return the share of the variance of y (V,) that a line in x (V,) explains."""
    return float(np.corrcoef(x, y)[0, 1] ** 2)
