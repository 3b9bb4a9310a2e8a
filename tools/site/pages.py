"""Descriptions of pages, a list of all pages, and the removal of needless elements."""

import gc
import html
import re
from pathlib import Path
from typing import Any

from docutils import nodes

# Names, punctuation and spaces of code, which have the colour of the text around them.
PLAIN = re.compile(r'<span class="(n|nn|p|w)">([^<]*)</span>')
# Ids that all proofs and exercises of a page share, and empty headings of tables.
SAME = re.compile(r' id="(?:proof|(?:proof|exercise|solution)-content)"')
EMPTY = re.compile(r"<th\b[^>]*>\s*(?:<p>\s*</p>\s*)?</th>")


def described(doctree: nodes.document) -> str:
    """Return the first paragraph of a page, or else its title, as plain text."""
    section = next(doctree.findall(nodes.section), doctree)
    whole = [n for n in section.children if isinstance(n, nodes.paragraph)]
    text = (whole or [next(doctree.findall(nodes.title))])[0].astext()
    return " ".join(text.split())


def describe(
    _app: Any, _page: str, _template: str, context: Any, doctree: nodes.document | None
) -> None:
    """Describe a page for search engines; `sphinxext.opengraph` would cut the text."""
    if doctree is None:
        return
    text = described(doctree)
    context["meta"] = {**(context["meta"] or {}), "og:description": text}
    tag = f'<meta name="description" content="{html.escape(text)}" />\n'
    context["metatags"] = context.get("metatags", "") + tag


def simplify(_app: Any, _page: str, _template: str, context: Any, _tree: Any) -> None:
    """Remove needless elements and ids from a page, and add a target for skip links."""
    if "body" in context:
        # The visible text of a fold is its name; skip links lead to the page's text.
        text = context["body"].replace(' aria-label="Toggle hidden content"', "")
        body = EMPTY.sub("<td></td>", SAME.sub("", PLAIN.sub(r"\2", text)))
        context["body"] = f'<span id="text" tabindex="-1"></span>{body}'


def list_pages(app: Any, error: Exception | None) -> None:
    """Write `sitemap.xml`, the list of all pages for search engines."""
    if error or app.builder.format != "html":
        return
    root = app.config.html_baseurl
    pages = [app.builder.get_target_uri(page) for page in sorted(app.env.found_docs)]
    places = "".join(f"<url><loc>{root}{page}</loc></url>\n" for page in pages)
    kind = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    text = (
        f'<?xml version="1.0" encoding="utf-8"?>\n<urlset {kind}>\n{places}</urlset>\n'
    )
    Path(app.outdir, "sitemap.xml").write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Register three functions, which describe, simplify and list the pages."""
    # A book is one large tree of nodes: to look for garbage in it takes a sixth of the
    # time, and finds next to nothing.
    gc.set_threshold(200_000, 50, 1000)
    app.connect("html-page-context", describe, priority=400)
    app.connect("html-page-context", simplify)
    app.connect("build-finished", list_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
