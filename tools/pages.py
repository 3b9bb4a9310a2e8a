"""What the pages need beyond Sphinx and its extensions: an extension of our own.

- A result is called by its title: the box says "Lemma 4.1" and no number of ours, and
  so do the mentions of it and the search.
- A cell's table that has a caption is a numbered table.
- The panels of a figure stand below each other on a phone.
- The page of all claims is written from the outputs of the notebooks.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import yaml
from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx_proof.domain import ProofDomain
from sphinx_proof.nodes import NODE_TYPES, unenumerable_node

SVG = "{http://www.w3.org/2000/svg}"
IMAGE = re.compile(r'<img [^>]*?src="[^"]*_images/([^"/]+\.svg)"[^>]*>')
CLAIMS = "book/claims"
BOXES = (*NODE_TYPES.values(), unenumerable_node)
# "Lemma 4.1 of Wu et al." is Lemma 4.1; other titles are names as they are.
CALLED = re.compile(r"([A-Z][a-z]+ (?:\d+(?:\.\d+)*|[A-Z]))\b")


class Results(SphinxTransform):
    """Boxes of results under their own names, without numbers."""

    default_priority = 600  # labels are collected at 850

    def apply(self, **_: Any) -> None:
        for node in list(self.document.findall(lambda n: isinstance(n, BOXES))):
            title, label, kind = node[0], node["label"], node["realtype"].title()
            found = CALLED.match(title.astext())
            name = found[1] if found else title.astext() or kind
            if not found:
                kind += ". " if title.astext() else ""
                title.insert(0, nodes.inline("", kind, classes=["kind"]))
            entry = ("single", name, node["ids"][0], "main", None)
            box = nodes.admonition("", *node.children, ids=node["ids"])
            box["classes"] = node["classes"]
            title["ids"] = []
            node.replace_self([addnodes.index(entries=[entry]), box])
            self.env.proof_list[label] |= {"nonumber": True, "name": name}


class Domain(ProofDomain):
    """Mentions of results by their names."""

    def resolve_xref(self, env, source, builder, kind, target, node, content):  # type: ignore[no-untyped-def]
        """Put the name in place of a bare label."""
        if target in content.astext() and target in env.proof_list:
            content = nodes.inline("", env.proof_list[target]["name"])
        return super().resolve_xref(env, source, builder, kind, target, node, content)


class CellTable(nodes.figure):
    """What a cell shows as a table, with its caption."""


class Tables(SphinxTransform):
    """Figures that hold a table and no picture are tables."""

    default_priority = 600

    def apply(self, **_: Any) -> None:
        for node in list(self.document.findall(nodes.figure)):
            raw = [n for n in node.findall(nodes.raw) if "<table" in n.astext()]
            if type(node) is not nodes.figure or not raw or list(node.findall(nodes.image)):
                continue
            captions = [n for n in node.children if isinstance(n, nodes.caption)]
            rest = [n for n in node.children if n not in captions]
            table = CellTable("", *captions, *rest, **node.attributes)
            table["classes"] = [*node["classes"], "cell-table"]
            node.replace_self(table)
            for name in table["ids"]:
                self.document.ids[name] = table


def panels(svg: str) -> tuple[float, float, list[tuple[float, float]]]:
    """Return width and height of a picture by Matplotlib, and where its columns are.

    Axes above each other are one column, and a colour bar belongs to the axes before
    it. A picture with text that belongs to all panels, or with an axis whose numbers
    are in another panel, is one column.
    """
    root = ElementTree.fromstring(svg)
    _, _, width, height = map(float, root.get("viewBox", "0 0 1 1").split())
    whole = width, height, [(0.0, width)]
    drawn = root.find(f"{SVG}g")
    groups = [] if drawn is None else drawn.findall(f"{SVG}g")
    if any(g.get("id", "").startswith(("text", "legend")) for g in groups):
        return whole
    columns: list[list[float]] = []  # left end with its text, left, right
    for group in groups:
        patch = group.find(f"{SVG}g/{SVG}path")
        if not group.get("id", "").startswith("axes") or patch is None:
            continue
        numbers = re.findall(r"-?[\d.]+", patch.get("d", ""))
        left, right = min(map(float, numbers[::2])), max(map(float, numbers[::2]))
        text = min([left, *starts(group)])
        columns.append([text, left, right])
    columns.sort(key=lambda c: c[1])
    if not columns:
        return whole
    widest = max(right - left for _, left, right in columns)
    merged: list[list[float]] = []
    for column in columns:
        bar = column[2] - column[1] < widest / 8
        if merged and (bar or column[1] < merged[-1][2]):
            merged[-1] = [merged[-1][0], merged[-1][1], max(column[2], merged[-1][2])]
        else:
            merged.append(column)
    if any(left - text < 5 for text, left, _ in merged[1:]):
        return whole
    cuts = [0.0, *(text - 4 for text, _, _ in merged[1:]), width]
    return width, height, list(zip(cuts, cuts[1:], strict=False))


def starts(group: ElementTree.Element) -> Iterator[float]:
    """Yield where the texts of a group begin, on the left."""
    for element in group.iter(f"{SVG}g"):
        move = re.match(
            r"translate\((-?[\d.]+) [^)]*\)( rotate\(-90\))? scale\(([\d.]+) ",
            element.get("transform", ""),
        )
        if move:
            yield float(move[1]) - (100 * float(move[3]) if move[2] else 0)


def stack(image: str, svg: str) -> str:
    """Return an image, and for narrow pages its panels one below the other."""
    width, height, columns = panels(svg)
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


def stack_all(app: Any, _page: str, _template: str, context: Any, _tree: Any) -> None:
    """Prepare the figures of a page for phones."""
    sources = {name: path for path, name in app.builder.images.items()}

    def replace(m: re.Match[str]) -> str:
        return stack(m[0], Path(app.srcdir, sources[m[1]]).read_text(encoding="utf-8"))

    if "body" in context:
        context["body"] = IMAGE.sub(replace, context["body"])


def chapters(root: Path) -> list[Path]:
    """Return the notebooks of the book in its order."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    names = [toc["root"]]
    names += [c["file"] for part in toc["parts"] for c in part["chapters"]]
    paths = [root / f"{name}.ipynb" for name in names]
    return [path for path in paths if path.is_file()]


def claims(path: Path) -> list[dict[str, str]]:
    """Return the claims that a notebook's outputs hold."""
    notebook = nbformat.read(path, as_version=4)
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    return [o.metadata["claim"] for o in outputs if "claim" in o.get("metadata", {})]


def list_claims(app: Any, page: str, source: list[str]) -> None:
    """Write the claims of all chapters where their page has the word CLAIMS."""
    if page != CLAIMS:
        return
    parts, total, paper = [], 0, 0
    for path in chapters(Path(app.srcdir)):
        app.env.note_dependency(str(path))
        found = claims(path)
        total += len(found)
        paper += sum(claim["by"] == "the paper" for claim in found)
        lines = [
            f'<li><a href="{path.stem}.html#{claim["id"]}">'
            f"{html.escape(claim['statement'])}</a>: {html.escape(claim['measured'])}, "
            f"{html.escape(claim['bound'])} ({claim['by']})</li>"
            for claim in found
        ]
        if found:
            head = f"## {{doc}}`{path.stem}`"
            body = "\n".join(['<ul class="claims">', *lines, "</ul>"])
            parts.append(f"{head}\n\n```{{raw}} html\n{body}\n```")
    count = f"{total} claims, {paper} of them the paper's."
    source[0] = source[0].replace("CLAIMS", "\n\n".join([count, *parts]))


def setup(app: Any) -> dict[str, bool]:
    """Connect all of it to Sphinx."""
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
    app.connect("html-page-context", stack_all)
    app.connect("source-read", list_claims)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
