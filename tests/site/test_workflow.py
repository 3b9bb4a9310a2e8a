"""Each job of the workflow installs what the tests and chapters that it runs import."""

import functools
import itertools
import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator
from importlib import metadata

import pytest
import yaml
from packaging.requirements import Requirement

from support.chapters import CHAPTERS, code
from support.imports import ROOT, needed, normal

# Each file is parsed once, in one process.
pytestmark = pytest.mark.xdist_group("imports")

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOW = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
JOBS = yaml.safe_load(WORKFLOW)["jobs"]


@functools.cache
def installed_here() -> set[str]:
    return {normal(found.metadata["Name"]) for found in metadata.distributions()}


def modules(folder: str) -> Iterator[str]:
    """Yield the code of a folder."""
    for path in (ROOT / folder).rglob("*.py"):
        yield path.read_text(encoding="utf-8")


def chapters() -> Iterator[str]:
    """Yield the code of the chapters."""
    for source in itertools.chain(*map(code, CHAPTERS)):
        yield re.sub(r"^(\s*)%.*$", r"\1pass", source, flags=re.MULTILINE)


def everything() -> Iterator[str]:
    yield from modules("tests")
    yield from modules("tools")
    yield from chapters()


RUNS = {"ranges": everything, "floors": everything, "colab-image": chapters}


def asked_for(job: str) -> list[str]:
    """Return the requirements that the steps of a job install."""
    lines = [step.get("run", "") for step in JOBS[job]["steps"]]
    found = []
    for words in re.findall(r"pip install ([^\n&]*)", "\n".join(lines)):
        for word in shlex.split(words):
            word = re.sub(r"^\.(?=\[|$)", "attnsel", word)
            found += [word] if re.match(r"[a-z][\w-]*(\[|$)", word) else []
    return found


def installed(wanted: Iterable[str]) -> set[str]:
    """Return what requirements draw in, as far as it is installed here."""
    pending = [(line, "") for line in wanted]
    found: set[tuple[str, str]] = set()
    while pending:
        line, of = pending.pop()
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate({"extra": of}):
            continue
        name = normal(requirement.name)
        for extra in ({""} | requirement.extras) - {e for n, e in found if n == name}:
            found.add((name, extra))
            if name not in installed_here():
                lines = []  # such as uv, which only the job itself installs
            elif name != "attnsel":
                lines = metadata.requires(name) or []
            elif extra:
                lines = PROJECT["optional-dependencies"][extra]
            else:
                lines = PROJECT["dependencies"]
            pending += [(line, extra) for line in lines]
    return {name for name, _ in found}


@pytest.mark.parametrize("job", RUNS)
def test_a_job_installs_what_it_runs(job):
    missing = needed(RUNS[job]()) - installed(asked_for(job))
    assert not missing, f"add to the extras of the job {job} in ci.yml: {missing}"


def test_a_job_without_an_extra_would_be_noticed():
    assert "matplotlib" in needed(chapters()) - installed(["attnsel"])
    assert "sphinx" in needed(everything()) - installed(["attnsel[book,test]"])


def test_the_ranges_are_those_of_the_package():
    pythons = JOBS["ranges"]["strategy"]["matrix"]["python"]
    assert pythons == [f"3.{minor}" for minor in range(11, 15)]
    assert PROJECT["requires-python"] == f">={pythons[0]}"
    assert JOBS["floors"]["steps"][1]["with"]["python-version"] == pythons[0]
