"""Training of models by one gradient step on the embeddings or by the loop of `fit`.

In a one-layer model, logits depend on the scores E p and E v alone. A pass over the
whole corpus then costs less than reading the embeddings once, so full batches are the
default. The same loop trains deeper models, and `batch_size` makes it use mini-batches.
"""

import copy
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.learners import (
    Learner,
    OptimizerFactory,
    ScoreSpaceLearner,
    TorchLearner,
)
from attnsel.model import (
    AttentionClassifier,
    Classifier,
    accuracy,
    mean_loss,
    score_gradient,
)
from attnsel.progress import progress
from attnsel.scale.checkpoint import Checkpoint, belongings, state_size, vocab_digest
from attnsel.scale.distributed import (
    check_processes_agree,
    n_processes,
    share_parameters,
    summed,
)
from attnsel.scale.threads import ThreadPool
from attnsel.validation import check_choice, check_number


def _train(training: "_Training", steps: Iterable[int]) -> None:
    """Train: at each step compute the gradient, record the loss, and take the step.

    This is the whole training loop of `fit`. The module `attnsel.learners` computes the
    gradients and takes the steps. The package `attnsel.scale` contains checkpoints and
    the communication between processes.
    """
    for step in steps:  # 0, 1, ...; nothing moves after the last one
        quality = training.gradient(step)  # of the mean loss, which it measures, too
        training.record(quality)  # loss and accuracy
        if training.is_over(step):
            break
        training.move()  # E, p and v, or those of them that are trained


@dataclass
class History:
    """The record of a run, with one entry before each step or pass and one at the end.

    Attributes:
        step: number of steps or passes before each entry, int64 (records,).
        scores: dictionary from steps to the scores E p and E v of all tokens, float64
            (V, 2) or (V, K + 1) on the CPU. The steps are the last one and the
            `snapshots` of `fit` that were reached.
        loss: mean loss on the training corpus, float64 (records,).
        accuracy: share of training sequences classified correctly, float64 (records,).
        test_loss: mean loss on the test corpus; empty if there is no test corpus.
        test_accuracy: share of test sequences classified correctly, or empty.
    """

    step: Tensor
    scores: dict[int, Tensor]
    loss: Tensor
    accuracy: Tensor
    test_loss: Tensor = field(default_factory=lambda: torch.empty(0))
    test_accuracy: Tensor = field(default_factory=lambda: torch.empty(0))

    def at(self, step: int = -1) -> Tensor:
        """Return the scores after `step` steps, (V, 2) or (V, K + 1); -1 is the last.

        Raises:
            KeyError: if this step has no scores; the message lists those that have.
        """
        if step == -1:
            step = int(self.step[-1])
        if step not in self.scores:
            there = ", ".join(map(str, self.scores)) or "none"
            raise KeyError(
                f"no scores were kept at step {step}; steps with scores: {there}"
            )
        return self.scores[step]


def one_step(
    model: AttentionClassifier, corpus: Corpus, *, lr: float
) -> AttentionClassifier:
    r"""Return a copy of a model after one full-batch gradient step on E alone.

    This is the step of Lemma 4.1, where L is the mean loss over the corpus and `lr` is
    the paper's eta_0:

    .. math:: E_1 = E_0 - \eta_0 \nabla_E L

    Raises:
        TypeError: if the model is not an `AttentionClassifier`.
        ValueError: if `lr` is not positive, or if corpus and model differ in tokens or
            in the number of classes.

    Example:
        >>> texts = ["good film", "bad film"]
        >>> corpus = Corpus.from_texts(texts, [1, 0], min_count=1)
        >>> start = AttentionClassifier(len(corpus.vocab), dim=1024)
        >>> stepped = one_step(start, corpus, lr=100.0)
        >>> moved = (stepped.embeddings - start.embeddings) @ start.output
        >>> [corpus.vocab[int(s)] for s in moved.argsort()]
        ['bad', 'film', 'good']
    """
    if not isinstance(model, AttentionClassifier):
        raise TypeError(f"model: expected one layer, got {type(model).__name__}")
    _check(model, corpus, lr)
    stepped = copy.deepcopy(model)
    stepped.vocab, stepped.classes = corpus.vocab, corpus.classes
    with torch.no_grad():
        P = model.directions()  # (2, d) or (K + 1, d)
        _, g = score_gradient(model.embeddings @ P.T, corpus)  # (V, 2) or (V, K + 1)
        stepped.embeddings.addmm_(g, P, alpha=-lr)
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
    optimizer: Literal["adam", "gd"] | OptimizerFactory = "adam",
    batch_size: int | None = None,
    until_accuracy: float | None = None,
    until_loss: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> History:
    """Train a model in place by gradient steps on its mean loss over a corpus.

    Args:
        model: the model to train, with its parameters on the CPU or on CUDA. A trained
            model raises an error for a corpus with another vocabulary.
        corpus: training sequences, with as many classes as the model.
        steps: maximum number of steps or, with `batch_size`, of passes over the corpus.
            Training ends earlier if it reaches `until_accuracy` or `until_loss`.
        lr: learning rate, positive. For a (d, d) matrix W, Adam uses lr / sqrt(d),
            because each entry of W p sums over d entries of W, whose changes add up.
        train: names of the parameters to train, such as "embeddings", "cls", "output"
            and "key_query"; None trains all parameters.
        test: sequences to evaluate at each step; vocabulary and classes as in `corpus`.
        snapshots: numbers of steps after which to store the scores, 0 to `steps`.
        optimizer: "adam" (betas 0.9 and 0.999), "gd" (plain gradient descent), or a
            function that makes an optimizer of torch from a list of tensors and `lr=`,
            such as `torch.optim.RMSprop` or
            `functools.partial(torch.optim.Adam, eps=1e-3)`. An optimizer of torch uses
            the same `lr` for all parameters and takes its gradients from autograd.
        batch_size: number of sequences in a mini-batch; None uses full batches.
            Sequences are drawn without replacement, and each run has the same batches.
            Each batch is evaluated before its step. Thus the training loss and accuracy
            are averages over the batches of a pass, except after all `steps` passes.
        until_accuracy: training accuracy, in [0, 1], at which training stops.
        until_loss: positive training loss below which training stops.
        checkpoint: file for the state of training, written once a minute and after
            `steps` steps. If the file exists, training resumes from it and gives the
            same numbers as an uninterrupted run. The texts, labels, kind of device,
            number of processes and initial model must be the same, as must all settings
            except `steps`, `snapshots`, `until_accuracy` and `until_loss`. Instead of
            its initial parameters, the model may have the parameters in the file.

    Under `torchrun`, after `torch.distributed.init_process_group(timeout=...)`, each
    process passes its own part of the corpus, `corpus[rank::world_size]`, and each
    process returns the history for the whole corpus. This requires a one-layer model,
    full batches, and "adam" or "gd". If a process hangs, the others stop after the
    timeout, which is a `timedelta`; the default of torch is 30 minutes.

    Raises:
        ValueError: if an argument is out of its range, if the vocabularies or classes
            of `model`, `corpus` and `test` do not match, if the settings differ between
            processes, or if the checkpoint is damaged or has other settings.
        RuntimeError: if another process has ended or does not respond in time.
        OSError: if the checkpoint cannot be written. If possible, the error is raised
            before the first step.
        FloatingPointError: if training diverges; the message names the step.

    Example:
        >>> texts = ["good film", "bad film"]
        >>> corpus = Corpus.from_texts(texts, ["+", "-"], min_count=1)
        >>> model = AttentionClassifier(len(corpus.vocab), dim=16)
        >>> history = fit(model, corpus, steps=20, lr=0.1)
        >>> float(history.accuracy[-1]), model.predict(corpus)
        (1.0, ['+', '-'])
    """
    _check(model, corpus, lr)
    described = _described(optimizer, lr)
    check_number("batch_size", batch_size, 1, integer=True, optional=True)
    check_number("steps", steps, 1, integer=True)
    for step in snapshots:
        check_number("snapshots", step, 0, steps, integer=True)
    check_number("until_accuracy", until_accuracy, 0, 1, optional=True)
    check_number("until_loss", until_loss, above=0, optional=True)
    until = {"until_accuracy": until_accuracy, "until_loss": until_loss}
    trained = _trained_names(model, train)
    _check_test(test, corpus)
    _check_processes(model, batch_size, optimizer)
    settings: dict[str, Any] = {
        "vocab": vocab_digest(corpus.vocab),
        "classes": list(corpus.classes),
        "dim": len(model.cls),
        "dtype": str(model.cls.dtype),
        "device": model.cls.device.type,
        "lr": float(lr),
        "train": trained,
        "optimizer": described,
        "batch_size": batch_size,
    }
    check_processes_agree(settings | until | {"steps": steps, "test": test is not None})
    share_parameters(model)
    file = None
    if checkpoint is not None:
        settings |= belongings(model, corpus, test)
        file = Checkpoint(checkpoint, settings, state_size(model, trained))
    saved = None if file is None else file.read()
    begin = 0 if saved is None else len(saved["measured"])
    check_number("steps, with this checkpoint", steps, begin, integer=True)
    check_processes_agree({"steps in the checkpoint": begin})
    with _learner(model, trained, lr, optimizer) as learner:
        training = _Training(
            learner, corpus, test, batch_size, steps, until, snapshots, file
        )
        if saved is not None:
            training.restore(saved)
        has_autograd = torch.is_grad_enabled()
        try:
            # A traceback keeps the frame that holds the bar, so it is closed here.
            with closing(progress(range(begin, steps + 1), "training")) as bar:
                _train(training, bar)
        finally:
            # Ctrl-C between the two halves of a `no_grad` would leave autograd off.
            torch.set_grad_enabled(has_autograd)
        return training.history()


@contextmanager
def _learner(
    model: Classifier, train: list[str], lr: float, optimizer: str | OptimizerFactory
) -> Iterator[Learner]:
    """Yield the learner for a model, and keep its threads until the context ends."""
    if not isinstance(optimizer, str):
        yield TorchLearner(model, train, lr, optimizer)
    elif isinstance(model, AttentionClassifier):
        with ThreadPool(model.embeddings.device) as pool:
            yield ScoreSpaceLearner(model, train, lr, optimizer, pool)
    else:
        yield Learner(model, train, lr, optimizer)


class _Training:
    """The state of `fit`: a learner, its corpora, and the measurements so far."""

    def __init__(
        self,
        learner: Learner,
        corpus: Corpus,
        test: Corpus | None,
        batch_size: int | None,
        steps: int,
        until: dict[str, float | None],
        snapshots: Collection[int],
        file: Checkpoint | None,
    ) -> None:
        self.learner, self.model = learner, learner.model
        self.model.vocab, self.model.classes = corpus.vocab, corpus.classes
        self.corpus, self.test, self.batch_size = corpus, test, batch_size
        self.steps, self.snapshots, self.file = steps, snapshots, file
        self.until = until
        self.measured: list[list[float]] = []
        self.scores: dict[int, Tensor] = {}
        self.random = torch.Generator().manual_seed(0)
        n_test = 0 if test is None else len(test)
        held = torch.tensor([len(corpus), n_test])
        everywhere = summed(held.double()).clamp(min=1)
        self.share, self.test_share = (held / everywhere).tolist()
        learner.share = self.share

    def gradient(self, step: int) -> Tensor:
        """Compute the gradient, except at the last step, and return loss and accuracy.

        The result contains the loss and accuracy on the training corpus, float64 (2,).
        If there is a test corpus, the loss and accuracy on it follow, (4,). With
        mini-batches, this method also takes the steps of a whole pass, because each
        batch is evaluated just before its step.
        """
        is_last = step == self.steps
        if self.file is not None and (is_last or self.file.is_due()):
            self.file.write(self.state())
        try:
            if step in self.snapshots:
                self.scores[step] = self.learner.scores().cpu()
            on_test = []
            if self.test is not None:
                logits = self.learner.logits(self.test)
                on_test.append(self.test_share * _quality(logits, self.test))
            on_training = self.share * self._on_training(is_last)
        except FloatingPointError as error:
            raise FloatingPointError(f"at step {step}: {error}") from None
        return torch.cat([on_training, *on_test])

    def _on_training(self, is_last: bool) -> Tensor:
        """Return loss and accuracy on the training corpus, and compute the gradient."""
        if is_last:
            return _quality(self.learner.logits(self.corpus), self.corpus)
        if self.batch_size is not None:
            return self._pass_in_batches(self.batch_size)
        return _quality(self.learner.take_gradient(self.corpus), self.corpus)

    def record(self, quality: Tensor) -> None:
        """Record loss and accuracy; add up the contributions of all processes."""
        self.measured.append(summed(quality).tolist())

    def is_over(self, step: int) -> bool:
        """Return whether this was the last step, or an `until` value was reached."""
        loss, accuracy, *_ = self.measured[-1]
        enough, small = self.until["until_accuracy"], self.until["until_loss"]
        if enough is not None and accuracy >= enough:
            return True
        return step == self.steps or (small is not None and loss < small)

    def move(self) -> None:
        """Take a full-batch step; mini-batch steps were already taken in `gradient`."""
        if self.batch_size is None:
            self.learner.step()

    def state(self) -> dict[str, Any]:
        """Return the state that is needed to resume training."""
        return {
            "measured": self.measured,
            "scores": self.scores,
            "model": self.model.state_dict(),
            "memories": self.learner.memories(),
            "random": self.random.get_state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        self.measured, self.scores = state["measured"], state["scores"]
        self.model.load_state_dict(state["model"])
        self.learner.set_memories(state["memories"])
        self.random.set_state(state["random"])

    def history(self) -> History:
        """Return the records so far, together with the current scores."""
        columns = torch.tensor(self.measured, dtype=torch.float64).T
        steps = torch.arange(len(self.measured))
        self.scores[int(steps[-1])] = self.learner.scores().cpu()
        scores = {step: at.double() for step, at in self.scores.items()}
        return History(steps, scores, *columns)

    def _pass_in_batches(self, batch_size: int) -> Tensor:
        """Take a step on each mini-batch; return the mean quality before the steps."""
        quality = torch.zeros(2, dtype=torch.float64)
        order = torch.randperm(len(self.corpus), generator=self.random)
        for rows in order.split(batch_size):
            batch = self.corpus[rows]
            logits = self.learner.take_gradient(batch)
            share = len(batch) / len(self.corpus)
            quality += share * _quality(logits, batch)
            self.learner.step()
        return quality


def _trained_names(model: Classifier, train: Collection[str] | None) -> list[str]:
    """Return the names of the parameters to train.

    Raises:
        ValueError: if the model has no parameter of one of these names.
    """
    names = tuple(name for name, _ in model.named_parameters())
    if train is None:
        return list(names)
    if isinstance(train, str) or not train or not set(train) <= set(names):
        raise ValueError(f"train: expected some of {names}, got {train!r}")
    return list(train)


def _check_test(test: Corpus | None, corpus: Corpus) -> None:
    """Raise a ValueError unless both corpora have the same vocabulary and classes."""
    if test is None:
        return
    if test.vocab != corpus.vocab or test.classes != corpus.classes:
        raise ValueError(
            "test: its vocabulary or classes are not those of the training corpus; "
            "load it with vocab=corpus.vocab"
        )


def _described(optimizer: str | OptimizerFactory, lr: float) -> str:
    """Return the name and settings of an optimizer.

    Raises:
        ValueError: if `optimizer` is neither a known name nor makes an optimizer.
    """
    if isinstance(optimizer, str) or not callable(optimizer):
        check_choice("optimizer", optimizer, ("adam", "gd"))
        return str(optimizer)
    made = optimizer([torch.zeros(1)], lr=lr)
    if not isinstance(made, torch.optim.Optimizer):
        wanted = "expected a function that returns a torch.optim.Optimizer"
        raise ValueError(f"optimizer: {wanted}, got one that returns {made!r}")
    return f"{type(made).__name__} {made.defaults}"


def _check_processes(
    model: Classifier, batch_size: int | None, optimizer: str | OptimizerFactory
) -> None:
    """Raise a ValueError if this training cannot run in several processes."""
    is_one_layer = isinstance(model, AttentionClassifier)
    if n_processes() == 1:
        return
    if batch_size is not None or not is_one_layer or not isinstance(optimizer, str):
        raise ValueError(
            "batch_size, model, optimizer: with several processes, only full-batch "
            'training of the one-layer model by "adam" or "gd" is supported'
        )


def _quality(logits: Tensor, corpus: Corpus) -> Tensor:
    """Return loss and accuracy, float64 (2,)."""
    loss = float(mean_loss(logits, corpus))
    return torch.tensor([loss, accuracy(logits, corpus)], dtype=torch.float64)


def _check(model: Classifier, corpus: Corpus, lr: float) -> None:
    """Raise a ValueError unless a model can be trained on a corpus with this `lr`."""
    check_number("lr", lr, above=0)
    K = len(model.classes)
    if corpus.n_classes != K:
        raise ValueError(f"corpus: it has {corpus.n_classes} classes, the model {K}")
    model.check_vocab(corpus)
