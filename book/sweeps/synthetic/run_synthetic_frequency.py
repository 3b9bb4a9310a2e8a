"""The V on synthetic data, by optimizer and by the frequencies of tokens.

    python -m sweeps.synthetic.run_synthetic_frequency

The sizes and rates are the same as in the chapter on synthetic data. The script runs
ten seeds of each setting, which takes about a minute on one core.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from attnsel import AttentionClassifier, Corpus, synthetic_corpus
from attnsel.model import mean_loss
from attnsel.theory import posterior_difference
from attnsel_book.problems import equal_frequencies
from attnsel_book.results import result_folder, store
from attnsel_book.v_shape import shape
from sweeps.common import Row

N, V, T, DIM, DELTA, RATE, LOSS, STEPS = 4000, 400, 20, 2048, 0.1, 0.09, 0.01, 2000
SEEDS = range(10)
COLUMNS = "values", "arms", "value_spread", "score_spread", "end"


def laws(R: int) -> tuple[Tensor, Tensor]:
    """Return the leans (V,) and frequencies (V,) of all tokens if `R` are relevant."""
    k = DELTA + 1 / V
    u = torch.linspace(0, 1, R // 2, dtype=torch.float64)
    theta = torch.zeros(V, dtype=torch.float64)
    theta[:R] = torch.cat([k + (1 - k) * u, -k - (1 - k) * u])
    signal, y = theta != 0, torch.tensor([[-1], [1]])
    first = signal * (1 + y * theta) / R
    later = (1 - k) * first + k * ~signal / (V - R)
    return theta, (first + (T - 1) * later).mean(dim=0)


def measure(
    corpus: Corpus,
    seed: int,
    adam: bool = True,
    weight: float | Tensor = 1.0,
) -> dict[str, float]:
    """Train E (with its gradient times `weight`), p and v; return measures of the V."""
    model = AttentionClassifier(V, DIM, seed=1000 + seed)
    optimizer: torch.optim.Optimizer
    if adam:
        optimizer = torch.optim.Adam(model.parameters(), lr=RATE / DIM**0.5)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=8.0)
    for _ in range(STEPS):
        loss = mean_loss(model(corpus), corpus)
        if float(loss.detach()) < LOSS:
            break
        optimizer.zero_grad()
        loss.backward()
        assert model.embeddings.grad is not None
        model.embeddings.grad *= weight
        optimizer.step()
    E, p, v = model.embeddings, model.cls, model.output
    scores = torch.stack([E @ p, E @ v], dim=1).detach()
    of = shape(posterior_difference(corpus), scores)
    measures = {name: round(getattr(of, name), 5) for name in COLUMNS}
    return measures | {"loss": round(loss.item(), 5)}


def by_frequency(seed: int) -> Iterator[Row]:
    """Yield results of Adam and descent for relevant tokens at two frequencies."""
    frequency = laws(V // 2)[1]
    evenly = (frequency.mean() / frequency).float()[:, None]
    even, rare = equal_frequencies(V, T, DELTA), V // 2
    settings: dict[str, tuple[int, Row]] = {
        "equal, Adam": (even, {}),
        "equal, descent": (even, {"adam": False}),
        "rare, Adam": (rare, {}),
        "rare, descent": (rare, {"adam": False}),
        "rare, divided": (rare, {"adam": False, "weight": evenly}),
    }
    for name, (R, options) in settings.items():
        given: Row = {"delta": DELTA, "n_relevant": R, "seed": seed}
        corpus = synthetic_corpus(N, V, T, **given)
        yield {"setting": name, "seed": seed} | measure(corpus, seed, **options)


def zipf(seed: int) -> Row:
    """Train by Adam if frequencies follow Zipf's law, and return measures of the V."""
    theta = laws(equal_frequencies(V, T, DELTA))[0]
    random = torch.Generator().manual_seed(seed)
    rank = 1 + torch.randperm(V, generator=random)
    labels = torch.arange(N) % 2
    weights = (1 + (2 * labels[:, None] - 1) * theta) / rank
    tokens = torch.multinomial(weights, T, True, generator=random)
    given: Row = {"delta": DELTA, "n_relevant": V // 2}
    vocab = synthetic_corpus(2, V, T, **given).vocab
    corpus = Corpus.from_tokens(tokens.numpy(), labels, vocab)
    return {"setting": "Zipf", "seed": seed} | measure(corpus, seed)


if __name__ == "__main__":
    torch.set_num_threads(1)
    rows = [row for seed in SEEDS for row in by_frequency(seed)]
    rows += [zipf(seed) for seed in SEEDS]
    store(result_folder("synthetic") / "synthetic_frequency.json", rows)
