"""The HTML page of a report, a single file that needs no other file."""

import json
from functools import cache
from importlib import resources
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, Template

from attnsel_report.data_notes import brief
from attnsel_report.letters import visible, with_names
from attnsel_report.quality import STEPS, Misread
from attnsel_report.surface import KINDS
from attnsel_report.tables import COLUMNS

FIRST = 20  # top findings that are shown
SUSPECTS = 5  # texts that are shown
MEASURES = 60  # rows that are shown
CORRELATIONS = {
    "values": "correlation of values with the lean of tokens",
    "values_z": "correlation of values with z, the lean in standard deviations",
    "attention": "correlation of attention scores with |lean|",
    "attention_z": "correlation of attention scores with |z|",
    "beyond_luck": "share of the attention on significant tokens",
    "accuracy": "share of the texts classified correctly",
}


def render(report: Any) -> str:
    """Return the page of a `Report`, with escaped texts and no invisible characters."""
    found = report.signs.to_dict("records")
    page = _template().render(
        report=report,
        units=f"groups ({report.grouped})" if report.grouped else "distinct texts",
        n_texts=len(report.train) + len(report.test),
        first=_sentence(found[0], report) if found else "",
        findings=found[:FIRST],
        findings_left=max(0, len(found) - FIRST),
        css=_part("style.css"),
        script=_part("table.js"),
        tiles=_tiles(report),
        amiss=[fact for fact in report.facts if fact.amiss],
        measures=report.measures.head(MEASURES).to_dict("records"),
        measures_left=max(0, len(report.measures) - MEASURES),
        suspects=report.suspects.head(SUSPECTS).to_dict("records"),
        every=_rows_of(report.table()),
        columns=COLUMNS,
        kinds=list(KINDS),
        most_steps=STEPS,
        masked=report.masked.to_dict("records"),
        misread=[_text(text) for text in report.misread],
        diagnosis=_diagnosis(report),
    )
    return visible(page)


@cache
def _template() -> Template:
    """Return the page without its content; compiling it takes part of a second."""
    pages = Environment(
        loader=PackageLoader("attnsel_report", "page"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters |= {"brief": brief, "written": written, "quoted": _quoted}
    return pages.get_template("report.html")


def written(value: Any, kind: str) -> str:
    """Return a value as text, in the format `kind`; a missing value becomes "–"."""
    if kind == "name":
        return str(value)
    if value != value:
        return "–"
    if kind == "count":
        return f"{value:,.0f}"
    if kind == "share":
        return f"{value:.0%}"
    if kind == "lean":
        return f"{round(value, 2) + 0.0:+.2f}".replace("+0.00", "0.00")
    if value >= 0.001:
        return f"{value:.3f}"
    return f"{value:.0e}" if value > 1e-99 else "< 1e-99"


def _quoted(row: dict[str, Any]) -> str:
    """Return the name of a finding, with its words in quotes."""
    name: str = row["token"]
    is_words = row["kind"] in ("tokens", "pairs") and not name.startswith("“")
    return with_names(f"“{name}”" if is_words else name)


def _sentence(row: dict[str, Any], report: Any) -> str:
    """Return a sentence about a finding, with its number of texts and its class."""
    name = f"“{brief(row['class'])}”"
    if row["kind"] == "measures":
        return f"Texts of class {name} differ in {row['token']}."
    what = f"contain {_quoted(row)}"
    for edge in ("begins", "ends"):
        if row["token"].startswith(edge):
            what = row["token"].replace(edge, edge[:-1], 1)
    sizes = report.train.targets.bincount(minlength=report.train.n_classes)
    base = float(sizes[row["class number"]]) / len(report.train)
    share = "all" if row["share"] == 1 else f"{row['share']:.0%}"
    units = f"groups ({report.grouped})" if report.grouped else "training texts"
    return (
        f"{row['texts']:,.0f} {units} {what}. Of these, {share} are of class {name}, "
        f"compared with {base:.0%} of all training texts."
    )


def _part(name: str) -> str:
    """Return a file that goes into the page."""
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def _rows_of(table: pd.DataFrame) -> str:
    """Return a table as JSON for a page, with numbers rounded to three digits."""
    columns = []
    for column in COLUMNS:
        # Most numbers occur many times, and are written once.
        codes, values = pd.factorize(table[column.name])
        known = [visible(x) if isinstance(x, str) else x for x in values.tolist()]
        if table[column.name].dtype.kind == "f":
            known = [float(f"{x:.3g}") for x in known]
        known.append(None)  # for a missing number, whose code is -1
        columns.append([known[code] for code in codes.tolist()])
    kinds = [column.kind for column in COLUMNS]
    rows = list(zip(*columns, strict=True))
    text = json.dumps({"kinds": kinds, "rows": rows}, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _tiles(report: Any) -> list[tuple[str, str]]:
    n_texts = len(report.train) + len(report.test)
    n_tokens = len(report.found(report.tokens))
    tiles = [
        (f"{n_texts:,}", "texts"),
        (f"{report.train.n_classes:,}", "classes"),
        (f"{n_tokens:,}", f"of {len(report.tokens):,} tokens significant"),
    ]
    if report.model is None:
        return tiles
    share = report.accuracy["attention"].value
    return [*tiles, (f"{share:.1%}", "of held-out texts classified correctly")]


def _text(text: Misread) -> dict[str, Any]:
    """Return a misread text with a side and a shade, 0 to 0.55, for each piece."""
    top = max(float(text.pushes.abs().max()), 1e-12)
    pieces = []
    for (piece, _), push in zip(text.words, text.pushes.tolist(), strict=True):
        side = "towards" if push > 0 else "against"
        pieces.append((piece, side, round(0.55 * abs(push) / top, 2)))
    return vars(text) | {"pieces": pieces}


def _diagnosis(report: Any) -> list[tuple[str, str]]:
    if report.diagnosis is None:
        return []
    lines = []
    for name, sentence in CORRELATIONS.items():
        value = getattr(report.diagnosis, name)
        form = ".1%" if sentence.startswith("share") else "+.2f"
        lines.append((sentence, f"{value:{form}}" if value == value else "undefined"))
    return lines
