"""What is planted on purpose still fits the files it is planted in."""

from __future__ import annotations

import pytest

from tools import mutants, mutation


@pytest.mark.parametrize("fault", mutants.faults(), ids=lambda fault: fault.what)
def test_a_planted_fault_has_its_place_and_its_tests(fault):
    text = (mutants.ROOT / fault.module).read_text(encoding="utf-8")
    assert text.count(fault.before) == 1, "adapt its row of tools/mutants.tsv"
    assert fault.after != fault.before
    for name in fault.tests.split():
        assert len(list(mutants.ROOT.glob(f"tests/**/test_{name}.py"))) == 1, name


@pytest.mark.parametrize("module", mutation.MODULES)
def test_faults_at_random_meet_the_tests_of_their_module(module):
    folder = "book" if module.startswith("attnsel_book") else ""
    assert list((mutation.ROOT / folder).glob(module))
    for name in mutation.MODULES[module].split():
        assert len(list(mutation.ROOT.glob(f"tests/**/test_{name}.py"))) == 1, name


def test_faults_are_drawn_in_each_module_of_the_package():
    drawn = {path for name in mutation.MODULES for path in mutation.ROOT.glob(name)}
    left = set(mutation.ROOT.glob("attnsel/**/*.py")) - drawn
    assert {path.name for path in left} <= {"__init__.py", "__main__.py"}
