"""Old paths of modules still import, with a warning."""

import importlib
import sys

import pytest

from attnsel.moved import MOVED


def test_a_module_at_its_old_path_is_that_at_the_new_one(monkeypatch):
    for old, new in MOVED.items():  # a package before its modules
        monkeypatch.delitem(sys.modules, old, raising=False)
        with pytest.warns(DeprecationWarning, match=f"^{old} has moved; import {new} "):
            assert importlib.import_module(old) is importlib.import_module(new)


def test_a_module_that_kept_its_name_is_found_by_it():
    # Of two modules "tables", that of the evidence has kept its place.
    new = {path.rpartition(".")[2]: path for path in MOVED.values()} | {"tables": None}
    for old, path in MOVED.items():
        assert new.get(old.rpartition(".")[2]) in (None, path), old
