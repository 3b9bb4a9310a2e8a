"""Planted faults: the table still fits its files, and what tests notice is counted."""

import os
import subprocess
import sys

import pytest

from tools import mutants

REPOSITORY = mutants.ROOT


@pytest.mark.parametrize("fault", mutants.faults(), ids=lambda fault: fault.what)
def test_a_planted_fault_has_its_place_and_its_tests(fault):
    text = (mutants.ROOT / fault.module).read_text(encoding="utf-8")
    assert text.count(fault.before) == 1, "adapt its row of tools/mutants.tsv"
    assert fault.after != fault.before
    assert fault.module.startswith(mutants.PACKAGES)
    for name in fault.tests.split():
        assert len(list(mutants.ROOT.glob(f"tests/**/test_{name}.py"))) == 1, name


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A tree with a module and no more."""
    root = tmp_path / "root"
    for name in (*mutants.PACKAGES, "tests", "tools"):
        (root / name).mkdir(parents=True)
    (root / "pyproject.toml").write_text("")
    (root / "attnsel" / "one.py").write_text("a = 1\nb = 2\nc = 2\n")
    monkeypatch.setattr(mutants, "ROOT", root)
    return root


@pytest.mark.parametrize("before", ["= 2", "d = 4"])
def test_a_fault_has_one_place(root, tmp_path, before):
    fault = mutants.Fault("two is three", "attnsel/one.py", before, "= 3", "one")
    with pytest.raises(ValueError, match="two is three: attnsel/one.py holds .* not"):
        mutants.planted(fault, tmp_path)


def test_rows_of_the_table_may_hold_several_lines(tmp_path, monkeypatch):
    table = tmp_path / "table.tsv"
    head = "what\tmodule\tbefore\tafter\ttests\n"
    table.write_text(f'{head}it\'s "odd"\ta.py\tx\\n    y\t\tone two\n', "utf-8")
    monkeypatch.setattr(mutants, "TABLE", table)
    expected = mutants.Fault('it\'s "odd"', "a.py", "x\n    y", "", "one two")
    assert mutants.faults() == [expected]


TESTED = """
import os
from attnsel.one import a, b

def test_a():
    assert a == 1

def test_settings():
    assert os.environ["PYTHONPATH"]
"""
# In a process of its own: it forks, and imports what is heavy before.
PLANTING = """
import sys
from pathlib import Path
from tools import mutants
folder = Path(sys.argv[1])
mutants.ROOT, mutants.TABLE = folder / "root", folder / "table.tsv"
mutants.HEAVY = "json csv"
print(mutants.main("a is", "b is"))
print(mutants.main("c is"))
(folder / "root/attnsel/one.py").write_text("a = 0\\nb = 2\\n")
print(mutants.main("b is"))
"""


def test_a_planted_fault_is_noticed_by_name_or_by_nobody(root, tmp_path):
    (root / "attnsel" / "__init__.py").write_text("")
    (root / "tests" / "deep").mkdir()
    (root / "tests" / "deep" / "test_one.py").write_text(TESTED)
    rows = [
        "what\tmodule\tbefore\tafter\ttests",
        "a is five\tattnsel/one.py\ta = 1\ta = 5\tone",
        "c is five\tattnsel/one.py\tc = 2\tc = 5\tone",
        "b is gone\tattnsel/one.py\tb = 2\\n\t\tone",
    ]
    (tmp_path / "table.tsv").write_text("\n".join(rows) + "\n")
    done = subprocess.run(
        [sys.executable, "-c", PLANTING, str(tmp_path)],
        cwd=REPOSITORY,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines() == [
        "a is five (attnsel/one.py): test_a",
        "b is gone (attnsel/one.py): tests/deep/test_one.py",
        *("2 faults planted, 2 noticed", "0"),
        "c is five (attnsel/one.py): NOBODY NOTICED",
        *("1 faults planted, 0 noticed", "1"),
        *("test_a fails without a fault", "1"),
    ], done.stderr
