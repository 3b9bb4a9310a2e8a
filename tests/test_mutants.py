"""The planted faults still fit the package, and the table speaks of them all."""

from __future__ import annotations

import ast

import pytest

from tools import mutants

NAMES = [fault.what for fault in mutants.FAULTS]


def test_faults_are_many_and_differ():
    assert len(NAMES) == len(set(NAMES)) >= 40
    assert not any("|" in name for name in NAMES)  # it would end a cell of the table


@pytest.mark.parametrize("fault", mutants.FAULTS, ids=NAMES)
def test_each_fault_can_be_planted(fault):
    path = mutants.ROOT / fault.path
    text = path.read_text(encoding="utf-8")
    assert text.count(fault.old) == 1
    if path.suffix == ".py":
        ast.parse(text.replace(fault.old, fault.new))
    assert not fault.chapter or (mutants.ROOT / f"book/{fault.chapter}.ipynb").is_file()


def test_the_table_has_each_fault_and_each_was_caught():
    rows = mutants.table()
    assert list(rows) == NAMES
    for row in rows.values():
        tests, chapters = row.strip("| ").split(" | ")[2:]
        assert {tests, chapters} != {mutants.NONE}, row
