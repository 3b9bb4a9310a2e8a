"""Each line that a refusal prints is typed, and does what it says."""

import io
import re
import shlex
import sqlite3
import subprocess
import sys
import tarfile
import urllib.request
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from test_inputs import binary, mine, zipped

import attnsel
from attnsel.texts.loading import load_corpus
from attnsel_report.command import in_shell, main
from attnsel_report.readers.whole_tables import load_table

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
    """Return a file whose reader needs a library, which the test stands in for."""

    def made(path, monkeypatch):
        monkeypatch.setattr(pd, reader, lambda *_, **__: found)
        (path / f"mine{ending}").write_bytes(b"x")
        return path / f"mine{ending}"

    return made


ROWS = TABLE.to_csv(index=False, sep=";") + "a text; of three; fields\ncafé;;pos\n"
separated = mine(ROWS.encode("cp1252"))
REFUSED = {
    "a pickle": binary("to_pickle", "mine.pkl", TABLE),
    "a database": database,
    "an archive": archive,
    "several files": zipped("mine.ZIP", train__csv=CSV, test__csv=CSV),
    "a row too long": mine(CSV + "a text, with a comma, in it,neg\n"),
    "a row too long, in Excel's CSV": separated,
    "quotes after backslashes": mine(
        QUOTING.to_csv(index=False, doublequote=False, escapechar="\\")
    ),
    "Cyrillic": mine(CSV.replace("film, number", "фильм номер").encode("cp1251")),
    "HDF": unread(".h5", "read_hdf"),
    "SPSS": unread(".sav", "read_spss"),
    "SAS": unread(".sas7bdat", "read_sas"),
    "a page": unread(".html", "read_html", [TABLE]),
}


def refused(call, *arguments):
    """Return the message, the line in it and what it says to name."""
    with pytest.raises((ValueError, SystemExit)) as caught:
        call(*arguments)
    message = str(caught.value)
    (line,) = re.findall("`(.*?)`", message)
    (target,) = re.findall(r"then name '(.*?)'", message)
    return line, target


@pytest.mark.parametrize("what", REFUSED)
def test_the_line_of_a_refusal_works(tmp_path, monkeypatch, what):
    make = REFUSED[what]
    given = [tmp_path, monkeypatch][: make.__code__.co_argcount]
    path = make(*given)
    line, target = refused(load_corpus, path)
    assert (line, target) == refused(attnsel.report, path)
    exec(line, {})
    assert len(load_corpus(target, min_count=1)) == 80
    typed, target = refused(main, ["report", str(path)])
    assert typed == f'python -c "{line}"'


def test_the_line_works_in_a_shell(tmp_path):
    typed, target = refused(main, ["report", str(separated(tmp_path))])
    typed = typed.replace("python", sys.executable, 1)
    subprocess.run(typed, shell=True, check=True, timeout=120)
    assert len(load_corpus(target, min_count=1)) == 80


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
        message = f"beside those of texts and labels, got {there}; name yours by --gr"
        with pytest.raises(SystemExit, match=message):
            main(["report", str(tmp_path / "mine.csv"), "--groups", groups])
    with pytest.raises(KeyError, match="got no other; name yours by groups="):
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
    with pytest.raises(ValueError, match="holds counts without texts"):
        attnsel.report(bare)
    with pytest.raises(ValueError, match="groups: expected a column or 80 names"):
        attnsel.report(corpus, groups=np.arange(3))


def test_an_open_file_is_known_by_its_name():
    file = io.BytesIO(b"%PDF-1.7")
    file.name = "mine.pdf"
    with pytest.raises(ValueError, match="^mine.pdf holds no table"):
        load_corpus(file)
