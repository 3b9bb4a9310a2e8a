"""The claims of each cell, folded into one line, and the page that lists all claims.

The list is made from the outputs of the notebooks. Other pages refer to a claim by its
statement.
"""

import contextlib
import functools
import html
import re
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from tools.site.contents import chapters

CLAIMS = "book/claims"
FILTER = """```{{raw}} html
<form class="claims-filter pst-js-only">
<label>Words <input type="search" name="words"></label>
<label>Chapter <select name="chapter">
<option value="">all</option>{chapters}
</select></label>
<label>Said by <select name="by">
<option value="">the paper or this book</option>
<option>the paper</option><option>this book</option>
</select></label>
<output>{total} of {total} claims</output>
</form>
```"""  # hidden in browsers that do not run `claims.js`
CLAIM = (
    r'<div class="output text_html"><div class="attnsel-claim".*?</span></div>\s*</div>'
)
TOGETHER = re.compile(rf"(?:{CLAIM}\s*)+", re.DOTALL)


def fold_claims(body: str) -> str:
    """Return a page on which the claims of each cell are folded into one line."""

    def fold(m: re.Match[str]) -> str:
        count = m[0].count('class="attnsel-claim"')
        words = "1 claim holds" if count == 1 else f"{count} claims hold"
        return f'<details class="claims"><summary>✓ {words}</summary>{m[0]}</details>'

    return TOGETHER.sub(fold, body)


def fold_all(_app: Any, _page: str, _template: str, context: Any, _tree: Any) -> None:
    """Fold the claims of each cell of a page."""
    if "body" in context:
        context["body"] = fold_claims(context["body"])


@functools.cache  # a page calls it once per claim that it mentions
def claims(path: Path) -> list[dict[str, str]]:
    """Return the claims in the outputs of a notebook."""
    notebook = nbformat.read(path, as_version=4)
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    return [o.metadata["claim"] for o in outputs if "claim" in o.get("metadata", {})]


def stated(page: str, claim: dict[str, str]) -> str:
    """Return a link to a claim of a page, followed by the measured value."""
    link = f'<a class="claim" href="{page}.html#{claim["id"]}">'
    words, measured = html.escape(claim["statement"]), html.escape(claim["measured"])
    return f'{link}{words}</a>: <span class="whole">{measured}</span>'


def number(page: str, claim: dict[str, str]) -> str:
    """Return the measured value of a claim, to three digits, as a link to the claim."""
    measured = claim["measured"]
    with contextlib.suppress(ValueError):  # not a number
        measured = re.sub("^-", "−", f"{float(measured):.3g}")
    words = html.escape(claim["statement"])
    link = f'<a class="claim" href="{page}.html#{claim["id"]}" title="{words}">'
    return f"{link}{html.escape(measured)}</a>"


class ClaimRole(SphinxRole):
    """The role for measured values, as in {claim}`model: Best test accuracy`."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the measured value as a link; warn if the claim does not exist."""
        page, _, statement = self.text.partition(": ")
        path = Path(self.env.srcdir, "book", f"{page}.ipynb")
        self.env.note_dependency(str(path))
        stored = claims(path) if path.is_file() else []
        found = [claim for claim in stored if claim["statement"] == statement]
        if not found:
            message = f"no claim {statement!r} in {path.name}"
            logging.getLogger(__name__).warning(message, location=self.get_location())
            return [nodes.inline(statement, statement)], []
        return [nodes.raw("", number(page, found[0]), format="html")], []


def list_claims(app: Any, page: str, source: list[str]) -> None:
    """Replace the word CLAIMS on the page of claims by the claims of all chapters."""
    if page != CLAIMS:
        return
    parts, total, paper, options = [], 0, 0, ""
    for path in chapters(Path(app.srcdir)):
        app.env.note_dependency(str(path))
        found = claims(path)
        total += len(found)
        paper += sum(claim["by"] == "the paper" for claim in found)
        lines = [
            f'<li data-by="{claim["by"]}">{stated(path.stem, claim)}, '
            f'<span class="whole">'
            f"{html.escape(claim['bound'])}</span> ({claim['by']})</li>"
            for claim in found
        ]
        if found:
            # The table of contents repeats the words of this link, not the title.
            first = nbformat.read(path, as_version=4).cells[0].source
            title = first.partition("\n# ")[2].partition("\n")[0]
            head = f"## {{doc}}`{title} <{path.stem}>`"
            options += f'<option value="{path.stem}">{html.escape(title)}</option>'
            start = f'<ul class="claims" data-chapter="{path.stem}">'
            body = "\n".join([start, *lines, "</ul>"])
            parts.append(f"{head}\n\n```{{raw}} html\n{body}\n```")
    count = f"{total} claims, {paper} of them the paper's."
    form = FILTER.format(chapters=options, total=total)
    source[0] = source[0].replace("CLAIMS", "\n\n".join([form, count, *parts]))


def load_filter(app: Any, page: str, *_: Any) -> None:
    """Add the script of the filter to the page of all claims."""
    if page == CLAIMS:
        app.add_js_file("claims.js", loading_method="defer")


def setup(app: Any) -> dict[str, bool]:
    """Register the role `claim`, and the functions that fold and list claims."""
    app.add_role("claim", ClaimRole())
    app.connect("html-page-context", fold_all)
    app.connect("html-page-context", load_filter)
    app.connect("source-read", list_claims)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
