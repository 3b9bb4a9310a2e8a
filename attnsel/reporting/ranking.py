"""One list of the signs of a class: tokens, pairs, edges of texts, and their looks."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import scipy

from attnsel.evidence.groups import sides
from attnsel.evidence.luck import luck_p
from attnsel.reporting.form import KINDS
from attnsel.reporting.splits import Sample

HALVES = 20  # random halves of the texts in which a token is looked for again
AGAIN = 0.05  # p-value at which it is found again


def signs(tables: dict[str, pd.DataFrame], rate: float) -> pd.DataFrame:
    """Return what to look at: the finds of the tables of a report in one list.

    The q-values of a table are multiplied by the number of tables: so the list is empty
    with the promised probability where nothing is to be found. Tokens, pairs, edges and
    looks take turns, each in the order of its table. A row is left out if rows before
    it have named all of its words.

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
    waiting = [iter(part) for _, part in places.groupby(rows["kind"], sort=False)]
    named: set[str] = set()
    order = []
    while waiting:
        for kind in tuple(waiting):
            new = (place for place in kind if not words[place] <= named)
            place = next(new, None)
            if place is None:
                waiting.remove(kind)
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
    n_tokens = coefficients.shape[-1]
    by_class = np.abs(coefficients).reshape(-1, n_tokens)
    sizes = by_class.max(axis=0)
    size = sizes[finds["id"]]
    keys = [finds["q"], -size, -finds["stability"]]
    ranks = [scipy.stats.rankdata(key, method="min") for key in keys]
    joint_rank = np.log(ranks).sum(axis=0)
    order = np.argsort(joint_rank, kind="stable")
    return finds.iloc[order]


def _stability(finds: pd.DataFrame, train: Sample) -> np.ndarray:
    """Return the share of halves in which each find leans as it does in all texts."""
    own = finds["class number"].to_numpy()
    labels = train.corpus.targets.numpy()
    n_classes = train.corpus.n_classes
    table = train.corpus.counts[:, finds["id"].to_numpy()]
    n_groups = int(train.groups.max()) + 1
    times = np.zeros(len(own))
    for seed in range(HALVES):
        random = np.random.default_rng(seed)
        order = random.permutation(n_groups)
        is_chosen = order < n_groups // 2
        half = np.flatnonzero(is_chosen[train.groups])
        groups, _ = pd.factorize(train.groups[half])
        counted = sides(table[half], labels[half], n_classes, groups)
        times += _is_found_again(*counted, own)
    return times / HALVES


def _is_found_again(
    held: np.ndarray, lacked: np.ndarray, own: np.ndarray
) -> np.ndarray:
    """Return which columns with some `sides` lean to their own classes, p of AGAIN."""
    both = held + lacked
    p = luck_p(held, both)
    rows = np.arange(len(own))
    last = p.shape[1] - 1
    own_p = p[rows, np.minimum(own, last)]
    with np.errstate(invalid="ignore"):
        share = held[rows, own] / held.sum(axis=1)
        base = both[rows, own] / both.sum(axis=1)
    return (own_p <= AGAIN) & (share > base)
