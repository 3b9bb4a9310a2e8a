"""How long a corpus takes to load, first and from the cache, beside its peers.

Run as `python benchmarks/bench_loading.py` with ATTNSEL_DATA set. Each time is the
least of three, in seconds; imports are not counted.
"""

import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

import datasets  # noqa: F401, so that its import is not counted as loading
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

from attnsel.corpus import Corpus
from attnsel.texts.loading import load_corpus
from attnsel.tokens import TOKEN_PATTERN

REPEATS = 3


def least(work: Callable[[], Any]) -> float:
    """The least time of a few runs."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def first_and_cached(name: str, **arguments: Any) -> tuple[Corpus, float, float]:
    """The corpus, and the times of a load with an empty cache and a filled one."""

    def first() -> None:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["ATTNSEL_CACHE"] = folder
            load_corpus(name, **arguments)

    fresh = least(first)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ATTNSEL_CACHE"] = folder
        corpus = load_corpus(name, **arguments)
        return corpus, fresh, least(lambda: load_corpus(name, **arguments))


def hf_tokenizers(texts: tuple[str, ...]) -> None:
    """Fit and encode with `tokenizers`, split by the same pattern."""
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Split(
        Regex(TOKEN_PATTERN), behavior="removed", invert=True
    )
    trainer = trainers.WordLevelTrainer(
        vocab_size=10**7,
        min_frequency=20,
        show_progress=False,
        special_tokens=["[UNK]"],
    )
    tokenizer.train_from_iterator(texts, trainer, length=len(texts))
    for start in range(0, len(texts), 1000):
        batch = list(texts[start : start + 1000])
        for encoding in tokenizer.encode_batch_fast(batch, add_special_tokens=False):
            np.asarray(encoding.ids, dtype=np.int32)


def main() -> None:
    os.environ["ATTNSEL_PROGRESS"] = "0"
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    print(
        f"{'corpus':<12}{'split':<8}{'rows':>8}{'tokens':>8}{'first':>8}{'cached':>8}"
    )
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ATTNSEL_CACHE"] = folder
        train = load_corpus("imdb")
    for name, split in [
        ("imdb", "train"),
        ("imdb", "test"),
        ("yelp", "train"),
        ("yelp-full", "train"),
        ("bundled", "train"),
    ]:
        vocab = train.vocab if (name, split) == ("imdb", "test") else None
        corpus, fresh, cached = first_and_cached(name, split=split, vocab=vocab)
        sizes = f"{len(corpus):>8}{len(corpus.vocab):>8}"
        print(f"{name:<12}{split:<8}{sizes}{fresh:>8.2f}{cached:>8.3f}")

    texts = train.texts
    assert texts is not None
    print("\nfit and encode the texts of imdb, train")
    for label, work in [
        ("Corpus.from_texts", lambda: Corpus.from_texts(texts, train.labels)),
        ("CountVectorizer, default", lambda: CountVectorizer().fit_transform(texts)),
        (
            "CountVectorizer, our pattern",
            lambda: CountVectorizer(token_pattern=TOKEN_PATTERN).fit_transform(texts),
        ),
        ("tokenizers, our pattern", lambda: hf_tokenizers(texts)),
    ]:
        print(f"{label:<32}{least(work):>8.2f}")


if __name__ == "__main__":
    main()
