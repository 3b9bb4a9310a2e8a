"""What an installer sees: dependencies, version, changelog, README."""

from __future__ import annotations

import ast
import re
import sys
from importlib import metadata
from pathlib import Path

import pytest
import yaml

import attnsel
from tools.release import main, notes
from tools.try_wheel import example

tomllib = pytest.importorskip("tomllib")  # from Python 3.11 on

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book" / "attnsel_book"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# ipywidgets draws the bar in a notebook and the chapters' controls; daqp is the solver
# that qpsolvers is asked for.
BY_NAME = {"daqp", "ipywidgets"}


def imported() -> set[str]:
    """Return the packages that the wheel's modules import, but those of Python.

    The scripts of stored results, `run_*.py`, say what else they need.
    """
    names = set()
    modules = [*(ROOT / "attnsel").rglob("*.py"), *BOOK.rglob("*.py")]
    for path in modules:
        if path.name.startswith("run_"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.partition(".")[0])
    return names - set(sys.stdlib_module_names) - {"attnsel", "attnsel_book"}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_dependencies_are_what_is_imported():
    providers = metadata.packages_distributions()
    needed = {normal(providers[name][0]) for name in imported()}
    declared = {re.split(r"[<>=!~ ]", line)[0] for line in PROJECT["dependencies"]}
    assert {normal(name) for name in declared} == needed | BY_NAME


def test_the_version_stands_in_one_place_and_its_citation():
    assert PROJECT["dynamic"] == ["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == attnsel.__version__


def test_the_version_has_notes(capsys):
    main(f"v{attnsel.__version__}")
    told = capsys.readouterr().out
    assert re.search(r"^### (Added|Changed|Fixed|Removed)$", told, re.MULTILINE)
    assert "\n## " not in told
    with pytest.raises(SystemExit, match=r"the tag v9\.9\.9 is not"):
        main("v9.9.9")


def test_notes_are_the_section_of_a_version():
    text = "# Changelog\n\n## [Unreleased]\n\n- c\n\n## [1.1.0] - 2030-01-02\n\n- b\n\n"
    text += "## [1.0.0] - 2030-01-01\n\n- a\n\n[1.0.0]: https://example.org\n"
    assert notes(text, "1.1.0") == "- b"
    assert notes(text, "1.0.0") == "- a"
    for version in ("Unreleased", "2.0.0", "1.0", "1.0.0.0"):
        with pytest.raises(ValueError, match="no dated section"):
            notes(text, version)


def test_the_readme_has_one_example():
    code = example((ROOT / "README.md").read_text(encoding="utf-8"))
    assert "attnsel.load_corpus(" in code
    ast.parse(code)
