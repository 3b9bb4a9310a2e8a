"""Each number of the prose is the one that its sentence is about.

`glue` stores a number of a chapter under a name. If two neighbours are exchanged, by
name in the prose or by value in the code, then one is no longer of the kind that the
words next to it call for (a count of runs, a correlation), or both are in the wrong
order (falls from 2 to 1), or their names have fewer words in common with the text
around them, or with the expressions that compute them. So an exchange is noticed here,
and a name whose words do not tell its place from the next one is to be changed.
"""

import ast
import functools
import itertools
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import pytest

from support.chapters import CHAPTERS, cells_of

ROLE = re.compile(r"\{glue:text\}`(?:(\w+)\.ipynb::)?([^`]+?)(?::s)?`")
SENTENCE = re.compile(r"(?<=[.?!;])[)*]*\s+(?=[A-Z(*$`{])|\n\n|\n(?=[-*|] )| \| ")
CLAUSE = re.compile(r"[,;:.()]\s|\s(?:and|but|whereas|while|or)\s")

NUMBER = r"[−-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
COUNT = r"\d[\d,]*(?: (?:to|of) \d[\d,]*)?$"
PLAIN = rf"(?!.*(?:%| of )){NUMBER}"  # no share
NORM = r"(?!.*(?:%| of ))[1-9]"
CORRELATION = r"(?!.*%)[−-]?(?:0\.\d|1\.0)"
SHARE = r".*%|0\.\d|1\.0"
THINGS = (
    "(?:distinct |balanced |labelled |irrelevant |misclassified |stored |training )?"
    "(?:runs|seeds|reviews|texts|models|corpora|initializations|settings|steps|problems"
    "|exercises|pairs|comparisons|leaks|entries)"
)
# What is before a number and after it, other numbers as @, and what it then is.
KINDS = [
    ("", rf" {THINGS}\b", COUNT),
    ("", r" of (?:the )?(?:ten|\d)", COUNT),
    ("", r" of (?:the|all|their|cases)\b(?! (?:ten|twenty|@|\d|runs))", SHARE),
    ("", r" (?:MB|GB|points|degrees|percentage points|times|tokens)\b", PLAIN),
    ("(?:correlations?|cosine)(?: [^ ]+){0,6} (?:is|of|about|least) ", "", CORRELATION),
    ("accuracy (?:of|is) (?:about )?", "", SHARE),
    (r"\\\|p\\\|\$?(?: =|=)? ?(?:\{\}\$)?", "", NORM),
    (r"(?:about|by|at least|at most|lean of|lean is|=|\{\}\$) ?", "", NUMBER),
    ("steps? ", "", COUNT),
]
RISES = r"\b(?:rises?|raises?|grown?|grows|increases?)\b"
FALLS = r"\b(?:falls?|fallen|decreases?|drops?)\b"

Name = tuple[str, str]  # of a chapter and of its number


def value_of(text: str) -> float:
    number = re.search(NUMBER, text)
    return float(number[0].replace(",", "").replace("−", "-")) if number else 0.0


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
            for left, right, kind in KINDS:
                fits = re.search(rf"{left}\Z", before) and re.match(right, after)
                if fits and not re.match(kind, number):
                    found.append(f"{before}{number}{after}")
        for i, (one, other) in enumerate(pairwise(numbers)):
            before, between = "".join(self.texts[: i + 1]), self.texts[i + 1]
            turns = re.findall(rf"{RISES}|{FALLS}", before + between)
            falls = bool(turns) and bool(re.fullmatch(FALLS, turns[-1]))
            ordered = (
                between == " to "
                or (between.endswith(" to ") and before.endswith("from "))
                or re.search(rf"(?:{RISES}|{FALLS}) to $", between)
            )
            least = between == " and " and before.endswith("between ")
            part = re.fullmatch(" of (?:the )?", between)
            rise = value_of(other) - value_of(one)
            if (ordered and (rise > 0 if falls else rise < 0)) or (
                (least or part) and rise < 0
            ):
                found.append(f"{before}{one}{between}{other}")
        return found

    def around(self, i: int) -> list[set[str]]:
        """Return the words in the clause before a number, after it, and all before."""
        left, right = self.texts[i], self.texts[i + 1]
        near = CLAUSE.split(left)[-1], CLAUSE.split(right + " ")[0]
        return [words(text) for text in (*near, left)]


def words(text: str) -> set[str]:
    text = re.sub(r"(?<=\d)[{,}_]+(?=\d)", "", text.lower())  # 1{,}000
    return set(re.findall(r"[a-z]+|\d+", text)) - {"with"}


def alike(one: str, other: str) -> bool:
    """Whether two words are the same, or the longer one begins with the other."""
    short, long = sorted((one, other), key=len)
    begins = len(short) > 2 and short.isalpha() and long.startswith(short)
    return short == long or begins


def fit(name: Name, around: list[set[str]]) -> int:
    """Return how many words of a name are around it, those nearer counting more."""
    total = 0
    for word in words(name[1]):
        has = [any(alike(word, other) for other in part) for part in around]
        total += len(has) - has.index(True) if any(has) else 0
    return total


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
        found.append(Sentence(ROLE.split(text)[::3], names))
    return [sentence for sentence in found if sentence.names]


@functools.cache
def sentences() -> dict[str, list[list[Sentence]]]:
    """Return by chapter the sentences of each cell of prose."""
    return {
        chapter: [
            sentences_of(cell.source, chapter)
            for cell in cells_of(chapter)
            if cell.cell_type == "markdown"
        ]
        for chapter in CHAPTERS
    }


def glued(chapter: str) -> Iterator[list[tuple[Name, list[set[str]]]]]:
    """Return for each call that stores numbers the names and the words of the code."""
    for cell in cells_of(chapter):
        code = re.sub(r"(?m)^%.*", "", cell.source)
        if cell.cell_type == "markdown" or "glue(" not in code:
            continue
        for call in ast.walk(ast.parse(code)):
            yield [
                ((chapter, str(one.arg)), [words(re.sub(r":[^{}'\"]*}", "", text))])
                for one in getattr(call, "keywords", [])
                if (chapter, one.arg) in numbers()
                for text in [ast.get_source_segment(code, one.value) or ""]
            ]


def misordered(values: Mapping[Name, str]) -> list[Name]:
    """Return the names of a least number that exceeds the most."""
    return [
        (chapter, name)
        for (chapter, name), text in values.items()
        for low, high in (("least", "most"), ("low", "high"))
        if low in name
        and value_of(text)
        > value_of(values.get((chapter, name.replace(low, high)), text))
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


chapters = pytest.mark.parametrize("chapter", CHAPTERS)


@chapters
def test_numbers_are_of_the_kind_and_in_the_order_of_the_words(chapter):
    for sentence in itertools.chain(*sentences()[chapter]):
        assert sentence.faults(numbers()) == []


@chapters
def test_two_neighbours_of_the_prose_that_are_exchanged_are_noticed(chapter):
    for cell in sentences()[chapter]:
        places = [
            (one, name, one.around(i))
            for one in cell
            for i, name in enumerate(one.names)
        ]
        for (first, one, here), (second, other, there) in pairwise(places):
            noticed = is_noticed(one, here, other, there, [first, second])
            assert noticed, f"{one[1]}, {other[1]}: neither name is of its place"


@chapters
def test_two_neighbours_of_a_call_that_are_exchanged_are_noticed(chapter):
    cells = itertools.chain(*sentences().values())
    all_sentences = list(itertools.chain(*cells))
    for call in glued(chapter):
        for (one, here), (other, there) in pairwise(call):
            seen = [x for x in all_sentences if {one, other} & set(x.names)]
            noticed = is_noticed(one, here, other, there, seen)
            assert noticed, f"{one[1]}, {other[1]}: neither name is of its expression"


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


@pytest.mark.parametrize(
    ("text", "values", "noticed"),
    [
        ("{glue:text}`a_new` of new and {glue:text}`a_old` of old texts", "1 2", True),
        ("{glue:text}`a` of new and {glue:text}`b` of old texts", "1 2", False),
        ("{glue:text}`a` of new and {glue:text}`b` of old texts", "1 1", True),
        ("the cosine is {glue:text}`a` at {glue:text}`b`", "0.9 60", True),
        ("between {glue:text}`a` and {glue:text}`b`", "1 2", True),
    ],
)
def test_what_tells_two_places_apart(text, values, noticed, monkeypatch):
    (one,) = sentences_of(text, "c")
    stored = dict(zip(one.names, values.split(), strict=True))
    monkeypatch.setitem(globals(), "numbers", lambda: stored)
    first, second = one.names
    assert noticed == is_noticed(first, one.around(0), second, one.around(1), [one])
