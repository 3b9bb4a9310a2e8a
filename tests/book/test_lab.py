"""The scripts of the laboratory, run in node and compared with the package."""

import html
import itertools
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

import attnsel
from attnsel.flow import angle_gap
from attnsel.texts.reviews import generate_reviews
from attnsel.theory import posterior_difference
from attnsel.tokens import Vocab
from support.node import committed, evaluate
from tools import lab_data
from tools.site import lab

# All scripts except the page's, which need a document.
CODE = "".join(map(lab.source, lab.SCRIPTS[:-1]))
CODE += Path(__file__).with_name("lab_probes.js").read_text("utf-8")
IMDB = lab.LAB / "imdb.js"
SETTINGS = {
    "rate": 0.01,
    "optimizer": "adam",
    "E": True,
    "p": True,
    "v": True,
    "uniform": False,
}


def call(expression, data=None):
    return evaluate(CODE, expression, data)


def bags(corpus):
    """Return a corpus in the form that the page uses."""
    counts = corpus.counts
    return {
        "starts": counts.indptr.tolist(),
        "ids": counts.indices.tolist(),
        "counts": counts.data.tolist(),
        "signs": corpus.signs.int().tolist(),
    }


def stored(model):
    """Return the parameters of a model in the form that the page uses."""
    E, p, v = (value.detach() for value in model.parameters())
    return {
        "d": len(p),
        "E": E.flatten().tolist(),
        "p": p.tolist(),
        "v": v.tolist(),
    }


def rounded(*args, **kwargs):
    """Return a float64 model whose parameters are rounded to float32."""
    model = attnsel.AttentionClassifier(*args, **kwargs, dtype=torch.float64)
    with torch.no_grad():
        for value in model.parameters():
            value.copy_(value.float())
    return model


def same(found, expected, part=1e-4):
    """Compare scores with the package's, up to a part of the largest score."""
    for letter, exact in zip("ab", expected.double().T, strict=True):
        shown = torch.tensor(found[letter], dtype=torch.float64)
        assert float((shown - exact).abs().max()) < part * float(exact.abs().max())


@pytest.fixture(scope="module")
def reviews():
    """Return generated reviews for training, and others for testing."""
    corpus = attnsel.Corpus.from_texts(
        *generate_reviews(300, classes=2, stream=0), min_count=10
    )
    texts, labels = generate_reviews(100, classes=2, stream=1)
    test = attnsel.Corpus.from_texts(texts, labels, vocab=corpus.vocab)
    return corpus, test


def test_scores_are_those_of_the_package_step_by_step(reviews):
    corpus, test = reviews
    model = rounded(len(corpus.vocab), 64, seed=0)
    given = {"model": stored(model), "train": bags(corpus), "test": bags(test)}
    found = call("stepsOf(data)", given | {"settings": SETTINGS, "steps": 43})
    history = attnsel.fit(
        model, corpus, steps=43, lr=0.01, test=test, snapshots=(0, 1, 10)
    )
    for step in (0, 1, 10, 43):
        same(found[step]["scores"], history.at(step))
        for name, losses, shares in (
            ("train", history.loss, history.accuracy),
            ("test", history.test_loss, history.test_accuracy),
        ):
            now = found[step][name]
            assert now["loss"] == pytest.approx(float(losses[step]), rel=1e-4)
            assert now["accuracy"] == pytest.approx(float(shares[step]))
    assert history.accuracy[43] > 0.95


@pytest.mark.parametrize(("optimizer", "rate"), [("adam", 0.01), ("gd", 3)])
def test_what_is_trained_moves_as_in_the_package(reviews, optimizer, rate):
    corpus, test = reviews
    names = {"E": "embeddings", "p": "cls", "v": "output"}
    parts = ["E", "p", "v", "Ev", "pv"]
    settings = SETTINGS | {"rate": rate, "optimizer": optimizer}
    given = {"train": bags(corpus), "test": bags(test), "steps": 10}
    given["model"] = stored(rounded(len(corpus.vocab), 16, seed=1))
    given["all"] = [settings | {name: name in of for name in names} for of in parts]
    code = "data.all.map((settings) => stepsOf({...data, settings})[10].scores)"
    for trained, found in zip(parts, call(code, given), strict=True):
        history = attnsel.fit(
            rounded(len(corpus.vocab), 16, seed=1),
            corpus,
            steps=10,
            lr=rate,
            optimizer=optimizer,
            train=[names[name] for name in trained],
            snapshots=(0,),
        )
        same(found, history.at())
        assert float((history.at() - history.at(0)).abs().max()) > 1e-3


def test_a_sign_step_moves_each_number_by_the_step_size(reviews):
    corpus, test = reviews
    model = rounded(len(corpus.vocab), 16, seed=1)
    given = {"model": stored(model), "train": bags(corpus), "test": bags(test)}
    given |= {"settings": SETTINGS | {"optimizer": "sign"}, "steps": 1}
    found = call("stepsOf(data)[1].scores", given)
    attnsel.model.mean_loss(model(corpus), corpus).backward()
    with torch.no_grad():
        for value in model.parameters():
            value -= 0.01 * value.grad.sign()
        same(found, model.scores())


def test_uniform_attention_stays_uniform(reviews):
    corpus, test = reviews
    model = rounded(len(corpus.vocab), 16, seed=1)
    given = {"model": stored(model), "train": bags(corpus), "test": bags(test)}
    given |= {"settings": SETTINGS | {"uniform": True}, "steps": 10}
    found = call("stepsOf(data)[10].scores", given)
    with torch.no_grad():
        model.cls.zero_()
    attnsel.fit(model, corpus, steps=10, lr=0.01, train=("embeddings", "output"))
    assert set(found["a"]) == {0}
    shown = torch.tensor(found["b"], dtype=torch.float64)
    exact = model.scores()[:, 1]
    torch.testing.assert_close(shown, exact, rtol=1e-4, atol=1e-4)


ODD = [[0], [1, 1, 1], [0, 1, 2, 3, 3], [3, 2, 2], [2]]


@pytest.mark.parametrize("spread", [1.0, 900.0])
def test_passes_over_odd_bags_are_those_of_brute_force(spread):
    corpus = attnsel.Corpus.from_tokens(ODD, [1, 0, 1, 1, 0], Vocab(list("abcd")))
    a = spread * torch.tensor([0.5, -0.5, 0.1, 0.45], dtype=torch.float64)
    b = torch.tensor([1.0, -2.0, 0.5, 3.0], dtype=torch.float64)
    code = """(({bags, scores}) => { const read = readings(bags, scores);
      return {...read, ...scoreGradient(bags, read, scores)}; })(data)"""
    given = {"bags": bags(corpus), "scores": {"a": a.tolist(), "b": b.tolist()}}
    found = call(code, given)
    leaf = torch.stack([a, b], dim=1).requires_grad_()
    logits = []
    for row in ODD:
        q = torch.softmax(leaf[row, 0], dim=0)
        logits.append((q * leaf[row, 1]).sum())
    exact = torch.stack(logits)
    torch.nn.functional.softplus(-corpus.signs * exact).mean().backward()
    assert found["logits"] == pytest.approx(exact.tolist(), abs=1e-12)
    assert found["ga"] == pytest.approx(leaf.grad[:, 0].tolist(), abs=1e-12)
    assert found["gb"] == pytest.approx(leaf.grad[:, 1].tolist(), abs=1e-12)
    starts, shares = corpus.counts.indptr, np.array(found["attention"])
    assert np.add.reduceat(shares, starts[:-1]) == pytest.approx(np.ones(5))


def test_stored_texts_come_back(reviews):
    corpus, test = reviews
    found = call("unpacked(data)", lab_data.packed(corpus, test))
    assert found["tokens"] == list(corpus.vocab)
    assert found["size"] == len(corpus)
    assert found["labels"] == "".join(
        str(k) for k in torch.cat([corpus.targets, test.targets]).tolist()
    )
    signs = [2 * int(label) - 1 for label in found["labels"]]
    code = "bagsOf(data.texts, data.signs)"
    held = call(code, {"texts": found["texts"], "signs": signs})
    for name in ("starts", "ids", "counts", "signs"):
        ours, others, start = bags(corpus)[name], bags(test)[name], 0
        if name == "starts":
            others, start = [len(bags(corpus)["ids"]) + k for k in others], 1
        assert held[name] == ours + others[start:]


USUAL = {"reviews": 2000, "least": 10, "planted": 0, "shuffle": False, "seed": 0}


def chosen(source, **changes):
    given = {"reviews": lab_data.packed(*source), "settings": USUAL | changes}
    return call("reviewsOf(unpacked(data.reviews), data.settings)", given)


def test_leans_are_those_of_the_package(reviews):
    found = chosen(reviews)
    for part, corpus in zip(found["leans"], reviews, strict=True):
        lean = np.array([np.nan if x is None else x for x in part])
        np.testing.assert_allclose(lean, posterior_difference(corpus).numpy())
    assert np.isnan(np.array(found["leans"][1], dtype=float)).any()


def test_fewer_reviews_keep_the_tokens_that_are_frequent_in_them(reviews):
    corpus, _ = reviews
    found = chosen(reviews, reviews=100, least=50)
    first = corpus[:100]
    times = np.asarray(first.counts.sum(axis=0)).ravel()
    kept = np.flatnonzero(times >= 50)
    assert 0 < len(kept) < len(corpus.vocab)
    assert found["names"] == [corpus.vocab[s] for s in kept]
    again = first.counts[:, kept]
    assert found["train"]["signs"] == first.signs.int().tolist()
    assert found["train"]["counts"] == again.data.tolist()
    assert found["train"]["ids"] == again.indices.tolist()


def test_a_text_of_unknown_words_is_left_out():
    corpus = attnsel.Corpus.from_tokens(
        [[0, 0], [1], [0, 1], [0]], [0, 1, 1, 0], Vocab(["a", "b"])
    )
    found = chosen((corpus, corpus), least=4)
    assert found["names"] == ["a"]
    for part in ("train", "test"):
        assert found[part]["starts"] == [0, 1, 2, 3]
        assert found[part]["signs"] == [-1, 1, -1]


def test_shuffled_labels_are_the_same_ones_elsewhere(reviews):
    corpus, test = reviews
    found = chosen(reviews, shuffle=True)
    signs = corpus.signs.int().tolist()
    assert sorted(found["train"]["signs"]) == sorted(signs)
    same_place = np.mean(np.array(found["train"]["signs"]) == np.array(signs))
    assert 0.35 < same_place < 0.65
    assert found["test"]["signs"] == test.signs.int().tolist()
    other = chosen(reviews, shuffle=True, seed=1)
    assert other["train"]["signs"] != found["train"]["signs"]


def test_a_word_is_planted_in_a_share_of_one_class(reviews):
    found = chosen(reviews, planted=20)
    assert found["names"][-1] == "xyzzy"
    mark = len(found["names"]) - 1
    starts, ids = found["train"]["starts"], found["train"]["ids"]
    rows = [mark in ids[i:j] for i, j in itertools.pairwise(starts)]
    signs = np.array(found["train"]["signs"])
    assert sum(rows) == round(0.2 * (signs > 0).sum())
    assert (signs[rows] > 0).all()
    assert mark not in found["test"]["ids"]
    assert found["leans"][0][mark] == 1


def test_rank_correlations_are_those_of_scipy():
    rng = np.random.default_rng(0)
    a, b = rng.integers(-3, 4, (2, 50)).tolist()
    lean = rng.integers(-4, 5, 50) / 4
    given = {"a": a, "b": b, "lean": [*lean.tolist(), None]}
    code = "fitsOf(data, rankedLeans(data.lean.map((x) => x ?? NaN)))"
    given["a"], given["b"] = [*a, 7], [*b, 7]  # of a token without a lean
    found = call(code, given)
    exact = [spearmanr(b, lean)[0], spearmanr(a, abs(lean))[0]]
    assert found == pytest.approx(exact)


def drawn(seed):
    """Return the sequences that the page draws, and a corpus of the same sequences."""
    sequences = call("drawnSequences(data)", seed)
    held = sequences["bags"]
    tokens = [
        [s for s, c in zip(ids, counts, strict=True) for _ in range(int(c))]
        for ids, counts in (
            (held["ids"][i:j], held["counts"][i:j])
            for i, j in itertools.pairwise(held["starts"])
        )
    ]
    corpus = attnsel.Corpus.from_tokens(
        tokens, [int(y > 0) for y in held["signs"]], Vocab(sequences["names"])
    )
    return sequences, corpus


@pytest.mark.parametrize("seed", range(3))
def test_drawn_sequences_satisfy_assumption_1(seed):
    sequences, corpus = drawn(seed)
    assert len(corpus) == 80 and len(corpus.vocab) == 60
    assert set(corpus.lengths.tolist()) == {31}
    assert corpus.counts.sum(axis=0).min() > 0
    alpha = attnsel.signed_frequency(corpus)
    assert (alpha[:2] > 0).all() and (alpha[2:4] < 0).all()
    assert float(alpha[4:].abs().max()) == 0
    relevant = corpus.counts[:, :4].toarray()
    assert (relevant.sum(axis=1) == 1).all()
    assert relevant.argmax(axis=1).tolist() == sequences["relevant"]
    assert (posterior_difference(corpus)[:4].abs() == 1).all()


# A first step that loses a class; those that select, and many dimensions, every week.
@pytest.mark.parametrize(
    ("dim", "eta"),
    [
        pytest.param(2048, 150, marks=pytest.mark.weekly),
        pytest.param(2048, 300, marks=pytest.mark.weekly),
        pytest.param(2048, 3000, marks=pytest.mark.weekly),
        pytest.param(64, 100, marks=pytest.mark.weekly),
        (64, 30),
        pytest.param(64, 30000, marks=pytest.mark.weekly),
    ],
)
def test_the_flow_of_the_page_is_that_of_the_package(dim, eta):
    sequences, corpus = drawn(0)
    model = rounded(60, dim, seed=0)
    settings = {"eta": eta, "most": 300, "train": "p"}
    given = {"model": stored(model), "sequences": sequences, "settings": settings}
    found = call("flowOf(data)", given)
    stepped = attnsel.one_step(model, corpus, lr=eta)
    flow = attnsel.gradient_flow(stepped, corpus, max_norm=300.0, record=[30.0])
    relevant = torch.tensor(sequences["relevant"])
    best = attnsel.max_margin(stepped.embeddings, corpus, relevant)
    is_right = (flow.selected == relevant).double()
    last = found["all"][-1]
    assert 300 <= last["norm"] < 305
    for k, sign in enumerate((1, -1)):
        share = float(is_right[corpus.signs == sign].mean())
        assert last["selected"][k] == pytest.approx(share)
    cosine = 1 - float(angle_gap(flow.cls[-1:], best.direction))
    assert last["cosine"] == pytest.approx(cosine, abs=2e-3)
    assert last["loss"] == pytest.approx(float(flow.loss[-1]), rel=0.02, abs=1e-9)
    # The page's path passes through the same points as the package's.
    E = stepped.embeddings.detach()
    for at in (int((flow.norms - 30).abs().argmin()), -1):
        goal = float(flow.norms[at])
        norms = np.array([point["norm"] for point in found["all"]])
        late = norms.argmin()
        scores = np.array([point["tops"][:4] for point in found["all"]])[late:]
        ours = [np.interp(goal, norms[late:], scores[:, k]) for k in range(4)]
        exact = (E[:4] @ flow.cls[at]).numpy()
        assert np.abs(ours - exact).max() < 0.02 * np.abs(exact).max()


def test_the_pull_is_exact_far_out():
    sequences, corpus = drawn(1)
    model = rounded(60, 128, seed=1)
    code = """(({model, bags, norm}) => {
      const {K, start} = tokenSpace(typed(model)), far = start.map((x) => norm * x);
      const problem = {K, start: far, bags, values: scoresOf(typed(model)).b};
      return times(K, pulls(problem, far.map(() => 0)).direction);
    })(data)"""
    E = model.embeddings.detach()
    start = model.cls.detach().clone()
    given = {"model": stored(model), "bags": sequences["bags"]}
    for norm in (1, 30, 3000):
        found = call(code, given | {"norm": norm})
        with torch.no_grad():
            model.cls.copy_(norm * start)
        direction, _ = attnsel.flow.cls_gradient(model, corpus)
        exact = (E @ direction).tolist()
        assert found == pytest.approx(exact, abs=1e-5 * max(map(abs, exact)))


def test_a_flow_ends_where_the_pulls_cancel():
    # Two sequences of one token each: no attention can move.
    sequences = {
        "bags": {"starts": [0, 1, 2], "ids": [0, 1], "counts": [1, 1], "signs": [1, -1]}
    }
    model = stored(rounded(2, 4, seed=0))
    code = """(({model, sequences: {bags}}) => {
      const values = scoresOf(typed(model)).b;
      return [...path({...tokenSpace(typed(model)), bags, values}, 10)].length;
    })(data)"""
    assert call(code, {"model": model, "sequences": sequences}) == 1


def test_settings_come_back_from_an_address():
    code = """(() => { const address = new URLSearchParams(data);
      const settings = settingsFrom("reviews", address);
      return [settings, addressOf("reviews", settings),
        inWordsOf("reviews", settings), unknownIn("reviews", address)]; })()"""
    link = (
        "tab=reviews&d=256&shuffle=1&uniform=0&rate=7&nothing=1&seed=3&view=1&words=7"
    )
    settings, address, words, unknown = call(code, link)
    assert (
        settings["d"] == 256 and settings["shuffle"] is True and settings["seed"] == 3
    )
    assert settings["rate"] == 0.01  # there is no such step size
    assert settings["uniform"] is False
    assert address == "shuffle=true&d=256&seed=3"
    assert words == "shuffled labels: yes, dimension d: 256, seed: 3"
    assert unknown == [["rate", "7"], ["nothing", "1"], ["words", "7"]]
    assert call(code, address)[:2] == [settings, address]


TURNED = [
    ({"rate": 100}, "After |The training diverged"),
    ({"optimizer": "gd", "rate": 0.3}, "show no V yet"),
    ({"optimizer": "gd", "rate": 100}, "The training diverged"),
    ({"optimizer": "sign", "rate": 0.1}, "After "),
    ({"d": 256, "least": 200, "reviews": 100}, "After "),
    ({"planted": 1, "reviews": 100}, "written into 1 positive training review, has"),
    ({"planted": 100, "shuffle": True}, "shuffled. .*written into 1[0-9]{2} training"),
    ({"planted": 100, "uniform": True}, "Every score is 0"),
    ({"E": False, "v": False}, "After 25 steps"),
    ({"E": False, "p": False, "v": False}, "^Nothing is trained, so nothing moves"),
]


def test_each_setting_at_its_extremes_is_described_correctly(reviews):
    given = {
        "reviews": lab_data.packed(*reviews),
        "turned": [{"d": 16} | changes for changes, _ in TURNED],
        "steps": [{"eta": eta, "d": d} for eta, d in ((10, 64), (30000, 2048))],
    }
    code = """(() => [
      data.turned.map((settings) => said("reviews", settings, unpacked(data.reviews))),
      data.steps.map((settings) => said("stages", settings))])()"""
    trained, stepped = call(code, given)
    for (changes, expected), words in zip(TURNED, trained, strict=True):
        assert re.search(expected, words[0]), (changes, words)
        assert ("xyzzy" in words[0]) == ("planted" in changes), (changes, words)
    for words in trained + stepped:
        assert not re.search("NaN|Infinity|undefined|null", " ".join(map(str, words)))


def rises(line):
    """Return whether a drawn line goes up."""
    return line[-1][1] < line[0][1]


def test_words_are_drawn_in_the_colours_of_their_sides_and_curves_as_named():
    def record(step, accuracy, loss):
        kinds = zip(("train", "test"), accuracy, loss, strict=True)
        parts = {name: {"accuracy": x, "loss": y} for name, x, y in kinds}
        return parts | {"step": step, "scores": {"a": [1, -4], "b": [-2, 3]}}

    records = [record(0, [0.5, 0.6], [0.7, 0.6]), record(1, [0.9, 0.5], [0.3, 0.65])]
    code = """((data) => { const views = [data.lean, data.lean.map((x) => -x)].map(
        (lean) => ({lean, named: []}));
      return [0, 1].map((view) => drawn(reviewsTab, {...data,
        views: new Map([[0, views]])}, {view})); })(data)"""
    run = {"names": ["bad", "good"], "lean": [-0.5, 0.5], "records": records}
    own, unseen = call(code, run)
    for panel, name, left_is_higher in zip(
        own[:2], ("value", "score"), (False, True), strict=True
    ):
        assert panel["words"][-2:] == ["lean of the word", name]
        (one, x, y), (other, x2, y2) = panel["dots"]
        assert (one, other) == ("orange", "blue") and x < x2
        assert (y < y2) == left_is_higher
    # With new leans, words change sides, and keep their colours and heights.
    (one, x, y), (other, x2, y2) = unseen[0]["dots"]
    assert (one, other) == ("orange", "blue") and x2 < x and y > y2
    for panel, name, ways in zip(
        own[2:], ("accuracy", "loss"), ([True, False], [False, True]), strict=True
    ):
        assert panel["words"][-2:] == ["step", name]
        train, test = panel["lines"][1:]
        assert (train[1], test[1]) == (False, True)  # new reviews are dashed
        assert [rises(train[2]), rises(test[2])] == ways


def test_the_stages_are_drawn_in_the_colours_of_their_classes():
    def record(length, tops, attention, cosine):
        return {"length": length, "norm": 2, "tops": tops, "attention": attention} | {
            "cosine": cosine,
            "scores": {"a": [3, 3, 1, 1, *56 * [0]]},
        }

    records = [
        record(1, [0, 0, 0, 0, 0], [0.5, 0.5], 0.9),
        record(10, [4, 6, -2, -4, -8], [0.9, 0.1], 0.2),
    ]
    run = {"records": records, "texts": [[0, 4], [2, 4]]}
    run["goal"] = [2, 2, 1, 1, *56 * [0]]
    _, arrow, scores, shares = call("drawn(stagesTab, data, {})", run)
    x, y = arrow["lines"][-2][2][1]  # the end of p
    assert x - 170 > 84 - y > 0  # 3 ahead across, 1 up
    for panel, colours, ways in (
        (scores, 2 * ["blue"] + 2 * ["orange"] + ["grey"], [1, 1, 0, 0, 0]),
        (shares, ["blue", "orange", "green"], [1, 0, 0]),
    ):
        lines = panel["lines"][1:]
        assert [colour for colour, *_ in lines] == colours
        assert [rises(path) for *_, path in lines] == ways


def test_the_legend_names_the_sides_of_the_colours():
    page = lab.place("page=1")
    legend = re.findall(r'class="swatch (\w+)">([^<]+)<', page)
    sides = [(name, text) for name, text in legend if name in ("positive", "negative")]
    assert len(sides) >= 4 and all(name in text for name, text in sides)


def test_the_committed_reviews_are_what_the_page_says():
    page = (lab.ROOT / "book" / "train.md").read_text("utf-8")
    for name in ("imdb", "generated"):
        held = committed(lab.LAB / f"{name}.js")
        assert len(held["labels"]) == lab_data.TRAIN + lab_data.TEST
        assert held["size"] == lab_data.TRAIN
        found = call("unpacked(data)", held)["texts"][: lab_data.TRAIN]
        times = np.bincount([s for text in found for s in text])
        assert times.min() >= lab_data.MIN_COUNT
    for number in (lab_data.TRAIN, lab_data.TEST):
        assert f"{number:,} " in page


def test_shuffled_labels_draw_a_v_too():
    # Values correlate with the leans in other reviews only if labels are real.
    code = """[false, true].map((shuffle) => {
      const settings = {d: 16, rate: 0.1, reviews: 500, shuffle};
      const run = trained("reviews", settings, unpacked(data), 15);
      const now = run.records.at(-1);
      return [now, ...reviewsTab.fits(run, now, 0)]; })"""
    for holds, (end, own, unseen) in zip(
        (True, False), call(code, committed(IMDB)), strict=True
    ):
        assert end["train"]["accuracy"] > 0.9
        assert min(own) > 0.5
        assert (unseen[0] > 0.15) == holds
        assert (end["test"]["accuracy"] > 0.7) == holds


PAUSES = [
    ((0.99, 0.5), None, "because 99% of the training reviews are classified correctly"),
    ((0.98, 0.5), None, "paused here after 300 steps"),
    ((0.99, 0.5), (0.01, 2.0), "better and new reviews worse: it memorizes"),
    ((0.99, 0.5), (0.01, 0.4), "these steps also help on new reviews"),
    ((0.99, 0.5), (0.20, 2.0), r"to 0\.2\. $"),
]


def test_a_pause_and_what_follows_it_are_described():
    def record(step, accuracy, own, unseen):
        train, test = {"accuracy": accuracy, "loss": own}, {"loss": unseen}
        return {"step": step, "train": train, "test": test | {"accuracy": 0.8}}

    code = "data.map((all) => pauseSentence({records: all, pause: 0}, all.at(-1)))"
    given = [
        [record(300, pause[0], 0.1, pause[1])]
        + ([record(350, 1, *later)] if later else [])
        for pause, later, _ in PAUSES
    ]
    for (*_, expected), sentence in zip(PAUSES, call(code, given), strict=True):
        assert re.search(expected, sentence), sentence
        assert ("memorizes" in sentence) == ("memorizes" in expected)
        assert ("help" in sentence) == ("help" in expected)


def compared(*pairs, uniform=False, shuffle=False, counts=(803, 203)):
    """Return the page's sentence about two finished runs, for each pair of runs."""
    code = """data.pairs.map((runs) => {
      const summaries = runs.map((run) => run && {...run,
        fits: new Map(run.fits.map((fits, k) => [[0, FREQUENT][k], [[], fits]]))});
      const settings = {uniform: data.uniform, shuffle: data.shuffle};
      const summaryOf = (asked) => summaries[Number(
        asked.uniform !== settings.uniform || asked.shuffle !== settings.shuffle)];
      const views = new Map(data.counts.map((length, k) =>
        [[0, FREQUENT][k], [{}, {ranked: {known: {length}}}]]));
      return controlSentence({settings, summaryOf, views, pause: 0,
        records: [{moves: true}]});
    })"""
    how = {"uniform": uniform, "shuffle": shuffle, "counts": counts}
    return call(code, how | {"pairs": pairs})


def finished(every=(0.3, 0.2), many=(0.5, 0.4), right=(), loss=0.5):
    """Return a finished run with these correlations on new reviews."""
    parts = {"train": {"loss": loss}, "test": {"loss": loss, "accuracy": 0.8}}
    return parts | {"fits": [list(every), list(many)], "right": list(right)}


def test_uniform_attention_is_compared_review_by_review():
    cases = [
        (101, 86, "Chance alone could explain"),
        (61, 40, "softmax attention helps here"),  # 21 > 2 sqrt(101)
        (60, 40, "Chance alone could explain"),  # 20 = 2 sqrt(100)
        (40, 61, "softmax attention harms here"),
        (0, 0, "Chance alone could explain"),
    ]
    pairs = [
        [finished(right=k * [own] + n * [1 - own] + [1, 0]) for own in (0, 1)]
        for k, n, _ in cases
    ]
    sentences = compared(*pairs, uniform=True)
    for (gain, harm, expected), sentence in zip(cases, sentences, strict=True):
        assert f"disagree on {gain + harm} new reviews" in sentence
        assert f"{gain} of these correctly, and uniform attention {harm}." in sentence
        assert expected in sentence


@pytest.mark.parametrize("shuffle", [False, True])
def test_true_labels_are_compared_with_shuffled_ones(shuffle):
    # Two standard errors are 0.1 for 803 words and 0.2 for 203.
    start = "The V of the scores "
    does, not_ = f"{start}distinguishes true", f"{start}does not distinguish true"
    cases = [
        ((0.09, 0.19), f"{does} labels from shuffled ones, among all words and among"),
        ((0.11, 0.19), f"{does} labels from shuffled ones among frequent words, but"),
        ((0.09, 0.21), f"{does} labels from shuffled ones among all words, but not"),
        ((0.11, 0.21), f"{not_} labels from shuffled ones."),
        ((0.29, 0.39), f"{not_} labels from shuffled ones."),
        ((0.31, 0.19), f"{does} labels from shuffled ones among frequent words; among"),
        ((0.11, 0.61), f"{not_} labels from shuffled ones; among frequent words, the"),
    ]
    pairs = [[finished(), finished((0.3, a), (0.5, b))] for (a, b), _ in cases]
    if shuffle:
        pairs = [pair[::-1] for pair in pairs]
    for ((a, b), expected), (_, table, verdict) in zip(
        cases, compared(*pairs, shuffle=shuffle), strict=True
    ):
        assert expected in verdict
        assert "The values do not distinguish true labels" in verdict
        every, many = (f"{x:.2f}"[1:] for x in (a, b))
        heads, *values, one, two = table["rows"]
        assert heads[1:] == ["true labels", "shuffled labels"] and len(values) == 2
        assert one == ["score and size of the lean, all 803 words", ".20", every]
        assert "the 203 words with 100 or more" in two[0] and two[1:] == [".40", many]
    values = compared([finished((0.5, 0), (0.7, 0)), finished((0.3, 0), (0.4, 0))])
    assert (
        "The values distinguish true labels from shuffled ones, among" in values[0][2]
    )


def test_descent_on_e_alone_shows_a_v_and_descent_by_default_none():
    alone = {"rate": 100, "optimizer": "gd", "p": False, "v": False, "least": 100}
    assert 'value="optimizer=gd&rate=100&p=0&v=0&least=100"' in html.unescape(
        lab.place("")
    )
    code = """((reviews, settings) => {
      const run = trained("reviews", settings, unpacked(reviews), 120);
      const now = run.records.at(-1);
      const all = run.records.filter((_, k) => k % 5 === 1).map((record) =>
        [reviewsTab.fits(run, record, 0)[0][1], descentSentence(run, record)]);
      return [reviewsTab.fits(run, now, 0), all,
        lawSentence(run, now, {across: "value"}), {...now.scores}]; })(...data)"""
    given = [committed(IMDB), alone | {"reviews": 500}]
    (own, unseen), described, law, scores = call(code, given)
    assert own[1] > 0.4 and unseen[1] > 0.3
    fits = [fit for fit, _ in described]
    assert any(0.2 < fit < 0.3 for fit in fits) and any(0.3 < fit < 0.4 for fit in fits)
    for fit, sentence in described:
        assert sentence.endswith("So the V is there.") == (fit > 0.3)
        assert ("show no V yet" in sentence) == (fit < 0.3)
    a, b = (np.array(scores[letter]) for letter in "ab")
    square = np.corrcoef(a, b * b)[0, 1]
    assert f"a correlation of {square:.2f}".replace("0.", ".") in law


def test_the_reason_why_a_word_has_no_lean_is_named():
    code = """[[0, 1, 0], [1, 1, 100], [1, 0, 100], [0, 1, 100]].map(
      ([at, view, least]) => {
      const both = [[0.25, 1], [-0.5, NaN]].map((all) =>
        ({lean: all.map((x, s) => least > data[s] ? NaN : x)}));
      return reviewsTab.point({names: ["often", "seldom"], times: data,
        views: new Map([[least, both]])},
        {train: {loss: 1}, test: {loss: 1}, scores: {a: [1, 2], b: [3, 4]}},
        {at, view, least}); })"""
    for times, seen in (
        ([500, 20], "fewer than 100"),
        ([500, 300], "in no new review"),
    ):
        first, unseen, own, last = call(code, times)
        assert first.endswith(", lean -0.5") and first == last
        assert seen in unseen and "lean" in own
        assert ("no lean" in own) == (times[1] < 100)


@pytest.mark.parametrize(
    ("step", "when"),
    [(0, "before the first step"), (1, "after 1 step"), (2, "2 steps")],
)
def test_the_headline_counts_the_steps_of_both_runs(step, when):
    code = """((step) => {
      const now = {step, moves: true, train: {accuracy: 1, loss: 0},
        test: {accuracy: 0.5, loss: 1}};
      return reviewsTab.headline({settings: {}}, now, now); })(data)"""
    own, other = call(code, step).lower().split(". ")
    assert when in own and other.endswith(f"{when}.")


def test_gradient_descent_puts_the_planted_word_first_and_adam_does_not():
    code = """((reviews, all) => all.map((changes) => {
      const run = trained("reviews", {planted: 20, ...changes}, unpacked(reviews), 300);
      return plantedSentence(run, run.records.at(-1)); }))(...data)"""
    given = [committed(IMDB), [{}, {"optimizer": "gd", "rate": 3}]]
    adam, descent = call(code, given)
    place = int(re.search(r"has rank ([\d,]+) by value", adam)[1].replace(",", ""))
    assert place > 100 and "Gradient descent puts the word first." in adam
    assert "rank 1 by value and rank 1 by score" in descent
    assert "Adam" not in descent


def test_the_step_sizes_that_lose_a_class_are_counted():
    code = """data.map((own) => sweepSentence({settings: {eta: 300, d: 64, seed: 0},
      summaryOf: ({eta}) => eta === 300 ? own : eta === 10 ? [1, 1] : undefined}))"""
    lost, kept, alone = call(code, [[1, 0], [1, 1], None])
    assert lost == "Of 2 first-step sizes tried, 1 loses a class (300)."
    assert kept == "Of 2 first-step sizes tried, none loses a class."
    assert alone == ""
