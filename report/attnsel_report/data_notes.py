"""What is to be known of the data themselves before anything is learned from them."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Sequence
from textwrap import shorten
from typing import NamedTuple

import numpy as np

from attnsel.corpus import Corpus
from attnsel.statistics import class_sizes
from attnsel_report.copies import ALIKE, HALF_ALIKE
from attnsel_report.quality import LEAST_OF_CLASS
from attnsel_report.splits import Parts, Repeats
from attnsel_report.tables import LEAST_TEXTS

LONGEST = 40  # characters of the name of a class
IN_A_SHELL = "In a shell, say --tokenize jieba.lcut, or --tokenize characters."
LOOSELY_ALIKE = 0.1  # share of texts half alike from which on the page warns
FEW_A_CLASS = 3  # sequences a class below which there is nothing to learn


class Fact(NamedTuple):
    """A line on the data: a name, what was found, what it means, and if it is amiss."""

    name: str
    value: str
    meaning: str
    amiss: bool = False


def data_facts(
    parts: Parts, said: Sequence[str], n_tokens: int, in_model: int, learned: int
) -> list[Fact]:
    """Return what is to be said of both parts.

    `said` are the warnings of loading, `n_tokens` and `in_model` the numbers of tokens
    that are looked at as evidence and that a model is trained on, `learned` that of the
    texts it is trained on.
    """
    train = parts.train.corpus
    facts = [
        _texts(parts),
        _tokens(n_tokens, in_model),
        _classes(train),
        _left_out(parts),
    ]
    if 0 < learned < len(train):
        facts.append(_part_learned(learned))
    facts += [_said(message) for message in said]
    facts += [*_same_names(train), *_rare_classes(train)]
    return [*facts, *_repeated(parts.repeats), *_groups(parts)]


def too_many_classes(corpus: Corpus) -> bool:
    """Say whether nearly every text has a class of its own."""
    return len(corpus) < FEW_A_CLASS * corpus.n_classes


def brief(name: object) -> str:
    """Return the name of a class, of a very long one its beginning and its end."""
    whole = str(name)
    if len(whole) <= LONGEST:
        return whole
    beginning, end = whole[: LONGEST // 2], whole[-(LONGEST // 3) :]
    return f"{beginning.strip()} … {end.strip()}"


def _said(message: str) -> Fact:
    meaning = IN_A_SHELL if "tokenize=" in message else ""
    return Fact("Said while loading", message.removesuffix("."), meaning, amiss=True)


def _texts(parts: Parts) -> Fact:
    train, test = parts.train.corpus, parts.test.corpus
    lengths = np.concatenate([train.lengths.numpy(), test.lengths.numpy()])
    return Fact(
        "Texts",
        f"{len(train):,} to learn from, {len(test):,} held out; half of them have up "
        f"to {np.median(lengths):,.0f} tokens, the longest {lengths.max():,}",
        "All accuracies and all leans called held-out are of texts that nothing was "
        "learned from.",
    )


def _tokens(n_tokens: int, in_model: int) -> Fact:
    return Fact(
        "Tokens",
        f"{n_tokens:,} are in {LEAST_TEXTS} or more of the texts to learn from; "
        f"{in_model:,} are frequent enough to train a model on",
        "Tokens are words and signs. Each of the former is looked at as evidence: one "
        "in a single text cannot be told from luck.",
    )


def _part_learned(learned: int) -> Fact:
    return Fact(
        "Models",
        f"learn from {learned:,} of the texts, taken at random",
        f"Of each class they see at least {LEAST_OF_CLASS} texts, if it has as many. "
        "Evidence is of all texts; training on them all would take long.",
    )


def _classes(train: Corpus) -> Fact:
    sizes = class_sizes(train)
    order = np.argsort(-sizes, kind="stable")
    shares = sizes / sizes.sum()
    shown = [
        f"“{brief(train.classes[k])}” {sizes[k]:,} ({shares[k]:.1%})"
        for k in order[:12].tolist()
    ]
    more = f" and {len(order) - 12} more" if len(order) > 12 else ""
    return Fact(
        "Classes",
        f"{train.n_classes}: {', '.join(shown)}{more}",
        "So many of the texts to learn from; the greatest share is the accuracy of "
        "always saying that class.",
    )


def _left_out(parts: Parts) -> Fact:
    omissions = [
        f"{len(rows):,} without {what}" for what, rows in parts.left_out.items()
    ]
    return Fact(
        "Left out",
        ", ".join(omissions) or "no row",
        "Rows that lack a text, a label or a token take no part.",
        amiss=bool(omissions),
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


def _repeated(repeats: Repeats) -> Iterable[Fact]:
    """Tell of texts that stand in the data more than once, or nearly so."""
    most = ""
    if repeats.copies:
        start = shorten(repeats.most, 60, placeholder=" …")
        most = f"; “{start}” stands there {repeats.times:,} times"
    yield Fact(
        "Texts written twice",
        f"{repeats.copies:,} rows repeat the text of another one, {repeats.torn:,} of "
        f"them with another label{most}",
        "Each distinct text counts once, with the label of its first row.",
        amiss=repeats.copies > 0,
    )
    yield Fact(
        "Near copies",
        f"{repeats.near:,} texts share {ALIKE:.0%} or more with another text, where "
        "a token counts the more, the fewer texts contain it",
        "Each counts once as evidence, together with the text that it is like, and is "
        "held out with it or not at all.",
        amiss=repeats.near > 0,
    )
    if repeats.half_alike > LOOSELY_ALIKE * repeats.distinct:
        yield Fact(
            "Texts half alike",
            f"{repeats.half_alike:,} of {repeats.distinct:,} texts share "
            f"{HALF_ALIKE:.0%} to {ALIKE:.0%} with another text, as rewritten copies "
            "do",
            "Each of them counts as a text of its own. If they are copies, findings "
            "are not as sure as this page says: the promise of at most 5% false "
            "findings does not hold for this file. Remove the copies, or name what "
            "they have in common as a group.",
            amiss=True,
        )
    if repeats.seen:
        yield Fact(
            "Held-out texts that were seen",
            f"{repeats.seen:,}",
            "They copy a text to learn from, or nearly, and so are left out.",
            amiss=True,
        )


def _groups(parts: Parts) -> Iterable[Fact]:
    """Tell of the groups that count once, or of columns that look like such."""
    for column, values in parts.suggested:
        yield Fact(
            "Groups?",
            f"texts share the {values:,} values of the column “{column}”",
            "If the texts of one value tend to have one label, whatever they share, "
            "such as a name, looks like evidence. Then say "
            f"groups={column!r} (--groups {shlex.quote(column)}): each counts once.",
            amiss=True,
        )
    if parts.grouped is not None:
        both = [parts.train.groups, parts.test.groups]
        number = sum(int(groups.max()) + 1 for groups in both if len(groups))
        yield Fact(
            "Groups",
            f"{number:,} by {parts.grouped}",
            "Each counts once among the texts with a token and once among those "
            "without it, and all of its texts are learned from, or all are held out.",
        )
