"""How `fit` takes a step: by autograd through a whole model, or in score space.

A step has two halves. `take_gradient` reads it off where the parameters stand, `step`
moves them; between the two `fit` records, and may stop.
"""

from collections.abc import Collection
from typing import Any

import torch
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.model import Classifier, bag_logits, mean_loss, score_gradient
from attnsel.together import summed

# Rows of E taken at a time: a block of 512 x 2048 floats stays in the cache of one
# core while several operations read it, so that memory sees E once.
BLOCK = 512


class Learner:
    """Steps by autograd through a whole model, with the optimizers of torch.

    Args:
        model: the model, which is moved in place.
        train: names of the parameters to move.
        lr: learning rate; that of a (d, d) matrix under Adam is lr / sqrt(d).
        optimizer: "adam" or "gd".
        share: the part of all sequences that this process holds.
    """

    def __init__(
        self,
        model: Classifier,
        train: Collection[str],
        lr: float,
        optimizer: str,
        share: float = 1.0,
    ) -> None:
        self.model, self.share = model, share
        # Leaves of their own: nothing is left on the parameters when fit ends early.
        self.blocks = {
            name: value.detach().split(BLOCK)
            for name, value in model.named_parameters()
        }
        self.trained = list(train)
        groups: list[dict[str, Any]] = []
        for name in self.trained:
            rate = lr
            if optimizer == "adam" and name in model.matrices:
                rate = lr * len(model.cls) ** -0.5
            groups.append({"params": self.blocks[name], "lr": rate})
        self.optimizer: torch.optim.Optimizer
        if optimizer == "adam":
            self.optimizer = torch.optim.Adam(groups, fused=True)
        else:
            self.optimizer = torch.optim.SGD(groups)
        self.gradients: dict[str, Tensor] = {}
        self._scores: Tensor | None = None  # until the next step

    def scores(self) -> Tensor:
        """Return the scores of all tokens as the model stands."""
        if self._scores is None:
            self._scores = self.model.scores().detach()
        return self._scores

    @torch.no_grad()
    def logits(self, corpus: Corpus) -> Tensor:
        """Return the logits; a FloatingPointError if the loss is not finite."""
        logits, _ = self._logits_and_loss(corpus)
        return logits

    def take_gradient(self, corpus: Corpus) -> Tensor:
        """Take the gradient on a corpus for the next `step`, and return the logits."""
        with torch.enable_grad():
            logits, loss = self._logits_and_loss(corpus)
        values = [self.model.get_parameter(name) for name in self.trained]
        gradients = torch.autograd.grad(loss, values)
        self.gradients = dict(zip(self.trained, gradients, strict=True))
        return logits.detach()

    def step(self) -> None:
        """Move the parameters by the gradient taken."""
        for name, gradient in self.gradients.items():
            parts = gradient.split(BLOCK)
            for block, part in zip(self.blocks[name], parts, strict=True):
                block.grad = part
        self.optimizer.step()
        self.optimizer.zero_grad()
        self._scores = None

    def state(self) -> dict[str, Any]:
        """Return what the optimizer remembers."""
        return self.optimizer.state_dict()

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from what an optimizer remembered."""
        self.optimizer.load_state_dict(state)

    def _logits_and_loss(self, corpus: Corpus) -> tuple[Tensor, Tensor]:
        logits = self.model(corpus)
        loss = mean_loss(logits, corpus)
        if not bool(loss.isfinite()):
            raise FloatingPointError("the loss is not finite; train with a smaller lr")
        return logits, loss


class ScoreSpaceLearner(Learner):
    """Steps of one layer from the gradient of its scores.

    The gradient of E is formed and consumed by blocks that stay in the cache: for
    d = 2048 half the time and three quarters of the memory of `torch.optim.Adam`.
    """

    def logits(self, corpus: Corpus) -> Tensor:
        """Return the logits of a corpus."""
        return bag_logits(self.scores(), corpus)

    def take_gradient(self, corpus: Corpus) -> Tensor:
        """Take the gradient on a corpus for the next `step`, and return the logits."""
        logits, g = score_gradient(self.scores(), corpus)
        self.score_gradient = summed(self.share * g)
        return logits

    def step(self) -> None:
        """Move the parameters: dL/dE = g P, dL/dP = g^T E with P the directions."""
        directions = self.model.directions()
        P = directions.detach()
        E = self.blocks["embeddings"]
        pulled = torch.zeros_like(P)
        buffer = torch.empty_like(E[0])
        parts = self.score_gradient.split(BLOCK)
        for block, g in zip(E, parts, strict=True):
            pulled.addmm_(g.T, block)
            if "embeddings" in self.trained:
                block.grad = torch.mm(g, P, out=buffer[: len(block)])
                self.optimizer.step()
                block.grad = None
        # These move last: the gradients of all are taken where they stand.
        self.gradients = {}
        others = [name for name in self.trained if name != "embeddings"]
        if others:
            values = [self.model.get_parameter(name) for name in others]
            gradients = torch.autograd.grad(directions, values, pulled)
            self.gradients = dict(zip(others, gradients, strict=True))
        super().step()
