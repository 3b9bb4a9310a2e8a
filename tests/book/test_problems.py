"""Sizes of what chapters draw."""

from __future__ import annotations

import pytest

from attnsel.synthetic import synthetic_probabilities
from attnsel_book.problems import equal_frequencies


@pytest.mark.parametrize("delta", [0.1, 0.5, 0.9])
def test_equal_frequencies_are_equal(delta: float) -> None:
    first, later = synthetic_probabilities(
        400, delta, equal_frequencies(400, 20, delta)
    )
    frequency = (first + 19 * later).mean(dim=0)
    # R is rounded to an even number: one token of the lesser kind more or less.
    assert float(frequency.max() / frequency.min()) < 1.03


def test_equal_frequencies_stay_in_range() -> None:
    assert equal_frequencies(4, 2, 0.75) == 2
    assert equal_frequencies(4, 8, 0.75) == 2  # of 1/2
    assert equal_frequencies(6, 20, 0.0) == 4
    assert equal_frequencies(6, 1, 0.0) == 4  # of 6
    # k = 1/2, so 5.5 of 10 tokens: the even number next to it.
    assert equal_frequencies(10, 10, 0.4) == 6
