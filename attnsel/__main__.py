"""`attnsel report FILE`, or `python -m attnsel report FILE`: the report in a shell."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from attnsel.reporting.report import report


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page of a report; end with a message on what is wrong with the data."""
    parser = argparse.ArgumentParser(prog="attnsel", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    told = "say what a label hangs on, and write it as a page"
    page = commands.add_parser("report", help=told, description=told)
    page.add_argument("source", help="file, folder or name of a data set")
    page.add_argument("--text", default="text", help="column of texts")
    page.add_argument("--label", default="label", help="column of labels")
    page.add_argument("--limit", type=int, help="size of a random sample")
    page.add_argument("--rate", type=float, default=0.05, help="rate of false finds")
    page.add_argument("--output", default="report.html", help="file to write")
    given = vars(parser.parse_args(arguments))
    output = given.pop("output")
    del given["command"]
    try:
        found = report(**given)
        print(found.save(output))
    except (ValueError, KeyError, OSError) as error:
        told = str(error.args[0] if len(error.args) == 1 else error)
        sys.exit(f"attnsel: {told.replace('text= and label=', '--text and --label')}")
    print(found)


if __name__ == "__main__":
    main()
