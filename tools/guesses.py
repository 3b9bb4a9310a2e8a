"""Guesses in the copies for Colab: a cell that a reader clicks, without a kernel."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import nbformat

SCRIPT = Path(__file__).resolve().parent.parent / "book" / "_static" / "guess.js"
OPTION = re.compile(r"^\d+\. (.+(?:\n(?!\d+\. ).+)*)", re.MULTILINE)
ANSWER = re.compile(r"\banswer-(\d+)")


def guess_cell(name: str, classes: str, text: str) -> nbformat.NotebookNode | None:
    """Return a cell that asks for a guess, None where there are no options.

    Args:
        name: what the browser remembers the guess by, such as "model-0".
        classes: those of the admonition, such as "guess answer-2".
        text: its Markdown, with a numbered list of options.
    """
    answer, options = ANSWER.search(classes), OPTION.findall(text)
    if not answer or not options:
        return None
    items = "".join(f"<li>{_page(option)}</li>" for option in options)
    page = (
        f'<div class="guess {answer[0]}"><p><b>Your guess</b></p><ol>{items}</ol></div>'
        f"<script>(() => {{\n{SCRIPT.read_text(encoding='utf-8')}"
        "askGuess(document.currentScript.previousElementSibling, "
        f"{json.dumps(name)}, null);\n}})()</script>"
    )
    source = (
        '#@title Your guess {display-mode: "form"}\n'
        f'from IPython.display import HTML\n\nHTML(r"""{page}""")'
    )
    output = nbformat.v4.new_output("display_data", {"text/html": page})
    return nbformat.v4.new_code_cell(source, outputs=[output])


def _page(option: str) -> str:
    """Return the HTML of an option: words in italics are all that options have."""
    return re.sub(r"\*(.+?)\*", r"<i>\1</i>", html.escape(" ".join(option.split())))
