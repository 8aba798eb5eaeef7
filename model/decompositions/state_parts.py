"""Linear functions of states, divided among the parts that the states are sums of."""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor, nn

from ..capture import activations
from ..hooks import hook_points
from ..huggingface.encoder import ImportedEmbedding
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..parts.block import bias_by_head
from ..record import Positions
from ..transformer import Transformer
from .linear_maps import held

States = Float[Tensor, "position d_model"]
# Numbers that are linear in states and in the factor of all biases, with gradients as those of `held`.
OfStates = Callable[[States, Float[Tensor, " 1"]], Float[Tensor, " number"]]


class Part(NamedTuple):
    """A part of a state; `kind` is token (also of a picture: a patch, the class token, a register), token type, position, head,
    feed-forward, pooling feed-forward, relative position or biases.
    """

    kind: str
    layer: int | None = None
    head: int | None = None
    read_from: int | None = None  # position of the token that this share of a head's part was read from

    def name(self, labels: Sequence[str]) -> str:
        """As in "L0 H2", "L0 H2 from 3 not", "L0 feed-forward" or "biases"."""
        if self.layer is None:
            return self.kind
        name = f"L{self.layer} {self.kind}" if self.head is None else f"L{self.layer} H{self.head}"
        return name if self.read_from is None else f"{name} from {labels[self.read_from]}"


class ForwardPass(NamedTuple):
    """What one forward pass recorded of one input."""

    model: Transformer
    inputs: Tensor
    positions: Positions
    seen: Mapping[str, Float[Tensor, "..."]]  # activations, by the name of the hook point
    by_token: bool  # whether the parts of heads are to be divided by the token that they were read from

    def states(self, n_layers: int) -> States:
        """The residual stream behind the first `n_layers` layers, before any norm that follows."""
        return self.seen[_behind(n_layers)]


def _behind(n_layers: int) -> str:
    return f"blocks.{n_layers - 1}.resid_post" if n_layers else "embedding.output"


def forward_pass(
    loaded: Loaded, model_input: InputLike, n_layers: int, names: Collection[str], *, by_token: bool
) -> ForwardPass:
    """Records what `divide` reads of the first `n_layers` layers, and those of the hook points `names` that the encoder has."""
    of_block = ["attention.z", "attention_out", "feed_forward_out"]
    of_block += ["attention.pattern", "attention.v"] if by_token else []
    wanted = ["embedding.content", "embedding.positions", _behind(n_layers)]
    wanted += [f"blocks.{layer}.{name}" for layer in range(n_layers) for name in of_block]
    wanted += [name for name in names if name in hook_points(loaded.model)]
    inputs, positions = prepare(loaded, model_input)
    seen = activations(loaded, [model_input], wanted)
    seen = {name: activation[0] for name, activation in seen.items()}
    return ForwardPass(loaded.model, inputs, positions, seen, by_token)


def frame(parts: list[Part], positions: Positions, values: Float64[np.ndarray, " part"]) -> pd.DataFrame:
    """A row for each part: `part` (its name), `kind`, `layer`, `head`, `read_from` (NA where it has none) and `value`."""
    labels = positions.labels
    columns = dict(zip(Part._fields, zip(*parts, strict=True), strict=True))
    numbers = {name: pd.array(columns[name], dtype="Int64") for name in ("layer", "head", "read_from")}
    names = [part.name(labels) for part in parts]
    return pd.DataFrame({"part": names, "kind": columns["kind"], **numbers, "value": values})


def divide(
    forward: ForwardPass, n_layers: int, function: OfStates, others: Mapping[Part, Tensor] | None = None
) -> tuple[list[Part], Float[Tensor, "part number"]]:
    """Divides numbers, a `function` of the states behind the first `n_layers` layers, among the parts of these states.

    The states are added up again from what was recorded of each part, with all divisors held, and the part is multiplied by the
    gradient of the numbers with respect to it. In post-LN, LN(αx + F), and in B2T, LN(x + h + F), the norm divides all that came
    before; α is the factor of the skip connection. `others` are the parts that the `function` adds.
    """
    model, seen = forward.model, forward.seen
    with torch.enable_grad():
        last = _leaf(forward.states(n_layers).clone())
        one = _leaf(last.new_ones(1))
        (g,) = torch.autograd.grad(function(last, one).sum(), last)
        positions = g.any(dim=-1).nonzero()[:, 0]  # that are read
        parts, bias = _embedding(forward, positions)
        x = held(model.embedding.norm, sum(parts.values()) + one * bias, one)
        for layer, block in enumerate(model.blocks[:n_layers]):
            b_o = bias_by_head(block.attention.w_o)
            heads = _leaf(seen[f"blocks.{layer}.attention_out"][positions] - b_o)
            fed = _leaf(seen[f"blocks.{layer}.feed_forward_out"][positions])
            parts |= {Part("head", layer): heads, Part("feed-forward", layer): fed}
            is_pre, is_b2t = block.norm_placement == "pre", block.norm_placement == "b2t"
            norm, next_norm = (
                nn.Identity() if is_pre else norm for norm in (block.norm_attention, block.norm_feed_forward)
            )
            h = held(norm, block.skip * x + heads + one * b_o, one)
            x = held(next_norm, block.skip * h + fed + (x if is_b2t else 0.0), one)
        numbers = function(last.detach().index_copy(0, positions, x), one)
    parts |= {Part("biases"): one, **(others or {})}
    basis = torch.eye(len(numbers), device=one.device)
    gradients = torch.autograd.grad(numbers, [*parts.values()], basis, is_grads_batched=True)
    divided, values = list[Part](), list[Tensor]()
    for (part, vectors), g in zip(parts.items(), gradients, strict=True):
        if part.kind == "head":
            products = _heads(forward, part, positions, g)
        else:
            products = g.flatten(1) @ vectors.detach().flatten()
        indices = product(*map(range, products.shape[:-1]))  # head, and the position that it read
        divided += [Part(part.kind, part.layer, *index) for index in indices]
        values.append(products.reshape(-1, len(numbers)))
    return divided, torch.cat(values)


def _heads(
    forward: ForwardPass,
    part: Part,
    queries: Int[Tensor, " query"],
    weights: Float[Tensor, "number query d_model"],
) -> Float[Tensor, "head *key number"]:
    """Each head's part Σ_i g_i · z_i, or by token Σ_i g_i · A_ij v_j, where g_i is the head's slice of W_Oᵀ times the weights at i."""
    assert part.layer is not None, "heads are in layers"
    attention, name = forward.model.blocks[part.layer].attention, f"blocks.{part.layer}.attention"
    g = (weights @ attention.w_o.weight).unflatten(-1, (attention.n_heads, -1))
    if not forward.by_token:
        return (g * forward.seen[f"{name}.z"][:, queries].transpose(0, 1)).sum(dim=(1, 3)).T
    pattern, v = (forward.seen[f"{name}.{activation}"] for activation in ("pattern", "v"))
    return torch.einsum("nhqk,hqk->hkn", torch.einsum("nqhd,hkd->nhqk", g, v), pattern[:, queries])


def _embedding(
    forward: ForwardPass, positions: Int[Tensor, " position"]
) -> tuple[dict[Part, Float[Tensor, "position width"]], Tensor | float]:
    """Parts of the embedding before its norm, and the bias in it."""
    embedding, config = forward.model.embedding, forward.model.config
    token, position = (forward.seen[f"embedding.{name}"][positions] for name in ("content", "positions"))
    parts: dict[Part, Tensor] = {Part("token"): token}
    bias: Tensor | float = 0.0
    if isinstance(embedding, ImportedEmbedding) and embedding.types is not None:
        types = embedding.types(forward.inputs[0, positions] // embedding.vocab_size)
        parts |= {Part("token"): token - types, Part("token type"): types}
    if config.positions != "none":
        parts[Part("position")] = position
    if not config.is_text:
        bias = (positions >= config.n_before_patches)[:, None] * embedding.patches.bias * embedding.scale
        parts[Part("token")] = token - bias
    return {part: _leaf(vectors) for part, vectors in parts.items()}, bias


def _leaf(vectors: Tensor) -> Tensor:
    """The vectors, so that gradients with respect to them are computed."""
    return vectors.detach().requires_grad_()
