"""Shared settings of the tests."""

import gc
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

# One thread a worker: tests are small, and workers run beside one another.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["ATTNSEL_PROGRESS"] = "0"

# What takes long to import is imported below, by the processes that collect tests; the
# one that hands them out to workers does not.


def pytest_collectstart(collector):
    """Print examples that failed, do not store them, and do not judge their time.

    A shared machine is slow at times. Tests of the site need neither of the two.
    pytest calls this for each file, but for a folder only if one names it.
    """
    # Nothing of what is imported and collected is garbage: nobody looks for any.
    gc.disable()
    if collector.path.parent.name in ("book", "package", "report"):
        import hypothesis
        import torch

        # Not once a process, so that no test needs to be the first.
        torch.set_warn_always(True)
        hypothesis.settings.register_profile("attnsel", deadline=None, database=None)
        hypothesis.settings.load_profile("attnsel")


def pytest_collection_finish():
    """From here on there is garbage, though none in what is there already."""
    gc.freeze()
    gc.enable()


# What a machine of the continuous integration may lack.
MAY_LACK = re.compile("no GPU|published texts|folder of real reviews")


def must_not_skip(report: Any) -> Any:
    """Let a skip fail where everything is installed, for what a machine may lack aside.

    Otherwise a package that is dropped from the requirements takes its tests with it.
    """
    reason = str(report.longrepr)
    is_skip = report.skipped and not hasattr(report, "wasxfail")
    if os.environ.get("CI") and is_skip and not MAY_LACK.search(reason):
        report.outcome, report.longrepr = "failed", f"skipped in CI: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Look at each test that is skipped."""
    return must_not_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    """Look at each file that is skipped."""
    return must_not_skip((yield))


def pytest_runtest_teardown():
    """Close what a test drew: pyplot warns of the 21st figure, whoever draws it."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """A Hub's cache of its own, no network, no bars, for a test."""
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
    """Chromium, without network."""
    from playwright.sync_api import sync_playwright

    from support.browser import start_chromium

    with sync_playwright() as playwright:
        chromium = start_chromium(playwright)
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser):
    """Open tabs, wide or dark and touched as on a phone; nothing may go wrong in them.

    A tab lists what it has `requested`; what is added to its `wrong` has gone wrong.
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
    """Show a figure alone on a page, which loads nothing."""

    def show(figure: Any, width: int = 1280) -> Any:
        tab = opened(width)
        tab.route("**/*", lambda route: tab.wrong.append(route.request.url))
        dark = "background:#14181e;color:#ced6dd" if width < 600 else ""
        head = '<!doctype html><html lang="en"><title>figure</title>'
        tab.set_content(f'{head}<body style="{dark}"><main>{figure.data}</main>')
        return tab

    return show
