"""Every chapter runs alone from top to bottom, as in Colab (`make test-runner`)."""

import os
import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

from support.runner import COLAB, Session, packages, snapshot
from tools import execute
from tools.site.colab import ROOT

# A kernel that this process starts leaves sockets to the garbage collector.
pytestmark = [pytest.mark.runner, pytest.mark.filterwarnings("default")]

WIDGET = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"


CHAPTERS = sorted((ROOT / "book").glob("*.ipynb"))


@pytest.fixture(scope="module")
def mirror(tmp_path_factory) -> Path:
    return snapshot(tmp_path_factory.mktemp("mirror") / "attnsel.git")


class Journey:
    """The run of a chapter from top to bottom, in a folder with only this file."""

    def __init__(self, path: Path, session: Session) -> None:
        before = packages(COLAB)
        copy = Path(shutil.copy(path, session.folder))
        self.stored = nbformat.read(copy, as_version=4)
        self.notebook = nbformat.read(copy, as_version=4)
        for cell in code(self.notebook):
            cell.outputs = []
        client = NotebookClient(
            self.notebook,
            km=AsyncKernelManager(**session.kernels),
            timeout=600,
            resources={"metadata": {"path": str(session.folder)}},
        )
        client.owns_km = True  # it ends the kernel, too
        client.execute(env=session.env)
        installed = packages(session.environment)
        pip = session.log.read_text()
        sizes = dict(re.findall(r"Downloading (\S+) \(([\d.]+ [kMG]?B)\)", pip))
        loaded = sum(map(megabytes, sizes.values()))
        self.said = execute.noise(self.notebook)

        # No package changes its version, so no restart and no other torch is needed.
        assert packages(COLAB) == before
        assert not set(installed) & set(before)
        assert "attnsel" in installed
        assert loaded < 50, sizes
        # The files that own_texts reads and writes.
        assert set(os.listdir(session.folder)) - {"report.html", "tickets.csv"} == {
            path.name
        }
        self.check_outputs()

    def check_outputs(self) -> None:
        """Check that a run shows all outputs of the book, and only live widgets."""
        # Without a wait, the notebook contains no bar and no widget.
        widgets = self.notebook.metadata.get("widgets", {STATE: {"state": {}}})
        state = widgets[STATE]["state"]
        for cell, stored in zip(code(self.notebook), code(self.stored), strict=True):
            assert kinds(stored) - {WIDGET} <= kinds(cell), cell.source
            for output in cell.outputs:
                if WIDGET in output.get("data", {}):
                    assert output.data[WIDGET]["model_id"] in state, cell.source
        # A bar that ends in red looks like a failure.
        styles = [model["state"].get("bar_style") for model in state.values()]
        assert "danger" not in styles


def code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def kinds(cell: Any) -> set[str]:
    return {kind for output in cell.outputs for kind in output.get("data", {})}


def megabytes(size: str) -> float:
    number, unit = size.split()
    return float(number) * {"B": 1e-6, "kB": 1e-3, "MB": 1, "GB": 1e3}[unit]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_chapter_runs_alone(path, tmp_path, mirror):
    assert not Journey(path, Session(tmp_path, mirror)).said
