"""The stored runs of the chapter on models seen from outside."""

from collections.abc import Mapping

import pandas as pd

from attnsel_book.data import stored
from attnsel_book.provenance import reads_stored


@reads_stored
def outside_runs() -> pd.DataFrame:
    """Return what was found of models asked from outside, one row a run.

    `data`, `variant`, `passes` and `seed` make the run, `run_outside.py` the table.
    `rise`, `vee` and `height` are of values and fitted log-weights along the leans of
    the texts it learned from, `held ...` along those of test reviews; "W, short" and
    "W, reviews" are shares of the variance that a surrogate W explains; the rest is
    what `attnsel.beyond.probe.outside` says, and `inner ...` of the model's own
    attention.
    """
    return stored("outside/runs")


@reads_stored
def table_of(name: str) -> pd.DataFrame:
    """Return a table of `run_grid.py`, "grid" or "clients", one row a run."""
    return stored(f"outside/{name}")


def seed_ranges(
    runs: pd.DataFrame, columns: Mapping[str, str], by: str = "variant"
) -> pd.DataFrame:
    """Return the ranges over seeds of some columns as text, one row a variant.

    The variants, values of the column `by`, stand as they come; `columns` has the new
    name of each column. The last column counts the runs.
    """
    groups = runs.groupby(by, sort=False)
    table = groups[list(columns)].agg(_range).rename(columns=columns)
    table["runs"] = groups.size()
    return table.rename_axis(None).rename_axis(columns="model")


def _range(values: pd.Series) -> str:
    """Write the least and the greatest of some numbers, or one, or none."""
    if values.isna().all():
        return ""
    ends = [round(end, 2) + 0.0 for end in (values.min(), values.max())]
    shown = [f"{end:.2f}".replace("inf", "∞") for end in ends]
    return " to ".join(dict.fromkeys(shown))
