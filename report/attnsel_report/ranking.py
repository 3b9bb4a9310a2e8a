"""The significant findings of all tables in one list, the strongest first."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csr_array, hstack
from scipy.special import expit, logit
from scipy.stats import rankdata
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression

from attnsel.scale.threads import side_by_side
from attnsel.tokens import Vocab
from attnsel_report.data_notes import too_many_classes
from attnsel_report.quality import shared_tokens
from attnsel_report.splits import Sample
from attnsel_report.surface import KINDS, measured

# Findings of a kind in a round of the list, so that none crowds out the others.
AT_ONCE = {"tokens": 3, "pairs": 1, "edges": 1, "features": 1}
RANKED = 1000  # findings of most evidence that are compared
TOGETHER = 0.8  # Jaccard index of the texts from which on findings are one
LEAST_VARIANCE = 1e-6  # where hardly anything is left to chance
CERTAIN = 1e-9  # distance from 0 and 1 of a probability whose log odds are taken


class Evidence(NamedTuple):
    """What a report looked at.

    Attributes:
        tables: tokens, pairs, form and measures, with their q-values.
        contains: which training texts contain which pairs and forms, csr_array
            (n, ids); of a group only the first text is looked at.
    """

    tables: dict[str, pd.DataFrame]
    contains: dict[str, csr_array]


def top_findings(evidence: Evidence, train: Sample, rate: float) -> pd.DataFrame:
    """Return the significant findings, each once, the strongest first in each round.

    A round has three tokens, a pair, a beginning or end, and a feature of the texts,
    the strongest that are left, because a rare leak at the end of texts is weaker than
    a hundred words that predict the class for a good reason. So the first finding is
    the strongest of all.

    The strength of a finding is by how many standard deviations more of its texts are
    of its class than their other words let expect; of a measure, by how many it goes
    with the class beyond that. What the words say is predicted by a logistic regression
    on tf-idf that learned from the other half of the groups; a group weighs as much as
    a text by itself. Findings of one class in nearly the same texts, such as the words
    of a phrase, are one, and none of their words counts as another word. Left out is
    what does not agree with held-out texts.

    Returns:
        The columns of the tables, of the member with most evidence, and kind, strength,
        words (ids of all members' tokens) and members.
    """
    rows = _significant(evidence.tables, train, rate)
    if not len(rows):
        return rows.assign(strength=0.0, words=None, members=0)
    contains = _contained(rows, evidence.contains, train)
    unit = _together(contains, rows)
    words = pd.Series(_words_of(rows, train.corpus.vocab))
    centres, members = np.unique(unit, return_counts=True)
    all_words = [list(dict.fromkeys(chain(*part))) for _, part in words.groupby(unit)]
    listed = rows.iloc[centres].assign(words=all_words, members=members)
    listed["strength"] = _strengths(listed, contains[:, centres], all_words, train)
    listed = listed.sort_values("strength", ascending=False, kind="stable")
    is_feature = listed["token"].isin(list(KINDS)) | (listed["kind"] == "measures")
    group = listed["kind"].replace("form", "edges").mask(is_feature, "features")
    turn = listed.groupby(group).cumcount() // group.map(AT_ONCE)
    return listed.iloc[np.argsort(turn, kind="stable")].reset_index(drop=True)


def _significant(
    tables: dict[str, pd.DataFrame], train: Sample, rate: float
) -> pd.DataFrame:
    """Return the findings with q up to a rate that held-out texts do not contradict."""
    sizes = train.corpus.targets.bincount(minlength=train.corpus.n_classes).numpy()
    parts = []
    for kind, table in tables.items():
        part = table[table["q"] <= rate].assign(kind=kind)
        if kind == "measures":
            side, again = part["above"] - 0.5, part["held-out"] - 0.5
            mean, others = (
                part[name].map("{:.3g}".format) for name in ("mean", "elsewhere")
            )
            differs = mean != others
            part = part[~(side * again <= 0) & differs].drop(columns=["held-out"])
            part = part.assign(token=_in_words(part))
        else:
            base = (sizes / sizes.sum())[part["class number"]]
            part = part[~(part["held-out share"] <= base)]
        parts.append(part)
    rows = pd.concat([part for part in parts if len(part)] or parts[:1])
    return rows.sort_values("q", kind="stable", ignore_index=True).head(RANKED)


def _in_words(measures: pd.DataFrame) -> list[str]:
    """Return what each row of the table of measures says."""
    return [
        f"{row['measure']}: {row['mean']:.3g} {row['unit']} on average, in other texts "
        f"{row['elsewhere']:.3g}".replace(" %", "%")
        for row in measures.to_dict("records")
    ]


def _contained(
    rows: pd.DataFrame, contains: dict[str, csr_array], train: Sample
) -> csr_array:
    """Return which training texts contain which findings, (n, rows) of ones.

    The columns of measures have their centred ranks.
    """
    n = len(train.corpus)
    _, firsts = np.unique(train.groups, return_index=True)
    firsts = np.sort(firsts)
    ones = np.ones(len(firsts))
    of_firsts = csr_array((ones, (firsts, np.arange(len(firsts)))), (n, len(firsts)))
    blocks, places = [], []
    for kind, part in rows.groupby("kind", sort=False):
        ids = part["id"].to_numpy(int)
        if kind == "tokens":
            block = csr_array(train.corpus.counts[:, ids] > 0, dtype=float)
        elif kind == "measures":
            ranks = rankdata(measured(train.corpus[firsts])[:, ids], axis=0)
            centred = (ranks - ranks.mean(axis=0)) / len(ranks)
            block = of_firsts @ csr_array(centred * np.sign(part["above"] - 0.5).array)
        else:
            block = of_firsts @ csr_array(contains[str(kind)][:, ids], dtype=float)
        blocks.append(csr_array(block))
        places.append(part.index.to_numpy())
    order = np.argsort(np.concatenate(places))
    return csr_array(hstack(blocks, format="csr")[:, order])


def _together(contains: csr_array, rows: pd.DataFrame) -> np.ndarray:
    """Return for each finding the first one of its class in nearly the same texts."""
    held = csr_array(contains > 0, dtype=float)
    both = (held.T @ held).toarray()
    sizes = both.diagonal()
    likeness = both / np.maximum(sizes[:, None] + sizes - both, 1)
    classes = rows["class"].to_numpy()
    is_measure = (rows["kind"] == "measures").to_numpy()
    alike = (likeness >= TOGETHER) & (classes[:, None] == classes)
    alike &= ~is_measure[:, None] & ~is_measure
    # The lengths in tokens and in characters are one thing.
    length = rows["token"].str.startswith("length").to_numpy() & is_measure
    alike |= np.outer(length, length) & (classes[:, None] == classes)
    unit = np.arange(len(rows))
    for row in range(len(rows)):
        if unit[row] == row:
            unit[row:][alike[row, row:] & (unit[row:] == np.arange(row, len(rows)))] = (
                row
            )
    return unit


def _words_of(rows: pd.DataFrame, vocab: Vocab) -> list[list[int]]:
    """Return the ids of the tokens that each finding names."""
    words = []
    for row in rows.to_dict("records"):
        if row["kind"] == "tokens":
            words.append([int(row["id"])])
        elif row["kind"] == "pairs":
            words.append([int(row["left"]), int(row["right"])])
        else:
            _, _, phrase = row["token"].partition("“")
            ids = [vocab.get(token) for token in phrase.removesuffix("”").split(" ")]
            words.append([i for i in ids if i >= 0])
    return words


def _strengths(
    rows: pd.DataFrame, contains: csr_array, words: list[list[int]], train: Sample
) -> np.ndarray:
    """Return the strength of each finding, float64 (rows,); 0 if nothing is learned."""
    if too_many_classes(train.corpus):
        return np.zeros(len(rows))
    n_groups = int(train.groups.max()) + 1
    turn = np.random.default_rng(0).permutation(n_groups)
    is_first_half = turn[train.groups] < n_groups // 2
    own = rows["class number"].to_numpy(int)
    halves = side_by_side(
        partial(_beyond_other_words, own, contains, words, train),
        [is_first_half, ~is_first_half],
    )
    more, variance = np.sum(list(halves), axis=0)
    return more / np.sqrt(np.maximum(variance, LEAST_VARIANCE))


def _beyond_other_words(
    own: np.ndarray,
    contains: csr_array,
    words: list[list[int]],
    train: Sample,
    is_learned: np.ndarray,
) -> np.ndarray:
    """Return how many more texts of its class contain each finding than expected.

    They are counted among the texts from which nothing was learned. float64
    (2, findings): these numbers, and their variances by chance.
    """
    labels = train.corpus.targets.numpy()
    tested = np.flatnonzero(~is_learned)
    if len(np.unique(labels[is_learned])) < 2 or not len(tested):
        return np.zeros((2, len(own)))
    sizes = [len(ids) for ids in words]
    ids = np.array([i for part in words for i in part], int)
    finding = np.repeat(np.arange(len(words)), sizes)
    tokens = np.union1d(shared_tokens(train.corpus.counts), ids)
    counts = train.corpus.counts[:, tokens]
    weights = TfidfTransformer(sublinear_tf=True)
    learned = weights.fit_transform(counts[is_learned])
    model = LogisticRegression(C=3.0, max_iter=200, tol=1e-3)
    model.fit(learned, labels[is_learned])
    features = csr_array(weights.transform(counts[tested]))
    log_odds, pull = _of_classes(model, features, train.corpus.n_classes)
    place = np.searchsorted(tokens, ids)
    of_words = pull[own[finding], place]
    shape = len(tokens), len(words)
    own_pull = features @ coo_array((of_words, (place, finding)), shape).tocsr()
    held = contains[tested]
    # In one matrix with the same places: what is contained, and the pull there.
    both = csr_array(held + 1j * held.astype(bool).multiply(own_pull)).tocoo()
    row, column = both.coords
    value = both.data.real
    expected = expit(log_odds[row, own[column]] - both.data.imag)
    text = tested[row]
    weight = 1 / np.bincount(train.groups)[train.groups[text]]
    is_own = labels[text] == own[column]
    more = np.bincount(column, weight * value * (is_own - expected), len(own))
    spread = weight * value**2 * expected * (1 - expected)
    return np.stack([more, np.bincount(column, spread, len(own))])


def _of_classes(
    model: LogisticRegression, features: csr_array, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the log odds of each class in each text, and what each token adds to them.

    float64 (n, K) and (K, V); a class that was not learned has hardly a chance.
    """
    probabilities = model.predict_proba(features)
    coefficients = model.coef_
    if len(model.classes_) == 2:  # the second has all of the regression's weights
        coefficients = np.concatenate([-coefficients, coefficients])
    log_odds = np.full((len(probabilities), n_classes), -np.log(len(probabilities) + 1))
    pull = np.zeros((n_classes, features.shape[1]))
    log_odds[:, model.classes_] = logit(np.clip(probabilities, CERTAIN, 1 - CERTAIN))
    pull[model.classes_] = coefficients
    return log_odds, pull
