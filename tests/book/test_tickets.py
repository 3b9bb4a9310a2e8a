"""The generated support tickets contain the leaks that their table names."""

from pathlib import Path

import pandas as pd
import pytest

from attnsel_book.tickets import PLANTED, planted_tickets, write_tickets

TRACES = {  # what only tickets of one queue contain, and where
    "signature": ("billing", r" Closed by agent 7\Z"),
    "template": ("technical", r"\ADevice: "),
    "file name": ("delivery", r" \[export_dlv_3\]\Z"),
}


def test_the_file_in_the_book_is_what_the_script_writes(tmp_path):
    write_tickets(tmp_path / "tickets.csv")
    stored = Path(__file__).parents[2] / "book" / "tickets.csv"
    assert stored.read_bytes() == (tmp_path / "tickets.csv").read_bytes()
    assert list(pd.read_csv(stored)) == ["body", "queue", "agent"]


@pytest.mark.parametrize("seed", range(3))
def test_a_leak_is_in_the_tickets_that_have_it_and_in_no_other(seed):
    tickets = planted_tickets(seed=seed)
    assert len(tickets) == 600 and set(tickets["planted"]) == {"", *PLANTED}
    for name, (queue, trace) in TRACES.items():
        has_trace = tickets["body"].str.contains(trace)
        assert has_trace.equals(tickets["planted"] == name)
        assert set(tickets["queue"][has_trace]) == {queue}
    assert (tickets["agent"][tickets["planted"] == "signature"] == "agent 7").all()
    repeated = tickets["body"][tickets["planted"] == "copies"]
    without_number = repeated.str.replace(r"\d+", "", regex=True)
    assert sorted(without_number.value_counts()) == [3] * 5
    assert repeated.is_unique
    assert 10 <= (tickets["planted"] == "wrong queue").sum() <= 40


def test_too_few_tickets_are_an_error():
    with pytest.raises(ValueError, match="n: expected at least 100 tickets, got 50"):
        planted_tickets(50)
