"""Linear functions of states, divided among the parts that the states are sums of."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor

from ..record import Positions
from ..transformer import Transformer
from .linear_maps import LinearFunction, pull_back

Kind = Literal[
    "token",
    "token type",
    "position",
    "head",
    "feed-forward",
    "pooling feed-forward",
    "relative position",
    "biases",
]
Seen = Mapping[str, Float[Tensor, "1 ..."]]  # activations of one input, by the name of the hook point


class Part(NamedTuple):
    """A part of a state; a picture's token is what a patch, the class token or a register brings."""

    kind: Kind
    layer: int | None = None
    head: int | None = None
    read_from: int | None = None  # position of the token that this share of a head's part was read from

    def name(self, labels: Sequence[str]) -> str:
        """As in "L0 H2", "L0 H2 from 3 not", "L0 feed-forward" or "biases"."""
        if self.layer is None:
            return self.kind
        name = f"L{self.layer} {self.kind}" if self.head is None else f"L{self.layer} H{self.head}"
        return name if self.read_from is None else f"{name} from {labels[self.read_from]}"


class Divided(NamedTuple):
    """Numbers divided among parts: each column sums to a number."""

    parts: list[Part]
    values: Float[Tensor, "part number"]


def frame(parts: list[Part], positions: Positions, values: Float64[np.ndarray, " part"]) -> pd.DataFrame:
    """A row for each part: `part` (its name), `kind`, `layer`, `head`, `read_from` (NA where it has none) and `value`."""
    labels = positions.labels
    numbers = ("layer", "head", "read_from")
    return pd.DataFrame(
        {
            "part": [part.name(labels) for part in parts],
            "kind": [part.kind for part in parts],
            **{name: pd.array([getattr(part, name) for part in parts], dtype="Int64") for name in numbers},
            "value": values,
        }
    )


def hook_names(n_layers: int, *, by_token: bool) -> list[str]:
    """The hook points whose activations `divide` reads, for states behind the first `n_layers` layers."""
    of_block = ["attention.z", "attention_out", "resid_mid", "feed_forward_out", "resid_post"]
    of_block += ["attention.pattern", "attention.v"] if by_token else []
    names = [f"blocks.{layer}.{name}" for layer in range(n_layers) for name in of_block]
    return ["embedding.content", "embedding.positions", "embedding.output", *names]


def states_behind(seen: Seen, n_layers: int) -> Float[Tensor, "position d_model"]:
    """The residual stream behind the first `n_layers` layers, before any norm that follows."""
    return seen[f"blocks.{n_layers - 1}.resid_post" if n_layers else "embedding.output"][0]


def divide(
    model: Transformer,
    inputs: Tensor,
    seen: Seen,
    n_layers: int,
    function: LinearFunction,
    positions: Int[Tensor, " position"],
    *,
    by_token: bool = False,
) -> Divided:
    """Divides a linear function of the states at some `positions` behind the first `n_layers` layers among their parts.

    In post-LN, LN(αx + F), and in B2T, LN(x + h + F), the norm divides all that came before; α is the factor of the skip connection,
    and in B2T x goes on along two paths, which add. With `by_token` a head's part is divided by the token j that it was read from:
    A_ij v_j W_O for query i.
    """
    divided: list[tuple[Part, Tensor]] = []  # in the reverse order of computation
    for layer in reversed(range(n_layers)):
        block = model.blocks[layer]
        is_post, is_b2t = block.norm_placement != "pre", block.norm_placement == "b2t"
        x = states_behind(seen, layer)[positions]
        attended, mid, fed = (
            seen[f"blocks.{layer}.{name}"][0, positions]
            for name in ("attention_out", "resid_mid", "feed_forward_out")
        )
        if is_post:
            summed = block.skip * mid + fed + (x if is_b2t else 0.0)
            function = pull_back(block.norm_feed_forward, summed, function)
        behind, constant = function
        divided.append((Part("feed-forward", layer), _product(behind, fed)))
        function = LinearFunction(block.skip * behind, constant)
        if is_post:
            function = pull_back(block.norm_attention, block.skip * x + attended, function)
        before_w_o = pull_back(block.attention.w_o, attended, function)  # whatever a linear map reads
        divided += _heads(before_w_o.weights, seen, layer, positions, by_token=by_token)[::-1]
        skipped = block.skip * function.weights + (behind if is_b2t else 0.0)
        function = LinearFunction(skipped, before_w_o.constant)
    embedding, constant = _embedding(model, inputs, seen, function, positions)
    parts, values = zip(*embedding, *divided[::-1], (Part("biases"), constant), strict=True)
    return Divided(list(parts), torch.stack(values))


def _heads(
    weights: Float[Tensor, "number query heads_width"],
    seen: Seen,
    layer: int,
    queries: Int[Tensor, " query"],
    *,
    by_token: bool,
) -> list[tuple[Part, Tensor]]:
    """Each head's parts, from a function of the concatenated heads."""
    attention = f"blocks.{layer}.attention"
    z = seen[f"{attention}.z"][0][:, queries]
    by_head = weights.unflatten(-1, (len(z), -1))  # [number, query, head, d_v]
    if not by_token:
        values = torch.einsum("nqhd,hqd->hn", by_head, z)
        return [(Part("head", layer, head), value) for head, value in enumerate(values)]
    pattern, v = seen[f"{attention}.pattern"][0][:, queries], seen[f"{attention}.v"][0]
    values = torch.einsum("nhqk,hqk->hkn", torch.einsum("nqhd,hkd->nhqk", by_head, v), pattern)
    return [
        (Part("head", layer, head, key), value)
        for head, of_keys in enumerate(values)
        for key, value in enumerate(of_keys)
    ]


def _embedding(
    model: Transformer,
    inputs: Tensor,
    seen: Seen,
    function: LinearFunction,
    positions: Int[Tensor, " position"],
) -> tuple[list[tuple[Part, Tensor]], Tensor]:
    """The parts of the embedding, and all biases."""
    embedding, config = model.embedding, model.config
    token, position = (seen[f"embedding.{name}"][0, positions] for name in ("content", "positions"))
    g, constant = pull_back(embedding.norm, token + position, function)
    parts: list[tuple[Part, Tensor]] = []
    if (types := getattr(embedding, "types", None)) is not None:
        type_vectors = types(inputs[0, positions] // embedding.vocab_size)
        token = token - type_vectors
        parts.append((Part("token type"), _product(g, type_vectors)))
    if not config.is_text:  # the bias of the map of patches
        is_patch = (positions >= config.n_before_patches)[:, None]
        bias = is_patch * embedding.patches.bias * embedding.scale
        token = token - bias
        constant = constant + _product(g, bias)
    parts.insert(0, (Part("token"), _product(g, token)))
    if config.positions != "none":
        parts.append((Part("position"), _product(g, position)))
    return parts, constant + g.new_zeros(len(g))


def _product(
    g: Float[Tensor, "number position width"], vectors: Float[Tensor, "position width"]
) -> Float[Tensor, " number"]:
    return torch.einsum("npd,pd->n", g, vectors)
