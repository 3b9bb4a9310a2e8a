"""How `fit` takes its steps: by whole models or in score space, alone or by many.

Under `torchrun` each process holds a part of the corpus and the whole model. At a step
they exchange the gradient in the scores, (V, K + 1) numbers, and what they measure; at
the start the parameters, once.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Collection, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn.functional import cross_entropy, softplus

from attnsel.corpus import Corpus
from attnsel.model import Classifier, bag_logits

# Rows of E taken at a time: a block of 512 x 2048 floats stays in the cache of one
# core while several operations read it, so that memory sees E once.
BLOCK = 512


def logistic_loss(logits: Tensor, signs: Tensor) -> Tensor:
    """Return the mean of log(1 + exp(-y f)), the logistic loss of the paper.

    Args:
        logits: f, shape (n,).
        signs: y in {-1, +1}, shape (n,).
    """
    return softplus(-signs.to(logits) * logits).mean()


def mean_loss(logits: Tensor, corpus: Corpus) -> Tensor:
    """Return the logistic loss of logits (n,), or the cross-entropy of (n, K)."""
    if logits.ndim == 1:
        return logistic_loss(logits, corpus.signs)
    return cross_entropy(logits, corpus.targets.to(logits.device))


def score_gradient(scores: Tensor, corpus: Corpus) -> tuple[Tensor, Tensor]:
    """Return the logits and the gradient g of the loss in the scores, of their shape.

    By the chain rule g gives every gradient of the model: with the query and the
    outputs as the rows of P, `Classifier.directions`, that of E is g P (ga p^T +
    gb v^T for two classes) and that of P is g^T E.
    """
    leaf = scores.detach().requires_grad_()
    with torch.enable_grad():
        logits = bag_logits(leaf, corpus)
        (g,) = torch.autograd.grad(mean_loss(logits, corpus), leaf)
    return logits.detach(), g


class Whole:
    """Steps by autograd through a whole model, with the optimizers of torch."""

    share = 1.0  # of all sequences, the part that this process holds

    def __init__(
        self, model: Classifier, train: Collection[str], lr: float, optimizer: str
    ) -> None:
        self.model = model
        # Leaves of their own: nothing is left on the parameters when fit ends early.
        self.parts = {name: self.split(name) for name in train}
        groups: list[dict[str, Any]] = [
            {"params": parts, "lr": lr} for parts in self.parts.values()
        ]
        if optimizer == "gd":
            self.optimizer: torch.optim.Optimizer = torch.optim.SGD(groups)
            return
        for group, name in zip(groups, train, strict=True):
            group["lr"] *= len(model.cls) ** -0.5 if name in model.matrices else 1
        fused = model.cls.device.type in ("cpu", "cuda")
        self.optimizer = torch.optim.Adam(groups, fused=fused)

    def split(self, name: str) -> tuple[Tensor, ...]:
        """Return views of the parts of a parameter that move one after the other."""
        return (self.model.get_parameter(name).detach(),)

    @torch.no_grad()
    def scores(self) -> Tensor:
        """Return the scores of all tokens as the model stands."""
        return self.model.scores()

    @torch.no_grad()
    def logits(self, corpus: Corpus) -> Tensor:
        """Return the logits as the model stands."""
        logits: Tensor = self.model(corpus)
        return logits

    def look(self, corpus: Corpus) -> Tensor:
        """Return the logits and take the gradient for the next `move`."""
        logits: Tensor = self.model(corpus)
        loss = mean_loss(logits, corpus)
        if not bool(loss.isfinite()):
            raise FloatingPointError("the loss is not finite; train with a smaller lr")
        values = [self.model.get_parameter(name) for name in self.parts]
        self.grads = torch.autograd.grad(loss, values)
        return logits.detach()

    def move(self) -> None:
        """Take a step."""
        for (part,), grad in zip(self.parts.values(), self.grads, strict=True):
            part.grad = grad
        self.optimizer.step()


class ScoreSpace(Whole):
    """Steps of one layer from the gradient of its scores.

    The gradient of E is never held as a whole: it is formed and consumed by blocks
    that stay in the cache. For d = 2048 this halves the time of a step of
    `torch.optim.Adam` and needs a quarter less memory.
    """

    known: Tensor | None = None

    def split(self, name: str) -> tuple[Tensor, ...]:  # noqa: D102
        values = self.model.get_parameter(name).detach()
        return values.split(BLOCK) if name == "embeddings" else (values,)

    def scores(self) -> Tensor:  # noqa: D102
        if self.known is None:
            self.known = super().scores()
        return self.known

    def logits(self, corpus: Corpus) -> Tensor:  # noqa: D102
        return bag_logits(self.scores(), corpus)

    def look(self, corpus: Corpus) -> Tensor:  # noqa: D102
        logits, g = score_gradient(self.scores(), corpus)
        self.g = summed(self.share * g)
        return logits

    def move(self) -> None:  # noqa: D102
        E, P = self.split("embeddings"), self.model.directions()
        rows = P.detach()
        pulled, buffer = torch.zeros_like(rows), torch.empty_like(E[0])
        moving = self.parts.get("embeddings", ())
        for e, g, part in zip_longest(E, self.g.split(BLOCK), moving):
            pulled.addmm_(g.T, e)
            if part is not None:
                self.step(part, torch.mm(g, rows, out=buffer[: len(e)]))
        # These move last: the gradients of all are taken where they stand.
        small = [name for name in self.parts if name != "embeddings"]
        if small:
            values = [self.model.get_parameter(name) for name in small]
            grads = torch.autograd.grad(P, values, pulled)
            for name, grad in zip(small, grads, strict=True):
                self.step(self.parts[name][0], grad)
        self.known = None

    def step(self, part: Tensor, grad: Tensor) -> None:
        """Let the optimizer step on one part only."""
        part.grad = grad
        self.optimizer.step()
        part.grad = None


def batches(
    corpus: Corpus, size: int | None, random: torch.Generator
) -> Iterator[Corpus]:
    """Return the corpus, or its sequences in random order in parts of some size."""
    if size is None:
        return iter([corpus])
    order = torch.randperm(len(corpus), generator=random)
    return (corpus[rows] for rows in order.split(size))


def summed(values: Tensor) -> Tensor:
    """Return the values summed over all processes, or as they are where there is one.

    Raises:
        RuntimeError: if another process has ended or does not answer.
    """
    if processes() > 1:
        try:
            dist.all_reduce(values)
        except RuntimeError as error:
            raise RuntimeError(
                "another process of this training has ended or does not answer; start "
                "them all again, with checkpoint= to go on from where they were"
            ) from error
    return values


def processes() -> int:
    """Return the number of processes that train together."""
    started = dist.is_available() and dist.is_initialized()
    return dist.get_world_size() if started else 1


def join(model: Classifier, settings: dict[str, Any]) -> None:
    """Give all processes the parameters of the first one, once they mean the same."""
    if processes() == 1:
        return
    others: list[Any] = [None] * processes()
    dist.all_gather_object(others, settings)
    for name, value in settings.items():
        given = [other[name] for other in others]
        if given != [value] * len(given):
            raise ValueError(f"{name}: it differs between the processes: {given}")
    for parameter in model.parameters():
        dist.broadcast(parameter.detach(), 0)


def save(path: Path, state: dict[str, Any]) -> None:
    """Write a checkpoint whole or not at all; of several processes the first does."""
    if processes() > 1 and dist.get_rank():
        return
    part = path.with_name(f"{path.name}.part")
    try:
        with open(part, "wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def load(path: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """Return a checkpoint; a ValueError says in what it differs from these settings."""
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        before = state["settings"]
    except (RuntimeError, pickle.UnpicklingError, KeyError, EOFError) as error:
        raise ValueError(f"checkpoint: {path} holds no training") from error
    for name, value in settings.items():
        if before[name] != value:
            raise ValueError(
                f"checkpoint: {path} was written with {name}={before[name]!r}, "
                f"not {value!r}"
            )
    return state
