"""Training in several processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from attnsel.train import fit
from support import forks
from support.distributed import SETTINGS, together

SCRIPT = Path(__file__).parents[1] / "support" / "distributed.py"
pytestmark = forks.in_forks
MEASURED = ("step", "loss", "accuracy", "test_loss", "test_accuracy")
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}


def start(folder, world, mode):
    """Run processes that train together; return their exit statuses and errors."""
    calls = [[str(folder), str(rank), str(world), mode] for rank in range(world)]
    done = forks.run(SCRIPT, *calls, environment=ENVIRONMENT)
    return [each.returncode for each in done], [each.stderr for each in done]


def alone(n_classes=2, **settings):
    corpus, test, model = together(n_classes)
    return fit(model, corpus, test=test, **SETTINGS | settings)


def agree(history, path):
    other = torch.load(path)
    for name in MEASURED:
        torch.testing.assert_close(
            other[name], getattr(history, name), rtol=1e-6, atol=1e-9
        )
    for step, scores in history.scores.items():
        torch.testing.assert_close(other["scores"][step], scores, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("world", "mode"),
    [
        (2, "class by class"),
        pytest.param(2, "two", marks=pytest.mark.weekly),
        pytest.param(4, "four", marks=pytest.mark.weekly),
        pytest.param(3, "classes", marks=pytest.mark.weekly),
    ],
)
def test_processes_that_share_a_corpus_give_one_history(tmp_path, world, mode):
    codes, said = start(tmp_path, world, mode)
    assert codes == [0] * world, said
    history = alone(3 if mode == "classes" else 2)
    for rank in range(world):
        agree(history, tmp_path / f"{mode}-{rank}.pt")


@pytest.mark.weekly
def test_torchrun_starts_them(tmp_path):
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    call = [str(SCRIPT), str(tmp_path), "-1", "0", "torchrun"]
    paths = [str(SCRIPT.parents[1]), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [*torchrun, "--nproc-per-node", "2", *call],
        capture_output=True,
        text=True,
        env=ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(paths)},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    for rank in (0, 1):
        agree(alone(), tmp_path / f"torchrun-{rank}.pt")


@pytest.mark.weekly
def test_settings_that_differ_are_refused(tmp_path):
    codes, said = start(tmp_path, 2, "differ")
    assert codes == [1, 1]
    for words, (own, other) in zip(said, ((0.05, 1.05), (1.05, 0.05)), strict=True):
        assert f"ValueError: lr: {own} here, but {other} in another process" in words


@pytest.mark.weekly
def test_a_killed_process_ends_the_others_and_training_goes_on(tmp_path):
    codes, said = start(tmp_path, 2, "die")
    assert codes == [1, -9]
    why = "another process of this training has ended or does not answer; start all "
    assert f"RuntimeError: {why}processes again, with checkpoint=" in said[0]
    reached = len(torch.load(tmp_path / "checkpoint")["measured"])
    assert reached < 1500
    codes, said = start(tmp_path, 2, "again")
    assert codes == [0, 0], said
    found = [torch.load(tmp_path / f"again-{rank}.pt") for rank in (0, 1)]
    assert found[0]["step"].tolist() == list(range(1501))
    assert torch.equal(found[0]["loss"], found[1]["loss"])
    history = alone(steps=1500, lr=1e-3)
    torch.testing.assert_close(found[0]["loss"], history.loss, rtol=1e-3, atol=1e-5)


@pytest.mark.weekly
def test_a_process_that_hangs_ends_the_others_after_the_timeout(tmp_path):
    codes, said = start(tmp_path, 2, "hang")
    assert codes == [1, 0]
    assert "RuntimeError: another process of this training has ended or does" in said[0]
