"""Functions that the scripts in this folder share, for example to store their rows."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from attnsel import Corpus, load_corpus
from attnsel.flow import Flow
from attnsel.texts.shipped import CORPORA, plain_text
from attnsel_book.results import result_folder, store

Row = dict[str, Any]
Rows = Iterable[Row]

# The sizes of three corpora of `separable_corpus`, by the length of their sequences.
SIZES: dict[str, Row] = {
    "T31": {"n": 80, "n_tokens": 60, "length": 31, "n_relevant": 4},
    "T8": {"n": 400, "n_tokens": 500, "length": 8},
    "T6": {"n": 80, "n_tokens": 40, "length": 6, "n_relevant": 8},
}


def with_shuffled_labels(corpus: Corpus, seed: int) -> Corpus:
    """Return `corpus` with its labels shuffled."""
    random = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(corpus), generator=random)
    return corpus.with_labels(corpus.targets[order])


def with_texts(name: str, split: str = "train", **settings: Any) -> Corpus:
    """Load a named corpus with its texts, from the folder that --texts names.

    The folder contains imdb/train.parquet, yelp/test.parquet and so on. The corpus has
    the same counts, labels and order as `load_corpus(name, split)`, which has no texts.
    """
    if "--texts" not in sys.argv:
        sys.exit("this script needs the order of words: give --texts FOLDER")
    folder = sys.argv[sys.argv.index("--texts") + 1]
    file, classes = CORPORA[name]
    table = pd.read_parquet(Path(folder, file, f"{split}.parquet"))
    stars = table["rating"] if file == "imdb" else table["label"] + 1
    of = {star: label for label, its in classes.items() for star in its}
    table["label"] = pd.Categorical(stars.map(of), list(classes))
    table = table.dropna(subset="label").reset_index(drop=True)
    table["text"] = [plain_text(file, text) for text in table["text"]]
    return load_corpus(table, **settings)


def shares(flow: Flow, corpus: Corpus, relevant: Tensor) -> dict[str, float]:
    """Return, by class, the share of sequences that select their relevant token."""
    right = (flow.selected == relevant) & (flow.attention[-1] > 0.5)
    positive, negative = (right[corpus.signs == y].double().mean() for y in (1, -1))
    return {"positive": float(positive), "negative": float(negative)}


def rounded(row: Row, digits: int = 4) -> Row:
    """Return a row with its floating-point numbers rounded to `digits` decimals."""
    return {k: round(x, digits) if isinstance(x, float) else x for k, x in row.items()}


def shown(rows: Rows) -> Iterator[Row]:
    """Print each row, without its lists, as soon as it is computed, and yield it."""
    for row in rows:
        print({k: x for k, x in row.items() if not isinstance(x, list)}, flush=True)
        yield row


def run_parts(target: str, parts: Mapping[str, Rows]) -> None:
    """Run the parts that the command line names, or all parts, and store their rows.

    Parts are generators, so a part that is not named does not run. `target` is the name
    of a JSON file, such as "why_v/laws", in which each part is an entry. If `target`
    contains {}, each part has its own file, with the name of the part in place of {}.
    """
    torch.set_num_threads(1)
    end = sys.argv.index("--texts") if "--texts" in sys.argv else None
    for part in sys.argv[1:end] or parts:
        rows = list(shown(parts[part]))
        path = result_folder(f"{target.format(part)}.json")
        known = {}
        if path.exists() and "{}" not in target:
            known = json.loads(path.read_text(encoding="utf-8"))
        store(path, rows if "{}" in target else known | {part: rows})


def add_missing(
    target: Path, runs: Iterable[Row], rows_of: Callable[..., Rows]
) -> None:
    """Append the rows of all missing runs to a CSV file.

    A run is missing if no row of the file begins with its settings. The function call
    `rows_of(**run)` yields the other columns.
    """
    torch.set_num_threads(1)
    for run in runs:
        if target.exists():
            known = pd.read_csv(target)[list(run)]
            if (known == list(run.values())).all(axis=1).any():
                continue
        rows = shown(run | row for row in rows_of(**run))
        table, is_new = pd.DataFrame(rows), not target.exists()
        table.to_csv(target, mode="a", header=is_new, index=False, na_rep="nan")
