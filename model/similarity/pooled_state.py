"""What the decompositions of pooled states share."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor

from ..decompositions.state_parts import Part
from ..loaded import Loaded


def pooled_length(loaded: Loaded, pooled: Float[Tensor, " d_pooled"]) -> Float[Tensor, ""]:
    """The length of a pooled state. Raises ValueError where it is 0 or not finite, so that there is no cosine."""
    length = pooled.norm()
    if not 0 < length < torch.inf:
        raise ValueError(
            f"{loaded.name} makes a pooled state of length {length:g} of this input, which has no cosine"
        )
    return length


def sum_by_source(
    parts: Sequence[Part], values: Float[Tensor, "part number"], n: int, layer: int | None = None
) -> Float64[np.ndarray, "position_and_rest number"]:
    """Sums of the values of what heads read from each of the `n` positions, in one `layer` or in all; in a last row that of all else."""
    sources = [
        n if part.read_from is None or layer not in (None, part.layer) else part.read_from for part in parts
    ]
    summed = values.new_zeros(n + 1, values.shape[1])
    return summed.index_add_(0, torch.tensor(sources, device=values.device), values).double().cpu().numpy()
