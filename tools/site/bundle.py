"""A Sphinx extension that gives all pages one style sheet and one script.

These two files combine those of the theme and of the extensions. The style sheet
includes fonts and omits rules that no page uses, which are about two thirds of the
bytes. The search is loaded when a reader opens it. The scripts and data of a page's
figures are in one file per page, which is loaded after the text. A map or text box with
much data shows its first state until a reader points at it, and then loads its own
file. The content of a frame is loaded when a reader scrolls to it.
"""

import base64
import html
import itertools
import posixpath
import re
from pathlib import Path
from typing import Any

from sphinx.builders.html._assets import _CascadingStyleSheet, _JavaScript

THEME = ("styles/theme.css", "styles/pydata-sphinx-theme.css")
# The folders of the fonts that pages use.
FONTS = {"vendor/math", "vendor/letters", "vendor/icons"}
# No page has tabs, and the keys and marks of Sphinx's own search are not needed.
UNUSED = {
    f"_static/{name}.js" for name in ("design-tabs", "doctools", "sphinx_highlight")
}
# Files only for pages with the laboratory or the line-up, or for the list of claims.
ALONE = {f"_static/{name}" for name in ("claims.js", "lab.js", "lab.css")}
# Folders of the scripts that draw figures, one per page, and of contents of frames.
DRAWING = "_static/drawing/"
FRAMES = "_static/frames/"
FRAME = re.compile(r'srcdoc="([^"]*)"')
OPTIONS = "_static/documentation_options.js"  # scripts within the pages read it
# The script of a figure, as `attnsel_book.widgets.embedding.embed` writes it.
DRAWS = re.compile(r'<script>(\(\(\) => \{\n"use strict";\n.*?)</script>', re.DOTALL)
DRAWN = re.compile(r'<div class="attnsel attnsel-(\w+)" id="attnsel-(\w+)"')
# Figures with at least so many characters are loaded later, by a button with this text.
MUCH = 50_000
ASKS = {"map": "Choose the axes, find a token", "textbox": ""}  # a text box has a field
# Scripts of the theme and of buttons for copies. Each runs as a task of its own after
# the others. Bootstrap is loaded when a menu is pressed (`attnsel.js`).
LATER = (
    "scripts/sphinx-book-theme.js",
    "clipboard.min.js",
    "copybutton.js",
    "scripts/pydata-sphinx-theme.js",
)
# The theme lays a page out again for each box that may scroll, `attnsel.js` once.
STOPS = '{const e=()=>{document.querySelectorAll(["pre",'
IMPORT = re.compile(r'@import "([^"]+)";')
ADDRESS = re.compile(r"""url\(["']?(?!data:|#)([^"')]+)["']?\)""")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
SOURCE_MAP = re.compile(r"//# sourceMappingURL=.*")
RULE = re.compile(r"([^{};]*)\{[^{}]*\}")
NAME = re.compile(r"[.#](-?[A-Za-z_][\w-]*)")
USED = re.compile(r"var\(\s*(--[\w-]+)")
VARIABLE = re.compile(r"""(--[\w-]+):(?:[^;{}"]|"[^"]*")*(?:;|(?=\}))""")
SPACE = re.compile(r"\s+")


def style(static: Path, name: str) -> str:
    """Return a style sheet with its imports and with addresses relative to `static`."""
    folder = posixpath.dirname(name)

    def place(m: re.Match[str]) -> str:
        if folder in FONTS and m[1].endswith(".woff2"):
            # A font file would come later, and to a page from the disk not at all.
            font = base64.b64encode(Path(static, folder, m[1]).read_bytes()).decode()
            return f'url("data:font/woff2;base64,{font}")'
        return f'url("{posixpath.normpath(posixpath.join(folder, m[1]))}")'

    def include(m: re.Match[str]) -> str:
        return style(static, posixpath.normpath(posixpath.join(folder, m[1])))

    text = COMMENT.sub("", (static / name).read_text(encoding="utf-8"))
    return IMPORT.sub(include, ADDRESS.sub(place, text))


def script(static: Path, name: str) -> str:
    """Return the code of a script, to which another script can be appended."""
    text = (static / name).read_text(encoding="utf-8")
    return SOURCE_MAP.sub("", text) + "\n;"


def frame_later(app: Any, page: str, _name: str, context: Any, _tree: Any) -> None:
    """Move the content of frames into files, which are loaded when they are needed."""
    frames = itertools.count(1)

    def place(m: re.Match[str]) -> str:
        name = f"{FRAMES}{posixpath.basename(page)}_{next(frames)}.html"
        Path(app.outdir, FRAMES).mkdir(parents=True, exist_ok=True)
        Path(app.outdir, name).write_text(html.unescape(m[1]), encoding="utf-8")
        return f'src="{"../" * page.count("/")}{name}" loading="lazy"'

    if "body" in context:
        context["body"] = FRAME.sub(place, context["body"])


def draw_later(app: Any, page: str, _name: str, context: Any, _tree: Any) -> None:
    """Move the scripts of a page's figures into files, which are loaded after its text.

    If a map or text box has much data, its script is loaded when a reader points at it.
    """
    body = context.get("body", "")
    drawn = DRAWS.findall(body)
    if not drawn:
        return
    folder = Path(app.outdir, DRAWING)
    folder.mkdir(parents=True, exist_ok=True)
    body = DRAWS.sub("", body)

    def ask(m: re.Match[str]) -> str:
        kind, name = m.groups()
        mine = [code for code in drawn if f'getElementById("attnsel-{name}")' in code]
        if kind not in ASKS or sum(map(len, mine)) < MUCH:
            return m[0]
        drawn.remove(*mine)
        (folder / f"{name}.js").write_text(mine[0], encoding="utf-8")
        asks = f' data-asks="{ASKS[kind]}"' if ASKS[kind] else ""
        return f'{m[0]} data-drawing="{DRAWING}{name}.js"{asks}'

    context["body"] = DRAWN.sub(ask, body)
    if drawn:
        path = folder / f"{posixpath.basename(page)}.js"
        # Each figure is a task of its own, so that the page answers in between.
        tasks = [f"setTimeout(() => {{\n{code}\n}});\n" for code in drawn]
        path.write_text("".join(tasks), encoding="utf-8")
        name = f"{DRAWING}{path.name}".removeprefix("_static/")
        app.add_js_file(name, loading_method="defer")


def one_of_each(app: Any, _page: str, _name: str, context: Any, _tree: Any) -> None:
    """Replace most style sheets and scripts of a page by `site.css` and `site.js`."""
    options = Path(app.outdir, OPTIONS).read_text(encoding="utf-8")
    styles, scripts = context["css_files"], context["script_files"]
    inline = [file for file in scripts if not file.filename]

    def is_alone(name: str) -> bool:
        return name in ALONE or name.startswith(DRAWING)

    def names(files: list[Any]) -> tuple[str, ...]:
        named = dict.fromkeys(str(file.filename) for file in files if file.filename)
        kept = [name for name in named if name not in UNUSED | {OPTIONS}]
        return tuple(
            name.removeprefix("_static/") for name in kept if not is_alone(name)
        )

    def alone(files: list[Any]) -> list[Any]:
        return [file for file in files if is_alone(str(file.filename))]

    app.builder.bundles = {
        ".css": THEME + names(styles),
        ".js": names(scripts),
    }
    context["css_files"] = [_CascadingStyleSheet("_static/site.css"), *alone(styles)]
    context["script_files"] = [
        _JavaScript("", body=options),
        *inline,
        _JavaScript("_static/site.js", defer="defer"),
        *alone(scripts),
    ]


def shown(css: str, words: set[str]) -> str:
    """Return a style sheet without rules for classes and ids that are not in `words`.

    `words` are the words of all pages and scripts. Variables that neither a rule nor a
    page uses, such as hundreds of Bootstrap's, are removed as well.
    """

    def keep(m: re.Match[str]) -> str:
        selectors = re.sub(r":not\([^)]*\)", "", m[1]).split(",")
        kept = any(words.issuperset(NAME.findall(one)) for one in selectors)
        return m[0] if kept or "@" in m[1] else ""

    return SPACE.sub(" ", without_unused(RULE.sub(keep, css), words))


def without_unused(css: str, words: set[str]) -> str:
    """Remove variables that a style sheet does not use and `words` do not contain."""
    used = words | set(USED.findall(css))
    left = VARIABLE.sub(lambda m: m[0] if m[1] in used else "", css)
    # A variable may be used only by another variable that has just been removed.
    return css if left == css else without_unused(left, words)


def write(app: Any, error: Exception | None) -> None:
    """Write `site.css` and `site.js` after all pages have been written."""
    static, bundles = Path(app.outdir, "_static"), getattr(app.builder, "bundles", {})
    if error or not bundles:  # nothing has changed
        return
    # Without the semicolon, "use strict" in the first file would apply to all files.
    at_once = [script(static, name) for name in bundles[".js"] if name not in LATER]
    tasks = [f"setTimeout(() => {{\n{script(static, name)}\n}});" for name in LATER]
    js = ";\n" + "\n".join(at_once + tasks).replace(STOPS, f"{{return;{STOPS[1:]}")
    pages = [*Path(app.outdir).rglob("*.html"), *Path(app.outdir, DRAWING).glob("*.js")]
    pages += [static / "lab.css", static / "search" / "search.css"]
    texts = [path.read_text(encoding="utf-8") for path in pages if path.is_file()]
    words = {word for text in [js, *texts] for word in re.findall(r"[\w-]+", text)}
    css = "\n".join(style(static, name) for name in bundles[".css"])
    (static / "site.js").write_text(js, encoding="utf-8")
    (static / "site.css").write_text(shown(css, words), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Register the functions that move and join files; files are joined at the end."""
    app.connect("html-page-context", frame_later)
    app.connect("html-page-context", draw_later)
    app.connect("html-page-context", one_of_each, priority=950)
    # The theme writes the colours of code when a build is finished.
    app.connect("build-finished", write, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
