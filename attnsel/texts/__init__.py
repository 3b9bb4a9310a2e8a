"""What gets text in: `load_corpus`, its sources, the cache, the bundled reviews."""

from attnsel.texts.loading import BundledCorpusWarning, load_corpus

__all__ = ["BundledCorpusWarning", "load_corpus"]
