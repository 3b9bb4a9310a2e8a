"""A pytest plugin for nbval: the longest notebooks first, and how long each took."""

import re
from collections import defaultdict
from pathlib import Path

import pytest


def stated_seconds(path: Path) -> int:
    """Return how long a notebook states, 0 for one that does not."""
    found = re.search(r"about (\d+) s on", path.read_text(encoding="utf-8"))
    return int(found[1]) if found else 0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest, so that all processes end at about the same time."""
    seconds = {path: stated_seconds(path) for path in {item.path for item in items}}
    items.sort(key=lambda item: -seconds[item.path])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the seconds that each notebook's cells took together."""
    seconds: defaultdict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            path = getattr(report, "nodeid", "").split("::")[0]
            if path.endswith(".ipynb"):
                seconds[path] += getattr(report, "duration", 0.0)
    terminalreporter.section("time of each notebook")
    for path, total in sorted(seconds.items()):
        terminalreporter.write_line(f"{total:7.1f} s  {path}")
