"""The notebooks of the book, in the order of its table of contents."""

from pathlib import Path

import yaml


def chapters(root: Path) -> list[Path]:
    """Return the paths of the notebooks, in the order of the book's contents."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    names = [toc["root"]]
    names += [c["file"] for part in toc["parts"] for c in part["chapters"]]
    paths = [root / f"{name}.ipynb" for name in names]
    return [path for path in paths if path.is_file()]
