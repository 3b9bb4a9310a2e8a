"""Attention with trained embeddings selects important tokens, as running code."""

from attnsel.corpus import Corpus, Vocab
from attnsel.flow import Flow, gradient_flow
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
    "Corpus",
    "Flow",
    "History",
    "MaxMargin",
    "Vocab",
    "fit",
    "gradient_flow",
    "load_corpus",
    "max_margin",
    "one_step",
    "one_step_prediction",
    "posterior_difference",
    "separable_corpus",
    "signed_frequency",
    "synthetic_corpus",
]
