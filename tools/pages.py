"""What the pages need beyond Sphinx and its extensions: an extension of our own.

- A result is called by its title: the box says "Lemma 4.1" and no number of ours, and
  so do the mentions of it and the search.
- A cell's table that has a caption is a numbered table.
- The panels of a figure stand below each other on a phone.
- The claims that stand together are one line, which opens.
- The question and its figure come first, and what a run needs is folded.
- A chapter knows the exercises of all chapters, to count those that are solved.
- An exercise leads to itself in Colab, and a formula that it mentions to the exercise.
- A page is described by its first paragraph.
- The page of all claims is written from the outputs of the notebooks, and other pages
  link to a claim by its words.
"""

import functools
import gc
import html
import json
import re
from pathlib import Path
from typing import Any

import nbformat
import yaml
from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole
from sphinx_exercise.nodes import is_exercise_enumerable_node, is_exercise_node
from sphinx_proof.domain import ProofDomain
from sphinx_proof.nodes import NODE_TYPES, unenumerable_node

from tools.colab import ADDRESS, CALLED
from tools.panels import panels

IMAGE = re.compile(r'<img [^>]*?src="[^"]*_images/([^"/]+\.svg)"[^>]*>')
# Names, punctuation and spaces of code: they have the colour of what is around them.
PLAIN = re.compile(r'<span class="(n|nn|p|w)">([^<]*)</span>')
COST = re.compile(r"this chapter takes about \d+ s on")
RUN = "How to run it"
OPEN = '<details class="run"><summary>Settings, and how to run it</summary>'
FIRST = "first-figure"  # the cell whose figure stands before the code of its page
SETTINGS = "# settings"  # how the cell of the numbers to change begins
CLAIMS = "book/claims"
CHECKED = re.compile(r'= check\(\s*"([\w-]+)"')
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
```"""  # hidden where no script runs, which is `claims.js`
COPIES = f"https://colab.research.google.com/github/{ADDRESS}/blob/colab/book"
CLAIM = (
    r'<div class="output text_html"><div class="attnsel-claim".*?</span></div>\s*</div>'
)
TOGETHER = re.compile(rf"(?:{CLAIM}\s*)+", re.DOTALL)
BOXES = (*NODE_TYPES.values(), unenumerable_node)


class Results(SphinxTransform):
    """Boxes of results under their own names, without numbers."""

    default_priority = 600  # labels are collected at 850

    def apply(self, **_: Any) -> None:
        """Replace the boxes of a page."""
        for node in list(self.document.findall(lambda n: isinstance(n, BOXES))):
            title, label, kind = node[0], node["label"], node["realtype"].title()
            # Without the citation, "The classifier of [5], in our words" ends early.
            text = "".join(
                n.astext() for n in title if not isinstance(n, addnodes.pending_xref)
            )
            found = CALLED.match(title.astext())
            name = found[1] if found else re.sub(r" of(, .*)?$", "", text) or kind
            if not found:
                kind += ". " if title.astext() else ""
                title.insert(0, nodes.inline("", kind, classes=["kind"]))
            entry = ("single", name, node["ids"][0], "main", None)
            box = nodes.admonition("", *node.children, ids=node["ids"])
            box["classes"] = node["classes"]
            title["ids"] = []
            node.replace_self([addnodes.index(entries=[entry]), box])
            boxes: dict[str, dict[str, Any]] = self.env.proof_list  # type: ignore[attr-defined]
            boxes[label] |= {"nonumber": True, "name": name}


class Domain(ProofDomain):
    """Mentions of results by their names."""

    def resolve_xref(self, *args: Any) -> Any:
        """Put the name in place of a bare label."""
        *others, target, node, content = args
        if target in content.astext() and target in self.env.proof_list:
            content = nodes.inline("", self.env.proof_list[target]["name"])
        return super().resolve_xref(*others, target, node, content)


class CellTable(nodes.figure):
    """What a cell shows as a table, with its caption."""


def holds_table(page: str) -> bool:
    """Return whether HTML holds a table; one that a script draws does not count."""
    return "<table" in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)


class Tables(SphinxTransform):
    """Figures that hold a table and no picture are tables."""

    default_priority = 600

    def apply(self, **_: Any) -> None:
        """Replace the tables of a page."""
        for node in list(self.document.findall(nodes.figure)):
            raw = [n for n in node.findall(nodes.raw) if holds_table(n.astext())]
            picture = next(node.findall(nodes.image), None)
            if type(node) is not nodes.figure or not raw or picture:
                continue
            captions = [n for n in node.children if isinstance(n, nodes.caption)]
            rest = [n for n in node.children if n not in captions]
            table = CellTable("", *captions, *rest, **node.attributes)
            table["classes"] = [*node["classes"], "cell-table"]
            node.replace_self(table)
            for name in table["ids"]:
                self.document.ids[name] = table


class Exercises(SphinxTransform):
    """Exercises that lead to themselves in Colab, and formulas that lead to them."""

    default_priority = 600

    def apply(self, **_: Any) -> None:
        """Add the links of a page that is a notebook."""
        path = Path(self.env.doc2path(self.env.docname))
        if path.suffix != ".ipynb":
            return
        cells = nbformat.read(path, as_version=4).cells
        formulas = {n.get("label"): n for n in self.document.findall(nodes.math_block)}
        for exercise in list(self.document.findall(is_exercise)):
            label = exercise["label"]
            for link in list(exercise.findall(addnodes.pending_xref)):
                formula = formulas.get(link.get("reftarget"))
                if link.get("reftype") == "eq" and formula is not None:
                    add_after(formula, self.mention(label))
            for cell in cells:
                if re.search(rf"^:label: {label}$", cell.source, re.MULTILINE):
                    target = f"{COPIES}/{path.name}#scrollTo={cell.id}"
                    link = nodes.reference("", "Do it in Colab", refuri=target)
                    exercise += nodes.paragraph("", "", link, classes=["way"])

    def mention(self, label: str) -> nodes.paragraph:
        """Return a line with a link to an exercise, by its number."""
        text = nodes.inline("", label, classes=["xref", "std", "std-ref"])
        where = {"refdomain": "std", "reftype": "ref", "reftarget": label}
        kind = {"refexplicit": False, "refwarn": True, "refdoc": self.env.docname}
        link = addnodes.pending_xref("", text, **where, **kind)
        return nodes.paragraph("", "", link, classes=["way"])


class Opening(SphinxTransform):
    """The picture and the question before what a run needs.

    A notebook has them in the order in which they run. The guess and *In short* are one
    box. The first figure stands below it, because it often answers the guess; a figure
    of a cell tagged `opening` does not, and stands above it, below the first paragraph.
    """

    default_priority = 600

    def apply(self, **_: Any) -> None:
        """Order the beginning of a page that is a notebook."""
        for node in self.document.findall(nodes.paragraph):
            if COST.search(node.astext()):
                self.order(node)
                return

    def order(self, cost: nodes.paragraph) -> None:
        """Fold what a run needs, and put the first figure in front of it.

        A page that has a section on how to run it tells the cost there.
        """
        page, start = cost.parent, cost.parent.index(cost)
        cells = [n for n in page.findall(nodes.container) if is_cell(n)]
        own = [n for n in cells if n.parent is page]
        needs = [cost, *(n for n in own[:2] if "tag_hide-input" in n["classes"])]
        needs += [n for n in own if n.astext().startswith(SETTINGS)][:1]
        for node in needs:
            page.remove(node)
        sections = [n for n in page.findall(nodes.section) if n[0].astext() == RUN]
        if sections:
            sections[0].insert(1, cost)
            return
        fold = [nodes.raw("", OPEN, format="html"), *needs]
        page.insert(start, [*fold, nodes.raw("", "</details>", format="html")])
        figure = next((n for n in cells if next(n.findall(nodes.figure), None)), None)
        box = question_box(page)
        if box and figure and "tag_remove-input" not in figure["classes"]:
            figure.parent.remove(figure)
            figure["classes"].append(FIRST)
            below = page.index(box) + 1
            if "tag_opening" in figure["classes"]:
                below = page.first_child_matching_class(nodes.paragraph) + 1
            page.insert(below, figure)


def is_cell(node: nodes.Element) -> bool:
    """Return whether a node is a code cell with what it shows."""
    return node.get("nb_element") == "cell_code"


def question_box(page: nodes.Element) -> nodes.container | None:
    """Put the first guess of a page, its answer and *In short* into one box."""
    start = next((i for i, n in enumerate(page) if "guess" in n.get("classes", ())), 0)
    if not start:
        return None
    parts = [page[start]]
    for node in page[start + 1 :]:
        is_short = "in-short" in node.get("classes", ())
        if not is_short and node.get("design_component") != "dropdown":
            break
        parts.append(node)
    box = nodes.container("", classes=["opening"])
    page.insert(start, box)
    for node in parts:
        page.remove(node)
    box += parts
    return box


class ShownFirst(SphinxPostTransform):
    """The first figure before the code that draws it.

    It waits until MyST-NB has folded the code, which it knows as a cell's first part.
    """

    default_priority = 200  # `HideInputCells` of MyST-NB has 199
    formats = ("html",)

    def run(self, **_: Any) -> None:
        """Order the parts of the cell that `Opening` has put first."""
        for cell in self.document.findall(nodes.container):
            if FIRST in cell["classes"]:
                cell.children.sort(
                    key=lambda n: n.get("nb_element") != "cell_code_output"
                )


def is_exercise(node: nodes.Node) -> bool:
    """Return whether a node is an exercise, with a number or without."""
    return is_exercise_node(node) or is_exercise_enumerable_node(node)


def add_after(node: nodes.Element, line: nodes.Element) -> None:
    """Insert a line behind a node."""
    parent = node.parent
    parent.insert(parent.index(node) + 1, line)


def stack(image: str, svg: str) -> str:
    """Return an image with its size, and for narrow pages its panels in a column."""
    width, height, columns = panels(svg)
    # The page has the place of a figure ready before it comes, when it comes into view.
    size = f'width="{width * 4 / 3:.0f}" height="{height * 4 / 3:.0f}" loading="lazy"'
    image = image.replace("<img ", f"<img {size} ", 1)
    if len(columns) == 1:
        return image
    parts = [image.replace("<img ", '<img class="abreast" ', 1)]
    for i, (left, right) in enumerate(columns):
        part = right - left
        style = f"width:{100 * width / part:.2f}%;left:{-100 * left / part:.2f}%"
        again = re.sub(r'alt="[^"]*"', f'alt="Panel {i + 1} of {len(columns)}"', image)
        again = again if i else image
        again = again.replace("<img ", f'<img style="{style}" ', 1)
        ratio = f"{part:.1f}/{height:.1f}"
        parts.append(f'<span class="panel" style="aspect-ratio:{ratio}">{again}</span>')
    return "".join(parts)


def fold_claims(body: str) -> str:
    """Return a page on which the claims of a cell are one line that opens."""

    def fold(m: re.Match[str]) -> str:
        count = m[0].count('class="attnsel-claim"')
        words = "1 claim holds" if count == 1 else f"{count} claims hold"
        return f'<details class="claims"><summary>✓ {words}</summary>{m[0]}</details>'

    return TOGETHER.sub(fold, body)


def stack_all(app: Any, _page: str, _template: str, context: Any, _tree: Any) -> None:
    """Prepare the figures of a page for phones, fold its claims, and spare elements."""
    sources = {name: path for path, name in app.builder.images.items()}

    def replace(m: re.Match[str]) -> str:
        return stack(m[0], Path(app.srcdir, sources[m[1]]).read_text(encoding="utf-8"))

    if "body" in context:
        # A fold is called by what stands on it, and the text is what one skips to.
        text = context["body"].replace(' aria-label="Toggle hidden content"', "")
        context["body"] = f'<span id="text" tabindex="-1"></span>{text}'
        body = PLAIN.sub(r"\2", context["body"])
        context["body"] = fold_claims(IMAGE.sub(replace, body))


def described(doctree: nodes.document) -> str:
    """Return the first paragraph of a page as plain text, else its title."""
    section = next(doctree.findall(nodes.section), doctree)
    whole = [n for n in section.children if isinstance(n, nodes.paragraph)]
    text = (whole or [next(doctree.findall(nodes.title))])[0].astext()
    return " ".join(text.split())


def describe(
    _app: Any, _page: str, _template: str, context: Any, doctree: nodes.document | None
) -> None:
    """Describe a page to those who find it, before `sphinxext.opengraph` cuts it."""
    if doctree is None:
        return
    text = described(doctree)
    context["meta"] = {**(context["meta"] or {}), "og:description": text}
    tag = f'<meta name="description" content="{html.escape(text)}" />\n'
    context["metatags"] = context.get("metatags", "") + tag


def chapters(root: Path) -> list[Path]:
    """Return the notebooks of the book in its order."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    names = [toc["root"]]
    names += [c["file"] for part in toc["parts"] for c in part["chapters"]]
    paths = [root / f"{name}.ipynb" for name in names]
    return [path for path in paths if path.is_file()]


@functools.cache  # a page asks once for each claim that it mentions
def claims(path: Path) -> list[dict[str, str]]:
    """Return the claims that a notebook's outputs hold."""
    notebook = nbformat.read(path, as_version=4)
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    return [o.metadata["claim"] for o in outputs if "claim" in o.get("metadata", {})]


@functools.cache
def exercises(root: Path) -> dict[str, list[str]]:
    """Return by chapter the names of its exercises, in the order of the book."""
    found = {}
    for path in chapters(root):
        notebook = nbformat.read(path, as_version=4)
        code = "\n".join(c.source for c in notebook.cells if c.cell_type == "code")
        found[path.stem] = CHECKED.findall(code)
    return {chapter: names for chapter, names in found.items() if names}


def list_exercises(
    app: Any, page: str, _template: str, context: Any, _tree: Any
) -> None:
    """Give a chapter the list of all exercises, which `reader.js` marks as solved."""
    known = exercises(Path(app.srcdir))
    if page.removeprefix("book/") in known and "body" in context:
        content = json.dumps(known)
        n = sum(map(len, known.values()))
        # In the page from the start, so that nothing moves when the script fills it.
        place = f"<summary>Yours: 0 of {n} exercises</summary>"
        place = f'</h1>\n<details class="yours">{place}</details>'
        context["body"] = context["body"].replace("</h1>", place, 1)
        context["body"] += (
            f'<script type="application/json" id="attnsel-exercises">{content}</script>'
        )


def stated(page: str, claim: dict[str, str]) -> str:
    """Return a link to a claim of a page, and what was measured, on one line."""
    link = f'<a class="claim" href="{page}.html#{claim["id"]}">'
    words, measured = html.escape(claim["statement"]), html.escape(claim["measured"])
    return f'{link}{words}</a>: <span class="whole">{measured}</span>'


class ClaimRole(SphinxRole):
    """A claim of a chapter by its words: {claim}`one_step: Lemma 4.1, slope`."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return a link with what was measured."""
        page, _, statement = self.text.partition(": ")
        path = Path(self.env.srcdir, "book", f"{page}.ipynb")
        self.env.note_dependency(str(path))
        stored = claims(path) if path.is_file() else []
        found = [claim for claim in stored if claim["statement"] == statement]
        if not found:
            message = f"no claim {statement!r} in {path.name}"
            logging.getLogger(__name__).warning(message, location=self.get_location())
            return [nodes.inline(statement, statement)], []
        return [nodes.raw("", stated(page, found[0]), format="html")], []


def list_claims(app: Any, page: str, source: list[str]) -> None:
    """Write the claims of all chapters where their page has the word CLAIMS."""
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
            # The table of contents repeats what is written here, not the page's title.
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
    """Load the script of the filter on the page of all claims."""
    if page == CLAIMS:
        app.add_js_file("claims.js", loading_method="defer")


def list_pages(app: Any, error: Exception | None) -> None:
    """Write the list of all pages for those who search the web."""
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
    """Connect all of it to Sphinx."""
    # A book is one large tree of nodes: to look for garbage in it takes a sixth of the
    # time, and finds next to nothing.
    gc.set_threshold(200_000, 50, 1000)
    app.add_domain(Domain, override=True)
    app.add_transform(Results)
    app.add_enumerable_node(
        CellTable,
        "table",
        html=(
            lambda visitor, node: visitor.visit_figure(node),
            lambda visitor, node: visitor.depart_figure(node),
        ),
    )
    app.add_transform(Tables)
    app.add_transform(Exercises)
    app.add_transform(Opening)
    app.add_post_transform(ShownFirst)
    app.add_role("claim", ClaimRole())
    app.connect("html-page-context", describe, priority=400)
    app.connect("html-page-context", stack_all)
    app.connect("html-page-context", list_exercises)
    app.connect("html-page-context", load_filter)
    app.connect("source-read", list_claims)
    app.connect("build-finished", list_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
