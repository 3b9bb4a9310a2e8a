"""Results, tables and claims on the built pages of a small book."""

import html
import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
import sphinx

from support import forks

pytestmark = forks.in_forks  # it is built once, and by processes that are forked

SPHINX = Path(sphinx.__file__).with_name("__main__.py")
CONF = """
extensions = ["myst_nb", "sphinx_proof", "sphinx_exercise"]
for name in "claims", "exercises", "formulas", "openings", "pages", "results", "search":
    extensions.append(f"tools.site.{name}")
extensions += ["tools.site.svg", "tools.site.tables"]
html_math_renderer = "temml"
exclude_patterns = ["out", "jupyter_execute"]
templates_path = ["templates"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
nb_execution_mode = "off"
numfig = True
proof_title_format = "%t"
html_theme = "basic"
"""
# As in the theme of the book, the text of a page is an article.
PAGE = """{% extends "!page.html" %}
{% block body %}<article>{{ body }}</article>{% endblock %}
"""
FIRST = """(ch-first)=
# First page

:::{prf:lemma} Lemma 4.1, in our words
:label: lem-first-step
It moves by $a < b$.
:::

:::{prf:proposition} Two numbers a token
:label: prop-first-numbers
There are two.
:::

:::{prf:definition}
:label: def-first-thing
A thing.
:::

As {prf:ref}`lem-first-step` and {prf:ref}`prop-first-numbers` say; {prf:ref}`so
<lem-first-step>`. It is {numref}`tab-first-counts`, not {numref}`fig-first-bars`.
"""
EXERCISE = """$$ a = b $$ (eq-first-sum)

:::{exercise} Twice (●○○, 5 min)
:label: ex-first-twice
Write {eq}`eq-first-sum` twice.
:::

:::{exercise} On paper: twice (●○○, 5 min)
:label: ex-first-paper
Write it once more.
:::
"""
LAST = """# Last page

It was {claim}`first: error < 1e-3 & "small"`, and {claim}`first: no such thing`.
"""
WRONG = r"""## A wrong formula

What cannot be set: $\nosuchcommand x$.
"""
OPENING = """# Opening

:::{admonition} Guess
:class: guess
Does it rise?
:::
"""
COST = "From top to bottom this chapter takes about 10 s on 1 CPU core."
RUN = "# Landing\n\nAll in short.\n"
ALL = "# All claims\n\nCLAIMS\n"
NOTATION = r"""# Notation

| symbol | meaning |
| --- | --- |
| $\eta_0 = 2$, $q$ | a step |
| $a \in b$ | one of them |
| $a$ | again |
| words | no symbol |
"""


def claim(statement: str, measured: str, by: str = "this book") -> Any:
    """Return the output of a claim in the form that the package stores."""
    line = {
        "statement": statement,
        "measured": measured,
        "bound": f"below {2 * len(measured)}",
        "by": by,
        "id": f"claim-{len(statement)}",
    }
    words = [line["measured"], line["bound"], by]
    spans = "".join(f"<span>{html.escape(word)}</span>" for word in words)
    page = (
        f'<div class="attnsel-claim" id="{line["id"]}">'
        f"<span>✓ {html.escape(statement)}</span>{spans}</div>"
    )
    data = {"text/plain": statement, "text/html": page}
    return nbformat.v4.new_output("display_data", data, metadata={"claim": line})


def cell(name: str, *outputs: Any, **metadata: Any) -> Any:
    return nbformat.v4.new_code_cell(
        f"run('{name}')", id=name, outputs=list(outputs), metadata=metadata
    )


def captioned(name: str, caption: str) -> dict[str, Any]:
    return {"mystnb": {"figure": {"name": name, "caption": caption}}}


TABLE = nbformat.v4.new_output(
    "display_data", {"text/html": "<table><tr><td>7</td></tr></table>"}
)
DRAWN = nbformat.v4.new_output(
    "display_data", {"text/html": "<p>drawn</p><script>'<table>'</script>"}
)
# Axes from 10 to 90 and from 120 to 180, with their numbers to the left of them.
SVG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 50"><g>{}</g></svg>"""
AXES = """<g id="axes_{0}"><g id="patch_{0}"><path d="M {1} 5 L {2} 45"/></g>
<g transform="translate({3} 40) scale(0.1 -0.1)"/></g>"""
PANELS = SVG.format(AXES.format(1, 10, 90, 4) + AXES.format(2, 120, 180, 112))
DRAWING = nbformat.v4.new_output("display_data", {"image/svg+xml": PANELS})
ORDER = "first", "last", "claims", "opening", "landing", "notation"
CLAIMS = [
    claim('error < 1e-3 & "small"', "0.5", by="the paper"),
    claim("it rises", "12"),
    claim("it falls", "-12"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the built pages by name, and the warnings of the build as "warnings".

    Sphinx takes seconds to start, so it builds the pages of all tests at once.
    """
    folder = tmp_path_factory.mktemp("small")
    (folder / "book").mkdir()
    (folder / "templates").mkdir()
    (folder / "templates" / "page.html").write_text(PAGE, "utf-8")
    (folder / "conf.py").write_text(CONF, "utf-8")
    files = {"book/last.md": LAST, "book/claims.md": ALL, "book/notation.md": NOTATION}
    chapters = [f"book/{name}" for name in ORDER]
    toc = "```{toctree}\n" + "\n".join(chapters) + "\n```\n"
    for name, text in ({"index.md": f"# Book\n\n{toc}"} | files).items():
        (folder / name).write_text(text, "utf-8")
    parts = "".join(f"  - file: {name}\n" for name in chapters)
    (folder / "_toc.yml").write_text(f"root: index\nparts:\n- chapters:\n{parts}")
    cells = [
        nbformat.v4.new_markdown_cell(FIRST, id="text"),
        cell("table", TABLE, **captioned("tab-first-counts", "Counts.")),
        cell("figure", DRAWN, **captioned("fig-first-bars", "Bars.")),
        cell("panels", DRAWING, mystnb={"image": {"alt": "Two panels"}}),
        cell("two", *CLAIMS[:2]),
        cell("one", CLAIMS[2]),
        nbformat.v4.new_markdown_cell(EXERCISE, id="to-do"),
    ]
    language = {"name": "python", "pygments_lexer": "python"}
    notebook = nbformat.v4.new_notebook(
        cells=cells, metadata={"language_info": language}
    )
    nbformat.write(notebook, folder / "book" / "first.ipynb")
    needs = [cell("install", tags=["hide-input"]), cell("imports", tags=["hide-input"])]
    cost = nbformat.v4.new_markdown_cell(COST, id="cost")
    line = captioned("fig-opening-line", "A line.")
    drawn = cell("drawn", DRAWN, tags=["hide-input"], **line)
    how = nbformat.v4.new_markdown_cell("## How to run it\n\nIn Colab.", id="how")
    for name, text, rest in (
        ("opening", OPENING, [cell("knobs"), drawn]),
        ("landing", RUN, [how]),
    ):
        head = nbformat.v4.new_markdown_cell(text, id="head")
        notebook["cells"] = [head, cost, *needs, *rest]
        nbformat.write(notebook, folder / "book" / f"{name}.ipynb")
    done = build(folder, "-q")
    assert done.returncode == 0, done.stderr
    paths = (folder / "out" / "book").glob("*.html")
    pages = {path.stem: path.read_text("utf-8") for path in paths}
    search = (folder / "out/_static/search/index.js").read_text("utf-8")
    # Once more, with another page changed, and with a formula that cannot be set.
    (folder / "book" / "last.md").write_text(f"# Last page\n\n{WRONG}", "utf-8")
    again = build(folder, "-q", "-W", "--keep-going")
    search_again = (folder / "out/_static/search/index.js").read_text("utf-8")
    return pages | {
        "warnings": done.stderr,
        "search": search,
        "again": again.stderr,
        "status again": str(again.returncode),
        "search again": search_again,
    }


def build(folder: Path, *options: str) -> forks.Done:
    """Build the pages of a folder that have changed since the last build."""
    (done,) = forks.run(SPHINX, [*options, str(folder), str(folder / "out")])
    return done


def searched(script: str) -> dict[str, dict[str, Any]]:
    """Return the entries of the search by title."""
    _, _, values = script.partition("var searched = ")
    entries = json.loads(values.strip().removesuffix(";"))["entries"]
    return {entry["title"]: entry for entry in entries}


def test_a_second_build_over_the_first_forgets_no_name(site):
    first, second = searched(site["search"]), searched(site["search again"])
    assert set(second) == set(first) | {"A wrong formula"}
    assert second["Lemma 4.1, in our words"] == first["Lemma 4.1, in our words"]


def test_rows_of_symbols_have_addresses_and_each_its_own(site):
    rows = re.findall(r'<tr[^>]*id="(.*?)"', site["notation"])
    assert rows == ["symbol-eta-0", "symbol-a", "symbol-a-2"]
    found = searched(site["search"])
    symbol = found["η_0 = 2, q"]
    assert (symbol["kind"], symbol["anchor"]) == ("symbol", "symbol-eta-0")
    assert symbol["names"] == ["η_0", "q"] and symbol["text"] == "a step"
    assert found["a ∈ b"]["names"] == ["a"]
    assert 'id="symbol' not in site["first"]


def test_a_formula_that_cannot_be_set_fails_the_build(site):
    assert site["status again"] != "0"
    assert "nosuchcommand" in site["again"]
    assert "last.md" in site["again"]


def words(page: str) -> str:
    """Return the visible text of a page on one line."""
    page = re.sub(r"</?div[^>]*>|</summary>|</span><span>", " ", page)
    text = re.sub(r"<(head|script|style).*?</\1>|<[^>]*>", "", page, flags=re.DOTALL)
    return " ".join(html.unescape(text).split())


def test_an_exercise_leads_to_its_copy_and_a_formula_to_the_exercise(site):
    page = site["first"]
    copy = r'<a[^>]*href="([^"]*)">Do it in Colab</a>'
    (target,) = re.findall(copy, page)
    assert target.endswith("/blob/colab/book/first.ipynb#scrollTo=to-do")
    formula = page.index('id="equation-eq-first-sum"')
    back = re.search(r'<p class="way"><a[^>]*href="#ex-first-twice"', page)
    assert formula < back.start() < page.index('id="ex-first-twice"')
    assert re.search(r'href="#equation-eq-first-sum"', page)


def test_the_code_of_the_first_figure_is_folded_below_it(site):
    _, _, below = site["opening"].partition("A line.")
    closed, _, _ = below.partition("</details>")
    assert re.search(r'<details class="[^"]*hide', closed)
    assert words(closed).endswith("run('drawn')")


def test_results_have_their_names_and_no_numbers(site):
    text = words(site["first"])
    assert "Lemma 4.1, in our words It moves by" in text
    assert "Proposition. Two numbers a token There are two." in text
    assert "Definition A thing." in text
    assert "As Lemma 4.1 and Two numbers a token say; so." in text
    assert not re.search(r"(Lemma|Proposition|Definition) 1\b", text)


def test_a_cell_with_a_table_is_a_table_and_one_that_draws_is_a_figure(site):
    text = words(site["first"])
    assert "It is Table 1, not Fig. 1." in text
    assert "Table 1 Counts." in text
    assert "Fig. 1 Bars." in text


def test_claims_of_a_cell_are_one_line(site):
    text = words(site["first"])
    assert '✓ 2 claims hold ✓ error < 1e-3 & "small"' in text
    assert "✓ 1 claim holds ✓ it falls" in text
    assert text.count("claims hold") == text.count("claim holds") == 1


def test_a_page_says_what_a_claim_measured_and_leads_to_it(site):
    assert "It was 0.5, and no such thing." in words(site["last"])
    anchor = f"claim-{len(CLAIMS[0].metadata['claim']['statement'])}"
    assert f'<a class="claim" href="first.html#{anchor}" title="error' in site["last"]
    assert f'id="{anchor}"' in site["first"]
    assert "no claim 'no such thing' in first.ipynb" in site["warnings"]
    assert "last.md" in site["warnings"]
    assert len(site["warnings"].strip().splitlines()) == 1


def test_all_claims_are_listed_with_their_bounds_and_who_says_so(site):
    text = words(site["claims"])
    assert "3 claims, 1 of them the paper’s. First page" in text
    rows = [
        'error < 1e-3 & "small": 0.5, below 6 (the paper)',
        "it rises: 12, below 4 (this book)",
        "it falls: -12, below 6 (this book)",
    ]
    assert " ".join(rows) in text
    assert site["claims"].count('<a class="claim" href="first.html#claim-') == 3


def test_panels_stand_beside_each_other_and_for_phones_below(site):
    (image,) = re.findall(r'<img [^>]*class="abreast"[^>]*>', site["first"])
    assert 'alt="Two panels"' in image
    panels = re.findall(
        r'class="panel" style="aspect-ratio:(.*?)"><img style="(.*?)".*?alt="(.*?)"',
        site["first"],
    )
    # Cut two points before the numbers of the second: 110 and 90 of 200.
    assert panels == [
        ("110.0/50.0", "width:181.82%;left:-0.00%", "Two panels"),
        ("90.0/50.0", "width:222.22%;left:-122.22%", "Panel 2 of 2"),
    ]
    assert site["first"].count("_images/") == 3
