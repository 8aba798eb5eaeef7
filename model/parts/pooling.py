"""Pooling of states, and the layers behind it: those of sentence-transformers, and attention pooling.

In attention pooling (Zhai et al. 2022, appendix B.2) a learned query attends to all states, and a feed-forward follows. The pooled
state is y + FF(LN(y)), where y is the output of the attention for the learned query.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from ..activations import OUTPUT_ACTIVATIONS
from ..config import ModelConfig
from ..family_options import SentenceLayer, SentencePooling
from ..hooks import HookPoint
from ..masks import LayerMask
from ..transformer import Attention, FeedForward, States
from .block import norm_layer


def pool_tokens(
    poolings: Sequence[SentencePooling], states: States, is_real: Bool[Tensor, "batch position"] | None
) -> Float[Tensor, "batch pooled"]:
    """The results of all `poolings` of the states, concatenated. `is_real` is False at padding; None means no padding.

    An input of padding alone is pooled to zeros.
    """
    if is_real is None:
        is_real = states.new_ones(states.shape[:2], dtype=torch.bool)
    pooled = torch.cat([_pool_tokens(pooling, states, is_real) for pooling in poolings], dim=1)
    return pooled.where(is_real.any(dim=1, keepdim=True), 0.0)


def _pool_tokens(
    pooling: SentencePooling, states: States, is_real: Bool[Tensor, "batch position"]
) -> Float[Tensor, "batch d_model"]:
    numbers = torch.arange(1, states.shape[1] + 1, device=states.device)
    if pooling == "class":
        return states[:, 0]
    if pooling == "max":
        return states.masked_fill(~is_real[:, :, None], -torch.inf).amax(dim=1)
    if pooling == "last":
        last = (is_real * numbers).argmax(dim=1)
        return states.take_along_dim(last[:, None, None], dim=1)[:, 0]
    weights = (is_real * (numbers if pooling == "weighted mean" else 1)).to(states.dtype)
    total = weights.sum(dim=1, keepdim=True)
    return (weights[:, None] @ states)[:, 0] / (total.sqrt() if pooling == "sum by root" else total)


class UnitLength(nn.Module):
    """Divides each vector by its length."""

    def forward(self, pooled: Float[Tensor, "*axes pooled"]) -> Float[Tensor, "*axes pooled"]:
        return functional.normalize(pooled, dim=-1)


class FirstNumbers(nn.Module):
    """Keeps the first `width` numbers of each vector."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, pooled: Float[Tensor, "*axes pooled"]) -> Float[Tensor, "*axes width"]:
        return pooled[..., : self.width]


def sentence_layer(options: SentenceLayer, d_in: int) -> nn.Module:
    """The layer that `options` describe, for vectors of `d_in` numbers."""
    if options.kind == "linear":
        linear = nn.Linear(d_in, options.width, bias=options.bias)
        return nn.Sequential(linear, OUTPUT_ACTIVATIONS[options.act]())
    if options.kind == "layer norm":
        return nn.LayerNorm(options.width)
    return UnitLength() if options.kind == "unit length" else FirstNumbers(options.width)


class ProbeAttention(Attention):
    """Attention with one query, the learned vector `probe`; keys and values are made of the states."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.probe = nn.Parameter(torch.zeros(config.d_model))

    def forward(self, x: States, mask: LayerMask | None = None) -> Float[Tensor, "batch query d_model"]:
        """Output of the attention for the learned query, one position for each input of the batch."""
        assert mask is None, "all states are pooled"
        q = self.q(self._split_heads(self.w_q(self.probe.expand(len(x), 1, -1))))
        k, v = self.k(self._split_heads(self.w_k(x))), self.v(self._split_heads(self.w_v(x)))
        pattern = self.pattern(self.scores(self.score(q, k)).softmax(dim=-1))
        return self.project(self.z(pattern @ v))


class AttentionPooling(nn.Module):
    """Pools states by `ProbeAttention`; its pattern is at the hook point `attention_pooling.attention.pattern`."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention = ProbeAttention(config)
        self.norm = norm_layer(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_out = HookPoint()

    def forward(self, states: States) -> Float[Tensor, "batch d_model"]:
        pooled = self.attention(states)
        return (pooled + self.feed_forward_out(self.feed_forward(self.norm(pooled))))[:, 0]
