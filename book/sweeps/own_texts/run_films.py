"""Tests of tokens on IMDB that count either every row or each film only once.

    python -m sweeps.own_texts.run_films --texts FOLDER

The reviews do not name their film, but each half of the file is ordered by film. Rows
next to each other often name the same people, and rows far apart hardly ever do.
Therefore reviews of one class count as reviews of one film if they are near each other
and share names; the two classes of a film are two groups. `films.json` contains
statistics of these groups, and the shares of label shuffles with a finding. For the
true labels, it contains the shares of findings that fail on test reviews, which are
about other films. The script takes a few minutes on one core.
"""

import re
from collections import Counter
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from attnsel import Corpus
from attnsel.significance.exact_test import beyond_luck, texts_by_class
from attnsel.significance.lean import lean_of
from attnsel_book.results import result_folder, store
from sweeps.common import with_texts

NEAR, SHARED, RARE = 10, 2, 100  # rows apart, names, most reviews with a name
SIZE, DRAWS = 1_500, 20  # reviews of each class, and label shuffles
NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][a-z]{2,}")


def names_of(texts: list[str]) -> list[set[str]]:
    """Return the names in each text: rare words, capitalized within a sentence."""
    found = [{name.lower() for name in NAME.findall(text)} for text in texts]
    often = Counter(name for names in found for name in names)
    return [{name for name in names if 2 <= often[name] <= RARE} for names in found]


def share_of_pairs(names: list[set[str]], apart: int) -> float:
    """Return the share of row pairs at distance `apart` with two names in common."""
    pairs = zip(names, names[apart:], strict=False)
    return float(np.mean([len(a & b) >= SHARED for a, b in pairs]))


def film_numbers(names: list[set[str]], labels: np.ndarray) -> np.ndarray:
    """Return group numbers, int32 (n,); a group is one class of one supposed film."""
    n = len(names)
    pairs = [
        (i, j)
        for i in range(n)
        for j in range(i + 1, min(i + NEAR + 1, n))
        if labels[i] == labels[j] and len(names[i] & names[j]) >= SHARED
    ]
    linked = csr_array((np.ones(len(pairs)), tuple(zip(*pairs, strict=True))), (n, n))
    return connected_components(linked, directed=False)[1]


def found_by_luck(corpus: Corpus, films: np.ndarray) -> dict[str, float]:
    """Return the shares of shuffles, over rows or films, with a significant token."""
    _, first, of_row = np.unique(films, return_index=True, return_inverse=True)
    of_film = corpus.targets.numpy()[first]
    found = {"rows, by row": 0, "films, by row": 0, "films, by film": 0}
    for seed in range(DRAWS):
        random = np.random.default_rng(seed)
        by_row = random.permutation(corpus.targets.numpy())
        by_film = random.permutation(of_film)[of_row]
        rows = corpus.with_labels(torch.from_numpy(by_row))
        labelled = corpus.with_labels(torch.from_numpy(by_film))
        found["rows, by row"] += bool(beyond_luck(rows).any())
        found["films, by row"] += bool(beyond_luck(labelled).any())
        found["films, by film"] += bool(beyond_luck(labelled, groups=films).any())
    return {name: times / DRAWS for name, times in found.items()}


def text_lean(corpus: Corpus) -> torch.Tensor:
    """Return the lean of each token, counted once per text; nan if it is in no text."""
    of_class = texts_by_class(corpus).astype(float)
    with np.errstate(invalid="ignore"):
        return lean_of(of_class / of_class.sum(1, keepdims=True))


def of_finds(train: Corpus, test: Corpus, films: np.ndarray) -> dict[str, Any]:
    """Return numbers of significant tokens by row and by film, and shares that fail.

    The shares are computed over significant tokens in 5 to 30 training texts. Such a
    token fails if its leans in training and test texts differ in sign. The entry `gone`
    describes the tokens that are significant by row but not by film.
    """
    held = texts_by_class(train).sum(1)
    lean, new = text_lean(train), text_lean(test)
    few = torch.from_numpy((held >= 5) & (held <= 30)) & new.isfinite()
    fails = lean.sign() != new.sign()
    found = {"row": beyond_luck(train), "film": beyond_luck(train, groups=films)}
    results: dict[str, Any] = {}
    for name, of in found.items():
        results[name] = {
            "finds": int(of.sum()),
            "in 5 to 30": int((of & few).sum()),
            "fail": float(fails[of & few].double().mean()),
        }
    gone = few & found["row"] & ~found["film"]
    results["gone"] = {"tokens": int(gone.sum())}
    results["gone"]["fail"] = float(fails[gone].double().mean())
    at = torch.where(gone, lean.abs() * torch.from_numpy(held), -1.0)
    results["words"] = [train.vocab[s] for s in at.argsort(descending=True)[:12]]
    return results


if __name__ == "__main__":
    train = with_texts("imdb")
    test = with_texts("imdb", "test", vocab=train.vocab)
    assert train.texts is not None
    labels = train.targets.numpy()
    names = names_of([str(text) for text in train.texts])
    films = film_numbers(names, labels)
    sizes = np.bincount(films)
    results: dict[str, Any] = {
        "near": share_of_pairs(names, 1),
        "far": share_of_pairs(names, 1_000),
        "groups": len(sizes),
        "in groups of two or more": float((sizes[films] > 1).mean()),
        "largest": int(sizes.max()),
    }
    print(results, flush=True)
    few = np.concatenate([np.flatnonzero(labels == k)[:SIZE] for k in (0, 1)])
    results["draws"] = DRAWS
    results["luck"] = found_by_luck(train[torch.from_numpy(few)], films[few])
    print(results["luck"], flush=True)
    results |= of_finds(train, test, films)
    store(result_folder("own_texts") / "films.json", results)
    print(results)
