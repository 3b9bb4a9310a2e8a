"""Generated corpora have the stated properties exactly or within binomial errors."""

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.synthetic import (
    separable_corpus,
    synthetic_corpus,
    synthetic_probabilities,
)
from attnsel.theory import posterior_difference, relevant_tokens, signed_frequency


@given(
    half=st.integers(1, 30),
    kinds=st.integers(1, 6),
    plain=st.integers(0, 40),
    length=st.integers(1, 7),
    seed=st.integers(0, 2**40),
)
@settings(max_examples=20)
def test_separable_satisfies_assumption_1(
    half: int, kinds: int, plain: int, length: int, seed: int
) -> None:
    assume(half >= kinds)
    assume(half * (length - 1) >= plain)
    assume(length == 1 or plain > 0)
    corpus = separable_corpus(
        2 * half, plain + 2 * kinds, length, n_relevant=2 * kinds, seed=seed
    )
    assert corpus.lengths.tolist() == [length] * (2 * half)
    assert corpus.targets.bincount().tolist() == [half, half]
    counts = torch.from_numpy(corpus.counts.toarray())
    assert bool((counts.sum(0) > 0).all())
    # Assumption 1, literally.
    assert bool((counts[:, : 2 * kinds].sum(1) == 1).all())
    assert bool((counts[corpus.targets == 0, :kinds] == 0).all())
    assert bool((counts[corpus.targets == 1, kinds : 2 * kinds] == 0).all())
    assert bool((signed_frequency(corpus)[2 * kinds :] == 0).all())
    for i, name in enumerate(corpus.vocab):
        kind = "pos" if i < kinds else "neg" if i < 2 * kinds else "irr"
        assert name.startswith(f"{kind}_")
    # An irrelevant token is in both classes, so the checker finds the relevant ones.
    relevant = relevant_tokens(corpus)
    assert bool((counts[torch.arange(2 * half), relevant] == 1).all())
    assert int(relevant.max()) < 2 * kinds


@pytest.mark.parametrize("draw", [separable_corpus, synthetic_corpus])
def test_a_corpus_is_set_by_its_seed(draw: Callable[..., Corpus]) -> None:
    first, again, other = (draw(100, 60, 5, seed=s) for s in (3, 3, 4))
    assert (first.counts != again.counts).nnz == 0
    assert torch.equal(first.targets, again.targets)
    assert (first.counts != other.counts).nnz > 0
    assert not torch.equal(first.targets, first.targets.sort().values)


@given(per=st.integers(2, 4), seed=st.integers(0, 999))
@settings(max_examples=20)
def test_several_relevant_tokens(per: int, seed: int) -> None:
    corpus = separable_corpus(60, 60, 6, n_relevant=12, per_sequence=per, seed=seed)
    relevant = corpus.counts[:, :12]
    assert (relevant.sum(axis=1) == per).all()
    assert relevant.max() == 1
    assert (relevant.sum(axis=0) > 0).all()
    assert bool((signed_frequency(corpus)[12:] == 0).all())
    with pytest.raises(ValueError, match=f"sequence 0 .* {per} relevant tokens: "):
        relevant_tokens(corpus)


@pytest.mark.parametrize("tilt", [0.3, 0.8])
def test_partly_relevant_tokens(tilt: float) -> None:
    corpus = separable_corpus(
        4000, 40, 10, n_relevant=10, n_partly=6, tilt=tilt, seed=1
    )
    posterior, alpha = posterior_difference(corpus), signed_frequency(corpus)
    names = corpus.vocab[10:16]
    assert names[:3] == ("partly_pos_0", "partly_neg_0", "partly_pos_1")
    signs = torch.tensor([1.0, -1.0] * 3)
    assert float((posterior[10:16] * signs - tilt).abs().max()) < 0.1
    assert bool((alpha[16:] == 0).all())
    with pytest.raises(ValueError, match="'partly_.*' leans to a class"):
        relevant_tokens(corpus)


@given(size=st.integers(3, 60), share=st.floats(0, 1), relevant=st.none() | st.just(2))
def test_probabilities_are_the_family_of_the_docstring(
    size: int, share: float, relevant: int | None
) -> None:
    delta = share * (size - 1) / size
    first, later = synthetic_probabilities(size, delta, relevant)
    k = delta + 1 / size
    for table in (first, later):
        torch.testing.assert_close(table.sum(1), torch.ones(2).double())
        assert bool((table >= 0).all())
    signal = first.sum(0) > 0
    theta = (later[1] - later[0]) / later.sum(0)
    if k < 1 - 1e-9:  # else no later token carries the signal
        kinds = int(signal.sum()) // 2
        want = [k + (1 - k) * j / max(kinds - 1, 1) for j in range(kinds)]
        want = want + [-x for x in want] + [0] * (size - 2 * kinds)
        torch.testing.assert_close(theta, torch.tensor(want).double())
    assert float(later[:, ~signal].sum(1).max()) == pytest.approx(min(k, 1))


def z_scores(corpus: Corpus, delta: float, length: int) -> Tensor:
    """Return z-scores of the counts by class and token, with the moments of theory."""
    first, later = synthetic_probabilities(len(corpus.vocab), delta)
    scores = []
    for label in (0, 1):
        rows = (corpus.targets == label).numpy()
        n = int(rows.sum())
        p, q = first[label], later[label]
        mean = n * (p + (length - 1) * q)
        variance = n * (p * (1 - p) + (length - 1) * q * (1 - q))
        found = torch.from_numpy(corpus.counts[rows].sum(axis=0)).double()
        possible = variance > 0
        torch.testing.assert_close(found[~possible], mean[~possible])
        scores.append((found - mean)[possible] / variance[possible].sqrt())
    return torch.cat(scores)


@pytest.mark.parametrize("delta", [0.0, 0.3, 0.7, 39 / 40])
def test_synthetic_counts_are_binomial(delta: float) -> None:
    corpus = synthetic_corpus(4000, 40, 8, delta=delta, seed=7)
    assert corpus.lengths.unique().tolist() == [8]
    assert corpus.targets.bincount().tolist() == [2000, 2000]
    z = z_scores(corpus, delta, 8)
    assert float(z.abs().max()) < 4.5
    assert float(z.square().mean()) == pytest.approx(1, abs=0.45)
    # The test has power, because it rejects a neighbouring delta.
    assert float(z_scores(corpus, abs(delta - 0.1), 8).square().mean()) > 2


def test_assumption_1_holds_in_the_limit_as_often_as_promised() -> None:
    size, length, n, draws = 12, 4, 24, 100
    limit, irrelevant = (size - 1) / size, size - 6
    held = 0
    for seed in range(draws):
        corpus = synthetic_corpus(n, size, length, delta=limit, seed=seed)
        counts = corpus.counts.toarray()
        # In the distribution, always: one token that carries the signal, others not.
        assert (counts[:, :6].sum(axis=1) == 1).all()
        complete = (posterior_difference(corpus).abs() == 1).numpy()
        held += bool(((counts[:, complete] > 0).sum(axis=1) == 1).all())
    bound = 1 - 2 * irrelevant * math.exp(-(length - 1) * (n // 2) / irrelevant)
    assert 0.9 < bound < 1
    assert held / draws >= bound - 3 * math.sqrt(bound * (1 - bound) / draws)
    assert held < draws  # high probability, not certainty
    large = synthetic_corpus(2000, 40, 10, delta=39 / 40)
    complete = (posterior_difference(large).abs() == 1).numpy()
    assert ((large.counts.toarray()[:, complete] > 0).sum(axis=1) == 1).all()
    spread = synthetic_corpus(2000, 40, 10, delta=0.5)
    complete = (posterior_difference(spread).abs() == 1).numpy()
    assert ((spread.counts.toarray()[:, complete] > 0).sum(axis=1) == 1).mean() < 0.9


@pytest.mark.parametrize("n_relevant", [2, 8, None])
def test_synthetic_tokens_are_named_by_what_they_are(n_relevant: int | None) -> None:
    kinds = 5 if n_relevant is None else n_relevant // 2
    corpus = synthetic_corpus(400, 20, 6, n_relevant=n_relevant)
    names = [f"{sign}_{i}" for sign in ("pos", "neg") for i in range(kinds)]
    names += [f"irr_{i}" for i in range(20 - 2 * kinds)]
    assert list(corpus.vocab) == names
    posterior = posterior_difference(corpus)
    assert bool((posterior[:kinds] > 0.3).all())
    assert bool((posterior[kinds : 2 * kinds] < -0.3).all())


@pytest.mark.parametrize("length", [1, 2])
def test_the_first_token_carries_the_signal_and_a_second_one_may(length: int) -> None:
    corpus = synthetic_corpus(400, 20, length)
    assert corpus.lengths.tolist() == [length] * 400
    relevant = corpus.counts[:, :10].sum(axis=1)
    assert relevant.min() == 1
    assert relevant.max() == length
