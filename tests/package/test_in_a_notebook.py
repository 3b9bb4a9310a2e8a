"""Cells of a notebook show progress bars, and can be interrupted."""

import os
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import KernelManager

# A kernel that this process starts leaves sockets to the garbage collector. One kernel
# runs all of these cells, so one process.
pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.xdist_group("notebook"),
]

WIDGET = "application/vnd.jupyter.widget-view+json"


class Notebook:
    """A notebook whose cells are run one by one, as by a person."""

    def __init__(self, folder: Path) -> None:
        self.manager = KernelManager(kernel_name="python3")
        bars = {k: v for k, v in os.environ.items() if k != "ATTNSEL_PROGRESS"}
        self.manager.start_kernel(env=bars, cwd=str(folder))
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=600)

    def run(self, source: str, stop_at: str = "") -> tuple[str, list[dict[str, Any]]]:
        """Run a cell; return its status or the name of its error, and its messages.

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

        # With stop_on_error, a cell sent right after a failed one would be dropped.
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
    """Return the ids of the widgets that the page shows."""
    data = [m["content"]["data"] for m in sent if m["msg_type"] == "display_data"]
    # A set: a bar that is interrupted while it comes up is put there again by its end.
    return {each[WIDGET]["model_id"] for each in data if WIDGET in each}


def closed(sent: list[dict[str, Any]]) -> set[str]:
    return {m["content"]["comm_id"] for m in sent if m["msg_type"] == "comm_close"}


@pytest.fixture(scope="module")
def notebook(tmp_path_factory) -> Iterator[Notebook]:
    """Yield a notebook whose first cell has made a model."""
    notebook = Notebook(tmp_path_factory.mktemp("notebook"))
    status, sent = notebook.run(
        """
        import attnsel
        import torch
        from tqdm.notebook import tqdm
        list(tqdm([1]))  # the first bar takes long to come
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
