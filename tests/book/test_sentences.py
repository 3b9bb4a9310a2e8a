"""Each number of the prose is the one that its sentence is about.

`glue` stores a number of a chapter under a name. If two neighbours are exchanged, by
name in a sentence or by value in the code, then one is no longer of the kind that the
words next to it call for (a count of runs, a correlation), or both are in the wrong
order (falls from 2 to 1), or their names have fewer words in common with the text
around them, or with the expressions that compute them. So an exchange is noticed here,
and a name whose words do not tell its place from the next one is to be changed.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest

BOOK = Path(__file__).resolve().parents[2] / "book"
CHAPTERS = sorted(path.stem for path in BOOK.glob("*.ipynb"))
NUMBER = re.compile(r"[−-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
ROLE = re.compile(r"\{glue:text\}`(?:(\w+)\.ipynb::)?([^`]+?)(?::s)?`")
SENTENCE = re.compile(r"(?<=[.?!;])[)*]*\s+(?=[A-Z(*$`{])|\n\n|\n\s*(?=[-*|] )| \| ")
CLAUSE = re.compile(r"[,;:.()]\s|\s(?:and|but|whereas|while|or)\s")
RISES = re.compile(r"\b(?:rises?|raises?|grown?|grows|increases?)\b")
PART = re.compile(r" of (?:the )?")
FALLS = re.compile(r"\b(?:falls?|fallen|decreases?|drops?)\b")

Name = tuple[str, str]  # of a chapter and of its number


def value_of(text: str) -> float:
    number = NUMBER.search(text)
    return float(number[0].replace(",", "").replace("−", "-")) if number else 0.0


def is_number(text: str) -> bool:
    return NUMBER.match(text) is not None


def is_count(text: str) -> bool:
    return bool(re.fullmatch(r"\d[\d,]*(?: (?:to|of) \d[\d,]*)?", text))


def is_plain(text: str) -> bool:
    return is_number(text) and "%" not in text and " of " not in text


def is_norm(text: str) -> bool:
    return is_plain(text) and value_of(text) > 1


def is_correlation(text: str) -> bool:
    return is_plain(text) and "." in text and abs(value_of(text)) <= 1


def is_share(text: str) -> bool:
    return "%" in text or is_correlation(text)


# What is before a number and after it, other numbers as @, and what it then is.
THINGS = (
    "(?:distinct |balanced |labelled |irrelevant |misclassified |stored |training )?"
    "(?:runs|seeds|reviews|texts|models|corpora|initializations|settings|steps|problems"
    "|exercises|pairs|comparisons|leaks|entries)"
)
KINDS: list[tuple[str, str, Callable[[str], bool]]] = [
    ("", rf" {THINGS}\b", is_count),
    ("", r" of (?:the )?(?:ten|\d)", is_count),
    ("", r" of (?:the|all|their|cases)\b(?! (?:ten|twenty|@|\d|runs))", is_share),
    ("", r" (?:MB|GB|points|degrees|percentage points|times|tokens)\b", is_plain),
    (
        r"(?:correlations?|cosine)(?: [^ ]+){0,6} (?:is|of|about|at least) ",
        "",
        is_correlation,
    ),
    (r"\\\|p\\\|\$?(?: =|=)? ?(?:\{\}\$)?", "", is_norm),
    (r"(?:about|by|at least|at most|lean of|lean is|=|\{\}\$) ?", "", is_number),
    (r"steps? ", "", is_count),
]


class Sentence(NamedTuple):
    """The texts around the numbers of a sentence, and the names of these numbers."""

    texts: list[str]
    names: list[Name]

    def faults(self, values: Mapping[Name, str]) -> list[str]:
        """Return which numbers are not of the kind or in the order of the words."""
        found = []
        numbers = [values[name] for name in self.names]
        for i, number in enumerate(numbers):
            before, after = "@".join(self.texts[: i + 1]), "@".join(self.texts[i + 1 :])
            for left, right, is_kind in KINDS:
                fits = re.search(rf"{left}\Z", before) and re.match(right, after)
                if fits and not is_kind(number):
                    found.append(f"{number} is not {is_kind.__name__[3:]}: {before}")
        for i, (one, other) in enumerate(pairwise(numbers)):
            before, between = "".join(self.texts[: i + 1]), self.texts[i + 1]
            rising, falling = (
                max(
                    (turn.end() for turn in turns.finditer(before + between)), default=0
                )
                for turns in (RISES, FALLS)
            )
            turned = re.search(rf"(?:{RISES.pattern}|{FALLS.pattern}) to $", between)
            to = between.endswith(" to ") and (before.endswith("from ") or turned)
            falls = (between == " to " or to) and falling > rising
            least = before.endswith("between ") and between == " and "
            rises = between == " to " or to or least or PART.fullmatch(between)
            sign = (-1 if falls else 1) * bool(rises)
            if sign * (value_of(other) - value_of(one)) < 0:
                found.append(f"{one}{between}{other} is in the wrong order")
        return found

    def around(self, i: int) -> list[set[str]]:
        """Return the words in the clause before a number, after it, and all before."""
        left, right = self.texts[i], self.texts[i + 1]
        near = CLAUSE.split(left)[-1], CLAUSE.split(right + " ")[0]
        return [words(text) for text in (*near, left)]


def words(text: str) -> set[str]:
    text = re.sub(r"(?<=\d)[{,}_]+(?=\d)", "", text.lower())  # 1{,}000
    return set(re.findall(r"[a-z]+|\d+", text)) - {"with"}


def fit(name: Name, around: list[set[str]]) -> int:
    """Return how many words of a name are around it, those nearer counting more."""

    def alike(one: str, other: str) -> bool:
        short, long = sorted((one, other), key=len)
        begins = len(short) > 2 and short.isalpha() and long.startswith(short)
        return short == long or begins

    total = 0
    for word in words(name[1]):
        places = (
            i for i, part in enumerate(around) if any(alike(word, x) for x in part)
        )
        total += len(around) - next(places, len(around))
    return total


@functools.cache
def cells_of(chapter: str) -> list[nbformat.NotebookNode]:
    return nbformat.read(BOOK / f"{chapter}.ipynb", as_version=4).cells


@functools.cache
def numbers() -> dict[Name, str]:
    """Return the stored numbers of all chapters."""
    found = {}
    for chapter in CHAPTERS:
        for cell in cells_of(chapter):
            for output in cell.get("outputs", []):
                if scrap := output.get("metadata", {}).get("scrapbook"):
                    text = output.data[scrap["mime_prefix"] + "text/plain"]
                    found[chapter, scrap["name"]] = ast.literal_eval(text)
    return found


def sentences_of(text: str, chapter: str) -> list[Sentence]:
    """Return the sentences that have numbers."""
    found = []
    for sentence in SENTENCE.split(text):
        text = " ".join(sentence.split())
        names = [(of or chapter, name) for of, name in ROLE.findall(text)]
        if names:
            found.append(Sentence(ROLE.split(text)[::3], names))
    return found


@functools.cache
def sentences() -> dict[str, list[Sentence]]:
    return {
        chapter: [
            sentence
            for cell in cells_of(chapter)
            if cell.cell_type == "markdown"
            for sentence in sentences_of(cell.source, chapter)
        ]
        for chapter in CHAPTERS
    }


def glued(chapter: str) -> Iterator[list[tuple[Name, list[set[str]]]]]:
    """Return for each call with keywords the names and the words of the code."""
    for cell in cells_of(chapter):
        code = re.sub(r"(?m)^%.*", "", cell.source)
        if cell.cell_type == "markdown" or "glue(" not in code:
            continue
        for call in ast.walk(ast.parse(code)):
            given = getattr(call, "keywords", [])
            texts = [ast.get_source_segment(code, one.value) or "" for one in given]
            yield [
                ((chapter, str(one.arg)), [words(re.sub(r":[^{}'\"]*}", "", text))])
                for one, text in zip(given, texts, strict=True)
                if (chapter, one.arg) in numbers()
            ]


def is_noticed(
    one: Name,
    here: list[set[str]],
    other: Name,
    there: list[set[str]],
    seen: list[Sentence],
) -> bool:
    """Whether two numbers fit better than exchanged, or sentences are then wrong."""
    values = numbers()
    exchanged = values | {one: values[other], other: values[one]}
    return (
        values[one] == values[other]
        or any(sentence.faults(exchanged) for sentence in seen)
        or bool(misordered(exchanged))
        or fit(one, here) + fit(other, there) > fit(one, there) + fit(other, here)
    )


def misordered(values: Mapping[Name, str]) -> list[Name]:
    """Return the names of a least number that exceeds the most."""
    return [
        (chapter, name)
        for (chapter, name), text in values.items()
        for low, high in (("least", "most"), ("low", "high"))
        if value_of(text)
        > value_of(values.get((chapter, name.replace(low, high)), text))
    ]


chapters = pytest.mark.parametrize("chapter", CHAPTERS)


@chapters
def test_numbers_are_of_the_kind_and_in_the_order_of_the_words(chapter):
    found = [fault for one in sentences()[chapter] for fault in one.faults(numbers())]
    assert found == []


@chapters
def test_two_neighbours_of_a_sentence_that_are_exchanged_are_noticed(chapter):
    for sentence in sentences()[chapter]:
        for i, (one, other) in enumerate(pairwise(sentence.names)):
            here, there = sentence.around(i), sentence.around(i + 1)
            told = is_noticed(one, here, other, there, [sentence])
            assert told, f"{one[1]}, {other[1]}: neither name is of its place"


@chapters
def test_two_neighbours_of_a_call_that_are_exchanged_are_noticed(chapter):
    all_sentences = [one for of_one in sentences().values() for one in of_one]
    for call in glued(chapter):
        for (one, here), (other, there) in pairwise(call):
            seen = [x for x in all_sentences if {one, other} & set(x.names)]
            told = is_noticed(one, here, other, there, seen)
            assert told, f"{one[1]}, {other[1]}: neither name is of its expression"


def test_the_least_is_at_most_the_most():
    assert misordered(numbers()) == []


@pytest.mark.parametrize(
    ("text", "values", "faults"),
    [
        ("{glue:text}`a` of ten runs", "8", 0),
        ("{glue:text}`a` of ten runs", "80%", 1),
        ("it grows from {glue:text}`a` to {glue:text}`b`", "1 2", 0),
        ("it grows from {glue:text}`a` to {glue:text}`b`", "2 1", 1),
        ("it falls from {glue:text}`a` here to {glue:text}`b`", "2 1", 0),
        ("it falls from {glue:text}`a` here to {glue:text}`b`", "1 2", 1),
        ("between {glue:text}`a` and {glue:text}`b`", "-0.2 −0.3", 1),
        ("{glue:text}`a` of the {glue:text}`b` starts", "20 1,000", 0),
        ("{glue:text}`a` of the {glue:text}`b` starts", "1,000 20", 1),
        ("a rank correlation of {glue:text}`a`", "0.93", 0),
        ("a rank correlation of {glue:text}`a`", "93", 1),
        (r"at $\|p\|$ = {glue:text}`a`", "0.97", 1),
    ],
)
def test_a_sentence_admits_what_it_is_about(text, values, faults):
    (sentence,) = sentences_of(text, "c")
    found = sentence.faults(dict(zip(sentence.names, values.split(), strict=True)))
    assert len(found) == faults
