"""How `fit` takes its steps: by whole models or in score space, alone or by many.

Under `torchrun` each process holds a part of the corpus and the whole model. At a step
they exchange the gradient in the scores, (V, K + 1) numbers, and what they measure; at
the start the parameters, once.
"""

import os
import pickle
from collections.abc import Collection
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
    """Return the mean of log(1 + exp(-y f)) of logits f (n,) and signs y (n,)."""
    return softplus(-signs.to(logits) * logits).mean()


def mean_loss(logits: Tensor, corpus: Corpus) -> Tensor:
    """Return the logistic loss of logits (n,), or the cross-entropy of (n, K)."""
    if logits.ndim == 1:
        return logistic_loss(logits, corpus.signs)
    return cross_entropy(logits, corpus.targets.to(logits.device))


def score_gradient(scores: Tensor, corpus: Corpus) -> tuple[Tensor, Tensor]:
    """Return the logits and the gradient g of the loss in the scores, of their shape.

    With the query and the outputs as the rows of P, `Classifier.directions`, the
    gradient of E is g P and that of P is g^T E.
    """
    leaf = scores.detach().requires_grad_()
    with torch.enable_grad():
        logits = bag_logits(leaf, corpus)
        (g,) = torch.autograd.grad(mean_loss(logits, corpus), leaf)
    return logits.detach(), g


class Whole:
    """Steps by autograd through a whole model, with the optimizers of torch."""

    share = 1.0  # of all sequences, the part that this process holds
    known: Tensor | None = None  # the scores since the last step

    def __init__(
        self, model: Classifier, train: Collection[str], lr: float, optimizer: str
    ) -> None:
        self.model, adam = model, optimizer == "adam"
        # Leaves of their own: nothing is left on the parameters when fit ends early.
        blocks = {name: p.detach().split(BLOCK) for name, p in model.named_parameters()}
        self.E = blocks["embeddings"]
        self.parts = {name: blocks[name] for name in train}
        rates = dict.fromkeys(model.matrices if adam else (), len(model.cls) ** -0.5)
        groups: list[dict[str, Any]] = [
            {"params": parts, "lr": lr * rates.get(name, 1)}
            for name, parts in self.parts.items()
        ]
        self.optimizer: torch.optim.Optimizer = (
            torch.optim.Adam(groups, fused=True) if adam else torch.optim.SGD(groups)
        )

    def scores(self) -> Tensor:
        """Return the scores of all tokens as the model stands."""
        if self.known is None:
            self.known = self.model.scores().detach()
        return self.known

    def look(self, corpus: Corpus, learn: bool) -> Tensor:
        """Return the logits, and take the gradient for the next `move` to `learn`."""
        with torch.set_grad_enabled(learn):
            logits: Tensor = self.model(corpus)
            loss = mean_loss(logits, corpus)
        if not bool(loss.isfinite()):
            raise FloatingPointError("the loss is not finite; train with a smaller lr")
        if learn:
            values = [self.model.get_parameter(name) for name in self.parts]
            grads = torch.autograd.grad(loss, values)
            self.grads = dict(zip(self.parts, grads, strict=True))
        return logits.detach()

    def move(self) -> None:
        """Take a step by the gradients kept."""
        for name, grad in self.grads.items():
            for part, g in zip(self.parts[name], grad.split(BLOCK), strict=True):
                part.grad = g
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.known = None


class ScoreSpace(Whole):
    """Steps of one layer from the gradient of its scores.

    The gradient of E is formed and consumed by blocks that stay in the cache: for
    d = 2048 half the time and three quarters of the memory of `torch.optim.Adam`.
    """

    def look(self, corpus: Corpus, learn: bool) -> Tensor:  # noqa: D102
        if not learn:
            return bag_logits(self.scores(), corpus)
        logits, g = score_gradient(self.scores(), corpus)
        self.g = summed(self.share * g)
        return logits

    def move(self) -> None:  # noqa: D102
        P = self.model.directions()
        rows = P.detach()
        pulled, buffer = torch.zeros_like(rows), torch.empty_like(self.E[0])
        for e, g in zip(self.E, self.g.split(BLOCK), strict=True):
            pulled.addmm_(g.T, e)
            if "embeddings" in self.parts:
                e.grad = torch.mm(g, rows, out=buffer[: len(e)])
                self.optimizer.step()
                e.grad = None
        # These move last: the gradients of all are taken where they stand.
        small = [name for name in self.parts if name != "embeddings"]
        values = [self.model.get_parameter(name) for name in small]
        grads = torch.autograd.grad(P, values, pulled) if small else ()
        self.grads = dict(zip(small, grads, strict=True))
        super().move()


def summed(values: Tensor) -> Tensor:
    """Sum values over all processes; a RuntimeError if another one does not answer."""
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
    if processes() > 1:
        others: list[Any] = [None] * processes()
        dist.all_gather_object(others, settings)
        for other in others:
            agree(settings, other, "another process")
        for parameter in model.parameters():
            dist.broadcast(parameter.detach(), 0)


def agree(settings: dict[str, Any], others: dict[str, Any], where: str) -> None:
    """Raise a ValueError that names a setting with another value elsewhere."""
    for name, value in settings.items():
        if others[name] != value:
            raise ValueError(f"{name}: {value!r} here, but {others[name]!r} in {where}")


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
    """Return a checkpoint, which must have been written with these settings."""
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        before, _ = state["settings"], state["measured"]
    except (RuntimeError, pickle.UnpicklingError, KeyError, EOFError) as error:
        raise ValueError(f"checkpoint: {path} holds no training") from error
    agree(settings, before, f"the checkpoint {path}")
    return state
