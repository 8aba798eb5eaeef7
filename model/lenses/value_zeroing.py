"""How much a state changes when the value of one position is left out of one layer (Mohebbi et al. 2023)."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from ..capture import capture
from ..config import ModelConfig
from ..inputs import InputLike
from ..loaded import Loaded
from ..record import AttentionRecord, ForwardRecord
from ..transformer import Block, Transformer
from .as_record import as_record, as_shares, of_layers
from .norms import handed_over, tensor
from .rollout import multiplied, reachable

NUMBERS_AT_ONCE = 2**22  # hidden units in memory together
MULTIPLICATIONS_A_STEP = 2**34  # of the feed-forward's second map
ROUNDING = 1e-10  # of the sum of a row: two float32 states that should be the same are about 1e-13 apart


def value_zeroing(loaded: Loaded, given: InputLike) -> AttentionRecord:
    """C_ij = 1 − cos(x̃_i, x̃_i without v_j), rows divided by their sum; one map a layer.

    x̃ is what leaves the block. The value of position j is zeroed in all heads of one layer alone; the weights stay.
    A row without any change is zeros. Raises as `capture` does.
    """
    record = capture(loaded, given)
    return zeroed(record, changes_of_layers(loaded.model, record))


def zeroed(record: ForwardRecord, changes: Float[np.ndarray, "layer query key"]) -> AttentionRecord:
    """The lens, from `changes_of_layers`."""
    return as_record(record, as_shares(changes, ROUNDING)[:, None], of_layers(record))


def rolled_out(zeroing: AttentionRecord) -> AttentionRecord:
    """The maps of `value_zeroing` multiplied through the layers: C_l … C_0.

    No I is added as in `rollout`: the states already hold what the residual connection carries.
    """
    return as_record(zeroing, multiplied(zeroing.pattern[:, 0].astype(np.float64)), reachable(zeroing))


def changes_of_layers(model: Transformer, record: ForwardRecord) -> Float[np.ndarray, "layer query key"]:
    """`changes_in_layer` of all layers."""
    layers = range(model.config.n_layers)
    return np.stack([changes_in_layer(model, record, layer) for layer in layers])


def steps(config: ModelConfig, n: int) -> list[tuple[int, range]]:
    """Layers and keys in parts of a few tenths of a second, for `n` positions: each is a call of `changes_in_layer`."""
    size = max(1, MULTIPLICATIONS_A_STEP // (n * config.d_model * config.d_ff))
    starts = range(0, n, size)
    return [
        (layer, range(start, min(start + size, n))) for layer in range(config.n_layers) for start in starts
    ]


def changes_in_layer(
    model: Transformer, record: ForwardRecord, layer: int, keys: range | None = None
) -> Float[np.ndarray, "query zeroed"]:
    """1 − cos of what leaves the block with and without the value of each key, from 0 to 2; 0 for masked keys.

    Of all keys, or of the `keys` that are asked for.
    Without v_j the sum behind the attention is u_i − Σ_h A_ij f_h(x_j), so the attention is not computed anew. The state that
    the feed-forward reads is LN(u) in every placement of the norm, and its first linear map is applied to u and to each
    f_h(x_j) once: what it makes of their sum, but for the σ of the LayerNorm, is the sum of what it makes of them.
    """
    block, all_of_them = model.blocks[layer], range(len(record)) if keys is None else keys
    with torch.inference_mode():
        x, after = (tensor(model, record.residual[at]) for at in (2 * layer, 2 * layer + 2))
        u = block.skip * x + block.attention.w_o(tensor(model, record.z[layer]).transpose(0, 1).flatten(1))
        norm = block.norm_feed_forward if block.norm_placement == "pre" else block.norm_attention
        expanded, bias = _expanded(block, norm, u), block.feed_forward.expand(norm.bias)
        size, found = max(1, NUMBERS_AT_ONCE // expanded.numel()), []
        for start in range(all_of_them.start, all_of_them.stop, size):
            some = slice(start, min(start + size, all_of_them.stop))
            f = handed_over(block, tensor(model, record.v[layer, :, some]))
            weights = tensor(model, record.pattern[layer, :, :, some]).permute(2, 1, 0)  # [key, query, head]
            without = u - weights @ f
            sigma = (without.var(dim=-1, correction=0, keepdim=True) + norm.eps).sqrt()
            hidden = (expanded - weights @ _expanded(block, norm, f)).div_(sigma).add_(bias)
            out = block.feed_forward.contract(block.feed_forward.activation(hidden))
            found.append(_cosine_distances(after, _leaving(block, x, without, out)).T)
        changes = torch.cat(found, dim=1).double().cpu().numpy()
    return np.where(of_layers(record)[layer, 0][:, all_of_them], changes, 0)


def _expanded(
    block: Block, norm: torch.nn.LayerNorm, u: Float[Tensor, "*axes d_model"]
) -> Float[Tensor, "*axes d_ff"]:
    """The first map of the feed-forward, of the LayerNorm of u but for its division by σ, and without biases."""
    centred = (u - u.mean(dim=-1, keepdim=True)) * norm.weight
    return functional.linear(centred, block.feed_forward.expand.weight)


def _leaving(
    block: Block,
    x: Float[Tensor, "query d_model"],
    u: Float[Tensor, "key query d_model"],
    out: Float[Tensor, "key query d_model"],
) -> Float[Tensor, "key query d_model"]:
    """What leaves the block, from its input, the sum behind the attention and the output of the feed-forward.

    As the end of `Block.forward`, which begins at its input.
    """
    if block.norm_placement == "pre":
        return block.skip * u + out
    h = block.norm_attention(u)
    past = x + h if block.norm_placement == "b2t" else block.skip * h
    return block.norm_feed_forward(past + out)


def _cosine_distances(
    one: Float[Tensor, "query d_model"], others: Float[Tensor, "key query d_model"]
) -> Float[Tensor, "key query"]:
    """1 − a·b / (|a| |b|) = |a/|a| − b/|b||² / 2, which keeps its digits where a and b are nearly the same."""
    apart = functional.normalize(others, dim=-1) - functional.normalize(one, dim=-1)
    return apart.square().sum(dim=-1) / 2
