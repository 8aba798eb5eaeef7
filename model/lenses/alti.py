"""ALTI: how close what one token brings is to the whole state (Ferrando, Gállego & Costa-jussà 2022, "Measuring the Mixing
of Contextual Information in the Transformer").

The state of query i after attention, y_i, is the sum of the vectors t_ij that its keys bring (`model.lenses.norms`) and of
biases, which belong to no key. A key counts by how much nearer its vector lies to y_i than the zero vector does, in l1:

    c_ij = max(0, |y_i| - |y_i - t_ij|) / Σ_k max(0, |y_i| - |y_i - t_ik|)

Unlike a norm, this counts what cancels in the sum for little. The sum is exact in both placements of the norm: in post-LN the
LayerNorm of the sum is linear in the t_ij once its σ is known, and t_ij and y_i are those behind it; in pre-LN there is no norm
behind the sum, and the one before the attention reads each key by itself. The authors' encoders were post-LN; they took the
same formula to pre-LN decoders in 2023 ("Explaining How Transformers Use Context to Build Predictions").
"""

import numpy as np
import torch
from jaxtyping import Float

from ..record import AttentionRecord, ForwardRecord
from ..transformer import Transformer
from .as_record import as_record, normalise_rows
from .norms import layer_terms, mask_with_diagonal, to_model_device

NUMBERS_AT_ONCE = 2**23  # components of the vectors t_ij in memory together
ROUNDING = 1e-6  # of |y_i|, below which a difference of two lengths in single precision counts as none


def alti(model: Transformer, record: ForwardRecord) -> AttentionRecord:
    """Record of the contributions c_ij, one map per layer; a row where no vector comes nearer than zero is zeros."""
    layers = range(model.config.n_layers)
    closeness = np.stack([closeness_in_layer(model, record, layer)[None] for layer in layers])
    return as_record(record, normalise_rows(closeness), mask_with_diagonal(record))


def closeness_in_layer(
    model: Transformer, record: ForwardRecord, layer: int
) -> Float[np.ndarray, "query key"]:
    """max(0, |y_i| - |y_i - t_ij|) in l1, in the unit of the residual stream."""
    with torch.inference_mode():
        states = to_model_device(model, record.residual[2 * layer + 1])
        of_layer = layer_terms(model, record, layer)
        # contiguous, since the batched product is several times slower on other layouts
        vectors, kept = of_layer.terms.float().contiguous(), of_layer.kept.float()
        by_key = of_layer.pattern.permute(2, 1, 0)  # [key, query, head]
        weights = (by_key / of_layer.divisor[:, None]).float().contiguous()
        chunk_size = max(1, NUMBERS_AT_ONCE // states.numel())
        rows = []
        for queries in torch.arange(len(states), device=states.device).split(chunk_size):
            y = states[queries]
            rests = torch.baddbmm(y.expand(len(states), -1, -1), weights[:, queries], vectors, alpha=-1)
            rests[queries, torch.arange(len(queries))] = y - kept[queries]
            whole, rest = (torch.linalg.vector_norm(part, ord=1, dim=-1) for part in (y, rests))
            nearer = whole - rest
            rows.append(nearer.where(nearer > ROUNDING * whole, 0.0).T)
        return torch.cat(rows).double().cpu().numpy()
