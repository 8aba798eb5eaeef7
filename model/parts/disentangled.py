"""Disentangled attention: scores between contents, and between contents and relative positions (DeBERTa, He et al. 2021, 3.1).

Each relative position δ(i, j) has a vector, which is projected to a query and a key as states are. The score of query i and
key j is the sum of content-to-content q_i·k_j, content-to-position q_i·k_δ(i,j) and position-to-content q_δ(i,j)·k_j, divided
by sqrt(d_k) times the root of the number of these terms.
"""

import math
from functools import lru_cache

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..config import ModelConfig
from ..family_options import Disentangled
from ..hooks import HookPoint
from ..transformer import Attention
from .block import norm_layer
from .relative_bias import numbers_in_batch


class RelativePositions(nn.Module):
    """A vector for each relative position, shared by all layers, normalised where the encoder does so."""

    def __init__(self, config: ModelConfig, options: Disentangled) -> None:
        super().__init__()
        self.vectors = nn.Embedding(2 * options.span, config.d_model)
        self.norm = norm_layer(config) if options.norm else nn.Identity()

    def forward(self) -> Float[Tensor, "relative_position d_model"]:
        return self.norm(self.vectors.weight)


class DisentangledAttention(Attention):
    """Attention whose scores are the sum of up to three maps, each with a hook point of its name.

    At the hook point `position_numbers` are the numbers of the positions of each input.
    """

    def __init__(self, config: ModelConfig, options: Disentangled, positions: RelativePositions) -> None:
        super().__init__(config)
        self.options = options
        self._positions = (positions,)  # in a tuple, or it would be a part of every block
        self.scale = math.sqrt(config.d_k * options.n_maps)
        width = config.n_heads * config.d_k
        has_own_k = options.content_to_position and not options.shared_maps
        has_own_q = options.position_to_content and not options.shared_maps
        self.position_k = nn.Linear(config.d_model, width) if has_own_k else None
        self.position_q = nn.Linear(config.d_model, width) if has_own_q else None
        self.position_numbers, self.content_to_content = HookPoint(), HookPoint()
        self.content_to_position = HookPoint() if options.content_to_position else None
        self.position_to_content = HookPoint() if options.position_to_content else None

    @property
    def positions(self) -> RelativePositions:
        """The vectors of relative positions, which all layers share."""
        (positions,) = self._positions
        return positions

    def score(
        self, q: Float[Tensor, "batch head query d_k"], k: Float[Tensor, "batch head key d_k"]
    ) -> Float[Tensor, "batch head query key"]:
        """Scores of every query and key: the sum of the maps."""
        q = q / self.scale
        scores = self.content_to_content(q @ k.transpose(-2, -1))
        vectors = self.positions()
        if self.position_numbers.is_watched:
            numbers = numbers_in_batch(self.position_numbers, torch.arange(q.shape[-2]), len(q))
            by_input = relative_positions(numbers, self.options).to(q.device)
        else:
            by_input = _relative_positions_by_length(q.shape[-2], self.options, q.device)
        index = by_input[:, None].expand(*scores.shape)
        if self.content_to_position is not None:
            position_keys = self._heads(self.position_k or self.w_k, vectors)
            by_position = q @ position_keys.transpose(-2, -1)
            scores = scores + self.content_to_position(by_position.gather(-1, index))
        if self.position_to_content is not None:
            position_queries = self._heads(self.position_q or self.w_q, vectors) / self.scale
            by_position = k @ position_queries.transpose(-2, -1)
            of_keys = by_position.gather(-1, index.transpose(-2, -1))
            scores = scores + self.position_to_content(of_keys.transpose(-2, -1))
        return scores

    def _heads(
        self, linear: nn.Linear, vectors: Float[Tensor, "relative_position d_model"]
    ) -> Float[Tensor, "head relative_position d_k"]:
        return linear(vectors).unflatten(-1, (self.n_heads, -1)).transpose(0, 1)


@lru_cache(maxsize=2)  # all layers have the same
@torch.inference_mode(False)  # or they could not be used where gradients are asked for
def _relative_positions_by_length(
    n: int, options: Disentangled, device: torch.device
) -> Int[Tensor, "1 query key"]:
    return relative_positions(torch.arange(n)[None], options).to(device)


def relative_positions(
    positions: Int[Tensor, "*batch position"], options: Disentangled
) -> Int[Tensor, "*batch query key"]:
    """Number of the vector of each pair of positions: `span` for a key at the query, higher numbers for earlier keys.

    With buckets, distances up to half their number have vectors of their own; larger distances share vectors whose ranges
    grow logarithmically. All beyond the furthest share the last vector of their side.
    """
    offset = positions[..., None] - positions[..., None, :]
    if options.n_buckets:
        middle = options.n_buckets // 2
        distance = offset.abs().clamp(min=middle)
        log_steps = torch.log(distance / middle) / torch.log(torch.tensor((options.furthest - 1) / middle))
        bucket = torch.ceil(log_steps * (middle - 1)) + middle
        offset = torch.where(distance <= middle, offset, bucket * offset.sign()).long()
    return (offset + options.span).clamp(0, 2 * options.span - 1)
