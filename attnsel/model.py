"""The one-layer attention classifier of the paper, computed in score space.

With E the token embeddings, p the <cls> embedding and v the output vector,

    f(X) = softmax(E_X p)^T E_X v .

f depends on E only through two numbers a token, its scores a = E p and b = E v, and
not at all on the order of the tokens. So a forward pass streams E once and then works
on the sparse counts C of the corpus: with w = exp(a - max a) and dL/df = u,

    f  = C(w b) / C w ,        r = u / C w ,
    gb = dL/db = w C^T r ,     ga = dL/da = w (b C^T r - C^T(r f)) ,

and the gradient of E is the rank-two matrix ga p^T + gb v^T.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from scipy.sparse import csr_array
from torch import Tensor, nn

from attnsel.corpus import Corpus, Vocab

# Rows of E taken at a time: a block of 512 x 2048 floats stays in the cache of one
# core while several operations read it, so that memory sees E once.
BLOCK = 512

# One shift by max a is exact while exp(-spread), and its reciprocal, stay far from
# the ends of the dtype's range; past that each sequence gets a shift of its own.
SAFE_SPREAD = {torch.float32: 60.0, torch.float64: 600.0}


class AttentionClassifier(nn.Module):
    """One-layer softmax attention with trained embeddings, f(X) of the paper.

    Args:
        n_tokens: V, size of the vocabulary.
        dim: d, dimension of the embeddings.
        seed: seed of the initial entries, drawn from N(0, 1/d).
        dtype: torch.float32 or torch.float64.
        device: where the parameters live.

    Attributes:
        embeddings: E, parameter (V, d).
        cls: p, parameter (d,).
        output: v, parameter (d,).
        vocab: the vocabulary it was trained on, None before training; a corpus in
            another vocabulary is refused.
        classes: names of the classes, those of the corpus it was trained on.

    Raises:
        ValueError: if a size is not a positive integer or the dtype is another one.
    """

    def __init__(
        self,
        n_tokens: int,
        dim: int,
        *,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__()
        for name, size in (("n_tokens", n_tokens), ("dim", dim)):
            if not isinstance(size, int) or isinstance(size, bool) or size < 1:
                raise ValueError(f"{name}: expected a positive integer, got {size!r}")
        if dtype not in SAFE_SPREAD:
            raise ValueError(f"dtype: expected float32 or float64, got {dtype}")
        generator = torch.Generator().manual_seed(seed)

        def draw(*shape: int) -> nn.Parameter:
            entries = torch.randn(*shape, generator=generator, dtype=dtype)
            return nn.Parameter(entries.mul_(dim**-0.5).to(device))

        self.embeddings = draw(n_tokens, dim)
        self.cls = draw(dim)
        self.output = draw(dim)
        self.vocab: Vocab | None = None
        self.classes: tuple[Any, ...] = (0, 1)

    def scores(self) -> Tensor:
        """Return the scores E p and E v of each token as the columns of a (V, 2)."""
        scores: Tensor = _Scores.apply(self.embeddings, self.cls, self.output)
        return scores

    def forward(self, corpus: Corpus) -> Tensor:
        """Return the logits f(X) of all sequences, shape (n,).

        Raises:
            ValueError: if the corpus is in another vocabulary.
            FloatingPointError: if a score is not finite.
        """
        self.check_vocab(corpus)
        return bag_logits(self.scores(), corpus)

    @torch.no_grad()
    def attention(self, corpus: Corpus) -> csr_array:
        """Return the attention on each token of each sequence.

        The csr_array (n, V) has the stored entries of `corpus.counts`; an entry is the
        softmax weight of the token times its count, and each row sums to one; divide
        by the counts for the weight of one position.
        """
        self.check_vocab(corpus)
        a = self.scores()[:, 0]
        _, _, q = _sequence_softmax(a, corpus.csr(a.dtype, a.device)[0])
        counts = corpus.counts
        return csr_array(
            (q.cpu().numpy(), counts.indices.copy(), counts.indptr.copy()), counts.shape
        )

    @torch.no_grad()
    def predict(self, corpus: Corpus) -> list[Any]:
        """Return the name of the likelier class of each sequence, from `classes`."""
        return [self.classes[int(logit > 0)] for logit in self(corpus).tolist()]

    def check_vocab(self, corpus: Corpus) -> None:
        """Raise a ValueError unless the corpus is counted in this model's tokens."""
        if len(corpus.vocab) != len(self.embeddings):
            raise ValueError(
                f"corpus: its vocabulary has {len(corpus.vocab):,} tokens, the model "
                f"{len(self.embeddings):,}; load the corpus with vocab= of the "
                "training corpus"
            )
        if self.vocab not in (None, corpus.vocab):
            raise ValueError(
                "corpus: its vocabulary has the size of the one the model was trained "
                "on but other tokens; load it with vocab= of the training corpus"
            )

    def extra_repr(self) -> str:
        """Return the sizes, for `repr`."""
        return f"n_tokens={self.embeddings.shape[0]}, dim={self.embeddings.shape[1]}"


def attention_on(words: list[tuple[str, int]], scores: Tensor) -> Tensor:
    """Return the attention on each piece of a text, as `Corpus.words` splits it.

    Args:
        words: pieces with their token ids, -1 for what is no token.
        scores: of all tokens, (V, 2); column 0 holds E p.

    Returns:
        Tensor (len(words),): softmax of the scores over the tokens, 0 elsewhere.
    """
    ids = torch.tensor([token_id for _, token_id in words], dtype=torch.int64)
    weights = scores.new_zeros(len(words))
    weights[ids >= 0] = torch.softmax(scores.detach()[ids[ids >= 0], 0], dim=0)
    return weights


def bag_logits(scores: Tensor, corpus: Corpus) -> Tensor:
    """Return the logits (n,) of a corpus from the scores (V, 2) of its tokens.

    Column 0 holds a = E p, column 1 holds b = E v; the result is differentiable in
    both. It is exact to the dtype for any spread of a.

    Raises:
        FloatingPointError: if a score is not finite.
    """
    C, Ct = corpus.csr(scores.dtype, scores.device)
    logits: Tensor = _BagLogits.apply(scores, C, Ct)
    return logits


class _Scores(torch.autograd.Function):
    """(E, p, v) -> [E p, E v] and back, each reading E from memory once."""

    @staticmethod
    def forward(ctx: Any, E: Tensor, p: Tensor, v: Tensor) -> Tensor:
        ctx.save_for_backward(E, p, v)
        return torch.cat([_pair(e @ p, e @ v) for e in E.split(BLOCK)])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        E, p, v = ctx.saved_tensors
        (g,) = grads
        grad_E = embeddings_gradient(g, p, v) if ctx.needs_input_grad[0] else None
        if not any(ctx.needs_input_grad[1:]):
            return grad_E, None, None
        return grad_E, *pull_back(E, g)


def embeddings_gradient(
    g: Tensor, p: Tensor, v: Tensor, out: Tensor | None = None
) -> Tensor:
    """Return the rank-two gradient ga p^T + gb v^T of some rows of E.

    g holds the gradients (ga, gb) of the scores of these rows, shape (rows, 2); the
    result, shape (rows, d), is written to `out` if it is given.
    """
    ga, gb = g[:, :1], g[:, 1:]
    # Two broadcast passes: a matrix product with inner dimension 2 is slower.
    return torch.mul(ga, p, out=out).addcmul_(gb, v)


def pull_back(
    E: Tensor, g: Tensor, then: Callable[[int, Tensor, Tensor], None] | None = None
) -> tuple[Tensor, Tensor]:
    """Return the gradients E^T ga of p and E^T gb of v, each of shape (d,).

    E is read by blocks of rows. `then(i, rows, g_rows)` is called when block i has been
    used and is still in the cache; it may change the rows.
    """
    grad_p, grad_v = torch.zeros_like(E[0]), torch.zeros_like(E[0])
    # Contiguous columns: matrix-vector products take twice as long on strided ones.
    columns = g.T.contiguous().split(BLOCK, dim=1)
    for i, (e, (ga, gb)) in enumerate(zip(E.split(BLOCK), columns, strict=True)):
        grad_p.addmv_(e.T, ga)
        grad_v.addmv_(e.T, gb)
        if then is not None:
            then(i, e, _pair(ga, gb))
    return grad_p, grad_v


class _BagLogits(torch.autograd.Function):
    """Scores (V, 2) -> logits (n,), with the analytic gradient of the module text."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, C: Tensor, Ct: Tensor) -> Tensor:
        a, b = scores.unbind(1)
        spread = float(a.max() - a.min())
        if not (math.isfinite(spread) and bool(torch.isfinite(b).all())):
            raise FloatingPointError(
                "the scores E p and E v are not finite; train with a smaller lr"
            )
        ctx.shared_shift = spread <= SAFE_SPREAD[a.dtype]
        if ctx.shared_shift:
            w = torch.exp(a - a.max())
            sums = C @ _pair(w * b, w)
            logits = sums[:, 0] / sums[:, 1]
            ctx.save_for_backward(w, b, logits, sums[:, 1], Ct)
        else:
            rows, columns, q = _sequence_softmax(a, C)
            # Values relative to the most attended token of each sequence: where that
            # token has nearly all attention, b - f would be lost in rounding.
            top = a.new_zeros(len(C)).scatter_reduce_(0, rows, q, "amax")
            first = q == top[rows]
            limit = a.new_zeros(len(C)).scatter_(0, rows[first], b[columns[first]])
            gap = b[columns] - limit[rows]
            shift = a.new_zeros(len(C)).index_add_(0, rows, q * gap)
            logits = limit + shift
            ctx.save_for_backward(rows, columns, q, b, gap - shift[rows])
        return logits

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (u,) = grads
        if ctx.shared_shift:
            w, b, logits, total, Ct = ctx.saved_tensors
            r = u / total
            sums = Ct @ _pair(r, r * logits)
            gb = w * sums[:, 0]
            ga = w * (b * sums[:, 0] - sums[:, 1])
        else:
            rows, columns, q, b, above = ctx.saved_tensors
            flow = u[rows] * q
            gb = torch.zeros_like(b).index_add_(0, columns, flow)
            ga = torch.zeros_like(b).index_add_(0, columns, flow * above)
        return _pair(ga, gb), None, None


def _sequence_softmax(a: Tensor, C: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return row, column and attention of each stored count, one shift a sequence."""
    n = C.shape[0]
    columns = C.col_indices().long()
    rows = torch.arange(n, device=a.device).repeat_interleave(C.crow_indices().diff())
    stored = a[columns]
    top = a.new_full((n,), -math.inf).scatter_reduce_(0, rows, stored, "amax")
    w = C.values() * torch.exp(stored - top[rows])
    total = a.new_zeros(n).index_add_(0, rows, w)
    return rows, columns, w / total[rows]


def _pair(first: Tensor, second: Tensor) -> Tensor:
    """Return two vectors as the columns of a (length, 2) matrix."""
    return torch.stack((first, second), dim=1)
