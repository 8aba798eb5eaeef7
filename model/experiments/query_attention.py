"""The attention of one query in one head, recomputed in double precision, with rotary positions, biases or disentangled terms.

Also cross-attention, as in a decoder: queries from one input, keys and values from another. The encoders were not trained for
this; only the formula of a head is applied to vectors of two inputs.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from ..hooks import HookPoint
from ..parts.disentangled import DisentangledAttention, relative_positions
from ..parts.rotary import Rotated
from ..record import ForwardRecord
from ..transformer import Attention, masked_softmax
from .sublayer_steps import apply_linear, apply_norm, as_float64, largest_indices, weight_and_bias

BIAS, CONTENT_TO_POSITION, POSITION_TO_CONTENT = "bias", "content_to_position", "position_to_content"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """Query and keys before they are rotated by their positions (RoPE, Su et al. 2021, eq. 34), the indices of the two
    components of each pair that is rotated, and its angle at each position, in radians.
    """

    q: Float[np.ndarray, " d_k"]
    k: Float[np.ndarray, "key d_k"]
    pairs: Int[np.ndarray, "pair 2"]  # the two components of each pair; components of no pair are not rotated
    angles: Float[np.ndarray, "position pair"]  # radians


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionSteps:
    """Steps of attention, softmax(q kᵀ / sqrt(d_k)) v for one query and one head, then the output of all heads.

    The sum of `products` over d_k is `dots`. The sum of `weighted` over the keys is the head's row of `z`. The sum of
    `by_head` over the heads, plus `bias`, is `out`.
    """

    sublayer_input: Float[np.ndarray, "position d_model"]  # from which queries, keys and values are projected
    rotation: Rotation | None
    q: Float[np.ndarray, " d_k"]  # rotated, if there is a rotation
    k: Float[np.ndarray, "key d_k"]
    v: Float[np.ndarray, "key d_v"]
    products: Float[np.ndarray, "key d_k"]  # q_c k_jc
    dots: Float[np.ndarray, " key"]
    # d_k; d_k times the number of maps where scores are disentangled; 1 where nothing is divided
    squared_divisor: int
    scaled: Float[np.ndarray, " key"]  # dots / sqrt(squared_divisor)
    # what is added to these: BIAS, or the other two maps of DeBERTa
    terms: Mapping[str, Float[np.ndarray, " key"]]
    scores: Float[np.ndarray, " key"]  # scaled + the sum of the terms
    mask: Bool[np.ndarray, " key"]  # True = may attend
    exponentials: Float[np.ndarray, " key"]  # exp(score - largest allowed score), 0 where masked
    pattern: Float[np.ndarray, " key"]
    weighted: Float[np.ndarray, "key d_v"]  # A_ij v_j
    z: Float[np.ndarray, "head d_v"]
    by_head: Float[np.ndarray, "head d_model"]  # z of a head through its own rows of W_O
    bias: Float[np.ndarray, " d_model"]
    out: Float[np.ndarray, " d_model"]

    @property
    def largest_score(self) -> float:
        """Largest score among the keys that the mask allows; -inf if it allows none."""
        return float(self.scores.max(where=self.mask, initial=-np.inf))

    def allowed(self, values: Float[np.ndarray, " key"]) -> Float[np.ndarray, " key"]:
        """A copy of `values` with NaN at the keys that the mask forbids."""
        return np.where(self.mask, values, np.nan)

    def strongest(self, max_keys: int) -> list[int]:
        """Up to `max_keys` keys with the largest weights, the largest first."""
        return largest_indices(self.pattern, max_keys)

    def share(self, keys: Sequence[int]) -> float:
        """Sum of the attention weights of `keys`, from 0 to 1."""
        return float(self.pattern[list(keys)].sum())

    def remaining(self, keys: Sequence[int]) -> tuple[Float[np.ndarray, " d_v"], float]:
        """Over all keys except `keys`: the sum of their values times their weights, and the sum of their weights."""
        other_keys = np.delete(np.arange(len(self.pattern)), list(keys))
        return self.weighted[other_keys].sum(axis=0), self.share(other_keys.tolist())


def attention_steps(
    x: Float[np.ndarray, "position d_model"],
    attention: Attention,
    mask: Bool[np.ndarray, "head key"],
    head: int,
    query: int,
) -> AttentionSteps:
    """The steps of the module `attention` for its input `x`, for one `query` and, before the output, one `head`.

    `mask` is True at the keys to which the query may attend in each head.
    """
    q, k, v = (
        _split_heads(apply_linear(x, layer), attention.n_heads)
        for layer in (attention.w_q, attention.w_k, attention.w_v)
    )
    rotation = None
    if isinstance(attention.q, Rotated):
        angles, pairs = _angles_and_pairs(attention.q, len(x))
        rotation = Rotation(q=q[head, query], k=k[head], pairs=pairs, angles=angles)
        q, k = _rotate(q, angles, pairs), _rotate(k, angles, pairs)
    products = q[head, query] * k[head]
    scaled = np.einsum("hc,hjc->hj", q[:, query], k) / attention.scale
    terms = _added_terms(attention, q, k, query)
    scores = sum(terms.values(), scaled)
    allowed_scores = np.where(mask, scores, -np.inf)
    # without an allowed key all weights are 0
    largest_score = np.where(mask.any(axis=-1), allowed_scores.max(axis=-1), 0)
    exponentials = np.exp(allowed_scores - largest_score[:, None])
    sums = exponentials.sum(axis=-1, keepdims=True)
    pattern = exponentials / np.where(sums > 0, sums, 1)
    z = np.einsum("hj,hjc->hc", pattern, v)
    w_o, bias = weight_and_bias(attention.w_o)
    by_head = np.einsum("hc,hcd->hd", z, w_o.reshape(*z.shape, -1))
    return AttentionSteps(
        sublayer_input=x,
        rotation=rotation,
        q=q[head, query],
        k=k[head],
        v=v[head],
        products=products,
        dots=products.sum(axis=-1),
        squared_divisor=round(attention.scale**2),
        scaled=scaled[head],
        terms={name: term[head] for name, term in terms.items()},
        scores=scores[head],
        mask=mask[head],
        exponentials=exponentials[head],
        pattern=pattern[head],
        weighted=pattern[head][:, None] * v[head],
        z=z,
        by_head=by_head,
        bias=bias,
        out=by_head.sum(axis=0) + bias,
    )


def _split_heads(
    x: Float[np.ndarray, "position width"], n_heads: int
) -> Float[np.ndarray, "head position d_head"]:
    return x.reshape(len(x), n_heads, -1).swapaxes(0, 1)


def _angles_and_pairs(
    rotated: Rotated, n: int
) -> tuple[Float[np.ndarray, "position pair"], Int[np.ndarray, "pair 2"]]:
    """Angle of each pair at each of `n` positions, and the components of each pair: neighbours, or those half a width apart."""
    components = np.arange(rotated.n_rotated)
    pairs = components.reshape(-1, 2) if rotated.interleaved else components.reshape(2, -1).T
    return as_float64(rotated.angles(n)), pairs


def _rotate(
    x: Float[np.ndarray, "head position d_k"],
    angles: Float[np.ndarray, "position pair"],
    pairs: Int[np.ndarray, "pair 2"],
) -> Float[np.ndarray, "head position d_k"]:
    """Each pair (a, b) of `x` as (a cos θ − b sin θ, a sin θ + b cos θ)."""
    first, second = pairs.T
    a, b, cos, sin = x[..., first], x[..., second], np.cos(angles), np.sin(angles)
    result = x.copy()
    result[..., first], result[..., second] = a * cos - b * sin, a * sin + b * cos
    return result


def _added_terms(
    attention: Attention,
    q: Float[np.ndarray, "head position d_k"],
    k: Float[np.ndarray, "head position d_k"],
    query: int,
) -> dict[str, Float[np.ndarray, "head key"]]:
    """The terms that are added to the query's scaled dot products q·k, by name: a bias, or those of relative positions."""
    if isinstance(attention, DisentangledAttention):
        return _position_terms(attention, q, k, query)
    if type(attention.scores) is HookPoint:
        return {}
    n = q.shape[1]
    # what is made of scores of 0 is the bias itself
    bias = attention.scores(torch.zeros(1, len(q), n, n, device=attention.w_q.weight.device))
    return {BIAS: as_float64(bias)[0, :, query]}


def _position_terms(
    attention: DisentangledAttention,
    q: Float[np.ndarray, "head position d_k"],
    k: Float[np.ndarray, "head position d_k"],
    query: int,
) -> dict[str, Float[np.ndarray, "head key"]]:
    """q_i · k_δ and q_δ · k_j, scaled, with δ the relative position of query i and key j (He et al. 2021, eq. 4)."""
    options = attention.options
    positions = attention.positions
    vectors = apply_norm(as_float64(positions.vectors.weight), positions.norm)
    vectors = vectors[relative_positions(torch.arange(q.shape[1]), options).numpy()[query]]  # [key, d_model]
    terms = {}
    if options.content_to_position:
        position_keys = _split_heads(
            apply_linear(vectors, attention.position_k or attention.w_k), attention.n_heads
        )
        terms[CONTENT_TO_POSITION] = np.einsum("hc,hjc->hj", q[:, query], position_keys) / attention.scale
    if options.position_to_content:
        position_queries = _split_heads(
            apply_linear(vectors, attention.position_q or attention.w_q), attention.n_heads
        )
        terms[POSITION_TO_CONTENT] = np.einsum("hjc,hjc->hj", position_queries, k) / attention.scale
    return terms


def cross_pattern(
    query_record: ForwardRecord, key_record: ForwardRecord, layer: int, head: int
) -> Float[np.ndarray, "query key"]:
    """Cross-attention pattern softmax(Q Kᵀ / √d_k) of one head (Vaswani et al. 2017, 3.2.3).

    The queries are those of one input, the keys those of another; both records must be of one encoder. Raises ValueError if
    queries and keys differ in width.
    """
    q, k = query_record.q[layer, head], key_record.k[layer, head]
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(
            f"queries of width {q.shape[-1]} cannot be multiplied with keys of width {k.shape[-1]}"
        )
    return masked_softmax(torch.tensor(q) @ torch.tensor(k).T / math.sqrt(q.shape[-1]), None).numpy()
