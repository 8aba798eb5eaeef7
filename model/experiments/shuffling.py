"""Inputs with their content reordered; order[i] is the position whose content is moved_positions to position i."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Shaped, UInt8
from torch.nn import functional

from ..inputs import InputLike, prepare
from ..inputs.digits import to_pictures
from ..loaded import Loaded
from ..record import Role
from ..transformer import cut_patches

# padding is masked by its position
FIXED_ROLES: tuple[Role, ...] = ("class", "separator", "special", "padding")

Order = Sequence[int]


def shuffled_order(roles: Sequence[Role], seed: int) -> tuple[int, ...]:
    """A random order of the positions with these roles; class token, separators, padding and special tokens keep their positions."""
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
    """The rows and columns of attention weights or of a mask, computed for content in `order`, put back into the original
    order.
    """
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
