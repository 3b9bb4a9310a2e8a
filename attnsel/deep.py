"""Beyond one layer: an MLP after the softmax, and two layers of attention.

    model = MLPClassifier(len(corpus.vocab), 512)
    model = TwoLayerClassifier(len(corpus.vocab), 128, residual=True)
    history = fit(model, corpus, steps=2, lr=3e-3, batch_size=250, test=test)

`fit` trains them as it trains one layer, in mini-batches; `steps` are passes over the
corpus, and `train=` takes the names of their parameters. Their scores are those of one
layer (E p or E W p, and E v), so that the same figures show them. Without positions
they do not see the order of tokens, and work on bags: nothing is cut off.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from attnsel.checks import check_number
from attnsel.corpus import Corpus
from attnsel.model import Classifier, sequence_softmax

# Entries of attention that are computed together, of sequences of similar length.
GROUP = 2**21


class MLPClassifier(Classifier):
    """One layer of attention, then a hidden layer on what it has gathered.

    f(X) = relu(x H^T) v with x = sum_i q_i E_{x_i}, q = softmax(E_X p), and H the
    parameter `hidden` (d, d); with a residual (relu(x H^T) + x) v. An output is a
    direction of the hidden space: E v has a meaning of its own only with a residual,
    while E (H^T v) reads what the hidden layer makes of a token.

    Args:
        n_tokens: V, size of the vocabulary.
        dim: d, dimension of the embeddings and of the hidden layer.
        residual: whether the gathered embedding is added to the hidden layer.
        settings: n_classes, seed, dtype and device of `Classifier`.
    """

    hidden: nn.Parameter

    def __init__(
        self, n_tokens: int, dim: int, *, residual: bool = False, **settings: Any
    ) -> None:
        super().__init__(n_tokens, dim, matrices=("hidden",), **settings)
        self.residual = residual

    def forward(self, corpus: Corpus) -> Tensor:
        """Return the logits f(X) of all sequences, (n,) or (n, K)."""
        self.check_vocab(corpus)
        E, P = self.embeddings, self.directions()
        gathered: Tensor = _Gather.apply(E, E @ P[0], corpus.csr(E.dtype, E.device)[0])
        hidden = torch.relu(gathered @ self.hidden.T)
        logits = (hidden + gathered if self.residual else hidden) @ P[1:].T
        return logits.squeeze(1) if len(P) == 2 else logits


class _Gather(torch.autograd.Function):
    """(E, a) -> Q E with Q (n, V) the attention of each sequence on each token.

    With G the gradient of the result x: dL/dE = Q^T G and dL/da_s =
    E_s.(Q^T G)_s - (Q^T (G.x))_s. No (n, T, d) tensor is formed.
    """

    @staticmethod
    def forward(ctx: Any, E: Tensor, a: Tensor, C: Tensor) -> Tensor:
        rows, columns, q = sequence_softmax(a, C)
        at = (C.crow_indices(), C.col_indices())
        Q = torch.sparse_csr_tensor(*at, q, C.shape, check_invariants=False)
        gathered = Q @ E
        ctx.save_for_backward(E, rows, columns, q, gathered)
        return gathered

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        E, rows, columns, q, gathered = ctx.saved_tensors
        (G,) = grads
        at, shape = torch.stack((columns, rows)), (len(E), len(G))
        Qt = torch.sparse_coo_tensor(at, q, shape, check_invariants=False)
        sums = Qt.to_sparse_csr() @ torch.cat(
            (G, (G * gathered).sum(1, keepdim=True)), dim=1
        )
        return sums[:, :-1], (E * sums[:, :-1]).sum(1) - sums[:, -1], None


class TwoLayerClassifier(Classifier):
    """Two layers of attention, each with a key-query matrix.

    In the first layer each token attends to all tokens of its sequence, in the second
    <cls> attends to what comes out: with X the embeddings of a sequence,

        H = softmax(X W1 X^T) X,   with a residual H + X in its place,
        f(X) = softmax(H W p)^T H v .

    W1 is the parameter `first_key_query`, W `key_query`. Equal tokens of a bag get
    equal rows of H, so distinct tokens with the logarithms of their counts added to the
    scores of both softmaxes give the same f. With positions an embedding of the place
    is added to each row of X, and sequences are taken in the order of their texts.

    Args:
        n_tokens: V, size of the vocabulary.
        dim: d, dimension of the embeddings.
        residual: whether a token keeps its own embedding beside what it attends to.
        positions: greatest number of tokens of a sequence whose order is seen; None
            for bags. They are the parameter `positions` (positions, d).
        settings: n_classes, seed, dtype and device of `Classifier`.
    """

    first_key_query: nn.Parameter
    positions: nn.Parameter | None

    def __init__(
        self,
        n_tokens: int,
        dim: int,
        *,
        residual: bool = True,
        positions: int | None = None,
        seed: int = 0,
        **settings: Any,
    ) -> None:
        matrices = ("first_key_query", "key_query")
        super().__init__(n_tokens, dim, matrices=matrices, seed=seed, **settings)
        self.residual = residual
        self.register_parameter("positions", None)
        if positions is not None:
            check_number("positions", positions, 1, integer=True)
            random = torch.Generator().manual_seed(seed + 1)
            places = torch.randn(positions, dim, generator=random) * dim**-0.5
            self.positions = nn.Parameter(places.to(self.embeddings))

    def forward(self, corpus: Corpus) -> Tensor:
        """Return the logits f(X) of all sequences, (n,) or (n, K).

        Raises:
            ValueError: if the corpus is in another vocabulary; with positions, if it
                has no texts or one of them is too long.
        """
        self.check_vocab(corpus)
        sequences = self._sequences(corpus)
        longest = torch.tensor([len(ids) for ids, _ in sequences])
        logits, end = [], 0
        order = longest.argsort(descending=True)
        while end < len(order):
            start, size = end, max(1, GROUP // int(longest[order[end]]) ** 2)
            end = start + size
            logits.append(self._logits([sequences[i] for i in order[start:end]]))
        found = torch.cat(logits)[order.argsort().to(self.cls.device)]
        return found.squeeze(1) if found.shape[1] == 1 else found

    def _sequences(self, corpus: Corpus) -> list[tuple[Tensor, Tensor]]:
        """Return the tokens of each sequence and the logarithms of their counts."""
        if self.positions is None:
            counts = corpus.counts
            ids = torch.from_numpy(counts.indices).long()
            logs = torch.from_numpy(counts.data).to(self.cls.dtype).log()
            sizes = counts.indptr[1:] - counts.indptr[:-1]
            parts = (values.split(sizes.tolist()) for values in (ids, logs))
            return list(zip(*parts, strict=True))
        if corpus.texts is None:
            raise ValueError("corpus: it has no texts, which positions need")
        found = []
        for i in range(len(corpus)):
            ids = torch.tensor([s for _, s in corpus.words(i) if s >= 0])
            if len(ids) > len(self.positions):
                raise ValueError(
                    f"corpus: text {i} has {len(ids)} tokens, the model "
                    f"{len(self.positions)} positions"
                )
            found.append((ids, torch.zeros(len(ids), dtype=self.cls.dtype)))
        return found

    def _logits(self, sequences: list[tuple[Tensor, Tensor]]) -> Tensor:
        """Return the logits (n, 1) or (n, K) of sequences that are padded together."""
        device, columns = self.cls.device, zip(*sequences, strict=True)
        ids, logs = (
            pad_sequence(list(values), batch_first=True, padding_value=padding)
            for values, padding in zip(columns, (0, -torch.inf), strict=True)
        )
        X, logs = self.embeddings[ids.to(device)], logs.to(device)
        if self.positions is not None:
            X = X + self.positions[: X.shape[1]]
        # The second layer reads K + 1 numbers of each row of H, so no more are formed.
        read = X @ self.directions().T
        query = X @ self.first_key_query
        scores = torch.baddbmm(logs[:, None], query, X.mT)
        H = torch.softmax(scores, dim=2) @ read
        H = H + read if self.residual else H
        q = torch.softmax(H[:, :, 0] + logs, dim=1)
        logits: Tensor = torch.einsum("nt,ntk->nk", q, H[:, :, 1:])
        return logits
