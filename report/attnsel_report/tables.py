"""Tables of the evidence that links tokens, pairs and other features to a class."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from scipy.sparse import csr_array
from torch import Tensor

from attnsel.significance.exact_test import false_discovery, least_p, luck_p
from attnsel.significance.groups import sides
from attnsel.significance.lean import lean_of, shrunken_shares
from attnsel.statistics import class_sizes, label_z
from attnsel_report.pairs import Pairs, pair_p
from attnsel_report.splits import Sample

LEAST_TEXTS = 2  # smallest number of texts with a token that has a row
FEWEST = 20  # texts of a class, if none is held out, or for a normal approximation


class Column(NamedTuple):
    """A column of the tables, and its presentation on the HTML page of a report.

    Attributes:
        name: name of the column in the data frame.
        head: heading of the column on the page.
        kind: format of the entries: name, count, share, lean or q.
        meaning: explanation for readers; empty if the heading is enough.
        on_top: whether the list of top findings also contains the column.
    """

    name: str
    head: str
    kind: str
    meaning: str = ""
    on_top: bool = False


COLUMNS = (
    Column("kind", "kind", "name"),
    Column("token", "what", "name"),
    Column("class", "class", "name", "the class whose texts contain it more", True),
    Column(
        "texts",
        "texts",
        "count",
        "training texts that contain it; a group counts once",
        True,
    ),
    Column("share", "in class", "share", "share of these that are of the class", True),
    Column(
        "held-out share",
        "held out",
        "share",
        "the same among held-out texts, from which nothing was learned",
        True,
    ),
    Column("lean", "lean", "lean", "share in the class minus that in the others"),
    Column("shrunken", "expected", "lean", "expected lean in new texts"),
    Column("held-out", "held-out lean", "lean", "lean among held-out texts"),
    Column(
        "q",
        "q",
        "q",
        "false-discovery rate (Benjamini-Hochberg) over all results; smaller means "
        "stronger evidence",
        True,
    ),
)


def token_table(train: Sample, test: Sample) -> pd.DataFrame:
    """Return a table of tokens in at least LEAST_TEXTS texts; a group counts once.

    The columns are as in `trait_table`, followed by `z`, the `label_z` for the class.
    """
    counts, vocab = train.corpus.counts, train.corpus.vocab
    table = trait_table(train, test, vocab, counts, test.corpus.counts)
    by_class = label_z(train.corpus).numpy().reshape(len(vocab), -1)
    if by_class.shape[1] == 1:
        by_class = np.hstack([-by_class, by_class])
    z = _own(by_class[table["id"]], table["class number"].to_numpy())
    return table.assign(z=z)


def with_q(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return tables with common q-values, each table in order of decreasing evidence.

    The q-values are computed over the rows of all tables, so that one rate bounds the
    false discoveries of the whole report. The column `q` replaces the columns `p` and
    `least`, which contain the p-values and their smallest possible values.
    """
    p, least = (
        np.concatenate([table[name].to_numpy(float) for table in tables.values()])
        for name in ("p", "least")
    )
    q = false_discovery(p, least)
    stops = np.cumsum([len(table) for table in tables.values()])
    of_tables = zip(tables.items(), np.split(q, stops[:-1]), strict=True)
    return {
        name: _sorted(table.drop(columns=["p", "least"]).assign(q=values))
        for (name, table), values in of_tables
    }


def with_attention(tokens: pd.DataFrame, attention: Tensor) -> pd.DataFrame:
    """Return a table of tokens with the columns `attention` and `attention rank`.

    `attention` (m,) contains the scores E p of the first m tokens, which are the tokens
    of the model. For all further tokens, the columns contain nan. `attention rank` is
    the share of the model's other tokens that have a lower score; a tie counts half.
    """
    scores = attention.double().cpu().numpy()
    n_lower = scipy.stats.rankdata(scores) - 1
    others = max(len(scores) - 1, 1)
    values = pd.DataFrame({"attention": scores, "attention rank": n_lower / others})
    of_tokens = values.reindex(tokens["id"]).set_index(tokens.index)
    return tokens.assign(**of_tokens)


def pair_table(
    train: Sample, test: Sample, seen: Pairs, held_out: Pairs
) -> pd.DataFrame:
    """Return a table of the pairs of neighbouring tokens in the training texts.

    The columns are as in `trait_table`, followed by the token ids `left` and `right`.
    """
    names, tests = seen.names(train.corpus.vocab), pair_p(seen, train.corpus)
    table = trait_table(train, test, names, seen.holds, held_out.holds, tests)
    left, right = seen.ids[table["id"]].T
    return table.assign(left=left, right=right)


def trait_table(
    train: Sample,
    test: Sample,
    names: Sequence[str],
    holds: csr_array,
    again: csr_array,
    tests: tuple[np.ndarray, np.ndarray] | None = None,
) -> pd.DataFrame:
    """Return a table of features in at least LEAST_TEXTS texts; a group counts once.

    `holds` (n, P) and `again` mark the training texts and the held-out texts that
    contain each of the P features. `tests` contains p-values and their smallest
    possible values, (P, 1) or (P, K). If `tests` is None, Fisher's exact test gives
    both. A class with fewer than FEWEST texts and no held-out text is not tested. The
    first column is `token`, with the `names`; the other columns are as in `_table`.
    """
    found, lacked = _by_class(train, holds)
    held_out, _ = _by_class(test, again)
    if tests is None:
        both = found + lacked
        tests = luck_p(found, both), least_p(found, both)
    sizes, of_test = class_sizes(train.corpus), class_sizes(test.corpus)
    untested = np.flatnonzero((of_test == 0) & (sizes < FEWEST))
    for values in tests if len(untested) else ():
        values[:, untested if len(sizes) > 2 else 0] = 1.0
    table = _table(found, held_out, *tests, train)
    table.insert(0, "token", list(names))
    return table[table["texts"] >= LEAST_TEXTS]


def _by_class(sample: Sample, holds: csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of groups of each class with and without each column."""
    labels = sample.corpus.targets.numpy()
    return sides(holds, labels, sample.corpus.n_classes, sample.groups)


def _table(
    found: np.ndarray,
    again: np.ndarray,
    p: np.ndarray,
    least: np.ndarray,
    train: Sample,
) -> pd.DataFrame:
    """Return a table of the evidence that items occur more often in texts of a class.

    An item is a token, a pair or another feature. The table has these columns:

    class, class number: the class whose texts contain the item more often than by
        chance; if there are several such classes, the one with the smallest p-value.
    texts: number of training texts that contain the item, where a group counts once;
        share: share of these texts that are in the class.
    lean, shrunken: lean of texts with the item to this class; held-out: the lean in
        held-out texts. If no text contains the item, the leans are nan, except for the
        shrunken one.
    held-out texts, held-out share: number of held-out texts that contain the item, and
        the share of them that are in the class.
    p: p-value over all classes (Bonferroni); least: the smallest possible p-value.
    id: number of the token, the pair or the feature.
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
    candidates = np.where(excess, p, 2.0)  # p is at most 1
    own = candidates.argmin(axis=1)
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
        "held-out share": _own(new, own),
        "p": np.minimum(p.shape[1] * _own(p, own), 1.0),
        "least": np.minimum(p.shape[1] * least.min(axis=1), 1.0),
        "id": np.arange(len(own)),
    }
    return pd.DataFrame(columns)


def _lean(shares: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return the lean of each row to the class of the row."""
    lean = lean_of(shares).numpy()
    if lean.ndim == 1:
        return np.where(own == 1, lean, -lean)
    return _own(lean, own)


def _own(table: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return the entry of each row for its class, or its only entry."""
    last = table.shape[1] - 1
    rows = np.arange(len(table))
    columns = np.minimum(own, last)
    return table[rows, columns]


def _sorted(table: pd.DataFrame) -> pd.DataFrame:
    """Sort the rows by q, then by absolute shrunken lean, then by number of texts."""
    keys = [table["q"]]
    if "shrunken" in table:
        keys = [-table["texts"], -table["shrunken"].abs(), table["q"]]
    return table.iloc[np.lexsort(keys)].reset_index(drop=True)
