"""How planted faults are counted: what changes, what is noticed, and how surely."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

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
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # it starts sooner
    assert mutation.notices(tmp_path, "m.py", "m.x__mutmut_1") == noticed


def test_what_never_ends_is_noticed(tmp_path, monkeypatch):
    (tmp_path / "mutants").mkdir()
    test = tmp_path / "mutants" / "test_m.py"
    test.write_text("def test_m():\n    while True:\n        pass\n")
    monkeypatch.setattr(mutation, "tests_of", lambda _: [test])
    monkeypatch.setattr(mutation, "SECONDS", 0.1)
    assert mutation.notices(tmp_path, "m.py", "m.x__mutmut_1")


# In place of `mutmut`: it makes mutants, or says that odd ones are noticed.
STAND_IN = """
import json, pathlib, shutil, sys
assert sys.argv[1:4] == ["run", "--max-children", "1"]
meta = pathlib.Path("mutants/attnsel/one.py.meta")
if sys.argv[4:] == ["of no mutant"]:
    shutil.copytree("attnsel", "mutants/attnsel")
    codes = {f"attnsel.one.x_f__mutmut_{i}": None for i in range(1, 8)}
    print(pathlib.Path("says").read_text(), file=sys.stderr)
else:
    codes = json.loads(meta.read_text())["exit_code_by_key"]
    codes |= {name: int(name[-1]) % 2 for name in sys.argv[4:]}
meta.write_text(json.dumps({"exit_code_by_key": codes}))
"""
# Six mutants that change the number, and one that changes a message.
MUTANTS = "".join(
    f"def x_f__mutmut_{name}():\n    return {value}, '{words} words'\n"
    for name, value, words in [
        *(("orig", 0, "two"), ("7", 0, "seven")),
        *((f"{i}", i, "two") for i in range(1, 7)),
    ]
)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with a module, a package of its book, and their tests."""
    root = tmp_path / "repository"
    files = {
        "attnsel/one.py": MUTANTS,
        "book/attnsel_book/two.py": "b = 2\n",
        "tests/deep/test_one.py": "",
        "tests/test_two.py": "",
        "tests/conftest.py": "import os\n",
        "mutmut/__init__.py": "",
        "mutmut/__main__.py": STAND_IN,
        "says": "'of no mutant' nothing matches",
        "pyproject.toml": '[project]\nname = "x"\n',
        **dict.fromkeys((".git/x", "_build/x", "attnsel/__pycache__/x"), ""),
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(mutation, "ROOT", root)
    monkeypatch.setattr(mutation, "MODULES", {"attnsel/one.py": "two one"})
    return root


def test_a_copy_holds_what_tests_need_and_the_settings_of_its_module(
    repository, tmp_path, monkeypatch
):
    tomllib = pytest.importorskip("tomllib")  # from Python 3.11 on
    tree = mutation.copied("attnsel/one.py", tmp_path)
    assert (tree / "attnsel_book" / "two.py").read_text() == "b = 2\n"
    names = {str(path.relative_to(tree)) for path in tree.rglob("*")}
    assert {"attnsel/one.py", "book/attnsel_book/two.py", "tests/test_two.py"} <= names
    assert not [name for name in names if name.startswith((".", "_build"))]
    assert "attnsel/__pycache__" not in names
    settings = tomllib.loads((tree / "pyproject.toml").read_text("utf-8"))
    assert settings["project"] == {"name": "x"}
    told = settings["tool"]["mutmut"]
    assert told["only_mutate"] == ["attnsel/one.py"]
    tests = ["tests/test_two.py", "tests/deep/test_one.py"]
    assert told["pytest_add_cli_args_test_selection"] == tests
    options = told["pytest_add_cli_args"]
    assert options[options.index("-m") + 1].startswith("not weekly and (not site or")
    assert options[options.index("-k") + 1].startswith("not of_the_caller and not ")
    hooks: dict[str, Any] = {}
    exec((tree / "tests" / "conftest.py").read_text("utf-8"), hooks)
    for mutant, left in (("stats", None), ("a.x__mutmut_1", "a.x__mutmut_1")):
        monkeypatch.setenv("MUTANT_UNDER_TEST", mutant)
        hooks["pytest_sessionstart"]()
        assert os.environ.get("MUTANT_UNDER_TEST") == left


def test_the_tests_of_a_copy_see_no_other_package_and_one_thread(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    monkeypatch.setenv("KEPT", "as it is")
    found = mutation.environment(MORE="x")
    assert "PYTHONPATH" not in found
    assert found["KEPT"] == "as it is"
    added = {name: found[name] for name in ("OMP_NUM_THREADS", "ATTNSEL_PROGRESS")}
    assert added == {"OMP_NUM_THREADS": "1", "ATTNSEL_PROGRESS": "0"}
    assert found["MORE"] == "x"


@pytest.mark.parametrize(
    ("noticed_later", "survivors", "row", "enough"),
    [
        ("26", [4], "5 of 6 | 83% (44% to 97%)", True),
        ("2", [4, 6], "4 of 6 | 67% (30% to 90%)", False),
        ("", [2, 4, 6], "3 of 6 | 50% (19% to 81%)", False),
    ],
)
def test_what_survives_met_the_tests_twice(
    repository, monkeypatch, capsys, noticed_later, survivors, row, enough
):
    met = []

    def notices(tree, module, mutant):
        assert (tree / "mutants").is_dir() and module == "attnsel/one.py"
        met.append(mutant)
        return mutant != "" and mutant[-1] in noticed_later

    monkeypatch.setattr(mutation, "notices", notices)
    assert mutation.judge("attnsel/one.py", 40, 0) == enough
    name = "attnsel.one.x_f__mutmut_"
    # The last one changes words alone, and odd ones were noticed at once.
    assert met == ["", f"{name}2", f"{name}4", f"{name}6"]
    before = "return (0, 'words') -> return ({}, 'words')"
    assert capsys.readouterr().out.splitlines() == [
        *(f"{name}{i}: {before.format(i)}" for i in survivors),
        f"| attnsel/one.py | 6 | {row} |",
    ]


def test_a_sample_is_drawn_by_its_seed(repository, monkeypatch, capsys):
    monkeypatch.setattr(mutation, "LEAST", 0)
    drawn = []
    for seed in (0, 0, 1):
        monkeypatch.setattr(mutation, "notices", lambda *_: False)
        assert mutation.judge("attnsel/one.py", 3, seed)
        *lines, row = capsys.readouterr().out.splitlines()
        assert row.startswith("| attnsel/one.py | 6 | ") and " of 3 | " in row
        drawn.append((lines, row))
    assert drawn[0] == drawn[1] != drawn[2]


def test_what_cannot_be_counted_is_told(repository, monkeypatch):
    monkeypatch.setattr(mutation, "notices", lambda *_: True)
    with pytest.raises(SystemExit, match=r"one\.py: its tests fail without a mutant"):
        mutation.judge("attnsel/one.py", 40, 0)
    (repository / "says").write_text("no module named torch")
    with pytest.raises(SystemExit, match="no module named torch"):
        mutation.judge("attnsel/one.py", 40, 0)


@pytest.mark.parametrize(
    ("words", "asked", "status"),
    [
        ("", [("a.py", 40, 0), ("b.py", 40, 0)], 1),
        ("a.py --sample 7 --seed 3", [("a.py", 7, 3)], 0),
    ],
)
def test_modules_are_those_named_or_all(monkeypatch, words, asked, status):
    judged = []
    monkeypatch.setattr(mutation, "MODULES", {"a.py": "", "b.py": ""})
    monkeypatch.setattr(
        mutation, "judge", lambda *what: bool(judged.append(what)) or what[0] == "a.py"
    )
    monkeypatch.setattr(sys, "argv", ["mutation", *words.split()])
    assert mutation.main() == status
    assert judged == asked


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


TESTED = """
import os
from attnsel.one import a, b

def test_a():
    assert a == 1

def test_settings():
    assert os.environ["ATTNSEL_DATA"] == ""
    assert os.environ["ATTNSEL_CACHE"].endswith("/tree/cache")
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
        cwd=mutation.ROOT,
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
