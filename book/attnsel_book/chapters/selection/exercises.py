"""Exercises of the chapter *When does attention fail?*."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

import attnsel
from attnsel.corpus import Corpus
from attnsel.flow import gradient_flow
from attnsel.model import AttentionClassifier
from attnsel.synthetic import separable_corpus
from attnsel.theory import relevant_tokens
from attnsel.train import one_step
from attnsel_book.exercises.checking import exercise
from attnsel_book.problems import crowd_corpus


def races() -> Iterator[tuple[float, float, int]]:
    """Yield the pulls of two classes on their own scores, and the tokens per class.

    The last two cases are from the chapter.
    """
    yield 2.0, 1.0, 1
    yield 2.0, 1.0, 4
    yield 3.0, 2.5, 2
    yield 0.00526, 0.00509, 2
    yield 0.0228, 0.00233, 2


@exercise(
    "selection-push",
    expected=lambda ahead, behind, k: (behind / k / (ahead - behind)) ** 0.5,
    cases=races,
    mistakes={
        (
            "the class behind also pushes its own tokens up; subtract this push from "
            "the push of the class ahead"
        ): "(ahead - behind) -> ahead",
        "all k tokens of a class push, not just one": "k * ->",
        ("the push is proportional to x squared, so take the square root"): "** 0.5 ->",
        (
            "you compared the push with the pull of the class ahead; use the pull of "
            "the class behind"
        ): "(behind / -> (ahead /",
        (
            "the values of the two classes have opposite signs; your formula gives "
            "them the same sign"
        ): "ahead - behind -> ahead + behind",
        "k stays under the root, because the push grows like k times x squared": (
            "(behind / (k * (ahead - behind))) ** 0.5 -> (behind / (ahead - behind)) "
            "** 0.5 / k"
        ),
    },
    hints=(
        "The step moves p by eta times the sum of u_t E_t, where u_t is the pull on "
        "the score of t. By how much does this change the score of s? Insert the Gram "
        "matrix. Its term 1{s = t} gives the token's own pull, and its term b_s b_t "
        "gives the push of all tokens.",
        "The class ahead pushes by k x times its pull, and the class behind pushes "
        "back by k x times its own pull. The score of a token of the class behind "
        "changes by x times the difference. For which x does this change outweigh the "
        "token's own pull?",
    ),
)
def my_push(ahead: float, behind: float, k: int) -> float:
    """Return the value x above which the scores of the class behind fall.

    Each class has k relevant tokens. A token's own pull is `ahead` in one class and
    `behind` in the other, with ahead > behind > 0.
    """
    return (behind / (k * (ahead - behind))) ** 0.5


def embeddings() -> Iterator[tuple[Tensor, Tensor, float]]:
    """Yield embeddings (V, d), v (d,) and a factor."""
    E = torch.tensor([[1.0, 0], [1, 2]], dtype=torch.float64)
    yield E, torch.tensor([2.0, 0], dtype=torch.float64), 0.5
    random = torch.Generator().manual_seed(0)
    for V, d, c in ((2, 3, 0.1), (4, 3, 0.5), (3, 6, 2.0)):
        E = torch.randn(V, d, generator=random, dtype=torch.float64)
        yield E, torch.randn(d, generator=random, dtype=torch.float64), c


def weakened(E: Tensor, v: Tensor, c: float) -> Tensor:
    """Return E with its component along v times c, computed by a projection."""
    onto = torch.outer(v, v) / v.square().sum()
    return E @ (torch.eye(len(v)).to(onto) - onto + c * onto)


@exercise(
    "selection-weaken",
    expected=weakened,
    cases=embeddings,
    mistakes={
        "you multiplied all of E by c; change only the component along v": (
            "E + (c - 1) * torch.outer(E @ u, u) -> c * E"
        ),
        (
            "v is not a unit vector, so the component of E_s along v is (E_s v) v / "
            "‖v‖²"
        ): "/ v.norm() ->",
        (
            "this removes the component along v; c times the component should remain"
        ): "(c - 1) -> -1",
        "this keeps the component along v and multiplies the rest of E by c; do the "
        "opposite": ("E + (c - 1) -> c * E + (1 - c)"),
        "c times the component should remain, so add (c - 1) times the component": (
            "(c - 1) -> c"
        ),
        "reverse the sign; this multiplies the component along v by 2 - c": (
            "(c - 1) -> (1 - c)"
        ),
        "with the unit vector u = v / ‖v‖, the component of E_s along v is (E_s u) u": (
            "E @ u, u -> E @ u, v"
        ),
        "this is only c times the component along v; add the rest of E": (
            "E + (c - 1) -> c"
        ),
    },
    hints=(
        "If u is the unit vector along v, the component of E_s along v is (E_s u) u.",
        (
            "These components together form a matrix of rank one, and c times "
            "this matrix should remain. Which multiple of it do you have to add"
            " to E?"
        ),
    ),
)
def my_weaken(E: torch.Tensor, v: torch.Tensor, c: float) -> torch.Tensor:
    """Return E (V, d) with its component along v (d,) multiplied by c."""
    u = v / v.norm()
    return E + (c - 1) * torch.outer(E @ u, u)


LONGEST, MOST = 8, 24


def lost_fault(corpus: Any) -> str | None:
    """Return why a corpus is not a counterexample, or None."""
    if not isinstance(corpus, Corpus):
        return "return an attnsel.Corpus, for example from Corpus.from_tokens"
    if len(corpus) > MOST or int(corpus.lengths.max()) > LONGEST:
        size = f"{len(corpus)} sequences of up to {int(corpus.lengths.max())} tokens"
        return (
            f"return at most {MOST} sequences of at most {LONGEST} tokens, not {size}"
        )
    try:
        relevant = relevant_tokens(corpus)
    except ValueError as error:
        return f"your corpus does not satisfy Assumption 1: {error}"
    lost = 0
    for seed in range(3):
        start = AttentionClassifier(len(corpus.vocab), 512, seed=seed)
        model = one_step(start, corpus, lr=300.0)
        flow = gradient_flow(model, corpus, max_norm=300.0, tol=1e-4)
        right = (flow.selected == relevant) & (flow.attention[-1] > 0.5)
        shares = [float(right[corpus.signs == y].double().mean()) for y in (1, -1)]
        lost += sorted(shares) == [0, 1]
    if lost < 2:
        return (
            f"a class is lost for {lost} of 3 seeds, but has to be lost for at least 2"
        )
    return None


@exercise(
    "selection-lost",
    fault=lost_fault,
    mistakes={
        "return at most 24 sequences of at most 8 tokens, not 80 sequences": (
            lambda: separable_corpus(80, 60, 31, n_relevant=4)
        ),
        "your corpus does not satisfy Assumption 1": lambda: crowd_corpus(
            [2], [1], length=2
        ),
        "a class is lost for 0 of 3 seeds, but has to be lost for at least 2": lambda: (
            crowd_corpus([12], [12], length=8)
        ),
        "return an object of the type attnsel.Corpus": lambda: [
            [0, 2],
            [1, 2],
        ],
    },
    hints=(
        "Let all sequences contain the same seven irrelevant tokens, and one relevant "
        "token each. It remains to choose how many relevant tokens a class has, and "
        "how often each of them occurs.",
        "Many rare relevant tokens together push strongly, but each of them pulls "
        "only weakly on its own score. Let each relevant token occur in few "
        "sequences, and try several numbers of relevant tokens per class.",
    ),
)
def my_corpus() -> attnsel.Corpus:
    """Return a Corpus that satisfies Assumption 1 but loses a class at eta_0 = 300."""
    shared = list(range(8, 15))  # seven irrelevant tokens, the same everywhere
    rows = [[r, *shared] for r in range(8) for _ in range(3)]
    labels = [1] * 12 + [0] * 12  # relevant tokens 0 to 3 are positive
    vocab = attnsel.Vocab([f"token {s}" for s in range(15)])
    return attnsel.Corpus.from_tokens(rows, labels, vocab)
