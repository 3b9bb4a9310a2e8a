"""A report on paper: no part needs a hand or is torn apart, and colours speak."""

import pytest
from test_page_by_hand import by_hand, open_page

pytestmark = pytest.mark.site

STYLE = "(e, name) => getComputedStyle(e).getPropertyValue(name)"


@pytest.fixture
def paper(browser, tmp_path):
    """A dark screen's report as it is printed."""
    viewport = {"width": 700, "height": 900}
    tab = open_page(browser, tmp_path, by_hand().html(), viewport=viewport)
    tab.emulate_media(media="print", color_scheme="dark")
    yield tab
    tab.close()


def style(tab, selector, name):
    return tab.locator(selector).first.evaluate(STYLE, name)


def test_examples_are_printed_and_folded_again(paper):
    box = paper.locator(".places details")
    assert box.count() == 1
    opened = "(e) => e.open"
    for is_open in (False, True):  # what a reader opened stays open
        box.evaluate("(e, open) => { e.open = open; }", is_open)
        paper.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert box.evaluate(opened)
        assert paper.locator(".places li").is_visible()
        assert not paper.locator(".places summary").is_visible()
        paper.evaluate("dispatchEvent(new Event('afterprint'))")
        assert box.evaluate(opened) is is_open


def test_a_table_that_needs_clicks_is_not_printed_not_even_its_heading(paper):
    heading = paper.get_by_role("heading", name="All results", include_hidden=True)
    assert heading.count() == 1 and not heading.is_visible()
    paper.emulate_media(media="screen")
    assert heading.is_visible()


@pytest.mark.parametrize("selector", ["h2", "h3", "thead", "tr:has(+ .places)"])
def test_what_stands_above_something_stays_with_it(paper, selector):
    assert style(paper, selector, "break-after") == "avoid"


@pytest.mark.parametrize("selector", ["article", "tbody tr", "figure"])
def test_what_is_one_thing_is_on_one_page(paper, selector):
    assert style(paper, selector, "break-inside") == "avoid"


@pytest.mark.parametrize("selector", [".bars span", "mark", ".text span", ".amiss"])
def test_what_colour_says_is_printed(paper, selector):
    assert style(paper, selector, "print-color-adjust") == "exact"


def test_a_dark_screen_prints_black_on_white(paper):
    assert style(paper, "body", "background-color") == "rgb(255, 255, 255)"
    assert style(paper, "body", "color") == "rgb(28, 30, 33)"
    assert style(paper, "html", "color-scheme") == "light"
    paper.emulate_media(media="screen", color_scheme="dark")
    assert style(paper, "body", "background-color") == "rgb(20, 23, 26)"
