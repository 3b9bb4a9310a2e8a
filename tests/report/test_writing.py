"""A page is written whole or not at all, asked for first, and beside another one."""

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pandas as pd
import pytest

from attnsel.files import write_file
from attnsel.texts.reviews import generate_reviews
from attnsel_report import paths as writing
from attnsel_report import report as report_module
from attnsel_report.command import main


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
    for place, message in {
        "nowhere/x": "there is no folder .*; make it first",
        "": "is a folder; name a file in it",
    }.items():
        for option in ("--output", "--csv"):
            with pytest.raises(SystemExit, match=f"attnsel: .*{message}"):
                main(["report", source, option, str(tmp_path / place)])


def test_a_file_that_cannot_be_finished_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")
    for error in (OSError(28, "No space left on device"), KeyboardInterrupt()):
        monkeypatch.setattr(os, "fsync", Mock(side_effect=error))
        with pytest.raises((OSError, KeyboardInterrupt)) as caught:
            write_file(path, b"new")
        assert str(caught.value) == "" or "report.html cannot" in str(caught.value)
        assert os.listdir(tmp_path) == ["report.html"] and path.read_text() == "old"
    monkeypatch.undo()
    write_file(path, b"new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o666 & ~current_mask()


def test_a_report_writes_its_page_and_its_tables(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    source = table(tmp_path / "mine.csv")
    names = ["report.html", "csv", "suspects", "copies"]
    main(["report", source, *(f"--{name}={name}" for name in names[1:])])
    assert capsys.readouterr().out.splitlines()[:4] == names
    page, *tables = (Path(name).read_text() for name in names)
    assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>")
    assert all(tables)
    found = pd.read_csv("csv", keep_default_na=False)
    assert {"token", "pair", "feature"} == set(found["kind"])
    assert found.columns[:4].tolist() == ["kind", "token", "class", "texts"]
    assert (found["texts"] >= 2).all()


def test_the_help_does_not_wait_for_torch():
    code = (
        "import sys\nfrom attnsel.__main__ import main\n"
        "try: main(['report', '--help'])\nfinally: print(*sys.modules)"
    )
    run = [sys.executable, "-c", code]
    said = subprocess.run(run, capture_output=True, text=True).stdout
    assert "--groups" in said
    assert not {"torch", "pandas", "sklearn"} & set(said.split())
