"""Measures of how well the values and the attention of a model follow the labels.

The paper suggests that a model works well if E v and E p follow the leans of the
tokens. The correlations in this module measure how closely E v and E p do so.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.model import accuracy, bag_logits
from attnsel.significance.exact_test import beyond_luck
from attnsel.statistics import label_z, spearman
from attnsel.theory import posterior_difference
from attnsel.validation import check_shape


@dataclass(frozen=True)
class Diagnosis:
    """The results of `diagnose`.

    All correlations are Spearman's rank correlations over the tokens of the corpus. A
    correlation is nan if one of its variables is constant.

    Attributes:
        values: correlation of E v with the lean P(1|s) - P(0|s); for K > 2, over all
            pairs of a token and a class.
        attention: correlation of E p with the absolute lean; for K > 2, with the
            largest absolute lean over the classes.
        values_z: as `values`, with `label_z` in place of the lean.
        attention_z: correlation of E p with the absolute value of `label_z`; for K > 2,
            with the largest absolute value over the classes.
        beyond_luck: attention on the tokens that the function `beyond_luck` marks,
            averaged over the sequences.
        accuracy: share of the sequences that are classified correctly.
    """

    values: float
    attention: float
    values_z: float
    attention_z: float
    beyond_luck: float
    accuracy: float


def diagnose(
    corpus: Corpus, embeddings: Tensor, cls: Tensor, output: Tensor
) -> Diagnosis:
    """Measure how well the values and the attention of a model follow the labels.

    The model has the `embeddings` E (V, d), the query p (d,), which is `cls`, and the
    `output` v (d,), or (K, d) for K > 2 classes. The corpus may be the training corpus
    or a held-out corpus.
    """
    V, d = len(corpus.vocab), embeddings.shape[-1]
    K = corpus.n_classes
    outputs = (d,) if K == 2 else (K, d)
    check_shape("embeddings", embeddings, (V, d))
    check_shape("cls", cls, (d,))
    check_shape("output", output, outputs)
    vectors = torch.vstack((cls, output))
    scores = (embeddings @ vectors.T).detach().cpu()
    logits = bag_logits(scores, corpus)
    seen = torch.from_numpy(corpus.counts.sum(axis=0)) > 0
    attention = scores[seen, 0]
    values = scores[seen, 1:].squeeze(1)
    z = label_z(corpus)[seen].nan_to_num()
    lean = posterior_difference(corpus)[seen]
    return Diagnosis(
        values=_correlation(values, lean),
        attention=_correlation(attention, _greatest_size(lean)),
        values_z=_correlation(values, z),
        attention_z=_correlation(attention, _greatest_size(z)),
        beyond_luck=_attention_beyond_luck(scores[:, 0], corpus),
        accuracy=accuracy(logits, corpus),
    )


def _correlation(x: Tensor, y: Tensor) -> float:
    """Return Spearman's correlation, or nan if one of the two arrays is constant."""
    if not (np.ptp(x.numpy()) and np.ptp(y.numpy())):
        return float("nan")
    return spearman(x, y)


def _greatest_size(lean: Tensor) -> Tensor:
    """Return the largest absolute lean of each row over the classes, (V,)."""
    by_class = lean.reshape(len(lean), -1)
    return by_class.abs().amax(dim=1)


def _attention_beyond_luck(attention: Tensor, corpus: Corpus) -> float:
    """Return the mean share of the attention that is on significant tokens."""
    by_class = beyond_luck(corpus).reshape(len(attention), -1)
    found = by_class.any(dim=1).to(attention)
    # It is the logit of a model that gives these tokens the value 1, all others 0.
    caught = bag_logits(torch.column_stack((attention, found)), corpus)
    return float(caught.mean())
