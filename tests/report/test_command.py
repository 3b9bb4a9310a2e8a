"""The options of the shell command for reports, and its messages."""

import csv
import io
import logging
import os
import re
import shlex
import sys
from pathlib import Path

import pandas as pd
import pytest

from attnsel_report import report as report_module
from attnsel_report.command import as_csv, main

USUAL = {
    "text": "text",
    "label": "label",
    "groups": None,
    "limit": None,
    "rate": 0.05,
    "min_count": None,
    "tokenize": None,
    "seed": 0,
}


class Empty:
    """A report without results."""

    def html(self) -> str:
        return "<!doctype html>\n"

    def table(self) -> pd.DataFrame:
        return pd.DataFrame({"kind": ["token"], "token": ["dull"]}, index=[7])

    suspects = pd.DataFrame({"row": [3], "text": ["=1+1"]})
    copies = pd.DataFrame({"row": [-4], "of row": ["@x"], "text": ["a-b"]})

    def __repr__(self) -> str:
        return "Report(of nothing)"


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """Return a dictionary that gets the arguments of `report`, which is replaced."""
    found = {}

    def report(source, **given):
        found.update(given, source=source)
        return Empty()

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(report_module, "report", report)
    return found


def test_without_options_a_report_is_the_usual_one(asked, tmp_path, capsys):
    main(["report", "mine.csv"])
    assert asked == {"source": "mine.csv", **USUAL}
    assert (tmp_path / "report.html").read_text() == "<!doctype html>\n"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert capsys.readouterr().out == "report.html\nReport(of nothing)\n"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--text body", {"text": "body"}),
        ("--text title --text body", {"text": ["title", "body"]}),
        ("--label verdict", {"label": "verdict"}),
        ("--groups film", {"groups": "film"}),
        ("--limit 100", {"limit": 100}),
        ("--rate 0.01", {"rate": 0.01}),
        ("--min-count 3", {"min_count": 3}),
        ("--tokenize characters", {"tokenize": list}),
        ("--tokenize str.split", {"tokenize": str.split}),
        ("--tokenize shlex.split", {"tokenize": __import__("shlex").split}),
        ("--seed 4", {"seed": 4}),
    ],
)
def test_an_option_is_an_argument_of_the_report(asked, options, expected):
    main(["report", "mine.csv", *options.split()])
    assert asked == {"source": "mine.csv", **USUAL, **expected}


def test_a_page_and_a_table_take_the_places_of_others_only_by_force(asked, tmp_path):
    page, table = tmp_path / "page.html", tmp_path / "all.csv"
    given = ["report", "mine.csv", "--output", str(page), "--csv", str(table)]
    for _ in range(3):
        main(given)
    assert table.read_text() == "kind,token\ntoken,dull\n"
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {f"page{n}.html" for n in ("", "-2", "-3")} | {
        f"all{n}.csv" for n in ("", "-2", "-3")
    }
    for path in (page, table):
        path.write_text("old")
    main([*given, "--force"])
    assert page.read_text() == "<!doctype html>\n"
    assert table.read_text() == "kind,token\ntoken,dull\n"
    assert len(list(tmp_path.iterdir())) == 6


def test_a_page_that_was_written_meanwhile_is_kept(
    asked, tmp_path, monkeypatch, capsys
):
    page, table = tmp_path / "page.html", tmp_path / "all.csv"

    def slowly(**given):
        page.write_text("of another run")
        table.write_text("of another run")
        return Empty()

    monkeypatch.setattr(report_module, "report", slowly)
    main(["report", "mine.csv", "--output", str(page), "--csv", str(table)])
    assert page.read_text() == table.read_text() == "of another run"
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == [str(tmp_path / "page-2.html"), str(tmp_path / "all-2.csv")]
    assert (tmp_path / "page-2.html").read_text() == "<!doctype html>\n"


def test_a_table_has_no_formula_that_a_spreadsheet_runs(asked, tmp_path):
    main(["report", "mine.csv", "--suspects", "s.csv", "--copies", "c.csv"])
    assert (tmp_path / "s.csv").read_text() == "row,text\n3,'=1+1\n"
    assert (tmp_path / "c.csv").read_text() == "row,of row,text\n-4,'@x,a-b\n"


@pytest.mark.parametrize("sign", "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
def test_a_cell_that_begins_with_a_sign_of_a_formula_is_a_text(sign):
    table = pd.DataFrame({"text": [f"{sign}1", f"a{sign}1"], "lean": [-1, 1]})
    first, other = (text.replace("\r", "\n") for text in table["text"])
    written = csv.reader(io.StringIO(as_csv(table), newline=""))
    assert list(written) == [["text", "lean"], [f"'{first}", "-1"], [other, "1"]]
    assert "\r" not in as_csv(table)  # behind which a row would begin


def test_a_sign_that_nobody_sees_is_written_by_its_code():
    table = pd.DataFrame(
        {"text": ["\x1b[31mred\u200b", "👨\u200d👩 नहीं\u200cं", "a\u200d"]}
    )
    assert as_csv(table).split() == [
        *("text", "⟨U+001B⟩[31mred⟨U+200B⟩"),
        *("👨\u200d👩", "नहीं\u200cं", "a⟨U+200D⟩"),
    ]


def test_a_quiet_report_says_nothing_and_another_one_what_it_does(
    asked, monkeypatch, capsys
):
    given = []
    monkeypatch.setattr(logging, "basicConfig", lambda **form: given.append(form))
    for option in ("-q", "--quiet"):
        main(["report", "mine.csv", option])
    assert given == [] and capsys.readouterr().out == ""
    main(["report", "mine.csv"])
    assert given == [{"format": "attnsel: %(message)s", "level": logging.INFO}]


def test_the_page_alone_is_on_the_screen(asked, tmp_path, capsys):
    main(["report", "mine.csv", "--output", "-"])
    assert capsys.readouterr().out == "<!doctype html>\n\n"
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_has_enough_ends_it_without_a_word(asked, monkeypatch, capsys):
    read, write = os.pipe()
    os.close(read)
    with open(write, "w", encoding="utf-8") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        with pytest.raises(SystemExit) as caught:
            main(["report", "mine.csv", "--output", "-"])
    assert caught.value.code == 141
    assert capsys.readouterr().err == ""


def test_what_is_read_is_not_written_over_and_one_file_holds_one_thing(asked, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("text,label\n")
    for option in ("--output", "--csv"):
        with pytest.raises(SystemExit, match=f"{option} .*mine.csv is the input"):
            main(["report", str(mine), option, "mine.csv", "--force"])
    both = ["--output", "all.csv", "--csv", str(tmp_path / "all.csv")]
    with pytest.raises(SystemExit, match=r"--output and --csv are both .*all\.csv"):
        main(["report", str(mine), *both])
    with pytest.raises(SystemExit, match=r"--suspects and --copies are both .*x\.csv"):
        main(["report", str(mine), "--suspects", "x.csv", "--copies", "x.csv"])
    with pytest.raises(SystemExit, match="--csv: only the page can be printed"):
        main(["report", str(mine), "--csv", "-"])
    assert not asked and mine.read_text() == "text,label\n"
    main(["report", str(mine), "--output", "mine.csv"])  # an unforced one is beside it
    assert (tmp_path / "mine-2.csv").exists()


def test_what_is_piped_in_is_read(asked, monkeypatch):
    pipe = io.TextIOWrapper(io.BytesIO(b"text,label"))
    monkeypatch.setattr("sys.stdin", pipe)
    main(["report", "-"])
    assert asked["source"] is pipe.buffer


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("json.loads", "json.loads does not split a text (JSONDecodeError: "),
        ("os.getcwd", "os.getcwd does not split a text (TypeError: "),
        ("str.encode", "str.encode does not split a text into strings"),
        # It returns a string and a number.
        (
            "codecs.escape_decode",
            "codecs.escape_decode does not split a text into strings",
        ),
        ("nowhere", "there is no function 'nowhere' ("),
        ("shlex.nothing", "there is no function 'shlex.nothing' ("),
        ("no_such_module.split", "there is no function 'no_such_module.split' ("),
    ],
)
def test_a_function_that_does_not_split_is_refused_before_the_work(
    asked, name, message
):
    with pytest.raises(SystemExit) as caught:
        main(["report", "mine.csv", "--tokenize", name])
    printed = str(caught.value.code)
    assert printed.startswith(f"attnsel: tokenize: {message}")
    assert "\n" not in printed
    assert not asked


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (KeyError("rate: none"), "attnsel: rate: none"),
        (TypeError("min_count=3 is no"), "attnsel: --min-count 3 is no"),
        (ValueError("a", "b"), "attnsel: ('a', 'b')"),
        (OSError(28, "No space left"), "attnsel: [Errno 28] No space left"),
        (KeyError("got \x1b[31ma\nb"), r"attnsel: got \x1b[31ma\nb"),
    ],
)
def test_what_is_wrong_is_one_line(monkeypatch, error, message):
    def report(*_, **__):
        raise error

    monkeypatch.setattr(report_module, "report", report)
    with pytest.raises(SystemExit) as caught:
        main(["report", "mine.csv", "--output", "-"])
    assert caught.value.code == message


def test_the_lines_of_the_readme_install_from_the_project_and_make_a_report(
    asked, tmp_path
):
    root = Path(__file__).parents[2]
    readme, project = (
        (root / name).read_text(encoding="utf-8")
        for name in ("README.md", "pyproject.toml")
    )
    (address,) = re.findall('^Repository = "(.*)"$', project, re.MULTILINE)
    installed = re.findall(r'"(attnsel\[.*?)"', readme)
    assert installed == [f"attnsel[report] @ git+{address}"]
    reports = re.findall(r"attnsel (report \S+ --text \w+ --label (\w+))", readme)
    assert len(reports) == 2
    for line, label in reports:
        asked.clear()
        main([*shlex.split(line), "--output", str(tmp_path / "report.html"), "--force"])
        assert (asked["text"], asked["label"]) == ("body", label)
