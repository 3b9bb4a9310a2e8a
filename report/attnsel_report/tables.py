"""Tables of what a label hangs on: tokens, and pairs of neighbours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy
from scipy.sparse import csr_array
from torch import Tensor

from attnsel.significance.exact_test import false_discovery, least_p, luck_p
from attnsel.significance.groups import sides
from attnsel.significance.lean import lean_of, lean_of_share, shrunken_shares
from attnsel.statistics import class_sizes, label_z
from attnsel_report.pairs import Pairs, pair_q
from attnsel_report.splits import Sample

LEAST_TEXTS = 2  # that hold a token, for it to have a row


def token_table(train: Sample, test: Sample) -> pd.DataFrame:
    """Return a row for each token in LEAST_TEXTS texts, most evidence first.

    Columns are those of `_table`, and z, that of `label_z`.
    """
    found, lacked = _by_class(train, train.corpus.counts)
    again, _ = _by_class(test, test.corpus.counts)
    q = _q_of(found, lacked)
    table = _table(found, again, q, train)
    table.insert(0, "token", list(train.corpus.vocab))
    z = label_z(train.corpus).numpy()
    by_class = z.reshape(len(found), -1)
    own = table["class number"].to_numpy()
    table["z"] = _own(by_class, own)
    return _sorted(table, table["texts"] >= LEAST_TEXTS)


def with_attention(tokens: pd.DataFrame, attention: Tensor) -> pd.DataFrame:
    """Return a table of tokens with the attention scores E p of a model, (m,).

    They are of the first m tokens, those of the model; others have nan. `attention
    rank` is the share of the model's tokens whose score is lower.
    """
    scores = attention.double().cpu().numpy()
    n_lower = scipy.stats.rankdata(scores) - 1
    others = max(len(scores) - 1, 1)
    values = pd.DataFrame({"attention": scores, "attention rank": n_lower / others})
    of_tokens = values.reindex(tokens["id"]).set_index(tokens.index)
    return tokens.assign(**of_tokens)


def _q_of(found: np.ndarray, lacked: np.ndarray) -> np.ndarray:
    """Return the q-values of what is held and lacked by so many groups, (P, K)."""
    both = found + lacked
    p = luck_p(found, both)
    least = least_p(found, both)
    return false_discovery(p, least)


def pair_table(
    train: Sample, test: Sample, seen: Pairs, held_out: Pairs
) -> pd.DataFrame:
    """Return a row for each pair of neighbours, those with the most evidence first.

    Columns are those of `_table`, and the ids of both tokens, left and right.
    """
    q = pair_q(seen, train.corpus)
    found, _ = _by_class(train, seen.holds)
    again, _ = _by_class(test, held_out.holds)
    table = _table(found, again, q, train)
    table.insert(0, "token", seen.names(train.corpus.vocab))
    table["left"], table["right"] = seen.ids.T
    return _sorted(table, table["texts"] > 0)


def trait_table(
    train: Sample,
    test: Sample,
    names: Sequence[str],
    holds: csr_array,
    again: csr_array,
) -> pd.DataFrame:
    """Return a row for each trait that texts have, those with the most evidence first.

    `holds` (n, P) and `again` say which training and held-out texts have which.
    Columns are those of `_table`.
    """
    found, lacked = _by_class(train, holds)
    held_out, _ = _by_class(test, again)
    q = _q_of(found, lacked)
    table = _table(found, held_out, q, train)
    table.insert(0, "token", list(names))
    return _sorted(table, table["texts"] >= LEAST_TEXTS)


def _by_class(sample: Sample, holds: csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return how many groups of each class hold each column, and lack it, (P, K)."""
    labels = sample.corpus.targets.numpy()
    return sides(holds, labels, sample.corpus.n_classes, sample.groups)


def _table(
    found: np.ndarray, again: np.ndarray, q: np.ndarray, train: Sample
) -> pd.DataFrame:
    """Return the evidence of what training and held-out texts of each class hold.

    class, class number: the one it goes with: of two the one that holds it more often
        than luck, of more the one among these with the least q.
    texts: how many training texts hold it, a group counted once; share: how many of
        these are of the class.
    lean, shrunken: of texts, to this class; held-out: the lean in held-out texts.
        nan where no text holds it, but for the shrunken one, which is then of luck.
    held-out low, held-out high: the 95% interval of the latter (Wilson, of the share).
    held-out texts: how many of them hold it.
    q: the least rate of false finds at which it is beyond luck.
    """
    classes = train.corpus.classes
    names = np.array([str(name) for name in classes])
    per_class = class_sizes(train.corpus)
    base = per_class / per_class.sum()
    held = found.sum(axis=1)
    held_again = again.sum(axis=1)
    with np.errstate(invalid="ignore"):  # what no text holds has no share: nan
        share = found / held[:, None]
        new = again / held_again[:, None]
    excess = share > base
    candidates = np.where(excess, q, 2.0)  # q is at most 1
    own = candidates.argmin(axis=1)
    shrunken = shrunken_shares(found, per_class)
    low, high = wilson(_own(new, own), held_again)
    columns = {
        "class": names[own],
        "class number": own,
        "texts": held,
        "share": _own(share, own),
        "lean": _lean(share, own),
        "shrunken": _lean(shrunken, own),
        "held-out": _lean(new, own),
        "held-out low": lean_of_share(low, len(names)),
        "held-out high": lean_of_share(high, len(names)),
        "held-out texts": held_again,
        "q": _own(q, own),
    }
    return pd.DataFrame(columns)


def wilson(share: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of Wilson's 95% intervals of shares of n cases; nan of none."""
    z = scipy.stats.norm.ppf(0.975)
    with np.errstate(invalid="ignore", divide="ignore"):
        more = z**2 / n
        size = 1 + more
        middle = (share + more / 2) / size
        variance = share * (1 - share) / n
        spread = variance + more / (4 * n)
        half = z * np.sqrt(spread) / size
        return middle - half, middle + half


def _lean(shares: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return the lean of each row to its own class."""
    lean = lean_of(shares).numpy()
    if lean.ndim == 1:
        return np.where(own == 1, lean, -lean)
    return _own(lean, own)


def _own(table: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return the entry of each row's own class; one column speaks for all."""
    last = table.shape[1] - 1
    rows = np.arange(len(table))
    columns = np.minimum(own, last)
    return table[rows, columns]


def _sorted(table: pd.DataFrame, kept: pd.Series) -> pd.DataFrame:
    """Return some of the rows by q, then by shrunken lean, then by number of texts.

    id: the number that a row had, of a token or of a column of pairs.
    """
    table = table.assign(id=np.arange(len(table)))[kept]
    lean = table["shrunken"].abs()
    order = np.lexsort([-table["texts"], -lean, table["q"]])
    return table.iloc[order].reset_index(drop=True)
