"""The authors' tables, against sums taken from the rebuttals by hand."""

import numpy as np
import pytest

from attnsel.book import authors, explanations


@pytest.mark.parametrize(
    ("table", "column", "bins", "total", "last"),
    [
        ("two layers", "attention", 20, 51.51, 12.44),
        ("two layers", "value", 20, -1.21, 0.93),
        ("MLP", "attention", 20, 51.11, 6.10),
        ("MLP", "value", 20, 5.66, 1.40),
        ("class 2", "value", 19, 192.414, 53.548),
        ("class 4", "value", 19, -69.004, 21.060),
    ],
)
def test_a_table_is_that_of_the_authors(table, column, bins, total, last):
    found = authors(table)
    assert found["x"].shape == found[column].shape == (bins,)
    assert (np.diff(found["x"]) > 0).all()
    assert found[column].sum() == pytest.approx(total, abs=5e-4)
    assert found[column][-1] == last


def test_the_measures_of_explanations_are_whole_and_bounded_by_the_optimum():
    runs = explanations()
    assert not runs.isna().any(axis=None)
    assert {moment for moment, _ in runs.columns} == {"best step", "converged"}
    for part in (0.01, 0.02, 0.05, 0.1, 0.2):
        most = runs.loc[f"comprehensiveness, optimum, {part}"]
        least = runs.loc[f"sufficiency, optimum, {part}"]
        for way in ("attention", "influence", "signed Q b", "random"):
            assert (runs.loc[f"comprehensiveness, {way}, {part}"] <= most).all()
            assert (runs.loc[f"sufficiency, {way}, {part}"] >= least).all()
