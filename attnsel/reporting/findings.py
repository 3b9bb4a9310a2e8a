"""What a report holds."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel.reporting.diagnosis import Diagnosis
from attnsel.reporting.facts import Fact
from attnsel.reporting.leaks import Example
from attnsel.reporting.quality import Misread, Share


@dataclass(frozen=True, eq=False)
class Findings:
    """What was found in labelled texts, and in a model of them.

    Attributes:
        name: of the data.
        facts: what is to be known of the data, lines with a meaning.
        tokens: data frame, a row a token, those with the most evidence first; its
            columns are explained on the page.
        pairs: the same of neighbouring tokens; empty without texts.
        masked: data frame of accuracies without one token.
        accuracy: by classifier, held-out shares with their interval.
        misread: held-out texts that the model gets most wrong.
        diagnosis: of the model, on held-out texts; None without a model.
        figure: attention beside evidence, an SVG.
        examples: of tokens and pairs on the page, places in texts of their class.
        train: the texts to learn from.
        test: the texts held out.
        model: the classifier, None if nothing could be learned.
        steps: of gradient descent that it was trained for.
        rate: of false finds.
    """

    name: str
    facts: list[Fact]
    tokens: pd.DataFrame
    pairs: pd.DataFrame
    masked: pd.DataFrame
    accuracy: dict[str, Share]
    misread: list[Misread]
    diagnosis: Diagnosis | None
    figure: str
    examples: dict[str, list[Example]]
    train: Corpus
    test: Corpus
    model: AttentionClassifier | None
    steps: int
    rate: float

    def found(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of `tokens` or `pairs` that are beyond luck."""
        return table[table["q"] <= self.rate]
