"""Numbers of the text without the comments with their names (`tools/glued.py`)."""

from typing import Any

from docutils import nodes
from sphinx.transforms import SphinxTransform

from tools.glued import MARK


class Comments(SphinxTransform):
    """The removal of the comments with the names of numbers."""

    default_priority = 210  # what reads the text of a node comes later

    def apply(self, **_: Any) -> None:
        """Remove the comments from a page."""
        for node in list(self.document.findall(nodes.raw)):
            if MARK.fullmatch(node.astext()):
                node.parent.remove(node)


def setup(app: Any) -> dict[str, bool]:
    """Register this extension with Sphinx."""
    app.add_transform(Comments)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
