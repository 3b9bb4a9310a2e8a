"""The corpora that come with the package: IMDB and Yelp, as counts of words.

A file in `counts/` contains the training and test reviews of a data set. It is a NumPy
archive of streams, each compressed by LZMA. The matrix of counts is stored by columns.
The column of a token consists of the number of reviews that contain the token, the
differences between the successive rows of these reviews, and the token's count in each
of them. The order of the words is not stored, so no review can be reconstructed. The
file also contains the stars of each review and the first eight bytes of the SHA-256
hash of its published text.

`sources.json` describes the files; `tools/count_reviews.py` writes and checks them.
"""

import hashlib
import io
import json
import lzma
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csc_array, csr_array

from attnsel.encoding import CountedTexts
from attnsel.labels import ClassName
from attnsel.validation import check_choice
from attnsel_readers.cells import categories

_HERE = resources.files(__package__)
SOURCES: dict[str, Any] = json.loads((_HERE / "sources.json").read_text("utf-8"))
# The named corpora: their file, and the stars of each class.
CORPORA: dict[str, tuple[str, dict[ClassName, tuple[int, ...]]]] = {
    "imdb": ("imdb", {"negative": (1, 2, 3, 4), "positive": (7, 8, 9, 10)}),
    "imdb-rating": ("imdb", {stars: (stars,) for stars in (1, 2, 3, 4, 7, 8, 9, 10)}),
    "yelp": ("yelp", {"negative": (1, 2), "positive": (4, 5)}),
    "yelp-full": (
        "yelp",
        {f"{stars} star{'s' * (stars > 1)}": (stars,) for stars in range(1, 6)},
    ),
}
# Yelp's published texts have a backslash before line breaks and quotes.
_YELP_SIGNS = {r"\n": "\n", r"\"": '"'}


def plain_text(file: str, text: str) -> str:
    """Return a published text of "imdb" or "yelp" in the form that was counted."""
    for code, sign in _YELP_SIGNS.items() if file == "yelp" else ():
        text = text.replace(code, sign)
    return text


class Reviews(NamedTuple):
    """The reviews of one split of a data set.

    Attributes:
        tokens: the V tokens of all splits of the data set.
        counts: csr_array (n, V) of int32; entry (i, s) is the number of occurrences of
            token s in review i.
        stars: number of stars of each review, uint8 (n,).
        hashes: uint64 (n,), the first eight bytes of the SHA-256 hash of each text.
    """

    tokens: list[str]
    counts: csr_array
    stars: np.ndarray
    hashes: np.ndarray


def pack(splits: dict[str, Reviews]) -> bytes:
    """Return the bytes of a file with `splits`, which must have the same tokens."""
    streams = {"tokens": "\n".join(next(iter(splits.values())).tokens).encode()}
    for split, reviews in splits.items():
        columns = csc_array(reviews.counts)
        columns.sort_indices()
        sizes = np.diff(columns.indptr)
        starts = columns.indptr[:-1][sizes > 0]
        gaps = np.diff(columns.indices, prepend=0)
        gaps[starts] = columns.indices[starts]
        parts = {"sizes": sizes, "gaps": gaps, "times": columns.data}
        for name, numbers in parts.items():  # bytes of one kind compress best
            low, high = numbers.astype("<u2").view("u1").reshape(-1, 2).T
            assert (numbers < 2**16).all()
            streams |= {f"{split} {name} 0": low.tobytes()}
            streams |= {f"{split} {name} 1": high.tobytes()}
        streams[f"{split} stars"] = reviews.stars.astype("u1").tobytes()
        streams[f"{split} hashes"] = reviews.hashes.astype("<u8").tobytes()
    plain = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "pb": 0}
    arrays: dict[str, Any] = {
        name: np.frombuffer(lzma.compress(stream, filters=[plain]), "u1")
        for name, stream in streams.items()
    }
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def unpack(content: bytes, split: str) -> Reviews:
    """Return the reviews of one split, read from the bytes of a file."""
    with np.load(io.BytesIO(content)) as archive:

        def stream(name: str) -> np.ndarray:
            return np.frombuffer(lzma.decompress(archive[name].tobytes()), "u1")

        def numbers(name: str) -> np.ndarray:
            low, high = (stream(f"{split} {name} {k}").astype(int) for k in (0, 1))
            return low + 256 * high

        tokens = stream("tokens").tobytes().decode().split("\n")
        sizes, gaps = numbers("sizes"), numbers("gaps")
        times = numbers("times").astype(np.int32)
        stars = stream(f"{split} stars")
        hashes = stream(f"{split} hashes").view("<u8")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    total = np.concatenate([[0], np.cumsum(gaps)])
    rows = total[1:] - np.repeat(total[starts[:-1]], sizes)
    shape = len(stars), len(tokens)
    counts = csc_array((times, rows.astype(np.int32), starts), shape).tocsr()
    return Reviews(tokens, counts, stars, hashes)


def read_reviews(file: str, split: str) -> Reviews:
    """Return the reviews of "imdb" or "yelp" in the split "train" or "test".

    Raises:
        ValueError: if the split does not exist, or if the file is damaged; in the
            latter case, the message contains the path of the file.
    """
    check_choice("split", split, ("train", "test"))
    path = _HERE / "counts" / f"{file}.npz"
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != SOURCES[file]["sha256"]:
        raise ValueError(f"{path} is damaged; install the package again")
    return unpack(content, split)


def counted_reviews(name: str, split: str) -> tuple[csr_array, pd.Series, list[str]]:
    """Return the counts (n, V), the classes (n,) and the V tokens of a named corpus.

    Reviews whose stars belong to no class, such as reviews of three stars in "yelp",
    are left out.
    """
    file, classes = CORPORA[name]
    reviews = read_reviews(file, split)
    codes = np.full(256, -1)
    for number, stars in enumerate(classes.values()):
        codes[list(stars)] = number
    numbers = codes[reviews.stars]
    labels = pd.Series(categories(pd.Series(numbers), list(classes)))
    has_class = np.flatnonzero(numbers >= 0)
    labels = labels.iloc[has_class].reset_index(drop=True)
    return reviews.counts[has_class], labels, reviews.tokens


def as_block(counts: csr_array, tokens: list[str]) -> CountedTexts:
    """Return counts as the `CountedTexts` that `attnsel.encoding` makes from texts."""
    is_there = np.bincount(counts.indices, minlength=len(tokens)) > 0
    place = np.cumsum(is_there) - 1
    return {
        "tokens": [
            token for token, there in zip(tokens, is_there, strict=True) if there
        ],
        "ids": place[counts.indices],
        "times": counts.data,
        "sizes": np.diff(counts.indptr),
    }
