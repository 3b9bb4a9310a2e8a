"""The search of the built site: its first results, and the way to them."""

from pathlib import Path
from typing import Any

import pytest

from tools.site.search import entries

pytestmark = [pytest.mark.site, pytest.mark.xdist_group("search")]

SITE = Path(__file__).resolve().parents[2] / "_build" / "html"
MODELS, THEORY = "package_models.html#attnsel", "package_theory.html#attnsel"
# The last possible place of the answer: names of functions and results come first.
QUERIES = [
    # Names of functions and classes, as they are called.
    ("one_step", f"{MODELS}.train.one_step", 1),
    ("fit", f"{MODELS}.train.fit", 1),
    ("gradient_flow", f"{THEORY}.flow.gradient_flow", 1),
    ("AttentionClassifier", f"{MODELS}.model.AttentionClassifier", 1),
    ("load_corpus", "package_texts.html#attnsel.texts.loading.load_corpus", 1),
    ("gradeint flow", "max_margin.html", 3),
    # Results, by their names and by their statements.
    ("Theorem A", "convergence.html#thm-convergence-a", 1),
    ("Theorem 4.3", "max_margin.html#thm-max-margin", 1),
    ("Lemma 4.1", "one_step.html#thm-one-step-lemma41", 1),
    ("lema 4.4", "max_margin.html#lem-max-margin-diverge", 3),
    ("value gap", "max_margin.html#def-max-margin-gap", 1),
    # Symbols, as letters, by name and in LaTeX.
    ("α", "notation.html#symbol-alpha-s", 1),
    ("η_0", "notation.html#symbol-eta-0", 1),
    (r"\eta_0", "notation.html#symbol-eta-0", 1),
    ("E_s", "notation.html#symbol-e-s", 1),
    # Subjects of the book, in several spellings.
    ("max-margin", "max_margin.html", 3),
    ("maximum margin direction", "max_margin.html", 1),
    ("signed frequency", "notation.html#symbol-alpha-s", 3),
    ("convergence rate", "convergence.html", 1),
    ("optimisation", "margins.html", 1),
    ("memorization", "memorized.html", 1),
    ("atention explanation", "explanation.html", 1),
    ("key-query matrix", "deeper.html#a-key-query-matrix", 3),
    ("negation", "interactions.html", 3),
    ("Shapley values", "explanation.html#prop-explanation-shapley", 3),
    ("GPU", "troubleshooting.html#using-a-gpu", 1),
    ("bibtex", "cite.html#id1", 3),
    # Words of the field, which the pages themselves may not use.
    ("implicit bias", "max_margin.html", 1),
    ("SVM", "max_margin.html", 1),
    ("positional encoding", "interactions.html", 1),
    ("bigrams", "interactions.html", 1),
    ("cross entropy", "classes.html", 1),
    ("how to install", "package.html", 1),
    ("how to cite", "cite.html", 1),
    ("license", "cite.html", 1),
    ("interpretability", "explanation.html", 1),
    ("SHAP", "explanation.html", 1),
    ("sentiment analysis", "reviews.html", 1),
    ("LLM", "outside.html", 1),
    ("BERT", "outside.html", 1),
    ("random labels", "memorized.html", 1),
    ("lean", "notation.html", 1),
    ("learning rate", "selection.html", 1),
    ("spurious correlations", "own_texts.html", 1),
    ("p-value", "own_texts.html", 1),
    ("random seeds", "settings.html", 1),
    ("float32", "floating_point.html", 1),
    ("Adam", "margins.html", 1),
    ("fine-tuning", "frozen.html", 1),
    ("reproducibility", "claims.html", 1),
    # A query that looks like code finds code, and other queries find chapters.
    ("report(", "package_report.html#attnsel_report.report.report", 1),
    ("max_margin", f"{THEORY}.theory.max_margin", 1),
    ("gradient flow", "max_margin.html", 1),
    ("gradient_flow", f"{THEORY}.flow.gradient_flow", 1),
]


@pytest.fixture(scope="module")
def found(browser: Any) -> Any:
    """Yield a function that searches in a page from the disk, without a server."""
    tab = browser.new_page()
    tab.goto((SITE / "search.html").as_uri())
    tab.wait_for_function("'attnselSearch' in window")
    links = "query => attnselSearch.find(query).map(({entry: e}) => e.page + "
    links += "(e.anchor && '#' + e.anchor))"
    yield lambda query: tab.evaluate(links, query)
    tab.close()


@pytest.mark.parametrize(("query", "answer", "last"), QUERIES)
def test_what_is_asked_for_comes_first(found, query, answer, last):
    links = found(query)[:last]
    if "#" not in answer:  # a section of the page leads there as well
        links = [link.partition("#")[0] for link in links]
    assert f"book/{answer}" in links


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("normalise", "normalize"),
        ("optimisation", "optimization"),
        ("memorised", "memorized"),
        ("analysed", "analyzed"),
        ("behaviour", "behavior"),
        ("lemmata", "lemmas"),
        ("GRADIENT FLOW", "gradient flow"),
        ("β", "beta"),
    ],
)
def test_two_spellings_find_the_same(found, one, other):
    assert found(one) == found(other)


def test_nothing_is_found_by_chance(found):
    assert found("xylophone") == []
    assert found("the") == []
    assert found("") == []


def test_every_answer_is_a_place_of_the_site():
    for path in (SITE / "book").glob("*.html"):
        text = path.read_text(encoding="utf-8")
        for entry in entries(f"book/{path.name}", text):
            assert not entry["anchor"] or f'id="{entry["anchor"]}"' in text
            assert "\\" not in entry["title"] and "\x02" not in entry["text"]


def asked(tab: Any) -> list[str]:
    """Return a list that gets the name of each file that the page requests."""
    names: list[str] = []
    tab.on("request", lambda request: names.append(request.url.rpartition("/")[2]))
    return names


def test_the_dialog_comes_and_goes_by_the_keyboard(browser, address):
    tab = browser.new_page(viewport={"width": 1280, "height": 844})
    names = asked(tab)
    tab.goto(f"{address}/book/one_step.html")
    tab.wait_for_load_state("networkidle")
    assert not {"search.js", "index.js", "minisearch.js"} & set(names)
    tab.keyboard.press("Control+k")
    tab.keyboard.type("Lemma 4.1")
    tab.locator("dialog .search-found a").first.wait_for()
    assert {"search.js", "index.js", "minisearch.js"} <= set(names)
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowUp")
    focused = "document.activeElement.innerText"
    assert tab.evaluate(focused).startswith("Lemma 4.1 of")
    tab.keyboard.press("Enter")  # a place of this page: the dialog leaves it free
    tab.wait_for_url("**/one_step.html#thm-one-step-lemma41")
    assert not tab.locator("dialog[open]").count()
    title = tab.locator(".proof:target > .admonition-title")
    assert title.inner_text().startswith("Lemma 4.1")
    tab.close()


def test_the_dialog_fits_a_phone_and_leads_to_the_page_of_the_search(browser, address):
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, color_scheme="dark"
    )
    tab = context.new_page()
    tab.goto(f"{address}/book/model.html")
    tab.locator(".search-button").first.tap()
    tab.keyboard.type("gradient flow")
    place = tab.locator("dialog .search-found")
    place.locator("a").first.wait_for()
    box = place.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    assert box["y"] + box["height"] <= 844
    assert place.evaluate("e => e.scrollWidth <= e.clientWidth")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/search.html?q=gradient+flow")
    tab.locator(".search-found a").first.wait_for()
    assert tab.locator(".search-found mark").count()
    assert "\\" not in tab.locator(".search-found").inner_text()
    context.close()


def test_the_page_says_what_it_found(browser, address):
    tab = browser.new_page()
    tab.goto(f"{address}/search.html?q=xylophone")
    state = tab.locator(".search-found [role=status]")
    state.wait_for()
    assert state.inner_text() == "Nothing in the book answers “xylophone”."
    field = tab.locator(".bd-search-container input")
    assert field.input_value() == "xylophone"
    field.fill("Theorem 4.3")
    assert "places in the book" in state.inner_text()
    field.fill("")
    assert not state.is_visible()
    tab.close()


def test_without_scripts_the_page_says_where_to_look(browser, address):
    tab = browser.new_page(java_script_enabled=False)
    tab.goto(f"{address}/search.html")
    text = tab.locator(".bd-search-container").inner_text()
    assert "The search needs JavaScript." in text
    assert tab.locator(".bd-search-container a").count() == 2
    tab.close()
