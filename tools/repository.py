"""The repository's address: `python tools/repository.py OWNER/NAME` moves the project.

pyproject.toml holds it; chapters, settings and pages repeat it, because each of them
must stand alone. This rewrites them all.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = [
    "pyproject.toml",
    "_config.yml",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "README.md",
    "book/*.ipynb",
    "book/*.md",
]


def address(root: Path = ROOT) -> str:
    """Return OWNER/NAME from pyproject.toml."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    match = re.search(r'^Repository = "https://github\.com/([^"]+)"$', text, re.M)
    if match is None:
        raise ValueError("pyproject.toml: no Repository address under [project.urls]")
    return match[1]


def replaced(text: str, old: str, new: str) -> str:
    """Return a text with the addresses of the repository and of its site replaced."""
    (old_owner, old_name), (owner, name) = old.split("/"), new.split("/")
    text = re.sub(
        rf"(github(?:\.com)?/){re.escape(old)}(?![\w-])", rf"\g<1>{new}", text
    )
    return re.sub(
        rf"{re.escape(old_owner)}\.github\.io/{re.escape(old_name)}(?![\w-])",
        f"{owner}.github.io/{name}",
        text,
    )


def files(root: Path = ROOT) -> list[Path]:
    """Return the files that may hold the address."""
    return sorted(path for pattern in FILES for path in root.glob(pattern))


def move(new: str, root: Path = ROOT) -> list[Path]:
    """Write the new address everywhere; return the files changed."""
    if not re.fullmatch(r"[\w-]+/[\w.-]+", new):
        raise ValueError(f"expected OWNER/NAME, got {new!r}")
    old, changed = address(root), []
    for path in files(root):
        before = path.read_text(encoding="utf-8")
        after = replaced(before, old, new)
        if after != before:
            path.write_text(after, encoding="utf-8")
            changed.append(path)
    return changed


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/repository.py OWNER/NAME")
    for changed_file in move(sys.argv[1]):
        print(changed_file.relative_to(ROOT))
