"""Links from exercises to Colab, and from formulas to the exercises about them.

Each chapter contains the list of all exercises, so that solved ones can be counted.
"""

import functools
import json
import re
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx_exercise.nodes import is_exercise_enumerable_node, is_exercise_node

from tools.site.colab import ADDRESS
from tools.site.contents import chapters

CHECKED = re.compile(r'= check\(\s*"([\w-]+)"')
COPIES = f"https://colab.research.google.com/github/{ADDRESS}/blob/colab/book"


class Exercises(SphinxTransform):
    """The links from exercises to Colab, and from formulas to exercises.

    An exercise on paper, whose label ends with -paper, has no link.
    """

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
            if label.endswith("-paper"):
                continue
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


def is_exercise(node: nodes.Node) -> bool:
    """Return whether a node is an exercise, with a number or without."""
    return is_exercise_node(node) or is_exercise_enumerable_node(node)


def add_after(node: nodes.Element, line: nodes.Element) -> None:
    """Insert a line after a node."""
    parent = node.parent
    parent.insert(parent.index(node) + 1, line)


@functools.cache
def exercises(root: Path) -> dict[str, list[str]]:
    """Return the names of the exercises of each chapter, in the order of the book."""
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


def setup(app: Any) -> dict[str, bool]:
    """Connect it to Sphinx."""
    app.add_transform(Exercises)
    app.connect("html-page-context", list_exercises)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
