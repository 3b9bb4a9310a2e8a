"""One call from a file of labelled texts to what their label hangs on."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from attnsel.checks import check_number
from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier, attention_on
from attnsel.progress import progress
from attnsel.report.baseline import Share, share_of, tfidf_regression
from attnsel.report.diagnosis import Diagnosis, diagnose
from attnsel.report.evidence import pair_table, token_table
from attnsel.report.facts import Fact, data_facts, too_many_classes
from attnsel.report.figures import attention_figure
from attnsel.report.leaks import Example, examples, opening, without
from attnsel.report.luck import beyond_luck
from attnsel.report.page import render, shown
from attnsel.report.pairs import Pairs, neighbours
from attnsel.report.splits import train_and_test
from attnsel.train import fit

DIM, STEPS, LR = 128, 60, 3e-3  # of the models; the number of steps is at most STEPS
SHUFFLES = 2  # models that see shuffled labels
MASKED = 10  # tokens that are masked, one after the other
WORST = 8  # held-out texts that are shown
AROUND = 45  # tokens shown of such a text
PATIENCE = 4e9  # entries of logits times steps that masking may cost


@dataclass(frozen=True, eq=False)
class Misread:
    """A held-out text that the model gets wrong, and how sure it is.

    Attributes:
        row: number of the text in the held-out corpus.
        label, read: the class it has, and the one that the model reads.
        probability: that the model gives to the label.
        words: the pieces of the text around the most attended token.
        weights: of each piece, float64 (len(words),): its share of the attention.
    """

    row: int
    label: str
    read: str
    probability: float
    words: list[tuple[str, int]]
    weights: Tensor


@dataclass(frozen=True, eq=False)
class Report:
    """What `report` found; in a notebook it shows itself.

    Attributes:
        name: of the data.
        facts: what is to be known of the data, lines with a meaning.
        tokens: data frame, a row a token, those with the most evidence first; its
            columns are explained on the page.
        pairs: the same of neighbouring tokens; empty without texts.
        masked: data frame of accuracies without one token.
        accuracy: by classifier, held-out shares with their interval.
        misread: held-out texts that the model gets most wrong.
        diagnosis: of the model, on held-out texts; None without a model.
        figure: attention beside evidence, an SVG.
        examples: of tokens and pairs on the page, places in texts of their class.
        train, test: the texts to learn from and those held out.
        model: the classifier, None if nothing could be learned.
        steps: of gradient descent that it was trained for.
        rate: of false finds.
    """

    name: str
    facts: list[Fact]
    tokens: pd.DataFrame
    pairs: pd.DataFrame
    masked: pd.DataFrame
    accuracy: dict[str, Share]
    misread: list[Misread]
    diagnosis: Diagnosis | None
    figure: str
    examples: dict[str, list[Example]]
    train: Corpus
    test: Corpus
    model: AttentionClassifier | None
    steps: int
    rate: float

    def found(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of `tokens` or `pairs` that are beyond luck."""
        return table[table["q"] <= self.rate]

    def html(self) -> str:
        """Return the page: one file, no network."""
        return render(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page and return its path; an OSError if it cannot be written."""
        file = Path(path).expanduser()
        file.write_text(self.html(), encoding="utf-8")
        return file

    def _repr_html_(self) -> str:
        page = escape(self.html(), quote=True)
        style = "width:100%;height:44em;border:1px solid #8886;border-radius:.3em"
        title = escape(f"What the label of {self.name} hangs on", quote=True)
        return f'<iframe title="{title}" style="{style}" srcdoc="{page}"></iframe>'

    def __repr__(self) -> str:
        read = self.accuracy.get("attention")
        finds = f"{len(self.found(self.tokens)):,} of {len(self.tokens):,} tokens"
        return (
            f"Report({self.name!r}: {len(self.train):,} texts to learn from, "
            f"{len(self.test):,} held out; {finds} beyond luck; accuracy {read})"
        )


def report(
    source: Any,
    *,
    text: str = "text",
    label: str = "label",
    limit: int | None = None,
    rate: float = 0.05,
) -> Report:
    """Say what the label of texts hangs on, how much is luck, and how good a model is.

    Args:
        source: as in `load_corpus`: one of our names, a file, a folder, a table or the
            Hub's name of a data set. Where it has no test split a fifth is held out.
        text: name of the column of texts.
        label: name of the column of labels.
        limit: size of a random sample of the texts to learn from.
        rate: the promised rate of false finds, in (0, 1).

    Errors are those of `load_corpus`, and a ValueError of a rate out of range.
    """
    check_number("rate", rate, 0, 1)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        train, test = train_and_test(source, text=text, label=label, limit=limit)
    said = list(dict.fromkeys(str(warning.message) for warning in told))
    facts = data_facts(train, test, said)
    if too_many_classes(train):
        return _without_model(train, test, facts, rate)
    return _examined(train, test, facts, rate)


def _without_model(
    train: Corpus, test: Corpus, facts: list[Fact], rate: float
) -> Report:
    """Return the report of texts of which nothing can be learned."""
    none = pd.DataFrame({"q": np.empty(0)})
    return Report(
        name=train.name,
        facts=facts,
        tokens=none,
        pairs=none,
        masked=pd.DataFrame(),
        accuracy={},
        misread=[],
        diagnosis=None,
        figure="",
        examples={},
        train=train,
        test=test,
        model=None,
        steps=0,
        rate=rate,
    )


def _examined(train: Corpus, test: Corpus, facts: list[Fact], rate: float) -> Report:
    """Train on some texts and report on them."""
    steps = best_steps(train)
    model = trained(train, steps)
    scores = model.scores().detach()
    tokens = token_table(train, test, scores)
    places = _token_examples(train, tokens[tokens["q"] <= rate])
    pairs = pd.DataFrame({"q": np.empty(0)})
    if train.texts is not None and test.texts is not None:
        seen = neighbours(train)
        pairs = pair_table(train, test, seen, neighbours(test, seen.ids), rate)
        places |= _pair_examples(train, pairs[pairs["q"] <= rate], seen)
    shuffled = [_by_luck(train, steps, seed) for seed in range(1, SHUFFLES + 1)]
    found = beyond_luck(train, rate=rate)
    return Report(
        name=train.name,
        facts=facts,
        tokens=tokens,
        pairs=pairs,
        masked=masked_table(train, test, model, steps, tokens),
        accuracy=accuracies(train, test, model),
        misread=most_misread(test, model),
        diagnosis=diagnose(test, model.embeddings, model.cls, model.output),
        figure=attention_figure(train, scores[:, 0], found, shuffled),
        examples=places,
        train=train,
        test=test,
        model=model,
        steps=steps,
        rate=rate,
    )


def _token_examples(train: Corpus, finds: pd.DataFrame) -> dict[str, list[Example]]:
    """Return places of the tokens on the page."""
    return {
        row["token"]: examples(
            train, train.counts[:, [row["id"]]], [row["id"]], row["class number"]
        )
        for row in shown(finds).to_dict("records")
    }


def _pair_examples(
    train: Corpus, finds: pd.DataFrame, seen: Pairs
) -> dict[str, list[Example]]:
    """Return places of the pairs on the page."""
    return {
        row["token"]: examples(
            train,
            seen.holds[:, [row["id"]]],
            [row["left"], row["right"]],
            row["class number"],
        )
        for row in shown(finds).to_dict("records")
    }


def trained(corpus: Corpus, steps: int, seed: int = 0) -> AttentionClassifier:
    """Return a classifier of a corpus after some steps of training."""
    V, K = len(corpus.vocab), corpus.n_classes
    model = AttentionClassifier(V, DIM, n_classes=K, seed=seed)
    fit(model, corpus, steps=steps, lr=LR)
    return model


def best_steps(corpus: Corpus) -> int:
    """Return after how many steps a tenth of the texts, set apart, is read best."""
    order = torch.randperm(len(corpus), generator=torch.Generator().manual_seed(0))
    cut = max(len(corpus) // 10, 1)
    V, K = len(corpus.vocab), corpus.n_classes
    model = AttentionClassifier(V, DIM, n_classes=K, seed=0)
    history = fit(
        model, corpus[order[cut:]], steps=STEPS, lr=LR, test=corpus[order[:cut]]
    )
    return max(int(history.test_loss.argmin()), 1)


def _by_luck(corpus: Corpus, steps: int, seed: int) -> tuple[Corpus, Tensor]:
    """Return a corpus with shuffled labels and the attention scores learned from it."""
    generator = torch.Generator().manual_seed(seed)
    labels = corpus.targets[torch.randperm(len(corpus), generator=generator)]
    dealt = Corpus(corpus.counts, labels, corpus.vocab)
    return dealt, trained(dealt, steps, seed).scores().detach()[:, 0]


def read(model: AttentionClassifier, corpus: Corpus) -> np.ndarray:
    """Return the number of the class read in each sequence, int64 (n,)."""
    with torch.no_grad():
        logits = model(corpus)
    likeliest = logits > 0 if logits.ndim == 1 else logits.argmax(dim=1)
    return likeliest.long().cpu().numpy()


def accuracies(
    train: Corpus, test: Corpus, model: AttentionClassifier
) -> dict[str, Share]:
    """Return held-out accuracies of the model and of what one would use instead."""
    labels = test.targets.numpy()
    (regression,) = tfidf_regression(train, test)
    common = int(train.targets.mode().values)
    return {
        "attention": share_of(read(model, test) == labels),
        "logistic regression on tf-idf": share_of(regression == labels),
        "always the most frequent class": share_of(labels == common),
    }


def masked_table(
    train: Corpus,
    test: Corpus,
    model: AttentionClassifier,
    steps: int,
    tokens: pd.DataFrame,
) -> pd.DataFrame:
    """Return what held-out accuracy loses when a token is masked in all texts.

    The model is trained again without the token, from the same start and for as many
    steps. A text that is left without any token is read as the most frequent class.
    Losses are in percentage points, with the half-width of a 95% interval over texts.
    """
    labels, before = test.targets.numpy(), read(model, test) == test.targets.numpy()
    cost = train.counts.nnz * (train.n_classes + 1) * steps
    affordable = int(PATIENCE // max(cost, 1))
    first = tokens.head(min(MASKED, affordable))
    common = int(train.targets.mode().values)
    rows = []
    for token, place in progress(
        list(zip(first["token"], first["id"], strict=True)), "masking"
    ):
        left, _ = without(train, place)
        held, kept = without(test, place)
        again = np.full(len(test), common)
        again[kept] = read(trained(left, steps), held)
        lost = 100.0 * (before.astype(float) - (again == labels))
        holds = test.counts[:, [place]].toarray()[:, 0] > 0
        rows.append(
            {
                "token": token,
                "points lost": lost.mean(),
                "plus or minus": 1.96 * lost.std() / len(lost) ** 0.5,
                "held-out texts with it": int(holds.sum()),
                "points lost on these": lost[holds].mean() if holds.any() else np.nan,
            }
        )
    return pd.DataFrame(rows)


def most_misread(test: Corpus, model: AttentionClassifier) -> list[Misread]:
    """Return the held-out texts whose label the model finds least likely."""
    with torch.no_grad():
        logits = model(test)
    if logits.ndim == 1:
        logits = torch.stack([torch.zeros_like(logits), logits], dim=1)
    chances = torch.log_softmax(logits.double(), dim=1)
    own = chances.gather(1, test.targets[:, None])[:, 0]
    wrong = torch.nonzero(chances.argmax(1) != test.targets)[:, 0]
    order = wrong[own[wrong].argsort(stable=True)][:WORST]
    scores = model.scores().detach().double()
    return [_misread(test, i, chances[i], scores) for i in order.tolist()]


def _misread(test: Corpus, row: int, chances: Tensor, scores: Tensor) -> Misread:
    words = opening(test, row)
    weights = attention_on(words, scores)
    middle = int(weights.argmax())
    start = max(0, middle - AROUND)
    label = int(test.targets[row])
    return Misread(
        row=row,
        label=str(test.classes[label]),
        read=str(test.classes[int(chances.argmax())]),
        probability=float(chances[label].exp()),
        words=words[start : start + 2 * AROUND],
        weights=weights[start : start + 2 * AROUND],
    )
