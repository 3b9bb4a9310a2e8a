"""Bars show to someone who waits, and nowhere else."""

import importlib
import io
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import tqdm.auto
import tqdm.notebook
import tqdm.std

from attnsel import progress as module
from attnsel.progress import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def no_delay(monkeypatch):
    plain = module._Bar
    at_once = {"delay": 0, "mininterval": 0}
    monkeypatch.setattr(module, "_Bar", lambda *a, **k: plain(*a, **k | at_once))


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


@pytest.mark.parametrize(("seconds", "shown"), [(0, False), (1.9, False), (2, True)])
def test_a_bar_shows_after_two_seconds(monkeypatch, seconds, shown):
    clock = [1e6]
    monkeypatch.delenv("ATTNSEL_PROGRESS", raising=False)
    monkeypatch.setattr(tqdm.std, "time", lambda: clock[0])
    monkeypatch.setattr(sys, "stderr", Terminal())
    for _ in progress(range(1), "counting"):
        clock[0] += seconds
    assert ("counting" in sys.stderr.getvalue()) == shown
    assert shown or not sys.stderr.getvalue().strip()


@pytest.fixture
def bars(monkeypatch):
    """The module as a notebook has it, and the bars that it makes."""
    monkeypatch.delenv("ATTNSEL_PROGRESS", raising=False)
    monkeypatch.setattr(tqdm.auto, "tqdm", tqdm.notebook.tqdm)
    monkeypatch.setattr(tqdm.notebook, "display", lambda bar: None)
    importlib.reload(module)
    made, plain = [], module._Bar

    def bar(*given, **keywords):
        made.append(plain(*given, **keywords | {"delay": 1e-9, "mininterval": 0}))
        return made[-1]

    monkeypatch.setattr(module, "_Bar", bar)
    yield made
    monkeypatch.undo()
    importlib.reload(module)


def stop(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("is_drawn", [True, False])
def test_a_bar_of_a_notebook_goes_away_whenever_it_is_stopped(
    monkeypatch, bars, is_drawn
):
    """Stopped while it is drawn, tqdm's own turns red, stays and keeps its lock."""
    if is_drawn:
        monkeypatch.setattr(tqdm.notebook, "display", stop)
    with pytest.raises(KeyboardInterrupt):
        for i in module.progress(range(10), "counting"):
            if i == 5:
                stop()
    (bar,) = bars
    assert bar.n == (1 if is_drawn else 5)
    assert bar.container.comm is None
    with ThreadPoolExecutor(1) as other:
        for lock in bar.get_lock().locks:
            assert other.submit(lock.acquire, False).result()
            other.submit(lock.release).result()


def test_a_loop_that_ends_early_is_no_failure(bars):
    for i in module.progress(range(10), "counting"):
        if i == 5:
            break
    ((_, drawn, _),) = [bar.container.children for bar in bars]
    assert drawn.bar_style != "danger"
