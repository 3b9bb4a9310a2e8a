"""The notes of a release, which `python -m tools.release TAG` prints.

The notes are a section of CHANGELOG.md. A tag that differs from the package's version,
or a version without a section, is an error, so that nothing is published by mistake.
"""

import re
import sys
from pathlib import Path

import attnsel

ROOT = Path(__file__).resolve().parent.parent


def notes(changelog: str, version: str) -> str:
    """Return the section about a version in a changelog, without its heading.

    Raises:
        ValueError: if there is no such section with a date and a text.
    """
    head = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d\n"
    section = re.search(rf"{head}(.*?)(?=^## |^\[|\Z)", changelog, re.M | re.S)
    if not (section and section[1].strip()):
        raise ValueError(f"CHANGELOG.md has no dated section [{version}]")
    return section[1].strip()


def main(tag: str) -> None:
    """Print the notes of the version that a tag names.

    Raises:
        SystemExit: if the tag does not name the version of the package.
        ValueError: if the changelog has no notes of this version.
    """
    if tag != f"v{attnsel.__version__}":
        raise SystemExit(f"the tag {tag} is not v{attnsel.__version__}, the version")
    print(notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), tag[1:]))


if __name__ == "__main__":
    main(*sys.argv[1:])
