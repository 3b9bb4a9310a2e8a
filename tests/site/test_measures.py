"""How words are counted, what pages cost, and the times of notebooks."""

import gzip
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from tools import measure_pages
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
        ("of {glue:text}`a.ipynb::b_c:s` runs", 3),
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
    # In a thread of its own: this one may have the browser of other tests.
    with ThreadPoolExecutor() as pool:
        pool.submit(measure_pages.main, str(tmp_path)).result()
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
    with ThreadPoolExecutor() as pool:
        pool.submit(measure_pages.main, str(tmp_path), "part").result()
    assert capsys.readouterr().out.splitlines()[3].startswith("| part ")
