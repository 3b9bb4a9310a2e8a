"""Functions that train the models of a report and measure accuracies and errors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
import torch
from scipy.sparse import csr_array
from torch import Tensor

from attnsel.beyond.deletion import score_flips, score_influence, scores_between
from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier, class_logits
from attnsel.progress import progress
from attnsel.scale.threads import side_by_side
from attnsel.train import fit
from attnsel_report.examples import first_tokens, opening, without
from attnsel_report.tables import LEAST_TEXTS

DIM, STEPS, LR = 64, 30, 2e-2  # of the models; STEPS is the largest number of steps
MASKED = 10  # tokens that are masked, one after the other
LEARNED = 2_000_000  # counts of tokens in texts that a model is to learn from
LEARNED_TEXTS = 100_000  # largest number of these texts
LEAST_OF_CLASS = 50  # texts of a class that it always learns from
PATIENCE = 2e9  # counts times outputs times steps that masking may cost
WORST = 8  # held-out texts that are shown
AROUND = 90  # pieces of such a text on either side of the token that pushed most
STRONGEST, ENOUGH = 5, 8  # tokens of such a text that are named


class Share(NamedTuple):
    """A share of cases, with its 95% Wilson interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        interval = f"[{self.low:.1%}, {self.high:.1%}]"
        return f"{self.value:.1%} {interval}"


@dataclass(frozen=True, eq=False)
class Misread:
    """A held-out text that the model classifies incorrectly.

    Attributes:
        row: number of the text in the held-out corpus.
        label: label of the text.
        read: class that the model predicts.
        probability: probability of the label according to the model.
        words: pieces of the text around the token with the largest push.
        pushes: push of each piece, float64 (len(words),). The push of a token is the
            amount by which it increases the difference between the logits of the
            predicted class and of the label. A piece without a token has the push 0.
        strongest: tokens with the largest positive pushes, and their pushes.
        enough: a smallest set of tokens whose deletion makes the label more likely than
            the predicted class; empty if no set of up to ENOUGH tokens does so.
    """

    row: int
    label: str
    read: str
    probability: float
    words: list[tuple[str, int]]
    pushes: Tensor
    strongest: list[tuple[str, float]]
    enough: list[str]


def share_of(right: np.ndarray) -> Share:
    """Return the share of true entries in an array, bool (n,), with its interval."""
    n = len(right)
    count = int(right.sum())
    test = scipy.stats.binomtest(count, n)
    interval = test.proportion_ci(method="wilson")
    return Share(
        value=count / n,
        low=float(interval.low),
        high=float(interval.high),
    )


def trained(corpus: Corpus, steps: int, seed: int = 0) -> AttentionClassifier:
    """Return a classifier that was trained on a corpus for a number of steps."""
    model = _untrained(corpus, seed)
    fit(model, corpus, steps=steps, lr=LR)
    return model


def _untrained(corpus: Corpus, seed: int) -> AttentionClassifier:
    V, K = len(corpus.vocab), corpus.n_classes
    return AttentionClassifier(V, DIM, n_classes=K, seed=seed)


def some_to_learn(counts: csr_array, labels: np.ndarray, seed: int) -> np.ndarray:
    """Return the rows that a model is trained on, in order.

    These are all rows, or a random sample in a large corpus. The sample contains about
    LEARNED nonzero counts, but not more than about LEARNED_TEXTS rows. It contains at
    least LEAST_OF_CLASS rows of each class, or all rows of a class that has fewer. The
    `counts` are (n, V), and the `labels` (n,).
    """
    n = len(labels)
    size = min(int(n * LEARNED / max(counts.nnz, 1)), LEARNED_TEXTS)
    if size >= n:
        return np.arange(n)
    order = np.random.default_rng(seed).permutation(n)
    turn = pd.Series(order).groupby(labels[order]).cumcount()
    is_early = np.arange(n) < size
    is_needed = turn < LEAST_OF_CLASS
    return np.sort(order[is_early | is_needed])


def shared_tokens(counts: csr_array) -> np.ndarray:
    """Return the tokens in at least LEAST_TEXTS texts, or all tokens if there are none.

    A regression uses only these tokens, because a token that occurs in a single text
    gives no information about other texts. The counts are (n, V).
    """
    texts = np.bincount(counts.indices, minlength=counts.shape[1])
    shared = np.flatnonzero(texts >= LEAST_TEXTS)
    return shared if len(shared) else np.arange(len(texts))


def best_steps(corpus: Corpus, seed: int = 0) -> int:
    """Return the step (1 or more) with the lowest loss on a held-out tenth of texts."""
    order = _random_order(len(corpus), seed)
    size = max(len(corpus) // 10, 1)
    validation = corpus[order[:size]]
    rest = corpus[order[size:]]
    model = _untrained(corpus, seed)
    history = fit(model, rest, steps=STEPS, lr=LR, test=validation)
    best = int(history.test_loss.argmin())
    return max(best, 1)


def shuffled(corpus: Corpus, steps: int, seed: int) -> tuple[Corpus, Tensor]:
    """Return a corpus with shuffled labels, and scores E p of a model trained on it."""
    order = _random_order(len(corpus), seed)
    control = Corpus(corpus.counts, corpus.targets[order], corpus.vocab)
    scores = trained(control, steps, seed).scores()
    return control, scores[:, 0]


def _random_order(n: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randperm(n, generator=generator)


def read(
    model: AttentionClassifier,
    corpus: Corpus,
    otherwise: int = 0,
    masked: Sequence[int] = (),
) -> np.ndarray:
    """Return the number of the predicted class of each sequence, int64 (n,).

    The tokens of the model are the first tokens of the vocabulary. The tokens in
    `masked` are ignored. For a sequence without any other token of the model, the
    prediction is `otherwise`.
    """
    scores = model.scores().numpy()
    weights = np.exp(scores[:, :1] - scores[:, 0].max())  # of attention, (V, 1)
    weights[list(masked)] = 0
    counts = corpus.counts[:, : len(scores)]
    # The sum of the weights divides all logits of a sequence, so that none changes.
    sums = counts @ np.hstack([weights, weights * scores[:, 1:]])
    return np.where(sums[:, 0] > 0, _likeliest(sums[:, 1:]), otherwise)


def _likeliest(logits: np.ndarray) -> np.ndarray:
    """Return the number of the most likely class from logits (n, K), int64 (n,).

    For two classes the logits are (n, 1) and belong to the second class.
    """
    if logits.shape[1] == 1:
        return (logits[:, 0] > 0).astype(np.int64)
    return logits.argmax(axis=1)


def accuracies(
    train: Corpus, test: Corpus, model: AttentionClassifier, regression: Tensor
) -> dict[str, Share]:
    """Return the held-out accuracies of the model and of two baselines.

    The baselines are a logistic regression and the most frequent class. `regression`
    contains the logits of the logistic regression on `shared_tokens`.
    """
    labels = test.targets.numpy()
    common = commonest(train)
    by_class = regression.reshape(len(test), -1).numpy()
    answers = {
        "attention": read(model, test, common),
        "logistic regression on tf-idf": _likeliest(by_class),
        "always the most frequent class": common,
    }
    return {name: share_of(answer == labels) for name, answer in answers.items()}


def commonest(train: Corpus) -> int:
    """Return the most frequent class as a number, 0 to K - 1."""
    return int(train.targets.mode().values)


def masked_table(
    train: Corpus,
    test: Corpus,
    model: AttentionClassifier,
    steps: int,
    tokens: pd.DataFrame,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the held-out accuracy that is lost when a token is masked in all texts.

    For each of the first MASKED tokens in the table `tokens` that the model uses, the
    model is retrained without this token, from the same initialization and for `steps`
    steps. The result contains the percentage points lost on all held-out texts and on
    those with the token (nan if there are none), and half-widths of 95% intervals. In a
    large corpus, fewer tokens are masked, or none.
    """
    cost = train.counts.nnz * (train.n_classes + 1) * steps
    affordable = int(PATIENCE // max(cost, 1))
    known = tokens["id"][tokens["id"] < len(model.embeddings)]
    first = known.head(min(MASKED, affordable)).tolist()
    labels = test.targets.numpy()
    right = read(model, test, commonest(train)) == labels

    def read_again(token: int) -> np.ndarray:
        return read_without(train, test, token, steps, seed) == labels

    rows = []
    answers = side_by_side(read_again, first)
    for token, again in zip(progress(first, "masking"), answers, strict=True):
        lost = 100.0 * (right.astype(float) - again)
        holds = test.counts[:, [token]].toarray()[:, 0] > 0
        name = {"token": train.vocab[token]}
        rows.append(name | _lost(lost, holds))
    return pd.DataFrame(rows)


def _lost(lost: np.ndarray, holds: np.ndarray) -> dict[str, float]:
    """Return the table row of a token from the points lost on each held-out text."""
    on_these = width = np.nan
    if holds.any():
        on_these = lost[holds].mean()
        width = _half_width(lost[holds])
    return {
        "points lost": lost.mean(),
        "plus or minus": _half_width(lost),
        "held-out texts with it": int(holds.sum()),
        "points lost on these": on_these,
        "these, plus or minus": width,
    }


def _half_width(lost: np.ndarray) -> float:
    """Return the half-width of the 95% interval of points lost, (n,) of -100, 0 or 100.

    The method is by Agresti and Min (2005). It adds half a text to each of the four
    kinds of texts: lost, gained, right twice and wrong twice. Therefore the interval
    has a positive width even if the prediction of no text changes.
    """
    n = len(lost) + 2
    n_changed = np.count_nonzero(lost) + 1
    texts_lost = lost.sum() / 100
    mean = texts_lost / n
    variance = (n_changed / n - mean**2) / n
    return float(100 * 1.96 * variance**0.5)


def read_without(
    train: Corpus, test: Corpus, token: int, steps: int, seed: int = 0
) -> np.ndarray:
    """Return predictions for held-out texts after training without a token, int64 (n,).

    The prediction for a text without any other token is the most frequent class.
    """
    left, _ = without(train, token)
    return read(trained(left, steps, seed), test, commonest(train), [token])


def most_misread(test: Corpus, model: AttentionClassifier) -> list[Misread]:
    """Return up to WORST misclassified texts, beginning with the least likely label."""
    test, kept = first_tokens(test, len(model.embeddings))
    labels = test.targets
    with torch.no_grad():
        logits = class_logits(model(test).double())
    chances = torch.log_softmax(logits, dim=1)
    rows = torch.arange(len(test))
    of_label = chances[rows, labels]
    is_wrong = chances.argmax(dim=1) != labels
    wrong = rows[is_wrong]
    order = of_label[wrong].argsort(stable=True)
    worst = wrong[order[:WORST]]
    scores = model.scores()
    found = [_misread(test, row, chances[row], scores) for row in worst.tolist()]
    return [replace(text, row=int(kept[text.row])) for text in found]


def _misread(test: Corpus, row: int, chances: Tensor, scores: Tensor) -> Misread:
    """Return a misclassified text with the words that push it to the wrong class."""
    label = int(test.targets[row])
    likeliest = int(chances.argmax())
    text = test[[row]]
    pair = scores_between(scores, likeliest, label)
    found = score_influence(pair, text)
    tokens, pushes_of_tokens = found.indices.tolist(), found.data.tolist()
    push_of = dict(zip(tokens, pushes_of_tokens, strict=True))
    by_push = sorted(push_of, key=lambda s: -push_of[s])
    flips = set(score_flips(pair, text).indices.tolist())
    gone = [s for s in by_push if s in flips]
    words = opening(test, row)
    pushes = torch.tensor([push_of.get(s, 0.0) for _, s in words]).double()
    middle = int(pushes.argmax())
    start = max(0, middle - AROUND)
    stop = start + 2 * AROUND
    first = [s for s in by_push[:STRONGEST] if push_of[s] > 0]
    return Misread(
        row=row,
        label=str(test.classes[label]),
        read=str(test.classes[likeliest]),
        probability=float(chances[label].exp()),
        words=words[start:stop],
        pushes=pushes[start:stop],
        strongest=[(test.vocab[s], push_of[s]) for s in first],
        enough=[test.vocab[s] for s in gone if len(gone) <= ENOUGH],
    )
