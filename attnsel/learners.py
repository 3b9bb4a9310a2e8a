"""Learners, which take the steps of `attnsel.fit` by autograd or in score space.

A step has two parts: `Learner.take_gradient` computes the gradient at the current
parameters, and `Learner.step` updates them. With full batches, `attnsel.fit` records
the loss and the accuracy between the two parts, and may stop there.
"""

from collections.abc import Callable, Collection
from itertools import chain
from threading import local
from typing import Any

import torch
from torch import Tensor
from torch.optim.adam import adam

from attnsel.corpus import Corpus
from attnsel.model import Classifier, bag_logits, mean_loss, score_gradient
from attnsel.scale.distributed import summed
from attnsel.scale.threads import ThreadPool

# Rows of E taken at a time on the CPU: a block of 512 x 2048 floats stays in the cache
# of one core while several operations read it, so that memory sees E once. A GPU takes
# all rows at once, because there a launch costs more than a block.
BLOCK = 512
# For example `torch.optim.RMSprop`, or `functools.partial` of it with settings.
OptimizerFactory = Callable[..., torch.optim.Optimizer]


class _BlockOptimizer:
    """The step of `torch.optim.Adam`, or of gradient descent, for one block of rows.

    `torch.optim.Adam` calls the same function as this class. However, it also imports
    torch's compiler, which takes seconds, and its bookkeeping takes as long as the step
    of a small block.
    """

    def __init__(self, block: Tensor, lr: float, is_adam: bool) -> None:
        self.block, self.lr = block, lr
        self.memory: dict[str, Tensor] = {}
        if is_adam:
            self.memory = {
                "mean": torch.zeros_like(block),
                "square": torch.zeros_like(block),
                "steps": torch.zeros((), dtype=torch.float32, device=block.device),
            }

    def step(self, gradient: Tensor) -> None:
        """Update the block in place."""
        if not self.memory:
            self.block.add_(gradient, alpha=-self.lr)
            return
        adam(
            [self.block],
            [gradient],
            [self.memory["mean"]],
            [self.memory["square"]],
            [],
            [self.memory["steps"]],
            lr=self.lr,
            beta1=0.9,
            beta2=0.999,
            eps=1e-8,
            weight_decay=0.0,
            amsgrad=False,
            maximize=False,
            fused=True,
        )


def _multiply_into(out: Tensor, g: Tensor, P: Tensor) -> None:
    """Write g P into `out` as a sum of outer products; g (rows, K + 1), P (K + 1, d).

    A matrix product in BLAS takes two to four times as long, because K + 1 is small.
    """
    torch.mul(g[:, :1], P[0], out=out)
    for k in range(1, len(P)):
        out.addcmul_(g[:, k : k + 1], P[k])


class Learner:
    """A learner that computes its gradients by autograd through a whole model.

    Args:
        model: the model, whose parameters are updated in place.
        train: names of the parameters to train.
        lr: learning rate; Adam divides it by sqrt(d) for a (d, d) matrix.
        optimizer: name of the optimizer, "adam" or "gd".
    """

    share = 1.0  # share of all sequences that is in this process

    def __init__(
        self, model: Classifier, train: Collection[str], lr: float, optimizer: str
    ) -> None:
        self.model = model
        self.trained = list(train)
        self.lr = lr
        self.is_adam = optimizer == "adam"
        # Leaves of their own: nothing is left on the parameters when fit ends early.
        self.leaves = {name: p.detach() for name, p in model.named_parameters()}
        self.block_optimizers = self._make_optimizers()
        self.gradients: dict[str, Tensor] = {}
        self._scores: Tensor | None = None  # until the next step

    def _make_optimizers(self) -> dict[str, list[_BlockOptimizer]]:
        """Return the optimizers of each trained parameter; here one per parameter."""
        return {
            name: [self._block_optimizer(name, self.leaves[name])]
            for name in self.trained
        }

    def _block_optimizer(self, name: str, block: Tensor) -> _BlockOptimizer:
        lr = self.lr
        if self.is_adam and name in self.model.matrices:
            lr *= len(self.model.cls) ** -0.5
        return _BlockOptimizer(block, lr, self.is_adam)

    def scores(self) -> Tensor:
        """Return the scores E p and E v of all tokens, (V, 2) or (V, K + 1)."""
        if self._scores is None:
            self._scores = self.model.scores()
        return self._scores

    @torch.no_grad()
    def logits(self, corpus: Corpus) -> Tensor:
        """Return the logits of a corpus.

        Raises:
            FloatingPointError: if the loss is not finite.
        """
        logits, _ = self._logits_and_loss(corpus)
        return logits

    def take_gradient(self, corpus: Corpus) -> Tensor:
        """Compute the gradient on a corpus for the next step; return the logits."""
        with torch.enable_grad():
            logits, loss = self._logits_and_loss(corpus)
        values = [self.model.get_parameter(name) for name in self.trained]
        gradients = torch.autograd.grad(loss, values)
        self.gradients = dict(zip(self.trained, gradients, strict=True))
        return logits.detach()

    def step(self) -> None:
        """Update the parameters with the gradient that was computed last."""
        for name, gradient in self.gradients.items():
            self.block_optimizers[name][0].step(gradient)
        self.gradients = {}
        self._scores = None

    def memories(self) -> list[dict[str, Tensor]]:
        """Return the states of the optimizers, one per parameter or block of rows."""
        return [
            optimizer.memory
            for optimizer in chain.from_iterable(self.block_optimizers.values())
        ]

    def set_memories(self, memories: list[dict[str, Tensor]]) -> None:
        """Restore the states that `memories` returned."""
        optimizers = chain.from_iterable(self.block_optimizers.values())
        for optimizer, memory in zip(optimizers, memories, strict=True):
            optimizer.memory = memory

    def _logits_and_loss(self, corpus: Corpus) -> tuple[Tensor, Tensor]:
        logits = self.model(corpus)
        loss = mean_loss(logits, corpus)
        if not bool(loss.isfinite()):
            raise FloatingPointError("the loss is not finite; train with a smaller lr")
        return logits, loss


class TorchLearner(Learner):
    """A learner that uses autograd and an optimizer of `torch.optim`.

    Args:
        model: the model, whose parameters are updated in place.
        train: names of the parameters to train.
        lr: learning rate of all parameters.
        factory: function that makes the optimizer from a list of tensors and `lr`.
    """

    def __init__(
        self,
        model: Classifier,
        train: Collection[str],
        lr: float,
        factory: OptimizerFactory,
    ) -> None:
        super().__init__(model, train, lr, "gd")
        self.optimizer = factory([self.leaves[name] for name in train], lr=lr)

    def step(self) -> None:
        """Update the parameters with the gradient that was computed last."""
        for name, gradient in self.gradients.items():
            self.leaves[name].grad = gradient
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.gradients = {}
        self._scores = None

    def memories(self) -> Any:
        """Return the state of the optimizer."""
        return self.optimizer.state_dict()

    def set_memories(self, memories: Any) -> None:
        """Restore the state that `memories` returned."""
        self.optimizer.load_state_dict(memories)


class ScoreSpaceLearner(Learner):
    """A learner that computes score gradients of one-layer models in several threads.

    On the CPU, each parameter is updated in blocks of rows. The thread that computes
    the gradient of a block of E also updates the block while it is in the cache. If d
    is 2048, a step takes half the time and three quarters of the memory of a step with
    `torch.optim.Adam`. The results do not depend on the number of threads, because
    neither the blocks nor the order of summation depends on it.
    """

    def __init__(
        self,
        model: Classifier,
        train: Collection[str],
        lr: float,
        optimizer: str,
        pool: ThreadPool,
    ) -> None:
        self.pool = pool
        E = model.get_parameter("embeddings")
        self.n_rows = BLOCK if E.device.type == "cpu" else len(E)  # of a block
        self.buffers = local()  # of each thread, for the gradient of a block of E
        super().__init__(model, train, lr, optimizer)

    def _make_optimizers(self) -> dict[str, list[_BlockOptimizer]]:
        """Return one optimizer for each block of rows of each trained parameter."""
        self.blocks = {
            name: leaf.split(self.n_rows) for name, leaf in self.leaves.items()
        }
        return {
            name: [self._block_optimizer(name, block) for block in self.blocks[name]]
            for name in self.trained
        }

    def scores(self) -> Tensor:
        """Return the scores E p and E v of all tokens, (V, 2) or (V, K + 1)."""
        if self._scores is None:
            E = self.blocks["embeddings"]
            P = self.model.directions().detach()
            parts = [P] * len(E)

            def read(i: int) -> None:
                parts[i] = E[i] @ P.T

            self.pool.run(read, len(E))
            self._scores = torch.cat(parts)
        return self._scores

    def logits(self, corpus: Corpus) -> Tensor:
        """Return the logits of a corpus."""
        return bag_logits(self.scores(), corpus, self.pool.multiply)

    def take_gradient(self, corpus: Corpus) -> Tensor:
        """Compute the gradient on a corpus for the next step; return the logits."""
        logits, g = score_gradient(self.scores(), corpus, self.pool.multiply)
        self.score_gradient = summed(self.share * g)
        return logits

    def step(self) -> None:
        """Update the parameters with the score gradient g that was computed last.

        The gradients are dL/dE = g P and dL/dP = g^T E, with P from `model.directions`.
        """
        directions = self.model.directions()
        P = directions.detach()  # (K + 1, d)
        E = self.blocks["embeddings"]  # each (n_rows, d)
        g = self.score_gradient.split(self.n_rows)  # each (n_rows, K + 1)
        pulled = P.new_empty(len(E), *P.shape)  # g^T E of each block, (K + 1, d)

        def move_tokens(i: int) -> None:
            torch.mm(g[i].T, E[i], out=pulled[i])
            if "embeddings" in self.trained:
                gradient = self._buffer(i)
                _multiply_into(gradient, g[i], P)
                self.block_optimizers["embeddings"][i].step(gradient)

        self.pool.run(move_tokens, len(E))
        # These move last, because all gradients are of the parameters before the step.
        others = [name for name in self.trained if name != "embeddings"]
        if others:
            values = [self.model.get_parameter(name) for name in others]
            # Differentiate a number, because for a matrix torch would import sympy.
            product = (directions * pulled.sum(0)).sum()
            gradients = torch.autograd.grad(product, values)
            for name, gradient in zip(others, gradients, strict=True):
                self._move_by_blocks(name, gradient)
        self._scores = None

    def _move_by_blocks(self, name: str, gradient: Tensor) -> None:
        parts = gradient.split(self.n_rows)
        optimizers = self.block_optimizers[name]
        self.pool.run(lambda i: optimizers[i].step(parts[i]), len(parts))

    def _buffer(self, i: int) -> Tensor:
        """Return a buffer for the gradient of a block of E."""
        E = self.blocks["embeddings"]
        if not hasattr(self.buffers, "rows"):
            self.buffers.rows = torch.empty_like(E[0])
        rows: Tensor = self.buffers.rows
        return rows[: len(E[i])]
