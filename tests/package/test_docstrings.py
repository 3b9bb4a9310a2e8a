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


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_parameter_and_attribute_has_a_line_and_a_text_of_its_own(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        for kind, block in SECTION.findall(f"{ast.get_docstring(node)}\n"):
            entries = ENTRY.findall(block)
            names = [name for name, _ in entries]
            assert names and len(set(names)) == len(names), node.name
            assert all(re.fullmatch(r"\w+", name) for name in names), names
            texts = [" ".join(said.split()) for _, said in entries]
            assert all(texts), node.name
            for one, other in pairwise(texts):
                assert one != other, one
            if kind == "Args" and isinstance(node, ast.FunctionDef):
                given = node.args
                known = [*given.posonlyargs, *given.args, *given.kwonlyargs]
                assert set(names) <= {argument.arg for argument in known}, node.name


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
