"""Docstrings: one name a line with a text of its own, and examples that run."""

import ast
import doctest
import importlib
import re
from itertools import pairwise
from pathlib import Path

import pytest

import attnsel

FOLDER = Path(attnsel.__file__).parent
FILES = sorted(FOLDER.rglob("*.py"))
SECTION = re.compile(r"^(Args|Attributes):\n((?:    .*\n|\n)+)", re.MULTILINE)
ENTRY = re.compile(r"^    (\S[^:]*): ((?:.*\n)(?:     .*\n)*)", re.MULTILINE)
# What a reader meets first.
SHOWN = {
    "Corpus.from_texts",
    "AttentionClassifier",
    "fit",
    "one_step",
    "signed_frequency",
    "posterior_difference",
    "max_margin",
    "gradient_flow",
    "certificate",
    "separable_corpus",
}


def documented() -> dict[str, tuple[ast.FunctionDef | ast.ClassDef, str]]:
    """Return what lists parameters or attributes in its docstring, with that."""
    found: dict[str, tuple[ast.FunctionDef | ast.ClassDef, str]] = {}
    for path in FILES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                text = f"{ast.get_docstring(node)}\n"
                if SECTION.search(text):
                    place = f"{path.relative_to(FOLDER)}:{node.name}:{node.lineno}"
                    found[place] = node, text
    return found


DOCUMENTED = documented()


@pytest.mark.parametrize("place", DOCUMENTED)
def test_each_parameter_and_attribute_has_a_line_and_a_text_of_its_own(place):
    node, text = DOCUMENTED[place]
    for kind, block in SECTION.findall(text):
        entries = ENTRY.findall(block)
        names = [name for name, _ in entries]
        assert names and len(set(names)) == len(names)
        assert all(re.fullmatch(r"\w+", name) for name in names), names
        texts = [" ".join(said.split()) for _, said in entries]
        assert all(texts)
        for one, other in pairwise(texts):
            assert one != other, one
        if kind == "Args" and isinstance(node, ast.FunctionDef):
            given = node.args
            known = [*given.posonlyargs, *given.args, *given.kwonlyargs]
            assert set(names) <= {argument.arg for argument in known}


def test_what_is_used_most_has_an_example_that_runs():
    tried = set()
    for path in FILES:
        parts = path.relative_to(FOLDER.parent).with_suffix("").parts
        if ">>>" not in path.read_text(encoding="utf-8"):
            continue
        module = importlib.import_module(".".join(parts))
        for test in doctest.DocTestFinder().find(module):
            if test.examples:
                result = doctest.DocTestRunner(verbose=False).run(test)
                assert result.failed == 0, test.name
                tried.add(test.name.removeprefix(f"{module.__name__}."))
    assert tried >= SHOWN
