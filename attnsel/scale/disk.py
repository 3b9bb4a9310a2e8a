"""Columns of texts that stay on the disk, read block by block by several processes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any


def blocks_on_disk(
    column: Any,
    summarize: Callable[[Sequence[Any]], Mapping[str, Any]],
    size: int,
    num_proc: int,
) -> Any:
    """Return what a function makes of each block of a column, as a dataset of its own.

    Args:
        column: a `datasets.Dataset` of one column.
        summarize: takes the values of a block, returns arrays and lists by name.
        size: values of a block.
        num_proc: processes that share the blocks.

    The result is a `datasets.Dataset` with a row a block: it lies on the disk, as the
    texts do.
    """
    (name,) = column.column_names

    def summarized(batch: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        block = summarize(batch[name])
        return {key: [value] for key, value in block.items()}

    blocks = column.map(
        summarized,
        batched=True,
        batch_size=size,
        writer_batch_size=1,  # blocks held in memory before they are written
        remove_columns=name,
        num_proc=num_proc,
        desc="tokenizing",
    )
    return blocks.with_format("numpy")
