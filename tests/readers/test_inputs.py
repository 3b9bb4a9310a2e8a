"""Inputs that people have: the corpora made of them, warnings, and refusals."""

import gzip
import io
import json
import logging
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from attnsel.texts.loading import load_corpus
from attnsel.texts.shipped import CORPORA
from attnsel.tokens import Vocab
from attnsel_readers import delimited, files

pytestmark = pytest.mark.usefixtures("alone")

# In the order of the labels, as files often are.
TEXTS = [f"a {w} film, number {i}" for w in ("bad", "good") for i in range(20)]
NUMBERS = [0] * 20 + [1] * 20
WORDS = ["neg"] * 20 + ["pos"] * 20
STARS = [1 + i % 5 for i in range(40)]
FRAME = pd.DataFrame({"text": TEXTS, "label": WORDS})
RECORDS = FRAME.to_dict("records")
DATA = datasets.Dataset.from_pandas(FRAME)
ARROW = pa.Table.from_pandas(FRAME)
CAFE = [f"{text}, café" for text in TEXTS]
LINES = [f"{t};\n1, so\n{t}" for t in TEXTS]
TAGGED = [f"{'#' * (i < 5)}{t.replace(',', '')}" for i, t in enumerate(TEXTS)]
LONG = ["word " * 40_000, *TEXTS[1:]]
TWO = ("a bad film", "a good film")
ROWS = "a bad film,0\na good film,1\n"
TABLE = "text,label\n" + ROWS
MANY = "a film,0\nb film,1\n" * 10_000  # read in more than one piece
FIRST_TWO = {"text": 0, "label": 1}


class Case(NamedTuple):
    """A source, or a function that makes the source in a folder, and its result."""

    source: Any
    texts: Any = TEXTS
    labels: Any = WORDS
    warning: str | None = None
    options: dict[str, Any] = {}  # noqa: RUF012


def file(name, content):
    """Return a function that writes text or bytes to a file in a folder."""

    def write(path):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        written = content.encode() if isinstance(content, str) else content
        (path / name).write_bytes(written)
        return path / name

    return write


def mine(content):
    return file("mine.csv", content)


def folder(**contents):
    """Return a function that writes files; in names, __ means . and ___ means /."""

    def write(path):
        for name, content in contents.items():
            file(name.replace("___", "/").replace("__", "."), content)(path)
        return path

    return write


def binary(method, name, table=FRAME):
    return lambda path: getattr(table, method)(path / name) or path / name


def csv(sep=",", labels=WORDS, texts=TEXTS, **options):
    table = pd.DataFrame({"text": texts, "label": labels})
    return table.to_csv(sep=sep, index=False, **options)


def as_json(orient="records", **options):
    return FRAME.to_json(orient=orient, **options)


def lines(pattern):
    return "".join(pattern.format(*row) for row in FRAME.itertuples())


def json_lines(make):
    return "\n".join(json.dumps(make(i, *row)) for i, *row in FRAME.itertuples())


def nested(i, text, word):
    by = {"id": i}
    return {"review": {"body": text, "by": by}, "verdict": [{"name": [word]}]}


def two(content, texts=TWO, labels=(0, 1), **rest):
    """Return the case of a CSV file with two texts."""
    return Case(mine(content), texts, labels, **rest)


def added(row, text=None):
    """Return the case of a CSV file with a third text, which is written as `row`."""
    texts = (*TWO, row if text is None else text)
    return two(f"{TABLE}{row},1\n", texts, (0, 1, 1))


def labelled(*labels):
    return "text,label\n" + "".join(f"film {i},{y}\n" for i, y in enumerate(labels))


def classes(*labels, expected=None):
    """Return the case of a CSV file with these labels."""
    texts = [f"film {i}" for i in range(len(labels))]
    return two(labelled(*labels), texts, expected or labels)


def left_out(rows, message):
    return two(TABLE + rows, warning=message)


def arrow(write):
    def made(path):
        with write(str(path / "mine.arrow"), ARROW.schema) as writer:
            writer.write_table(ARROW)
        return path / "mine.arrow"

    return made


def class_folders(path, inside=""):
    for i, (text, word) in enumerate(zip(TEXTS, WORDS, strict=True)):
        file(f"{inside}{word}/{i:02}_7.txt", text)(path)
    return path


def imdb_folder(path):
    """Write the folder of IMDB as it is published, with its unlabelled texts."""
    class_folders(path, "train/")
    for name in ("README", "imdb.vocab", "train/urls_pos.txt", "train/labeledBow.feat"):
        file(name, "0 9:1")(path)
    for name in ("train/unsup/0_0.txt", "test/neg/0_2.txt", "test/pos/0_10.txt"):
        file(name, "a film")(path)
    return path


def saved(data):
    return lambda path: data.save_to_disk(str(path / "saved")) or path / "saved"


def parts(path):
    """Write a table in 20 parts, of which part 10 sorts before part 9."""
    for i in range(20):
        rows = slice(2 * i, 2 * i + 2)
        file(f"train-{i}.csv", csv(labels=WORDS[rows], texts=TEXTS[rows]))(path)
    return path


def zipped(name, **members):
    """Return a function that writes a zip archive with files, as macOS does."""

    def write(path):
        with zipfile.ZipFile(path / name, "w") as archive:
            for member, content in members.items():
                archive.writestr(member.replace("___", "/").replace("__", "."), content)
            archive.writestr("__MACOSX/folder/._mine.csv", b"\0\1")
        return path / name

    return write


def zst(path):
    with pa.CompressedOutputStream(str(path / "mine.csv.zst"), "zstd") as written:
        written.write(csv().encode())
    return path / "mine.csv.zst"


def hive(path):
    for word in ("neg", "pos"):
        rows = FRAME[FRAME["label"] == word]
        (path / f"label={word}").mkdir()
        rows[["text"]].to_parquet(path / f"label={word}" / "part-0.parquet")
    return path


@pytest.mark.parametrize("backwards", [False, True])
def test_rows_of_a_folder_come_in_one_order_whatever_the_disk_has(
    tmp_path, monkeypatch, backwards
):
    glob = Path.glob

    def listed(folder, pattern):
        return iter(sorted(glob(folder, pattern), reverse=backwards))

    monkeypatch.setattr(Path, "glob", listed)
    corpus = load_corpus(hive(tmp_path), min_count=1)
    assert corpus.labels.tolist() == NUMBERS


def ended(end):
    """Return the case of lines with this ending, and another line end in each text."""
    texts = [t.replace(",", "") for t in TEXTS]
    within = " " if end == "\r" else "\r"
    rows = zip((t.replace(" ", within, 1) for t in texts), WORDS, strict=True)
    written = end.join(["text,label", *map(",".join, rows)]) + end
    return Case(mine(written), texts)


def polars_frame(_):
    import polars  # by the process that needs it, not by each that collects

    return polars.from_dicts(RECORDS)


def bunch(data=None):
    named = {"target": NUMBERS, "target_names": ["neg", "pos"], "DESCR": "films"}
    return {"data": [t.encode() for t in TEXTS] if data is None else data} | named


def without(texts, labels, at, what):
    """Return the case of a frame without the row at the position `at`."""
    kept = [i for i in range(len(texts)) if i != at]
    plain = ["é x", *("y" for _ in kept[1:])]
    warning = rf"1 of {len(texts)} rows .* without {what} \(row {at}\)"
    table = pd.DataFrame({"text": texts, "label": labels})
    return Case(table, plain, ["a", "b"], warning)


LISTS = "the texts of 'text' are lists of tokens; they are joined"
DELIMITED = {
    "commas": mine(csv()),
    "another name": Case(
        mine(csv().replace("text,label", "review,verdict")),
        options={"text": "review", "label": "verdict"},
    ),
    "Excel's CSV": mine("\ufeff" + csv(";")),
    "tabs in .tsv": file("mine.tsv", csv("\t")),
    "tabs in .txt": file("mine.txt", csv("\t")),
    "tabs in .csv": mine(csv("\t")),
    "semicolons in .tsv": file("mine.tsv", csv(";")),
    "bars": mine(csv("|")),
    "a line that says the separator": mine("sep=;\r\n" + csv(";")),
    "rows that begin with #": Case(
        mine(csv(header=False, texts=TAGGED)), TAGGED, options=FIRST_TWO
    ),
    "names in capitals": mine(csv().replace("text,label", "Text,LABEL")),
    "spaces around names": mine(csv().replace("text,label", " text , label")),
    "an index": mine(FRAME.to_csv(sep=";")),
    "numbered rows without a name": mine(
        "text;label\n" + FRAME.to_csv(sep=";", header=False)
    ),
    "other columns": mine(FRAME.assign(u=STARS).to_csv(index=False)),
    "no line of names": Case(mine(csv(header=False)), options=FIRST_TWO),
    "tabs in a file without ending": Case(
        file(
            "mine", csv("\t", texts=[t.replace(",", "") for t in TEXTS], header=False)
        ),
        [t.replace(",", "") for t in TEXTS],
        options=FIRST_TWO,
    ),
    "a separator that a first line decides": Case(
        mine("sep=\t\n" + csv("\t", header=False)), options=FIRST_TWO
    ),
    "columns by their places": Case(
        mine(lines('7,{2},"{1}"\n')), options={"text": 2, "label": 1}
    ),
    "columns by their places, as a shell names them": Case(
        mine(lines('7,{2},"{1}"\n')), options={"text": "2", "label": "1"}
    ),
    "no ending": file("mine", csv()),
    "separators and line breaks in quotes": Case(mine(csv(";", texts=LINES)), LINES),
    "spaces before quotes": mine("id, text, label\n" + lines('{0}, "{1}", {2}\n')),
    "rows that end in a separator": mine("text;label\n" + lines("{1};{2};\n")),
    "a first text of 200,000 characters": Case(
        mine(csv(header=False, texts=LONG)), LONG, options=FIRST_TWO
    ),
    "a text without a known token": Case(
        mine(csv(texts=[*TEXTS, "?"], labels=[*WORDS, "pos"])),
        warning="1 of 41 rows .* 1 without known token",
        options={"vocab": Vocab(["film"])},
    ),
    "line feeds": ended("\n"),
    "carriage returns and line feeds": ended("\r\n"),
    "carriage returns": ended("\r"),
    # Of two texts
    "a mark before quotes": two('\ufeff"text","label"\n' + ROWS),
    "no last line end": two(TABLE[:-1]),
    "blank lines": two(TABLE.replace("\n", "\n\n") + "\n\n"),
    "labels in quotes": two('text,label\na bad film,"0"\na good film,"1"\n'),
    "spaces around labels": two("text,label\na bad film, 0\na good film, 1\n"),
    "a word of 1 MB": added("x" * 1_000_000),
    "control characters": added("a\v\f\x1a\x85\u2028"),
    "emoji": added("good 👍🏽 👨‍👩‍👧"),
    "combining": added("cafe\u0301", "caf\u00e9"),
    "zero width": added("go\u200bod \u200d"),
    "a quote within": added('a "good" one'),
    "one quote within": added('a "good one'),
    "doubled quotes": added('"a ""good"", one"', 'a "good", one'),
    "a line break within": added('"a\r\ngood one"', "a\r\ngood one"),
    "words for nothing": two("text,label\nNA,0\nnan,1\n", ("NA", "nan")),
    "numbers": two("text,label\n007,0\n1.50,1\n", ("007", "1.50")),
    "dates": two("text,label\n2020-01-02,0\ntrue,1\n", ("2020-01-02", "true")),
    "numbers after many words": two(
        "text,label\n" + MANY + "007,0\n" * 20_000,
        ("a film", "b film") * 10_000 + ("007",) * 20_000,
        (0, 1) * 10_000 + (0,) * 20_000,
    ),
    "a row of a comma": left_out(",\n", r"1 without text \(row 2\)"),
    "a row without label": left_out("a film\n", r"1 without label \(row 2\)"),
    "no text": left_out(",1\n", r"1 without text \(row 2\)"),
    "empty quotes": left_out('"",1\n', r"1 without text \(row 2\)"),
    "spaces only": left_out("   ,1\n", r"1 without text \(row 2\)"),
    "words for no label": left_out(
        "a,NA\nb,nan\nc,None\nd,null\ne, \n", r"5 without label \(rows 2, 3, 4, 5, 6\)"
    ),
    "six missing labels": left_out("a,\n" * 6, r"6 .* 4, 5, 6, (\.{3}|7)\)"),
    "a label that is missing far down": two(
        "text,label\n" + MANY + "a film,\n",
        ("a film", "b film") * 10_000,
        (0, 1) * 10_000,
        warning=r"1 of 20,001 .* label \(row 20000\)",
    ),
}
LABELS = {
    "booleans": classes("false", "TRUE", expected=(False, True)),
    "-1 and 1": classes(-1, 1),
    "stars": classes(*STARS),
    "gaps": classes(0, 2**40),
    "too large for any integer type": classes(0, 2**70),
    "whole floats": classes("0.0", "1.0", expected=(0, 1)),
    "words": classes("yes", "no"),
    "numbers and words": classes("b", 10, 9),
    "stars by value": classes("10", "9", "1", expected=(10, 9, 1)),
    "a thousand": classes(0, '"1,000"', expected=(0, "1,000")),
    "inf": classes(0, "inf"),
    "10,000 classes": classes(*range(10_000)),
    "categories": FRAME.astype({"label": "category"}),
    "integers that may be missing": Case(
        FRAME.assign(label=pd.array([*NUMBERS[1:], None], dtype="Int64")),
        TEXTS[:-1],
        NUMBERS[1:],
        "1 of 40 rows .* 1 without label",
    ),
    "words with empty ones": Case(
        FRAME.assign(label=[None, *WORDS[1:-1], ""]),
        TEXTS[1:-1],
        WORDS[1:-1],
        "2 of 40 rows .* 2 without label",
    ),
    "words and numbers": Case(
        FRAME.assign(label=[*WORDS[:20], *NUMBERS[20:]]),
        labels=[*WORDS[:20], *NUMBERS[20:]],
    ),
    "lists of one label": FRAME.assign(label=[[w] for w in WORDS]),
    "lists of one label in strings": mine(csv(labels=[f"['{w}']" for w in WORDS])),
    "JSON of one choice": mine(
        csv(labels=[f'{{"choices": ["{w}"]}}' if w == "pos" else w for w in WORDS])
    ),
    "a missing value of a database": Case(
        FRAME.assign(label=["\\N", *WORDS[1:]]),
        TEXTS[1:],
        WORDS[1:],
        "1 of 40 rows .* 1 without label",
    ),
    "sets in two orders": Case(
        FRAME.assign(label=["a#b", "b#a", "a", "b"] * 10),
        labels=["a#b", "b#a", "a", "b"] * 10,
        warning="20 rows have several labels, such as 'a#b'; each comb",
    ),
    "separators in names": Case(
        FRAME.assign(label=["C#", "1,000", "a/b", "pop & rock"] * 10),
        labels=["C#", "1,000", "a/b", "pop & rock"] * 10,
    ),
    "lists, one of them empty": without(
        ["é x", "y", "z"], [["a"], ["b"], []], 2, "label"
    ),
    "lists, one of them missing": without(
        ["é x", "z", "y"], [["a"], None, ["b"]], 1, "label"
    ),
}
LABELS |= {
    f"{code} for no label{where}": Case(
        make(labels=[0, 1, 2, code] * 10),
        labels=[0, 1, 2, code] * 10,
        warning=f"10 rows have the label {code}, which .* marks a missing label",
    )
    for code in (-1, -100)
    for where, make in {
        "": lambda labels: FRAME.assign(label=labels),
        " in a CSV": lambda labels: mine(csv(labels=labels)),
    }.items()
}
ENCODED = {
    "Windows letters": Case(
        mine(csv(";", texts=CAFE).encode("cp1252")),
        CAFE,
        warning="read as Windows-1252",
    ),
    "UTF-16, as Excel's Unicode text": Case(
        file("mine.txt", csv("\t", texts=CAFE).encode("utf-16")), CAFE
    ),
    "JSON in UTF-16": file("mine.json", as_json().encode("utf-16")),
    "UTF-8 with a damaged letter": Case(
        mine(csv(texts=CAFE).encode()[:-8] + b'\xe9",pos\n'),
        [*CAFE[:-1], CAFE[-1][:-1] + "\ufffd"],
        warning="1 byte is not UTF-8, unlike the rest of the file",
    ),
    "halves of emoji in JSON": Case(
        file(
            "m.json", as_json().replace("film,", r"film \ud83d\ud83d\udc4d\udc4d,", 1)
        ),
        [TEXTS[0].replace("film,", "film \ufffd👍\ufffd,"), *TEXTS[1:]],
    ),
    "a zip made by a Mac": zipped("mine.zip", folder___mine__csv=csv()),
    "a zip of a path": zipped("mine.zip", **{"./mine.csv": csv()}),
    "a zip of a path outside": zipped("mine.zip", **{"../../mine.csv": csv()}),
    "gzip": file("mine.csv.gz", gzip.compress(csv().encode())),
    "zst": zst,
    "bz2": binary("to_json", "mine.json.bz2"),
    "xz, in capitals": lambda p: (
        FRAME.to_csv(p / "MINE.TSV.xz", sep="\t") or p / "MINE.TSV.xz"
    ),
}
OTHER_FILES = {
    "JSON lines": file("mine.jsonl", as_json(lines=True)),
    "JSON lines called JSON": file("mine.json", as_json(lines=True)),
    "JSON lines with another ending": file("mine.ndjson", as_json(lines=True)),
    "one list of JSON records": file("mine.json", as_json()),
    "records under a key": file("m.json", f'{{"by": 1, "data": {as_json()}}}'),
    "JSON of columns": file("mine.json", as_json("columns")),
    "JSON of lists": file("mine.json", json.dumps(FRAME.to_dict("list"))),
    "JSON without an ending": file("mine", as_json()),
    "JSON by row": file("mine.json", as_json("index")),
    "JSON of columns and rows": file(
        "mine.json", FRAME[["label", "text"]].to_json(orient="split")
    ),
    "JSON of splits": file("m.json", f'{{"test": [], "train": {as_json()}}}'),
    "tokens in JSON lines": Case(
        file("m.jsonl", json_lines(lambda _, t, w: {"text": t.split(), "label": w})),
        warning=LISTS,
    ),
    "records within JSON": Case(
        file("mine.jsonl", json_lines(nested)),
        options={"text": "review.body", "label": "verdict.name"},
    ),
    "records within Parquet": Case(
        binary(
            "to_parquet",
            "m.parquet",
            pd.DataFrame([nested(*r) for r in FRAME.itertuples()]),
        ),
        options={"text": "review.body", "label": "verdict.name"},
    ),
    "Parquet": binary("to_parquet", "mine.parquet"),
    "Feather": binary("to_feather", "mine.feather"),
    "ORC": binary("to_orc", "mine.orc"),
    "Stata": binary("to_stata", "mine.dta"),
    "an Arrow file": arrow(pa.ipc.new_file),
    "an Arrow stream": arrow(pa.ipc.new_stream),
    "folders of texts": class_folders,
    "the folder of IMDB": Case(imdb_folder, warning="1 of 41 rows .* 1 without label"),
    "what save_to_disk wrote": saved(DATA),
    "splits that save_to_disk wrote": saved(datasets.DatasetDict(train=DATA)),
    "numbered parts": parts,
    "a pattern": Case(
        lambda p: parts(p) / "train-*.csv",
        [TEXTS[2 * i + j] for i in sorted(range(20), key=str) for j in (0, 1)],
        [WORDS[2 * i] for i in sorted(range(20), key=str) for _ in (0, 1)],
    ),
    "two parts of two kinds": Case(
        lambda p: folder(p_1__csv=csv(), p_2__txt=csv("\t"))(p) / "p_*",
        TEXTS * 2,
        WORDS * 2,
    ),
    "a folder of Parquet by label": hive,
    "a file and what it is about": folder(README__txt="text", mine__csv=csv()),
    "a folder of splits": folder(train__csv=csv(), test__csv=TABLE),
    "splits below a folder": folder(
        **{"data___test__csv": TABLE, "data___train-00000-of-00001__csv": csv()}
    ),
    "a path from home": lambda p: mine(csv())(p) and "~/mine.csv",
    "a URL": lambda p: mine(csv())(p).as_uri(),
}
IN_MEMORY = {
    "a data frame": FRAME,
    "a datasets.Dataset": DATA,
    "a DatasetDict": datasets.DatasetDict(train=DATA),
    "a streamed data set": DATA.to_iterable_dataset(),
    "records": RECORDS,
    "a generator of records": lambda _: iter(RECORDS),
    "pairs": list(zip(TEXTS, WORDS, strict=True)),
    "named tuples": list(FRAME.itertuples(index=False)),
    "an array of pairs": FRAME.to_numpy(),
    "texts and labels": (TEXTS, WORDS),
    "two Series": (pd.Series(TEXTS), pd.Series(WORDS, range(7, 47))),
    "lists by name": FRAME.to_dict("list"),
    "arrays by name": {"text": np.array(TEXTS), "label": np.array(WORDS)},
    "tables by split": {"train": FRAME, "test": FRAME[:2]},
    "a polars frame": polars_frame,
    "a lazy polars frame": lambda path: polars_frame(path).lazy(),
    "an Arrow table": ARROW,
    "an open file of text": lambda _: io.StringIO(csv(";")),
    "an open file of bytes": lambda _: io.BytesIO(csv().encode("utf-16")),
    "the bytes of a file": csv().encode(),
    "a Bunch": bunch(),
    "texts as bytes": FRAME.assign(text=[t.encode() for t in TEXTS]),
    "bytes, one missing": without(
        ["é x".encode(), None, b"y"], ["a", "b", "b"], 1, "text"
    ),
    "columns without names": Case(
        FRAME.assign(id=7)[["id", "label", "text"]].set_axis(range(3), axis=1),
        options={"text": 2, "label": 1},
    ),
    "lists of tokens": Case(
        FRAME.assign(text=[t.split() for t in TEXTS]), warning=LISTS
    ),
    "two columns of texts": Case(
        FRAME.assign(title=[None, *(f"title {i}" for i in range(39))]),
        [f"\n{TEXTS[0]}", *(f"title {i}\n{t}" for i, t in enumerate(TEXTS[1:]))],
        options={"text": ["title", "text"]},
    ),
}
CASES = DELIMITED | LABELS | ENCODED | OTHER_FILES | IN_MEMORY


def made(source, path):
    return source(path) if callable(source) else source


@pytest.mark.parametrize("what", CASES)
def test_what_people_have_loads_as_it_is(tmp_path, monkeypatch, what):
    monkeypatch.setenv("HOME", str(tmp_path))
    case = CASES[what] if isinstance(CASES[what], Case) else Case(CASES[what])
    source, texts, labels, warning, options = case
    if "vocab" not in options:
        options = {"min_count": 1} | options
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        corpus = load_corpus(made(source, tmp_path), **options)
    messages = [str(w.message) for w in caught if w.category is UserWarning]
    assert corpus.texts == tuple(texts)
    assert [corpus.classes[k] for k in corpus.targets] == list(labels)
    in_order = sorted(set(labels), key=lambda name: (isinstance(name, str), name))
    assert corpus.classes == tuple(in_order)
    assert len(messages) == (warning is not None)
    assert re.search(warning or "", "".join(messages))
    if corpus.left_out:
        with pytest.raises(ValueError, match=warning):
            load_corpus(made(source, tmp_path), **options, on_bad_rows="error")


NO_UTF_8 = (
    "it is not UTF-8 .*letters .* of {0}.* `import pandas; pandas.read_csv.*'{0}'"
)
BYTES = pa.array([b"\xff", b"b"])  # no letters of UTF-8
RAGGED = "mine.csv .* rows of more fields than its first line.*"
SEVERAL = r"labels: \['a', 'b'\] in column 'label'"
BROKEN = {"text": ["a", "b"], "label": [0, 1]}


def parquet(**columns):
    def write(path):
        table = pa.table(BROKEN | columns)
        pyarrow.parquet.write_table(table, path / "mine.parquet")
        return path / "mine.parquet"

    return write


# Sources that cause a message, by message.
ERRORS = {
    # Nothing, or no table
    f"'imbd'; .*{', '.join(CORPORA)}; files end in": "imbd",
    "source: expected a name, path or table, got .*int": 3,
    "source: expected a name, path or table, got .*None": None,
    "there is no file '.*a.csv' in /": lambda p: p / "a.csv",
    r"mine.csv cannot be read .*it is empty\)$": mine("\n\n"),
    "a NUL byte, so it is binary, or UTF-16 w": mine(TABLE + "a \0 fi\0lm,1\n"),
    "a NUL byte, so it is binary": mine(b"ID3\x03\xff\xfe\x80\0\x81a"),
    "one column 'text', got A film that was long.; name": file(
        "m.txt", "A film that was long.\nBad.\n"
    ),
    "contains no table; give its texts and labels as a table of two columns": file(
        "mine.pdf", b"%PDF"
    ),
    r"m.xlsx cannot be read .*\); save it as CSV in a spreadsheet": zipped("m.xlsx"),
    "not fetched .*; connect .*, or download the file and read 'mine.csv'": "http://127.0.0.1:9/mine.csv",
    r"If pandas can open the .*`import pandas; .*\('s3://mine": "s3://mine/mine.csv",
    # Damaged, or in other letters
    "m.json cannot be .*pandas.read_json": file("m.json", "хор".encode("cp1251")),
    "junk.arrow cannot be": file("junk.arrow", bytes(range(256))),
    "cut.json cannot be": file("cut.json", '[{"text": "good", "label"'),
    "m.jsonl cannot .*line 2 is not JSON": file("m.jsonl", '{"text": "a"}\n{"text\n'),
    "cut.csv.gz cannot be read as a table": file(
        "cut.csv.gz", gzip.compress(b"text,label\na,1\n", mtime=0)[:-9]
    ),
    "plain.csv.zip cannot be read": file("plain.csv.zip", TABLE),
    "c.parquet cannot be read": file("c.parquet", b"PAR1 and then"),
    "mine.parquet .*utf-8": parquet(text=BYTES.view("string")),
    NO_UTF_8.format("cp1251"): mine("text,label\nфильм,1\n".encode("cp1251")),
    NO_UTF_8.format("shift_jis"): mine(
        "text,label\n映画は良い 物語だった,1\n".encode("shift_jis") * 9
    ),
    NO_UTF_8.format("gb18030"): mine(
        "text,label\n电影很好 故事不错,1\n".encode("gb18030") * 9
    ),
    # Rows that do not fit
    f"{RAGGED} put double": mine("text,label\n'a, b',1\n'c, d',0\n"),
    "Expected 2 fields in line 4, saw 3.*needs quotes; to": mine(TABLE + "a, b,1\n"),
    "3 texts and 2 labels": (TEXTS[:3], [0, 1]),
    # Columns
    "one column 'text', got a bad film, 0; name": mine(ROWS),
    "one column 'text', got # a film": mine("# a film,1\n# b film,0\n"),
    "one column 'text', got , ; name": mine(",\n,\n"),
    "one column 'text', got label": mine("label\n0\n1\n"),
    "one column 'label', got text;": mine("text\na\nb\n"),
    "expected one column 'label', got 0; name your": TEXTS,
    "expected one column 'label', got text, stars; name your columns with text= and "
    "label=, or give their positions, from 0, if the first line contains no names": {
        "text": ["a"],
        "stars": [1],
    },
    "got text, label, text": mine("text,label,text\na,0,b\n"),
    "got text, label, label": mine("text,label,label\na,0,1\n"),
    "got 0, 1, .*, 19, ...; name your": pd.DataFrame(np.eye(30)),
    "'text', got 7, neg, .* give their positions, from 0": mine(lines('7,{2},"{1}"\n')),
    "review.by.id, verdict.name; name": file("m.json", json_lines(nested)),
    "a Bunch of numbers; expected texts as": bunch(np.eye(4)),
    # Labels
    r"labels: \['a', 'b'\] in column 'label' contains several labels; expected one": {
        "text": TEXTS[:3],
        "label": [[], ["a"], ["a", "b"]],
    },
    "labels: {'a'} in column 'label' is a set; expected one string": {
        "text": TEXTS[:2],
        "label": [{"a"}, {"b"}],
    },
    f"{SEVERAL} contains": mine(csv(labels=["['a', 'b']"] * 40)),
    f"{SEVERAL} cont": mine(csv(labels=['{"choices": ["a", "b"]}', *WORDS[1:]])),
    "every row has 1; expected two classes": mine(labelled(1, 1, 1)),
    "every row has 'x'": mine(labelled("", "", "x")),
    "labels: '0.5' names no class; .* cut scores into classes first": mine(
        labelled(0, 0.5)
    ),
    # Rows
    "there is no row; expected one or more$": mine("text,label\n"),
    "no row can be used: 2 without": mine("text,label\n,\n,\n"),
    r"2 without text \(rows 0, 1\)$": parquet(text=[1, 2]),
    r"2 without label \(rows 0, 1\)$": parquet(label=pa.nulls(2)),
    # Several files
    "5 files, a.* d, e; unpack it": zipped("a.zip", **dict.fromkeys("abcde", "")),
    r"d, e, \.\.\.; unpack it": zipped("a.zip", **dict.fromkeys("abcdef", "")),
    r"a.zip cannot be read as a table \(it is empty\)": zipped("a.zip"),
    r"expected one train.csv or the like, got \['a.csv', 'b.csv'\]; pass one of them "
    r"or, if all are parts of one table, the pattern '.*\*.csv'$": folder(
        a__csv=TABLE, b__csv=TABLE
    ),
    "expected one train.csv or the": folder(train__csv="", train__jsonl=""),
    "or one folder of texts per class; it is empty": lambda p: p,
    r"texts per class; got \['pos'\]": folder(pos___1__txt="A film.\n"),
}


# The tests' own filter must not turn this warning into an error.
@pytest.mark.filterwarnings("ignore:Length of header or names")
@pytest.mark.parametrize("message", ERRORS)
def test_what_cannot_load_says_what_to_write(tmp_path, caplog, monkeypatch, message):
    monkeypatch.setattr(logging.getLogger("datasets"), "handlers", [caplog.handler])
    with pytest.raises((TypeError, ValueError, KeyError), match=message):
        load_corpus(made(ERRORS[message], tmp_path), min_count=1)
    assert not caplog.records  # the error says it all


@pytest.mark.parametrize("marked", ["answer", "header"])
def test_a_row_that_is_no_example_is_left_out_and_told(tmp_path, marked):
    table = FRAME.assign(answer=["reject", "ignore", *["accept"] * 38])
    message, left = "2 rows have the answer 'reject' or 'ignore' in", [0, 1]
    if marked == "header":
        table = pd.concat([FRAME, pd.DataFrame([{"text": "text", "label": "label"}])])
        message, left = r"the names of the columns are left out \(index 40\)$", [40]
    path = mine(table.to_csv(index=False))(tmp_path)
    with pytest.warns(UserWarning, match=message):
        corpus = load_corpus(path, min_count=1, on_bad_rows="ignore")
    assert corpus.left_out == {"label": left}
    assert corpus.texts == tuple(t for i, t in enumerate(TEXTS) if i not in left)
    everyone = FRAME.assign(answer=["yes", "accept"] * 20)  # which says something else
    assert len(load_corpus(everyone, min_count=1)) == 40


HELD_OUT = "one table without a split 'test', and training rows cannot"
NO_TEST = {
    "a file": mine(TABLE),
    "a frame": FRAME,
    "texts and labels": (TEXTS, WORDS),
    "JSON": file("mine.json", as_json()),
    "folders of texts": class_folders,
    "a pattern": lambda p: parts(p) / "*.csv",
    "a folder of one table": folder(mine__csv=TABLE),
    "train alone": folder(train__csv=TABLE),
    "JSON of a training split": file("mine.json", f'{{"train": {as_json()}}}'),
}
NO_SPLIT = {
    "train alone": "contains train, but no test",
    "JSON of a training split": r"split: expected one of \['train'\], got 'test'",
}


@pytest.mark.parametrize("what", NO_TEST)
def test_nothing_is_called_a_test_set_that_is_not(tmp_path, what):
    with pytest.raises(ValueError, match=NO_SPLIT.get(what, HELD_OUT)):
        load_corpus(made(NO_TEST[what], tmp_path), "test")


def test_a_file_that_is_called_test_is_the_test_split(tmp_path):
    path = file("reviews_test.csv", csv())(tmp_path)
    assert len(load_corpus(path, "test", min_count=1)) == 40
    imdb_folder(tmp_path)
    assert len(load_corpus(tmp_path, "test", min_count=1)) == 2


def test_a_test_split_has_the_classes_of_its_training_split(tmp_path):
    folder(train__csv=csv(), test__jsonl=as_json(lines=True))(tmp_path)
    train = load_corpus(tmp_path, min_count=1)
    test = load_corpus(tmp_path, "test", vocab=train.vocab)
    assert test.vocab == train.vocab and test.labels.tolist() == NUMBERS
    texts = mine(FRAME[["text"]].to_csv(index=False))(tmp_path)
    new = load_corpus(texts, vocab=train.vocab, label=None)
    assert new.labels is None and new.classes == train.classes and len(new) == 40
    few = load_corpus(FRAME[-2:], vocab=train.vocab)
    assert (few.classes, few.labels.tolist()) == (("neg", "pos"), [1, 1])
    with pytest.raises(ValueError, match="every row has 'pos'"):
        load_corpus(FRAME[-2:], min_count=1)
    with pytest.raises(
        ValueError, match="'w' in row 1 is not one of the classes neg, pos"
    ):
        load_corpus((["a film", "b"], ["pos", "w"]), vocab=train.vocab)


def workbook(*sheets):
    """Return a function that writes sheets, each a list of rows of strings."""
    space = "http://schemas.openxmlformats.org/{}/2006/"
    kinds = f"{space.format('officeDocument')}relationships"
    main = f"xmlns='{space.format('spreadsheetml')}main'"
    numbers = range(1, len(sheets) + 1)

    def written(rows):
        cell = "<c t='inlineStr'><is><t>{}</t></is></c>"
        inner = ("".join(map(cell.format, row)) for row in rows)
        data = "".join(f"<row>{row}</row>" for row in inner)
        return f"<worksheet {main}><sheetData>{data}</sheetData></worksheet>"

    def links(kind, *targets):
        link = f"<Relationship Id='r{{}}' Type='{kinds}/{kind}' Target='{{}}'/>"
        inner = "".join(link.format(i, target) for i, target in enumerate(targets, 1))
        of = f"xmlns='{space.format('package')}relationships'"
        return f"<Relationships {of}>{inner}</Relationships>"

    names = "".join(f"<sheet name='s{i}' sheetId='{i}' r:id='r{i}'/>" for i in numbers)
    files = {f"xl___s{i}__xml": written(rows) for i, rows in enumerate(sheets, 1)}
    files["_rels/.rels"] = links("officeDocument", "xl/workbook.xml")
    files["xl/workbook.xml"] = (
        f"<workbook {main} xmlns:r='{kinds}'><sheets>{names}</sheets></workbook>"
    )
    sheet_files = [f"s{i}.xml" for i in numbers]
    files["xl/_rels/workbook.xml.rels"] = links("worksheet", *sheet_files)
    return zipped("mine.xlsx", **files)


CELLS = [["text", "label"], *zip([*TEXTS[:-2], "007", "NA"], WORDS, strict=True)]


def test_a_sheet_with_the_names_is_read_as_text(tmp_path):
    path = workbook([["notes"], ["of 2024"]], CELLS)(tmp_path)
    corpus = load_corpus(path, min_count=1)
    assert corpus.texts == (*TEXTS[:-2], "007", "NA")
    path = workbook([["text", "label"], ["a_x000D_\nb", "x"], ["c", "y"]])(tmp_path)
    assert load_corpus(path, min_count=1).texts == ("a\nb", "c")


def test_a_title_and_merged_cells_of_a_sheet_are_named(tmp_path):
    path = workbook([["Films", ""], ["", ""], *CELLS])(tmp_path)
    with pytest.raises(ValueError, match="are in the sheet 's1' in line 3; delete the"):
        load_corpus(path)
    merged = [[t, w if i % 20 == 1 else ""] for i, (t, w) in enumerate(CELLS)]
    path = workbook([CELLS[0], *merged[1:]])(tmp_path)
    with pytest.warns(
        UserWarning, match="'label' is empty in 38 of 40 rows, as merged"
    ):
        load_corpus(path, min_count=1, on_bad_rows="ignore")


CHINESE = ["这部电影很好看演员也很好", "这部电影太差了真的不好看"] * 20
THAI = ["หนังเรื่องนี้ดีมาก", "หนังเรื่องนี้แย่มาก"] * 20


@pytest.mark.parametrize("texts", [CHINESE, THAI], ids=["Chinese", "Thai"])
def test_a_script_without_spaces_is_split_by_a_function(texts):
    source = texts, [1, 0] * 20
    with pytest.warns(UserWarning, match="tokens are clauses, .* tokenize=jieba.lcut"):
        load_corpus(source)
    corpus = load_corpus(source, tokenize=list, min_count=1)
    assert set(corpus.vocab) == set("".join(texts))
    assert "".join(piece for piece, _ in corpus.words(0)) == texts[0]
    assert all(token >= 0 for _, token in corpus.words(0))
    spaced = load_corpus((["a b", "b a"] * 5, [0, 1] * 5), tokenize=list, min_count=1)
    assert spaced.vocab == ("a", "b")
    # New texts are split as those of their vocabulary were.
    new = load_corpus(source, vocab=corpus.vocab)
    assert (new.counts != corpus.counts).nnz == 0
    assert new.most_frequent(5).vocab.tokenize is list


FORMATS = {
    "CSV": lambda p, t: t.to_csv(p / "m.csv", index=False) or p / "m.csv",
    "JSON": lambda p, t: t.to_json(p / "m.json", orient="records") or p / "m.json",
    "Parquet": lambda p, t: t.to_parquet(p / "m.parquet") or p / "m.parquet",
    "a frame": lambda _, t: t,
}


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize(
    ("names", "classes", "warning"),
    [
        (["None", "racism", None], ("None", "racism"), "10 rows have the label 'None'"),
        (["NA", "EU", "nan"], ("EU", "NA"), "10 rows have the label 'NA'"),
        (["1", "2", "None"], (1, 2), ""),
        (["01", "1", "2"], ("01", "1", "2"), ""),
    ],
)
def test_each_format_has_the_same_classes(tmp_path, kind, names, classes, warning):
    table = pd.DataFrame({"text": TEXTS[:30], "label": names * 10})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        corpus = load_corpus(
            FORMATS[kind](tmp_path, table), min_count=1, on_bad_rows="ignore"
        )
    assert corpus.classes == classes
    assert len(corpus) == 10 * len(classes)
    assert bool(caught) == bool(warning)
    assert warning in " ".join(str(one.message) for one in caught)
    name = names[1] if names[1] in classes else int(names[1])
    part = load_corpus(table[table["label"] == names[1]], vocab=corpus.vocab)
    assert {part.classes[k] for k in part.targets} == {name}


# Samples of large tables


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(delimited, "LARGE", 1000)
    monkeypatch.setattr(delimited, "PIECE", 21)
    monkeypatch.setattr(files, "MOST", 5000)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(
    ("name", "header"), [("mine.zip", True), ("mine.csv", True), ("mine.csv", False)]
)
def test_a_large_table_is_read_in_pieces_for_a_sample(tmp_path, name, header):
    texts = [f'{t}, "so"\nit is {i}' for i in range(9) for t in TEXTS]
    texts[5] += 1000 * " long"
    table = csv(labels=WORDS * 9, texts=texts, header=header)
    source = (zipped(name, a__csv=table) if ".zip" in name else mine(table))(tmp_path)
    options = {"min_count": 1} | ({} if header else FIRST_TWO)
    if name == "mine.zip":
        with pytest.raises(ValueError, match=r"zip .*unpacks to more .* limit="):
            load_corpus(source)
    corpus = load_corpus(source, limit=50, **options)
    assert corpus.labels.bincount().tolist() == [25, 25]
    places = [texts.index(text) for text in corpus.texts]
    assert len(set(places)) == 50 and max(places) > 300
    assert [NUMBERS[i % 40] for i in places] == corpus.labels.tolist()
    everything = load_corpus(source, limit=360, **options)
    assert set(everything.texts) == set(texts)


@pytest.mark.usefixtures("small_pieces")
def test_what_unpacks_to_too_much_is_refused_on_the_way(tmp_path):
    source = tmp_path / "mine.csv.gz"
    source.write_bytes(gzip.compress(csv(labels=WORDS * 9, texts=TEXTS * 9).encode()))
    with pytest.raises(ValueError, match=r"gz .*unpacks to more .* limit="):
        load_corpus(source)
    source = source.rename(tmp_path / "mine.json.gz")
    with pytest.raises(ValueError, match=r"more than 0 GB; unpack it first\)$"):
        load_corpus(source, limit=50)


@pytest.mark.usefixtures("small_pieces")
def test_rows_without_label_are_counted_in_a_sample_too(tmp_path):
    source = mine(csv(labels=[None, *WORDS[1:]] * 9, texts=TEXTS * 9))(tmp_path)
    with pytest.warns(UserWarning, match=r"9 without label \(rows 0, 40, 80, "):
        load_corpus(source, limit=50, min_count=1)
