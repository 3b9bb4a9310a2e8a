"""What tests of loading ask of the cache, and of two corpora."""

from pathlib import Path

from attnsel.corpus import Corpus


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
