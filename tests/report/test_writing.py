"""Pages are written completely or not at all, even after a signal or an error."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import attnsel
from attnsel.texts.reviews import generate_reviews
from attnsel_report import paths as writing
from attnsel_report import report as report_module
from attnsel_report.command import main
from support import forks


def test_a_folder_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    def closed(**where):
        raise PermissionError(13, "Permission denied", str(where["dir"] / "tmp123"))

    monkeypatch.setattr(writing.tempfile, "TemporaryFile", closed)
    told = rf"^no file can be written to {tmp_path} \(Permission denied\)$"
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
    for place, message in {
        "nowhere/x": "there is no folder .*; make it first",
        "": "is a folder; name a file in it",
    }.items():
        for option in ("--output", "--csv"):
            with pytest.raises(SystemExit, match=f"attnsel: .*{message}"):
                main(["report", source, option, str(tmp_path / place)])


SCRIPT = Path(attnsel.__file__).with_name("__main__.py")
# A command whose report takes no time, and is more than a small disk holds.
QUICK = """
import os, resource, signal, sys
import pandas
from attnsel.__main__ import main
from attnsel_report import report

class Quick:
    def html(self):
        return "<!doctype html>" * 1000

    def table(self):
        return pandas.DataFrame({"kind": ["token"]})

report.report = lambda **_: Quick()
"""
LIMITED = f"""{QUICK}
sys.dont_write_bytecode = True  # cut modules would be read by every later process
resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
main()
"""
KILLED = f"""{QUICK}
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
main()
"""
STOPPED = """
import os, signal
from pathlib import Path
from attnsel import files
from attnsel_report import command
signal.signal(signal.SIGINT, command._stop)
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGINT)
files.write_files({Path("page"): b"x"})
"""


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Return a folder for shell commands that contains a table of 40 reviews."""
    folder = tmp_path / "shell"
    folder.mkdir()
    monkeypatch.chdir(folder)
    table(folder / "mine.csv")
    return folder


def run(*options, script=SCRIPT):
    (done,) = forks.run(script, ["report", "mine.csv", *options])
    return done


@forks.in_forks
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_one_line_its_code_and_no_file(tmp_path, shell, number):
    os.mkfifo(tmp_path / "end.2")
    process = forks.begin(SCRIPT, ["report", "mine.csv"], tmp_path / "end")
    with (tmp_path / "end.2").open() as errors:
        assert errors.readline() == "attnsel: reading\n"
        os.kill(process.pid, number)
        message = errors.read()
    process.join()
    assert process.exitcode == 128 + number
    assert message.endswith("attnsel: stopped\n") and "Traceback" not in message
    assert os.listdir(shell) == ["mine.csv"]


@forks.in_forks
def test_a_file_that_is_written_is_removed_when_a_signal_comes(tmp_path, shell):
    (tmp_path / "script.py").write_text(STOPPED)
    assert run(script=tmp_path / "script.py").returncode == 130
    assert os.listdir(shell) == ["mine.csv"]


@forks.in_forks
def test_a_killed_report_leaves_no_half_a_page_and_another_one_is_whole(
    tmp_path, shell
):
    (tmp_path / "script.py").write_text(KILLED)
    assert run("--csv=csv", script=tmp_path / "script.py").returncode == -9
    assert not {"report.html", "csv"} & set(os.listdir(shell))
    done = run(*(f"--{name}={name}" for name in ("csv", "suspects", "copies")))
    assert done.returncode == 0, done.stderr
    names = ["report.html", "csv", "suspects", "copies"]
    assert done.stdout.splitlines()[:4] == names
    assert Path(names[0]).stat().st_mode & 0o777 == 0o666 & ~current_mask()
    page, *tables = (Path(name).read_text() for name in names)
    assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>")
    assert all(tables)
    table = pd.read_csv("csv", keep_default_na=False)
    assert {"token", "pair", "feature"} == set(table["kind"])
    assert table.columns[:4].tolist() == ["kind", "token", "class", "texts"]
    assert (table["texts"] >= 2).all()


@forks.in_forks
def test_a_full_disk_names_its_file_and_leaves_all_as_they_were(tmp_path, shell):
    (shell / "report.html").write_text("old")
    # A larger file cannot be written, as on a full disk.
    (tmp_path / "script.py").write_text(LIMITED)
    done = run("--force", "--csv=all", script=tmp_path / "script.py")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    message = r"attnsel: .*report.html cannot be written \(.*\); no file has changed\n$"
    assert re.search(message, done.stderr)
    assert sorted(os.listdir(shell)) == ["mine.csv", "report.html"]
    assert (shell / "report.html").read_text() == "old"


@forks.in_forks
def test_an_error_ends_with_1_and_a_wrong_option_with_2(shell):
    done = run("--label", "nothing")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 2  # reading, and what is wrong
    assert run("--no-such-option").returncode == 2
    assert os.listdir(shell) == ["mine.csv"]


def test_the_help_does_not_wait_for_torch():
    code = (
        "import sys\nfrom attnsel.__main__ import main\n"
        "try: main(['report', '--help'])\nfinally: print(*sys.modules)"
    )
    run = [sys.executable, "-c", code]
    said = subprocess.run(run, capture_output=True, text=True).stdout
    assert "--groups" in said
    assert not {"torch", "pandas", "sklearn"} & set(said.split())
