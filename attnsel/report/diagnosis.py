"""What a model made of its texts.

From the paper comes the conjecture that a model works if E v and E p follow what tokens
tell; these are its numbers.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from attnsel.checks import check_shape
from attnsel.corpus import Corpus
from attnsel.model import accuracy, bag_logits
from attnsel.report.luck import beyond_luck, label_z
from attnsel.statistics import spearman
from attnsel.theory import posterior_difference


@dataclass(frozen=True)
class Diagnosis:
    """What `diagnose` finds; correlations are Spearman's, over the corpus's tokens.

    Attributes:
        values: of E v with the lean P(1|s) - P(0|s); for K > 2 over all classes.
        attention: of E p with the size of the lean, the greatest over classes.
        values_z, attention_z: the same with `label_z` in place of the lean.
        beyond_luck: share of the attention that is on tokens of `beyond_luck`.
        accuracy: share of the sequences read rightly.
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
    """Say how far the values and the attention of a model follow the labels.

    Any model is given by embeddings E (V, d), a query p (d,) and an output v (d,), or
    (K, d) for K > 2 classes; the corpus was seen in training or held out.
    """
    d, K = embeddings.shape[-1], corpus.n_classes
    check_shape("embeddings", embeddings, (len(corpus.vocab), d))
    check_shape("cls", cls, (d,))
    check_shape("output", output, (d,) if K == 2 else (K, d))
    scores = (embeddings @ torch.vstack((cls, output)).T).detach().cpu()
    seen = torch.from_numpy(corpus.counts.sum(axis=0)) > 0
    a, values = scores[seen, 0], scores[seen, 1:].squeeze(1)
    z = label_z(corpus)[seen].nan_to_num()
    lean = posterior_difference(corpus)[seen]
    found = beyond_luck(corpus).reshape(len(corpus.vocab), -1).any(dim=1)
    # Attention on these tokens is the logit of a model that gives them the value 1.
    caught = bag_logits(torch.column_stack((scores[:, 0], found.to(a))), corpus)
    return Diagnosis(
        values=spearman(values, lean),
        attention=spearman(a, lean.abs().reshape(len(a), -1).amax(1)),
        values_z=spearman(values, z),
        attention_z=spearman(a, z.abs().reshape(len(a), -1).amax(1)),
        beyond_luck=float(caught.mean()),
        accuracy=accuracy(bag_logits(scores, corpus), corpus),
    )
