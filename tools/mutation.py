"""Change `attnsel` a little at many places, and count what its tests notice.

`mutmut` makes the changes and runs the tests that reach each of them, in a fork that
has imported all before. This takes a sample of each module with a fixed seed and that
module's own fast test files, so that a module takes minutes: `pip install mutmut`, then
`python -m tools.mutation` for all modules, or with their names after it for some;
`--seed` and `--sample` draw others. It prints what survives and a row of the table in
`mutants.md`. What its forks leave unnoticed, do not reach or do not end in time, tests
meet again in a process of their own: what others start there, or what was computed
before the fork, is without the mutant. `mutmut` changes nothing in a function under a
decorator; `tools/mutants.py` plants what it cannot.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Modules, or those of a room, and the tests of their own.
MODULES = {
    "attnsel/flow.py": "flow",
    "attnsel/log_domain.py": "flow",
    "attnsel/theory.py": "theory thresholds",
    "attnsel/model.py": "model thresholds",
    "attnsel/train.py": "train checkpoint thresholds",
    "attnsel/learners.py": "train distributed threads thresholds",
    "attnsel/tokens.py": "corpus encoding inputs leaks_by_hand model",
    "attnsel/checks.py": "checks thresholds",
    "attnsel/progress.py": "progress",
    "attnsel/evidence/*.py": "beyond_luck groups",
    "attnsel/statistics.py": "statistics thresholds beyond_luck",
    "attnsel/corpus.py": "corpus",
    "attnsel/encoding.py": "corpus encoding",
    "attnsel/inputs/*.py": "corpus encoding labels rows",
    "attnsel/synthetic.py": "synthetic thresholds",
    "attnsel/beyond/*.py": "theorem_a deletion probe deep",
    "attnsel/scale/*.py": "checkpoint columns files threads distributed "
    "thresholds encoding",
    "attnsel/texts/*.py": "loading inputs reviews refusals hub",
    "attnsel/reporting/*.py": "report evidence diagnosis baseline page_by_hand signs "
    "leaks_by_hand writing estimator refusals command facts splits trials ranking",
    "attnsel/reporting/page/*.py": "report page_by_hand",
    "attnsel_book/*.py": "claims book_data problems plots shapes drawing widgets "
    "explorer live",
    "attnsel_book/exercises/*.py": "exercises odd_answers nearly_right",
    "attnsel_book/chapters/*/exercises.py": "exercises odd_answers nearly_right "
    "mistakes",
    "attnsel_book/chapters/*/figures.py": "drawing",
    "attnsel_book/chapters/*/results.py": "book_data",
    "tools/*.py": "colab pages panels reference package tables formulas notebooks "
    "small_book pdf lab mutation mutants searched bundle lab_places measures costs",
}
KILLED = {1, 3}  # exit status of pytest: a test failed, or pytest itself
SECONDS = 1200  # for the tests of a module; a mutant that needs more is noticed, too
LEAST = 0.8  # share noticed, of a sample with those that change nothing in it
# In the frames that `mutmut` adds, what counts them looks at another one, and a process
# of its own does not know which mutant to be.
OF_FRAMES = ("of_the_caller", "interrupted", "of_each_time", "hub_that", "without_net")
WITHOUT_FRAMES = " and ".join(f"not {word}" for word in OF_FRAMES)
# The PDF of three pages needs no built site.
MARKED = "not weekly and (not site or xdist_group(name='pdf'))"
SETTINGS = """
[tool.mutmut]
source_paths = ["attnsel/", "attnsel_book/", "tools/"]
only_mutate = ["{module}"]
also_copy = [
    "README.md", "CHANGELOG.md", "CITATION.cff", "_config.yml", "_toc.yml", "book/",
    "jupytext.toml"
]
pytest_add_cli_args = [
    "-p", "no:cacheprovider", "-m", "{marked}", "-k", "{frames}"
]
pytest_add_cli_args_test_selection = [{tests}]
timeout_multiplier = 1.0
process_isolation = "forkserver"
timeout_constant = 30.0
"""
# While `mutmut` counts which tests reach what, other processes know nothing of it: they
# would look for its settings in folders of their own.
HOOK = """

def pytest_sessionstart():
    if os.environ.get("MUTANT_UNDER_TEST") == "stats":
        del os.environ["MUTANT_UNDER_TEST"]
"""


def copied(module: str, folder: Path) -> Path:
    """Copy what the tests of a module need, with settings for `mutmut`."""
    tree = folder / "tree"
    ignored = shutil.ignore_patterns(".*", "_build", "__pycache__")
    shutil.copytree(ROOT, tree, ignore=ignored)
    # `mutmut` knows a module by its path from here, and tests by its name.
    shutil.copytree(tree / "book" / "attnsel_book", tree / "attnsel_book")
    tests = ", ".join(f'"{path}"' for path in tests_of(module))
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    settings += SETTINGS.format(
        module=module, tests=tests, frames=WITHOUT_FRAMES, marked=MARKED
    )
    (tree / "pyproject.toml").write_text(settings, encoding="utf-8")
    with open(tree / "tests" / "conftest.py", "a", encoding="utf-8") as hooks:
        hooks.write(HOOK)
    return tree


def tests_of(module: str) -> list[Path]:
    """Return the test files of a module, from the root."""
    found = (ROOT.glob(f"tests/**/test_{name}.py") for name in MODULES[module].split())
    return [next(paths).relative_to(ROOT) for paths in found]


def environment(**more: str) -> dict[str, str]:
    """Return the environment in which the tests of a copy run."""
    here = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return here | {"OMP_NUM_THREADS": "1", "ATTNSEL_PROGRESS": "0"} | more


def run(tree: Path, *names: str) -> str:
    """Let `mutmut` try the mutants of these names in a copy; return what it says."""
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", "1", *names]
    done = subprocess.run(
        command,
        cwd=tree,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout


def notices(tree: Path, module: str, mutant: str) -> bool:
    """Run all tests of a module on a mutant in a new process; return whether they fail.

    With an empty name they meet no mutant.
    """
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    command += ["-m", MARKED, "-k", WITHOUT_FRAMES, *map(str, tests_of(module))]
    try:
        done = subprocess.run(
            command,
            cwd=tree / "mutants",
            env=environment(MUTANT_UNDER_TEST=mutant),
            stdout=subprocess.DEVNULL,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode in KILLED


def results(tree: Path, module: str) -> dict[str, int | None]:
    """Return the exit status of each mutant, None of one that was not tried."""
    found: dict[str, int | None] = {}
    for path in (tree / "mutants").glob(f"{module}.meta"):
        content = json.loads(path.read_text(encoding="utf-8"))
        found |= content["exit_code_by_key"]
    return found


class _WithoutWords(ast.NodeTransformer):
    """Takes the words out of messages: what they say is not counted."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, str) and " " in node.value:
            return ast.Constant("words")
        return node


def functions(tree: Path, module: str) -> dict[str, ast.FunctionDef]:
    """Return the functions of changed files and their mutants, by their full names."""
    found = {}
    mutants = tree / "mutants"
    for path in mutants.glob(module):
        place = ".".join(path.relative_to(mutants).with_suffix("").parts)
        place = place.removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                found[f"{place}.{node.name}"] = node
    return found


def lines_of(node: ast.FunctionDef) -> list[str]:
    """Return the code of a function without its name and what its messages say."""
    copy = ast.parse(ast.unparse(node)).body[0]
    assert isinstance(copy, ast.FunctionDef)
    copy.name = "f"
    return ast.unparse(_WithoutWords().visit(copy)).splitlines()


def change(nodes: dict[str, ast.FunctionDef], mutant: str) -> str:
    """Return what a mutant changes, or nothing if that is the words of a message."""
    before = lines_of(nodes[mutant.split("__mutmut_")[0] + "__mutmut_orig"])
    after = lines_of(nodes[mutant])
    lost = [line.strip() for line in before if line not in after]
    new = [line.strip() for line in after if line not in before]
    if before == after:
        return ""
    return f"{' '.join(lost)} -> {' '.join(new)}"


def interval(killed: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share."""
    z = 1.96
    share = killed / n
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return middle - half, middle + half


def judge(module: str, at_most: int, seed: int) -> bool:
    """Try a sample of the mutants of a module, and print survivors and the counts.

    Returns whether enough of them were noticed.
    """
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(module, Path(folder))
        # It makes all mutants and times the tests before it looks for a name.
        said = run(tree, "of no mutant")
        if "nothing matches" not in said:
            sys.exit(said)
        nodes = functions(tree, module)
        changes = {mutant: change(nodes, mutant) for mutant in results(tree, module)}
        counted = sorted(mutant for mutant in changes if changes[mutant])
        size = min(at_most, len(counted))
        sample = sorted(random.Random(seed).sample(counted, size))
        run(tree, *sample)
        status = results(tree, module)
        left = [mutant for mutant in sample if status[mutant] not in KILLED]
        if left and notices(tree, module, ""):
            sys.exit(f"{module}: its tests fail without a mutant")
        survived = [mutant for mutant in left if not notices(tree, module, mutant)]
    for mutant in survived:
        print(f"{mutant}: {changes[mutant]}", flush=True)
    killed = size - len(survived)
    low, high = interval(killed, size)
    share = f"{killed} of {size} | {killed / size:.0%} ({low:.0%} to {high:.0%})"
    print(f"| {module} | {len(counted)} | {share} |", flush=True)
    return killed / size >= LEAST


def main() -> int:
    """Judge the modules that are named, or all; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutation")
    parser.add_argument("modules", nargs="*", default=list(MODULES))
    parser.add_argument("--sample", type=int, default=40, help="mutants a module")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    asked = parser.parse_args()
    enough = [judge(name, asked.sample, asked.seed) for name in asked.modules]
    return 0 if all(enough) else 1


if __name__ == "__main__":
    sys.exit(main())
