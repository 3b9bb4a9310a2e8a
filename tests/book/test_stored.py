"""No line of a chapter says "here" of a number that was read from a file.

Each chapter runs twice at changed settings, the second time on stored results that are
up to two per cent larger. What was measured here is the same in both.
"""

import ast
import re
from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from test_settings import READY, SECONDS, TRIED, cells_at

from attnsel_book import results
from support.chapters import code, played, run_cells

READS = re.compile(
    r"\b(stored|step_sweep|\w+_runs|explanations|ending)\(", re.MULTILINE
)
CHAPTERS = [name for name in READY if READS.search("\n".join(code(name)))]


def larger(value: Any) -> Any:
    """Return stored results in which measured numbers are up to two per cent larger.

    A measured number has many digits; sizes and rates, by which rows are chosen, few.
    """
    if isinstance(value, pd.DataFrame):
        return value.map(larger)
    if isinstance(value, dict):
        return {key: larger(x) for key, x in value.items()}
    if isinstance(value, list):
        return [larger(x) for x in value]
    is_measured = isinstance(value, float) and len(f"{value:.15g}") > 5
    return value * (1 + 0.02 * (1000 * value % 1)) if is_measured else value


def lines(sources: list[str], is_larger: bool) -> list[str]:
    """Run cells, and return the lines of their claims."""
    if is_larger:
        plain, read = results._json, pd.read_csv
        results._json = lambda path: larger(plain(path))
        vars(results)["pd"] = SimpleNamespace(read_csv=lambda file: larger(read(file)))
    return [
        output.data["text/plain"]
        for _, shown in run_cells(sources)
        for output in shown.outputs
        if "claim" in output.metadata
    ]


@pytest.mark.weekly
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_line_says_here_of_a_stored_number(chapter, tmp_path):
    setting = next(s for s in TRIED[chapter] if "TEXT" not in s)
    cells = cells_at(chapter, setting)
    run = []
    for name, is_larger in (("as stored", False), ("larger", True)):
        folder = tmp_path / name
        folder.mkdir()
        run.append(played(lines, cells, is_larger, folder=folder, seconds=SECONDS))
    first, second = run
    changed = [line for line in first if line not in second]
    assert changed, "no claim rests on what is stored"
    here = [re.search(r": here (\S+),", line) for line in changed]
    # What is zero but for rounding is another number in each run.
    assert [found[0] for found in here if found and abs(float(found[1])) > 1e-6] == []


READERS = {"stored", "step_sweep", "authors", "explanations", "ending", "trained_runs"}
READERS |= {"selection_runs", "followed_runs"}


def names_in(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_claim_or_number_that_uses_a_table_from_a_file_says_so(chapter):
    """Names that are assigned once, from a table; the test above sees the others."""
    calls, values = [], defaultdict(list)
    for source in code(chapter):
        for node in ast.walk(ast.parse(re.sub(r"(?m)^( *)%.*", r"\1pass", source))):
            match node:
                case ast.Assign(targets=[ast.Name(name)], value=value):
                    values[name].append(value)
                case ast.Call(func=ast.Name("claim" | "glue")):
                    calls.append(node)
    tables = {
        name
        for name, found in values.items()
        if len(found) == 1 and names_in(found[0]) & READERS
    }
    for call in calls:
        says_so = any(keyword.arg == "stored" for keyword in call.keywords)
        used = names_in(call) & (tables | READERS)
        assert says_so or not used, f"{ast.unparse(call)}: add stored=True"


def test_sizes_by_which_rows_are_chosen_stay_as_they_are():
    rows = {"step": 300.0, "rate": 0.045, "share": 0.71428571}
    grown = {"step": 300.0, "rate": 0.045, "share": 0.71428571 * (1 + 0.02 * 0.28571)}
    assert larger([rows, "IMDB"]) == [pytest.approx(grown), "IMDB"]
    assert larger(pd.DataFrame([rows])).to_dict("records") == [pytest.approx(grown)]
