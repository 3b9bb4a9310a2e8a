"""The sweep behind the chapter on more than two classes.

    python -m sweeps.classes.run_classes

Models are also trained with shuffled labels, because a model can only memorize such
labels. The script takes about ten minutes on one core and writes `classes.json`, which
the chapter reads.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
import torch
from scipy.stats import spearmanr
from torch.nn.functional import one_hot

from attnsel import AttentionClassifier, Corpus, Vocab, load_corpus
from attnsel.theory import mean_count, posterior_difference, signed_frequency
from attnsel.train import fit, one_step
from attnsel_book import authors
from sweeps.common import Row, rounded, run_parts, with_shuffled_labels

SEEDS, ARM_SEEDS = range(10), range(3)
FREQUENT = 0.01  # occurrences per test review
PAPER = {k: authors(f"class {k}") for k in (2, 4)}


def regroup(corpus: Corpus, groups: tuple[int, ...]) -> Corpus:
    """Merge classes with equal numbers in `groups`; leave out those with number -1."""
    labels = torch.tensor(groups)[corpus.targets]
    part = corpus[labels >= 0]
    vocab = Vocab(part.vocab, range(1, max(groups) + 2))
    return Corpus(part.counts, labels[labels >= 0], vocab)


def importance(corpus: Corpus) -> torch.Tensor:
    """Return the signed frequencies if each token counts once per review."""
    seen = corpus.counts.copy()
    seen.data[:] = 1
    return signed_frequency(Corpus(seen, corpus.labels, corpus.vocab))


def by_bin(x: np.ndarray, y: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return the means of `y` in bins of `x` around `centers`, nan for an empty bin."""
    middles = (centers[1:] + centers[:-1]) / 2
    ends = 2 * centers[[0, -1]] - middles[[0, -1]]
    at = np.digitize(x, [ends[0], *middles, ends[1]]) - 1
    return np.array(
        [y[at == i].mean() if (at == i).any() else np.nan for i in range(len(centers))]
    )


def inner_over_outer(x: np.ndarray, y: np.ndarray) -> float:
    """Return the mean `|y|` for small `|x|`, divided by the mean `|y|` for large `|x|`.

    Small means at most half of the largest `|x|` on the same side of 0. The result is
    the average of the ratios on both sides.
    """
    found = []
    for side in (x < 0, x > 0):
        inner = np.abs(x[side]) <= np.abs(x[side]).max() / 2
        tall = np.abs(y[side])
        found.append(tall[inner].mean() / tall[~inner].mean())
    return float(np.mean(found))


def rate(dim: int) -> float:
    return 0.045 / dim**0.5


def tables(name: str, true: Corpus, labels: str) -> Iterator[Row]:
    """Compare the mean values in bins with the bin centers and the authors' tables."""
    for seed in SEEDS:
        corpus = with_shuffled_labels(true, seed) if labels == "shuffled" else true
        x = importance(corpus).numpy()
        K = corpus.n_classes
        model = AttentionClassifier(len(corpus.vocab), 2048, n_classes=K, seed=seed)
        fit(model, corpus, steps=120, lr=rate(2048), until_accuracy=0.99)
        scores = model.scores().numpy()
        for k in range(1, K + 1):
            theirs = PAPER.get(k)
            centers = PAPER[2]["x"] if theirs is None else theirs["x"]
            y = by_bin(x[:, k - 1], scores[:, k], centers)
            full = ~np.isnan(y)
            row: Row = {"corpus": name, "labels": labels}
            row |= {"class": k, "seed": seed}
            row["rise"] = spearmanr(centers[full], y[full]).statistic
            row["step"] = inner_over_outer(centers[full], y[full])
            if theirs is not None:
                row["table"] = spearmanr(y[full], theirs["value"][full]).statistic
            yield rounded(row)


def partial_spearman(x: np.ndarray, y: np.ndarray, given: np.ndarray) -> float:
    """Return the partial rank correlation of `x` and `y`, controlling for `given`."""
    xy, xz, yz = (
        float(spearmanr(*pair).statistic) for pair in ((x, y), (x, given), (y, given))
    )
    return (xy - xz * yz) / float(np.sqrt((1 - xz**2) * (1 - yz**2)))


def arms(name: str, true: Corpus, test: Corpus, dim: int) -> Iterator[Row]:
    """Yield rank correlations of E p with the lean to each class, in three ways.

    Only tokens that lean most to the class are used. The leans are those in training
    reviews for "own", and those in test reviews for "test" and "frequent". For
    "frequent", the tokens also occur often in test reviews, and the correlation is
    partial, given the frequency of a token in training.
    """
    often = np.asarray(true.counts.sum(0)).ravel()
    in_test = np.asarray(test.counts.sum(0)).ravel()
    for seed, labels in product(ARM_SEEDS, ("true", "shuffled")):
        corpus = with_shuffled_labels(true, seed) if labels == "shuffled" else true
        K = corpus.n_classes
        model = AttentionClassifier(len(corpus.vocab), dim, n_classes=K, seed=seed)
        fit(model, corpus, steps=120, lr=rate(dim), until_accuracy=0.99)
        a = model.scores().numpy()[:, 0]
        readings = {
            "own": (posterior_difference(corpus), often > 0),
            "test": (posterior_difference(test), in_test > 0),
            "frequent": (posterior_difference(test), in_test >= FREQUENT * len(test)),
        }
        for k in range(K):
            row: Row = {"corpus": name, "labels": labels}
            row |= {"class": k + 1, "seed": seed}
            for reading, (leans, there) in readings.items():
                lean, own = leans.nan_to_num(-1).max(1)
                mine = ((own == k) & (lean >= 0)).numpy() & there & (often > 0)
                x, y = lean.numpy()[mine], a[mine]
                found = (
                    partial_spearman(x, y, often[mine])
                    if reading == "frequent"
                    else float(spearmanr(x, y).statistic)
                )
                row[reading] = round(found, 4)
            yield row


def errors(name: str, corpus: Corpus) -> Iterator[Row]:
    """Yield relative errors of the formula for one step, with and without v v^T."""
    weights = one_hot(corpus.targets, corpus.n_classes).double() - 1 / corpus.n_classes
    plain = mean_count(corpus, weights / corpus.lengths[:, None])
    for dim in (512, 2048):
        start = AttentionClassifier(len(corpus.vocab), dim, n_classes=corpus.n_classes)
        v = start.output.detach().double()
        stepped = one_step(start, corpus, lr=1000.0).embeddings.detach()
        change = (stepped - start.embeddings.detach()).double() @ v.T / 1000
        row: Row = {"corpus": name, "d": dim}
        for kind, guess in (("plain", plain), ("with G", plain @ (v @ v.T))):
            row[kind] = float((change - guess).norm() / guess.norm())
        yield rounded(row)


if __name__ == "__main__":
    stars = load_corpus("yelp-full", min_count=1, max_tokens=5_424)
    new = load_corpus("yelp-full", "test", vocab=stars.vocab)
    middle, pairs = (0, 1, -1, 2, 3), (0, 0, 1, 1, 2, 2, 3, 3)
    rated = load_corpus("imdb-rating")
    rated_new = load_corpus("imdb-rating", "test", vocab=rated.vocab)
    yelp = {
        "five stars": (stars.balanced(), new.balanced(), 2048),
        "stars 1, 2, 4, 5": (
            regroup(stars, middle).balanced(),
            regroup(new, middle).balanced(),
            2048,
        ),
    }
    imdb = regroup(rated, pairs).balanced(2_000)
    films = (imdb, regroup(rated_new, pairs).balanced(), 512)
    corpora = yelp | {"IMDB by rating": films}
    parts = {
        "tables": (
            row
            for name, (corpus, *_) in yelp.items()
            for labels in ("true", "shuffled")
            for row in tables(name, corpus, labels)
        ),
        "errors": (row for k, (c, *_) in corpora.items() for row in errors(k, c)),
        "arms": (row for name, given in corpora.items() for row in arms(name, *given)),
    }
    run_parts("classes/classes", parts)
