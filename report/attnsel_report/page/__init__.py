"""The page of a report: one file that needs nothing else."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any, NamedTuple

import pandas as pd
from jinja2 import Environment, PackageLoader

from attnsel.corpus import Corpus
from attnsel.statistics import class_sizes
from attnsel_report.data_notes import brief
from attnsel_report.examples import Example
from attnsel_report.quality import STEPS, Misread
from attnsel_report.result import Findings

TOP = 12  # rows of a class that are shown
MOST_CLASSES = 12  # that are shown
SUSPECTS = 12  # texts that are shown
FIRST = 20  # signs that are shown
# Of the tables of all tokens, pairs and traits: columns, their heads and kinds.
COLUMNS = {
    "token": ("", "name"),
    "class": ("goes with", "name"),
    "texts": ("texts", "count"),
    "share": ("of class", "share"),
    "lean": ("lean", "lean"),
    "shrunken": ("shrunken", "lean"),
    "held-out": ("held out", "lean"),
    "q": ("q", "q"),
}
TOLD = {
    "values": "correlation of values with the lean of tokens",
    "values_z": "correlation of values with z, the lean in deviations of luck",
    "attention": "correlation of attention scores with the size of the lean",
    "attention_z": "correlation of attention scores with the size of z",
    "beyond_luck": "share of the attention on tokens beyond luck",
    "accuracy": "share of the texts classified correctly",
}


class Row(NamedTuple):
    """A token or pair on the page."""

    token: str
    texts: int
    share: float
    lean: float
    shrunken: float
    held_out: float
    interval: str
    q: float
    places: list[Example]


class Group(NamedTuple):
    """What goes with one class: its name, its share, rows shown and rows left."""

    kind: str
    name: str
    base: float
    rows: list[Row]
    more: int


def shown(finds: pd.DataFrame) -> pd.DataFrame:
    """Return the finds that have room on the page."""
    classes = finds["class"].value_counts(sort=False).index[:MOST_CLASSES]
    return finds[finds["class"].isin(classes)].groupby("class", sort=False).head(TOP)


def render(report: Findings) -> str:
    """Return the page of a report; whatever stands in the texts is escaped."""
    pages = Environment(
        loader=PackageLoader("attnsel_report", "page"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters["small"] = _small
    pages.filters["brief"] = brief
    tokens = report.found(report.tokens)
    pairs = report.found(report.pairs)
    form = report.found(report.form)
    return pages.get_template("report.html").render(
        report=report,
        units=f"groups ({report.grouped})" if report.grouped else "distinct texts",
        counted=", each group counted once" if report.grouped else "",
        n_texts=len(report.train) + len(report.test),
        signs=report.signs.head(FIRST).to_dict("records"),
        signs_left=max(0, len(report.signs) - FIRST),
        css=_part("style.css"),
        script=_part("table.js"),
        tiles=_tiles(report),
        amiss=[fact for fact in report.facts if fact.amiss],
        tokens=_groups("token", tokens, report),
        tokens_left=_classes_left(tokens),
        uneven=_is_uneven(report.train),
        pairs=_groups("pair", pairs, report),
        pairs_left=_classes_left(pairs),
        form=_groups("", form, report),
        form_left=_classes_left(form),
        measures=report.measures.to_dict("records"),
        suspects=report.suspects.head(SUSPECTS).to_dict("records"),
        every=[
            ("tokens", "token", _rows_of(report.tokens)),
            ("pairs of neighbours", "pair", _rows_of(report.pairs)),
            ("beginnings, ends and kinds", "", _rows_of(report.form)),
        ],
        heads=[head for head, _ in COLUMNS.values()],
        most_steps=STEPS,
        masked=report.masked.to_dict("records"),
        misread=[_text(text) for text in report.misread],
        diagnosis=_diagnosis(report),
    )


def _part(name: str) -> str:
    """Return a file that goes into the page."""
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def _rows_of(table: pd.DataFrame) -> str:
    """Return a table as JSON that can stand in a page, numbers in three digits."""
    columns = []
    for name in COLUMNS:
        # Most numbers stand there many times, and are written once.
        codes, values = pd.factorize(table[name])
        known = values.tolist()
        if table[name].dtype.kind == "f":
            known = [float(f"{x:.3g}") for x in known]
        known.append(None)  # of a missing number, whose code is -1
        columns.append([known[code] for code in codes.tolist()])
    kinds = [kind for _, kind in COLUMNS.values()]
    rows = list(zip(*columns, strict=True))
    text = json.dumps({"kinds": kinds, "rows": rows}, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _interval(low: float, high: float) -> str:
    """Write the interval of a lean, nothing where there is none."""
    return "" if low != low else f"{low:+.2f} to {high:+.2f}"


def _number(x: float, is_share: bool) -> str:
    """Write a share or a correlation, or that there is none."""
    if x != x:
        return "cannot be told of these texts"
    return f"{x:.1%}" if is_share else f"{x:+.2f}"


def _small(x: float) -> str:
    """Write a probability: short, and never as zero."""
    if x >= 0.001:
        return f"{x:.3f}"
    return f"{x:.0e}" if x > 1e-99 else "< 1e-99"


def _is_uneven(train: Corpus) -> bool:
    """Say whether the largest class has over twice the texts of the smallest."""
    sizes = class_sizes(train)
    return bool(sizes.max() > 2 * sizes.min())


def _tiles(report: Findings) -> list[tuple[str, str]]:
    n_texts = len(report.train) + len(report.test)
    n_classes = report.train.n_classes
    tiles = [(f"{n_texts:,}", "texts"), (f"{n_classes:,}", "classes")]
    if report.model is None:
        return tiles
    n_tokens = len(report.tokens)
    found_tokens = len(report.found(report.tokens))
    found_pairs = len(report.found(report.pairs))
    pairs = "pair" if found_pairs == 1 else "pairs"
    share = report.accuracy["attention"].value
    return [
        *tiles,
        (f"{found_tokens:,}", f"of {n_tokens:,} tokens beyond luck"),
        (f"{found_pairs:,}", f"{pairs} beyond luck"),
        (f"{share:.1%}", "of the held-out texts classified correctly"),
    ]


def _groups(kind: str, finds: pd.DataFrame, report: Findings) -> list[Group]:
    """Return the finds by class, those of most evidence first."""
    if not len(finds):
        return []
    sizes = report.train.targets.bincount(minlength=report.train.n_classes)
    groups = []
    for (number, name), part in shown(finds).groupby(
        ["class number", "class"], sort=False
    ):
        total = int((finds["class number"] == number).sum())
        rows = [_row(row, report) for row in part.to_dict("records")]
        base = float(sizes[number]) / len(report.train)
        groups.append(Group(kind, str(name), base, rows, total - len(rows)))
    return groups


def _row(row: dict[Any, Any], report: Findings) -> Row:
    return Row(
        token=row["token"],
        texts=row["texts"],
        share=row["share"],
        lean=row["lean"],
        shrunken=row["shrunken"],
        held_out=row["held-out"],
        interval=_interval(row["held-out low"], row["held-out high"]),
        q=row["q"],
        places=report.examples.get(row["token"], []),
    )


def _classes_left(finds: pd.DataFrame) -> int:
    """Return how many classes with finds have no room."""
    if not len(finds):
        return 0
    return max(0, finds["class"].nunique() - MOST_CLASSES)


def _text(text: Misread) -> dict[str, Any]:
    """Return a misread text with a side and a shade, 0 to 0.55, for each piece."""
    top = max(float(text.pushes.abs().max()), 1e-12)
    pieces = []
    for (piece, _), push in zip(text.words, text.pushes.tolist(), strict=True):
        side = "towards" if push > 0 else "against"
        pieces.append((piece, side, round(0.55 * abs(push) / top, 2)))
    return {
        "label": text.label,
        "read": text.read,
        "probability": text.probability,
        "pieces": pieces,
        "strongest": text.strongest,
        "enough": text.enough,
    }


def _diagnosis(report: Findings) -> list[tuple[str, str]]:
    if report.diagnosis is None:
        return []
    measured = vars(report.diagnosis)
    return [
        (sentence, _number(measured[name], sentence.startswith("share")))
        for name, sentence in TOLD.items()
    ]
