"""The claims of a chapter do not depend on its seed.

Each chapter with a seed runs with other seeds: the day of the year, or the seeds in the
variable ATTNSEL_SEEDS, such as "1 2 3". A test fails if a claim fails, unless the claim
is about "our run". All measured values are added to `_build/seeds.csv`.
"""

import csv
import os
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from test_settings import MODULES, cells_at

from support.chapters import played, run_cells

SECONDS = 600
DRAWN = os.environ.get("ATTNSEL_SEEDS", f"{date.today():%j}").split()
FILE = Path(__file__).parents[2] / "_build/seeds.csv"
WITH_A_SEED = [
    name for name, module in MODULES.items() if {"SEED", "SEEDS"} & set(module.BOOK)
]

pytestmark = pytest.mark.weekly


def setting(chapter: str, seed: int) -> dict[str, Any]:
    """Return a setting with another seed, a small one if the chapter requires it."""
    book, ranges = MODULES[chapter].BOOK, MODULES[chapter].RANGES
    for first in (seed, 1 + seed % 9):
        other: dict[str, Any] = {"SEED": first}
        if "SEEDS" in book:
            other = {"SEEDS": list(range(first, first + len(book["SEEDS"])))}
        known = {"possible": lambda *_, **__: True} | book | other
        if all(eval(condition, known) for condition in ranges):
            return other
    raise AssertionError(f"{chapter}: which seeds does it accept?")


def claims(sources: list[str]) -> list[tuple[str, dict[str, str]]]:
    """Run cells, and return the mark and the content of each claim."""
    return [
        (output.data["text/plain"][0], output.metadata["claim"])
        for _, shown in run_cells(sources)
        for output in shown.outputs
        if "claim" in (output.metadata or {})
    ]


@pytest.mark.parametrize("seed", [*map(int, DRAWN)])
@pytest.mark.parametrize("chapter", WITH_A_SEED)
def test_claims_hold_for_another_seed(chapter, seed, tmp_path):
    cells = cells_at(chapter, setting(chapter, seed))
    found = played(claims, cells, folder=tmp_path, seconds=SECONDS)
    assert found or "claim(" not in "".join(cells)
    FILE.parent.mkdir(exist_ok=True)
    with FILE.open("a", newline="", encoding="utf-8") as file:
        for mark, line in found:
            parts = [line[name] for name in ("statement", "measured", "bound")]
            csv.writer(file).writerow([chapter, seed, mark, *parts])
    failed = [
        "{statement}: {measured}, {bound}".format(**line)
        for mark, line in found
        if mark == "–" and "our run" not in line["statement"].lower()
    ]
    assert not failed, "\n".join(failed)
