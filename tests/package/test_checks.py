"""The checks of arguments: what passes, and what the message says."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attnsel.validation import check_choice, check_number, check_shape


@pytest.mark.parametrize(
    ("value", "settings"),
    [
        (1, {"least": 1, "integer": True}),
        (np.int64(3), {"most": 3, "integer": True}),
        (np.float32(0.5), {"least": 0, "most": 1}),
        (1, {"above": 0}),
        (4, {"least": 2, "even": True}),
        (None, {"least": 1, "optional": True}),
    ],
)
def test_numbers_that_pass(value, settings):
    check_number("x", value, **settings)


@pytest.mark.parametrize(
    ("value", "settings", "wanted"),
    [
        (0, {"least": 1, "integer": True}, "an integer from 1, got 0"),
        (2.0, {"least": 1, "integer": True}, "an integer from 1, got 2.0"),
        (True, {"least": 1, "integer": True}, "an integer from 1, got True"),
        ("5", {"integer": True}, "an integer, got '5'"),
        (None, {"least": 1}, "a finite number from 1, got None"),
        (3, {"least": 2, "even": True}, "an even integer from 2, got 3"),
        (0.0, {"above": 0}, "a finite number above 0, got 0.0"),
        (float("nan"), {"above": 0}, "a finite number above 0, got nan"),
        (float("inf"), {}, "a finite number, got inf"),
        (1.5, {"above": 0, "most": 1}, "a finite number above 0 to 1, got 1.5"),
        (-0.1, {"least": 0, "most": 2 / 3}, "number from 0 to 0.666667, got -0.1"),
    ],
)
def test_numbers_that_do_not_pass(value, settings, wanted):
    with pytest.raises(ValueError, match=f"^x: expected .*{wanted}$"):
        check_number("x", value, **settings)


def test_choices():
    check_choice("optimizer", "gd", ("adam", "gd"))
    with pytest.raises(ValueError, match=r"x: expected one of \['a', 'b'\], got 'c'"):
        check_choice("x", "c", ("a", "b"))


@pytest.mark.parametrize("size", [(3, 5), (4,), (4, 5, 1), ()])
def test_shapes(size):
    check_shape("E", torch.zeros(4, 5), (4, "d"))
    with pytest.raises(ValueError, match=r"^E: expected shape \(4, d\), got \("):
        check_shape("E", torch.zeros(size), (4, "d"))
