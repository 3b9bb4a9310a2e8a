"""Results named by their titles, such as "Lemma 4.1", and not numbered by Sphinx.

The search and the links to a result use the name of the result.
"""

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx_proof.domain import ProofDomain
from sphinx_proof.nodes import NODE_TYPES, unenumerable_node

from tools.site.colab import CALLED

BOXES = (*NODE_TYPES.values(), unenumerable_node)


class Results(SphinxTransform):
    """The conversion of results into boxes that have names and no numbers."""

    default_priority = 600  # labels are collected at 850

    def apply(self, **_: Any) -> None:
        """Convert the results of a page, and add their names to the index."""
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
    """The Sphinx domain for links that show the names of results."""

    def resolve_xref(self, *args: Any) -> Any:
        """Return a link to a result; the name of the result replaces a bare label."""
        *others, target, node, content = args
        if target in content.astext() and target in self.env.proof_list:
            content = nodes.inline("", self.env.proof_list[target]["name"])
        return super().resolve_xref(*others, target, node, content)


def setup(app: Any) -> dict[str, bool]:
    """Register the transform of results, and the domain for links to results."""
    app.add_domain(Domain, override=True)
    app.add_transform(Results)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
