"""A reader's functions, kept from one chapter to the next."""

import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import attnsel

FOLDER = Path("my_functions")  # beside the chapters, in the folder they run in


def keep(name: str, function: Callable[..., Any]) -> bool:
    """Write the source of a function to a file; return whether that could be done."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / f"{name}.py").write_text(source, encoding="utf-8")
    except (OSError, TypeError):  # a lambda of a shell, or a folder one cannot write to
        return False
    return True


def kept(name: str, function: str) -> Callable[..., Any] | None:
    """Return the function that a file holds, by its name or as the only one, or None.

    It sees `np`, `torch` and `attnsel`; whatever else it needs it has to import.
    """
    try:
        source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
        names: dict[str, Any] = {"np": np, "torch": torch, "attnsel": attnsel}
        before = {*names, "__builtins__"}
        exec(compile(source, f"{name}.py", "exec"), names)
    except Exception:  # there is no file, or its owner has changed it
        return None
    defined = [value for key, value in names.items() if key not in before]
    return names.get(function, defined[0] if len(defined) == 1 else None)
