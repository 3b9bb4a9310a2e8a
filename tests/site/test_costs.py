"""What pages and trainings in them cost, measured on pages whose cost is known."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tools import measure_lab, measure_pages

pytestmark = [pytest.mark.site, pytest.mark.xdist_group(name="pdf")]

PLAIN = "<!doctype html><article>Plain</article>"
# Eleven elements: html, head, link, script, body, article, h1, p, p, p and what comes.
ONE = """<!doctype html><link rel="stylesheet" href="../one.css?v=1">
<script src="../a%20script.js" defer></script>
<article><h1>One</h1><p>a</p><p>b</p><p>c</p></article>"""
SHIFTS = """setTimeout(() => { const block = document.createElement("div");
block.style.height = "400px"; document.body.prepend(block); }, 300);
const end = performance.now() + 300; while (performance.now() < end) {}"""


def size(*texts: str) -> float:
    bodies = [text.encode() for text in texts]
    return sum(min(len(body), len(gzip.compress(body))) for body in bodies) / 1000


def test_a_page_has_a_row_with_what_it_asks_for_and_how_it_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "book/bibliography.html": PLAIN,
        "book/one.html": ONE,
        "book/part.html": "<p>no text of its own</p>",
        "one.css": "p { color: red }" * 50,
        "a script.js": SHIFTS,
    }
    (tmp_path / "book").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    targets = {"requests": 3, "kB": 0.25, "elements": 10, "shift": 0.05}
    monkeypatch.setattr(measure_pages, "TARGETS", targets)
    measure_pages.main(str(tmp_path))
    head, line, least, plain, one = capsys.readouterr().out.splitlines()
    assert head == "| page | requests | kB | elements | shift | paint | blocked |"
    assert line == "| --- | --- | --- | --- | --- | --- | --- |"
    assert least == "| *target* | 3 | 0.25 | 10 | 0.05 | | |"
    cells = plain.strip("| ").split(" | ")
    assert cells[:5] == ["bibliography", "1", f"{size(PLAIN):.4g}", "4", "0"]
    assert 0.01 < float(cells[5]) < 100  # of its own other visit
    cells = one.strip("| ").split(" | ")
    sent = size(ONE, files["one.css"], files["a script.js"])
    assert cells[:4] == ["one", "3", f"**{sent:.4g}**", "**11**"]
    assert 0.05 < float(cells[4].strip("*")) < 1 and cells[4].startswith("**")
    assert float(cells[6]) > 0.3  # of 300 ms, 250 count; a page without has up to 50
    measure_pages.main(str(tmp_path), "part")
    assert [line[:7] for line in capsys.readouterr().out.splitlines()[3:]] == [
        "| part "
    ]


# Each step comes after the one before it, however loaded the machine is.
TRAINS = """<!doctype html><p class="status">ready</p><button class="play">Go</button>
<p class="told"></p><script>
const [status_, play, told] = document.querySelectorAll(".status, .play, .told");
const say = (...texts) => {
  status_.textContent = texts.shift();
  if (texts.length) { setTimeout(say, 200, ...texts); }
  else { told.ariaBusy = false; }
};
play.onclick = () => {
  told.ariaBusy = true;
  const end = performance.now() + 120;
  while (performance.now() < end) {}
  say("step 1", "step 3", "step 5", `all of ${location.hash} at ${innerWidth}`);
};
</script>"""


def test_a_training_has_a_row_with_its_knobs_its_times_and_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "train.html").write_text(TRAINS)
    monkeypatch.setattr(measure_lab, "SETTINGS", ("d=16",))
    monkeypatch.setattr(measure_lab, "SLOWER", 2)
    loop = measure_lab.LOOP.replace("1e8", "1e7")
    monkeypatch.setattr(measure_lab, "LOOP", loop)
    measure_lab.main(str(tmp_path))
    head, line, *rows = capsys.readouterr().out.splitlines()
    assert head.startswith(
        "| knobs | width | slower | loop, ms | step, ms | whole, s |"
    )
    assert head.count("|") == line.count("|") and set(line) == set("| -")
    told = [row.strip("| ").split(" | ") for row in rows]
    wide = [(row[1], row[2]) for row in told]
    assert wide == [("1280", "1"), ("390", "1"), ("1280", "2"), ("390", "2")]
    for row in told:
        worker, step, whole, longest, most = map(float, row[3:8])
        assert row[0] == "d=16" and row[8] == f"all of #d=16 at {row[1]}"
        assert worker > 1
        assert 90 < step < 5000  # 400 ms or more for four of them
        assert 0.7 < whole < 60  # 120 and 600 ms
        assert 110 < longest < 20_000
        assert 10 < most < 1000


@pytest.mark.parametrize(
    ("first", "last", "slope"),
    [((10.0, 1), (40.0, 4), 10.0), ((10.0, 3), (40.0, 3), 30.0)],
)
def test_the_time_of_a_step_is_that_between_the_first_and_the_last(
    first: tuple[float, int], last: tuple[float, int], slope: float
) -> None:
    assert measure_lab._slope(first, last) == slope
