"""`Corpus` and `Vocab`, compared with brute force and misused in every way."""

import pickle
import random
import sys
from collections import Counter
from itertools import chain

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from attnsel import corpus as corpora
from attnsel.corpus import Corpus, count_tensors
from attnsel.tokens import (
    END,
    Vocab,
    clean_text,
    fold,
    pieces,
    split_all,
    split_with,
)
from support.corpora import same

VOCAB = Vocab(list("abcdefg"), [0, 1])
TWO = Corpus.from_tokens([[0], [1]], [0, 1], list("ab"))
THREE = Corpus.from_tokens([[0], [1], [2]], [0, 1, 2], list("abc"))


def counted(texts=("a a", "b"), labels=(0, 1), **settings):
    return Corpus.from_texts(texts, labels, **settings)


def tokens(*sequences):
    return Corpus.from_tokens(sequences, range(len(sequences)), VOCAB)


@st.composite
def bags(draw):
    sequences = draw(
        st.lists(
            st.lists(st.integers(0, len(VOCAB) - 1), min_size=1, max_size=12),
            min_size=1,
            max_size=9,
        )
    )
    n = len(sequences)
    labels = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    return sequences, labels


def dense(corpus):
    return corpus.counts.toarray()


def brute_counts(sequences, width):
    out = np.zeros((len(sequences), width))
    for i, sequence in enumerate(sequences):
        for token, times in Counter(sequence).items():
            out[i, token] = times
    return out


# Counting


@settings(max_examples=30)
@given(bags())
def test_from_tokens_counts_like_a_counter(case):
    sequences, labels = case
    corpus = Corpus.from_tokens(sequences, labels, VOCAB)
    assert np.array_equal(dense(corpus), brute_counts(sequences, len(VOCAB)))
    assert corpus.lengths.tolist() == list(map(len, sequences))
    assert corpus.labels.tolist() == labels
    assert corpus.signs.tolist() == [2.0 * y - 1 for y in labels]
    assert corpus.counts.dtype == np.float32
    assert corpus.counts.has_sorted_indices and corpus.counts.data.all()
    assert (corpus.lengths.dtype, corpus.signs.dtype) == (torch.int64, torch.float64)


def test_a_function_that_splits_is_kept_for_new_texts():
    def bars(text):
        return text.split("|")

    corpus = Corpus.from_texts(["x y|z|z", "z"], [0, 1], tokenize=bars, min_count=1)
    assert corpus.vocab == ("z", "x y") and corpus.vocab.tokenize is bars
    assert dense(corpus).tolist() == [[2, 1], [1, 0]]
    new = Corpus.from_texts(["x y|x y", "z"], [0, 1], vocab=corpus.vocab)
    assert dense(new).tolist() == [[0, 2], [1, 0]]
    assert new.vocab.tokenize is new.most_frequent(2).vocab.tokenize is bars
    # Given arguments have priority over those of the vocabulary.
    other = Corpus.from_texts(["x y", "z"], vocab=corpus.vocab, tokenize=lambda t: [t])
    assert dense(other).tolist() == [[0, 1], [1, 0]]


def test_texts_are_split_into_words_contractions_and_single_signs():
    text = "I DON'T like it... a 10/10, \"well-made\" (O’Neil's) film_!<br />Café"
    corpus = Corpus.from_texts([text], min_count=1)
    tokens = [corpus.vocab[t] for _, t in corpus.words(0) if t >= 0]
    assert " ".join(tokens) == (
        "i don't like it . . . a 10 / 10 , \" well - made \" ( o'neil's ) film _ ! café"
    )


@given(st.lists(st.text(st.sampled_from("aBé.' \\u0301\\0\\n<br/>"), max_size=12)))
def test_texts_are_split_together_as_one_by_one(texts):
    for tokenize in (None, list):
        expected = [[*split_with(tokenize, text), END] for text in texts]
        assert split_all(tokenize, texts) == [*chain(*expected)]


@pytest.mark.parametrize("tag", ["<br />", "<br>", "<BR/>", "<br/>"])
def test_line_breaks_become_spaces(tag):
    assert clean_text(f"end.{tag}{tag}Start") == "end.  Start"


def test_folding_keeps_the_length_of_every_character():
    for start in range(0, sys.maxunicode + 1, 4096):
        block = "".join(map(chr, range(start, start + 4096)))
        assert len(fold(block)) == 4096
    assert fold("DON’T İZMİR") == "don't izmir"


# Any letter, and often those that are treated in some way; `st.text` alone would make
# tables of all letters first, which takes seconds.
LETTERS = st.sampled_from("aBÉİß.'’\u0301\u200d\0\n <br/>中ש😀")
LETTERS |= st.integers(0, sys.maxunicode).map(chr)


@settings(max_examples=40)
@given(st.lists(st.text(LETTERS, max_size=40), min_size=1, max_size=6))
def test_words_give_back_the_text_and_the_counts(texts):
    texts = [text + " End" for text in texts]
    corpus = Corpus.from_texts(texts, min_count=1)
    for i, text in enumerate(texts):
        pieces = corpus.words(i)
        assert "".join(piece for piece, _ in pieces) == clean_text(text)
        found = Counter(token for _, token in pieces if token >= 0)
        bag = corpus.counts[[i]]
        assert found == dict(zip(bag.indices, bag.data, strict=True))
        for piece, token in pieces:
            assert token >= 0 or not piece.strip()  # min_count=1 keeps each token
            assert token < 0 or corpus.vocab[token] == fold(piece)


def test_words_mark_what_is_outside_the_vocabulary():
    corpus = Corpus.from_texts(["Good, odd film"], vocab=Vocab(["film", "good"]))
    assert corpus.words(0) == [
        ("Good", 1),
        (",", -1),
        (" ", -1),
        ("odd", -1),
        (" ", -1),
        ("film", 0),
    ]
    assert corpus.words(-1) == corpus.words(0)


# Fitting a vocabulary


def test_vocabulary_is_ordered_by_frequency_then_alphabet():
    texts = ["b b c a", "a d ! c", "e"]
    corpus = Corpus.from_texts(texts, [0, 1, 1], min_count=1)
    total = Counter(" ".join(texts).split())
    assert list(corpus.vocab) == sorted(total, key=lambda t: (-total[t], t))


def test_min_count_counts_occurrences_and_max_tokens_keeps_the_frequent():
    texts = ["a a a b b c", "b c a d"]
    labels = [0, 1]
    assert Corpus.from_texts(texts, labels, min_count=2).vocab == ("a", "b", "c")
    assert Corpus.from_texts(texts, labels, min_count=3).vocab == ("a", "b")
    with pytest.raises(ValueError, match="expected at most 4, .* got 5"):
        Corpus.from_texts(texts, labels, min_count=5)
    few = Corpus.from_texts(texts, labels, min_count=1, max_tokens=2)
    assert few.vocab == ("a", "b")
    assert dense(few).tolist() == [[3, 2], [1, 1]]


def test_a_given_vocabulary_is_kept_and_other_tokens_are_dropped():
    vocab = Vocab(["bad", "good"])
    test = Corpus.from_texts(["Good film, good!", "bad"], [1, 0], vocab=vocab)
    assert test.vocab == vocab and test.vocab.classes == (0, 1)
    assert dense(test).tolist() == [[0, 2], [1, 0]]
    assert test.texts == ("Good film, good!", "bad")


# Bad input


def test_rows_that_cannot_be_used_are_left_out_with_one_warning():
    texts = ["good film", None, "?!", " ", "good", "bad", float("nan"), "bad good", 3]
    labels = ["pos", "pos", "neg", "neg", None, "neg", "pos", "", "neg"]
    texts, labels = texts * 2, labels * 2
    with pytest.warns(UserWarning) as caught:
        corpus = Corpus.from_texts(texts, labels, vocab=Vocab(["good", "bad"]))
    [warning] = caught
    assert str(warning.message) == (
        "14 of 18 rows are left out: 8 without text (rows 1, 3, 6, 8, 10, ...), "
        "2 without known token (rows 2, 11), 4 without label (rows 4, 7, 13, 16)"
    )
    assert corpus.texts == ("good film", "bad") * 2
    assert corpus.labels.tolist() == [1, 0, 1, 0]
    assert corpus.left_out["text"] == [1, 3, 6, 8, 10, 12, 15, 17]
    with pytest.raises(ValueError, match=r"rows 1, 3, 6, 8, 10, 12, 15, 17\), 2"):
        Corpus.from_texts(
            texts, labels, vocab=Vocab(["good", "bad"]), on_bad_rows="error"
        )
    quiet = Corpus.from_texts(texts, labels, min_count=1, on_bad_rows="ignore")
    # Rows without label do not count when a vocabulary is fitted.
    assert quiet.vocab == ("!", "?", "bad", "film", "good")
    assert quiet.counts.sum(axis=0).tolist() == [2, 2, 2, 2, 2]


def test_a_warning_names_the_line_of_the_caller():
    vocab = Vocab(["good", "bad"])
    texts, labels = ["good", "?", "bad", "bad"], [1, 0, 0, 0]
    with pytest.warns(UserWarning) as caught:
        Corpus.from_texts(texts, labels, vocab=vocab)
        Corpus.from_tokens([[0], [], [1]], [1, 0, 0], vocab)
        Corpus.from_texts(texts[::2], [1, 0], vocab=vocab).most_frequent(1)
        Corpus.from_texts(["a a a a a b"], None)
        Corpus.from_texts(["好" * 9, "好片"], None, min_count=1)
    assert len(caught) == 5
    assert {warning.filename for warning in caught} == {__file__}


NO_ROW_LEFT = "^no row can be used: "
EMPTY = "expected at least one sequence"


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("min_count: expected at most .*, got 9", lambda: counted(min_count=9)),
        (r"vocab: .* a Vocab .* \('a',\)", lambda: counted(vocab=("a",))),
        (f"{NO_ROW_LEFT}2 without text", lambda: counted(["", " "])),
        (f"{NO_ROW_LEFT}2 without text", lambda: counted([1, 2])),
        (
            f"{NO_ROW_LEFT}1 without known token .*, 1 without text",
            lambda: counted(["?", b"bytes"], vocab=VOCAB),
        ),
        (f"{NO_ROW_LEFT}2 without label", lambda: counted(labels=[None, np.nan])),
        ("labels: .* 0 to 1, got 2", lambda: TWO.with_labels(torch.tensor([0, 2]))),
        ("labels: .* 0 to 1, got -1", lambda: TWO.with_labels(torch.tensor([-1, 0]))),
        ("labels: expected 2, .*, got 1", lambda: TWO.with_labels(torch.tensor([0]))),
        ("^there is no row; ", lambda: Corpus.from_tokens([], [], VOCAB)),
        ("^there is no row; ", lambda: Corpus.from_texts([], [])),
        (
            "^there is no row; expected one or more$",
            lambda: Corpus.from_texts([], [], on_bad_rows="ignore", vocab=VOCAB),
        ),
        (r"in 0\.\.6, got \[ 2 -1\] in row 1", lambda: tokens([0, 1], [2, -1])),
        (r"in 0\.\.6, got \[2 7\] in row 1", lambda: tokens([0, 1], [2, 7])),
        (r"integers .*, got \[0\.5\] in row 0", lambda: tokens(np.array([0.5]))),
        ("2 classes, but tokens has 3", lambda: THREE.signs),
        (EMPTY, lambda: THREE[:0]),
        (EMPTY, lambda: THREE[[]]),
        (EMPTY, lambda: THREE[[False] * 3]),
    ],
)
def test_what_is_no_corpus_is_refused(message, make):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("labels", "classes", "numbers"),
    [
        (["pos", "neg", "pos"], ("neg", "pos"), [1, 0, 1]),
        ([2, 1, 2], (1, 2), [1, 0, 1]),
        ([-1, 1, -1], (-1, 1), [0, 1, 0]),
        ([0.0, 1.0, 1.0], (0, 1), [0, 1, 1]),
        (["10", "9", "10 "], (9, 10), [1, 0, 1]),
        (["1.0", "-2", "1"], (-2, 1), [1, 0, 1]),
        ([10, "9", "b"], (9, 10, "b"), [1, 0, 2]),
        ([True, False, True], (False, True), [1, 0, 1]),
        (["TRUE", "false", True], (False, True), [1, 0, 1]),
        ([0, 2**40, 7], (0, 7, 2**40), [0, 2, 1]),
        (np.array([3, 1, 3], np.uint8), (1, 3), [1, 0, 1]),
        (torch.tensor([3, 1, 3]), (1, 3), [1, 0, 1]),
        (pd.Series(["b", "a", "b"], index=[7, 8, 9]), ("a", "b"), [1, 0, 1]),
        (pd.Series([2, 1, 2], dtype="Int64"), (1, 2), [1, 0, 1]),
        ([" 3 ", "+3", "-2."], (-2, 3), [1, 1, 0]),
        (["2.00", "FALSE", "v1.5"], (False, 2, "v1.5"), [1, 0, 2]),
        (["three", "3 stars", "1e3"], ("1e3", "3 stars", "three"), [2, 1, 0]),
        (["-", np.str_("b"), np.int8(3)], (3, "-", "b"), [1, 2, 0]),
        ([np.float32(3), np.bool_(True), "True"], (True, 3), [1, 0, 0]),
        (pd.Categorical(["low", "high", "low"]), ("high", "low"), [1, 0, 1]),
        (pd.Categorical(["b", "a"], ["c", "b", "a"], ordered=True), ("b", "a"), [0, 1]),
    ],
)
def test_labels_name_classes(labels, classes, numbers):
    n = len(numbers)
    corpus = Corpus.from_texts(list("abc")[:n], labels, min_count=1)
    assert corpus.classes == corpus.vocab.classes == classes
    assert list(map(type, corpus.classes)) == list(map(type, classes))
    assert corpus.labels.tolist() == numbers
    tokens = Corpus.from_tokens([[0], [1], [2]][:n], labels, Vocab(VOCAB))
    assert (tokens.classes, tokens.labels.tolist()) == (classes, numbers)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0.5, 1, 1], "0.5 names no class; expected strings, whole numbers"),
        ([np.inf, 1, 1], "inf names no class"),
        (["0.5", "x", "x"], "'0.5' names no class"),
        (["+.5", "x", "x"], "'\\+.5' names no class"),
        (["-10.01", "x", "x"], "'-10.01' names no class"),
        ([b"a", 1, 1], "b'a' names no class"),
        ([[0], [1], [1]], "expected one name for each text"),
        (np.array([[0], [1], [1]]), "expected one name for each text"),
        ([0, 1], "^labels: 2 labels for 3 texts"),
        (["pos"] * 3, "every row has 'pos'; expected two classes or more"),
        ([2, 2, 2], "every row has 2; expected two classes or more"),
        ([0, 0, 0], "every row has 0; expected two classes or more"),
    ],
)
def test_labels_that_cannot_be_used(labels, message):
    with pytest.raises(ValueError, match=message):
        Corpus.from_texts(["a", "b", "c"], labels, min_count=1)
    with pytest.raises(ValueError, match=message):
        Corpus.from_tokens([[0], [1], [2]], labels, Vocab(VOCAB))


def test_a_vocabulary_brings_its_classes():
    train = Corpus.from_texts(["a b", "b", "c"], ["x", "y", "z"], min_count=1)
    test = Corpus.from_texts(["b", "c"], ["z", "z"], vocab=train.vocab)
    assert test.classes == train[:1].classes == ("x", "y", "z")
    assert test.labels.tolist() == [2, 2]


def test_texts_without_labels():
    train = Corpus.from_texts(["a b", "b", "c"], ["x", "y", "z"], min_count=1)
    new = Corpus.from_texts(["b", "c"], vocab=train.vocab)
    assert new.labels is None and new[0].labels is None
    assert new.classes == train.classes
    assert Corpus.from_texts(["b", "c"], min_count=1).classes == ()
    assert repr(new) == "Corpus('texts', n = 2, V = 3, mean length 1.0, unlabelled)"
    for use in (lambda: new.signs, lambda: new.targets, new.balanced):
        with pytest.raises(ValueError, match="texts have no labels"):
            use()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1.0, -1.0]], "whole numbers of at least 0"),
        ([[1.0, 0.5]], "whole numbers of at least 0"),
        ([[1.0, np.nan]], "whole numbers of at least 0"),
        ([[1.0, np.inf]], "whole numbers of at least 0"),
        ([[1.0, 1.0, 1.0]], "at least one sequence and 2 columns, got shape .1, 3"),
        ([[1.0, 0.0], [0.0, 0.0]], "row 1 has no token"),
        (np.zeros((0, 2)), "at least one sequence"),
    ],
)
def test_counts_that_cannot_be_used(values, message):
    with pytest.raises(ValueError, match=message):
        Corpus(csr_array(np.array(values)), [0] * len(values), Vocab(list("ab")))


def test_explicit_zeros_and_duplicates_are_put_in_order():
    raw = csr_array(([2.0, 0.0, 1.0, 4.0], [1, 0, 1, 0], [0, 3, 4]), shape=(2, 2))
    corpus = Corpus(raw, [0, 1], Vocab(list("ab")))
    assert dense(corpus).tolist() == [[0, 3], [4, 0]]
    assert corpus.counts.nnz == 2
    assert raw.nnz == 4  # the caller's matrix stays as it was


# Selecting


@settings(max_examples=30)
@given(bags(), st.data())
def test_selecting_equals_brute_force(case, data):
    sequences, labels = case
    n = len(sequences)
    corpus = Corpus.from_tokens(sequences, labels, VOCAB)
    rows = data.draw(st.lists(st.integers(-n, n - 1), min_size=1, max_size=2 * n))
    mask = [i in {r % n for r in rows} for i in range(n)]
    masked = [i for i in range(n) if mask[i]]
    for key, expected in [
        (rows, rows),
        (np.array(rows), rows),
        (torch.tensor(rows), rows),
        (mask, masked),
        (np.array(mask), masked),
        (torch.tensor(mask), masked),
        (slice(None, None, -2), range(n)[::-2]),
        (rows[0], rows[:1]),
        (np.int64(rows[0]), rows[:1]),
        (torch.tensor(rows[0]), rows[:1]),
    ]:
        part = corpus[key]
        assert np.array_equal(dense(part), dense(corpus)[list(expected)])
        assert part.labels.tolist() == [labels[r] for r in expected]
        assert part.vocab is corpus.vocab


def test_selecting_keeps_the_texts_in_step():
    texts = ["a b", "b b c", "c"]
    corpus = Corpus.from_texts(texts, [0, 1, 1], min_count=1, name="three")
    part = corpus[[2, 0]]
    assert part.texts == ("c", "a b")
    assert part.name == "three"
    assert [len(one) for one in corpus] == [1, 1, 1]


@pytest.mark.parametrize("bad", [3, -4, [3], [True, False], [[0]], [0.5], "abc"])
def test_selecting_what_is_not_there(bad):
    corpus = Corpus.from_tokens([[0], [1], [2]], [0, 1, 1], VOCAB)
    with pytest.raises((IndexError, TypeError)):
        corpus[bad]


# torch


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_csr_is_the_counts_and_their_transpose(dtype):
    rng = random.Random(0)
    sequences = [rng.choices(range(7), k=rng.randint(1, 9)) for _ in range(20)]
    corpus = Corpus.from_tokens(sequences, [i % 2 for i in range(20)], VOCAB)
    counts, transposed = count_tensors(corpus, dtype)
    assert counts.layout == transposed.layout == torch.sparse_csr
    assert counts.dtype == transposed.dtype == dtype
    assert np.array_equal(counts.to_dense().numpy(), dense(corpus))
    assert np.array_equal(transposed.to_dense().numpy(), dense(corpus).T)
    assert count_tensors(corpus, dtype)[0] is counts
    other = torch.float64 if dtype is torch.float32 else torch.float32
    assert count_tensors(corpus, other)[0].dtype == other


def test_tensors_of_the_counts_are_kept_by_device(monkeypatch):
    def made(matrix, dtype, device):
        return torch.zeros(matrix.shape, dtype=dtype, device=device)

    monkeypatch.setattr(corpora, "_sparse_tensor", made)
    corpus = Corpus.from_tokens([[0], [1]], [0, 1], VOCAB)
    for device in ("cpu", "meta", "cpu"):  # every machine has both
        assert count_tensors(corpus, device=device)[0].device.type == device


def test_a_token_may_occur_more_often_than_a_byte_counts():
    often = {"a": 128, "b": 256, "c": 70_000}
    text = " ".join(f"{token} " * n for token, n in often.items())
    by_text = Corpus.from_texts([text, "a"], [0, 1], min_count=1)
    assert by_text.counts.toarray()[0].tolist() == [70_000, 256, 128]
    ids = [s for s, n in enumerate(often.values()) for _ in range(n)]
    by_ids = Corpus.from_tokens([ids, [0]], [0, 1], Vocab(list(often)))
    assert by_ids.counts.toarray()[0].tolist() == [128, 256, 70_000]
    assert count_tensors(by_ids)[0].to_dense()[0].tolist() == [128, 256, 70_000]
    assert by_ids.lengths.tolist() == [70_384, 1]


# Uses of a corpus in chapters


def test_balanced_draws_as_many_of_each_class():
    sequences = [[i % 7] for i in range(30)]
    labels = ["x"] * 15 + ["y"] * 10 + ["z"] * 5
    corpus = Corpus.from_tokens(sequences, labels, Vocab(VOCAB))
    assert corpus.balanced().labels.bincount().tolist() == [5, 5, 5]
    few = corpus.balanced(3, seed=1)
    assert few.labels.bincount().tolist() == [3, 3, 3]
    assert same(few, corpus.balanced(3, seed=1))
    assert not same(few, corpus.balanced(3, seed=2))
    assert corpus.balanced(1).labels.tolist() == [0, 1, 2]
    assert corpus.balanced(5).labels.bincount().tolist() == [5, 5, 5]


def test_most_frequent_keeps_the_first_tokens():
    corpus = Corpus.from_texts(["a a a b", "b a", "c"], [0, 1, 1], min_count=1)
    with pytest.warns(UserWarning, match=r"1 of 3 rows .* known token \(row 2\)"):
        fewer = corpus.most_frequent(1)
    assert fewer.vocab == ("a",) and fewer.classes == (0, 1)
    assert dense(fewer).tolist() == [[3], [1]]
    assert fewer.texts == ("a a a b", "b a")
    assert same(corpus.most_frequent(3), corpus)
    bare = Corpus.from_texts(["a b", "a"], min_count=1).most_frequent(1)
    assert bare.labels is None and dense(bare).tolist() == [[1], [1]]


# Vocab


def test_vocab_is_a_tuple_of_its_tokens():
    vocab = Vocab(iter("ab"), ["x", "y"])
    assert vocab == Vocab(["a", "b"]) == ("a", "b")
    assert hash(vocab) == hash(("a", "b"))
    assert "b" in vocab and "c" not in vocab
    assert Vocab(["b", "a"]) != vocab
    assert vocab.classes == ("x", "y") and Vocab(["a"]).classes is None
    again = pickle.loads(pickle.dumps(vocab))
    assert again == vocab and again.classes == vocab.classes and again.index("b") == 1
    assert repr(Vocab(list("abcde"))) == "Vocab(5 tokens: 'a', 'b', 'c', 'd', 'e')"
    assert (
        repr(Vocab(list("abcdef"))) == "Vocab(6 tokens: 'a', 'b', 'c', 'd', 'e', ...)"
    )


def test_pieces_of_a_text_are_found_in_capitals_too():
    texts = ["Good Film", "bad film", "Good Good"]
    corpus = Corpus.from_texts(texts, [1, 0, 1], min_count=1, tokenize=str.split)
    found = pieces("a  Good film. Good", corpus.vocab)
    assert "".join(piece for piece, _ in found) == "a  Good film. Good"
    good = corpus.vocab.index("Good")
    assert found[2:] == [("Good", good), (" ", -1), ("film.", -1), (" ", -1), found[2]]
    assert found[:2] == [("a", -1), ("  ", -1)]


def test_vocab_misuse():
    vocab = Vocab(["brilliant", "bad"])
    with pytest.raises(KeyError, match="near misses: .'brilliant'"):
        vocab.index("briliant")
    with pytest.raises(KeyError, match="not in the vocabulary"):
        vocab.index("zzz")
    with pytest.raises(IndexError):
        vocab[2]
    for wrong in (["a", "b", "a"], []):
        with pytest.raises(ValueError, match="distinct strings, at least one"):
            Vocab(wrong)
    for wrong in ("one", ["a", 3]):
        with pytest.raises(TypeError, match="^tokens: expected a list of strings"):
            Vocab(wrong)
