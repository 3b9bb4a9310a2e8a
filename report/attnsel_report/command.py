"""The shell command `attnsel report FILE`, or `python -m attnsel report FILE`."""

from __future__ import annotations

import argparse
import builtins
import importlib
import logging
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NoReturn

import attnsel
from attnsel.files import remove_unfinished, write_files

if TYPE_CHECKING:  # the help of a shell does not wait for pandas
    import pandas as pd

PIPE_CLOSED = 141  # exit code that a shell expects after a closed pipe
# Options by the arguments of `report` that messages name.
OPTIONS = "text|label|groups|limit|rate|min_count|tokenize|seed"
# Tables to write next to the page: option, attribute of the report, and help text.
TABLES = {
    "csv": ("table", "write a table of all results"),
    "suspects": ("suspects", "write a table of the texts whose labels look wrong"),
    "rows": ("rows", "write a table of all rows with one of the top findings"),
    "copies": ("copies", "write a table of copies and near copies"),
}
# First characters of a formula in a spreadsheet; the last four are full-width.
FORMULA = tuple("=+-@\t\n\uff1d\uff0b\uff0d\uff20")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; errors such as a missing file end it with a one-line message."""
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, _stop) for number in signals]
    try:
        given = vars(_parser().parse_args(arguments))
        del given["command"]
        _report(**given)
    except BrokenPipeError:
        # The reader has enough, so the rest is not written at the end, either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(PIPE_CLOSED)
    except (ValueError, TypeError, KeyError, OSError) as error:
        message = str(error.args[0] if len(error.args) == 1 else error)
        sys.exit(f"attnsel: {in_shell(message)}")
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)


def _stop(number: int, _: object) -> NoReturn:
    """Exit immediately with the code of the signal, without traceback or partial file.

    The function does not raise an exception, because a library that is interrupted by
    an exception may abort.
    """
    remove_unfinished()
    os.write(sys.stderr.fileno(), b"attnsel: stopped\n")
    os._exit(128 + number)


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="attnsel", description=__doc__)
    version = f"attnsel {attnsel.__version__}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(dest="command", required=True)
    summary = "write an HTML report on which words predict the label"
    page = commands.add_parser("report", help=summary, description=summary)
    add: Any = page.add_argument
    add("source", help="file, folder or name of a data set; - to read a pipe")
    add(
        "--text",
        action="append",
        default=argparse.SUPPRESS,  # it is added to what is given
        help="column of texts; give it twice to join two columns (default: text)",
    )
    add("--label", default="label", help="column of labels (default: label)")
    add("--groups", help="column of groups (author, film, ...) that count once")
    add("--limit", type=int, help="number of rows to draw at random")
    add(
        "--rate",
        type=float,
        default=0.05,
        help="false-discovery rate, above 0 and at most 0.99 (default: 0.05)",
    )
    add(
        "--min-count",
        type=int,
        help="minimum number of occurrences of a token used by the model",
    )
    add("--tokenize", help="characters, or a function such as jieba.lcut")
    add("--seed", type=int, default=0, help="seed of all random draws (default: 0)")
    add(
        "--output",
        default="report.html",
        help="page to write; - for the screen (default: report.html)",
    )
    for name, (_, meaning) in TABLES.items():
        add(f"--{name}", metavar="FILE", help=f"{meaning}, as CSV")
    add("--force", action="store_true", help="write over files that exist")
    add("-q", "--quiet", action="store_true", help="print nothing but errors")
    return parser


def _report(source: str, output: str, force: bool, quiet: bool, **given: Any) -> None:
    """Make a report and write it, after checking that its files can be written."""
    from attnsel_report.paths import free_place
    from attnsel_report.report import report

    tables = {name: given.pop(name) for name in TABLES}
    page, *places = _places(source, output, tables, force)
    if not quiet:
        logging.basicConfig(format="attnsel: %(message)s", level=logging.INFO)
    texts = given.pop("text", ["text"])
    given["text"] = texts[0] if len(texts) == 1 else texts
    given["tokenize"] = _function(given["tokenize"])
    found = report(source=sys.stdin.buffer if source == "-" else source, **given)
    contents: dict[Path, bytes | dict[str, Any]] = {}
    # Another run may have written a file there meanwhile.
    if page is not None:
        contents[free_place(page, force=force)] = found.html().encode()
    for (attribute, _), place in zip(TABLES.values(), places, strict=True):
        if place is not None:
            table = getattr(found, attribute)
            table = table() if callable(table) else table
            contents[free_place(place, force=force)] = as_csv(table).encode()
    write_files(contents)
    if page is None:
        print(found.html(), flush=True)
    elif not quiet:
        print(*contents, found, sep="\n")


def as_csv(table: pd.DataFrame) -> str:
    """Return a table as CSV without formulas that a spreadsheet would run.

    A text that looks like a formula, such as =1+1, is preceded by an apostrophe. A
    carriage return becomes a line feed, because the csv module does not quote it, and a
    formula after it would begin a row. Invisible characters are replaced by codes.
    """
    from attnsel_report.letters import visible

    def safe(cell: Any) -> Any:
        if not isinstance(cell, str):
            return cell
        text = visible(cell.replace("\r\n", "\n").replace("\r", "\n"))
        return f"'{text}" if text.startswith(FORMULA) else text

    return table.apply(lambda column: column.map(safe)).to_csv(index=False)


def _places(
    source: str, output: str, tables: dict[str, str | None], force: bool
) -> list[Path | None]:
    """Return the paths of the page and of the tables.

    The path is None for the screen, and for a table that is not written.

    Raises:
        ValueError: if an output is the input file, or if two outputs have the same
            path.
    """
    from attnsel_report.paths import free_place

    names = {"output": None if output == "-" else output} | tables
    # Path.resolve raises a RuntimeError for a link to itself.
    places = {os.path.realpath(Path(source).expanduser()): "source"}
    found = []
    for option, name in names.items():
        if name == "-":
            raise ValueError(f"--{option}: only the page can be printed; name a file")
        place = None if name is None else free_place(name, force=force)
        found.append(place)
        if place is None:
            continue
        other = places.setdefault(os.path.realpath(place), option)
        if other == "source":
            raise ValueError(f"--{option} {place} is the input; name another file")
        if other != option:
            raise ValueError(
                f"--{other} and --{option} are both {place}; name two files"
            )
    return found


def _function(name: str | None) -> Callable[[str], Any] | None:
    """Return the function of a given name that splits texts, or None for words.

    Raises:
        ValueError: if there is no function of this name, or if it cannot split a text.
    """
    if name is None:
        return None
    if name == "characters":
        return list
    module, _, function = name.rpartition(".")
    try:
        holder = getattr(builtins, module, None) or importlib.import_module(module)
        found: Callable[[str], Any] = getattr(holder, function)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"tokenize: there is no function {name!r} ({error}); write characters, or "
            "a function such as jieba.lcut of a library that is installed"
        ) from error
    try:
        pieces = list(found("some words"))
    except Exception as error:  # whatever the function may raise
        cause = f"{type(error).__name__}: {error}"
        raise ValueError(f"tokenize: {name} does not split a text ({cause})") from error
    if not all(isinstance(piece, str) for piece in pieces):
        raise ValueError(f"tokenize: {name} does not split a text into strings")
    return found


def in_shell(message: str) -> str:
    """Return a message in which Python arguments are replaced by shell options.

    Python code that begins with an import becomes a shell command. Control characters,
    for example in codes for colors, are shown as escape sequences.
    """

    def option(found: re.Match[str]) -> str:
        return "--" + found[1].replace("_", "-")

    before_value = re.sub(rf"\b({OPTIONS})=(?=[\w'])", r"\1= ", message)
    with_options = re.sub(rf"\b({OPTIONS})=", option, before_value)
    with_lines = re.sub(r"`(import [^`]*)`", _python_line, with_options)
    return re.sub(r"[\0-\x1f\x7f-\x9f]", lambda c: repr(c[0])[1:-1], with_lines)


def _python_line(found: re.Match[str]) -> str:
    """Return a shell command that runs a line of Python, with suitable quotes."""
    line = found[1]
    return f'`python -c "{line}"`' if '"' not in line else f"`python -c {quote(line)}`"
