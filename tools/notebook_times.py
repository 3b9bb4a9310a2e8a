"""A pytest plugin for nbval runs: how long each notebook took."""

from __future__ import annotations

from collections import defaultdict

import pytest


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
