import contextlib
import io
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "book/what_next.md"
BLOCK = re.compile(r"```\{code-block\} (python|none)\n(.*?)```", re.DOTALL)


def test_blocks_of_the_page_print_what_stands_below_them() -> None:
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
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
    assert [kind for kind, _ in blocks].count("none") == 5
