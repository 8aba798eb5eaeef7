"""Attention reads a set: Attention(P X) = P Attention(X) for every permutation matrix P, unless a mask forbids it.

softmax works row by row, so softmax(P S Pᵀ) = P softmax(S) Pᵀ, and Pᵀ P = I does the rest
(Lee et al. 2019, "Set Transformer", property 1).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from jaxtyping import Float32, Int

from ..capture import activations, evaluating
from ..hooks import watch
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..masks import causal

Kind = Literal["shuffled", "reversed", "shifted by one", "first two swapped"]
KINDS: tuple[Kind, ...] = get_args(Kind)
WITHIN = 1e-4  # of the largest output: float32 over many keys stays below, a wrong row does not


def order_of(kind: Kind, n: int, seed: int = 0) -> tuple[int, ...]:
    """Row i of P X is row `order[i]` of the `n` rows of X; `seed` is that of what is shuffled."""
    plain = tuple(range(n))
    if kind == "shuffled":
        return tuple(np.random.default_rng(seed).permutation(n).tolist())
    if kind == "reversed":
        return plain[::-1]
    if kind == "shifted by one":
        return (*plain[-1:], *plain[:-1])
    return (*plain[:2][::-1], *plain[2:])


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

    @property
    def largest_difference(self) -> float:
        return float(np.abs(self.difference).max())

    @property
    def largest_output(self) -> float:
        """Of Attention(X), in size."""
        return float(np.abs(self.output).max())

    @property
    def holds(self) -> bool:
        """Whether the two sides are the same but for rounding, at most `WITHIN` of the largest output apart."""
        return self.largest_difference <= WITHIN * self.largest_output

    def row_of(self, position: int) -> int:
        """In P X, of what stands at `position` in X."""
        return self.order.tolist().index(position)


def reorder(
    loaded: Loaded, text_or_image: InputLike, *, layer: int, head: int, order: Sequence[int], is_causal: bool
) -> Reordered:
    """Runs the checkpoint's own attention twice, on what its layer received for this input and on that in `order`.

    With `is_causal` a position sees itself and what stands before it, in either order. Raises ValueError where
    `order` does not name each position once, and as `model.inputs.prepare` does.
    """
    tokens = prepare(loaded, text_or_image)[1]
    if not np.array_equal(np.sort(order), np.arange(len(tokens))):
        raise ValueError(f"an order of {len(tokens)} positions names each once, got {list(order)}")
    model = loaded.model
    seen: dict[str, torch.Tensor] = {}
    (x,) = activations(loaded, [text_or_image], [f"blocks.{layer}.attention_in"]).values()
    with torch.inference_mode(), evaluating(model):
        both = torch.cat((x, x[:, list(order)]))
        mask = causal(len(tokens))[None, None].to(loaded.device) if is_causal else None
        with watch(model, {f"blocks.{layer}.attention.z": lambda z: seen.update(z=z)}):
            model.blocks[layer].attention(both, mask=mask)
    output, output_of_reordered = seen["z"][:, head].cpu().numpy()
    return Reordered(order=np.array(order), output=output, output_of_reordered=output_of_reordered)
