"""Tables of what a label hangs on: tokens, and pairs of neighbours."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.evidence import (
    class_sizes,
    label_z,
    lean_of,
    q_values,
    shrunken_shares,
    texts_by_class,
)
from attnsel.reporting.pairs import Pairs, pair_q, pairs_by_class


def token_table(train: Corpus, test: Corpus, scores: Tensor) -> pd.DataFrame:
    """Return a row for each token, those with the most evidence first.

    Columns are those of `_table`, and z, the attention score E p and the share of
    tokens whose score is lower, `attention rank`, from the scores (V, K + 1).
    """
    V = len(train.vocab)
    found = texts_by_class(train)
    again = texts_by_class(test)
    q = q_values(train).numpy().reshape(V, -1)
    table = _table(found, again, q, train)
    table.insert(0, "token", list(train.vocab))
    z = label_z(train).numpy().reshape(V, -1)
    own = table["class number"].to_numpy()
    table["z"] = _own(z, own)
    attention = scores[:, 0].detach().double().cpu().numpy()
    table["attention"] = attention
    lower = scipy.stats.rankdata(attention) - 1
    table["attention rank"] = lower / max(V - 1, 1)
    return _sorted(table)


def pair_table(
    train: Corpus, test: Corpus, seen: Pairs, held_out: Pairs, rate: float
) -> pd.DataFrame:
    """Return a row for each pair of neighbours, those with the most evidence first.

    Columns are those of `_table`, and the ids of both tokens, left and right.
    """
    q = pair_q(seen, train, rate=rate)
    found = pairs_by_class(seen, train)
    again = pairs_by_class(held_out, test)
    table = _table(found, again, q, train)
    table.insert(0, "token", seen.names(train.vocab))
    table["left"], table["right"] = seen.ids.T
    return _sorted(table)


def _table(
    found: np.ndarray, again: np.ndarray, q: np.ndarray, train: Corpus
) -> pd.DataFrame:
    """Return the evidence of what training and held-out texts of each class hold.

    class, class number: the one it goes with: of two the one that holds it more often
        than luck, of more the one among these with the least q.
    texts: how many training texts hold it; share: how many of these are of the class.
    lean, shrunken: of texts, to this class; held-out: the lean in held-out texts.
        nan where no text holds it, but for the shrunken one, which is then of luck.
    held-out texts: how many of them hold it.
    q: the least rate of false finds at which it is beyond luck.
    """
    names = np.array([str(name) for name in train.classes])
    per_class = class_sizes(train)
    held = found.sum(axis=1)
    held_again = again.sum(axis=1)
    with np.errstate(invalid="ignore"):  # what no text holds has no share: nan
        share = found / held[:, None]
        new = again / held_again[:, None]
    excess = share > per_class / per_class.sum()
    own = np.where(excess, q, 2.0).argmin(axis=1)  # q is at most 1
    shrunken = shrunken_shares(found, per_class)
    columns = {
        "class": names[own],
        "class number": own,
        "texts": held,
        "share": _own(share, own),
        "lean": _lean(share, own),
        "shrunken": _lean(shrunken, own),
        "held-out": _lean(new, own),
        "held-out texts": held_again,
        "q": _own(q, own),
    }
    return pd.DataFrame(columns)


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


def _sorted(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows by q, then by shrunken lean, then by number of texts.

    id: the number that a row had, of a token or of a column of pairs.
    """
    table = table.assign(id=np.arange(len(table)))
    lean = table["shrunken"].abs()
    order = np.lexsort([-table["texts"], -lean, table["q"]])
    return table.iloc[order].reset_index(drop=True)
