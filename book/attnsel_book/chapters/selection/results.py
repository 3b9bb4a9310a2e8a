"""The stored runs of the chapter on which step selects."""

import pandas as pd

from attnsel_book.data import judged, stored


def selection_runs(part: str) -> pd.DataFrame:
    """Return one part of what `run_selection.py` ran, one row a run.

    "weakened", "limit" and "trap" have the columns `lost` and `all` of `step_sweep`.
    """
    runs = pd.DataFrame(stored("selection/selection")[part])
    return judged(runs) if "positive" in runs else runs
