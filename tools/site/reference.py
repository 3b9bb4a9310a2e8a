"""The page of the package, from docstrings: an extension of our own for Sphinx.

Docstrings of `attnsel` are plain text for `help`. Here `names` in them become links to
what they name, and each function and class says its short name in `attnsel` and which
chapters use it.
"""

import dataclasses
import functools
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import nbformat
import yaml

ROOT = Path(__file__).resolve().parents[2]
AUTOMODULE = re.compile(r"^\.\. automodule:: ([\w.]+)$", re.MULTILINE)
REPOSITORY = "https://github.com/attnsel/attnsel"
MOST = 4  # chapters named with one function
GREEK = "alpha|beta|gamma|delta|eta|theta|lambda|rho|sigma|zeta"
# A letter with an index, as E_s, alpha_s or eta_0: set as mathematics.
SYMBOL = re.compile(rf"(?<![\w\\`{{])({GREEK}|[A-Za-z])_([A-Za-z0-9])(?![\w`(])")
# What stands in attnsel itself, by subject.
GROUPS = {
    "Texts": (
        "attnsel.corpus",
        "attnsel.tokens",
        "attnsel.texts.loading",
        "attnsel.texts.hub",
    ),
    "Model and training": ("attnsel.model", "attnsel.train"),
    "Theory": ("attnsel.theory", "attnsel.flow", "attnsel.beyond.theorem_a"),
    "Drawn corpora": ("attnsel.synthetic",),
    "Report": ("attnsel_report.report", "attnsel_report.result"),
}


@functools.cache
def documented() -> dict[str, str]:
    """Return the public functions and classes of the modules by their names."""
    found = {}
    for page in sorted((ROOT / "book").glob("package_*.md")):
        for module in AUTOMODULE.findall(page.read_text(encoding="utf-8")):
            for name, thing in vars(importlib.import_module(module)).items():
                if getattr(thing, "__module__", "") == module and name[0] != "_":
                    found[name] = f"{module}.{name}"
    return found


def plain(line: str) -> str:
    """Return a line of a docstring as reStructuredText."""
    parts = re.split(r"(:math:`[^`]+`|``.+?``|`[^`]+`)", line)
    for i, part in enumerate(parts):
        if part.startswith(":math:"):
            continue
        if not part.startswith("`"):
            escaped = re.sub(r"([|*\\]|_\b)", r"\\\1", part)
            parts[i] = SYMBOL.sub(_as_math, escaped)
        elif not part.startswith("``"):
            code = part.strip("`")
            name, dot, member = code.partition(".")
            parts[i] = f"``{code}``"
            if name in documented():
                target = documented()[name] + dot + member
                parts[i] = f":py:obj:`{code} <{target}>`"
    return "".join(parts)


def _as_math(symbol: re.Match[str]) -> str:
    """Return a letter with an index as mathematics."""
    letter, index = symbol.groups()
    if len(letter) > 1:
        letter = f"\\{letter}"
    return f":math:`{letter}_{index}`"


@functools.cache
def chapters() -> list[tuple[str, str]]:
    """Return the pages of the book that are chapters, with their code, in order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    pages = [toc["root"]]
    pages += [page["file"] for part in toc["parts"] for page in part["chapters"]]
    found = []
    for page in pages:
        path = ROOT / f"{page}.ipynb"
        if path.is_file():
            cells = nbformat.read(path, as_version=4).cells
            code = "\n".join(c.source for c in cells if c.cell_type == "code")
            found.append((page, code))
    return found


def used_in(name: str) -> list[str]:
    """Return the chapters whose code has a name, in the order of the book."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    return [page for page, code in chapters() if word.search(code)]


def notes(full_name: str) -> list[str]:
    """Return the lines that stand below the docstring of a function or class."""
    import attnsel

    name = full_name.rpartition(".")[2]
    parts = []
    if hasattr(attnsel, name) and full_name != f"attnsel.{name}":
        parts.append(f"``attnsel.{name}``")
    pages = used_in(name)
    links = [f":doc:`/{page}`" for page in pages[:MOST]]
    if len(pages) > MOST:
        links.append(f"{len(pages) - MOST} more")
    if links:
        parts.append(f"used in {', '.join(links)}")
    if not parts:
        return []
    text = "; ".join(parts)
    text = text[0].upper() + text[1:]
    return ["", ".. container:: attnsel-used", "", f"   {text}."]


def names(_: Any, _page: str, text: list[str]) -> None:
    """Write the list of what stands in `attnsel` itself into its page."""
    if "{attnsel-names}" not in text[0]:
        return
    import attnsel  # takes seconds, and pages without docstrings can do without

    lines = []
    for group, modules in GROUPS.items():
        lines += ["", f"### {group}", "", "```{eval-rst}"]
        for name in exported():
            thing = getattr(attnsel, name)
            if thing.__module__ in modules:
                summary = (inspect.getdoc(thing) or "").split("\n\n")[0]
                lines.append(f":py:obj:`attnsel.{name} <{thing.__module__}.{name}>`")
                lines.append(f"   {plain(' '.join(summary.split()))}\n")
        lines.append("```")
    text[0] = text[0].replace("{attnsel-names}", "\n".join(lines))


def exported() -> list[str]:
    """Return the functions and classes that stand in `attnsel` itself, by name."""
    import attnsel

    found = []
    for name in sorted(dir(attnsel), key=str.lower):
        home = getattr(getattr(attnsel, name), "__module__", "") or ""
        if re.match(r"attnsel(_report)?\.", home) and name[0] != "_":
            found.append(name)
    return found


def source_of(domain: str, about: dict[str, str]) -> str | None:
    """Return the address of what a page describes, for `sphinx.ext.linkcode`."""
    thing: Any = importlib.import_module(about["module"])
    for part in about["fullname"].split("."):
        thing = getattr(thing, part, None)
    is_function = inspect.isfunction(thing) or inspect.ismethod(thing)
    if domain != "py" or not (inspect.isclass(thing) or is_function):
        return None
    thing = inspect.unwrap(thing)
    lines, first = inspect.getsourcelines(thing)
    path = Path(str(inspect.getsourcefile(thing))).relative_to(ROOT)
    return f"{REPOSITORY}/blob/main/{path}#L{first}-L{first + len(lines) - 1}"


def before(_: Any, _what: str, _name: str, _object: Any, _o: Any, lines: list[str]):
    """Escape what reStructuredText would take for marks.

    An example, up to the next empty line, and a formula, as far as it is indented, are
    left as they are.
    """
    is_example = False
    formula_indent = None
    for i, line in enumerate(lines):
        text = line.lstrip()
        indent = len(line) - len(text)
        is_example = text != "" and (is_example or text.startswith(">>>"))
        if text.startswith(".. math::"):
            formula_indent = indent
            continue
        if formula_indent is not None and text and indent <= formula_indent:
            formula_indent = None
        if not is_example and formula_indent is None:
            lines[i] = plain(line)


def skipped(_: Any, _what: str, name: str, _object: Any, _s: bool, _o: Any) -> Any:
    """Leave out what scikit-learn adds to each estimator."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def signature(_: Any, what: str, _name: str, thing: Any, *_others: Any) -> Any:
    """Leave out the arguments of a record: its attributes are described below it."""
    if what == "class" and dataclasses.is_dataclass(thing):
        return "", None
    return None


def after(_: Any, what: str, name: str, _object: Any, _o: Any, lines: list[str]):
    """Add the short name and the chapters."""
    if what in ("class", "function", "exception"):
        lines += notes(name)


def setup(app: Any) -> dict[str, Any]:
    """Connect to autodoc, before and after napoleon."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", before, priority=100)
    app.setup_extension("sphinx.ext.napoleon")
    app.connect("autodoc-process-docstring", after, priority=900)
    app.connect("autodoc-process-signature", signature)
    app.connect("autodoc-skip-member", skipped)
    app.connect("source-read", names)
    app.setup_extension("sphinx.ext.linkcode")
    app.config.linkcode_resolve = source_of
    return {"parallel_read_safe": True, "parallel_write_safe": True}
