"""Bars show to someone who waits, and nowhere else."""

import contextlib
import io
import sys
import time

import pytest
import tqdm.auto
import tqdm.notebook

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


@pytest.mark.parametrize("moment", ["before", "while", "after"])
def test_a_bar_of_a_notebook_goes_away_whenever_it_is_stopped(monkeypatch, moment):
    """Stopped while it is drawn, tqdm's own turns red and stays on the page."""
    monkeypatch.delenv("ATTNSEL_PROGRESS", raising=False)
    bars = []

    def bar(*given, **named):
        bars.append(tqdm.notebook.tqdm(*given, **named | {"delay": 1e-9}))
        return bars[-1]

    def stop_once(shown):
        monkeypatch.setattr(tqdm.notebook, "display", lambda shown: None)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "tqdm", bar)
    monkeypatch.setattr(tqdm.notebook, "display", lambda shown: None)
    if moment == "while":
        monkeypatch.setattr(tqdm.notebook, "display", stop_once)
    loop = progress(range(10**9), "counting")
    with contextlib.closing(loop), pytest.raises(KeyboardInterrupt):
        for i in loop:
            time.sleep(0.11)  # tqdm draws ten times a second at most
            if i == {"before": 0, "while": 9, "after": 3}[moment]:
                raise KeyboardInterrupt
    assert bars[0].container.comm is None
