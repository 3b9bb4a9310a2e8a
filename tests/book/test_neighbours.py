"""Each claim of a chapter excludes the nearest false value of its sentence.

`chapters/NAME/neighbours.json` has for each claim, by its label, `false`: the nearest
value at which its sentence would be wrong, for an interval one on each side, and
`says`: what would be true instead. It is so near that a bound three times as loose
admits it, so that no bound is loosened unseen.
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.chapters import BOOK, CHAPTERS, cells_of


def file_of(chapter: str) -> Path:
    return BOOK / "attnsel_book" / "chapters" / chapter / "neighbours.json"


def claims_of(chapter: str) -> list[dict[str, Any]]:
    """Return the stored claims of a chapter in their order."""
    outputs = [
        output for cell in cells_of(chapter) for output in cell.get("outputs", [])
    ]
    found = [output.get("metadata", {}).get("claim") for output in outputs]
    return [claim for claim in found if claim]


def admits(bound: str, value: float) -> bool:
    """Whether a bound, as a claim words it, admits a value."""
    low, *high = [float(x) for x in re.findall(r"-?\d[\d.e+-]*", bound)]
    kind = bound.split()[0]
    if kind == "between":
        return low <= value <= high[0]
    return {"above": value > low, "below": value < low, "exactly": value == low}[kind]


def loosened(bound: str) -> str:
    """Return a bound three times as loose: an interval three times as wide."""
    kind = bound.split()[0]
    low, *high = [float(x) for x in re.findall(r"-?\d[\d.e+-]*", bound)]
    if kind == "exactly":
        return f"between {low - 1} and {low + 1}"
    if kind == "between":
        return f"between {2 * low - high[0]} and {2 * high[0] - low}"
    grows = (low > 0) == (kind == "below")
    smallest = 1e-9 if kind == "below" else -1e-9
    return f"{kind} {low * 3 if grows else low / 3}" if low else f"{kind} {smallest}"


@pytest.mark.parametrize(
    "bound, looser",
    [
        ("between -1 and 1", "between -3.0 and 3.0"),
        ("exactly 8", "between 7.0 and 9.0"),
        ("above 0.3", "above 0.1"),
        ("above -2", "above -6.0"),
        ("below 2e-09", "below 6e-09"),
        ("below -3", "below -1.0"),
        ("above 0", "above -1e-09"),
        ("below 0", "below 1e-09"),
    ],
)
def test_a_bound_is_loosened_to_the_side_on_which_it_admits_more(bound, looser):
    def numbers(text):
        return [float(x) for x in text.split() if x[-1].isdigit()]

    assert numbers(loosened(bound)) == pytest.approx(numbers(looser))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_claim_admits_its_stored_value_and_no_false_neighbour(chapter):
    claims = {claim["statement"]: claim for claim in claims_of(chapter)}
    file = file_of(chapter)
    neighbours = json.loads(file.read_text("utf-8")) if file.exists() else {}
    unlike = set(neighbours) ^ set(claims)
    assert not unlike, f"{file}: one entry for each claim, by its label; not {unlike}"
    for label, claim in claims.items():
        neighbour, bound = neighbours[label], claim["bound"]
        assert set(neighbour) == {"false", "says"}, label
        assert neighbour["says"].strip(), label
        stored, false = float(claim["measured"]), neighbour["false"]
        false = false if isinstance(false, list) else [false]
        assert admits(bound, stored), label
        assert [x for x in false if admits(bound, x)] == [], label
        far = [x for x in false if not admits(loosened(bound), x)]
        assert far == [], f"{label}: a nearer value than {far} is false, too"
        if bound.startswith("between"):
            assert min(false) < stored < max(false), f"{label}: one on each side"


def test_each_claim_of_a_chapter_has_a_label_of_its_own():
    for chapter in CHAPTERS:
        labels = [claim["statement"] for claim in claims_of(chapter)]
        assert len(labels) == len(set(labels)), chapter


def extremes(text: str) -> set[str]:
    """Return which extremes a label names, or an expression takes."""
    words = {"min": "smallest|least|lowest|weakest|min", "max": "largest|strongest|max"}
    return {
        kind
        for kind, of_kind in words.items()
        if re.search(rf"(?<![a-z])(?:idx|arg)?(?:{of_kind})(?![a-z])", text.lower())
    }


def written(chapter: str) -> Iterator[tuple[str, str]]:
    """Return the label and the value of each claim as they are written in the code.

    The code of a variable is that of its last assignment in the cell.
    """
    for cell in cells_of(chapter):
        if cell.cell_type == "markdown" or "claim(" not in cell.source:
            continue
        known: dict[str, ast.expr] = {}
        tree = ast.parse(re.sub(r"(?m)^%.*", "", cell.source))
        for node in sorted(ast.walk(tree), key=lambda node: getattr(node, "lineno", 0)):
            match node:
                case ast.Assign(targets=[ast.Name(name)], value=value):
                    known[name] = value
                case ast.Call(func=ast.Name("claim"), args=[label, value, *_]):
                    yield in_full(label, known), in_full(value, known)


def in_full(node: ast.AST, known: dict[str, ast.expr]) -> str:
    used = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)} & {*known}
    earlier = [ast.unparse(known[name]) for name in sorted(used)]
    return "; ".join([*earlier, ast.unparse(node)])


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_claim_about_the_smallest_value_takes_the_smallest(chapter):
    for label, value in written(chapter):
        named = extremes(
            re.sub("(?i)smallest case|minus (?:smallest|largest)", "", label)
        )
        taken = extremes(value)
        if len(named) == len(taken) == 1:
            assert named == taken, f"{label}: {value}"
