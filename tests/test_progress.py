"""Bars show to someone who waits, and nowhere else."""

import io
import sys

import pytest
import tqdm.auto

from attnsel import progress as module
from attnsel.progress import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def no_delay(monkeypatch):
    plain = tqdm.auto.tqdm
    monkeypatch.setattr(
        module, "tqdm", lambda *a, **k: plain(*a, **{**k, "delay": 0, "mininterval": 0})
    )


@pytest.mark.parametrize(
    ("stream", "setting", "shown"),
    [(Terminal, None, True), (Terminal, "0", False), (io.StringIO, None, False)],
)
@pytest.mark.usefixtures("no_delay")
def test_a_bar_shows_on_a_terminal_unless_switched_off(
    monkeypatch, stream, setting, shown
):
    if setting is None:
        monkeypatch.delenv("ATTNSEL_PROGRESS", raising=False)
    else:
        monkeypatch.setenv("ATTNSEL_PROGRESS", setting)
    monkeypatch.setattr(sys, "stderr", stream())
    assert list(progress(iter("abc"), "counting")) == ["a", "b", "c"]
    written = sys.stderr.getvalue()
    assert ("counting" in written) == shown
    assert shown or not written


def test_a_short_loop_shows_nothing(monkeypatch):
    monkeypatch.delenv("ATTNSEL_PROGRESS", raising=False)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert list(progress(range(3), "counting")) == [0, 1, 2]
    assert not sys.stderr.getvalue().strip()
