"""The sweeps behind the chapter on deeper models.

    python -m sweeps.deeper.run_deeper [PART ...]

The parts are `query`, `speed`, `mlp`, `slopes`, `two`, `heads` and `null`. Without
arguments, all parts run, which takes about ten minutes on one core. Each part writes a
file such as `deeper_query.json`, which the chapter reads.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import torch
from scipy.stats import spearmanr
from torch import Tensor

from attnsel import AttentionClassifier, Corpus, load_corpus
from attnsel.beyond.deep import MLPClassifier, TwoLayerClassifier
from attnsel.model import accuracy, bag_logits, mean_loss
from attnsel.statistics import spearman
from attnsel.theory import posterior_difference
from attnsel.train import fit
from attnsel_book import authors
from attnsel_book.v_shape import bin_means, shape
from sweeps.common import Row, run_parts, with_shuffled_labels

ORDER = ("embeddings", "cls", "output", "first_key_query", "key_query")
CENTERS = np.linspace(-0.95, 0.95, 20)


def rank(ours: np.ndarray, theirs: np.ndarray) -> float:
    return round(float(spearmanr(ours, theirs, nan_policy="omit").statistic), 4)


def imdb(per_class: int = 3_000, tokens: int = 7_766) -> Corpus:
    return load_corpus("imdb").balanced(per_class).most_frequent(tokens)


def yelp() -> Corpus:
    return load_corpus("yelp", min_count=1, max_tokens=5_424).balanced()


def curve_row(
    x: Tensor, scores: Tensor, table: str
) -> tuple[Row, np.ndarray, np.ndarray]:
    """Return the rank correlations of bin means with a table, and the bin means."""
    (a, b), paper = bin_means(x, scores), authors(table)
    return (
        {
            "attention": rank(a, paper["attention"]),
            "value": rank(b, paper["value"]),
        },
        a,
        b,
    )


def reach(a: np.ndarray) -> float:
    return round(float(np.nanmax(a) - np.nanmin(a)), 3)


def query() -> Iterator[Row]:
    """Train one layer at several rates, with a trained p, a trained W, or both."""
    corpus = imdb()
    x = posterior_difference(corpus)
    plan = {
        "p, no W": (("embeddings", "cls", "output"), (1, 2, 4)),
        "W, p fixed": (("embeddings", "key_query", "output"), (1, 4)),
        "W and p": (("embeddings", "cls", "key_query", "output"), (0.5, 1, 4)),
    }
    for setting, (names, rates) in plan.items():
        for rate in rates:
            for seed in range(3):
                matrix = "key_query" in names
                model = AttentionClassifier(
                    len(corpus.vocab), 512, key_query=matrix, seed=seed
                )
                step = rate * 0.045 / 512**0.5
                settings: Row = {"train": names, "until_accuracy": 0.99}
                fit(model, corpus, steps=200, lr=step, **settings)
                scores = model.scores()
                row, a, _ = curve_row(x, scores, "two layers")
                yield {
                    "setting": setting,
                    "rate": rate,
                    "seed": seed,
                    "value": row["value"],
                    "attention": row["attention"],
                    "reach": reach(a),
                    "end": round(shape(x, scores).end, 3),
                }


def speed() -> Iterator[Row]:
    """Train one layer with a separate learning rate for p, or for both W and p."""
    corpus = imdb()
    x, step = posterior_difference(corpus), 0.045 / 512**0.5
    for setting, rate in (
        ("p, no W", 1),
        ("p, no W", 2),
        ("W and p", 1),
        ("W and p", 0.5),
    ):
        for seed in range(3):
            matrix = setting == "W and p"
            model = AttentionClassifier(
                len(corpus.vocab), 512, key_query=matrix, seed=seed
            )
            groups = [
                {"params": [model.embeddings, model.output], "lr": step},
                {"params": [model.cls], "lr": rate * step},
            ]
            if model.key_query is not None:
                small = rate * step / 512**0.5
                groups.append({"params": [model.key_query], "lr": small})
            adam = torch.optim.Adam(groups)
            for _ in range(120):
                adam.zero_grad()
                f = model(corpus)
                mean_loss(f, corpus).backward()
                if accuracy(f.detach(), corpus) >= 0.99:
                    break
                adam.step()
            a, _ = bin_means(x, model.scores())
            yield {"setting": setting, "rate": rate, "seed": seed, "reach": reach(a)}


def mlp() -> Iterator[Row]:
    """Train MLPs on Yelp, with ten seeds for d = 256 and one seed for d = 2,048."""
    corpus, paper = yelp(), authors("MLP")
    x = posterior_difference(corpus)
    for dim, seeds, passes in ((256, range(10), 6), (2048, range(1), 4)):
        for seed in seeds:
            model = MLPClassifier(len(corpus.vocab), dim, seed=seed)
            rate = 0.003 * (256 / dim) ** 0.5
            fit(model, corpus, steps=passes, lr=rate, batch_size=100)
            E, p, v, H = (
                part.detach()
                for part in (model.embeddings, model.cls, model.output, model.hidden)
            )
            a, b, through = bin_means(x, torch.stack([E @ p, E @ v, E @ (H.T @ v)], 1))
            curves = {"a": a, "b": b, "through H": through}
            yield {
                "d": dim,
                "seed": seed,
                "attention": rank(a, paper["attention"]),
                "value": rank(b, paper["value"]),
                "through": rank(through, paper["value"]),
                "rise": rank(through, CENTERS),
                "curves": {k: np.round(y, 4).tolist() for k, y in curves.items()},
            }


def short(corpus: Corpus, per_class: int = 1_000) -> Corpus:
    """Return a balanced corpus of reviews with at most 80 distinct tokens each."""
    few = [len(ids) <= 80 for ids, _ in corpus.bags()]
    corpus = corpus[torch.tensor(few)]
    least = int(corpus.targets.bincount().min())
    return corpus.balanced(min(per_class, least)).most_frequent(5_424)


def slopes() -> Iterator[Row]:
    """Regress the exact gradient of two layers on the chapter's tilt and bend."""
    corpus = short(load_corpus("imdb")).balanced(250)
    share = corpus.counts.multiply(1 / corpus.lengths.numpy()[:, None])
    share = torch.from_numpy(share.toarray()).double()
    y = corpus.signs.double()
    beta = (y[:, None] * share).mean(0)
    for residual in (True, False):
        for seed in range(3):
            model = TwoLayerClassifier(
                len(corpus.vocab), 512, residual=residual, seed=seed
            )
            with torch.no_grad():
                model.embeddings.add_(100 * torch.outer(beta.float(), model.output))
            logits = model(corpus)
            loss = mean_loss(logits, corpus)
            (gradient,) = torch.autograd.grad(loss, [model.embeddings])
            E, p, v, W1, W = (
                model.get_parameter(name).detach().double() for name in ORDER
            )
            push = -gradient.double()
            k, m = W @ p, share @ E
            weight = (y * torch.sigmoid(-y * logits.detach()))[:, None] * share
            above = E @ v - (m @ v)[:, None]
            to_key = W1.T @ m.mean(0)
            bends = {
                "k": (k, (weight * above).mean(0) * (k @ k)),
                "W1'm": (
                    to_key,
                    (weight * above * (m @ (W1 @ to_key))[:, None]).mean(0),
                ),
            }
            row: Row = {"residual": residual, "seed": seed}
            for name, (direction, bend) in bends.items():
                columns = torch.stack([weight.mean(0) * (v @ direction), bend], 1)
                found = push @ direction
                fitted = torch.linalg.lstsq(columns, found[:, None]).solution[:, 0]
                left = (found - columns @ fitted).square().sum()
                if name == "k":
                    row["tilt, k"] = round(float(fitted[0]), 4)
                row[f"bend, {name}"] = round(float(fitted[1]), 4)
                row[f"R2, {name}"] = round(float(1 - left / found.square().sum()), 4)
            yield row


def train_two(
    corpus: Corpus, matrices: str, residual: bool, seed: int, **other: Any
) -> list[Tensor]:
    """Train two layers, and return the scores (V, 2) after each pass over the corpus.

    `matrices` is "trained", "fixed", or "none", which means that W_1 and W are I.
    """
    setting = {"dim": 64, "rate": 0.003, "passes": 4} | other
    dim, rate, passes = setting["dim"], setting["rate"], setting["passes"]
    model = TwoLayerClassifier(len(corpus.vocab), dim, residual=residual, seed=seed)
    if matrices == "none":
        with torch.no_grad():
            for matrix in ORDER[3:]:
                model.get_parameter(matrix).copy_(torch.eye(dim))
    names = None if matrices == "trained" else ("embeddings", "cls", "output")
    settings: Row = {"train": names, "snapshots": range(1, passes + 1)}
    record = fit(model, corpus, steps=passes, lr=rate, batch_size=50, **settings)
    return [record.at(k) for k in range(1, passes + 1)]


def two() -> Iterator[Row]:
    """Train six variants of two layers, and four of them in three more settings."""
    data = {"IMDB": short(load_corpus("imdb"))}
    data["Yelp"] = short(load_corpus("yelp", min_count=1))
    others: dict[str, Row] = {
        "as above": {},
        "rate times 3": {"rate": 0.009, "passes": 3},
        "d = 16": {"dim": 16, "passes": 3},
        "Yelp": {"passes": 3},
    }
    for matrices, residual, setting in product(
        ("trained", "fixed", "none"), (True, False), others
    ):
        other = others[setting]
        if matrices == "none" and other:
            continue
        corpus = data["Yelp" if setting == "Yelp" else "IMDB"]
        x = posterior_difference(corpus)
        for seed in range(1 if other else 3):
            found = train_two(corpus, matrices, residual, seed, **other)
            for k, scores in enumerate(found, start=1):
                row: Row = {"matrices": matrices, "residual": residual}
                row |= {"setting": setting, "seed": seed, "pass": k}
                agreed, a, b = curve_row(x, scores, "two layers")
                full = ~np.isnan(b)
                copied = float(np.corrcoef(a[full], b[full])[0, 1])
                row |= agreed | {"copy": round(copied, 4)}
                yield row | {"a": np.round(a, 4).tolist()}


def null() -> Iterator[Row]:
    """Train models with a matrix W, a hidden layer or two layers on shuffled labels.

    The leans, against which scores and values are averaged, are computed from the
    shuffled labels. A shape that occurs even then is a property of training alone.
    """
    reviews, few, stars = imdb(), short(load_corpus("imdb")), yelp()
    for seed in range(3):
        for name, of, table in (
            ("W and p", reviews, "two layers"),
            ("MLP", stars, "MLP"),
            ("two layers, residual", few, "two layers"),
            ("two layers, no residual", few, "two layers"),
        ):
            corpus = with_shuffled_labels(of, seed)
            x, V = posterior_difference(corpus), len(corpus.vocab)
            if name == "W and p":
                model = AttentionClassifier(V, 512, key_query=True, seed=seed)
                steps: Row = {"until_accuracy": 0.99, "lr": 0.045 / 512**0.5}
                fit(model, corpus, steps=200, **steps)
                scores = model.scores()
            elif name == "MLP":
                mixed = MLPClassifier(V, 256, seed=seed)
                fit(mixed, corpus, steps=6, lr=0.003, batch_size=100)
                E, p, v = mixed.embeddings, mixed.cls, mixed.hidden.T @ mixed.output
                scores = torch.stack([E @ p, E @ v], 1).detach()
            else:
                residual = name == "two layers, residual"
                scores = train_two(corpus, "trained", residual, seed)[-1]
            row, a, b = curve_row(x, scores, table)
            row["rise"] = rank(b, CENTERS)
            yield {"model": name, "seed": seed} | row | {"a": np.round(a, 4).tolist()}


def heads_of(corpus: Corpus, heads: int, seed: int, steps: int = 60) -> list[Tensor]:
    """Train `heads` heads with one E, and return the scores (V, 2) of each head."""
    random, dim = torch.Generator().manual_seed(seed), 128
    E = torch.randn(len(corpus.vocab), dim, generator=random) * dim**-0.5
    P = torch.randn(heads, 2, dim, generator=random) * dim**-0.5
    parameters = [E.requires_grad_(), P.requires_grad_()]
    adam = torch.optim.Adam(parameters, lr=0.045 / dim**0.5)
    for _ in range(steps):
        adam.zero_grad()
        f = torch.stack([bag_logits(E @ rows.T, corpus) for rows in P]).sum(0)
        mean_loss(f, corpus).backward()
        if accuracy(f.detach(), corpus) >= 0.99:
            break
        adam.step()
    return [(E @ rows.T).detach() for rows in P]


def tops(scores: Tensor, corpus: Corpus) -> np.ndarray:
    """Return the token with the largest attention score in each sequence."""
    a = scores[:, 0].numpy()
    return np.array([ids[a[ids].argmax()] for ids, _ in corpus.bags()])


def heads() -> Iterator[Row]:
    """Compare the four heads of a model on Yelp with four models of one head each."""
    corpus = yelp()
    seen = corpus.counts.sum(0) > 0
    for seed in range(5):
        alone = [heads_of(corpus, 1, 10 + 4 * seed + i)[0] for i in range(4)]
        for name, members in (
            ("heads of one model", heads_of(corpus, 4, seed)),
            ("models of one head", alone),
        ):
            chosen = [tops(scores, corpus) for scores in members]
            pairs = [(i, j) for i in range(4) for j in range(i)]
            same = [(chosen[i] == chosen[j]).mean() for i, j in pairs]
            a = [scores[seen, 0] for scores in members]
            alike = [spearman(a[i], a[j]) for i, j in pairs]
            row = {"group": name, "seed": seed}
            means = {"same top token": np.mean(same), "scores": np.mean(alike)}
            yield row | {k: round(float(y), 4) for k, y in means.items()}


if __name__ == "__main__":
    parts = {"query": query(), "speed": speed(), "mlp": mlp(), "slopes": slopes()}
    parts |= {"two": two(), "heads": heads(), "null": null()}
    run_parts("deeper/deeper_{}", parts)
