"""Files of lines that are no tables: fastText's labels and texts."""

import pandas as pd

from attnsel.texts.cells import as_list
from attnsel.texts.columns import Columns

LABEL = "__label__"  # before a label, in fastText's files


def read_lines(text: str, wanted: Columns) -> pd.DataFrame | None:
    """Read the lines of fastText, a label and a text each; None of another file.

    Raises:
        ValueError: if a text has several labels.
    """
    if not text.lstrip().startswith(LABEL):
        return None
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        label, words, *_ = [*line.split(maxsplit=1), ""]
        if words.lstrip().startswith(LABEL):
            raise ValueError(
                f"line {number} has several labels, {line[:60]!r}; expected one "
                "per text"
            )
        rows.append((words.strip(), label.removeprefix(LABEL)))
    name, *_ = as_list(wanted.text)
    return pd.DataFrame(rows, columns=[name, wanted.label])
