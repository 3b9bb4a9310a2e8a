"""A page is written whole or not at all, asked for first, and beside another one."""

import io
import os
import re
import shlex
import signal
import subprocess
import sys

import pandas as pd
import pytest

from attnsel.scale.files import write_files
from attnsel.texts.reviews import generate_reviews
from attnsel_report import paths as writing
from attnsel_report import report as report_module
from attnsel_report.command import main


def test_a_page_that_is_there_is_kept_unless_forced(tmp_path):
    page = tmp_path / "page.html"
    assert writing.free_place(page) == page
    page.write_text("old")
    assert writing.free_place(page) == tmp_path / "page-2.html"
    (tmp_path / "page-2.html").write_text("old, too")
    assert writing.free_place(page) == tmp_path / "page-3.html"
    assert writing.free_place(page, force=True) == page
    with pytest.raises(FileNotFoundError, match="there is no folder .*; make it first"):
        writing.free_place(tmp_path / "nowhere" / "page.html")
    with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"):
        writing.free_place(tmp_path)


def test_a_full_disk_leaves_the_page_as_it_was(tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    write_files({page: b"whole"})
    assert page.stat().st_mode & 0o777 == 0o666 & ~current_mask()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        OSError, match=r"page.html cannot .* \(No space left .*\); no f"
    ):
        write_files({page: b"cut" * 1000})
    assert page.read_text() == "whole"
    assert os.listdir(tmp_path) == ["page.html"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    def closed(**where):
        raise PermissionError(13, "Permission denied", str(where["dir"] / "tmp123"))

    monkeypatch.setattr(writing.tempfile, "TemporaryFile", closed)
    told = rf"^nothing can be written in {tmp_path} \(Permission denied\)$"
    with pytest.raises(PermissionError, match=told):
        writing.free_place(tmp_path / "page.html")


def current_mask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def table(path):
    texts, labels = generate_reviews(40)
    pd.DataFrame({"text": texts, "label": labels}).to_csv(path, index=False)
    return str(path)


def test_where_to_write_is_asked_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(report_module, "read_parts", lambda *_, **__: 1 / 0)
    source = table(tmp_path / "mine.csv")
    for option in ("--output", "--csv"):
        with pytest.raises(SystemExit, match="attnsel: there is no folder"):
            main(["report", source, option, str(tmp_path / "nowhere" / "x")])


def attnsel(tmp_path, *options, wrapped=""):
    """Start the command of a shell on a table of 40 reviews."""
    source = table(tmp_path / "mine.csv")
    command = [sys.executable, "-m", "attnsel", "report", source, *options]
    return subprocess.Popen(
        f"{wrapped} exec {shlex.join(command)}",
        shell=True,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_report_in_a_shell_ends_with_0_and_writes_all_its_files(tmp_path):
    options = [f"--{name}={name}" for name in ("csv", "suspects", "copies")]
    run = attnsel(tmp_path, *options)
    said, told = run.communicate()
    assert run.returncode == 0, told
    names = ["report.html", "csv", "suspects", "copies"]
    assert said.splitlines()[:4] == names
    assert all((tmp_path / name).read_text() for name in names)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_one_line_its_code_and_no_file(tmp_path, number):
    run = attnsel(tmp_path)
    assert run.stderr.readline() == "attnsel: reading\n"
    run.send_signal(number)
    _, told = run.communicate()
    assert run.returncode == 128 + number
    assert told.endswith("attnsel: stopped\n") and "Traceback" not in told
    assert os.listdir(tmp_path) == ["mine.csv"]


def test_a_file_that_is_written_is_removed_when_a_signal_comes(tmp_path):
    code = (
        "import os, signal\nfrom attnsel.scale import files\n"
        "from attnsel_report import command\n"
        "signal.signal(signal.SIGINT, command._stop)\n"
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGINT)\n"
        "from pathlib import Path\nfiles.write_files({Path('page'): b'x'})"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path)
    assert run.returncode == 130 and os.listdir(tmp_path) == []


def test_a_full_disk_names_its_file_and_leaves_all_as_they_were(tmp_path):
    (tmp_path / "report.html").write_text("old")
    # Blocks of 1,024 bytes: a larger file cannot be written, as on a full disk. Python
    # would cut the modules that it compiles, and every later process would read these.
    limited = "ulimit -f 8; export PYTHONDONTWRITEBYTECODE=1;"
    run = attnsel(tmp_path, "--force", "--csv=all", wrapped=limited)
    _, told = run.communicate()
    assert run.returncode == 1 and "Traceback" not in told
    assert re.search(r"attnsel: .*report.html cannot be written \(.*\n$", told)
    assert sorted(os.listdir(tmp_path)) == ["mine.csv", "report.html"]
    assert (tmp_path / "report.html").read_text() == "old"


def test_an_error_ends_with_1_and_a_wrong_option_with_2(tmp_path):
    run = attnsel(tmp_path, "--label", "nothing")
    _, told = run.communicate()
    assert run.returncode == 1 and told.count("\n") == 2  # reading, and what is wrong
    run = attnsel(tmp_path, "--no-such-option")
    run.communicate()
    assert run.returncode == 2 and os.listdir(tmp_path) == ["mine.csv"]


def test_the_help_does_not_wait_for_torch():
    code = (
        "import sys\nfrom attnsel.__main__ import main\n"
        "try: main(['report', '--help'])\nfinally: print(*sys.modules)"
    )
    run = [sys.executable, "-c", code]
    said = subprocess.run(run, capture_output=True, text=True).stdout
    assert "--groups" in said
    assert not {"torch", "pandas", "sklearn"} & set(said.split())


def test_the_page_on_the_screen_and_the_table_in_a_file(tmp_path, capsys):
    rows = tmp_path / "all.csv"
    source = table(tmp_path / "mine.csv")
    main(["report", source, "-q", "--output", "-", "--csv", str(rows)])
    out, err = capsys.readouterr()
    assert out.startswith("<!doctype html>") and out.rstrip().endswith("</html>")
    assert not err
    written = pd.read_csv(io.StringIO(rows.read_text()), keep_default_na=False)
    assert {"token", "pair", "feature"} == set(written["kind"])
    assert written.columns[:4].tolist() == ["kind", "token", "class", "texts"]
    assert (written["texts"] >= 2).all()
