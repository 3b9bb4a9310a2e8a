"""The file in which a reader's functions are saved for later chapters."""

import inspect
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

FILE = Path("my_attnsel.py")  # beside the chapters, in the folder they run in
HEAD = '''\
"""My functions for the book "Attention selects important tokens"; chapters use them."""

import attnsel
import numpy as np
import torch
'''
_MARK = re.compile(r"^# exercise: ([\w-]+)\n", re.MULTILINE)


def parts(text: str) -> dict[str, str]:
    """Return the source of each function in the text of a stored file, by exercise."""
    pieces = _MARK.split(text)
    return dict(zip(pieces[1::2], map(str.strip, pieces[2::2]), strict=True))


def sources() -> dict[str, str]:
    """Return the sources in the file by exercise; none if the file cannot be read."""
    try:
        return parts(FILE.read_text(encoding="utf-8"))
    except (OSError, UnicodeError):
        return {}


def keep(new: dict[str, str]) -> bool:
    """Add sources by exercise to the file, and return whether this was possible."""
    blocks = [f"\n\n# exercise: {k}\n{v}\n" for k, v in (sources() | new).items()]
    try:
        FILE.write_text(HEAD + "".join(blocks), encoding="utf-8")
    except OSError:  # a folder that one cannot write to
        return False
    return True


def source_of(function: Callable[..., Any]) -> str | None:
    """Return the source of a function, or None if it is not known."""
    try:
        return textwrap.dedent(inspect.getsource(function)).strip()
    except (OSError, TypeError):
        return None


def functions() -> dict[str, Any]:
    """Return the function of each exercise in the file, or why it cannot be used.

    A function can use the functions above it, and the names `np`, `torch` and
    `attnsel`.
    """
    names: dict[str, Any] = {}
    exec(HEAD, names)
    found: dict[str, Any] = {}
    for exercise, source in sources().items():
        before = dict(names)
        try:
            exec(compile(source, str(FILE), "exec"), names)
        except Exception as error:  # its owner has changed it
            found[exercise] = f"{type(error).__name__}: {error}"
            continue
        new = [x for key, x in names.items() if before.get(key) is not x]
        found[exercise] = next(filter(callable, reversed(new)), "it defines nothing")
    return found
