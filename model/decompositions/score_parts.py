"""`score_parts`: one attention score as a sum of products, each of a part of the query vector and a part of the key vector."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Float64
from torch import Tensor
from torch.nn import functional

from ..capture import evaluation_mode
from ..hooks import hook_points
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from .state_parts import ForwardPass, Part, States, divide_among_parts, forward_pass, parts_frame

OTHERS_NAME = "all others"
Vectors = Float64[np.ndarray, "part d_k"]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreParts:
    """One attention score, before the mask, as the sum of the products of every part of the query with every part of the key.

    The value of a part of the query is the sum of its products with all parts of the key; that of a part of the key likewise.
    """

    query: pd.DataFrame  # a row for each part of the query, as in `AnswerParts.frame`
    key: pd.DataFrame  # the same for the key
    query_vectors: Vectors  # divided by sqrt(d_k), where the encoder divides its scores
    key_vectors: Vectors
    recorded: float  # the score, as the forward pass computed it

    @property
    def frame(self) -> pd.DataFrame:
        """Products of the query's parts (rows) and the key's parts (columns), both in order of falling |value|."""
        return self.strongest(max(len(self.query), len(self.key)))

    def strongest(self, max_parts: int) -> pd.DataFrame:
        """`frame` with the `max_parts` strongest parts of the query and of the key; the last row and the last column
        are the sums of all other parts.
        """
        return (
            _strongest_vectors(self.query, self.query_vectors, max_parts)
            @ _strongest_vectors(self.key, self.key_vectors, max_parts).T
        )

    @property
    def total(self) -> float:
        """The sum of all products."""
        return float(self.query["value"].sum())

    @property
    def gap(self) -> float:
        """|`total` - `recorded`|: how far the sum of the products is from the score that the forward pass computed."""
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
    states that the layer reads. n is the norm before the attention, if there is one, with its σ held constant; R is the rotation by
    the position, with rotary positions. The part `biases` includes b_Q and b_K. An encoder that does not divide its scores has no
    sqrt(d_k).

    Encoders with a bias on scores by the distance have one part more on each side, `relative position`: in T5, MPNet and BEiT the
    product of these two is that bias. In DeBERTa the products of the query's parts with the key's `relative position` add up to the
    content-to-position term, those of the key's parts with the query's to position-to-content, the others to content-to-content.

    Parts, `by_token` and sources are as in `answer_parts`. Raises ValueError as `model.inputs.prepare` does, and for a layer, head
    or position that does not exist.

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
    point = f"blocks.{layer}.attention.scores"
    forward = forward_pass(loaded, model_input, layer, [point], by_token=by_token)
    with torch.inference_mode(False), torch.no_grad(), evaluation_mode(model):
        sides = [_side_parts(*of, forward, layer, head) for of in (("q", query), ("k", key))]
        relative = _relative_position(forward, layer, head, query, key)
        if relative is not None:
            sides = [
                ([*parts, Part("relative position")], torch.cat((functional.pad(vectors, (0, 1)), row[None])))
                for (parts, vectors), row in zip(sides, relative, strict=True)
            ]
    (query_parts, of_query), (key_parts, of_key) = (
        (parts, vectors.double().cpu().numpy()) for parts, vectors in sides
    )
    of_query = of_query / model.blocks[layer].attention.scale
    return ScoreParts(
        query=parts_frame(query_parts, positions, of_query @ of_key.sum(axis=0)),
        key=parts_frame(key_parts, positions, of_key @ of_query.sum(axis=0)),
        query_vectors=of_query,
        key_vectors=of_key,
        recorded=float(forward.activations[point][head, query, key]),
    )


def _side_parts(
    side: Literal["q", "k"], position: int, forward: ForwardPass, layer: int, head: int
) -> tuple[list[Part], Float[Tensor, "part d_k"]]:
    """The parts of the state at `position`, and the vector that each adds to the head's query ("q") or key ("k") there."""
    block = forward.model.blocks[layer]
    point, linear = (block.attention.get_submodule(name) for name in (side, f"w_{side}"))

    def vector(x: States) -> Float[Tensor, " d_k"]:
        state = x[[position]]
        if block.norm_placement == "pre":
            state = block.norm_attention(state)
        vectors_by_head = linear(state).unflatten(-1, (1, block.attention.n_heads, -1)).transpose(1, 2)
        # rotations are by the position, in a text of this length
        return point(vectors_by_head.expand(-1, -1, len(x), -1))[0, head, position]

    return divide_among_parts(forward, layer, vector)


def _relative_position(
    forward: ForwardPass, layer: int, head: int, query: int, key: int
) -> Float[Tensor, "side width"] | None:
    """The parts `relative position` of a query and a key, [side, d_k + 1]; None without a bias or terms of relative positions.

    The last component is an extra one, chosen such that the product of both vectors is the bias on the score, in DeBERTa 0.
    """
    attention, name = forward.model.blocks[layer].attention, f"blocks.{layer}.attention"
    if not {f"{name}.scores.added", f"{name}.content_to_content"} & hook_points(forward.model).keys():
        return None
    # of a query and a key of zeros the score is the bias, and its slopes are what the distance adds to the other one
    q, k = torch.zeros(2, 1, attention.n_heads, len(forward.positions), forward.model.config.d_k)
    q, k = (zeros.to(forward.states(layer)).requires_grad_() for zeros in (q, k))
    with torch.enable_grad():
        bias = attention.scores(attention.score(q, k))[0, head, query, key]
    of_query, of_key = torch.autograd.grad(bias, (k, q))
    vectors = torch.stack((of_query[0, head, key], of_key[0, head, query])).double() * attention.scale
    more = torch.stack((bias * attention.scale - vectors[0] @ vectors[1], vectors.new_ones(())))
    return torch.cat((vectors, more[:, None]), dim=1)


def _strongest_vectors(side: pd.DataFrame, vectors: Vectors, max_parts: int) -> pd.DataFrame:
    """The vectors of the `max_parts` parts of one side with the largest |value|, by name, and the sum of all others."""
    order = np.argsort(-side["value"].abs().to_numpy(), kind="stable")
    rows = pd.DataFrame(vectors[order], side["part"].to_numpy()[order])
    others = rows[max_parts:].sum().to_frame(OTHERS_NAME).T
    return pd.concat((rows[:max_parts], others)) if len(rows) > max_parts else rows
