"""What is nearly right is wrong: by one per cent, in one case of many, by one too many.

The shown solution runs once an exercise; what it returned is given again with one
number changed, so that the check meets an answer that is right otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import attnsel
from attnsel.corpus import Corpus
from attnsel.synthetic import synthetic_corpus
from attnsel_book.exercises.checking import judge, no_arguments
from attnsel_book.exercises.messages import as_numbers
from support.tried import TASKS, by_name, runs, time_enough  # noqa: F401

pytestmark = pytest.mark.usefixtures("time_enough")
COMPARED = sorted(name for name, task in TASKS.items() if task.expected)
ALONE = sorted(set(TASKS) - set(COMPARED))


def verdict_on(name: str, change: Callable[..., Any], only: int | None = None) -> Any:
    """Judge the right results, one of them or all changed in view of their case."""
    if name == "model-forward":
        return verdict_with_derivatives(change, only)
    given = iter(
        change(result, *case) if only in (None, i) else result
        for i, (result, case) in enumerate(runs(name))
    )
    return judge(TASKS[name], lambda *_: next(given))


def verdict_with_derivatives(change: Callable[..., Any], only: int | None) -> Any:
    """Judge logits through which derivatives pass, all or one case of them changed."""
    task = TASKS["model-forward"]
    places = iter(range(len(runs("model-forward"))))

    def answer(*given: Any) -> Any:
        result, is_changed = task.solution(*given), only in (None, next(places))
        return change(result, *given) if is_changed else result

    return judge(task, answer)


def times(factor: float) -> Callable[..., np.ndarray]:
    """Return a change of the greatest number; another token, or no for yes."""

    def changed(result: Any, *_: Any) -> np.ndarray:
        found = as_numbers(result)
        assert found is not None
        whole = getattr(result, "dtype", None) in WHOLE
        sizes = np.where(np.isfinite(found), np.abs(found), -1.0)
        place = np.unravel_index(sizes.argmax(), found.shape)
        found[place] = found[place] - 1 if whole else factor * found[place]
        return found

    return changed


WHOLE = (np.dtype(bool), np.dtype(np.int64), np.dtype(np.int32), torch.int64)


@by_name(COMPARED)
def test_one_per_cent_in_one_number_of_one_case_is_noticed(name):
    noticed = 0
    for i, (result, _) in enumerate(runs(name)):
        if np.nan_to_num(as_numbers(result)).any():  # a zero stays as it is
            verdict = verdict_on(name, times(1.01), only=i)
            assert verdict.state == "wrong", i
            assert "# expected: " in verdict.example
            noticed += 1
    assert noticed
    assert verdict_on(name, times(1.01)).state == "wrong"


@by_name(COMPARED)
def test_rounding_is_allowed_and_no_more(name):
    if getattr(runs(name)[0][0], "dtype", None) not in WHOLE:
        assert verdict_on(name, times(1 + 1e-5)).state == "right"
        assert verdict_on(name, times(1 + 3e-5)).state == "wrong"


def shared_attention(share: float) -> Callable[..., np.ndarray]:
    """Return attention of which so much is spread over all tokens of a sequence."""

    def spread(
        Q: np.ndarray, _: np.ndarray, there: np.ndarray, relevant: np.ndarray
    ) -> np.ndarray:
        others = there.copy()
        others[np.arange(len(Q)), relevant] = False
        return (1 - share) * Q + share * others / others.sum(axis=1, keepdims=True)

    return spread


def scaled(norm: float) -> Callable[..., np.ndarray]:
    return lambda p, *_: norm * np.asarray(p) / np.linalg.norm(p)


def grown(share: float) -> Callable[..., np.ndarray]:
    """Move embeddings by so much of the way."""
    return lambda moved, E, *_: E + share * (moved - E)


def of_b(change: Callable[[np.ndarray], Any]) -> Callable[..., Any]:
    return lambda result, *_: (result[0], change(np.asarray(result[1], float)))


def gate(a: float = 0.0, b: float = 0.0, factor: float = 1.0) -> Callable[..., Any]:
    """Return numbers for good, bad and not: its score from log B, and its value."""
    return lambda result, B: (
        [0.0, 0.0, np.log(a * B)],
        [factor * B, -factor * B, b],
    )


def shared(n: int, length: int) -> Callable[[Corpus], Corpus]:
    """Return 24 sequences of the counterexample, or one more, or longer ones."""

    def corpus(_: Corpus) -> Corpus:
        others = list(range(8, 7 + length))
        rows = [[r, *others] for r in range(8) for _ in range(3)] + [[7, *others]]
        labels = [1] * 12 + [0] * 13
        vocab = attnsel.Vocab([str(s) for s in range(7 + length)])
        return Corpus.from_tokens(rows[:n], labels[:n], vocab)

    return corpus


def drawn(n: int, n_tokens: int) -> Callable[[Corpus], Corpus]:
    share = round(0.7 * n_tokens)
    return lambda _: synthetic_corpus(n, n_tokens, 20, delta=0.1, n_relevant=share)


def reversed_sum(total: float) -> Callable[..., Any]:
    return lambda result: (np.asarray(result[0]) * total, result[1])


def instead(result: Any) -> Callable[..., Any]:
    return lambda *_: result


def one_row_less(rows: np.ndarray, E: np.ndarray, *_: Any) -> np.ndarray:
    """Leave the last pair out, in all sequences that have it."""
    return rows[np.abs(rows - rows[-1]).max(axis=1) > 1e-9]


def a_row_of_no_pair(rows: np.ndarray, *_: Any) -> np.ndarray:
    return np.concatenate([rows, 1.01 * rows[-1:]])


def one_more(S: np.ndarray, Q: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Delete one token more on the same side."""
    rest = np.setdiff1d(np.arange(len(Q)), S)
    return np.append(S, rest[(Q * b * np.sign(Q @ b))[rest].argmin()])


def a_logit(factor: float) -> Callable[..., torch.Tensor]:
    return lambda f, *_: f * torch.cat([torch.tensor([factor]), torch.ones(len(f) - 1)])


def exchanged_in_part(ids: Any, *_: Any) -> np.ndarray:
    """Let half of the sequences of one label stand at the other."""
    found = np.array(ids)
    found[:600:6], found[1:600:6] = ids[1:600:6], ids[:600:6]
    return found


def one_id_too_many(ids: Any, first: Any, *_: Any) -> np.ndarray:
    found = np.array(ids)
    found[-1, -1] = first.shape[1]
    return found


# Of what asks for an example or has more than one answer: right still, and wrong.
NEARLY: dict[str, tuple[list[Callable[..., Any]], list[Callable[..., Any]]]] = {
    "convergence-cheapest": (
        [lambda Q, *_: Q + 1e-12 * (Q > 0)],
        [shared_attention(1e-4), shared_attention(0.01)],
    ),
    "convergence-start": ([scaled(25.0)], [scaled(25.001), scaled(25.25)]),
    "explanation-flip": (
        [lambda S, *_: np.asarray(S)[::-1].copy()],
        [lambda S, *_: np.asarray(S)[:-1], one_more],
    ),
    "explanation-reversed": (
        [reversed_sum(1 + 5e-7), reversed_sum(1 - 5e-7)],
        [reversed_sum(1 + 2e-6), reversed_sum(1 - 2e-6), reversed_sum(1.01)],
    ),
    "interactions-gate": (
        [gate(101.0), gate(101.0, factor=1 + 5e-7), gate(10_000.0, 0.0098)],
        [
            gate(95.0),
            gate(101.0, factor=1.01),
            gate(101.0, factor=1 + 2e-6),
            gate(10_000.0, 0.0102),
        ],
    ),
    "max-margin-rows": (
        [lambda rows, *_: rows[::-1].copy(), lambda rows, *_: rows * (1 + 5e-6)],
        [one_row_less, a_row_of_no_pair, lambda rows, *_: rows * (1 + 3e-5)],
    ),
    "max-margin-lost": ([scaled(4.0 - 1e-9)], [scaled(4.001), scaled(4.04)]),
    "model-forward": ([a_logit(1 + 5e-7)], [a_logit(1 + 1e-4), a_logit(1.01)]),
    "model-constant": (
        [grown(1 + 5e-5), grown(1 - 5e-5)],
        [grown(1 + 2e-4), grown(1 - 2e-4), grown(1.01)],
    ),
    "model-two-numbers": (
        [of_b(lambda b: np.clip(b, -2.4, 2.4))],
        [of_b(lambda b: 1.0001 * b), of_b(lambda b: np.clip(b, -2.2, 2.2))],
    ),
    "one-step-lengths": (
        [instead(([[0, 0, 1, 1, 1], [0, 1]], [1, 0]))],  # beta is 2/5 - 1/2
        [
            instead(([[0, 0, 1, 1], [0, 1]], [1, 0])),  # beta is 0
            instead(([[0, 1, 1, 1], [0, 1]], [1, 0])),  # alpha is 0
        ],
    ),
    "own-attention-margin": (
        [lambda p, *_: p * (1 + 5e-4)],
        [lambda p, *_: p * (1 + 2e-3), lambda p, *_: p * 0.999],
    ),
    "frozen-embeddings": (
        [lambda E, *_: E * (1 + 5e-6)],
        [lambda E, *_: E * (1 + 3e-5), lambda E, *_: E * 1.01],
    ),
    "reviews-null": (
        [lambda null, *_: null[torch.arange(len(null)).flip(0)]],
        [lambda null, corpus, seed: corpus, lambda null, *_: null[1:]],
    ),
    "selection-lost": ([shared(24, 8)], [shared(25, 8), shared(24, 9)]),
    "synthetic-sampler": (
        [lambda ids, *_: np.roll(ids, 2 * 3, axis=0)],  # labels repeat after three
        [exchanged_in_part, one_id_too_many],
    ),
    "synthetic-break": ([], [drawn(1001, 100), drawn(1000, 101)]),
    "why-v-upside-down": (
        [instead(([[0, 1, 1], [2]], [1, 0])), instead(([[2], [0, 1, 1]], [1, 0]))],
        [
            instead(([[0, 1], [2]], [1, 0])),  # the score stays zero
            instead(([[0, 0, 1], [2]], [1, 0])),  # it rises
        ],
    ),
}


@by_name(ALONE)
def test_what_has_many_answers_has_its_bounds_where_it_says(name):
    right, wrong = NEARLY[name]
    for change in right:
        verdict = verdict_on(name, change)
        assert verdict.state == "right", verdict
    for change in wrong:
        verdict = verdict_on(name, change)
        assert verdict.state == "wrong", wrong.index(change)


@by_name(name for name in ALONE if TASKS[name].cases is not no_arguments)
def test_wrong_in_the_last_case_alone_is_wrong(name):
    last = len(runs(name)) - 1
    assert verdict_on(name, NEARLY[name][1][0], only=last).state == "wrong"
    assert verdict_on(name, lambda result, *_: result).state == "right"
