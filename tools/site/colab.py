"""Copies of the chapters for Colab, which `make colab` writes with a Sphinx builder.

Colab shows only plain Markdown. Sphinx resolves references, numbers, citations and
stored values before a builder gets a page. This builder writes the resolved text of
each cell as plain Markdown. It changes no code except settings and installation.
"""

import ast
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import yaml
from docutils import nodes
from sphinx.builders import Builder
from sphinx_exercise.nodes import is_exercise_node, is_solution_node

import attnsel
from tools.site.guesses import guess_cells

ROOT = Path(__file__).resolve().parents[2]
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
ADDRESS = CONFIG["repository"]["url"].removeprefix("https://github.com/")
# "Lemma 4.1 of Wu et al." is called Lemma 4.1; other titles are names as they are.
CALLED = re.compile(r"([A-Z][a-z]+ (?:\d+(?:\.\d+)*|[A-Z]))(?= of |[(,:]| \(|$)")
INSTALL = re.escape(f"git+https://github.com/{ADDRESS}")  # in each first code cell
FOLDED = {"hide-cell", "hide-input", "remove-cell", "remove-input"}
SETTING = re.compile(
    r"(?P<set>[A-Z][A-Z_0-9]* = (?P<value>[^#\n]*[^#\s]))(?:  # (?P<why>.*))?"
)
ADMONITIONS = {"attention", "caution", "hint", "important", "note", "tip", "warning"}
FIELDS = {bool: "boolean", int: "integer", float: "number", str: "string"}
README = """# Attention selects important tokens: the chapters

The chapters of https://attnsel.github.io/attnsel/ as plain notebooks. You need Python
3.11 or newer and git:

    python -m venv .venv
    .venv/bin/python -m pip install -r requirements.txt
    .venv/bin/jupyter lab

On Windows, write `.venv\\Scripts` for `.venv/bin`. Each chapter runs alone, from top to
bottom. Your solutions of exercises are saved in `my_attnsel.py`, where later chapters
find them.

"""
# torch's build for the CPU, because the usual build installs gigabytes for GPUs.
REQUIREMENTS = """--extra-index-url https://download.pytorch.org/whl/cpu
attnsel[book] @ git+https://github.com/{address}@{reference}
jupyterlab
"""


def quoted(content: str) -> str:
    """Return a block quote in HTML, because the mark `>` breaks long formulas."""
    return f"<blockquote>\n\n{content}\n\n</blockquote>"


def folded(title: str, content: str) -> str:
    """Return content that is hidden until a reader clicks its title."""
    title = re.sub(r"`([^`]+)`", r"<code>\1</code>", title)
    if not content:
        return ""
    # Not every program draws the triangle that shows that a title can be opened.
    summary = f"<summary><b>{title}</b> (click to open)</summary>"
    return f"<details>\n{summary}\n\n{content}\n\n</details>"


def in_table(cell: str) -> str:
    """Return a cell of a table on one line; replace bars, which would end the cell."""

    def replace(m: re.Match[str]) -> str:
        formula = m[1] and m[1].replace(r"\|", r"\Vert ").replace("|", r"\vert ")
        return formula or r"\|"

    return re.sub(r"(\$[^$]+\$)|\|", replace, " ".join(cell.split()))


def form(source: str) -> str:
    """Return the settings of a chapter as the fields of a form in Colab."""
    lines = ["#@title Numbers to change"]
    for line in source.splitlines()[1:]:
        setting = SETTING.fullmatch(line)
        if not setting:
            lines.append(line)
            continue
        try:
            kind = FIELDS.get(type(ast.literal_eval(setting["value"])), "raw")
        except ValueError:
            kind = "raw"
        if setting["why"]:
            lines.append(f"#@markdown {setting['why']}")
        lines.append(f'{setting["set"]}  #@param {{type: "{kind}"}}')
    return "\n".join(lines)


class Markdown:
    """A page of Sphinx as Markdown.

    The method named after a node's class, such as `visit_Text`, or else after a base
    class, writes the node. Without such a method, only the node's content is written.
    """

    def __init__(self, page: str, doctree: nodes.document, env: Any) -> None:
        self.numbers = env.toc_fignumbers.get(page, {})
        self.chapter = env.toc_secnumbers.get(page, {})
        self.kind = env.get_domain("std").get_enumerable_node_type
        links = doctree.findall(nodes.reference)
        self.linked = {n.get("refid", n.get("refuri", "").lstrip("#")) for n in links}
        self.cited: set[str] = set()

    def inline(self, children: Iterable[nodes.Node]) -> str:
        """Return the nodes of a sentence as Markdown."""
        return "".join(map(self.write, children))

    def blocks(self, children: Iterable[nodes.Node]) -> str:
        """Return nodes as separate paragraphs."""
        return "\n\n".join(filter(None, map(self.write, children)))

    def write(self, node: nodes.Node) -> str:
        """Return a node as Markdown."""
        for kind in type(node).__mro__:
            method = getattr(self, f"visit_{kind.__name__}", None)
            if method:
                return str(method(node))
        inner = self.inline if isinstance(node, nodes.TextElement) else self.blocks
        return inner(node.children)

    def anchor(self, node: nodes.Element) -> str:
        """Return the HTML anchors for links to a node of this page."""
        linked = [name for name in node["ids"] if name in self.linked]
        return "".join(f'<a name="{name}"></a>' for name in linked)

    def number(self, node: nodes.Element, kind: str) -> str:
        """Return the number of a node, such as 2.3."""
        return ".".join(map(str, self.numbers[kind][node["ids"][0]]))

    def captioned(self, node: nodes.Element, caption: nodes.Element) -> str:
        """Return the name and the caption of a figure or a table."""
        kind = self.kind(node)
        name = f"{self.anchor(node)}**{kind.title()} {self.number(node, kind)}**"
        return f"{name}. {self.inline(caption.children)}"

    def items(self, node: nodes.Element, marks: list[str]) -> str:
        """Return a list with a mark before each item."""
        texts = [self.blocks(item.children) for item in node.children]
        between = "\n\n" if any("\n\n" in text for text in texts) else "\n"
        return between.join(
            f"{mark} " + re.sub(r"\n(?=.)", "\n" + " " * (len(mark) + 1), text)
            for mark, text in zip(marks, texts, strict=True)
        )

    def visit_Text(self, node: nodes.Text) -> str:
        return re.sub(r"([\\`*_$<])", r"\\\1", node.astext()).replace("\n", " ")

    def visit_emphasis(self, node: nodes.Element) -> str:
        return f"*{self.inline(node.children)}*"

    def visit_strong(self, node: nodes.Element) -> str:
        return f"**{self.inline(node.children)}**"

    def visit_literal(self, node: nodes.Element) -> str:
        if "xref" in node["classes"]:  # words of a reference
            return self.inline(node.children)
        code = node.astext().strip()
        return f"`` {code} ``" if "`" in code else f"`{code}`"

    def visit_literal_block(self, node: nodes.Element) -> str:
        return f"```{node.get('language', '')}\n{node.astext().rstrip()}\n```"

    def visit_math(self, node: nodes.Element) -> str:
        return f"${' '.join(node.astext().split())}$"

    def visit_math_block(self, node: nodes.Element) -> str:
        formula, anchor = node.astext().strip(), self.anchor(node)
        if node["number"]:
            formula += rf" \tag{{{self.number(node, 'displaymath')}}}"
        return f"{anchor}\n$$\n{formula}\n$$".strip()

    def visit_reference(self, node: nodes.Element) -> str:
        text, target = self.inline(node.children), node.get("refuri", "")
        if "bibliography.html" in target:
            self.cited.add(node["reftitle"])
            return text
        return f"[{text}]({target or '#' + node['refid']})"

    def visit_footnote_reference(self, node: nodes.Element) -> str:
        return f"<sup>{node.astext()}</sup>"

    def visit_footnote(self, node: nodes.Element) -> str:
        return f"<sup>{node[0].astext()}</sup> {self.blocks(node.children[1:])}"

    def visit_paragraph(self, node: nodes.Element) -> str:
        if "way" in node["classes"]:  # from the site to these copies
            return ""
        text = self.inline(node.children)
        return re.sub(r"^(\d*)([-+#>.)])(?=\s)", r"\1\\\2", text)

    def visit_title(self, node: nodes.Element) -> str:
        parent, text = node.parent, self.inline(node.children)
        if is_exercise_node(parent):
            name = f"Exercise {self.number(parent, 'exercise')}"
            return f"{self.anchor(parent)}**{name}**{text}"
        if not isinstance(parent, nodes.section):
            return f"{self.anchor(parent)}**{text}**"
        depth, inner = 1, node.parent
        while isinstance(parent.parent, nodes.section):
            depth, parent = depth + 1, parent.parent
        number = self.chapter.get(f"#{inner['ids'][0]}" if depth > 1 else "")
        if number:
            text = f"{'.'.join(map(str, number))}. {text}"
        return f"{self.anchor(inner)}\n\n{'#' * depth} {text}".strip()

    def visit_bullet_list(self, node: nodes.Element) -> str:
        return self.items(node, ["-"] * len(node))

    def visit_enumerated_list(self, node: nodes.Element) -> str:
        start = node.get("start", 1)
        return self.items(node, [f"{start + i}." for i in range(len(node))])

    def visit_block_quote(self, node: nodes.Element) -> str:
        return quoted(self.blocks(node.children))

    def visit_table(self, node: nodes.Element) -> str:
        rows = [
            [in_table(self.blocks(entry.children)) for entry in row.children]
            for row in node.findall(nodes.row)
        ]
        rows.insert(1, ["---"] * len(rows[0]))
        lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        title = next(node.findall(nodes.title), None)
        return f"{self.captioned(node, title)}\n\n{lines}" if title else lines

    def visit_figure(self, node: nodes.Element) -> str:
        caption = next(node.findall(nodes.caption), None)
        return self.captioned(node, caption) if caption else ""

    def visit_Admonition(self, node: nodes.Element) -> str:
        if "dropdown" in node["classes"]:
            return folded(plain(node[0]), self.blocks(node.children[1:]))
        content = self.blocks(node.children)
        if type(node).__name__ in ADMONITIONS:
            content = f"**{type(node).__name__.capitalize()}**\n\n{content}"
        return quoted(content)

    def visit_proof_node(self, node: nodes.Element) -> str:
        return self.blocks(node.children)

    def visit_container(self, node: nodes.Element) -> str:
        kind = node.get("design_component")
        if kind == "dropdown":
            return folded(self.write(node[0]), self.blocks(node.children[1:]))
        content = self.blocks(node.children)
        return f"**{content}**" if kind == "card-title" else content

    def visit_raw(self, node: nodes.Element) -> str:
        return node.astext() if node["format"] == "markdown" else ""

    def visit_Invisible(self, _node: nodes.Element) -> str:
        return ""


def plain(title: nodes.Node) -> str:
    """Return a title without markup."""
    return " ".join(title.astext().split())


def is_code(node: nodes.Node) -> bool:
    """Return whether a node is a code cell."""
    return isinstance(node, nodes.Element) and node.get("nb_element") == "cell_code"


def parts(parent: nodes.Element, solution: str = "") -> Iterator[tuple[Any, str]]:
    """Yield each node that belongs to one cell, and the title of its solution or "".

    Sections are split, and so are exercises and solutions that contain code cells.
    """
    for node in parent.children:
        apart = isinstance(node, nodes.section) or any(node.findall(is_code))
        if is_code(node) or not apart:
            yield node, solution
        elif is_solution_node(node):
            yield from parts(node[1], plain(node[0]))
        else:
            yield from parts(node, solution)


def code(cell: Any, *, solution: bool) -> Any:
    """Make settings a form, hide solutions and folded code, and return the cell."""
    cell.metadata.pop("mystnb", None)
    tags = set(cell.metadata.get("tags", []))
    if cell.source.startswith("# settings\n"):
        cell.source = form(cell.source)
    if solution or (tags & FOLDED and "lab" not in tags):
        cell.metadata["cellView"] = "form"  # in Colab
        cell.metadata["jupyter"] = {"source_hidden": True}
    if solution or tags & {"remove-cell", "remove-output"}:
        cell.outputs = []  # readers try first, and outputs cannot be folded
    return cell


def copy(notebook: Any, page: Markdown, doctree: nodes.document, address: str) -> Any:
    """Return a chapter with plain Markdown, hidden solutions and settings as a form."""
    texts: dict[int, str] = defaultdict(str)
    solved, last, place = set(), "", 0
    for node, solution in parts(doctree):
        # In MyST-NB, the lines of cell i have numbers from 10,000 (i + 1).
        line = next((n.line for n in node.findall() if n.line), None)
        place = line // 10_000 - 1 if line else place
        if is_code(node):
            solved |= {place} if solution else set()
            text = page.blocks(node.findall(nodes.figure))
        else:
            text = page.write(node)
            if text and solution:
                again = ", continued" if solution == last else ""
                text, last = folded(f"{solution}{again}", text), solution
        texts[place] += f"\n\n{text}"
    texts[0] += (
        f"\n\n*This copy is for running; [read it in the book]({address}), where "
        "formulas and figures look better.*"
    )
    cells, new = [], nbformat.v4.new_markdown_cell
    for i, cell in enumerate(notebook.cells):
        text = re.sub(r"\n{3,}", "\n\n", texts[i].strip("\n"))
        if cell.cell_type == "code":
            cells.append(code(cell, solution=i in solved))
            if text:
                cells.append(new(text, id=f"{cell.id[:56]}-caption"))
        elif text:
            asked = guess_cells(cell.source, Path(address).stem)
            cell.source = text
            cells += [cell, *asked]
    if page.cited:
        entries = [f"- {entry}" for entry in sorted(page.cited)]
        cells.append(new("\n".join(["## References\n", *entries]), id="references"))
    notebook.cells = cells
    notebook.metadata["colab"] = {"toc_visible": True}
    return notebook


def pin(notebook: Any, reference: str) -> None:
    """Pin the package that a copy installs to the version of the copy.

    `reference` is the tag of a version, or a commit between two versions.
    """
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.source = re.sub(
                f'{INSTALL}(?="?$)', rf"\g<0>@{reference}", cell.source, flags=re.M
            )


def reference(root: Path = ROOT) -> str:
    """Return the tag of this version if the tag is checked out, or else the commit.

    Without a repository, for example in a release, return the tag.
    """
    tag = f"v{attnsel.__version__}"

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True)
        return done.stdout.strip()

    return (
        tag
        if tag in git("tag", "--points-at").split()
        else git("rev-parse", "HEAD") or tag
    )


def offer_copy(_app: Any, page: str, _template: str, context: Any, _tree: Any) -> None:
    """Make a chapter's download button offer its copy; remove the button elsewhere."""
    for group in context.get("header_buttons", []):
        if group.get("label") != "download-buttons":
            continue
        source, *others = group["buttons"]
        group["buttons"] = others
        if context["page_source_suffix"] == ".ipynb":
            source["url"] = context["pathto"](f"notebooks/{Path(page).name}.ipynb", 1)
            source["tooltip"] = "Download this chapter as a notebook"
            group["buttons"] = [source, *others]


class Colab(Builder):
    """The builder that writes a copy of each chapter to the path in its launch button.

    The copies install the package at the commit or tag in the environment variable
    `REFERENCE`, or else at the commit or tag that `reference` returns.
    """

    name = format = "colab"
    epilog = "The copies are in %(outdir)s."

    def get_outdated_docs(self) -> list[str]:
        """Return the names of all chapters, which are always written again."""
        pages = self.env.found_docs
        return [page for page in pages if self.env.doc2path(page).endswith(".ipynb")]

    def get_target_uri(self, page: str, typ: str | None = None) -> str:
        """Return the address of a page on the site."""
        return f"{self.config.html_baseurl}{page}.html"

    def get_relative_uri(self, start: str, page: str, typ: str | None = None) -> str:
        """Return the address for a link to a page; it is empty within the same page."""
        return "" if start == page else self.get_target_uri(page)

    def prepare_writing(self, pages: set[str]) -> None:
        """Choose the version that the copies install."""
        self.reference = os.environ.get("REFERENCE") or reference()
        self.titles: dict[str, str] = {}

    def write_doc(self, page: str, doctree: nodes.document) -> None:
        """Write the copy of a chapter; other pages have none."""
        path = Path(self.env.doc2path(page))
        if path.suffix != ".ipynb":
            return
        notebook = nbformat.read(path, as_version=4)
        markdown = Markdown(page, doctree, self.env)
        copied = copy(notebook, markdown, doctree, self.get_target_uri(page))
        pin(copied, self.reference)
        target = Path(self.outdir, page).with_suffix(".ipynb")
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(copied, target)
        heading = markdown.write(next(doctree.findall(nodes.title)))
        self.titles[path.name] = heading.rpartition("# ")[2]

    def finish(self) -> None:
        """Write the README and the requirements of the copies."""
        folder = Path(self.outdir, "book")
        names = [
            f"- `{name}`: {title}\n" for name, title in sorted(self.titles.items())
        ]
        (folder / "README.md").write_text(README + "".join(names), encoding="utf-8")
        needed = REQUIREMENTS.format(address=ADDRESS, reference=self.reference)
        (folder / "requirements.txt").write_text(needed, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Register the builder of copies, and the function that offers them to readers."""
    app.add_builder(Colab)
    app.connect("html-page-context", offer_copy, priority=900)  # the theme's come first
    return {"parallel_read_safe": True, "parallel_write_safe": False}
