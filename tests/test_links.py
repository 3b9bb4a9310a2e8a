"""The list of external links, and the check against a server of our own."""

from __future__ import annotations

import http.server
import json
import re
import time
from collections.abc import Iterator

import pytest
from serving import serving

from tools import links, repository


def test_links_of_the_project_are_listed_with_their_files():
    found = links.links()
    address = f"https://github.com/{repository.address()}"
    assert {"pyproject.toml", "_config.yml", "book/model.ipynb"} <= set(found[address])
    assert "book/references.bib" in found["https://arxiv.org/abs/2505.17282"]
    assert list(found) == sorted(found)
    for link in found:
        assert re.fullmatch(r"https?://[\w.-]+\.\w+(/\S*)?", link)
        assert link[-1] not in ".,;:)>"


def test_links_are_taken_from_what_people_wrote(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "README.md").write_text(
        "See [this](https://a.org/x_(y)), <https://b.org/>, [i](https://c.org/d)),\n"
        "Serve http://127.0.0.1:8000/ or http://localhost/; twice https://b.org/.\n"
    )
    (tmp_path / "book" / "references.bib").write_text("url = {https://a.org/x_(y)},")
    outputs = [{"output_type": "stream", "text": ["https://output.org"]}]
    cells = [
        {"cell_type": "markdown", "source": ["*At\n", "https://d.org/e.*"]},
        {"cell_type": "code", "source": "f('https://e.org')", "outputs": outputs},
    ]
    notebook = tmp_path / "book" / "a.ipynb"
    notebook.write_text(json.dumps({"cells": cells}))
    assert links.links(tmp_path) == {
        "https://a.org/x_(y)": ["README.md", "book/references.bib"],
        "https://b.org/": ["README.md"],
        "https://c.org/d": ["README.md"],
        "https://d.org/e": ["book/a.ipynb"],
        "https://e.org": ["book/a.ipynb"],
    }


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/slow":
            time.sleep(1)
        status = int(self.path[1:]) if self.path[1:].isdecimal() else 200
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/404")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with serving(Handler) as address:
        yield address


def test_broken_links_are_named_and_counted(server, capsys):
    found = {
        f"{server}/good": ["a.md"],
        f"{server}/404": ["a.md", "b.md"],
        f"{server}/302": ["a.md"],  # leads to a page that is not there
        f"{server}/403": ["a.md"],
        f"{server}/500": ["a.md"],
        f"{server}/slow": ["a.md"],
        "http://127.0.0.1:9/": ["a.md"],  # nobody listens
    }
    assert links.check(found, patience=0.3) == 5
    *lines, total = capsys.readouterr().out.splitlines()
    assert total == "7 links, 5 broken"
    assert f"broken: {server}/404 (a.md, b.md): 404 Not Found" in lines
    assert f"unknown: {server}/403 (a.md): 403 Forbidden" in lines
    assert len(lines) == 6
    assert not any("/good" in line for line in lines)


def test_sound_links_pass(server, capsys):
    assert links.check({f"{server}/good": ["a.md"]}) == 0
    assert capsys.readouterr().out == "1 links, 0 broken\n"


@pytest.mark.parametrize(("path", "status"), [("good", 0), ("404", 1)])
def test_the_command_says_whether_all_is_well(server, monkeypatch, path, status):
    monkeypatch.setattr(links, "links", lambda: {f"{server}/{path}": ["a.md"]})
    monkeypatch.setattr("sys.argv", ["links", "--check"])
    assert links.main() == status


def test_the_command_lists_links_without_the_network(monkeypatch, capsys):
    monkeypatch.setattr(links, "links", lambda: {"https://a.org": ["a.md", "b.md"]})
    monkeypatch.setattr("sys.argv", ["links"])
    assert links.main() == 0
    assert capsys.readouterr().out == "https://a.org  a.md, b.md\n"
