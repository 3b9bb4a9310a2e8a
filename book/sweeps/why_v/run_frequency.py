"""Runs with many rare tokens in one class and few frequent ones in the other class.

    python -m sweeps.why_v.run_frequency

The script takes about 20 minutes on one core and writes `frequency.json` in the folder
of the chapter *Why the V*. The parts "critical" and "flow" of this file contain
critical ratios and attention for the flow of three scores and three values. The parts
"starts" and "optimizers" contain training runs from random starts, and "zipf" contains
training runs on corpora in which frequencies follow Zipf's law. All training ends at a
loss of .01, except the training of p alone.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from attnsel import AttentionClassifier, Corpus, fit, gradient_flow, one_step
from attnsel.theory import mean_count, relevant_tokens
from attnsel.tokens import Vocab
from attnsel_book.chapters.why_v import laws
from attnsel_book.chapters.why_v.crowds import critical_ratio, follow
from attnsel_book.problems import crowd_corpus
from sweeps.common import Row, rounded, run_parts

LEVEL, DIM, SEEDS = 0.01, 256, range(5)
PAPER_DIMS = (256, 2048)  # for the one-step training of the paper
LENGTHS = (2, 8, 31)
FEW = (1, 2, 5, 10, 20, 50)
RATIOS = (1, 2, 3, 4, 6, 8, 12)
# Relevant tokens of the crowd and of the other class, and T.
CORPORA = (
    (12, 1, 2),
    (12, 1, 8),
    (2, 1, 31),
    (3, 1, 31),
    (4, 1, 31),
    (40, 1, 31),
    (12, 12, 8),
)
RATE, ADAM = 1.0, 0.003  # of descent and of Adam; both small enough for the flow
STEPS = 200_000


def corpus_of(many: int, few: int, length: int) -> Corpus:
    """Return a corpus with `few` positive and `many` negative relevant tokens."""
    size = many * few
    return crowd_corpus([size // few] * few, [size // many] * many, length=length)


def selected(scores: Any, corpus: Corpus) -> tuple[float, float]:
    """Return two measures of selection in the negative class, which contains the crowd.

    The first is the share of negative sequences whose relevant token has the highest of
    the `scores` (V,). The second is the mean attention on the relevant token.
    """
    scores = np.asarray(scores, dtype=float)
    counts = corpus.counts.toarray()
    weights = counts * np.exp(scores - scores.max())
    weights /= weights.sum(axis=1, keepdims=True)
    relevant = relevant_tokens(corpus).numpy()
    right = np.where(counts > 0, scores, -np.inf).argmax(axis=1) == relevant
    on_relevant = weights[np.arange(len(relevant)), relevant]
    crowd = corpus.signs.numpy() < 0
    return float(right[crowd].mean()), float(on_relevant[crowd].mean())


def of_embeddings(corpus: Corpus, seed: int, kind: str) -> Any:
    """Train E alone by updating scores and values; return the scores (V,).

    The `kind` is "descent", "even descent" (rates divided by frequencies) or "unit
    steps" (gradients of length one). With a negative `seed`, training starts from zero.
    """
    share = mean_count(corpus, 1 / corpus.lengths.double()).numpy()
    a, b = np.zeros((2, len(share)))
    gram = np.eye(2)
    if seed >= 0:
        E, p, v = AttentionClassifier(len(share), DIM, seed=seed).arrays()
        E, P = E.astype(float), np.stack([p, v]).astype(float)
        a, b = P @ E.T
        gram = P @ P.T
    rate: Any = {"even descent": RATE / share, "unit steps": 0.03}.get(kind, RATE * 4)
    for _ in range(STEPS):
        if laws.loss(corpus, a, b) < LEVEL:
            break
        moves = np.stack(laws.rates(corpus, a, b)[:2])
        if kind == "unit steps":
            size = np.linalg.norm(moves, axis=0)
            moves = np.where(size > 1e-12, moves / np.maximum(size, 1e-300), 0)
        a, b = np.stack([a, b]) + rate * (gram @ moves)
    else:
        raise RuntimeError(f"{kind} does not reach a loss of {LEVEL}")
    return a


def of_all(corpus: Corpus, seed: int, names: Any, optimizer: Any, lr: float) -> Any:
    """Train the parameters in `names` (None means all); return the scores (V,)."""
    model = AttentionClassifier(len(corpus.vocab), DIM, seed=seed)
    known: Row = {"steps": STEPS, "until_loss": LEVEL, "lr": lr, "train": names}
    fit(model, corpus, optimizer=optimizer, **known)
    return model.scores()[:, 0]


def of_p_alone(corpus: Corpus, seed: int, step: float, dim: int) -> Any:
    """Take the paper's step on E, run its flow of p, and return the scores (V,)."""
    start = AttentionClassifier(len(corpus.vocab), dim, seed=seed)
    model = one_step(start, corpus, lr=step)
    flow = gradient_flow(model, corpus, max_norm=100.0, tol=1e-3)
    return model.embeddings.detach().double() @ flow.cls[-1]


WAYS = {
    "E, descent": partial(of_embeddings, kind="descent"),
    "E, even descent": partial(of_embeddings, kind="even descent"),
    "E, Adam": partial(of_all, names=["embeddings"], optimizer="adam", lr=ADAM),
    "E, p, v, descent": partial(of_all, names=None, optimizer="gd", lr=RATE),
    "E, p, v, Adam": partial(of_all, names=None, optimizer="adam", lr=ADAM),
}


def measured(known: Row, scores: Any, corpus: Corpus) -> Row:
    """Return the row `known` with the two measures of `selected`, rounded."""
    right, attention = selected(scores, corpus)
    return rounded(known | {"right": right, "attention": attention})


def critical() -> Iterator[Row]:
    """Yield the critical ratio for each length and each number of frequent tokens."""
    for length in LENGTHS:
        for few in FEW:
            ratio = critical_ratio(few, length)
            yield {"T": length, "few": few, "ratio": round(ratio, 3)}


def flow() -> Iterator[Row]:
    """Yield the attention on a crowd at a loss of LEVEL, with one frequent token."""
    for length in LENGTHS:
        for ratio in np.geomspace(1, 12, 45):
            end = follow(1, ratio, length, until_loss=LEVEL)
            row = {"T": length, "ratio": float(ratio), "loss": end.loss}
            yield rounded(row | {"attention": float(end.attention[1])})


def starts() -> Iterator[Row]:
    """Train E from random starts, by descent or Adam; yield measures of selection."""
    for length in LENGTHS:
        for ratio in RATIOS:
            corpus = corpus_of(ratio, 1, length)
            for by in ("descent", "Adam"):
                for seed in range(3):
                    known = {"T": length, "ratio": ratio, "by": by, "seed": seed}
                    scores = WAYS[f"E, {by}"](corpus, seed)
                    yield measured(known, scores, corpus)


def optimizers() -> Iterator[Row]:
    """Yield the measures of selection for each corpus and each way of training."""
    for many, few, length in CORPORA:
        corpus = corpus_of(many, few, length)
        known = {"corpus": f"{many}:{few}", "T": length}
        for seed in SEEDS:
            for way, train in WAYS.items():
                row = known | {"way": way, "step": 0, "seed": seed}
                yield measured(row, train(corpus, seed), corpus)
            for dim in PAPER_DIMS:
                for step in (4 * length, 8 * length, 16 * length):
                    row = known | {"way": f"paper, d = {dim:,}", "step": step}
                    scores = of_p_alone(corpus, seed, float(step), dim)
                    yield measured(row | {"seed": seed}, scores, corpus)


def zipf_corpus(tokens: int, exponent: float, seed: int) -> Corpus:
    """Draw 200 sequences, each of one relevant and seven irrelevant tokens.

    Each class has `tokens` relevant tokens, and both classes share 40 irrelevant ones.
    All frequencies follow Zipf's law with the given `exponent`; tokens that are never
    drawn are left out. Each draw of seven irrelevant tokens occurs once under each
    label, so that Assumption 1 is satisfied.
    """
    n, length, irrelevant = 200, 8, 40
    random = np.random.default_rng(seed)

    def draw(count: int, size: Any) -> Any:
        weights = np.arange(1, count + 1.0) ** -exponent
        return random.choice(count, size, p=weights / weights.sum())

    shared = 2 * tokens + draw(irrelevant, (n // 2, length - 1))
    rows = []
    for first in (0, tokens):
        relevant = first + draw(tokens, n // 2)
        rows += [
            [int(r), *map(int, bag)] for r, bag in zip(relevant, shared, strict=True)
        ]
    used = sorted({token for row in rows for token in row})
    names = {token: i for i, token in enumerate(used)}
    rows = [[names[token] for token in row] for row in rows]
    vocab = Vocab([str(token) for token in used])
    return Corpus.from_tokens(rows, [1] * (n // 2) + [0] * (n // 2), vocab)


def zipf() -> Iterator[Row]:
    """Yield shares of sequences that select correctly, on corpora of `zipf_corpus`."""
    for tokens in (4, 20):
        for exponent in (0.0, 0.5, 1.0, 1.5):
            for seed in range(10):
                corpus = zipf_corpus(tokens, exponent, seed)
                other = corpus.with_labels(1 - corpus.targets)  # the other class
                for kind in ("descent", "even descent", "unit steps"):
                    scores = of_embeddings(corpus, -1, kind)
                    both = [selected(scores, c)[0] for c in (corpus, other)]
                    row: Row = {"tokens": tokens, "exponent": exponent}
                    row |= {"seed": seed, "by": kind, "right": float(np.mean(both))}
                    yield rounded(row)


if __name__ == "__main__":
    parts = {"critical": critical(), "flow": flow(), "starts": starts()}
    parts |= {"optimizers": optimizers(), "zipf": zipf()}
    run_parts("why_v/frequency", parts)
