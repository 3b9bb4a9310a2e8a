"""Links from exercises to Colab, and from formulas to exercises that refer to them."""

import re
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx_exercise.nodes import is_exercise_enumerable_node, is_exercise_node

from tools.site.colab import ADDRESS

COPIES = f"https://colab.research.google.com/github/{ADDRESS}/blob/colab/book"


class Exercises(SphinxTransform):
    """The links from exercises to Colab, and from formulas to exercises.

    An exercise on paper, whose label ends with -paper, has no link to Colab.
    """

    default_priority = 600

    def apply(self, **_: Any) -> None:
        """Add the links on a page that is made from a notebook."""
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
        """Return a line with the number of an exercise, as a link to the exercise."""
        text = nodes.inline("", label, classes=["xref", "std", "std-ref"])
        where = {"refdomain": "std", "reftype": "ref", "reftarget": label}
        kind = {"refexplicit": False, "refwarn": True, "refdoc": self.env.docname}
        link = addnodes.pending_xref("", text, **where, **kind)
        return nodes.paragraph("", "", link, classes=["way"])


def is_exercise(node: nodes.Node) -> bool:
    """Return whether a node is an exercise, with or without a number."""
    return is_exercise_node(node) or is_exercise_enumerable_node(node)


def add_after(node: nodes.Element, line: nodes.Element) -> None:
    """Insert a line after a node."""
    parent = node.parent
    parent.insert(parent.index(node) + 1, line)


def setup(app: Any) -> dict[str, bool]:
    """Register the transform that adds links from exercises and from formulas."""
    app.add_transform(Exercises)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
