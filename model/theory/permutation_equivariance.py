"""Self-attention is permutation equivariant: without a mask, Attention(P X) = P Attention(X) for every permutation matrix P.

The reason is that the softmax works row by row, so softmax(P S Pᵀ) = P softmax(S) Pᵀ, and that Pᵀ P = I (Lee et al. 2019,
"Set Transformer", property 1).

Also here: inputs with their content reordered. In an `order`, order[i] is the position whose content moves to position i.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from jaxtyping import Float32, Int, Shaped, UInt8
from torch.nn import functional

from ..capture import activations, evaluation_mode
from ..hooks import watch
from ..inputs import InputLike, prepare
from ..inputs.digits import to_pictures
from ..loaded import Loaded
from ..masks import causal
from ..record import Role
from ..transformer import cut_patches

Reordering = Literal["shuffled", "reversed", "shifted by one", "first two swapped"]
REORDERINGS: tuple[Reordering, ...] = get_args(Reordering)
WITHIN = 1e-4  # share of the largest output: rounding of float32 stays below, a wrong row does not
# padding is masked by its position
FIXED_ROLES: tuple[Role, ...] = ("class", "separator", "special", "padding")

Order = Sequence[int]


def reordering_indices(reordering: Reordering, n: int, seed: int = 0) -> tuple[int, ...]:
    """Indices that describe a reordering P of `n` rows: row i of P X is row order[i] of X. `seed` is used for "shuffled"."""
    indices = tuple(range(n))
    if reordering == "shuffled":
        return tuple(np.random.default_rng(seed).permutation(n).tolist())
    if reordering == "reversed":
        return indices[::-1]
    if reordering == "shifted by one":
        return (*indices[-1:], *indices[:-1])
    return (*indices[:2][::-1], *indices[2:])


@dataclass(frozen=True, slots=True, kw_only=True)
class ReorderedAttention:
    """Outputs of one head for the vectors X, and for the same vectors in another order, P X."""

    order: Int[np.ndarray, " position"]  # row i of P X is row order[i] of X
    output: Float32[np.ndarray, "position d_v"]  # Attention(X)
    output_of_reordered: Float32[np.ndarray, "position d_v"]  # Attention(P X)

    @property
    def difference(self) -> Float32[np.ndarray, "position d_v"]:
        """Difference of the two outputs, Attention(P X) - P Attention(X)."""
        return self.output_of_reordered - self.output[self.order]

    @property
    def largest_difference(self) -> float:
        """Largest absolute entry of `difference`."""
        return float(np.abs(self.difference).max())

    @property
    def largest_output(self) -> float:
        """Largest absolute entry of Attention(X)."""
        return float(np.abs(self.output).max())

    @property
    def is_equivariant(self) -> bool:
        """Whether Attention(P X) equals P Attention(X) up to rounding, taken as `WITHIN` times the largest output."""
        return self.largest_difference <= WITHIN * self.largest_output

    def row_of(self, position: int) -> int:
        """Index of the row of P X that holds the vector at `position` in X."""
        return self.order.tolist().index(position)


def attend_reordered(
    loaded: Loaded, text_or_image: InputLike, *, layer: int, head: int, order: Sequence[int], is_causal: bool
) -> ReorderedAttention:
    """Outputs of one head for the input of its layer's attention in the original order, and for the same vectors in `order`.

    If `is_causal`, a causal mask is applied in both cases. `order` is a permutation of the positions. Raises as
    `model.inputs.prepare` does.
    """
    model = loaded.model
    outputs: list[torch.Tensor] = []
    (x,) = activations(loaded, [text_or_image], [f"blocks.{layer}.attention_in"]).values()
    with torch.inference_mode(), evaluation_mode(model):
        stacked = torch.cat((x, x[:, list(order)]))
        mask = causal(x.shape[1])[None, None].to(loaded.device) if is_causal else None
        with watch(model, {f"blocks.{layer}.attention.z": outputs.append}):
            model.blocks[layer].attention(stacked, mask=mask)
    output, output_of_reordered = outputs[0][:, head].cpu().numpy()
    return ReorderedAttention(order=np.array(order), output=output, output_of_reordered=output_of_reordered)


def shuffled_order(roles: Sequence[Role], seed: int) -> tuple[int, ...]:
    """A random order of positions with the given `roles`; those of class token, separators, padding and special tokens stay."""
    order, moved_positions = np.arange(len(roles)), movable_positions(roles)
    order[moved_positions] = np.random.default_rng(seed).permutation(moved_positions)
    return tuple(order.tolist())


def movable_positions(roles: Sequence[Role]) -> list[int]:
    """The positions that `shuffled_order` moves: in a picture the patches, in a text all except those with FIXED_ROLES."""
    if "patch" in roles:
        return [position for position, role in enumerate(roles) if role == "patch"]
    return [position for position, role in enumerate(roles) if role not in FIXED_ROLES]


def restore_order(
    weights: Shaped[np.ndarray, "*axes query key"], order: Order
) -> Shaped[np.ndarray, "*axes query key"]:
    """Attention weights or a mask, computed for content in `order`, with rows and columns back in the original order."""
    inverse = np.argsort(order)
    return weights[..., inverse[:, None], inverse]


def shuffled_picture(
    loaded: Loaded, image: InputLike, order: Order
) -> UInt8[np.ndarray, "height width *colour"]:
    """The picture, resized to the encoder's size, with its patches in the given `order`. Raises as `model.inputs.prepare`
    does.
    """
    inputs, positions = prepare(loaded, image)
    patch_size, first_patch = loaded.config.patch_sides, positions.first_patch
    patches = cut_patches(inputs, patch_size)[0]
    reordered = patches[torch.tensor(order[first_patch:]) - first_patch]
    picture_tensor = functional.fold(reordered.T[None], inputs.shape[-2:], patch_size, stride=patch_size)
    return to_pictures(picture_tensor.view(inputs.shape))[0]
