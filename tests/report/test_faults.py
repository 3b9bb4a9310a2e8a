"""Disks that fill, homes that cannot be written, runs cut short, files gone bad."""

import os
import random
from collections import Counter

import pyarrow
import pyarrow.parquet
import pytest

from attnsel.corpus import Corpus
from attnsel.texts.loading import load_corpus
from attnsel.texts.reviews import generate_reviews
from support import forks
from support.caching import cached

pytestmark = pytest.mark.usefixtures("alone")
NOT_ALLOWED = 77  # the code of a script that may not mount a disk


def parquet(path, texts, labels, **options):
    table = pyarrow.table({"text": texts, "label": labels})
    pyarrow.parquet.write_table(table, path, **options)
    return path


REVIEWS, SENTIMENTS = generate_reviews(1000)

# A namespace of its own lets even an ordinary user mount a small disk, and nothing
# outside the script sees it.
FULL = """
import ctypes, errno, os, subprocess, sys, tempfile, warnings
from pathlib import Path
from attnsel.texts import hub
from attnsel.texts.loading import load_corpus

owner = {"uid_map": os.getuid(), "gid_map": os.getgid()}
NEW_USER, NEW_MOUNTS = 0x10000000, 0x00020000
if ctypes.CDLL(None, use_errno=True).unshare(NEW_USER | NEW_MOUNTS):
    assert ctypes.get_errno() == errno.EPERM, os.strerror(ctypes.get_errno())
    sys.exit(77)
Path("/proc/self/setgroups").write_text("deny")
for name, number in owner.items():
    Path("/proc/self", name).write_text(f"0 {number} 1")

def mount(*options):
    subprocess.run(["mount", *options, str(disk)], check=True)

disk = Path(os.environ["TMPDIR"])
disk.mkdir()
mount("-t", "tmpfs", "-o", "size=128k", "none")
tempfile.tempdir = None  # it is looked for again
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", UserWarning)
    loaded = [load_corpus("reviews.parquet"), load_corpus("reviews.parquet")]
[warning] = caught
print(warning.message)
assert not list(disk.rglob("*")), "something was left on the full disk"

mount("-o", "remount,size=64m")
with warnings.catch_warnings():
    warnings.simplefilter("error", UserWarning)
    loaded += [load_corpus("reviews.parquet"), load_corpus("reviews.parquet")]
[entry] = disk.rglob("*")
for corpus in loaded:
    figures = corpus.counts.sum(), corpus.counts.indices.sum(), corpus.labels.sum()
    print(len(corpus), *map(int, figures))

mount("-o", "remount,ro")
for name in ("ATTNSEL_CACHE", "TMPDIR"):
    del os.environ[name]
hub.BUNDLED_REVIEWS = 200
for name in ("imdb", "bundled", "imdb"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        corpus = load_corpus(name, min_count=1)
    print(name, corpus.name, len(corpus))
    for warning in caught:
        print(warning.category.__name__, warning.message)
    if name == "bundled":
        del os.environ["ATTNSEL_DATA"]
"""


@forks.in_forks
def test_a_full_disk_and_a_home_that_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    parquet(tmp_path / "reviews.parquet", REVIEWS, SENTIMENTS)
    (tmp_path / "data" / "imdb").mkdir(parents=True)
    parquet(tmp_path / "data/imdb/train.parquet", REVIEWS[:40], SENTIMENTS[:40])
    folder = str(tmp_path / "disk")
    (tmp_path / "script.py").write_text(FULL)
    names = ("ATTNSEL_CACHE", "HF_HOME", "TMPDIR", "HOME")
    environment = os.environ | dict.fromkeys(names, folder)
    environment["ATTNSEL_DATA"] = str(tmp_path / "data")
    environment["HF_ENDPOINT"] = "http://127.0.0.1:9"
    (done,) = forks.run(tmp_path / "script.py", [], environment=environment)
    if done.returncode == NOT_ALLOWED:
        pytest.skip("a small disk cannot be mounted")
    assert done.returncode == 0, done.stderr
    unkept, *loaded, real, home, bundled, again, replaced = done.stdout.splitlines()
    assert unkept == (
        f"the corpus is not cached in {folder}: OSError: [Errno 28] No space left on "
        "device; ATTNSEL_CACHE names another folder"
    )
    intact = Corpus.from_texts(REVIEWS, SENTIMENTS)
    figures = intact.counts.sum(), intact.counts.indices.sum(), intact.labels.sum()
    assert loaded == [" ".join(map(str, [1000, *map(int, figures)]))] * 4
    assert (real, bundled) == ("imdb imdb 40", "bundled bundled 200")
    assert home.startswith(f"UserWarning the corpus is not cached in {folder}/.cache")
    assert "Read-only file system" in home
    assert again == "imdb bundled 200"
    assert replaced.startswith("BundledCorpusWarning 'imdb' is replaced")
    assert "Connection refused" in replaced


# Processes

COLD_START = """
import hashlib, os, time, warnings
from pathlib import Path
from attnsel.texts.loading import load_corpus

warnings.simplefilter("error", UserWarning)
for i in range(4):
    if os.fork() == 0:
        Path(f"ready{i}").touch()
        while len(list(Path().glob("ready*"))) < 4:
            time.sleep(0.01)
        for limit in range(100, 103):  # each time a file of its own to race for
            corpus = load_corpus("few.csv", limit=limit, min_count=1)
        corpus = load_corpus("reviews.parquet")
        parts = [corpus.counts.indices, corpus.counts.data, corpus.labels.numpy()]
        parts.append(repr(corpus.texts).encode())
        digest = hashlib.sha256(b"".join(map(bytes, parts))).hexdigest()
        os.write(1, digest.encode() + bytes([10]))
        os._exit(0)
for _ in range(4):
    os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@forks.in_forks
def test_four_processes_that_load_the_same_corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parquet(tmp_path / "reviews.parquet", REVIEWS, SENTIMENTS)
    rows = "".join(f"film {i},{i % 2}\n" for i in range(200))
    (tmp_path / "few.csv").write_text("text,label\n" + rows)
    (tmp_path / "script.py").write_text(COLD_START)
    (done,) = forks.run(tmp_path / "script.py", [])
    assert done.returncode == 0, done.stderr
    digests = done.stdout.splitlines()
    assert len(digests) == 4 and len(set(digests)) == 1
    assert [entry.suffix for entry in cached(tmp_path)] == [".corpus"] * 4
    assert load_corpus("reviews.parquet").texts == tuple(REVIEWS)


# Tables


@pytest.fixture
def table(tmp_path):
    return parquet(tmp_path / "mine.parquet", REVIEWS[:60], SENTIMENTS[:60])


@pytest.mark.parametrize("part", [0, 0.01, 0.5, 0.999])
def test_a_parquet_file_cut_short(tmp_path, table, part):
    intact = table.read_bytes()
    table.write_bytes(intact[: int(part * len(intact))])
    with pytest.raises(ValueError, match=r"mine\.parquet cannot be read as a table"):
        load_corpus(table, min_count=1)
    assert not cached(tmp_path)
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
