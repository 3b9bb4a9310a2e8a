"""Attention with trained embeddings selects important tokens, as running code.

`__init__.pyi` lists the names of the package, which are imported at their first use.
"""

import ast
import importlib
import importlib.util
import pkgutil
from typing import Any

__version__ = "0.3.0.dev0"

# By the loader of the package, so that it also imports from a zip.
_stub = ast.parse(pkgutil.get_data(__name__, "__init__.pyi") or b"")
_homes = {
    alias.name: str(node.module)
    for node in _stub.body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}


def __getattr__(name: str) -> Any:
    """Import a public name or a module of the package at its first use."""
    if name in _homes:
        found = getattr(importlib.import_module(_homes[name]), name)
    elif importlib.util.find_spec(f"attnsel.{name}") is not None:
        found = importlib.import_module(f"attnsel.{name}")
    else:
        raise AttributeError(f"module 'attnsel' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_homes})
