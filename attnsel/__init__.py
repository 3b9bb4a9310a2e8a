"""Attention with trained embeddings selects important tokens, as running code."""

import importlib
from typing import TYPE_CHECKING, Any

from attnsel.beyond.theorem_a import Certificate as Certificate
from attnsel.beyond.theorem_a import certificate as certificate
from attnsel.corpus import Corpus as Corpus
from attnsel.flow import Flow as Flow
from attnsel.flow import gradient_flow as gradient_flow
from attnsel.model import AttentionClassifier as AttentionClassifier
from attnsel.synthetic import separable_corpus as separable_corpus
from attnsel.synthetic import synthetic_corpus as synthetic_corpus
from attnsel.theory import MaxMargin as MaxMargin
from attnsel.theory import max_margin as max_margin
from attnsel.theory import one_step_prediction as one_step_prediction
from attnsel.theory import posterior_difference as posterior_difference
from attnsel.theory import signed_frequency as signed_frequency
from attnsel.tokens import Vocab as Vocab
from attnsel.train import History as History
from attnsel.train import fit as fit
from attnsel.train import one_step as one_step

if TYPE_CHECKING:
    from attnsel.reporting.report import Report as Report
    from attnsel.reporting.report import report as report
    from attnsel.texts.hub import BundledCorpusWarning as BundledCorpusWarning
    from attnsel.texts.loading import load_corpus as load_corpus

__version__ = "0.2.0"

# Who reads no files need not wait for what reads them.
_ON_DEMAND = {
    "BundledCorpusWarning": "attnsel.texts.hub",
    "Report": "attnsel.reporting.report",
    "load_corpus": "attnsel.texts.loading",
    "report": "attnsel.reporting.report",
}


def __getattr__(name: str) -> Any:
    """Import a name of the package when it is first asked for."""
    if name not in _ON_DEMAND:
        raise AttributeError(f"module 'attnsel' has no attribute {name!r}")
    found = getattr(importlib.import_module(_ON_DEMAND[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_ON_DEMAND})
