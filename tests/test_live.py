"""Figures that compute in the page, against the package."""

import json
import os
import random
import re
import sys
import unicodedata

import numpy as np
import pytest
import torch
from node import call

import attnsel
from attnsel.book import text_box
from attnsel.corpus import Vocab
from attnsel.texts.reviews import generate_reviews

ODD = [*"aBİΣς'’_-1٣²Ⅷé.,<>/ \t\n", "<br />", "\x1c", "\x85", "\ufeff", "\u2028", "中"]


def stored(figure):
    """Return the data that a figure holds."""
    (text,) = re.findall(r'<script type="application/json">(.*?)</script>', figure.data)
    return json.loads(text)


def same_pieces(texts, vocab):
    """Cut texts in the page and in the package; return the number of texts."""
    code = """data[0].filter((text) => !/\\p{Cn}/u.test(text)).map((text) =>
      [text, tokenize(text, new Map(data[1]))])"""
    ids = [[token, i] for i, token in enumerate(vocab)]
    found = call(["textbox.js"], code, [texts, ids])  # those that node knows
    corpus = attnsel.Corpus.from_texts([text for text, _ in found], vocab=vocab)
    for i, (_, pieces) in enumerate(found):
        assert pieces == list(map(list, corpus.words(i)))
    return len(found)


# What this Python knows; newer characters are no letters to it.
CHARACTERS = [
    chr(code)
    for code in range(sys.maxunicode + 1)
    if unicodedata.category(chr(code)) not in ("Cn", "Cs", "Co")
]


def test_the_page_cuts_every_character_as_the_package_does():
    texts = [
        "the " + "".join(f"a{c}b{c}{c} '{c}'x " for c in CHARACTERS[i : i + 50])
        for i in range(0, len(CHARACTERS), 50)
    ]
    assert same_pieces(texts, Vocab(["the", "'", "a", "éb", "б", "中", "b"])) > 1000


def test_the_page_cuts_odd_texts_as_the_package_does():
    draw = random.Random(0)
    texts = []
    for _ in range(5000):
        odd = draw.choices(ODD, k=draw.randrange(12))
        any_kind = draw.choices(CHARACTERS, k=3)
        texts.append("the " + "".join([*odd, *any_kind, *draw.choices(ODD, k=3)]))
    words = ["the", "a", "ab", "'", "ς", "σ", "i", "1", "_", ".", "é", "中", "b's"]
    assert same_pieces(texts, Vocab(words)) > 4000


@pytest.fixture(scope="module")
def trained():
    """A model trained on reviews, real ones where they are, and 200 others."""
    if os.environ.get("ATTNSEL_DATA"):
        corpus = attnsel.load_corpus("imdb", limit=2000)
        test = attnsel.load_corpus("imdb", split="test", vocab=corpus.vocab, limit=200)
    else:
        corpus, test = (
            attnsel.Corpus.from_texts(*generate_reviews(n, classes=2, stream=i))
            for i, n in enumerate((2000, 200))
        )
        test = attnsel.Corpus.from_texts(test.texts, test.labels, vocab=corpus.vocab)
    model = attnsel.AttentionClassifier(len(corpus.vocab), 256, seed=0)
    history = attnsel.fit(model, corpus, steps=60, lr=5e-3, snapshots=[0, 10])
    scores = {k: history.scores[k] for k in (0, 10)} | {60: model.scores().detach()}
    return text_box(corpus.vocab, scores, examples={"Not good.": ""}), scores, test


@pytest.mark.parametrize("at", [0, 1, 2])
def test_the_logits_of_the_page_are_those_of_the_package(trained, at):
    figure, scores, test = trained
    data = stored(figure)
    assert data["steps"] == [0, 10, 60]
    assert len(test) == 200
    given = [list(test.texts), data["tokens"], data["scores"][at]]
    code = """(([texts, tokens, pair]) => {
      const ids = new Map(tokens.map((token, i) => [token, i]));
      const [scores, values] = pair.map(unpack);
      return texts.map((text) => attend(tokenize(text, ids), scores, values));
    })(data)"""
    found = call(["shared.js", "textbox.js"], code, given)
    pair = scores[data["steps"][at]].double()
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
    found = call(["textbox.js"], code, ["A a ? b", ids, scores, values])
    assert found["weights"] == pytest.approx([0.25, 0, 0.25, 0, 0, 0, 0.5])
    assert found["logit"] == pytest.approx(1)
    far = call(["textbox.js"], code, ["a b", ids, [900, -900], values])
    assert far == {"weights": [1, 0, 0], "logit": 3}


def test_the_box_starts_with_the_first_example_and_escapes_them():
    vocab = Vocab(["</script>", "good"])
    scores = {3: torch.tensor([[0.0, 1.0], [1.0, 2.0]]), 1: torch.zeros(2, 2)}
    examples = {'"Good" & <b>': "One & two.", "No.": "Two."}
    figure = text_box(vocab, scores, examples=examples)
    assert 'value="&quot;Good&quot; &amp; &lt;b&gt;"' in figure.data
    assert figure.data.count("<button") == 2
    data = stored(figure)
    assert data["tokens"] == list(vocab)
    assert data["steps"] == [1, 3]
    assert data["lessons"] == examples
    assert figure.data.count("</script>") == 2
