"""Notebooks that readers may change, which `make notebooks` puts into `notebooks/`.

They are copies of the notebooks that `make colab` writes. A notebook that a reader has
changed, for example by solving an exercise, is not replaced.
"""

import json
import sys
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPIES = ROOT / "_build" / "colab" / "book"
FOLDER = ROOT / "notebooks"
WRITTEN = ".written.json"  # the names of the copies, and hashes of their content


def write(copies: Path = COPIES, folder: Path = FOLDER) -> list[str]:
    """Copy notebooks into a folder; return the names of those that readers changed."""
    folder.mkdir(exist_ok=True)
    record = folder / WRITTEN
    known = json.loads(record.read_text("utf-8")) if record.exists() else {}
    kept = []
    for copy in sorted(copies.glob("*.ipynb")):
        content, path = copy.read_bytes(), folder / copy.name
        if path.exists() and hash_of(path.read_bytes()) != known.get(copy.name):
            kept.append(copy.name)
            continue
        path.write_bytes(content)
        known[copy.name] = hash_of(content)
    record.write_text(json.dumps(known, indent=1), encoding="utf-8")
    # jupytext must not write the text of a chapter here, which only authors need.
    (folder / "jupytext.toml").write_text('formats = "ipynb"\n', encoding="utf-8")
    return kept


def hash_of(content: bytes) -> str:
    """Return a hash of the content of a file."""
    return sha256(content).hexdigest()


if __name__ == "__main__":
    for name in write():
        print(f"notebooks/{name} is yours and stays; delete it for a new one")
    print(f"The chapters are in {FOLDER}; make lab opens them.", file=sys.stderr)
