"""Each line of code in a refusal is run, and solves the problem."""

import io
import re
import shlex
import sqlite3
import subprocess
import sys
import tarfile
import urllib.request
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from test_inputs import binary, file, mine, zipped

import attnsel
from attnsel.texts.loading import load_corpus
from attnsel_report.command import in_shell, main
from attnsel_report.whole_tables import load_table

pytestmark = pytest.mark.usefixtures("alone")
TEXTS = [f"a {w} film, number {i}" for i in range(40) for w in ("bad", "good")]
TABLE = pd.DataFrame({"text": TEXTS, "label": ["neg", "pos"] * 40})


CSV = TABLE.to_csv(index=False)
QUOTING = TABLE.assign(text=[text.replace("film", '"film"') for text in TEXTS])


def database(path):
    with closing(sqlite3.connect(path / "mine.sqlite")) as opened:
        TABLE.to_sql("films", opened, index=False)
    return path / "mine.sqlite"


def archive(path):
    (path / "train.csv").write_text(CSV)
    with tarfile.open(path / "mine.tar.gz", "w:gz") as opened:
        opened.add(path / "train.csv", "train.csv")
    return path / "mine.tar.gz"


def unread(ending, reader, found=TABLE):
    """Return a function that writes a file, and replaces the library that reads it."""

    def made(path, monkeypatch):
        monkeypatch.setattr(pd, reader, lambda *_, **__: found)
        (path / f"mine{ending}").write_bytes(b"x")
        return path / f"mine{ending}"

    return made


def quoted(*rows, sep="\t", columns="text label", names=True):
    """Return a function that writes a file; texts of some rows begin with a quote."""
    table = TABLE.assign(text=stray(*rows), id=range(80))[columns.split()]
    lines = [sep.join(map(str, row)) for row in table.to_numpy()]
    head = [sep.join(table.columns)] if names else []
    return mine("\n".join([*head, *lines]) + "\n")


def stray(*rows):
    return [f'"{t}' if i in rows else t for i, t in enumerate(PLAIN)]


def skipped(content):
    """Return a function that writes a file with two rows of three fields."""
    return mine(content + f"a{SEP}b{SEP}neg\nc{SEP}d{SEP}pos\n")


PLAIN = [text.replace(",", "") for text in TEXTS]
SEP = ";"
CYRILLIC = [text.replace("film, number", "фильм номер") for text in TEXTS]
ROWS = TABLE.assign(text=[f"café {t}" for t in TEXTS]).to_csv(index=False, sep=SEP)
FIRST_TWO = {"text": 0, "label": 1}
FASTTEXT = "".join(
    f"__label__{y} {t}\n" for t, y in zip(TEXTS, TABLE.label, strict=True)
)


class Refused(NamedTuple):
    """A refused file, and the texts of the table that the proposed line makes."""

    make: Any
    texts: Any = TEXTS
    options: dict[str, Any] = {}  # noqa: RUF012


LINES = {
    "a pickle": binary("to_pickle", "mine.pkl", TABLE),
    "a database": database,
    "an archive": archive,
    "several files": zipped("mine.ZIP", train__csv=CSV, test__csv=CSV),
    "a row too long": skipped(TABLE.assign(text=PLAIN).to_csv(index=False, sep=SEP)),
    "a row too long in other letters": Refused(
        lambda path: mine((skipped(ROWS)(path)).read_text().encode("cp1252"))(path),
        [f"café {t}" for t in TEXTS],
    ),
    "quotes after backslashes": Refused(
        mine(QUOTING.to_csv(index=False, doublequote=False, escapechar="\\")),
        QUOTING.text.tolist(),
    ),
    "two quotes": Refused(quoted(5, 30), stray(5, 30)),
    "two quotes, labels first": Refused(
        quoted(5, 30, columns="label text"), stray(5, 30)
    ),
    "two quotes by semicolons": Refused(quoted(5, 30, sep=";"), stray(5, 30)),
    "two quotes, a column between": Refused(
        quoted(5, 30, columns="text id label"), stray(5, 30)
    ),
    "two quotes, no names": Refused(
        quoted(25, 50, names=False), stray(25, 50), FIRST_TWO
    ),
    "one quote": Refused(quoted(79), stray(79)),
    "two quotes, no label": Refused(quoted(5, 30), stray(5, 30), {"label": None}),
    "two quotes, labels that differ": Refused(
        quoted(5, 30, columns="text label id"), stray(5, 30), {"label": "id"}
    ),
    "two quotes next to another, no label": Refused(
        quoted(5, 6), stray(5, 6), {"label": None}
    ),
    "Cyrillic": Refused(
        mine(TABLE.assign(text=CYRILLIC).to_csv(index=False).encode("cp1251")), CYRILLIC
    ),
    "fastText": file("mine.txt", FASTTEXT),
    "HDF": unread(".h5", "read_hdf"),
    "SPSS": unread(".sav", "read_spss"),
    "SAS": unread(".sas7bdat", "read_sas"),
    "a page": unread(".html", "read_html", [TABLE]),
}
LINES["a row too long"] = Refused(LINES["a row too long"], PLAIN)


def refused(call, *arguments, **options):
    """Return the line of code in a refusal, and the name that it recommends."""
    with pytest.raises((ValueError, SystemExit)) as caught:
        call(*arguments, **options)
    message = str(caught.value)
    (line,) = re.findall("`(.*?)`", message)
    (target,) = re.findall(r"then read (?:the folder )?'(.*?)'", message)
    return line, target


@pytest.mark.parametrize("what", LINES)
@pytest.mark.filterwarnings("ignore:.*label")
def test_a_printed_line_makes_a_table_of_the_same_rows(tmp_path, monkeypatch, what):
    case = LINES[what] if isinstance(LINES[what], Refused) else Refused(LINES[what])
    given = [tmp_path, monkeypatch][: case.make.__code__.co_argcount]
    path = case.make(*given)
    line, target = refused(load_corpus, path, **case.options)
    exec(line, {})
    corpus = load_corpus(target, min_count=1, **case.options)
    assert corpus.texts == tuple(case.texts)
    if not case.options:
        assert [corpus.classes[k] for k in corpus.targets] == TABLE.label.tolist()
        typed, _ = refused(main, ["report", str(path)])
        assert shlex.split(typed)[:2] == ["python", "-c"]
        assert shlex.split(typed)[2] == line


def edited(edit):
    """Return a function that changes the content of a file, as a sentence advises."""

    def follow(path):
        path.write_text(edit(path.read_text()))
        return path

    return follow


def in_utf8(path):
    path.write_text(path.read_bytes().decode("utf-16-le"))
    return path


TABBED = "".join(f"{y}\t{t}\n" for t, y in zip(TEXTS, TABLE.label, strict=True))
# A file and the change to it, by the words of the message.
SENTENCES = {
    "are in line 3; delete the lines above it": (
        mine("# of 2024\n\n" + CSV),
        edited(lambda text: "".join(text.splitlines(True)[2:])),
    ),
    "are in line 1; delete .* and a # at its beginning": (
        mine("#" + CSV),
        edited(lambda text: text[1:]),
    ),
    "a table in Markdown; delete its second line": (
        mine("|text|label|\n|:---|---|\n" + TABLE.to_csv(sep="|", header=False)),
        edited(lambda text: re.sub(r"\n.*", "", text, count=1)),
    ),
    "give their positions, from 0": (
        mine(TABLE.to_csv(index=False, header=False)),
        lambda path: (path, FIRST_TWO),
    ),
    "both ',' and .* may .*; write a line above the rows that consists of sep=": (
        mine(TABBED),
        lambda path: (
            edited(lambda text: f"sep=\t\n{text}")(path),
            {"text": 1, "label": 0},
        ),
    ),
    "byte-order mark. Save it in UTF-8": (mine(CSV.encode("utf-16-le")), in_utf8),
    "give its name the ending of its kind": (
        binary("to_parquet", "mine", TABLE),
        lambda path: path.rename(path.with_suffix(".parquet")),
    ),
    "has no comma after the last item": (
        file("mine.json", TABLE.to_json(orient="records")[:-1] + ",]"),
        edited(lambda text: text.replace(",]", "]")),
    ),
    "JSON is one value, or a record on each line": (
        file("mine.json", TABLE.to_json(orient="records", lines=True, indent=1)),
        edited(lambda text: re.sub(r"\}\s*\{", "}\n{", text.replace("\n", " "))),
    ),
}


@pytest.mark.parametrize("message", SENTENCES)
def test_a_sentence_that_is_followed_gives_the_same_rows(tmp_path, message):
    make, follow = SENTENCES[message]
    path = make(tmp_path)
    options = FIRST_TWO if "sep=" in message else {}
    with pytest.raises((ValueError, KeyError), match=message):
        load_corpus(path, **options)
    followed = follow(path)
    path, options = followed if isinstance(followed, tuple) else (followed, {})
    corpus = load_corpus(path, min_count=1, **options)
    assert corpus.texts == tuple(TEXTS)
    assert [corpus.classes[k] for k in corpus.targets] == TABLE.label.tolist()


def test_a_text_of_many_lines_is_told_where_nothing_says_what_a_row_is(tmp_path):
    path = mine("text\n" + "\n".join(stray(5, 70)) + '"\n')(tmp_path)
    with pytest.raises(ValueError, match="text follows a closing quote"):
        load_corpus(path, label=None)
    texts = [f'{t}"' if i == 70 else t for i, t in enumerate(stray(5))]
    path = mine("text\n" + "\n".join(texts) + "\n")(tmp_path)
    with pytest.warns(UserWarning, match="a text has 66 lines; if they are rows"):
        load_corpus(path, label=None, min_count=1)


def test_the_line_works_in_a_shell(tmp_path):
    make, texts, _ = LINES["a row too long in other letters"]
    typed, target = refused(main, ["report", str(make(tmp_path))])
    typed = typed.replace("python", shlex.quote(sys.executable), 1)
    subprocess.run(typed, shell=True, check=True, timeout=120)
    assert load_corpus(target, min_count=1).texts == tuple(texts)


def test_a_part_is_held_out_by_the_line_of_a_refusal():
    with pytest.raises(ValueError, match="split: .* is one table") as caught:
        load_corpus(TABLE, "test")
    (line,) = re.findall("`(.*?)`", str(caught.value))
    names = {"table": TABLE}
    exec(line, names)
    assert len(load_corpus(names["test"], min_count=1)) == 16
    assert len(load_corpus(names["train"], min_count=1)) == 64


def test_messages_name_the_options_of_the_shell(tmp_path):
    TABLE.rename(columns={"text": "body"}).to_csv(tmp_path / "m.csv", index=False)
    with pytest.raises(SystemExit, match="name your columns with --text and --label"):
        main(["report", str(tmp_path / "m.csv")])
    message = in_shell("say groups='user' or min_count=3; `import x`")
    assert message == "say --groups 'user' or --min-count 3; `python -c \"import x\"`"
    message = in_shell("""say `import x; x.read("it's.pkl").to_csv('mine.csv')`""")
    _, _, line = shlex.split(message.removeprefix("say `").removesuffix("`"))
    assert line == """import x; x.read("it's.pkl").to_csv('mine.csv')"""


def test_a_column_of_groups_is_looked_for_beside_the_others(tmp_path):
    TABLE.assign(user=range(80)).to_csv(tmp_path / "mine.csv", index=False)
    for groups, there in {"film": "user", "label": "user"}.items():
        message = f"of texts and labels, got {there}; pass .* as --groups$"
        with pytest.raises(SystemExit, match=message):
            main(["report", str(tmp_path / "mine.csv"), "--groups", groups])
    with pytest.raises(KeyError, match="got no other; pass .* as groups="):
        attnsel.report(TABLE, groups="user")


def test_a_limit_that_is_none_is_refused():
    for limit in (0, -1):
        with pytest.raises(ValueError, match="limit: expected an integer from 1"):
            attnsel.report(TABLE, limit=limit)


def test_a_limit_above_the_complete_rows_takes_them_all():
    table = TABLE.assign(text=[None, *TEXTS[1:]], label=["neg", None, *TABLE.label[2:]])
    options = {"text": "text", "label": "label", "seed": 0}
    found = load_table(table, "train", limit=79, **options)
    assert (found.texts.notna() & found.labels.notna()).sum() == 78


def test_a_page_that_does_not_answer_is_left(monkeypatch):
    def late(url, timeout=None):
        raise TimeoutError(f"no answer in {timeout:.0f} s")

    monkeypatch.setattr(urllib.request, "urlopen", late)
    with pytest.raises(ValueError, match="was not fetched .no answer in 60 s.; conn"):
        load_corpus("http://films.org/mine.csv")


def test_a_corpus_needs_its_texts():
    corpus = load_corpus(TABLE, min_count=1)
    bare = attnsel.Corpus(corpus.counts, corpus.labels, corpus.vocab)
    with pytest.raises(ValueError, match="contains counts without texts"):
        attnsel.report(bare)
    with pytest.raises(ValueError, match="groups: expected a column or 80 names"):
        attnsel.report(corpus, groups=np.arange(3))


def test_an_open_file_is_known_by_its_name():
    file = io.BytesIO(b"%PDF-1.7")
    file.name = "mine.pdf"
    with pytest.raises(ValueError, match="^mine.pdf contains no table"):
        load_corpus(file)
