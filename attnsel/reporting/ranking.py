"""One list of the signs of a class: tokens, kinds, beginnings, ends and measures."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy

from attnsel.evidence.groups import sides
from attnsel.evidence.luck import luck_p
from attnsel.reporting.splits import Sample

HALVES = 20  # random halves of the texts in which a token is looked for again
AGAIN = 0.05  # p-value at which it is found again


def signs(tables: dict[str, pd.DataFrame], rate: float) -> pd.DataFrame:
    """Return the finds of several tables in one list, the tables taking turns.

    The q-values of a table are multiplied by the number of tables: so the list is empty
    with the promised probability where nothing is to be found. Rows of a table come in
    its order, those of measures in words. The first column, kind, names the table.
    """
    finds = []
    for kind, table in tables.items():
        if kind == "measures":
            table = _in_words(table)
        q = np.minimum(table["q"] * len(tables), 1.0)
        joint = table.assign(kind=kind, q=q)
        kept = joint[q <= rate]
        turn = np.arange(len(kept))
        finds.append(kept.assign(turn=turn))
    every = pd.concat(finds)
    in_turns = every.sort_values("turn", kind="stable", ignore_index=True)
    first = in_turns.pop("kind")
    in_turns.insert(0, "kind", first)
    return in_turns.drop(columns="turn")


def _in_words(measures: pd.DataFrame) -> pd.DataFrame:
    """Return the table of measures with what each row says as a `token`."""
    words = [
        f"{row['measure']}: {row['median']:.4g} {row['unit']}, the others "
        f"{row['elsewhere']:.4g}"
        for row in measures.to_dict("records")
    ]
    return pd.DataFrame(
        {"token": words, "class": measures["class"], "q": measures["q"]}
    )


def in_joint_order(
    tokens: pd.DataFrame, train: Sample, coefficients: np.ndarray, rate: float
) -> pd.DataFrame:
    """Return the finds among tokens ordered by evidence, regression and stability.

    The order is that of the sum of the logarithms of three ranks: by q, by the size of
    the coefficient of a logistic regression on all tokens (greatest over classes), and
    by `stability`, a column that is added: in what share of HALVES random halves of
    the groups the token leans to its class with p at most AGAIN.

    Args:
        tokens: as `token_table` returns them.
        train: the texts that they were counted in.
        coefficients: (V,) or (K, V), of all tokens.
        rate: of false finds.
    """
    finds = tokens[tokens["q"] <= rate].copy()
    finds["stability"] = _stability(finds, train)
    by_class = np.abs(coefficients).reshape(-1, coefficients.shape[-1])
    sizes = by_class.max(axis=0)
    keys = [finds["q"], -sizes[finds["id"]], -finds["stability"]]
    ranks = [scipy.stats.rankdata(key, method="min") for key in keys]
    joint_rank = np.log(ranks).sum(axis=0)
    order = np.argsort(joint_rank, kind="stable")
    return finds.iloc[order]


def _stability(finds: pd.DataFrame, train: Sample) -> np.ndarray:
    """Return the share of halves in which each find leans as it does in all texts."""
    corpus = train.corpus
    labels = corpus.targets.numpy()
    own = finds["class number"].to_numpy()
    table = corpus.counts[:, finds["id"].to_numpy()]
    rows = np.arange(len(own))
    times = np.zeros(len(own))
    n_groups = int(train.groups.max()) + 1
    for seed in range(HALVES):
        random = np.random.default_rng(seed)
        order = random.permutation(n_groups)
        half = np.flatnonzero(order[train.groups] < n_groups // 2)
        groups, _ = pd.factorize(train.groups[half])
        held, lacked = sides(table[half], labels[half], corpus.n_classes, groups)
        both = held + lacked
        p = luck_p(held, both)
        last = p.shape[1] - 1
        column = np.minimum(own, last)
        is_found = p[rows, column] <= AGAIN
        with np.errstate(invalid="ignore"):
            share = held[rows, own] / held.sum(axis=1)
            base = both[rows, own] / both.sum(axis=1)
        leans_alike = share > base
        times += is_found & leans_alike
    return times / HALVES
