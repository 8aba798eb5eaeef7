"""What an encoder makes of its input when order or positions change: shuffled, without positions, shifted.

Nothing in the encoder changes: watchers on `embedding.content` and `embedding.positions` replace what is
added there. Shuffling permutes the content and leaves each position its vector, which is the same as typing
the tokens, or laying out the patches, in the other order.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from jaxtyping import Float, Shaped, UInt8
from torch import Tensor
from torch.nn import functional

from model.capture import capture, evaluating
from model.checkpoint import Loaded
from model.digits import to_pictures
from model.hooks import Watcher, watch
from model.inputs import InputLike, prepare
from model.record import ForwardRecord, Role
from model.transformer import cut_patches, sinusoidal

STAY = ("class", "separator", "padding")  # padding is masked by its place
_WEIGHTS_AT_ONCE = 2**22  # attention weights of one layer, in a batch of many runs

Order = Sequence[int]  # order[i] is the position whose content stands at i now


def shuffled(roles: Sequence[Role], seed: int) -> tuple[int, ...]:
    """A random order of positions with these roles; class token, separator and padding stay where they are."""
    order, moved = np.arange(len(roles)), movable(roles)
    order[moved] = np.random.default_rng(seed).permutation(moved)
    return tuple(order.tolist())


def movable(roles: Sequence[Role]) -> list[int]:
    return [position for position, role in enumerate(roles) if role not in STAY]


def repositioned(
    loaded: Loaded,
    text_or_image: InputLike,
    *,
    order: Order | None = None,
    zeroed: bool = False,
    shift: int = 0,
) -> ForwardRecord:
    """As `capture`, with the content in another `order`, the positions `zeroed`, or every position `shift` on.

    The record is in the order in which the encoder read: its tokens stand where their content stood.
    Raises ValueError as `capture` does, and for an `order` that is not one of all positions.
    """
    watchers = {"embedding.positions": partial(_positions, loaded, zeroed, shift)}
    if order is not None:
        watchers["embedding.content"] = partial(_in_order, torch.tensor([order], device=loaded.device))
    record = capture(loaded, text_or_image, watchers=watchers)
    return record if order is None else record.in_order(order)


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


def over_orders(
    loaded: Loaded, text_or_image: InputLike, orders: Sequence[Order], *, zeroed: bool = False
) -> Float[np.ndarray, "order class"]:
    """The probabilities of the classes for the same content in many orders."""
    runs = torch.tensor(orders, device=loaded.device)
    return _many(
        loaded,
        text_or_image,
        len(orders),
        lambda part: {
            "embedding.content": partial(_in_order, runs[part]),
            "embedding.positions": partial(_positions, loaded, zeroed, 0),
        },
    )


def over_shifts(
    loaded: Loaded, text_or_image: InputLike, shifts: Sequence[int]
) -> Float[np.ndarray, "shift class"]:
    """The probabilities of the classes with all positions shifted by each of `shifts`."""

    def watchers(part: slice) -> dict[str, Watcher]:
        def tables(positions: Tensor) -> Tensor:
            return torch.stack([shifted_positions(loaded, len(positions), by) for by in shifts[part]])

        return {"embedding.positions": tables}

    return _many(loaded, text_or_image, len(shifts), watchers)


def shifted_positions(loaded: Loaded, n: int, by: int) -> Float[Tensor, "position d_model"]:
    """The vectors of positions `by` to `by + n - 1`, for an input of `n` positions.

    Sinusoids go on for ever. A learned table begins again after its end; that of an image leaves the class
    token its own vector, and its patches go round among themselves. Raises ValueError where `by` is negative.
    """
    if by < 0:
        raise ValueError(f"positions can be shifted onwards only, got {by}")
    config, table = loaded.config, loaded.model.embedding.position_table
    if config.positions == "sinusoidal":
        return sinusoidal(by + n, config.d_model)[by:].to(table)
    if config.is_text:
        return table.roll(-by, dims=0)[:n]
    first = n - config.n_patches
    return torch.cat((table[:first], table[first:].roll(-by, dims=0)))


def _many(
    loaded: Loaded,
    text_or_image: InputLike,
    n_runs: int,
    watchers: Callable[[slice], dict[str, Watcher]],
) -> np.ndarray:
    """Softmax of the logits of `n_runs` runs, in batches; `watchers(part)` intervenes in those of a slice."""
    inputs, tokens = prepare(loaded, text_or_image)
    at_once = max(1, _WEIGHTS_AT_ONCE // (loaded.config.n_heads * len(tokens) ** 2))
    found = []
    with torch.inference_mode(), evaluating(loaded.model):
        for start in range(0, n_runs, at_once):
            part = slice(start, min(start + at_once, n_runs))
            batch = inputs.expand(part.stop - part.start, *inputs.shape[1:])
            with watch(loaded.model, watchers(part)):
                found.append(loaded.model(batch).softmax(dim=-1))
    return torch.cat(found).cpu().numpy()


def _in_order(orders: Tensor, content: Tensor) -> Tensor:
    """Content [batch, position, d_model], the same all through the batch, in `orders` [batch, position]."""
    n = content.shape[1]
    if orders.shape[-1] != n or (orders.sort().values != torch.arange(n, device=orders.device)).any():
        raise ValueError(f"an order names each of the {n} positions once, got {orders.tolist()}")
    return content[0][orders]


def _positions(loaded: Loaded, zeroed: bool, shift: int, positions: Tensor) -> Tensor:
    if zeroed:
        return torch.zeros_like(positions)
    return shifted_positions(loaded, len(positions), shift) if shift else positions
