"""Tables that several chapters show, each kept once, in a file of this folder."""

import json
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


def authors(table: str) -> dict[str, np.ndarray]:
    """Return a table of the authors' rebuttals as arrays by the name of the column.

    "two layers" and "MLP" have the columns "x", the middles of 20 bins of
    P(1|s) - P(0|s), "attention" and "value", the means of E_s p (or of p W E_s) and of
    E_s v; "class 2" and "class 4" have "x", the importance for the class, and "value".
    """
    columns = stored("authors")[table]
    return {name: np.array(x) for name, x in columns.items() if name != "what"}


def step_sweep() -> pd.DataFrame:
    """Return what became of flows after steps of many sizes, one row a run.

    The `problem` is "T31", "T8" or "T6", by the length of its sequences; with `d`,
    `step` and `seed` it makes the run. Then shares of the `positive` and `negative`
    class that select rightly at norm 3,000, the `least` attention on a winner there,
    the value `gap`, the norm from which Theorem A makes it `certain`, if it does, and
    the `cos` of p at norms 1,000 and 3,000. A run is `lost` if one class is missed
    altogether, and `all` right if none is in part. benchmarks/sweep_steps.py makes it.
    """
    folder = resources.files(__package__)
    with folder.joinpath("steps.csv").open(encoding="utf-8") as file:
        runs = pd.read_csv(file)
    return _judged(runs)


def selection_runs(part: str) -> pd.DataFrame:
    """Return one part of what benchmarks/sweep_selection.py ran, one row a run.

    "weakened", "limit" and "trap" have the columns `lost` and `all` of `step_sweep`.
    """
    runs = pd.DataFrame(stored("selection")[part])
    return _judged(runs) if "positive" in runs else runs


def _judged(runs: pd.DataFrame) -> pd.DataFrame:
    """Return runs and whether they lose one class altogether, or select everywhere."""
    shares = runs[["positive", "negative"]]
    fewer = shares.min(axis=1)
    more = shares.max(axis=1)
    lost = (fewer == 0) & (more == 1)
    return runs.assign(lost=lost, all=fewer == 1)


def explanations() -> pd.DataFrame:
    """Return how faithful attention is on reviews, one row a measure.

    Columns are pairs of a moment, "best step" or "converged", and a seed.
    benchmarks/explanations.py measures it.
    """
    folder = resources.files(__package__)
    with folder.joinpath("explanations.csv").open(encoding="utf-8") as file:
        runs = pd.read_csv(file)
    runs["moment"] = runs["moment"].replace("best", "best step")
    return runs.pivot(index="measure", columns=["moment", "seed"], values="value")


def outside_runs() -> pd.DataFrame:
    """Return what was found of models asked from outside, one row a run.

    `data`, `variant`, `passes` and `seed` make the run, benchmarks/outside.py the
    table. `rise`, `vee` and `height` are of values and fitted log-weights along the
    leans of the texts it learned from, `held ...` along those of test reviews;
    "W, short" and "W, reviews" are shares of the variance that a surrogate W explains;
    the rest is what `attnsel.outside` says, and `inner ...` of the model's own
    attention.
    """
    folder = resources.files(__package__)
    with folder.joinpath("outside.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)


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
    told = [f"{end:.2f}" for end in ends]
    return " to ".join(dict.fromkeys(told))


def store(target: Path, parts: Mapping[str, Iterable[Any]]) -> None:
    """Write lists of rows for `stored`, a row a line: a difference shows what moved."""
    blocks = []
    for name, rows in parts.items():
        lines = ",\n".join(json.dumps(row) for row in rows)
        blocks.append(f"{json.dumps(name)}: [\n{lines}\n]")
    joined = ",\n".join(blocks)
    target.write_text(f"{{\n{joined}\n}}\n", encoding="utf-8")


def stored(name: str) -> Any:
    """Return what a JSON file of this folder holds."""
    file = resources.files(__package__).joinpath(f"{name}.json")
    text = file.read_text(encoding="utf-8")
    return json.loads(text)
