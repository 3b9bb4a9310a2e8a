"""`make notebooks` copies the chapters, and keeps a reader's changes."""

from tools.notebooks import write


def test_new_copies_replace_old_ones_and_keep_what_a_reader_changed(tmp_path):
    copies, folder = tmp_path / "copies", tmp_path / "notebooks"
    copies.mkdir()
    for name in "ab":
        (copies / f"{name}.ipynb").write_text("old")
    assert write(copies, folder) == []
    (folder / "b.ipynb").write_text("old, and an answer")
    (folder / "my_attnsel.py").write_text("answers")
    for name in "ab":
        (copies / f"{name}.ipynb").write_text("new")
    assert write(copies, folder) == ["b.ipynb"]
    assert (folder / "a.ipynb").read_text() == "new"
    assert (folder / "b.ipynb").read_text() == "old, and an answer"
    (folder / "b.ipynb").unlink()
    assert write(copies, folder) == []
    assert (folder / "b.ipynb").read_text() == "new"
    assert (folder / "my_attnsel.py").read_text() == "answers"
