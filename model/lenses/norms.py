"""Norms of the vectors that attention sums (Kobayashi et al. 2020), also with residual connection and LayerNorm
(Kobayashi et al. 2021).

f(x_j) = (x_j W_V + b_V) W_O is the transformed value of key j in one head; x_j is the input of attention, in pre-LN the
LayerNorm of the stream. The biases of W_O and of the LayerNorm belong to no key and are left out.
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
    """‖A_ij f(x_j)‖ (`lengths`), each row divided by its sum; a row of zeros where all norms are 0."""
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
    """Mean over the queries without padding of Σ_j ‖A_ij f(x_j)‖, the divisors of the rows of `norm_weighted`."""
    return lengths(model, record).sum(axis=-1)[..., read(record)].mean(axis=-1)


def lengths_with_residual(
    model: Transformer, record: ForwardRecord
) -> Float[np.ndarray, "layer 1 query key"]:
    """‖Σ_h A_ij f_h(x_j) + [i = j] α x_i‖, where α is the factor of the skip connection, 0 without residual connections.

    Where a LayerNorm follows the sum (not in pre-LN), it is applied to each of these vectors: the mean is subtracted, the
    vector is divided by the σ of the whole sum, and multiplied by γ.
    """
    with torch.inference_mode():
        layers = range(model.config.n_layers)
        return np.stack([_lengths(_terms(model, record, layer))[None] for layer in layers])


def mixing_ratio(model: Transformer, record: ForwardRecord) -> Float[np.ndarray, "layer query"]:
    """‖Σ_{j≠i} terms‖ / (‖Σ_{j≠i} terms‖ + ‖term i‖) of the vectors above (Kobayashi et al. 2021, section 3).

    0: nothing comes from other positions; 1: everything does.
    """
    ratios = []
    with torch.inference_mode():
        for layer in range(model.config.n_layers):
            terms = _terms(model, record, layer)
            mixed, kept = terms.mixed.norm(dim=-1), terms.kept.norm(dim=-1)
            ratios.append((mixed / (mixed + kept).clamp(min=LEAST)).cpu().numpy())
    return np.stack(ratios)


def read(record: ForwardRecord) -> list[int]:
    """The positions that are no padding; all positions of an input of padding alone."""
    real = [position for position, role in enumerate(record.roles) if role != "padding"]
    return real or list(range(len(record)))


def handed_over(block: Block, v: Float[Tensor, "head key d_v"]) -> Float[Tensor, "key head d_model"]:
    """f(x_j) of each head, from the values v."""
    by_head = block.attention.w_o.weight.unflatten(1, (len(v), -1))  # [d_model, head, d_v]
    return torch.einsum("hkv,mhv->khm", v, by_head)


def tensor(model: nn.Module, values: np.ndarray) -> Tensor:
    """A copy of the array on the encoder's device."""
    return torch.tensor(values, device=next(model.parameters()).device)


class _Terms(NamedTuple):
    """The vectors of one layer, in float64, whose sum is the state after attention without the biases."""

    pattern: Float[Tensor, "head query key"]
    terms: Float[Tensor, "key head d_model"]  # to be weighted by the pattern, and divided
    divisor: Float[Tensor, " query"]  # σ of what the LayerNorm reads; 1 where there is none
    kept: Float[Tensor, "query d_model"]  # from the query itself, the skip connection included
    mixed: Float[Tensor, "query d_model"]  # the sum of all others


def _terms(model: Transformer, record: ForwardRecord, layer: int) -> _Terms:
    block = model.blocks[layer]
    pattern, x = (
        tensor(model, array).double() for array in (record.pattern[layer], record.residual[2 * layer])
    )
    terms = handed_over(block, tensor(model, record.v[layer])).double()
    itself = torch.einsum("hii,ihm->im", pattern, terms)
    everything = torch.einsum("hqk,khm->qm", pattern, terms)
    skipped, divisor = block.skip * x, x.new_ones(len(x))
    if block.norm_placement != "pre":
        norm, bias = block.norm_attention, block.attention.w_o.bias
        divisor = ((skipped + everything + bias).var(dim=-1, correction=0) + norm.eps).sqrt()
        terms, itself, everything, skipped = (
            (vectors - vectors.mean(dim=-1, keepdim=True)) * norm.weight
            for vectors in (terms, itself, everything, skipped)
        )
    kept, mixed = (itself + skipped) / divisor[:, None], (everything - itself) / divisor[:, None]
    return _Terms(pattern, terms, divisor, kept, mixed)


def _lengths(terms: _Terms) -> Float[np.ndarray, "query key"]:
    """The norms, by ‖Σ_h a_h f_h‖² = Σ_hg a_h a_g f_h·f_g, which needs few products of the heads' vectors."""
    products = terms.terms @ terms.terms.mT  # [key, head, head]
    weights = terms.pattern.permute(2, 1, 0)  # [key, query, head]
    squares = ((weights @ products) * weights).sum(dim=-1).clamp(min=0)
    lengths = squares.sqrt().T / terms.divisor[:, None]
    lengths.diagonal().copy_(terms.kept.norm(dim=-1))
    return lengths.cpu().numpy()


def _with_diagonal(record: ForwardRecord) -> np.ndarray:
    """The mask with the diagonal allowed, since the skip connection is not masked."""
    return of_layers(record) | np.eye(len(record), dtype=bool)
