"""Tables that several chapters show, each kept once, in a file of this folder."""

import json
from importlib import resources
from typing import Any

import numpy as np


def authors(table: str) -> dict[str, np.ndarray]:
    """Return a table of the authors' rebuttals as arrays by the name of the column.

    "two layers" and "MLP" have the columns "x", the middles of 20 bins of
    P(1|s) - P(0|s), "attention" and "value", the means of E_s p (or of p W E_s) and of
    E_s v; "class 2" and "class 4" have "x", the importance for the class, and "value".
    """
    columns = stored("authors")[table]
    return {name: np.array(x) for name, x in columns.items() if name != "what"}


def stored(name: str) -> Any:
    """Return what a JSON file of this folder holds."""
    folder = resources.files(__package__)
    return json.loads(folder.joinpath(f"{name}.json").read_text(encoding="utf-8"))
