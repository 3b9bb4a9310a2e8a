"""Training: one full-batch gradient step on the embeddings, and `fit`.

In score space a pass over the whole corpus costs less than reading the embeddings, so
one layer is trained in full batches; deeper models take mini-batches in the same loop.
"""

import copy
import os
import time
import zlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from attnsel.checks import check_choice, check_number
from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier, Classifier
from attnsel.progress import progress
from attnsel.steps import ScoreSpace, Whole, join, load, processes, save, summed
from attnsel.steps import logistic_loss as logistic_loss
from attnsel.steps import mean_loss as mean_loss
from attnsel.steps import score_gradient as score_gradient

SAVE_EVERY = 60.0  # seconds between two checkpoints


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


def score_change(scores: Tensor, cls: Tensor, output: Tensor, corpus: Corpus) -> Tensor:
    """Return how a gradient step on E with lr = 1 changes the scores E p and E v.

    With p (d,) and v (d,) or (K, d) as the rows of P the gradient of E is g P, so the
    scores E P^T, (V, 2) or (V, K + 1), change by -g P P^T in float64, times lr.
    """
    P = torch.cat([cls[None], output.view(-1, len(cls))]).detach().double()
    return -score_gradient(scores, corpus)[1].double() @ (P @ P.T)


@dataclass
class History:
    """What `fit` saw: one entry for the state before each step, and the last state.

    Attributes:
        step: number of steps taken, int64 (records,).
        scores: by step, for the last one and each snapshot that was reached, E p and
            E v of all tokens, (V, 2) or (V, K + 1) on the CPU.
        loss, accuracy: on the training corpus, float64 (records,).
        test_loss, test_accuracy: on the test corpus; empty without one.
    """

    step: Tensor
    scores: dict[int, Tensor]
    loss: Tensor
    accuracy: Tensor
    test_loss: Tensor = field(default_factory=lambda: torch.empty(0))
    test_accuracy: Tensor = field(default_factory=lambda: torch.empty(0))

    def at(self, step: int = -1) -> Tensor:
        """Return the scores kept at a step, -1 for the last; a KeyError names those."""
        step = int(self.step[-1]) if step == -1 else step
        if step not in self.scores:
            kept = ", ".join(map(str, self.scores)) or "none"
            raise KeyError(f"no scores at step {step}, kept are: {kept}")
        return self.scores[step]


def one_step(
    model: AttentionClassifier, corpus: Corpus, *, lr: float
) -> AttentionClassifier:
    """Return a copy of a model after one full-batch gradient step on E alone.

    This is the step of Lemma 4.1: E - lr dL/dE with L the loss over the corpus and lr
    the paper's eta_0. A TypeError tells of a model of more than one layer, a ValueError
    of an lr that is not positive or a corpus with other tokens or classes.
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
    checkpoint: str | os.PathLike[str] | None = None,
) -> History:
    """Train a model in place by gradient steps on its loss.

    Args:
        model: trained where its parameters live, CPU or CUDA. From then on it refuses
            a corpus in another vocabulary.
        corpus: training sequences, with the classes of the model.
        steps: number of steps, or with `batch_size` of passes over the corpus; fewer if
            an `until` is reached.
        lr: learning rate, positive. Adam moves each entry of a (d, d) matrix by
            lr / sqrt(d): W has d entries for each one of W p, and they add up.
        train: names of the parameters to train, such as "embeddings", "cls", "output"
            and "key_query"; all of them if None.
        test: sequences to evaluate at each step, in the same vocabulary.
        snapshots: numbers of steps after which to keep the scores, 0 to `steps`.
        optimizer: "adam" (betas 0.9 and 0.999) or "gd", plain gradient descent.
        batch_size: sequences in a mini-batch, drawn without replacement, the same ones
            in each run; None takes all. Training loss and accuracy are then those of
            the batches before their steps, averaged over the pass.
        until_accuracy: stop once the training accuracy is at least this, in [0, 1].
        until_loss: stop once the training loss is below this, positive.
        checkpoint: file to save the training in, once a minute and at the last step;
            where there is one, model and training go on from it, to the same numbers.

    Under `torchrun`, after `torch.distributed.init_process_group(timeout=...)`, each
    process gives its own part of the corpus, `corpus[rank::world_size]`, and all return
    the history of the whole; one layer only, in full batches. A process that hangs
    stops the others after that timeout, a `timedelta`; torch's own is 30 minutes.

    A ValueError tells of an argument out of its range, of vocabularies or classes of
    model, corpus and test that differ, or settings of processes or checkpoint that do;
    a RuntimeError of another process that ended or does not answer in time; a
    FloatingPointError of training that diverges, and at which step.
    """
    _check(model, corpus, lr)
    check_number("steps", steps, 1, integer=True)
    check_choice("optimizer", optimizer, ("adam", "gd"))
    check_number("batch_size", batch_size, 1, integer=True, optional=True)
    check_number("until_accuracy", until_accuracy, 0, 1, optional=True)
    check_number("until_loss", until_loss, above=0, optional=True)
    for step in snapshots:
        check_number("snapshots", step, 0, steps, integer=True)
    names = tuple(name for name, _ in model.named_parameters())
    train = names if train is None else train
    if isinstance(train, str) or set(train) - set(names) or not train:
        raise ValueError(f"train: expected some of {names}, got {train!r}")
    known = (corpus.vocab, corpus.classes)
    if test is not None and (test.vocab, test.classes) != known:
        told = "are not those of the training corpus; load it with vocab=corpus.vocab"
        raise ValueError(f"test: its vocabulary or classes {told}")
    one_layer = isinstance(model, AttentionClassifier)
    if processes() > 1 and (batch_size or not one_layer):
        raise ValueError("batch_size, model: processes share full batches of one layer")
    settings: dict[str, Any] = {
        "vocab": zlib.crc32("\0".join(corpus.vocab).encode("utf-8", "surrogatepass")),
        "classes": list(corpus.classes),
        "lr": float(lr),
        "train": list(train),
        "optimizer": optimizer,
        "batch_size": batch_size and int(batch_size),
        "test": test is not None,
    }
    path = None if checkpoint is None else Path(checkpoint)
    state = load(path, settings) if path and path.exists() else {}
    rows, kept = state.get("measured", []), state.get("scores", {})
    check_number("steps, with this checkpoint", steps, len(rows), integer=True)
    sizes = torch.tensor([len(corpus), 0 if test is None else len(test)])
    weights = sizes / summed(sizes.double()).clamp(min=1)
    join(model, settings | {"checkpoint": len(rows)})
    model.vocab, model.classes = corpus.vocab, corpus.classes
    learner = (ScoreSpace if one_layer else Whole)(model, train, lr, optimizer)
    learner.share = float(weights[0])
    random = torch.Generator().manual_seed(0)
    if state:
        model.load_state_dict(state["model"])
        learner.optimizer.load_state_dict(state["optimizer"])
        random.set_state(state["random"])
    saved = time.monotonic()
    for step in progress(range(len(rows), steps + 1), "training"):
        last = step == steps
        if path and (last or time.monotonic() - saved >= SAVE_EVERY):
            state = {"settings": settings, "measured": rows, "scores": kept}
            state |= {"model": model.state_dict(), "random": random.get_state()}
            save(path, state | {"optimizer": learner.optimizer.state_dict()})
            saved = time.monotonic()
        parts: Iterable[Corpus] = [corpus]
        if batched := batch_size is not None and not last:
            order = torch.randperm(len(corpus), generator=random)
            parts = (corpus[drawn] for drawn in order.split(batch_size))
        seen = torch.zeros(1 if test is None else 2, 2, dtype=torch.float64)
        try:
            if test is not None:
                seen[1] = weights[1] * _quality(learner.look(test, False), test)
            if step in snapshots:
                kept[step] = learner.scores().cpu()
            for part in parts:
                share = weights[0] * len(part) / len(corpus)
                seen[0] += share * _quality(learner.look(part, not last), part)
                if batched:
                    learner.move()
        except FloatingPointError as error:
            raise FloatingPointError(f"at step {step}: {error}") from None
        rows.append(summed(seen).flatten().tolist())
        loss, right, *_ = rows[-1]
        done = last or (until_accuracy is not None and right >= until_accuracy)
        if done or (until_loss is not None and loss < until_loss):
            kept[step] = learner.scores().cpu()
            break
        if not batched:
            learner.move()
    columns = torch.tensor(rows, dtype=torch.float64).T
    return History(torch.arange(len(rows)), kept, *columns)


def _quality(logits: Tensor, corpus: Corpus) -> Tensor:
    """Return loss and accuracy, float64 (2,)."""
    pair = [float(mean_loss(logits, corpus)), accuracy(logits, corpus)]
    return torch.tensor(pair, dtype=torch.float64)


def _check(model: Classifier, corpus: Corpus, lr: float) -> None:
    """Raise a ValueError unless a model can be trained on a corpus at this rate."""
    check_number("lr", lr, above=0)
    if corpus.n_classes != (K := len(model.classes)):
        raise ValueError(f"corpus: it has {corpus.n_classes} classes, the model {K}")
    model.check_vocab(corpus)
