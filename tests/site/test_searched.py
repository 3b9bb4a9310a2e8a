"""The entries of the search, read from the HTML of a page."""

from pathlib import Path

import pytest

pytest.importorskip("jupyter_book", reason="needs Jupyter Book")

from tools.site import search
from tools.site.search import entries

ROOT = Path(__file__).resolve().parents[2]


def formula(inner: str) -> str:
    return f"<math><mrow>{inner}</mrow></math>"


ETA = formula("<msub><mi>η</mi><mn>0</mn></msub><mo>=</mo><mn>2</mn>")
PAGE = f"""<html><head><title>Not this</title></head><body><nav>Nor this</nav>
<article class="bd-article"><section id="one-step">
<h1>One step<a class="headerlink" href="#one-step">#</a></h1>
<p>It moves by {ETA} &amp; no more.<br>So <img src="x.svg" alt="x"> far.</p>
<div class="math"><span>(1)</span>{formula("<mi>q</mi>")}</div>
<pre>code()</pre><div class="output text_html"><p>shown</p></div>
<details class="claims">claimed</details><button>pressed</button>
<template><p>opened</p><input><p>later</p></template>
<figure><figcaption>A
caption.</figcaption></figure>
<section id="a-way"><h2>2.1 A way</h2><p>Walk.</p>
<div class="proof lemma admonition" id="lem-a">
<p class="admonition-title">Lemma 4.1 of [5], in our words</p>
<section id="proof-content"><p>It is so.</p>
</section></div>
<div class="proof proposition admonition" id="prop-b">
<p class="admonition-title">Proposition. Two numbers</p><p>There are two.</p></div>
<p>Afterwards.</p></section>
<section id="unnamed"><p>No head.</p></section>
<table><tr id="symbol-eta-0"><td>{ETA}, {formula("<mi>κ</mi>")}</td>
<td>a step</td></tr><tr><td>plain</td></tr></table>
<dl class="py function"><dt class="sig" id="attnsel.train.fit"><span>fit(model)</span>
</dt><dd><p>Trains it.</p></dd></dl>
</section></article><footer>Nor that</footer></body></html>"""


@pytest.fixture(scope="module")
def found():
    read = entries("book/one.html", PAGE)
    assert {entry["page"] for entry in read} == {"book/one.html"}
    return {entry["title"]: entry for entry in read}


def test_each_part_of_a_page_is_an_entry_with_its_place(found):
    assert {t: (e["kind"], e["anchor"]) for t, e in found.items()} == {
        "One step": ("page", ""),
        "2.1 A way": ("section", "a-way"),
        "Lemma 4.1 of [5], in our words": ("result", "lem-a"),
        "Proposition. Two numbers": ("result", "prop-b"),
        "η_0 = 2, κ": ("symbol", "symbol-eta-0"),
        "attnsel.train.fit": ("function", "attnsel.train.fit"),
    }


def test_a_text_belongs_to_the_innermost_entry(found):
    assert {title: entry["text"] for title, entry in found.items()} == {
        "One step": "It moves by η_0 = 2 & no more.So far. … A caption. plain",
        "2.1 A way": "Walk. Afterwards.",
        "Lemma 4.1 of [5], in our words": "It is so.",
        "Proposition. Two numbers": "There are two.",
        "η_0 = 2, κ": "a step",
        "attnsel.train.fit": "Trains it.",
    }


def test_an_entry_is_asked_for_by_its_names(found):
    assert {title: entry["names"] for title, entry in found.items()} == {
        "One step": ["One step"],
        "2.1 A way": ["A way"],
        "Lemma 4.1 of [5], in our words": ["Lemma 4.1"],
        "Proposition. Two numbers": ["Two numbers"],
        "η_0 = 2, κ": ["η_0", "κ"],
        "attnsel.train.fit": ["fit", "train.fit", "attnsel.train.fit", "attnsel.fit"],
    }


A, B, C = "<mi>a</mi>", "<mi>b</mi>", "<mi>c</mi>"


@pytest.mark.parametrize(
    ("inner", "line"),
    [
        (f"<munder>{A}{B}</munder>", "a_b"),
        (f"<msup>{A}<mo>⊤</mo></msup>", "a^⊤"),
        (f"<msubsup>{A}{B}{C}</msubsup>", "a_b^c"),
        (f"<munderover>{A}{B}{C}</munderover>", "a_b^c"),
        (f"<mfrac>{A}{B}</mfrac>", "a/b"),
        (f"<msqrt>{A}{B}</msqrt>", "√ab"),
        (f"<mover>{A}<mo>^</mo></mover>", "a"),
        (f"{A}<mo>∈</mo>{B}", "a ∈ b"),
        (f"{A}<mo>+</mo>{B}", "a+b"),
    ],
)
def test_a_formula_is_read_as_a_line(inner, line):
    article = f"<article><section id='x'><h1>T</h1>{formula(inner)}</section></article>"
    (entry,) = entries("x.html", article)
    assert entry["text"] == line


def test_a_page_without_an_article_has_nothing_to_find():
    assert entries("x.html", "<section id='x'><h1>T</h1></section>") == []


def test_a_page_is_found_by_its_aliases_too():
    page, *others = entries("book/one.html", PAGE, ["implicit bias", "SVM"])
    assert page["aliases"] == ["implicit bias", "SVM"]
    assert not any("aliases" in entry for entry in others)


def test_aliases_are_of_pages_of_the_book_and_each_leads_to_one(tmp_path):
    stored = search.aliases(ROOT / "book" / "aliases.yml")
    assert all(list(ROOT.glob(f"{page}.*")) for page in stored)
    words = [word.lower() for page in stored.values() for word in page]
    assert len(words) == len(set(words)) > 100
    assert search.aliases(tmp_path / "none.yml") == {}
