"""Count the words of the published reviews, or check the counts that are shipped.

    python -m tools.count_reviews imdb FOLDER          write counts/imdb.npz
    python -m tools.count_reviews imdb SOURCE --check  compare it with the texts

FOLDER contains train.parquet and test.parquet with the columns text and rating (IMDB)
or label (Yelp, stars minus one). SOURCE is such a folder, or the published data set on
the Hub, for example stanfordnlp/imdb, whose rows may be in any order. The 10,000
shipped reviews of Yelp are compared with the same reviews in the published data set.
"""

import argparse
import datetime
import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import datasets
import numpy as np

from attnsel.encoding import count_matrix, count_tokens, frequent_tokens
from attnsel.texts import shipped
from attnsel.texts.shipped import SOURCES, Reviews

TEXTS = Path(shipped.__file__).parent


def published(file: str, source: str) -> dict[str, Reviews]:
    """Return the reviews of each split of a source as counts of words."""
    splits = datasets.load_dataset(source)
    blocks, texts = {}, {}
    for split in ("train", "test"):
        texts[split] = list(splits[split]["text"])
        plain = [shipped.plain_text(file, text) for text in texts[split]]
        blocks[split] = count_tokens(plain, file, None)
    tokens = frequent_tokens([*blocks["train"], *blocks["test"]], None, 1, None)
    return {
        split: Reviews(
            tokens,
            count_matrix(blocks[split], tokens).astype(np.int32),
            stars_of(file, splits[split]),
            np.array([hashed(text) for text in texts[split]], np.uint64),
        )
        for split in blocks
    }


def stars_of(file: str, split: Any) -> np.ndarray:
    """Return the stars of each review.

    If IMDB has no column of ratings, negative reviews get 1 star and positive ones 10.
    """
    if "rating" in split.column_names:
        return np.array(split["rating"], "u1")
    labels = np.array(split["label"], "u1")
    return labels + 1 if file == "yelp" else np.where(labels == 1, 10, 1).astype("u1")


def hashed(text: str) -> int:
    """Return the first eight bytes of the SHA-256 hash of a text as an integer."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def compare(ours: Reviews, theirs: Reviews, exact: bool) -> str:
    """Return the number of texts found, and the numbers of those that differ, as text.

    The texts of `ours` are looked up in `theirs`. With `exact`, the stars must agree;
    otherwise, only the class must. Stars of texts that occur more than once among the
    shipped reviews are not compared.
    """
    place = {key: row for row, key in enumerate(theirs.hashes.tolist())}
    rows = [place.get(key, -1) for key in ours.hashes.tolist()]
    found = np.flatnonzero(np.array(rows) >= 0)
    theirs_rows = np.array(rows)[found]
    column = {token: i for i, token in enumerate(theirs.tokens)}
    shared = [i for i, token in enumerate(ours.tokens) if token in column]
    columns = [column[ours.tokens[i]] for i in shared]
    left = ours.counts[found]
    right = theirs.counts[theirs_rows]
    differs = abs(left[:, shared] - right[:, columns]).sum(axis=1) > 0
    differs |= left.sum(axis=1) != right.sum(axis=1)
    ours_stars, theirs_stars = ours.stars[found], theirs.stars[theirs_rows]
    if not exact:
        ours_stars, theirs_stars = ours_stars > 5, theirs_stars > 5
    copies = Counter(ours.hashes.tolist())
    single = np.array([copies[key] == 1 for key in ours.hashes[found].tolist()], bool)
    relabelled = (ours_stars != theirs_stars) & single
    return (
        f"{len(found):,} of {len(ours.stars):,} texts found, {int(differs.sum())} with "
        f"other counts, {int(relabelled.sum())} with other stars"
    )


def write(file: str, reviews: dict[str, Reviews]) -> None:
    """Write the counts of reviews, and their description in sources.json."""
    content = shipped.pack(reviews)
    (TEXTS / "counts").mkdir(exist_ok=True)
    (TEXTS / "counts" / f"{file}.npz").write_bytes(content)
    SOURCES[file] |= {
        "reviews": {split: len(part.stars) for split, part in reviews.items()},
        "tokens": len(reviews["train"].tokens),
        "tokenizer": "attnsel.tokens.split",
        "counted": datetime.date.today().isoformat(),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    text = json.dumps(SOURCES, indent=2, ensure_ascii=False)
    (TEXTS / "sources.json").write_text(f"{text}\n", encoding="utf-8")


def main() -> None:
    """Write or check the counts of the corpus that the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", choices=SOURCES)
    parser.add_argument("source")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    reviews = published(given.file, given.source)
    if not given.check:
        write(given.file, reviews)
    for split, theirs in reviews.items():
        ours = shipped.read_reviews(given.file, split)
        exact = given.file == "yelp" or len(np.unique(theirs.stars)) > 2
        print(f"{given.file}, {split}: {compare(ours, theirs, exact)}")


if __name__ == "__main__":
    main()
