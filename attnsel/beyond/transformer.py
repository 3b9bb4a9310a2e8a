"""A small transformer for sequences of tokens, with parts that can be switched off.

In contrast to the one-layer model of this book, it is a standard encoder with several
heads, residual connections, LayerNorm, and a hidden layer after each attention layer.
Its logits cannot be computed from the scores of the tokens alone. The chapter *Does a
transformer select tokens?* queries it as a black box.
"""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm

from attnsel.validation import check_choice, check_number

NORMS = ("post", "pre", "none")
POOLS = ("mean", "cls", "query")


class TransformerBlock(nn.Module):
    r"""A layer of attention and a hidden layer, each with a residual connection.

    Let x be the states (n, T, d) of n sequences, and let N be LayerNorm, or the
    identity if `norm` is "none". Unless `norm` is "pre", the block computes

    .. math::

        x' = N(x + A(x) x W_V W_O) , \qquad
        x'' = N(x' + \operatorname{relu}(x' H_1) H_2) .

    We omit the biases. In each head, A is the softmax of `sharpness` times x W_Q (x
    W_K)^T / sqrt(d / heads). If `uniform` is true, all tokens get equal attention
    instead. With `norm="pre"`, N is applied to the input of each layer instead of to
    the sum, so that the first sum is x + A(N(x)) N(x) W_V W_O.
    """

    def __init__(
        self, dim: int, heads: int, norm: str, uniform: bool, sharpness: float
    ) -> None:
        super().__init__()
        self.heads = heads
        self.norm = norm
        self.uniform = uniform
        self.scale = sharpness / math.sqrt(dim / heads)
        self.read = nn.Linear(dim, 3 * dim)  # W_Q, W_K and W_V side by side
        self.write = nn.Linear(dim, dim)
        self.hidden = nn.Linear(dim, 2 * dim)
        self.back = nn.Linear(2 * dim, dim)

    def forward(self, x: Tensor, is_token: Tensor) -> tuple[Tensor, Tensor]:
        """Return the new states (n, T, d) and the attention (n, heads, T, T)."""
        gathered, attention = self._attend(self._before(x), is_token)
        x = self._after(x + gathered)
        hidden = torch.relu(self.hidden(self._before(x)))
        return self._after(x + self.back(hidden)), attention

    def _attend(self, x: Tensor, is_token: Tensor) -> tuple[Tensor, Tensor]:
        n, T, dim = x.shape
        parts = self.read(x).view(n, T, 3, self.heads, dim // self.heads)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4)  # (n, heads, T, d / heads)
        scores = self.scale * queries @ keys.mT  # (n, heads, T, T)
        if self.uniform:
            scores = torch.zeros_like(scores)
        hidden = ~is_token[:, None, None, :]
        scores = scores.masked_fill(hidden, -torch.inf)
        attention = torch.softmax(scores, dim=3)
        gathered = (attention @ values).transpose(1, 2)  # (n, T, heads, d / heads)
        gathered = gathered.reshape(n, T, dim)
        return self.write(gathered), attention

    def _before(self, x: Tensor) -> Tensor:
        if self.norm == "pre":
            return layer_norm(x, x.shape[-1:])
        return x

    def _after(self, x: Tensor) -> Tensor:
        if self.norm == "post":
            return layer_norm(x, x.shape[-1:])
        return x


def _drawn(*shape: int) -> nn.Parameter:
    """Return vectors with random entries from N(0, 1/d), where d is the last size."""
    entries = torch.randn(*shape)
    return nn.Parameter(entries / shape[-1] ** 0.5)


class Transformer(nn.Module):
    """An encoder with embeddings, blocks, a pooled state, and one logit as its output.

    Args:
        n_tokens: V, the number of tokens.
        dim: d, the dimension of the states, a multiple of `heads`.
        layers: number of blocks.
        heads: number of attention heads in each block.
        norm: place of LayerNorm: "post" (after each sum), "pre" (before each layer), or
            "none".
        pool: input of the output layer: the "mean" of the states x, the state of a
            "cls" token at the first position, or the average softmax(x p)^T x, whose
            weights depend on a "query" p.
        positions: largest length of a sequence, or None. If it is given, each position
            has a vector that is added to the embedding of its token.
        uniform: whether all tokens of a sequence get equal attention.
        sharpness: factor that multiplies the attention scores.
        seed: random seed of the initial parameters.

    Attributes:
        embeddings: parameter E (V, d), initialized from N(0, 1/d).
        settings: the arguments other than `seed`, by name.
    """

    def __init__(
        self,
        n_tokens: int,
        dim: int = 32,
        *,
        layers: int = 1,
        heads: int = 4,
        norm: str = "post",
        pool: str = "mean",
        positions: int | None = None,
        uniform: bool = False,
        sharpness: float = 1.0,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.settings: dict[str, Any] = {
            "n_tokens": n_tokens,
            "dim": dim,
            "layers": layers,
            "heads": heads,
            "norm": norm,
            "pool": pool,
            "positions": positions,
            "uniform": uniform,
            "sharpness": sharpness,
        }
        check_number("n_tokens", n_tokens, 1, integer=True)
        check_number("positions", positions, 1, integer=True, optional=True)
        check_choice("norm", norm, NORMS)
        check_choice("pool", pool, POOLS)
        if dim % heads:
            raise ValueError(f"dim: expected a multiple of heads={heads}, got {dim}")
        self.pool = pool
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.embeddings = _drawn(n_tokens, dim)
            self.cls = _drawn(dim)
            self.places = _drawn(positions or 0, dim)
            self.blocks = nn.ModuleList(
                TransformerBlock(dim, heads, norm, uniform, sharpness)
                for _ in range(layers)
            )
            self.output = nn.Linear(dim, 1)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the logits (n,) of sequences of token ids (n, T), padded with -1."""
        logits, _ = self.look(ids)
        return logits

    def pooling(self, ids: Tensor) -> Tensor:
        """Return the weights (n, T) of the last block's states in the pooled state."""
        x, is_token, _ = self._states(ids)
        return self._weights(x, is_token)

    def look(self, ids: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return the logits (n,) and the attention (n, heads, T, T) of each block.

        If `pool` is "cls", the <cls> token comes first and counts towards T.
        """
        x, is_token, maps = self._states(ids)
        pooled = torch.einsum("nt,ntd->nd", self._weights(x, is_token), x)
        return self.output(pooled).squeeze(1), maps

    def _states(self, ids: Tensor) -> tuple[Tensor, Tensor, list[Tensor]]:
        """Return the last states (n, T, d), the mask of tokens, and all attention."""
        is_token = ids >= 0
        x = self.embeddings[ids.clamp(min=0)]
        if len(self.places):
            x = x + self.places[: x.shape[1]]
        if self.pool == "cls":
            cls = self.cls.expand(len(x), 1, -1)
            x = torch.cat([cls, x], dim=1)
            is_cls = is_token.new_ones(len(x), 1)
            is_token = torch.cat([is_cls, is_token], dim=1)
        maps = []
        for block in self.blocks:
            x, attention = block(x, is_token)
            maps.append(attention)
        return x, is_token, maps

    def _weights(self, x: Tensor, is_token: Tensor) -> Tensor:
        """Return the weights (n, T) of the states in the pooled state."""
        if self.pool == "cls":
            first = torch.eye(1, x.shape[1]).to(x)
            return first.expand(len(x), -1)
        if self.pool == "query":
            scores = x @ self.cls
            scores = scores.masked_fill(~is_token, -torch.inf)
            return torch.softmax(scores, dim=1)
        weights = is_token.to(x)
        return weights / weights.sum(1, keepdim=True)
