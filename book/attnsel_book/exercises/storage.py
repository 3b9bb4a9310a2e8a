"""The file in which a reader's functions are saved for later chapters."""

import inspect
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attnsel.files import write_files

FILE = Path("my_attnsel.py")  # in the folder in which the chapters run
HEAD = '''\
"""My functions for the book "Attention selects important tokens"; chapters use them."""

import attnsel
import numpy as np
import torch
'''
_MARK = re.compile(r"^# exercise: ([\w-]+)\n", re.MULTILINE)


def parts(text: str) -> tuple[str, dict[str, str]]:
    """Return the beginning of a file's text, and each function's source by exercise."""
    head, *pieces = _MARK.split(text)
    return head.strip(), dict(
        zip(pieces[::2], map(str.strip, pieces[1::2]), strict=True)
    )


def _text() -> str:
    """Return the text of the file, or "" if there is no file.

    Raises:
        OSError, UnicodeError: if the file cannot be read.
    """
    return FILE.read_text(encoding="utf-8-sig") if FILE.exists() else ""


def keep(new: dict[str, str]) -> None:
    """Add or replace the sources `new` in the file.

    Raises:
        OSError, UnicodeError: if the file cannot be read or written. It is then
            unchanged.
    """
    head, known = parts(_text())
    blocks = [f"\n\n# exercise: {k}\n{v}\n" for k, v in (known | new).items()]
    text = f"{head or HEAD.strip()}\n" + "".join(blocks)
    write_files({FILE.resolve(): text.encode()})


def source_of(function: Callable[..., Any]) -> str | None:
    """Return the source of a function, or None if the source is not known."""
    try:
        return textwrap.dedent(inspect.getsource(function)).strip()
    except (OSError, TypeError):
        return None


def functions() -> dict[str, Any]:
    """Return the function of each exercise in the file, or the reason for its absence.

    If the beginning of the file fails, the reason has the key "".

    A function can use the functions above it, the imports at the beginning of the file,
    and the names `np`, `torch` and `attnsel`.

    Raises:
        OSError, UnicodeError: if the file cannot be read.
    """
    names: dict[str, Any] = {}
    exec(HEAD, names)
    found: dict[str, Any] = {}
    text = _text()
    head, known = parts(text)
    for exercise, source in [("", head), *known.items()]:
        before = dict(names)
        above = "\n" * text.count("\n", 0, text.find(source))  # for numbers of lines
        try:
            exec(compile(above + source, str(FILE), "exec"), names)
        except Exception as error:  # readers may have changed it
            found[exercise] = f"{type(error).__name__}: {error}"
            continue
        new = [x for key, x in names.items() if before.get(key) is not x]
        if exercise:
            nothing = "it defines nothing"
            found[exercise] = next(filter(callable, reversed(new)), nothing)
    return found
