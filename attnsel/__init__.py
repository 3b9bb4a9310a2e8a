"""A one-layer attention classifier with trained embeddings, and theory about it.

The public names, listed in `__init__.pyi`, are imported when they are first used.
"""

import ast
import importlib
import importlib.util
import pkgutil
from typing import Any

__version__ = "0.3.0.dev0"

# The loader of the package reads the stub, so that a zip can also be imported.
_stub = ast.parse(pkgutil.get_data(__name__, "__init__.pyi") or b"")
_homes = {
    alias.name: str(node.module)
    for node in _stub.body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}


def __getattr__(name: str) -> Any:
    """Import a public name or a module of the package when it is first used."""
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
