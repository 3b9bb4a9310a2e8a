"""Heights of the V for 18 kinds of transformers and for eight other models.

    python -m sweeps.outside.run_grid --texts FOLDER

The command makes the runs that two tables lack. The table `grid.csv` contains
transformers with two layers, {LayerNorm, none} x {uniform, usual, sharp} x {mean, cls,
query}, with five seeds each. The table `clients.csv` contains the other models, with
three seeds each. All models are trained on the reviews of `run_outside` and queried as
black boxes. Heights use the leans in test reviews. The runs take about half an hour on
one core.
"""

from collections.abc import Iterator
from itertools import product

import torch
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn

from attnsel.beyond.probe import Outside, outside
from attnsel.beyond.transformer import Transformer
from sweeps.common import Row, add_missing, rounded
from sweeps.outside import surrogates
from sweeps.outside.run_outside import (
    DIM,
    HEADS,
    HELD,
    HERE,
    Data,
    Model,
    chunked,
    drawn,
    held_height,
    inner_height,
    random_sequences,
    rank_by_bin,
    train,
    train_layer,
)

ATTENTION: dict[str, Row] = {
    "uniform": {"uniform": True},
    "usual": {},
    "sharp": {"sharpness": 8.0},
}
NORMS, POOLS = ("post", "none"), ("mean", "cls", "query")


def queried(ask: Model, d: Data) -> tuple[Tensor, Tensor]:
    """Return random sequences, and the outputs of a model for them."""
    ids = random_sequences(len(d.vocab))[:-HELD]
    return ids, ask(ids)


def probed(ask: Model, d: Data) -> Outside:
    """Return the result of `outside` for a model."""
    place = {token: i for i, token in enumerate(d.vocab)}

    def classify(texts: list[list[str]]) -> Tensor:
        rows = [torch.tensor([place[token] for token in text]) for text in texts]
        padded = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-1)
        return ask(padded)

    return outside(classify, d.vocab, join=None, samples=500)


def grid_rows(norm: str, attention: str, pool: str, seed: int) -> Iterator[Row]:
    """Yield heights of a transformer's V, from its outputs and its own attention."""
    d = drawn("imdb", seed)
    settings = ATTENTION[attention] | {"norm": norm, "pool": pool, "layers": 2}
    model = Transformer(len(d.vocab), DIM, heads=HEADS, seed=seed, **settings)
    train(model, d.ids, d.signs, seed)
    ask = chunked(model)
    b = ask(torch.arange(len(d.vocab))[:, None])
    asked = queried(ask, d)
    found: Row = {"held height": held_height(d, surrogates.fit_two_numbers(b, *asked))}
    haunted, _ = surrogates.fit_with_ghost(b, *asked)
    found["held, with ghost height"] = held_height(d, haunted)
    found["inner height"] = inner_height(model, d.test_ids[:500], d.held)
    yield rounded(found)


def embeddings(n_tokens: int) -> nn.Embedding:
    """Return embeddings with entries of variance 1/d, as in the transformers."""
    found = nn.Embedding(n_tokens, DIM)
    nn.init.normal_(found.weight, std=DIM**-0.5)
    return found


class MaxPool(nn.Module):
    """Max pooling over the tokens in each dimension, followed by a linear output."""

    def __init__(self, n_tokens: int) -> None:
        super().__init__()
        self.embeddings = embeddings(n_tokens)
        self.output = nn.Linear(DIM, 1)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the logits (n,) of sequences (n, T), padded with -1."""
        x = self.embeddings(ids.clamp(min=0))
        x = x.masked_fill((ids < 0)[:, :, None], -torch.inf)
        return self.output(x.amax(1)).squeeze(1)


class Recurrent(nn.Module):
    """An LSTM with a linear output from its last state."""

    def __init__(self, n_tokens: int) -> None:
        super().__init__()
        self.embeddings = embeddings(n_tokens)
        self.lstm = nn.LSTM(DIM, DIM, batch_first=True)
        self.output = nn.Linear(DIM, 1)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the logits (n,) of sequences (n, T), padded with -1."""
        states, _ = self.lstm(self.embeddings(ids.clamp(min=0)))
        last = (ids >= 0).sum(1) - 1
        return self.output(states[torch.arange(len(ids)), last]).squeeze(1)


def haunted_mean(b: Tensor, weight: float) -> Model:
    """Return a model that averages values and a ghost of value 0 with this `weight`."""

    def model(ids: Tensor) -> Tensor:
        size = (ids >= 0).sum(1)
        return surrogates.padded(b, ids).sum(1) / (size + weight)

    return model


def hardest(b: Tensor) -> Model:
    """Return a model of hard attention, which selects a token with the largest |b|."""

    def model(ids: Tensor) -> Tensor:
        values = surrogates.padded(b, ids)
        top = values.abs().argmax(1, keepdim=True)
        return values.gather(1, top).squeeze(1)

    return model


def regression(d: Data, is_tfidf: bool) -> Model:
    """Return a logistic regression on counts, or on tf-idf vectors of length one."""
    n_tokens = len(d.vocab)

    def counted(ids: Tensor) -> csr_array:
        return csr_array(surrogates.counts(ids, n_tokens)[:, :-1])

    plain: Row = {} if is_tfidf else {"norm": None, "use_idf": False}
    scale = TfidfTransformer(**plain)
    C = scale.fit_transform(counted(d.ids))
    fitted = LogisticRegression(C=1.0 if is_tfidf else 0.1, max_iter=300)
    fitted.fit(C, d.signs.numpy())

    def model(ids: Tensor) -> Tensor:
        logits = fitted.decision_function(scale.transform(counted(ids)))
        return torch.from_numpy(logits).float()

    return model


GHOSTS = {
    "mean of values": 0.0,
    "mean, ghost of weight 1": 1.0,
    "mean, ghost of weight 8": 8.0,
}
NETWORKS = {"max pooling": MaxPool, "LSTM": Recurrent}
CLIENTS = [*GHOSTS, "hard attention", *NETWORKS]
CLIENTS += ["regression on counts", "regression on tf-idf"]


def client_of(name: str, d: Data, seed: int) -> Model:
    """Train and return the model with this `name` in CLIENTS."""
    if name.startswith("regression"):
        return regression(d, is_tfidf=name.endswith("tf-idf"))
    if name in NETWORKS:
        torch.manual_seed(seed)
        networks = {each: made(len(d.vocab)) for each, made in NETWORKS.items()}
        # The test accuracy rises up to this number of passes.
        train(networks[name], d.ids, d.signs, seed, passes=4, rate=5e-3)
        return networks[name].eval()
    b = train_layer(d, seed, attention=False)[:, 1]
    return hardest(b) if name == "hard attention" else haunted_mean(b, GHOSTS[name])


def client_rows(client: str, seed: int) -> Iterator[Row]:
    """Query one model as a black box, and yield a row of measures."""
    d = drawn("imdb", seed)
    ask = chunked(client_of(client, d, seed))
    b = ask(torch.arange(len(d.vocab))[:, None])
    a = surrogates.fit_two_numbers(b, *queried(ask, d))
    there, found = ~d.held.isnan(), probed(ask, d)
    yield rounded(
        {
            "held vee": rank_by_bin(d.held[there], a[there], is_vee=True),
            "held height": held_height(d, a),
            "hard": found.hard,
            "beyond": found.beyond,
            "strength at 1": float(found.strength[0]),
            "strength at 64": float(found.strength[-1]),
            "fits": found.fits,
        }
    )


if __name__ == "__main__":
    clients = [{"client": name, "seed": seed} for seed in range(3) for name in CLIENTS]
    add_missing(HERE / "clients.csv", clients, client_rows)
    grid = [
        {"norm": norm, "attention": attention, "pool": pool, "seed": seed}
        for seed, norm, attention, pool in product(range(5), NORMS, ATTENTION, POOLS)
    ]
    add_missing(HERE / "grid.csv", grid, grid_rows)
