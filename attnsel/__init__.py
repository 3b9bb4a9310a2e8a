"""Attention with trained embeddings selects important tokens, as running code."""

from attnsel.corpus import Corpus, Vocab
from attnsel.evidence import (
    Diagnosis,
    beyond_luck,
    diagnose,
    label_z,
    shrunken_lean,
)
from attnsel.flow import Certificate, Flow, certificate, gradient_flow
from attnsel.model import AttentionClassifier
from attnsel.synthetic import separable_corpus, synthetic_corpus
from attnsel.texts.loading import BundledCorpusWarning, load_corpus
from attnsel.theory import (
    MaxMargin,
    max_margin,
    one_step_prediction,
    posterior_difference,
    signed_frequency,
)
from attnsel.train import History, fit, one_step

__all__ = [
    "AttentionClassifier",
    "BundledCorpusWarning",
    "Certificate",
    "Corpus",
    "Diagnosis",
    "Flow",
    "History",
    "MaxMargin",
    "Vocab",
    "beyond_luck",
    "certificate",
    "diagnose",
    "fit",
    "gradient_flow",
    "label_z",
    "load_corpus",
    "max_margin",
    "one_step",
    "one_step_prediction",
    "posterior_difference",
    "separable_corpus",
    "shrunken_lean",
    "signed_frequency",
    "synthetic_corpus",
]
