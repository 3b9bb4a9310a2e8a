"""What a report contains, and how it shows itself."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from attnsel.validation import require

require("report", "jinja2")

import pandas as pd

from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel.scale.files import write_files
from attnsel_report.data_notes import Fact
from attnsel_report.diagnosis import Diagnosis
from attnsel_report.examples import Example
from attnsel_report.page import render
from attnsel_report.paths import free_place
from attnsel_report.quality import Misread, Share
from attnsel_report.tables import COLUMNS


@dataclass(frozen=True, eq=False)
class Report:
    """What `report` found in labelled texts, and in a model of them.

    Attributes:
        name: name of the data set.
        facts: lines on the data, each with what it means.
        tokens: data frame of all tokens in two texts or more, those with the most
            evidence first; `COLUMNS` of `attnsel_report.tables` explain its columns.
        pairs: the same for pairs of neighbours in five texts or more.
        form: the same for beginnings and endings, and for what texts contain.
        measures: data frame of how long texts are, and what letters they are made of.
        signs: significant findings of all tables, each once, the strongest first.
        examples: pieces of training texts of its class, by finding.
        train: distinct training texts, with all of their tokens.
        test: distinct texts that are held out.
        rate: false-discovery rate of the page.
        grouped: what names the groups that count once, or None.
        model: classifier of the most frequent tokens; None if nothing could be
            learned, and what follows is empty.
        steps: number of steps of gradient descent that it was trained for.
        copies: data frame of the rows that copy another one, or nearly.
        suspects: data frame of all texts whose labels look wrong, the surest first.
        masked: data frame of the accuracy that is lost without one token.
        accuracy: shares of held-out texts classified correctly, by classifier.
        misread: held-out texts that the model gets most wrong.
        diagnosis: measures of the model on held-out texts.
        figure: attention over leans, as SVG.
    """

    name: str
    facts: list[Fact]
    tokens: pd.DataFrame
    pairs: pd.DataFrame
    signs: pd.DataFrame
    form: pd.DataFrame
    measures: pd.DataFrame
    examples: dict[str, list[Example]]
    train: Corpus
    test: Corpus
    rate: float
    grouped: str | None
    model: AttentionClassifier | None = None
    steps: int = 0
    copies: pd.DataFrame = field(default_factory=pd.DataFrame)
    suspects: pd.DataFrame = field(default_factory=pd.DataFrame)
    masked: pd.DataFrame = field(default_factory=pd.DataFrame)
    accuracy: dict[str, Share] = field(default_factory=dict)
    misread: list[Misread] = field(default_factory=list)
    diagnosis: Diagnosis | None = None
    figure: str = ""

    def found(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the significant rows of a table."""
        return table[table["q"] <= self.rate]

    def table(self) -> pd.DataFrame:
        """Return all tokens, pairs and features of texts in one data frame."""
        kinds = {"token": self.tokens, "pair": self.pairs, "feature": self.form}
        parts = [part.assign(kind=kind) for kind, part in kinds.items()]
        every = pd.concat(parts, ignore_index=True)
        names = [column.name for column in COLUMNS]
        return every[names].sort_values("q", kind="stable", ignore_index=True)

    def html(self) -> str:
        """Return the page: one file, no network."""
        return render(self)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the page, whole or not at all, and return where it is.

        If the file exists the page is name-2 next to it, or replaces it with `force`.

        Raises:
            OSError: if it cannot be written.
        """
        file = free_place(path, force=force)
        write_files({file: self.html().encode()})
        return file

    def _repr_html_(self) -> str:
        page = escape(self.html(), quote=True)
        style = "width:100%;height:44em;border:1px solid #8886;border-radius:.3em"
        title = escape(f"Which words predict the label in {self.name}", quote=True)
        return f'<iframe title="{title}" style="{style}" srcdoc="{page}"></iframe>'

    def __repr__(self) -> str:
        quality = "no model, because nearly every text has a class of its own"
        if self.accuracy:
            quality = f"accuracy {self.accuracy['attention']}"
        n = len(self.found(self.tokens))
        return (
            f"Report({self.name!r}: {len(self.train):,} training texts, "
            f"{len(self.test):,} held out; {n:,} of {len(self.tokens):,} tokens "
            f"significant; {quality})"
        )
