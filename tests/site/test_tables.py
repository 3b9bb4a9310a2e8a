"""Data frames as tables of a page."""

import pandas as pd
import pytest

pytest.importorskip("bs4", reason="comes with Jupyter Book")

from bs4 import BeautifulSoup

from tools.tables import tidy


def cells(frame: pd.DataFrame) -> list[list[str]]:
    soup = BeautifulSoup(tidy(frame.to_html()), "html.parser")
    rows = [row.find_all(["th", "td"]) for row in soup.find_all("tr")]
    return [[cell.decode_contents() for cell in row] for row in rows]


def test_a_count_of_the_rows_is_left_out_and_names_stay():
    frame = pd.DataFrame({"a": [1, 2]})
    assert cells(frame) == [["a"], ["1"], ["2"]]
    assert cells(frame.set_axis([1, 2])) == [["", "a"], ["1", "1"], ["2", "2"]]


def test_numbers_are_written_as_numbers():
    frame = pd.DataFrame({"x": ["-0.5", "1e-07", "-2.5e+04", "3%"]}, index=list("abcd"))
    found = [row[1] for row in cells(frame)[1:]]
    assert found == ["−0.5", "10<sup>−7</sup>", "−2.5·10<sup>4</sup>", "3%"]


def test_columns_of_words_are_told_from_those_of_numbers():
    frame = pd.DataFrame({"x": ["-5", ""], "word": ["-5", "good"]}, index=["a", "b"])
    soup = BeautifulSoup(tidy(frame.to_html()), "html.parser")
    assert [cell.get_text() for cell in soup.select(".words")] == [
        *["", "word"],
        *["a", "-5"],
        *["b", "good"],
    ]
