"""What is to be known of the data themselves before anything is learned from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from attnsel.corpus import Corpus
from attnsel.evidence import class_sizes
from attnsel.reporting.splits import plain

FEW_A_CLASS = 3  # sequences a class below which there is nothing to learn


class Fact(NamedTuple):
    """A line on the data: a name, what was found, what it means, and if it is amiss."""

    name: str
    value: str
    meaning: str
    amiss: bool = False


def data_facts(train: Corpus, test: Corpus, said: Sequence[str]) -> list[Fact]:
    """Return what is to be said of both parts; `said` are the warnings of loading."""
    facts = [_texts(train, test), _classes(train), _left_out(train, test)]
    facts += [Fact("Said while loading", message, "") for message in said]
    facts += [*_same_names(train), *_rare_classes(train)]
    if train.texts is not None and test.texts is not None:
        facts += _twice(train, test)
    return facts


def too_many_classes(corpus: Corpus) -> bool:
    """Say whether nearly every text has a class of its own."""
    return len(corpus) < FEW_A_CLASS * corpus.n_classes


def _texts(train: Corpus, test: Corpus) -> Fact:
    lengths = np.concatenate([train.lengths.numpy(), test.lengths.numpy()])
    return Fact(
        "Texts",
        f"{len(train):,} to learn from, {len(test):,} held out; half of them have up "
        f"to {np.median(lengths):,.0f} tokens, the longest {lengths.max():,}",
        "All accuracies and all leans called held-out are of texts that nothing was "
        "learned from.",
    )


def _classes(train: Corpus) -> Fact:
    sizes = class_sizes(train)
    order = np.argsort(-sizes, kind="stable")
    shares = sizes / sizes.sum()
    shown = [f"“{train.classes[k]}” {sizes[k]:,} ({shares[k]:.1%})" for k in order[:12]]
    more = f" and {len(order) - 12} more" if len(order) > 12 else ""
    return Fact(
        "Classes",
        f"{train.n_classes}: {', '.join(shown)}{more}",
        "So many of the texts to learn from; the greatest share is the accuracy of who "
        "always says that class.",
    )


def _left_out(train: Corpus, test: Corpus) -> Fact:
    rows: dict[str, int] = defaultdict(int)
    for part in (train, test):
        for reason, numbers in part.left_out.items():
            rows[reason] += len(numbers)
    told = [f"{count:,} without {reason}" for reason, count in rows.items()]
    return Fact(
        "Left out",
        ", ".join(told) or "no row",
        "Rows that lack a text, a label or a known token take no part.",
        amiss=bool(rows),
    )


def _same_names(train: Corpus) -> Iterable[Fact]:
    spelled = defaultdict(list)
    for name in train.classes:
        spelled[" ".join(str(name).casefold().split())].append(str(name))
    alike = [" and ".join(names) for names in spelled.values() if len(names) > 1]
    if alike:
        yield Fact(
            "Labels that differ only in case or spaces",
            "; ".join(alike[:10]),
            "They are probably one class written in two ways; make them one.",
            amiss=True,
        )


def _rare_classes(train: Corpus) -> Iterable[Fact]:
    few = int((class_sizes(train) < FEW_A_CLASS).sum())
    if too_many_classes(train):
        yield Fact(
            "Nearly a class a row",
            f"{train.n_classes:,} classes for {len(train):,} texts",
            "The column of labels holds names, numbers or texts rather than classes; "
            "nothing is learned from it.",
            amiss=True,
        )
    elif few:
        yield Fact(
            "Rare classes",
            f"{few:,} of {train.n_classes:,} have fewer than {FEW_A_CLASS} texts",
            "Of so few texts nothing can be told from luck.",
            amiss=True,
        )


def _twice(train: Corpus, test: Corpus) -> Iterable[Fact]:
    """Tell of texts that stand in the data more than once."""
    first: dict[str, int] = {}
    repeated = torn = 0
    for text, label in zip(train.texts or (), train.targets.tolist(), strict=True):
        seen = first.setdefault(plain(text), label)
        repeated += 1
        torn += seen != label
    repeated -= len(first)
    across = sum(plain(text) in first for text in test.texts or ())
    yield Fact(
        "Texts written twice",
        f"{repeated:,} repeat another text to learn from, {torn:,} of them with "
        "another label",
        "Each counts as evidence of its own, so what they hold looks surer than it is.",
        amiss=repeated > 0,
    )
    yield Fact(
        "Held-out texts that were seen",
        f"{across:,} of {len(test):,}",
        "A text that stands in both parts can be learned by heart, so the accuracy "
        "flatters.",
        amiss=across > 0,
    )
