"""Reviews for the line-up of the landing page: `python -m tools.lineup_data`.

`imdb.js` lists, for each word, the short reviews that contain it, and how many of the
25,000 test reviews of each label do. A word counts once per review. No text can be
read from them. `still.webp` and `still.json` are one round, played in node: its picture
and its answer, for pages without scripts; `card.webp` is for previews of links.
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
from attnsel_book import NEGATIVE, POSITIVE, use_style
from tools.site import lab, lineup
from tools.site.node import node

FOLDER = Path(__file__).resolve().parent.parent / "book" / "_static" / "lineup"
TRAIN, TEST = 1000, 500  # reviews, half of them positive
LONGEST = 150  # tokens in such a review: longer ones cost the page more bytes
MIN_COUNT = 4  # training reviews that contain a word
FIRST = ord("#")  # as `tools.lab_data` has it
STILL = 17  # the round that pages without scripts show
PLAY = """
(() => {
  const stored = readLineup(JSON.parse(require("fs").readFileSync(0, "utf8")));
  const played = roundOf(stored, %d, "labels");
  while (advance(played)) {}
  const models = played.models.map(({orders, scores: {a, b}}) =>
    ({across: orders[0], value: [...b], score: [...a]}));
  const [, ...sentences] = verdict(played, played.answer);
  const answer = `Model ${letterOf(played.answer)}. ${sentences.join(" ")}`;
  console.log(JSON.stringify({round: played.number, answer, models}));
})();
"""


def short_reviews(corpus: attnsel.Corpus, count: int) -> np.ndarray:
    """Return the indices of the first short reviews, half of them positive."""
    signs, short = corpus.signs.numpy(), corpus.lengths.numpy() <= LONGEST
    parts = [np.flatnonzero(short & (signs == sign))[: count // 2] for sign in (1, -1)]
    return np.sort(np.concatenate(parts))


def presence(corpus: attnsel.Corpus) -> sp.csr_matrix:
    """Return which texts contain which tokens, as a matrix of zeros and ones."""
    return sp.csr_matrix(corpus.counts > 0, dtype=int)


def gaps(column: np.ndarray) -> str:
    """Return increasing numbers as characters: how far each is from the one before."""
    return "".join(chr(FIRST + gap) for gap in np.diff(column, prepend=-1))


def packed(corpus: attnsel.Corpus, test: attnsel.Corpus) -> dict[str, object]:
    """Return what the page needs of two corpora of one vocabulary."""
    chosen = [short_reviews(corpus, TRAIN), short_reviews(test, TEST)]
    train, unseen = presence(corpus)[chosen[0]], presence(test)
    times = np.asarray(train.sum(axis=0)).ravel()
    kept = np.argsort(-times, kind="stable")[: np.sum(times >= MIN_COUNT)]
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
        # Test reviews that contain the word, of the positive ones and of the others.
        "unseen": [
            np.asarray(unseen[rows][:, kept].sum(axis=0)).ravel().tolist()
            for rows in (is_positive, ~is_positive)
        ],
    }


def played(stored: dict[str, object], number: int) -> dict[str, Any]:
    """Return a round, trained to its end: what is drawn of it, and its answer."""
    code = "".join(map(lab.source, lineup.SCRIPTS[:-1])) + PLAY % number
    done = subprocess.run(
        [node(), "-e", code],
        input=json.dumps(stored),
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def draw_panel(axis: Any, across: np.ndarray, heights: np.ndarray) -> None:
    """Draw a word per dot from left to right, and their mean in 16 bins."""
    colours = np.where(across > 0.5, POSITIVE, NEGATIVE)
    axis.scatter(across, heights, s=3, c=colours, lw=0, alpha=0.7, rasterized=True)
    parts = np.minimum(15, 16 * across).astype(int)
    mean = np.bincount(parts, heights) / np.bincount(parts)
    axis.plot((np.arange(16) + 0.5) / 16, mean, color="white", lw=4)
    axis.plot((np.arange(16) + 0.5) / 16, mean, color="black", lw=1.8)
    axis.set(xticks=[], yticks=[])


def draw(models: list[dict[str, list[float]]]) -> None:
    """Draw both models before the bet, and their scores alone."""
    use_style()
    figure, axes = pyplot.subplots(1, 4, figsize=(10.4, 3.0), dpi=100)
    for k, model in enumerate(models):
        across = np.array(model["across"])
        for part, name in enumerate(("value", "score")):
            axis = axes[2 * k + part]
            draw_panel(axis, across, np.array(model[name]))
            axis.set_title(f"Model {'AB'[k]}: {name}")
    figure.savefig(FOLDER / "still.webp", dpi=100, pil_kwargs={"quality": 70})
    figure, axes = pyplot.subplots(1, 2, figsize=(10.6, 3.6))
    for axis, model in zip(axes, models, strict=True):
        draw_panel(axis, np.array(model["across"]), np.array(model["score"]))
    figure.savefig(FOLDER / "card.webp", dpi=100, pil_kwargs={"quality": 70})


def main() -> None:
    """Write the reviews as a script, which a page from the disk may load."""
    # Generated reviews would take the place of real ones that are missing.
    warnings.simplefilter("error")
    corpus = attnsel.load_corpus("imdb", min_count=1)
    test = attnsel.load_corpus("imdb", split="test", vocab=corpus.vocab)
    stored = packed(corpus, test)
    text = json.dumps(stored, ensure_ascii=False, separators=(",", ":"))
    path = FOLDER / "imdb.js"
    path.write_text(f"attnselLineupReviews({text});\n", encoding="utf-8")
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
    still = played(stored, STILL)
    draw(still.pop("models"))
    text = json.dumps(still, ensure_ascii=False, indent=1)
    (FOLDER / "still.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
