"""Pooled states as sums over the states that are pooled; what is not linear in these is held, as in `model.decompositions`."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor

from ..decompositions.answer_parts import POOLING
from ..decompositions.linear_maps import held
from ..decompositions.state_parts import ForwardPass, Part, States
from ..huggingface.encoder import ImportedEncoder
from ..loaded import Loaded


def held_pooling(
    forward: ForwardPass, states: States, one: Float[Tensor, " 1"], fed: Tensor | float = 0.0
) -> Float[Tensor, " d_pooled"]:
    """The pooled state of `states` behind the final norm, linear in them, in `one` and in `fed` (`pooling_feed_forward`).

    Held are the positions that maximum pooling chose, the weights of attention pooling, and what `held` holds. Raises ValueError for an
    encoder with a layer that cannot be divided.
    """
    model, inputs = forward.model, forward.inputs
    if not isinstance(model, ImportedEncoder):
        return model.pool(states[None], inputs)[0] + 0 * one
    layers = model.pooled_layers
    if model.config.family.pools_last:
        return model.pool_positions(held(layers, states, one)[None], inputs)[0] + 0 * one
    if model.attention_pooling is None:
        return held(layers, model.pool_positions(states[None], inputs), one)[0] + 0 * one
    attention = model.attention_pooling.attention
    pattern = forward.seen[POOLING[0]][:, 0].clone()  # [head, key]
    v = held(attention.w_v, states, one).unflatten(-1, (len(pattern), -1))
    z = torch.einsum("hk,khd->hd", pattern, v).flatten()
    return held(layers, held(attention.w_o, z[None], one) + fed, one)[0]


def pooling_feed_forward(forward: ForwardPass) -> dict[Part, Float[Tensor, "1 d_model"]]:
    """What the feed-forward of attention pooling adds to the pooled state; empty for any other pooling."""
    model = forward.model
    if not isinstance(model, ImportedEncoder) or model.attention_pooling is None:
        return {}
    fed = model.attention_pooling.feed_forward.contract(forward.seen[POOLING[1]])
    return {Part("pooling feed-forward"): fed.detach().requires_grad_()}


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
