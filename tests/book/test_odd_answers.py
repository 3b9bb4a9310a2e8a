"""A check raises no error, whatever a reader passes to it."""

import sys
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.sparse import csr_array

from attnsel.corpus import Corpus
from attnsel_book.exercises.checking import Verdict, judge
from attnsel_book.exercises.messages import as_numbers
from support.tried import NAMES, TASKS, by_name, of_each, runs, time_enough  # noqa: F401

pytestmark = pytest.mark.usefixtures("time_enough")


class Evil:
    """An object whose methods all raise errors."""

    def fail(self, *_: Any) -> Any:
        raise RuntimeError("no")

    __repr__ = __eq__ = __len__ = __bool__ = __iter__ = __array__ = fail
    __float__ = __getitem__ = __deepcopy__ = fail


class Called:
    """An object that can be called and then returns a number."""

    def __call__(self, *_: Any) -> float:
        return 1.5


def raises(error: BaseException) -> Callable[..., Any]:
    def answer(*_: Any) -> Any:
        raise error

    return answer


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
# Objects that are not functions.
GIVEN: list[Any] = [None, ..., 3, "my_alpha", [1.0], TENSOR, CORPUS, Evil(), sys]
# Results that no exercise requires.
RETURNED: list[Any] = [
    *(True, 10**400, float("nan"), 1 + 2j, torch.tensor(1 + 2j), Decimal("1.5")),
    *("text", "3.5", ["1", "2"], [], {}, {0, 1}, {"a": 1.0}, [None], [...]),
    *(([1.0], [2.0, 3.0]), [[], []], range(3), iter([1.0]), object()),
    *(Evil(), [Evil()], Called, len, within_itself()),
    *(np.zeros((2, 0)), np.array(["a"]), np.array([None, 1.0]), np.full((1, 1, 1), 2)),
    np.array("2026-11-23", dtype="datetime64"),
    *(pd.Series([1.0, 2.0]), pd.DataFrame({"a": ["x"]}), csr_array(np.eye(2))),
    *(torch.zeros(0), (TENSOR, TENSOR), TENSOR.bfloat16(), TENSOR.to_sparse()),
    *(torch.nn.Linear(2, 2), CORPUS, (CORPUS, CORPUS), slice(3), NotImplemented),
]
# Other effects of a function.
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


def refusal(name: str, answer: Any) -> Verdict:
    """Judge a wrong answer, and return the verdict, which is a whole sentence."""
    verdict = judge(TASKS[name], answer)
    assert verdict.state in ("wrong", "open")
    assert verdict.text == verdict.text.strip() and len(verdict.text) > 10
    assert not verdict.text.endswith((":", ",", " is", " of shape"))
    assert len(verdict.example) < 6000
    return verdict


# Of numbers that are compared, of a rule, and of an example.
SORTS = ("one-step-alpha", "max-margin-rows", "explanation-reversed")


@by_name(SORTS)
def test_an_odd_function_is_refused(name, capsys):
    for given in GIVEN:
        assert "itself, not" in refusal(name, given).text
    for answer in DONE:
        refusal(name, answer)
    assert capsys.readouterr() == ("", "")


@of_each
def test_an_odd_result_is_refused(name):
    # Numbers are compared by the same lines for all exercises: each meets some results.
    apart = TASKS[name].fault is not None
    for result in RETURNED if apart else RETURNED[NAMES.index(name) % 6 :: 6]:
        verdict = refusal(name, lambda *_, result=result: result)
        assert verdict.state == "wrong", result
        assert f"{TASKS[name].solution.__name__}(" in verdict.example
        assert "# got: " in verdict.example
        assert apart or "# expected: " in verdict.example


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


# Exercises with their own check of numbers, and one whose numbers are compared.
OF_NUMBERS = [
    name
    for name, task in TASKS.items()
    if name == "one-step-z"
    or (
        task.fault
        and task.solution.__annotations__["return"] in (np.ndarray, torch.Tensor)
        # The logits of the first carry a gradient; the second tries 200,000 numbers.
        and name not in ("model-forward", "convergence-cheapest")
    )
]


@by_name(OF_NUMBERS)
def test_right_numbers_are_right_in_any_form(name):
    for form, convert in FORMS.items():
        given = iter([convert(as_numbers(result)) for result, _ in runs(name)])
        verdict = judge(TASKS[name], lambda *_, given=given: next(given))
        assert verdict.state == "right", (form, verdict)


def test_an_answer_may_use_one_buffer_for_all_its_results():
    exercise = TASKS["model-forward"]
    buffers = {}

    def answer(*given):
        result = torch.as_tensor(exercise.solution(*given))
        held = buffers.setdefault(result.shape, torch.empty_like(result))
        return held.copy_(result)

    assert judge(exercise, answer).state == "right"


def test_an_answer_may_be_wrong_and_then_fail():
    exercise, calls = TASKS["model-forward"], []

    def answer(*given):
        calls.append(given)
        if len(calls) > 1:
            raise KeyError("x")
        return 2 + exercise.solution(*given)

    assert judge(exercise, answer).state == "wrong"
