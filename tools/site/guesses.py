"""The book's guesses as code cells for Colab, where they work without a kernel."""

import html
import json
import re
from hashlib import sha256
from pathlib import Path

import nbformat

SCRIPT = Path(__file__).resolve().parents[2] / "book" / "_static" / "guess.js"
BOX = re.compile(
    r"^(:{3,})\{admonition\}[^\n]*\n:class: (guess [^\n]*)\n(.*?)\n\1$",
    re.MULTILINE | re.DOTALL,
)
OPTION = re.compile(r"^\d+\. (.+(?:\n(?!\d+\. ).+)*)", re.MULTILINE)


def guess_cells(source: str, chapter: str) -> list[nbformat.NotebookNode]:
    """Return one code cell for each guess in a text cell.

    Args:
        source: MyST of the text cell; each guess is an admonition with a class such as
            "guess answer-2" and contains a numbered list of options.
        chapter: name under which the browser stores the guesses, such as "model".
    """
    return [
        _cell(f"{chapter}: {' '.join(text.split())[:40]}", classes, text)
        for _, classes, text in BOX.findall(source)
    ]


def _cell(name: str, classes: str, text: str) -> nbformat.NotebookNode:
    """Return the cell of one question, with its output stored."""
    items = "".join(f"<li>{_page(option)}</li>" for option in OPTION.findall(text))
    page = (
        f'<div class="{classes}"><p><b>Your guess</b></p><ol>{items}</ol></div>'
        f"<script>(() => {{\n{SCRIPT.read_text(encoding='utf-8')}"
        "askGuess(document.currentScript.previousElementSibling, "
        f"{json.dumps(name)}, null);\n}})()</script>"
    )
    source = (
        '#@title Your guess {display-mode: "form"}\n'
        f'from IPython.display import HTML\n\nHTML(r"""{page}""")'
    )
    output = nbformat.v4.new_output("display_data", {"text/html": page})
    key = f"guess-{sha256(name.encode()).hexdigest()[:8]}"
    hidden = {"cellView": "form", "jupyter": {"source_hidden": True}}
    return nbformat.v4.new_code_cell(source, outputs=[output], id=key, metadata=hidden)


def _page(option: str) -> str:
    """Return the HTML of an option, whose only markup is italics."""
    return re.sub(r"\*(.+?)\*", r"<i>\1</i>", html.escape(" ".join(option.split())))
