"""How long the vectors are that the weights of attention weight (Kobayashi et al. 2020), also with what goes past them and
with the LayerNorm behind (Kobayashi et al. 2021).

f(x_j) = (x_j W_V + b_V) W_O of a head is what it would hand over from key j; what x_j stands for is what the attention reads,
in pre-LN the LayerNorm of the stream. The biases of W_O and of the LayerNorm belong to no key and are left out.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..record import AttentionRecord, ForwardRecord
from ..transformer import Block, Transformer
from .as_record import LEAST, as_record, as_shares, of_layers


def norm_weighted(model: Transformer, record: ForwardRecord) -> AttentionRecord:
    """‖A_ij f(x_j)‖ by head, each row divided by its sum (`lengths` is before that); zeros where the head hands over nothing."""
    return as_record(record, as_shares(lengths(model, record)), record.mask)


def with_residual_and_norm(model: Transformer, record: ForwardRecord) -> AttentionRecord:
    """`lengths_with_residual`, each row divided by its sum; one map a layer."""
    return as_record(record, as_shares(lengths_with_residual(model, record)), _with_diagonal(record))


def lengths(model: Transformer, record: ForwardRecord) -> Float[np.ndarray, "layer head query key"]:
    """‖A_ij f(x_j)‖ = A_ij ‖f(x_j)‖, in units of the residual stream."""
    with torch.inference_mode():
        of_keys = [
            handed_over(block, tensor(model, v)).norm(dim=-1).T.cpu().numpy()
            for block, v in zip(model.blocks, record.v, strict=True)
        ]
    return record.pattern * np.stack(of_keys)[:, :, None]


def handed_over_by_head(model: Transformer, record: ForwardRecord) -> Float[np.ndarray, "layer head"]:
    """Σ_j ‖A_ij f(x_j)‖, as a mean over the queries that are no padding: what the rows of `norm_weighted` are divided by."""
    return lengths(model, record).sum(axis=-1)[..., read(record)].mean(axis=-1)


def lengths_with_residual(
    model: Transformer, record: ForwardRecord
) -> Float[np.ndarray, "layer 1 query key"]:
    """‖Σ_h A_ij f_h(x_j) + [i = j] α x_i‖, α how much of x goes past the sublayer: 1, or 0 without residual connections.

    In post-LN (and its kin) each of these vectors passes the LayerNorm: its mean is subtracted, it is divided by the σ of
    what the LayerNorm reads, and multiplied by γ. In pre-LN there is none behind the sum.
    """
    with torch.inference_mode():
        layers = range(model.config.n_layers)
        return np.stack([_lengths_of(_parts(model, record, layer))[None] for layer in layers])


def mixing_ratio(model: Transformer, record: ForwardRecord) -> Float[np.ndarray, "layer query"]:
    """‖Σ_{j≠i} terms‖ / (‖Σ_{j≠i} terms‖ + ‖term i‖) of the vectors above (Kobayashi et al. 2021, section 3).

    0: the state is made of itself alone, or of nothing; 1: of the others alone.
    """
    ratios = []
    with torch.inference_mode():
        for layer in range(model.config.n_layers):
            parts = _parts(model, record, layer)
            mixed, kept = (each.norm(dim=-1) for each in (parts.mixed, parts.kept))
            ratios.append((mixed / (mixed + kept).clamp(min=LEAST)).cpu().numpy())
    return np.stack(ratios)


def read(record: ForwardRecord) -> list[int]:
    """The positions that are no padding; all of them, where there is nothing else."""
    return [at for at, role in enumerate(record.roles) if role != "padding"] or list(range(len(record)))


def handed_over(block: Block, v: Float[Tensor, "head key d_v"]) -> Float[Tensor, "key head d_model"]:
    """f(x_j) of each head, from its values."""
    by_head = block.attention.w_o.weight.unflatten(1, (len(v), -1))  # [d_model, head, d_v]
    return torch.einsum("hkv,mhv->khm", v, by_head)


def tensor(model: nn.Module, values: np.ndarray) -> Tensor:
    """A copy where the encoder is."""
    return torch.tensor(values, device=next(model.parameters()).device)


class _Parts(NamedTuple):
    """Of one layer, in float64: the vectors whose sum is the state behind the attention, but for the biases."""

    pattern: Float[Tensor, "head query key"]
    terms: Float[Tensor, "key head d_model"]  # to be weighted by the pattern, and divided
    divisor: Float[Tensor, " query"]  # σ of what the LayerNorm reads; 1 where there is none
    kept: Float[Tensor, "query d_model"]  # of the query itself, with what goes past the attention
    mixed: Float[Tensor, "query d_model"]  # the sum of all others


def _parts(model: Transformer, record: ForwardRecord, layer: int) -> _Parts:
    block = model.blocks[layer]
    pattern, x = (
        tensor(model, each).double() for each in (record.pattern[layer], record.residual[2 * layer])
    )
    terms = handed_over(block, tensor(model, record.v[layer])).double()
    itself = torch.einsum("hii,ihm->im", pattern, terms)
    everything = torch.einsum("hqk,khm->qm", pattern, terms)
    past, divisor = block.skip * x, x.new_ones(len(x))
    if block.norm_placement != "pre":
        norm, bias = block.norm_attention, block.attention.w_o.bias
        divisor = ((past + everything + bias).var(dim=-1, correction=0) + norm.eps).sqrt()
        terms, itself, everything, past = (
            (each - each.mean(dim=-1, keepdim=True)) * norm.weight
            for each in (terms, itself, everything, past)
        )
    kept, mixed = (each / divisor[:, None] for each in (itself + past, everything - itself))
    return _Parts(pattern, terms, divisor, kept, mixed)


def _lengths_of(parts: _Parts) -> Float[np.ndarray, "query key"]:
    """Through the products of the heads' vectors with each other, which are few: ‖Σ_h a_h f_h‖² = Σ_hg a_h a_g f_h·f_g."""
    products = parts.terms @ parts.terms.mT  # [key, head, head]
    weights = parts.pattern.permute(2, 1, 0)  # [key, query, head]
    squares = ((weights @ products) * weights).sum(dim=-1).clamp(min=0)
    found = squares.sqrt().T / parts.divisor[:, None]
    found.diagonal().copy_(parts.kept.norm(dim=-1))
    return found.cpu().numpy()


def _with_diagonal(record: ForwardRecord) -> np.ndarray:
    """What goes past the attention is the query's own, whatever the mask says."""
    return of_layers(record) | np.eye(len(record), dtype=bool)
