"""Reviews for the laboratory and the line-up, written by `python -m tools.lab_data`.

The written scripts contain labels and tokens of reviews, but not the order of the
tokens, so that no text can be reconstructed. In the folder `lab`, `imdb.js` contains
real reviews. A page that cannot load this script uses `generated.js`, with generated
reviews, and a page that cannot run scripts shows `still.svg`.

In the folder `lineup`, `imdb.js` omits rare words. For each other word, it lists short
reviews with this word, and gives the numbers of positive and negative test reviews with
it. This file has less than a quarter of the bytes of the file in `lab`, so that the
landing page loads quickly. `rounds.json` contains statistics of the first rounds, which
node plays. `still.webp` and `still.json` are the picture and the answer of one round,
for pages without scripts; `card.webp` is for previews of links.
"""

import json
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from matplotlib import pyplot

import attnsel
from attnsel.theory import posterior_difference
from attnsel_book import NEGATIVE, POSITIVE, token_scatter, use_style
from tools.site import lab
from tools.site.node import node

FOLDER = Path(__file__).resolve().parent.parent / "book" / "_static" / "lab"
LINEUP = FOLDER.parent / "lineup"
TRAIN, TEST = 2000, 1000  # reviews
STEPS = 100  # training steps before the picture
MIN_COUNT = 10  # occurrences in the training reviews
SHORT_TRAIN, SHORT_TEST = 1000, 500  # reviews of the line-up, half of them positive
LONGEST = 150  # tokens in such a review: longer ones cost the page more bytes
LEAST = 4  # training reviews of the line-up that contain a word
FIRST = ord("#")  # the first character after the quotation mark, which JSON escapes
STILL = 17  # the round that pages without scripts show
ROUNDS = {"labels": 100, "attention": 20}  # rounds in the statistics
PLAY = """
// A round trained to its end, the model with true labels or attention first.
function whole(stored, number, question) {
  const played = roundOf(stored, number, question), {answer, models} = played;
  while (advance(played)) {}
  const both = (of) => [answer, 1 - answer].map((k) => of(models[k], k));
  const same = atSameStep(played);
  return {played, right: both(({now}) => now.test.accuracy),
    depth: both((run) => depthOf(run, run.scores)),
    same: both((run, k) => depthOf(run, same[k])), steps: both(({now}) => now.step)};
}
function counted({stored, question, from, to}) {
  const reviews = readLineup(stored);
  return Array.from({length: to - from}, (_, i) => {
    const {right, depth, same, steps} = whole(reviews, from + i, question);
    return {right, depth, same, steps};
  });
}
function shown({stored, number, rounds}) {
  const {played} = whole(readLineup(stored), number, "labels");
  const models = played.models.map(({orders, scores: {a, b}}) =>
    ({across: orders[0], value: [...b], score: [...a]}));
  const said = verdict(played, played.answer, rounds);
  return {round: number, models, answer: [said.first.replace("Right: m", "M"),
    said.right, `${said.surprise} ${said.because}`, ...said.more]};
}
"""


def packed(corpus: attnsel.Corpus, test: attnsel.Corpus) -> dict[str, object]:
    """Return two corpora of one vocabulary as data that `readTexts` unpacks.

    A text consists of its tokens in the order of their ids, one character per token.
    The character encodes the difference from the previous id, with "#" for zero, that
    is, for a repeated token.
    """
    texts = []
    for part in (corpus, test):
        for i in range(len(part)):
            row = part.counts[[i]]
            ids = np.repeat(row.indices, row.data.astype(int))
            gaps = np.diff(ids, prepend=-1)
            texts.append("".join(chr(FIRST + gap) for gap in gaps))
    labels = [*corpus.targets.tolist(), *test.targets.tolist()]
    return {
        "tokens": list(corpus.vocab),
        "size": len(corpus),
        "labels": "".join(map(str, labels)),
        "texts": texts,
    }


def write(name: str, corpus: attnsel.Corpus, test: attnsel.Corpus) -> None:
    """Write a script that passes both corpora to the page that loads the script."""
    stored = json.dumps(packed(corpus, test), ensure_ascii=False)
    path = FOLDER / f"{name}.js"
    path.write_text(f"attnselReviews({stored});\n", encoding="utf-8")
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def draw(corpus: attnsel.Corpus) -> None:
    """Draw the result of training with the default settings of the laboratory."""
    use_style()
    model = attnsel.AttentionClassifier(len(corpus.vocab), 64, seed=0)
    attnsel.fit(model, corpus, steps=STEPS, lr=0.01)
    _, axes = pyplot.subplots(figsize=(4.2, 3.2))
    token_scatter(axes, posterior_difference(corpus), model.scores()[:, 0])
    axes.set_ylabel("attention score $E_s^\\top p$")
    pyplot.savefig(FOLDER / "still.svg", dpi=100, metadata={"Date": None})


def short_reviews(corpus: attnsel.Corpus, count: int) -> np.ndarray:
    """Return the indices of the first `count // 2` short reviews of each class."""
    signs, short = corpus.signs.numpy(), corpus.lengths.numpy() <= LONGEST
    parts = [np.flatnonzero(short & (signs == sign))[: count // 2] for sign in (1, -1)]
    return np.sort(np.concatenate(parts))


def presence(corpus: attnsel.Corpus) -> sp.csr_matrix:
    """Return a matrix of zeros and ones that marks the tokens of each text."""
    return sp.csr_matrix(corpus.counts > 0, dtype=int)


def gaps(column: np.ndarray) -> str:
    """Encode increasing numbers as characters, one for each difference."""
    return "".join(chr(FIRST + gap) for gap in np.diff(column, prepend=-1))


def packed_lineup(corpus: attnsel.Corpus, test: attnsel.Corpus) -> dict[str, object]:
    """Return the data of the line-up from two corpora of one vocabulary."""
    chosen = [short_reviews(corpus, SHORT_TRAIN), short_reviews(test, SHORT_TEST)]
    train, unseen = presence(corpus)[chosen[0]], presence(test)
    times = np.asarray(train.sum(axis=0)).ravel()
    kept = np.argsort(-times, kind="stable")[: np.sum(times >= LEAST)]
    both = sp.vstack([train, unseen[chosen[1]]])[:, kept].tocsc()
    both.sort_indices()
    columns = np.split(both.indices, both.indptr[1:-1])
    signs = np.concatenate(
        [c.signs.int().numpy()[i] for c, i in zip((corpus, test), chosen, strict=True)]
    )
    is_positive = test.signs.numpy() > 0
    return {
        "words": [corpus.vocab[int(s)] for s in kept],
        "size": len(chosen[0]),
        "labels": "".join("1" if sign > 0 else "0" for sign in signs),
        "columns": [gaps(column) for column in columns],
        # Numbers of test reviews that contain the word: positive ones, negative ones.
        "unseen": [
            np.asarray(unseen[rows][:, kept].sum(axis=0)).ravel().tolist()
            for rows in (is_positive, ~is_positive)
        ],
    }


def played(function: str, given: dict[str, Any]) -> Any:
    """Call one of the functions of `PLAY` in node, and return its result."""
    code = "".join(map(lab.source, lab.SCRIPTS[:-1])) + PLAY
    read = 'JSON.parse(require("fs").readFileSync(0, "utf8"))'
    done = subprocess.run(
        [node(), "-e", f"{code}\nconsole.log(JSON.stringify({function}({read})))"],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def summary(question: str, rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return statistics of rounds; the second model of each round is its control."""
    right, depth, same = (
        np.array([r[name] for r in rounds], float)
        for name in ("right", "depth", "same")
    )
    if question == "labels":
        return {
            "rounds": len(rounds),
            "deeper": int(np.sum(depth[:, 1] > depth[:, 0])),
            "depth": depth.mean(axis=0).round(2).tolist(),
            "same": same.mean(axis=0).round(2).tolist(),
            "least": right[:, 1].min().round(3),
            "most": right[:, 1].max().round(3),
        }
    lead = right[:, 0] - right[:, 1]
    return {
        "rounds": len(rounds),
        "ahead": int(np.sum(lead > 0)),
        "equal": int(np.sum(lead == 0)),
        "behind": int(np.sum(lead < 0)),
        "points": f"{100 * lead.mean():.1f}",
    }


def draw_panel(axis: Any, across: np.ndarray, heights: np.ndarray) -> None:
    """Draw one dot per word, and the mean height in each of 16 bins of `across`."""
    colours = np.where(across > 0.5, POSITIVE, NEGATIVE)
    axis.scatter(across, heights, s=3, c=colours, lw=0, alpha=0.7, rasterized=True)
    parts = np.minimum(15, 16 * across).astype(int)
    mean = np.bincount(parts, heights) / np.bincount(parts)
    axis.plot((np.arange(16) + 0.5) / 16, mean, color="white", lw=4)
    axis.plot((np.arange(16) + 0.5) / 16, mean, color="black", lw=1.8)
    axis.set(xticks=[], yticks=[])


def draw_round(models: list[dict[str, list[float]]]) -> None:
    """Draw values and scores of two models, and only the scores in a second picture."""
    use_style()
    figure, axes = pyplot.subplots(1, 4, figsize=(10.4, 3.0), dpi=100)
    for axis, part in zip(axes, ("value", "score") * 2, strict=True):
        heights = np.concatenate([model[part] for model in models])
        axis.set_ylim(heights.min(), heights.max())
    for k, model in enumerate(models):
        across = np.array(model["across"])
        for at, name in enumerate(("value", "score")):
            axis = axes[2 * k + at]
            draw_panel(axis, across, np.array(model[name]))
            axis.set_title(f"Model {'AB'[k]}: {name}")
    figure.savefig(LINEUP / "still.webp", dpi=100, pil_kwargs={"quality": 70})
    figure, axes = pyplot.subplots(1, 2, figsize=(10.6, 3.6))
    for axis, model in zip(axes, models, strict=True):
        draw_panel(axis, np.array(model["across"]), np.array(model["score"]))
    figure.savefig(LINEUP / "card.webp", dpi=100, pil_kwargs={"quality": 70})


def write_lineup() -> None:
    """Write the reviews of the line-up, and the results of its rounds."""
    corpus = attnsel.load_corpus("imdb", min_count=1)
    test = attnsel.load_corpus("imdb", split="test", vocab=corpus.vocab)
    stored = packed_lineup(corpus, test)
    text = json.dumps(stored, ensure_ascii=False, separators=(",", ":"))
    path = LINEUP / "imdb.js"
    path.write_text(f"attnselReviews({text});\n", encoding="utf-8")
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
    count_rounds(stored)


def count_rounds(stored: dict[str, object]) -> None:
    """Write statistics of the first rounds, and the picture and answer of one round."""
    rounds: dict[str, Any] = {}
    for question, end in ROUNDS.items():
        numbers = {"from": 1, "to": end + 1}
        given = {"stored": stored, "question": question, **numbers}
        rounds[question] = summary(question, played("counted", given))
    still = played("shown", {"stored": stored, "number": STILL, "rounds": rounds})
    draw_round(still.pop("models"))
    for name, content in (("rounds", rounds), ("still", still)):
        text = json.dumps(content, ensure_ascii=False, indent=1)
        (LINEUP / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


def main() -> None:
    """Write the reviews and picture of the laboratory, and the files of the line-up."""
    # Without the real reviews, `load_corpus` warns and returns generated ones.
    warnings.simplefilter("error")
    for name, source in (("generated", "generated"), ("imdb", "imdb")):
        corpus = attnsel.load_corpus(source, limit=TRAIN, min_count=MIN_COUNT)
        test = attnsel.load_corpus(source, split="test", vocab=corpus.vocab, limit=TEST)
        write(name, corpus, test)
    draw(corpus)
    write_lineup()


if __name__ == "__main__":
    main()
