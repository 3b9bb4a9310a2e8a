"""Progress bars are shown only where a person waits."""

import io
import sys

import pytest
import tqdm.std

from attnsel.progress import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "setting", "seconds", "shown"),
    [
        (Terminal, "1", 2, True),
        (Terminal, "1", 1.9, False),
        (Terminal, "0", 2, False),
        (io.StringIO, "1", 2, False),
    ],
)
def test_a_bar_shows_on_a_terminal_after_two_seconds_unless_switched_off(
    monkeypatch, stream, setting, seconds, shown
):
    clock = [1e6]
    monkeypatch.setenv("ATTNSEL_PROGRESS", setting)
    monkeypatch.setattr(tqdm.std, "time", lambda: clock[0])
    monkeypatch.setattr(sys, "stderr", stream())
    for i, _ in enumerate(progress(iter("abc"), "counting")):
        clock[0] += seconds if i == 0 else 0
    assert i == 2 and ("counting" in sys.stderr.getvalue()) == shown
