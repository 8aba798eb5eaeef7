"""A learned bias on each score of two patches, by the rows and columns between them (BEiT, Bao et al. 2022, after Raffel et al.
2020, 2.1). Scores of the class token have three biases of their own.
"""

from functools import lru_cache

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..config import ModelConfig
from ..hooks import HookPoint

N_OF_CLASS_TOKEN = 3  # it as the query of a patch, as the key of a patch, and both


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
        index = _offset_index_on(self.rows, self.columns, self.table.device)
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

    def bias(self, n_positions: int) -> Float[Tensor, "head query key"]:
        """The bias on the score of each query and key of the first `n_positions`."""
        return sum(part()[:, :n_positions, :n_positions] for part in self._parts())

    def by_offset(self) -> Float[Tensor, "head row_offset column_offset"]:
        """What is added to the score of two patches, as `GridBias.by_offset` has it."""
        return sum(part.by_offset() for part in self._parts())  # type: ignore[return-value]  # there is at least one

    def of_class_token(self) -> Float[Tensor, "head 3"]:
        """What is added to scores of the class token: as the query of any patch, as the key of any patch, and as both."""
        return sum(part.of_class_token() for part in self._parts())  # type: ignore[return-value]  # there is at least one

    def _parts(self) -> list[GridBias]:
        return [part for part in (self.own, *self._shared) if part is not None]

    def forward(self, activation: Float[Tensor, "batch head query key"]) -> Tensor:
        bias = self.bias(activation.shape[-1]).expand_as(activation)
        return super().forward(self.content(activation) + self.added(bias))


@lru_cache(maxsize=2)  # all layers have the same
@torch.inference_mode(False)  # or it could not be used where gradients are asked for
def _offset_index_on(rows: int, columns: int, device: torch.device) -> Int[Tensor, "query key"]:
    return offset_index(rows, columns).to(device)


def offset_index(rows: int, columns: int) -> Int[Tensor, "query key"]:
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
    return index
