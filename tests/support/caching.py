"""What tests of loading ask of the cache, and of two corpora."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from attnsel.corpus import Corpus
from attnsel.texts.cache import cached as cached_corpus


def forever() -> tuple[Callable[[Path], Corpus], Corpus]:
    """Return the cache of a corpus that takes no time to make, and the corpus."""
    texts = [f"film {i} " + "word " * i for i in range(200)]
    corpus = Corpus.from_texts(texts, [0, 1] * 100, min_count=1)

    def load(path: Path) -> Corpus:
        return cached_corpus([("", path)], (), lambda: (corpus, []))[0]

    return load, corpus


def cached(tmp_path: Path) -> list[Path]:
    """Return the files in the cache of a test that uses the fixture `alone`."""
    return sorted((tmp_path / "cache").glob("*"))


def same(one: Corpus, two: Corpus) -> bool:
    """Say whether two corpora hold the same, whatever they are called."""
    return (
        one.counts.shape == two.counts.shape
        and (one.counts != two.counts).nnz == 0
        and one.targets.equal(two.targets)
        and one.vocab == two.vocab
        and one.texts == two.texts
        and one.classes == two.classes
    )
