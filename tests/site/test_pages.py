"""Our additions to the pages of Sphinx, and the forms of the copies for Colab."""

import re
from pathlib import Path

import docutils.core
import pytest
from docutils import nodes

import attnsel
from tools.site import openings, pages
from tools.site.tables import holds_table


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("Head\n====\n\n- one\n\nThe\n*text*.\n\nMore.\n", "The text."),
        ("Head\n====\n\n- one\n", "Head"),
    ],
)
def test_a_page_is_described_by_its_first_paragraph_else_its_title(text, description):
    settings = {"doctitle_xform": False}
    document = docutils.core.publish_doctree(text, settings_overrides=settings)
    assert pages.described(document) == description


def test_a_table_that_a_script_draws_is_no_table_of_the_page():
    assert holds_table("<div><table><tr></tr></table></div>")
    assert not holds_table("<div></div><script>\nx = '<table>';\n</script>")
    assert holds_table("<script>x</script><table><script>y</script>")


def test_who_cites_the_book_names_its_version():
    root = Path(pages.__file__).parents[2] / "book" / "_root"
    version = attnsel.__version__
    assert f"version = {{{version}}}" in (root / "attnsel.bib").read_text("utf-8")
    assert f"\nET  - {version}\n" in (root / "attnsel.ris").read_text("utf-8")


@pytest.mark.parametrize("name", ["attnsel", "wu2025"])
def test_the_two_forms_of_a_citation_say_the_same(name):
    root = Path(pages.__file__).parents[2] / "book" / "_root"
    bib = (root / f"{name}.bib").read_text("utf-8")
    ris = (root / f"{name}.ris").read_text("utf-8").splitlines()
    assert ris[0].startswith("TY  - ")
    assert ris[-1] == "ER  - "
    assert all(re.match(r"[A-Z][A-Z0-9]  - ", line) for line in ris)
    lines = [line[6:] for line in ris[1:-1]]
    assert len(lines) >= 5
    for words in lines:
        assert words in bib


def shown(name, *classes, figure=False):
    """Return a code cell of a page, with its source before its output."""
    source = nodes.container("", nodes.Text(name), nb_element="cell_code_source")
    picture = [nodes.figure("", nodes.caption("", f"of {name}"))] if figure else []
    output = nodes.container("", *picture, nb_element="cell_code_output")
    settings = {"nb_element": "cell_code", "classes": ["cell", *classes]}
    return nodes.container("", source, output, **settings)


GUESS = nodes.admonition("", nodes.Text("guess"), classes=["guess"])
ANSWER = nodes.container("", nodes.Text("answer"), design_component="dropdown")
COST = "this chapter takes about 5 s on 1 core"
FOLD = f"{openings.OPEN} {COST} install imports # settings </details>"
SHORT = nodes.admonition("", nodes.Text("short"), classes=["in-short"])


@pytest.mark.parametrize(
    ("above", "tags", "order"),
    [
        ([GUESS], [], f"head why guess plot of plot {FOLD} fit after"),
        ([GUESS, ANSWER], [], f"head why guess answer plot of plot {FOLD} fit after"),
        (
            [GUESS, ANSWER, SHORT],
            ["tag_opening"],
            f"head why plot of plot guess answer short {FOLD} fit after",
        ),
        (
            [GUESS],
            ["tag_remove-input"],
            f"head why guess {FOLD} fit plot of plot after",
        ),
        ([], [], f"head why {FOLD} fit plot of plot after"),
    ],
)
def test_the_first_figure_stands_beside_the_question(above, tags, order):
    cost = nodes.paragraph("", COST)
    page = nodes.section("", nodes.title("", "head"), nodes.paragraph("", "why"))
    page += [node.deepcopy() for node in above]
    page += [
        cost,
        shown("install", "tag_hide-input"),
        shown("imports", "tag_hide-input"),
        shown("# settings"),
    ]
    page += nodes.section(
        "",
        shown("fit"),
        shown("plot", *tags, figure=True),
        nodes.paragraph("", "after"),
    )
    openings.Opening.order(None, cost)
    assert " ".join(page.astext().split()) == order


def test_the_guess_and_what_the_chapter_finds_are_one_box():
    page = nodes.section("", nodes.title("", "head"), GUESS.deepcopy())
    page += [ANSWER.deepcopy(), SHORT.deepcopy(), nodes.paragraph("", "after")]
    box = openings.question_box(page)
    assert box.astext().split() == ["guess", "answer", "short"]
    assert [node.astext() for node in page if node is not box] == ["head", "after"]


def test_a_cell_in_the_open_is_none_that_a_run_needs():
    cost = nodes.paragraph("", COST)
    page = nodes.section("", nodes.title("", "head"))
    page += [cost, shown("install", "tag_hide-input"), shown("knobs")]
    page += [shown("later", "tag_hide-input")]
    openings.Opening.order(None, cost)
    text = " ".join(page.astext().split())
    assert text == f"head {openings.OPEN} {COST} install </details> knobs later"
