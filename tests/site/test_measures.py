"""How words are counted, what pages cost, and the times of notebooks."""

from __future__ import annotations

import gzip
import shutil
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools import measure_pages, notebook_times
from tools.measure_pages import sent, serving, words


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("Two words.", 2),
        ("It's one-step, 1,000 times", 4),
        ("A formula $a = b$ and $$ c \\\\ d $$ (eq-x)", 4),
        ("```{note}\n:class: tip\nInside.\n```", 1),
        ("(sec-here)=\n# Head", 1),
        ("as {prf:ref}`thm` says", 3),
        ("", 0),
    ],
)
def test_markup_is_no_word(text, n):
    assert words(text) == n


def test_what_is_sent_is_compressed_where_that_is_less(tmp_path):
    file = tmp_path / "x"
    file.write_bytes(b"a" * 1000)
    assert sent(file) == len(gzip.compress(b"a" * 1000)) < 1000
    file.write_bytes(b"a")
    assert sent(file) == 1


def test_a_folder_is_served_without_a_word(tmp_path, capfd):
    (tmp_path / "x.txt").write_text("there")
    with serving(str(tmp_path)) as address:
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(f"{address}/x.txt") as answer:
            assert answer.read() == b"there"
    with pytest.raises(OSError):
        urllib.request.urlopen(f"{address}/x.txt", timeout=5)
    assert capfd.readouterr() == ("", "")


def test_the_longest_notebooks_come_first_and_their_cells_stay_together(tmp_path):
    told = {"a": "about 5 s on 1", "b": "nothing", "c": "takes about 120 s on 2 cores"}
    items = []
    for name, text in told.items():
        path = tmp_path / f"{name}.ipynb"
        path.write_text(text)
        items += [SimpleNamespace(path=path, name=f"{name}{i}") for i in range(2)]
    notebook_times.pytest_collection_modifyitems(items)
    assert [item.name for item in items] == ["c0", "c1", "a0", "a1", "b0", "b1"]
    paths = [Path(f"{tmp_path}/{name}.ipynb") for name in told]
    assert [notebook_times.stated_seconds(path) for path in paths] == [5, 0, 120]


def test_the_seconds_of_a_notebook_are_those_of_all_its_cells():
    def report(nodeid, seconds):
        return SimpleNamespace(nodeid=nodeid, duration=seconds)

    lines = []
    stats = {
        "passed": [report("b.ipynb::Cell 0", 1.25), report("b.ipynb::Cell 1", 2.0)],
        "failed": [report("a.ipynb::Cell 0", 0.5), report("tests/test_x.py::y", 9.0)],
        "": [object(), SimpleNamespace(nodeid="a.ipynb::Cell 1")],
    }
    reporter = SimpleNamespace(
        stats=stats, section=lines.append, write_line=lines.append
    )
    notebook_times.pytest_terminal_summary(reporter)
    assert lines == [
        "time of each notebook",
        "    0.5 s  a.ipynb",
        "    3.2 s  b.ipynb",
    ]


@pytest.mark.parametrize("path", ["/usr/bin/chromium", None])
def test_chromium_is_that_of_the_machine_and_reaches_no_other(monkeypatch, path):
    asked = []
    monkeypatch.setattr(shutil, "which", lambda name: asked.append(name) or path)
    chromium = SimpleNamespace(launch=lambda **settings: settings)
    found = measure_pages.start_chromium(SimpleNamespace(chromium=chromium))
    assert asked == ["chromium"]
    assert found["executable_path"] == path
    options = dict(word.removeprefix("--").split("=", 1) for word in found["args"][3:])
    assert options == {
        "host-resolver-rules": "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        "disable-features": measure_pages.UNUSED,
    }
    assert found["args"][:3] == [
        *("--no-sandbox", "--disable-gpu", "--disable-background-networking")
    ]


def test_a_page_is_measured_when_its_letters_are_there_and_nothing_is_asked_for():
    did = []

    def evaluate(script):
        did.append(script)
        return {"height": 3}

    tab = SimpleNamespace(evaluate=evaluate, wait_for_load_state=did.append)
    assert measure_pages.measure(tab) == {"height": 3}
    assert did == [
        "document.fonts.ready.then(() => null)",
        "networkidle",
        measure_pages.MEASURE,
    ]


PLAIN = "<!doctype html><article>Plain</article>"
# Eleven elements: html, head, link, script, body, article, h1, p, p, p and what comes.
ONE = """<!doctype html><link rel="stylesheet" href="../one.css?v=1">
<script src="../a%20script.js" defer></script>
<article><h1>One</h1><p>a</p><p>b</p><p>c</p></article>"""
SHIFTS = """const busy = (ms) => { const end = performance.now() + ms;
while (performance.now() < end) {} };
setTimeout(() => { const block = document.createElement("div");
block.style.height = "4000px"; document.body.prepend(block); }, 300);
addEventListener("scroll", () => { scrollY > 2000 && fetch("../one.css?b"); });
addEventListener("scroll", () => busy(120), {once: true}); busy(300);"""


def size(*texts: str) -> float:
    bodies = [text.encode() for text in texts]
    return sum(min(len(body), len(gzip.compress(body))) for body in bodies) / 1000


@pytest.mark.site
@pytest.mark.xdist_group(name="pdf")
def test_a_page_has_a_row_with_what_it_costs_to_its_end(tmp_path, monkeypatch, capsys):
    files = {
        "book/one.html": ONE,
        "book/plain.html": PLAIN,
        "book/part.html": "<p>no text of its own</p>",
        "one.css": "p { color: red }" * 50,
        "a script.js": SHIFTS,
    }
    (tmp_path / "book").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    targets = {"requests": 3, "kB": 0, "elements": 10, "shift": 0.05}
    monkeypatch.setattr(measure_pages, "TARGETS", targets)
    monkeypatch.setattr(measure_pages, "KB", 0.25)
    monkeypatch.setattr(measure_pages, "HEAVY", {"plain": 0.01})
    measure_pages.main(str(tmp_path))
    head, line, least, one, plain = capsys.readouterr().out.splitlines()
    assert head == "| page | requests | kB | elements | shift | blocked | longest |"
    assert line == "| --- | --- | --- | --- | --- | --- | --- |"
    assert least == "| *target* | 3 | 0 | 10 | 0.05 | 0.3 | 0.2 |"
    cells = [cell.strip("* ") for cell in one.strip("|").split("|")]
    sent_kb = size(ONE, files["one.css"], files["a script.js"])
    assert cells[0] == "one" and int(cells[1]) > 3  # one more comes with scrolling
    assert cells[2:4] == [f"{sent_kb:.4g}", "11"]
    assert 0.05 < float(cells[4]) < 1
    assert float(cells[5]) > 0.2  # of 300 ms, 250 count
    assert float(cells[6]) > 0.1  # while it is scrolled
    over = [cell.strip().startswith("**") for cell in one.strip("|").split("|")]
    assert over[1:5] == [True, True, True, True]
    cells = plain.strip("| ").split(" | ")
    assert cells[:5] == ["plain", "1", f"**{size(PLAIN):.4g}**", "4", "0"]
    measure_pages.main(str(tmp_path), "part")
    assert capsys.readouterr().out.splitlines()[3].startswith("| part ")
