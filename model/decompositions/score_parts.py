"""`score_parts`: one attention score as the sum of products of a part of the query and a part of the key."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Float64
from torch import Tensor, nn

from ..capture import activations, evaluation_mode
from ..hooks import hook_points
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..parts.block import bias_by_head, weight_by_head
from ..parts.disentangled import DisentangledAttention, relative_positions
from ..parts.rotary import Rotated, factors, rotate
from ..transformer import Transformer
from .linear_maps import LinearFunction, pull_back
from .state_parts import Part, Seen, divide, frame, hook_names, states_behind

OTHERS = "all others"
Vectors = Float64[np.ndarray, "part d_k"]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreParts:
    """One attention score, before the mask, divided among the products of the query's parts and the key's.

    The value of a part of the query is the sum of its products with all parts of the key, and the reverse.
    """

    query: (
        pd.DataFrame
    )  # a row for each part of the query: part (its name), kind, layer, head, read_from, value
    key: pd.DataFrame  # the same for the key
    query_vectors: Vectors  # divided by sqrt(d_k), where the encoder divides its scores
    key_vectors: Vectors
    bias: float | None  # the product of both last parts, where these are "relative position"
    recorded: float  # the score, as the forward pass computed it

    @property
    def frame(self) -> pd.DataFrame:
        """Products of the query's parts (rows) and the key's (columns), each side's parts of the largest values first."""
        return self.strongest(max(len(self.query), len(self.key)))

    def strongest(self, most: int) -> pd.DataFrame:
        """Like `frame`, for the `most` parts of each side with the largest values; the others are summed in the last row and column."""
        rows, columns = _groups(self.query, most), _groups(self.key, most)
        products = rows @ self.query_vectors @ (columns @ self.key_vectors).T
        if self.bias is not None:
            correction = self.bias - self.query_vectors[-1] @ self.key_vectors[-1]
            products += correction * np.outer(rows.iloc[:, -1], columns.iloc[:, -1])
        return products.set_axis(columns.index, axis=1)

    @property
    def total(self) -> float:
        """The sum of all products."""
        return float(self.query["value"].sum())

    @property
    def gap(self) -> float:
        """How far the sum of the products is from what was recorded."""
        return abs(self.total - self.recorded)


def score_parts(
    loaded: Loaded,
    model_input: InputLike,
    layer: int,
    head: int,
    query: int,
    key: int,
    *,
    by_token: bool = False,
) -> ScoreParts:
    """The score of the positions `query` (i) and `key` (j) in one head, q_i · k_j / sqrt(d_k), as Σ_pr product_pr.

    product_pr = q_i^p · k_j^r / sqrt(d_k), where q_i^p = R_i W_Q n(x_i^p) and k_j^r = R_j W_K n(x_j^r) for parts p and r of the
    states that the layer reads. n is the norm before the attention, if there is one, with its σ held; R rotates by the position,
    where the encoder has rotary positions. The `biases` hold b_Q and b_K as well. There is no sqrt(d_k) where the encoder has none.

    Encoders with a bias on scores by the distance have one part more on each side, `relative position`: in T5, MPNet and BEiT the
    product of these two is that bias. In DeBERTa the product of a part of the query and the key's `relative position` is that part's
    share of content-to-position, and the reverse of position-to-content; content-to-content is the rest.

    Parts, `by_token` and sources are as in `answer_parts`. Raises ValueError as `model.inputs.prepare` does, and for a layer, head
    or position that there is not.

    >>> from loupe import load, score_parts
    >>> parts = score_parts(load("checkpoints/imdb-pre-ln"), "A gripping film.", layer=1, head=0, query=3, key=2)
    >>> parts.frame.shape, parts.gap < 1e-4
    ((8, 8), True)
    """
    model, config = loaded.model, loaded.config
    inputs, positions = prepare(loaded, model_input)
    ends = {"layer": config.n_layers, "head": config.n_heads, "query": len(positions), "key": len(positions)}
    for (name, end), number in zip(ends.items(), (layer, head, query, key), strict=True):
        if number not in range(end):
            raise ValueError(f"{name} is from 0 to {end - 1}, got {number}")
    names = [name for name in _points_of_layer(layer) if name in hook_points(model)]
    seen = activations(loaded, [model_input], [*hook_names(layer, by_token=by_token), *names])
    with torch.inference_mode(), evaluation_mode(model):
        query_parts, q = _of_side("q", model, inputs, seen, layer, head, query, by_token=by_token)
        key_parts, k = _of_side("k", model, inputs, seen, layer, head, key, by_token=by_token)
        relative = _relative_position(model, seen, layer, head, query, key)
        if relative is not None:
            q, k = torch.cat((q, relative.query[None])), torch.cat((k, relative.key[None]))
            for parts in (query_parts, key_parts):
                parts.append(Part("relative position"))
        q, k = (vectors.double().cpu().numpy() for vectors in (q / model.blocks[layer].attention.scale, k))
    of_query, of_key = q @ k.sum(axis=0), k @ q.sum(axis=0)
    bias = None if relative is None else relative.bias
    if bias is not None:
        of_query[-1] += bias - q[-1] @ k[-1]
        of_key[-1] += bias - q[-1] @ k[-1]
    return ScoreParts(
        query=frame(query_parts, positions, of_query),
        key=frame(key_parts, positions, of_key),
        query_vectors=q,
        key_vectors=k,
        bias=bias,
        recorded=float(seen[f"blocks.{layer}.attention.scores"][0, head, query, key]),
    )


def _points_of_layer(layer: int) -> list[str]:
    """The hook points of a layer that a score depends on, of which an encoder has only some."""
    names = ("scores", "scores.added", "position_numbers", "q.position_numbers", "k.position_numbers")
    return [f"blocks.{layer}.attention.{name}" for name in names]


def _of_side(
    side: Literal["q", "k"],
    model: Transformer,
    inputs: Tensor,
    seen: Seen,
    layer: int,
    head: int,
    position: int,
    *,
    by_token: bool,
) -> tuple[list[Part], Float[Tensor, "part d_k"]]:
    """The parts of the query or the key of a head at one position, and what each adds to it."""
    block, at = model.blocks[layer], torch.tensor([position], device=inputs.device)
    weight, bias = _map_of_head(block.attention.w_q if side == "q" else block.attention.w_k, model, head)
    function = LinearFunction(weight[:, None], bias)
    if block.norm_placement == "pre":
        function = pull_back(block.norm_attention, states_behind(seen, layer)[at], function)
    parts, vectors = divide(model, inputs, seen, layer, function, at, by_token=by_token)
    point = block.attention.get_submodule(side)
    if isinstance(point, Rotated):
        numbers = seen[f"blocks.{layer}.attention.{side}.position_numbers"][:, at]
        by = factors(point.angles_of(numbers), interleaved=point.interleaved)
        vectors = rotate(vectors[None, None], by, interleaved=point.interleaved)[0, 0]
    return parts, vectors


class RelativePosition(NamedTuple):
    """What the distance of a query and a key adds: a vector to each, which the other side is multiplied by, and a number."""

    query: Float[Tensor, " d_k"]
    key: Float[Tensor, " d_k"]
    bias: float


def _relative_position(
    model: Transformer, seen: Seen, layer: int, head: int, query: int, key: int
) -> RelativePosition | None:
    attention, name = model.blocks[layer].attention, f"blocks.{layer}.attention"
    nothing = model.embedding.position_table.new_zeros(model.config.d_k)
    if isinstance(attention, DisentangledAttention):
        numbers, options = seen[f"{name}.position_numbers"], attention.options
        vector = attention.positions()[relative_positions(numbers, options)[0, query, key]]
        q, k = (
            torch.addmv(bias, weight, vector)
            for weight, bias in (
                _map_of_head(linear, model, head)
                for linear in (attention.position_q or attention.w_q, attention.position_k or attention.w_k)
            )
        )
        return RelativePosition(
            q if options.position_to_content else nothing, k if options.content_to_position else nothing, 0.0
        )
    if (added := seen.get(f"{name}.scores.added")) is not None:
        return RelativePosition(nothing, nothing, float(added[0, head, query, key]))
    return None


def _map_of_head(
    linear: nn.Linear, model: Transformer, head: int
) -> tuple[Float[Tensor, "d_k d_model"], Float[Tensor, " d_k"]]:
    n_heads = model.config.n_heads
    weight, bias = weight_by_head(linear), bias_by_head(linear)
    return weight.unflatten(0, (n_heads, -1))[head], bias.unflatten(0, (n_heads, -1))[head]


def _groups(side: pd.DataFrame, most: int) -> pd.DataFrame:
    """For each of the `most` largest parts by name, and for all others together, 1 in the columns of its parts."""
    order = np.argsort(-side["value"].abs().to_numpy(), kind="stable")
    names = side["part"].to_numpy()[order[:most]].tolist()
    names += [OTHERS] if len(order) > most else []
    groups = np.zeros((len(names), len(order)))
    groups[np.minimum(np.arange(len(order)), most), order] = 1
    return pd.DataFrame(groups, index=names)
