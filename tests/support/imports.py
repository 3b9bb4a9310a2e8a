"""The packages that code needs, according to its imports."""

import ast
import functools
import re
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OWN = {"attnsel", "attnsel_report", "attnsel_readers", "attnsel_book", "support"}
OWN |= {"tools"}
OWN |= {"google", "sweeps"}  # of Colab, and in `book`
OWN |= {path.stem for path in (ROOT / "tests").rglob("*.py")}


@functools.cache
def providers() -> dict[str, list[str]]:
    """Return the packages of each module that can be imported, in about a second."""
    return dict(metadata.packages_distributions())


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@functools.cache
def imported(source: str) -> set[str]:
    """Return the modules that code imports, except optional ones."""
    optional = set(re.findall(r'importorskip\(\s*"(\w+)', source))
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
        elif isinstance(node, ast.Try) and "ImportError" in ast.unparse(node):
            optional |= imported("\n".join(map(ast.unparse, node.body)))
    return names - optional


def needed(sources: Iterable[str]) -> set[str]:
    """Return the packages of other projects that code imports."""
    names: set[str] = set().union(*map(imported, sources))
    names -= OWN | set(sys.stdlib_module_names)
    return {normal(providers()[name][0]) for name in names}
