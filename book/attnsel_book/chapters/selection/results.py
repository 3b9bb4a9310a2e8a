"""Stored runs of the chapter *When does attention fail?*, and tables of outcomes."""

import itertools

import pandas as pd

from attnsel_book.results import step_sweep, stored, with_outcomes


def selection_runs(part: str) -> pd.DataFrame:
    """Return one part of the results of `run_selection.py`, one row per run.

    Parts with the columns `positive` and `negative`, such as "weakened", also have the
    columns `lost` and `all` of `step_sweep`.
    """
    runs = pd.DataFrame(stored("selection/selection")[part])
    return with_outcomes(runs) if "positive" in runs else runs


def followed_runs(part: str) -> pd.DataFrame:
    """Return one part of the results of `run_followed.py`, one row per run.

    The part is "lost", "pairs" or "pairs, limit". The columns `lost` and `all` are
    defined as in `step_sweep`, but at the end of the run.
    """
    return with_outcomes(pd.DataFrame(stored("selection/followed")[part]))


def trained_runs() -> pd.DataFrame:
    """Return the results of `run_freezing.py`, one row per run and level of the loss.

    After a first step of size `step` on E, the parameters `training` ("p", "p v", "E",
    "E p" or "E p v") were trained until the loss was below `level`. The learning rate
    of E was `speed` times the rate of p and v. A row without a level shows the end of a
    run that misses a level, or that trains p alone, up to ‖p‖ = 300. The column `mean`
    is the mean attention on relevant tokens, and `lost` and `all` are defined as in
    `step_sweep`.
    """
    return with_outcomes(stored("selection/freezing"))


def lost_by_training(runs: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return the number of runs that lose a class, by corpus, training and step size.

    There is one row for each corpus in `names` and each choice of trained parameters,
    and one column per step size. An entry is missing if no run has these settings.
    """
    rows = ["corpus", "training"]
    lost = runs.pivot_table("lost", rows, "step", aggfunc="sum").astype("Int64")
    order = itertools.product(names, ("p", "p v", "E", "E p", "E p v"))
    lost = lost.reindex(pd.MultiIndex.from_tuples(order, names=rows))
    lost = lost.dropna(axis="columns", how="all")
    lost.columns = [f"{step:,}" for step in lost.columns]
    return lost.reset_index()


def ending(problem: str, steps: list[int]) -> pd.DataFrame:
    """Count outcomes in `step_sweep`, and find the least value gap, per step size."""
    sweep = step_sweep()
    runs = sweep[sweep["problem"] == problem].groupby("step")
    table = {"lose a class": runs["lost"].sum(), "select everywhere": runs["all"].sum()}
    return pd.DataFrame(table | {"least value gap": runs["gap"].min()}).loc[steps]


def followed_table(followed: pd.DataFrame) -> pd.DataFrame:
    """Summarize the "lost" runs of `followed_runs`, by corpus and dimension d."""
    kinds = followed.groupby(["problem", "d"])
    changes = {}
    for norm, head in (
        ("1000", "winner changed after 1,000"),
        ("10000", "after 10,000"),
    ):
        changes[head] = kinds[f"change after {norm}"].agg(lambda x: int((x > 0).sum()))
    columns = {"lost runs": kinds.size(), "a class lost at 30,000": kinds["lost"].sum()}
    columns |= changes
    columns["least cosine to the end, at 1,000"] = kinds["cos from 1000"].min()
    columns["at 10,000"] = kinds["cos from 10000"].min()
    table = pd.DataFrame(columns).reset_index().rename(columns={"problem": "corpus"})
    names = {f"T{length}": f"T = {length}" for length in (6, 8, 31)}
    return table.replace({"corpus": names})
