r"""The one-layer attention classifier of the paper, computed in score space.

Let E be the matrix of token embeddings, and let E_X have one row of E per token of X.
With the <cls> embedding p and the output vector v,

.. math:: f(X) = \operatorname{softmax}(E_X p)^\top E_X v .

f does not depend on the order of the tokens, and it depends on E only through the score
a = E p and the value b = E v of each token. Therefore a pass over the corpus reads E
once to compute a and b, and then needs only the sparse counts C:

.. math:: f = \frac{C (w b)}{C w}, \qquad w = \exp(a - \max a) .

Let g_a and g_b be the gradients of the loss with respect to a and b. Then the gradient
with respect to E is a matrix of rank two:

.. math:: \nabla_E L = g_a p^\top + g_b v^\top .

With K > 2 classes, each class has an output v_k, values b_k and a logit f_k, and the
rank is K + 1. With a key-query matrix W, the query W p replaces p.
"""

import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot, pad, softplus

from attnsel.corpus import Corpus, count_tensors
from attnsel.files import read_verified, write_files
from attnsel.tokens import Vocab, split_with
from attnsel.validation import check_choice, check_number

M = TypeVar("M", bound="Classifier")

# One shift by max a is exact while exp(-spread), and its reciprocal, stay far from
# the ends of the dtype's range; past that each sequence gets a shift of its own.
SAFE_SPREAD = {torch.float32: 60.0, torch.float64: 600.0}


class Classifier(nn.Module):
    """Base class of classifiers with token embeddings.

    A classifier computes the scores of tokens, predicts classes, and can be saved to a
    file. The attribute `matrices` contains the names of all (d, d) parameters.
    `AttentionClassifier` describes the other attributes.
    """

    key_query: nn.Parameter | None

    def __init__(
        self,
        n_tokens: int,
        dim: int,
        *,
        n_classes: int = 2,
        key_query: bool = False,
        matrices: tuple[str, ...] = (),
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__()
        self.settings: dict[str, Any] = {  # for `load`
            "n_tokens": n_tokens,
            "dim": dim,
            "n_classes": n_classes,
            "key_query": key_query,
        }
        check_number("n_tokens", n_tokens, 1, integer=True)
        check_number("dim", dim, 1, integer=True)
        check_number("n_classes", n_classes, 2, integer=True)
        check_choice("dtype", dtype, SAFE_SPREAD)
        random = torch.Generator().manual_seed(seed)

        def drawn(*shape: int) -> nn.Parameter:
            entries = torch.randn(*shape, generator=random, dtype=dtype)
            entries.mul_(dim**-0.5)
            return nn.Parameter(entries.to(device))

        self.embeddings = drawn(n_tokens, dim)
        self.cls = drawn(dim)
        self.output = drawn(dim) if n_classes == 2 else drawn(n_classes, dim)
        self.register_parameter("key_query", None)
        self.matrices = matrices
        if key_query:
            self.matrices += ("key_query",)
        for name in self.matrices:
            self.register_parameter(name, drawn(dim, dim))
        self.vocab: Vocab | None = None
        self.classes: tuple[Any, ...] = tuple(range(n_classes))

    def directions(self) -> Tensor:
        """Return the query and the output vectors as rows, (2, d) or (K + 1, d)."""
        query: Tensor = self.cls
        if self.key_query is not None:
            query = self.key_query @ self.cls
        outputs = self.output.view(-1, len(query))
        return torch.cat([query[None], outputs])

    def weights(self) -> list[Tensor]:
        """Return copies of E, p, v and all other parameters, as float64 on the CPU.

        The copies have the order of `named_parameters` and no gradient.
        """
        return [
            parameter.detach().to("cpu", torch.float64, copy=True)
            for parameter in self.parameters()
        ]

    def arrays(self) -> list[np.ndarray]:
        """Return the copies of `weights` as numpy arrays."""
        return [weights.numpy() for weights in self.weights()]

    @torch.no_grad()
    def scores(self) -> Tensor:
        """Return E p (or E W p) and each E v_k for all tokens, (V, 2) or (V, K + 1).

        The model's dtype is used for the computation. The result is float64 on the CPU
        and has no gradient.
        """
        return (self.embeddings @ self.directions().T).cpu().double()

    @torch.no_grad()
    def predict(self, texts: Corpus | Iterable[str | None]) -> list[Any]:
        """Return the likeliest class of each text, as a name in `classes`.

        There is one answer per text. Texts without any known token get None.

        Args:
            texts: a corpus, or a list of texts if the model has a vocabulary.

        Raises:
            ValueError: if texts are given but the model has no vocabulary to split
                them, or if model and corpus have different vocabularies.
            TypeError: if `texts` is one string.
        """
        if isinstance(texts, Corpus):
            return self._likeliest(texts)
        if isinstance(texts, str):
            raise TypeError("texts: expected a list of strings, got one string")
        if self.vocab is None:
            raise ValueError("texts: the model has no vocabulary until it is trained")
        texts = list(texts)
        readable = [i for i, text in enumerate(texts) if has_token(text, self.vocab)]
        answers: list[Any] = [None] * len(texts)
        if readable:
            known = [texts[i] for i in readable]
            corpus = Corpus.from_texts(known, vocab=self.vocab)
            found = self._likeliest(corpus)
            for i, answer in zip(readable, found, strict=True):
                answers[i] = answer
        return answers

    def _likeliest(self, corpus: Corpus) -> list[Any]:
        logits = class_logits(self(corpus))
        return [self.classes[k] for k in logits.argmax(1).tolist()]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write parameters, vocabulary and classes to a file, completely or not at all.

        The file contains tensors, strings and numbers, but no code. If the model is not
        trained, the vocabulary is None.

        Raises:
            OSError: if the file cannot be written.
        """
        vocab_classes = None
        if self.vocab is not None and self.vocab.classes is not None:
            vocab_classes = list(self.vocab.classes)
        content = {
            "model": type(self).__name__,
            "settings": self.settings,
            "parameters": self.state_dict(),
            "vocab": None if self.vocab is None else list(self.vocab),
            "vocab_classes": vocab_classes,
            "own_tokenizer": self.vocab is not None and self.vocab.tokenize is not None,
            "classes": list(self.classes),
        }
        write_files({Path(path): content})

    @classmethod
    def load(cls: type[M], path: str | os.PathLike[str]) -> M:
        """Return the model that `save` wrote to a file, with its parameters on the CPU.

        Like the saved model, the loaded model raises an error for a corpus with another
        vocabulary. The file does not contain your own tokenizer; if you used one, set
        `model.vocab.tokenize` to it.

        Raises:
            OSError: if the file cannot be opened.
            ValueError: if the file is damaged, contains code (which is not run), or
                contains another kind of model.
        """
        content = read_verified(path)
        kind = content.get("model")
        if kind != cls.__name__:
            found = f"{kind}; load the file with {kind}.load" if kind else "no model"
            raise ValueError(f"{path}: expected {cls.__name__}, got {found}")
        parameters = content["parameters"]
        dtype = parameters["embeddings"].dtype
        model = cls(**content["settings"], dtype=dtype)
        model.load_state_dict(parameters)
        model.classes = tuple(content["classes"])
        if content["vocab"] is not None:
            tokenize = _lost_tokenizer if content.get("own_tokenizer") else None
            model.vocab = Vocab(content["vocab"], content["vocab_classes"], tokenize)
        return model

    def check_vocab(self, corpus: Corpus) -> None:
        """Raise a ValueError unless the corpus has the vocabulary of this model.

        If the model has no vocabulary yet, only the number of tokens is compared.
        """
        V, size = len(self.embeddings), len(corpus.vocab)
        if self.vocab is not None and self.vocab != corpus.vocab:
            remedy = "load the corpus with vocab=model.vocab"
            raise ValueError(f"corpus: its vocabulary is not the model's; {remedy}")
        if size != V:
            remedy = "make a model with n_tokens=len(corpus.vocab)"
            raise ValueError(f"corpus: expected {V:,} tokens, got {size:,}; {remedy}")

    def extra_repr(self) -> str:
        """Return the shapes of the parameters, for `repr`."""
        parameters = self.named_parameters()
        return ", ".join(f"{name}={tuple(value.shape)}" for name, value in parameters)


def class_logits(logits: Tensor) -> Tensor:
    """Return one logit per class, (n, K); for two classes, the first one is 0."""
    return pad(logits[:, None], (1, 0)) if logits.ndim == 1 else logits


def has_token(text: str | None, vocab: Vocab | None) -> bool:
    """Return whether a text is a string with a token of the vocabulary."""
    if vocab is None or not isinstance(text, str):
        return False
    return any(token in vocab for token in split_with(vocab.tokenize, text))


def _lost_tokenizer(text: str) -> list[str]:
    """Raise an error, because a saved model does not contain its tokenizer."""
    raise ValueError(
        "texts: the model was trained with your own tokenizer, which its file "
        "does not contain; set model.vocab.tokenize to it"
    )


class AttentionClassifier(Classifier):
    r"""One-layer softmax attention with trained embeddings, f(X) of the paper.

    .. math:: f(X) = \operatorname{softmax}(E_X p)^\top E_X v .

    With `key_query`, E_X W p replaces E_X p, where W is a trained matrix.

    Args:
        n_tokens: V, the number of tokens.
        dim: d, the dimension of the embeddings.
        n_classes: K, the number of classes; two classes share one output vector.
        key_query: whether the query is W p, with a trained matrix W, instead of p.
        seed: seed of the initial entries, drawn from N(0, 1/d).
        dtype: dtype of the parameters, torch.float32 or torch.float64.
        device: device of the parameters, such as "cpu" or "cuda".

    Attributes:
        embeddings: parameter E, (V, d).
        cls: parameter p, (d,).
        output: parameter v (d,); for more than two classes v_1, ..., v_K, (K, d).
        key_query: parameter W (d, d), or None.
        vocab: vocabulary of the training corpus; None before training.
        classes: classes of the training corpus; 0, ..., K - 1 before training.

    Example:
        >>> texts = ["good film", "bad film"]
        >>> corpus = Corpus.from_texts(texts, ["+", "-"], min_count=1)
        >>> model = AttentionClassifier(len(corpus.vocab), dim=16)
        >>> tuple(model(corpus).shape)
        (2,)
        >>> model.attention(corpus).toarray().sum(axis=1).round(6).tolist()
        [1.0, 1.0]
    """

    def forward(self, corpus: Corpus) -> Tensor:
        """Return the logits f(X) of all sequences, (n,) or (n, K); see `bag_logits`."""
        self.check_vocab(corpus)
        return bag_logits(self.embeddings @ self.directions().T, corpus)

    @torch.no_grad()
    def attention(self, corpus: Corpus) -> csr_array:
        """Return the attention on each token of each sequence, as a csr_array (n, V).

        The result is float64 and has the sparsity pattern of `corpus.counts`. An entry
        is the total attention on all occurrences of a token, so each row sums to one.
        """
        self.check_vocab(corpus)
        a = self.scores()[:, 0]
        C, _ = count_tensors(corpus, a.dtype)
        _, _, q = sequence_softmax(a, C)
        counts = corpus.counts
        weights = q.numpy()
        indices = counts.indices.copy()
        indptr = counts.indptr.copy()
        return csr_array((weights, indices, indptr), counts.shape)


def attention_on(words: list[tuple[str, int]], scores: Tensor) -> Tensor:
    """Return the attention on the pieces of a text, (len(words),).

    `words` contains the pieces, as `Corpus.words` returns them. Column 0 of `scores`,
    (V, 2) or (V, K + 1), contains the attention scores E p. The attention is the
    softmax of E p over the tokens in the vocabulary, and 0 on all other pieces.
    """
    ids = torch.tensor([token_id for _, token_id in words], dtype=torch.int64)
    is_token = ids >= 0
    a = scores.detach()[ids[is_token], 0]
    weights = scores.new_zeros(len(words))
    weights[is_token] = torch.softmax(a, dim=0)
    return weights


def bag_logits(
    scores: Tensor,
    corpus: Corpus,
    multiply: Callable[[Tensor, Tensor], Tensor] = torch.matmul,
) -> Tensor:
    """Return the logits of a corpus, computed from the scores of its tokens.

    Column 0 of the scores contains a = E p, and the other columns contain b_k = E v_k.
    Scores (V, 2) give logits (n,), and scores (V, K + 1) give the logits of K classes,
    (n, K). The result is differentiable with respect to all scores, and it is accurate
    for any spread of a. The function `multiply` multiplies the counts, or their
    transpose, by a matrix.

    Raises:
        FloatingPointError: if a score is not finite.
    """
    if not bool(scores.isfinite().all()):
        raise FloatingPointError("the scores are not finite; train with a smaller lr")
    a = scores[:, :1]  # (V, 1)
    b = scores[:, 1:]  # (V, K), or (V, 1) for two classes
    C, Ct = count_tensors(corpus, scores.dtype, scores.device)
    top = a.detach().max()
    bottom = a.detach().min()
    if float(top - bottom) <= SAFE_SPREAD[scores.dtype]:
        w = torch.exp(a - top)  # (V, 1)
        terms = torch.cat((w * b, w), dim=1)  # (V, K + 1)
        sums = _Product.apply(terms, C, Ct, multiply)  # (n, K + 1)
        normalizer = sums[:, -1:]  # C w, (n, 1)
        logits = sums[:, :-1] / normalizer  # (n, K)
    else:
        logits = _spread_logits(a[:, 0], b, C)
    return logits.squeeze(1)  # where there is one output


class _Product(torch.autograd.Function):
    """The product C x, whose gradient is 80 times as fast with the stored transpose."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        C: Tensor,
        Ct: Tensor,
        multiply: Callable[[Tensor, Tensor], Tensor],
    ) -> Tensor:
        ctx.save_for_backward(Ct)
        ctx.multiply = multiply
        return multiply(C, x)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None, None]:
        (Ct,) = ctx.saved_tensors
        (grad,) = grads
        return ctx.multiply(Ct, grad), None, None, None


def _spread_logits(a: Tensor, b: Tensor, C: Tensor) -> Tensor:
    """Return the logits (n, K) for scores a of any spread."""
    rows, columns, q = sequence_softmax(a, C)  # each (nnz,)
    # Values relative to the most attended token of each sequence: where that token
    # has nearly all attention, b - f would be lost in rounding.
    with torch.no_grad():
        top = a.new_zeros(len(C))
        top.scatter_reduce_(0, rows, q, "amax")
        is_top = q == top[rows]
        limit = b.new_zeros(len(C), b.shape[1])
        limit[rows[is_top]] = b[columns[is_top]]
    gap = b[columns] - limit[rows]  # (nnz, K)
    return limit.index_add(0, rows, q[:, None] * gap)


def sequence_softmax(a: Tensor, C: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    r"""Return the row, the column and the attention of each stored count in C (n, V).

    With the scores a (V,), the attention on token s of sequence i is

    .. math:: q_{is} = \frac{C_{is} \exp(a_s)}{\sum_t C_{it} \exp(a_t)} .
    """
    columns = C.col_indices().long()  # (nnz,)
    sizes = C.crow_indices().diff()  # (n,)
    rows = torch.arange(len(C), device=a.device).repeat_interleave(sizes)
    return rows, columns, bag_softmax(a[columns], C.values(), rows, len(C))


def bag_softmax(scores: Tensor, counts: Tensor | float, rows: Tensor, n: int) -> Tensor:
    """Return the softmax of the scores within each row, weighted by `counts`.

    Entry i has the score `scores[i]`, a count c and the row number `rows[i]`, int64
    from 0 to n - 1. Its weight is c exp(score). A row without a finite score gives nan.
    """
    top = scores.new_full((n,), -math.inf)
    top.scatter_reduce_(0, rows, scores.detach(), "amax")  # of each row, (n,)
    w = counts * torch.exp(scores - top[rows])  # (nnz,)
    total = scores.new_zeros(n).index_add(0, rows, w)  # (n,)
    return w / total[rows]


def logistic_loss(logits: Tensor, signs: Tensor) -> Tensor:
    r"""Return the logistic loss of logits f (n,) and signs y (n,).

    .. math:: L = \hat{\mathbb{E}}\big[\log(1 + \exp(-y f))\big]
    """
    return softplus(-signs.to(logits) * logits).mean()


def mean_loss(logits: Tensor, corpus: Corpus) -> Tensor:
    """Return the logistic loss of logits (n,) or the cross-entropy of logits (n, K)."""
    if logits.ndim == 1:
        return logistic_loss(logits, corpus.signs)
    return cross_entropy(logits, corpus.targets.to(logits.device))


def accuracy(logits: Tensor, corpus: Corpus) -> float:
    """Return the share of correctly classified sequences, computed from their logits.

    With logits (n,), a sequence is correct if its logit has the sign of its label; a
    logit of 0 is wrong. With logits (n, K), the logit of the label must be larger than
    all other logits; a tie is wrong.
    """
    if logits.ndim == 1:
        is_right = corpus.signs.to(logits) * logits > 0
    else:
        K = logits.shape[1]
        is_own = one_hot(corpus.targets, K).bool().to(logits.device)
        highest_other = logits.masked_fill(is_own, -torch.inf).amax(1)
        is_right = logits[is_own] > highest_other
    return float(is_right.double().mean())


def score_gradient(
    scores: Tensor,
    corpus: Corpus,
    multiply: Callable[[Tensor, Tensor], Tensor] = torch.matmul,
) -> tuple[Tensor, Tensor]:
    r"""Return the logits and the gradient g of the loss with respect to the scores.

    The gradient has the shape of the scores. If the rows of P are the query and the
    outputs (`Classifier.directions`), then

    .. math:: \nabla_E L = g P, \qquad \nabla_P L = g^\top E .

    `bag_logits` describes the function `multiply`.
    """
    leaf = scores.detach().requires_grad_()
    with torch.enable_grad():
        logits = bag_logits(leaf, corpus, multiply)
        loss = mean_loss(logits, corpus)
        (g,) = torch.autograd.grad(loss, leaf)
    return logits.detach(), g


def score_change(scores: Tensor, cls: Tensor, output: Tensor, corpus: Corpus) -> Tensor:
    r"""Return the change of the scores E p and E v in a gradient step on E with lr = 1.

    Let g be the gradient with respect to the scores, and let P contain p = `cls` (d,)
    and v = `output`, (d,) or (K, d), as rows. The gradient with respect to E is g P.
    Therefore the scores, (V, 2) or (V, K + 1), change by

    .. math:: \Delta (E P^\top) = -g P P^\top .

    The result is float64.
    """
    outputs = output.view(-1, len(cls))
    P = torch.cat([cls[None], outputs]).detach().cpu().double()
    _, g = score_gradient(scores.cpu(), corpus)
    return -g.double() @ (P @ P.T)
