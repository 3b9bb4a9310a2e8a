"""The one-layer attention classifier of the paper, computed in score space.

With E the token embeddings, p the <cls> embedding and v the output vector,

    f(X) = softmax(E_X p)^T E_X v .

f depends on E only through two numbers a token, its scores a = E p and b = E v, and
not at all on the order of the tokens. So a forward pass reads E once and then works
on the sparse counts C of the corpus: with w = exp(a - max a) and dL/df = u,

    f  = C(w b) / C w ,        r = u / C w ,
    gb = dL/db = w C^T r ,     ga = dL/da = w (b C^T r - C^T(r f)) ,

and the gradient of E is the rank-two matrix ga p^T + gb v^T. With K classes there are
an output v_k, a score b_k and a logit f_k for each, ga is summed over them and the
rank is K + 1; with a key-query matrix W the query W p stands in the place of p.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from scipy.sparse import csr_array
from torch import Tensor, nn

from attnsel.checks import check_number
from attnsel.corpus import Corpus, Vocab

# One shift by max a is exact while exp(-spread), and its reciprocal, stay far from
# the ends of the dtype's range; past that each sequence gets a shift of its own.
SAFE_SPREAD = {torch.float32: 60.0, torch.float64: 600.0}


class Classifier(nn.Module):
    """What all models here share: embeddings, a query, outputs and their scores.

    Args:
        n_tokens: V, size of the vocabulary.
        dim: d, dimension of the embeddings.
        n_classes: K; two classes share one output vector.
        matrices: names of the model's (d, d) matrices.
        seed: seed of the initial entries, drawn from N(0, 1/d).
        dtype: torch.float32 or torch.float64.
        device: where the parameters live.

    Attributes:
        embeddings: E, parameter (V, d).
        cls: p, parameter (d,).
        output: v, parameter (d,) for two classes; v_1, ..., v_K, (K, d), for more.
        key_query: W, parameter (d, d), or None: the query is W p, or p.
        vocab: the vocabulary it was trained on, None before training; a corpus in
            another vocabulary is refused.
        classes: names of the classes, those of the corpus it was trained on.

    Raises:
        ValueError: if a size is not a positive integer, there are fewer than two
            classes, or the dtype is another one.
    """

    embeddings: nn.Parameter
    cls: nn.Parameter
    output: nn.Parameter
    key_query: nn.Parameter | None

    def __init__(
        self,
        n_tokens: int,
        dim: int,
        *,
        n_classes: int = 2,
        matrices: tuple[str, ...] = (),
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__()
        check_number("n_tokens", n_tokens, 1, integer=True)
        check_number("dim", dim, 1, integer=True)
        check_number("n_classes", n_classes, 2, integer=True)
        if dtype not in SAFE_SPREAD:
            raise ValueError(f"dtype: expected float32 or float64, got {dtype}")
        generator = torch.Generator().manual_seed(seed)
        shapes: dict[str, tuple[int, ...]] = {
            "embeddings": (n_tokens, dim),
            "cls": (dim,),
            "output": (dim,) if n_classes == 2 else (n_classes, dim),
        } | dict.fromkeys(matrices, (dim, dim))
        for name, shape in shapes.items():
            entries = torch.randn(*shape, generator=generator, dtype=dtype)
            setattr(self, name, nn.Parameter(entries.mul_(dim**-0.5).to(device)))
        if "key_query" not in matrices:
            self.register_parameter("key_query", None)
        self.matrices = matrices
        self.vocab: Vocab | None = None
        self.classes: tuple[Any, ...] = tuple(range(n_classes))

    def directions(self) -> Tensor:
        """Return the query and the outputs, rows of a (2, d) or (K + 1, d)."""
        query = self.cls if self.key_query is None else self.key_query @ self.cls
        return torch.cat([query[None], self.output.view(-1, len(query))])

    def scores(self) -> Tensor:
        """Return E p (or E W p) and each E v_k of all tokens, (V, 2) or (V, K + 1)."""
        return self.embeddings @ self.directions().T

    @torch.no_grad()
    def predict(self, corpus: Corpus) -> list[Any]:
        """Return the name of the likeliest class of each sequence, from `classes`."""
        logits = self(corpus)
        likeliest = logits > 0 if logits.ndim == 1 else logits.argmax(1)
        return [self.classes[int(k)] for k in likeliest.tolist()]

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
        shapes = (f"{name}={tuple(p.shape)}" for name, p in self.named_parameters())
        return ", ".join(shapes)


class AttentionClassifier(Classifier):
    """One-layer softmax attention with trained embeddings, f(X) of the paper.

    Args:
        n_tokens: V, size of the vocabulary.
        dim: d, dimension of the embeddings.
        n_classes: K; with more than two, logits f_k = sum_i q_i E_{x_i}.v_k.
        key_query: whether the scores are E W p with a trained matrix W in place of E p.
        settings: seed, dtype and device of `Classifier`, which has the attributes.
    """

    def __init__(
        self, n_tokens: int, dim: int, *, key_query: bool = False, **settings: Any
    ) -> None:
        matrices = ("key_query",) if key_query else ()
        super().__init__(n_tokens, dim, matrices=matrices, **settings)

    def forward(self, corpus: Corpus) -> Tensor:
        """Return the logits f(X) of all sequences, (n,) or (n, K).

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
        _, _, q = sequence_softmax(a, corpus.csr(a.dtype, a.device)[0])
        counts = corpus.counts
        return csr_array(
            (q.cpu().numpy(), counts.indices.copy(), counts.indptr.copy()), counts.shape
        )


def attention_on(words: list[tuple[str, int]], scores: Tensor) -> Tensor:
    """Return the attention on each piece of a text, as `Corpus.words` splits it.

    Args:
        words: pieces with their token ids, -1 for what is no token.
        scores: of all tokens, (V, 2) or (V, K + 1); column 0 holds E p.

    Returns:
        Tensor (len(words),): softmax of the scores over the tokens, 0 elsewhere.
    """
    ids = torch.tensor([token_id for _, token_id in words], dtype=torch.int64)
    weights = scores.new_zeros(len(words))
    weights[ids >= 0] = torch.softmax(scores.detach()[ids[ids >= 0], 0], dim=0)
    return weights


def bag_logits(scores: Tensor, corpus: Corpus) -> Tensor:
    """Return the logits of a corpus from the scores of its tokens.

    Column 0 of the scores holds a = E p, each other one a b_k = E v_k: (V, 2) gives
    the logits (n,), and (V, K + 1) those of K classes, (n, K). The result is
    differentiable in all of them, and exact to the dtype for any spread of a.

    Raises:
        FloatingPointError: if a score is not finite.
    """
    C, Ct = corpus.csr(scores.dtype, scores.device)
    logits: Tensor = _BagLogits.apply(scores, C, Ct)
    return logits.squeeze(1) if scores.shape[1] == 2 else logits


class _BagLogits(torch.autograd.Function):
    """Scores (V, m + 1) -> logits (n, m), with the gradient of the module text."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, C: Tensor, Ct: Tensor) -> Tensor:
        a, b = scores[:, 0], scores[:, 1:]
        spread = float(a.max() - a.min())
        if not (math.isfinite(spread) and bool(torch.isfinite(b).all())):
            raise FloatingPointError(
                "the scores E p and E v are not finite; train with a smaller lr"
            )
        ctx.shared_shift = spread <= SAFE_SPREAD[a.dtype]
        if ctx.shared_shift:
            w = torch.exp(a - a.max())[:, None]
            sums = C @ torch.cat((w * b, w), dim=1)
            logits = sums[:, :-1] / sums[:, -1:]
            ctx.save_for_backward(w, b, logits, sums[:, -1:], Ct)
        else:
            rows, columns, q = sequence_softmax(a, C)
            # Values relative to the most attended token of each sequence: where that
            # token has nearly all attention, b - f would be lost in rounding.
            top = a.new_zeros(len(C)).scatter_reduce_(0, rows, q, "amax")
            first = q == top[rows]
            limit = b.new_zeros(len(C), b.shape[1])
            limit[rows[first]] = b[columns[first]]
            gap = b[columns] - limit[rows]
            shift = torch.zeros_like(limit).index_add_(0, rows, q[:, None] * gap)
            logits = limit + shift
            ctx.save_for_backward(rows, columns, q, b, gap - shift[rows])
        return logits

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (u,) = grads
        if ctx.shared_shift:
            w, b, logits, total, Ct = ctx.saved_tensors
            r = u / total
            sums = Ct @ torch.cat((r, (r * logits).sum(1, keepdim=True)), dim=1)
            gb = w * sums[:, :-1]
            ga = w * ((b * sums[:, :-1]).sum(1, keepdim=True) - sums[:, -1:])
        else:
            rows, columns, q, b, above = ctx.saved_tensors
            flow = u[rows] * q[:, None]
            gb = torch.zeros_like(b).index_add_(0, columns, flow)
            pull = (flow * above).sum(1, keepdim=True)
            ga = torch.zeros_like(b[:, :1]).index_add_(0, columns, pull)
        return torch.cat((ga, gb), dim=1), None, None


def sequence_softmax(a: Tensor, C: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return row, column and attention of each stored count, one shift a sequence."""
    n = C.shape[0]
    columns = C.col_indices().long()
    rows = torch.arange(n, device=a.device).repeat_interleave(C.crow_indices().diff())
    stored = a[columns]
    top = a.new_full((n,), -math.inf).scatter_reduce_(0, rows, stored, "amax")
    w = C.values() * torch.exp(stored - top[rows])
    total = a.new_zeros(n).index_add_(0, rows, w)
    return rows, columns, w / total[rows]
