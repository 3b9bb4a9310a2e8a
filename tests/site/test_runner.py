"""A runner opens a chapter in Colab, runs it from the top, watches it and stops it."""

import os
import re
import shutil
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager, KernelManager
from nbclient import NotebookClient

from support.runner import COLAB, Session, packages, snapshot
from support.turns import commit
from tools import execute
from tools.site.colab import ROOT

# A kernel that this process starts leaves sockets to the garbage collector.
pytestmark = [pytest.mark.runner, pytest.mark.filterwarnings("default")]

WIDGET = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"


def some(chapters: list[Path]) -> list[Path]:
    """Return one chapter, another at each commit; RUNNER=all returns all of them."""
    if os.environ.get("RUNNER") == "all":
        return chapters
    return [chapters[commit() % len(chapters)]]


CHAPTERS = sorted((ROOT / "book").glob("*.ipynb"))


@pytest.fixture(scope="module")
def mirror(tmp_path_factory) -> Path:
    return snapshot(tmp_path_factory.mktemp("mirror") / "attnsel.git")


class Journey:
    """A chapter, run from top to bottom with nothing but its file."""

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

        # Nothing that was there gets another version: no restart, no other torch.
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
        """Check that a runner sees all that the book shows, and only live widgets."""
        # Without a wait there is no bar, and no widget in the notebook.
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


@pytest.fixture(scope="module")
def session(tmp_path_factory, mirror) -> Session:
    """One for all that needs no new one: what is installed takes long."""
    return Session(tmp_path_factory.mktemp("session"), mirror)


# One session, so one process.
together = pytest.mark.xdist_group("session")


@pytest.mark.parametrize("path", some(CHAPTERS), ids=lambda path: path.stem)
def test_chapter_runs_alone(path, tmp_path, mirror):
    assert not Journey(path, Session(tmp_path, mirror)).said


class Notebook:
    """Cells that are run one by one, as a person does."""

    def __init__(self, session: Session) -> None:
        self.manager = KernelManager(**session.kernels)
        self.manager.start_kernel(env=session.env, cwd=str(session.folder))
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=600)

    def run(self, source: str, stop_at: str = "") -> tuple[str, list[dict[str, Any]]]:
        """Run a cell; return its status or the name of its error, and what it sent.

        The cell is stopped, as by the button of the page, a moment after `stop_at` is
        shown, because a kernel may not reply if the signal comes while it sends.
        """
        sent: list[dict[str, Any]] = []

        def see(message: dict[str, Any]) -> None:
            nonlocal stop_at
            sent.append(message)
            visible = message["msg_type"] in ("stream", "display_data")
            if stop_at and visible and stop_at in str(message["content"]):
                stop_at = ""  # once
                time.sleep(0.3)
                self.manager.interrupt_kernel()

        # With stop_on_error a cell sent right after a failed one would be dropped.
        reply = self.client.execute_interactive(
            textwrap.dedent(source), output_hook=see, stop_on_error=False, timeout=600
        )["content"]
        return reply.get("ename", reply["status"]), sent

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def written(sent: list[dict[str, Any]], name: str) -> str:
    streams = [m["content"] for m in sent if m["msg_type"] == "stream"]
    return "".join(content["text"] for content in streams if content["name"] == name)


def shown(sent: list[dict[str, Any]]) -> set[str]:
    """Return the widgets that were put on the page."""
    data = [m["content"]["data"] for m in sent if m["msg_type"] == "display_data"]
    # A set: a bar that is interrupted while it comes up is put there again by its end.
    return {each[WIDGET]["model_id"] for each in data if WIDGET in each}


def closed(sent: list[dict[str, Any]]) -> set[str]:
    return {m["content"]["comm_id"] for m in sent if m["msg_type"] == "comm_close"}


@pytest.fixture(scope="module")
def notebook(session) -> Iterator[Notebook]:
    """A kernel in which attnsel is installed and a model made."""
    notebook = Notebook(session)
    chapter = nbformat.read(ROOT / "book" / "intro.ipynb", as_version=4)
    assert notebook.run(code(chapter)[0].source)[0] == "ok"
    status, sent = notebook.run(
        """
        import torch
        corpus = attnsel.load_corpus("generated")
        model = attnsel.AttentionClassifier(len(corpus.vocab), 2048)
        """
    )
    assert status == "ok", sent
    yield notebook
    notebook.close()


FINITE = """
assert all(bool(x.isfinite().all()) for x in model.parameters())
assert all(x.requires_grad for x in model.parameters())
assert torch.is_grad_enabled()
"""


@together
def test_a_short_training_shows_no_bar(notebook):
    status, sent = notebook.run("attnsel.fit(model, corpus, steps=2, lr=1e-3);")
    assert status == "ok"
    assert not shown(sent)
    assert not written(sent, "stderr")


@together
def test_a_long_training_shows_a_bar_that_goes_away(notebook):
    status, sent = notebook.run(
        """
        import time
        measure = attnsel.train._quality
        attnsel.train._quality = lambda *given: time.sleep(0.05) or measure(*given)
        attnsel.fit(model, corpus, steps=60, lr=1e-4)  # three seconds at least
        attnsel.train._quality = measure
        """
    )
    assert status == "ok"
    bars = shown(sent)
    assert bars
    assert set(bars) <= closed(sent)
    assert "danger" not in str(sent)
    assert not written(sent, "stderr")


@together
def test_an_interrupted_training_leaves_a_model_to_go_on_with(notebook):
    long = "attnsel.fit(model, corpus, steps=10**6, lr=1e-4)"
    status, sent = notebook.run(long, stop_at="training:")
    assert status == "KeyboardInterrupt"
    (bar,) = shown(sent)
    assert bar in closed(sent)
    assert not written(sent, "stderr")
    status, sent = notebook.run(
        FINITE + "history = attnsel.fit(model, corpus, steps=5, lr=1e-4)\n"
        "assert history.loss[-1] < history.loss[0]"
    )
    assert status == "ok", sent


@together
def test_an_interrupted_load_can_be_repeated(notebook):
    status, sent = notebook.run(
        """
        import pandas
        from attnsel.texts.reviews import generate_reviews
        texts, labels = generate_reviews(4000)
        many = pandas.DataFrame({"text": texts * 40, "label": list(labels) * 40})
        many.to_parquet("many.parquet")
        """
    )
    assert status == "ok", sent
    load = "attnsel.load_corpus('many.parquet')"
    status, sent = notebook.run(load, stop_at="tokenizing")
    assert status == "KeyboardInterrupt", sent
    (bar,) = shown(sent)
    assert bar in closed(sent)
    status, sent = notebook.run(
        """
        assert len(attnsel.load_corpus("many.parquet", limit=1000)) == 1000
        """
    )
    assert status == "ok", sent


@together
def test_an_interrupted_flow_leaves_the_model_and_the_threads(notebook):
    status, sent = notebook.run(
        """
        import copy
        from threadpoolctl import threadpool_info
        def threads():  # of each library; more are loaded on the way
            return {lib["filepath"]: lib["num_threads"] for lib in threadpool_info()}
        before, at_first = copy.deepcopy(model.state_dict()), threads()
        follow = attnsel.flow._follow
        attnsel.flow._follow = lambda *given: print("it starts") or follow(*given)
        attnsel.gradient_flow(model, corpus[:500], max_norm=1e9)
        """,
        stop_at="it starts",
    )
    assert status == "KeyboardInterrupt", sent
    status, sent = notebook.run(
        FINITE + "after = model.state_dict()\n"
        "assert all(torch.equal(after[name], before[name]) for name in before)\n"
        "assert at_first.items() <= threads().items()"
    )
    assert status == "ok", sent
