"""One call from a file of labelled texts to what their label hangs on."""

from __future__ import annotations

import os
import warnings
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attnsel.checks import check_number
from attnsel.corpus import Corpus
from attnsel.evidence import beyond_luck
from attnsel.reporting.diagnosis import diagnose
from attnsel.reporting.evidence import pair_table, token_table
from attnsel.reporting.facts import Fact, data_facts, too_many_classes
from attnsel.reporting.figures import attention_figure
from attnsel.reporting.findings import Findings
from attnsel.reporting.leaks import Example, examples
from attnsel.reporting.page import render, shown
from attnsel.reporting.pairs import Pairs, neighbours
from attnsel.reporting.quality import (
    accuracies,
    best_steps,
    masked_table,
    most_misread,
    shuffled,
    trained,
)
from attnsel.reporting.splits import train_and_test
from attnsel.scale.threads import side_by_side

SHUFFLES = 2  # models that see shuffled labels


class Report(Findings):
    """What `report` found, with the attributes of `Findings`; it shows itself."""

    def html(self) -> str:
        """Return the page: one file, no network."""
        return render(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page and return its path; an OSError if it cannot be written."""
        file = Path(path).expanduser()
        file.write_text(self.html(), encoding="utf-8")
        return file

    def _repr_html_(self) -> str:
        page = escape(self.html(), quote=True)
        style = "width:100%;height:44em;border:1px solid #8886;border-radius:.3em"
        title = escape(f"What the label of {self.name} hangs on", quote=True)
        return f'<iframe title="{title}" style="{style}" srcdoc="{page}"></iframe>'

    def __repr__(self) -> str:
        read = self.accuracy.get("attention")
        finds = f"{len(self.found(self.tokens)):,} of {len(self.tokens):,} tokens"
        return (
            f"Report({self.name!r}: {len(self.train):,} texts to learn from, "
            f"{len(self.test):,} held out; {finds} beyond luck; accuracy {read})"
        )


def report(
    source: Any,
    *,
    text: str = "text",
    label: str = "label",
    limit: int | None = None,
    rate: float = 0.05,
) -> Report:
    """Say what the label of texts hangs on, how much is luck, and how good a model is.

    Args:
        source: as in `load_corpus`: one of our names, a file, a folder, a table or the
            Hub's name of a data set. Where it has no test split a fifth is held out.
        text: name of the column of texts.
        label: name of the column of labels.
        limit: greatest number of texts of a split to look at, a random sample that
            takes evenly from the classes while they last.
        rate: the promised rate of false finds, in (0, 1).

    Errors are those of `load_corpus`, and a ValueError of a rate out of range.
    """
    check_number("rate", rate, 0, 1)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        train, test = train_and_test(source, text=text, label=label, limit=limit)
    messages = dict.fromkeys(str(warning.message) for warning in told)
    said = [message for message in messages if "left out" not in message]
    facts = data_facts(train, test, said)
    if too_many_classes(train):
        return _without_model(train, test, facts, rate)
    return _examined(train, test, facts, rate)


def _without_model(
    train: Corpus, test: Corpus, facts: list[Fact], rate: float
) -> Report:
    """Return the report of texts of which nothing can be learned."""
    none = pd.DataFrame({"q": np.empty(0)})
    return Report(
        name=train.name,
        facts=facts,
        tokens=none,
        pairs=none,
        masked=pd.DataFrame(),
        accuracy={},
        misread=[],
        diagnosis=None,
        figure="",
        examples={},
        train=train,
        test=test,
        model=None,
        steps=0,
        rate=rate,
    )


def _examined(train: Corpus, test: Corpus, facts: list[Fact], rate: float) -> Report:
    """Train on some texts and report on them."""
    steps = best_steps(train)
    model = trained(train, steps)
    scores = model.scores().detach()
    tokens = token_table(train, test, scores)
    places = _token_examples(train, tokens[tokens["q"] <= rate])
    pairs = pd.DataFrame({"q": np.empty(0)})
    if train.texts is not None and test.texts is not None:
        seen = neighbours(train)
        pairs = pair_table(train, test, seen, neighbours(test, seen.ids), rate)
        places |= _pair_examples(train, pairs[pairs["q"] <= rate], seen)
    shuffle = partial(shuffled, train, steps)
    by_luck = list(side_by_side(shuffle, range(1, SHUFFLES + 1)))
    found = beyond_luck(train, rate=rate)
    return Report(
        name=train.name,
        facts=facts,
        tokens=tokens,
        pairs=pairs,
        masked=masked_table(train, test, model, steps, tokens),
        accuracy=accuracies(train, test, model),
        misread=most_misread(test, model),
        diagnosis=diagnose(test, model.embeddings, model.cls, model.output),
        figure=attention_figure(train, scores[:, 0], found, by_luck),
        examples=places,
        train=train,
        test=test,
        model=model,
        steps=steps,
        rate=rate,
    )


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
