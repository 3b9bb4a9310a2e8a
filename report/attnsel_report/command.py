"""The shell command `attnsel report FILE`, or `python -m attnsel report FILE`."""

from __future__ import annotations

import argparse
import logging
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attnsel
from attnsel.files import write_file

if TYPE_CHECKING:  # the help of a shell does not wait for pandas
    import pandas as pd

STOPPED = 130  # what a shell expects of a program that Ctrl-C ended
# Options by the arguments of `report` that messages name.
OPTIONS = "text|label|groups|limit|rate|min_count|tokenize|seed"
# Files to write beside the page: option, attribute of the report, and what it holds.
TABLES = {
    "csv": ("table", "table of all results to write"),
    "suspects": ("suspects", "table of texts whose labels look wrong to write"),
    "rows": ("rows", "table of all rows with one of the top findings to write"),
    "copies": ("copies", "table of copies and near copies to write"),
}
# By which a spreadsheet knows a formula; the last four are full-width letters.
FORMULA = tuple("=+-@\t\n\uff1d\uff0b\uff0d\uff20")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; if an error occurs, exit with a message of one line."""
    try:
        given = vars(_parser().parse_args(arguments))
        del given["command"]
        _report(**given)
    except KeyboardInterrupt:
        sys.exit(STOPPED)
    except (ValueError, TypeError, KeyError, OSError) as error:
        message = str(error.args[0] if len(error.args) == 1 else error)
        sys.exit(f"attnsel: {in_shell(message)}")


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
        help="false-discovery rate, between 0 and 1 (default: 0.05)",
    )
    add(
        "--min-count",
        type=int,
        help="minimum number of occurrences of a token used by the model",
    )
    add(
        "--tokenize",
        choices=["characters"],
        help="take each character as a token, for a script without spaces",
    )
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

    names = {"output": None if output == "-" else output}
    names |= {name: given.pop(name) for name in TABLES}
    places = {
        option: free_place(name, force=force)
        for option, name in names.items()
        if name is not None
    }
    if not quiet:
        logging.basicConfig(format="attnsel: %(message)s", level=logging.INFO)
    texts = given.pop("text", ["text"])
    given["text"] = texts[0] if len(texts) == 1 else texts
    given["tokenize"] = list if given.pop("tokenize") else None
    found = report(source=sys.stdin.buffer if source == "-" else source, **given)
    for option, place in places.items():
        if option == "output":
            write_file(place, found.html().encode())
            continue
        table = getattr(found, TABLES[option][0])
        table = table() if callable(table) else table
        write_file(place, as_csv(table).encode())
    if output == "-":
        print(found.html(), flush=True)
    elif not quiet:
        print(*places.values(), found, sep="\n")


def as_csv(table: pd.DataFrame) -> str:
    """Return a table as CSV without formulas that a spreadsheet would run.

    A text that looks like a formula, such as =1+1, is preceded by a quote. A carriage
    return becomes a line feed, because the csv module does not quote the former, and a
    formula behind it would begin a row. Invisible characters are replaced by their
    codes.
    """
    from attnsel_report.letters import visible

    def safe(cell: Any) -> Any:
        if not isinstance(cell, str):
            return cell
        text = visible(cell.replace("\r\n", "\n").replace("\r", "\n"))
        return f"'{text}" if text.startswith(FORMULA) else text

    return table.apply(lambda column: column.map(safe)).to_csv(index=False)


def in_shell(message: str) -> str:
    """Return a message in which Python arguments are replaced by shell options.

    Control characters, such as those that set the color of a terminal, are shown as
    escape sequences.
    """

    def option(found: re.Match[str]) -> str:
        return "--" + found[1].replace("_", "-")

    before_value = re.sub(rf"\b({OPTIONS})=(?=[\w'])", r"\1= ", message)
    with_options = re.sub(rf"\b({OPTIONS})=", option, before_value)
    return re.sub(r"[\0-\x1f\x7f-\x9f]", lambda c: repr(c[0])[1:-1], with_options)
