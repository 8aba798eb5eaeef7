"""A learned bias on each score, by the distance between key and query (Raffel et al. 2020, 2.1)."""

import math
from functools import lru_cache

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..hooks import HookPoint
from .position_numbers import numbers_in_batch


class BiasedScores(HookPoint):
    """Attention scores plus a bias that depends on the distance between key and query.

    At the hook point `position_numbers` are the numbers of the positions of each input, and at `added` the bias on each
    score.
    """

    def __init__(self, bias: nn.Embedding, furthest: int) -> None:
        super().__init__()
        self._bias = (bias,)  # [bucket, head]; in a tuple, or it would be a part of every block
        self._furthest = furthest
        self.position_numbers, self.added = HookPoint(), HookPoint()

    def forward(self, activation: Float[Tensor, "batch head query key"]) -> Tensor:
        (table,) = self._bias
        n, n_buckets, device = activation.shape[-1], table.num_embeddings, activation.device
        if self.position_numbers.is_watched:
            numbers = numbers_in_batch(self.position_numbers, torch.arange(n), len(activation))
            buckets = relative_buckets(numbers, n_buckets, self._furthest).to(device)
        else:
            buckets = _buckets_by_length(n, n_buckets, self._furthest, device)
        bias = table(buckets).permute(0, 3, 1, 2).expand_as(activation)
        return super().forward(activation + self.added(bias))


@lru_cache(maxsize=2)  # all layers have the same
@torch.inference_mode(False)  # or they could not be used where gradients are asked for
def _buckets_by_length(
    n: int, n_buckets: int, furthest: int, device: torch.device
) -> Int[Tensor, "1 query key"]:
    return relative_buckets(torch.arange(n)[None], n_buckets, furthest).to(device)


def relative_buckets(
    positions: Int[Tensor, "*batch position"], n_buckets: int, furthest: int
) -> Int[Tensor, "*batch query key"]:
    """Bucket of each pair of positions (Raffel et al. 2020, 2.1): half of the buckets are for keys up to the query, half
    for later ones.

    In each half, every small distance has its own bucket; larger distances share buckets whose ranges grow logarithmically,
    and all from `furthest` tokens on share the last one.
    """
    return bucket_of_offset(positions[..., None, :] - positions[..., None], n_buckets, furthest)


def last_bucket_from(n_buckets: int, furthest: int) -> int:
    """The distance from which on all keys of one side are in its last bucket: at most `furthest`."""
    buckets = bucket_of_offset(-torch.arange(furthest + 1), n_buckets, furthest)
    return int((buckets == buckets[-1]).nonzero()[0])


def bucket_of_offset(key_offset: Int[Tensor, "*axes"], n_buckets: int, furthest: int) -> Int[Tensor, "*axes"]:
    """Bucket of each offset, key minus query, as in `relative_buckets`."""
    n_half = n_buckets // 2
    n_exact, distance = n_half // 2, key_offset.abs()
    log_steps = torch.log(distance.float() / n_exact) / math.log(furthest / n_exact) * (n_half - n_exact)
    far_bucket = (n_exact + log_steps.clamp(min=0).long()).clamp(max=n_half - 1)
    return (key_offset > 0) * n_half + torch.where(distance < n_exact, distance, far_bucket)
