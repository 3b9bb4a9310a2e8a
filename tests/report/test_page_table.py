"""The table of all tokens on the page of a report, sorted, searched and in parts."""

import json
import re

import pytest
from test_page_by_hand import by_hand, open_page

pytestmark = pytest.mark.site

# kind, what, class, texts, in class, held out, lean, expected, held-out lean, q
ROWS = [
    ["token", "dull", "bad", 1234, 0.756, 0.5, -0.644, -0.001, None, 0.0004],
    ["token", "Ärger", "bad", 7, 1.0, 0.5, 0.004, 0.005, 0.25, 0.05],
    ["pair", "fine", "good", 30, 0.504, 0.5, 1.0, 0.5, -0.25, 0.0],
]
SHOWN = [
    *[["token", "dull", "bad", "1,234", "76%", "50%", "-0.64", "0.00", "–", "4e-4"]],
    *[["token", "Ärger", "bad", "7", "100%", "50%", "0.00", "+0.01", "+0.25", "0.050"]],
    *[["pair", "fine", "good", "30", "50%", "50%", "+1.00", "+0.50", "-0.25", "0"]],
]


@pytest.fixture
def table(browser, tmp_path):
    """Yield a function that opens the table of all tokens with the given rows."""
    tabs = []

    def show(rows):
        page = by_hand().html()
        data = re.search(r'(?<="application/json">)\{.*?\}(?=</script>)', page)[0]
        known = json.dumps(json.loads(data) | {"rows": rows})
        tab = open_page(browser, tmp_path, page.replace(data, known, 1))
        tabs.append(tab)
        box = tab.locator("details:has(.all)")
        box.locator("summary").click()
        box.locator("tbody tr").first.wait_for()
        return box

    yield show
    for tab in tabs:
        tab.close()


def cells(box):
    rows = box.locator("tbody tr").all()
    return [row.locator("th, td").all_inner_texts() for row in rows]


def firsts(box):
    return [row[1] for row in cells(box)]


def sort(box, head):
    box.locator("thead button").filter(has_text=re.compile(f"^{head}$")).click()
    order = box.locator("thead th").filter(has_text=re.compile(f"^{head}$"))
    return order.get_attribute("aria-sort")


def test_a_number_is_written_as_its_column_says(table):
    box = table(ROWS)
    assert cells(box) == SHOWN
    assert box.locator("output").inner_text() == "3 rows"


@pytest.mark.parametrize(
    ("head", "rising", "falling"),
    [
        ("what", "Ärger dull fine", "fine dull Ärger"),
        ("texts", "Ärger fine dull", "dull fine Ärger"),
        ("lean", "dull Ärger fine", "fine Ärger dull"),
        # Missing values come last.
        ("held-out lean", "fine Ärger dull", "Ärger fine dull"),
        ("q", "fine dull Ärger", "Ärger dull fine"),
    ],
)
def test_a_click_sorts_and_a_second_one_turns_round(table, head, rising, falling):
    box = table(ROWS)
    assert sort(box, head) == "ascending"
    assert firsts(box) == rising.split()
    assert sort(box, head) == "descending"
    assert firsts(box) == falling.split()
    assert sort(box, "in class") == "ascending"
    assert firsts(box) == ["fine", "dull", "Ärger"]
    others = box.locator("thead th:not([aria-sort=none])")
    assert others.all_inner_texts() == ["in class"]


def test_a_word_leaves_the_rows_that_hold_it(table):
    box = table(ROWS)
    sort(box, "texts")
    field = box.get_by_label("contains")
    for word, left in (("R", "Ärger"), (" fi ", "fine"), ("", "Ärger fine dull")):
        field.fill(word)
        assert firsts(box) == left.split()
    field.fill("nothing")
    assert cells(box) == []
    assert box.locator("output").inner_text() == "0 rows"
