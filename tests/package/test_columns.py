"""Columns on the disk, block by block."""

import datasets
import numpy as np

from attnsel.scale.disk import blocks_on_disk


def test_blocks_have_the_size_asked_for_and_stand_in_order():
    column = datasets.Dataset.from_dict({"text": list("abcdefg")})
    blocks = blocks_on_disk(column, lambda texts: {"texts": np.array(texts)}, 3, 1)
    assert [list(block) for block in blocks["texts"]] == [
        ["a", "b", "c"],
        ["d", "e", "f"],
        ["g"],
    ]
    assert blocks.column_names == ["texts"]
