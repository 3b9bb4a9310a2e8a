"""One call from a file of labelled texts to what their label hangs on."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from attnsel.validation import require

require("report", "jinja2", "sklearn")

import numpy as np
import pandas as pd

from attnsel.corpus import Corpus
from attnsel.encoding import suitable_min_count
from attnsel.scale.threads import side_by_side
from attnsel.tokens import Tokenizer
from attnsel.validation import check_number
from attnsel_report.baseline import baseline
from attnsel_report.data_notes import data_facts, too_many_classes
from attnsel_report.diagnosis import diagnose
from attnsel_report.examples import Example, examples, first_tokens
from attnsel_report.figures import attention_figure
from attnsel_report.page import render, shown
from attnsel_report.pairs import Pairs, neighbours
from attnsel_report.paths import free_place, write_text
from attnsel_report.quality import (
    accuracies,
    best_steps,
    masked_table,
    most_misread,
    shared_tokens,
    shuffled,
    some_to_learn,
    trained,
)
from attnsel_report.ranking import by_surplus, signs
from attnsel_report.result import Findings
from attnsel_report.splits import (
    FEWEST,
    Parts,
    Sample,
    joined,
    read_parts,
    too_few,
)
from attnsel_report.surface import form_table, measure_table
from attnsel_report.suspects import suspects
from attnsel_report.tables import pair_table, token_table, with_attention

log = logging.getLogger(__name__)

SHUFFLES = 2  # models that see shuffled labels


class Report(Findings):
    """What `report` found, with the attributes of `Findings`; it shows itself."""

    def html(self) -> str:
        """Return the page: one file, no network."""
        return render(self)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the page, whole or not at all, and return where it is.

        Where there is a file already the page is name-2 beside it, or takes its place
        with `force`. An OSError tells that it cannot be written.
        """
        file = free_place(path, force=force)
        write_text(file, self.html())
        return file

    def table(self) -> pd.DataFrame:
        """Return all tokens, pairs and traits in one data frame, by `kind`."""
        kinds = {"token": self.tokens, "pair": self.pairs, "trait": self.form}
        parts = [part.assign(kind=kind) for kind, part in kinds.items()]
        both = pd.concat(parts, ignore_index=True)
        return both[["kind", *self.form.columns.drop(["id", "class number"])]]

    def _repr_html_(self) -> str:
        page = escape(self.html(), quote=True)
        style = "width:100%;height:44em;border:1px solid #8886;border-radius:.3em"
        title = escape(f"What the label of {self.name} hangs on", quote=True)
        return f'<iframe title="{title}" style="{style}" srcdoc="{page}"></iframe>'

    def __repr__(self) -> str:
        read = "nothing is learned of nearly a class a row"
        if self.accuracy:
            read = f"accuracy {self.accuracy['attention']}"
        finds = f"{len(self.found(self.tokens)):,} of {len(self.tokens):,} tokens"
        return (
            f"Report({self.name!r}: {len(self.train):,} texts to learn from, "
            f"{len(self.test):,} held out; {finds} beyond luck; {read})"
        )


def report(
    source: Any,
    *,
    text: Hashable | Sequence[Hashable] = "text",
    label: Hashable = "label",
    groups: Any = None,
    limit: int | None = None,
    rate: float = 0.05,
    min_count: int | None = None,
    tokenize: Tokenizer | None = None,
    seed: int = 0,
) -> Report:
    """Say what the label of texts hangs on, how much is luck, and how good a model is.

    Each distinct text counts once, near copies of it with it. Where a source has no
    test split a fifth of its texts is held out.

    Args:
        source: as in `load_corpus`: one of our names, a file, a folder, a table or the
            Hub's name of a data set; or a Corpus with texts.
        text: name of the column of texts, or of several whose texts are joined; its
            place, from 0, in a file without a line of names.
        label: name of the column of labels.
        groups: name of a column that labels go with rather than with texts, such as the
            author or the film, or a sequence of such names, one a row of the source; a
            group counts once and is learned from or held out as a whole.
        limit: greatest number of texts of a split to look at, a random sample that
            takes evenly from the classes while they last.
        rate: the promised rate of false finds, above 0 and at most .99.
        min_count: least number of occurrences of the tokens that a model is trained
            on, as in `Corpus.from_texts`; evidence are all tokens in two texts or more.
        tokenize: as in `Corpus.from_texts`: a function that splits a text.
        seed: of the sample, of what is held out and of the models, at least 0.

    Errors are those of `load_corpus`, and a ValueError of a rate out of range, of names
    of groups that are not one a row, of fewer than ten distinct texts, or of a Corpus
    without texts.
    """
    check_number("rate", rate, above=0, most=0.99)
    check_number("min_count", min_count, 1, integer=True, optional=True)
    check_number("seed", seed, 0, integer=True)
    log.info("reading")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        parts = read_parts(
            source,
            text=text,
            label=label,
            groups=groups,
            limit=limit,
            seed=seed,
            tokenize=tokenize,
        )
    n = len(parts.train.rows) + len(parts.test.rows)
    if n < FEWEST:
        raise too_few(n)
    _check_classes(parts)
    said = list(dict.fromkeys(str(warning.message) for warning in caught))
    return _examined(parts, said, rate, min_count, seed)


def _check_classes(parts: Parts) -> None:
    """Raise a ValueError if the texts to learn from are of one class."""
    train = parts.train.corpus
    numbers = train.targets.unique().tolist()
    if len(numbers) == 1:
        name = str(train.classes[numbers[0]])
        raise ValueError(
            f"labels: all texts to learn from are {name!r}, since texts of another "
            "class are near copies of one another, or one group, and so held out "
            "together; give more of them"
        )


def _examined(
    parts: Parts, said: list[str], rate: float, min_count: int | None, seed: int
) -> Report:
    """Look at texts, train on some of them and report on them."""
    train, test = parts.train.corpus, parts.test.corpus
    too_many = too_many_classes(train)
    size = 0 if too_many else _size(parts, min_count)
    labels = train.targets.numpy()
    learned = some_to_learn(train.counts, labels, seed)
    n_learned = 0 if too_many else len(learned)
    # The two ask nothing of one another, and each leaves a core idle at times.
    tasks = [partial(evidence_of, parts, rate)]
    if not too_many:
        tasks.append(partial(suspects, joined(parts), seed))
    tables, *doubted = side_by_side(lambda task: task(), tasks)
    found = Report(
        name=train.name,
        facts=data_facts(parts, said, len(tables["tokens"]), size, n_learned),
        **tables,
        train=train,
        test=test,
        rate=rate,
        grouped=parts.grouped,
    )
    if too_many:
        return found
    log.info("training on %s texts", f"{len(train):,}")
    (doubtful,) = doubted
    doubtful["row"] = parts.names[doubtful["row"]].array
    found = replace(found, suspects=doubtful)
    return replace(found, **_judged(found, parts.train, learned, size, seed))


def evidence_of(parts: Parts, rate: float) -> dict[str, Any]:
    """Return the tables of what the label hangs on, and examples of what is found."""
    log.info("looking at tokens, pairs, beginnings and ends")
    one, other = parts.train.firsts(), parts.test.firsts()
    order = parts.order.at(one.rows)
    again = parts.order.at(other.rows)
    seen = neighbours(one.corpus, order)
    held_out = neighbours(other.corpus, again, seen.ids)
    tables = {
        "tokens": token_table(parts.train, parts.test),
        "pairs": pair_table(one, other, seen, held_out),
        "form": form_table(one, other, order, again),
        "measures": measure_table(one),
    }
    tokens, pairs = tables["tokens"], tables["pairs"]
    found_tokens = tokens[tokens["q"] <= rate]
    found_pairs = pairs[pairs["q"] <= rate]
    places = _token_examples(parts.train.corpus, found_tokens)
    places |= _pair_examples(one.corpus, found_pairs, seen)
    return tables | {"signs": signs(tables, rate), "examples": places}


def _size(parts: Parts, min_count: int | None) -> int:
    """Return how many of the tokens, which are sorted, a model is trained on.

    A ValueError tells of none, or of none in the texts that are held out.
    """
    train, test = parts.train.corpus, parts.test.corpus
    times = train.counts.sum(axis=0)
    least = min_count
    if least is None:
        least = suitable_min_count(times)
    elif times.max() < least:
        raise ValueError(
            f"min_count: no token occurs {least} times in the texts to learn from; the "
            f"most frequent one occurs {times.max():.0f} times, so use a smaller one"
        )
    size = max(int((times >= least).sum()), 1)
    if not test.counts[:, :size].nnz:
        raise ValueError(
            "source: no held-out text holds one of the tokens that a model is trained "
            f"on, {size:,} in number; give more texts, or a smaller min_count= if it "
            "is yours"
        )
    return size


def _judged(
    found: Report, sample: Sample, learned: np.ndarray, size: int, seed: int
) -> dict[str, Any]:
    """Return what is to be said of a model of some texts in their first tokens."""
    # Copies are left out by now: without texts they are not looked for again.
    train = replace(found.train[learned], texts=None)
    test = replace(found.test, texts=None)
    seen, _ = first_tokens(train, size)
    held, _ = first_tokens(test, size)
    steps = best_steps(seen, seed)
    model = trained(seen, steps, seed)
    shared = shared_tokens(train.counts)
    regression = baseline(train, test, tokens=shared)
    tokens = with_attention(found.tokens, model.scores()[:, 0])
    shuffle = partial(shuffled, seen, steps)
    by_luck = list(side_by_side(shuffle, range(seed + 1, seed + 1 + SHUFFLES)))
    tables = {name: getattr(found, name) for name in ("pairs", "form", "measures")}
    first = by_surplus(tokens, sample.at(learned), found.rate)
    return {
        "model": model,
        "steps": steps,
        "tokens": tokens,
        "signs": signs({"tokens": first} | tables, found.rate),
        "masked": masked_table(seen, test, model, steps, tokens),
        "accuracy": accuracies(found.train, test, model, regression.logits),
        "misread": most_misread(found.test, model),
        "diagnosis": diagnose(held, model.embeddings, model.cls, model.output),
        "figure": attention_figure(seen, tokens, found.rate, by_luck),
    }


def _token_examples(train: Corpus, finds: pd.DataFrame) -> dict[str, list[Example]]:
    """Return places of the tokens on the page."""
    return {
        row["token"]: examples(
            train, train.counts[:, [row["id"]]], [row["id"]], row["class number"]
        )
        for row in shown(finds).to_dict("records")
    }


def _pair_examples(
    train: Corpus, finds: pd.DataFrame, seen: Pairs
) -> dict[str, list[Example]]:
    """Return places of the pairs on the page."""
    return {
        row["token"]: examples(
            train,
            seen.holds[:, [row["id"]]],
            [row["left"], row["right"]],
            row["class number"],
        )
        for row in shown(finds).to_dict("records")
    }
