"""What people have: each loads as it is, and means the same."""

from __future__ import annotations

import gzip
import io
import json
import re
import warnings
import zipfile

import datasets
import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
import torch

from attnsel.corpus import Corpus
from attnsel.texts.loading import load_corpus

pytestmark = pytest.mark.usefixtures("alone")

# In the order of the labels, as files often are.
TEXTS = [f"a {w} film, number {i}" for w in ("bad", "good") for i in range(200)]
NUMBERS = np.repeat([0, 1], 200)
WORDS = np.where(NUMBERS, "pos", "neg")
STARS = [str(1 + i % 5) for i in range(400)]


def frame(labels=NUMBERS, texts=TEXTS):
    return pd.DataFrame({"text": texts, "label": labels})


def csv(path, labels=NUMBERS, texts=TEXTS, sep=",", name="mine.csv"):
    frame(labels, texts).to_csv(path / name, sep=sep, index=False)
    return path / name


def lines(path, name, labels=WORDS, texts=TEXTS):
    frame(labels, texts).to_json(path / name, orient="records", lines=True)
    return path / name


def records(path):
    frame(WORDS).to_json(path / "mine.json", orient="records")
    return path / "mine.json"


def parquet(path):
    frame().to_parquet(path / "mine.parquet")
    return path / "mine.parquet"


def arrow(path, write=pa.ipc.new_file):
    table = pa.Table.from_pandas(frame())
    with write(str(path / "mine.arrow"), table.schema) as writer:
        writer.write_table(table)
    return path / "mine.arrow"


def class_labels(_):
    features = datasets.Features(
        text=datasets.Value("string"), label=datasets.ClassLabel(names=["pos", "neg"])
    )
    return datasets.Dataset.from_dict(dict(frame()), features=features)


def folder(path):
    lines(path, "train.jsonl.gz")
    csv(path, WORDS[:2], TEXTS[:2], name="test.csv")
    return path


def write(path, name, content):
    """Write text, or bytes, to a file."""
    path = path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def as_csv(sep=",", labels=WORDS, texts=TEXTS, **options):
    return frame(labels, texts).to_csv(sep=sep, index=False, **options)


def accented(sep=","):
    return as_csv(sep, texts=[f"{text}, café" for text in TEXTS])


def as_json(orient, labels=WORDS):
    return frame(labels).to_json(orient=orient)


def class_folders(path, inside=""):
    for i, (text, word) in enumerate(zip(TEXTS, WORDS, strict=True)):
        write(path, f"{inside}{word}/{i}_7.txt", text)
    return path


def imdb_folder(path):
    """Lay the archive of IMDB as it comes: its unlabelled texts are left out."""
    class_folders(path, "train/")
    write(path, "train/unsup/0_0.txt", "a film")
    for name in ("README", "imdb.vocab", "train/urls_pos.txt", "train/labeledBow.feat"):
        write(path, name, "0 9:1")
    write(path, "test/neg/0_2.txt", "a bad film")
    write(path, "test/pos/0_10.txt", "a good film")
    return path


def saved(path, split=False):
    table = datasets.Dataset.from_pandas(frame(WORDS))
    kept = datasets.DatasetDict(train=table) if split else table
    kept.save_to_disk(str(path / "saved"))
    return path / "saved"


def at_home(path):
    csv(path, WORDS)
    return "~/mine.csv"


def parts(path):
    """Write part 10 after part 9, which sorts before it."""
    for i in range(20):
        rows = slice(20 * i, 20 * i + 20)
        csv(path, WORDS[rows], TEXTS[rows], name=f"train-{i}.csv")
    return path


def zipped(path):
    with zipfile.ZipFile(path / "mine.zip", "w") as archive:
        archive.writestr("folder/mine.csv", as_csv())
        archive.writestr("__MACOSX/folder/._mine.csv", b"\0\1")
    return path / "mine.zip"


def zst(path):
    with pa.CompressedOutputStream(str(path / "mine.csv.zst"), "zstd") as file:
        file.write(as_csv().encode())
    return path / "mine.csv.zst"


def workbook(path):
    """Write what is an Excel file as far as can be told without its reader."""
    with zipfile.ZipFile(path / "mine.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "")
    return path / "mine.xlsx"


def hive(path):
    for word in ("neg", "pos"):
        rows = frame(WORDS)[word == WORDS]
        (path / f"label={word}").mkdir()
        rows[["text"]].to_parquet(path / f"label={word}" / "part-0.parquet")
    return path


def pairs():
    return list(zip(TEXTS, WORDS, strict=True))


def binary(path, method, name):
    getattr(frame(WORDS), method)(path / name)
    return path / name


def three_empty(path):
    texts = [t if i not in (3, 70, 201) else "" for i, t in enumerate(TEXTS)]
    return csv(path, texts=texts)


INPUTS = {
    "0 and 1 in CSV": (csv, (0, 1)),
    "Parquet": (parquet, (0, 1)),
    "words for labels": (lambda path: csv(path, WORDS), ("neg", "pos")),
    "1 and 2": (lambda path: csv(path, NUMBERS + 1), (1, 2)),
    "-1 and 1": (lambda path: csv(path, 2 * NUMBERS - 1), (-1, 1)),
    "0.0 and 1.0": (lambda path: csv(path, NUMBERS.astype(float)), (0, 1)),
    "stars as strings": (lambda path: csv(path, STARS), (1, 2, 3, 4, 5)),
    "stars as strings in JSON": (
        lambda path: lines(path, "mine.jsonl", STARS),
        (1, 2, 3, 4, 5),
    ),
    "three empty texts among 400": (three_empty, (0, 1)),
    "tab-separated": (lambda p: csv(p, sep="\t", name="mine.tsv"), (0, 1)),
    "JSON lines": (lambda p: lines(p, "mine.jsonl"), ("neg", "pos")),
    "gzip": (lambda p: csv(p, name="mine.csv.gz"), (0, 1)),
    "a data frame": (lambda _: frame(WORDS), ("neg", "pos")),
    "a datasets.Dataset": (
        lambda _: datasets.Dataset.from_pandas(frame(WORDS)),
        ("neg", "pos"),
    ),
    "a sentence without a known token": (
        lambda p: csv(p, [*NUMBERS, 1], [*TEXTS, "?"]),
        (0, 1),
    ),
    # Ten more.
    "one list of JSON records": (records, ("neg", "pos")),
    "JSON lines called JSON": (lambda p: lines(p, "mine.json"), ("neg", "pos")),
    "an Arrow file": (arrow, (0, 1)),
    "an Arrow stream": (lambda p: arrow(p, pa.ipc.new_stream), (0, 1)),
    "zip": (lambda p: csv(p, name="mine.csv.zip"), (0, 1)),
    "bz2": (lambda p: lines(p, "mine.jsonl.bz2"), ("neg", "pos")),
    "xz, in capitals": (lambda p: csv(p, sep="\t", name="MINE.TSV.xz"), (0, 1)),
    "a folder of splits": (folder, ("neg", "pos")),
    "a DatasetDict": (
        lambda _: datasets.DatasetDict(train=datasets.Dataset.from_pandas(frame())),
        (0, 1),
    ),
    "a ClassLabel in its own order": (class_labels, ("pos", "neg")),
    "categories": (lambda _: frame(pd.Categorical(WORDS)), ("neg", "pos")),
    "booleans": (lambda p: csv(p, NUMBERS == 1), (False, True)),
    "integers that may be missing": (
        lambda _: frame(pd.array([*NUMBERS[1:], None], dtype="Int64")),
        (0, 1),
    ),
    "words with empty ones": (
        lambda _: frame([None, *WORDS[1:-1], ""]),
        ("neg", "pos"),
    ),
}
# What was refused before; all of it has words for labels.
REFUSED_BEFORE = {
    # Text with separators
    "Excel's CSV": lambda p: write(p, "mine.csv", "\ufeff" + as_csv(";")),
    "Windows letters": lambda p: write(p, "mine.csv", accented(";").encode("cp1252")),
    "UTF-16, as Excel's Unicode text": lambda p: write(
        p, "mine.txt", accented("\t").encode("utf-16")
    ),
    "UTF-16, unmarked": lambda p: write(p, "m.csv", as_csv().encode("utf-16-le")),
    "UTF-16, big end first": lambda p: write(p, "m.csv", as_csv().encode("utf-16-be")),
    "tabs in .txt": lambda p: write(p, "mine.txt", as_csv("\t")),
    "tabs in .csv": lambda p: write(p, "mine.csv", as_csv("\t")),
    "semicolons in .tsv": lambda p: write(p, "mine.tsv", as_csv(";")),
    "bars": lambda p: write(p, "mine.csv", as_csv("|")),
    "a line that says the separator": lambda p: write(
        p, "mine.csv", "sep=;\r\n" + as_csv(";")
    ),
    "comments first": lambda p: write(p, "mine.csv", "# of 2024\n#\n" + as_csv()),
    "names in capitals": lambda p: write(
        p, "mine.csv", as_csv().replace("text,label", "Text,LABEL")
    ),
    "spaces around names": lambda p: write(
        p, "mine.csv", as_csv().replace("text,label", " text , label")
    ),
    "an index": lambda p: write(p, "mine.csv", frame(WORDS).to_csv(sep=";")),
    "line breaks and separators in quotes": lambda p: write(
        p, "mine.csv", as_csv(";", texts=[f"{t};\n" for t in TEXTS])
    ),
    "no line of names": lambda p: write(p, "mine.csv", as_csv(header=False)),
    "no line of names, labels first": lambda p: write(
        p, "mine.csv", frame(WORDS)[["label", "text"]].to_csv(index=False, header=False)
    ),
    "no ending": lambda p: write(p, "mine", as_csv()),
    # JSON
    "records under a key": lambda p: write(
        p, "mine.json", '{"version": 1, "data": ' + as_json("records") + "}"
    ),
    "JSON of columns": lambda p: write(p, "mine.json", as_json("columns")),
    "JSON of lists": lambda p: write(
        p, "mine.json", json.dumps({"text": TEXTS, "label": WORDS.tolist()})
    ),
    "JSON by row": lambda p: write(p, "mine.json", as_json("index")),
    "JSON of columns and rows": lambda p: write(p, "mine.json", as_json("split")),
    "JSON of splits": lambda p: write(
        p, "mine.json", '{"test": [], "train": ' + as_json("records") + "}"
    ),
    "JSON lines with another ending": lambda p: lines(p, "mine.ndjson"),
    "other records within JSON": lambda p: write(
        p,
        "mine.jsonl",
        "".join(
            json.dumps({"text": t, "label": w, "of": {"id": 1, "by": {}}}) + "\n"
            for t, w in zip(TEXTS, WORDS, strict=True)
        ),
    ),
    "JSON in UTF-16": lambda p: write(
        p, "mine.json", as_json("records").encode("utf-16")
    ),
    # Compressed, binary
    "a zip made by a Mac": zipped,
    "gzip without its ending": lambda p: write(
        p, "mine.csv", gzip.compress(as_csv().encode())
    ),
    "not gzip, despite its ending": lambda p: write(p, "mine.csv.gz", as_csv()),
    "zst": zst,
    "Feather": lambda p: binary(p, "to_feather", "mine.feather"),
    "ORC": lambda p: binary(p, "to_orc", "mine.orc"),
    "Stata": lambda p: binary(p, "to_stata", "mine.dta"),
    "Parquet without an ending": lambda p: binary(p, "to_parquet", "mine"),
    # Folders
    "folders of texts": class_folders,
    "the folder of IMDB": imdb_folder,
    "what save_to_disk wrote": saved,
    "splits that save_to_disk wrote": lambda p: saved(p, split=True),
    "numbered parts": parts,
    "a pattern": lambda p: parts(p) / "train-*.csv",
    "a folder of Parquet by label": hive,
    "a file and what it is about": lambda p: (
        write(p, "README.txt", "text") and csv(p, WORDS).parent
    ),
    "splits below a folder": lambda p: csv(
        write(p, "data/test.csv", as_csv()).parent,
        WORDS,
        name="train-00000-of-00001.csv",
    ).parents[1],
    # Addresses
    "a path from home": at_home,
    "a URL": lambda p: csv(p, WORDS).as_uri(),
    # In memory
    "records": lambda _: frame(WORDS).to_dict("records"),
    "a generator of records": lambda _: iter(frame(WORDS).to_dict("records")),
    "pairs": lambda _: pairs(),
    "named tuples": lambda _: list(frame(WORDS).itertuples(index=False)),
    "an array of pairs": lambda _: np.array(pairs(), dtype=object),
    "texts and labels": lambda _: (TEXTS, WORDS),
    "two Series": lambda _: (pd.Series(TEXTS), pd.Series(WORDS, range(7, 407))),
    "lists by name": lambda _: {"text": TEXTS, "label": WORDS.tolist()},
    "arrays by name": lambda _: {"text": np.array(TEXTS), "label": WORDS},
    "tables by split": lambda _: {"train": frame(WORDS), "test": frame(WORDS)[:2]},
    "a polars frame": lambda _: polars.DataFrame({"text": TEXTS, "label": WORDS}),
    "a lazy polars frame": lambda _: polars.LazyFrame({"text": TEXTS, "label": WORDS}),
    "an Arrow table": lambda _: pa.Table.from_pandas(frame(WORDS)),
    "a streamed data set": lambda _: datasets.Dataset.from_pandas(
        frame(WORDS)
    ).to_iterable_dataset(),
    "an open file of text": lambda _: io.StringIO(as_csv(";")),
    "an open file of bytes": lambda _: io.BytesIO(as_csv().encode("utf-16")),
}
# What somebody brings who has never met a table.
BROUGHT = {
    "UTF-8 with a damaged letter": lambda p: write(
        p, "mine.csv", accented().encode()[:-8] + b'\xe9",pos\n'
    ),
    "lists of one label in strings": lambda p: write(
        p, "mine.csv", as_csv(labels=[f"['{w}']" for w in WORDS])
    ),
    "half an emoji in JSON": lambda p: write(
        p, "mine.json", as_json("records").replace("film,", r"film \ud83d,", 1)
    ),
    "rows that begin with # and no line of names": lambda p: write(
        p,
        "mine.csv",
        as_csv(header=False, texts=[f"#{t.replace(',', '')}" for t in TEXTS], sep=","),
    ),
    "names behind #": lambda p: write(p, "mine.tsv", "#" + as_csv("\t")),
    "a first text of 200,000 characters": lambda p: write(
        p, "mine.csv", as_csv(header=False, texts=["word " * 40_000, *TEXTS[1:]])
    ),
    "spaces before quotes": lambda p: write(
        p,
        "mine.csv",
        "id, text, label\n"
        + "".join(f'1, "{t}", {w}\n' for t, w in zip(TEXTS, WORDS, strict=True)),
    ),
    "rows that end in a separator": lambda p: write(
        p, "mine.csv", "text;label\n" + as_csv(";", header=False).replace("\n", ";\n")
    ),
    "numbered rows without a name": lambda p: write(
        p, "mine.csv", "text;label\n" + frame(WORDS).to_csv(sep=";", header=False)
    ),
    "fastText's lines": lambda p: write(
        p,
        "mine.txt",
        "".join(f"__label__{w} {t}\n" for t, w in zip(TEXTS, WORDS, strict=True)),
    ),
    "fastText's lines with tabs": lambda p: write(
        p,
        "mine.txt",
        "".join(f"__label__{w}\t{t}\n" for t, w in zip(TEXTS, WORDS, strict=True)),
    ),
    "lists of tokens": lambda _: {
        "text": [text.split() for text in TEXTS],
        "label": WORDS,
    },
    "tokens in JSON lines": lambda p: write(
        p,
        "mine.jsonl",
        "".join(
            json.dumps({"text": t.split(), "label": w}) + "\n"
            for t, w in zip(TEXTS, WORDS, strict=True)
        ),
    ),
    "texts as bytes": lambda _: {"text": [t.encode() for t in TEXTS], "label": WORDS},
    "a Bunch": lambda _: {
        "data": [text.encode() for text in TEXTS],
        "target": NUMBERS,
        "target_names": ["neg", "pos"],
        "DESCR": "films",
    },
    "the bytes of a file": lambda _: as_csv().encode(),
    "other columns beside": lambda p: write(
        p, "mine.csv", frame(WORDS).assign(user=range(400)).to_csv(index=False)
    ),
}
REFUSED_BEFORE |= BROUGHT
INPUTS |= {name: (make, ("neg", "pos")) for name, make in REFUSED_BEFORE.items()}
LEFT_OUT = {
    "three empty texts among 400": "3 of 400 rows .* 3 without text",
    "a sentence without a known token": "1 of 401 rows .* 1 without known token",
    "integers that may be missing": "1 of 400 rows .* 1 without label",
    "words with empty ones": "2 of 400 rows .* 2 without label",
    "the folder of IMDB": "1 of 401 rows .* 1 without label",
}
TOLD = {
    "UTF-8 with a damaged letter": "1 byte is no UTF-8, as the rest of the file is",
    "Windows letters": "read as Windows-1252",
    "lists of tokens": "the texts of 'text' are lists of tokens; they are joined",
    "tokens in JSON lines": "the texts of 'text' are lists of tokens; they are joined",
}


@pytest.mark.parametrize("what", INPUTS)
def test_what_people_have_loads_as_it_is(tmp_path, what, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    make, classes = INPUTS[what]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        corpus = load_corpus(make(tmp_path), min_count=20)
    told = [str(w.message) for w in caught if w.category is UserWarning]
    expected = [says[what] for says in (TOLD, LEFT_OUT) if what in says]
    assert len(told) == len(expected)
    assert all(map(re.search, expected, told))
    assert len(corpus) >= 397
    assert corpus.classes == classes
    for row in (1, 250, -2):  # of each class, and none of them among those left out
        text = re.sub("^#|, café$|;?\n$", "", corpus.texts[row])
        text = text if "," in text else text.replace(" number", ", number")
        at = TEXTS.index(text)
        assert corpus.labels[row] == (at % 5 if len(classes) == 5 else NUMBERS[at])
    if what in LEFT_OUT:
        with pytest.raises(ValueError, match=LEFT_OUT[what]):
            load_corpus(make(tmp_path), min_count=20, on_bad_rows="error")


def two(path):
    with zipfile.ZipFile(path / "two.zip", "w") as archive:
        for name in ("a.csv", "b.csv"):
            archive.writestr(name, as_csv())
    return path / "two.zip"


def tagged(path):
    sentence = "The DT O\nfilm NN B-WORK\nis VB O\n\n"
    return write(path, "mine.txt", sentence * 20)


CANNOT = {
    "an empty file": (lambda p: write(p, "mine.csv", "\n\n"), "mine.csv .*it is empty"),
    "single quotes": (
        lambda p: write(p, "mine.csv", "text,label\n'a, b',1\n'c, d',0\n"),
        "rows of more fields than its first line.* put double quotes around them",
    ),
    "a sound": (
        lambda p: write(p, "mine.csv", b"ID3\x03\xff\xfe\x80\0\x81a"),
        "a NUL byte: it is binary",
    ),
    "a broken line of JSON": (
        lambda p: write(p, "mine.jsonl", '{"text": "a", "label": 1}\n{"text\n'),
        "line 2 is no JSON",
    ),
    "unequal lists": (lambda _: (TEXTS[:3], [0, 1]), "3 texts and 2 labels"),
    "many columns": (
        lambda _: pd.DataFrame(np.eye(30)),
        "got 0, 1, .*, 19, ...; name yours",
    ),
    "tokens with tags": (tagged, "as CoNLL does: the labels are of tokens"),
    "several labels a line": (
        lambda p: write(p, "mine.txt", "__label__a __label__b a film\n" * 9),
        "line 1 has several labels, .*; expected one a text",
    ),
    "lists of labels": (
        lambda _: {"text": TEXTS[:2], "label": [["a", "b"], ["a"]]},
        r"labels: \['a', 'b'\] in column 'label' is several labels; expected one",
    ),
    "a Bunch of numbers": (
        lambda _: {"data": np.eye(4), "target": [0, 1, 0, 1]},
        "a Bunch of numbers; expected texts as its data",
    ),
    "a document": (
        lambda p: write(p, "mine.pdf", b"%PDF"),
        "mine.pdf holds no table; give its texts and labels as a table of two",
    ),
    "Excel without its reader": (
        workbook,
        "mine.xlsx needs a library to be read .*openpyxl.*; install it, or save the",
    ),
    "a database": (
        lambda p: write(p, "mine.sqlite", b"SQLite format 3\0"),
        r"is a database; `import pandas, sqlite3; pandas.read_sql\('SELECT \* FROM rev",
    ),
    "a database without its ending": (
        lambda p: write(p, "mine", b"SQLite format 3\0"),
        "it is a database; let its name end in .sqlite",
    ),
    "a pickle": (
        lambda p: binary(p, "to_pickle", "mine.pkl"),
        r"can run code: .*; `import pandas; pandas.read_pickle\('/.*mine.pkl'\).to_csv",
    ),
    "an archive": (
        lambda p: write(p, "mine.tar", b"x"),
        r"is an archive; `import shutil; shutil.unpack_archive\(",
    ),
    "a zip of two tables": (
        two,
        "holds 2 files, a.csv, b.csv; `import shutil; .* unpacks it, then name '.*two'",
    ),
    "a zip of nothing": (
        lambda p: write(p, "mine.zip", b"PK\5\6" + bytes(18)),
        r"mine.zip cannot be read as a table \(it is empty\)",
    ),
    "two tables in a folder": (
        lambda p: csv(p, name="a.csv").parent if csv(p, name="b.csv") else p,
        r"got \['a.csv', 'b.csv'\]; name one .* of one table as '.*\*.csv'$",
    ),
    "an empty folder": (lambda p: p, "or folders of texts, one a class; it is empty$"),
    "a file that is not there": (
        lambda p: p / "mine.csv",
        "there is no file '.*mine.csv'; it is looked for in /",
    ),
    "a line of prose": (
        lambda p: write(p, "mine.txt", "It was a film that was long.\nBad.\n"),
        "cannot be read as a table .it is plain text: .* text files for each class.$",
    ),
    "a URL offline": (
        lambda _: "http://127.0.0.1:9/mine.csv",
        "not fetched .*; connect to the network, or download it and name 'mine.csv'",
    ),
    "an address of another kind": (
        lambda _: "s3://mine/mine.csv",
        r"with a library for such addresses, `import pandas; pandas.read_csv\('s3://mi",
    ),
    "Cyrillic letters of Windows": (
        lambda p: write(p, "mine.csv", "text,label\nфильм,1\n".encode("cp1251")),
        "it is not UTF-8 .*letters may be those of cp1251.*, `import pandas; pandas",
    ),
    "labels that are lists in strings": (
        lambda p: write(p, "mine.csv", as_csv(labels=["['a', 'b']", "['a']"] * 200)),
        r"labels: \['a', 'b'\] in column 'label' is several labels",
    ),
    "a number": (lambda _: 3, "source: expected a name, path or table, got .*int"),
    "nothing": (lambda _: None, "source: expected a name, path or table, got .*None"),
    "a column that is not there": (
        lambda _: {"text": ["a"], "stars": [1]},
        "expected one column 'label', got text, stars; name yours",
    ),
    "texts alone": (lambda _: TEXTS, "expected one column 'label', got 0; name yours"),
}


@pytest.mark.parametrize(("make", "message"), CANNOT.values(), ids=CANNOT)
def test_what_cannot_load_says_what_to_write(tmp_path, make, message):
    with pytest.raises((TypeError, ValueError, KeyError), match=message):
        load_corpus(make(tmp_path))


@pytest.mark.parametrize("kind", ["lines", "records", "Parquet"])
def test_records_within_records_have_columns_of_their_own(tmp_path, kind):
    rows = [
        {"review": {"body": t, "by": {"id": i}}, "verdict": [{"name": [w]}]}
        for i, (t, w) in enumerate(zip(TEXTS, WORDS, strict=True))
    ]
    if kind == "Parquet":
        path = tmp_path / "mine.parquet"
        pd.DataFrame(rows).to_parquet(path)
    else:
        text = "\n".join(map(json.dumps, rows)) if kind == "lines" else json.dumps(rows)
        path = write(tmp_path, "mine.json", text)
    with pytest.raises(KeyError, match="got review.body, review.by.id, verdict.name;"):
        load_corpus(path)
    corpus = load_corpus(path, text="review.body", label="verdict.name")
    assert corpus.texts == tuple(TEXTS) and corpus.classes == ("neg", "pos")


def test_excel_with_its_reader(tmp_path, monkeypatch):
    monkeypatch.setattr(pd, "read_excel", lambda file: frame(WORDS))
    assert len(load_corpus(write(tmp_path, "mine.xlsx", b"PK\3\4"))) == 400


def train_alone(path):
    return csv(path, name="train.csv").parent


HELD_OUT = "one table without a split 'test'; rows it was trained on are no test"
NO_TEST = {
    "a file": (csv, HELD_OUT),
    "a frame": (lambda _: frame(), HELD_OUT),
    "texts and labels": (lambda _: (TEXTS, WORDS), HELD_OUT),
    "JSON": (records, HELD_OUT),
    "folders of texts": (class_folders, HELD_OUT),
    "a pattern": (lambda p: parts(p) / "*.csv", HELD_OUT),
    "a folder of one table": (lambda p: csv(p).parent, HELD_OUT),
    "a folder with train alone": (train_alone, "holds train, but nothing called test"),
    "JSON of a training split": (
        lambda p: write(p, "mine.json", '{"train": ' + as_json("records") + "}"),
        r"split: expected one of \['train'\], got 'test'",
    ),
}


@pytest.mark.parametrize(("make", "message"), NO_TEST.values(), ids=NO_TEST)
def test_nothing_is_called_a_test_set_that_is_not(tmp_path, make, message):
    with pytest.raises(ValueError, match=message):
        load_corpus(make(tmp_path), "test")


def test_a_file_that_is_called_test_is_the_test_split(tmp_path):
    assert len(load_corpus(csv(tmp_path, name="reviews_test.csv"), "test")) == 400
    imdb_folder(tmp_path)
    assert len(load_corpus(tmp_path, "test", min_count=1)) == 2


# Small corpora, and scripts without spaces


def test_the_warning_of_a_small_corpus_names_the_line_of_the_caller(tmp_path):
    texts = [f"{w} film w{i}" for i in range(10) for w in ("bad", "good")]
    path = csv(tmp_path, [0, 1] * 10, texts)
    with pytest.warns(UserWarning, match="min_count is 10 instead of 20") as caught:
        load_corpus(path)  # read, then from the cache
        load_corpus(path)
    assert [w.filename for w in caught] == [__file__] * 2


def test_a_small_corpus_lowers_min_count_and_says_so(tmp_path):
    texts = [f"{w} film w{i}" for i in range(10) for w in ("bad", "good")]
    path = csv(tmp_path, [0, 1] * 10, texts)
    for _ in range(2):  # read, then from the cache
        with pytest.warns(UserWarning, match="min_count is 10 instead of 20"):
            corpus = load_corpus(path)
        assert corpus.vocab == ("film", "bad", "good")
    with pytest.warns(UserWarning, match="min_count is 10 instead of 20"):
        few = Corpus.from_texts(
            ["good film"] * 9 + ["bad film"] * 10, [1] * 9 + [0] * 10
        )
    assert few.vocab == ("film", "bad")
    # What is asked for is done.
    assert len(load_corpus(path, min_count=1).vocab) == 13
    assert load_corpus(path, min_count=20).vocab == ("film",)


def test_a_large_corpus_keeps_its_min_count():
    texts = [*TEXTS, "a rare word"]
    corpus = Corpus.from_texts(texts, [*NUMBERS, 1])
    assert "rare" not in corpus.vocab and "film" in corpus.vocab


CHINESE = ["这部电影很好看演员也很好", "这部电影太差了真的不好看"] * 20
THAI = ["หนังเรื่องนี้ดีมาก", "หนังเรื่องนี้แย่มาก"] * 20


@pytest.mark.parametrize("texts", [CHINESE, THAI], ids=["Chinese", "Thai"])
def test_a_script_without_spaces_is_told_of_and_split_by_a_function(texts, tmp_path):
    labels = [1, 0] * 20
    with pytest.warns(UserWarning, match="tokens are clauses: .* tokenize=jieba.lcut"):
        Corpus.from_texts(texts, labels)
    path = csv(tmp_path, labels, texts)
    corpus = load_corpus(path, tokenize=list, min_count=1)
    assert set(corpus.vocab) == set("".join(texts))
    assert "".join(piece for piece, _ in corpus.words(0)) == texts[0]
    assert all(token >= 0 for _, token in corpus.words(0))
    # New texts are split as those of their vocabulary were.
    new = load_corpus(path, vocab=corpus.vocab)
    assert (new.counts != corpus.counts).nnz == 0
    assert new.most_frequent(5).vocab.tokenize is list


def test_marks_stay_with_their_letter():
    texts = ["cafe\u0301 नमस्ते दुनिया, اَلْعَرَبِيَّة ❤\ufe0f don\u2019t"]
    corpus = Corpus.from_texts(texts, min_count=1)
    assert sorted(corpus.vocab) == sorted(
        ["café", "नमस्ते", "दुनिया", ",", "اَلْعَرَبِيَّة", "❤\ufe0f", "don't"]
    )
    assert "".join(piece for piece, _ in corpus.words(0)) == corpus.texts[0]


@pytest.mark.parametrize(
    "texts",
    [
        TEXTS,
        tuple(TEXTS),
        np.array(TEXTS),
        pd.Series(TEXTS, index=range(1000, 1400)),
        pd.Series(TEXTS, dtype="category"),
        datasets.Dataset.from_dict({"t": TEXTS})["t"],
    ],
    ids=["list", "tuple", "array", "Series", "categories", "column"],
)
@pytest.mark.parametrize("kind", [list, np.array, torch.tensor, pd.Series])
def test_texts_and_labels_in_any_sequence(texts, kind):
    corpus = Corpus.from_texts(texts, kind(NUMBERS.tolist()))
    assert corpus.texts == tuple(TEXTS)
    assert corpus.labels.tolist() == NUMBERS.tolist()


def test_a_test_split_with_its_training_split(tmp_path):
    train = load_corpus(folder(tmp_path))
    test = load_corpus(tmp_path, "test", vocab=train.vocab)
    assert (test.classes, test.labels.tolist()) == (("neg", "pos"), [0, 0])
    new = load_corpus(frame().drop(columns="label"), vocab=train.vocab, label=None)
    assert new.labels is None and new.classes == train.classes and len(new) == 400


def test_twenty_thousand_texts_with_fifty_bad_rows(tmp_path):
    texts = [f"a short text {i % 100}" for i in range(20_000)]
    labels = [("neg", "pos")[i % 2] for i in range(20_000)]
    for row in range(17, 20_000, 800):  # 25 of each kind
        texts[row], labels[row + 1] = "", None
    with pytest.warns(UserWarning) as caught:
        corpus = load_corpus(csv(tmp_path, labels, texts))
    (warning,) = caught
    assert str(warning.message) == (
        "50 of 20,000 rows are left out: 25 without text (rows 17, 817, 1617, 2417, "
        "3217, ...), 25 without label (rows 18, 818, 1618, 2418, 3218, ...)"
    )
    assert len(corpus) == 19_950


def test_a_large_data_set_is_counted_in_processes(tmp_path):
    file = csv(tmp_path, [*WORDS, None], [*TEXTS, "a good film"])
    table = datasets.Dataset.from_csv(str(file), cache_dir=str(tmp_path / "arrow"))
    with pytest.warns(UserWarning, match=r"1 of 401 .* 1 without label \(row 400\)"):
        here = load_corpus(table)
        assert here.texts is not None
    datasets.disable_progress_bars()
    with pytest.warns(UserWarning, match=r"1 of 401 .* 1 without label \(row 400\)"):
        large = load_corpus(table, num_proc=2)
    assert large.texts is None
    assert large.vocab == here.vocab and large.classes == here.classes
    assert (large.counts != here.counts).nnz == 0
    assert large.counts.indices.dtype == large.counts.indptr.dtype == "int32"
    assert large.labels.equal(here.labels)


def test_a_list_without_a_label_is_a_missing_label():
    rows = {"text": ["good", "bad", "so so"], "label": [["yes"], ["no"], []]}
    with pytest.warns(UserWarning, match="1 of 3 rows are left out: 1 without label"):
        corpus = load_corpus(pd.DataFrame(rows), min_count=1)
    assert corpus.classes == ("no", "yes") and corpus.texts == ("good", "bad")
    rows["label"] = [[], ["no"], ["yes", "no"]]
    with pytest.raises(ValueError, match=r"\['yes', 'no'\].* is several labels"):
        load_corpus(pd.DataFrame(rows), min_count=1)


@pytest.mark.parametrize(
    ("texts", "labels", "left_out"),
    [
        (["é x", "y", "y", "z"], [["a"], None, [], ["b"]], {"label": [1, 2]}),
        (["é x".encode(), None, b"z"], ["a", "b", "b"], {"text": [1]}),
        ([None, ["é", "x"], ["z"]], ["a", "a", "b"], {"text": [0]}),
    ],
)
@pytest.mark.filterwarnings("ignore:the texts of .* are lists of tokens")
def test_empty_cells_among_lists_and_bytes_are_left_out(texts, labels, left_out):
    table = pd.DataFrame({"text": texts, "label": labels})
    corpus = load_corpus(table, min_count=1, on_bad_rows="ignore")
    assert corpus.texts == ("é x", "z")
    assert corpus.labels.tolist() == [0, 1]
    assert corpus.left_out == left_out


@pytest.mark.parametrize(("size", "told"), [(5, "d, e;"), (6, r"d, e, \.\.\.;")])
def test_a_zip_of_many_names_its_first_five(tmp_path, size, told):
    path = tmp_path / "many.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in "abcdef"[:size]:
            archive.writestr(name, "text,label\n")
    with pytest.raises(ValueError, match=rf"holds {size} files, a, b, c, {told}"):
        load_corpus(str(path))


JOINED = {
    "two quotes, labels last": (["text", "label"], (5, 300)),
    "two quotes in a row": (["text", "label"], (5, 6)),
    "one quote": (["text", "label"], (390,)),
    "two quotes, labels first": (["label", "text"], (5, 300)),
    "two quotes, a column between": (["text", "id", "label"], (5, 300)),
}


@pytest.mark.parametrize(("columns", "quoted"), JOINED.values(), ids=JOINED)
def test_a_quote_that_is_not_closed_joins_no_rows(tmp_path, columns, quoted):
    texts = [f'" {t}' if i in quoted else t for i, t in enumerate(TEXTS)]
    table = frame(WORDS, texts).assign(id=range(400))[columns]
    rows = ["\t".join(map(str, row)) for row in table.itertuples(index=False)]
    path = write(tmp_path, "mine.tsv", "\n".join(["\t".join(columns), *rows]))
    n = len(quoted)
    told = f"{n} lines? ha(s|ve) a double quote that is not closed"
    with pytest.warns(UserWarning, match=told):
        corpus = load_corpus(path, min_count=1)
    assert corpus.texts == tuple(texts)
    assert corpus.labels.tolist() == NUMBERS.tolist()


def test_lines_within_quotes_stay_in_their_text(tmp_path):
    texts = [f"{t}\n1, so\n{t}" for t in TEXTS]
    corpus = load_corpus(csv(tmp_path, texts=texts), min_count=1)
    assert corpus.texts == tuple(texts)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_carriage_return_ends_lines_only_where_it_ends_all(tmp_path, end):
    within = " " if end == "\r" else "\r"
    texts = [t.replace(",", "").replace(" ", within, 1) for t in TEXTS]
    rows = [f"{t},{w}" for t, w in zip(texts, WORDS, strict=True)]
    path = write(tmp_path, "mine.csv", end.join(["text,label", *rows]) + end)
    corpus = load_corpus(path, min_count=1)
    assert corpus.texts == tuple(t.replace("\r", " ") for t in texts)


FORMATS = {
    "CSV": lambda p, t: t.to_csv(p / "m.csv", index=False) or p / "m.csv",
    "JSON": lambda p, t: t.to_json(p / "m.json", orient="records") or p / "m.json",
    "Parquet": lambda p, t: t.to_parquet(p / "m.parquet") or p / "m.parquet",
    "a frame": lambda _, t: t,
}
NAMES = {
    "a class None": (["None", "racism", None], ("None", "racism"), "label 'None'"),
    "a class NA": (["NA", "EU", "nan"], ("EU", "NA"), "label 'NA'"),
    "none among numbers": (["1", "2", "None"], (1, 2), None),
    "a leading zero": (["01", "1", "2"], ("01", "1", "2"), None),
}


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize(("names", "classes", "told"), NAMES.values(), ids=NAMES)
def test_each_format_has_the_same_classes(tmp_path, kind, names, classes, told):
    table = frame([names[i % 3] for i in range(300)], TEXTS[:300])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        train = load_corpus(FORMATS[kind](tmp_path, table), min_count=1)
    assert train.classes == classes
    assert len(train) == 100 * len(classes)
    said = " ".join(str(warning.message) for warning in caught)
    assert ("100 rows have the" in said) == (told is not None)
    assert (told or "") in said
    part = table[table["label"].isin([names[1]])]
    assert load_corpus(part, vocab=train.vocab).labels.unique().tolist() == [
        classes.index(train.classes[1] if told is None else names[1])
        if names[0] != "1"
        else 1
    ]


def test_codes_for_no_label_are_counted():
    for code in (-100, -1):
        table = frame([[0, 1, 2, code][i % 4] for i in range(400)])
        with pytest.warns(UserWarning, match=f"100 rows have the label {code}"):
            assert load_corpus(table, min_count=1).n_classes == 4


def test_encodings_that_fit_are_named(tmp_path):
    japanese = "映画は良い 物語だった"
    chinese = "电影很好 故事不错"
    for encoding, text in {"shift_jis": japanese, "gb18030": chinese}.items():
        content = f"text,label\n{text},1\n".encode(encoding) * 9
        with pytest.raises(
            ValueError, match=f"may be those of {encoding}.*'{encoding}'"
        ):
            load_corpus(write(tmp_path, "mine.csv", content))


def test_a_large_zip_of_two_tables_is_refused_for_a_sample_too(tmp_path, monkeypatch):
    from attnsel_report.readers import files

    table = frame(WORDS, TEXTS).to_csv(index=False)
    with zipfile.ZipFile(tmp_path / "mine.zip", "w") as archive:
        archive.writestr("a.csv", table)
        archive.writestr("b.csv", table)
    monkeypatch.setattr(files, "BLOCK", 1000)
    for limit in (None, 50):
        with pytest.raises(ValueError, match="mine.zip holds 2 files"):
            load_corpus(tmp_path / "mine.zip", limit=limit)


@pytest.mark.parametrize("header", [True, False])
def test_a_row_may_be_longer_than_a_block(tmp_path, monkeypatch, header):
    from attnsel_report.readers import files

    long = 3000 * " long"
    texts = [text + long if i == 5 else text for i, text in enumerate(TEXTS)]
    frame(WORDS, texts).to_csv(tmp_path / "mine.csv", index=False, header=header)
    monkeypatch.setattr(files, "BLOCK", 1000)
    corpus = load_corpus(tmp_path / "mine.csv", limit=len(TEXTS), min_count=1)
    assert set(corpus.texts) == set(texts)


def test_a_large_table_is_read_in_blocks_for_a_sample(tmp_path, monkeypatch):
    from attnsel_report.readers import files

    texts = [f'{t}, "so"\nit is' if i % 7 == 0 else t for i, t in enumerate(TEXTS)]
    table = frame(WORDS, texts)
    with zipfile.ZipFile(tmp_path / "mine.zip", "w") as archive:
        archive.writestr("a.csv", table.to_csv(index=False))
    table.to_csv(tmp_path / "mine.csv", index=False)
    table.to_csv(tmp_path / "nameless.csv", index=False, header=False)
    monkeypatch.setattr(files, "BLOCK", 1000)
    monkeypatch.setattr(files, "MOST", 5000)
    with pytest.raises(ValueError, match=r"mine.zip .*unpacks to more .* limit="):
        load_corpus(tmp_path / "mine.zip")
    for name in ("mine.zip", "mine.csv", "nameless.csv"):
        corpus = load_corpus(tmp_path / name, limit=50, min_count=1)
        assert corpus.labels.bincount().tolist() == [25, 25]
        places = [texts.index(text) for text in corpus.texts]
        assert len(set(places)) == 50 and max(places) > 300
        assert [NUMBERS[i] for i in places] == corpus.labels.tolist()
