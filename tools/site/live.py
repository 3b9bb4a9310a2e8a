"""The directive `live`, which shows a live figure of another page.

For example, `{live} max_margin fig-max-margin-live` shows a figure of the chapter
`max_margin`. The notebook of the chapter stores the figure, so both pages show the same
figure. A link below the figure leads to the chapter.
"""

import json
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


def output_of(notebook: Path, name: str) -> str:
    """Return the HTML output of the cell whose figure has the given `name`.

    Raises:
        ValueError: if the notebook stores no HTML for a figure with this name.
    """
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        figure = cell["metadata"].get("mystnb", {}).get("figure", {})
        for output in cell.get("outputs", []) if figure.get("name") == name else []:
            if "text/html" in output.get("data", {}):
                return "".join(output["data"]["text/html"])
    raise ValueError(f"{notebook.name} has no live figure {name}; see its metadata")


class Live(SphinxDirective):
    """The directive `live`, with a chapter, a figure's name, and the text of a link."""

    required_arguments = 2
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the figure, and a link to the same figure in its chapter."""
        chapter, name = self.arguments
        path = Path(self.env.srcdir, "book", f"{chapter}.ipynb")
        self.env.note_dependency(str(path))
        words = escape(" ".join(self.content))
        page = (
            f'<div class="cell_output live">{output_of(path, name)}<p class="way">'
            f'<a href="{chapter}.html#{name}">{words}</a></p></div>'
        )
        return [nodes.raw("", page, format="html")]


def setup(app: Any) -> dict[str, bool]:
    """Register the directive `live`."""
    app.add_directive("live", Live)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
