"""What is told of rows that cannot be used."""

from __future__ import annotations

import pytest

from attnsel.corpus import Corpus
from attnsel.tokens import Vocab


def test_rows_left_out_are_named_up_to_five():
    rows = ["?"] * 5 + ["a"] * 1000
    with pytest.warns(UserWarning, match=r"^5 of 1,005 rows .* token \(rows .*, 4\)$"):
        Corpus.from_texts(rows, vocab=Vocab(["a"]))
    with pytest.warns(UserWarning, match=r"^6 of 1,006 rows .* 3, 4, \.\.\.\)$"):
        Corpus.from_texts(["?", *rows], vocab=Vocab(["a"]))
