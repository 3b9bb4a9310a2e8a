"""Functions that store the results of long computations and read them again."""

import json
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attnsel_book.chapter import say_what_is_read


def authors(table: str) -> dict[str, np.ndarray]:
    """Return a table from the rebuttals of the paper's authors, one array per column.

    In the tables "two layers" and "MLP", "x" contains the centers of 20 bins of the
    lean. In each bin, "attention" is the mean of E_s p (for two layers, of E_s W p),
    and "value" is the mean of E_s v. In the tables "class 2" and "class 4", "x" is the
    importance of a token for the class, and "value" the mean of E_s v_k for class k.
    """
    columns = _json("authors.json")[table]
    return {name: np.array(x) for name, x in columns.items() if name != "what"}


def step_sweep() -> pd.DataFrame:
    """Return the outcomes of flows after first steps of many sizes, one row per run.

    The column `problem` is "T31", "T8" or "T6", after the length of the sequences. The
    column `step` is the size of the first step. With `d` and `seed`, these two columns
    determine the run. The columns `positive` and `negative` contain the share of the
    sequences of a class that select correctly at ‖p‖ = 3,000, or where the flow stalls.
    The column `gap` contains the value gap, and `certain` the norm of p from which on
    Theorem A proves the selection, or nan. A run is `lost` if it selects correctly in
    no sequence of one class and in all sequences of the other. A run is `all` if it
    selects correctly in every sequence. The script `run_steps.py` computes the runs.
    """
    return with_outcomes(stored("selection/steps"))


def with_outcomes(runs: pd.DataFrame) -> pd.DataFrame:
    """Return `runs` with two more columns, `lost` and `all`; see `step_sweep`."""
    shares = runs[["positive", "negative"]]
    fewer = shares.min(axis=1)
    more = shares.max(axis=1)
    lost = (fewer == 0) & (more == 1)
    return runs.assign(lost=lost, all=fewer == 1)


def store(target: Path, found: Mapping[str, Any] | Iterable[Any]) -> None:
    """Write rows, or several named parts, to a JSON file that `stored` reads.

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

    JSON files give lists or dictionaries, and CSV files give data frames. If the
    settings differ from the book's, a note states that the results are stored ones.
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
