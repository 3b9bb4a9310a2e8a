"""The scripts of the line-up, run in node and compared with the package."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import binom, spearmanr

import attnsel
from attnsel.texts.reviews import generate_reviews
from attnsel.theory import posterior_difference
from attnsel.tokens import Vocab
from support.node import committed, evaluate
from tools import lab_data
from tools.site import lab

# All scripts except the page's, which need a document.
CODE = "".join(map(lab.source, lab.SCRIPTS[:-1])) + lab_data.PLAY
CODE += Path(__file__).with_name("lineup_probes.js").read_text("utf-8")


ROUNDS = json.loads(lab.ROUNDS.read_text("utf-8"))

# Rounds are played once, in one process.
pytestmark = pytest.mark.xdist_group("lineup")


def call(expression, data=None):
    return evaluate(CODE, expression, data)


@pytest.fixture(scope="module")
def reviews():
    """Return generated reviews for training, and others for testing."""
    corpus = attnsel.Corpus.from_texts(
        *generate_reviews(400, classes=2, stream=0), min_count=4
    )
    texts, labels = generate_reviews(200, classes=2, stream=1)
    test = attnsel.Corpus.from_texts(texts, labels, vocab=corpus.vocab)
    return corpus, test


@pytest.fixture(scope="module")
def imdb():
    return committed(lab.LINEUP / "imdb.js")


@pytest.fixture(scope="module")
def played(imdb):
    """Return rounds of both questions, each trained to the end."""
    rounds = [(1, "labels"), (2, "labels"), (1, "attention")]
    code = "data[1].map(([number, question]) =>"
    code += " told(data[0], number, question, data[2]))"
    found = call(code, [imdb, rounds, ROUNDS])
    return dict(zip(rounds, found, strict=True))


def corpus_of(rows, signs, names):
    labels = [int(sign > 0) for sign in signs]
    return attnsel.Corpus.from_tokens(rows, labels, Vocab(names, (0, 1)))


def test_stored_reviews_come_back_with_the_leans_of_the_package(reviews):
    corpus, test = reviews
    found = call("readLineup(data)", lab_data.packed_lineup(corpus, test))
    size, names = found["size"], found["words"]
    chosen = lab_data.short_reviews(corpus, lab_data.SHORT_TRAIN)
    assert size == len(chosen) and max(corpus.lengths[chosen]) <= lab_data.LONGEST
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
    stored = lab_data.packed_lineup(*reviews)
    code = """(() => {
      const found = told(data[0], 3, data[1], data[2]);
      const again = roundOf(readLineup(data[0]), 3, data[1]);
      found.models.forEach((run, k) => { run.bags = again.models[k].bags; });
      return found;
    })()"""
    found = call(code, [stored, question, ROUNDS])
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


def test_before_the_bet_both_models_are_described_alike(played):
    for (_, question), found in played.items():
        one, two = (run["measured"]["fits"][0] for run in found["models"])
        assert min(one[0], two[0]) > 0.7
        assert abs(one[0] - two[0]) < 0.06
        if question == "labels":
            assert min(one[1], two[1]) > 0.65
            assert abs(one[1] - two[1]) < 0.08
        for run in found["models"]:
            shown = run["measured"]["fits"][0][: 2 if question == "labels" else 1]
            for fit in shown:
                assert f"lean is {fit:.2f}.".replace(" 0.", " .") in run["described"]
            assert ("scores" in run["described"]) == (question == "labels")


def test_only_true_labels_hold_in_new_reviews_and_name_their_words(played):
    for found in (played[1, "labels"], played[2, "labels"]):
        real = found["models"][found["answer"]]["measured"]
        noise = found["models"][1 - found["answer"]]["measured"]
        assert real["fits"][1][0] > 0.35 and abs(noise["fits"][1][0]) < 0.1
        assert real["accuracy"] > 0.7 and 0.4 < noise["accuracy"] < 0.6
        text = found["verdicts"][0]["more"][-1].replace(".", "").replace(",", "")
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


def depth(run, scores):
    """Return the height of the ends of the mean line above its lowest point."""
    places = np.array(run["orders"][0])
    part = np.minimum(19, 20 * places).astype(int)
    means = np.bincount(part, scores) / np.bincount(part)
    return (means[0] + means[-1]) / 2 - means.min()


def test_the_verdict_names_the_model_and_its_numbers(played):
    for found in played.values():
        answer = found["answer"]
        real, other = "AB"[answer], "AB"[1 - answer]
        runs = (found["models"][k] for k in (answer, 1 - answer))
        right = [run["measured"]["accuracy"] for run in runs]
        error = max(100 * np.sqrt(x * (1 - x) / 500) for x in right)
        for bet, said in enumerate(found["verdicts"]):
            begins = "Right" if bet == answer else "No"
            assert said["first"].startswith(f"{begins}: model {real} ")
            numbers = f"{real} classifies {right[0]:.0%} correctly and {other} "
            assert f"{numbers}{right[1]:.0%}" in said["right"]
            assert f"(standard error: {error:.0f} points)" in said["right"]


def test_the_surprise_names_the_deeper_v_and_the_steps_behind_it(played):
    for found in (played[1, "labels"], played[2, "labels"]):
        answer = found["answer"]
        one, two = (found["models"][k] for k in (answer, 1 - answer))
        real, other = "AB"[answer], "AB"[1 - answer]
        deep = [depth(run, run["scores"]["a"]) for run in (one, two)]
        said, steps = found["verdicts"][0], [run["now"]["step"] for run in (one, two)]
        assert (
            deep[1] > deep[0] and f"the deeper V belongs to {other}" in said["surprise"]
        )
        assert f"(here {steps[1]} instead of {steps[0]})" in said["because"]
        text = " ".join(said["more"])
        assert f"{deep[0]:.1f} ({real}) and {deep[1]:.1f} ({other})" in text
        # After equal numbers of steps, the difference vanishes.
        same = [depth(run, run["path"][min(steps)]["a"]) for run in (one, two)]
        assert f"After {min(steps)} steps each, the ends" in found["same"]
        assert f"{same[0]:.1f} ({real}) and {same[1]:.1f} ({other})" in found["same"]
        assert same[1] - same[0] < deep[1] - deep[0] - 1


def counted(stored, question, end):
    given = {"stored": stored, "question": question, "from": 1, "to": end + 1}
    return call("counted(data)", given)


def test_noise_draws_the_deeper_v_because_it_takes_more_steps(imdb):
    found = lab_data.summary("labels", counted(imdb, "labels", 6))
    assert found["deeper"] >= 5
    assert found["depth"][1] - found["depth"][0] > 1.5
    assert abs(found["same"][1] - found["same"][0]) < 0.6
    labels = ROUNDS["labels"]
    assert labels["least"] <= found["least"] and found["most"] <= labels["most"]
    assert labels["rounds"] == lab_data.ROUNDS["labels"] and labels["deeper"] >= 95
    assert abs(labels["same"][1] - labels["same"][0]) < 0.2


@pytest.mark.weekly
@pytest.mark.parametrize("question", lab_data.ROUNDS)
def test_what_is_said_of_the_first_rounds_is_counted(imdb, question):
    found = counted(imdb, question, lab_data.ROUNDS[question])
    assert lab_data.summary(question, found) == ROUNDS[question]


def test_the_same_round_is_the_same_and_others_are_not(imdb):
    code = """[1, 1, 2].map((number) => {
      const {answer, models} = roundOf(readLineup(data), number, "labels");
      return [answer, models[0].names, [...models[0].model.E.slice(0, 9)]]; })"""
    one, again, other = call(code, imdb)
    assert one == again and one[1:] != other[1:]


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


def test_the_result_of_a_game_is_compared_with_a_coin():
    for bets in ([True], [False], [True, False, True, True, False], [True] * 5):
        text = call('resultText(data, "labels")', bets)
        chance = binom.sf(sum(bets) - 1, len(bets), 0.5)
        marks = "".join("✓" if bet else "✗" for bet in bets)
        assert text.startswith(
            f"I was right in {sum(bets)} of {len(bets)} rounds ({marks})."
        )
        assert f"A coin does as well in {100 * chance:.0f}% of cases." in text


def test_the_still_is_a_round_that_can_be_played(imdb):
    still = json.loads(lab.STILL.read_text("utf-8"))
    given = {"stored": imdb, "number": lab_data.STILL, "rounds": ROUNDS}
    found = call("shown(data)", given)
    found.pop("models")
    assert still == found
    page = lab.lineup_place()
    assert f"picture of round {still['round']}." in page
    assert all(line in page for line in still["answer"])
