"""Files are written completely or not at all, and damage to them is noticed."""

import pickle
import zipfile

import pytest
import torch

from attnsel.files import read_verified, write_files
from attnsel.model import AttentionClassifier
from attnsel.train import fit
from support.reference import ragged

CONTENT = {"x": torch.arange(5000.0), "names": ["a", 1, True, None], "n": 3}


class Code:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_no_reader_of_files_runs_the_code_in_them(tmp_path):
    model, (_, _, corpus) = AttentionClassifier(9, 4), ragged(2)
    path, ran = tmp_path / "file", tmp_path / "ran"
    settings = {"steps": 1, "lr": 0.1, "checkpoint": path}
    model.save(path)
    saved = torch.load(path, weights_only=True)
    path.unlink()
    fit(model, corpus, **settings)
    saved = torch.load(path, weights_only=True)
    for parts, read in (
        (saved, lambda: AttentionClassifier.load(path)),
        (saved, lambda: fit(AttentionClassifier(9, 4), corpus, **settings)),
    ):
        for content in (*({**parts, name: Code(ran)} for name in parts), Code(ran)):
            torch.save(content, path)
            with pytest.raises(
                ValueError, match="file contains code, which is not run"
            ):
                read()
        path.write_bytes(pickle.dumps(Code(ran)))
        with pytest.raises(ValueError, match="file is damaged, or was not"):
            read()
    assert not ran.exists()


def test_other_files_and_parts_of_a_file_are_refused(tmp_path):
    path = tmp_path / "file"
    torch.save([1], path)
    with pytest.raises(ValueError, match="it contains no dictionary"):
        read_verified(path)
    with zipfile.ZipFile(tmp_path / "zip", "w") as archive:
        archive.writestr("x", "y")
    write_files({path: CONTENT})
    content = path.read_bytes()
    sizes = (0, 10, len(content) // 2, len(content) - 1)
    for other in ((tmp_path / "zip").read_bytes(), *(content[:n] for n in sizes)):
        path.write_bytes(other)
        with pytest.raises(ValueError, match="is damaged, or was not written"):
            read_verified(path)
    with pytest.raises(FileNotFoundError):
        read_verified(tmp_path / "nothing")
