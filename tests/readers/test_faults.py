"""Files gone bad."""

import random
from collections import Counter

import pyarrow
import pyarrow.parquet
import pytest

from attnsel.texts.loading import load_corpus
from attnsel.texts.reviews import generate_reviews

pytestmark = pytest.mark.usefixtures("alone")


def parquet(path, texts, labels, **options):
    table = pyarrow.table({"text": texts, "label": labels})
    pyarrow.parquet.write_table(table, path, **options)
    return path


REVIEWS, SENTIMENTS = generate_reviews(1000)

# Tables


@pytest.fixture
def table(tmp_path):
    return parquet(tmp_path / "mine.parquet", REVIEWS[:60], SENTIMENTS[:60])


@pytest.mark.parametrize("part", [0, 0.01, 0.5, 0.999])
def test_a_parquet_file_cut_short(table, part):
    intact = table.read_bytes()
    table.write_bytes(intact[: int(part * len(intact))])
    with pytest.raises(ValueError, match=r"mine\.parquet cannot be read as a table"):
        load_corpus(table, min_count=1)
    table.write_bytes(intact)
    assert load_corpus(table, min_count=1).texts == tuple(REVIEWS[:60])


def test_flipped_bits_in_parquet_are_another_table_or_a_clear_error(table, monkeypatch):
    """Pages carry no checksum, so other words can come of it, as of an edited file."""
    intact = table.read_bytes()
    rng = random.Random(0)
    outcomes = Counter()
    for _ in range(30):
        damaged = bytearray(intact)
        damaged[rng.randrange(len(intact))] ^= 1 << rng.randrange(8)
        table.write_bytes(damaged)
        try:
            corpus = load_corpus(table, min_count=1)
        except (ValueError, KeyError) as error:
            assert any(
                word in str(error)
                for word in ("mine.parquet", "column", "labels:", "row is")
            )
            outcomes["error"] += 1
        else:
            assert len(corpus) == len(corpus.labels) == len(corpus.texts)
            outcomes["corpus"] += 1
    assert min(outcomes.values()) > 5
