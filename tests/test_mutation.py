"""How planted faults are counted: what changes, what is noticed, and how surely."""

from __future__ import annotations

import json

import pytest

from tools import mutants, mutation

SOURCE = """
def x_add__mutmut_orig(a, b=1):
    if a < b:
        raise ValueError(f"a: expected {b} or more")
    return a + b


def x_add__mutmut_1(a, b=1):
    if a <= b:
        raise ValueError(f"a: expected {b} or more")
    return a + b


def x_add__mutmut_2(a, b=1):
    if a < b:
        raise ValueError(f"XXa: expected {b} or moreXX")
    return a + b


class Sum:
    def xǁSumǁof__mutmut_orig(self):
        return "a"

    def xǁSumǁof__mutmut_1(self):
        return "b"
"""


@pytest.fixture
def nodes(tmp_path):
    folder = tmp_path / "mutants" / "attnsel" / "scale"
    folder.mkdir(parents=True)
    for name in ("files", "__init__"):
        (folder / f"{name}.py").write_text(SOURCE, encoding="utf-8")
    (folder / "other.txt").write_text("no code")
    return mutation.functions(tmp_path, "attnsel/scale/*.py")


def test_functions_have_the_names_of_their_modules(nodes):
    names = [
        *("x_add__mutmut_orig", "x_add__mutmut_1", "x_add__mutmut_2"),
        *("xǁSumǁof__mutmut_orig", "xǁSumǁof__mutmut_1"),
    ]
    assert set(nodes) == {
        f"attnsel.scale{place}.{name}" for place in ("", ".files") for name in names
    }


def test_a_change_is_told_by_its_lines_and_words_are_none(nodes):
    add = "attnsel.scale.files.x_add__mutmut_"
    assert mutation.change(nodes, f"{add}1") == "if a < b: -> if a <= b:"
    assert mutation.change(nodes, f"{add}2") == ""
    of = "attnsel.scale.files.xǁSumǁof__mutmut_1"
    assert mutation.change(nodes, of) == "return 'a' -> return 'b'"


@pytest.mark.parametrize(
    ("killed", "n", "expected"),
    [(9, 10, (0.5958, 0.9821)), (20, 20, (0.8389, 1.0)), (0, 5, (0.0, 0.4345))],
)
def test_shares_have_wilsons_interval(killed, n, expected):
    assert mutation.interval(killed, n) == pytest.approx(expected, abs=1e-4)


def test_results_of_a_room_are_those_of_its_modules(tmp_path):
    for name, codes in {
        "a": {"a.x__mutmut_1": 1},
        "b": {"b.y__mutmut_1": None},
    }.items():
        path = tmp_path / "mutants" / "attnsel" / "texts" / f"{name}.py.meta"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"exit_code_by_key": codes}))
    room = mutation.results(tmp_path, "attnsel/texts/*.py")
    assert room == {"a.x__mutmut_1": 1, "b.y__mutmut_1": None}
    one = mutation.results(tmp_path, "attnsel/texts/b.py")
    assert one == {"b.y__mutmut_1": None}


@pytest.mark.parametrize(
    ("body", "noticed"),
    [
        ("assert os.environ['MUTANT_UNDER_TEST'] == 'm.x__mutmut_1'", False),
        ("assert os.environ['MUTANT_UNDER_TEST'] == 'm.x__mutmut_2'", True),
        ("raise KeyError", True),
    ],
)
def test_a_mutant_meets_the_tests_in_a_process_of_its_own(
    tmp_path, monkeypatch, body, noticed
):
    (tmp_path / "mutants").mkdir()
    test = tmp_path / "mutants" / "test_m.py"
    test.write_text(f"import os\n\n\ndef test_m():\n    {body}\n")
    monkeypatch.setattr(mutation, "tests_of", lambda _: [test])
    assert mutation.notices(tmp_path, "m.py", "m.x__mutmut_1") == noticed


def test_what_never_ends_is_noticed(tmp_path, monkeypatch):
    (tmp_path / "mutants").mkdir()
    test = tmp_path / "mutants" / "test_m.py"
    test.write_text("def test_m():\n    while True:\n        pass\n")
    monkeypatch.setattr(mutation, "tests_of", lambda _: [test])
    monkeypatch.setattr(mutation, "SECONDS", 0.1)
    assert mutation.notices(tmp_path, "m.py", "m.x__mutmut_1")


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A tree with a module and no more."""
    root = tmp_path / "root"
    for name in ("attnsel", "book/attnsel_book", "tests", "tools"):
        (root / name).mkdir(parents=True)
    (root / "pyproject.toml").write_text("")
    (root / "attnsel" / "one.py").write_text("a = 1\nb = 2\nc = 2\n")
    monkeypatch.setattr(mutants, "ROOT", root)
    return root


def test_a_fault_is_planted_in_a_copy_alone(root, tmp_path):
    fault = mutants.Fault("b is three", "attnsel/one.py", "b = 2", "b = 3", "one")
    tree = mutants.planted(fault, tmp_path)
    assert (tree / "attnsel" / "one.py").read_text() == "a = 1\nb = 3\nc = 2\n"
    assert (root / "attnsel" / "one.py").read_text() == "a = 1\nb = 2\nc = 2\n"
    assert (tree / "pyproject.toml").is_file()


@pytest.mark.parametrize("before", ["= 2", "d = 4"])
def test_a_fault_has_one_place(root, tmp_path, before):
    fault = mutants.Fault("two is three", "attnsel/one.py", before, "= 3", "one")
    with pytest.raises(ValueError, match="two is three: attnsel/one.py holds .* not"):
        mutants.planted(fault, tmp_path)


def test_no_fault_is_a_copy_as_it_is(root, tmp_path):
    tree = mutants.planted(mutants.Fault("no fault", "", "", "", "one"), tmp_path)
    assert (tree / "attnsel" / "one.py").read_text() == "a = 1\nb = 2\nc = 2\n"


def test_rows_of_the_table_may_hold_several_lines(tmp_path, monkeypatch):
    table = tmp_path / "table.tsv"
    head = "what\tmodule\tbefore\tafter\ttests\n"
    table.write_text(f'{head}it\'s "odd"\ta.py\tx\\n    y\t\tone two\n', "utf-8")
    monkeypatch.setattr(mutants, "TABLE", table)
    expected = mutants.Fault('it\'s "odd"', "a.py", "x\n    y", "", "one two")
    assert mutants.faults() == [expected]
