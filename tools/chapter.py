"""Begin a new chapter that passes the tests, as `make chapter NAME=tilt` does.

The chapter has a text (`book/text/NAME.md`), a folder with settings and exercises, and
a line at the end of the part *Proofs and sweeps* in `_toc.yml`. Afterwards,
`make chapter` creates the notebook from the text and runs it.
"""

import re
import sys
from pathlib import Path

from tools.site.colab import ADDRESS

ROOT = Path(__file__).resolve().parent.parent
SKELETON = Path(__file__).with_name("skeleton")
NEXT = "  - caption: Reference\n"  # the part that follows the new chapter


def begin(name: str, root: Path = ROOT) -> None:
    """Write the files of a new chapter and its line in `_toc.yml`.

    Raises:
        ValueError: if `name` is not a lower-case module name, or a page has this name.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ValueError(
            f"NAME={name}: expected lower-case letters, digits and _, as in NAME=tilt"
        )
    if any((root / "book").glob(f"{name}.*")):
        raise ValueError(f"NAME={name}: a page has this name; take another one")
    folder = root / "book" / "attnsel_book" / "chapters" / name
    folder.mkdir(parents=True)
    title = name.replace("_", " ").capitalize()
    for part, path in (
        ("text.md", root / "book" / "text" / f"{name}.md"),
        ("settings.py", folder / "__init__.py"),
        ("exercises.py", folder / "exercises.py"),
    ):
        text = (SKELETON / part).read_text(encoding="utf-8")
        label = name.replace("_", "-")
        text = re.sub(r"(?<=ch-)NAME|(?<=ex-)NAME|NAME(?=-share)", label, text)
        text = text.replace("NAME", name).replace("TITLE", title)
        path.write_text(text.replace("ADDRESS", ADDRESS), encoding="utf-8")
    toc = root / "_toc.yml"
    pages = toc.read_text(encoding="utf-8")
    line = f"      - file: book/{name}\n"
    toc.write_text(pages.replace(NEXT, line + NEXT), encoding="utf-8")


if __name__ == "__main__":
    try:
        begin(sys.argv[1] if len(sys.argv) > 1 else "")
    except ValueError as error:
        sys.exit(str(error))
