"""Shared settings of the tests."""

from __future__ import annotations

import os

import hypothesis
import pytest
import torch

from attnsel.texts import cache, hub

# One thread a worker: tests are small, and workers run beside one another.
torch.set_num_threads(1)
os.environ["ATTNSEL_PROGRESS"] = "0"

# Examples that failed are printed, not stored, and time is not judged: a shared
# machine is slow at times.
hypothesis.settings.register_profile("attnsel", deadline=None, database=None)
hypothesis.settings.load_profile("attnsel")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Name the tests of an `xdist_group` as xdist wants them named.

    xdist 3.8 writes the name where pytest 9.2 does not read it any more, and then the
    tests of a group, which share what is dear to make, run in all processes.
    """
    for item in items:
        if "@" in vars(item).get("_nodeid", "") and hasattr(item, "_id"):
            item._id = type(item._id).parse(item._nodeid)


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """A cache of its own, no data folder, no network, no bars, for a test."""
    import datasets
    import huggingface_hub

    monkeypatch.setenv("ATTNSEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ATTNSEL_PROGRESS", "0")
    monkeypatch.delenv("ATTNSEL_DATA", raising=False)
    monkeypatch.setattr(hub, "unreachable", lambda _: "no network in this test")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hub")
    monkeypatch.setattr(
        huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub")
    )
    cache._warn_once.cache_clear()
