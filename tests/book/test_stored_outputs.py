"""The plugin for nbval accepts outputs that agree with the stored outputs."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_output

from tools.testing.stored_outputs import difference, pytest_runtest_call


def svg(path):
    return {"image/svg+xml": f'<g clip-path="url(#p0123456789)"><path d="{path}"/></g>'}


@pytest.mark.parametrize(
    ("stored", "new", "found"),
    [
        ("the rate is .94", "the rate is .95", ""),  # the last digit is rounded
        ("the rate is .94", "the rate is .97", ".97 where .94 is stored"),
        ("1,250 texts", "1,280 texts", ""),  # within three in a hundred
        ("1,250 texts", "1,300 texts", "1,300 where 1,250 is stored"),
        ("cosine −.50", "cosine .50", ".50 where −.50 is stored"),
        ("residual 3e-16", "residual 8e-16", ""),  # rounding, of the same order
        ("residual 3e-16", "residual 3e-12", "3e-12 where 3e-16 is stored"),
        ("the least of 5", "the mean of 5", "the mean of "),
        ("three, 3", "three", "where"),
        ("of 3", "of ", "'(the end)' where '' is stored"),
        (svg("M 0 0 L 5 9 L 9 4"), svg("M 0 1 L 2 3 L 5 8 L 9 4"), ""),
        (svg("M 0 0 L 5 9 L 9 4"), svg("M 0 0 L 5 5 L 9 4"), "where 9"),
        (svg("M 0 0"), {"text/html": "a table"}, "text/html where image/svg+xml"),
        ({"text/html": "1", "text/plain": "wide"}, {"text/html": "1"}, ""),
    ],
)
def test_what_another_machine_shows_is_the_same_and_all_else_is_not(stored, new, found):
    outputs = [
        [new_output("display_data", x if isinstance(x, dict) else {"text/plain": x})]
        for x in (stored, new)
    ]
    difference_found = difference(*outputs)
    assert found in difference_found and bool(found) == bool(difference_found)


def printed(text, name="stdout"):
    return new_output("stream", name=name, text=text)


def after_run(outputs, tags=(), stored="7"):
    """Call the plugin as nbval does after it has run a cell that stores a number."""
    cell = new_code_cell(metadata={"tags": tags}, outputs=[printed(stored)])
    item = SimpleNamespace(
        cell=cell, test_outputs=outputs, nodeid="", path=Path("x.ipynb")
    )
    for _ in pytest_runtest_call(item):
        pass


def test_a_cell_that_shows_another_number_fails():
    after_run([printed("7")])
    with pytest.raises(pytest.fail.Exception) as failed:
        after_run([printed("3")])
    assert "shows 3 where 7 is stored" in str(failed.value)
    assert "make execute CHAPTERS=x" in str(failed.value)


@pytest.mark.parametrize(
    ("value", "stored", "fails"),
    [("9.9", "7", False), ("11", "7", True), ("-7e-5", "5e-5", False)],
)
def test_a_claim_leaves_its_value_to_its_bounds_unless_it_is_another(
    value, stored, fails
):
    with pytest.raises(pytest.fail.Exception) if fails else nullcontext():
        tags = ["nbval-check-output"]
        after_run([printed(value)], tags, stored)


def test_what_a_clock_measured_may_differ():
    after_run([printed("3")], tags=["nbval-ignore-output"])
