"""What a report holds."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel_report.data_notes import Fact
from attnsel_report.diagnosis import Diagnosis
from attnsel_report.examples import Example
from attnsel_report.quality import Misread, Share


@dataclass(frozen=True, eq=False)
class Findings:
    """What was found in labelled texts, and in a model of them.

    Attributes:
        name: of the data.
        facts: what is to be known of the data, lines with a meaning.
        tokens: data frame, a row a token, those with the most evidence first; its
            columns are explained on the page.
        pairs: the same of pairs of neighbours in five texts or more.
        signs: the finds among tokens, pairs, form and measures in one list, in the
            order in which to look at them.
        form: the same of what a text looks like, of how it begins and ends.
        measures: data frame of how long texts are, and what letters they are made of.
        examples: of tokens and pairs on the page, places in texts of their class.
        train: the distinct texts to learn from, with all of their tokens.
        test: those held out.
        rate: of false finds.
        grouped: what names the groups that count once, or None.
        model: the classifier, of the most frequent tokens; None if nothing could be
            learned, and what follows is empty.
        steps: of gradient descent that it was trained for.
        suspects: data frame of all texts whose labels look wrong, the surest first.
        masked: data frame of what accuracy loses without one token.
        accuracy: by classifier, held-out shares with their interval.
        misread: held-out texts that the model gets most wrong.
        diagnosis: of the model, on held-out texts.
        figure: attention beside evidence, an SVG.
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
    suspects: pd.DataFrame = field(default_factory=pd.DataFrame)
    masked: pd.DataFrame = field(default_factory=pd.DataFrame)
    accuracy: dict[str, Share] = field(default_factory=dict)
    misread: list[Misread] = field(default_factory=list)
    diagnosis: Diagnosis | None = None
    figure: str = ""

    def found(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of `tokens` or `pairs` that are beyond luck."""
        return table[table["q"] <= self.rate]
