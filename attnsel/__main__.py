"""The command line of the report, `python -m attnsel report FILE`."""

import sys

try:
    from attnsel_report.command import main
except ModuleNotFoundError as error:  # with the line to type
    sys.exit(f"attnsel: {error}")

if __name__ == "__main__":
    main()
