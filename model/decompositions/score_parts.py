"""`score_parts`: one attention score as the sum of products of a part of the query and a part of the key."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor, nn

from ..capture import evaluation_mode
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..parts.block import bias_by_head, weight_by_head
from ..parts.disentangled import DisentangledAttention, relative_positions
from ..parts.rotary import Rotated, factors, rotate
from .linear_maps import LinearFunction, pull_back
from .state_parts import ForwardPass, Part, divide, forward_pass, frame

OTHERS = "all others"
Vectors = Float64[np.ndarray, "part d_k"]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreParts:
    """One attention score, before the mask, divided among the products of the query's parts and the key's.

    The value of a part of the query is the sum of its products with all parts of the key, and the reverse.
    """

    query: pd.DataFrame  # a row for each part of the query, as in `AnswerParts.frame`
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
        products = rows.sums(self.query_vectors) @ columns.sums(self.key_vectors).T
        if self.bias is not None:
            products[rows.numbers[-1], columns.numbers[-1]] += (
                self.bias - self.query_vectors[-1] @ self.key_vectors[-1]
            )
        return pd.DataFrame(products, rows.names, columns.names)

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
    _, positions = prepare(loaded, model_input)
    ends = {"layer": config.n_layers, "head": config.n_heads, "query": len(positions), "key": len(positions)}
    for (name, end), number in zip(ends.items(), (layer, head, query, key), strict=True):
        if number not in range(end):
            raise ValueError(f"{name} is from 0 to {end - 1}, got {number}")
    names = ("scores", "scores.added", "position_numbers", "q.position_numbers", "k.position_numbers")
    points = [f"blocks.{layer}.attention.{name}" for name in names]
    forward = forward_pass(loaded, model_input, layer, points, by_token=by_token)
    with torch.inference_mode(), evaluation_mode(model):
        query_parts, q = _of_side("q", forward, layer, head, query)
        key_parts, k = _of_side("k", forward, layer, head, key)
        relative = _relative_position(forward, layer, head, query, key)
        if relative is not None:
            q, k = (torch.cat(pair) for pair in zip((q, k), relative.vectors, strict=True))
            query_parts, key_parts = (
                [*parts, Part("relative position")] for parts in (query_parts, key_parts)
            )
        of_query, of_key = (
            vectors.double().cpu().numpy() for vectors in (q / model.blocks[layer].attention.scale, k)
        )
    values, key_values = of_query @ of_key.sum(axis=0), of_key @ of_query.sum(axis=0)
    if relative is not None:
        values[-1] += relative.bias - of_query[-1] @ of_key[-1]
        key_values[-1] += relative.bias - of_query[-1] @ of_key[-1]
    return ScoreParts(
        query=frame(query_parts, positions, values),
        key=frame(key_parts, positions, key_values),
        query_vectors=of_query,
        key_vectors=of_key,
        bias=None if relative is None else relative.bias,
        recorded=float(forward.seen[points[0]][0, head, query, key]),
    )


def _of_side(
    side: Literal["q", "k"], forward: ForwardPass, layer: int, head: int, position: int
) -> tuple[list[Part], Float[Tensor, "part d_k"]]:
    """The parts of the query or the key of a head at one position, and what each adds to it."""
    block, index = forward.model.blocks[layer], torch.tensor([position], device=forward.inputs.device)
    weight, bias = _map_of_head(block.attention.get_submodule(f"w_{side}"), block.attention.n_heads, head)
    function = LinearFunction(weight[:, None], bias)
    if block.norm_placement == "pre":
        function = pull_back(block.norm_attention, forward.states(layer)[index], function)
    parts, vectors = divide(forward, layer, function, index)
    point = block.attention.get_submodule(side)
    if isinstance(point, Rotated):
        numbers = forward.seen[f"blocks.{layer}.attention.{side}.position_numbers"][:, index]
        by = factors(point.angles_of(numbers), interleaved=point.interleaved)
        vectors = rotate(vectors[None, None], by, interleaved=point.interleaved)[0, 0]
    return parts, vectors


class RelativePosition(NamedTuple):
    """What the distance of a query and a key adds to their score."""

    vectors: Float[Tensor, "2 1 d_k"]  # to the query, which the key's parts are multiplied by, and to the key
    bias: float


def _relative_position(
    forward: ForwardPass, layer: int, head: int, query: int, key: int
) -> RelativePosition | None:
    attention, name = forward.model.blocks[layer].attention, f"blocks.{layer}.attention"
    vectors = forward.states(0).new_zeros(2, 1, forward.model.config.d_k)
    if isinstance(attention, DisentangledAttention):
        options = attention.options
        numbers = relative_positions(forward.seen[f"{name}.position_numbers"], options)
        vector = attention.positions()[numbers[0, query, key]]
        sides = (
            (options.position_to_content, attention.position_q or attention.w_q),
            (options.content_to_position, attention.position_k or attention.w_k),
        )
        for index, (has_term, linear) in enumerate(sides):
            weight, bias = _map_of_head(linear, attention.n_heads, head)
            vectors[index, 0] = has_term * (weight @ vector + bias)
        return RelativePosition(vectors, 0.0)
    added = forward.seen.get(f"{name}.scores.added")
    return None if added is None else RelativePosition(vectors, float(added[0, head, query, key]))


def _map_of_head(
    linear: nn.Module, n_heads: int, head: int
) -> tuple[Float[Tensor, "d_k d_model"], Float[Tensor, " d_k"]]:
    assert isinstance(linear, nn.Linear)
    weight, bias = (
        rows.unflatten(0, (n_heads, -1)) for rows in (weight_by_head(linear), bias_by_head(linear))
    )
    return weight[head], bias[head]


class _Groups(NamedTuple):
    """The `most` largest parts of a side, each alone, and all others together."""

    names: list[str]
    numbers: Int64[np.ndarray, " part"]  # of the group of each part

    def sums(self, vectors: Vectors) -> Float64[np.ndarray, "group d_k"]:
        """What the parts of each group add up to."""
        sums = np.zeros((len(self.names), vectors.shape[1]))
        np.add.at(sums, self.numbers, vectors)
        return sums


def _groups(side: pd.DataFrame, most: int) -> _Groups:
    order = np.argsort(-side["value"].abs().to_numpy(), kind="stable")
    names = side["part"].to_numpy()[order[:most]].tolist()
    names += [OTHERS] if len(order) > most else []
    numbers = np.empty_like(order)
    numbers[order] = np.minimum(np.arange(len(order)), most)
    return _Groups(names, numbers)
