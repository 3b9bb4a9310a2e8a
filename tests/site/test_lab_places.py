"""The places of the laboratory on the pages, and their stored files."""

import html
import json
import re
from types import SimpleNamespace

import pytest

pytest.importorskip("jupyter_book", reason="needs Jupyter Book")

from attnsel import Corpus, Vocab
from support.node import committed
from tools import lab_data
from tools.site import lab


def place(*arguments):
    """Return the HTML of a place with these settings, and the metadata of its page."""
    noted, files = {"book/train": {}}, set()
    env = SimpleNamespace(
        metadata=noted,
        docname="book/train",
        note_dependency=files.add,
        config=SimpleNamespace(html_baseurl="https://book.example/"),
    )
    state = SimpleNamespace(document=SimpleNamespace(settings=SimpleNamespace(env=env)))
    machine = SimpleNamespace(
        reporter=None, get_source_and_line=lambda *_: ("book/train.md", 1)
    )
    directive = lab.Lab("lab", [*arguments], {}, [], 1, 0, "", state, machine)
    node, copy = directive.run()
    assert copy["format"] == "markdown"
    assert copy.astext().startswith(
        "[Train the model in the book](https://book.example"
    )
    assert node["format"] == "html"
    assert files == {str(lab.PLACE), str(lab.SETTINGS)}
    return node.astext(), noted["book/train"]


def seen(page):
    """Return the HTML that a place shows without scripts."""
    shown = re.sub("<template.*?</template>|^<div [^>]*>|</div>$", "", page, flags=re.S)
    return shown.strip().removeprefix("<noscript>").removesuffix("</noscript>")


def test_a_place_has_its_settings_and_something_to_see_without_a_script():
    page, noted = place('shuffle=1&d="64"')
    start = '<div class="attnsel attnsel-lab" data-settings="{}">\n<template '
    assert page.startswith(start.format("shuffle=1&amp;d=&quot;64&quot;"))
    assert seen(page) == lab.STILLS["reviews"] and "still.svg" in page
    assert page.endswith("</noscript></div>")
    assert noted == {"lab": True}
    assert place()[0].startswith(start.format(""))
    page, _ = place("tab=stages&eta=300")
    assert (
        seen(page) == lab.STILLS["stages"] and "After a first step of size 300" in page
    )


def test_a_place_holds_the_tabs_that_can_be_opened_there_with_all_their_settings():
    kinds = r'<template data-kind="(\w+)">'
    both = place("page=1")[0]
    assert re.findall(kinds, both) == ["reviews", "stages"]
    assert len(re.findall('name="tab" value="stages"', both)) == 2
    for settings, kind in (("", "reviews"), ("tab=stages&eta=300", "stages")):
        page = place(settings)[0]
        assert re.findall(kinds, page) == [kind]
        assert 'name="tab"' not in page
        forms = json.loads(lab.SETTINGS.read_text("utf-8"))[kind]
        form = re.findall("<form.*?</form>", page, re.S)[0]
        named = re.findall(r'name="(\w+)"', form)
        assert named == [setting["name"] for setting in forms]
        seen = re.findall(r'name="(\w+)"', form.partition("<details")[0])
        assert seen == named[:6]
        for setting in forms:
            assert (
                f"<small>{html.escape(setting['help']).replace('&#x27;', '&#39;')}"
                in page
            )
            assert setting["usual"] in setting["values"]
    assert '<option value="1000">1,000</option>' in both
    assert '<option value="gd">gradient descent</option>' in both


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


def test_scripts_and_styles_are_written_beside_the_pages(tmp_path, monkeypatch):
    (tmp_path / "_static").mkdir()
    for name, text in {"a.js": "a();\n", "b.js": "é();\n", "c.css": ".c {}\n"}.items():
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.setattr(lab, "SCRIPTS", [tmp_path / "a.js", tmp_path / "b.js"])
    monkeypatch.setattr(lab, "STYLES", [tmp_path / "c.css", tmp_path / "c.css"])
    (tmp_path / "colours.json").write_text('{"one": "#123456"}', "utf-8")
    monkeypatch.setattr(lab, "COLOURS", tmp_path / "colours.json")
    app = SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(format="html"))
    lab.write(app, None)
    found = {p.name: p.read_text("utf-8") for p in (tmp_path / "_static").iterdir()}
    assert found == {
        "lab.js": 'function attnselLab() {\n"use strict";\na();\né();\n}\n'
        "attnselLab();\n",
        "lab.css": ".attnsel{--one:#123456;}\n.c {}\n.c {}\n",
    }


def test_reviews_are_stored_as_a_call_with_their_counts(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(lab_data, "FOLDER", tmp_path)
    vocab = Vocab(["gut", "schön"], ["no", "yes"])
    train = Corpus.from_tokens([[0, 1], [1, 1], [0]], ["yes", "no", "yes"], vocab)
    test = Corpus.from_tokens([[0]], ["no"], vocab)
    lab_data.write("some", train, test)
    text = (tmp_path / "some.js").read_text("utf-8")
    assert text.startswith("attnselReviews(") and "schön" in text
    stored = committed(tmp_path / "some.js")
    assert (stored["tokens"], stored["size"]) == (["gut", "schön"], 3)
    assert stored["labels"] == "1010"
    assert capsys.readouterr().out == f"{tmp_path / 'some.js'}: 0 kB\n"


def test_all_counts_can_be_read_again():
    vocab = Vocab([f"w{i}" for i in range(600)], ["no", "yes"])
    texts = [[0] * 255 + [599], [300, 1, 1]]
    train = Corpus.from_tokens(texts, ["no", "yes"], vocab)
    test = Corpus.from_tokens([[258, 2]], ["yes"], vocab)
    stored = lab_data.packed(train, test)
    assert (stored["size"], stored["labels"]) == (2, "011")
    # From the token before it, from -1 on: 0, 599; 1, 300; 2, 258; "#" comes again.
    assert stored["texts"] == [
        "$" + 254 * "#" + chr(35 + 599),
        "%#" + chr(35 + 299),
        "&" + chr(35 + 256),
    ]
