"""A one-layer attention classifier with trained embeddings, and theory about it."""

from attnsel.beyond.theorem_a import Certificate as Certificate
from attnsel.beyond.theorem_a import certificate as certificate
from attnsel.corpus import Corpus as Corpus
from attnsel.flow import Flow as Flow
from attnsel.flow import gradient_flow as gradient_flow
from attnsel.model import AttentionClassifier as AttentionClassifier
from attnsel.synthetic import separable_corpus as separable_corpus
from attnsel.synthetic import synthetic_corpus as synthetic_corpus
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
from attnsel_report.report import report as report
from attnsel_report.result import Report as Report

__version__: str
