"""Does `beyond_luck` keep its promise, and does the shrunken lean predict new texts?

    python -m sweeps.own_texts.run_luck

It takes about three minutes of one core.

With shuffled labels there is nothing to find. The first table counts the draws of
labels in which something is found all the same, by the normal tail of `label_z` and by
the exact p-values of `beyond_luck`, both with Benjamini and Hochberg at 5%. The second
table has the mean squared error with which leans of training texts predict those of
held-out texts. Draw i is `numpy.random.default_rng(i)`.
"""

import numpy as np
import pandas as pd
import torch
from scipy.stats import false_discovery_control, norm
from torch import Tensor

from attnsel import Corpus, load_corpus, posterior_difference
from attnsel.significance.exact_test import beyond_luck, texts_by_class
from attnsel.significance.lean import lean_of, shrunken_lean
from attnsel.statistics import label_z
from attnsel.texts.reviews import generate_reviews

RATE = 0.05


def dealt(corpus: Corpus, shares: tuple[float, ...], seed: int) -> Corpus:
    """Return a corpus whose labels are dealt by luck, in given shares."""
    n = len(corpus)
    ends = np.cumsum(shares) / np.sum(shares) * n
    labels = np.searchsorted(ends, np.arange(n) + 0.5)
    drawn = np.random.default_rng(seed).permutation(labels)
    return Corpus(corpus.counts, torch.from_numpy(drawn), corpus.vocab)


def unlabelled(corpus: Corpus, classes: int) -> Corpus:
    """Return a corpus whose vocabulary names other classes."""
    vocab = type(corpus.vocab)(corpus.vocab, range(classes))
    return Corpus(corpus.counts, None, vocab)


def by_normal_tail(corpus: Corpus) -> Tensor:
    """Return what the normal tail of z takes for finds."""
    z = np.nan_to_num(label_z(corpus).numpy())
    q = false_discovery_control(2 * norm.sf(np.abs(z)), axis=None)
    return torch.from_numpy(q < RATE)


def false_finds(corpus: Corpus, shares: tuple[float, ...], draws: int) -> dict:
    """Count the finds among labels dealt by luck."""
    whole = unlabelled(corpus, len(shares))
    counts = []
    for seed in range(draws):
        noise = dealt(whole, shares, seed)
        counts.append((int(by_normal_tail(noise).sum()), int(beyond_luck(noise).sum())))
    normal, exact = np.array(counts).T
    return {
        "draws": draws,
        "with a find, normal tail": f"{np.mean(normal > 0):.0%}",
        "finds, normal tail": np.mean(normal),
        "with a find, exact": f"{np.mean(exact > 0):.0%}",
        "finds, exact": np.mean(exact),
    }


def sentences(n: int) -> list[str]:
    """Return the first sentences of generated reviews."""
    texts, _ = generate_reviews(n)
    return [text.split(".")[0] for text in texts]


def promise() -> pd.DataFrame:
    """Return the table of false finds."""
    imdb = load_corpus("imdb", limit=2000)
    few = Corpus.from_texts(sentences(150), min_count=2)
    many = Corpus.from_texts(generate_reviews(5000)[0])
    rows = {
        "IMDB, 2,000 reviews, 98/2": (imdb, (98, 2), 300),
        "the same, 90/10": (imdb, (9, 1), 300),
        "the same, even": (imdb, (1, 1), 300),
        "the same, twenty classes": (imdb, (1,) * 20, 100),
        "150 sentences, 90/8/2": (few, (90, 8, 2), 1000),
        "150 sentences, even": (few, (1, 1), 1000),
        "5,000 texts, 200 classes": (many, (1,) * 200, 20),
    }
    return pd.DataFrame({name: false_finds(*row) for name, row in rows.items()}).T


def text_lean(corpus: Corpus) -> Tensor:
    """Return the lean by texts that hold a token, nan for one that none holds."""
    of_class = texts_by_class(corpus).astype(float)
    held = of_class.sum(axis=1, keepdims=True)
    return lean_of(np.divide(of_class, held, where=held > 0, out=of_class * np.nan))


def of_lengths(corpus: Corpus) -> Corpus:
    """Return the longer half of class 1 and the shorter half of class 0."""
    long = corpus.lengths > corpus.lengths.median()
    return corpus[long == corpus.targets.bool()]


def thinned(corpus: Corpus, share: float, seed: int) -> Corpus:
    """Return all of class 0 and a share of class 1."""
    kept = np.random.default_rng(seed).random(len(corpus)) < share
    return corpus[(corpus.targets.numpy() == 0) | kept]


def errors(train: Corpus, test: Corpus) -> dict[str, float]:
    """Return squared errors of raw and shrunken leans on held-out texts."""
    target, raw, shrunk = text_lean(test), text_lean(train), shrunken_lean(train)
    held = texts_by_class(train).sum(axis=1)
    row = {}
    groups = {
        "all": held > 0,
        "in under 30 texts": held < 30,
        "30 to 300": (held >= 30) & (held < 300),
        "over 300": held >= 300,
        "beyond luck": beyond_luck(train).numpy(),
    }
    for name, chosen in groups.items():
        use = torch.from_numpy(chosen) & target.isfinite() & raw.isfinite()
        row[f"{name}: raw"] = float((raw - target)[use].square().mean())
        row[f"{name}: shrunken"] = float((shrunk - target)[use].square().mean())
    occurrences = posterior_difference(test)
    use = occurrences.isfinite() & raw.isfinite()
    by_count = posterior_difference(train)
    often = torch.from_numpy(test.counts.sum(axis=0)).double()[use]
    for name, lean in (("raw", by_count), ("shrunken", shrunk)):
        squared_error = (lean - occurrences)[use].square()
        mean = (squared_error * often).sum() / often.sum()
        row[f"by occurrences: {name}"] = float(mean)
    return row


def prediction() -> pd.DataFrame:
    """Return the table of errors on held-out texts."""
    train = load_corpus("imdb")
    test = load_corpus("imdb", split="test", vocab=train.vocab)
    order = np.random.default_rng(0).permutation(len(train))
    rows = {
        "IMDB": (train, test),
        "2,000 reviews": (train[order[:2000]], test),
        "200 reviews": (train[order[:200]], test),
        "90/10": (thinned(train, 1 / 9, 0), thinned(test, 1 / 9, 1)),
        "class 1 longer": (of_lengths(train), of_lengths(test)),
    }
    return pd.DataFrame({name: errors(*row) for name, row in rows.items()})


if __name__ == "__main__":
    with pd.option_context("display.width", 200, "display.max_columns", 20):
        print(promise().to_string(), prediction().round(4).to_string(), sep="\n\n")
