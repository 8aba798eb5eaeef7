"""Every step of one block for one query, recomputed in numpy.

All steps are computed in double precision from the recorded input of the block and its weights; each result is compared
with the encoder's own value. Formulas: Vaswani et al. 2017, sections 3.2 and 3.3; positions of the norms: Xiong et al.
2020, figure 1.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float32
from scipy.special import expit, ndtr
from torch import nn

from .. import transformer
from ..activations import QuickGELU
from ..capture import activations
from ..config import ModelConfig
from ..inputs import InputLike
from ..loaded import Loaded
from ..record import ForwardRecord

_ATTENTION = ("project", "products", "scale", "mask", "softmax", "values", "concatenate", "output")
_FEED_FORWARD = ("expand", "contract")
# Names of the steps in the order in which a block takes them: x + F(LN(x)), or LN(x + F(x)).
ORDER = {
    "pre": (
        *("input", "norm_attention", *_ATTENTION, "add_attention"),
        *("norm_feed_forward", *_FEED_FORWARD, "add_feed_forward"),
    ),
    "post": (
        *("input", *_ATTENTION, "add_attention", "norm_attention"),
        *(*_FEED_FORWARD, "add_feed_forward", "norm_feed_forward"),
    ),
}
# Activations of a block that a record does not keep, by their hook names in the block.
_UNRECORDED = ("attention_in", "attention_out", "feed_forward_in", "feed_forward.hidden", "feed_forward_out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Norm:
    """Layer normalisation LN(x) = gain * (x - mean) / deviation + shift at one position (Ba et al. 2016, eq. 4)."""

    x: Float[np.ndarray, " d_model"]
    mean: float
    deviation: float  # sqrt(variance + epsilon), the variance that of x itself: divided by d_model
    gain: Float[np.ndarray, " d_model"]
    shift: Float[np.ndarray, " d_model"]

    @property
    def variance(self) -> float:
        return float(self.x.var())

    @property
    def standardised(self) -> Float[np.ndarray, " d_model"]:
        """Standardised vector (x - mean) / deviation, before gain and shift."""
        return (self.x - self.mean) / self.deviation

    @property
    def out(self) -> Float[np.ndarray, " d_model"]:
        return self.gain * self.standardised + self.shift


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionSteps:
    """Steps of attention, softmax(q kᵀ / sqrt(d_k)) v for one query and one head, then the output of all heads.

    The sum of `products` over d_k is `dots`. The sum of `weighted` over the keys is the head's row of `z`. The sum of
    `by_head` over the heads, plus `bias`, is `out`.
    """

    sublayer_input: Float[np.ndarray, "position d_model"]  # from which queries, keys and values are projected
    q: Float[np.ndarray, " d_k"]
    k: Float[np.ndarray, "key d_k"]
    v: Float[np.ndarray, "key d_v"]
    products: Float[np.ndarray, "key d_k"]  # q_c k_jc
    dots: Float[np.ndarray, " key"]
    scores: Float[np.ndarray, " key"]  # dots / sqrt(d_k)
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
        """The values, with NaN at the keys that the mask forbids."""
        return np.where(self.mask, values, np.nan)

    def strongest(self, at_most: int) -> list[int]:
        """Up to `at_most` keys with the largest weights, the largest first."""
        return _largest_indices(self.pattern, at_most)

    def share(self, keys: Sequence[int]) -> float:
        """Sum of the weights of `keys`, from 0 to 1."""
        return float(self.pattern[list(keys)].sum())

    def remaining(self, keys: Sequence[int]) -> tuple[Float[np.ndarray, " d_v"], float]:
        """Weighted sum of the values of all keys except `keys`, and the sum of the weights of these keys."""
        other_keys = np.delete(np.arange(len(self.pattern)), list(keys))
        return self.weighted[other_keys].sum(axis=0), self.share(other_keys.tolist())


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedForwardSteps:
    """Steps of the feed-forward, activation(x W_1 + b_1) W_2 + b_2, at one position.

    `by_unit` is the contribution of each hidden unit; its sum over the d_ff units, plus `bias`, is `out`.
    """

    sublayer_input: Float[np.ndarray, " d_model"]
    before: Float[np.ndarray, " d_ff"]  # the activation
    hidden: Float[np.ndarray, " d_ff"]
    by_unit: Float[np.ndarray, "d_ff d_model"]  # a hidden unit through its own row of W_2
    bias: Float[np.ndarray, " d_model"]
    out: Float[np.ndarray, " d_model"]

    @property
    def n_positive(self) -> int:
        """Number of hidden units that are positive before the activation function."""
        return int((self.before > 0).sum())

    @property
    def sum_over_units(self) -> Float[np.ndarray, " d_model"]:
        """Sum of `by_unit` over the hidden units: `out` without the bias."""
        return self.by_unit.sum(axis=0)

    def strongest(self, at_most: int) -> list[int]:
        """Up to `at_most` hidden units with the largest |h|, the largest first."""
        return _largest_indices(np.abs(self.hidden), at_most)

    def largest_contributions(self, at_most: int) -> list[int]:
        """Up to `at_most` hidden units whose contributions to `out` have the largest norms, the largest first."""
        return _largest_indices(np.linalg.norm(self.by_unit, axis=1), at_most)

    def share(self, units: Sequence[int]) -> float:
        """Share of the hidden units `units` in the sum of |h| over all hidden units, from 0 to 1."""
        magnitudes = np.abs(self.hidden)
        return float(magnitudes[list(units)].sum() / (magnitudes.sum() or 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadSteps:
    """Every step of one block for one query, in float64; the steps of attention are those of one head."""

    order: tuple[str, ...]  # names of the steps, one of the values of ORDER
    x: Float[np.ndarray, "position d_model"]  # residual stream at the block's input
    norm_attention: Norm
    attention: AttentionSteps
    attention_added: Float[np.ndarray, " d_model"]  # x + attention, before any norm
    resid_mid: Float[np.ndarray, " d_model"]
    norm_feed_forward: Norm
    feed_forward: FeedForwardSteps
    feed_forward_added: Float[np.ndarray, " d_model"]  # resid_mid + feed-forward, before any norm
    resid_post: Float[np.ndarray, " d_model"]
    differences: Mapping[str, float]  # step → largest absolute difference from the encoder's own values


def unrecorded_activations(
    loaded: Loaded, text_or_image: InputLike, layer: int
) -> dict[str, Float32[np.ndarray, "position width"]]:
    """Activations of a block that a record does not hold, by hook name: inputs and outputs of the sublayers, and hidden units.

    Raises as `model.capture.capture` does.
    """
    batch = activations(loaded, [text_or_image], [f"blocks.{layer}.{name}" for name in _UNRECORDED])
    result = {name: values[0].cpu().numpy() for name, values in zip(_UNRECORDED, batch.values(), strict=True)}
    for values in result.values():
        values.setflags(write=False)
    return result


def head_steps(
    loaded: Loaded,
    record: ForwardRecord,
    unrecorded: Mapping[str, Float32[np.ndarray, "position width"]],
    *,
    layer: int,
    head: int,
    query: int,
) -> HeadSteps:
    """Every step of `query` through the block `layer`; the steps of attention are those of `head`.

    `record` and `unrecorded` are the results of `capture` and `unrecorded_activations` for one input. Only the block's
    input and the mask are taken from them; the rest is used to check the steps. Raises ValueError for a block that is
    neither pre-LN nor post-LN.
    """
    config = record.config
    if config.norm_placement not in ORDER or not config.residual:
        block_kind = config.norm_placement if config.residual else "no residual connections"
        raise ValueError(
            f"the steps are those of pre-LN and post-LN blocks, but {loaded.name} has {block_kind}"
        )
    if config.has_distance_bias:
        raise ValueError(f"the steps have no bias by distance, which {loaded.name} adds to its scores")
    if other_parts := _other_parts(config):
        raise ValueError(f"the steps are not recomputed for {other_parts}, which {loaded.name} has")
    is_pre_ln = config.norm_placement == "pre"
    block: transformer.Block = loaded.model.blocks[layer]
    x = record.residual[2 * layer].astype(float)

    attention_input = (
        np.array([_norm_steps(state, block.norm_attention).out for state in x]) if is_pre_ln else x
    )
    attention = _attention_steps(attention_input, block.attention, record.mask[layer, :, query], head, query)
    attention_added = x[query] + attention.out
    norm_attention = _norm_steps(x[query] if is_pre_ln else attention_added, block.norm_attention)
    resid_mid = attention_added if is_pre_ln else norm_attention.out

    feed_forward_input = _norm_steps(resid_mid, block.norm_feed_forward).out if is_pre_ln else resid_mid
    feed_forward = _feed_forward_steps(feed_forward_input, block.feed_forward)
    feed_forward_added = resid_mid + feed_forward.out
    norm_feed_forward = _norm_steps(resid_mid if is_pre_ln else feed_forward_added, block.norm_feed_forward)
    resid_post = feed_forward_added if is_pre_ln else norm_feed_forward.out

    mid_difference = _largest_difference(resid_mid, record.residual[2 * layer + 1, query])
    post_difference = _largest_difference(resid_post, record.residual[2 * layer + 2, query])
    if is_pre_ln:
        norm_differences = {
            "norm_attention": _largest_difference(attention.sublayer_input, unrecorded["attention_in"]),
            "add_attention": mid_difference,
            "norm_feed_forward": _largest_difference(
                feed_forward.sublayer_input, unrecorded["feed_forward_in"][query]
            ),
            "add_feed_forward": post_difference,
        }
    else:  # the encoder keeps a sum only after its norm, so the two steps are compared as one
        norm_differences = {"norm_attention": mid_difference, "norm_feed_forward": post_difference}
    scores = record.scores[layer, head, query]
    sublayer_differences = {
        "project": max(
            _largest_difference(attention.q, record.q[layer, head, query]),
            _largest_difference(attention.k, record.k[layer, head]),
            _largest_difference(attention.v, record.v[layer, head]),
        ),
        "products": _largest_difference(attention.dots, scores * math.sqrt(record.config.d_k)),
        "scale": _largest_difference(attention.scores, scores),
        "softmax": _largest_difference(attention.pattern, record.pattern[layer, head, query]),
        "values": _largest_difference(attention.z[head], record.z[layer, head, query]),
        "concatenate": _largest_difference(attention.z, record.z[layer, :, query]),
        "output": _largest_difference(attention.out, unrecorded["attention_out"][query]),
        "expand": _largest_difference(feed_forward.hidden, unrecorded["feed_forward.hidden"][query]),
        "contract": _largest_difference(feed_forward.out, unrecorded["feed_forward_out"][query]),
    }
    return HeadSteps(
        order=ORDER[config.norm_placement],
        x=x,
        norm_attention=norm_attention,
        attention=attention,
        attention_added=attention_added,
        resid_mid=resid_mid,
        norm_feed_forward=norm_feed_forward,
        feed_forward=feed_forward,
        feed_forward_added=feed_forward_added,
        resid_post=resid_post,
        differences=sublayer_differences | norm_differences,
    )


def _other_parts(config: ModelConfig) -> str:
    """The parts of the encoder's blocks whose steps are not those of Vaswani et al., in words; "" if there are none."""
    parts = config.family.parts
    is_there = {
        "RMSNorm": parts.norm == "rms",
        "rotated queries and keys": parts.rotary is not None,
        "disentangled scores": parts.disentangled is not None,
        "scores without the division by sqrt(d_k)": not parts.scaled,
        "keys and values that heads share": parts.n_key_heads is not None,
        "a gated feed-forward": parts.gated,
        "no norm before the first attention": not parts.first_norm,
        "maps or norms without bias": bool(parts.without_bias) or not parts.norm_bias,
    }
    return ", ".join(phrase for phrase, has_part in is_there.items() if has_part)


def _attention_steps(
    x: Float[np.ndarray, "position d_model"],
    attention: transformer.Attention,
    mask: Bool[np.ndarray, "head key"],
    head: int,
    query: int,
) -> AttentionSteps:
    q, k, v = (
        _apply_linear(x, weights)
        .reshape(len(x), attention.n_heads, -1)
        .swapaxes(0, 1)  # [head, position, d_head]
        for weights in (attention.w_q, attention.w_k, attention.w_v)
    )
    products = q[head, query] * k[head]
    scores = np.einsum("hc,hjc->hj", q[:, query], k) / attention.scale
    allowed_scores = np.where(mask, scores, -np.inf)
    # without an allowed key all weights are 0
    largest_score = np.where(mask.any(axis=-1), allowed_scores.max(axis=-1), 0)
    exponentials = np.exp(allowed_scores - largest_score[:, None])
    sums = exponentials.sum(axis=-1, keepdims=True)
    pattern = exponentials / np.where(sums > 0, sums, 1)
    z = np.einsum("hj,hjc->hc", pattern, v)
    w_o, bias = _weight_and_bias(attention.w_o)
    by_head = np.einsum("hc,hcd->hd", z, w_o.reshape(*z.shape, -1))
    return AttentionSteps(
        sublayer_input=x,
        q=q[head, query],
        k=k[head],
        v=v[head],
        products=products,
        dots=products.sum(axis=-1),
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


def _feed_forward_steps(x: Float[np.ndarray, " d_model"], layer: transformer.FeedForward) -> FeedForwardSteps:
    pre_activation = _apply_linear(x, layer.expand)
    hidden = _apply_activation(pre_activation, layer.activation)
    w_2, bias = _weight_and_bias(layer.contract)
    by_unit = hidden[:, None] * w_2
    output = by_unit.sum(axis=0) + bias
    return FeedForwardSteps(
        sublayer_input=x, before=pre_activation, hidden=hidden, by_unit=by_unit, bias=bias, out=output
    )


def _norm_steps(x: Float[np.ndarray, " d_model"], layer_norm: nn.LayerNorm) -> Norm:
    gain, shift = _weight_and_bias(layer_norm)
    deviation = math.sqrt(x.var() + layer_norm.eps)
    return Norm(x=x, mean=float(x.mean()), deviation=deviation, gain=gain, shift=shift)


def _apply_activation(x: Float[np.ndarray, " d_ff"], activation: nn.Module) -> Float[np.ndarray, " d_ff"]:
    """ReLU of x; SiLU x σ(x); or GELU x Φ(x), exactly or in its approximations by tanh and by σ (Hendrycks & Gimpel 2016)."""
    if isinstance(activation, nn.ReLU):
        return np.maximum(x, 0)
    if isinstance(activation, nn.SiLU):
        return x * expit(x)
    if isinstance(activation, QuickGELU):
        return x * expit(1.702 * x)
    if isinstance(activation, nn.GELU) and activation.approximate == "tanh":
        return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return x * ndtr(x)


def _apply_linear(x: Float[np.ndarray, "*axes inner"], linear: nn.Linear) -> Float[np.ndarray, "*axes outer"]:
    weight, bias = _weight_and_bias(linear)
    return x @ weight + bias


def _weight_and_bias(layer: nn.Linear | nn.LayerNorm) -> tuple[np.ndarray, np.ndarray]:
    """The weight, transposed so that y = x W + b as in the papers, and the bias, in double precision."""
    weight, bias = (values.detach().cpu().numpy().astype(float) for values in (layer.weight, layer.bias))
    return weight.T, bias


def _largest_indices(strengths: Float[np.ndarray, " item"], at_most: int) -> list[int]:
    return np.argsort(-strengths, kind="stable")[:at_most].tolist()


def _largest_difference(computed: np.ndarray, recorded: np.ndarray) -> float:
    return float(np.abs(computed - recorded).max())
