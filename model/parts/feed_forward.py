"""Gated feed-forward: the activation of one linear map is multiplied by another one (Shazeer 2020)."""

from torch import nn

from ..config import ModelConfig
from ..transformer import FeedForward, States


class GatedFeedForward(FeedForward):
    """W_2 (act(W_1 x) ⊙ W_3 x): GeGLU with GELU, SwiGLU with SiLU. `hidden` is the product in the brackets."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.gate = nn.Linear(config.d_model, config.d_ff)

    def forward(self, x: States) -> States:
        hidden = self.hidden(self.activation(self.expand(x)) * self.gate(x))
        return self.contract(self.dropout(hidden))
