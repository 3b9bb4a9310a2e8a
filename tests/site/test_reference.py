"""The pages of the package describe every function and class, and list its uses."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import attnsel
from tools.site import reference
from tools.site.colab import ROOT

PAGES = "\n".join(
    path.read_text(encoding="utf-8") for path in ROOT.glob("book/package*.md")
)
# Internal modules, which these pages do not describe.
INNER = re.compile(
    r"attnsel\.(__main__|files|validation|progress|texts(\..*)?|scale\.threads)"
)


def public(module: str) -> dict[str, object]:
    """Return the public functions and classes that a module defines."""
    return {
        name: thing
        for name, thing in vars(importlib.import_module(module)).items()
        if (inspect.isclass(thing) or inspect.isfunction(thing))
        and thing.__module__ == module
        and not name.startswith("_")
    }


MODULES = [
    module.name
    for module in pkgutil.walk_packages(attnsel.__path__, "attnsel.")
    if not INNER.fullmatch(module.name)
]


@pytest.mark.parametrize("module", MODULES)
def test_each_module_is_on_a_page_and_each_function_says_what_it_is(module):
    things = public(module)
    if things:
        assert f".. automodule:: {module}\n" in PAGES
    assert all(inspect.getdoc(thing) for thing in things.values())


def test_the_first_page_lists_what_is_in_the_package_itself():
    listed = re.findall(r"^   ~([\w.]+)$", PAGES, re.MULTILINE)
    exported = attnsel._homes.items()
    assert sorted(listed) == sorted(f"{module}.{name}" for name, module in exported)


def test_what_is_described_leads_to_its_lines():
    about = {"module": "attnsel.corpus", "fullname": "Corpus.from_texts"}
    path, first, last = re.fullmatch(
        r"https://.*/blob/main/(.*)#L(\d+)-L(\d+)", reference.source_of("py", about)
    ).groups()
    lines = Path(ROOT, path).read_text(encoding="utf-8").splitlines()
    assert "def from_texts(" in "\n".join(lines[int(first) - 1 : int(first) + 1])
    assert int(last) > int(first)
    counts = about | {"fullname": "Corpus.counts"}
    assert reference.source_of("py", counts) is None


def test_a_function_names_the_first_chapters_that_use_it(monkeypatch):
    code = {f"{x}.ipynb": "fit(model)" if x != "c" else "fitted = 1" for x in "abcdef"}
    monkeypatch.setattr(reference, "chapters", lambda _: map(Path, code))
    monkeypatch.setattr(reference, "code_of", lambda path: code[str(path)])
    lines: list[str] = []
    reference.add_uses(None, "function", "attnsel.train.fit", None, None, lines)
    links = ", ".join(f":doc:`/book/{x}`" for x in "abde")
    assert lines[-1].strip() == f"Used in {links}, 1 more."
    lines.clear()
    reference.add_uses(None, "function", "attnsel.train.nowhere", None, None, lines)
    assert lines == []
