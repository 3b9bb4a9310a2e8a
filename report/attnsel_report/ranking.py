"""One list of the signs of a class: tokens, pairs, edges of texts, and their looks."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import expit, logit
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression

from attnsel.scale.threads import side_by_side
from attnsel_report.quality import shared_tokens
from attnsel_report.splits import Sample
from attnsel_report.surface import KINDS

AT_ONCE = {"tokens": 3, "pairs": 1, "edges": 1, "looks": 1}  # rows of a kind in a turn
LEAST_VARIANCE = 1e-6  # where hardly anything is left to luck
CERTAIN = 1e-9  # distance from 0 and 1 of a probability whose log odds are taken


def signs(tables: dict[str, pd.DataFrame], rate: float) -> pd.DataFrame:
    """Return what to look at: the finds of the tables of a report in one list.

    The q-values of a table are multiplied by the number of tables: so the list is empty
    with the promised probability where nothing is to be found. Tokens, pairs, edges and
    looks take turns of AT_ONCE rows, each in the order of its table. A row is left out
    if rows before it have named all of its words.

    Args:
        tables: tokens, pairs, form and measures, as a report has them.
        rate: of false finds.

    Returns:
        The columns of the tables, after `kind`, with measures in words.
    """
    number = len(tables)
    finds = []
    for kind, table in _by_kind(tables).items():
        joint_q = np.minimum(number * table["q"], 1.0)
        rows = table.assign(kind=kind, q=joint_q)
        finds.append(rows[joint_q <= rate])
    every = pd.concat(finds, ignore_index=True)
    listed = every.iloc[_in_turns(every)].reset_index(drop=True)
    kinds = listed.pop("kind")
    listed.insert(0, "kind", kinds)
    return listed


def _by_kind(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the rows of tables as tokens, pairs, edges of texts, and how these look.

    Looks are kinds of things and measures, by q.
    """
    form = tables["form"]
    is_kind = form["token"].isin(list(KINDS))
    measures = _in_words(tables["measures"])
    looks = pd.concat([form[is_kind], measures])
    return {
        "tokens": tables["tokens"],
        "pairs": tables["pairs"],
        "edges": form[~is_kind],
        "looks": looks.sort_values("q", kind="stable"),
    }


def _in_turns(rows: pd.DataFrame) -> list[int]:
    """Return the places of rows, kinds in turn, less those that name no new word."""
    words = [_words(*row) for row in rows[["kind", "token"]].to_numpy()]
    places = pd.Series(np.arange(len(rows)))
    waiting = {kind: iter(part) for kind, part in places.groupby(rows["kind"])}
    turns = [kind for kind, size in AT_ONCE.items() for _ in range(size)]
    named: set[str] = set()
    order = []
    while waiting:
        for kind in turns:
            new = (
                place for place in waiting.get(kind, ()) if not words[place] <= named
            )
            place = next(new, None)
            if place is None:
                waiting.pop(kind, None)
                continue
            order.append(place)
            named |= words[place]
    return order


def _words(kind: str, token: str) -> set[str]:
    """Return the words that a row names."""
    if kind == "edges":
        _, _, phrase = token.partition("“")
        return set(phrase.removesuffix("”").split(" "))
    if kind == "looks":  # the length in tokens and that in letters are one thing
        return {re.sub(r"( in letters)?, (higher|lower):.*", "", token)}
    return set(token.split(" "))


def _in_words(measures: pd.DataFrame) -> pd.DataFrame:
    """Return the table of measures with what each row says as a `token`."""
    words = []
    for row in measures.to_dict("records"):
        side = "higher" if row["above"] > 0.5 else "lower"
        medians = f"{row['median']:.4g}, of the others {row['elsewhere']:.4g}"
        words.append(f"{row['measure']}, {side}: median {medians} ({row['unit']})")
    return pd.DataFrame(
        {"token": words, "class": measures["class"], "q": measures["q"]}
    )


def by_surplus(tokens: pd.DataFrame, train: Sample, rate: float) -> pd.DataFrame:
    """Return the finds among tokens, those first that other words explain least.

    A column is added, `surplus`: by how many standard deviations more of the texts with
    the token are of its class than their other tokens let expect. What these say is
    told by a logistic regression on tf-idf that learned from the other half of the
    groups; a group weighs as much as a text by itself.

    Args:
        tokens: as `token_table` returns them.
        train: texts that they were counted in, all or some of them.
        rate: of false finds.
    """
    finds = tokens[tokens["q"] <= rate]
    n_groups = int(train.groups.max()) + 1
    turn = np.random.default_rng(0).permutation(n_groups)
    is_first_half = turn[train.groups] < n_groups // 2
    read_others = partial(_beyond_other_words, finds, train)
    halves = side_by_side(read_others, [is_first_half, ~is_first_half])
    more, variance = np.sum(list(halves), axis=0)
    surplus = more / np.sqrt(np.maximum(variance, LEAST_VARIANCE))
    order = np.argsort(-surplus, kind="stable")
    return finds.assign(surplus=surplus).iloc[order]


def _beyond_other_words(
    finds: pd.DataFrame, train: Sample, is_learned: np.ndarray
) -> np.ndarray:
    """Return how many more texts of its class hold each find than expected.

    They are counted among the texts that nothing was learned from. float64 (2, finds):
    these numbers, and their variances by luck.
    """
    labels = train.corpus.targets.numpy()
    n_classes = train.corpus.n_classes
    read = np.flatnonzero(~is_learned)
    if len(np.unique(labels[is_learned])) < 2 or not len(read):
        return np.zeros((2, len(finds)))
    ids = finds["id"].to_numpy()
    own = finds["class number"].to_numpy()
    shared = shared_tokens(train.corpus.counts)
    tokens = np.union1d(shared, ids)
    places = np.searchsorted(tokens, ids)
    counts = train.corpus.counts[:, tokens]
    weights = TfidfTransformer(sublinear_tf=True)
    learned = weights.fit_transform(counts[is_learned])
    model = LogisticRegression(C=3.0, max_iter=200, tol=1e-3)
    model.fit(learned, labels[is_learned])
    features = csr_array(weights.transform(counts[read]))
    log_odds, pull = _of_classes(model, features, n_classes)
    of_finds = features[:, places].tocoo()
    row, column = of_finds.coords
    pull_of_finds = pull[own, places]
    own_pull = of_finds.data * pull_of_finds[column]
    own_log_odds = log_odds[row, own[column]]
    expected = expit(own_log_odds - own_pull)
    group_sizes = np.bincount(train.groups)
    text = read[row]
    group = train.groups[text]
    weight = 1 / group_sizes[group]
    is_own = labels[text] == own[column]
    surplus = weight * (is_own - expected)
    spread = weight * expected * (1 - expected)
    more = np.bincount(column, surplus, len(ids))
    variance = np.bincount(column, spread, len(ids))
    return np.stack([more, variance])


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
