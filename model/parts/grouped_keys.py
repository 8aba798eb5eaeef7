"""Grouped keys and values: several heads of queries share one head of keys and values (Ainslie et al. 2023)."""

from jaxtyping import Float
from torch import Tensor, nn


class GroupedLinear(nn.Linear):
    """A linear map to `n_groups` heads, each of which is handed on `n_heads // n_groups` times in a row."""

    def __init__(self, d_model: int, n_heads: int, n_groups: int, d_head: int) -> None:
        super().__init__(d_model, n_groups * d_head)
        self.n_groups, self.n_repeats = n_groups, n_heads // n_groups

    def forward(self, input: Float[Tensor, "*axes d_model"]) -> Float[Tensor, "*axes heads_width"]:
        heads = super().forward(input).unflatten(-1, (self.n_groups, -1))
        return heads.repeat_interleave(self.n_repeats, dim=-2).flatten(-2)


def weight_by_head(linear: nn.Linear) -> Float[Tensor, "out in"]:
    """The weight of a projection to q, k or v with a row for every number of every head, shared ones repeated."""
    return _repeat(linear, linear.weight)


def bias_by_head(linear: nn.Linear) -> Float[Tensor, " out"]:
    """The bias of a projection to q, k or v for every number of every head; zeros where it has none."""
    if linear.bias is None:
        return linear.weight.new_zeros(len(weight_by_head(linear)))
    return _repeat(linear, linear.bias)


def _repeat(linear: nn.Linear, rows: Tensor) -> Tensor:
    if not isinstance(linear, GroupedLinear):
        return rows
    groups = rows.unflatten(0, (linear.n_groups, -1))
    return groups.repeat_interleave(linear.n_repeats, dim=0).flatten(0, 1)
