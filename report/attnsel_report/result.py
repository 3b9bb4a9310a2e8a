"""The class `Report`, which contains results and writes them as an HTML page."""

import os
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from attnsel.validation import require

require("report", "jinja2")

import pandas as pd

from attnsel.corpus import Corpus
from attnsel.files import write_files
from attnsel.model import AttentionClassifier
from attnsel_report.data_notes import Fact
from attnsel_report.diagnosis import Diagnosis
from attnsel_report.examples import Example
from attnsel_report.page import render
from attnsel_report.paths import free_place
from attnsel_report.quality import Misread, Share
from attnsel_report.tables import COLUMNS


@dataclass(frozen=True, eq=False)
class Report:
    """The results of `attnsel.report`, for labelled texts and a model of these texts.

    Attributes:
        name: name of the data set.
        facts: facts about the data, each with its meaning.
        tokens: data frame of all tokens in at least two texts, the strongest evidence
            first; `COLUMNS` of `attnsel_report.tables` explains the main columns.
        pairs: such a table of pairs of neighbouring tokens in at least five texts.
        form: such a table of beginnings, endings and kinds of content.
        measures: data frame that compares lengths and characters of texts by class.
        signs: distinct significant findings of all tables, sorted by `top_findings`.
        examples: dictionary from the name of each of the first findings to pieces of
            texts of its class.
        rows: data frame of the training texts with one of the first findings, except
            measures; of each group, only the first text is included.
        train: distinct training texts, with all of their tokens.
        test: distinct held-out texts.
        rate: false-discovery rate over all results.
        grouped: name of the groups, such as the name of their column, or None.
        model: attention classifier on the most frequent tokens. If there are too many
            classes, it is None, and no attribute below except `copies` is set.
        steps: number of training steps of the model.
        copies: data frame of the rows that are copies or near copies of another row.
        suspects: data frame of the texts whose labels look wrong, the most suspicious
            first.
        masked: data frame of the accuracy that is lost when a token is masked.
        accuracy: share of held-out texts that each classifier classifies correctly.
        misread: misclassified held-out texts whose labels have the lowest probability.
        diagnosis: results of `diagnose` for the model on held-out texts.
        figure: plot of attention against lean, as SVG.
    """

    name: str
    facts: list[Fact]
    tokens: pd.DataFrame
    pairs: pd.DataFrame
    signs: pd.DataFrame
    form: pd.DataFrame
    measures: pd.DataFrame
    examples: dict[str, list[Example]]
    rows: pd.DataFrame
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
        """Return all tokens, pairs and features of texts in one frame, sorted by q."""
        kinds = {"token": self.tokens, "pair": self.pairs, "feature": self.form}
        parts = [part.assign(kind=kind) for kind, part in kinds.items()]
        every = pd.concat(parts, ignore_index=True)
        names = [column.name for column in COLUMNS]
        return every[names].sort_values("q", kind="stable", ignore_index=True)

    def html(self) -> str:
        """Return the report as an HTML page that needs no other file and no network."""
        return render(self)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the report to an HTML file atomically, and return the path of the file.

        If the file exists, the report is written to a new file, such as name-2, in the
        same folder. With `force`, the report replaces the existing file.

        Raises:
            OSError: if the file cannot be written.
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
