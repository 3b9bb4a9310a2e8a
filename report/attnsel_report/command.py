"""The report in a shell: `attnsel report FILE`, or `python -m attnsel report FILE`."""

from __future__ import annotations

import argparse
import builtins
import importlib
import logging
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

import attnsel

INTERRUPTED = 130  # what a shell expects of a program that Ctrl-C ended
PIPE_CLOSED = 141  # and of one whose reader ended
# Options by the arguments of `report` that messages speak of.
OPTIONS = "text|label|groups|limit|rate|min_count|tokenize|seed"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; end with one line on what is wrong, if anything is."""
    given = vars(_parser().parse_args(arguments))
    del given["command"]
    try:
        _report(**given)
    except KeyboardInterrupt:
        print("attnsel: stopped", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Who reads has enough; the rest is not written as the program ends, either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(PIPE_CLOSED)
    except (ValueError, TypeError, KeyError, OSError) as error:
        message = str(error.args[0] if len(error.args) == 1 else error)
        sys.exit(f"attnsel: {in_shell(message)}")


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="attnsel", description=__doc__)
    version = f"attnsel {attnsel.__version__}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(dest="command", required=True)
    summary = "say what a label hangs on, and write it as a page"
    page = commands.add_parser(
        "report",
        help=summary,
        description=summary,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add: Any = page.add_argument
    add("source", help="file, folder or name of a data set; - for what is piped in")
    add(
        "--text",
        action="append",
        default=argparse.SUPPRESS,  # it is added to what is given
        help="column of texts; given again, both are joined (default: text)",
    )
    add("--label", default="label", help="column of labels")
    add("--groups", help="column that labels go with: author, film, product")
    add("--limit", type=int, help="size of a random sample of the rows")
    add("--rate", type=float, default=0.05, help="rate of false finds, 0 to 1")
    add("--min-count", type=int, help="of the tokens that a model is trained on")
    add("--tokenize", help="characters, or a function such as jieba.lcut")
    add("--seed", type=int, default=0, help="of the sample and what is held out")
    add("--output", default="report.html", help="page to write; - for the screen")
    add("--csv", help="table of all tokens, pairs and traits to write")
    add("--force", action="store_true", help="write over what is there")
    add("-q", "--quiet", action="store_true", help="say nothing but errors")
    return parser


def _report(
    output: str, csv: str | None, force: bool, quiet: bool, **given: Any
) -> None:
    """Make a report and write it; places to write are looked at before the work."""
    from attnsel_report.paths import free_place, write_text
    from attnsel_report.report import report

    page, table = _places(given["source"], output, csv, force)
    if not quiet:
        logging.basicConfig(format="attnsel: %(message)s", level=logging.INFO)
    if given["source"] == "-":
        given["source"] = sys.stdin.buffer
    texts = given.pop("text", ["text"])
    given["text"] = texts[0] if len(texts) == 1 else texts
    given["tokenize"] = _function(given["tokenize"])
    found = report(**given)
    written = []
    if page is None:
        print(found.html(), flush=True)
    else:
        # Another run may have written there meanwhile.
        written.append(free_place(page, force=force))
        write_text(written[-1], found.html())
    if table is not None:
        written.append(free_place(table, force=force))
        write_text(written[-1], found.table().to_csv(index=False))
    if not quiet and page is not None:
        print(*written, found, sep="\n")


def _places(
    source: str, output: str, csv: str | None, force: bool
) -> tuple[Path | None, Path | None]:
    """Return where the page and the table go; None for the screen, or for no table.

    A ValueError tells of a file that is to be read, or to hold both.
    """
    from attnsel_report.paths import free_place

    if csv == "-":
        raise ValueError("--csv - is no file; name one, the screen is for the page")
    page = None if output == "-" else free_place(output, force=force)
    table = None if csv is None else free_place(csv, force=force)
    read = Path(source).expanduser().resolve()
    for option, place in {"--output": page, "--csv": table}.items():
        if place is not None and place.resolve() == read:
            raise ValueError(f"{option} {place} is what is read; name another file")
    if page is not None and table is not None and page.resolve() == table.resolve():
        raise ValueError(f"--output and --csv are both {page}; name two files")
    return page, table


def _function(name: str | None) -> Callable[[str], Any] | None:
    """Return the function that splits texts by its name, or None for words.

    A ValueError tells of one that is not there, or does not split a text.
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
            f"tokenize: there is no function {name!r} ({error}); say characters, or "
            "a function such as jieba.lcut of a library that is installed"
        ) from error
    try:
        pieces = list(found("some words"))
    except Exception as error:  # whatever the function may raise
        told = f"{name} does not split a text ({type(error).__name__}: {error})"
        raise ValueError(f"tokenize: {told}") from error
    if not all(isinstance(piece, str) for piece in pieces):
        raise ValueError(f"tokenize: {name} does not split a text into strings")
    return found


def in_shell(message: str) -> str:
    """Return a message with the options of the shell, and with lines to type there."""

    def option(found: re.Match[str]) -> str:
        return "--" + found[1].replace("_", "-")

    before_value = re.sub(rf"\b({OPTIONS})=(?=[\w'])", r"\1= ", message)
    with_options = re.sub(rf"\b({OPTIONS})=", option, before_value)
    return re.sub(r"`(import [^`]*)`", _python_line, with_options)


def _python_line(found: re.Match[str]) -> str:
    """Return a line that runs Python's, in the quotes that it leaves."""
    line = found[1]
    return f'`python -c "{line}"`' if '"' not in line else f"`python -c {quote(line)}`"
