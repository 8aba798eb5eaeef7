"""Every step of one block for one query, recomputed in numpy.

A step is one operation, such as the scores, the softmax or a norm. All are computed in double precision from the recorded
input of the block and its weights, and compared with the encoder's own values. Formulas: Vaswani et al. 2017, sections 3.2 and
3.3; placement of the norms: Xiong et al. 2020, figure 1. Rotations and biases of other families are steps as well.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float32

from .. import transformer
from ..capture import activations
from ..config import ModelConfig
from ..hooks import hook_points
from ..inputs import InputLike
from ..loaded import Loaded
from ..record import ForwardRecord
from .query_attention import BIAS, CONTENT_TO_POSITION, POSITION_TO_CONTENT, AttentionSteps, attention_steps
from .sublayer_steps import FeedForwardSteps, Norm, apply_norm, feed_forward_steps, norm_steps

_ATTENTION = (
    *("project", "rotate", "products", "scale", "bias", "relative_positions"),
    *("mask", "softmax", "values", "concatenate", "output"),
)
_FEED_FORWARD = ("expand", "contract")
# Names of all steps in the order in which a block takes them: x + F(LN(x)), or LN(x + F(x)).
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
# Activations of a block that a record does not keep, by their hook names in the block. The last ones are there before a
# rotation, and where scores are disentangled.
_UNRECORDED = (
    *("attention_in", "attention_out", "feed_forward_in", "feed_forward.hidden", "feed_forward_out"),
    *("attention.q.content", "attention.k.content", "attention.content_to_content"),
    *("attention.content_to_position", "attention.position_to_content"),
)


def step_order(config: ModelConfig, layer: int) -> tuple[str, ...]:
    """Names of the steps of the pre-LN or post-LN block `layer`, in the order of computation: those of ORDER that it has."""
    parts = config.family.parts
    is_absent = {
        "rotate": parts.rotary is None,
        "bias": not config.has_distance_bias,
        "relative_positions": parts.disentangled is None,
        "norm_attention": layer == 0 and not parts.first_norm,
    }
    return tuple(step for step in ORDER[config.norm_placement] if not is_absent.get(step))


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadSteps:
    """Every step of one block for one query, in float64; the steps of attention are those of one head."""

    order: tuple[str, ...]  # names of the steps, as `step_order` returns them
    x: Float[np.ndarray, "position d_model"]  # residual stream at the block's input
    norm_attention: Norm | None  # None where the attention reads the stream as it is
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
) -> dict[str, Float32[np.ndarray, "..."]]:
    """Activations of the block `layer` that a record does not hold, by hook name.

    These are inputs, outputs and hidden units of the sublayers, [position, width]; where the block has them, also queries and
    keys before their rotation, [head, position, d_k], and the terms of disentangled scores, [head, query, key].

    Raises as `model.capture.capture` does.
    """
    points = hook_points(loaded.model)
    names = {name: f"blocks.{layer}.{name}" for name in _UNRECORDED if f"blocks.{layer}.{name}" in points}
    batch = activations(loaded, [text_or_image], list(names.values()))
    result = {name: batch[hook_name][0].cpu().numpy() for name, hook_name in names.items()}
    for values in result.values():
        values.setflags(write=False)
    return result


def head_steps(
    loaded: Loaded,
    record: ForwardRecord,
    unrecorded: Mapping[str, Float32[np.ndarray, "..."]],
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
    order = step_order(config, layer)
    has_first_norm = "norm_attention" in order
    is_pre_ln = config.norm_placement == "pre"
    block: transformer.Block = loaded.model.blocks[layer]
    x = record.residual[2 * layer].astype(float)

    attention_input = apply_norm(x, block.norm_attention) if is_pre_ln else x
    attention = attention_steps(attention_input, block.attention, record.mask[layer, :, query], head, query)
    attention_added = x[query] + attention.out
    normed = x[query] if is_pre_ln else attention_added
    norm_attention = norm_steps(normed, block.norm_attention) if has_first_norm else None
    resid_mid = attention_added if is_pre_ln or norm_attention is None else norm_attention.out

    norm_feed_forward = norm_steps(resid_mid, block.norm_feed_forward)
    feed_forward = feed_forward_steps(norm_feed_forward.out if is_pre_ln else resid_mid, block.feed_forward)
    feed_forward_added = resid_mid + feed_forward.out
    if not is_pre_ln:
        norm_feed_forward = norm_steps(feed_forward_added, block.norm_feed_forward)
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
    differences = norm_differences | {
        **_score_differences(attention, record, unrecorded, layer, head, query),
        "softmax": _largest_difference(attention.pattern, record.pattern[layer, head, query]),
        "values": _largest_difference(attention.z[head], record.z[layer, head, query]),
        "concatenate": _largest_difference(attention.z, record.z[layer, :, query]),
        "output": _largest_difference(attention.out, unrecorded["attention_out"][query]),
        "expand": _largest_difference(feed_forward.hidden, unrecorded["feed_forward.hidden"][query]),
        "contract": _largest_difference(feed_forward.out, unrecorded["feed_forward_out"][query]),
    }
    return HeadSteps(
        order=order,
        x=x,
        norm_attention=norm_attention,
        attention=attention,
        attention_added=attention_added,
        resid_mid=resid_mid,
        norm_feed_forward=norm_feed_forward,
        feed_forward=feed_forward,
        feed_forward_added=feed_forward_added,
        resid_post=resid_post,
        differences={step: differences[step] for step in order if step in differences},
    )


def _score_differences(
    attention: AttentionSteps,
    record: ForwardRecord,
    unrecorded: Mapping[str, Float32[np.ndarray, "..."]],
    layer: int,
    head: int,
    query: int,
) -> dict[str, float]:
    """Largest absolute difference from the encoder's values, by name of each step up to the scores.

    Products, division and bias are compared together, since an encoder has a hook point only for their result, the scores; for
    disentangled scores it has one for each term.
    """
    q, k = record.q[layer, head, query], record.k[layer, head]
    scores = record.scores[layer, head, query]
    values = _largest_difference(attention.v, record.v[layer, head])
    differences = {"project": max(_largest_difference(attention.q, q), _largest_difference(attention.k, k))}
    if attention.rotation is not None:
        differences["rotate"] = differences["project"]
        differences["project"] = max(
            _largest_difference(attention.rotation.q, unrecorded["attention.q.content"][head, query]),
            _largest_difference(attention.rotation.k, unrecorded["attention.k.content"][head]),
        )
    differences["project"] = max(differences["project"], values)
    if BIAS in attention.terms:
        return differences | {"bias": _largest_difference(attention.scores, scores)}
    maps = [name for name in (CONTENT_TO_POSITION, POSITION_TO_CONTENT) if name in attention.terms]
    scaled = unrecorded["attention.content_to_content"][head, query] if maps else scores
    of_maps = [
        _largest_difference(attention.terms[name], unrecorded[f"attention.{name}"][head, query])
        for name in maps
    ]
    return differences | {
        "products": _largest_difference(attention.dots, scaled * math.sqrt(attention.squared_divisor)),
        "scale": _largest_difference(attention.scaled, scaled),
        "relative_positions": max([*of_maps, _largest_difference(attention.scores, scores)]),
    }


def _largest_difference(computed: np.ndarray, recorded: np.ndarray) -> float:
    return float(np.abs(computed - recorded).max())
