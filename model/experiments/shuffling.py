"""Orders in which a content is read: order[i] is the position whose content stands at i."""

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

STAY = ("class", "separator", "padding")  # padding is masked by its place

Order = Sequence[int]


def shuffled(roles: Sequence[Role], seed: int) -> tuple[int, ...]:
    """A random order of positions with these roles; class token, separator and padding stay where they are."""
    order, moved = np.arange(len(roles)), movable(roles)
    order[moved] = np.random.default_rng(seed).permutation(moved)
    return tuple(order.tolist())


def movable(roles: Sequence[Role]) -> list[int]:
    """Of a picture its patches: what stands before them stays."""
    if "patch" in roles:
        return [position for position, role in enumerate(roles) if role == "patch"]
    return [position for position, role in enumerate(roles) if role not in STAY]


def restored(
    weights: Shaped[np.ndarray, "*axes query key"], order: Order
) -> Shaped[np.ndarray, "*axes query key"]:
    """Weights, or a mask, of what was read in `order`, with rows and columns back where their tokens stood before."""
    back = np.argsort(order)
    return weights[..., back[:, None], back]


def shuffled_picture(
    loaded: Loaded, image: InputLike, order: Order
) -> UInt8[np.ndarray, "size size *colour"]:
    """The digit as the encoder sees it, at its size, its patches laid out in `order`."""
    inputs, positions = prepare(loaded, image)
    size, first = loaded.config.patch_size, positions.first_patch
    patches = cut_patches(inputs, size)[0]
    moved = patches[torch.tensor(order[first:]) - first]
    whole = functional.fold(moved.T[None], inputs.shape[-2:], size, stride=size)
    return to_pictures(whole.view(inputs.shape))[0]
