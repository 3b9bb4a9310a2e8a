"""Shared settings of the tests."""

from __future__ import annotations

import os
import sys

import pytest

# One thread a worker: tests are small, and workers run beside one another.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["ATTNSEL_PROGRESS"] = "0"

# What takes long to import is imported below, by the processes that collect tests; the
# one that hands them out to workers does not.


def pytest_collectstart(collector):
    """Print examples that failed, do not store them, and do not judge their time.

    A shared machine is slow at times.
    """
    if isinstance(collector, pytest.Directory):
        import hypothesis
        import torch

        # Not once a process, so that no test needs to be the first.
        torch.set_warn_always(True)
        hypothesis.settings.register_profile("attnsel", deadline=None, database=None)
        hypothesis.settings.load_profile("attnsel")


def pytest_runtest_teardown():
    """Close what a test drew: pyplot warns of the 21st figure, whoever draws it."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """A cache of its own, no data folder, no network, no bars, for a test."""
    import datasets
    import huggingface_hub

    from attnsel.texts import cache, hub

    monkeypatch.setenv("ATTNSEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ATTNSEL_PROGRESS", "0")
    monkeypatch.delenv("ATTNSEL_DATA", raising=False)
    monkeypatch.setattr(hub, "unreachable", lambda _: "no network in this test")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hub")
    monkeypatch.setattr(
        huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub")
    )
    cache._warn_once.cache_clear()
