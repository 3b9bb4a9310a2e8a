"""Stored results: tables of several chapters, and how a chapter reads its own."""

import json
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attnsel_book.chapter import say_what_is_read


def authors(table: str) -> dict[str, np.ndarray]:
    """Return a table of the authors' rebuttals as arrays by the name of the column.

    "two layers" and "MLP" have the columns "x", the middles of 20 bins of
    P(1|s) - P(0|s), "attention" and "value", the means of E_s p (or of p W E_s) and of
    E_s v; "class 2" and "class 4" have "x", the importance for the class, and "value".
    """
    columns = _json("authors.json")[table]
    return {name: np.array(x) for name, x in columns.items() if name != "what"}


def step_sweep() -> pd.DataFrame:
    """Return what became of flows after steps of many sizes, one row a run.

    The `problem` is "T31", "T8" or "T6", by the length of its sequences; with `d`,
    `step` and `seed` it makes the run. Then shares of the `positive` and `negative`
    class that select rightly at norm 3,000, the value `gap`, and the norm from which
    Theorem A makes it `certain`, if it does. A run is `lost` if one class is missed
    altogether, and `all` right if none is in part. `run_steps.py` of the chapter on
    selection makes it.
    """
    return with_outcomes(stored("selection/steps"))


def with_outcomes(runs: pd.DataFrame) -> pd.DataFrame:
    """Return runs and whether they lose one class altogether, or select everywhere."""
    shares = runs[["positive", "negative"]]
    fewer = shares.min(axis=1)
    more = shares.max(axis=1)
    lost = (fewer == 0) & (more == 1)
    return runs.assign(lost=lost, all=fewer == 1)


def store(target: Path, found: Mapping[str, Any] | Iterable[Any]) -> None:
    """Write rows for `stored`, or named parts of rows, a row a line.

    A difference between two versions then shows what moved.
    """
    if isinstance(found, Mapping):
        parts = [f"{json.dumps(name)}: {_lines(part)}" for name, part in found.items()]
        joined = ",\n".join(parts)
        text = f"{{\n{joined}\n}}\n"
    else:
        text = f"{_lines(found)}\n"
    target.write_text(text, encoding="utf-8")


def _lines(part: Any) -> str:
    """Return JSON: rows with one a line, or a single value."""
    if isinstance(part, str | float | Mapping) or not isinstance(part, Iterable):
        return json.dumps(part)
    rows = ",\n".join(map(json.dumps, part))
    return f"[\n{rows}\n]"


def result_folder(chapter: str) -> Path:
    """Return the folder of a chapter's stored results, to which its sweeps write."""
    return Path(__file__).parent / "chapters" / chapter


def stored(name: str) -> Any:
    """Return what a file of a chapter contains, such as "frozen/frozen".

    A JSON file gives lists and dictionaries, a CSV file a data frame. In a run that is
    not the book's, a note names the file.
    """
    say_what_is_read(name)
    folder = resources.files("attnsel_book.chapters")
    table = folder.joinpath(f"{name}.csv")
    if table.is_file():
        with table.open(encoding="utf-8") as file:
            return pd.read_csv(file)
    return _json(f"chapters/{name}.json")


def _json(path: str) -> Any:
    """Return what a JSON file of the book's package contains."""
    file = resources.files("attnsel_book").joinpath(path)
    return json.loads(file.read_text(encoding="utf-8"))
