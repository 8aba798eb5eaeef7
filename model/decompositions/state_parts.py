"""Linear functions of states, divided among the parts that the states are sums of."""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain, product
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor

from ..capture import activations
from ..hooks import hook_points
from ..huggingface.encoder import ImportedEmbedding
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..record import Positions
from ..transformer import Transformer
from .linear_maps import LinearFunction, pull_back

Numbers = Float[Tensor, " number"]


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


Divided = tuple[list[Part], Float[Tensor, "part number"]]  # parts, and what each adds to the numbers


class ForwardPass(NamedTuple):
    """What one forward pass recorded of one input."""

    model: Transformer
    inputs: Tensor
    positions: Positions
    seen: Mapping[str, Float[Tensor, "1 ..."]]  # activations, by the name of the hook point
    by_token: bool  # whether the parts of heads are to be divided by the token that they were read from

    def states(self, n_layers: int) -> Float[Tensor, "position d_model"]:
        """The residual stream behind the first `n_layers` layers, before any norm that follows."""
        return self.seen[f"blocks.{n_layers - 1}.resid_post" if n_layers else "embedding.output"][0]


def forward_pass(
    loaded: Loaded, model_input: InputLike, n_layers: int, names: Collection[str], *, by_token: bool
) -> ForwardPass:
    """Records what `divide` reads of the first `n_layers` layers, and those of the hook points `names` that the encoder has."""
    of_block = ["attention.z", "attention_out", "resid_mid", "feed_forward_out", "resid_post"]
    of_block += ["attention.pattern", "attention.v"] if by_token else []
    wanted = [f"embedding.{name}" for name in ("content", "positions", "output")]
    wanted += [f"blocks.{layer}.{name}" for layer in range(n_layers) for name in of_block]
    wanted += [name for name in names if name in hook_points(loaded.model)]
    inputs, positions = prepare(loaded, model_input)
    return ForwardPass(loaded.model, inputs, positions, activations(loaded, [model_input], wanted), by_token)


def frame(parts: list[Part], positions: Positions, values: Float64[np.ndarray, " part"]) -> pd.DataFrame:
    """A row for each part: `part` (its name), `kind`, `layer`, `head`, `read_from` (NA where it has none) and `value`."""
    labels = positions.labels
    columns = dict(zip(Part._fields, zip(*parts, strict=True), strict=True))
    numbers = {name: pd.array(columns[name], dtype="Int64") for name in ("layer", "head", "read_from")}
    names = [part.name(labels) for part in parts]
    return pd.DataFrame({"part": names, "kind": columns["kind"], **numbers, "value": values})


def divide(
    forward: ForwardPass, n_layers: int, function: LinearFunction, positions: Int[Tensor, " position"]
) -> tuple[list[Part], Float[Tensor, "part number"]]:
    """Divides a linear function of the states at `positions` behind the first `n_layers` layers among their parts.

    In post-LN, LN(αx + F), and in B2T, LN(x + h + F), the norm divides all that came before; α is the factor of the skip connection,
    and in B2T x goes on along two paths, which add.
    """
    divided: list[Divided] = []  # in the reverse order of computation
    for layer in reversed(range(n_layers)):
        block, x = forward.model.blocks[layer], forward.states(layer)[positions]
        is_post, is_b2t = block.norm_placement != "pre", block.norm_placement == "b2t"
        attended, mid, fed = (
            forward.seen[f"blocks.{layer}.{name}"][0, positions]
            for name in ("attention_out", "resid_mid", "feed_forward_out")
        )
        if is_post:
            read = block.skip * mid + fed + (x if is_b2t else 0.0)
            function = pull_back(block.norm_feed_forward, read, function)
        behind, constant = function
        divided.append(([Part("feed-forward", layer)], _product(behind, fed)[None]))
        function = LinearFunction(block.skip * behind, constant)
        if is_post:
            function = pull_back(block.norm_attention, block.skip * x + attended, function)
        of_heads = pull_back(block.attention.w_o, attended, function)  # whatever a linear map reads
        divided.append(_heads(forward, layer, of_heads.weights, positions))
        skipped = block.skip * function.weights + (behind if is_b2t else 0.0)
        function = LinearFunction(skipped, of_heads.constant)
    *embedding, biases = _embedding(forward, function, positions)
    parts, values = zip(*embedding, *divided[::-1], biases, strict=True)
    return list(chain.from_iterable(parts)), torch.cat(values)


def _heads(
    forward: ForwardPass,
    layer: int,
    weights: Float[Tensor, "number query heads_width"],
    queries: Int[Tensor, " query"],
) -> Divided:
    """Each head's part Σ_i g_i · z_i, or by token Σ_i g_i · A_ij v_j, from the weights g of the concatenated heads."""
    z, *by_token = (
        forward.seen[f"blocks.{layer}.attention.{name}"][0]
        for name in (["z", "pattern", "v"] if forward.by_token else ["z"])
    )
    g = weights.unflatten(-1, (len(z), -1))  # [number, query, head, d_v]
    if not by_token:
        values = torch.einsum("nqhd,hqd->hn", g, z[:, queries])
        return [Part("head", layer, head) for head in range(len(z))], values
    pattern, v = by_token
    values = torch.einsum("nhqk,hqk->hkn", torch.einsum("nqhd,hkd->nhqk", g, v), pattern[:, queries])
    indices = product(*map(range, values.shape[:2]))
    return [Part("head", layer, *index) for index in indices], values.flatten(0, 1)


def _embedding(
    forward: ForwardPass, function: LinearFunction, positions: Int[Tensor, " position"]
) -> list[Divided]:
    """Parts of the embedding, and the biases of all that came behind it."""
    embedding, config = forward.model.embedding, forward.model.config
    token, position = (forward.seen[f"embedding.{name}"][0, positions] for name in ("content", "positions"))
    g, constant = pull_back(embedding.norm, token + position, function)
    vectors: dict[str, Tensor] = {}
    biases = constant + g.new_zeros(len(g))
    if isinstance(embedding, ImportedEmbedding) and embedding.types is not None:
        vectors["token type"] = embedding.types(forward.inputs[0, positions] // embedding.vocab_size)
        token = token - vectors["token type"]
    if config.positions != "none":
        vectors["position"] = position
    if not config.is_text:
        bias = (positions >= config.n_before_patches)[:, None] * embedding.patches.bias * embedding.scale
        token, biases = token - bias, biases + _product(g, bias)
    products = [
        ([Part(kind)], _product(g, part)[None]) for kind, part in ({"token": token} | vectors).items()
    ]
    return [*products, ([Part("biases")], biases[None])]


def _product(g: Float[Tensor, "number position width"], vectors: Float[Tensor, "position width"]) -> Numbers:
    return torch.einsum("npd,pd->n", g, vectors)
