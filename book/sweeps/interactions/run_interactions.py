"""The sweeps behind the chapter on negation and word order.

    python -m sweeps.interactions.run_interactions [PART ...] --texts FOLDER

The parts are `one`, `layers`, `order`, `scrambled` and `words`; only `words` needs the
texts. The sweeps take about five minutes on one core and write `interactions_*.json`,
which the chapter reads. The chapter repeats one run of `one` and one run of `layers`.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import torch
from scipy.sparse import csr_array, hstack

from attnsel import AttentionClassifier, Corpus, Vocab, load_corpus
from attnsel.beyond.deep import TwoLayerClassifier
from attnsel.model import accuracy, bag_logits
from attnsel.statistics import spearman
from attnsel.theory import mean_count, posterior_difference, signed_frequency
from attnsel.tokens import split
from attnsel.train import fit, one_step
from attnsel_book.v_shape import correlation
from attnsel_report.baseline import baseline
from sweeps.common import Row, rounded, run_parts, with_texts

SEEDS = range(10)
Plan = tuple[float, Row, int]  # q, options of two layers, number of seeds
WORDS, LENGTH, N, N_TEST = 10, 8, 5_000, 1_000
OPINIONS = 1, 3, 5, 8, 12  # fewest opinion words in each group of reviews
TOKENS = [f"{side}{i}" for side in ("good", "bad") for i in range(WORDS)]
TOKENS += ["not"] + [f"w{i}" for i in range(20)]
VOCAB, NOT = Vocab(TOKENS, (0, 1)), 2 * WORDS


def negated(q: float, n: int, seed: int, order: bool = False) -> Corpus:
    """Draw sequences with one opinion word; in a share q, "not" flips the label.

    With `order`, all sequences contain "not", which flips the label only if the opinion
    word follows directly.
    """
    rng = np.random.default_rng(seed)
    zipf = 1 / np.arange(1, WORDS + 1)
    ids, i = rng.integers(NOT + 1, len(VOCAB), (n, LENGTH)), np.arange(n)
    at, good, flip = (
        rng.integers(LENGTH, size=n),
        rng.random(n) < 0.5,
        rng.random(n) < q,
    )
    at = np.maximum(at, 1)
    ids[i, at] = rng.choice(WORDS, n, p=zipf / zipf.sum()) + WORDS * ~good
    where = (at + rng.integers(1, LENGTH - order, n)) % LENGTH
    where = np.where(flip & order, at - 1, where)
    holds = flip | order
    ids[i[holds], where[holds]] = NOT
    texts = [" ".join(TOKENS[s] for s in row) for row in ids]
    return Corpus.from_texts(texts, (good ^ flip).astype(int).tolist(), vocab=VOCAB)


def two_layers(plan: list[Plan], order: bool) -> Iterator[Row]:
    """Train two layers for each entry of `plan`; yield one row per entry and seed."""
    for q, options, seeds in plan:
        corpus, test = negated(q, N, 1, order), negated(q, N_TEST, 2, order)
        given: Row = {"rate": 0.02, "passes": 8} | options
        rate, passes = given.pop("rate"), given.pop("passes")
        for seed in range(seeds):
            model = TwoLayerClassifier(len(VOCAB), 64, seed=seed, **given)
            steps: Row = {"steps": passes, "lr": rate, "batch_size": 250}
            record = fit(model, corpus, test=test, **steps)
            row = {"q": q, "seed": seed, "rate": rate, "passes": passes} | given
            yield row | {"test": round(float(record.test_accuracy[-1]), 4)}


def one() -> Iterator[Row]:
    """Yield one layer's test accuracy and loss if "not" flips a share q of labels."""
    for q in (0.1, 0.2, 0.3, 0.4, 0.5):
        corpus, test = negated(q, N, 1), negated(q, N_TEST, 2)
        for seed in SEEDS if q == 0.5 else range(3):
            model = AttentionClassifier(len(VOCAB), 64, seed=seed)
            record = fit(model, corpus, steps=300, lr=0.02, test=test)
            assert record.test_accuracy is not None
            found = {"test": record.test_accuracy[-1], "loss": record.loss[-1]}
            yield {"q": q, "seed": seed} | {
                name: round(float(x), 5) for name, x in found.items()
            }


BARE, TIED = {"residual": False}, {"residual": True}
SLOW = {"residual": True, "rate": 0.005}
PLACES, NO_PLACES = BARE | {"positions": LENGTH}, BARE | {"positions": None}


def layers() -> Iterator[Row]:
    """Train two layers, with several options, on sequences with "not" anywhere."""
    plan: list[Plan] = [(0.5, way, 10) for way in (BARE, TIED, SLOW)]
    plan += [(0.5, SLOW | {"passes": 24}, 3), (0.3, BARE, 10), (0.3, TIED, 3)]
    plan += [(0.45, BARE, 5), (0.4, BARE, 5)]
    return two_layers(plan, order=False)


def order() -> Iterator[Row]:
    """Train two layers with and without positions on sequences where order matters."""
    plan: list[Plan] = [(0.5, PLACES, 10), (0.3, PLACES, 5), (0.5, NO_PLACES, 3)]
    plan += [(0.5, TIED | {"positions": LENGTH}, 5), (0.3, NO_PLACES, 3)]
    return two_layers(plan, order=True)


def redrawn(corpus: Corpus, seed: int) -> Corpus:
    """Redraw the words of each review from all words of its class."""
    rng, lengths = np.random.default_rng(seed), corpus.lengths.numpy()
    row = np.repeat(np.arange(len(corpus)), lengths)
    label, word = corpus.targets.numpy()[row], np.zeros(len(row), dtype=np.int64)
    for k in (0, 1):
        often = corpus.counts[corpus.targets.numpy() == k].sum(0).astype(np.float64)
        here = label == k
        word[here] = rng.choice(len(often), here.sum(), p=often / often.sum())
    ones = np.ones(len(row), dtype=np.float32)
    counts = csr_array((ones, (row, word)), shape=corpus.counts.shape)
    return Corpus(counts, corpus.targets, corpus.vocab, None, "scrambled")


def scrambled() -> Iterator[Row]:
    """Compare values with signed frequencies, on IMDB and on `redrawn` reviews."""
    imdb = load_corpus("imdb").balanced(3_000).most_frequent(7_766)
    for name in ("IMDB", "scrambled"):
        for seed in SEEDS:
            corpus = imdb if name == "IMDB" else redrawn(imdb, seed)
            alpha = signed_frequency(corpus)
            beta = mean_count(corpus, corpus.signs.double() / corpus.lengths)
            known = torch.from_numpy(corpus.counts.sum(0) > 0)
            model = AttentionClassifier(len(corpus.vocab), 256, seed=seed)
            large = one_step(model, corpus, lr=1e5).scores()
            steps: Row = {"steps": 120, "lr": 0.045 / 16, "until_loss": 0.03}
            record = fit(model, corpus, **steps, snapshots=range(121))
            at = {
                "99% right": int((record.accuracy >= 0.99).nonzero()[0]),
                "loss 0.1": int((record.loss <= 0.1).nonzero()[0]),
                "end": int(record.step[-1]),
            }
            ranks = [
                spearman(alpha[known], record.at(k)[known, 1]) for k in range(at["end"])
            ]
            row = {"corpus": name, "seed": seed, "best": max(ranks)}
            for where, k in at.items():
                values = record.at(k)[known, 1]
                row[f"step, {where}"] = k
                row[f"rank, {where}"] = spearman(alpha[known], values)
            r2 = [
                correlation(beta, b.double()) ** 2
                for b in (large[:, 1], record.at()[:, 1])
            ]
            row |= {"R2, one large step": r2[0], "R2, end": r2[1]}
            yield rounded(row)


NEGATORS = re.compile(r"^(not|no|never|nor|cannot|without|.*n't)$")
Text = tuple[np.ndarray, np.ndarray]


def token_ids(corpus: Corpus) -> Text:
    """Return the id of each word, or -1 if it is unknown, and the row of its text."""
    known = {token: i for i, token in enumerate(corpus.vocab)}
    found = [[known.get(w, -1) for w in split(text)] for text in corpus.texts or ()]
    sizes = [len(row) for row in found]
    return np.concatenate(found), np.repeat(np.arange(len(found)), sizes)


def shuffled(ids: np.ndarray, row: np.ndarray, seed: int) -> Text:
    """Return the words of each text in random order."""
    order = np.random.default_rng(seed).random(len(ids))
    return ids[np.lexsort((order, row))], row


def add_pairs(
    corpus: Corpus, ids: np.ndarray, row: np.ndarray, pairs: np.ndarray | None = None
) -> tuple[Corpus, np.ndarray]:
    """Return the corpus with pairs of neighbours as further tokens, and the pairs."""
    V = len(corpus.vocab)
    both = (row[1:] == row[:-1]) & (ids[1:] >= 0) & (ids[:-1] >= 0)
    pair, of = (ids[:-1] * V + ids[1:])[both], row[1:][both]
    if pairs is None:
        pairs, often = np.unique(pair, return_counts=True)
        pairs = pairs[often >= 20]
    at = np.searchsorted(pairs, pair).clip(max=len(pairs) - 1)
    hit = pairs[at] == pair
    where = of[hit], at[hit]
    counts = csr_array((np.ones(hit.sum()), where), (len(corpus), len(pairs)))
    names = [f"{corpus.vocab[k // V]}_{corpus.vocab[k % V]}" for k in pairs]
    vocab = Vocab([*corpus.vocab, *names], corpus.classes)
    return Corpus(hstack([corpus.counts, counts]), corpus.targets, vocab), pairs


def at_equal_numbers(
    held: np.ndarray, is_negated: np.ndarray, is_wrong: np.ndarray
) -> Row:
    """Return error rates with and without negated opinion words, by group of reviews.

    A group has similar numbers of opinion words. The result also contains the odds
    ratio of Mantel and Haenszel over the groups, with a 95% interval from the variance
    of Robins, Breslow and Greenland.
    """
    rows, tables = [], []
    for low, high in pairwise((*OPINIONS, np.inf)):
        group = (held >= low) & (held < high)
        cells = [
            [int((group & (is_negated == n) & (is_wrong == w)).sum()) for w in (1, 0)]
            for n in (1, 0)
        ]
        tables.append(cells)
        (a, b), (c, d) = cells
        row: Row = {"from": low, "reviews": a + b + c + d, "negated": a + b}
        rows.append(row | {"error with": a / (a + b), "error without": c / (c + d)})
    A, B, C, D = np.array(tables, dtype=float).reshape(-1, 4).T
    n = A + B + C + D
    R, S, P, Q = A * D / n, B * C / n, (A + D) / n, (B + C) / n
    spread = np.sqrt(
        (P * R).sum() / (2 * R.sum() ** 2)
        + (P * S + Q * R).sum() / (2 * R.sum() * S.sum())
        + (Q * S).sum() / (2 * S.sum() ** 2)
    )
    odds = float(R.sum() / S.sum())
    ends = (odds * np.exp([-1.96 * spread, 1.96 * spread])).tolist()
    return {"by_number": rows, "odds": odds, "odds_ends": ends}


def words() -> Iterator[Row]:
    """Yield results about negation on IMDB, then accuracies with and without pairs."""
    random, size = torch.Generator().manual_seed(0), 10_000
    train = with_texts("imdb")
    test = with_texts("imdb", "test", vocab=train.vocab)
    train = train[torch.randperm(len(train), generator=random)[:size]]
    texts = [token_ids(train), token_ids(test)]
    inputs = {"words": (train, test)}
    mixed = [shuffled(*text, 0) for text in texts]
    for name, (first, second) in {"pairs": texts, "shuffled": mixed}.items():
        corpus, pairs = add_pairs(train, *first)
        inputs[name] = corpus, add_pairs(test, *second, pairs)[0]
    rows, logits = [], {}
    for seed in range(3):
        row: Row = {"seed": seed}
        for name, (corpus, held_out) in inputs.items():
            model = AttentionClassifier(len(corpus.vocab), 64, seed=seed)
            steps: Row = {"steps": 55, "lr": 0.045 / 8, "snapshots": range(25, 56)}
            record = fit(model, corpus[2000:], test=corpus[:2000], **steps)
            best = 25 + int(record.test_accuracy[25:].argmax())
            logits[name] = bag_logits(record.at(best), held_out)
            row[name] = round(accuracy(logits[name], held_out), 4)
        rows.append(row)
    lean = posterior_difference(train).nan_to_num(0).numpy()
    often = train.counts.sum(0) >= 0.008 * size
    opinion = np.flatnonzero((np.abs(lean) >= 0.4) & often)
    negator = np.array([bool(NEGATORS.match(word)) for word in train.vocab])

    def opinions(ids: np.ndarray, row: np.ndarray) -> list[np.ndarray]:
        """Return the numbers of all and of negated opinion words in each review."""
        word, near = np.isin(ids, opinion), np.zeros(len(ids), dtype=bool)
        for back in (1, 2):
            here = (row[back:] == row[:-back]) & (ids[:-back] >= 0)
            near[back:] |= here & negator[ids[:-back]]
        return [np.bincount(row[word & k], minlength=row[-1] + 1) for k in (True, near)]

    signs = test.signs
    wrong = (signs * logits["words"] <= 0).numpy()
    mended = wrong.astype(int) - (signs * logits["pairs"] <= 0).numpy()
    held, turned = opinions(*texts[1])
    _, chance = opinions(*shuffled(*texts[1], 2))
    found: Row = {"n_train": f"{size:,}", "n_opinion": f"{len(opinion)}"}
    found["n_wrong"] = f"{wrong.sum():,}"
    for name, mask in (("wrong", wrong), ("right", ~wrong)):
        found[f"{name}_share"] = f"{(turned[mask] > 0).mean():.0%}"
        found[f"{name}_words"] = f"{held[mask].mean():.1f}"
    found |= at_equal_numbers(held, turned > 0, wrong)
    by_chance = at_equal_numbers(held, chance > 0, wrong)
    found |= {"null_odds": by_chance["odds"], "null_ends": by_chance["odds_ends"]}
    found["gap"] = float((turned[wrong] > 0).mean() - (turned[~wrong] > 0).mean())
    found["ratio"] = float(held[~wrong].mean() / held[wrong].mean())
    found["by_negated"] = float(mended[turned > 0].sum() / mended.sum())
    found["part"] = f"{found['by_negated']:.0%}"
    corpus = inputs["pairs"][0]
    leans = posterior_difference(corpus)
    for name in ("good", "not_good", "bad", "not_bad"):
        found[f"lean_{name}"] = f"{leans[corpus.vocab.index(name)]:.2f}"
    for name in ("words", "pairs"):
        learn, held_out = inputs[name][0][2000:], inputs[name][1]
        found[f"reg_{name}"] = f"{baseline(learn, held_out).accuracy:.1%}"
    yield found
    yield from rows


if __name__ == "__main__":
    parts = {"one": one(), "layers": layers(), "order": order()}
    parts |= {"scrambled": scrambled(), "words": words()}
    run_parts("interactions/interactions_{}", parts)
