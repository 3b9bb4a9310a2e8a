"""A control in JupyterLab: a key moves its slider, and Python draws again."""

import json
import os
import socket
import subprocess
import sys
import time

import nbformat
import pytest

from tools.execute import METADATA

pytest.importorskip("jupyterlab")
pytestmark = pytest.mark.site

CELL = """
from matplotlib import pyplot
from attnsel_book.interactive import interactive_figure

def curve(slope=1):
    figure, axes = pyplot.subplots()
    axes.plot([0, slope])
    axes.set_gid(f"slope-{slope}")
    return figure

interactive_figure(curve, slope=[1, 2, 3])
"""


@pytest.fixture
def jupyterlab(tmp_path):
    """Serve a folder with one notebook in JupyterLab, and yield the address."""
    cells = [nbformat.v4.new_code_cell(CELL)]
    folder = tmp_path / "notebooks"
    folder.mkdir()
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=METADATA)
    nbformat.write(notebook, folder / "one.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    places = {f"JUPYTER_{kind}_DIR": str(tmp_path) for kind in ("CONFIG", "RUNTIME")}
    settings = {"token": "", "port": port, "open_browser": False, "allow_root": True}
    (tmp_path / "jupyter_server_config.json").write_text(
        json.dumps({"ServerApp": settings, "IdentityProvider": {"token": ""}})
    )
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", "--notebook-dir", str(folder)],
        env=os.environ | places,
        stderr=subprocess.DEVNULL,
    )
    for _ in range(300):
        with socket.socket() as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.2)
    yield f"http://127.0.0.1:{port}/lab/tree/one.ipynb"
    server.terminate()
    server.wait()


def test_a_slider_moves_and_the_picture_changes(jupyterlab, browser):
    page = browser.new_page()
    page.set_default_timeout(120_000)  # a busy machine
    page.goto(jupyterlab)
    page.locator(".jp-CodeCell .cm-content").click()
    page.get_by_text("Idle").first.wait_for(state="attached")
    page.keyboard.press("Shift+Enter")
    drawn = page.locator(".jp-OutputArea .widget-html svg")
    drawn.locator("#slope-1").wait_for(state="attached")
    page.get_by_role("slider").press("ArrowRight")
    drawn.locator("#slope-2").wait_for(state="attached")
    assert page.locator(".widget-readout").inner_text() == "2"
    page.close()
