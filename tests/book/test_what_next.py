import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "book/what_next.md"
BLOCK = re.compile(r"```\{code-block\} (python|none)\n(.*?)```", re.DOTALL)


# At each push the first of three seeds runs, without the last block, which is long.
@pytest.mark.parametrize("seeds", [1, pytest.param(3, marks=pytest.mark.weekly)])
def test_blocks_of_the_page_print_what_stands_below_them(seeds: int) -> None:
    page = PAGE.read_text(encoding="utf-8").replace("range(3)", f"range({seeds})")
    page = page.replace("3 of 3 runs", f"{seeds} of 3 runs")
    blocks = BLOCK.findall(page)
    assert [kind for kind, _ in blocks].count("none") == 5
    if seeds == 1:
        blocks = blocks[:-2]
    names: dict[str, Any] = {}
    printed = ""
    for kind, text in blocks:
        if kind == "none":
            assert printed == text
            printed = ""
        else:
            assert not printed
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(text, names)
            printed = output.getvalue()
    assert not printed
