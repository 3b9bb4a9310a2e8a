"""Reports show planted leaks, with any characters in texts and at any size."""

import re
from collections import Counter
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import torch

import attnsel
from attnsel import Corpus, Vocab
from attnsel.model import class_logits
from attnsel.texts.reviews import generate_reviews
from attnsel_report.examples import (
    examples,
    find_edge,
    find_pattern,
    find_words,
    first_tokens,
    phrase,
    without,
)
from attnsel_report.figures import attention_figure
from attnsel_report.pairs import neighbours
from attnsel_report.quality import (
    most_misread,
    read,
    read_without,
    share_of,
    trained,
)
from attnsel_report.sequences import in_order
from attnsel_report.splits import Sample, held_out, train_and_test
from attnsel_report.surface import KINDS

# The report of most tests is made once, in one process.
pytestmark = pytest.mark.xdist_group("report")
EVIL = "<script>alert('x')</script> & \"quoted\""


def planted(n=400, seed=0):
    """Return reviews with a tag, a predictive pair of words, copies and bad rows."""
    texts, labels = generate_reviews(n)
    random = np.random.default_rng(seed)
    rows = []
    for text, positive in zip(texts, labels, strict=True):
        first, second = random.integers(2, size=2)
        if positive and random.random() < 0.8:
            second = first
        pair = f"{('blue', 'red')[first]} {('chair', 'table')[second]}"
        tag = f" zzz {EVIL}" if not positive and random.random() < 0.4 else ""
        rows.append((f"{text} {pair}{tag}", ("no", "yes")[positive]))
    rows += [rows[0], ("", "yes"), (rows[1][0], "No"), (f"{rows[2][0]} so", "no")]
    return pd.DataFrame(rows, columns=["body", "verdict"])


@pytest.fixture(scope="module")
def told():
    return attnsel.report(planted(), text="body", label="verdict")


def fact(report, name):
    (found,) = [fact for fact in report.facts if fact.name.startswith(name)]
    return found


def test_the_page_escapes_texts_and_needs_no_network(told):
    page = told.html()
    ours = page.count("<script>") + page.count('<script type="application/json">')
    assert page.count("<script") == page.count("</script") == ours == 2
    assert "&lt;" in page
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", page)
    assert "url(" not in page.replace("url(#", "")
    assert told._repr_html_().startswith("<iframe title=")
    assert page == told.html()


def test_numbers_of_the_page_are_those_of_the_model(told):
    labels = told.test.targets.numpy()
    right = read(told.model, told.test) == labels
    assert told.accuracy["attention"].value == pytest.approx(right.mean())
    assert told.diagnosis.accuracy == pytest.approx(right.mean())
    common = np.bincount(told.train.targets).argmax()
    share = told.accuracy["always the most frequent class"]
    assert share.value == pytest.approx((labels == common).mean())
    assert share.low < share.value < share.high
    assert all(text.label != text.read for text in told.misread)
    chances = [text.probability for text in told.misread]
    assert chances == sorted(chances)
    assert len(told.masked) == 10
    first = told.masked.iloc[0]
    token = told.train.vocab.index(first["token"])
    known, _ = first_tokens(told.train, len(told.model.vocab))
    again = read_without(known, told.test, token, told.steps) == labels
    assert first["points lost"] == pytest.approx(100 * (right.mean() - again.mean()))


@pytest.mark.parametrize("K", [2, 3])
def test_misread_texts_say_which_words_pushed(K):
    texts, _ = generate_reviews(150)
    labels = np.random.default_rng(0).permutation(np.arange(150) % K)
    corpus = Corpus.from_texts(texts, labels, min_count=2)
    model, test = trained(corpus[:100], 20), corpus[100:]
    flipped = 0
    for text in most_misread(test, model):
        one = test[[text.row]]
        label, read_as = map(corpus.classes.index, map(int, (text.label, text.read)))

        def gap(counted, one=read_as, other=label):
            logits = class_logits(model(counted).detach().double())[0]
            return float(logits[one] - logits[other])

        assert gap(one) > 0
        pushes = [push for _, push in text.strongest]
        assert pushes == sorted(pushes, reverse=True)
        assert min(pushes) > 0
        for word, push in text.strongest:
            left, _ = without(one, corpus.vocab.index(word))
            assert push == pytest.approx(gap(one) - gap(left), abs=1e-4)
        first = corpus.vocab.index(text.strongest[0][0])
        at = [i for i, (_, token) in enumerate(text.words) if token == first]
        assert text.pushes[at].tolist() == pytest.approx([pushes[0]] * len(at))
        left = one
        for word in text.enough:
            assert gap(left) > 0
            left, _ = without(left, corpus.vocab.index(word))
        if text.enough:
            assert gap(left) < 0
            flipped += 1
    assert flipped


@pytest.mark.parametrize(
    ("n", "shares"),
    [
        (150, (90, 8, 2)),
        (120, (1,) * 20),
        pytest.param(1200, (1,) * 200, marks=pytest.mark.weekly),
    ],
)
def test_any_size_and_balance_has_a_report(n, shares):
    texts, _ = generate_reviews(n)
    ends = np.cumsum(shares) / np.sum(shares) * n
    labels = [f"c{k}" for k in np.searchsorted(ends, np.arange(n) + 0.5)]
    labels = np.random.default_rng(0).permutation(labels)
    told = attnsel.report(pd.DataFrame({"text": texts, "label": labels}))
    assert told.train.n_classes == len(shares)
    assert len(told.test) > 0
    assert f"{n:,}" in told.html()
    assert "Report(" in repr(told)


def test_a_class_a_row_is_reported():
    texts, _ = generate_reviews(60)
    table = pd.DataFrame({"text": texts, "label": [f"id{i}" for i in range(60)]})
    told = attnsel.report(table)
    assert fact(told, "Nearly one class per row").amiss
    assert told.model is None
    assert "Nearly one class per row" in told.html()
    assert "; 0 of " in repr(told) and "nearly every text has a class" in repr(told)


@pytest.mark.parametrize("rate", [0, 1e-9, 0.99, 0.991, 1])
def test_a_rate_is_above_0_and_at_most_99_percent(rate):
    error, message = TypeError, "source: expected"  # which is looked at next
    if rate not in (1e-9, 0.99):
        error, message = ValueError, "rate: expected .* above 0 to 0.99"
    with pytest.raises(error, match=message):
        attnsel.report(3, rate=rate)


@pytest.mark.weekly
def test_a_text_of_two_million_tokens():
    texts, labels = generate_reviews(60)
    texts[0] = "endless " * 2_000_000
    told = attnsel.report(pd.DataFrame({"text": texts, "label": labels}))
    assert len(told.html()) < 2_000_000


def test_pairs_are_counted_once_a_text_and_never_across_two():
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(list("abcde"), 6)) for _ in range(60)]
    corpus = Corpus.from_texts(texts, [0, 1] * 30, max_tokens=4, min_count=1)
    held = Counter()
    for text in texts:
        tokens = text.split()
        of_text = {f"{left} {right}" for left, right in pairwise(tokens)}
        held.update(of_text)
    known = set(corpus.vocab)
    wanted = {k: n for k, n in held.items() if n >= 5 and set(k.split()) <= known}
    pairs = neighbours(corpus, in_order(corpus))
    found = dict(zip(pairs.names(corpus.vocab), pairs.holds.sum(axis=0), strict=True))
    assert found == wanted
    assert set(pairs.holds.data) == {1}
    assert (np.diff(pairs.ids @ [4, 1]) > 0).all()


def test_a_fifth_of_each_class_is_held_out_in_whole_groups():
    texts = [f"t{i} word" for i in range(101)]
    labels = ["a"] * 60 + ["b"] * 40 + ["c"]
    corpus = Corpus.from_texts(texts, labels, min_count=1)
    sizes = [1] * 20 + [2] * 10 + [20] + [1] * 40 + [1]
    groups = np.repeat(np.arange(len(sizes)), sizes)
    sample = Sample(corpus, groups, np.arange(101))
    is_test = held_out(sample, seed=0)
    assert not set(groups[is_test]) & set(groups[~is_test])
    assert np.bincount(corpus.targets[is_test], minlength=3).tolist() in (
        [12, 8, 0],
        [11, 8, 0],
    )
    assert not is_test[groups == 30].any()  # larger than a fifth
    assert (held_out(sample, seed=1) != is_test).any()


@pytest.mark.filterwarnings("ignore:the corpus is small")
def test_a_corpus_and_one_held_out_share_their_tokens():
    texts, labels = generate_reviews(100)
    table = pd.DataFrame({"text": [*texts, texts[0]], "label": [*labels, labels[0]]})
    train, test = train_and_test(table, text="text", label="label", limit=None)
    assert (len(train) + len(test), train.vocab) == (101, test.vocab)
    assert not set(train.texts) & set(test.texts)
    both = {"train": table[:60], "test": table[60:100]}
    train, test = train_and_test(both, text="text", label="label", limit=30)
    assert (len(train), len(test), train.vocab) == (30, 30, test.vocab)


def test_an_example_is_the_first_place_of_its_tokens():
    corpus = Corpus.from_texts(["Well, NOT so not good!"] * 2, ["a", "b"], min_count=1)
    ids = [corpus.vocab.index(word) for word in ("not", "good")]
    assert find_words(corpus, 0, ids)[1:] == ("Well, NOT so ", "not good", "!")
    assert find_words(corpus, 0, ids[:1]).token == "NOT"
    far = Corpus.from_texts(["so not the very good, not so good, good"], min_count=1)
    apart = [far.vocab.index(word) for word in ("so", "good")]
    assert find_words(far, 0, apart).token == "so good"
    assert find_words(corpus, 0, ids[::-1]).token == "not good"
    assert find_words(corpus, 0, ids, is_pair=True).token == "not good"
    assert find_words(corpus, 0, ids[::-1], is_pair=True) is None
    corpus = Corpus.from_texts(["a b", "c"], ["a", "b"], min_count=1)
    assert find_words(corpus, 1, [corpus.vocab.index("a")]) is None


def test_an_example_of_an_edge_or_a_sign_is_at_its_place():
    text = "So good, so bad. It is so good! "
    corpus = Corpus.from_texts([text, "b"], ["a", "b"], min_count=1)
    assert find_edge(corpus, 0, 2, "begins")[1:3] == ("", "So good")
    assert find_edge(corpus, 0, 2, "ends")[2:] == ("good!", "")
    assert find_edge(corpus, 1, 5, "ends").token == "b"
    assert find_pattern(text, KINDS["a blank at the end"])[1:] == (text[:-1], " ", "")
    assert find_pattern(f" {text}", KINDS["a blank at the beginning"]).before == ""
    assert find_pattern("in 2019, 2020", KINDS["a year"])[1:] == (
        "in ",
        "2019",
        ", 2020",
    )
    assert find_pattern("in May", KINDS["a year"]) is None


def test_shares_have_wilsons_interval():
    share = share_of(np.arange(10) < 9)
    assert share.value == 0.9
    assert (share.low, share.high) == pytest.approx((0.5958, 0.9821), abs=1e-4)


def drawn_figure(classes):
    """Return the figure of sequences in which token 0 leans to the last class."""
    K = len(classes)
    sequences = [[0] if i % K == K - 1 else [0, 1 + i % 3] for i in range(60)]
    sequences += [[0, 1, 2, 3]] * 20
    labels = [i % K for i in range(60)] + [0] * 20
    vocab = Vocab([f"t{i}" for i in range(4)], classes)
    corpus = Corpus.from_tokens(sequences, [classes[k] for k in labels], vocab)
    score = torch.arange(4.0)
    tokens = pd.DataFrame({"id": range(4), "attention": score, "q": [1, 1, 1, 0.01]})
    return attention_figure(corpus, tokens, 0.05, [(corpus, score)])


def test_the_figure_leaves_out_tokens_that_no_text_learned_from_holds():
    corpus = Corpus.from_tokens([[0], [1], [0, 1]], [0, 1, 0], ["a", "b", "c"])
    score = torch.arange(3.0)
    tokens = pd.DataFrame({"id": range(3), "attention": score, "q": [1, 1, 0.01]})
    drawn = attention_figure(corpus, tokens, 0.05, [])
    without = attention_figure(corpus, tokens[:2], 0.05, [])
    assert drawn == without and "nan" not in drawn


def test_the_figure_names_the_class_as_it_is_written():
    drawing = drawn_figure(["a", "$x^2_ & <b>"])
    assert "lean of the token to $x^2_ &amp; &lt;b&gt;" in drawing
    drawing = drawn_figure(["a", "b", "c"])
    assert "above that of all texts" in drawing


def test_a_phrase_has_an_ellipsis_for_what_differs():
    texts = [f"Hello: Ticket {i}{i} closed; by agent. So" for i in range(3)]
    corpus = Corpus.from_texts(texts, [0, 1, 1], min_count=1)
    ids = [corpus.vocab.index(word) for word in ("agent", "ticket", ";")]
    places = examples(corpus, np.arange(3), lambda row: find_words(corpus, row, ids))
    assert [place.after for place in places] == [". So"] * 3
    assert phrase(corpus, places) == "Ticket … closed; by agent"


def test_the_figure_draws_tokens_and_means_where_they_are():
    rows, labels = [[0], [0], [1], [1]], ["a", "a", "b", "b"]
    corpus = Corpus.from_tokens(rows, labels, Vocab(["low", "high"], ["a", "b"]))
    turned = corpus.with_labels(1 - corpus.targets)
    score = torch.tensor([1.0, 3.0])
    tokens = pd.DataFrame({"id": [0, 1], "attention": score, "q": [1, 0.01]})
    drawing = attention_figure(corpus, tokens, 0.05, [(turned, score)])
    parts = [(e.tag.split("}")[1], e) for e in ElementTree.fromstring(drawing).iter()]
    grey, blue = "#8a8a8a", "var(--blue, #0072B2)"
    dots = [
        (e.get("stroke"), *map(int, re.findall(r"\d+", e.get("d"))[:2]))
        for tag, e in parts
        if tag == "path" and e.get("opacity")
    ]
    (chance, x, y), (significant, x2, y2) = dots
    assert (chance, significant) == (grey, blue)
    assert x < x2 and y > y2  # further to the right, and higher
    lines = [
        (
            e.get("stroke"),
            [tuple(map(float, p.split(","))) for p in e.get("points").split()],
        )
        for tag, e in parts
        if tag == "polyline"
    ]
    (other, shuffled), (own, means) = lines
    assert (other, own) == ("#009E73", "currentColor")
    assert [down for _, down in means] == [y, y2]
    assert [down for _, down in shuffled] == [y2, y]
    assert all(left < right for (left, _), (right, _) in (means, shuffled))
    words = {
        (float(e.get("x")), float(e.get("y"))): e.text
        for tag, e in parts
        if tag == "text"
    }
    assert [e.find("./*").text for tag, e in parts if tag == "g"] == ["attention score"]
    numbers = {
        place: float(text.replace("\u2212", "-"))
        for place, text in words.items()
        if re.fullmatch("\u2212?[\\d.]+", text)
    }
    below = max(y for _, y in numbers)
    across = [n for (_, y), n in sorted(numbers.items()) if y == below]
    up = [
        n for (_, y), n in sorted(numbers.items(), key=lambda x: x[0][1]) if y != below
    ]
    assert across == sorted(across) and up == sorted(up, reverse=True)
    assert len(across) > 2 and len(up) > 2
