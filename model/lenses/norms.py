"""Norms of the vectors that attention sums (Kobayashi et al. 2020), also with residual connection and LayerNorm (2021).

f(x_j) = (x_j W_V + b_V) W_O is the transformed value of key j in one head, where x_j is the input of attention (in pre-LN
the LayerNorm of the residual stream). The biases of W_O and of the LayerNorm belong to no key and are left out.

ALTI (Ferrando, Gállego & Costa-jussà 2022, "Measuring the Mixing of Contextual Information in the Transformer") measures how
close the contribution of a key is to the whole state. The state of query i after attention, y_i, is the sum of a vector t_ij
for each key j and of biases, which belong to no key. A key's weight is by how much t_ij is nearer to y_i than the zero vector
is, in the l1 norm:

    c_ij = max(0, |y_i| - |y_i - t_ij|) / Σ_k max(0, |y_i| - |y_i - t_ik|)

Unlike a norm, this gives little weight to vectors that cancel each other in the sum. The sum is exact in both placements of the
norm: in post-LN the LayerNorm of the sum is linear in the t_ij if its σ is held constant, and t_ij and y_i are taken after it;
in pre-LN no norm follows the sum, and the norm before the attention acts on each key separately. The authors' encoders were
post-LN; in 2023 they applied the same formula to pre-LN decoders ("Explaining How Transformers Use Context to Build
Predictions").
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..parts.block import linear_norm
from ..record import AttentionRecord, ForwardRecord
from ..record.from_arrays import LEAST, any_head_mask, normalise_rows, record_with_map
from ..transformer import Block, Transformer

NUMBERS_AT_ONCE = 2**23  # components of the vectors t_ij in memory together
ROUNDING = 1e-6  # of |y_i|, below which a difference of two lengths in single precision counts as none


def norm_weighted(model: Transformer, record: ForwardRecord) -> AttentionRecord:
    """Record of the norms ‖A_ij f(x_j)‖ (`vector_norms`), each row divided by its sum; a row of zeros stays zeros."""
    return record_with_map(record, normalise_rows(vector_norms(model, record)), record.mask)


def with_residual_and_norm(model: Transformer, record: ForwardRecord) -> AttentionRecord:
    """Record of the norms of `vector_norms_with_residual`, one map per layer, each row divided by its sum."""
    return record_with_map(
        record, normalise_rows(vector_norms_with_residual(model, record)), mask_with_diagonal(record)
    )


def vector_norms(model: Transformer, record: ForwardRecord) -> Float[np.ndarray, "layer head query key"]:
    """Norms ‖A_ij f(x_j)‖ = A_ij ‖f(x_j)‖ of the vectors that each head sums, in the unit of the residual stream.

    f(x_j) = (x_j W_V + b_V) W_O is the transformed value of key j.
    """
    with torch.inference_mode():
        value_norms = [
            transformed_values(block, to_model_device(model, v)).norm(dim=-1).T.cpu().numpy()
            for block, v in zip(model.blocks, record.v, strict=True)
        ]
    return record.pattern * np.stack(value_norms)[:, :, None]


def summed_norms_by_head(model: Transformer, record: ForwardRecord) -> Float[np.ndarray, "layer head"]:
    """Mean over the queries, without padding, of Σ_j ‖A_ij f(x_j)‖: the sums by which `norm_weighted` divides the rows."""
    return vector_norms(model, record).sum(axis=-1)[..., unpadded_positions(record)].mean(axis=-1)


def vector_norms_with_residual(
    model: Transformer, record: ForwardRecord
) -> Float[np.ndarray, "layer 1 query key"]:
    """Norms of what each key contributes to a query's state after attention, all heads together (head axis of length 1).

    The contribution of key j to query i is t_ij = Σ_h A_ij f_h(x_j) + [i = j] α x_i, where f_h is the f of this module's
    docstring for head h, x_i the state of the query, and α the factor of the skip connection (0 without one). If a
    LayerNorm follows the sum (not in pre-LN), it is applied to each t_ij: the mean of t_ij is subtracted, and the result is
    divided by the σ of the whole sum and multiplied by γ.
    """
    with torch.inference_mode():
        layers = range(model.config.n_layers)
        return np.stack([_term_norms(layer_terms(model, record, layer))[None] for layer in layers])


def mixing_ratio(model: Transformer, record: ForwardRecord) -> Float[np.ndarray, "layer query"]:
    """Share of each state that comes from other positions, from 0 to 1 (Kobayashi et al. 2021, section 3).

    It is ‖Σ_{j≠i} t_ij‖ / (‖Σ_{j≠i} t_ij‖ + ‖t_ii‖), where t_ij are the vectors of `vector_norms_with_residual`.
    """
    ratios = []
    with torch.inference_mode():
        for layer in range(model.config.n_layers):
            terms = layer_terms(model, record, layer)
            mixed_norms, own_norms = terms.mixed_vectors.norm(dim=-1), terms.own_vectors.norm(dim=-1)
            ratios.append((mixed_norms / (mixed_norms + own_norms).clamp(min=LEAST)).cpu().numpy())
    return np.stack(ratios)


def unpadded_positions(record: ForwardRecord) -> list[int]:
    """Positions that are not padding; all positions if the input consists of padding alone."""
    unpadded = [position for position, role in enumerate(record.roles) if role != "padding"]
    return unpadded or list(range(len(record)))


def transformed_values(block: Block, v: Float[Tensor, "head key d_v"]) -> Float[Tensor, "key head d_model"]:
    """Transformed value f(x_j) of each key in each head, computed from the values `v`."""
    by_head = block.attention.w_o.weight.unflatten(1, (len(v), -1))  # [d_model, head, d_v]
    return torch.einsum("hkv,mhv->khm", v, by_head)


def to_model_device(model: nn.Module, values: np.ndarray) -> Tensor:
    """A copy of the array on the encoder's device."""
    return torch.tensor(values, device=next(model.parameters()).device)


class LayerTerms(NamedTuple):
    """Factors of the vectors t_ij of one layer (`vector_norms_with_residual`), in float64; biases are left out."""

    pattern: Float[Tensor, "head query key"]
    terms: Float[Tensor, "key head d_model"]  # to be weighted by the pattern, and divided
    divisor: Float[Tensor, " query"]  # σ of what the LayerNorm reads; 1 where there is none
    own_vectors: Float[Tensor, "query d_model"]  # t_ii: from the query itself, the skip connection included
    mixed_vectors: Float[Tensor, "query d_model"]  # the sum over all other positions


def layer_terms(model: Transformer, record: ForwardRecord, layer: int) -> LayerTerms:
    """The vectors t_ij of `vector_norms_with_residual` in one layer, on the encoder's device."""
    block = model.blocks[layer]
    pattern, x = (
        to_model_device(model, array).double()
        for array in (record.pattern[layer], record.residual[2 * layer])
    )
    terms = transformed_values(block, to_model_device(model, record.v[layer])).double()
    own_term = torch.einsum("hii,ihm->im", pattern, terms)
    total_vector = torch.einsum("hqk,khm->qm", pattern, terms)
    skip_term, divisor = block.skip * x, x.new_ones(len(x))
    if block.norm_placement != "pre":
        norm, bias = linear_norm(block.norm_attention, x.shape[-1]), block.attention.w_o.bias
        norm_input = skip_term + total_vector + (0.0 if bias is None else bias)
        divisor = norm.divisor(norm_input)[:, 0]
        terms, own_term, total_vector, skip_term = (
            norm.centre(vectors) * norm.gain for vectors in (terms, own_term, total_vector, skip_term)
        )
    own_vector = (own_term + skip_term) / divisor[:, None]
    mixed_vector = (total_vector - own_term) / divisor[:, None]
    return LayerTerms(pattern, terms, divisor, own_vector, mixed_vector)


def _term_norms(terms: LayerTerms) -> Float[np.ndarray, "query key"]:
    """‖t_ij‖ of the vectors of one layer, by ‖Σ_h a_h f_h‖² = Σ_hg a_h a_g f_h·f_g, which needs few products."""
    products = terms.terms @ terms.terms.mT  # [key, head, head]
    weights = terms.pattern.permute(2, 1, 0)  # [key, query, head]
    squared_norms = ((weights @ products) * weights).sum(dim=-1).clamp(min=0)
    lengths = squared_norms.sqrt().T / terms.divisor[:, None]
    lengths.diagonal().copy_(terms.own_vectors.norm(dim=-1))
    return lengths.cpu().numpy()


def mask_with_diagonal(record: ForwardRecord) -> np.ndarray:
    """For each layer, the cells that the mask of any head allows, and the diagonal, since the skip connection is not masked."""
    return any_head_mask(record) | np.eye(len(record), dtype=bool)


def alti(model: Transformer, record: ForwardRecord) -> AttentionRecord:
    """Record of the ALTI contributions c_ij, one map per layer; a row in which no t_ij is nearer to y_i than zero is zeros."""
    layers = range(model.config.n_layers)
    closeness = np.stack([closeness_in_layer(model, record, layer)[None] for layer in layers])
    return record_with_map(record, normalise_rows(closeness), mask_with_diagonal(record))


def closeness_in_layer(
    model: Transformer, record: ForwardRecord, layer: int
) -> Float[np.ndarray, "query key"]:
    """ALTI before rows are normalised: max(0, |y_i| - |y_i - t_ij|) in the l1 norm, in the unit of the residual stream."""
    with torch.inference_mode():
        states = to_model_device(model, record.residual[2 * layer + 1])
        of_layer = layer_terms(model, record, layer)
        # contiguous, since the batched product is several times slower on other layouts
        vectors, own_vectors = of_layer.terms.float().contiguous(), of_layer.own_vectors.float()
        by_key = of_layer.pattern.permute(2, 1, 0)  # [key, query, head]
        weights = (by_key / of_layer.divisor[:, None]).float().contiguous()
        chunk_size = max(1, NUMBERS_AT_ONCE // states.numel())
        rows = []
        for queries in torch.arange(len(states), device=states.device).split(chunk_size):
            y = states[queries]
            rests = torch.baddbmm(y.expand(len(states), -1, -1), weights[:, queries], vectors, alpha=-1)
            rests[queries, torch.arange(len(queries))] = y - own_vectors[queries]
            whole, rest = (torch.linalg.vector_norm(part, ord=1, dim=-1) for part in (y, rests))
            nearer = whole - rest
            rows.append(nearer.where(nearer > ROUNDING * whole, 0.0).T)
        return torch.cat(rows).double().cpu().numpy()
