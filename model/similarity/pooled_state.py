"""What the decompositions of pooled states and their cosines share."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Float32, Float64
from torch import Tensor

from ..capture import evaluation_mode
from ..decompositions.state_parts import Part
from ..experiments.batching import answers_from_block, batches
from ..inputs import InputLike
from ..loaded import Loaded
from ..measures.head_statistics import NOT_WORDS
from ..record import Positions


def pooled_states(loaded: Loaded, inputs: Sequence[InputLike]) -> Float32[np.ndarray, "input d_pooled"]:
    """The pooled state of each input; inputs of equal length share a forward pass. Raises ValueError as `model.inputs.prepare` does."""
    model = loaded.model
    states: dict[int, np.ndarray] = {}
    with torch.inference_mode(), evaluation_mode(model):
        for rows, batch in batches(loaded, inputs):
            mask = model.full_mask(batch)
            (pooled,) = answers_from_block(model, 0, model.embed(batch), batch, mask, model.pool)
            states |= zip(rows, pooled.cpu().numpy(), strict=True)
    return np.stack([states[row] for row in range(len(inputs))])


def pooled_length(loaded: Loaded, pooled: Float[Tensor, " d_pooled"]) -> Float[Tensor, ""]:
    """The Euclidean norm of a pooled state. Raises ValueError if it is 0 or not finite, so that there is no cosine."""
    length = pooled.norm()
    if not 0 < length < torch.inf:
        raise ValueError(
            f"{loaded.name} makes a pooled state of length {length:g} of this input, which has no cosine"
        )
    return length


def sum_by_source(
    parts: Sequence[Part], values: Float[Tensor, "part number"], n: int, layer: int | None = None
) -> Float64[np.ndarray, "position_and_rest number"]:
    """Sums of the `values` of parts: a row for what heads read from each of the `n` positions, and a last row for all other parts.

    With `layer`, the heads of other layers count as other parts.
    """
    sources = [
        n if part.read_from is None or layer not in (None, part.layer) else part.read_from for part in parts
    ]
    summed = values.new_zeros(n + 1, values.shape[1])
    return summed.index_add_(0, torch.tensor(sources, device=values.device), values).double().cpu().numpy()


def word_positions(loaded: Loaded, positions: Positions) -> list[int]:
    """The positions of a text that belong to its words, or to [MASK] and [UNK] in the place of words, and not to special tokens.

    Raises ValueError for a picture, and for a text without words.
    """
    if positions.patch_grid is not None:
        raise ValueError("the words of two texts are compared, and a picture has none")
    indices = [index for index, role in enumerate(positions.roles) if role not in NOT_WORDS]
    if not indices:
        raise ValueError(f"{loaded.name} reads no word in this text, only special tokens")
    return indices
