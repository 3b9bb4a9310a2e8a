"""A cache on disk of encoded corpora, which contains numbers and texts but no code.

An entry begins with a checksum of the rest, which contains the arrays of a corpus in
numpy's format, compressed. The entries are in the user's cache folder, or in the folder
that `ATTNSEL_CACHE` names. The name of an entry is a hash of the content of the files
and of every setting that affects the corpus.
"""

import functools
import hashlib
import io
import json
import os
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
import pyarrow as pa
import torch
from scipy.sparse import csr_array

from attnsel.corpus import Corpus
from attnsel.files import write_files
from attnsel.tokens import TOKEN_PATTERN, Vocab
from attnsel.validation import described

FORMAT = 5  # of an entry; raise it when the encoding of a corpus changes
SUM_BYTES = hashlib.sha256().digest_size
SIZE_BYTES = 8  # bytes of the size of an entry before compression
_warn_once = functools.cache(warnings.warn)


def cached(
    files: Iterable[tuple[str, Path]],
    settings: tuple[Any, ...],
    make: Callable[[], tuple[Corpus, list[str]]],
) -> tuple[Corpus, list[str]]:
    """Return the corpus of some files from the cache, or make the corpus and store it.

    The function also returns the warnings that were raised when the corpus was made.
    Each file has a name that specifies how the file is read. The key of an entry is a
    hash of these names, of the contents of the files and of the `repr` of the settings.
    """
    content = hashlib.sha256(repr((FORMAT, TOKEN_PATTERN, settings)).encode())
    for name, path in files:
        content.update(name.encode() + b"\0")
        content.update(hashlib.sha256(path.read_bytes()).digest())
    folder = os.environ.get("ATTNSEL_CACHE") or platformdirs.user_cache_path("attnsel")
    entry = Path(folder, f"{content.hexdigest()}.corpus")
    with suppress(Exception):  # there is none, or it is damaged and raises anything
        return unpacked(entry.read_bytes())
    corpus, notes = make()
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        write_files({entry: packed(corpus, notes)})
    except OSError as error:
        _warn_once(
            f"the corpus is not cached in {folder}: "
            f"{described(error.__cause__ or error)}; "
            "ATTNSEL_CACHE names another folder"
        )
    return corpus, notes


def packed(corpus: Corpus, notes: list[str]) -> bytes:
    """Return the bytes of an entry that contains a corpus and its warnings."""
    counts = corpus.counts
    about = {
        "texts": corpus.texts,
        "vocab": corpus.vocab,
        "classes": corpus.vocab.classes,
        "name": corpus.name,
        "left_out": corpus.left_out,
        "notes": notes,
    }
    arrays = {
        "times": counts.data,
        "ids": counts.indices,
        "starts": counts.indptr,
        "about": np.frombuffer(json.dumps(about).encode(), np.uint8),
    }
    if corpus.labels is not None:
        arrays["labels"] = corpus.labels.numpy()
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    size = buffer.tell().to_bytes(SIZE_BYTES, "big")
    body = size + pa.compress(buffer.getbuffer(), codec="zstd", asbytes=True)
    return hashlib.sha256(body).digest() + body


def unpacked(entry: bytes) -> tuple[Corpus, list[str]]:
    """Return the corpus of an entry and its warnings.

    Raises:
        ValueError: if the entry is damaged.
    """
    checksum, body = entry[:SUM_BYTES], memoryview(entry)[SUM_BYTES:]
    if hashlib.sha256(body).digest() != checksum:
        raise ValueError("the entry is damaged")
    size = int.from_bytes(body[:SIZE_BYTES], "big")
    content = pa.decompress(body[SIZE_BYTES:], size, codec="zstd", asbytes=True)
    # Without pickles, numpy reads figures only: whoever wrote them, nothing is run.
    arrays = np.load(io.BytesIO(content), allow_pickle=False)
    about = json.loads(arrays["about"].tobytes())
    vocab = Vocab(about["vocab"], about["classes"])
    parts = arrays["times"], arrays["ids"], arrays["starts"]
    counts = csr_array(parts, (len(parts[2]) - 1, len(vocab)))
    labels = texts = None
    if "labels" in arrays:
        labels = torch.from_numpy(arrays["labels"])
    if about["texts"] is not None:
        texts = tuple(about["texts"])
    name, left_out = about["name"], about["left_out"]
    return Corpus(counts, labels, vocab, texts, name, left_out), about["notes"]
