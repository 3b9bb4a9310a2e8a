"""Threads process each piece once, and every number of threads gives the same bits."""

import math
import threading
import time

import pytest
import torch

from attnsel.model import AttentionClassifier
from attnsel.scale.threads import ThreadPool, side_by_side
from attnsel.train import fit
from support.reference import ragged

# Of the pieces that helpers multiply, where no warning can be held back. Torch says it
# once a process, and by then a corpus has made its own tensors in silence.
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")

CPU = torch.device("cpu")
# Seconds of a piece after one that failed. A hundred of them take five threads two
# seconds: so long may the one that failed be held up before it stops the others.
LONG = 0.1


@pytest.fixture(params=[1, 2, 5])
def threads(request):
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(1)


def test_each_piece_is_done_once_and_all_ends_as_it_began(threads):
    before = threading.enumerate()
    with ThreadPool(CPU) as pool:
        assert torch.get_num_threads() == 1
        for n in (0, 1, 3, 200):
            done, own_threads = [], set()

            def work(i, done=done, own_threads=own_threads):
                done.append(i)
                own_threads.add(torch.get_num_threads())

            pool.run(work, n)
            assert sorted(done) == list(range(n))
            assert own_threads <= {1}  # torch divides no operation of a piece
    assert torch.get_num_threads() == threads
    assert threading.enumerate() == before


def test_one_that_is_held_up_holds_up_one_piece():
    done, others_done = [], threading.Event()

    def work(i):
        if i == 0:
            assert others_done.wait(timeout=60)
        done.append(i)
        if len(done) == 49:
            others_done.set()

    torch.set_num_threads(2)
    try:
        with ThreadPool(CPU) as pool:
            pool.run(work, 50)
    finally:
        torch.set_num_threads(1)
    assert sorted(done) == list(range(50))
    assert done[-1] == 0


def in_a_pool(work, n):
    with ThreadPool(CPU) as pool:
        pool.run(work, n)


@pytest.mark.parametrize(
    "run", [in_a_pool, lambda work, n: list(side_by_side(work, range(n)))]
)
def test_an_error_ends_the_others_and_is_raised(threads, run):
    done = []

    def work(i):
        if i == 7:
            raise KeyError("seven")
        time.sleep(LONG if i > 7 else 0)
        done.append(i)

    with pytest.raises(KeyError, match="seven"):
        run(work, 150)
    assert len(done) < 100
    assert torch.get_num_threads() == threads


def test_a_product_in_pieces_is_the_product_also_for_empty_rows(monkeypatch):
    monkeypatch.setattr("attnsel.scale.threads.PIECE", 8)
    C = torch.zeros(50, 7, dtype=torch.float64)
    C[3:40:2] = torch.randn(7, dtype=torch.float64, generator=torch.manual_seed(0))
    x = torch.arange(14.0).double().reshape(7, 2)
    free = torch.full((10_000,), math.nan, dtype=torch.float64)  # memory used before
    del free
    with ThreadPool(CPU) as pool:
        torch.testing.assert_close(pool.multiply(C.to_sparse_csr(), x), C @ x)


@pytest.mark.parametrize("optimizer", ["adam", "gd"])
def test_a_training_has_the_same_bits_with_any_number_of_threads(
    monkeypatch, optimizer
):
    _, _, corpus = ragged(3, n=300, n_tokens=3000, longest=40)
    # Several products for these few texts.
    monkeypatch.setattr("attnsel.scale.threads.PIECE", 500)
    results = []
    try:
        for n_threads in (1, 2, 4, 2):
            torch.set_num_threads(n_threads)
            model = AttentionClassifier(3000, 24, n_classes=2, key_query=True)
            history = fit(model, corpus, steps=4, lr=0.05, optimizer=optimizer)
            results.append([history.loss, history.at(), *model.parameters()])
    finally:
        torch.set_num_threads(1)
    for others in results[1:]:
        assert all(map(torch.equal, results[0], others))


def test_side_by_side_answers_in_turn_and_all_ends_as_it_began(threads):
    before = threading.enumerate()
    second_done = threading.Event()

    def work(i):
        if i == 0 and threads > 1:
            assert second_done.wait(timeout=60)
        if i == 1:
            second_done.set()
        return i, torch.get_num_threads()

    assert list(side_by_side(work, range(5))) == [(i, 1) for i in range(5)]
    assert torch.get_num_threads() == threads
    assert threading.enumerate() == before
