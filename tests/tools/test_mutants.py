"""The table of planted faults fits the files that it changes."""

import pytest

from tools import mutants


@pytest.mark.parametrize("fault", mutants.faults(), ids=lambda fault: fault.what)
def test_a_planted_fault_has_its_place_and_its_tests(fault):
    text = (mutants.ROOT / fault.module).read_text(encoding="utf-8")
    assert text.count(fault.before) == 1, "adapt its row of tools/mutants.tsv"
    assert fault.after != fault.before
    assert fault.module.startswith(mutants.PACKAGES)
    for name in fault.tests.split():
        assert len(list(mutants.ROOT.glob(f"tests/**/test_{name}.py"))) == 1, name
