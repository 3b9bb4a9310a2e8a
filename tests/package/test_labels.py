"""What labels name, as people write them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from attnsel.labels import number_labels


@pytest.mark.parametrize(
    ("word", "name"),
    [
        (" 3 ", 3),
        ("+3", 3),
        ("-2.", -2),
        ("2.00", 2),
        ("10", 10),
        ("True", True),
        ("FALSE", False),
        ("three", "three"),
        ("3 stars", "3 stars"),
        ("v1.5", "v1.5"),
        ("1e3", "1e3"),
        ("-", "-"),
        (np.str_("b"), "b"),
        (np.int8(3), 3),
        (np.float32(3), 3),
        (np.bool_(True), True),
    ],
)
def test_a_label_is_read_as_the_name_of_a_class(word, name):
    numbers, classes = number_labels([word, "zz", word], 3, None)
    (read,) = set(classes) - {"zz"}
    assert (read, type(read)) == (name, type(name))
    assert [classes[k] for k in numbers] == [name, "zz", name]


@pytest.mark.parametrize("word", ["0.5", ".5", "+.5", "-1.25", "10.01"])
def test_a_number_that_is_not_whole_names_no_class(word):
    with pytest.raises(ValueError, match=f"^labels: '{re.escape(word)}' names no "):
        number_labels([word, "x"], 2, None)


def test_classes_are_listed_up_to_ten():
    classes = [f"k{i}" for i in range(11)]
    with pytest.raises(ValueError, match=r"'w' in row 2 .* k0, k1, .*, k9, \.\.\.$"):
        number_labels(["k0", "k1", "w", "w"], 4, classes)
    with pytest.raises(ValueError, match=r"'w' in row 0 is none .* k0, .*, k8, k9$"):
        number_labels(["w"], 1, classes[:10])
