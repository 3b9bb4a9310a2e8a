"""The copies for Colab: plain Markdown, the numbers of the site, the same code."""

from __future__ import annotations

import functools
import importlib.util
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml

import attnsel
from tools import colab
from tools.colab import ADDRESS, ROOT

CHAPTERS = sorted(path.name for path in (ROOT / "book").glob("*.ipynb"))
RAW = re.compile(
    r":::|\{[\w:-]+\}`|^\([\w-]+\)=|^```\{|\$\$ *\([\w:-]+\)|\[\^|^ *:[\w-]+: |\(eq-"
    r"|\]\((?!https://|#)",
    re.MULTILINE,
)
SITE = "https://{}.github.io/{}/book".format(*ADDRESS.split("/"))

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("jupyter_book") is None, reason="needs Jupyter Book"
    ),
    pytest.mark.xdist_group("colab"),  # the copies are made once, in one process
]


def prose(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "markdown"]


def code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def without_formulas(text: str) -> str:
    return re.sub(r"\$\$(?:(?!\n\n).)+?\$\$(?! *\()|\$[^$\n]+\$", "", text, flags=re.S)


# Chapters of the book


@pytest.fixture(scope="session")
def made() -> dict[str, Any]:
    """The copies that `make colab` wrote, but for the version that they install."""
    copies = {}
    for path in (ROOT / "_build" / "colab" / "book").glob("*.ipynb"):
        copy = copies[path.name] = nbformat.read(path, as_version=4)
        for cell in code(copy):
            cell.source = re.sub(f'({colab.INSTALL})@[^"\\n]*', r"\1", cell.source)
    return copies


def original(name: str) -> Any:
    return nbformat.read(ROOT / "book" / name, as_version=4)


@pytest.mark.site
def test_every_chapter_has_a_copy(made):
    assert sorted(made) == CHAPTERS


@pytest.mark.site
@pytest.mark.parametrize("name", CHAPTERS)
def test_no_markup_of_the_book_is_left(made, name):
    for cell in prose(made[name]):
        found = RAW.search(without_formulas(cell.source))
        assert found is None, (cell.id, found)
        assert cell.source.count("$$") % 2 == 0, cell.id
        for tag in ("blockquote", "details"):
            assert cell.source.count(f"<{tag}>") == cell.source.count(f"</{tag}>")


def as_form(source: str) -> str:
    """Numbers to change are the fields of a form in the copy."""
    return colab.form(source) if source.startswith("# knobs\n") else source


@pytest.mark.site
@pytest.mark.parametrize("name", CHAPTERS)
def test_the_code_is_the_same(made, name):
    before = [(cell.id, as_form(cell.source)) for cell in code(original(name))]
    assert [(cell.id, cell.source) for cell in code(made[name])] == before
    nbformat.validate(made[name])


@pytest.mark.site
@pytest.mark.parametrize("name", CHAPTERS)
def test_links_within_a_copy_arrive(made, name):
    text = "\n".join(cell.source for cell in prose(made[name]))
    anchors = re.findall(r'<a name="([^"]+)"></a>', text)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) == set(anchors)


@pytest.mark.site
@pytest.mark.parametrize("name", CHAPTERS)
def test_every_number_that_the_book_shows_is_there(made, name):
    source = "\n".join(cell.source for cell in prose(original(name)))
    text = "\n".join(cell.source for cell in prose(made[name]))
    equations = re.findall(r"\$\$ *\(eq-[\w-]+\)", source)
    tags = re.findall(r"\\tag\{(\d+(?:\.\d+)?)\}", text)
    assert len(tags) == len(equations)
    assert tags == sorted(tags, key=lambda tag: [int(part) for part in tag.split(".")])
    kinds = "definition|theorem|lemma|proposition|corollary|remark|assumption|exercise"
    statements = [
        title.split()[0].lower() if colab.CALLED.match(title) else kind
        for kind, title in re.findall(
            rf"^:+\{{(?:prf:)?({kinds})\}} *(.*)", source, re.MULTILINE
        )
    ]
    head = rf"^(?:<a[^>]*></a>)?\*\*({kinds})(?:\.| [\dA-Z])[^*]*\*\*"
    heads = re.findall(head, text, re.MULTILINE | re.IGNORECASE)
    assert [head.lower() for head in heads] == statements
    figures = [
        c for c in code(original(name)) if "figure" in c.metadata.get("mystnb", {})
    ]
    captions = [c.source for c in prose(made[name]) if c.id.endswith("-caption")]
    assert len(captions) == len(figures)
    for caption in captions:
        assert re.match(r"(?:<a[^>]*></a>)?\*\*(Figure|Table) [\d.]+\*\*\. ", caption)


@pytest.mark.site
@pytest.mark.parametrize("name", CHAPTERS)
def test_numbers_and_targets_are_those_of_the_site(made, name):
    pages = ROOT / "_build" / "html" / "book"
    page = (pages / name).with_suffix(".html").read_text(encoding="utf-8")
    text = "\n".join(cell.source for cell in prose(made[name]))
    equations = re.findall(r'class="eqno">\(([\d.]+)\)', page)
    assert re.findall(r"\\tag\{([\d.]+)\}", text) == equations
    titles = re.findall(r'class="caption-number">\s*(\w+ [\d.]+)\s', page)
    heads = re.findall(r"\*\*((?:Exercise|Figure|Table) [\d.]+)\*\*", text)
    assert sorted(heads) == sorted(titles)
    for other, anchor in re.findall(rf"{SITE}/(\w+\.html)(?:#([\w-]+)\b(?!=))?", text):
        there = (pages / other).read_text(encoding="utf-8")
        assert not anchor or f'id="{anchor}"' in there


def test_the_launch_buttons_name_the_copies():
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    where = settings["repository"]
    assert where["branch"] == "colab"
    assert where["path_to_book"] == ""  # so the paths are book/NAME.ipynb
    assert where["url"] == f"https://github.com/{ADDRESS}"


# A small book with every feature

HEAD = """\
(ch-{0})=
# The {0} chapter

One sentence.
"""
FIRST = (
    r"""
(sec-first-start)=
## Start

See {cite:t}`wu2025`, {ref}`sec-first-start`, {doc}`second`,
{numref}`Chapter {number} <ch-second>`,
{ref}`the
second <ch-second>` {cite:p}`wu2025,maas2011` and `{ref}` or ``{ref}`x` `` as code.[^a]

[^a]: A note.

$$
a = b,
$$ (eq-first-one)

where {eq}`eq-first-one` and {eq}`eq-second-one` hold; $$ c = d $$ has no number.

:::{prf:theorem} Lemma 4.1 of {cite:t}`wu2025`
:label: thm-first-main

By {eq}`eq-first-one`:

  $$
  \begin{aligned}
  x &= 1, \\
  y &= 2
  \end{aligned}
  $$ (eq-first-two)
:::

::::{dropdown} A proof with `code`
:::{prf:proof}
From {prf:ref}`thm-first-main` and {prf:ref}`def-second-thing`.
:::
::::
""",
    r"""
:::{list-table} Caption with $|x|$
:name: tab-first-list
:header-rows: 1

* - one
  - two | three
* - $\|x\| = |x|$
  -
* - a cell
    on two lines
  - {glue:text}`share`
:::

:::{note}
Look at {numref}`fig-first-plot` and {numref}`tab-first-list`.
:::

:::{admonition} Aside
:class: dropdown
Folded.
:::

::::{grid} 1 1 2 2
:::{grid-item-card} Card
In it.
:::
::::

```python
text = "{doc}`second` stays as it is"
```
""",
    r"""
:::{exercise} Name
:label: ex-first-text

Show it.
:::

:::{solution} ex-first-text
:class: dropdown

As in {ref}`ex-first-text`.
:::

:::{exercise-start} Code
:label: ex-first-code
:::

Run this.
""",
    """
:::{exercise-end}
:::

:::{solution-start} ex-first-code
:class: dropdown
:::

Then this.
""",
    """
And that.

:::{solution-end}
:::

Goodbye.
""",
)
NOWHERE = "{ref}`sec-nowhere`"
SECOND = r"""
:::{prf:definition} Thing
:label: def-second-thing
$a$.
:::

$$ a = b $$ (eq-second-one)
"""


def record(name: str, value: str) -> Any:
    return nbformat.v4.new_output(
        "display_data",
        {"application/papermill.record/text/plain": repr(value)},
        metadata={"scrapbook": {"name": name, "mime_prefix": "application/"}},
    )


def shown(text: str) -> Any:
    return nbformat.v4.new_output("display_data", {"text/plain": text})


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Write a book of two chapters; return the function that makes its copies.

    Sphinx takes seconds to start, so it resolves the roles of all tests at once.
    """
    tmp_path = tmp_path_factory.mktemp("book")
    new = nbformat.v4
    for name in ("_config.yml", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "book").mkdir()
    for name in ("references.bib", "bibliography.md"):
        (tmp_path / "book" / name).symlink_to(ROOT / "book" / name)
    chapters = [{"file": "book/first"}, {"file": "book/second"}]
    toc = {
        "format": "jb-book",
        "root": "book/bibliography",
        "parts": [{"caption": "Chapters", "numbered": 2, "chapters": chapters}],
    }
    (tmp_path / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    figure = {"figure": {"name": "fig-first-plot", "caption": "By {cite:t}`wu2025`."}}

    def make(first: tuple[str, ...] = FIRST) -> dict[str, Any]:
        cells = [new.new_markdown_cell(HEAD.format("first").strip(), id="head")]
        cells.append(
            new.new_code_cell(
                "glue(share='5*')",
                id="glue",
                metadata={"tags": ["remove-cell"]},
                outputs=[record("share", "5*")],
            )
        )
        for i, source in enumerate(first):
            cells.append(new.new_markdown_cell(source.strip(), id=f"text-{i}"))
            outputs = [shown(f"output {i}"), record(f"glued{i}", "x")]
            cells.append(new.new_code_cell(f"run({i})", id=f"c{i}", outputs=outputs))
        cells[3].metadata = {"mystnb": figure, "tags": ["hide-input"]}
        lab = {"tags": ["lab", "remove-cell"]}
        cells.append(new.new_code_cell("run('lab')", id="lab", metadata=lab))
        other = [HEAD.format("second").strip(), SECOND.strip()]
        others = [new.new_markdown_cell(s, id=f"t{i}") for i, s in enumerate(other)]
        for name, content in (("first", cells), ("second", others)):
            path = tmp_path / "book" / f"{name}.ipynb"
            nbformat.write(new.new_notebook(cells=content), path)
        return colab.copies(tmp_path)

    references: dict[str, colab.Reference] = {}
    resolve = colab.resolve

    def resolve_once(roles: list[str], root: Path) -> dict[str, colab.Reference]:
        if not references:
            references.update(resolve([*roles, NOWHERE], root))
        return references

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(colab, "resolve", resolve_once)
        made = functools.cache(make)
        made()
        yield made


def test_every_feature_becomes_plain_markdown(book):
    made = book()
    first, second = (made[f"{name}.ipynb"] for name in ("first", "second"))
    texts = {cell.id: cell.source for cell in prose(first)}
    assert texts["head"] == (
        "# 1. The first chapter\n\nOne sentence.\n\n"
        f"*This copy is for running; [read it in the book]({SITE}/first.html), "
        "where formulas and figures look better.*"
    )
    assert texts["text-0"] == (
        r"""
<a name="sec-first-start"></a>

## Start

See Wu et al. [2025], [Start](#sec-first-start), [The second chapter](SITE/second.html),
[Chapter 2](SITE/second.html#ch-second),
[the second](SITE/second.html#ch-second) [Maas et al., 2011, Wu et al., 2025] and `{ref}` or ``{ref}`x` `` as code.<sup>1</sup>

<sup>1</sup> A note.

<a name="equation-eq-first-one"></a>
$$
a = b, \tag{1.1}
$$

where [(1.1)](#equation-eq-first-one) and [(2.1)](SITE/second.html#equation-eq-second-one) hold; $$ c = d $$ has no number.

<blockquote>

<a name="thm-first-main"></a>**Lemma 4.1 of Wu et al. [2025]**

By [(1.1)](#equation-eq-first-one):

  $$
  \begin{aligned}
  x &= 1, \\
  y &= 2
  \end{aligned} \tag{1.2}
  $$

</blockquote>

<details>
<summary><b>A proof with <code>code</code></b></summary>

<blockquote>

*Proof.*

From [Lemma 4.1](#thm-first-main) and [Thing](SITE/second.html#def-second-thing).

</blockquote>

</details>
""".strip().replace("SITE", SITE)  # noqa: E501
    )
    assert texts["c0-caption"] == (
        '<a name="fig-first-plot"></a>**Figure 1.1**. By Wu et al. [2025].'
    )
    assert texts["text-1"] == (
        r"""
<a name="tab-first-list"></a>**Table 1.1**. Caption with $|x|$

| one | two \| three |
| --- | --- |
| $\Vert x\Vert  = \vert x\vert $ |  |
| a cell on two lines | 5\* |

<blockquote>

**Note**

Look at [Figure 1.1](#fig-first-plot) and [Table 1.1](#tab-first-list).

</blockquote>

<details>
<summary><b>Aside</b></summary>

Folded.

</details>

**Card**

In it.

```python
text = "{doc}`second` stays as it is"
```
""".strip()
    )
    assert texts["text-2"] == (
        """
<blockquote>

<a name="ex-first-text"></a>**Exercise 1.1** (Name)

Show it.

</blockquote>

<details>
<summary><b>Solution to Exercise 1.1</b></summary>

As in [Exercise 1.1](#ex-first-text).

</details>

**Exercise 1.2** (Code)

Run this.
""".strip()
    )
    solution = "<details>\n<summary><b>Solution to Exercise 1.2{}</b></summary>\n\n{}"
    end = "\n\n</details>"
    assert texts["text-3"] == solution.format("", "Then this.") + end
    continued = solution.format(", continued", "And that.") + end
    assert texts["text-4"] == f"{continued}\n\nGoodbye."
    assert re.findall(r"^- .*?\. ", texts["references"], re.MULTILINE) == [
        "- Andrew L. ",
        "- Diyuan Wu, Aleksandr Shevchenko, Samet Oymak, and Marco Mondelli. ",
    ]
    assert "**Definition. Thing**\n\n$a$." in second.cells[1].source
    assert second.cells[1].source.endswith("$$ a = b \\tag{2.1}\n$$")


def test_code_cells_are_folded_as_on_the_site(book):
    cells = {cell.id: cell for cell in code(book()["first.ipynb"])}
    folded = {id for id, cell in cells.items() if "cellView" in cell.metadata}
    assert folded == {"glue", "c0", "c3"}  # tagged, tagged, within a solution
    assert cells["glue"].outputs == cells["c3"].outputs == []
    for i in (0, 1, 2, 4):
        assert cells[f"c{i}"].outputs == [shown(f"output {i}")]
    assert cells["lab"].source == "run('lab')"  # not on the page, in the open here
    assert cells["lab"].outputs == []


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        (f"See {NOWHERE}.", f"first.ipynb: {NOWHERE} leads nowhere"),
        (":::{figure} a.png\n:::", "no form for Colab of the directive {figure}"),
        (":::{prf:lemma}\nText.\n:::", "theorem, exercise or table has no label"),
        ("{glue:text}`nothing`", "no output stores 'nothing'"),
        ("{glue:text}`first.ipynb::nothing:s`", "stores 'first.ipynb::nothing:s'"),
    ],
)
def test_what_cannot_be_resolved_is_an_error(book, source, fault):
    with pytest.raises(ValueError, match=re.escape(fault)):
        book((source,))


def test_a_place_to_train_is_a_link(book):
    made = book(("```{lab} shuffle=true\n```", "```{lab}\n```"))
    text = "\n".join(cell.source for cell in prose(made["first.ipynb"]))
    for knobs in ("#shuffle=true", ""):
        assert f"[Train the model in the book]({SITE}/train.html{knobs})" in text


def test_copies_are_written_where_the_buttons_look(tmp_path, monkeypatch, capsys):
    address = f"git+https://github.com/{ADDRESS}"
    line = f'%pip install "attnsel[book] @ {address}"'
    first = f"try:\n    import attnsel\nexcept ImportError:\n    {line}\n"
    cells = [nbformat.v4.new_code_cell(first), nbformat.v4.new_code_cell("1 + 1")]
    cells.append(nbformat.v4.new_markdown_cell("A word.\n# First steps\nMore."))
    notebook = nbformat.v4.new_notebook(cells=cells)
    monkeypatch.setattr(colab, "copies", lambda: {"first.ipynb": deepcopy(notebook)})
    for reference in ("", "0123abc"):
        colab.main(str(tmp_path), reference)
        written = nbformat.read(tmp_path / "book" / "first.ipynb", as_version=4)
        tag = reference or f"v{attnsel.__version__}"
        assert written.cells[0].source == first.replace(address, f"{address}@{tag}")
        assert written.cells[1] == notebook.cells[1]
        needed = (tmp_path / "book" / "requirements.txt").read_text("utf-8")
        assert f"\nattnsel[book] @ {address}@{tag}\n" in needed
        readme = (tmp_path / "book" / "README.md").read_text("utf-8")
        assert readme.endswith("\n- `first.ipynb`: First steps\n")
    assert "1 copies" in capsys.readouterr().out
