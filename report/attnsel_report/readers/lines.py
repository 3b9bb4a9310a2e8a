"""Files of lines that are no tables: fastText's labels, CoNLL's tokens, plain text."""

from __future__ import annotations

import re

import pandas as pd

from attnsel.texts.cells import as_list
from attnsel.texts.columns import Columns

LABEL = "__label__"  # before a label, in fastText's files
LOOKED_AT = 200  # lines by which a file is known
_TAGGED = re.compile(r"\S+(?:[ \t]+\S+)*[ \t]+(?:O|[BIES]-\S+)\s*$")


def read_lines(text: str, wanted: Columns) -> pd.DataFrame | None:
    """Read the lines of fastText, a label and a text each; None of another file.

    Raises:
        ValueError: if it is a file of tokens with a tag each, if a text has several
            labels, or if there are none.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    first = lines[:LOOKED_AT]
    if first and first[0].startswith(LABEL):
        return _of_fasttext(lines, wanted)
    tagged = sum(_TAGGED.match(line) is not None for line in first)
    blank = len(lines) < len(text.rstrip("\n").split("\n"))
    if blank and tagged > 0.9 * len(first):
        raise ValueError(
            "it holds a token and its tag a line, as CoNLL does: the labels are of "
            "tokens, not of texts; join the tokens of a sentence and give it one label"
        )
    return None


def _of_fasttext(lines: list[str], wanted: Columns) -> pd.DataFrame:
    rows = []
    for number, line in enumerate(lines, 1):
        label, text, *_ = [*line.split(maxsplit=1), ""]
        if text.lstrip().startswith(LABEL):
            raise ValueError(
                f"line {number} has several labels, {line[:60]!r}; "
                "expected one per text"
            )
        rows.append((text.strip(), label.removeprefix(LABEL)))
    name, *_ = as_list(wanted.text)
    return pd.DataFrame(rows, columns=[name, wanted.label])
