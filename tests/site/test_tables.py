"""Data frames that become tables of a page."""

import pandas as pd
import pytest

pytest.importorskip("bs4", reason="comes with Jupyter Book")

from bs4 import BeautifulSoup

from tools.site.tables import tidy


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


def test_points_stand_below_each_other_and_zeros_that_tell_nothing_go():
    frame = pd.DataFrame(
        {"a": ["1.5", "20", "-0.25"], "b": ["20.000", "54.500", "-0.000"]},
        index=list("xyz"),
    )
    points = [row[1:] for row in cells(frame)[1:]]
    assert points == [
        ["1.5\u2007", "20.0"],
        ["20\u2008\u2007\u2007", "54.5"],
        ["−0.25", "0.0"],
    ]


def test_a_range_is_one_piece_of_a_column_of_numbers():
    frame = pd.DataFrame({"r": ["0.66 to 0.87", "-0.2 to 0.3", "0.5"]}, list("abc"))
    soup = BeautifulSoup(tidy(frame.to_html()), "html.parser")
    found = [cell.get_text() for cell in soup.select("td.range")]
    assert found == ["0.66–0.87", "−0.2 to 0.3"]
    assert [cell.get_text() for cell in soup.select("td.words")] == []


def test_a_styled_table_is_one_like_the_others():
    frame = pd.DataFrame({"x": [1e-7, 2.5], "y": ["a", "b"]})
    soup = BeautifulSoup(tidy(frame.style.hide().format({"x": "{:.3g}"}).to_html()),
                         "html.parser")  # fmt: skip
    assert soup.select_one("td").decode_contents() == "10<sup>−7</sup>"
    assert len(soup.select("td.words")) == 2
