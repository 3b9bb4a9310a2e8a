"""Docstrings describe each name on its own line, and contain examples that run."""

import doctest
import importlib
from pathlib import Path

import attnsel

FOLDER = Path(attnsel.__file__).parent
FILES = sorted(FOLDER.rglob("*.py"))
# The functions and classes that readers meet first.
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
