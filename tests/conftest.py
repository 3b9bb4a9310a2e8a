"""Shared settings of the tests."""

from __future__ import annotations

import os

import hypothesis
import torch

# One thread a worker: tests are small, and workers run beside one another.
torch.set_num_threads(1)
os.environ["ATTNSEL_PROGRESS"] = "0"

# Examples that failed are printed, not stored, and time is not judged: a shared
# machine is slow at times.
hypothesis.settings.register_profile("attnsel", deadline=None, database=None)
hypothesis.settings.load_profile("attnsel")
