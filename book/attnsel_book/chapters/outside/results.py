"""The stored runs of the chapter on models that are queried as black boxes."""

import pandas as pd

from attnsel_book.data import stored
from attnsel_book.provenance import reads_stored


@reads_stored
def outside_runs() -> pd.DataFrame:
    """Return measures of models that were queried as black boxes, one row per run.

    `data`, `variant`, `passes` and `seed` name the run of `run_outside.py`. `rise`,
    `vee` and `height` describe values and fitted log-weights along the leans of the
    training texts, `held ...` along those of test reviews. "W, short" and "W, reviews"
    are the shares of the variance that a surrogate W explains. `inner ...` describes
    the model's own attention, and the other columns are those of
    `attnsel.beyond.probe.outside`.
    """
    return stored("outside/runs")


@reads_stored
def table_of(name: str) -> pd.DataFrame:
    """Return a table of `run_grid.py`, "grid" or "clients", one row per run."""
    return stored(f"outside/{name}")
