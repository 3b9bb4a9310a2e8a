r"""The gradient flow for few frequent relevant tokens against a crowd of rare ones.

One class has R_+ equally frequent relevant tokens, and the other has R_-. The classes
are equally large, and each sequence contains one relevant token and the same T - 1
irrelevant ones. From zero scores and values, the tokens of a kind stay equal, so the
flow on E alone has six numbers, the score and the value of each of the three kinds.
"""

from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import log_expit, softmax

Array = np.ndarray
LABELS = np.array([1.0, -1.0])  # of the few and of the crowd
LONG = 50.0  # time after which a flow has selected, over the length


class Crowds(NamedTuple):
    """State of the flow for the few tokens, the crowd and the irrelevant tokens.

    Attributes:
        scores: score of each kind of token, float64 (3,).
        values: value of each kind of token, float64 (3,).
        attention: attention on the relevant token in each class, first in the class
            with few relevant tokens, float64 (2,).
        loss: mean logistic loss.
    """

    scores: Array
    values: Array
    attention: Array
    loss: float


def crowds(state: Array, length: int) -> Crowds:
    """Return the scores, values, attention and loss at a `state` (6,) of the flow."""
    a, b = state.reshape(2, 3)
    behind = np.minimum(a[2] - a[:2], 600.0)
    Q = 1 / (1 + (length - 1) * np.exp(behind))
    f = Q * b[:2] + (1 - Q) * b[2]
    return Crowds(a, b, Q, float(-log_expit(LABELS * f).mean()))


def forces(state: Array, few: float, many: float, length: int) -> Array:
    r"""Return minus the derivatives (6,) of the loss, divided by the mean of g.

    The derivatives are with respect to the score and the value of one token of each
    kind. Here g is minus the derivative of a sequence's loss with respect to its
    margin. The division changes the speed of the flow and not its path. Without the
    division, the flow would take exponentially long.
    """
    _, b, Q, _ = crowds(state, length)
    f = Q * b[:2] + (1 - Q) * b[2]
    g = 2 * softmax(log_expit(-LABELS * f))
    own = LABELS * g * Q / (2 * np.array([few, many]))
    shared = LABELS * g * (1 - Q) / (2 * (length - 1))
    toward_p = [*(own * (b[:2] - f)), (shared * (b[2] - f)).sum()]
    return np.concatenate([toward_p, [*own, shared.sum()]])


def follow(few: float, many: float, length: int, until_loss: float = 0.0) -> Crowds:
    """Return the flow's state when its loss is `until_loss`, or after a long time.

    The flow starts from zero scores and values.

    Args:
        few: number R_+ of relevant tokens in one class; it need not be an integer.
        many: number R_- of relevant tokens in the other class, at least `few`.
        length: T, at least 2.
        until_loss: mean loss at which the flow ends early; with 0, it never ends early.
    """

    def speed(_: float, state: Array) -> Array:
        return 2 * max(few, many) * forces(state, few, many, length)

    def excess(_: float, state: Array) -> float:
        return crowds(state, length).loss - until_loss

    excess.terminal = True  # type: ignore[attr-defined]
    tight = {"method": "LSODA", "rtol": 1e-8, "atol": 1e-10}
    events = excess if until_loss else None
    found = solve_ivp(speed, (0, LONG * length), np.zeros(6), events=events, **tight)
    return crowds(found.y[:, -1], length)


def critical_ratio(few: float, length: int, halvings: int = 11) -> float:
    """Return the ratio R_- / R_+ above which the flow does not select the crowd.

    Bisection between the ratios 1 and 8 finds it to within 7 / 2^halvings.
    """
    selects, loses = 1.0, 8.0
    for _ in range(halvings):
        ratio = (selects + loses) / 2
        if follow(few, ratio * few, length).attention[1] > 0.5:
            selects = ratio
        else:
            loses = ratio
    return (selects + loses) / 2
