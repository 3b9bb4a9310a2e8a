"""The sweeps behind the chapter on deeper models.

    python -m sweeps.deeper.run_deeper [PART ...]

The parts are query, speed, mlp, slopes, two, heads and null.

They take about ten minutes of one core and write `deeper_*.json`, which
the chapter reads. The chapter runs the smallest part of each again.
"""

from __future__ import annotations

import sys
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
from attnsel_book.data import result_folder, store
from attnsel_book.shapes import bin_means, shape

HERE = result_folder("deeper")
ORDER = ("embeddings", "cls", "output", "first_key_query", "key_query")
CENTERS = np.linspace(-0.95, 0.95, 20)
Row = dict[str, Any]


def rank(ours: np.ndarray, theirs: np.ndarray) -> float:
    return round(float(spearmanr(ours, theirs, nan_policy="omit").statistic), 4)


def imdb(per_class: int = 3_000, tokens: int = 7_766) -> Corpus:
    return load_corpus("imdb").balanced(per_class).most_frequent(tokens)


def yelp() -> Corpus:
    return load_corpus("yelp", min_count=1, max_tokens=5_424).balanced()


def query() -> list[Row]:
    """One layer: p alone, W with p fixed, and both, at several rates of Adam."""
    corpus, paper, rows = imdb(), authors("two layers"), []
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
                settings: dict[str, Any] = {"train": names, "until_accuracy": 0.99}
                fit(model, corpus, steps=200, lr=step, **settings)
                scores = model.scores()
                a, b = bin_means(x, scores)
                row: Row = {"setting": setting, "rate": rate, "seed": seed}
                row["value"] = rank(b, paper["value"])
                row["attention"] = rank(a, paper["attention"])
                row["reach"] = round(float(np.nanmax(a) - np.nanmin(a)), 3)
                row["end"] = round(shape(x, scores).end, 3)
                rows.append(row)
                print(row, flush=True)
    return rows


def speed() -> list[Row]:
    """The same with a rate of its own for what makes the query, p or W and p."""
    corpus, rows = imdb(), []
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
            reach = round(float(np.nanmax(a) - np.nanmin(a)), 3)
            rows.append(
                {"setting": setting, "rate": rate, "seed": seed, "reach": reach}
            )
            print(rows[-1], flush=True)
    return rows


def mlp() -> list[Row]:
    """An MLP on Yelp: ten seeds at d = 256, one at the paper's hidden size."""
    corpus, paper, rows = yelp(), authors("MLP"), []
    x = posterior_difference(corpus)
    for dim, seeds, passes in ((256, range(10), 6), (2048, range(1), 4)):
        for seed in seeds:
            model = MLPClassifier(len(corpus.vocab), dim, seed=seed)
            rate = 0.003 * (256 / dim) ** 0.5
            record = fit(model, corpus, steps=passes, lr=rate, batch_size=100)
            E, p, v, H = (
                part.detach()
                for part in (model.embeddings, model.cls, model.output, model.hidden)
            )
            a, b, through = bin_means(x, torch.stack([E @ p, E @ v, E @ (H.T @ v)], 1))
            row: Row = {"d": dim, "seed": seed, "right": float(record.accuracy[-1])}
            row["attention"] = rank(a, paper["attention"])
            row["value"] = rank(b, paper["value"])
            row["through"] = rank(through, paper["value"])
            row["rise"] = rank(through, CENTERS)
            curves = {"a": a, "b": b, "through H": through}
            row["curves"] = {k: np.round(y, 4).tolist() for k, y in curves.items()}
            rows.append(row)
            print({k: y for k, y in row.items() if k != "curves"}, flush=True)
    return rows


def short(corpus: Corpus, per_class: int = 1_000) -> Corpus:
    """Return balanced reviews of at most 80 distinct tokens."""
    few = [len(ids) <= 80 for ids, _ in corpus.bags()]
    corpus = corpus[torch.tensor(few)]
    least = int(corpus.targets.bincount().min())
    return corpus.balanced(min(per_class, least)).most_frequent(5_424)


def slopes() -> list[Row]:
    """The exact gradient of two layers on the two terms of the proposition."""
    corpus = short(load_corpus("imdb")).balanced(250)
    rows: list[Row] = []
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
            row["shorter"] = round(float((k @ k) / (to_key @ to_key)), 1)
            for name, (direction, bend) in bends.items():
                columns = torch.stack([weight.mean(0) * (v @ direction), bend], 1)
                found = push @ direction
                fitted = torch.linalg.lstsq(columns, found[:, None]).solution[:, 0]
                left = (found - columns @ fitted).square().sum()
                row[f"tilt, {name}"] = round(float(fitted[0]), 4)
                row[f"bend, {name}"] = round(float(fitted[1]), 4)
                row[f"R2, {name}"] = round(float(1 - left / found.square().sum()), 4)
            rows.append(row)
            print(row, flush=True)
    return rows


def train_two(
    corpus: Corpus, matrices: str, residual: bool, seed: int, **other: Any
) -> tuple[TwoLayerClassifier, list[Tensor], float]:
    """Train two layers; matrices are "trained", "fixed", or "none" for W = I."""
    setting = {"dim": 64, "rate": 0.003, "passes": 4} | other
    dim, rate, passes = setting["dim"], setting["rate"], setting["passes"]
    model = TwoLayerClassifier(len(corpus.vocab), dim, residual=residual, seed=seed)
    if matrices == "none":
        with torch.no_grad():
            for matrix in ORDER[3:]:
                model.get_parameter(matrix).copy_(torch.eye(dim))
    names = None if matrices == "trained" else ("embeddings", "cls", "output")
    settings: dict[str, Any] = {
        "train": names,
        "snapshots": range(1, passes + 1),
        "batch_size": 50,
    }
    record = fit(model, corpus, steps=passes, lr=rate, **settings)
    kept = [record.at(k) for k in range(1, passes + 1)]
    return model, kept, float(record.accuracy[-1])


def two() -> list[Row]:
    """Two layers: six variants by three seeds, and other settings for four of them."""
    paper, rows = authors("two layers"), []
    data = {"IMDB": short(load_corpus("imdb"))}
    data["Yelp"] = short(load_corpus("yelp", min_count=1))
    others: dict[str, Row] = {
        "as above": {},
        "rate times 3": {"rate": 0.009, "passes": 3},
        "d = 16": {"dim": 16, "passes": 3},
        "Yelp": {"passes": 3},
    }
    for matrices in ("trained", "fixed", "none"):
        for residual in (True, False):
            for setting, other in others.items():
                if matrices == "none" and other:
                    continue
                corpus = data["Yelp" if setting == "Yelp" else "IMDB"]
                x = posterior_difference(corpus)
                seeds = range(3 if setting == "as above" else 1)
                for seed in seeds:
                    _, kept, right = train_two(
                        corpus, matrices, residual, seed, **other
                    )
                    for k, scores in enumerate(kept, start=1):
                        a, b = bin_means(x, scores)
                        full = ~np.isnan(b)
                        row: Row = {"matrices": matrices, "residual": residual}
                        row |= {"setting": setting, "seed": seed, "pass": k}
                        row["attention"] = rank(a, paper["attention"])
                        row["value"] = rank(b, paper["value"])
                        copied = float(np.corrcoef(a[full], b[full])[0, 1])
                        row |= {"copy": round(copied, 4), "right": right}
                        row["a"] = np.round(a, 4).tolist()
                        rows.append(row)
                    print({k: y for k, y in rows[-1].items() if k != "a"}, flush=True)
    return rows


def dealt(corpus: Corpus, seed: int) -> Corpus:
    """Return the same reviews with their labels dealt anew."""
    random = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(corpus), generator=random)
    return corpus.with_labels(corpus.targets[order])


def null() -> list[Row]:
    """Models with a matrix, a hidden layer, two layers, of labels dealt anew.

    Their curves are over the leans in these labels: what they show as well is a
    property of training, not of the reviews.
    """
    rows: list[Row] = []
    whole, few, stars = imdb(), short(load_corpus("imdb")), yelp()
    steps: dict[str, Any] = {"until_accuracy": 0.99, "lr": 0.045 / 512**0.5}
    for seed in range(3):
        for name, corpus, table in (
            ("W and p", dealt(whole, seed), "two layers"),
            ("MLP", dealt(stars, seed), "MLP"),
            ("two layers, residual", dealt(few, seed), "two layers"),
            ("two layers, no residual", dealt(few, seed), "two layers"),
        ):
            x, V = posterior_difference(corpus), len(corpus.vocab)
            if name == "W and p":
                model = AttentionClassifier(V, 512, key_query=True, seed=seed)
                record = fit(model, corpus, steps=200, **steps)
                scores, right = model.scores(), float(record.accuracy[-1])
            elif name == "MLP":
                mixed = MLPClassifier(V, 256, seed=seed)
                record = fit(mixed, corpus, steps=6, lr=0.003, batch_size=100)
                E, p, v = mixed.embeddings, mixed.cls, mixed.hidden.T @ mixed.output
                scores = torch.stack([E @ p, E @ v], 1).detach()
                right = float(record.accuracy[-1])
            else:
                residual = name == "two layers, residual"
                _, kept, right = train_two(corpus, "trained", residual, seed)
                scores = kept[-1]
            a, b = bin_means(x, scores)
            row: Row = {"model": name, "seed": seed, "right": round(right, 4)}
            row["attention"] = rank(a, authors(table)["attention"])
            row["value"] = rank(b, authors(table)["value"])
            row["rise"] = rank(b, CENTERS)
            row["a"] = np.round(a, 4).tolist()
            rows.append(row)
            print({k: y for k, y in row.items() if k != "a"}, flush=True)
    return rows


def heads_of(corpus: Corpus, heads: int, seed: int, steps: int = 60) -> list[Tensor]:
    """Train f = sum_h f_h on one E and return the scores (V, 2) of each head."""
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
    """Return the most attended token of each sequence."""
    a = scores[:, 0].numpy()
    return np.array([ids[a[ids].argmax()] for ids, _ in corpus.bags()])


def heads() -> list[Row]:
    """Several heads on Yelp, against models of one head from other seeds."""
    corpus, rows = yelp(), []
    seen = corpus.counts.sum(0) > 0
    lean = posterior_difference(corpus)
    for seed in range(5):
        groups = {
            "heads of one model": heads_of(corpus, 4, seed),
            "models of one head": [
                heads_of(corpus, 1, 10 + 4 * seed + i)[0] for i in range(4)
            ],
        }
        for name, members in groups.items():
            chosen = [tops(scores, corpus) for scores in members]
            pairs = [(i, j) for i in range(4) for j in range(i)]
            row: Row = {"group": name, "seed": seed}
            row["same top token"] = np.mean(
                [(chosen[i] == chosen[j]).mean() for i, j in pairs]
            )
            row["scores"] = np.mean(
                [spearman(members[i][seen, 0], members[j][seen, 0]) for i, j in pairs]
            )
            row["values"] = np.mean(
                [spearman(members[i][seen, 1], members[j][seen, 1]) for i, j in pairs]
            )
            vee = [shape(lean, scores).arms for scores in members]
            row |= {"least arm": min(vee), "arm": np.mean(vee)}
            rows.append(
                {k: round(float(y), 4) if k != "group" else y for k, y in row.items()}
            )
            print(rows[-1], flush=True)
    return rows


if __name__ == "__main__":
    torch.set_num_threads(1)
    parts = {"query": query, "speed": speed, "mlp": mlp, "slopes": slopes}
    parts |= {"two": two, "heads": heads, "null": null}
    for part in sys.argv[1:] or parts:
        store(HERE / f"deeper_{part}.json", parts[part]())
