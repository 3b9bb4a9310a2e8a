"""The Makefile and `.ci/run` run the right commands, and report every failed step."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from support.imports import normal

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
# The commands that have to be run before a change is merged.
STAGES = {".venv/.tests", "lint", "wheel", "test-unit", "book", "test-site"}
STAGES |= {"test-notebooks"}
# A replacement for `make` that records each target, and fails at one of them.
MAKE = """#!/usr/bin/env bash
echo "$1" >> "$MADE"
[ "$1" != "$FAILING" ]
"""


@pytest.mark.parametrize("failing", ["", "lint", "book", "test-notebooks"])
def test_each_stage_runs_and_a_failure_of_one_fails_the_whole(tmp_path, failing):
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in (("make", MAKE), ("chromium", "#!/bin/sh\n")):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    made = tmp_path / "made"
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    variables = os.environ | {"PATH": path, "MADE": str(made), "FAILING": failing}
    done = subprocess.run(
        ["bash", ".ci/run"], cwd=tmp_path, env=variables, capture_output=True, text=True
    )
    assert set(made.read_text().split()) >= STAGES
    assert done.returncode == (1 if failing else 0), done.stdout + done.stderr
    assert done.stdout.count("FAILED") == (1 if failing else 0)


def commands(target, venv=".venv"):
    """Return the commands that make would run for a target."""
    done = subprocess.run(
        ["make", "-n", f"VENV={venv}", target],
        cwd=ROOT,
        env={name: os.environ[name] for name in ("PATH", "HOME")},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_what_the_stages_run():
    assert "pytest -p no:nbval" in commands("test")
    assert "--nbval-lax" in commands("test")
    lint = commands("lint")
    for program in ("ruff check", "ruff format --check", "mypy", "eslint"):
        assert program in lint


def test_no_recipe_swallows_a_failure():
    lines = re.sub(r"\\\n\s*", "", MAKEFILE).splitlines()
    recipes = [line[1:] for line in lines if line.startswith("\t")]
    assert not [line for line in recipes if re.match(r"[@+]*-", line)]
    # The one alternative is another way to install.
    for line in recipes:
        for other in line.split("||")[1:]:
            assert re.search(r"pip install|-m venv|zipfile", other), line
    assert not re.search(r"^\.IGNORE|MAKEFLAGS", MAKEFILE, re.MULTILINE)


@pytest.mark.parametrize(("owner", "installs"), [(ROOT, True), ("/elsewhere", False)])
def test_an_environment_of_another_tree_is_left_alone(tmp_path, owner, installs):
    (tmp_path / ".ready").write_text(f"{owner}\n")
    os.utime(tmp_path / ".ready", (0, 0))  # older than what is required
    for target in ("execute", "test-unit"):
        (tmp_path / ".tests").touch()
        assert ("pip install" in commands(target, str(tmp_path))) == installs


def test_every_requirement_is_pinned_within_its_range():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lines = [*project["project"]["dependencies"]]
    for group in project["project"]["optional-dependencies"].values():
        lines += group
    for group in project["dependency-groups"].values():
        lines += group
    pinned = {}
    for name in ("requirements.txt", "requirements-test.txt"):
        for pin in re.findall(r"^([\w.-]+)==(\S+)", (ROOT / name).read_text(), re.M):
            pinned[normal(pin[0])] = pin[1]
    for requirement in map(Requirement, lines):
        if requirement.name != "attnsel":
            version = pinned[normal(requirement.name)]
            assert requirement.specifier.contains(version), requirement


def test_each_action_of_a_workflow_is_a_commit():
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for action in re.findall(r"uses: (.*)", path.read_text(encoding="utf-8")):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", action), action


def test_the_ranges_are_those_of_the_package():
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pythons = jobs["ranges"]["strategy"]["matrix"]["python"]
    assert pythons == [f"3.{minor}" for minor in range(11, 15)]
    assert project["requires-python"] == f">={pythons[0]}"
    assert jobs["floors"]["steps"][1]["with"]["python-version"] == pythons[0]
