"""Orders in which a content is read: order[i] is the position whose content stands at i."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Shaped, UInt8
from torch.nn import functional

from model.checkpoint import Loaded
from model.inputs import prepare
from model.text import CLASS, PADDING, SEPARATOR
from model.transformer import cut_patches

STAY = {CLASS, SEPARATOR, PADDING}  # padding is masked by its place

Order = Sequence[int]


def shuffled(tokens: Sequence[str], seed: int) -> tuple[int, ...]:
    """A random order of the tokens or patches; the class token, [SEP] and padding stay where they are."""
    order, moved = np.arange(len(tokens)), movable(tokens)
    order[moved] = np.random.default_rng(seed).permutation(moved)
    return tuple(order.tolist())


def movable(tokens: Sequence[str]) -> list[int]:
    return [position for position, token in enumerate(tokens) if token not in STAY]


def restored(
    weights: Shaped[np.ndarray, "*axes query key"], order: Order
) -> Shaped[np.ndarray, "*axes query key"]:
    """Weights, or a mask, of what was read in `order`, with rows and columns back where their tokens stood before."""
    back = np.argsort(order)
    return weights[..., back[:, None], back]


def largest_deviation(
    before: Float[np.ndarray, "*axes query key"], after: Float[np.ndarray, "*axes query key"], order: Order
) -> float:
    """max |A'_ij - A_ij| over everything, once what was read in `order` is put back."""
    return float(np.abs(restored(after, order) - before).max())


def shuffled_picture(loaded: Loaded, image: np.ndarray, order: Order) -> UInt8[np.ndarray, "size size"]:
    """The digit as the encoder sees it, at its size, its patches laid out in `order`."""
    inputs, tokens = prepare(loaded, image)
    size, first = loaded.config.patch_size, len(tokens) - loaded.config.n_patches
    patches = cut_patches(inputs, size)[0]
    moved = patches[torch.tensor(order[first:]) - first]
    whole = functional.fold(moved.T[None], inputs.shape[1:], size, stride=size)[0, 0]
    return (whole * 255).round().to(torch.uint8).cpu().numpy()
