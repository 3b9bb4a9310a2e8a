"""Whatever a reader gives to a check, it is told and nothing is raised."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.sparse import csr_array

from attnsel.corpus import Corpus
from attnsel_book.exercises import checking, running
from attnsel_book.exercises.checking import Exercise, Verdict, exercises, judge
from attnsel_book.exercises.messages import as_numbers, code
from support.tried import NAMES, by_name, of_each, runs, time_enough  # noqa: F401

pytestmark = pytest.mark.usefixtures("time_enough")


class Evil:
    """An object that fails at whatever is asked of it."""

    def fail(self, *_: Any) -> Any:
        raise RuntimeError("no")

    __repr__ = __eq__ = __len__ = __bool__ = __iter__ = __array__ = fail
    __float__ = __getitem__ = __deepcopy__ = fail


class Called:
    """An object that can be called, and returns a number."""

    def __call__(self, *_: Any) -> float:
        return 1.5


def raises(error: BaseException) -> Callable[..., Any]:
    def answer(*_: Any) -> Any:
        raise error

    return answer


def endless(*_: Any) -> Any:
    while True:
        pass


def recursive(*_: Any) -> Any:
    return recursive()


def generates(*_: Any) -> Any:
    yield 1.0


def no_arguments_at_all() -> Any:
    return 1.0


def within_itself() -> list[Any]:
    rows: list[Any] = []
    rows.append(rows)
    return rows


TENSOR = torch.tensor([1.5, 2.0], requires_grad=True)
CORPUS = Corpus.from_tokens([[0, 1], [1]], [0, 1], ["a", "b"])
# What is no function.
GIVEN: list[Any] = [None, ..., 3, "my_alpha", [1.0], TENSOR, CORPUS, Evil(), sys]
# What a function returns and no exercise asks for.
RETURNED: list[Any] = [
    True,
    0,
    -1.5,
    10**400,
    float("nan"),
    float("-inf"),
    1 + 2j,
    np.array(1 + 2j),
    torch.tensor(1 + 2j),
    Decimal("1.5"),
    Fraction(1, 3),
    "text",
    b"bytes",
    "3.5",
    ["1", "2"],
    [],
    (),
    {},
    set(),
    {0, 1},
    {"a": 1.0},
    [None],
    [...],
    [[1.0], [2.0, 3.0]],
    ([1.0], [2.0, 3.0]),
    [[], []],
    range(3),
    iter([1.0]),
    object(),
    Evil(),
    [Evil()],
    Called,
    len,
    within_itself(),
    np.zeros(0),
    np.zeros((2, 0)),
    np.array(["a"]),
    np.array([None, 1.0]),
    np.array("2026-11-23", dtype="datetime64"),
    np.full((1, 1, 1, 1), 2.0),
    np.float32(1.5),
    pd.Series([1.0, 2.0]),
    pd.DataFrame({"a": ["x"]}),
    csr_array(np.eye(2)),
    torch.zeros(0),
    TENSOR,
    (TENSOR, TENSOR),
    [TENSOR[0] * 2, 1.0],
    TENSOR.bfloat16(),
    TENSOR.to_sparse(),
    torch.tensor([True]),
    torch.nn.Linear(2, 2),
    CORPUS,
    (CORPUS, CORPUS),
    slice(3),
    NotImplemented,
]
# What else a function may do.
DONE: list[Callable[..., Any]] = [
    raises(ValueError("a\nb")),
    raises(KeyError()),
    raises(StopIteration()),
    raises(SystemExit(1)),
    raises(KeyboardInterrupt()),
    raises(MemoryError()),
    recursive,
    generates,
    no_arguments_at_all,
    partial(lambda a, *_, b: a, b=1),
    Called(),
    type("Class", (), {}),
    print,
    lambda *given: given,
    lambda *given: given[0] if given else None,
    lambda *given: print("a" * 9999) or 1.0,
]


def told(task: Exercise, answer: Any) -> Verdict:
    """Judge an answer that is not right; the verdict is whole sentences."""
    verdict = judge(task, answer)
    assert verdict.state in ("wrong", "open")
    assert verdict.text == verdict.text.strip() and len(verdict.text) > 10
    assert not verdict.text.endswith((":", ",", " is", " of shape"))
    assert len(verdict.example) < 6000
    return verdict


@of_each
def test_what_is_no_function_is_told(name):
    for given in GIVEN:
        assert "itself, not" in told(exercises()[name], given).text


def told_of_results(name: str, results: list[Any]) -> None:
    task = exercises()[name]
    for result in results:
        verdict = told(task, lambda *_, result=result: result)
        assert verdict.state == "wrong", result
        assert f"{task.solution.__name__}(" in verdict.example
        assert "# got: " in verdict.example
        assert (task.expected is None) or "# expected: " in verdict.example


@of_each
def test_odd_results_are_told(name):
    # Where numbers are compared, all exercises do it in the same lines: each meets a
    # sixth of the results here, and all of them every week.
    apart = exercises()[name].fault is not None
    told_of_results(name, RETURNED if apart else RETURNED[NAMES.index(name) % 6 :: 6])


@pytest.mark.weekly
@of_each
def test_all_odd_results_are_told(name):
    told_of_results(name, RETURNED)


@of_each
def test_odd_functions_are_told(name, capsys):
    task = exercises()[name]
    for answer in DONE:
        told(task, answer)
    assert capsys.readouterr() == ("", "")


@of_each
def test_a_loop_without_end_is_left(name, monkeypatch):
    monkeypatch.setattr(running, "LIMIT", 0.02)
    assert "has not come to an end" in told(exercises()[name], endless).text


FORMS: dict[str, Callable[[Any], Any]] = {
    "list": lambda x: x.tolist(),
    "numpy": lambda x: x,
    "float32": lambda x: x.astype(np.float32),
    "torch": torch.from_numpy,
    "torch float32": lambda x: torch.from_numpy(x).float(),
    "requires grad": lambda x: torch.from_numpy(x).requires_grad_(),
    "tuple": lambda x: tuple(x.tolist()) if x.ndim else float(x),
    "rows": lambda x: list(torch.from_numpy(x)) if x.ndim else x,
    "sparse": lambda x: csr_array(x) if x.ndim == 2 else x,
}


def in_form(name: str, convert: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return an answer that gives the right numbers of each case in another form."""
    given = iter([result for result, _ in runs(name)])
    return lambda *_: convert(as_numbers(next(given)))


# Asks for a tensor that autograd can go back through.
DIFFERENTIABLE = "model-forward"


def returns_numbers(name: str) -> bool:
    """Whether what is asked for is one array of numbers, and no corpus."""
    returned = exercises()[name].solution.__annotations__["return"]
    return returned is not Corpus and name not in (
        DIFFERENTIABLE,
        "one-step-lengths",
        "why-v-upside-down",
    )


OF_NUMBERS = [name for name in NAMES if returns_numbers(name)]


@by_name(OF_NUMBERS)
def test_right_numbers_are_right_in_any_form(name):
    task = exercises()[name]
    for form, convert in FORMS.items():
        verdict = judge(task, in_form(name, convert))
        assert verdict.state == "right", (form, verdict)


def test_logits_to_be_trained_carry_their_gradient():
    task = exercises()[DIFFERENTIABLE]
    assert judge(task, task.solution).state == "right"
    for convert in (torch.Tensor.detach, torch.Tensor.tolist, as_numbers):
        verdict = judge(task, lambda *x, to=convert: to(task.solution(*x)))
        assert verdict.state == "wrong"
        assert "carry no gradient" in verdict.text


@by_name(n for n in NAMES if exercises()[n].expected)
def test_wrong_numbers_are_told_with_the_right_ones(name):
    task = exercises()[name]
    wrong: dict[str, Callable[[np.ndarray], Any]] = {
        "is 2 times": lambda x: 2 * x,
        "is 0.5 times": lambda x: x / 2,
        "sign": lambda x: -x,
        "+1 from": lambda x: x + 1,
        "shape": lambda x: np.stack([x, x]),
        "": lambda x: x**3 + 0.1,
        "nan": lambda x: np.nan * x,
    }
    for words, change in wrong.items():
        verdict = judge(task, in_form(name, change))
        assert verdict.state == "wrong"
        assert "# expected: " in verdict.example and "# got: " in verdict.example
        named = verdict.text in task.mistakes
        assert named or words in verdict.text or "nan" in verdict.text


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (torch.tensor([0.5, 1]), "torch.tensor([0.5, 1. ])"),
        (
            torch.tensor([0.5, 1]).bfloat16(),
            "torch.tensor([0.5, 1. ], dtype=torch.bfloat16)",
        ),
        (torch.tensor([1], dtype=torch.int32), "torch.tensor([1], dtype=torch.int32)"),
        (torch.tensor([[True]]), "torch.tensor([[ True]])"),
        (np.array([np.nan, -np.inf]), "np.array([ np.nan, -np.inf])"),
        ((1 / 3,), "(0.333333,)"),
        ([True, np.float32(2)], "[True, 2.0]"),
    ],
)
def test_an_answer_is_written_as_python_that_gives_it_back(value, written):
    assert code(value) == written


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        ("a sign is lost", "it is -3; a sign is lost"),
        ("it is", "it is -3"),  # said already
        (None, "it is -3"),
    ],
)
def test_a_fault_is_told_with_the_mistake_that_explains_it(monkeypatch, mistake, told):
    monkeypatch.setattr(checking, "_mistake", lambda *_: mistake)
    (name, *_) = exercises()
    exercise = dataclasses.replace(exercises()[name], fault=lambda *_: None)
    assert checking._why(exercise, "it is -3", []) == told


def test_an_answer_may_use_one_buffer_for_all_its_results():
    exercise = exercises()["model-forward"]
    buffers = {}

    def answer(*given):
        result = torch.as_tensor(exercise.solution(*given))
        held = buffers.setdefault(result.shape, torch.empty_like(result))
        return held.copy_(result)

    assert judge(exercise, answer).state == "right"


def test_an_answer_that_is_wrong_and_then_fails_is_told():
    exercise, calls = exercises()["model-forward"], []

    def answer(*given):
        calls.append(given)
        if len(calls) > 1:
            raise KeyError("x")
        return 2 + exercise.solution(*given)

    assert judge(exercise, answer).state == "wrong"
