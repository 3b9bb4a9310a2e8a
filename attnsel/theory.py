"""Predictions of the paper, computed from a corpus and from given embeddings.

Source: Wu, Shevchenko, Oymak, Mondelli, "Attention with Trained Embeddings Provably
Selects Important Tokens", NeurIPS 2025. The functions of this module train nothing.
"""

import itertools
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from attnsel.corpus import Corpus
from attnsel.validation import check_choice, check_shape

# One token id per sequence, or several.
Selection = Tensor | Sequence[int] | Sequence[Iterable[int]]

# Means that are smaller, relative to their terms, are 0 up to rounding.
ROUNDING = 1e-12

# Largest violation of the optimality conditions that `max_margin` accepts.
WORST_RESIDUAL = 1e-6


def mean_count(corpus: Corpus, weights: Tensor) -> Tensor:
    r"""Return the weighted mean count of each token.

    .. math:: \hat{\mathbb{E}}\big[w_X c_s(X)\big], \qquad c_s(X) = \#\{i : x_i = s\}

    The result is float64: (V,) for weights w (n,), and (V, K) for weights (n, K).
    """
    sums = corpus.counts.T @ weights.double().numpy()
    return torch.from_numpy(sums) / len(corpus)


def signed_frequency(corpus: Corpus) -> Tensor:
    r"""Return the average signed frequency of each token, the paper's alpha.

    .. math:: \alpha_s = \hat{\mathbb{E}}\big[y \, \#\{i : x_i = s\}\big]

    Here y is -1 or +1. The result, float64 (V,), is positive for positive tokens,
    negative for negative tokens and exactly 0 for irrelevant tokens. For K > 2 classes,
    the result has shape (V, K):

    .. math::

        \alpha_{s,k} = \hat{\mathbb{E}}\big[(1\{y = k\} - \tfrac{1}{K}) \,
        \#\{i : x_i = s\}\big]

    Example:
        >>> corpus = Corpus.from_texts(["good film", "bad film"], [1, 0], min_count=1)
        >>> dict(zip(corpus.vocab, signed_frequency(corpus).tolist(), strict=True))
        {'film': 0.0, 'bad': -0.5, 'good': 0.5}
    """
    return mean_count(corpus, _class_weights(corpus))


def posterior_difference(corpus: Corpus) -> Tensor:
    r"""Return the lean P(1|s) - P(0|s) of each token, x in the paper's figures.

    P(k|s) is the share of occurrences of token s that are in sequences of class k. Then

    .. math:: P(1|s) - P(0|s) = \frac{\alpha_s}{\hat{\mathbb{E}}[\#\{i : x_i = s\}]} .

    The result, float64 (V,), is 1 for a completely positive token, -1 for a completely
    negative token and nan for a token that never occurs. For K > 2 classes, the result
    has shape (V, K) and lies in [-1 / (K - 1), 1]. Entry (s, k) is P(k|s) minus the
    mean of P(j|s) over the other classes j.

    Example:
        >>> corpus = Corpus.from_texts(["good film", "bad film"], [1, 0], min_count=1)
        >>> posterior_difference(corpus).tolist()
        [0.0, -1.0, 1.0]
    """
    K = corpus.n_classes
    alpha = signed_frequency(corpus)
    count = mean_count(corpus, torch.ones(len(corpus)))
    if K == 2:
        return alpha / count
    scale = K / (K - 1)
    return alpha / count[:, None] * scale


def one_step_prediction(corpus: Corpus, output: Tensor, *, lr: float) -> Tensor:
    r"""Predict how one gradient step on the embeddings changes E_s·v (Lemma 4.1).

    Let v = `output` (d,), let `lr` be the paper's eta_0, and let T_X be the length of
    sequence X. The result is float64 (V,):

    .. math::

        \Delta (E_s \cdot v) = \frac{\eta_0 \|v\|^2}{2} \,
        \hat{\mathbb{E}}\Big[\frac{y}{T_X} \, \#\{i : x_i = s\}\Big] .

    The change is a multiple of alpha_s if all lengths are equal. The formula neglects
    terms that vanish as d grows, because it assumes uniform attention and a logistic
    factor of 1/2. For K > 2 classes, v is (K, d), and the change (V, K) of E_s·v_k is

    .. math::

        \eta_0 \sum_j \hat{\mathbb{E}}\Big[\frac{1\{y = j\} - 1/K}{T_X} \,
        \#\{i : x_i = s\}\Big] \, v_j \cdot v_k .

    Raises:
        ValueError: if the shape of `output` is not (d,) or, for K > 2 classes, (K, d).
    """
    v = output.detach().double().cpu()
    weights = _class_weights(corpus)
    if corpus.n_classes == 2:
        check_shape("output", v, ("d",))
        rates = mean_count(corpus, weights / corpus.lengths)
        squared_norm = float(v.square().sum())
        return lr * squared_norm / 2 * rates
    check_shape("output", v, (corpus.n_classes, "d"))
    rates = mean_count(corpus, weights / corpus.lengths[:, None])
    return lr * rates @ (v @ v.T)


def _class_weights(corpus: Corpus) -> Tensor:
    """Return y as -1 and +1, (n,); for K > 2 classes 1{y = k} - 1/K, (n, K)."""
    K = corpus.n_classes
    if K == 2:
        return corpus.signs
    return one_hot(corpus.targets, K).double() - 1 / K


def relevant_tokens(
    corpus: Corpus, *, irrelevant: Literal["beta", "alpha"] = "beta"
) -> Tensor:
    r"""Return the selection of Theorem 4.3, one token per sequence, int64 (n,).

    The function checks Assumption 1: there are two classes, each of the n sequences has
    exactly one distinct token that occurs in only one class, and all other tokens are
    irrelevant. `irrelevant="alpha"` requires alpha_s = 0, as in the paper.
    `irrelevant="beta"` requires beta_s = 0, because a gradient step and all results on
    selection depend on beta_s. For equal lengths, the conditions are equivalent. Here

    .. math::

        \beta_s = \hat{\mathbb{E}}\Big[\frac{y}{T_X} \, \#\{i : x_i = s\}\Big] .

    Raises:
        ValueError: if there are not two classes, or if a sequence violates the
            assumption; the message names such a sequence and up to five of its tokens.
    """
    check_choice("irrelevant", irrelevant, ("beta", "alpha"))
    weights = torch.ones(len(corpus), dtype=torch.float64)
    if irrelevant == "beta":
        weights = 1 / corpus.lengths.double()
    lean = mean_count(corpus, corpus.signs * weights).numpy()
    frequency = mean_count(corpus, weights).numpy()
    leaning = np.abs(lean) > ROUNDING * frequency
    posterior = posterior_difference(corpus).numpy()
    complete = np.abs(posterior) == 1
    relevant = []
    for i, (tokens, _) in enumerate(corpus.bags()):
        candidates = tokens[complete[tokens]]
        partly = tokens[~complete[tokens] & leaning[tokens]]
        broken = f"corpus: sequence {i} breaks Assumption 1"
        if len(partly):
            token = partly[0]
            size = f"{irrelevant} = {lean[token]:.3g}"
            message = f"{corpus.vocab[token]!r} leans to a class ({size})"
            raise ValueError(f"{broken}: {message}")
        if len(candidates) != 1:
            names = [corpus.vocab[token] for token in candidates[:5]]
            message = f"it has {len(candidates)} relevant tokens: {names}"
            raise ValueError(f"{broken}: {message}")
        relevant.append(int(candidates[0]))
    return torch.tensor(relevant)


def highest_votes(corpus: Corpus, values: Tensor) -> Tensor:
    """Return the token with the largest vote in each sequence, int64 (n,).

    The vote of token s is y b_s, where y is the label, -1 or +1, and b_s is an entry of
    `values` (V,). If several tokens have the largest vote, the smallest id is returned.
    """
    check_shape("values", values, (len(corpus.vocab),))
    b = values.detach().double().cpu().numpy()
    strongest = []
    signs = corpus.signs.tolist()
    for y, (bag, _) in zip(signs, corpus.bags(), strict=True):
        votes = y * b[bag]
        strongest.append(int(bag[votes.argmax()]))
    return torch.tensor(strongest)


@dataclass(frozen=True, eq=False)
class MaxMargin:
    """The solution p of the margin problem of Theorem 4.3.

    Attributes:
        direction: p / ‖p‖, float64 tensor (d,).
        margin: 1 / ‖p‖, which is the smallest direction·(E_selected - E_other).
        support: pairs (selected, other) that attain the margin and have a positive
            multiplier, int64 tensor (k, 2). Other pairs may attain the margin, too, and
            the choice of support pairs need not be unique.
        weights: positive multipliers of the support pairs, float64 tensor (k,), with
            direction = margin sum_i weights_i (E_selected_i - E_other_i).
        residual: largest relative violation of the optimality (KKT) conditions.
    """

    direction: Tensor
    margin: float
    support: Tensor
    weights: Tensor
    residual: float


def max_margin(embeddings: Tensor, corpus: Corpus, selected: Selection) -> MaxMargin:
    r"""Find the direction in which p selects the given tokens by the largest margin.

    .. math:: \min_p \|p\| \quad \text{with} \quad p^\top (E_r - E_s) \ge 1

    for every distinct pair of a selected token r and an unselected token s of the same
    sequence (Theorem 4.3). An active-set method solves the problem in float64, in the
    span of the embeddings E (V, d). `selected` contains, for each of the n sequences,
    one id or a collection of ids.

    Raises:
        TypeError: if an id is not an integer.
        ValueError: if shapes disagree, an embedding is not finite, no token of a
            sequence is selected, a selected token is not in its sequence, there is no
            pair, or no p satisfies all constraints.
        RuntimeError: if the solver fails, or its answer is not optimal.

    Example:
        >>> vocab = ["good", "bad", "film"]
        >>> corpus = Corpus.from_tokens([[0, 2], [1, 2]], [1, 0], vocab)
        >>> best = max_margin(torch.eye(3), corpus, relevant_tokens(corpus))
        >>> round(best.margin, 4), best.support.tolist()
        (1.2247, [[0, 2], [1, 2]])
    """
    check_shape("embeddings", embeddings, (len(corpus.vocab), "d"))
    if not bool(embeddings.isfinite().all()):
        raise ValueError("embeddings: expected finite values, found inf or nan")
    pairs = _pairs(corpus, selected)
    tokens = np.unique(pairs)
    E = embeddings.detach().double().cpu()
    basis, points = row_space(E[torch.from_numpy(tokens)])
    chosen, other = np.searchsorted(tokens, pairs).T
    differences = points[chosen] - points[other]  # (pairs, r)
    solution = _least_norm(differences)
    if solution is None:
        _explain_failure(differences, pairs, corpus)
        raise RuntimeError("max_margin: the solver (daqp) found no solution")
    z, multipliers = solution
    residual = _kkt_residual(differences, z, multipliers)
    if not residual < WORST_RESIDUAL:
        raise RuntimeError(
            f"max_margin: the solver's answer has a KKT residual of {residual:.1e}; "
            "the embeddings may be nearly linearly dependent"
        )
    norm = float(np.linalg.norm(z))
    active = multipliers > 1e-9 * multipliers.max()
    return MaxMargin(
        direction=basis @ torch.from_numpy(z / norm),
        margin=1 / norm,
        support=torch.from_numpy(pairs[active]),
        weights=torch.from_numpy(multipliers[active]),
        residual=residual,
    )


def row_space(rows: Tensor) -> tuple[Tensor, np.ndarray]:
    """Return an orthonormal basis (d, r) for `rows` (k, d), and the rows' coordinates.

    The rows, the basis and the coordinates (k, r) are float64. Here r = min(d, k).
    """
    basis, coordinates = torch.linalg.qr(rows.T)
    return basis, coordinates.T.numpy()


def _least_norm(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the shortest z with `differences` z >= 1, and its multipliers, or None."""
    import qpsolvers  # imports each solver that it finds

    n_pairs, r = differences.shape
    # 1/2 z·P z + q·z is least subject to G z <= h.
    problem = qpsolvers.Problem(
        P=np.eye(r),
        q=np.zeros(r),
        G=-differences,
        h=-np.ones(n_pairs),
    )
    answer = qpsolvers.solve_problem(
        problem,
        solver="daqp",
        primal_tol=1e-10,
        iter_limit=100_000,
    )
    if not answer.found or answer.x is None or answer.z is None:
        return None
    return answer.x, answer.z


def _kkt_residual(
    differences: np.ndarray, z: np.ndarray, multipliers: np.ndarray
) -> float:
    """Return the largest relative violation of the KKT conditions."""
    norm = float(np.linalg.norm(z))
    violation = 1 - differences @ z
    negative = -multipliers.min() / multipliers.max()
    gradient = z - differences.T @ multipliers
    duality_gap = abs(norm**2 - float(multipliers.sum()))
    return max(
        float(violation.max()),
        float(negative),
        float(np.linalg.norm(gradient)) / norm,
        duality_gap / norm**2,
    )


def _pairs(corpus: Corpus, selected: Selection) -> np.ndarray:
    """Return the distinct (selected, other) pairs of token ids, in order, (m, 2)."""
    choices = list(selected)
    if isinstance(selected, Tensor):
        choices = selected.tolist()
    n, size = len(corpus), len(choices)
    if size != n:
        raise ValueError(f"selected: expected {n}, one per sequence, got {size}")
    pairs: set[tuple[int, int]] = set()
    bags = zip(choices, corpus.bags(), strict=True)
    for i, (choice, (ids, _)) in enumerate(bags):
        chosen = _token_ids(choice)
        tokens = set(ids.tolist())
        if not chosen:
            raise ValueError(f"selected: sequence {i} has no selected token")
        if not chosen <= tokens:
            missing = _names(corpus, chosen - tokens)
            raise ValueError(f"selected: sequence {i} does not contain {missing}")
        pairs.update(itertools.product(chosen, tokens - chosen))
    if not pairs:
        raise ValueError("selected: no sequence has a token that is not selected")
    return np.array(sorted(pairs), dtype=np.int64)


def _token_ids(choice: int | Iterable[int]) -> set[int]:
    """Return the selected ids of one sequence, given as one id or several."""
    if isinstance(choice, Iterable):
        return set(map(operator.index, choice))
    return {operator.index(choice)}


def _names(corpus: Corpus, ids: set[int]) -> list[str | int]:
    """Return the tokens with these ids; an id outside the vocabulary is kept."""
    names = dict(enumerate(corpus.vocab))
    return [names.get(s, s) for s in ids]


def _explain_failure(
    differences: np.ndarray, pairs: np.ndarray, corpus: Corpus
) -> None:
    """Raise a ValueError naming contradictory pairs, if the problem is infeasible.

    By Farkas' lemma, no p has `differences` p >= 1 if and only if some nonnegative
    weights, which sum to one, make the weighted sum of the rows of `differences` zero.
    A vertex of the set of these weights involves few pairs.
    """
    n_pairs, r = differences.shape
    proof = scipy.optimize.linprog(
        np.zeros(n_pairs),
        A_eq=np.vstack([differences.T, np.ones(n_pairs)]),
        b_eq=np.append(np.zeros(r), 1.0),
    )
    if proof.status != 0:
        return
    names = []
    for s, t in pairs[proof.x > 1e-9]:
        chosen, other = corpus.vocab[s], corpus.vocab[t]
        names.append(f"{chosen!r} over {other!r}")
    if len(names) > 5:
        names[5:] = [f"and {len(names) - 5} more"]
    raise ValueError(
        "selected: no p selects these tokens, because these pairs contradict each "
        f"other (some weighted sum of their gaps is 0): {'; '.join(names)}"
    )
