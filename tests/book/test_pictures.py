"""A figure, its caption and its alt text say the same, by what is stored of each."""

import re
from collections.abc import Iterator
from math import inf

import pytest

from support.pictures import COLOURS, Figure, figures

EMPTY = """
a after an and are as at axis both by each first for from i in is it its left middle no
not of on one or over panel per right scaled second sorted s than that the their this to
under was which with
"""
# Words that exclude each other; a picture of one is none of the other.
EXCLUDE = """
best/worst above/below before/after first/last with/without inside/outside
largest/smallest greatest/least highest/lowest most/least more/fewer/less larger/smaller
higher/lower rises/falls rise/fall rare/frequent increases/decreases maximum/minimum
upper/lower training/test true/shuffled positive/negative score/value row/column
token/sequence/text label/class
"""
OPPOSITES = [set(group.split("/")) for group in EXCLUDE.split()]
# What a label of a figure names has to be named by its caption or alt text, too.
OTHERS = """
accuracy attention correlation cosine embedding layer lean loss margin norm random
review seed share step word held-out mean sum
"""
KINDS = set(OTHERS.split()).union(*OPPOSITES) - {"worst"}
# Between what the numbers of an axis lie: that of the first word its label has.
RANGES = {
    "%": (0, 100),
    "accuracy": (0, 1),
    "correlation": (-1, 1),
    "cosine": (-1, 1),
    "share": (0, 1),
    "lean": (-1, 1),
    "loss": (0, inf),
    "step": (0, inf),
    "spread": (0, inf),
    "error": (0, inf),
}
# What the name of a blue or orange curve does not have.
WRONG = {"blue": "negative|against", "orange": "positive|for"}
# A form of words that has a side of the figure, and what is there: before it, or after.
BEFORE = r"(?P<what>(?:(?!\band\b)[^.;:,()])*) \((?P<side>left|middle|right)\b(?! pair)"
AFTER = (
    r"(?:^|[.;] )(?:On the |In the |The )?(?P<side>[Ll]eft|[Mm]iddle|[Rr]ight)"
    r"(?: panel| one)?(?: shows)?[:,]?"
    r"(?P<what>(?:(?!\b(?:left|middle|right)\b)[^.;])*)"
)


def words(text: str) -> set[str]:
    """Return the words of a text in the singular, and the symbols of its formulas."""

    def symbols(formula: re.Match[str]) -> str:
        plain = re.sub(r"\\\|.*?\\\|", " norm ", formula[1])
        plain = re.sub(r"\\(top|mathcal|tilde|mathrm|bar)|\([^)]*\)", " ", plain)
        plain = plain.replace(r"\cos", " cosine ")
        found = re.findall(r"\\?[A-Za-z]+(?:_\\?\w+)?", plain)
        named = "norm", "cosine"
        return " ".join(["", *(x if x in named else f"${x}" for x in found), ""])

    plain = re.sub(r"\{[\w:]+\}`[^`]*`", " ", text)
    plain = re.sub(r"\$([^$]*)\$", symbols, plain)
    found = re.findall(r"\$\\?\w+|[A-Za-z]+", plain)
    return {x if x[0] == "$" else singular(x.lower()) for x in found} - set(
        EMPTY.split()
    )


def singular(word: str) -> str:
    if word.endswith(("ss", "us", "is")) or len(word) < 4:
        return word
    return re.sub("(?<=ss)es$|s$", "", word)


def spoken(text: str) -> set[str]:
    """Return the words of a text in the singular, also those of EMPTY."""
    return {singular(x) for x in re.findall(r"[a-z]+(?:-[a-z]+)*", text.lower())}


def across(caption: str) -> set[str]:
    """Return the words by which a caption says what is across."""
    said = re.findall(r"([^.;:,()]*) (?:\(horizontal|across\b)", caption)
    said = [re.split(r"\b(?:against|over)\b", part)[-1] for part in said]
    said += re.findall(r"\b(?:against|(?<!mean )over) ([^.;()]*)", caption)
    return words(" ".join(said))


def upwards(caption: str) -> set[str]:
    """Return the words by which a caption says what is up."""
    said = re.findall(r"((?:[^.;]|\.\d)*?) \([^()]*vertical", caption)
    said += re.findall(r"\b(score) up\b", caption)
    return words(" ".join(said))


def axes_faults(figure: Figure) -> Iterator[str]:
    everything = words(figure.caption)
    said = across(figure.caption) or everything, upwards(figure.caption) or everything
    for panel in figure.panels:
        for label, named in zip(panel.labels, said, strict=True):
            if words(label) and not words(label) & named:
                yield f"{label!r} is not what the caption has on this axis"


def label_text(figure: Figure) -> str:
    found: list[str] = []
    for panel in figure.panels:
        found += [*panel.labels, *(name for name, _ in panel.legend)]
        found += [text for text in panel.texts if text[0] not in "“"]
    return re.sub(r"\$[^$]*\$", "", ". ".join(found))


def kind_faults(figure: Figure) -> Iterator[str]:
    named = spoken(figure.caption) | spoken(figure.alt)
    for word in (spoken(label_text(figure)) & KINDS) - named:
        yield f"neither caption nor alt text says {word!r}, as the figure does"


def opposite_faults(figure: Figure) -> Iterator[str]:
    labels = spoken(label_text(figure))
    for name, other in (("caption", "alt"), ("alt", "caption")):
        own, second = spoken(getattr(figure, name)), spoken(getattr(figure, other))
        for group in OPPOSITES:
            for word in own & group - labels - second:
                if group & (labels | second) - own:
                    yield f"{name}: {word!r}, where the others do not"


def side_faults(figure: Figure) -> Iterator[str]:
    for name in ("caption", "alt"):
        text = getattr(figure, name)
        for form in (
            r"\((\w+)[,)]",
            r"(?:^|\. )(?:On the )?(\w+)[,:] ",
            r"\b[Tt]he (\w+) panel",
            r"[Oo]n the (\w+)\b",
            r"[Ii]n the (\w+)(?: one| panel)?\b",
        ):
            found = [x.lower() for x in re.findall(form, text)]
            counts = sorted([found.count("left"), found.count("right")])
            if counts[0] == 0 and counts[1] > 1:
                yield f"{name}: {found}"


def repeated_faults(figure: Figure) -> Iterator[str]:
    """Yield "from the largest to the largest" and the like."""
    for text in (figure.caption, figure.alt):
        for found in re.finditer(
            r"\b(?!more|larger|review)(\w{4,}),? (?:to|and|or) (?:the )?\1\b", text
        ):
            yield found[0]


def panel_faults(figure: Figure) -> Iterator[str]:
    """Yield what is said of one side, though only another panel has it."""
    each = [words(" ".join([*p.labels, *p.texts])) for p in figure.panels]
    last = len(each) - 1
    for form in (BEFORE, AFTER):
        for text in (figure.caption, figure.alt):
            for found in re.finditer(form, text):
                at = {"left": 0, "middle": 1, "right": last}[found["side"].lower()]
                own = each[min(at, last)]
                what = words(found["what"])
                there = [x for x in each if x != own and (x - own) & what]
                mixed = any(
                    what & g and own & g and not what & own & g for g in OPPOSITES
                )
                elsewhere = there and not any((own - x) & what for x in there)
                if elsewhere or (mixed and form == BEFORE):
                    yield f"{found[0]!r} is not of this panel"


def range_faults(figure: Figure) -> Iterator[str]:
    for panel in figure.panels:
        for label, ticks in zip(panel.labels, panel.ticks, strict=True):
            named = words(label) | ({"%"} if "%" in label else set())
            low, high = next((RANGES[x] for x in RANGES if x in named), (-inf, inf))
            low = 0 if named == {"norm"} else low
            for text in ticks.values():
                number = tick_value(text)
                if number is not None and not low <= number <= high:
                    yield f"{label!r} has {text}"


def tick_value(text: str) -> float | None:
    plain = re.sub(r"\$?\\mathdefault\{|\}\$$", "", text).replace("\N{MINUS SIGN}", "-")
    power = re.fullmatch(r"(-?)(\d+)\^\{(-?\d+)\}", plain)
    if power:
        return float(power[2]) ** int(power[3]) * (-1 if power[1] else 1)
    plain = plain.removesuffix("%")
    return float(plain) if re.fullmatch(r"-?\d+\.?\d*(e-?\d+)?", plain) else None


def symbol_faults(figure: Figure) -> Iterator[str]:
    """Yield each score that is called a value, and each value called a score."""
    labels = [x for panel in figure.panels for x in panel.labels + panel.texts]
    for text in (figure.caption, figure.alt, *labels):
        yield from re.findall(r"attention values?\b|(?:shuffled|true) classes", text)
        for word, formula in re.findall(r"\b(value|score) \$([^$]*)\$", text):
            symbols = set(re.findall("[abpv]", formula))
            if symbols and not symbols & set({"value": "bv", "score": "ap"}[word]):
                yield f"{word} ${formula}$"


def colour_faults(figure: Figure) -> Iterator[str]:
    """Yield the looks that a text names and nothing in the figure has."""
    drawn = {
        (colour, dashed)
        for panel in figure.panels
        for colour, dashed, places in panel.lines
        if places
    }
    drawn |= {look for panel in figure.panels for _, look in panel.legend}
    if any(panel.has_picture for panel in figure.panels):
        drawn |= {(colour, False) for colour in COLOURS.values()}
    colours = {colour for colour, _ in drawn}
    for text in (figure.caption, figure.alt):
        said = text.lower()
        for look, colour in re.findall(r"(?:(dashed|dotted|solid) )?(\w+)", said):
            is_dashed = look in ("dashed", "dotted")
            named = colour in COLOURS.values()
            if (
                named
                and (colour, is_dashed) not in drawn
                and (look or colour not in colours)
            ):
                yield f"nothing is {look} {colour}"
        for colour, other in WRONG.items():
            rival = "orange" if colour == "blue" else "blue"
            for part in re.split(r"[.;,]|\band\b", said):
                if (
                    colour in part
                    and rival not in part
                    and re.search(f"\\b({other})\\b", part)
                ):
                    yield f"{colour} in {part!r}"


def legend_faults(figure: Figure) -> Iterator[str]:
    """Yield each colour that a sentence gives to another curve than the legend."""
    entries = dict(x for panel in figure.panels for x in panel.legend if x[1][0])
    notes = words(" ".join(text for panel in figure.panels for text in panel.texts))
    for name, (colour, _) in entries.items():
        if colour in WRONG and re.search(WRONG[colour], name):
            yield f"{name} is {colour}"
        alike = [x for x, look in entries.items() if look[0] == colour]
        own = words(" ".join(alike)) | notes
        others = words(" ".join(set(entries) - set(alike))) - own
        for text in (figure.caption, figure.alt):
            for part in re.split(r"[.;:](?!\d)|, and ", text):
                named = [x for x in COLOURS.values() if x in part.lower()] == [colour]
                if named and words(part) & others and not words(part) & own:
                    yield f"{name!r} is {colour}; {part!r}"


def twin_faults(figure: Figure) -> Iterator[str]:
    """Yield what two panels or two entries of a legend are both called."""
    titles = []
    for panel in figure.panels:
        names = [name for name, _ in panel.legend]
        yield from (f"two are {name}" for name in set(names) if names.count(name) > 1)
        if panel.labels[1]:
            titles.append((*panel.labels, *panel.texts, *names))
    yield from (f"two are {x}" for x in set(titles) if titles.count(x) > 1)


def direction_faults(figure: Figure) -> Iterator[str]:
    said = re.findall(r"\((vertical|horizontal)", figure.caption)
    if len(said) > len(figure.panels) and len(set(said)) == 1:
        yield f"only {said[0]} axes are named"
    for part in re.findall(r"\bagainst [^.;,()]*\(vertical", figure.caption):
        yield f"what is up is across: {part}"


RULES = [
    axes_faults,
    kind_faults,
    opposite_faults,
    side_faults,
    repeated_faults,
    panel_faults,
    range_faults,
    symbol_faults,
    colour_faults,
    legend_faults,
    twin_faults,
    direction_faults,
]


@pytest.fixture(scope="module")
def stored() -> list[Figure]:
    return list(figures())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_figure_caption_and_alt_text_agree(rule, stored):
    found = {figure.name: list(rule(figure)) for figure in stored}
    assert {name: faults for name, faults in found.items() if faults} == {}
