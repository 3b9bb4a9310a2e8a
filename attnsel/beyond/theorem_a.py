"""Theorem A of the book, which infers the limit of a gradient flow from one point p."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from scipy.special import expit
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.flow import Flow
from attnsel.log_domain import ClsProblem, cls_problem, evaluate, log
from attnsel.model import AttentionClassifier
from attnsel.theory import MaxMargin, max_margin

# Larger than the rounding error of a difference of two losses, so that nothing is
# proved if the excess loss equals a level.
ROUNDING = 1e-13

# Largest error of the values that a vector h takes on the tokens.
SEPARATES = 1e-9


@dataclass(frozen=True, eq=False)
class Constants:
    """The quantities of Theorem A that do not depend on p.

    Attributes:
        selected_votes: y b of the selected token in each of the k sequences that
            contain another token, (k,).
        rival_votes: the largest y b of the other tokens of each such sequence, (k,).
        n_sequences: number n of sequences, including the n - k with one distinct token.
        limit_loss: the loss if all attention is on the selected tokens. The excess loss
            is the loss minus `limit_loss`.
        selection_level: the smallest possible excess loss if the attention misses the
            selected token of one sequence.
        direction_level: m / (2 A (m + D)), or 0 without a value gap.
        gap: the smallest y (b_selected - b_other), the value gap if positive.
        A: the largest n / (g_X gap_X); g_X and gap_X are g and the gap of sequence X.
        g_inf: the smallest g = 1 / (1 + exp(y b_selected)) of the k sequences.
        count_ratio: the largest ratio of the count of the selected token to the count
            of another token of its sequence.
        margin: m, the margin of the max-margin direction u.
        D: the largest difference of u·E between two unselected tokens of a sequence.
        M: the largest distance between two embeddings of the same sequence.
        h_norm: norm of the shortest h that `certificate` finds; inf if it finds none.
        Lambda: M / g_inf; times the excess loss, it bounds the gradient's norm.
        beta: M² (2 + largest y (b_selected - b_other)) / g_inf; its product with the
            excess loss bounds the norm of the Hessian.
    """

    selected_votes: np.ndarray
    rival_votes: np.ndarray
    n_sequences: int
    limit_loss: float
    selection_level: float
    direction_level: float
    gap: float
    A: float
    g_inf: float
    count_ratio: float
    margin: float
    D: float
    M: float
    h_norm: float
    Lambda: float
    beta: float


@dataclass(frozen=True, eq=False)
class Certificate(Constants):
    """The constants of Theorem A, and its conclusions about the flow from one p.

    Attributes:
        level: "direction" if the excess loss is below `direction_level`, "selection" if
            it is only below `selection_level` and an h is found, or "none" otherwise.
        constant: constant C such that 1 - cos(p, u) <= C / ‖p‖ from this point on, or
            inf. Here u is the max-margin direction of the selected tokens, which get
            all attention in the limit.
        theta: lower bound on the attention on each selected token from this point on.
        log_excess: logarithm of the excess loss, or nan if the excess loss is negative.
    """

    level: Literal["none", "selection", "direction"]
    constant: float
    theta: float
    log_excess: float

    def bounds(self, flow: Flow) -> Tensor:
        r"""Return upper bounds on 1 - cos(p, u) at the points of a flow, float64 (k,).

        .. math:: 1 - \cos(p, u) \le \frac{C}{\|p\|}

        At each point, C is the smallest constant of this and all earlier points. The
        bound is inf if nothing is proved at any of them. The flow must have the
        embeddings, output and corpus of the certificate, but can start from any p.
        """
        losses, excesses = flow.loss.tolist(), flow.log_excess.tolist()
        points = zip(losses, excesses, strict=True)
        reaches = [_proved(self, *point).reach for point in points]
        constants = flow.norms + flow.norms.new_tensor(reaches)
        return constants.cummin(0).values / flow.norms


def certificate(
    model: AttentionClassifier, corpus: Corpus, selected: Tensor | Sequence[int]
) -> Certificate:
    """Apply Theorem A of the book to the flow from `model.cls`.

    The theorem requires a value gap, that is, y b_selected > y b_other for every other
    token of a sequence, where b = E v. Some p must select the tokens in `selected`. The
    excess loss must be below `selection_level`. If it is not also below the smaller
    number `direction_level`, a vector h is required as well. In every sequence, h·E
    must be larger by at least 1 on the selected token than on every other token. Among
    these other tokens, h·E must not decrease as the vote y b increases. Two choices of
    h·E are tried, up to a factor. The first is 1 on selected tokens and 0 elsewhere.
    The second is `|b|` on tokens that occur in only one class and 0 elsewhere. A vector
    h with these values exists if the embeddings are linearly independent.

    Args:
        model: model with finite E (V, d), p (d,) and v (d,).
        corpus: n sequences with two classes, in the vocabulary of the model.
        selected: the id of one token of each sequence, (n,).

    Raises:
        TypeError: if an id in `selected` is not an integer.
        ValueError: if a parameter is not finite, if the model has a matrix `key_query`,
            if the corpus or the selection does not fit the model, or if no p selects
            these tokens.
        RuntimeError: if the solver of `max_margin` fails.

    Example:
        >>> import attnsel
        >>> from attnsel.theory import relevant_tokens
        >>> corpus = attnsel.separable_corpus(80, 40, 5)
        >>> model = attnsel.one_step(AttentionClassifier(40, 256), corpus, lr=100.0)
        >>> proof = certificate(model, corpus, relevant_tokens(corpus))
        >>> proof.gap > 0, proof.level
        (True, 'none')
    """
    problem = cls_problem(model, corpus)
    best = max_margin(model.embeddings, corpus, selected)
    of_row = np.asarray(selected)[problem.row]
    own = corpus.counts.indices == of_row
    constants = _constants(problem, corpus.counts.data, own, best)
    here = evaluate(problem, problem.start)
    proved = _proved(constants, here.loss, here.log_excess)
    return Certificate(
        **vars(constants),
        level=proved.level,
        constant=problem.norm(problem.start) + proved.reach,
        theta=proved.theta,
        log_excess=proved.log_excess,
    )


def _constants(
    problem: ClsProblem, counts: np.ndarray, own: np.ndarray, best: MaxMargin
) -> Constants:
    """Return the constants for the selected tokens that `own` marks, bool (nnz,)."""
    n = len(problem.signs)
    rivals = ~own
    row = problem.row[rivals]
    contested, first = np.unique(row, return_index=True)  # sequences with a rival

    votes = problem.signs[problem.row] * problem.values
    leads = votes[own][row] - votes[rivals]
    greatest_lead = float(leads.max())
    gaps = np.minimum.reduceat(leads, first)
    selected_votes = votes[own][contested]
    rival_votes = selected_votes - gaps
    g = expit(-selected_votes)  # 0 for votes beyond float64: nothing is proved
    with np.errstate(divide="ignore"):
        each_A = n / (g * gaps.clip(0))
        A = float(each_A.max())
        steepest = float((1 / g).max())

    u = (problem.basis.T @ best.direction).numpy()
    height_of_token = problem.points @ u  # u·E
    heights = height_of_token[problem.token[rivals]]
    highest = np.maximum.reduceat(heights, first)
    lowest = np.minimum.reduceat(heights, first)
    D = float((highest - lowest).max())
    margin = best.margin
    M = _widest_bag(problem)
    limit_losses = _losses(selected_votes)
    missed = _losses(rival_votes) - limit_losses
    own_counts = counts[own][row]
    ratios = own_counts / counts[rivals]
    return Constants(
        selected_votes=selected_votes,
        rival_votes=rival_votes,
        n_sequences=n,
        limit_loss=float(_losses(votes[own]).mean()),
        selection_level=float(missed.min()) / n,
        direction_level=margin / (2 * A * (margin + D)),
        gap=float(gaps.min()),
        A=A,
        g_inf=float(g.min()),
        count_ratio=float(ratios.max()),
        margin=margin,
        D=D,
        M=M,
        h_norm=_separation(problem, own),
        Lambda=M * steepest,
        beta=M**2 * (2 + greatest_lead) * steepest,
    )


def _losses(votes: np.ndarray) -> np.ndarray:
    """Return the logistic loss log(1 + exp(-y f)) of sequences with the votes y f."""
    return np.logaddexp(0, -votes)


def _widest_bag(problem: ClsProblem) -> float:
    """Return the largest distance between two embeddings of the same sequence."""
    widest = 0.0
    for bag in np.split(problem.token, problem.indptr[1:-1]):
        points = problem.points[bag]
        distances = scipy.spatial.distance.pdist(points)
        widest = max(widest, float(distances.max(initial=0)))
    return widest


def _separation(problem: ClsProblem, own: np.ndarray) -> float:
    """Return the norm of the shorter valid h, or inf if neither of the two is valid.

    Each h is scaled so that its smallest lead is 1.
    """
    rivals = ~own
    row = problem.row[rivals]
    relevant, other = problem.token[own], problem.token[rivals]
    votes = problem.signs[problem.row] * problem.values
    votes = votes[rivals]
    targets = _targets(problem, relevant)
    solutions, *_ = np.linalg.lstsq(problem.points, targets.T, rcond=None)
    attempts = (problem.points @ solutions).T
    shortest = math.inf
    for target, attempt, h in zip(targets, attempts, solutions.T, strict=True):
        errors = np.abs(attempt - target)
        is_attained = errors.max() < SEPARATES * target.max()
        of_relevant = target[relevant][row]
        of_rivals = target[other]
        lead = (of_relevant - of_rivals).min()
        rises = _rises_with_votes(row, votes, of_rivals)
        if is_attained and lead > 0 and rises:
            length = float(np.linalg.norm(h) / lead)
            shortest = min(shortest, length)
    return shortest


def _targets(problem: ClsProblem, relevant: np.ndarray) -> np.ndarray:
    """Return the required h·E of each token for both vectors h, (2, tokens)."""
    one_if_relevant = np.zeros(len(problem.points))
    one_if_relevant[relevant] = 1
    size_of_value = np.zeros(len(problem.points))
    size_of_value[problem.token] = np.abs(problem.values)
    signs = problem.signs[problem.row]
    in_positive = problem.token[signs > 0]
    in_negative = problem.token[signs < 0]
    in_both = np.intersect1d(in_positive, in_negative)
    size_of_value[in_both] = 0
    return np.stack([one_if_relevant, size_of_value])


def _rises_with_votes(row: np.ndarray, votes: np.ndarray, target: np.ndarray) -> bool:
    """Return whether h·E never decreases from a rival to a rival with a larger vote.

    Only rivals in the same sequence are compared.
    """
    order = np.lexsort((target, votes, row))
    falls = np.diff(target[order]) < 0
    same_sequence = np.diff(row) == 0
    return not bool((falls & same_sequence).any())


@dataclass(frozen=True)
class _Proved:
    """The conclusions at one p: attributes of `Certificate`, and `reach`, C - ‖p‖."""

    level: Literal["none", "selection", "direction"]
    log_excess: float
    theta: float
    reach: float


def _proved(constants: Constants, loss: float, log_excess: float) -> _Proved:
    """Apply Theorem A at a point with this loss.

    Here `log_excess` is the logarithm of the loss minus the loss with all attention on
    the most attended tokens. Below the direction level, the most attended tokens are
    the selected ones.
    """
    excess = loss - constants.limit_loss + ROUNDING
    if not 0 < constants.direction_level > excess:
        log_excess = log(excess)
    selects = log_excess < log(constants.selection_level)
    if not (selects and constants.direction_level > 0):
        return _Proved("none", log_excess, 0.0, math.inf)
    theta = _least_attention(constants, math.exp(log_excess))
    # The path to the direction level, and inequality (3) from there.
    log_level = math.log(constants.direction_level)
    path = 0.0
    if log_excess > log_level:
        path = constants.h_norm / theta * (log_excess - log_level)
    log_ratio = math.log(2 * constants.A * constants.count_ratio)
    spare = 1 + log_ratio + min(log_excess, log_level)
    reach = path + spare / constants.margin
    if log_excess < log_level:
        return _Proved("direction", log_excess, theta, reach)
    if reach < math.inf:
        return _Proved("selection", log_excess, theta, reach)
    return _Proved("none", log_excess, theta, reach)


def _least_attention(constants: Constants, excess: float) -> float:
    """Return theta, the lower bound on the attention on each selected token.

    The bound depends on p only through the excess loss.
    """
    selected, rival = constants.selected_votes, constants.rival_votes
    worst_loss = _losses(selected) + constants.n_sequences * excess
    shortfall = -np.expm1(-worst_loss)
    least_vote = -worst_loss - np.log(shortfall)  # with that loss
    attention = (least_vote - rival) / (selected - rival)
    return float(attention.min())
