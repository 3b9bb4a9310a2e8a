"""What the paper predicts, computed from a corpus and from given embeddings.

Source: Wu, Shevchenko, Oymak, Mondelli, "Attention with Trained Embeddings Provably
Selects Important Tokens", NeurIPS 2025. Nothing here trains anything.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import qpsolvers
import torch
from scipy.optimize import linprog
from torch import Tensor
from torch.nn.functional import one_hot

from attnsel.corpus import Corpus


def mean_count(corpus: Corpus, weights: Tensor) -> Tensor:
    """Return Ê[weight_X #{i : x_i = s}], the weighted mean count of each token.

    Args:
        corpus: n sequences.
        weights: one number a sequence, tensor (n,); or several, (n, K).

    Returns:
        float64 tensor (V,) or (V, K).
    """
    sums = corpus.counts.T.astype(np.float64) @ weights.double().numpy()
    return torch.from_numpy(sums) / len(corpus)


def signed_frequency(corpus: Corpus) -> Tensor:
    """Return the average signed frequency of each token, alpha of the paper.

    alpha_s = Ê[y #{i : x_i = s}] with y = -1 or +1: positive tokens have alpha_s > 0,
    negative ones alpha_s < 0, irrelevant ones exactly 0. For K > 2 classes it is
    alpha_{s,k} = Ê[(1{y = k} - 1/K) #{i : x_i = s}]; of two classes so treated, alpha_s
    would be the difference.

    Args:
        corpus: n sequences.

    Returns:
        float64 tensor (V,) for two classes, (V, K) for more.
    """
    return mean_count(corpus, _class_weights(corpus))


def posterior_difference(corpus: Corpus) -> Tensor:
    """Return P(1|s) - P(0|s) of each token, the horizontal axis of the paper's figures.

    P(y|s) is the share of the occurrences of token s that fall in sequences of class
    y, so that a token counts as often as it occurs and the value is
    alpha_s / Ê[#{i : x_i = s}]: 1 for a completely positive token, -1 for a completely
    negative one. For K > 2 classes it is P(k|s) less the mean of P(j|s) over the other
    classes j, in [-1 / (K - 1), 1].

    Args:
        corpus: n sequences.

    Returns:
        float64 tensor (V,) for two classes, (V, K) for more; nan for a token that never
        occurs, about which the corpus says nothing.
    """
    K, alpha = corpus.n_classes, signed_frequency(corpus)
    count = mean_count(corpus, torch.ones(len(corpus)))
    return alpha / count if K == 2 else alpha / count[:, None] * (K / (K - 1))


def one_step_prediction(corpus: Corpus, output: Tensor, *, lr: float) -> Tensor:
    """Predict how one gradient step on the embeddings changes E_s·v (Lemma 4.1).

    (lr ‖v‖² / 2) Ê[(y / T_X) #{i : x_i = s}], where T_X is the length of the sequence;
    with equal lengths T this is (lr ‖v‖² / 2T) alpha_s. It neglects what vanishes as d
    grows: the attention is taken as uniform and the logistic factor as 1/2. For K > 2
    classes the change of E_s·v_k is
    lr sum_j Ê[(1{y = j} - 1/K) / T_X #{i : x_i = s}] v_j·v_k: the Gram matrix of the
    outputs stands in the place of ‖v‖².

    Args:
        corpus: n sequences.
        output: v, tensor (d,); for K > 2 classes (K, d).
        lr: the size eta_0 of the step.

    Returns:
        float64 tensor (V,) or (V, K); add the values from before the step for those
        after it.

    Raises:
        ValueError: if `output` has another shape.
    """
    K, v = corpus.n_classes, output.detach().double().cpu()
    if v.ndim != (1 if K == 2 else 2) or (K > 2 and len(v) != K):
        shape = "(d,)" if K == 2 else f"({K}, d)"
        raise ValueError(f"output: expected shape {shape}, got {tuple(v.shape)}")
    if K == 2:
        rates = mean_count(corpus, corpus.signs.double() / corpus.lengths)
        return lr * float(v.square().sum()) / 2 * rates
    rates = mean_count(corpus, _class_weights(corpus) / corpus.lengths[:, None])
    return lr * rates @ (v @ v.T)


def _class_weights(corpus: Corpus) -> Tensor:
    """Return y as -1 and +1, (n,); for K > 2 classes 1{y = k} - 1/K, (n, K)."""
    if corpus.n_classes == 2:
        return corpus.signs.double()
    return one_hot(corpus.targets, corpus.n_classes).double() - 1 / corpus.n_classes


def relevant_tokens(
    corpus: Corpus, *, irrelevant: Literal["beta", "alpha"] = "beta"
) -> Tensor:
    """Return the relevant token of each sequence, after checking Assumption 1.

    The assumption, on the data at hand: each sequence holds exactly one distinct token
    that is completely positive or completely negative (it occurs in sequences of one
    class only), and all its other tokens are irrelevant.

    Args:
        corpus: n sequences with two classes.
        irrelevant: what must be zero. "alpha": Ê[y #{i : x_i = s}], the assumption to
            the letter. "beta": Ê[(y / T_X) #{i : x_i = s}], what a gradient step sees
            and all results on selection need; the same if all lengths are equal.

    Returns:
        int64 tensor (n,) of token ids, the selection of Theorem 4.3.

    Raises:
        ValueError: if the assumption fails; the first sequence that breaks it and the
            tokens responsible are named.
    """
    # Counts are whole numbers, so alpha is exact; a beta may miss 0 by rounding.
    rate = mean_count(corpus, corpus.signs).numpy()
    leaning, name = rate != 0, "alpha"
    if irrelevant == "beta" and len(corpus.lengths.unique()) > 1:
        rate = mean_count(corpus, corpus.signs.double().div(corpus.lengths)).numpy()
        share = mean_count(corpus, 1 / corpus.lengths.double()).numpy()
        leaning, name = np.abs(rate) > 1e-12 * share, "beta"
    complete = posterior_difference(corpus).abs().numpy() == 1
    chosen = np.empty(len(corpus), dtype=np.int64)
    for i, tokens in enumerate(_bags(corpus)):
        relevant = tokens[complete[tokens]]
        partly = tokens[~complete[tokens] & leaning[tokens]]
        fault = ""
        if len(partly):
            s = partly[0]
            fault = f"{corpus.vocab[s]!r} leans to a class ({name} = {rate[s]:.3g})"
        elif len(relevant) == 0:
            fault = "it holds no completely positive or completely negative token"
        elif len(relevant) > 1:
            names = ", ".join(repr(corpus.vocab[s]) for s in relevant[:5])
            fault = f"it holds {len(relevant)} relevant tokens: {names}"
        if fault:
            raise ValueError(f"corpus: sequence {i} breaks Assumption 1: {fault}")
        chosen[i] = relevant[0]
    return torch.from_numpy(chosen)


@dataclass(frozen=True, eq=False)
class MaxMargin:
    """Solution p of the margin problem of Theorem 4.3.

    Attributes:
        direction: p / ‖p‖, float64 tensor (d,).
        margin: 1 / ‖p‖, the least of direction·(E_selected - E_other).
        support: int64 tensor (k, 2) of (selected, other) pairs that attain it and carry
            the solution; more pairs may attain it, and other choices may carry it.
        weights: their multipliers, positive, float64 tensor (k,):
            direction = margin sum_k weights_k (E_selected_k - E_other_k).
        residual: greatest violation of the optimality (KKT) conditions, each relative
            to the size of its terms.
        status: "optimal"; anything else raises.
    """

    direction: Tensor
    margin: float
    support: Tensor
    weights: Tensor
    residual: float
    status: str


def max_margin(
    embeddings: Tensor,
    corpus: Corpus,
    selected: Tensor | Sequence[int] | Sequence[Iterable[int]],
) -> MaxMargin:
    """Find the direction in which p selects the given tokens by the greatest margin.

    min ‖p‖ subject to p·(E_selected - E_other) >= 1 for every distinct pair of a
    selected token and another token of the same sequence (Theorem 4.3). The solution
    lies in the span of the embeddings, so the problem is solved in at most V
    dimensions after a QR factorization, by an active-set method in float64.

    Args:
        embeddings: E, tensor (V, d).
        corpus: n sequences.
        selected: the token selected in each sequence, n ids; or n collections of ids
            for sequences with several selected tokens, each of which has to beat every
            token that is not selected (no condition ties the selected ones together).

    Returns:
        MaxMargin with direction, margin, support pairs and residual.

    Raises:
        TypeError: if `selected` holds something that is not an integer.
        ValueError: if shapes disagree, a value is not finite, a selected token does
            not occur in its sequence, no pair is left, or no p selects these tokens
            (pairs that contradict each other are named).
        RuntimeError: if the solver fails or its answer misses optimality.
    """
    if embeddings.ndim != 2 or len(embeddings) != len(corpus.vocab):
        raise ValueError(
            f"embeddings: expected shape ({len(corpus.vocab)}, d) for this corpus, got "
            f"{tuple(embeddings.shape)}"
        )
    if not bool(embeddings.isfinite().all()):
        raise ValueError("embeddings: expected finite values, found inf or nan")
    pairs = _pairs(corpus, selected)
    tokens, local = np.unique(pairs, return_inverse=True)
    local = local.reshape(pairs.shape)
    rows = embeddings.detach().double().cpu()[torch.from_numpy(tokens)]
    basis, coordinates = torch.linalg.qr(rows.T)  # (d, r), (r, tokens)
    points = np.ascontiguousarray(coordinates.T.numpy())
    gaps = points[local[:, 0]] - points[local[:, 1]]  # (pairs, r)

    r = gaps.shape[1]
    problem = qpsolvers.Problem(np.eye(r), np.zeros(r), -gaps, -np.ones(len(gaps)))
    found = qpsolvers.solve_problem(
        problem, solver="daqp", primal_tol=1e-10, iter_limit=100_000
    )
    if not found.found or found.x is None or found.z is None:
        _explain_failure(gaps, pairs, corpus)
        raise RuntimeError("max_margin: the solver (daqp) found no solution")
    z, dual = found.x, found.z
    norm = float(np.linalg.norm(z))
    residual = max(
        0.0,
        float((1 - gaps @ z).max()),
        float(-dual.min() / dual.max()),
        float(np.linalg.norm(z - gaps.T @ dual)) / norm,
        abs(norm**2 - float(dual.sum())) / norm**2,
    )
    if not residual < 1e-6:
        raise RuntimeError(
            f"max_margin: the solver's answer has a KKT residual of {residual:.1e}, "
            "above 1e-6; the embeddings may be close to dependent"
        )
    active = dual > 1e-9 * dual.max()
    return MaxMargin(
        direction=basis @ torch.from_numpy(z / norm),
        margin=1 / norm,
        support=torch.from_numpy(pairs[active]),
        weights=torch.from_numpy(dual[active]),
        residual=residual,
        status="optimal",
    )


def _pairs(
    corpus: Corpus, selected: Tensor | Sequence[int] | Sequence[Iterable[int]]
) -> np.ndarray:
    """Return the distinct (selected, other) pairs of token ids, int64 (m, 2)."""
    choices = selected.tolist() if isinstance(selected, Tensor) else list(selected)
    if len(choices) != len(corpus):
        raise ValueError(
            f"selected: expected one entry for each of {len(corpus)} sequences, got "
            f"{len(choices)}"
        )
    found = []
    for i, (tokens, choice) in enumerate(zip(_bags(corpus), choices, strict=True)):
        ids = choice if isinstance(choice, Iterable) else [choice]
        chosen = np.array([operator.index(s) for s in ids], dtype=np.int64)
        missing = chosen[~np.isin(chosen, tokens)]
        if len(missing) or not len(chosen):
            name = f"token {missing[0]}" if len(missing) else "any selected token"
            if len(missing) and 0 <= missing[0] < len(corpus.vocab):
                name = repr(corpus.vocab[missing[0]])
            raise ValueError(f"selected: sequence {i} does not hold {name}")
        others = np.setdiff1d(tokens, chosen)
        found.append(
            np.stack(
                [np.repeat(chosen, len(others)), np.tile(others, len(chosen))], axis=1
            )
        )
    pairs = np.unique(np.concatenate(found), axis=0)
    if not len(pairs):
        raise ValueError("selected: no sequence holds a token that is not selected")
    return pairs


def _explain_failure(gaps: np.ndarray, pairs: np.ndarray, corpus: Corpus) -> None:
    """Raise a ValueError naming contradictory pairs, if the problem is infeasible.

    By Farkas' lemma no p meets gaps p >= 1 if and only if some weights >= 0 that sum
    to one give gaps' weights = 0; a vertex of that set involves few pairs.
    """
    m, r = gaps.shape
    proof = linprog(
        np.zeros(m),
        A_eq=np.vstack([gaps.T, np.ones(m)]),
        b_eq=np.append(np.zeros(r), 1.0),
    )
    if proof.status != 0:
        return
    involved = np.flatnonzero(proof.x > 1e-9)
    shown = "; ".join(
        f"{corpus.vocab[s]!r} over {corpus.vocab[t]!r}" for s, t in pairs[involved[:5]]
    )
    more = f" and {len(involved) - 5} more" if len(involved) > 5 else ""
    raise ValueError(
        "selected: no p selects these tokens, because these pairs contradict each "
        f"other (a weighted sum of their embedding differences is 0): {shown}{more}"
    )


def _bags(corpus: Corpus) -> list[np.ndarray]:
    """Return the distinct token ids of each sequence."""
    return np.split(corpus.counts.indices.astype(np.int64), corpus.counts.indptr[1:-1])
