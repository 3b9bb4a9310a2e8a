"""Each number in the text equals the number that a cell stored; a run writes it."""

import functools

import nbformat
import pytest

from support.chapters import BOOK, CHAPTERS, notebook
from tools import glued

PAGES = sorted(path.name for path in BOOK.glob("*.md"))
numbers = functools.cache(glued.all_stored)
STORED = {("here", "n"): "4 of 10", ("here", "word"): "“good”", ("there", "x"): "0.5"}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_numbers_of_a_chapter_are_those_that_cells_stored(chapter):
    for _, _, text in glued.texts(notebook(chapter)):
        assert glued.written(text, chapter, numbers()) == text
        assert "<!--" not in glued.MARK.sub("", text)


@pytest.mark.parametrize("page", PAGES)
def test_the_numbers_of_a_page_are_those_that_cells_stored(page):
    text = (BOOK / page).read_text(encoding="utf-8")
    assert glued.written(text, page, numbers()) == text


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("4 of 10<!-- n --> runs", "4 of 10<!-- n --> runs"),
        ("only 3 of 10<!-- n -->.", "only 4 of 10<!-- n -->."),
        ("14 of 10<!-- n -->", "4 of 10<!-- n -->"),
        ("?<!-- n -->, <!-- n -->", "4 of 10<!-- n -->, 4 of 10<!-- n -->"),
        ("the word “very bad”<!-- word -->", "the word “good”<!-- word -->"),
        ("(0.4<!-- there: x -->)", "(0.5<!-- there: x -->)"),
        ("-0.5<!-- there: x -->", "0.5<!-- there: x -->"),
        ("$p =$ 10.5<!--\n  there:\n  x -->", "$p =$ 0.5<!--\n  there:\n  x -->"),
        ("| 1<!-- there: x --> |0<!-- there: x -->|", None),
    ],
)
def test_a_number_takes_the_place_of_the_old_one(text, new):
    new = new or "| 0.5<!-- there: x --> |0.5<!-- there: x -->|"
    old = {("here", "word"): "“very bad”"}
    assert glued.written(text, "here", STORED, old) == new


def test_a_name_without_a_number_is_an_error():
    with pytest.raises(ValueError, match="no cell of there stores “y”"):
        glued.written("1<!-- there: y -->", "here", STORED)


def test_a_number_of_another_chapter_is_written_later(tmp_path, capsys):
    chapter = notebook(CHAPTERS[0])
    name, value = next(iter(glued.stored(chapter, CHAPTERS[0]).items()))
    nbformat.write(chapter, tmp_path / f"{CHAPTERS[0]}.ipynb")
    page = tmp_path / "page.md"
    page.write_text(f"It is ?<!-- {name[0]}: {name[1]} -->.\n", encoding="utf-8")
    other = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell(page.read_text(encoding="utf-8"))]
    )
    nbformat.write(other, tmp_path / "other.ipynb")
    glued.main(tmp_path)
    expected = f"It is {value}<!-- {name[0]}: {name[1]} -->.\n"
    assert page.read_text(encoding="utf-8") == expected
    assert nbformat.read(tmp_path / "other.ipynb", 4).cells[0].source == expected
    assert capsys.readouterr().out == "other.ipynb: new numbers\npage.md: new numbers\n"
