"""Models beyond one layer: a hidden layer after the softmax, and two attention layers.

Like the one-layer model, these models are trained by `attnsel.fit` and have the scores
E p (or E W p) and E v, so that the same figures can show the scores. Only a model with
`positions` depends on the order of the tokens. The other models use bags of tokens. No
sequence is truncated.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag
from torch.nn.utils.rnn import pad_sequence

from attnsel.corpus import Corpus, count_tensors
from attnsel.model import Classifier, sequence_softmax
from attnsel.validation import check_number

# Entries of attention that are computed together, of sequences of similar length.
GROUP = 2**21


class MLPClassifier(Classifier):
    r"""One layer of attention, followed by a hidden layer on its output.

    .. math::

        f(X) = \operatorname{relu}(x H^\top) v , \qquad x = E_X^\top q , \quad
        q = \operatorname{softmax}(E_X p) ,

    where H is the parameter `hidden` (d, d). With `residual`, the logit is instead
    (relu(x H^T) + x) v. The output vector v is a direction in the hidden space.
    Therefore E v has a meaning of its own only with a residual, whereas E (H^T v)
    describes the effect of a token through the hidden layer. `AttentionClassifier`
    describes the other settings.
    """

    hidden: nn.Parameter

    def __init__(
        self, n_tokens: int, dim: int, *, residual: bool = False, **settings: Any
    ) -> None:
        super().__init__(n_tokens, dim, matrices=("hidden",), **settings)
        self.residual = residual
        self.settings["residual"] = residual

    def forward(self, corpus: Corpus) -> Tensor:
        """Return the logits f(X) of all sequences, (n,) or (n, K)."""
        self.check_vocab(corpus)
        E, P = self.embeddings, self.directions()
        C, _ = count_tensors(corpus, E.dtype, E.device)
        _, columns, q = sequence_softmax(E @ P[0], C)
        starts = C.crow_indices()[:-1].long()
        # x and then relu(x H^T), each (n, d)
        gathered = embedding_bag(columns, E, starts, mode="sum", per_sample_weights=q)
        hidden = torch.relu(gathered @ self.hidden.T)
        if self.residual:
            hidden = hidden + gathered
        logits = hidden @ P[1:].T
        return logits.squeeze(1)  # where there is one output


class TwoLayerClassifier(Classifier):
    r"""Two layers of attention, each with a key-query matrix.

    In the first layer, each token attends to all tokens of its sequence. In the second
    layer, <cls> attends to the outputs of the first layer. If X contains the embeddings
    of a sequence, then

    .. math::

        H = \operatorname{softmax}(X W_1 X^\top) X , \qquad
        f(X) = \operatorname{softmax}(H W p)^\top H v ,

    and with `residual`, H + X replaces H. Here W_1 is the parameter `first_key_query`,
    and W is `key_query`. Equal tokens of a bag get equal rows of H. Therefore we
    compute the same f from the distinct tokens if we add the logarithms of their counts
    to the scores in both softmaxes. If the argument `positions` is given, it is the
    largest number of tokens in a sequence. Tokens are then in the order of the text,
    and row i of the parameter with the same name, (positions, d), is added to row i of
    X. `AttentionClassifier` describes the other settings.
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
        settings = {"matrices": ("first_key_query",), "seed": seed, **settings}
        super().__init__(n_tokens, dim, key_query=True, **settings)
        check_number("positions", positions, 1, integer=True, optional=True)
        self.residual = residual
        del self.settings["key_query"]  # it always has one
        self.settings |= {"residual": residual, "positions": positions}
        self.register_parameter("positions", None)
        if positions is not None:
            random = torch.Generator().manual_seed(seed + 1)
            places = torch.randn(positions, dim, generator=random)
            places.mul_(dim**-0.5)
            self.positions = nn.Parameter(places.to(self.embeddings))

    def forward(self, corpus: Corpus) -> Tensor:
        """Return the logits f(X) of all sequences, (n,) or (n, K).

        Raises:
            ValueError: if model and corpus have different vocabularies or, for a model
                with positions, if there are no texts or if a text has too many tokens.
        """
        self.check_vocab(corpus)
        sequences = self._sequences(corpus)
        sizes = [len(ids) for ids, _ in sequences]
        rows = range(len(sizes))
        order = sorted(rows, key=sizes.__getitem__, reverse=True)
        logits: list[Tensor] = []
        while len(logits) < len(order):
            left = order[len(logits) :]
            longest = sizes[left[0]]
            most = max(1, GROUP // longest**2)
            group = [sequences[i] for i in left[:most]]
            logits.extend(self._logits(group))
        by_size = torch.stack(logits)
        back = torch.tensor(order).argsort().to(by_size.device)
        return by_size[back].squeeze(1)

    def _sequences(self, corpus: Corpus) -> list[tuple[Tensor, Tensor]]:
        """Return the tokens of each sequence and the logarithms of their counts."""
        if self.positions is not None:
            return self._texts_in_order(corpus, len(self.positions))
        found = []
        for ids, times in corpus.bags():
            tokens = torch.from_numpy(ids).long()
            counts = torch.from_numpy(times).to(self.cls.dtype)
            found.append((tokens, counts.log()))
        return found

    def _texts_in_order(self, corpus: Corpus, most: int) -> list[tuple[Tensor, Tensor]]:
        """Return all tokens of each text in order, each with a log-count of zero.

        No text may have more than `most` tokens.
        """
        if corpus.texts is None:
            raise ValueError(
                "corpus: it contains counts only, but positions need the texts; "
                "build it with Corpus.from_texts or load_corpus"
            )
        found = []
        for i in range(len(corpus)):
            words = corpus.words(i)
            tokens = [s for _, s in words if s >= 0]
            if len(tokens) > most:
                message = (
                    f"text {i} has {len(tokens)} tokens, the model {most} positions"
                )
                raise ValueError(f"corpus: {message}")
            logs = torch.zeros(len(tokens), dtype=self.cls.dtype)
            found.append((torch.tensor(tokens), logs))
        return found

    def _logits(self, sequences: list[tuple[Tensor, Tensor]]) -> Tensor:
        """Return the logits (n, 1) or (n, K) of sequences after padding them."""
        device = self.cls.device
        tokens = [ids for ids, _ in sequences]
        weights = [logs for _, logs in sequences]
        ids = pad_sequence(tokens, batch_first=True).to(device)  # (n, T)
        logs = pad_sequence(weights, batch_first=True, padding_value=-torch.inf)
        logs = logs.to(device)
        X = self.embeddings[ids]  # (n, T, d)
        if self.positions is not None:
            X = X + self.positions[: X.shape[1]]
        # The second layer reads K + 1 numbers of each row of H, so no more are formed.
        read = X @ self.directions().T  # (n, T, K + 1)
        queries = X @ self.first_key_query
        scores = torch.baddbmm(logs[:, None], queries, X.mT)  # (n, T, T)
        H = torch.softmax(scores, dim=2) @ read  # its K + 1 numbers
        if self.residual:
            H = H + read
        a = H[:, :, 0]
        b = H[:, :, 1:]
        q = torch.softmax(a + logs, dim=1)  # (n, T)
        return torch.einsum("nt,ntk->nk", q, b)
