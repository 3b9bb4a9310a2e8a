"""What the paper predicts, computed from a corpus and from given embeddings.

Source: Wu, Shevchenko, Oymak, Mondelli, "Attention with Trained Embeddings Provably
Selects Important Tokens", NeurIPS 2025. Nothing here trains anything.
"""

import itertools
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

from attnsel.checks import check_choice, check_shape
from attnsel.corpus import Corpus

# One token id a sequence, or several.
Selection = Tensor | Sequence[int] | Sequence[Iterable[int]]


def mean_count(corpus: Corpus, weights: Tensor) -> Tensor:
    """Return Ê[weight_X #{i : x_i = s}], the weighted mean count of each token.

    For weights (n,) it is float64 (V,); for several a sequence, (n, K), it is (V, K).
    """
    sums = corpus.counts.T.astype(np.float64) @ weights.double().numpy()
    return torch.from_numpy(sums) / len(corpus)


def signed_frequency(corpus: Corpus) -> Tensor:
    """Return the average signed frequency of each token, alpha of the paper.

    alpha_s = Ê[y #{i : x_i = s}] with y = -1 or +1, float64 (V,): positive tokens have
    alpha_s > 0, negative ones alpha_s < 0, irrelevant ones exactly 0. For K > 2 classes
    it is alpha_{s,k} = Ê[(1{y = k} - 1/K) #{i : x_i = s}], (V, K).
    """
    return mean_count(corpus, _class_weights(corpus))


def posterior_difference(corpus: Corpus) -> Tensor:
    """Return P(1|s) - P(0|s) of each token, the horizontal axis of the paper's figures.

    P(y|s) is the share of the occurrences of token s that fall in sequences of class y,
    so the value is alpha_s / Ê[#{i : x_i = s}], float64 (V,): 1 for a completely
    positive token, -1 for a completely negative one, nan for one that never occurs. For
    K > 2 classes it is P(k|s) less the mean of P(j|s) over the other classes j, in
    [-1 / (K - 1), 1], shape (V, K).
    """
    K, alpha = corpus.n_classes, signed_frequency(corpus)
    count = mean_count(corpus, torch.ones(len(corpus)))
    return alpha / count if K == 2 else alpha / count[:, None] * (K / (K - 1))


def one_step_prediction(corpus: Corpus, output: Tensor, *, lr: float) -> Tensor:
    """Predict how one gradient step on the embeddings changes E_s·v (Lemma 4.1).

    For v = output of shape (d,), lr the paper's eta_0 and T_X the length of a sequence
    it is (lr ‖v‖² / 2) Ê[(y / T_X) #{i : x_i = s}], float64 (V,); with equal lengths T,
    (lr ‖v‖² / 2T) alpha_s. What vanishes as d grows is neglected: the attention is
    taken as uniform and the logistic factor as 1/2. For K > 2 classes v is (K, d) and
    lr sum_j Ê[(1{y = j} - 1/K) / T_X #{i : x_i = s}] v_j·v_k, shape (V, K), is the
    change of E_s·v_k. Another shape of v is a ValueError.
    """
    K, v = corpus.n_classes, output.detach().double().cpu()
    check_shape("output", v, ("d",) if K == 2 else (K, "d"))
    lengths = corpus.lengths if K == 2 else corpus.lengths[:, None]
    rates = mean_count(corpus, _class_weights(corpus) / lengths)
    if K == 2:
        return lr * float(v.square().sum()) / 2 * rates
    return lr * rates @ (v @ v.T)


def _class_weights(corpus: Corpus) -> Tensor:
    """Return y as -1 and +1, (n,); for K > 2 classes 1{y = k} - 1/K, (n, K)."""
    if corpus.n_classes == 2:
        return corpus.signs.double()
    return one_hot(corpus.targets, corpus.n_classes).double() - 1 / corpus.n_classes


def relevant_tokens(
    corpus: Corpus, *, irrelevant: Literal["beta", "alpha"] = "beta"
) -> Tensor:
    """Return the selection of Theorem 4.3, a token of each sequence, int64 (n,).

    Assumption 1 is checked: each of the n sequences, of two classes, holds exactly one
    distinct token that occurs in one class only, and all its other tokens are
    irrelevant. To the letter that is Ê[y #{i : x_i = s}] = 0, "alpha"; what a gradient
    step sees, and all results on selection need, is Ê[(y / T_X) #{i : x_i = s}] = 0,
    "beta", the same with equal lengths. A ValueError names the first sequence that
    breaks the assumption and the tokens responsible.
    """
    check_choice("irrelevant", irrelevant, ("beta", "alpha"))
    lengths = corpus.lengths.double()
    weights = 1 / lengths if irrelevant == "beta" else torch.ones_like(lengths)
    rate = mean_count(corpus, corpus.signs * weights).numpy()
    # Only rounding is forgiven: the mean of whole numbers is 0 or never so near to it.
    leaning = np.abs(rate) > 1e-12 * mean_count(corpus, weights).numpy()
    complete = posterior_difference(corpus).abs().numpy() == 1
    chosen = []
    for i in range(len(corpus)):
        tokens = corpus.counts[[i]].indices
        relevant = tokens[complete[tokens]]
        partly = tokens[~complete[tokens] & leaning[tokens]]
        if len(partly) or len(relevant) != 1:
            names = [corpus.vocab[s] for s in (*partly, *relevant)[:5]]
            fault = f"it holds {len(relevant)} relevant tokens: {names}"
            if len(partly):
                lean = f"{irrelevant} = {rate[partly[0]]:.3g}"
                fault = f"{names[0]!r} leans to a class ({lean})"
            raise ValueError(f"corpus: sequence {i} breaks Assumption 1: {fault}")
        chosen.append(int(relevant[0]))
    return torch.tensor(chosen)


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
        residual: greatest relative violation of the optimality (KKT) conditions.
    """

    direction: Tensor
    margin: float
    support: Tensor
    weights: Tensor
    residual: float


def max_margin(embeddings: Tensor, corpus: Corpus, selected: Selection) -> MaxMargin:
    """Find the direction in which p selects the given tokens by the greatest margin.

    min ‖p‖ subject to p·(E_selected - E_other) >= 1 for every distinct pair of a
    selected token and another token of the same sequence (Theorem 4.3), by an
    active-set method in float64, in the span of the embeddings E (V, d). `selected` is
    the id of a token of each of the n sequences, or n collections of ids, where each
    selected token has to beat every one that is not selected.

    A TypeError tells of an id that is no integer; a ValueError of shapes that disagree,
    a value that is not finite, a selected token that is not in its sequence, no pair
    that is left, or pairs that contradict each other; a RuntimeError of a solver that
    fails or whose answer misses optimality.
    """
    check_shape("embeddings", embeddings, (len(corpus.vocab), "d"))
    if not bool(embeddings.isfinite().all()):
        raise ValueError("embeddings: expected finite values, found inf or nan")
    pairs = _pairs(corpus, selected)
    tokens = np.unique(pairs)
    rows = embeddings.detach().double().cpu()[torch.from_numpy(tokens)]
    basis, coordinates = torch.linalg.qr(rows.T)  # (d, r), (r, tokens)
    points, local = coordinates.T.numpy(), np.searchsorted(tokens, pairs)
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
        float((1 - gaps @ z).max()),
        float(-dual.min() / dual.max()),
        float(np.linalg.norm(z - gaps.T @ dual)) / norm,
        abs(norm**2 - float(dual.sum())) / norm**2,
    )
    if not residual < 1e-6:
        told = f"has a KKT residual of {residual:.1e}; embeddings may be near dependent"
        raise RuntimeError(f"max_margin: the solver's answer {told}")
    active = dual > 1e-9 * dual.max()
    return MaxMargin(
        direction=basis @ torch.from_numpy(z / norm),
        margin=1 / norm,
        support=torch.from_numpy(pairs[active]),
        weights=torch.from_numpy(dual[active]),
        residual=residual,
    )


def _pairs(corpus: Corpus, selected: Selection) -> np.ndarray:
    """Return the distinct (selected, other) pairs of token ids, in order, (m, 2)."""
    choices = selected.tolist() if isinstance(selected, Tensor) else list(selected)
    if len(choices) != len(corpus):
        raise ValueError(f"selected: {len(choices)} for {len(corpus)} sequences")
    pairs: set[tuple[int, int]] = set()
    for i, choice in enumerate(choices):
        ids = choice if isinstance(choice, Iterable) else [choice]
        chosen = set(map(operator.index, ids))
        tokens = set(corpus.counts[[i]].indices.tolist())
        missing = [dict(enumerate(corpus.vocab)).get(s, s) for s in chosen - tokens]
        if missing or not chosen:
            fault = f"does not hold {missing}" if missing else "has no selected token"
            raise ValueError(f"selected: sequence {i} {fault}")
        pairs.update(itertools.product(chosen, tokens - chosen))
    if not pairs:
        raise ValueError("selected: no sequence holds a token that is not selected")
    return np.array(sorted(pairs), dtype=np.int64)


def _explain_failure(gaps: np.ndarray, pairs: np.ndarray, corpus: Corpus) -> None:
    """Raise a ValueError naming contradictory pairs, if the problem is infeasible.

    By Farkas' lemma no p meets gaps p >= 1 if and only if some weights >= 0 that sum
    to one give gaps' weights = 0; a vertex of that set involves few pairs.
    """
    m, r = gaps.shape
    zero = np.vstack([gaps.T, np.ones(m)])
    proof = linprog(np.zeros(m), A_eq=zero, b_eq=np.append(np.zeros(r), 1.0))
    if proof.status == 0:
        involved = pairs[proof.x > 1e-9]
        names = [f"{corpus.vocab[s]!r} over {corpus.vocab[t]!r}" for s, t in involved]
        names[5:] = [f"and {len(names) - 5} more"] if len(names) > 5 else []
        raise ValueError(
            "selected: no p selects these tokens, because these pairs contradict each "
            f"other (some weighted sum of their gaps is 0): {'; '.join(names)}"
        )
