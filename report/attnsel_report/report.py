"""The function `report`, which finds the words that predict the label of texts."""

import logging
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from attnsel.validation import require

require("report", "jinja2", "sklearn")

import numpy as np
from scipy.sparse import csr_array

from attnsel.encoding import suitable_min_count
from attnsel.scale.threads import side_by_side
from attnsel.tokens import Tokenizer
from attnsel.validation import check_number
from attnsel_report.baseline import baseline
from attnsel_report.data_notes import (
    data_facts,
    too_many_classes,
    what_groups_cost,
)
from attnsel_report.diagnosis import diagnose
from attnsel_report.examples import first_tokens
from attnsel_report.figures import attention_figure
from attnsel_report.findings import described
from attnsel_report.pairs import neighbours
from attnsel_report.quality import (
    accuracies,
    best_steps,
    masked_table,
    most_misread,
    shared_tokens,
    shuffled,
    some_to_learn,
    trained,
)
from attnsel_report.ranking import Evidence, top_findings
from attnsel_report.result import Report
from attnsel_report.sequences import InOrder
from attnsel_report.splits import (
    FEWEST,
    Parts,
    Sample,
    joined,
    read_parts,
    too_few,
)
from attnsel_report.surface import MEASURES, form_table, measure_table
from attnsel_report.suspects import accuracy_of, suspects, unseen_probabilities
from attnsel_report.tables import (
    pair_table,
    token_table,
    with_attention,
    with_q,
)

log = logging.getLogger(__name__)

SHUFFLES = 2  # models that see shuffled labels


def report(
    source: Any,
    *,
    text: Hashable | Sequence[Hashable] = "text",
    label: Hashable = "label",
    groups: Any = None,
    limit: int | None = None,
    rate: float = 0.05,
    min_count: int | None = None,
    tokenize: Tokenizer | None = None,
    seed: int = 0,
) -> Report:
    """Report the words that predict the label, and how significant they are.

    The report also tests a model on held-out texts. A text counts once, together with
    all its copies and near copies. If the source has no test split, a fifth of its
    texts is held out.

    Args:
        source: a source of texts as in `load_corpus`, for example a file, a folder, a
            table or the name of a data set on the Hub, but not a corpus that comes as
            counts of words, such as "imdb"; or a Corpus with texts.
        text: name of the column of texts, or a list of names of columns whose texts are
            joined. If a file has no column names, give positions, from 0.
        label: name of the column of labels.
        groups: name of a column such as author or film, if texts with the same value
            tend to have the same label; or a sequence of group names, one per row of
            the training split. A group counts as one observation. If there is no test
            split, a group is held out as a whole or not at all.
        limit: maximum number of rows of a split, sampled at random and balanced across
            classes as far as possible.
        rate: false-discovery rate over all results, above 0 and at most .99.
        min_count: minimum number of occurrences of a token used by the model, as in
            `Corpus.from_texts`. All tokens that occur in two or more texts are tested.
        tokenize: function that splits a text into tokens, as in `Corpus.from_texts`.
        seed: seed of the sample, the held-out texts and the models, at least 0.

    Raises:
        ValueError: if `limit`, `rate`, `min_count` or `seed` is out of range, if the
            number of group names differs from the number of rows, if there are fewer
            than ten distinct texts, if all training texts are of one class, if the test
            split has only copies of training texts or only other classes, if no token
            is frequent enough, if the source has no texts, or if it cannot be read.
        KeyError: if a column is missing.
        TypeError: if the source has none of the types that `load_corpus` lists.
    """
    check_number("rate", rate, above=0, most=0.99)
    check_number("min_count", min_count, 1, integer=True, optional=True)
    check_number("seed", seed, 0, integer=True)
    log.info("reading")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        parts = read_parts(
            source,
            text=text,
            label=label,
            groups=groups,
            limit=limit,
            seed=seed,
            tokenize=tokenize,
        )
    n = len(parts.train.rows) + len(parts.test.rows)
    if n < FEWEST:
        raise too_few(n)
    _check_classes(parts)
    said = list(dict.fromkeys(str(warning.message) for warning in caught))
    return _examined(parts, said, rate, min_count, seed)


def _check_classes(parts: Parts) -> None:
    """Raise a ValueError if all training texts are in one class."""
    train = parts.train.corpus
    numbers = train.targets.unique().tolist()
    if len(numbers) == 1:
        name = str(train.classes[numbers[0]])
        raise ValueError(
            f"labels: after the split, all training texts are of class {name!r}, "
            "because the texts of the other classes are near copies of one another, or "
            "belong to one group, so that they were held out together. Add more texts "
            "of other classes"
        )


def _examined(
    parts: Parts, said: list[str], rate: float, min_count: int | None, seed: int
) -> Report:
    """Test the tokens and features of texts, train a model, and return the report."""
    train, test = parts.train.corpus, parts.test.corpus
    too_many = too_many_classes(train)
    size = 0 if too_many else _size(parts, min_count)
    labels = train.targets.numpy()
    learned = some_to_learn(train.counts, labels, seed)
    n_learned = 0 if too_many else len(learned)
    # The two tasks are independent, and each leaves a core idle at times.
    tasks = [partial(evidence_of, parts.train, parts.test, parts.order)]
    if not too_many:
        every = joined(parts)
        tasks.append(partial(suspects, every, seed))
    done: list[Any] = list(side_by_side(lambda task: task(), tasks))
    evidence, *doubted = done
    findings = top_findings(evidence, train, rate)
    signs, places, rows = described(findings, evidence, parts.train, parts.names)
    found = Report(
        name=train.name,
        facts=data_facts(parts, said, len(evidence.tables["tokens"]), size, n_learned),
        **evidence.tables,
        signs=signs,
        examples=places,
        rows=rows,
        train=train,
        test=test,
        rate=rate,
        grouped=parts.grouped,
        copies=parts.copies,
    )
    if too_many:
        return found
    log.info("training on %s texts", f"{len(train):,}")
    (doubtful,) = doubted
    if parts.grouped is not None:
        alone = replace(every, groups=np.arange(len(every.groups)))
        labels = every.corpus.targets.numpy()
        within = accuracy_of(unseen_probabilities(alone, seed), labels)
        across = doubtful.attrs["accuracy"]
        found.facts.append(what_groups_cost(parts.grouped, within, across))
    doubtful["row"] = parts.names[doubtful["row"]].array
    found = replace(found, suspects=doubtful)
    return replace(found, **_about_model(found, learned, size, seed))


def evidence_of(train: Sample, test: Sample, source: InOrder) -> Evidence:
    """Return the evidence about tokens, pairs, features and measures of texts.

    All tables have common q-values. `source` is `Parts.order`, the tokens of all rows.
    """
    log.info("looking at tokens, pairs, beginnings and ends")
    one, other = train.firsts(), test.firsts()
    order, again = source.at(one.rows), source.at(other.rows)
    seen = neighbours(one.corpus, order)
    held_out = neighbours(other.corpus, again, seen.ids)
    form, forms = form_table(one, other, order, again)
    tables = {
        "tokens": token_table(train, test),
        "pairs": pair_table(one, other, seen, held_out),
        "form": form,
        "measures": measure_table(one, other),
    }
    contains = {
        "tokens": one.corpus.counts > 0,
        "pairs": seen.holds,
        "form": forms,
        "measures": csr_array((len(one.corpus), len(MEASURES))),
    }
    return Evidence(with_q(tables), contains)


def _size(parts: Parts, min_count: int | None) -> int:
    """Return how many tokens the model uses; it uses the most frequent ones.

    Raises:
        ValueError: if no token is frequent enough, or if none of the tokens occurs in
            the held-out texts.
    """
    train, test = parts.train.corpus, parts.test.corpus
    times = train.counts.sum(axis=0)
    least = min_count
    if least is None:
        least = suitable_min_count(times)
    elif times.max() < least:
        raise ValueError(
            f"min_count: expected at most {times.max():.0f}, because no token occurs "
            f"more often in the training texts, got {least}"
        )
    size = max(int((times >= least).sum()), 1)
    if not test.counts[:, :size].nnz:
        raise ValueError(
            f"source: no held-out text contains any of the {size:,} tokens that the "
            "model uses; give more texts, or a smaller min_count="
        )
    return size


def _about_model(
    found: Report, learned: np.ndarray, size: int, seed: int
) -> dict[str, Any]:
    """Train a model on some texts, and return the parts of the report about it."""
    # Copies are left out by now: without texts they are not looked for again.
    train = replace(found.train[learned], texts=None)
    test = replace(found.test, texts=None)
    seen, _ = first_tokens(train, size)
    held, _ = first_tokens(test, size)
    steps = best_steps(seen, seed)
    model = trained(seen, steps, seed)
    shared = shared_tokens(train.counts)
    regression = baseline(train, test, tokens=shared)
    tokens = with_attention(found.tokens, model.scores()[:, 0])
    shuffle = partial(shuffled, seen, steps)
    by_chance = list(side_by_side(shuffle, range(seed + 1, seed + 1 + SHUFFLES)))
    return {
        "model": model,
        "steps": steps,
        "tokens": tokens,
        "masked": masked_table(seen, test, model, steps, tokens, seed),
        "accuracy": accuracies(found.train, test, model, regression.logits),
        "misread": most_misread(found.test, model),
        "diagnosis": diagnose(held, model.embeddings, model.cls, model.output),
        "figure": attention_figure(seen, tokens, found.rate, by_chance),
    }
