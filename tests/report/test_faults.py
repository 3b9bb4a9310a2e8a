"""Disks that fill, homes that cannot be written, runs cut short, files gone bad.

Tests with a disk of their own take some seconds: each imports torch and pandas.
"""

from __future__ import annotations

import gc
import logging
import os
import random
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from attnsel.corpus import Corpus
from attnsel.texts import loading
from attnsel.texts.loading import load_corpus
from attnsel.texts.reviews import generate_reviews
from attnsel.tokens import Vocab
from support import forks
from support.caching import cached, same

ROOT = Path(loading.__file__).parents[2]
PYTHONPATH = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
# `datasets` leaves the file of a failed read to the garbage collector.
pytestmark = [
    pytest.mark.usefixtures("alone"),
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
]


@pytest.fixture(autouse=True, scope="module")
def collected():
    """Leave no file of a failed read to the tests of another module."""
    yield
    gc.collect()


def parquet(path, texts, labels, **options):
    table = pyarrow.table({"text": texts, "label": labels})
    pyarrow.parquet.write_table(table, path, **options)
    return path


def run(command, tmp_path, script, **environment):
    """Run a Python script below `command`; return what it printed."""
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(script))
    done = subprocess.run(
        [*command, sys.executable, str(path)],
        env=os.environ | {"PYTHONPATH": PYTHONPATH} | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# Disks. A namespace of its own lets even an ordinary user mount a small one, and
# nothing outside the script sees it.

MOUNT = 'mount -t tmpfs -o "$0" none "$1" && shift && exec "$@"'


@pytest.fixture
def disk(tmp_path):
    """Return a function that gives the start of a command with a disk mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def mounted(options):
        return ["unshare", "-rm", "sh", "-c", MOUNT, options, str(folder)]

    try:
        subprocess.run(
            [*mounted("size=1m"), "true"], check=True, capture_output=True, text=True
        )
    except FileNotFoundError:
        pytest.skip("there is no unshare to mount a small disk with")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"a small disk cannot be mounted: {error.stderr.strip()}")
    return mounted


REVIEWS, SENTIMENTS = generate_reviews(1000)

FULL = """
import os, subprocess, warnings
from pathlib import Path
from attnsel.texts.loading import load_corpus

disk = Path(os.environ["TMPDIR"])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", UserWarning)
    loaded = [load_corpus("reviews.parquet"), load_corpus("reviews.parquet")]
[warning] = caught
print(warning.message)
assert not list(disk.rglob("*")), "something was left on the full disk"

subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
with warnings.catch_warnings():
    warnings.simplefilter("error", UserWarning)
    loaded += [load_corpus("reviews.parquet"), load_corpus("reviews.parquet")]
[entry] = disk.rglob("*")
for corpus in loaded:
    figures = corpus.counts.sum(), corpus.counts.indices.sum(), corpus.labels.sum()
    print(len(corpus), *map(int, figures))
"""


def test_a_full_disk_for_cache_downloads_and_temporary_files(
    tmp_path, disk, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    parquet(tmp_path / "reviews.parquet", REVIEWS, SENTIMENTS)
    folder = str(tmp_path / "disk")
    names = ("ATTNSEL_CACHE", "HF_HOME", "TMPDIR")
    unkept, *loaded = run(
        disk("size=128k"), tmp_path, FULL, **dict.fromkeys(names, folder)
    ).splitlines()
    assert unkept == (
        f"the corpus is not cached in {folder}: OSError: [Errno 28] No space left on "
        "device; ATTNSEL_CACHE names another folder"
    )
    whole = Corpus.from_texts(REVIEWS, SENTIMENTS)
    figures = whole.counts.sum(), whole.counts.indices.sum(), whole.labels.sum()
    assert loaded == [" ".join(map(str, [1000, *map(int, figures)]))] * 4


READ_ONLY_HOME = """
import os, warnings
from attnsel import load_corpus

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


def test_a_home_that_cannot_be_written(tmp_path, disk, monkeypatch):
    for name in ("ATTNSEL_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "data" / "imdb").mkdir(parents=True)
    parquet(tmp_path / "data/imdb/train.parquet", REVIEWS[:40], SENTIMENTS[:40])
    real, unkept, bundled, again, replaced = run(
        disk("ro"),
        tmp_path,
        READ_ONLY_HOME,
        HOME=str(tmp_path / "disk"),
        ATTNSEL_DATA=str(tmp_path / "data"),
        HF_ENDPOINT="http://127.0.0.1:9",
    ).splitlines()
    assert (real, bundled) == ("imdb imdb 40", "bundled bundled 4000")
    assert again == "imdb bundled 4000"
    assert unkept.startswith("UserWarning the corpus is not cached in ")
    assert "Read-only file system" in unkept
    assert replaced.startswith("BundledCorpusWarning 'imdb' is replaced")
    assert "Connection refused" in replaced


FULL_BOOK = """
import os, sys
from pathlib import Path
import nbformat
from tools import execute

new = nbformat.v4
big = Path(os.environ["DISK"], "chapter.ipynb")
figure = Path(os.environ["FIGURES"], "overview.svg")
def chapter(source):
    tags = {"tags": [execute.README_TAG]}
    cell = new.new_code_cell(source, metadata=tags)
    nbformat.write(new.new_notebook(cells=[cell]), big)

for at_fault, length in (("notebook", 3_000_000), ("figure", 600_000)):
    chapter(f"import IPython as i\\ni.display.SVG('<svg>' + {length} * 'x' + '</svg>')")
    figure.write_text("the old figure")
    before = big.read_bytes()
    execute.README_FIGURE = figure
    sys.argv = ["execute", str(big)]
    assert execute.main() == 1
    assert big.read_bytes() == before
    assert figure.read_text() == "the old figure"
    left = {file.name for file in (*big.parent.iterdir(), *figure.parent.iterdir())}
    assert left == {"chapter.ipynb", "overview.svg"}
    figure = big.parent / "overview.svg"
"""


def test_execute_on_a_full_disk_leaves_notebook_and_figure(tmp_path, disk):
    (tmp_path / "figures").mkdir()
    run(
        disk("size=1m"),
        tmp_path,
        FULL_BOOK,
        DISK=str(tmp_path / "disk"),
        FIGURES=str(tmp_path / "figures"),
    )


# Processes

fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


def forked(tmp_path, script):
    """Run a Python script that forks; return what it printed."""
    path = tmp_path / "script.py"
    path.write_text(script)
    (done,) = forks.run(path, [])
    assert done.returncode == 0, done.stderr
    return done.stdout


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


@fork
@forks.in_forks
def test_four_processes_that_load_the_same_corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parquet(tmp_path / "reviews.parquet", REVIEWS, SENTIMENTS)
    (tmp_path / "few.csv").write_text(labelled(*[0, 1] * 100))
    digests = forked(tmp_path, COLD_START).splitlines()
    assert len(digests) == 4 and len(set(digests)) == 1
    assert [entry.suffix for entry in cached(tmp_path)] == [".corpus"] * 4
    assert load_corpus("reviews.parquet").texts == tuple(REVIEWS)


KILLED = """
import itertools, os, random, signal, time
from pathlib import Path
from attnsel.texts.cache import unpacked
from support.caching import forever, same

cached, corpus = forever()
folder, path = Path(os.environ["ATTNSEL_CACHE"]), Path("some.csv")
rng = random.Random(0)
found = rounds = 0
while rounds < 10 or not found:  # a busy machine starts late
    rounds += 1
    child = os.fork()
    if not child:
        for content in itertools.count():  # each with an entry of its own
            path.write_text(str(content))
            cached(path)
    time.sleep(rng.uniform(0, 0.01 * (9 + rounds)))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    for entry in folder.glob("*.corpus"):
        assert same(unpacked(entry.read_bytes())[0], corpus)
        entry.unlink()
        found += 1
path.write_text("whole")
assert same(cached(path), corpus)
print("done")
"""


@fork
@forks.in_forks
def test_a_writer_that_is_killed_leaves_a_whole_file_or_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert forked(tmp_path, KILLED) == "done\n"


# Tables in CSV

ROWS = "a bad film,0\na good film,1\n"
TABLE = "text,label\n" + ROWS
TWO = ("a bad film", "a good film")
MANY = "text,label\n" + "a film,0\nb film,1\n" * 10_000  # read in more than one piece


def labelled(*labels):
    return "text,label\n" + "".join(f"film {i},{y}\n" for i, y in enumerate(labels))


GOOD = {
    "bom": (TABLE.encode("utf-8-sig"), TWO),
    "bom before quotes": ('\ufeff"text","label"\n' + ROWS, TWO),
    "crlf": (TABLE.replace("\n", "\r\n"), TWO),
    "cr": (TABLE.replace("\n", "\r"), TWO),
    "no last line end": (TABLE[:-1], TWO),
    "blank lines": (TABLE.replace("\n", "\n\n") + "\n\n", TWO),
    "labels true and false": ("text,label\na bad film,false\na good film,true\n", TWO),
    "labels TRUE and FALSE": ("text,label\na bad film,FALSE\na good film,TRUE\n", TWO),
    "labels in quotes": ('text,label\na bad film,"0"\na good film,"1"\n', TWO),
    "spaces around labels": ("text,label\na bad film, 0\na good film, 1\n", TWO),
    "other columns": ("id,text,label,x\n7,a bad film,0,\n8,a good film,1,y\n", TWO),
    "index without a name": (",text,label\n0,a bad film,0\n1,a good film,1\n", TWO),
    "a word of 1 MB": (TABLE + "x" * 1_000_000 + ",1\n", (*TWO, "x" * 1_000_000)),
    "a line of 10 MB": (
        TABLE + "film" * 2_500_000 + "end,1\n",
        (*TWO, "film" * 2_500_000 + "end"),
    ),
    "control characters": (
        TABLE + "a\v\f\x1a\x85\u2028,1\n",
        (*TWO, "a\v\f\x1a\x85\u2028"),
    ),
    "emoji": (TABLE + "good 👍🏽 👨‍👩‍👧,1\n", (*TWO, "good 👍🏽 👨‍👩‍👧")),
    "combining": (TABLE + "cafe\u0301,1\n", (*TWO, "caf\u00e9")),
    "zero width": (TABLE + "go\u200bod \u200d,1\n", (*TWO, "go\u200bod \u200d")),
    "a quote within": (TABLE + 'a "good" one,1\n', (*TWO, 'a "good" one')),
    "one quote within": (TABLE + 'a "good one,1\n', (*TWO, 'a "good one')),
    "doubled quotes": (TABLE + '"a ""good"", one",1\n', (*TWO, 'a "good", one')),
    "a line break within": (TABLE + '"a\r\ngood one",1\n', (*TWO, "a\r\ngood one")),
    "words for nothing": (
        "text,label\nNA,0\nnull,1\nNone,0\nnan,1\n",
        ("NA", "null", "None", "nan"),
    ),
    "numbers": (
        "text,label\n007,0\n1.50,1\n1e3,0\ntrue,1\n",
        ("007", "1.50", "1e3", "true"),
    ),
    "dates": ("text,label\n2020-01-02,0\n02/03/2020,1\n", ("2020-01-02", "02/03/2020")),
    "numbers after many words": (
        MANY + "007,0\n" * 20_000,
        ("a film", "b film") * 10_000 + ("007",) * 20_000,
    ),
    "words after many numbers": (
        "text,label\n" + "007,0\n" * 20_000 + ROWS,
        ("007",) * 20_000 + TWO,
    ),
}


@pytest.mark.parametrize(("content", "texts"), GOOD.values(), ids=GOOD)
def test_a_table_that_is_odd_but_good(tmp_path, content, texts):
    path = tmp_path / "mine.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    corpus = load_corpus(path, min_count=1)
    assert corpus.texts == texts
    assert corpus.labels[:2].tolist() in ([0, 1], [0, 0])
    assert same(corpus, Corpus.from_texts(texts, corpus.labels, min_count=1))
    assert same(corpus, load_corpus(path, min_count=1))  # from the cache
    assert len(cached(tmp_path)) == 1


LEFT_OUT = {
    "a row of a comma": (",\n", r"1 without text \(row 2\)"),
    "a row without label": ("a film\n", r"1 without label \(row 2\)"),
    "no text": (",1\n", r"1 without text \(row 2\)"),
    "empty quotes": ('"",1\n', r"1 without text \(row 2\)"),
    "spaces only": ("   ,1\n", r"1 without text \(row 2\)"),
    "words for no label": (
        "a,NA\nb,nan\nc,None\nd,null\ne, \n",
        r"5 without label \(rows 2, 3, 4, 5, 6\)",
    ),
}


@pytest.mark.parametrize(("rows", "message"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_rows_of_a_table_that_are_left_out(tmp_path, rows, message):
    (tmp_path / "mine.csv").write_text(TABLE + rows)
    with pytest.warns(UserWarning, match=message) as caught:
        corpus = load_corpus(tmp_path / "mine.csv", min_count=1)
    assert len(caught) == 1 and corpus.texts == TWO


def test_a_row_without_label_far_down(tmp_path):
    (tmp_path / "mine.csv").write_text(MANY + "a film,\n")
    with pytest.warns(UserWarning, match=r"1 of 20,001 .* label \(row 20000\)"):
        assert len(load_corpus(tmp_path / "mine.csv", min_count=1)) == 20_000


CLASSES = {
    "-1 and 1": ((-1, 1), (-1, 1)),
    "1 to 3": ((1, 2, 3), (1, 2, 3)),
    "gaps": ((0, 2**40), (0, 2**40)),
    "too large for any integer type": ((0, 2**70), (0, 2**70)),
    "whole floats": (("0.0", "1.0"), (0, 1)),
    "words": (("yes", "no"), ("no", "yes")),
    "numbers and words": (("b", 10, 9), (9, 10, "b")),
    "stars by value": (("10", "9", "1"), (1, 9, 10)),
    "a thousand": ((0, '"1,000"'), (0, "1,000")),
    "inf": ((0, "inf"), (0, "inf")),
}


@pytest.mark.parametrize(("labels", "classes"), CLASSES.values(), ids=CLASSES)
def test_labels_of_a_table_name_classes(tmp_path, labels, classes):
    (tmp_path / "mine.csv").write_text(labelled(*labels))
    corpus = load_corpus(tmp_path / "mine.csv", min_count=1)
    assert corpus.classes == classes
    named = [str(corpus.classes[k]) for k in corpus.labels.tolist()]
    expected = [str(label).strip('"').removesuffix(".0") for label in labels]
    assert named == expected


def test_labels_stay_with_their_texts(tmp_path):
    texts = [f"film {i} of many" for i in range(60_000)]  # pandas reads parts
    labels = np.random.default_rng(0).integers(0, 3, len(texts))
    lines = map("{},{}\n".format, texts, labels)
    (tmp_path / "mine.csv").write_text("text,label\n" + "".join(lines))
    corpus = load_corpus(tmp_path / "mine.csv", min_count=1)
    assert corpus.texts == tuple(texts)
    assert corpus.labels.tolist() == labels.tolist()


TABULAR = r"mine\.csv cannot be read as a table \(.*{}"
MENDED = (
    r"\); a text that holds the separator needs quotes; to leave such rows out, "
    r"`import pandas; pandas.read_csv\(.*mine\.csv', on_bad_lines='skip'\)"
    r".*mine-mended.csv'$"
)
NO_TABLE = {
    "empty": (b"", r"it is empty\)$"),
    "a line end": ("\n", r"it is empty\)$"),
    "quotes not doubled": (
        TABLE + '"a "good", film",1\n',
        f"Expected 2 fields in line 4, saw 3{MENDED}",
    ),
    "a comma without quotes": (
        TABLE + "good, bad,1\n",
        f"Expected 2 fields in line 4, saw 3{MENDED}",
    ),
    "NUL": (TABLE + "a \0 fi\0lm,1\n", r"a NUL byte: it is binary\)$"),
    "NUL in quotes": (TABLE + '"a \0, film",1\n', r"a NUL byte: it is binary\)$"),
    "a zip": (b"PK\x03\x04" + bytes(range(256)), r"a NUL byte: it is binary\)$"),
}
NO_CORPUS = {
    "more fields than names": (
        "text,label\na film,0,1\nb film,1,0\n",
        "mine.csv cannot be read as a table: it has rows of more fields than its first",
    ),
    "names only": ("text,label\n", "there is no row; expected one or more$"),
    "names without a line end": (
        "text,label",
        "there is no row; expected one or more$",
    ),
    "a page of HTML": (
        "<html><body>",
        "plain text: its first line is '<html><body>', which names no columns",
    ),
    "rows of commas": ("text,label\n,\n,\n", "no row is left of 2: 2 without text"),
    "commas only": (
        ",\n,\n",
        "one column 'text', got Unnamed: 0, Unnamed: 1",
    ),
    "no line of names": (ROWS, "one column 'text', got a bad film, 0"),
    "texts alone": ("text\na\nb\n", "one column 'label', got text;"),
    "labels alone": ("label\n0\n1\n", "one column 'text', got label"),
    "two columns of texts": (
        "text,label,text\na,0,b\nb,1,a\n",
        "one column 'text', got text, label, text",
    ),
    "two columns of labels": (
        "text,label,label\na,0,1\nb,1,0\n",
        "one column 'label', got text, label, label",
    ),
    "labels all 1": (labelled(1, 1, 1), "every row has 1; expected two classes"),
    "labels all 0": (labelled(0, 0), "every row has 0; expected two classes"),
    "labels all pos": (labelled("pos", "pos"), "every row has 'pos'; expected two"),
    "labels but for one": (labelled("", "", "pos"), "every row has 'pos'; expected"),
    "one row": (labelled(1), "every row has 1; expected two"),
    "a fraction for a label": (
        labelled(0, 0.5),
        "labels: '0.5' names no class; .* scores are cut into classes first",
    ),
}
BAD = NO_CORPUS | {
    name: (content, TABULAR.format(cause))
    for name, (content, cause) in NO_TABLE.items()
}


# It must not be the tests' own filter that makes an error of this warning.
@pytest.mark.filterwarnings("ignore:Length of header or names")
@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD)
def test_a_table_that_cannot_be_used(tmp_path, content, message, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("datasets"), "handlers", [caplog.handler])
    path = tmp_path / "mine.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises((ValueError, KeyError), match=message):
        load_corpus(path, min_count=1)
    assert not cached(tmp_path)
    assert not caplog.records  # the error says it all


def test_a_folder_named_like_a_file(tmp_path):
    (tmp_path / "mine.csv").mkdir()
    with pytest.raises(ValueError, match="expected train.csv or the like"):
        load_corpus(tmp_path / "mine.csv")


def test_10_000_classes(tmp_path):
    (tmp_path / "mine.csv").write_text(labelled(*range(10_000)))
    corpus = load_corpus(tmp_path / "mine.csv", vocab=Vocab(["film"]))
    assert corpus.n_classes == 10_000
    assert corpus.labels.tolist() == list(range(10_000))
    assert len(repr(corpus)) < 160


def test_one_class_is_enough_for_a_test_split_only(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNSEL_DATA", str(tmp_path))
    (tmp_path / "imdb").mkdir()
    parquet(tmp_path / "imdb" / "train.parquet", ["film one", "film two"], [1, 1])
    with pytest.raises(ValueError, match="every row has 'positive'; expected two"):
        load_corpus("imdb", min_count=1)
    vocab = Vocab(["film"], ["negative", "positive"])
    assert load_corpus("imdb", vocab=vocab).labels.tolist() == [1, 1]


# Tables in Parquet, and the cache


@pytest.fixture
def table(tmp_path):
    return parquet(tmp_path / "mine.parquet", REVIEWS[:60], SENTIMENTS[:60])


@pytest.mark.parametrize("part", [0, 0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999])
def test_a_parquet_file_cut_short(tmp_path, table, part):
    whole = table.read_bytes()
    table.write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(ValueError, match=r"mine\.parquet cannot be read as a table"):
        load_corpus(table, min_count=1)
    assert not cached(tmp_path)
    table.write_bytes(whole)
    assert load_corpus(table, min_count=1).texts == tuple(REVIEWS[:60])


def test_flipped_bits_in_parquet_are_another_table_or_a_clear_error(table, monkeypatch):
    """Pages carry no checksum, so other words can come of it, as of an edited file."""
    whole = table.read_bytes()
    rng = random.Random(0)
    outcomes = Counter()
    for _ in range(50):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        table.write_bytes(damaged)
        try:
            corpus = load_corpus(table, min_count=1)
        except (ValueError, KeyError) as error:
            said = str(error)
            assert any(
                word in said for word in ("mine.parquet", "column", "labels:", "row is")
            )
            outcomes["error"] += 1
        else:
            assert len(corpus) == len(corpus.labels) == len(corpus.texts)
            outcomes["corpus"] += 1
    assert min(outcomes.values()) > 10


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"text": pyarrow.array([b"\xff", b"b"]).view("string")},
            "cannot be read as a table .*utf-8",
        ),
        ({"text": [1, 2]}, r"2 without text \(rows 0, 1\)$"),
        ({"label": pyarrow.nulls(2)}, r"2 without label \(rows 0, 1\)$"),
        (
            {"label": [[0, 1], [1, 0]]},
            "column 'label' is several labels; expected one a text",
        ),
        ({"text": [], "label": []}, "there is no row; expected one or more"),
    ],
)
def test_parquet_columns_of_another_kind(tmp_path, columns, message):
    columns = {"text": ["a", "b"], "label": [0, 1]} | columns
    path = parquet(tmp_path / "mine.parquet", columns["text"], columns["label"])
    with pytest.raises(ValueError, match=message):
        load_corpus(path, min_count=1)
