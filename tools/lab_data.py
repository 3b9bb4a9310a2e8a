"""Reviews for training in the page: `python -m tools.lab_data`, written as scripts.

What is stored are counts: how often each text holds each token of the vocabulary, and
its label. No text can be read from them. `imdb.js` holds real reviews, `generated.js`
the generated ones that the page takes where it cannot load those; `still.svg` is
what a page shows that runs no script.
"""

import json
import warnings
from pathlib import Path

import numpy as np
from matplotlib import pyplot

import attnsel
from attnsel.theory import posterior_difference
from attnsel_book import token_scatter, use_style

FOLDER = Path(__file__).resolve().parent.parent / "book" / "_static" / "lab"
TRAIN, TEST = 2000, 1000  # reviews
STEPS = 100  # of the training that is drawn
MIN_COUNT = 10  # occurrences in the training reviews
FIRST = ord("#")  # after the quotation mark, which a string may not hold as it is


def packed(corpus: attnsel.Corpus, test: attnsel.Corpus) -> dict[str, object]:
    """Return two corpora of one vocabulary as strings that `readTexts` unpacks.

    A text is its tokens in the order of their ids, one character each: how far the id
    is from the one before, from "#" on, which stands for a token that comes again.
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
    """Write a script that hands the reviews to the page."""
    stored = json.dumps(packed(corpus, test), ensure_ascii=False)
    path = FOLDER / f"{name}.js"
    path.write_text(f"attnselReviews({stored});\n", encoding="utf-8")
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def draw(corpus: attnsel.Corpus) -> None:
    """Draw what a training with the default settings leads to, for want of scripts."""
    use_style()
    model = attnsel.AttentionClassifier(len(corpus.vocab), 64, seed=0)
    attnsel.fit(model, corpus, steps=STEPS, lr=0.01)
    _, axes = pyplot.subplots(figsize=(4.2, 3.2))
    token_scatter(axes, posterior_difference(corpus), model.scores()[:, 0])
    axes.set_ylabel("attention score $E_s^\\top p$")
    pyplot.savefig(FOLDER / "still.svg", dpi=100, metadata={"Date": None})


def main() -> None:
    """Write the generated reviews, the real ones, and the picture of a training."""
    # Generated ones would take the place of real ones that are not there.
    warnings.simplefilter("error")
    for name, source in (("generated", "generated"), ("imdb", "imdb")):
        corpus = attnsel.load_corpus(source, limit=TRAIN, min_count=MIN_COUNT)
        test = attnsel.load_corpus(source, split="test", vocab=corpus.vocab, limit=TEST)
        write(name, corpus, test)
    draw(corpus)


if __name__ == "__main__":
    main()
