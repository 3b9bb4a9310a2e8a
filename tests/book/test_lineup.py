"""The line-up of the landing page, in node, against the package."""

import itertools
import json

import numpy as np
import pytest
import torch
from scipy.stats import binom, spearmanr

import attnsel
from attnsel.texts.reviews import generate_reviews
from attnsel.theory import posterior_difference
from attnsel.tokens import Vocab
from support.node import committed, evaluate
from tools import lineup_data
from tools.site import lab, lineup

# Everything but the page, which needs a document.
CODE = "".join(map(lab.source, lineup.SCRIPTS[:-1]))
CODE += """
// A round before and after its training, and what is said of it.
function whole(stored, number, question) {
  const played = roundOf(readLineup(stored), number, question);
  const copy = ({d, E, p, v}) => ({d, E: [...E], p: [...p], v: [...v]});
  const starts = played.models.map(({model}) => copy(model));
  const trail = [];
  while (advance(played)) { trail.push(played.models.map(({now}) => now)); }
  const models = played.models.map((run, k) => ({start: starts[k], now: run.now,
    scores: run.scores, names: run.names, leans: run.leans,
    measured: measured(run), described: described(run, question)}));
  return {answer: played.answer, models, trail, kinds: kindsOf(played),
    verdicts: [0, 1].map((bet) => verdict(played, bet))};
}
"""


# Rounds are played to their ends once, in one process.
pytestmark = pytest.mark.xdist_group("lineup")


def call(expression, data=None):
    return evaluate(CODE, expression, data)


@pytest.fixture(scope="module")
def reviews():
    """Generated reviews, and others, as the page gets them."""
    corpus = attnsel.Corpus.from_texts(
        *generate_reviews(400, classes=2, stream=0), min_count=4
    )
    texts, labels = generate_reviews(200, classes=2, stream=1)
    test = attnsel.Corpus.from_texts(texts, labels, vocab=corpus.vocab)
    return corpus, test


@pytest.fixture(scope="module")
def imdb():
    return committed(lineup.LINEUP / "imdb.js")


@pytest.fixture(scope="module")
def played(imdb):
    """Return rounds of both questions, trained to their ends."""
    rounds = [(1, "labels"), (2, "labels"), (1, "attention")]
    code = "data[1].map(([number, question]) => whole(data[0], number, question))"
    found = call(code, [imdb, rounds])
    return dict(zip(rounds, found, strict=True))


def corpus_of(rows, signs, names):
    labels = [int(sign > 0) for sign in signs]
    return attnsel.Corpus.from_tokens(rows, labels, Vocab(names, (0, 1)))


def test_stored_reviews_come_back_with_the_leans_of_the_package(reviews):
    corpus, test = reviews
    found = call("readLineup(data)", lineup_data.packed(corpus, test))
    size, names = found["size"], found["words"]
    chosen = lineup_data.short_reviews(corpus, lineup_data.TRAIN)
    assert size == len(chosen) and max(corpus.lengths[chosen]) <= lineup_data.LONGEST
    place = {corpus.vocab[s]: s for s in range(len(corpus.vocab))}
    kept = {place[name] for name in names}
    for i, row in zip(chosen, found["texts"][:size], strict=True):
        ids = {int(s) for s in corpus.counts[[i]].indices}
        assert {place[names[s]] for s in row} == ids & kept
        assert len(row) == len(set(row))
    assert found["signs"][:size] == corpus.signs[chosen].int().tolist()
    once = [
        sorted({int(s) for s in test.counts[[i]].indices}) for i in range(len(test))
    ]
    unseen = corpus_of(once, test.signs.tolist(), list(corpus.vocab))
    exact = posterior_difference(unseen)[[place[name] for name in names]]
    shown = np.array([np.nan if x is None else x for x in found["unseen"]])
    np.testing.assert_allclose(shown, exact.numpy())


@pytest.mark.parametrize("question", ["labels", "attention"])
def test_both_models_train_as_in_the_package(reviews, question):
    stored = lineup_data.packed(*reviews)
    code = """(() => {
      const found = whole(data[0], 3, data[1]);
      const again = roundOf(readLineup(data[0]), 3, data[1]);
      found.models.forEach((run, k) => { run.bags = again.models[k].bags; });
      return found;
    })()"""
    found = call(code, [stored, question])
    for k, run in enumerate(found["models"]):
        bags, names = run["bags"], run["names"]
        rows = [bags["ids"][i:j] for i, j in itertools.pairwise(bags["starts"])]
        corpus = corpus_of(rows, bags["signs"], names)
        model = attnsel.AttentionClassifier(
            len(names), run["start"]["d"], seed=0, dtype=torch.float64
        )
        with torch.no_grad():
            E, p, v = (torch.tensor(run["start"][part]) for part in "Epv")
            model.embeddings[:] = E.reshape(len(names), -1)
            model.output[:] = v
            model.cls[:] = p
        lacks = question == "attention" and k != found["answer"]
        if lacks:
            with torch.no_grad():
                model.cls.zero_()
        trained = ("embeddings", "output") if lacks else ("embeddings", "cls", "output")
        steps = run["now"]["step"]
        history = attnsel.fit(model, corpus, steps=steps, lr=0.01, train=trained)
        for letter, exact in zip("ab", model.scores().T, strict=True):
            shown = torch.tensor(run["scores"][letter], dtype=torch.float64)
            # Adam divides by the size of a gradient. Where that is nearly 0, the
            # rounding of single precision decides which way a number moves.
            error = (shown - exact).square().mean().sqrt()
            assert float(error) <= 5e-3 * float(exact.square().mean().sqrt())
        accuracy = run["now"]["train"]["accuracy"]
        assert accuracy == pytest.approx(float(history.accuracy[-1]))
        lean = posterior_difference(corpus)
        np.testing.assert_allclose(run["leans"][0], lean.numpy())
        values = run["scores"]["b"]
        fit = run["measured"]["fits"][0][0]
        assert fit == pytest.approx(spearmanr(values, run["leans"][0])[0])


def test_before_the_bet_the_two_pictures_are_alike_and_described_alike(played):
    for (_, question), found in played.items():
        one, two = (run["measured"]["fits"][0] for run in found["models"])
        assert min(one[0], two[0]) > 0.7
        assert abs(one[0] - two[0]) < 0.06
        if question == "labels":
            assert min(one[1], two[1]) > 0.65
            assert abs(one[1] - two[1]) < 0.08
        for run in found["models"]:
            begins = "The values rise from left to right: rank correlation"
            assert run["described"].startswith(begins)
            assert ("scores" in run["described"]) == (question == "labels")


def test_only_true_labels_hold_in_new_reviews_and_name_their_words(played):
    for found in (played[1, "labels"], played[2, "labels"]):
        real = found["models"][found["answer"]]["measured"]
        noise = found["models"][1 - found["answer"]]["measured"]
        assert real["fits"][1][0] > 0.35 and abs(noise["fits"][1][0]) < 0.1
        assert real["accuracy"] > 0.7 and 0.4 < noise["accuracy"] < 0.6
        text = found["verdicts"][0][-1].replace(".", "").replace(",", "")
        words, others = text.removeprefix("For example ").split("; ")
        assert {"bad", "worst"} <= set(words.split()) and "worst" not in others


def test_without_attention_new_reviews_are_classified_nearly_as_well(played):
    found = played[1, "attention"]
    real, plain = (found["models"][k] for k in (found["answer"], 1 - found["answer"]))
    accuracy = plain["measured"]["accuracy"]
    assert accuracy > 0.7 and abs(real["measured"]["accuracy"] - accuracy) < 0.06
    assert set(plain["scores"]["a"]) == {0}


def test_both_models_arrive_together(played):
    for found in played.values():
        steps = [run["now"]["step"] for run in found["models"]]
        assert steps[0] != steps[1]
        for run in found["models"]:
            assert 0.98 <= run["now"]["train"]["accuracy"] < 0.99
        for one, two in found["trail"]:
            gap = one["train"]["accuracy"] - two["train"]["accuracy"]
            assert abs(gap) < 0.25


def test_the_verdict_names_the_model_and_its_numbers(played):
    for (_, question), found in played.items():
        answer = found["answer"]
        real, other = "AB"[answer], "AB"[1 - answer]
        ends = "learned something" if question == "labels" else "has attention"
        for bet, (first, *rest) in enumerate(found["verdicts"]):
            begins = "Right" if bet == answer else "No"
            assert first == f"{begins}: model {real} {ends}."
            accuracies = [
                f"{100 * found['models'][k]['measured']['accuracy']:.0f}%"
                for k in (answer, 1 - answer)
            ]
            text = " ".join(rest)
            assert f"{real} classifies {accuracies[0]} of new reviews" in text
            assert f"{other} {accuracies[1]}" in text


def test_the_same_round_is_the_same_and_others_are_not(imdb):
    code = """[1, 1, 2].map((number) => {
      const {answer, models} = roundOf(readLineup(data), number, "labels");
      return [answer, models[0].names, [...models[0].model.E.slice(0, 9)]]; })"""
    one, again, other = call(code, imdb)
    assert one == again and one[1:] != other[1:]


def test_the_answer_is_a_or_b_about_equally_often(imdb):
    code = """(() => { const small = {...readLineup(data)};
      small.words = small.words.slice(0, 20);
      small.texts = small.texts.map((text) => text.filter((s) => s < 20));
      return Array.from({length: 60}, (_, k) =>
        roundOf(small, k + 1, "labels").answer); })()"""
    found = call(code, imdb)
    assert 20 <= sum(found) <= 40


def test_words_are_ordered_by_their_leans_and_ties_by_chance():
    lean = [0.5, None, -1.0, 0.5, 0.5, 0.0]
    code = """[1, 2, 3].map((seed) =>
      orderOf(data.map((x) => x ?? NaN), randomNumbers(seed)))"""
    found = call(code, lean)
    for order in found:
        assert order[1] is None  # as JSON has NaN
        assert [order[2], order[5]] == [0.1, 0.3]
        assert sorted(order[k] for k in (0, 3, 4)) == [0.5, 0.7, 0.9]
    assert len({tuple(order) for order in found}) > 1


def test_a_score_is_compared_with_a_coin():
    for played_, won in [(1, 1), (1, 0), (5, 3), (10, 9)]:
        text = call(f"scoreText({won}, {played_})")
        chance = binom.sf(won - 1, played_, 0.5)
        share = f"A coin does as well in {100 * chance:.0f}% of cases."
        assert text == f"You: {won} of {played_}. {share}"


def test_the_still_is_a_round_that_can_be_played(imdb):
    still = json.loads(lineup.STILL.read_text("utf-8"))
    found = lineup_data.played(imdb, lineup_data.STILL)
    found.pop("models")
    assert still == found
    assert f"Round {still['round']}." in lineup.place()
    assert still["answer"].startswith(("Model A. ", "Model B. "))
