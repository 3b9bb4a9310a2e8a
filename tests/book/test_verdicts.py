"""Answers on each side of a bound, and right answers in another form.

An answer is an expression in the arguments of its exercise. The module `test_exercises`
tests that each named mistake is refused with its sentence.
"""

import inspect
import math  # noqa: F401 (the expressions use it, and torch)
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch  # noqa: F401
from scipy.special import expit

from attnsel.corpus import Corpus
from attnsel_book.exercises.checking import Verdict, judge
from attnsel_book.exercises.messages import as_numbers
from attnsel_book.problems import crowd_corpus
from attnsel_book.v_shape import shape  # noqa: F401
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


def scaled(p: Any, norm: float) -> np.ndarray:
    return norm * np.asarray(p) / np.linalg.norm(p)


def spread_attention(Q: Any, there: Any, relevant: Any, share: float) -> np.ndarray:
    """Return attention whose part `share` is on the other tokens of each sequence."""
    others = there.copy()
    others[np.arange(len(Q)), relevant] = False
    return (1 - share) * Q + share * others / others.sum(axis=1, keepdims=True)


def one_more(S: Any, Q: Any, b: Any) -> np.ndarray:
    """Return the set `S` with one more token of the same side to delete."""
    rest = np.setdiff1d(np.arange(len(Q)), S)
    return np.append(S, rest[(Q * b * np.sign(Q @ b))[rest].argmin()])


def sorted_together(ids: Any, y: Any) -> np.ndarray:
    """Return ids whose first and second tokens increase together, for each label."""
    together = ids.copy()
    for label in (0, 1):
        rows = np.flatnonzero(y == label)
        together[rows[ids[rows, 1].argsort()], 0] = np.sort(ids[rows, 0])
    return together


def crowd(times: int, positive: int, negative: int, length: int) -> Corpus:
    return crowd_corpus([times] * positive, [times] * negative, length=length)


# -- the table ------------------------------------------------------------------------

# `right` is the result of the solution. Of n sequences, C are counts, y the labels and
# T the lengths (n, 1); Q, f and g as in `attended`, where b is given.
TABLE: dict[str, dict[str, str]] = {
    "model-forward": {
        "right_tensor * (1 + 5e-7)": RIGHT,
        "right_tensor * (1 + 1e-4)": WRONG,
        "tuple(right_tensor)": "torch.stack(logits) keeps the gradients",
        "right_tensor.tolist()": "the logits have no gradient",
    },
    "one-step-alpha": {
        "C[y[:, 0] > 0].sum(axis=0) / n": "negative sequences contribute nothing",
    },
    "selection-limit": {
        # K is I + 11', and the derivatives sum to zero
        "(np.eye(len(b)) + 1) @ np.linalg.solve(np.eye(len(b)) + np.outer(b, b), right)"
        "": "-K dL/da with K = I + b b^T",
    },
    "reviews-constant": {
        "E + (1 + 5e-5) * (right - E)": RIGHT,
        "E + (1 - 2e-4) * (right - E)": WRONG,
        "E + (1 + 2e-4) * (right - E)": WRONG,
        "right.astype(np.float32)": RIGHT,
    },
    "model-two-numbers": {
        "right[0], np.where(lean < 0, -100.0, 3 * lean)": "at most 3 is allowed",
        "right[0], np.clip(right[1], -2.4, 2.4)": RIGHT,
        "right[0], np.clip(right[1], -2.2, 2.2)": WRONG,
        "right[0], 1.0001 * right[1]": WRONG,
        "30.0 * (abs(lean) > 0.9), 2.9 * np.sign(lean)": RIGHT,
    },
    "one-step-lengths": {
        "[[0, 1], []], [1, 0]": "sequence needs a label, and at least one token",
        "[[0, 0, 1, 1, 1], [0, 1]], [1, 0]": RIGHT,  # beta is 2/5 - 1/2
        "[[0, 0, 1, 1, 1], [0, 1]], [1, -1]": RIGHT,
        "[np.array([0.0, 0, 1, 1, 1]), (0.0, 1)], np.array([1.0, 0])": RIGHT,
        "[[0, 0, -1, -1, -1], [0, 1]], [1, 0]": "one of yours is -1",
        "[[0, 0, 1, 1, 1], [0, 1], [1, 2]], [1, 0, -1]": "you used 0 and -1",
        "([0, 0] + [1] * 9, (0, 0, *[1, 2] * 5), [0, 0]), (1, 1, -1)": RIGHT,
        "[[0, 0, 1, 1], [0, 1]], [1, 0]": "n beta_0 is 0",
        "[[1], [0, 1]], [1, 0]": "more often in positive sequences",
        # beta_0 is exactly zero, where sums of floats give -2.8e-17
        "[[0] * 3 + [1] * 7, [0] * 3 + [1] * 7, [0] * 3 + [1] * 2], [1, 1, 0]": WRONG,
    },
    "frozen-embeddings": {
        "right * (1 + 5e-6)": RIGHT,
        "right * (1 + 3e-5)": WRONG,
        # and what neither p nor v sees
        "right + 1 - np.linalg.pinv(np.stack([p, v])) @ np.stack([p, v]).sum(1)": RIGHT,
    },
    "synthetic-sampler": {
        "np.roll(right, 2 * 3, axis=0)": RIGHT,  # labels repeat after three
        "np.where(right == right.max(), first.shape[1], right)": "integers from 0 to",
        "sorted_together(right, y.numpy())": "independently of the first",
    },
    "max-margin-rows": {
        "right[::-1] * (1 + 5e-6)": RIGHT,
        "np.unique(right, axis=0)": RIGHT,
        "right * (1 + 3e-5)": WRONG,
        "right[abs(right - right[-1]).max(axis=1) > 1e-9]": "have no row",
        "np.concatenate([right, 1.01 * right[-1:]])": "is not a selected",
        "np.unique(right, axis=0).T": "transpose your result",
        "right[::-1] / np.linalg.norm(right[::-1], axis=1, keepdims=True)": (
            "do not divide the rows"
        ),
    },
    "max-margin-lost": {
        "scaled(right, 4 - 1e-9)": RIGHT,
        "np.array([-2.4, -3.0], dtype=np.float32)": RIGHT,
        "scaled(right, 4.001)": WRONG,
    },
    "own-attention-margin": {
        "right * (1 + 5e-4)": RIGHT,
        "right * (1 + 2e-3)": "times as long",
        "right * 0.999": "the smallest lead is",
    },
    "convergence-cheapest": {
        "right + 1e-12 * (right > 0)": RIGHT,
        "spread_attention(right, there, relevant, 1e-4)": WRONG,
        "spread_attention(right, there, relevant, 0.01)": WRONG,
    },
    "convergence-start": {
        "scaled(right, 25.0)": RIGHT,
        "scaled(right, 25.001)": WRONG,
        # equal scores of all relevant tokens, by least squares
        "scaled(np.linalg.pinv(E) @ np.isin(range(len(E)), relevant), 24.9)": RIGHT,
    },
    "selection-lost": {
        "crowd(3, 4, 4, 8)": RIGHT,
        "crowd(3, 4, 5, 8)": WRONG,
        "crowd(3, 4, 4, 9)": WRONG,
        "crowd(2, 5, 5, 8)": RIGHT,
    },
    "reviews-null": {
        # token 0 is taken for token 1
        "right_corpus[torch.arange(n).flip(0)]": RIGHT,
        "right_corpus[1:]": WRONG,
        "Corpus(corpus.counts[np.arange(n) * 7 % n], corpus.labels, corpus.vocab)": (
            RIGHT
        ),
    },
    "explanation-flip": {
        "set(right.astype(int).tolist())": RIGHT,
        "right[::-1]": RIGHT,
        "right[:-1]": WRONG,
        "one_more(right, Q, b)": "the smallest such set has size",
    },
    "explanation-reversed": {
        "right[0] * (1 + 5e-7), right[1]": RIGHT,
        "right[0] * (1 - 2e-6), right[1]": WRONG,
    },
    "interactions-gate": {
        "[0, 0, math.log(101 * B)], [B, -B, 0]": RIGHT,
        "[0, 0, math.log(95 * B)], [B, -B, 0]": WRONG,
        "[0, 0, math.log(101 * B)], [(1 + 5e-7) * B, -B, 0]": RIGHT,
        "[0, 0, math.log(101 * B)], [(1 + 2e-6) * B, -B, 0]": WRONG,
        "[0, 0, math.log(1e4 * B)], [B, -B, 0.0098]": RIGHT,
        "[0, 0, math.log(1e4 * B)], [B, -B, 0.0102]": WRONG,
        "[0, 0, 10], [B, -B, 0]": "is too much for B = 1e+06",
        "[0, 0, 1e4], [B, -B, 0]": RIGHT,
        "[0, 0, 100], [float(int(B)), -float(int(B)), 0]": "has f = 0, not 0.5",
    },
    "broken-winner": {
        # the last of tokens with equal votes, though no votes are equal
        "C.shape[1] - 1 - np.where(C > 0, y * (y * C / T).mean(0).round(9), -9)"
        "[:, ::-1].argmax(1)": RIGHT,
    },
    "settings-spread": {
        "shape(x, torch.stack([x, y], 1), least=4).value_spread": WRONG,
        "shape(x, torch.stack([x, y], 1), least=5).value_spread": RIGHT,
        "shape(x, torch.stack([x, y], 1), least=6).value_spread": WRONG,
    },
    "why-v-upside-down": {
        "[[0, 1, 1, 1], [20]] * 10, [1, 0] * 10": RIGHT,
        "[[0, 1, 1, 1], [2]] * 11, [1, 0] * 11": "at most twenty sequences",
        "[[0, 1, 1, 1], [21]], [1, 0]": "only the tokens 0 to 20",
    },
    "why-v-safe": {
        "1 / C.sum(0)": RIGHT,
        "1 / C.sum(0) ** 2": "its square makes rare tokens too fast",
        "C.sum(0) ** -0.5": "its square root",
        "C.sum(0)": "even faster",
        "7 + 0 * C[0]": "with equal rates",
        "0.01 + np.log(n / (C > 0).sum(0))": WRONG,
    },
    "deeper-bag": {
        "(lambda H: torch.softmax(H @ k + counts.log(), 0) @ H @ v)(torch.softmax("
        "X @ W1 @ X.T + counts.log()[:, None], 1) @ X + r * X)": "between the columns",
    },
    "own-texts-p": {
        "round(float(right), 20)": "without rounding",
        "max(1e-16, right)": "without rounding",
    },
}


def with_names(name: str, given: tuple[Any, ...]) -> dict[str, Any]:
    """Return an exercise's arguments, and quantities derived from these, by name."""
    keys = inspect.signature(TASKS[name].solution).parameters
    names = dict(zip(keys, given, strict=True))
    if "corpus" in names and name != "convergence-start":
        corpus = names["corpus"]
        C = corpus.counts.toarray().astype(float)
        names |= {"C": C, "T": C.sum(axis=1, keepdims=True), "n": len(C)}
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
    """Return the function that evaluates an expression in an exercise's arguments."""
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
    for expression, words in TABLE[name].items():
        verdict = judge(TASKS[name], answer(name, expression))
        assert (verdict.state == "right") is (words == RIGHT), (expression, verdict)
        if words not in (RIGHT, WRONG):
            assert words in verdict.text, (expression, verdict)


def verdict_on(name: str, factor: float, only: int | None = None) -> Verdict:
    """Judge the right results after a change of the largest number in one or all.

    The number is multiplied by `factor`, but 1 is subtracted from a whole number.
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
