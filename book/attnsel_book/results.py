"""Results that are stored with the book, and the functions that read them."""

import json
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attnsel_book.chapter import say_what_is_read


def authors(table: str) -> dict[str, np.ndarray]:
    """Return a table from the authors' rebuttals as arrays, by the name of the column.

    In the tables "two layers" and "MLP", "x" contains the centers of 20 bins of P(1|s)
    - P(0|s), "attention" the mean of E_s p (or of p W E_s) in each bin, and "value" the
    mean of E_s v. In "class 2" and "class 4", "x" is the importance for the class, and
    "value" the mean of E_s v for this class.
    """
    columns = _json("authors.json")[table]
    return {name: np.array(x) for name, x in columns.items() if name != "what"}


def step_sweep() -> pd.DataFrame:
    """Return the outcomes of flows after first steps of many sizes, one row per run.

    The column `problem` is "T31", "T8" or "T6", after the length of the sequences. With
    `d`, `step` and `seed` it determines the run. The columns `positive` and `negative`
    contain the share of sequences of a class that select correctly at ‖p‖ = 3,000. The
    column `gap` contains the value gap, and `certain` the norm from which on Theorem A
    proves the selection, or nan without a proof. A run is `lost` if it misses one class
    completely and selects correctly in the whole other class. A run is `all` if it
    selects correctly in every sequence. The script `run_steps.py` of the chapter *When
    does attention fail?* computes the runs.
    """
    return with_outcomes(stored("selection/steps"))


def with_outcomes(runs: pd.DataFrame) -> pd.DataFrame:
    """Return runs with two more columns, `lost` and `all`; see `step_sweep`."""
    shares = runs[["positive", "negative"]]
    fewer = shares.min(axis=1)
    more = shares.max(axis=1)
    lost = (fewer == 0) & (more == 1)
    return runs.assign(lost=lost, all=fewer == 1)


def store(target: Path, found: Mapping[str, Any] | Iterable[Any]) -> None:
    """Write rows, or rows by name, to a file that `stored` reads.

    Each row is on a line of its own, so that a diff shows which rows have changed.
    """
    if isinstance(found, Mapping):
        parts = [f"{json.dumps(name)}: {_lines(part)}" for name, part in found.items()]
        joined = ",\n".join(parts)
        text = f"{{\n{joined}\n}}\n"
    else:
        text = f"{_lines(found)}\n"
    target.write_text(text, encoding="utf-8")


def _lines(part: Any) -> str:
    """Return rows as JSON with one row per line, or a single value as JSON."""
    if isinstance(part, str | float | Mapping) or not isinstance(part, Iterable):
        return json.dumps(part)
    rows = ",\n".join(map(json.dumps, part))
    return f"[\n{rows}\n]"


def result_folder(chapter: str) -> Path:
    """Return the folder to which the sweeps of a chapter write their results."""
    return Path(__file__).parent / "chapters" / chapter


def stored(name: str) -> Any:
    """Return the stored results with a name such as "frozen/frozen".

    JSON files give lists and dictionaries, and CSV files give data frames. In a run
    with other settings than the book's, a note names the results.
    """
    say_what_is_read(name)
    folder = resources.files("attnsel_book.chapters")
    table = folder.joinpath(f"{name}.csv")
    if table.is_file():
        with table.open(encoding="utf-8") as file:
            return pd.read_csv(file)
    return _json(f"chapters/{name}.json")


def _json(path: str) -> Any:
    """Return the content of a JSON file of this package."""
    file = resources.files("attnsel_book").joinpath(path)
    return json.loads(file.read_text(encoding="utf-8"))
