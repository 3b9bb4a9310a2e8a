"""Slow and simple implementations for tests of the package."""

from typing import TypeVar

import torch
from torch import Tensor, nn

from attnsel.corpus import Corpus
from attnsel.tokens import Vocab

M = TypeVar("M", bound=nn.Module)


def ragged(
    seed: int,
    *,
    n: int = 12,
    n_tokens: int = 9,
    longest: int = 7,
    n_classes: int = 2,
) -> tuple[list[list[int]], list[int], Corpus]:
    """Return random sequences with repeated tokens, their labels, and their corpus."""
    rng = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, longest + 1, (n,), generator=rng)
    sequences = [
        torch.randint(n_tokens, (int(length),), generator=rng).tolist()
        for length in lengths
    ]
    labels = torch.randint(n_classes, (n,), generator=rng).tolist()
    vocab = Vocab((f"t{i}" for i in range(n_tokens)), range(n_classes))
    return sequences, labels, Corpus.from_tokens(sequences, labels, vocab)


def naive_logits(E: Tensor, p: Tensor, v: Tensor, sequences: list[list[int]]) -> Tensor:
    """Return f(X) = softmax(E_X p)^T E_X v for each sequence X, as in the paper.

    If v has shape (K, d), the logits have shape (n, K).
    """
    logits, outputs = [], v.mT if v.ndim == 2 else v
    for sequence in sequences:
        E_X = E[torch.tensor(sequence)]
        logits.append(torch.softmax(E_X @ p, dim=0) @ (E_X @ outputs))
    return torch.stack(logits)


def naive_loss(logits: Tensor, labels: list[int]) -> Tensor:
    """Return the mean of log(1 + exp(-y f)), y = 2 label - 1, or the cross-entropy."""
    if logits.ndim == 2:
        return -torch.log_softmax(logits, 1)[torch.arange(len(labels)), labels].mean()
    signs = torch.tensor([2.0 * label - 1 for label in labels], dtype=logits.dtype)
    return torch.log1p(torch.exp(-signs * logits)).mean()


def place(model: M, **values: Tensor) -> M:
    """Set parameters of a model by name, and return the model."""
    with torch.no_grad():
        for name, value in values.items():
            model.get_parameter(name).copy_(value)
    return model
