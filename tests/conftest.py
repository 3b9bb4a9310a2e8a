"""Shared settings of the tests."""

import gc
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

# One thread per worker, because tests are small and workers run in parallel.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["ATTNSEL_PROGRESS"] = "0"

# Slow imports are below, so that only the processes that collect tests import them, and
# not the process that distributes the tests.


def pytest_collectstart(collector):
    """Let hypothesis print failed examples, without a database and time limits.

    A shared machine is sometimes slow. Tests of the site do not import hypothesis and
    torch. pytest calls this for each file, and for a folder only if it is named.
    """
    # Imported and collected objects are not garbage, so a search would be wasted.
    gc.disable()
    if collector.path.parent.name in ("book", "package", "report"):
        import hypothesis
        import torch

        # Warnings are shown each time, so that no test depends on being the first.
        torch.set_warn_always(True)
        hypothesis.settings.register_profile("attnsel", deadline=None, database=None)
        hypothesis.settings.load_profile("attnsel")


def pytest_collection_finish():
    """Collect garbage from here on, but not among the objects that exist already."""
    gc.freeze()
    gc.enable()


# Reasons to skip a test that are allowed in continuous integration.
MAY_LACK = re.compile("no GPU|published texts|folder of real reviews")


def must_not_skip(report: Any) -> Any:
    """Let a skipped test fail in continuous integration, except for allowed reasons.

    Otherwise the tests of a package that leaves the requirements would be skipped.
    """
    reason = str(report.longrepr)
    is_skip = report.skipped and not hasattr(report, "wasxfail")
    if os.environ.get("CI") and is_skip and not MAY_LACK.search(reason):
        report.outcome, report.longrepr = "failed", f"skipped in CI: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Check each skipped test."""
    return must_not_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    """Check each skipped file."""
    return must_not_skip((yield))


def pytest_runtest_teardown():
    """Close the figures of a test, because pyplot warns of the 21st open figure."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """Give a test its own cache of the Hub, no network and no progress bars."""
    import datasets
    import huggingface_hub

    from attnsel_readers import hub

    monkeypatch.setenv("ATTNSEL_PROGRESS", "0")
    monkeypatch.setattr(hub, "unreachable", lambda _: "no network in this test")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hub")
    monkeypatch.setattr(
        huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub")
    )


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Yield Chromium without network access."""
    from playwright.sync_api import sync_playwright

    from support.browser import start_chromium

    with sync_playwright() as playwright:
        chromium = start_chromium(playwright)
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser):
    """Yield a function that opens wide tabs, or dark tabs with touch as on a phone.

    A tab lists its `requested` addresses, and errors in `wrong`, which must stay empty.
    """
    contexts, wrong = [], []

    def show(width: int, **settings: Any) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": 844},
            color_scheme="dark" if width < 600 else "light",
            has_touch=width < 600,
            **settings,
        )
        context.set_default_timeout(120_000)  # a busy machine
        contexts.append(context)
        tab = context.new_page()
        tab.requested, tab.wrong = [], wrong
        tab.on("request", lambda asked: tab.requested.append(asked.url))
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on("dialog", lambda dialog: wrong.append(dialog.message))
        return tab

    yield show
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture
def visit(opened):
    """Return a function that shows a figure alone on a page that loads no files."""

    def show(figure: Any, width: int = 1280) -> Any:
        tab = opened(width)
        tab.route("**/*", lambda route: tab.wrong.append(route.request.url))
        dark = "background:#14181e;color:#ced6dd" if width < 600 else ""
        head = '<!doctype html><html lang="en"><title>figure</title>'
        tab.set_content(f'{head}<body style="{dark}"><main>{figure.data}</main>')
        return tab

    return show
