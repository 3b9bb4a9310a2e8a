"""Attention with trained embeddings selects important tokens, as running code."""

from attnsel.certificate import Certificate as Certificate
from attnsel.certificate import certificate as certificate
from attnsel.corpus import Corpus as Corpus
from attnsel.flow import Flow as Flow
from attnsel.flow import gradient_flow as gradient_flow
from attnsel.influence import flipping_set as flipping_set
from attnsel.influence import influence as influence
from attnsel.influence import shapley as shapley
from attnsel.model import AttentionClassifier as AttentionClassifier
from attnsel.outside import Outside as Outside
from attnsel.outside import outside as outside
from attnsel.report.diagnosis import Diagnosis as Diagnosis
from attnsel.report.diagnosis import diagnose as diagnose
from attnsel.report.luck import beyond_luck as beyond_luck
from attnsel.report.luck import label_z as label_z
from attnsel.report.luck import q_values as q_values
from attnsel.report.luck import shrunken_lean as shrunken_lean
from attnsel.report.report import Report as Report
from attnsel.report.report import report as report
from attnsel.synthetic import separable_corpus as separable_corpus
from attnsel.synthetic import synthetic_corpus as synthetic_corpus
from attnsel.texts.hub import BundledCorpusWarning as BundledCorpusWarning
from attnsel.texts.loading import load_corpus as load_corpus
from attnsel.theory import MaxMargin as MaxMargin
from attnsel.theory import max_margin as max_margin
from attnsel.theory import one_step_prediction as one_step_prediction
from attnsel.theory import posterior_difference as posterior_difference
from attnsel.theory import signed_frequency as signed_frequency
from attnsel.tokens import Vocab as Vocab
from attnsel.train import History as History
from attnsel.train import fit as fit
from attnsel.train import one_step as one_step

__version__ = "0.2.0"
