"""`score_parts`: one attention score as the sum of products of a part of the query and a part of the key."""

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
from .state_parts import ForwardPass, Part, States, divide, forward_pass, frame

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
    recorded: float  # the score, as the forward pass computed it

    @property
    def frame(self) -> pd.DataFrame:
        """Products of the query's parts (rows) and the key's (columns), each side's parts of the largest values first."""
        return self.strongest(max(len(self.query), len(self.key)))

    def strongest(self, most: int) -> pd.DataFrame:
        """Like `frame`, for the `most` parts of each side with the largest values; the others are summed in the last row and column."""
        return (
            _strongest(self.query, self.query_vectors, most) @ _strongest(self.key, self.key_vectors, most).T
        )

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
    point = f"blocks.{layer}.attention.scores"
    forward = forward_pass(loaded, model_input, layer, [point], by_token=by_token)
    with torch.inference_mode(False), torch.no_grad(), evaluation_mode(model):
        sides = [_of_side(*of, forward, layer, head) for of in (("q", query), ("k", key))]
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
        query=frame(query_parts, positions, of_query @ of_key.sum(axis=0)),
        key=frame(key_parts, positions, of_key @ of_query.sum(axis=0)),
        query_vectors=of_query,
        key_vectors=of_key,
        recorded=float(forward.seen[point][head, query, key]),
    )


def _of_side(
    side: Literal["q", "k"], position: int, forward: ForwardPass, layer: int, head: int
) -> tuple[list[Part], Float[Tensor, "part d_k"]]:
    """The parts of the query or the key of a head at one position, and what each adds to it."""
    block = forward.model.blocks[layer]
    point, linear = (block.attention.get_submodule(name) for name in (side, f"w_{side}"))

    def vector(x: States) -> Float[Tensor, " d_k"]:
        of_position = x[[position]]
        if block.norm_placement == "pre":
            of_position = block.norm_attention(of_position)
        of_heads = linear(of_position).unflatten(-1, (1, block.attention.n_heads, -1)).transpose(1, 2)
        # rotations are by the position, in a text of this length
        return point(of_heads.expand(-1, -1, len(x), -1))[0, head, position]

    return divide(forward, layer, vector)


def _relative_position(
    forward: ForwardPass, layer: int, head: int, query: int, key: int
) -> Float[Tensor, "side width"] | None:
    """What the distance of a query and a key adds to both, if it does, and one number more on each side. The product of these makes
    the product of both vectors the bias on the score, which is 0 in DeBERTa.
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


def _strongest(side: pd.DataFrame, vectors: Vectors, most: int) -> pd.DataFrame:
    """The vectors of the `most` parts with the largest values, by name, and the sum of all others."""
    order = np.argsort(-side["value"].abs().to_numpy(), kind="stable")
    rows = pd.DataFrame(vectors[order], side["part"].to_numpy()[order])
    others = rows[most:].sum().to_frame(OTHERS).T
    return pd.concat((rows[:most], others)) if len(rows) > most else rows
