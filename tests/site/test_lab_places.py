"""The places of the laboratory on the pages, and what is stored for them."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

pytest.importorskip("jupyter_book", reason="needs Jupyter Book")

from attnsel import Corpus, Vocab
from tools import lab, lab_data


def place(*arguments):
    """The HTML of a place with some knobs, and what is noted of its page."""
    noted = {"book/train": {}}
    env = SimpleNamespace(metadata=noted, docname="book/train")
    state = SimpleNamespace(document=SimpleNamespace(settings=SimpleNamespace(env=env)))
    machine = SimpleNamespace(reporter=None)
    directive = lab.Lab("lab", [*arguments], {}, [], 1, 0, "", state, machine)
    (node,) = directive.run()
    assert node["format"] == "html"
    return node.astext(), noted["book/train"]


def test_a_place_has_its_knobs_and_something_to_see_without_a_script():
    page, noted = place('shuffle=1&d="64"')
    start = '<div class="attnsel attnsel-lab" data-knobs="{}"><noscript>'
    assert page.startswith(start.format("shuffle=1&amp;d=&quot;64&quot;"))
    assert "still.svg" in page and page.endswith("</noscript></div>")
    assert noted == {"lab": True}
    assert place()[0].startswith(start.format(""))
    page, _ = place("tab=stages&eta=300")
    assert "After a first step of 300" in page and "still.svg" not in page


@pytest.mark.parametrize(("metadata", "loads"), [({"lab": True}, True), ({}, False)])
def test_only_a_page_with_a_place_loads_its_script(metadata, loads):
    asked = []
    app = SimpleNamespace(
        env=SimpleNamespace(metadata={"one": metadata, "other": {"lab": True}}),
        add_js_file=lambda name, **how: asked.append((name, how)),
        add_css_file=lambda name: asked.append((name, {})),
    )
    lab.load(app, "one", "page.html", {}, None)
    files = [("lab.js", {"loading_method": "defer"}), ("lab.css", {})]
    assert asked == (files if loads else [])
    lab.load(app, "nowhere", "page.html", {}, None)
    assert len(asked) == (2 if loads else 0)


@pytest.mark.parametrize(
    ("kind", "error", "written"),
    [("html", None, True), ("latex", None, False), ("html", ValueError(), False)],
)
def test_scripts_and_styles_are_written_beside_the_pages(
    tmp_path, monkeypatch, kind, error, written
):
    (tmp_path / "_static").mkdir()
    for name, text in {"a.js": "a();\n", "b.js": "é();\n", "c.css": ".c {}\n"}.items():
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.setattr(lab, "SCRIPTS", [tmp_path / "a.js", tmp_path / "b.js"])
    monkeypatch.setattr(lab, "STYLES", [tmp_path / "c.css", tmp_path / "c.css"])
    app = SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(format=kind))
    lab.write(app, error)
    found = {p.name: p.read_text("utf-8") for p in (tmp_path / "_static").iterdir()}
    assert found == (
        {
            "lab.js": 'function attnselLab() {\n"use strict";\na();\né();\n}\n'
            "attnselLab();\n",
            "lab.css": ".c {}\n.c {}\n",
        }
        if written
        else {}
    )


def test_reviews_are_stored_as_a_call_with_their_counts(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(lab_data, "FOLDER", tmp_path)
    vocab = Vocab(["gut", "schön"], ["no", "yes"])
    train = Corpus.from_tokens([[0, 1], [1, 1], [0]], ["yes", "no", "yes"], vocab)
    test = Corpus.from_tokens([[0]], ["no"], vocab)
    lab_data.write("some", train, test)
    text = (tmp_path / "some.js").read_text("utf-8")
    assert "schön" in text
    stored = json.loads(text.removeprefix("attnselReviews(").removesuffix(");\n"))
    assert (stored["tokens"], stored["size"]) == (["gut", "schön"], 3)
    assert stored["labels"] == "1010"
    assert capsys.readouterr().out == f"{tmp_path / 'some.js'}: 0 kB\n"
