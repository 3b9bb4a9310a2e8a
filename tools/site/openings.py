"""The beginning of a chapter: the first guess, the first figure, and folded cells."""

import re
from typing import Any

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

COST = re.compile(r"this chapter takes about \d+ s on")
RUN = "How to run it"
OPEN = '<details class="run"><summary>Settings, and how to run it</summary>'
FIRST = "first-figure"  # the cell whose figure precedes the code of its page
SETTINGS = "# settings"  # beginning of the cell with the numbers to change


class Opening(SphinxTransform):
    """The transform that boxes the first guess and moves a figure above the settings.

    A notebook contains its cells in the order in which they run. On the page, one box
    contains the first guess, its answer and *In short*. The first figure follows the
    box, because the figure often answers the guess. The figure of a cell that is tagged
    `opening` does not answer the guess and precedes the box.
    """

    default_priority = 600

    def apply(self, **_: Any) -> None:
        """Rearrange the beginning of a page that states the notebook's run time."""
        for node in self.document.findall(nodes.paragraph):
            if COST.search(node.astext()):
                self.order(node)
                return

    def order(self, cost: nodes.paragraph) -> None:
        """Fold the cells for installation and settings, and move the first figure up.

        If a section is called *How to run it*, move `cost` there and drop the cells.
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
    """Return whether a node is a code cell."""
    return node.get("nb_element") == "cell_code"


def question_box(page: nodes.Element) -> nodes.container | None:
    """Put the first guess, its answer and *In short* into a box, and return the box.

    Without a guess, return None.
    """
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
    """The transform that puts the first figure before the code that draws it.

    It runs after MyST-NB has folded the code, which is the first part of the cell.
    """

    default_priority = 200  # `HideInputCells` of MyST-NB has 199
    formats = ("html",)

    def run(self, **_: Any) -> None:
        """Put the outputs first in the cell that `Opening` has moved."""
        for cell in self.document.findall(nodes.container):
            if FIRST in cell["classes"]:
                cell.children.sort(
                    key=lambda n: n.get("nb_element") != "cell_code_output"
                )


def setup(app: Any) -> dict[str, bool]:
    """Register the transforms that order the beginning of a page."""
    app.add_transform(Opening)
    app.add_post_transform(ShownFirst)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
