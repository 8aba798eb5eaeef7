"""Value zeroing: how much a state changes when the value of one position in one layer is zeroed (Mohebbi et al. 2023)."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from ..config import ModelConfig
from ..parts.block import LinearNorm, linear_norm
from ..record import AttentionRecord, ForwardRecord
from ..record.from_arrays import any_head_mask, normalise_rows, record_with_map
from ..transformer import Block, Transformer
from .norms import to_model_device, transformed_values

NUMBERS_AT_ONCE = 2**21  # hidden units in memory together: few enough for the cache of a processor
MULTIPLICATIONS_A_STEP = 2**34  # of the feed-forward's second map
ROUNDING = 1e-10  # of the sum of a row: two float32 states that should be the same are about 1e-13 apart


def zeroing_record(record: ForwardRecord, changes: Float[np.ndarray, "layer query key"]) -> AttentionRecord:
    """Record of value zeroing, one map per layer: `changes`, the result of `changes_of_layers`, with rows divided by their sums.

    Zeroing the value of a position does not change the attention weights. A row without any change is zeros.
    """
    return record_with_map(record, normalise_rows(changes, ROUNDING)[:, None], any_head_mask(record))


def changes_of_layers(model: Transformer, record: ForwardRecord) -> Float[np.ndarray, "layer query key"]:
    """Change of every state in every layer when the value of one position is zeroed in that layer (`changes_in_layer`)."""
    layers = range(model.config.n_layers)
    return np.stack([changes_in_layer(model, record, layer) for layer in layers])


def steps(config: ModelConfig, n: int) -> list[tuple[int, range]]:
    """Arguments (layer, keys) for calls of `changes_in_layer` that cover `n` positions, each of a few tenths of a second."""
    keys_per_step = max(1, MULTIPLICATIONS_A_STEP // (n * config.d_model * config.d_ff))
    starts = range(0, n, keys_per_step)
    return [
        (layer, range(start, min(start + keys_per_step, n)))
        for layer in range(config.n_layers)
        for start in starts
    ]


def changes_in_layer(
    model: Transformer, record: ForwardRecord, layer: int, keys: range | None = None
) -> Float[np.ndarray, "query zeroed"]:
    """Cosine distance of the block's outputs with and without the value of each of `keys` (None: all); 0 for masked keys.

    Without v_j the sum after attention is u_i − Σ_h A_ij f_h(x_j), so attention is not computed again. The feed-forward
    reads the norm of u in every placement of the norm. Its first map, and the gate if it has one, is linear in u except for
    the σ of the norm, so it is applied only once to u and to each f_h(x_j).
    """
    block, keys = model.blocks[layer], range(len(record)) if keys is None else keys
    with torch.inference_mode():
        x, block_output = (
            to_model_device(model, record.residual[stage]) for stage in (2 * layer, 2 * layer + 2)
        )
        u = block.skip * x + block.attention.w_o(
            to_model_device(model, record.z[layer]).transpose(0, 1).flatten(1)
        )
        norm = block.norm_feed_forward if block.norm_placement == "pre" else block.norm_attention
        feed_forward, linear = block.feed_forward, linear_norm(norm, u.shape[-1])
        gate = getattr(feed_forward, "gate", None)
        first_maps = [feed_forward.expand] if gate is None else [feed_forward.expand, gate]
        whole = [_apply_centred(first_map, linear, u) for first_map in first_maps]
        biases = [first_map(linear.shift) for first_map in first_maps]
        chunk_size, distances = max(1, NUMBERS_AT_ONCE // (len(whole) * whole[0].numel())), []
        for start in range(keys.start, keys.stop, chunk_size):
            chunk = slice(start, min(start + chunk_size, keys.stop))
            f = transformed_values(block, to_model_device(model, record.v[layer, :, chunk]))
            pattern = to_model_device(model, record.pattern[layer, :, :, chunk])
            weights = pattern.permute(2, 1, 0).contiguous()  # [key, query, head]
            zeroed_sum = torch.baddbmm(u, weights, f, alpha=-1)
            factor = 1 / linear.divisor(zeroed_sum)
            before, *gates = (
                torch.baddbmm(of_all, weights, _apply_centred(first_map, linear, f), alpha=-1)
                .mul_(factor)
                .add_(bias)
                for first_map, of_all, bias in zip(first_maps, whole, biases, strict=True)
            )
            hidden = feed_forward.activation(before)
            for gate_values in gates:
                hidden = hidden.mul_(gate_values)
            feed_forward_output = feed_forward.contract(hidden)
            distances.append(
                _cosine_distances(block_output, _block_output(block, x, zeroed_sum, feed_forward_output)).T
            )
        changes = torch.cat(distances, dim=1).double().cpu().numpy()
    return np.where(any_head_mask(record)[layer, 0][:, keys], changes, 0)


def _apply_centred(
    first_map: nn.Linear, norm: LinearNorm, u: Float[Tensor, "*axes d_model"]
) -> Float[Tensor, "*axes d_ff"]:
    """A first linear map of the feed-forward, without bias, of `u` after the norm, without its division by σ and its shift."""
    return functional.linear(norm.centre(u) * norm.gain, first_map.weight)


def _block_output(
    block: Block,
    x: Float[Tensor, "query d_model"],
    u: Float[Tensor, "key query d_model"],
    out: Float[Tensor, "key query d_model"],
) -> Float[Tensor, "key query d_model"]:
    """Output of the block from its input `x`, the sum `u` after attention and the feed-forward's output `out`.

    The computation is that of the end of `Block.after_attention`.
    """
    if block.norm_placement == "pre":
        return block.skip * u + out
    h = block.norm_attention(u)
    skip_term = x + h if block.norm_placement == "b2t" else block.skip * h
    return block.norm_feed_forward(skip_term + out)


def _cosine_distances(
    state: Float[Tensor, "query d_model"], zeroed: Float[Tensor, "key query d_model"]
) -> Float[Tensor, "key query"]:
    """Cosine distance as |a/|a| − b/|b||² / 2; unlike 1 − a·b / (|a| |b|) it stays precise for nearly equal a and b."""
    difference = functional.normalize(zeroed, dim=-1) - functional.normalize(state, dim=-1)
    return difference.square().sum(dim=-1) / 2
