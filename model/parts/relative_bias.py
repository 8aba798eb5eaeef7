"""A learned bias on each score, which depends on the distance between key and query (Raffel et al. 2020, 2.1), or for patches on the
rows and columns between them (BEiT, Bao et al. 2022), where scores of the class token have three biases of their own.
"""

import math
from functools import lru_cache

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

from ..config import ModelConfig
from ..hooks import HookPoint

Numbers = Shaped[Tensor, "#batch position ..."]
N_OF_CLASS_TOKEN = 3  # it as the query of a patch, as the key of a patch, and both


def numbers_in_batch(point: HookPoint, numbers: Shaped[Tensor, "position ..."], n_inputs: int) -> Numbers:
    """Position indices of `n_inputs` inputs after the hook point `point`, which an intervention may change; one row if all are alike."""
    by_input = point(numbers.expand(n_inputs, *numbers.shape))
    # nothing has changed them, and they need not be computed with again
    is_repeated = by_input.stride(0) == 0
    return by_input[:1] if is_repeated else by_input


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


class GridBias(nn.Module):
    """The biases of one layer, or of all layers that share them, one row for each offset between two patches."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        assert config.patch_grid is not None, "an encoder of texts"
        self.rows, self.columns = config.patch_grid
        n_offsets = (2 * self.rows - 1) * (2 * self.columns - 1)
        # as BEiT stores it: a patch's offset is counted from the key to the query, row by row, from the most negative one on
        self.table = nn.Parameter(torch.zeros(n_offsets + N_OF_CLASS_TOKEN, config.n_heads))

    def by_offset(self) -> Float[Tensor, "head row_offset column_offset"]:
        """Bias for each offset between two patches, of shape [head, 2 · rows − 1, 2 · columns − 1].

        The middle is for the patch itself; below and right of it are keys that lie below and right of the query.
        """
        offsets = self.table[:-N_OF_CLASS_TOKEN].T
        return offsets.unflatten(1, (2 * self.rows - 1, 2 * self.columns - 1)).flip(1, 2)

    def of_class_token(self) -> Float[Tensor, "head 3"]:
        """Bias of the class token as the query of any patch, as the key of any patch, and as both."""
        return self.table[-N_OF_CLASS_TOKEN:].T

    def forward(self) -> Float[Tensor, "head query key"]:
        """Bias for each query and key; the class token is the first position."""
        index = _offset_index(self.rows, self.columns, self.table.device)
        return self.table[index].permute(2, 0, 1)


class GridBiasedScores(HookPoint):
    """Hook point for scores plus a bias by the offset between two patches; `content` is the one for scores without the bias,
    and `added` that for the bias.

    The bias is the layer's own, the one that all layers share, or the sum of both.
    """

    def __init__(self, own: GridBias | None, shared: GridBias | None) -> None:
        super().__init__()
        self.own = own
        self._shared = (shared,)  # in a tuple, or it would be a part of every block
        self.content, self.added = HookPoint(), HookPoint()

    def by_offset(self) -> Float[Tensor, "head row_offset column_offset"]:
        """What is added to the score of two patches, as `GridBias.by_offset` has it."""
        return torch.stack([part.by_offset() for part in self._parts()]).sum(dim=0)

    def of_class_token(self) -> Float[Tensor, "head 3"]:
        """What is added to scores of the class token: as the query of any patch, as the key of any patch, and as both."""
        return torch.stack([part.of_class_token() for part in self._parts()]).sum(dim=0)

    def _parts(self) -> list[GridBias]:
        return [part for part in (self.own, *self._shared) if part is not None]

    def forward(self, activation: Float[Tensor, "batch head query key"]) -> Tensor:
        n = activation.shape[-1]
        bias = torch.stack([part()[:, :n, :n] for part in self._parts()]).sum(dim=0)
        return super().forward(self.content(activation) + self.added(bias.expand_as(activation)))


@lru_cache(maxsize=2)  # all layers have the same
@torch.inference_mode(False)  # or it could not be used where gradients are asked for
def _offset_index(rows: int, columns: int, device: torch.device) -> Int[Tensor, "query key"]:
    """Row of a `GridBias.table` for each query and key: the class token, then the patches row by row."""
    patch = torch.arange(rows * columns)
    row, column = patch // columns, patch % columns
    row_offset = row[:, None] - row + rows - 1
    column_offset = column[:, None] - column + columns - 1
    n_offsets = (2 * rows - 1) * (2 * columns - 1)
    index = torch.full((1 + rows * columns,) * 2, n_offsets)
    index[:, 0] = n_offsets + 1
    index[0, 0] = n_offsets + 2
    index[1:, 1:] = row_offset * (2 * columns - 1) + column_offset
    return index.to(device)
