"""The share of reports with findings if labels are random, in `promise.csv`.

    python -m sweeps.own_texts.run_promise --texts FOLDER

The script takes about five minutes on one core.

The script makes seven kinds of files from 150 reviews of Yelp, cut to 60 words, with
random labels at one of three balances. For each file, it runs all steps of a report
that precede the training of a model, up to the list of the strongest findings. The
table contains the share of files with a finding among tokens, among pairs, and on this
list. A report promises at most 5% for each share if it recognizes all copies.

- once: each review occurs once, with its own label
- twice: each review occurs twice, with the same label
- near copies: each review occurs twice, the second time with a word inserted
- short copies: the first ten words of each review occur three times, each time with
  about a tenth of the words replaced, so that some copies are not recognized
- rewritten: each review occurs three times, each time with about 30% of its words
  replaced, so that hardly any copies are recognized
- by author: 15 authors sign ten reviews each; each author has one random label
- by author, not said: the same files, but reports are made without groups="author"
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
import pandas as pd

from attnsel_book.results import result_folder
from attnsel_report.ranking import top_findings
from attnsel_report.report import evidence_of
from attnsel_report.splits import read_parts
from sweeps.common import Row, shown, with_texts

RATE = 0.05  # false-discovery rate
DRAWS = 40
WORDS, AUTHORS, OF_AUTHOR = 60, 15, 10
BALANCES = {"even": (1, 1), "90/10": (9, 1), "60/30/10": (6, 3, 1)}
FILES = (
    "once",
    "twice",
    "near copies",
    "short copies",
    "rewritten",
    "by author",
    "by author, not said",
)


@cache
def all_reviews() -> list[str]:
    """Return the distinct reviews of Yelp, cut to WORDS words."""
    texts = with_texts("yelp").texts or ()
    return list(dict.fromkeys(" ".join(text.split()[:WORDS]) for text in texts))


def reviews(seed: int) -> list[str]:
    """Return 150 reviews, drawn with a seed."""
    known = all_reviews()
    rows = np.random.default_rng(seed).permutation(len(known))
    return [known[row] for row in rows[: AUTHORS * OF_AUTHOR]]


def random_labels(
    shares: tuple[int, ...], n: int, random: np.random.Generator
) -> np.ndarray:
    """Return `n` labels in random order, with the given shares of the classes."""
    ends = np.cumsum(shares) / np.sum(shares) * n
    return random.permutation(np.searchsorted(ends, np.arange(n) + 0.5))


def with_a_word(text: str, random: np.random.Generator) -> str:
    """Return a text with the word *really* inserted at a random position."""
    words = text.split()
    words.insert(int(random.integers(len(words))), "really")
    return " ".join(words)


def with_others(text: str, share: float, random: np.random.Generator) -> str:
    """Replace each word, with probability `share`, by a word of a random review."""
    words = text.split()
    for place in np.flatnonzero(random.random(len(words)) < share):
        other = all_reviews()[int(random.integers(len(all_reviews())))].split()
        words[place] = other[int(random.integers(len(other)))]
    return " ".join(words)


def file_of(kind: str, shares: tuple[int, ...], seed: int) -> pd.DataFrame:
    """Return a file of the given kind as a table, with random labels."""
    random = np.random.default_rng(1000 + seed)
    texts = reviews(seed)
    if kind.startswith("by author"):
        author = np.repeat(np.arange(AUTHORS), OF_AUTHOR)
        signed = [f"{t} signed writer{a}" for t, a in zip(texts, author, strict=True)]
        labels = random_labels(shares, AUTHORS, random)[author]
        return pd.DataFrame({"text": signed, "label": labels, "author": author})
    labels = random_labels(shares, len(texts), random)
    if kind == "once":
        return pd.DataFrame({"text": texts, "label": labels})
    if kind in ("short copies", "rewritten"):
        share = 0.3
        if kind == "short copies":
            texts, share = [" ".join(text.split()[:10]) for text in texts], 0.1
        thrice = [with_others(text, share, random) for text in texts for _ in range(3)]
        return pd.DataFrame({"text": thrice, "label": np.repeat(labels, 3)})
    again = texts
    if kind == "near copies":
        again = [with_a_word(text, random) for text in texts]
    return pd.DataFrame({"text": [*texts, *again], "label": [*labels, *labels]})


def has_finds(table: pd.DataFrame, groups: str | None) -> dict[str, bool]:
    """Return, for tokens, pairs and the final list, whether there is a finding."""
    parts = read_parts(
        table,
        text="text",
        label="label",
        groups=groups,
        limit=None,
        seed=0,
        tokenize=None,
    )
    found = evidence_of(parts.train, parts.test, parts.order)
    listed = {
        name: (found.tables[name]["q"] <= RATE).any() for name in ("tokens", "pairs")
    }
    return listed | {"list": len(top_findings(found, parts.train.corpus, RATE)) > 0}


def rows() -> Iterator[Row]:
    """Yield the shares of files with a finding, for each kind of file and balance."""
    for kind, (balance, shares) in product(FILES, BALANCES.items()):
        groups = "author" if kind == "by author" else None
        tables = (file_of(kind, shares, seed) for seed in range(DRAWS))
        found = pd.DataFrame([has_finds(table, groups) for table in tables])
        yield {
            "file": kind,
            "classes": balance,
        } | found.mean().to_dict()


if __name__ == "__main__":
    target = result_folder("own_texts") / "promise.csv"
    pd.DataFrame(shown(rows())).to_csv(target, index=False)
