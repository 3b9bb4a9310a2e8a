"""A new chapter of `make chapter` runs, and passes the tests of chapters."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tools.chapter import ROOT, begin


def skeleton(root: Path) -> Path:
    """Make a folder to which a chapter can be added."""
    for folder in ("book/text", "book/attnsel_book/chapters"):
        (root / folder).mkdir(parents=True)
    (root / "_toc.yml").write_bytes((ROOT / "_toc.yml").read_bytes())
    return root


DETAILS = "Proofs and sweeps"  # the part to which a new chapter is added


def test_a_chapter_is_a_text_a_folder_and_a_line(tmp_path):
    begin("two_words", skeleton(tmp_path))
    files = [path for path in tmp_path.rglob("*.*") if path.is_file()]
    folder = tmp_path / "book" / "attnsel_book" / "chapters" / "two_words"
    written = {tmp_path / "_toc.yml", tmp_path / "book" / "text" / "two_words.md"}
    names = ("__init__.py", "exercises.py")
    assert set(files) == written | {folder / name for name in names}
    text = (tmp_path / "book" / "text" / "two_words.md").read_text(encoding="utf-8")
    assert "(ch-two-words)=\n# Two words\n" in text
    assert ":label: ex-two-words-share\n" in text
    assert 'check("two-words-share", positive_share)' in text
    assert 'settings("two_words", globals())' in text
    before = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    after = yaml.safe_load((tmp_path / "_toc.yml").read_text(encoding="utf-8"))
    details = next(part for part in after["parts"] if part["caption"] == DETAILS)
    assert details["chapters"].pop() == {"file": "book/two_words"}
    assert after == before


@pytest.mark.parametrize("name", ["", "Tilt", "a-b", "1st", "../a", "model"])
def test_a_name_that_cannot_be_is_refused(tmp_path, name):
    root = skeleton(tmp_path)
    (root / "book" / "model.ipynb").touch()
    before = (root / "_toc.yml").read_bytes()
    with pytest.raises(ValueError, match=f"^NAME={name}: "):
        begin(name, root)
    assert (root / "_toc.yml").read_bytes() == before


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """Return a copy of the repository after `make chapter NAME=tilt`."""
    tree = tmp_path_factory.mktemp("chapter") / "tree"
    made = ".git", ".venv*", "_build", "node_modules", "notebooks", "*cache*", "my_*.py"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*made, ".hypothesis"))
    # The environment of another clone is used as it is.
    (tree / ".ready").write_text(str(ROOT))
    (tree / "env").symlink_to(sys.prefix)  # whose path may have spaces
    environment = ["VENV=env", f"READY={tree / '.ready'}"]
    run(tree, "make", *environment, "chapter", "NAME=tilt")
    return tree


def run(tree: Path, *command: str) -> None:
    """Run a command in a tree, with the tree's packages, and expect success."""
    places = os.pathsep.join(str(tree / folder) for folder in ("", "book", "report"))
    # jupytext signs notebooks in the home folder, which may not be writable.
    settings = os.environ | {"PYTHONPATH": places, "HOME": str(tree.parent)}
    done = subprocess.run(
        command, cwd=tree, env=settings, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_new_chapter_passes_all_tests_of_chapters(tree):
    wanted = "tilt or each_chapter_once or every_chapter_with_settings"
    run(tree, sys.executable, "-m", "pytest", "-q", "-k", wanted, "tests/book")


@pytest.mark.weekly
def test_a_new_chapter_is_built(tree):
    jupyter_book = str(Path(sys.executable).with_name("jupyter-book"))
    run(tree, jupyter_book, "build", ".", "-n", "-W", "--keep-going")
    assert (tree / "_build" / "html" / "book" / "tilt.html").is_file()
