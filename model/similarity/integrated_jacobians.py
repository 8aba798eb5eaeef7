"""`integrated_jacobians`: the cosine similarity of two texts by pairs of their input tokens (Moeller, Nikolaev & Padó 2023, "An
Attribution Method for Siamese Encoders").

e(x) is the pooled state divided by its length, as a function of the embedding x, the sum of token and position that enters the first
layer; so s(a, b) = e(a) · e(b). The reference r of a text has the padding token in place of each token of a word, unmasked and at the
same position. Special tokens are the same in r and in the text, so they add 0. (For an encoder without a padding token, r has zeros
in place of the content.) Along the straight line from r to a, the token i changes e by

    u_i = ∫ ∂e/∂x_i (r + α (a − r)) (a_i − r_i) dα,  α from 0 to 1,

and the u_i sum to e(a) − e(r). With v_j the same for b, the cell is u_i · v_j, and all cells sum to

    s(a, b) − s(r, b) − s(a, r) + s(r, r),

where r in s(r, b) is the reference of a, and in s(a, r) that of b. The integral is approximated by the mean over the middles of equal
steps. At each of these, there is one directional derivative for each token, not one gradient for each number of the pooled state.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor

from ..capture import activations, evaluation_mode
from ..experiments.attribution import Baseline, baseline_content
from ..experiments.batching import batch_size
from ..hooks import watch
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..record import Positions
from .pooled_state import pooled_length, word_positions
from .similarity_parts import SimilarityParts

STEPS = 32  # with MiniLM the gap is below 0.001 then


@dataclass(frozen=True, slots=True, eq=False)
class IntegratedJacobians(SimilarityParts):
    """Result of `integrated_jacobians`. The cells should sum to `recorded`: s(a, b) − s(r, b) − s(a, r) + s(r, r).

    s is the cosine similarity of the pooled states, and r the reference of the text whose place it takes: that text with padding
    tokens, or zeros, in the place of its words.
    """

    terms: tuple[float, float, float, float]  # s(a, b), s(r, b), s(a, r) and s(r, r)
    reference: Baseline  # what it has in the place of words: "padding", or "zeros"
    steps: int  # along each line


def integrated_jacobians(
    loaded: Loaded,
    a: InputLike,
    b: InputLike,
    *,
    steps: int = STEPS,
    progress: Callable[[float], None] | None = None,
) -> IntegratedJacobians:
    """What each pair of an input token of `a` and one of `b` adds to the cosine similarity of their pooled states.

    Rows and columns of special tokens are 0. More `steps` of the integral make the `gap` smaller. For the formulas see
    `model.similarity.integrated_jacobians`. `progress` is called with the share of the work that is done, 0 to 1. Raises ValueError
    as `model.inputs.prepare` does, for fewer than 1 `steps`, for pictures, for a text without words, and for a pooled state whose
    length is 0 or not finite.

    >>> from loupe import integrated_jacobians, load
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> parts = integrated_jacobians(encoder, "A gripping film.", "A dull film.", steps=128)
    >>> parts.values.shape, parts.gap < 1e-3
    ((6, 6), True)
    """
    if steps < 1:
        raise ValueError(f"the line has at least 1 step, got {steps}")
    lines = [_Line.of(loaded, model_input) for model_input in (a, b)]
    n_derivatives, done = steps * sum(len(line.moved_positions) for line in lines), 0

    def count(n: int) -> None:
        nonlocal done
        done += n
        if progress is not None:
            progress(done / n_derivatives)

    middles = (np.arange(steps) + 0.5) / steps
    u, v = (
        np.mean([line.derivatives(loaded, share, count) for share in middles.tolist()], axis=0)
        for line in lines
    )
    first, second = lines
    (s_ab, s_ar), (s_rb, s_rr) = (first.pooled_ends @ second.pooled_ends.T).tolist()
    return IntegratedJacobians(
        quantity="cosine similarity of the pooled states, beyond that of references",
        divided="input tokens",
        a=first.positions,
        b=second.positions,
        rows=first.positions.labels,
        columns=second.positions.labels,
        values=u @ v.T,
        recorded=s_ab - s_rb - s_ar + s_rr,
        terms=(s_ab, s_rb, s_ar, s_rr),
        reference=_reference(loaded),
        steps=steps,
    )


class _Line(NamedTuple):
    """The straight line from the embedding of a reference to that of its text."""

    inputs: Tensor
    positions: Positions
    moved_positions: list[int]  # positions at which text and reference differ: those of words
    reference: Float[Tensor, "1 position d_model"]
    direction: Float[Tensor, "1 position d_model"]  # from the reference to the text
    pooled_ends: Float64[np.ndarray, "2 d_pooled"]  # e of the text and of the reference

    @classmethod
    def of(cls, loaded: Loaded, model_input: InputLike) -> "_Line":
        inputs, positions = prepare(loaded, model_input)
        moved_positions = word_positions(loaded, positions)
        names = ("embedding.content", "embedding.output")
        content, embedded = activations(loaded, [model_input], names).values()
        baseline = baseline_content(loaded, inputs, content, moved_positions, _reference(loaded))
        model = loaded.model
        with torch.inference_mode(False), torch.no_grad(), evaluation_mode(model):
            with watch(model, {"embedding.content": lambda _: baseline.clone()}):
                reference = model.embedding(inputs)
            line = cls(inputs, positions, moved_positions, reference, embedded - reference, np.empty(0))
            pooled = [line.pooled(loaded, x) for x in (embedded.clone(), reference)]
            pooled_ends = [vector / pooled_length(loaded, vector[0]) for vector in pooled]
        return line._replace(pooled_ends=torch.cat(pooled_ends).double().cpu().numpy())

    def pooled(
        self, loaded: Loaded, embedded: Float[Tensor, "1 position d_model"]
    ) -> Float[Tensor, "1 d_pooled"]:
        """The pooled state as a function of the embedding `embedded`."""
        model = loaded.model
        with watch(model, {"embedding.output": lambda _: embedded}):
            return model.pool(model.encode(self.inputs), self.inputs)

    def derivatives(
        self, loaded: Loaded, share: float, count: Callable[[int], None]
    ) -> Float64[np.ndarray, "position d_pooled"]:
        """∂e/∂x_i (a_i − r_i) for each position i, at the point r + `share` · (a − r) of the line.

        e is the pooled state divided by its length, a the embedding of the text, r that of the reference, and `share` goes from 0
        to 1. After each batch of positions, `count` is called with their number.
        """
        result = np.zeros((len(self.positions), self.pooled_ends.shape[1]))
        with torch.inference_mode(False), torch.enable_grad(), evaluation_mode(loaded.model):
            x = (self.reference + share * self.direction).requires_grad_()
            pooled = self.pooled(loaded, x)[0]
            e = pooled / pooled.norm()
            # vᵀJ is linear in v, so its derivatives with respect to v, in the direction of a token, are J times that direction.
            v = torch.zeros_like(e, requires_grad=True)
            (product,) = torch.autograd.grad(e, x, v, create_graph=True)
            for chunk in torch.tensor(self.moved_positions).split(
                batch_size(loaded.config, len(self.positions))
            ):
                alone = x.new_zeros(len(chunk), *x.shape)
                alone[range(len(chunk)), 0, chunk] = self.direction[0, chunk]
                (moves,) = torch.autograd.grad(product, v, alone, retain_graph=True, is_grads_batched=True)
                result[chunk] = moves.double().cpu().numpy()
                count(len(chunk))
        return result


def _reference(loaded: Loaded) -> Baseline:
    return "zeros" if loaded.config.padding_id is None else "padding"
