"""What a refusal asks for gives the same rows, and other refusals of a report."""

import re

import numpy as np
import pandas as pd
import pytest
from test_inputs import binary, file, mine

import attnsel
from attnsel.texts.loading import load_corpus
from attnsel_report.command import in_shell, main
from attnsel_report.whole_tables import load_table

pytestmark = pytest.mark.usefixtures("alone")
TEXTS = [f"a {w} film, number {i}" for i in range(40) for w in ("bad", "good")]
TABLE = pd.DataFrame({"text": TEXTS, "label": ["neg", "pos"] * 40})
CSV = TABLE.to_csv(index=False)


@pytest.mark.parametrize("rows", [(5, 30), (5, 6), (79,)])
@pytest.mark.parametrize(
    "order", [["text", "label"], ["label", "text"], ["text", "id", "label"]]
)
def test_a_quote_that_is_not_closed_is_refused(tmp_path, rows, order):
    plain = [text.replace(",", "") for text in TEXTS]
    texts = [f'"{t}' if i in rows else t for i, t in enumerate(plain)]
    table = TABLE.assign(text=texts, id=range(80))[order]
    lines = ["\t".join(map(str, row)) for row in [order, *table.to_numpy()]]
    path = mine("\n".join(lines) + "\n")(tmp_path)
    with pytest.raises(ValueError, match=r"double those inside\). Save texts|EOF"):
        load_corpus(path)
    found = load_corpus(pd.read_csv(path, sep="\t", quoting=3), min_count=1)
    assert found.texts == tuple(texts)


def edited(edit):
    """Follow a sentence by a change of the content of the file."""

    def follow(path):
        path.write_text(edit(path.read_text()))
        return path

    return follow


def in_utf8(path):
    path.write_text(path.read_bytes().decode("utf-16-le"))
    return path


# By what the message says: a file, and what is done.
SENTENCES = {
    "UTF-16 without a mark. Save it in UTF-8": (mine(CSV.encode("utf-16-le")), in_utf8),
    "give its name the usual ending of such files": (
        binary("to_parquet", "mine", TABLE),
        lambda path: path.rename(path.with_suffix(".parquet")),
    ),
    "has no comma behind the last item": (
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
    with pytest.raises(ValueError, match=message):
        load_corpus(path)
    corpus = load_corpus(follow(path), min_count=1)
    assert corpus.texts == tuple(TEXTS)
    assert [corpus.classes[k] for k in corpus.targets] == TABLE.label.tolist()


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
    message = in_shell("say groups='user' or min_count=3")
    assert message == "say --groups 'user' or --min-count 3"


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


def test_a_corpus_needs_its_texts():
    corpus = load_corpus(TABLE, min_count=1)
    bare = attnsel.Corpus(corpus.counts, corpus.labels, corpus.vocab)
    with pytest.raises(ValueError, match="contains counts without texts"):
        attnsel.report(bare)
    with pytest.raises(ValueError, match="groups: expected a column or 80 names"):
        attnsel.report(corpus, groups=np.arange(3))
