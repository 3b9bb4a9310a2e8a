"""A pytest plugin: what each chapter's journey took, as a table."""

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a line for each test that recorded a journey."""
    rows = [
        value
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
        for name, value in report.user_properties
        if name == "journey"
    ]
    if rows:
        terminalreporter.section("journeys")
        for row in rows:
            terminalreporter.write_line(row)
