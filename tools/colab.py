"""Copies of the chapters for Colab: `python -m tools.colab [FOLDER [REFERENCE]]`.

Colab shows plain Markdown. In the copies directives, roles and glued values are
resolved to what a reader of the site sees, with the numbers of the site: Sphinx itself
resolves every reference, on one page that holds them all. The code stays as it is.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import nbformat
import yaml

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
ADDRESS = SETTINGS["repository"]["url"].removeprefix("https://github.com/")
INLINE = re.compile(
    r"""\{(?P<role>[\w:-]+)\}`(?P<content>[^`]+)`
    | (?P<ticks>`+)(?:(?!\n\n).)+?(?P=ticks)(?!`)
    | (?P<indent>[ ]*)\$\$(?P<math>.+?)\$\$(?:[ ]*\((?P<label>[\w:-]+)\))?
    | \[\^(?P<note>[\w-]+)\][:]?
    | ^\((?P<anchor>[\w-]+)\)=\n""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
BLOCK = re.compile(
    r"^(?P<fence>:{3,}|`{3,})(?:\{(?P<name>[\w:-]+)\})?[ ]*(?P<argument>.*)\n"
    r"(?P<options>(?::[\w-]+:.*\n)*)(?P<body>(?:.*\n)*?)(?P=fence)[ ]*$",
    re.MULTILINE,
)
DOCSTRINGS = re.compile(r"^\.\. automodule:: .*$|\{attnsel-names\}", re.MULTILINE)
SPLIT = re.compile(  # the parts of an exercise or a solution that holds code cells
    r"^:{3,}\{(exercise|solution)-(start|end)\}[ ]*(.*)\n(?::label:[ ]*(\S+)\n)?"
    r"(?::class:.*\n)?:{3,}[ ]*$",
    re.MULTILINE,
)
ADMONITIONS = {"attention", "caution", "hint", "important", "note", "tip", "warning"}
PARTS = {"card", "grid", "grid-item", "grid-item-card", "tab-item", "tab-set"}
FOLDED = {"hide-cell", "hide-input", "remove-cell", "remove-input"}
CONTINUED = ", continued"
# "Lemma 4.1 of Wu et al." is called Lemma 4.1; other titles are names as they are.
CALLED = re.compile(r"([A-Z][a-z]+ (?:\d+(?:\.\d+)*|[A-Z]))(?= of |[(,:]| \(|$)")
RECORD = "application/papermill.record/"
INSTALL = re.escape(f"git+https://github.com/{ADDRESS}")  # in each first code cell
KNOB = re.compile(
    r"(?P<set>[A-Z][A-Z_0-9]* = (?P<value>[^#\n]*[^#\s]))(?:  # (?P<why>.*))?"
)
README = """# Attention selects important tokens: the chapters

The chapters of https://attnsel.github.io/attnsel/ as plain notebooks. With Python 3.10
or newer:

    python -m venv .venv
    .venv/bin/pip install -r requirements.txt
    .venv/bin/jupyter lab

On Windows the folder is `.venv\\Scripts`. Each chapter runs alone, from top to bottom;
it loads its reviews the first time, and without a network generated ones stand in.

"""
# torch's build for the CPU: the usual one draws in gigabytes for GPUs.
REQUIREMENTS = """--extra-index-url https://download.pytorch.org/whl/cpu
attnsel[book] @ git+https://github.com/{address}@{reference}
jupyterlab
"""
FIELDS = {bool: "boolean", int: "integer", float: "number", str: "string"}


class Reference(NamedTuple):
    """What a role says on the site, and the pages it leads to, with their titles."""

    text: str
    targets: list[tuple[str, str]]


def resolve(roles: list[str], root: Path) -> dict[str, Reference]:
    """Let Sphinx read the book and resolve these roles."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    toc["parts"].append({"caption": "Roles", "chapters": [{"file": "book/roles"}]})
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "source")
        (source / "book").mkdir(parents=True)
        for path in [root / "_config.yml", *(root / "book").iterdir()]:
            copy = source / path.relative_to(root)
            if path.match("package*.md"):  # no chapter mentions what docstrings name
                text = DOCSTRINGS.sub("", path.read_text(encoding="utf-8"))
                copy.write_text(text, encoding="utf-8")
            else:
                copy.symlink_to(path.resolve())
        (source / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
        page = source / "book" / "roles.md"
        page.write_text("\n\n".join(["# Roles", *roles]) + "\n", encoding="utf-8")
        programs = Path(sys.executable).parent
        for program, arguments in (
            ("jupyter-book", ["config", "sphinx", source]),
            ("sphinx-build", ["-Q", "-b", "xml", source, f"{folder}/xml", page]),
        ):
            command = [str(programs / program), *map(str, arguments)]
            environment = os.environ | {"PYTHONPATH": str(ROOT)}  # for tools.pages
            done = subprocess.run(
                command, capture_output=True, text=True, env=environment
            )
            if done.returncode:
                raise RuntimeError(f"{program} fails: {done.stdout}{done.stderr}")
        tree = ElementTree.parse(f"{folder}/xml/book/roles.xml")
    resolved = {}
    for role, paragraph in zip(roles, tree.iter("paragraph"), strict=True):
        text = " ".join("".join(paragraph.itertext()).split())
        links = [e for e in paragraph.iter() if e.get("refuri")]
        targets = [(e.get("refuri", ""), e.get("reftitle", "")) for e in links]
        resolved[role] = Reference(text, targets)
    return resolved


def quoted(*paragraphs: str) -> str:
    """Set paragraphs apart; formulas over several lines forbid the mark `>`."""
    return "\n\n".join(["<blockquote>", *paragraphs, "</blockquote>"])


def folded(title: str, content: str) -> str:
    """Hide content below a title that opens it."""
    title = re.sub(r"`([^`]+)`", r"<code>\1</code>", title)
    head = f"<details>\n<summary><b>{title}</b></summary>"
    return f"{head}\n\n{content}\n\n</details>"


def in_table(cell: str) -> str:
    """Return a cell on one line, without the bar that would end it."""

    def replace(m: re.Match[str]) -> str:
        formula = m[1] and m[1].replace(r"\|", r"\Vert ").replace("|", r"\vert ")
        return formula or r"\|"

    return re.sub(r"(\$[^$]+\$)|\|", replace, " ".join(cell.split()))


def form(source: str) -> str:
    """Return the numbers a reader may change as the fields of a form."""
    lines = ["#@title Numbers to change"]
    for line in source.splitlines()[1:]:
        knob = KNOB.fullmatch(line)
        if not knob:
            lines.append(line)
            continue
        try:
            kind = FIELDS.get(type(ast.literal_eval(knob["value"])), "raw")
        except ValueError:
            kind = "raw"
        if knob["why"]:
            lines.append(f"#@markdown {knob['why']}")
        lines.append(f'{knob["set"]}  #@param {{type: "{kind}"}}')
    return "\n".join(lines)


def glued(notebook: Any) -> dict[str, str]:
    """Return the values that the outputs of a notebook store, as Python literals."""
    return {
        output.metadata["scrapbook"]["name"]: output.data[RECORD + "text/plain"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "scrapbook" in output.get("metadata", {})
    }


class Chapter:
    """One chapter on its way to plain Markdown.

    A role is looked up in `references` under its source, such as "{doc}`model`". A
    defaultdict there takes note of all that are needed.
    """

    def __init__(self, path: Path, references: dict[str, Reference], site: str) -> None:
        self.path, self.site = path, f"{site}/book/"
        self.references = references
        self.notes: dict[str, int] = {}
        self.cited: set[str] = set()
        self.solution = ""  # the title of the one that the current cell belongs to
        self.notebook = nbformat.read(path, as_version=4)
        self.glued = glued(self.notebook)

    def error(self, fault: str) -> ValueError:
        """Return an error that names the chapter."""
        return ValueError(f"{self.path.name}: {fault}")

    def look_up(self, role: str, content: str | None) -> Reference:
        """Return what a role resolves to; what has no label has no number."""
        if content is None:
            raise self.error("a figure, theorem, exercise or table has no label")
        found = self.references[f"{{{role}}}`{content}`"]
        if not found.targets:
            raise self.error(f"{{{role}}}`{content}` leads nowhere")
        return found

    def numbered(self, role: str, label: str | None, title: str) -> str:
        """Return the bold head of what a label names, and the anchor to it."""
        number = self.look_up(role, label).text
        title = f" ({self.inline(title)})" if title else ""
        return f'<a name="{label}"></a>**{number}**{title}'

    def role(self, name: str, content: str) -> str:
        """Return the Markdown of a role."""
        if name == "glue:text":
            page, _, key = content.rpartition("::")  # "one_step.ipynb::slope:s"
            stored, key = self.glued, key.removesuffix(":s")
            if page:
                stored = glued(nbformat.read(self.path.with_name(page), as_version=4))
            if key not in stored:
                raise self.error(f"no output stores {content!r}")
            value = ast.literal_eval(stored[key])
            return re.sub(r"([\\`*_$<\[])", r"\\\1", value)
        found = self.look_up(name, content)
        if name.startswith("cite"):
            self.cited.update(title for _, title in found.targets)
            return found.text
        page, mark, anchor = found.targets[0][0].partition("#")
        if page == self.path.stem:
            return f"[{found.text}](#{anchor})"
        return f"[{found.text}]({self.site}{page}.html{mark}{anchor})"

    def inline(self, text: str) -> str:
        """Resolve roles, labels of equations and sections, and footnotes."""

        def replace(m: re.Match[str]) -> str:
            if m["role"]:
                return self.role(m["role"], " ".join(m["content"].split()))
            if m["label"]:
                found = self.look_up("eq", m["label"])
                anchor = found.targets[0][0].partition("#")[2]
                tag = f"\\tag{{{found.text.strip('()')}}}"
                formula = f"$${m['math'].rstrip()} {tag}\n{m['indent']}$$"
                return f'{m["indent"]}<a name="{anchor}"></a>\n{m["indent"]}{formula}'
            if m["note"]:
                number = self.notes.setdefault(m["note"], len(self.notes) + 1)
                return f"<sup>{number}</sup>"
            if m["anchor"]:
                return f'<a name="{m["anchor"]}"></a>\n\n'
            return m[0]

        return INLINE.sub(replace, text)

    def blocks(self, text: str) -> str:
        """Resolve the directives of a text, and what stands between them."""
        parts, end, text = [], 0, text.strip("\n") + "\n"
        for m in BLOCK.finditer(text):
            block = self.directive(m) if m["name"] else m[0]
            parts += [self.inline(text[end : m.start()]), block]
            end = m.end()
        return "".join([*parts, self.inline(text[end:])]).strip("\n")

    def directive(self, m: re.Match[str]) -> str:
        """Return the Markdown of a directive."""
        name, title = m["name"], m["argument"].strip()
        options = dict(re.findall(r"^:([\w-]+):[ ]*(.*)$", m["options"], re.MULTILINE))
        label = options.get("label", options.get("name"))
        if name == "lab":
            address = f"{self.site}train.html#{title}".rstrip("#")
            return f"[Train the model in the book]({address})"
        if name == "list-table":
            return self.table(m["body"], label, title)
        content = self.blocks(m["body"])
        if name == "prf:proof":
            return quoted(f"*{title or 'Proof'}.*", content)
        if name.startswith("prf:"):
            self.look_up("prf:ref", label)
            kind = "" if CALLED.match(title) else f"{name[4:].title()}. "
            head = f"**{kind}{self.inline(title)}**"
            return quoted(f'<a name="{label}"></a>{head}', content)
        if name == "exercise":
            return quoted(self.numbered("ref", label, title), content)
        if name == "solution":
            title = f"Solution to {self.look_up('ref', title).text}"
        elif name in ADMONITIONS:
            title = name.capitalize()
        title = self.inline(title)
        if name == "dropdown" or "dropdown" in options.get("class", ""):
            return folded(title, content)
        if name in ADMONITIONS or name in ("admonition", "solution"):
            return quoted(f"**{title}**", content)
        if name in PARTS:
            return f"**{title}**\n\n{content}" if title and name != "grid" else content
        raise self.error(f"there is no form for Colab of the directive {{{name}}}")

    def table(self, body: str, label: str | None, caption: str) -> str:
        """Return a list-table as a Markdown table, whose first row is the head."""
        rows = [
            re.split(r"^(?:  )?-(?:[ ]|$)", row, flags=re.MULTILINE)[1:]
            for row in re.split(r"^\*[ ]", body, flags=re.MULTILINE)[1:]
        ]
        rows = [[in_table(self.inline(cell)) for cell in row] for row in rows]
        rows.insert(1, ["---"] * len(rows[0]))
        lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        head = self.numbered("numref", label, "") + f". {self.inline(caption)}"
        return f"{head}\n\n{lines}"

    def markdown(self, source: str) -> str:
        """Return the Markdown of a cell, folded as long as a solution goes on."""
        texts = SPLIT.split(source)
        parts = [self.text(texts[0])]
        for what, side, title, label, text in zip(*[iter(texts[1:])] * 5, strict=True):
            if what == "solution":
                number = self.look_up("ref", title).text if side == "start" else ""
                self.solution = number and f"Solution to {number}"
            elif side == "start":
                parts.append(self.numbered("ref", label, title))
            parts.append(self.text(text))
        return "\n\n".join(filter(None, parts))

    def text(self, source: str) -> str:
        """Return the Markdown of a part of a cell."""
        text = self.blocks(source)
        if text and self.solution:
            text = folded(self.solution, text)
            self.solution = self.solution.removesuffix(CONTINUED) + CONTINUED
        return text

    def code(self, cell: Any) -> list[Any]:
        """Return a code cell and, if it draws a figure, the cell of its caption."""
        settings = cell.metadata.pop("mystnb", {})
        tags = set(cell.metadata.get("tags", []))
        if cell.source.startswith("# knobs\n"):
            cell.source = form(cell.source)
        if self.solution or (tags & FOLDED and "lab" not in tags):
            cell.metadata["cellView"] = "form"
        if self.solution or tags & {"remove-cell", "remove-output"}:
            cell.outputs = []  # a reader tries first; stored ones cannot be folded
        cell.outputs = [
            o for o in cell.outputs if RECORD + "text/plain" not in o.get("data", {})
        ]
        if not settings.get("figure"):
            return [cell]
        figure = settings["figure"]
        caption = self.numbered("numref", figure.get("name"), "")
        caption = f"{caption}. {self.inline(figure['caption'])}"
        new_cell = nbformat.v4.new_markdown_cell(caption, id=f"{cell.id[:56]}-caption")
        return [cell, new_cell]

    def convert(self) -> Any:
        """Return the notebook as plain Markdown and the same code."""
        head = self.notebook.cells[0]
        label = head.source.partition(")=\n")[0].removeprefix("(")
        number = self.references[f"{{numref}}`{{number}} <{label}>`"]
        chapter = f"{number.text}. " if number.targets else ""
        head.source = head.source.split("\n", 1)[1].replace("# ", f"# {chapter}", 1)
        head.source += (
            f"\n\n*This copy is for running; [read it in the book]({self.site}"
            f"{self.path.stem}.html), where formulas and figures look better.*"
        )
        cells = []
        for cell in self.notebook.cells:
            if cell.cell_type == "code":
                cells += self.code(cell)
            else:
                cell.source = self.markdown(cell.source)
                cells += [cell] if cell.source else []
        if self.cited:
            entries = [f"- {entry}" for entry in sorted(self.cited)]
            source = "\n".join(["## References\n", *entries])
            cells.append(nbformat.v4.new_markdown_cell(source, id="references"))
        texts = [cell for cell in cells if cell.cell_type == "markdown"]
        everything = "\n".join(cell.source for cell in texts)
        linked = set(re.findall(r"\]\(#([^)]+)\)", everything))
        for cell in texts:
            cell.source = re.sub(
                r'[ ]*<a name="([^"]+)"></a>\n*',
                lambda m: m[0] if m[1] in linked else "",
                cell.source,
            )
        self.notebook.cells = cells
        self.notebook.metadata["colab"] = {"toc_visible": True}
        return self.notebook


def copies(root: Path = ROOT) -> dict[str, Any]:
    """Return the copies of all chapters by the names of their files.

    Raises:
        ValueError: if something cannot be resolved; the message names the chapter.
    """
    owner, name = ADDRESS.split("/")
    site = f"https://{owner}.github.io/{name}"
    paths = sorted((root / "book").glob("*.ipynb"))
    wanted: dict[str, Reference] = defaultdict(lambda: Reference("?", [("?", "?")]))
    for path in paths:
        Chapter(path, wanted, site).convert()
    references = resolve(list(wanted), root)
    return {path.name: Chapter(path, references, site).convert() for path in paths}


def pin(notebook: Any, reference: str) -> None:
    """Let a copy install the package that it was made for, so that it goes on running.

    A reference is a tag, or between two versions a commit.
    """
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.source = re.sub(
                f'{INSTALL}(?="?$)', rf"\g<0>@{reference}", cell.source, flags=re.M
            )


def title(notebook: Any) -> str:
    """Return the title of a chapter."""
    text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    return re.search(r"^# (.*)$", text, re.MULTILINE)[1]  # type: ignore[index]


def main(folder: str = "_build/colab", reference: str = "") -> None:
    """Write the copies at the paths that the launch buttons name, and how to start."""
    import attnsel  # not where Sphinx needs no more than the names of this module

    made = copies()
    target = Path(folder, "book")
    target.mkdir(parents=True, exist_ok=True)
    reference = reference or f"v{attnsel.__version__}"
    for name, notebook in made.items():
        pin(notebook, reference)
        nbformat.write(notebook, target / name)
    names = "\n".join(f"- `{name}`: {title(made[name])}" for name in made)
    (target / "README.md").write_text(README + names + "\n", encoding="utf-8")
    needed = REQUIREMENTS.format(address=ADDRESS, reference=reference)
    (target / "requirements.txt").write_text(needed, encoding="utf-8")
    print(f"{len(made)} copies in {target}")


if __name__ == "__main__":
    main(*sys.argv[1:])
