"""Live figures, whose results are compared with the package."""

import functools
import random
import unicodedata

import numpy as np
import pytest
import torch

import attnsel
from attnsel.beyond.deletion import score_flips, score_influence
from attnsel.tokens import Vocab
from attnsel_book import (
    NEGATIVE,
    POSITIVE,
    flow_plane,
    text_box,
)
from support.node import call, stored

# The model and the list of characters are made once, in one process.
pytestmark = pytest.mark.xdist_group("live")
ODD = [*"aBİΣς'’_-1٣²Ⅷé.,<>/ \t\n", "<br />", "\x1c", "\x85", "\ufeff", "\u2028", "中"]


@pytest.fixture(autouse=True)
def a_plane_without_its_still(monkeypatch):
    """Draw no picture for pages without JavaScript, because `test_drawing` does."""
    monkeypatch.setattr("attnsel_book.widgets.plane.plane_still", lambda *_: "a still")


def same_pieces(texts, vocab):
    """Compare the page's pieces of texts with the package's; count the texts."""
    code = """data[0].filter((text) => !/\\p{Cn}/u.test(text)).map((text) =>
      [text, tokenize(text, new Map(data[1]))])"""
    ids = [[token, i] for i, token in enumerate(vocab)]
    found = call(["tips.js", "textbox.js"], code, [texts, ids])  # those that node knows
    corpus = attnsel.Corpus.from_texts([text for text, _ in found], vocab=vocab)
    for i, (_, pieces) in enumerate(found):
        assert pieces == list(map(list, corpus.words(i)))
    return len(found)


@functools.cache
def characters():
    """Return all characters that this Python knows; newer ones are no letters to it.

    Planes 4 to 13 are empty; planes 15 and 16 are for private use.
    """
    # Without NUL, which HTML replaces by another character.
    every = map(chr, [*range(1, 0x40000), *range(0xE0000, 0xF0000)])
    return [c for c in every if unicodedata.category(c) not in ("Cn", "Cs", "Co")]


# Nine of ten are letters without case or symbols, most of them in long rows of a kind.
@pytest.mark.parametrize("step", [50, pytest.param(1, marks=pytest.mark.weekly)])
def test_the_page_cuts_every_character_as_the_package_does(step):
    in_rows = [c for c in characters() if unicodedata.category(c) in ("Lo", "So")]
    chosen = sorted({*characters()} - {*in_rows} | {*in_rows[::step]})
    texts = [
        "the " + "".join(f"a{c}b{c}{c} '{c}'x " for c in chosen[i : i + 50])
        for i in range(0, len(chosen), 50)
    ]
    # A capital letter is known by its small one.
    small = {f"a{c}b{c}{c}".lower() for c in chosen if c.isupper()}
    words = ["the", "'", "a", "éb", "б", "中", "b", *sorted(small)]
    assert same_pieces(texts, Vocab(words)) > 0.35 * len(texts)


def test_the_page_cuts_odd_texts_as_the_package_does():
    draw = random.Random(0)
    texts = []
    for _ in range(5000):
        odd = draw.choices(ODD, k=draw.randrange(12))
        any_kind = draw.choices(characters(), k=3)
        texts.append("the " + "".join([*odd, *any_kind, *draw.choices(ODD, k=3)]))
    words = ["the", "a", "ab", "'", "ς", "σ", "i", "1", "_", ".", "é", "中", "b's"]
    assert same_pieces(texts, Vocab(words)) > 4000


@pytest.fixture(scope="module")
def trained():
    """Return the text box and scores of a trained model, and 200 test reviews."""
    corpus = attnsel.load_corpus("imdb", limit=2000)
    test = attnsel.load_corpus("imdb", split="test", vocab=corpus.vocab, limit=200)
    model = attnsel.AttentionClassifier(len(corpus.vocab), 256, seed=0)
    history = attnsel.fit(model, corpus, steps=60, lr=5e-3, snapshots=[0, 10])
    scores = {k: history.scores[k] for k in (0, 10)} | {60: model.scores()}
    return text_box(corpus.vocab, scores, examples={"Not good.": ""}), scores, test


def as_texts(corpus):
    """Return texts with the counts of a corpus, in the order of the token ids."""
    names = np.array(list(corpus.vocab))
    bags = [np.repeat(names[ids], times.astype(int)) for ids, times in corpus.bags()]
    return [" ".join(bag) for bag in bags]


@pytest.mark.parametrize("at", [0, 1, 2])
def test_the_logits_of_the_page_are_those_of_the_package(trained, at):
    figure, scores, test = trained
    data = stored(figure.data)
    assert [step for step, *_ in data["scores"]] == [0, 10, 60]
    assert len(test) == 200
    given = [as_texts(test), data["tokens"], data["scores"][at]]
    code = """(([texts, tokens, pair]) => {
      const ids = new Map(tokens.map((token, i) => [token, i]));
      const [scores, values] = pair.slice(1).map(unpack);
      return texts.map((text) => attend(tokenize(text, ids), scores, values));
    })(data)"""
    found = call(["tips.js", "textbox.js"], code, given)
    pair = scores[data["scores"][at][0]].double()
    expected = attnsel.model.bag_logits(pair, test)
    logits = torch.tensor([review["logit"] for review in found], dtype=torch.float64)
    spread = float(expected.std())
    assert spread > (0.005, 0.1, 1)[at]
    assert float((logits - expected).abs().max()) < min(0.05, spread / 50)
    sums = [sum(review["weights"]) for review in found]
    assert sums == pytest.approx([1] * 200, abs=1e-9)


def test_a_repeated_token_counts_each_time():
    ids, scores, values = [["a", 0], ["b", 1]], [0, np.log(2)], [3, -1]
    code = "((d) => attend(tokenize(d[0], new Map(d[1])), d[2], d[3]))(data)"
    found = call(["tips.js", "textbox.js"], code, ["A a ? b", ids, scores, values])
    assert found["weights"] == pytest.approx([0.25, 0, 0.25, 0, 0, 0, 0.5])
    assert found["logit"] == pytest.approx(1)
    far = call(["tips.js", "textbox.js"], code, ["a b", ids, [900, -900], values])
    assert far == {"weights": [1, 0, 0], "logit": 3}


def test_a_reading_is_told_in_words():
    code = """((d) => {
      const pieces = tokenize("a b", new Map([["a", 0], ["b", 1]]));
      const {weights, logit} = attend(pieces, d[0], d[1]);
      return inWords(bag(pieces, weights, d[0], d[1]), ["a", "b"], logit);
    })(data)"""
    said = call(["tips.js", "textbox.js"], code, [np.log([1, 3]).tolist(), [2, -4]])
    assert "“b” gets 75% of the attention, and its value is −4.00." in said
    assert "sum to −2.50. “b” (−3.00) contributes most" in said
    assert said.endswith("and “a” (+0.50) most against it.")


EXPLAINED = """(([texts, tokens, scores, values]) => {
  const ids = new Map(tokens.map((token, i) => [token, i]));
  return texts.map((text) => {
    const pieces = tokenize(text, ids), {weights} = attend(pieces, scores, values);
    const words = bag(pieces, weights, scores, values);
    return {ids: words.map((word) => word.id), lost: influences(words),
      gone: flipping(words)};
  });
})(data)"""


def explained(texts, vocab, pair):
    """Compare influences with the package; return the numbers of deleted words."""
    corpus = attnsel.Corpus.from_texts(texts, vocab=vocab)
    a, b = pair.double().T.tolist()
    found = call(["tips.js", "textbox.js"], EXPLAINED, [texts, list(vocab), a, b])
    lost, gone = score_influence(pair, corpus), score_flips(pair, corpus)
    for i, page in enumerate(found):
        row = lost[[i]].toarray()[0]
        assert page["lost"] == pytest.approx(row[page["ids"]].tolist(), abs=1e-6)
        assert sorted(page["ids"]) == lost[[i]].indices.tolist()
        assert sorted(page["gone"]) == gone[[i]].indices.tolist()
    return [len(page["gone"]) for page in found]


def test_the_page_explains_reviews_as_the_package_does(trained):
    _, scores, test = trained
    # The numbers are not packed, because this test compares the method.
    flips = explained(as_texts(test[:12]), test.vocab, scores[60])
    assert max(flips) > 0


def test_the_page_explains_odd_texts_as_the_package_does():
    vocab = Vocab(list("abcde"))
    texts = ["a", "a a a", "a b", "b b c ? a", "a b c d e e e", "d e d", "c c d"]
    draw = torch.Generator().manual_seed(0)
    for spread in (0.5, 3, 40):
        pair = torch.randn(5, 2, generator=draw, dtype=torch.float64)
        pair[:, 0] *= spread
        explained(texts, vocab, pair)


def test_before_one_types_the_first_example_is_read_at_the_last_step():
    vocab = Vocab(["good", "bad"], ("dull", "fine"))
    scores = {0: torch.zeros(2, 2), 5: torch.tensor([[np.log(3), 2.0], [0.0, -4.0]])}
    page = text_box(vocab, scores, examples={"Good, <bad": "", "Other.": ""}).data
    still = page[page.index('<label class="line">') : page.index("<script>")]
    # Blue above 0, orange below: 75% and 25% of 60%, of a colour of 0.6 of 255.
    for word, colour, tip in (
        ("Good", f"{POSITIVE}99", "attention 0.750, value 2"),
        ("bad", f"{NEGATIVE}40", "attention 0.250, value -4"),
    ):
        shade = f"background:{colour.lower()}"
        assert f'<span style="{shade}" data-tip="{tip}">{word}</span>' in still
    assert "</span>, &lt;<span" in still
    # 75% of 2 and 25% of -4 are 0.5, and 1 / (1 + exp(-0.5)) is 62%.
    assert "<output>fine, 62% sure</output>" in still
    assert 'value="Good, &lt;bad"' in still
    assert '<button type="button">Other.</button>' in still
    assert "<p>To type another text needs JavaScript.</p>" in still


@pytest.mark.parametrize(
    ("value", "reading"),
    [
        (0.11, "fine, 53% sure"),
        (0.09, "no opinion yet"),
        (-0.09, "no opinion yet"),
        (-4.59, "dull, 99% sure"),  # 98.996%
        (-4.61, "dull, 99.01% sure"),
        (9.2, "fine, 99.99% sure"),
        (9.22, "fine, more than 99.99% sure"),
    ],
)
def test_a_logit_is_a_class_and_how_sure_the_model_is(value, reading):
    scores = {5: torch.tensor([[0.0, value]])}
    vocab = Vocab(["good"], ("dull", "fine"))
    page = text_box(vocab, scores, examples={"good": ""}).data
    assert f"<output>{reading}</output>" in page
    code = "opinionOf(data, ['dull', 'fine'])"
    assert call(["tips.js", "textbox.js"], code, value) == reading


WORDS = ["good", "great", "bad", "awful", "the", "film", "plot"]
PLACES = torch.tensor(
    [[0.9, 1], [1.1, 0.6], [-0.8, 0.8], [-1, 1.2], [0, 0.1], [0.1, -0.3], [-0.1, 0.3]],
    dtype=torch.float64,
)
SEQUENCES = [[0, 4, 5, 5], [1, 4, 6], [0, 6, 5], [2, 4, 5], [3, 4, 4, 6, 6], [2, 6, 5]]
FLOW = ["plane.js"]


def plane(places=PLACES, start=(2, -3), output=(1, 0)):
    """Return the model, corpus and selection of the seven words of chapter 3."""
    corpus = attnsel.Corpus.from_tokens(SEQUENCES, [1, 1, 1, 0, 0, 0], Vocab(WORDS))
    model = attnsel.AttentionClassifier(7, 2, dtype=torch.float64)
    with torch.no_grad():
        model.embeddings.copy_(places)
        model.cls.copy_(torch.tensor(start))
        model.output.copy_(torch.tensor(output))
    return model, corpus, torch.tensor([0, 1, 0, 2, 3, 2])


def moved(seed):
    """Return the places of the words, moved at random."""
    noise = torch.randn(7, 2, generator=torch.Generator().manual_seed(seed))
    return PLACES + 0.35 * noise.double()


STARTS = {0: (2, -3), 1: (-10, 0), 2: (8, 3), 5: (-2, 0), 6: (-8, -2), 10: (-4, -9)}
LOST, STALLED = (1, 10), {3: (14, -3), 8: (-8, 3)}


@pytest.mark.parametrize("seed", STARTS)
def test_the_path_of_the_page_is_that_of_the_package(seed):
    places = moved(seed) if seed > 1 else PLACES
    model, corpus, selected = plane(places, STARTS[seed], (1, 0.3 * (seed % 5)))
    marks = [15.0, 20.0, 60.0, 100.0]
    expected = attnsel.gradient_flow(model, corpus, max_norm=100, record=marks)
    data = stored(flow_plane(model, corpus, selected, lost=(-10, 0)).data)
    found = call(FLOW, "follow(data, data.start)", data)
    path = np.array(found["path"])
    norms = np.hypot(*path.T)
    assert norms[-1] >= 100
    assert found["tops"] == expected.selected.tolist()
    late = norms.argmin()  # after it the norm grows, and tells where on the path p is
    for goal in marks:
        at = int((expected.norms - goal).abs().argmin())
        ours = [np.interp(goal, norms[late:], path[late:, k]) for k in (0, 1)]
        assert np.hypot(*(ours - expected.cls[at].numpy())) < 0.01 * goal
    assert bool((expected.selected != selected).any()) == (seed in LOST)


@pytest.mark.parametrize("seed", STALLED)
def test_a_path_ends_at_a_stationary_point(seed):
    model, corpus, selected = plane(moved(seed), STALLED[seed], (1, 0.9))
    with pytest.warns(RuntimeWarning, match="stalled"):
        expected = attnsel.gradient_flow(model, corpus, max_norm=100)
    data = stored(flow_plane(model, corpus, selected, lost=(-10, 0)).data)
    found = call(FLOW, "follow(data, data.start)", data)
    end = expected.cls[-1].tolist()
    assert found["path"][-1] == pytest.approx(end, rel=0.01, abs=0.01)


def test_the_direction_of_the_pull_is_exact():
    model, corpus, selected = plane(moved(7), (20, 90))
    data = stored(flow_plane(model, corpus, selected, lost=(0, 0)).data)
    for p in ((0.3, 0.2), (-3, 1), (20, 90), (300, -200), (0, 0)):
        with torch.no_grad():
            model.cls.copy_(torch.tensor(p))
        direction, _ = attnsel.flow.cls_gradient(model, corpus)
        found = call(FLOW, "pull(data[0], data[1])", [data, p])
        assert found["direction"] == pytest.approx(direction.tolist(), abs=1e-9)


def test_a_path_ends_where_the_pulls_cancel():
    # Words on a line get equal attention if p is orthogonal to the line.
    model, corpus, selected = plane(PLACES * torch.tensor([1, 0]), (0, 3), (0, 1))
    data = stored(flow_plane(model, corpus, selected, lost=(0, 0)).data)
    assert call(FLOW, "follow(data, data.start).path", data) == [[0, 3]]


def test_the_margin_of_the_page_is_that_of_the_package():
    places = [moved(seed) for seed in range(30)]
    model, corpus, selected = plane()
    pairs = stored(flow_plane(model, corpus, selected, lost=(0, 0)).data)["pairs"]
    given = [[p.tolist() for p in places], pairs]
    feasible = 0
    margins = call(FLOW, "data[0].map((p) => widest(p, data[1]))", given)
    for at, found in enumerate(margins):
        try:
            expected = attnsel.max_margin(places[at], corpus, selected)
        except ValueError:
            assert found is None
            continue
        feasible += 1
        assert found["u"] == pytest.approx(expected.direction.tolist(), abs=1e-6)
        assert found["margin"] == pytest.approx(expected.margin, rel=1e-6)
        assert sorted(found["support"]) == sorted(expected.support.tolist())
    assert 5 < feasible < 30


def test_live_figures_say_what_does_not_fit():
    vocab = Vocab(["a", "b"])
    with pytest.raises(ValueError, match=r"got \(2, 3\)"):
        text_box(vocab, {0: torch.zeros(2, 3)}, examples={"a": ""})
    _, corpus, selected = plane()
    with pytest.raises(
        ValueError, match=r"model.cls: expected shape \(2,\), got \(3,\)"
    ):
        flow_plane(attnsel.AttentionClassifier(7, 3), corpus, selected, lost=(0, 0))
