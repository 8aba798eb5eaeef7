"""Attention reads a set: Attention(P X) = P Attention(X) for every permutation matrix P, unless a mask forbids it.

softmax works row by row, so softmax(P S Pᵀ) = P softmax(S) Pᵀ, and Pᵀ P = I does the rest
(Lee et al. 2019, "Set Transformer", property 1).
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float32, Int

from model.capture import activations, evaluating
from model.checkpoint import Loaded
from model.hooks import watch
from model.inputs import InputLike, prepare
from model.masks import causal


@dataclass(frozen=True, slots=True, kw_only=True)
class Reordered:
    """One head on the vectors X, and on the same vectors in another order, P X."""

    order: Int[np.ndarray, " position"]  # row i of P X is row order[i] of X
    output: Float32[np.ndarray, "position d_v"]  # Attention(X)
    output_of_reordered: Float32[np.ndarray, "position d_v"]  # Attention(P X)

    @property
    def difference(self) -> Float32[np.ndarray, "position d_v"]:
        """Attention(P X) - P Attention(X)."""
        return self.output_of_reordered - self.output[self.order]


def reorder(
    loaded: Loaded,
    text_or_image: InputLike,
    *,
    layer: int,
    head: int,
    order: Int[np.ndarray, " position"],
    is_causal: bool,
) -> Reordered:
    """Runs the checkpoint's own attention twice, on what its layer received for this input and on that in `order`.

    With `is_causal` a position sees itself and what stands before it, in either order. Raises ValueError where
    `order` does not name each position once, and as `model.capture.prepare` does.
    """
    tokens = prepare(loaded, text_or_image)[1]
    if not np.array_equal(np.sort(order), np.arange(len(tokens))):
        raise ValueError(f"an order of {len(tokens)} positions names each once, got {order.tolist()}")
    model, seen = loaded.model, {}
    (x,) = activations(loaded, [text_or_image], [f"blocks.{layer}.attention_in"]).values()
    with torch.inference_mode(), evaluating(model):
        both = torch.cat((x, x[:, torch.tensor(order)]))
        mask = causal(len(tokens))[None, None].to(loaded.device) if is_causal else None
        with watch(model, {f"blocks.{layer}.attention.z": lambda z: seen.update(z=z)}):
            model.blocks[layer].attention(both, mask=mask)
    output, output_of_reordered = seen["z"][:, head].cpu().numpy()
    return Reordered(order=order, output=output, output_of_reordered=output_of_reordered)
