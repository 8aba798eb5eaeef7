"""Attention pooling: a learned query attends to all states, and a feed-forward follows (Zhai et al. 2022, appendix B.2).

The pooled state is y + FF(LN(y)), where y is the output of the attention for the learned query.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..config import ModelConfig
from ..masks import LayerMask
from ..transformer import Attention, FeedForward, States
from .norm_layers import norm_layer


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

    def forward(self, states: States) -> Float[Tensor, "batch d_model"]:
        pooled = self.attention(states)[:, 0]
        return pooled + self.feed_forward(self.norm(pooled[:, None]))[:, 0]
