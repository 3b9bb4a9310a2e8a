"""What one would use instead of the model, and how sure an accuracy is."""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression

from attnsel.corpus import Corpus


def tfidf_regression(
    train: Corpus, *others: Corpus, penalty: float = 1 / 3, max_iter: int = 60
) -> list[np.ndarray]:
    """Return the classes that logistic regression on tf-idf reads in other corpora.

    It is fitted on `train`; of each of the others, in the same vocabulary, the numbers
    of the classes read, int64 (n,). `penalty` is that of the squared weights beside the
    summed loss; the fit may end before it has converged, after `max_iter` rounds.
    """
    tfidf = TfidfTransformer(sublinear_tf=True).fit(train.counts)
    regression = LogisticRegression(C=1 / penalty, max_iter=max_iter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        regression.fit(tfidf.transform(train.counts), train.targets.numpy())
    return [regression.predict(tfidf.transform(part.counts)) for part in others]


class Share(NamedTuple):
    """A share of some number of cases, with the ends of its 95% interval (Wilson)."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.1%} [{self.low:.1%}, {self.high:.1%}]"


def share_of(right: np.ndarray) -> Share:
    """Return the share of cases that are right, bool (n,), with its interval."""
    count, n = int(right.sum()), len(right)
    interval = binomtest(count, n).proportion_ci(method="wilson")
    return Share(count / n, float(interval.low), float(interval.high))
