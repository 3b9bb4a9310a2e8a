"""Facts about the data, such as the numbers of texts, omitted rows and copies."""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Sequence
from textwrap import shorten
from typing import NamedTuple

import numpy as np
import pandas as pd

from attnsel.corpus import Corpus
from attnsel.statistics import class_sizes
from attnsel.validation import shortened
from attnsel_report.copies import ALIKE, FEW_SHARE, SAME
from attnsel_report.quality import LEAST_OF_CLASS
from attnsel_report.splits import Parts, Repeats, Sample
from attnsel_report.tables import LEAST_TEXTS

LONGEST = 40  # characters of the name of a class
RARE_SHOWN = 5  # rows of rare classes that are named
IN_A_SHELL = "In a shell, use --tokenize jieba.lcut or --tokenize characters."
NOTABLE = 0.01  # share of the rows; the page warns if more are copies
FEW_A_CLASS = 3  # sequences per class below which there is nothing to learn


class Fact(NamedTuple):
    """A fact about the data, with its meaning; `amiss` is true if it is a problem."""

    name: str
    value: str
    meaning: str
    amiss: bool = False


def data_facts(
    parts: Parts, said: Sequence[str], n_tokens: int, in_model: int, learned: int
) -> list[Fact]:
    """Return the facts about the training texts and the held-out texts.

    Args:
        parts: training texts and held-out texts.
        said: warnings that were raised when the source was loaded.
        n_tokens: number of tokens that are tested.
        in_model: number of tokens that the model uses.
        learned: number of texts that the model is trained on.
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
    facts += [*_same_names(train), *_rare_classes(parts.train, parts.names)]
    return [*facts, *_repeated(parts.repeats), *_groups(parts)]


def too_many_classes(corpus: Corpus) -> bool:
    """Return whether there are fewer than FEW_A_CLASS texts per class on average."""
    return len(corpus) < FEW_A_CLASS * corpus.n_classes


def brief(name: object) -> str:
    """Return the name of a class, shortened to its two ends if it is very long."""
    text = str(name)
    if len(text) <= LONGEST:
        return text
    beginning, end = text[: LONGEST // 2], text[-(LONGEST // 3) :]
    return f"{beginning.strip()} … {end.strip()}"


def _said(message: str) -> Fact:
    meaning = IN_A_SHELL if "tokenize=" in message else ""
    return Fact("Warning while loading", message.removesuffix("."), meaning, amiss=True)


def _texts(parts: Parts) -> Fact:
    train, test = parts.train.corpus, parts.test.corpus
    lengths = np.concatenate([train.lengths.numpy(), test.lengths.numpy()])
    return Fact(
        "Texts",
        f"{len(train):,} for training, {len(test):,} held out; the median length is "
        f"{np.median(lengths):,.0f} tokens, the greatest {lengths.max():,}",
        "All accuracies and everything called held-out are of texts from which nothing "
        "was learned.",
    )


def _tokens(n_tokens: int, in_model: int) -> Fact:
    return Fact(
        "Tokens",
        f"{n_tokens:,} are in {LEAST_TEXTS} or more training texts; "
        f"{in_model:,} are frequent enough for the model",
        "Tokens are words and punctuation. Those in two or more texts are tested, "
        "because a token in a single text can never be significant.",
    )


def _part_learned(learned: int) -> Fact:
    return Fact(
        "Models",
        f"are trained on {learned:,} of the texts, drawn at random",
        f"There are at least {LEAST_OF_CLASS} texts of each class, if it has as many. "
        "All texts are tested, but training on all of them would take long.",
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
        "Numbers of training texts. The greatest share is the accuracy of always "
        "predicting that class.",
    )


def _left_out(parts: Parts) -> Fact:
    omissions = [
        f"{len(rows):,} without {what}" for what, rows in parts.left_out.items()
    ]
    return Fact(
        "Left out",
        ", ".join(omissions) or "no row",
        "Rows that lack a text, a label or a token are not used.",
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
            "They are probably one class written in two ways. Make them one.",
            amiss=True,
        )


def _rare_classes(sample: Sample, names: pd.Series) -> Iterable[Fact]:
    train = sample.corpus
    few = np.flatnonzero(class_sizes(train) < FEW_A_CLASS)
    if too_many_classes(train):
        yield Fact(
            "Nearly one class per row",
            f"{train.n_classes:,} classes for {len(train):,} texts",
            "The column of labels contains names, numbers or texts rather than "
            "classes, so nothing is learned from it.",
            amiss=True,
        )
    elif len(few):
        targets = train.targets.numpy()
        rows = sample.rows[np.isin(targets, few)]
        shown = [
            f"“{brief(train.classes[targets[sample.rows == row].item()])}” in row "
            f"{names[row]}"
            for row in rows[:RARE_SHOWN].tolist()
        ]
        yield Fact(
            "Rare classes",
            f"{len(few):,} of {train.n_classes:,} have fewer than {FEW_A_CLASS} "
            f"training texts: {shortened(shown, RARE_SHOWN)}",
            "With so few texts nothing can be significant. Check whether these rows "
            "are examples and not, for example, a second header or a total.",
            amiss=True,
        )


def _repeated(repeats: Repeats) -> Iterable[Fact]:
    """Yield the facts about copies and near copies."""
    most = ""
    if repeats.copies:
        start = shorten(repeats.most, 60, placeholder=" …")
        classes = [f"{n:,} as “{brief(name)}”" for name, n in repeats.labelled.items()]
        most = (
            f"; “{start}” occurs {repeats.times:,} times, labelled "
            f"{shortened(classes, RARE_SHOWN)}"
        )
    yield Fact(
        "Texts that occur twice",
        f"{repeats.copies:,} rows repeat the text of another one, {repeats.torn:,} of "
        f"them with another label{most}",
        "Each distinct text counts once, with the label of its first row.",
        amiss=repeats.copies > NOTABLE * repeats.rows,
    )
    yield Fact(
        "Near copies",
        f"{repeats.near:,} {'text is' if repeats.near == 1 else 'texts are'} nearly "
        "the same as another text",
        f"At least {ALIKE:.0%} of their sequences of three words are the same, not "
        f"counting those in more than {FEW_SHARE:.0%} of the texts, or {SAME:.0%} of "
        "all in long texts. You need not remove them. A text and its near copies count "
        "once as evidence, and they are held out together or not at all. But a text "
        "that repeats another one with a third of its words replaced, or a short text "
        "that shares a phrase with many others, counts as a text of its own.",
        amiss=repeats.near > NOTABLE * repeats.rows,
    )
    if repeats.seen:
        yield Fact(
            "Held-out texts that were seen",
            f"{repeats.seen:,}",
            "They are copies or near copies of a training text, so they are left out.",
            amiss=True,
        )


def _groups(parts: Parts) -> Iterable[Fact]:
    """Yield the facts about groups, or about columns that may define groups."""
    if parts.grouped is None:
        for column in parts.telling:
            yield Fact(
                f"Groups by “{column.name}”?",
                f"texts share its {column.values:,} values; it {column}",
                "If the column names the source of a text, such as an author or a "
                "film, all features of a source look like evidence. Then use "
                f"groups={column.name!r} (--groups {shlex.quote(column.name)}), so "
                "that each source counts once. If the column only repeats the label, "
                "change nothing.",
                amiss=True,
            )
        return
    both = [parts.train.groups, parts.test.groups]
    number = sum(int(groups.max()) + 1 for groups in both if len(groups))
    alone = "".join(f"; it {column}" for column in parts.telling)
    yield Fact(
        "Groups",
        f"{number:,} by {parts.grouped}{alone}",
        "Each group counts once among the texts with a token and once among those "
        "without it. Its texts are all training texts, or all held out.",
    )


def what_groups_cost(grouped: str, within: float, across: float) -> Fact:
    """Return a fact that compares the accuracies on known groups and on new groups."""
    return Fact(
        "Accuracy with and without groups",
        f"a logistic regression classifies {within:.1%} of the texts correctly if "
        f"training texts share their {grouped}, and {across:.1%} if none does",
        "Expect the second number for new groups.",
        amiss=True,
    )
