"""The copies for Colab have plain Markdown, the numbers of the site, the same code."""

import ast
import functools
import re
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
import yaml

pytest.importorskip("jupyter_book", reason="needs Jupyter Book")

from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document
from sphinx_exercise.nodes import exercise_enumerable_node, solution_node

from tools.site.colab import ADDRESS, ROOT, Markdown, copy, form, pin
from tools.site.guesses import guess_cells

CHAPTERS = sorted(path.name for path in (ROOT / "book").glob("*.ipynb"))
RAW = re.compile(
    r":::|\{[\w:-]+\}`|^\([\w-]+\)=|^```\{|\$\$ *\([\w:-]+\)|\[\^|^ *:[\w-]+: |\(eq-"
    r"|\]\((?!https://|#)",
    re.MULTILINE,
)
SITE = "https://{}.github.io/{}/book".format(*ADDRESS.split("/"))
FORMULA = re.compile(r"\$\$(?:(?!\n\n).)+?\$\$|(?<!\\)\$[^$]+\$", re.DOTALL)
INSTALL = f"git+https://github.com/{ADDRESS}"


def prose(notebook: Any) -> dict[str, str]:
    cells = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    return {cell.id: cell.source for cell in cells}


def code(notebook: Any) -> dict[str, Any]:
    return {
        cell.id: cell
        for cell in notebook.cells
        if cell.cell_type == "code" and not cell.id.startswith("guess-")
    }


@functools.cache
def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


# Chapters of the book, as `make colab` wrote them


def made(name: str) -> Any:
    return read(ROOT / "_build" / "colab" / "book" / name)


@functools.cache
def page(name: str) -> str:
    path = ROOT / "_build" / "html" / "book" / name
    return path.with_suffix(".html").read_text(encoding="utf-8")


# The tests of a chapter share the copy that is read.
each_chapter = pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.xdist_group(n)) for n in CHAPTERS]
)


def words(text: str) -> str:
    """Return the words of a text, without formulas and punctuation."""
    return " ".join(re.findall(r"\w+", FORMULA.sub(" ", text)))


@pytest.mark.site
def test_every_chapter_has_a_copy():
    folder = ROOT / "_build" / "colab" / "book"
    assert sorted(path.name for path in folder.glob("*.ipynb")) == CHAPTERS
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert "\n- `model.ipynb`: 1. " in readme
    needed = (folder / "requirements.txt").read_text(encoding="utf-8")
    assert f"\nattnsel[book] @ {INSTALL}@" in needed


@pytest.mark.site
@each_chapter
def test_no_markup_of_the_book_is_left(name):
    for key, source in prose(made(name)).items():
        found = RAW.search(FORMULA.sub("", source))
        assert found is None, (key, found)
        assert source.count("$$") % 2 == 0, key
        for tag in ("blockquote", "details"):
            assert source.count(f"<{tag}>") == source.count(f"</{tag}>")


@pytest.mark.site
@each_chapter
def test_the_code_is_the_same_and_in_the_same_place(name):
    before, after = read(ROOT / "book" / name), made(name)
    nbformat.validate(after)
    assert code(after).keys() == code(before).keys()
    for key, cell in code(before).items():
        source = re.sub(
            rf"({re.escape(INSTALL)})@[\w.]+", r"\1", code(after)[key].source
        )
        if cell.source.startswith("# settings\n"):  # the fields of a form
            assert ast.dump(ast.parse(source)) == ast.dump(ast.parse(cell.source))
        else:
            assert source == cell.source
    kept = [cell.id for cell in after.cells if cell.id in prose(before) | code(before)]
    assert kept == [cell.id for cell in before.cells if cell.id in kept]


@pytest.mark.site
@each_chapter
def test_each_figure_and_table_of_a_copy_has_its_caption_below_it(name):
    cells = {cell.id: place for place, cell in enumerate(made(name).cells)}
    for cell in read(ROOT / "book" / name).cells:
        if "caption" in cell.metadata.get("mystnb", {}).get("figure", {}):
            below = made(name).cells[cells[cell.id] + 1].source
            assert re.match(r'(<a name="[^"]+"></a>)?\*\*(Figure|Table) ', below)


@pytest.mark.site
@each_chapter
def test_links_within_a_copy_arrive(name):
    text = "\n".join(prose(made(name)).values())
    anchors = re.findall(r'<a name="([^"]+)"></a>', text)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= set(anchors)


@pytest.mark.site
@each_chapter
def test_numbers_and_targets_are_those_of_the_site(name):
    text, site = "\n".join(prose(made(name)).values()), page(name)
    equations = re.findall(r'class="eqno">\(([\d.]+)\)', site)
    assert re.findall(r"\\tag\{([\d.]+)\}", text) == equations
    titles = re.findall(r'class="caption-number">(.*?) <', site)
    heads = re.findall(r"\*\*((?:Exercise|Figure|Table) [\d.]+)\*\*", text)
    assert sorted(heads) == sorted(titles)
    for other, anchor in re.findall(rf"{SITE}/(\w+)\.html(?:#([\w-]+)\b(?!=))?", text):
        assert not anchor or f'id="{anchor}"' in page(other)


@pytest.mark.site
@each_chapter
def test_every_sentence_of_the_site_is_there(name):
    text = "\n".join(prose(made(name)).values())
    text = words(re.sub(r"\]\([^)]*\)|</?\w+[^>]*>", " ", text).replace("\\", ""))
    article = BeautifulSoup(page(name), "html.parser").select_one("article")
    apart = ".cell, .way, .attnsel-lab, .attnsel-lineup, .eqno, .headerlink, form, math"
    for other in article.select(apart):
        other.replace_with(" ")
    missing = [
        found.text
        for found in article.select("p, h1, h2, h3, th, td")
        if words(found.text) not in text
    ]
    assert not missing


@pytest.mark.site
@each_chapter
def test_a_copy_asks_for_each_guess_of_its_chapter(name):
    boxes = [guess_cells(cell.source, "") for cell in read(ROOT / "book" / name).cells]
    asked = [cell for cell in made(name).cells if cell.id.startswith("guess-")]
    assert len(asked) == sum(map(len, boxes))
    for cell in asked:
        assert cell.outputs[0].data["text/html"] in cell.source


def test_a_guess_is_a_cell_that_needs_no_kernel():
    text = "Which?\n\n1. *a* < b\n2. the\n   other"
    box = f":::{{admonition}} Guess first\n:class: guess answer-2\n{text}\n:::"
    cell, again = (guess_cells(f"Text.\n\n{box}", "model")[0] for _ in range(2))
    page = cell.outputs[0].data["text/html"]
    items = "<ol><li><i>a</i> &lt; b</li><li>the other</li></ol>"
    assert f'<div class="guess answer-2"><p><b>Your guess</b></p>{items}</div>' in page
    assert cell == again and page in cell.source
    assert guess_cells(box.replace("guess answer-2", "note"), "model") == []


def test_the_launch_buttons_name_the_copies():
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    where = settings["repository"]
    assert where["branch"] == "colab"
    assert where["path_to_book"] == ""  # so the paths are book/NAME.ipynb
    assert where["url"] == f"https://github.com/{ADDRESS}"


# One node at a time


def markdown(*children: nodes.Node) -> str:
    """Return nodes of one page as Markdown."""
    document = new_document("a page")
    document += nodes.section("", nodes.title("", "Title"), *children, ids=["start"])
    domain = SimpleNamespace(get_enumerable_node_type=lambda _: "table")
    numbers: dict[str, Any] = defaultdict(lambda: defaultdict(lambda: (1, 2)))
    env = SimpleNamespace(
        toc_fignumbers={"page": numbers},
        toc_secnumbers={"page": {"": (1,)}},
        get_domain=lambda _: domain,
    )
    page = Markdown("page", document, env)
    return page.write(document).removeprefix("# 1. Title\n\n")


def paragraph(*children: nodes.Node | str) -> nodes.paragraph:
    texts = [nodes.Text(c) if isinstance(c, str) else c for c in children]
    return nodes.paragraph("", "", *texts)


@pytest.mark.parametrize(
    ("child", "expected"),
    [
        ("a*b _c_ 5 $ < `d`\nand\\", r"a\*b \_c\_ 5 \$ \< \`d\` and\\"),
        ("1. is no list", r"1\. is no list"),
        ("- nor this", r"\- nor this"),
        (nodes.emphasis("", "so"), "*so*"),
        (nodes.strong("", "so"), "**so**"),
        (nodes.literal("", "a*b"), "`a*b`"),
        (nodes.literal("", "a`b"), "`` a`b ``"),
        (nodes.math("", "a_1 <\nb"), "$a_1 < b$"),
        (nodes.reference("", "x", refid="start"), "[x](#start)"),
        (nodes.reference("", "x", refuri="https://x.org"), "[x](https://x.org)"),
        (nodes.subscript("", "no method is for it"), "no method is for it"),
    ],
)
def test_a_sentence_means_the_same_in_markdown(child, expected):
    text = markdown(paragraph(child))
    assert text.removeprefix('<a name="start"></a>\n\n# 1. Title\n\n') == expected


def test_a_link_of_the_page_has_an_anchor():
    text = markdown(paragraph(nodes.reference("", "x", refid="start")))
    assert text.startswith('<a name="start"></a>\n\n# 1. Title')


def test_items_keep_what_they_contain():
    formula = nodes.math_block("", "a\n= b", number=1, ids=["eq"])
    items = [
        nodes.list_item("", paragraph("one"), formula),
        nodes.list_item("", paragraph("two")),
    ]
    expected = "3. one\n\n   $$\n   a\n   = b \\tag{1.2}\n   $$\n\n4. two"
    assert markdown(nodes.enumerated_list("", *items, start=3)) == expected
    assert markdown(nodes.bullet_list("", items[1].deepcopy())) == "- two"


def test_bars_end_no_cell_of_a_table():
    def row(*cells: nodes.Node | str) -> nodes.row:
        return nodes.row("", *(nodes.entry("", paragraph(cell)) for cell in cells))

    rows = [row("a", "b | c"), row(nodes.math("", r"\|x\| = |x|"), "on\ntwo lines")]
    group = nodes.tgroup("", nodes.tbody("", *rows))
    expected = (
        "**Table 1.2**. Caption\n\n| a | b \\| c |\n| --- | --- |\n"
        "| $\\Vert x\\Vert  = \\vert x\\vert $ | on two lines |"
    )
    title = nodes.title("", "Caption")
    assert markdown(nodes.table("", title, group, ids=["tab"])) == expected


def test_boxes_and_what_opens_are_set_apart():
    title, text = nodes.title("", "Lemma"), paragraph("It holds.")
    box = "<blockquote>\n\n**{}**\n\nIt holds.\n\n</blockquote>"
    assert markdown(nodes.admonition("", title, text)) == box.format("Lemma")
    assert markdown(nodes.note("", text.deepcopy())) == box.format("Note")
    opens = nodes.admonition("", title.deepcopy(), text.deepcopy())
    opens["classes"] = ["dropdown"]
    assert markdown(opens) == (
        "<details>\n<summary><b>Lemma</b> (click to open)</summary>\n\n"
        "It holds.\n\n</details>"
    )


def test_an_exercise_with_code_is_taken_apart_and_its_solution_folded():
    def at(place: int, node: nodes.Element) -> nodes.Element:
        node.line = 10_000 * (place + 1) + 1  # as MyST-NB numbers the lines of a cell
        return node

    def cell(place: int) -> nodes.Element:
        return at(place, nodes.container(nb_element="cell_code"))

    def text(place: int, words: str) -> nodes.Element:
        return at(place, paragraph(words))

    def head(words: str) -> nodes.title:
        return nodes.title("", words)

    exercise = exercise_enumerable_node("", head(" (Sum)"), text(0, "Add."), cell(1))
    exercise["ids"] = ["ex"]
    content = nodes.section("", text(2, "So."), cell(3), text(4, "And so."))
    solution = solution_node("", head("Solution to Exercise 1.2"), content)
    document = new_document("a page")
    document += [exercise, solution, text(4, "On.")]
    new = nbformat.v4
    shown = new.new_output("stream", text="3")
    cells = [
        new.new_code_cell("add()", outputs=[shown])
        if i % 2
        else new.new_markdown_cell("")
        for i in range(5)
    ]
    numbers = {"exercise": {"ex": (1, 2)}}
    env = SimpleNamespace(
        toc_fignumbers={"page": numbers}, toc_secnumbers={}, get_domain=lambda _: env
    )
    env.get_enumerable_node_type = None
    page = Markdown("page", document, env)
    made = copy(new.new_notebook(cells=cells), page, document, "https://x.org")
    sources = [cell.source for cell in made.cells]
    fold = "<details>\n<summary><b>Solution to Exercise 1.2{}</b> (click to open)"
    fold += "</summary>\n\n{}\n\n"
    assert sources[0].startswith("**Exercise 1.2** (Sum)\n\nAdd.\n\n*This copy is")
    assert sources[2] == fold.format("", "So.") + "</details>"
    assert sources[4] == fold.format(", continued", "And so.") + "</details>\n\nOn."
    assert made.cells[1].outputs == [shown] and "cellView" not in made.cells[1].metadata
    assert made.cells[3].outputs == [] and made.cells[3].metadata.cellView == "form"


def test_settings_are_fields_and_the_package_that_of_the_copy():
    settings = "# settings\nN = 5  # how many\nNAME = 'a'\nRATES = [f(1)]\nprint(N)"
    assert form(settings) == (
        "#@title Numbers to change\n#@markdown how many\n"
        'N = 5  #@param {type: "integer"}\nNAME = \'a\'  #@param {type: "string"}\n'
        'RATES = [f(1)]  #@param {type: "raw"}\nprint(N)'
    )
    line = f'%pip install "attnsel[book] @ {INSTALL}"'
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(line)])
    pin(notebook, "0123abc")
    assert notebook.cells[0].source == line.replace(INSTALL, f"{INSTALL}@0123abc")
