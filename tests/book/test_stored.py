"""No line of a chapter shows a stored number as a result of this run."""

import ast
import re
from collections import defaultdict

import pytest

from support.chapters import CHAPTERS, code

READERS = {"stored", "step_sweep", "authors", "explanations", "ending", "trained_runs"}
READERS |= {"selection_runs", "followed_runs"}


def names_in(node: ast.AST) -> set[str]:
    """Return the names that an expression uses, except names that its loops bind."""
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    bound = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return {name.id for name in names} - bound


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_claim_or_number_that_uses_a_table_from_a_file_says_so(chapter):
    """This test considers names that are assigned once, from a table."""
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
