"""`similarity_parts`: the cosine similarity of two inputs as a sum over pairs of a token of one and a token of the other.

Mean pooling makes the pooled state of n states h_i their mean h̄. So for the n states h_i of one input and the m states g_j of the other

    cos(h̄, ḡ) = Σ_i Σ_j u_i · v_j,  u_i = h_i / (n ‖h̄‖),  v_j = g_j / (m ‖ḡ‖).

Layers after the pooling are included: a linear map W makes W h_i of each state, and its bias is a row of its own. To make them linear
the following is held constant: the ratio a(u) / u of each unit of an activation function, the σ of a LayerNorm, the length by which a
vector is divided, and the positions that maximum pooling chose.

If the pooled state is that of one token, such as [CLS], its final state is divided: into what its heads read from each token in the last
layer, and "its own state", which is the rest: its state before that layer, and what the feed-forward and biases of the layer add.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float64

from ..capture import evaluation_mode
from ..decompositions.state_parts import POOLING_FEED_FORWARD, Linearised, divide_among_parts, forward_pass
from ..hooks import watch
from ..inputs import InputLike
from ..loaded import Loaded
from ..measures.word_view import merge_into_words
from ..record import Positions
from .pooled_state import pooled_length, sum_by_source

OWN_STATE, BIASES = "its own state", "biases"
MOST_NUMBERS = 2**22  # of gradients that are held at once


@dataclass(frozen=True, slots=True, eq=False)
class SimilarityParts:
    """The cosine similarity of two inputs as a sum over cells: a row for each token of the first, a column for each of the second."""

    quantity: str  # what is divided: "cosine similarity of the pooled states"
    divided: str  # what a row is: "last states", or "what [CLS] read in the last layer"
    a: Positions
    b: Positions
    rows: tuple[str, ...]  # labels of `a`, then names of what belongs to no token: "its own state", "biases"
    columns: tuple[str, ...]  # the same of `b`
    values: Float64[np.ndarray, "row column"]  # what each cell adds to the cosine
    recorded: float  # the cosine of the pooled states that the forward passes computed

    @property
    def total(self) -> float:
        """The sum of all cells."""
        return float(self.values.sum())

    @property
    def gap(self) -> float:
        """|`total` - `recorded`|: how far the sum of the cells is from the cosine of the pooled states."""
        return abs(self.total - self.recorded)

    @property
    def others(self) -> tuple[int, int]:
        """How many of the last rows, and of the last columns, belong to no token."""
        return len(self.rows) - len(self.a), len(self.columns) - len(self.b)

    def by_word(self) -> "SimilarityParts":
        """The same sum by words: the cells of all pieces of a word are added up."""
        a, b = merge_into_words(self.a), merge_into_words(self.b)
        rows, columns = (
            [*(whole.position_of(side.number(index)) for index in range(len(side))), *range(len(whole), n)]
            for side, whole, n in zip((a, b), (self.a, self.b), self.values.shape, strict=True)
        )
        return replace(
            self,
            a=a,
            b=b,
            rows=a.labels + self.rows[len(self.a) :],
            columns=b.labels + self.columns[len(self.b) :],
            values=np.add.reduceat(np.add.reduceat(self.values, rows, axis=0), columns, axis=1),
        )


def similarity_parts(loaded: Loaded, a: InputLike, b: InputLike) -> SimilarityParts:
    """What each pair of a token (patch) of `a` and a token of `b` adds to the cosine similarity of their pooled states.

    Special tokens have rows and columns too. For the formulas see `model.similarity.similarity_parts`. Raises ValueError as
    `model.inputs.prepare` does, and for a pooled state whose length is 0 or not finite.

    >>> from loupe import load, similarity_parts
    >>> parts = similarity_parts(load("checkpoints/imdb-pre-ln"), "A gripping film.", "A dull film.")
    >>> parts.values.shape, parts.rows[-2:], parts.gap < 1e-5
    ((7, 7), ('5 [SEP]', 'its own state'), True)
    """
    first, second = sides = [_sum_of_last_states(loaded, model_input) for model_input in (a, b)]
    divided = "last states"
    if (
        all(len(side.pooled_positions) == 1 for side in sides)
        and max(len(side.positions) for side in sides) > 1
    ):
        divided = f"what {first.positions.tokens[first.pooled_positions[0]]} read in the last layer"
        first, second = (
            _sum_of_head_reads(loaded, model_input, side)
            for model_input, side in zip((a, b), sides, strict=True)
        )
    lengths = np.linalg.norm(first.pooled) * np.linalg.norm(second.pooled)
    classified = ", which the classifier reads" if loaded.config.n_classes else ""
    return SimilarityParts(
        quantity=f"cosine similarity of the pooled states{classified}",
        divided=divided,
        a=first.positions,
        b=second.positions,
        rows=first.positions.labels + first.other_rows,
        columns=second.positions.labels + second.other_rows,
        values=first.vectors @ second.vectors.T / lengths,
        recorded=float(first.pooled @ second.pooled / lengths),
    )


class _PooledSum(NamedTuple):
    """A pooled state as a sum of vectors: one for each position, then one for each of `other_rows`."""

    positions: Positions
    other_rows: tuple[str, ...]  # names of the rows that belong to no position: "its own state", "biases"
    vectors: Float64[np.ndarray, "row d_pooled"]
    pooled: Float64[np.ndarray, " d_pooled"]
    pooled_positions: Sequence[int]  # those whose states are pooled


def _sum_of_last_states(loaded: Loaded, model_input: InputLike) -> _PooledSum:
    """The pooled state as a sum of what each state after the final norm, the biases, and so on add to it."""
    model, n_layers = loaded.model, loaded.config.n_layers
    forward = forward_pass(loaded, model_input, n_layers, [POOLING_FEED_FORWARD], by_token=False)
    with torch.inference_mode(False), torch.no_grad(), evaluation_mode(model):
        states = model.final_norm(forward.states(n_layers)).clone().requires_grad_()
        pooled = model.pool(states[None], forward.inputs)[0].detach()
        pooled_length(loaded, pooled)
        one = states.new_ones(1).requires_grad_()
        others = {
            name: forward.activations[name].clone().requires_grad_()
            for name in {POOLING_FEED_FORWARD} & forward.activations.keys()
        }
        leaves = (states, *others.values())
        added = {name: lambda _, fed=fed: fed[None] for name, fed in others.items()}
        with torch.enable_grad(), Linearised(one), watch(model, added):
            u = model.pool(states[None], forward.inputs)[0] + 0 * one
        columns = []
        for chunk in torch.eye(len(u), device=u.device).split(max(1, MOST_NUMBERS // states.numel())):
            slopes = torch.autograd.grad(u, (*leaves, one), chunk, retain_graph=True, is_grads_batched=True)
            products = [
                torch.einsum("npd,pd->np", slope, leaf.detach())
                for slope, leaf in zip(slopes, leaves, strict=False)
            ]
            columns.append(torch.cat((*products, slopes[-1]), dim=1).detach())
    vectors = torch.cat(columns).T.double().cpu().numpy()
    names = ("pooling feed-forward", BIASES)[-1 - len(others) :]
    if not vectors[-1].any():
        names, vectors = names[:-1], vectors[:-1]
    pooled_positions = np.flatnonzero(vectors[: len(states)].any(axis=1)).tolist()
    return _PooledSum(forward.positions, names, vectors, pooled.double().cpu().numpy(), pooled_positions)


def _sum_of_head_reads(loaded: Loaded, model_input: InputLike, side: _PooledSum) -> _PooledSum:
    """The same `side`, whose pooled state is that of one token, as a sum of what its heads read from each position in the last layer,
    and the rest.
    """
    model, n_layers = loaded.model, loaded.config.n_layers
    forward = forward_pass(loaded, model_input, n_layers, by_token=True)
    with torch.inference_mode(False), torch.no_grad(), evaluation_mode(model):
        parts, values = divide_among_parts(
            forward, n_layers, lambda x: model.pool(model.final_norm(x)[None], forward.inputs)[0]
        )
    n = len(side.positions)
    reads, rest = np.split(sum_by_source(parts, values, n, n_layers - 1), [n])
    behind = side.vectors[n:]  # of what follows pooling
    vectors = np.vstack((reads, rest - behind.sum(axis=0), behind))
    return side._replace(other_rows=(OWN_STATE, *side.other_rows), vectors=vectors)
