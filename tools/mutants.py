"""Plant the faults of `mutants.tsv` one at a time, and check that tests notice them.

Maintainers make such faults, for example a wrong split or a wrong cache key. For each
fault, `python -m tools.mutants` runs the test files that the row of the fault names, on
a copy of the code. With words as arguments, the command plants only the faults whose
description contains one of the words. It prints the first test that notices each fault,
and fails if a fault is not noticed. Before that, the same tests must pass without a
fault, because a test that always fails would notice everything.
"""

import csv
import importlib
import os
import re
import shutil
import sys
import tempfile
import traceback
from pathlib import Path
from typing import NamedTuple, NoReturn

import pytest

ROOT = Path(__file__).parents[1]
TABLE = Path(__file__).with_name("mutants.tsv")
PACKAGES = (
    "attnsel",
    "report/attnsel_report",
    "attnsel_readers",
    "book/attnsel_book",
)
HEAVY = "torch scipy.stats pandas datasets sklearn matplotlib.pyplot qpsolvers"


class Fault(NamedTuple):
    """A fault: the right and the wrong text in a module, and tests that should fail."""

    what: str
    module: str
    before: str
    after: str
    tests: str


def faults() -> list[Fault]:
    """Return the faults in the rows of the table."""
    with open(TABLE, encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        lines = [[cell.replace("\\n", "\n") for cell in row] for row in rows]
    return [Fault(*line) for line in lines[1:]]


def planted(fault: Fault, folder: Path) -> Path:
    """Copy the code and the tests, plant a fault, and return the folder of the copy.

    Raises:
        ValueError: if the right text does not occur exactly once in the module.
    """
    tree = folder / "tree"
    for name in (*PACKAGES, "tests", "tools"):
        shutil.copytree(ROOT / name, tree / name)
    shutil.copy(ROOT / "pyproject.toml", tree)
    if not fault.module:
        return tree
    module = tree / fault.module
    text = module.read_text(encoding="utf-8")
    if text.count(fault.before) != 1:
        raise ValueError(
            f"{fault.what}: {fault.before!r} is not once in {fault.module}"
        )
    module.write_text(text.replace(fault.before, fault.after), encoding="utf-8")
    return tree


def noticed(fault: Fault) -> str:
    """Plant a fault; return the first test that fails, or an empty string.

    Raises:
        ValueError: if the right text does not occur exactly once in the module.
        RuntimeError: if pytest cannot run the tests.
    """
    with tempfile.TemporaryDirectory() as folder:
        tree = planted(fault, Path(folder))
        out = Path(folder, "out")
        with open(out, "wb") as file:
            child = os.fork()
            if not child:
                _run(tree, file.fileno(), fault.tests.split())
            _, ended = os.waitpid(child, 0)
        output = out.read_text(encoding="utf-8")
    failed = re.search(r"^(?:FAILED|ERROR) (?:\S+?::)?(\S+)", output, re.M)
    status = os.waitstatus_to_exitcode(ended)
    if status not in (0, 1, 2):
        raise RuntimeError(f"{fault.what}: {output}")
    return failed[1] if failed else ""


def _run(tree: Path, out: int, tests: list[str]) -> NoReturn:
    """Run test files of a copy, and end this process with the status of pytest."""
    status = 70  # nothing was run
    try:
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.chdir(tree)
        sys.path[:0] = [str((tree / name).parent) for name in PACKAGES]
        path = os.pathsep.join(sys.path[: len(PACKAGES)])
        os.environ |= {"PYTHONPATH": path}
        files = [str(next(Path("tests").rglob(f"test_{name}.py"))) for name in tests]
        options = ["-x", "-q", "--tb=no", "-rfE", "--assert=plain"]
        options += ["-p", "no:cacheprovider", "-m", "not weekly"]
        status = int(pytest.main([*options, *files]))
    except Exception:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def main(*words: str) -> int:
    """Plant all faults, or those that match one of `words`; return the exit status."""
    for name in HEAVY.split():
        importlib.import_module(name)
    chosen = [f for f in faults() if not words or any(word in f.what for word in words)]
    tests = {test for fault in chosen for test in fault.tests.split()}
    failed = noticed(Fault("no fault", "", "", "", " ".join(sorted(tests))))
    if failed:
        print(f"{failed} fails without a fault")
        return 1
    missed = 0
    for fault in chosen:
        test = noticed(fault)
        missed += not test
        print(f"{fault.what} ({fault.module}): {test or 'NOBODY NOTICED'}", flush=True)
    print(f"{len(chosen)} faults planted, {len(chosen) - missed} noticed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
