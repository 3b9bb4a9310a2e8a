"""Groups of texts that count as one observation, such as copies of a text.

Texts can also form a group because they share, for example, an author or a film.
"""

from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from attnsel.corpus import Corpus


def plain(text: str) -> str:
    """Return a text, case-folded and with single spaces between its words."""
    words = text.casefold().split()
    return " ".join(words)


def same_texts(corpus: Corpus) -> np.ndarray:
    """Return a number for each sequence, equal for sequences whose texts are copies.

    Copies may differ only in case and spacing. A text that differs in a single word is
    not a copy. If the corpus has no texts, each sequence has its own number.

    Returns:
        int64 (n,).
    """
    numbers = np.arange(len(corpus))
    if corpus.texts is None:
        return numbers
    # Only texts of equal bags can be copies, and equal bags have equal weighted sums.
    random = np.random.default_rng(0)
    weights = random.random(len(corpus.vocab))
    sums = pd.Series(corpus.counts @ weights)
    candidates = np.flatnonzero(sums.duplicated(keep=False))
    texts = [plain(corpus.texts[row]) for row in candidates]
    by_text = pd.Series(candidates).groupby(texts, sort=False)
    numbers[candidates] = by_text.transform("first")
    return numbers


def group_numbers(corpus: Corpus, groups: Any = None) -> np.ndarray:
    """Return the group number of each sequence, int64 (n,), from 0 without gaps.

    Two sequences are in the same group if they have the same name in `groups`, or if
    their texts differ at most in case and spacing. Two sequences that are in a group
    with a third one are in the same group. Sequences without a name are grouped only by
    their texts.

    Args:
        corpus: n sequences.
        groups: n strings or numbers that name the groups, or None for no names.

    Raises:
        ValueError: if the length of `groups` is not n.
    """
    copies = same_texts(corpus)
    if groups is None:
        return pd.factorize(copies)[0]
    n = len(corpus)
    names, _ = pd.factorize(pd.Series(groups))
    if len(names) != n:
        left_out = sum(map(len, corpus.left_out.values()))
        hint = f"; the rows in corpus.left_out ({left_out:,}) need no name"
        raise ValueError(
            f"groups: expected {n} names, one per text of the corpus, got {len(names)}"
            f"{hint if left_out else ''}"
        )
    own_numbers = names.max() + 1 + np.arange(n)
    filled = np.where(names < 0, own_numbers, names)  # a number of its own if missing
    return linked(filled, copies)


def linked(names: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return group numbers, equal for rows with the same first or second value.

    Two rows that are both in a group with a third row are also in the same group.

    Args:
        names: first value of each row, integers (n,).
        others: second value of each row, integers (n,).

    Returns:
        int64 (n,), from 0.
    """
    left, _ = pd.factorize(names)
    right, _ = pd.factorize(others)
    n_names = left.max() + 1
    behind = n_names + right
    size = behind.max() + 1
    ones = np.ones(len(left))
    links = csr_array((ones, (left, behind)), (size, size))
    _, parts = connected_components(links, directed=False)
    return pd.factorize(parts[left])[0]


def sides(
    table: csr_array, labels: np.ndarray, n_classes: int, groups: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Count the groups with and without each column, separately for each class.

    A group can count on both sides. It counts once as having the column if at least one
    of its rows has an entry there, with the class of the first such row. It counts once
    as lacking the column if at least one of its rows has no entry there, again with the
    class of the first such row.

    Args:
        table: sparse matrix (n, P); a stored entry means that the row has the column.
        labels: classes of the rows, int64 (n,).
        n_classes: number K of classes.
        groups: group number of each row, int64 (n,), from 0 without gaps.

    Returns:
        The numbers of groups with and without each column, two int64 arrays (P, K).
    """
    sizes = np.bincount(groups)
    is_alone = sizes[groups] == 1
    held, lacked = _sides_of_rows(table[is_alone], labels[is_alone], n_classes)
    rows = np.flatnonzero(~is_alone)
    if len(rows):
        by_group = np.argsort(groups[rows], kind="stable")
        rows = rows[by_group]
        shared = table[rows], labels[rows], n_classes, groups[rows]
        held_by_groups, lacked_by_groups = _sides_of_groups(*shared)
        held += held_by_groups
        lacked += lacked_by_groups
    return held, lacked


def _sides_of_rows(
    table: csr_array, labels: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the result of `sides` if each row is a group of its own."""
    P = table.shape[1]
    sizes = np.diff(table.indptr)
    of_stored = np.repeat(labels, sizes)
    held = _by_class(table.indices, of_stored, P, n_classes)
    per_class = np.bincount(labels, minlength=n_classes)
    return held, per_class - held


def _by_class(
    columns: np.ndarray, labels: np.ndarray, P: int, n_classes: int
) -> np.ndarray:
    """Count how often each column 0, ..., P - 1 occurs with each class, int64 (P, K).

    Entry i of `columns` occurs with the class in entry i of `labels`.
    """
    places = columns.astype(np.int64) * n_classes + labels
    times = np.bincount(places, minlength=P * n_classes)
    return times.reshape(P, n_classes)


def _sides_of_groups(
    table: csr_array, labels: np.ndarray, n_classes: int, groups: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the result of `sides` for rows that are sorted by group."""
    n, P = table.shape
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    sizes = np.diff(starts, append=n)
    rows = np.arange(n)
    group = np.repeat(np.arange(len(starts)), sizes)
    turn = rows - starts[group]  # of each row in its group
    row_sizes = np.diff(table.indptr)
    row = np.repeat(rows, row_sizes)
    key = group[row] * P + table.indices
    order = np.argsort(key, kind="stable")
    row, key = row[order], key[order]
    begins = np.flatnonzero(np.diff(key, prepend=-1))
    times = np.diff(begins, append=len(key))
    # The first rows of a group have the column as long as their turns count 0, 1, ...
    begin = np.repeat(begins, times)
    place = np.arange(len(key))
    has_all_before = turn[row] == place - begin
    first_without = np.add.reduceat(has_all_before.astype(int), begins)
    of_group, column = np.divmod(key[begins], P)
    first_with = row[begins]
    label_with = labels[first_with]
    held = _by_class(column, label_with, P, n_classes)
    # Groups without the column lack it by their first row ...
    label_of_group = labels[starts]
    per_class = np.bincount(label_of_group, minlength=n_classes)
    holders = _by_class(column, label_of_group[of_group], P, n_classes)
    # ... and groups with it by their first row without it, if there is one.
    is_left = first_without < sizes[of_group]
    row_without = starts[of_group] + first_without
    label_without = labels[row_without[is_left]]
    lacking = _by_class(column[is_left], label_without, P, n_classes)
    without_any = per_class - holders
    return held, without_any + lacking
