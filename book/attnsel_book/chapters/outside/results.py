"""The stored runs of the chapter on models that are queried as black boxes."""

import pandas as pd

from attnsel_book.data import stored
from attnsel_book.provenance import reads_stored


@reads_stored
def outside_runs() -> pd.DataFrame:
    """Return measures of models that were queried as black boxes, one row per run.

    `data`, `variant` and `seed` name the run of `run_outside.py`. `rise` is the rank
    correlation of values with the leans of the training texts, `vee` and `height`
    describe the fitted log-weights along these leans, `held height` along those of test
    reviews, and `inner height` the model's own attention. "W, short" and "W, reviews"
    are the shares of the variance that a surrogate W explains.
    """
    return stored("outside/runs")


@reads_stored
def table_of(name: str) -> pd.DataFrame:
    """Return a table of `run_grid.py`, "grid" or "clients", one row per run."""
    return stored(f"outside/{name}")
