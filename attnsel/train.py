"""Training: one full-batch gradient step on the embeddings, and `fit`.

Everything is full batch: with the scores of `attnsel.model` a pass over the whole
corpus costs less than reading the embeddings, so there is nothing to subsample.
"""

from __future__ import annotations

import copy
import math
import numbers
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import torch
from torch import Tensor
from torch.nn.functional import softplus
from torch.optim.adam import adam

from attnsel.corpus import Corpus
from attnsel.model import (
    BLOCK,
    AttentionClassifier,
    bag_logits,
    embeddings_gradient,
    pull_back,
)
from attnsel.progress import progress

PARAMETERS = ("embeddings", "cls", "output")
MEASURES = ("loss", "accuracy", "test_loss", "test_accuracy")


def logistic_loss(logits: Tensor, signs: Tensor) -> Tensor:
    """Return the mean of log(1 + exp(-y f)), the logistic loss of the paper.

    Args:
        logits: f, shape (n,).
        signs: y in {-1, +1}, shape (n,).
    """
    return softplus(-signs.to(logits) * logits).mean()


def accuracy(logits: Tensor, corpus: Corpus) -> float:
    """Return the share of logits (n,) on the side of their label; zero is wrong."""
    return float((corpus.signs.to(logits) * logits > 0).double().mean())


def score_gradient(scores: Tensor, corpus: Corpus) -> tuple[Tensor, Tensor]:
    """Return the logits (n,) and the gradient (V, 2) of the loss in the scores.

    By the chain rule it gives every gradient of the model: with (ga, gb) its columns,
    that of E is ga p^T + gb v^T, of p E^T ga and of v E^T gb.
    """
    leaf = scores.detach().requires_grad_()
    with torch.enable_grad():
        logits = bag_logits(leaf, corpus)
        (g,) = torch.autograd.grad(logistic_loss(logits, corpus.signs), leaf)
    return logits.detach(), g


def score_change(scores: Tensor, cls: Tensor, output: Tensor, corpus: Corpus) -> Tensor:
    """Return how a gradient step on E with lr = 1 changes E p and E v.

    The gradient of E is ga p^T + gb v^T, so E p changes by -(gb p·v + ga |p|^2) and
    E v by -(gb |v|^2 + ga p·v), both in proportion to lr. No stepped E is formed.

    Args:
        scores: E p and E v before the step, (V, 2).
        cls: p, tensor (d,).
        output: v, tensor (d,).
        corpus: n sequences with two classes.

    Returns:
        float64 tensor (V, 2).
    """
    pair = torch.stack([cls, output]).detach().double()
    return -score_gradient(scores, corpus)[1].double() @ (pair @ pair.T)


@dataclass
class History:
    """What `fit` saw: one entry for the state before each step, and the last state.

    Attributes:
        step: number of steps taken, int64 (records,).
        loss, accuracy: on the training corpus, (records,); accuracy in [0, 1], where a
            logit of zero counts as wrong.
        test_loss, test_accuracy: on the test corpus; empty without one.
        scores: for the last step and each snapshot step that was reached, E p and E v
            of all tokens, (V, 2) on the CPU.
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
    """Return a model after one full-batch gradient step on E; p and v stay.

    This is the step of Lemma 4.1: E - lr dL/dE with L the logistic loss over the
    corpus and lr the paper's eta_0. The model that was passed is left as it is.

    Raises:
        ValueError: if lr is not a positive number, the corpus is in another vocabulary
            or has more than two classes.
    """
    _check_lr(lr)
    model.check_vocab(corpus)
    g = score_gradient(model.scores(), corpus)[1]
    stepped = copy.deepcopy(model)
    stepped.vocab, stepped.classes = corpus.vocab, _classes(corpus)
    with torch.no_grad():
        # E - lr (ga p^T + gb v^T), in place.
        stepped.embeddings.addcmul_(g[:, :1], model.cls, value=-lr)
        stepped.embeddings.addcmul_(g[:, 1:], model.output, value=-lr)
    return stepped


def fit(
    model: AttentionClassifier,
    corpus: Corpus,
    *,
    steps: int,
    lr: float,
    train: Collection[str] = PARAMETERS,
    test: Corpus | None = None,
    snapshots: Collection[int] = (),
    optimizer: Literal["adam", "gd"] = "adam",
    until_accuracy: float | None = None,
    until_loss: float | None = None,
) -> History:
    """Train a model in place by full-batch steps on the logistic loss.

    From then on the model refuses a corpus in another vocabulary.

    Args:
        model: trained where its parameters live, CPU or CUDA.
        corpus: training sequences, two classes.
        steps: number of steps, at least 1; fewer if an `until` is reached.
        lr: learning rate, positive.
        train: which of "embeddings", "cls" and "output" to train.
        test: sequences to evaluate before each step and after the last, in the same
            vocabulary.
        snapshots: numbers of steps after which to keep the scores (0 to `steps`).
        optimizer: "adam" (betas 0.9 and 0.999) or "gd", plain gradient descent.
        until_accuracy: stop once the training accuracy is at least this, in [0, 1].
        until_loss: stop once the training loss is below this, positive.

    Returns:
        The record of losses and accuracies by step.

    Raises:
        ValueError: if an argument is out of its range, a parameter or optimizer is
            unknown, or the vocabularies of model, corpus and test differ.
        FloatingPointError: if training diverges; the message names the step.
    """
    _check_lr(lr)
    if not isinstance(steps, int) or isinstance(steps, bool) or steps < 1:
        raise ValueError(f"steps: expected a positive integer, got {steps!r}")
    unknown = set(train) - set(PARAMETERS)
    if isinstance(train, str) or unknown or not train:
        raise ValueError(f"train: expected some of {PARAMETERS}, got {train!r}")
    if optimizer not in ("adam", "gd"):
        raise ValueError(f'optimizer: expected "adam" or "gd", got {optimizer!r}')
    wrong = [s for s in snapshots if not 0 <= s <= steps]
    if wrong:
        raise ValueError(f"snapshots: {wrong} are not in 0..{steps}")
    if until_accuracy is not None and not 0 <= until_accuracy <= 1:
        raise ValueError(f"until_accuracy: {until_accuracy} is not in [0, 1]")
    if until_loss is not None and not until_loss > 0:
        raise ValueError(f"until_loss: {until_loss} is not positive")
    model.check_vocab(corpus)
    if test is not None and test.vocab != corpus.vocab:
        raise ValueError(
            "test: its vocabulary is not that of the training corpus; load it with "
            "vocab=corpus.vocab"
        )
    model.vocab, model.classes = corpus.vocab, _classes(corpus)
    update = _Update(model, train, lr, optimizer)
    rows, kept = [], {}
    for step in progress(range(steps + 1), "training", steps + 1):
        scores = model.scores().detach()
        try:
            logits, g = score_gradient(scores, corpus)
        except FloatingPointError as error:
            raise FloatingPointError(f"at step {step}: {error}") from None
        row = [step, *_quality(logits, corpus)]
        if test is not None:
            row += _quality(bag_logits(scores, test), test)
        rows.append(row)
        done = step == steps
        done |= until_accuracy is not None and row[2] >= until_accuracy
        done |= until_loss is not None and row[1] < until_loss
        if done or step in snapshots:
            kept[step] = scores.cpu()
        if done:
            break
        update(g)
    columns = torch.tensor(rows, dtype=torch.float64).T
    measured = dict(zip(MEASURES, columns[1:], strict=False))
    return History(step=columns[0].long(), scores=kept, **measured)


class _Update:
    """One optimizer step from the gradient of the scores.

    The gradient of E is never held as a whole: it is formed and consumed by blocks
    that stay in the cache. For d = 2048 this halves the time of `torch.optim.Adam`
    with its fused kernel, which is the kernel used here, and needs a quarter less
    memory.
    """

    def __init__(
        self,
        model: AttentionClassifier,
        train: Collection[str],
        lr: float,
        optimizer: str,
    ) -> None:
        self.model, self.train, self.lr, self.optimizer = model, train, lr, optimizer
        self.state: dict[tuple[str, int], tuple[Tensor, Tensor, Tensor]] = {}

    @torch.no_grad()
    def __call__(self, g: Tensor) -> None:
        model = self.model
        E, p, v = (cast(Tensor, getattr(model, name).detach()) for name in PARAMETERS)
        buffer = torch.empty_like(E[:BLOCK])

        def move(i: int, rows: Tensor, g_rows: Tensor) -> None:
            grad = embeddings_gradient(g_rows, p, v, out=buffer[: len(rows)])
            self.apply("embeddings", i, rows, grad)

        # p and v move last: the gradients of all three are taken where they stand.
        grad_p, grad_v = pull_back(E, g, move if "embeddings" in self.train else None)
        if "cls" in self.train:
            self.apply("cls", 0, p, grad_p)
        if "output" in self.train:
            self.apply("output", 0, v, grad_v)

    def apply(self, name: str, block: int, values: Tensor, grad: Tensor) -> None:
        if self.optimizer == "gd":
            values.sub_(grad, alpha=self.lr)
            return
        if (name, block) not in self.state:
            self.state[name, block] = (
                torch.zeros_like(values),
                torch.zeros_like(values),
                torch.zeros((), device=values.device),
            )
        mean, square, count = self.state[name, block]
        adam(
            [values],
            [grad],
            [mean],
            [square],
            [],
            [count],
            fused=values.device.type in ("cpu", "cuda"),
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self.lr,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        )


def _quality(logits: Tensor, corpus: Corpus) -> list[float]:
    """Return loss and accuracy."""
    return [float(logistic_loss(logits, corpus.signs)), accuracy(logits, corpus)]


def _classes(corpus: Corpus) -> tuple[Any, ...]:
    return tuple(getattr(corpus, "classes", range(corpus.n_classes)))


def _check_lr(lr: float) -> None:
    if not (isinstance(lr, numbers.Real) and math.isfinite(lr) and lr > 0):
        raise ValueError(f"lr: expected a positive finite number, got {lr!r}")
