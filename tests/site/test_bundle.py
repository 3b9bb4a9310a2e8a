"""The style sheet and the script that all pages load."""

import base64
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("jupyter_book", reason="needs Jupyter Book")

from tools.site import bundle


@pytest.fixture
def static(tmp_path):
    """Return a folder with scripts, a font, and styles that import one another."""
    files = {
        "styles/theme.css": '@import "basic.css"; .a { src: url(../img/a.svg) }',
        "styles/basic.css": "/* told\n twice */.b { src: url('data:x') url(#mark) }",
        "vendor/math/math.css": '.m { src: url("font.woff2") url("font.svg") }',
        "styles/pydata-sphinx-theme.css": ".q {}",
        "own.css": ".c:not(.z), .gone .d { color: red } @media print { .gone {} }",
        "scripts/pydata-sphinx-theme.js": "theme()\n//# sourceMappingURL=theme.map",
        "scripts/sphinx-book-theme.js": "book()",
        "clipboard.min.js": "clipboard()",
        "copybutton.js": "copies()",
        "own.js": "own('b m')",
        "documentation_options.js": "const OPTIONS = 1;",
    }
    for name, text in files.items():
        path = tmp_path / "_static" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (tmp_path / "_static/vendor/math/font.woff2").write_bytes(b"font")
    return tmp_path / "_static"


def test_addresses_of_a_style_lead_from_the_folder_of_all(static):
    style = bundle.style(static, "styles/theme.css")
    assert '.a { src: url("img/a.svg") }' in style
    assert ".b { src: url('data:x') url(#mark) }" in style
    assert "told" not in style and "@import" not in style


def test_the_font_of_formulas_is_in_the_style(static):
    font = base64.b64encode(b"font").decode()
    assert bundle.style(static, "vendor/math/math.css") == (
        f'.m {{ src: url("data:font/woff2;base64,{font}") '
        'url("vendor/math/font.svg") }'
    )


@pytest.mark.parametrize(
    ("css", "kept"),
    [
        (".a { x: y }", True),
        (".a.b { x: y }", False),
        (".b, p .a { x: y }", True),
        ("#a:not(.b) { x: y }", True),
        (".b { x: y }", False),
        ("p > q { x: y }", True),
        ("@font-face { x: y }", True),
    ],
)
def test_a_rule_of_which_no_page_holds_the_words_is_left_out(css, kept):
    assert bundle.shown(css, {"a"}) == (css if kept else "")


def test_a_variable_that_nothing_uses_is_left_out():
    css = "p {--a:1;--b:var(--a);--c:2;--d:';' } q { x: var(--c) }"
    assert bundle.shown(css, {"--d"}) == "p {--c:2;--d:';' } q { x: var(--c) }"


def named(*names, body=""):
    return [SimpleNamespace(filename=name, body=body) for name in names]


def test_a_page_loads_one_of_each_and_what_is_its_own(static):
    app = SimpleNamespace(outdir=static.parent, builder=SimpleNamespace())
    inline = named(None, body="inline()")
    context = {
        "css_files": named("_static/own.css", "_static/lab.css", "_static/own.css"),
        "script_files": [
            *inline,
            *named("_static/documentation_options.js", "_static/doctools.js"),
            *named("_static/own.js", "_static/lab.js", "_static/claims.js"),
            *named("_static/copybutton.js"),
        ],
    }
    bundle.one_of_each(app, "page", "page.html", context, None)
    assert app.builder.bundles == {
        ".css": ("styles/theme.css", "styles/pydata-sphinx-theme.css", "own.css"),
        ".js": ("own.js", "copybutton.js"),
    }
    styles, scripts = context["css_files"], context["script_files"]
    assert [str(file.filename) for file in styles] == [
        "_static/site.css",
        "_static/lab.css",
    ]
    assert scripts[0].attributes["body"] == "const OPTIONS = 1;"
    assert scripts[1] is inline[0]
    assert str(scripts[2].filename) == "_static/site.js"
    assert scripts[2].attributes["defer"] == "defer"
    assert [file.filename for file in scripts[3:]] == [
        "_static/lab.js",
        "_static/claims.js",
    ]
    (static.parent / "book").mkdir()
    (static.parent / "book" / "one.html").write_text('<p class="c"></p>', "utf-8")
    bundle.write(app, None)
    css = Path(static, "site.css").read_text("utf-8")
    # "b" is a word of a script; no page and no script holds "a", "q" or "gone".
    assert [css.count(f"{name} {{") for name in (".a", ".q", ".b")] == [0, 0, 1]
    assert ".c:not(.z), .gone .d { color: red }" in css
    js = Path(static, "site.js").read_text("utf-8")
    assert js.startswith(";\nown('b m')\n;\nsetTimeout(() => {\nbook()\n;\n});")
    assert js.count("setTimeout(() => {\ncopies()") == js.count("copies()") == 1
    assert "setTimeout(() => {\ntheme()" in js
    assert "sourceMappingURL" not in js


def test_what_stands_in_a_frame_is_a_file_that_comes_later(static):
    app = SimpleNamespace(outdir=static.parent)
    context = {"body": '<iframe srcdoc="&lt;p&gt;one&quot;"></iframe><p>two</p>'}
    bundle.frame_later(app, "book/one", "page.html", context, None)
    name = "_static/frames/one_1.html"
    assert context["body"] == (
        f'<iframe src="../{name}" loading="lazy"></iframe><p>two</p>'
    )
    assert Path(static.parent, name).read_text("utf-8") == '<p>one"'


def test_what_draws_the_figures_of_a_page_is_a_file_of_its_own(static):
    added = []
    app = SimpleNamespace(
        outdir=static.parent, add_js_file=lambda *file, **how: added.append((file, how))
    )
    start, end = '<script>(() => {\n"use strict";\n', "})();</script>"
    first, second = f"{start}a{end}", f"{start}b{end}"
    body = f"<p>one</p>{first}<script>other()</script><p>two</p>{second}"
    context = {"body": body}
    bundle.draw_later(app, "book/one", "page.html", context, None)
    assert context["body"] == "<p>one</p><script>other()</script><p>two</p>"
    assert added == [(("drawing/one.js",), {"loading_method": "defer"})]
    js = Path(static, "drawing/one.js").read_text("utf-8")
    assert js == "".join(
        f'setTimeout(() => {{\n(() => {{\n"use strict";\n{code}}})();\n}});\n'
        for code in "ab"
    )
    bundle.draw_later(app, "book/two", "page.html", {"body": "<p>x</p>"}, None)
    assert len(added) == 1 and not Path(static, "drawing/two.js").exists()


def test_a_figure_with_much_data_comes_when_it_is_asked_for(static):
    added = []
    app = SimpleNamespace(
        outdir=static.parent, add_js_file=lambda *name, **how: added.append(name)
    )

    def figure(kind, name, data):
        code = (
            f'(() => {{\n"use strict";\ndraw(getElementById("attnsel-{name}"), {data})'
        )
        place = f'<div class="attnsel attnsel-{kind}" id="attnsel-{name}" role="group">'
        return place, f"{place}</div><script>{code}</script>"

    much = "1" * bundle.MUCH
    places, parts = zip(
        figure("map", "aa", much),
        figure("map", "bb", "2"),
        figure("frames", "cc", much),
        figure("textbox", "dd", much),
        strict=True,
    )
    context = {"body": "".join(parts)}
    bundle.draw_later(app, "book/one", "page.html", context, None)
    # A map has a button, and a text box the field in which one types.
    asks = {
        name: f' data-drawing="_static/drawing/{name}.js"{words}'
        for name, words in (
            ("aa", ' data-asks="Choose the axes, find a token"'),
            ("dd", ""),
        )
    }
    map_, small, moving, box = places
    assert context["body"] == "".join(
        f"{place}</div>"
        for place in (
            map_.replace(' role="group"', asks["aa"] + ' role="group"'),
            *(small, moving),
            box.replace(' role="group"', asks["dd"] + ' role="group"'),
        )
    )
    drawing = static / "drawing"
    assert much in (drawing / "aa.js").read_text() and added == [("drawing/one.js",)]
    assert {path.name for path in drawing.iterdir()} == {"aa.js", "dd.js", "one.js"}
    whole = (drawing / "one.js").read_text()
    assert "attnsel-bb" in whole and "attnsel-cc" in whole
    assert "attnsel-aa" not in whole and "attnsel-dd" not in whole
