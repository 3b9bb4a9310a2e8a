"""Training: one full-batch gradient step on the embeddings, and `fit`.

With the scores of `attnsel.model` a pass over the whole corpus costs less than reading
the embeddings, so one layer is trained in full batches; deeper models take mini-batches
in the same loop.
"""

from __future__ import annotations

import copy
import math
import numbers
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot, softplus

from attnsel.corpus import Corpus, check_integer
from attnsel.model import AttentionClassifier, Classifier, bag_logits
from attnsel.progress import progress

MEASURES = ("loss", "accuracy", "test_loss", "test_accuracy")

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


def accuracy(logits: Tensor, corpus: Corpus) -> float:
    """Return the share of sequences whose logits, (n,) or (n, K), are right.

    Right is a logit on the side of its label, or above those of all other classes;
    zero, or a draw, is wrong.
    """
    if logits.ndim == 1:
        right = corpus.signs.to(logits) * logits > 0
    else:
        own = one_hot(corpus.targets, logits.shape[1]).bool().to(logits.device)
        right = logits[own] > logits.masked_fill(own, -torch.inf).amax(1)
    return float(right.double().mean())


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


def score_change(scores: Tensor, cls: Tensor, output: Tensor, corpus: Corpus) -> Tensor:
    """Return how a gradient step on E with lr = 1 changes E p and E v.

    The gradient of E is g P with P of rows p and v, so the scores E P^T change by
    -g P P^T, in proportion to lr. No stepped E is formed.

    Args:
        scores: E p and E v before the step, (V, 2) or (V, K + 1).
        cls: p, tensor (d,).
        output: v, tensor (d,) or (K, d).
        corpus: n sequences.

    Returns:
        float64 tensor of the shape of the scores.
    """
    P = torch.cat([cls[None], output.view(-1, len(cls))]).detach().double()
    return -score_gradient(scores, corpus)[1].double() @ (P @ P.T)


@dataclass
class History:
    """What `fit` saw: one entry for the state before each step, and the last state.

    Attributes:
        step: number of steps taken, int64 (records,).
        loss, accuracy: on the training corpus, (records,); accuracy in [0, 1], where a
            logit of zero counts as wrong.
        test_loss, test_accuracy: on the test corpus; empty without one.
        scores: for the last step and each snapshot step that was reached, E p and E v
            of all tokens, (V, 2) or (V, K + 1) on the CPU.
    """

    step: Tensor = field(default_factory=lambda: torch.empty(0, dtype=torch.int64))
    loss: Tensor = field(default_factory=lambda: torch.empty(0))
    accuracy: Tensor = field(default_factory=lambda: torch.empty(0))
    test_loss: Tensor = field(default_factory=lambda: torch.empty(0))
    test_accuracy: Tensor = field(default_factory=lambda: torch.empty(0))
    scores: dict[int, Tensor] = field(default_factory=dict)

    def at(self, step: int = -1) -> Tensor:
        """Return the scores kept at a step, -1 for the last one.

        Raises:
            KeyError: if there are none; the message names the steps there are.
        """
        step = int(self.step[-1]) if step == -1 else step
        if step not in self.scores:
            kept = ", ".join(map(str, self.scores)) or "none"
            raise KeyError(f"no scores at step {step}, kept are: {kept}")
        return self.scores[step]


def one_step(
    model: AttentionClassifier, corpus: Corpus, *, lr: float
) -> AttentionClassifier:
    """Return a model after one full-batch gradient step on E; all else stays.

    This is the step of Lemma 4.1: E - lr dL/dE with L the loss over the corpus and lr
    the paper's eta_0. The model that was passed is left as it is.

    Raises:
        TypeError: if the model has more than one layer.
        ValueError: if lr is not a positive number, or the corpus is in another
            vocabulary or has another number of classes.
    """
    if not isinstance(model, AttentionClassifier):
        raise TypeError(f"model: expected one layer, got {type(model).__name__}")
    _check(model, corpus, lr)
    g = score_gradient(model.scores(), corpus)[1]
    stepped = copy.deepcopy(model)
    stepped.vocab, stepped.classes = corpus.vocab, corpus.classes
    with torch.no_grad():
        stepped.embeddings.addmm_(g, model.directions(), alpha=-lr)
    return stepped


def fit(
    model: Classifier,
    corpus: Corpus,
    *,
    steps: int,
    lr: float,
    train: Collection[str] | None = None,
    test: Corpus | None = None,
    snapshots: Collection[int] = (),
    optimizer: Literal["adam", "gd"] = "adam",
    batch_size: int | None = None,
    until_accuracy: float | None = None,
    until_loss: float | None = None,
) -> History:
    """Train a model in place by gradient steps on its loss.

    From then on the model refuses a corpus in another vocabulary.

    Args:
        model: trained where its parameters live, CPU or CUDA.
        corpus: training sequences, with the classes of the model.
        steps: number of steps, at least 1; fewer if an `until` is reached. With
            `batch_size`, number of passes over the corpus.
        lr: learning rate, positive. Adam moves each entry of a (d, d) matrix by
            lr / sqrt(d): W has d entries for each one of W p, and they add up.
        train: names of the parameters to train, such as "embeddings", "cls", "output"
            and "key_query"; all of them if None.
        test: sequences to evaluate before each step and after the last, in the same
            vocabulary.
        snapshots: numbers of steps after which to keep the scores (0 to `steps`).
        optimizer: "adam" (betas 0.9 and 0.999) or "gd", plain gradient descent.
        batch_size: sequences in a mini-batch, drawn without replacement, the same ones
            in each run; None takes all. Training loss and accuracy are then those of
            the batches before their steps, averaged over the pass.
        until_accuracy: stop once the training accuracy is at least this, in [0, 1].
        until_loss: stop once the training loss is below this, positive.

    Returns:
        The record of losses and accuracies by step.

    Raises:
        ValueError: if an argument is out of its range, a parameter or optimizer is
            unknown, or the vocabularies or classes of model, corpus and test differ.
        FloatingPointError: if training diverges; the message names the step.
    """
    _check(model, corpus, lr)
    check_integer("steps", steps, 1)
    names = tuple(name for name, _ in model.named_parameters())
    train = names if train is None else train
    if isinstance(train, str) or set(train) - set(names) or not train:
        raise ValueError(f"train: expected some of {names}, got {train!r}")
    if optimizer not in ("adam", "gd"):
        raise ValueError(f'optimizer: expected "adam" or "gd", got {optimizer!r}')
    if batch_size is not None:
        check_integer("batch_size", batch_size, 1)
    wrong = [s for s in snapshots if not 0 <= s <= steps]
    if wrong:
        raise ValueError(f"snapshots: {wrong} are not in 0..{steps}")
    if until_accuracy is not None and not 0 <= until_accuracy <= 1:
        raise ValueError(f"until_accuracy: {until_accuracy} is not in [0, 1]")
    if until_loss is not None and not until_loss > 0:
        raise ValueError(f"until_loss: {until_loss} is not positive")
    if test is not None and (test.vocab, test.classes) != (
        corpus.vocab,
        corpus.classes,
    ):
        raise ValueError(
            "test: its vocabulary or classes are not those of the training corpus; "
            "load it with vocab=corpus.vocab"
        )
    model.vocab, model.classes = corpus.vocab, corpus.classes
    one_layer = isinstance(model, AttentionClassifier)
    learner = (_ScoreSpace if one_layer else _Whole)(model, train, lr, optimizer)
    random = torch.Generator().manual_seed(0)
    rows, kept, tested = [], {}, torch.empty(0)
    for step in progress(range(steps + 1), "training", steps + 1):
        last = step == steps
        try:
            if test is not None:
                tested = _quality(learner.logits(test), test)
            if step in snapshots:
                kept[step] = learner.scores().cpu()
            seen = torch.zeros(2, dtype=torch.float64)
            for batch in _batches(corpus, None if last else batch_size, random):
                logits = learner.logits(batch) if last else learner.look(batch)
                share = len(batch) / len(corpus)
                seen += share * _quality(logits, batch)
                if batch_size and not last:
                    learner.move()
        except FloatingPointError as error:
            raise FloatingPointError(f"at step {step}: {error}") from None
        rows.append([step, *seen.tolist(), *tested.tolist()])
        done = last or (until_accuracy is not None and seen[1] >= until_accuracy)
        if done or (until_loss is not None and seen[0] < until_loss):
            kept[step] = learner.scores().cpu()
            break
        if not batch_size:
            learner.move()
    columns = torch.tensor(rows, dtype=torch.float64).T
    measured = dict(zip(MEASURES, columns[1:], strict=False))
    return History(step=columns[0].long(), scores=kept, **measured)


class _Whole:
    """Steps by autograd through a whole model, with the optimizers of torch."""

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
        return self.model.scores()

    @torch.no_grad()
    def logits(self, corpus: Corpus) -> Tensor:
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


class _ScoreSpace(_Whole):
    """Steps of one layer from the gradient of its scores.

    The gradient of E is never held as a whole: it is formed and consumed by blocks
    that stay in the cache. For d = 2048 this halves the time of a step of
    `torch.optim.Adam` and needs a quarter less memory.
    """

    known: Tensor | None = None

    def split(self, name: str) -> tuple[Tensor, ...]:
        values = self.model.get_parameter(name).detach()
        return values.split(BLOCK) if name == "embeddings" else (values,)

    def scores(self) -> Tensor:
        if self.known is None:
            self.known = super().scores()
        return self.known

    def logits(self, corpus: Corpus) -> Tensor:
        return bag_logits(self.scores(), corpus)

    def look(self, corpus: Corpus) -> Tensor:
        logits, self.g = score_gradient(self.scores(), corpus)
        return logits

    def move(self) -> None:
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


def _batches(
    corpus: Corpus, size: int | None, random: torch.Generator
) -> Iterator[Corpus]:
    """Return the corpus, or its sequences in random order in parts of some size."""
    if size is None:
        return iter([corpus])
    order = torch.randperm(len(corpus), generator=random)
    return (corpus[rows] for rows in order.split(size))


def _quality(logits: Tensor, corpus: Corpus) -> Tensor:
    """Return loss and accuracy, float64 (2,)."""
    pair = [float(mean_loss(logits, corpus)), accuracy(logits, corpus)]
    return torch.tensor(pair, dtype=torch.float64)


def _check(model: Classifier, corpus: Corpus, lr: float) -> None:
    """Raise a ValueError unless a model can be trained on a corpus at this rate."""
    if not (isinstance(lr, numbers.Real) and math.isfinite(lr) and lr > 0):
        raise ValueError(f"lr: expected a positive finite number, got {lr!r}")
    if corpus.n_classes != len(model.classes):
        raise ValueError(
            f"corpus: it has {corpus.n_classes} classes, the model {len(model.classes)}"
        )
    model.check_vocab(corpus)
