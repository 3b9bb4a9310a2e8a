"""Labels that look wrong according to models that were not trained on them."""

from functools import partial

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from attnsel.scale.threads import side_by_side
from attnsel_report.quality import shared_tokens, some_to_learn
from attnsel_report.splits import Sample

FOLDS = 5
SHOWN = 400  # characters of a text


def unseen_probabilities(sample: Sample, seed: int = 0) -> np.ndarray:
    """Return cross-validated class probabilities of each text, float64 (n, K).

    The texts are divided into FOLDS parts, and no group is in two parts. A logistic
    regression on tf-idf of `shared_tokens` gives the probabilities of the texts in a
    part. The regression is trained on the other parts, or on a sample of them that
    `some_to_learn` draws. A class that occurs in only one part has probability 0 in
    that part. If the other parts contain a single class, it has probability 1.
    Otherwise the probabilities of a text are nan if the regression has been trained on
    none of its tokens.
    """
    counts, labels = sample.corpus.counts, sample.corpus.targets.numpy()
    counts = counts[:, shared_tokens(counts)]
    n_groups = int(sample.groups.max()) + 1
    order = np.random.default_rng(seed).permutation(n_groups)
    of_group = order % FOLDS
    fold = of_group[sample.groups]
    n_classes = sample.corpus.n_classes
    probabilities = np.zeros((len(fold), n_classes))
    parts = np.unique(fold)
    read_part = partial(_read_part, counts, labels, n_classes, fold)
    of_part = side_by_side(read_part, parts.tolist())
    for part, found in zip(parts, of_part, strict=True):
        probabilities[fold == part] = found
    return probabilities


def _read_part(
    counts: csr_array,
    labels: np.ndarray,
    n_classes: int,
    fold: np.ndarray,
    part: int,
) -> np.ndarray:
    """Return the probabilities of one part from a regression on the other parts."""
    # Imported here, because it would delay each start of `attnsel report` by a second.
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    own = np.flatnonzero(fold == part)
    others = np.flatnonzero(fold != part)
    learned = some_to_learn(counts[others], labels[others], part)
    others = others[learned]
    found = np.zeros((len(own), n_classes))
    classes = np.unique(labels[others])
    if len(classes) == 1:
        found[:, classes] = 1.0
        return found
    regression = LogisticRegression(C=3.0, max_iter=200, tol=1e-3)
    model = make_pipeline(TfidfTransformer(sublinear_tf=True), regression)
    model.fit(counts[others], labels[others])
    found[:, classes] = model.predict_proba(counts[own])
    times = counts[others].sum(axis=0)
    found[counts[own] @ times == 0] = np.nan
    return found


def suspects(sample: Sample, seed: int = 0) -> pd.DataFrame:
    """Return the texts whose labels look wrong, the most suspicious first.

    The method is confident learning (Northcutt, Jiang and Chuang, 2021). A class is
    plausible for a text if the text's probability of this class is at least the mean
    probability of the class over the texts of this class. A text is suspicious if its
    most likely plausible class is not its label and some class is more likely than the
    label. The texts whose label has the lowest probability come first.

    The columns are `row` (as in `Sample.rows`), `label`, `read` (most likely plausible
    class), `probability` (of the label) and `text` (the beginning).
    `attrs["accuracy"]` is the share of texts whose label is the most likely class.
    """
    labels = sample.corpus.targets.numpy()
    probabilities = unseen_probabilities(sample, seed)
    places = np.arange(len(labels))
    own = probabilities[places, labels]
    is_read = ~np.isnan(own)
    n_classes = sample.corpus.n_classes
    sums = np.bincount(labels[is_read], own[is_read], n_classes)
    sizes = np.bincount(labels[is_read], minlength=n_classes)
    thresholds = sums / np.maximum(sizes, 1)
    is_likely = (probabilities >= thresholds) & (thresholds > 0)
    likely = np.where(is_likely, probabilities, -1.0)
    read = likely.argmax(axis=1)
    is_known = is_likely.any(axis=1)
    is_less = own < probabilities.max(axis=1)
    is_other = read != labels
    rows = np.flatnonzero(is_known & is_less & is_other)
    rows = rows[np.argsort(own[rows], kind="stable")]
    names = np.array([str(name) for name in sample.corpus.classes], object)
    name_of_label, name_read = names[labels], names[read]
    texts = sample.corpus.texts or [""] * len(labels)
    beginnings = [texts[row][:SHOWN] for row in rows]
    columns = {
        "row": sample.rows[rows],
        "label": name_of_label[rows],
        "read": name_read[rows],
        "probability": own[rows],
        "text": beginnings,
    }
    table = pd.DataFrame(columns)
    table.attrs["accuracy"] = accuracy_of(probabilities, labels)
    return table


def accuracy_of(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of labels that have the largest probability; nan counts as 0."""
    return float((np.nan_to_num(probabilities).argmax(axis=1) == labels).mean())
