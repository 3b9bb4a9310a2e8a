"""The search of the site, which replaces the search of Sphinx.

Each build collects the entries of the search from all finished pages, because a build
that updates one page would otherwise know only the entries of that page. The file
`book/aliases.yml` adds words by which readers can find a page. The entries are searched
by MiniSearch (`book/_static/vendor`), and the results are shown by
`book/_static/search`. A page loads these scripts and the entries when a reader selects
the search field.
"""

import html
import json
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml
from docutils import nodes
from sphinx.search.en import SearchEnglish
from sphinx.transforms import SphinxTransform

from tools.site.colab import CALLED

NOTATION = "book/notation"
ARTICLE = re.compile(r"<article\b.*?</article>", re.DOTALL)
# A displayed formula is not searched; a formula in a sentence becomes a line of text.
DISPLAYED = re.compile(r'<div class="math[^>]*>.*?</div>', re.DOTALL)
FORMULA = re.compile(r"<math\b.*?</math>", re.DOTALL)
IN_FORMULA = re.compile("\x02(.*?)\x03")
RELATION = re.compile(r"[=≔∈∼∝≤≥<>:≈]")
NUMBER = re.compile(r"^[\d.]+\s+(?=\D)")  # of a section
TAGS = {"area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source"}
HEADS = {"h1", "h2", "h3", "h4", "h5", "h6"}
# Code, outputs of cells and places that scripts fill are not searched; captions are.
SILENT = {"script", "style", "svg", "pre", "button", "iframe", "noscript", "form"}
SILENT |= {"template"}  # which a script opens
SILENT_CLASSES = {"headerlink", "output", "claims", "sig"}


def line(element: ElementTree.Element) -> str:
    """Return a MathML element as a line of text, for example `η_0` or `E^⊤`."""
    parts = [line(child) for child in element]
    kind = element.tag
    if kind in ("msub", "munder") and len(parts) == 2:
        return f"{parts[0]}_{parts[1]}"
    if kind == "msup" and len(parts) == 2:
        return f"{parts[0]}^{parts[1]}"
    if kind in ("msubsup", "munderover") and len(parts) == 3:
        return f"{parts[0]}_{parts[1]}^{parts[2]}"
    if kind == "mfrac":
        return "/".join(parts)
    if kind == "msqrt":
        return f"√{''.join(parts)}"
    if kind == "mover":
        return parts[0]  # without its accent
    text = element.text or ""
    return f" {text} " if RELATION.fullmatch(text) else text + "".join(parts)


def formula_line(m: re.Match[str]) -> str:
    """Return a formula in HTML as a line of text between two marks."""
    text = re.sub(r"\s+", " ", line(ElementTree.fromstring(m[0]))).strip()
    return f"\x02{html.escape(text)}\x03"


class Entry(dict[str, Any]):
    """Something that can be found, such as a page, a result, a function or a symbol."""

    def __init__(self, kind: str, anchor: str) -> None:
        super().__init__(kind=kind, anchor=anchor, title="", text="")


class Reader(HTMLParser):
    """The entries of an article, each with its own text."""

    def __init__(self, article: str) -> None:
        super().__init__()
        self.entries: list[Entry] = []
        # For each open element: its tag, the entry that gets its text, and which part.
        self.open: list[tuple[str, Entry, str]] = [("", Entry("", ""), "")]
        self.feed(FORMULA.sub(formula_line, DISPLAYED.sub(" … ", article)))

    def begin(self, kind: str, anchor: str) -> Entry:
        """Add a new entry of the article, and return it."""
        self.entries.append(Entry(kind, anchor))
        return self.entries[-1]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter an element, and begin an entry if the element contains one."""
        if tag in TAGS:
            return
        values = {name: value or "" for name, value in attrs}
        classes, name = set(values.get("class", "").split()), values.get("id", "")
        _, entry, part = self.open[-1]
        if tag in SILENT or classes & SILENT_CLASSES:
            part = ""
        if tag == "section" and name and name != "proof-content":
            kind = "section" if self.entries else "page"
            entry, part = self.begin(kind, name if self.entries else ""), "text"
        elif "proof" in classes and name:
            entry, part = self.begin("result", name), "text"
        elif tag == "dl" and "py" in classes:
            entry, part = self.begin(next(iter(classes - {"py"})), ""), "text"
        elif tag == "dt" and "sig" in classes and not entry["anchor"]:
            entry["anchor"] = entry["title"] = name
        elif tag == "tr" and name.startswith("symbol-"):
            entry, part = self.begin("symbol", name), "text"
        elif (
            (tag in HEADS and entry["kind"] in ("page", "section"))
            or ("admonition-title" in classes and entry["kind"] == "result")
            or (tag == "td" and entry["kind"] == "symbol" and not entry["title"])
        ):
            part = "title"
        self.open.append((tag, entry, part))

    def handle_endtag(self, tag: str) -> None:
        """Leave an element, and the elements in it that are still open."""
        while len(self.open) > 1 and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        """Add text to the current entry."""
        _, entry, part = self.open[-1]
        if part:
            entry[part] += data


def names(entry: Entry) -> list[str]:
    """Return the names under which a reader may look for an entry."""
    title = entry["title"]
    if entry["kind"] == "symbol":
        symbols = [RELATION.split(text)[0] for text in IN_FORMULA.findall(title)]
        return [name.strip() for name in symbols if name.strip()]
    if entry["kind"] in ("page", "section", "result"):
        title = NUMBER.sub("", title)
        called = CALLED.match(title)
        return [called[1]] if called else [re.sub(r"^[A-Z][a-z]+\. ", "", title)]
    parts = title.split(".")
    # attnsel.train.fit is also called fit and attnsel.fit.
    whole = [".".join(parts[first:]) for first in range(len(parts))]
    return [*whole[::-1], f"attnsel.{parts[-1]}"]


def tidy(text: str) -> str:
    """Return text on one line, without the marks around formulas."""
    return re.sub(r"\s+", " ", re.sub("[\x02\x03]", "", text)).strip()


def aliases(path: Path) -> dict[str, list[str]]:
    """Return the aliases of each page; if there is no file, the result is empty."""
    if not path.is_file():
        return {}
    stored = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {f"book/{page}": words for page, words in stored.items()}


def entries(
    page: str, text: str, page_aliases: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Return the entries of a page from its HTML, `text`.

    The entry of the page itself also contains `page_aliases`.
    """
    article = ARTICLE.search(text)
    found = Reader(article[0]).entries if article else []
    for entry in found:
        entry["names"] = [tidy(name) for name in names(entry)]
        entry |= {part: tidy(entry[part]) for part in ("title", "text")}
        entry["page"] = page
        if entry["kind"] == "page" and page_aliases:
            entry["aliases"] = [*page_aliases]
    # An entry without a title cannot be shown.
    return [entry for entry in found if entry["title"]]


class Symbols(SphinxTransform):
    """The transform that gives ids to the rows in the tables of symbols."""

    default_priority = 600

    def apply(self, **_: Any) -> None:
        """Derive each row's id from the first formula in its first cell, if any."""
        if self.env.docname != NOTATION:
            return
        for body in self.document.findall(nodes.tbody):
            for row in body.findall(nodes.row):
                formula = next(row[0].findall(nodes.math), None)
                if formula is not None:
                    tex = RELATION.split(re.sub(r"\\in\b", "∈", formula.astext()))[0]
                    name = nodes.make_id(f"symbol-{tex}")
                    while name in self.document.ids:
                        name += "-2"
                    row["ids"] = [name]
                    self.document.ids[name] = row


def without_sphinx(app: Any) -> None:
    """Switch Sphinx's own search off."""
    if app.builder.format == "html":
        app.builder.search = False


def search_page(app: Any) -> Any:
    """Return the search page, which Sphinx writes only with its own search."""
    return [("search", {"title": "Search"}, "search.html")]


def write(app: Any, error: Exception | None) -> None:
    """Write all entries as a script, which even a page opened from disk can load."""
    if error or app.builder.format != "html":
        return
    found, english = [], SearchEnglish({})
    words = aliases(Path(app.srcdir, "book", "aliases.yml"))
    for page in sorted(app.env.found_docs):
        address = app.builder.get_target_uri(page)
        text = Path(app.outdir, address).read_text(encoding="utf-8")
        found += entries(address, text, words.get(page, []))
    values = {"entries": found, "stopwords": sorted(english.stopwords)}
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    script = f"{english.js_stemmer_code}\nvar searched = {text};\n"
    folder = Path(app.outdir, "_static", "search")
    folder.mkdir(exist_ok=True)
    (folder / "index.js").write_text(script, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Register the transform `Symbols`, and replace Sphinx's search with ours."""
    app.add_transform(Symbols)
    app.connect("builder-inited", without_sphinx)
    app.connect("html-collect-pages", search_page)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
