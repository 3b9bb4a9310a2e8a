"""Pages without the comments that name the numbers of a text (`tools/glued.py`)."""

from typing import Any

from docutils import nodes
from sphinx.transforms import SphinxTransform

from tools.glued import MARK


class Comments(SphinxTransform):
    """The removal of comments that name numbers."""

    default_priority = 210  # transforms that read the text of nodes come later

    def apply(self, **_: Any) -> None:
        """Remove the comments that name numbers from a page."""
        for node in list(self.document.findall(nodes.raw)):
            if MARK.fullmatch(node.astext()):
                node.parent.remove(node)


def setup(app: Any) -> dict[str, bool]:
    """Register the transform that removes the comments."""
    app.add_transform(Comments)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
