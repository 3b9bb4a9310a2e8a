"""The pages of the package name every function and class, and where it is used."""

import dataclasses
import importlib
import inspect
import pkgutil
import re

import pytest

import attnsel
from tools.site import reference

# What the functions above them are made of; of `reporting` and `texts`, what stands in
# attnsel itself is on a page, and what chapters use.
INNER = re.compile(
    r"attnsel\.(__main__|files|validation|progress|texts(\..*)?|scale\.threads)"
)


def public(module: str) -> dict[str, object]:
    """Return the functions and classes that a module defines and does not hide."""
    return {
        name: thing
        for name, thing in vars(importlib.import_module(module)).items()
        if (inspect.isclass(thing) or inspect.isfunction(thing))
        and thing.__module__ == module
        and not name.startswith("_")
    }


def modules() -> set[str]:
    walked = pkgutil.walk_packages(attnsel.__path__, "attnsel.")
    return {module.name for module in walked if not INNER.fullmatch(module.name)}


def test_every_public_function_and_class_is_on_a_page():
    wanted = {f"{m}.{name}" for m in modules() for name in public(m)}
    assert set(reference.documented().values()) >= wanted
    itself = reference.exported()
    assert {"fit", "load_corpus", "report", "Vocab"} <= set(itself)
    assert set(itself) <= set(reference.documented())
    grouped = [module for group in reference.GROUPS.values() for module in group]
    homes = {getattr(attnsel, name).__module__ for name in itself}
    assert homes == set(grouped) and len(grouped) == len(homes)


def test_what_is_described_leads_to_its_lines():
    about = {"module": "attnsel.corpus", "fullname": "Corpus.from_texts"}
    address = reference.source_of("py", about)
    path, first, last = re.fullmatch(
        rf"{reference.REPOSITORY}/blob/main/(.*)#L(\d+)-L(\d+)", address
    ).groups()
    lines = (reference.ROOT / path).read_text(encoding="utf-8").splitlines()
    assert "def from_texts(" in "\n".join(lines[int(first) - 1 : int(first) + 1])
    assert int(last) > int(first)
    for name in ("Corpus.counts", "Corpus.lengths", "Corpus.signs"):
        assert reference.source_of("py", about | {"fullname": name}) is None


def test_an_example_is_left_as_it_is():
    lines = ["An E_ and a * b.", "", ">>> a_ * b", "'E_'", "", "Then *so*."]
    reference.before(None, "function", "f", None, None, lines)
    escaped = ["An E\\_ and a \\* b.", "", ">>> a_ * b", "'E_'", "", r"Then \*so\*."]
    assert lines == escaped


def test_a_formula_is_left_as_it_is():
    lines = ["It is", "", ".. math:: a_s * b", "", "a * b", "", ".. math::", ""]
    lines += ["    |b|", "", "    c_s * d", "", "then |b|"]
    found = lines.copy()
    reference.before(None, "function", "f", None, None, found)
    assert found[4] == r"a \* b" and found[-1] == r"then \|b\|"
    assert [*found[:4], *found[5:-1]] == [*lines[:4], *lines[5:-1]]


def test_every_public_function_and_class_says_what_it_is():
    for module in modules():
        for name, thing in public(module).items():
            assert inspect.getdoc(thing), f"{module}.{name}"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("|P(1|s)| at `max_norm`", r"\|P(1\|s)\| at ``max_norm``"),
        ("as ``x * y`` says, a * b", r"as ``x * y`` says, a \* b"),
        ("see `Corpus`", "see :py:obj:`Corpus <attnsel.corpus.Corpus>`"),
        ("`Flow.log_time`", ":py:obj:`Flow.log_time <attnsel.flow.Flow.log_time>`"),
        ("E_ and E_s", r"E\_ and :math:`E_s`"),
        ("alpha_s of n_tokens", r":math:`\alpha_s` of n_tokens"),
    ],
)
def test_a_line_of_a_docstring_becomes_markup(line, text):
    assert reference.plain(line) == text


def test_notes_name_the_chapters_in_the_order_of_the_book(monkeypatch):
    code = [
        (f"book/{x}", "fit(model)" if x != "c" else "fitted = 1") for x in "abcdefg"
    ]
    monkeypatch.setattr(reference, "chapters", lambda: code)
    assert reference.used_in("fit") == [f"book/{x}" for x in "abdefg"]
    notes = "\n".join(reference.notes("attnsel.train.fit"))
    links = ", ".join(f":doc:`/book/{x}`" for x in "abde")
    assert f"``attnsel.fit``; used in {links}, 2 more." in notes.replace(
        "Attnsel", "attnsel"
    )
    assert reference.notes("attnsel.train.nowhere") == []


@pytest.mark.parametrize(("pages", "left"), [("abcd", ""), ("abcde", ", 1 more")])
def test_four_chapters_are_named_and_others_are_counted(monkeypatch, pages, left):
    code = [(f"book/{x}", "fit(model)") for x in pages]
    monkeypatch.setattr(reference, "chapters", lambda: code)
    (*_, notes) = reference.notes("attnsel.train.fit")
    links = ", ".join(f":doc:`/book/{x}`" for x in "abcd")
    assert notes == f"   ``attnsel.fit``; used in {links}{left}."


def test_what_stands_in_the_package_itself_is_listed_by_subject():
    text = ["Before\n\n{attnsel-names}\n\nafter"]
    reference.names(None, "book/package", text)
    lines = text[0].splitlines()
    first = ["Before", "", "", "### Texts", "", "```{eval-rst}"]
    assert lines[:6] == first and lines[-3:] == ["```", "", "after"]
    groups = [line for line in lines if line.startswith("### ")]
    assert groups == [f"### {name}" for name in reference.GROUPS]
    assert lines.count("```{eval-rst}") == lines.count("```") == len(groups)
    listed = [line for line in lines if line.startswith(":py:obj:")]
    assert len(listed) == len(reference.exported())
    model = lines[lines.index("### Model and training") : lines.index("### Theory")]
    place = model.index(":py:obj:`attnsel.fit <attnsel.train.fit>`")
    summary = inspect.getdoc(attnsel.fit).split("\n\n")[0].split()
    assert model[place + 1].startswith(f"   {' '.join(summary[:3])}")
    assert model[place + 2] == ""
    other = ["No list"]
    reference.names(None, "book/package", other)
    assert other == ["No list"]


def test_what_is_not_ours_and_what_is_said_below_is_left_out():
    asked = (None, "method")
    skip = [
        reference.skipped(*asked, name, None, False, None)
        for name in ("set_score_request", "set_score", "reset_x_request", "set_request")
    ]
    assert skip == [True, None, None, None]

    @dataclasses.dataclass
    class Record:
        a: int

    class Other:
        pass

    of = [("class", Record), ("class", Other), ("function", Record)]
    found = [reference.signature(None, k, "n", t, None, "(a)", None) for k, t in of]
    assert found == [("", None), None, None]
