r"""Exact changes of predictions when tokens are deleted, and Shapley values of tokens.

In a sequence X, a token s with count C_s, score a_s and value b_s has the weight
w_s = C_s exp(a_s), and

.. math:: f(X) = \sum_s Q_s b_s, \qquad Q_s = \frac{w_s}{\sum_t w_t} .

So f without s, written `f_-s`, is a weighted mean of the values of the other tokens.
Therefore `f - f_-s = Q_s (b_s - f_-s)`, which is the attention on s times the
difference between b_s and this mean. Without any token, f is 0. If each b_s is the
difference between the values for two classes, f is the difference between their logits.
"""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.special import roots_legendre
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier, bag_softmax, class_logits
from attnsel.validation import check_shape

AT_ONCE = 2**20  # stored counts that are processed together
BLOCK = 2**17  # numbers of the integrand that are in memory together
STEP = 0.3  # of log l: the trapezoidal error is about exp(-pi^2 / STEP), 5e-15
FIRST, LAST = -36.0, 4.5  # of log l + log w, with the total or the smallest weight w


def influence(model: AttentionClassifier, corpus: Corpus) -> csr_array:
    """Return the influence f(X) - f(X without s) of each token s on the logit, (n, V).

    The influence is `Q_s (b_s - f_-s)`, where Q_s is the attention on all occurrences
    of s. Its absolute value is at most Q_s times the range of the values in X. However,
    if a sequence contains only one distinct token, the influence of this token is f.
    The result is float64 and has the sparsity pattern of `corpus.counts`.

    Raises:
        ValueError: if the model has more than two classes (use `score_influence`), or
            if model and corpus have different vocabularies.
        FloatingPointError: if a score is not finite.
    """
    return score_influence(_two_scores(model, corpus), corpus)


def shapley(model: AttentionClassifier, corpus: Corpus) -> csr_array:
    r"""Return the Shapley value of each token for the logit of its sequence, (n, V).

    The players are the T distinct tokens of a sequence, each with all its occurrences.
    The worth of a set of tokens is the logit f of these tokens alone, and the worth of
    the empty set is 0. The values are float64, exact up to rounding, and sum to f in
    each row. The result has the sparsity pattern of `corpus.counts`. The cost is
    O(T^2) per sequence, for example about 10 milliseconds for T = 100.

    Let S contain each token other than t with probability u, independently. The Shapley
    value of t is the integral of E[f(S ∪ {t}) - f(S)] over u in [0, 1]. If we write
    1/W, for a sum W of weights, as the integral of exp(-l W) over l > 0, we get

    .. math::

        \int du \int dl \prod_{r \ne t} D_r
        \Big[w_t b_t e_t - (1 - e_t) \sum_{r \ne t} R_r\Big] ,

    .. math::

        e_r = \exp(-l w_r), \quad D_r = 1 - u + u e_r, \quad
        R_r = \frac{u w_r b_r e_r}{D_r} .

    As a function of u, the integrand is a polynomial of degree T - 1, which
    Gauss-Legendre quadrature with T // 2 + 1 nodes integrates exactly. As a function of
    log l, it is analytic, so that the trapezoidal rule converges geometrically.

    `influence` lists the errors raised. `score_shapley` takes scores, not a model.
    """
    return score_shapley(_two_scores(model, corpus), corpus)


def flipping_set(model: AttentionClassifier, corpus: Corpus) -> csr_array:
    """Return, for each sequence, the fewest tokens whose deletion flips the prediction.

    Deleting a set S changes the sign of the logit if and only if the sum of Q_s b_s sgn
    f over S exceeds `|f|`. Therefore we get a smallest set if we take tokens in
    decreasing order of Q_s b_s sgn f until their sum exceeds `|f|`. The result is a
    csr_array (n, V) of bool that is true for these tokens. A row is empty if no
    deletion flips the prediction, because f is 0 or no value has the opposite sign.

    `influence` lists the errors raised. `score_flips` takes scores, not a model.
    """
    return score_flips(_two_scores(model, corpus), corpus)


def _two_scores(model: AttentionClassifier, corpus: Corpus) -> Tensor:
    """Return the scores (V, 2) of a model, which must have two classes."""
    model.check_vocab(corpus)
    scores = model.scores()
    if scores.shape[1] != 2:
        classes = scores.shape[1] - 1
        raise ValueError(
            f"model: expected two classes, got {classes}; to compare classes j and k, "
            "pass scores of shape (V, 2) with the columns E p and E v_j - E v_k to a "
            "function that takes scores, such as score_influence"
        )
    return scores


class _Bags(NamedTuple):
    """The stored counts of several sequences, with one entry per stored count.

    Entry i belongs to sequence `rows[i]` and has log w_s in `log_weights` and b_s in
    `values`. Entry j of `starts` is the position of the first entry of sequence j.
    """

    starts: np.ndarray
    rows: np.ndarray
    log_weights: np.ndarray
    values: np.ndarray

    def sequences(self) -> list[slice]:
        """Return the slice of the entries of each sequence."""
        ends = [*self.starts[1:], len(self.rows)]
        return list(map(slice, self.starts, ends))

    def sums(self, numbers: np.ndarray) -> np.ndarray:
        """Return the sum of the numbers in each sequence."""
        return np.add.reduceat(numbers, self.starts)

    def shares(self, log_weights: np.ndarray) -> np.ndarray:
        """Return the softmax within each sequence, 0 where no log-weight is finite."""
        scores = torch.from_numpy(log_weights)
        rows = torch.from_numpy(self.rows)
        shares = bag_softmax(scores, 1.0, rows, len(self.starts))
        return shares.nan_to_num(0).numpy()


def _bags(scores: Tensor, corpus: Corpus) -> Iterator[_Bags]:
    """Yield the sequences of a corpus in order, several at a time."""
    check_shape("scores", scores, (len(corpus.vocab), 2))
    if not bool(scores.isfinite().all()):
        raise FloatingPointError("the scores are not finite; train with a smaller lr")
    in_float64 = scores.detach().cpu().to(torch.float64)
    a, b = in_float64.numpy().T
    counts = corpus.counts
    number = counts.indptr[1:] // AT_ONCE  # of the part in which a sequence ends
    firsts = np.flatnonzero(np.diff(number, prepend=-1))
    bounds = [*firsts, len(corpus)]
    for first, end in pairwise(bounds):
        starts = counts.indptr[first : end + 1].astype(np.int64)
        sizes = np.diff(starts)
        stored = slice(starts[0], starts[-1])
        ids = counts.indices[stored]
        times = counts.data[stored].astype(np.float64)
        yield _Bags(
            starts=starts[:-1] - starts[0],
            rows=np.repeat(np.arange(end - first), sizes),
            log_weights=a[ids] + np.log(times),
            values=b[ids],
        )


def _like(counts: csr_array, parts: list[np.ndarray]) -> csr_array:
    """Return a sparse matrix that has these numbers in place of the stored counts."""
    numbers = np.concatenate(parts)
    places = counts.indices.copy(), counts.indptr.copy()
    return csr_array((numbers, *places), shape=counts.shape)


def scores_between(scores: Tensor, one: int, other: int) -> Tensor:
    """Return the scores (V, 2) for one class against another.

    The values of class `other` are subtracted from the values of class `one`. Here
    `scores` are a model's scores, (V, 2) for two classes or (V, K + 1) for K classes.
    """
    values = class_logits(scores[:, 1:].squeeze(1))
    return torch.stack([scores[:, 0], values[:, one] - values[:, other]], dim=1)


def score_influence(scores: Tensor, corpus: Corpus) -> csr_array:
    """Compute the result of `influence` from scores (V, 2) with columns a and b."""
    parts = [_deletions(bags) for bags in _bags(scores, corpus)]
    return _like(corpus.counts, parts)


def _deletions(bags: _Bags) -> np.ndarray:
    """Return Q_s (b_s - f_-s) for each stored count."""
    b = bags.values
    Q = bags.shares(bags.log_weights)  # (nnz,)
    terms = Q * b
    f = bags.sums(terms)[bags.rows]  # of the sequence of each count, (nnz,)
    top = _tops(bags)  # (n,)
    # Where one token has nearly all attention, 1 - Q_s is lost in rounding: the mean
    # over the other tokens is computed again.
    others = bags.log_weights.copy()
    others[top] = -np.inf
    rest = 1 - Q
    rest[top] = 1
    without = (f - terms) / rest  # f_-s, (nnz,)
    terms_of_others = bags.shares(others) * b
    without[top] = bags.sums(terms_of_others)
    return Q * (b - without)


def _tops(bags: _Bags) -> np.ndarray:
    """Return the index of the entry of each sequence's most attended token."""
    order = np.lexsort((-bags.log_weights, bags.rows))
    return order[bags.starts]


def score_flips(scores: Tensor, corpus: Corpus) -> csr_array:
    """Compute the result of `flipping_set` from scores (V, 2) with columns a and b."""
    parts = []
    for bags in _bags(scores, corpus):
        Q = bags.shares(bags.log_weights)
        terms = Q * bags.values
        parts += [_flips(terms[own]) for own in bags.sequences()]
    chosen = _like(corpus.counts, parts)
    chosen.eliminate_zeros()
    return chosen


def _flips(terms: np.ndarray) -> np.ndarray:
    """Mark the tokens to delete from a sequence with terms Q_s b_s, bool (T,)."""
    f = terms.sum()
    pull = terms * np.sign(f)
    chosen = np.zeros(len(terms), dtype=bool)
    if pull.min() < 0:
        order = np.argsort(-pull, kind="stable")
        strongest_first = pull[order]
        gone = np.cumsum(strongest_first)
        before = gone - strongest_first
        has_pull = strongest_first > 0
        is_needed = (before <= abs(f)) & has_pull
        chosen[order] = is_needed
    return chosen


def score_shapley(scores: Tensor, corpus: Corpus) -> csr_array:
    """Compute the result of `shapley` from scores (V, 2) with columns a and b."""
    parts = []
    for bags in _bags(scores, corpus):
        for own in bags.sequences():
            log_weights = bags.log_weights[own]
            values = bags.values[own]
            parts.append(_shapley(log_weights, values))
    return _like(corpus.counts, parts)


def _shapley(log_weights: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the Shapley values (T,) of the tokens of one sequence.

    With g = 1 - e, the bracket in `shapley` equals w_t b_t e_t / D_t - g_t sum_r R_r,
    where the sum runs over all tokens, including t.
    """
    T = len(b)
    log_w = log_weights - np.logaddexp.reduce(log_weights)
    log_l = np.arange(FIRST, LAST - log_w.min(), STEP)
    nodes, weights = _nodes(T // 2 + 1)  # (T // 2 + 1,)
    values = np.zeros(T)
    per_part = max(1, BLOCK // T)
    for k in range(0, len(nodes), per_part):
        u = nodes[k : k + per_part]
        du = weights[k : k + per_part]
        size = max(1, BLOCK // (T * len(u)))
        for i in range(0, len(log_l), size):
            nodes_of_l = log_l[i : i + size, None]
            lw = np.exp(nodes_of_l + log_w)
            values += STEP * _integrand(lw, b, u, du)
    return values


def _integrand(
    lw: np.ndarray, b: np.ndarray, u: np.ndarray, du: np.ndarray
) -> np.ndarray:
    """Return the sum of the integrand over U nodes u and over L rows of products l w.

    The nodes have the weights `du`.
    """
    e = np.exp(-lw)  # (L, T)
    g = -np.expm1(-lw)  # 1 - e
    term = lw * b * e  # times l, for the integral is over log l
    shrinking = u[:, None] * g[:, None, :]  # (L, U, T)
    D = 1 - shrinking
    over_D = 1 / D
    product = du * np.prod(D, axis=2)  # (L, U)
    total = u * _rows_times(over_D, term)  # (L, U)
    squared_by_token = np.swapaxes(over_D**2, 1, 2)
    by_token = np.swapaxes(over_D, 1, 2)
    own = _rows_times(squared_by_token, product)  # (L, T)
    shared = _rows_times(by_token, product * total)
    pull = term * own - g * shared
    return pull.sum(axis=0)  # (T,)


def _rows_times(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return the product of each matrix with the vector of the same index."""
    columns = vectors[:, :, None]
    return (matrices @ columns)[:, :, 0]


@cache
def _nodes(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Gauss-Legendre nodes in (0, 1) and their weights."""
    x, weights = roots_legendre(count)
    return (x + 1) / 2, weights / 2
