"""Additions to autodoc: links from names, lists of uses, and links to sources."""

import functools
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import nbformat
from sphinx.domains.python import PyXRefRole

from tools.site.colab import ADDRESS, ROOT
from tools.site.contents import chapters

MOST = 4  # chapters listed below one function


class Name(PyXRefRole):
    """The role for names in docstrings: `name` becomes a link to the named object."""

    def process_link(self, env: Any, node: Any, *about: Any) -> tuple[str, str]:
        """Make Sphinx search all modules for the name, not only the current module."""
        found = super().process_link(env, node, *about)
        node["reftype"], node["refspecific"] = "obj", True
        return found


@functools.cache
def code_of(path: Path) -> str:
    """Return the code of a chapter."""
    cells = nbformat.read(path, as_version=4).cells
    return "\n".join(c.source for c in cells if c.cell_type == "code")


def used_in(name: str) -> list[str]:
    """Return the chapters whose code contains `name`, in the order of the book."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    return [path.stem for path in chapters(ROOT) if word.search(code_of(path))]


def add_uses(_: Any, what: str, name: str, _thing: Any, _o: Any, lines: list[str]):
    """Below the docstring of a function or class, list chapters that use it."""
    pages = used_in(name.rpartition(".")[2])
    if what not in ("class", "function", "exception") or not pages:
        return
    links = [f":doc:`/book/{page}`" for page in pages[:MOST]]
    if len(pages) > MOST:
        links.append(f"{len(pages) - MOST} more")
    text = f"   Used in {', '.join(links)}."
    lines += ["", ".. container:: attnsel-used", "", text]


def source_of(domain: str, about: dict[str, str]) -> str | None:
    """Return the address of the code of a class or function for `linkcode`, or None."""
    thing: Any = importlib.import_module(about["module"])
    for part in about["fullname"].split("."):
        thing = getattr(thing, part, None)
    is_function = inspect.isfunction(thing) or inspect.ismethod(thing)
    if domain != "py" or not (inspect.isclass(thing) or is_function):
        return None
    thing = inspect.unwrap(thing)
    lines, first = inspect.getsourcelines(thing)
    path = Path(str(inspect.getsourcefile(thing))).relative_to(ROOT)
    place = f"{path}#L{first}-L{first + len(lines) - 1}"
    return f"https://github.com/{ADDRESS}/blob/main/{place}"


def setup(app: Any) -> dict[str, bool]:
    """Load autodoc, and add the role `name`, lists of uses, and links to sources."""
    for name in ("autodoc", "autosummary", "napoleon", "linkcode"):
        app.setup_extension(f"sphinx.ext.{name}")
    app.add_role_to_domain("py", "name", Name())
    app.connect("autodoc-process-docstring", add_uses, priority=900)
    app.config.linkcode_resolve = source_of
    return {"parallel_read_safe": True, "parallel_write_safe": True}
