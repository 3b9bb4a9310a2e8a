"""The removal of comments that name the numbers in a text (see `tools/glued.py`)."""

from typing import Any

from docutils import nodes
from sphinx.transforms import SphinxTransform

from tools.glued import MARK


class Comments(SphinxTransform):
    """The removal of comments that name numbers."""

    default_priority = 210  # transforms that read the text of nodes come later

    def apply(self, **_: Any) -> None:
        """Remove from a page the comments that name numbers."""
        for node in list(self.document.findall(nodes.raw)):
            if MARK.fullmatch(node.astext()):
                node.parent.remove(node)


def setup(app: Any) -> dict[str, bool]:
    """Register the transform that removes comments that name numbers."""
    app.add_transform(Comments)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
